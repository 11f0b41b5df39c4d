"""English against native prompts on AfriXNLI with random models: label length decides under `acc`, not in contrasts."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from tests.conftest import put

import afrieval
from afrieval.analysis.contrasts import Contrast, contrasts
from afrieval.exchange.discovery import read_inputs
from afrieval.models.demo import byte_tokenizer
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.statistics.intervals import LEVEL
from afrieval.scoring.statistics.tests import holm

pytestmark = pytest.mark.slow
N = 90
SEEDS = range(4)
LABELS = ["entailment", "neutral", "contradiction"]
WORDS = [" True", " Neither", " False"]  # English prompt 1: one token each, as in most models


def random_model(seed: int) -> tuple[Any, Any]:
    """A Llama with random weights, and a tokenizer of bytes that has a token for each English label word."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = byte_tokenizer()
    tokenizer.add_tokens(WORDS)
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=2048, initializer_range=0.1, **size)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return LlamaForCausalLM(config).eval(), tokenizer


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with rows of invented words, each label as often as the others."""
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(7)
    syllables = ["ba", "ki", "lo", "mu", "ne", "ra", "si", "to", "wa", "ye"]

    def sentence() -> str:
        return " ".join("".join(rng.choice(syllables, 3)) for _ in range(rng.integers(3, 8)))

    labels = rng.permutation(np.repeat(LABELS, N // 3))
    lines = ["premise\thypothesis\tlabel", *(f"{sentence()}\t{sentence()}\t{label}" for label in labels)]
    path = folder / "masakhane/afrixnli/data/yor/test.tsv"
    put(path, "\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def cells(rows: Path, tmp_path_factory: pytest.TempPathFactory) -> list[list[CellScores]]:
    """The English and the native cell of each model."""
    found = []
    for seed in SEEDS:
        asked: Any = {"languages": "yor", "prompts": 1, "prompt_language": "both", "data_source": rows}
        run = afrieval.evaluate(random_model(seed), "afrixnli", **asked, run_dir=tmp_path_factory.mktemp("run") / "r")
        found.append(read_inputs([run.path]).run_cells)
    return found


def compared(cells: list[CellScores], gold: int) -> Contrast:
    """The contrast of prompt languages on the questions with a right answer."""
    (contrast,) = contrasts([c.take(np.flatnonzero(c.golds == gold)) for c in cells], "prompt_language", 42)
    return contrast


def raw(cells: list[CellScores]) -> list[CellScores]:
    """The same cells as `--metric acc` has them."""
    return [replace(cell.with_metric("acc"), contrast="") for cell in cells]


def significant(found: list[Contrast]) -> list[int]:
    """Which contrasts differ beyond chance, adjusted together; the sign of the difference."""
    rows = [contrast.rows[0] for contrast in found]
    adjusted = holm([row.p for row in rows])
    return [int(np.sign(row.difference)) for row, p in zip(rows, adjusted, strict=True) if p < LEVEL]


def test_accuracy_is_a_matter_of_label_length(cells: list[list[CellScores]]) -> None:
    for english, native in cells:
        assert english.lengths == (1, 1, 1) and len(set(native.lengths)) == 3
        assert set(native.picked) == {int(np.argmin(native.lengths))}, "the shortest label, whatever the question"
    found = [compared(raw(of_model), gold=1) for of_model in cells]
    assert all(contrast.is_score and contrast.by_length for contrast in found)
    assert all(contrast.rows[0].second == 0.0 for contrast in found), "the longest label is never right"
    assert significant(found) and set(significant(found)) == {-1}, "native prompts seem to hurt"


def test_contrasts_are_not(cells: list[list[CellScores]]) -> None:
    found = [compared(of_model, gold) for of_model in cells for gold in range(3)]
    assert {contrast.metric.name for contrast in found if contrast.metric} == {"acc_matched"}
    assert not any(contrast.is_score or contrast.by_length for contrast in found)
    assert not significant(found)
    differences = np.reshape([contrast.rows[0].difference for contrast in found], (-1, 3)).mean(axis=0)
    assert np.abs(differences).max() < 0.12, "the mean over models, by right answer"


def test_all_labels_are_picked_alike(cells: list[list[CellScores]]) -> None:
    """Independently: the assignment of labels with the highest total likelihood in which each has its share."""
    for of_model in cells:
        for cell in of_model:
            assert cell.path
            lines = afrieval.load_run(cell.path.parent).samples("afrixnli", "yor", cell.prompt_language)
            totals = np.array([[answer[0][0] for answer in line["resps"]] for line in lines])
            _, places = linear_sum_assignment(np.repeat(totals, N // 3, axis=1), maximize=True)
            right = places // (N // 3) == cell.golds
            assert cell.with_metric("acc_matched").score == pytest.approx(np.mean(right), abs=2 / N), "but for ties"
