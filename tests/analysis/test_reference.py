"""Measured scores beside published ones: which is which, micro or macro, and what of it is not comparable."""

from dataclasses import replace
from typing import Any

import pytest
from tests.analysis.evaluations import EVALS, evaluation
from tests.results.test_instructions import LOOSE, STRICT, sample

from afrieval.analysis.reference import Evaluated, reference_grids
from afrieval.report.table import Grid, markdown, records, terminal
from afrieval.results.reader import cell_scores
from afrieval.statistics.intervals import wilson
from afrieval.terminal import console

MICRO = {"score": 47.0, "average": "micro", "setting": "5-shot CoT, Meta's own code", "source": "a README"}
MACRO = MICRO | {"score": 48.3, "average": "macro", "source": "a card"}


def printed(grid: Grid, color: bool = False) -> str:
    screen = console(width=80, record=True, force_terminal=color, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    screen.print(terminal(grid))
    return screen.export_text(styles=color)


def table(*found: Evaluated) -> Grid:
    (grid,) = reference_grids(list(found))
    return grid


def test_micro_and_macro_are_told_apart_and_so_are_measured_and_published() -> None:
    grid = table(evaluation([1.0, 1.0, 1.0, 0.0], parts="aaab", published=[MICRO, MACRO], rows=4))
    rows = [(r["kind"], r["average"], r["score"], r["parts"]) for r in records(grid)]
    assert rows == [
        ("measured", "micro", 0.75, None),
        ("measured", "macro", 0.5, 2),
        ("published", "micro", 0.47, None),
        ("published", "macro", 0.483, None),
    ]
    assert records(grid)[0]["interval"] == tuple(wilson(3, 4)) and list(grid.dimmed) == [2, 3]
    text = printed(grid)
    assert EVALS.partition("/")[2] in text.splitlines()[0] and "Fewer rows" not in text
    for words in (["meta_x", "acc,", "micro", "75.0"], ["mean", "of", "2", "subtasks", "acc,", "macro", "50.0"]):
        assert any(line.split()[: len(words)] == words for line in text.splitlines())
    assert len([line for line in text.splitlines() if line.startswith("published: 5-shot")]) == 2
    assert "published: 5-shot CoT, Meta's own code | macro | 48.3" in markdown(grid)
    assert "\x1b[2m" in printed(grid, color=True)


def test_an_average_that_nobody_told_is_not_taken_for_micro() -> None:
    grid = table(evaluation([1.0], parts="a", published=[MICRO | {"average": None}]))
    assert records(grid)[-1]["average"] is None and "not said" in printed(grid)


def test_printed_scores_are_rounded_as_they_were_printed() -> None:
    grid = table(*(evaluation([1.0], published=[MICRO | {"score": score}]) for score in (65.15, 24.25, 46.75)))
    assert all(f"|  | {score} |" in markdown(grid) for score in ("65.2", "24.2", "46.8"))


def test_one_score_of_two_sources_stands_once_and_two_scores_name_theirs() -> None:
    again, other = MICRO | {"source": "a card"}, MICRO | {"score": 46.0, "source": "a later card"}
    grid = table(evaluation([1.0], published=[MICRO, again]))
    assert [r["source"] for r in records(grid)][1:] == ["a README; a card"] and "a README" not in printed(grid)
    grid = table(evaluation([1.0], published=[MICRO, other]))
    assert "(a README)" in markdown(grid) and "(a later card)" in markdown(grid)


def test_fewer_rows_and_another_model_are_said() -> None:
    text = " ".join(printed(table(evaluation([1.0, None], published=[MICRO], rows=448))).split())
    assert "so do not compare: meta_x 2 of 448." in text and "of Llama-3.1-8B-Instruct, not of m," in text
    same = evaluation([1.0], published=[MICRO], model="meta-llama/Llama-3.1-8B-Instruct")
    assert ", not of" not in printed(table(same))


def test_sample_rows_are_not_taken_for_metas() -> None:
    assert table(evaluation([1.0], samples=True)).title.endswith("-evals, our own sample rows: m")
    unnamed = evaluation([1.0], evals="meta-llama/{evals}")
    assert table(unnamed).title == "our own sample rows: m"


def test_ifeval_has_four_accuracies_and_two_means_and_says_whose_they_are() -> None:
    cell = cell_scores("c", [sample(i, *both) for i, both in enumerate(zip(STRICT, LOOSE, strict=True))])
    grid = table(Evaluated(replace(cell, declared={"evals": EVALS})))
    scores = {r["metric"]: r["score"] for r in records(grid)}
    assert list(scores.values()) == pytest.approx([0.5, 0.75, 0.625, 0.75, 0.5625, 0.65625])
    text = markdown(grid)
    assert "as the recipe for lm-eval | recipe's mean | 56.2" in text
    assert "as Meta's model cards | Meta's mean | 65.6" in text


@pytest.mark.parametrize("size", [5, 12032])
def test_the_table_fits_80_columns(size: int) -> None:
    names = ("meta_mmlu_pro_instruct", "meta_mmlu_pro_pretrain")
    told: dict[str, Any] = {"published": [MICRO, MACRO], "rows": 12032, "model": "meta-llama/Llama-3.1-405B-Instruct"}
    text = printed(table(*(evaluation([1.0] * size, parts="ab" * size, task=name, **told) for name in names)))
    assert max(map(len, text.splitlines())) <= 80 and "…" not in text
    assert all(name in text for name in names)


def test_a_table_per_model() -> None:
    grids = reference_grids([evaluation([1.0], model=model, published=[MICRO]) for model in ("a", "b")])
    assert [g.about["model"] for g in grids] == ["a", "b"]
    assert sum("bad: rows with a defect." in g.notes for g in grids) == 1, "the legend stands once"
