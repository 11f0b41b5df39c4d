"""Measured scores beside published ones: which is which, micro or macro, and what of it is not comparable."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.analysis.evaluations import EVALS, evaluation
from tests.report.screen import printed
from tests.results.test_cell_scores import LOOSE, STRICT, sample

from afrieval.report.formats import markdown
from afrieval.report.published_tables import reference_tables
from afrieval.report.table import Table
from afrieval.results.cell_scores import CellScores
from afrieval.results.sample_columns import cell_scores
from afrieval.scoring.statistics.intervals import wilson

MICRO = {"score": 47.0, "average": "micro", "setting": "5-shot CoT, Meta's own code", "source": "a README"}
MACRO = MICRO | {"score": 48.3, "average": "macro", "source": "a card"}


def reference(*found: CellScores) -> Table:
    (table,) = reference_tables(list(found))
    return table


def test_micro_and_macro_are_told_apart_and_so_are_measured_and_published() -> None:
    table = reference(evaluation([1.0, 1.0, 1.0, 0.0], parts="aaab", published=[MICRO, MACRO], rows=4))
    rows = [(r["kind"], r["average"], r["score"], r["parts"]) for r in table.records()]
    assert rows == [
        ("measured", "micro", 0.75, None),
        ("measured", "macro", 0.5, 2),
        ("published", "micro", 0.47, None),
        ("published", "macro", 0.483, None),
    ]
    assert table.records()[0]["interval"] == tuple(wilson(3, 4)) and list(table.dimmed) == [2, 3]
    text = printed(table)
    assert EVALS.partition("/")[2] in text.splitlines()[0] and "Fewer rows" not in text
    for words in (["meta_x", "acc,", "micro", "75.0"], ["mean", "of", "2", "subtasks", "acc,", "macro", "50.0"]):
        assert any(line.split()[: len(words)] == words for line in text.splitlines())
    assert len([line for line in text.splitlines() if line.startswith("published: 5-shot")]) == 2
    assert "published: 5-shot CoT, Meta's own code | macro | 48.3" in markdown(table)
    assert "\x1b[2m" in printed(table, color=True)


def test_an_average_that_nobody_stated_is_not_taken_for_micro() -> None:
    table = reference(evaluation([1.0], parts="a", published=[MICRO | {"average": None}]))
    assert table.records()[-1]["average"] is None and "not stated" in printed(table)


def test_printed_scores_are_rounded_as_they_were_printed() -> None:
    table = reference(*(evaluation([1.0], published=[MICRO | {"score": score}]) for score in (65.15, 24.25, 46.75)))
    assert all(f"|  | {score} |" in markdown(table) for score in ("65.2", "24.2", "46.8"))


def test_one_score_of_two_sources_stands_once_and_two_scores_name_theirs() -> None:
    again, other = MICRO | {"source": "a card"}, MICRO | {"score": 46.0, "source": "a later card"}
    table = reference(evaluation([1.0], published=[MICRO, again]))
    assert [r["source"] for r in table.records()][1:] == ["a README; a card"] and "a README" not in printed(table)
    table = reference(evaluation([1.0], published=[MICRO, other]))
    assert "(a README)" in markdown(table) and "(a later card)" in markdown(table)


def test_fewer_rows_and_another_model_are_said() -> None:
    text = " ".join(printed(reference(evaluation([1.0, None], published=[MICRO], rows=448))).split())
    assert "so do not compare: meta_x 2 of 448." in text and "of Llama-3.1-8B-Instruct, not of m," in text
    same = evaluation([1.0], published=[MICRO], model="meta-llama/Llama-3.1-8B-Instruct")
    assert ", not of" not in printed(reference(same))


def test_sample_rows_are_not_taken_for_metas() -> None:
    assert reference(evaluation([1.0], sample_rows={"eng": True})).title.endswith("-evals, our own sample rows: m")
    unnamed = evaluation([1.0], evals="meta-llama/{evals}", sample_rows={"eng": True})
    assert reference(unnamed).title == "our own sample rows: m"


def test_ifeval_has_four_accuracies_and_two_means_and_says_whose_they_are() -> None:
    cell = cell_scores("c", [sample(i, *both) for i, both in enumerate(zip(STRICT, LOOSE, strict=True))])
    table = reference(replace(cell, declared={"evals": EVALS}))
    scores = {r["metric"]: r["score"] for r in table.records()}
    assert list(scores.values()) == pytest.approx([0.5, 0.75, 0.625, 0.75, 0.5625, 0.65625])
    text = markdown(table)
    assert "as in Meta's recipe for lm-eval | recipe's mean | 56.2" in text
    assert "as in Meta's model cards | Meta's mean | 65.6" in text


def test_each_metric_has_the_number_of_its_own_documents() -> None:
    cell = cell_scores("c", [sample(i, *both) for i, both in enumerate(zip(STRICT, LOOSE, strict=True))])
    last = list(cell.metrics)[-1]
    measures = {name: values.copy() for name, values in cell.measures.items()}
    measures[last][0] = np.nan
    table = reference(replace(cell, measures=measures, declared={"evals": EVALS}))
    counts = {r["metric"]: r["n"] for r in table.records()}
    assert counts[last] == cell.n - 1 and counts[cell.main] == cell.n


@pytest.mark.parametrize("size", [5, 12032])
def test_the_table_fits_80_columns(size: int) -> None:
    names = ("meta_mmlu_pro_instruct", "meta_mmlu_pro_pretrain")
    told: dict[str, Any] = {"published": [MICRO, MACRO], "rows": 12032, "model": "meta-llama/Llama-3.1-405B-Instruct"}
    text = printed(reference(*(evaluation([1.0] * size, parts="ab" * size, task=name, **told) for name in names)))
    assert max(map(len, text.splitlines())) <= 80 and "…" not in text
    assert all(name in text for name in names)


def test_a_table_per_model() -> None:
    tables = reference_tables([evaluation([1.0], model=model, published=[MICRO]) for model in ("a", "b")])
    assert [t.about["model"] for t in tables] == ["a", "b"]
    assert sum("bad: rows with a defect." in t.notes for t in tables) == 1, "the legend stands once"
