"""What is read of logits is what is computed of each by itself."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from afrieval.models.engine.logits import moments, read


@pytest.mark.parametrize("chunk", [1, 100, 2**24])
def test_chunks_change_nothing(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afrieval.models.engine.logits.CHUNK", chunk)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        logits = 3 * torch.randn(9, 40)
    logits[4, :30] = -torch.inf  # tokens that a model rules out
    where = np.array([0, 0, 2, 3, 4, 4, 8])
    answers = np.array([5, 7, 1, 39, 35, 2, int(logits[8].argmax())])
    lm = SimpleNamespace(softmax_dtype=torch.float32)
    table = read(lm, logits, answers, where, vocabulary=True)
    for column, (token, row) in enumerate(zip(answers, where, strict=True)):
        p = logits[row].double().softmax(0)
        logs = [float(x.log()) if x else 0.0 for x in p]
        mean = sum(float(x) * log for x, log in zip(p, logs, strict=True))
        variance = sum(float(x) * (log - mean) ** 2 for x, log in zip(p, logs, strict=True))
        greedy = float(p.argmax() == token)
        assert table[:, column] == pytest.approx([float(p[token].log()), greedy, mean, variance], rel=1e-5)
    assert (read(lm, logits, answers, where) == table[:2]).all()


@pytest.mark.parametrize("vocabulary", [False, True])
def test_no_logits(vocabulary: bool) -> None:
    none = np.array([], dtype=np.int64)
    table = read(SimpleNamespace(softmax_dtype=None), torch.empty(0, 40), none, none, vocabulary)
    assert table.shape == (4 if vocabulary else 2, 0)


def test_a_certain_token() -> None:
    logits = torch.tensor([[1000.0, 0.0, -1000.0]])
    mean, variance = moments(logits.log_softmax(-1))
    assert float(mean) == float(variance) == 0
