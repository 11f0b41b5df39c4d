"""Reads sample files: any metric, each file once, some rows without the others, faults by line."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from afrieval._util.errors import UserError
from afrieval.analysis.scores import by_language
from afrieval.results import run_folder, samples
from afrieval.results.cell_scores import CellScores
from afrieval.results.comparable_runs import read_runs
from afrieval.results.run_files import sample_path, write_run, write_samples
from afrieval.results.run_folder import RunFolder, read_rows
from afrieval.results.sample_columns import _lengths, cell_scores
from afrieval.results.samples import Sample, is_unparsed
from afrieval.results.summary import harness_results, summary_columns, summary_row
from afrieval.scoring.statistics.intervals import wilson

F1 = {"name": "f1", "average": "macro"}


def line(doc_id: int, measures: dict[str, list[float]] | None, task: str = "t", **changes: Any) -> dict[str, Any]:
    """A sample of Yoruba as a run stores it; without measures it is left out."""
    shown = {name: numbers[0] if len(numbers) == 1 else numbers for name, numbers in (measures or {}).items()}
    return {
        "doc_id": doc_id, "task": task, "language": "yor", "prompt": 1, "prompt_language": "eng",
        "metrics": list(shown), "measures": measures or {}, **shown, "resps": [["an answer"]] if shown else [],
        "n_choices": 0, "defect": "" if shown else "no gold answer", "doc_hash": f"{doc_id}", "prompt_hash": "p",
        **changes,
    }  # fmt: skip


def record(**changes: Any) -> dict[str, Any]:
    task = {
        "version": 1,
        "answer_form": "generate",
        "prompts": {"eng": {1: "a", 2: "b"}},
        "data": {"yor": {"test": "d"}},
    }
    identity = {
        "model": {"model_name": "m"}, "variant": "direct", "fewshot": {"num_fewshot": 0, "selection": "", "seed": 1},
        "tasks": {"t": task},
    }  # fmt: skip
    return {"identity": identity, "visits": [{}], **changes}


def written(folder: Path, lines: list[dict[str, Any]], name: str = "t_yor_eng_1", **changes: Any) -> Path:
    folder.mkdir(exist_ok=True)
    write_run(folder, record(**changes))
    write_samples(folder, name, lines)
    return folder


CHRF = [line(i, {"chrf": [20.0 + i, 21.0, 15.0] * 6, "unparsed": [0.0]}) for i in range(8)]


def test_a_score_need_not_be_a_share(tmp_path: Path) -> None:
    (cell,) = read_runs([written(tmp_path, CHRF)])
    assert cell.main == "chrf" and cell.metric.bounds == (0.0, 100.0) and 50 < cell.score < 100
    assert cell.interval is not None and cell.interval.low < cell.score < cell.interval.high
    row = summary_row(cell)
    assert (row["score"], row["low"], row["unparsed"]) == (cell.score, cell.interval.low, 0.0)
    results = harness_results([cell], {"t": 1})
    assert results["results"][cell.name]["chrf,none"] == cell.score
    assert results["higher_is_better"][cell.name] == {"chrf": True, "unparsed": False}


def test_each_metric_of_the_lines_has_its_score() -> None:
    lists = [[1.0, 0.0], [1.0], [0.0, 0.0, 1.0]]
    new = [
        line(i, {"acc": [float(i > 0)], "inst_level_loose_acc": [sum(each), len(each)], "unparsed": [0.0]})
        | {"inst_level_loose_acc": each}
        for i, each in enumerate(lists)
    ]
    one = cell_scores("c", new)
    assert list(one.metrics) == ["acc", "inst_level_loose_acc", "unparsed"]
    assert one.interval == wilson(2, 3) and one.with_metric("inst_level_loose_acc").score == pytest.approx(3 / 6)


def test_a_metric_with_options_is_the_one_that_the_run_declares() -> None:
    lines = [
        line(i, {"f1_macro": pair, "acc": [float(pair[0] == pair[1])]})
        for i, pair in enumerate([[0.0, 0.0], [1.0, 0.0]])
    ]
    cell = cell_scores("c", lines, {"metrics": [F1, "acc"]})
    assert cell.main == "f1_macro" and cell.score == pytest.approx((2 / 3 + 0) / 2)
    with pytest.raises(UserError, match="there is no metric 'f1_macro'"):
        cell_scores("c", lines)


def test_a_metric_that_some_documents_lack_is_over_the_others() -> None:
    cell = cell_scores("c", [line(0, {"acc": [1.0]}), line(1, {"acc": [0.0], "acc_norm": [1.0]})])
    assert (cell.score, cell.with_metric("acc_norm").score, cell.with_metric("acc_norm").ids.tolist()) == (
        0.5,
        1.0,
        [1],
    )
    with pytest.raises(UserError, match="not all samples have acc_norm, the cell's score"):
        cell_scores("c", [line(0, {"acc_norm": [1.0]}), line(1, {"acc": [0.0]})])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"acc": 2.0, "measures": {"acc": [2.0]}}, "acc must be a number from 0 to 1, not 2.0"),
        ({"acc": 1.0, "measures": {"acc": [0.0]}}, "acc is 1.0, and its measure [0.0]"),
        ({"measures": {"acc": [1.0, 0.0]}}, "acc is 1.0, and its measure [1.0, 0.0]"),
        ({"measures": {"acc": []}}, "acc must be"),
        ({"acc": None, "measures": {}}, "it has no measure of acc"),
        ({"metrics": ["acc", "chrf"], "measures": {"acc": [1.0], "chrf": [1e999]}}, "chrf must be"),
        (
            {"metrics": ["acc", "colour"], "colour": 1.0, "measures": {"acc": [1.0], "colour": [1.0]}},
            "there is no metric 'colour'",
        ),
    ],
)
def test_a_score_that_cannot_be_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    lines = [line(0, {"acc": [1.0]}), line(1, {"acc": [1.0]}) | change]
    with pytest.raises(UserError, match=r"samples_t_yor_eng_1\.jsonl") as caught:
        read_runs([written(tmp_path, lines)])
    assert message in caught.value.message and caught.value.hint


def test_derived_metrics_are_metrics(tmp_path: Path) -> None:
    lines = [line(i, {"acc": [float(i % 2)], "acc_norm": [float(i % 3 > 0)]}) for i in range(30)]
    declared = {"t": {"derived": {"both": {"how": "harmonic_mean", "of": ["acc", "acc_norm"]}}}}
    (cell,) = read_runs([written(tmp_path, lines, declared=declared)])
    both = cell.with_metric("both")
    assert both.score == pytest.approx(2 / (1 / 0.5 + 1 / (2 / 3))) and both.interval is not None
    assert both.interval.low < both.score < both.interval.high and summary_row(cell)["both"] == both.score
    weights = np.random.default_rng(1).multinomial(30, np.full(30, 1 / 30), 4000).astype(float)
    assert both.standard_error == pytest.approx(both.metric.score(both.measures["both"], weights).std(), rel=0.1)
    assert summary_columns([cell])[-4:] == ["parts", "acc", "acc_norm", "both"]


def test_a_derived_metric_has_the_bounds_of_its_inputs(tmp_path: Path) -> None:
    declared = {"t": {"derived": {"twice": {"how": "mean", "of": ["chrf", "chrf"]}}}}
    (cell,) = read_runs([written(tmp_path, CHRF, declared=declared)])
    twice = cell.with_metric("twice")
    assert (twice.metric.bounds, twice.metric.interval) == ((0.0, 100.0), "bootstrap")
    assert twice.score == pytest.approx(cell.score) and cell.metrics["chrf"].bounds == (0.0, 100.0)


def test_groups_of_documents_have_scores_and_derived_metrics_take_them(tmp_path: Path) -> None:
    subjects = ["physics", "law", "biology", "history"]
    lines = [line(i, {"acc": [float(i % 4 != 1)]}, doc={"subject": subjects[i % 4]}) for i in range(40)]
    declared = {
        "groups": {"stem": {"subject": ["physics", "biology"]}, "other": {"subject": ["law", "history"]}},
        "derived": {"both": {"how": "mean", "of": ["stem.acc", "other.acc"]}},
    }
    (cell,) = read_runs([written(tmp_path, lines, declared={"t": declared})])
    assert list(cell.metrics) == ["acc", "stem.acc", "other.acc", "both"]
    stem, other, both = (cell.with_metric(name) for name in ("stem.acc", "other.acc", "both"))
    assert (stem.score, stem.n, stem.interval) == (1.0, 20, wilson(20, 20)) and (other.score, other.n) == (0.5, 20)
    assert both.score == pytest.approx(0.75) and both.n == 40
    error = stem.standard_error**2 + other.standard_error**2
    assert both.standard_error == pytest.approx(error**0.5 / 2, rel=0.05)
    assert summary_row(cell)["stem.acc"] == 1.0 and summary_columns([cell])[-3:] == ["stem.acc", "other.acc", "both"]
    (language,) = by_language([cell])
    assert list(language.others) == ["both"], "groups would make the table too wide"


def test_a_derived_metric_of_a_reference_run(tmp_path: Path) -> None:
    lines = [line(i, {"acc": [float(i % 2)]}) for i in range(40)]
    reference = written(tmp_path / "reference", [line(i, {"acc": [1.0]}) for i in range(40)])
    spec = {"how": "ks_test", "of": "acc", "reference": str(reference)}
    (cell,) = read_runs([written(tmp_path / "run", lines, declared={"t": {"derived": {"quality": spec}}})])
    quality = cell.with_metric("quality")
    assert 0 < quality.score < 0.001 and quality.interval is None and np.isnan(quality.standard_error)
    (same,) = read_runs([written(tmp_path / "run", [line(i, {"acc": [1.0]}) for i in range(40)],
                                 declared={"t": {"derived": {"quality": spec}}})])  # fmt: skip
    assert same.with_metric("quality").score == 1.0


def test_columns_are_those_of_the_metrics_that_are_there() -> None:
    text = cell_scores("c", [line(0, {"acc": [1.0], "acc_norm": [1.0]})])
    written_ = cell_scores("d", [line(0, {"unparsed": [0.0], "exact_match": [1.0]})])
    columns = summary_columns([written_, text, cell_scores("e", CHRF)])
    assert columns[13:] == ["exact_match", "acc_norm", "unparsed", "macro", "parts"]
    assert summary_columns([text])[13:] == ["acc_norm", "macro", "parts"]


def test_each_file_is_read_once_and_again_if_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    of_file = samples.read_lines
    monkeypatch.setattr(run_folder, "read_lines", lambda path: read.append(path) or of_file(path))  # type: ignore[func-returns-value]
    run = RunFolder(written(tmp_path, CHRF))
    cells: list[CellScores] = [run.scores("t_yor_eng_1") for _ in range(3)]
    assert len(read) == 1 and cells[0].rows == 8
    write_samples(tmp_path, "t_yor_eng_1", CHRF[:5])
    assert run.scores("t_yor_eng_1").rows == 5 and len(read) == 2
    write_run(tmp_path, record(visits=[{}, {"dtype": "other"}]))
    assert run.scores("t_yor_eng_1").rows == 5 and len(read) == 2
    write_run(tmp_path, record(declared={"t": {"breakdowns": ["subject"]}}))
    assert run.scores("t_yor_eng_1").declared["breakdowns"] == ["subject"] and len(read) == 3


def test_rows_out_of_order_and_of_another_cell_are_refused(tmp_path: Path) -> None:
    for lines in (CHRF[::-1], [CHRF[0], CHRF[2]], [CHRF[0], {**CHRF[1], "language": "hau"}]):
        with pytest.raises(UserError, match="is not what a run of t_yor_eng_1 wrote"):
            RunFolder(written(tmp_path, lines)).scores("t_yor_eng_1")


def test_documents_left_out_are_counted(tmp_path: Path) -> None:
    lines = [line(0, {"acc": [1.0]}), line(1, None), line(2, {"acc": [0.0]}, defect="equal")]
    (cell,) = read_runs([written(tmp_path, lines)])
    assert (cell.n, cell.n_defect, cell.rows, cell.ids.tolist()) == (2, 2, 3, [0, 2])
    assert cell.path == sample_path(tmp_path, "t_yor_eng_1") and cell.folder == tmp_path


ROW = {"task": "t", "language": "yor", "prompt": 1, "prompt_language": "eng", "metrics": ["acc"], "resps": [["a"]]}


def of_rows(tmp_path: Path, ids: list[int], between: str = "") -> Path:
    path = tmp_path / "samples_t_yor_eng_1.jsonl"
    path.write_text("".join(json.dumps({"doc_id": row, **ROW}) + "\n" + between for row in ids))
    return path


def test_rows_are_found_by_number(tmp_path: Path) -> None:
    path = of_rows(tmp_path, [0, 1, 2, 3])
    assert {row: line["doc_id"] for row, line in read_rows(path, [3, 1]).items()} == {1: 1, 3: 3}


def test_empty_lines_do_not_count(tmp_path: Path) -> None:
    assert list(read_rows(of_rows(tmp_path, [0, 1], between="\n"), [1])) == [1]


def test_other_lines_are_not_parsed(tmp_path: Path) -> None:
    path = of_rows(tmp_path, [0, 1])
    path.write_text("broken\n" + path.read_text().split("\n", 1)[1])
    assert list(read_rows(path, [1])) == [1]


@pytest.mark.parametrize(("ids", "row", "message"), [([0, 2], 1, "is of document 2"), ([0], 1, "it has no document 1")])
def test_a_file_that_has_changed_is_refused(tmp_path: Path, ids: list[int], row: int, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_rows(of_rows(tmp_path, ids), [row])


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = of_rows(tmp_path, [0, 1])
    path.write_text(path.read_text()[:-20])
    with pytest.raises(UserError, match="line 2 is not valid JSON"):
        read_rows(path, [1])


@pytest.mark.parametrize("tokens", [{"<b>": 1}, [2], "three", None])
def test_tokens_that_are_not_numbers_are_not_lengths(tokens: object) -> None:
    choices = [[[-1.0, True, 2]], [[-2.0, False, tokens]]]
    line = {"resps": choices, "arguments": [["q", " yes"], ["q", " no"]]}
    assert _lengths(line) == (4, 3)


@pytest.mark.parametrize(
    ("line", "unparsed"),
    [
        ({"answer": None, "unparsed": 1.0}, True),
        ({"answer": 0, "unparsed": 0.0}, False),
        ({"answer": [], "unparsed": 0.0}, False),
        ({"acc": 0.0}, False),
    ],
)
def test_unparsed_answers(line: Sample, unparsed: bool) -> None:
    assert is_unparsed(line) is unparsed
