"""Tables of a language: scores with ranks and shares, tokens, cost."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.analysis.cells import scored

from afrieval.analysis.tokenizer import OPTIONS, PROMPTS, Fertility
from afrieval.report.language_tables import cost_tables, fertility_tables, language_lines, language_table
from afrieval.report.table import Table
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.metrics import metric


def table(cells: list[CellScores]) -> Table:
    return language_table(language_lines(cells), cells, [])


def of(found: Table, head: str) -> list[str]:
    """The texts of a column."""
    return [row[found.heads.index(head)] for row in found.cells()]


def test_the_best_score_comes_first_with_its_rank() -> None:
    worse, better = ([float(at % 10 < n) for at in range(200)] for n in (3, 9))
    found = table([scored(worse, model="a"), scored(better, model="b"), scored(better, model="c")])
    assert of(found, "model") == ["b", "c", "a"]
    assert of(found, "rank") == ["1-2", "1-2", "3"]
    assert of(found, "acc") == ["90.0", "90.0", "30.0"]
    assert any(note.startswith("rank: ") for note in found.legend)


def test_scores_with_other_prompts_are_not_ranked_together() -> None:
    cells = [scored([1.0, 0.0], prompt_language=written) for written in ("eng", "native")]
    found = table(cells)
    assert "rank" not in found.heads
    assert of(found, "prompts") == ["English 1", "native 1"]


def test_what_varies_elsewhere_is_named() -> None:
    cells = [scored([1.0]), scored([0.0], shots=5)]
    found = language_table(language_lines(cells[:1]), cells[:1], ["language", "shots"])
    assert found.heads[:3] == ["model", "shots", "prompts"]


def test_lower_is_better_for_some_metrics() -> None:
    loss = metric("loss")
    found = table([scored([2.0, 3.0], of=loss, model="a"), scored([1.0, 2.0], of=loss, model="b")])
    assert of(found, "model") == ["b", "a"]


def test_shares_of_unparsed_and_refused_answers_are_shown() -> None:
    known = metric("exact_match")
    shares = {"unparsed": np.array([[1.0], [0.0]]), "refused": np.array([[0.0], [0.0]])}
    cell = scored(
        [0, 1], of=known, measures={"exact_match": np.array([[0.0], [1.0]]), **shares},
        metrics={"exact_match": known, **{name: metric(name) for name in shares}},
    )  # fmt: skip
    found = table([cell])
    assert of(found, "unparsed") == ["50.0"] and "refused" not in found.heads and found.records()[0]["refused"] == 0


def test_unreviewed_prompts_and_defects_are_marked() -> None:
    declared: Any = {"title": "T", "unreviewed": {"yor": True}, "defective": {"yor": "rows are out of order"}}
    found = table([scored([1.0], prompt_language="native", declared=declared)])
    assert (found.title, of(found, "prompts")) == ("T", ["native 1*"])
    assert any("machine-written" in note for note in found.legend)
    assert any("rows are out of order" in note for note in found.notes)


def test_fertility_says_what_was_counted() -> None:
    one = Fertility("t", "yor", "m", OPTIONS, 10, 30, 10, 60, 80, 2.0)
    [found] = fertility_tables([one])
    assert found.cells() == [["Yoruba", "t", "m", "options", "3.00", "0.50", "0.38", "2.00", "10"]]
    [found] = fertility_tables([replace(one, texts=PROMPTS, premium=None)])
    assert "times English" not in found.heads
    assert any(note.startswith("prompts: native prompts") for note in found.notes)
    assert fertility_tables([]) == []


@pytest.mark.parametrize(("cost", "heads"), [(0.5, ["cost", "per 1,000 answers"]), (None, [])])
def test_cost_is_shown_where_it_is_known(cost: float | None, heads: list[str]) -> None:
    usage: dict[str, float] = {"answers": 100, "requests": 100, "prompt_tokens": 2000, "completion_tokens": 300}
    usage |= {} if cost is None else {"cost": cost}
    [found] = cost_tables([scored([1.0], usage=usage), scored([1.0], usage=usage, model="b")])
    assert found.heads[7:] == heads
    assert [row[:4] for row in found.cells()] == [["Yoruba", "afrixnli", m, "100"] for m in ("m", "b")]
    assert [row[7:] for row in found.cells()] == [["$0.50", "$5.00"][: len(heads)]] * 2
    assert cost_tables([scored([1.0])]) == [], "a backend that states nothing"
