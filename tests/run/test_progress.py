"""The time that is left is estimated for each kind of request: answers take many times as long as likelihoods."""

from dataclasses import replace

import pytest
from tests.cells import FakeCell

from afrieval.run.progress import RunProgress


def cell(name: str, asks: str, n_requests: int) -> FakeCell:
    return FakeCell(name, name, asks=frozenset({asks}), n_requests=n_requests)


def test_each_kind_has_a_pace(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    monkeypatch.setattr("afrieval.run.progress.time.monotonic", lambda: now)
    likelihoods = cell("a", "loglikelihood", 100)
    answers = cell("c", "generate_until", 10)
    cells = [likelihoods, replace(likelihoods, title="b"), answers, replace(answers, title="d")]
    with RunProgress(cells) as shown:
        for each, seconds in zip(cells, (1, 3, 50, 70), strict=True):
            shown.begin(each)
            now += seconds
            shown.end(each)
    lines = [line.partition(": ")[2] for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "1.0 s, more than 0:01 left",
        "3.0 s, more than 0:00 left",
        "50.0 s, about 0:50 left",
        "70.0 s, about 0:00 left",
    ]


def test_what_answers_cost_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    some = cell("a", "generate_until", 1)
    with RunProgress([some], spending=lambda: "120 tokens, $0.0003") as shown:
        shown.begin(some)
        shown.tick(1)
        shown.end(some)
    assert capsys.readouterr().err.endswith("left, 120 tokens, $0.0003 so far\n")
