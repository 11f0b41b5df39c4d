"""`afrieval check-runs`: what a board refuses, and copies of runs that it takes."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli
from tests.exchange.conftest import declared_as

from afrieval.results.comparable_runs import read_runs
from afrieval.results.run_files import read_run, write_run
from afrieval.results.samples import read_samples
from afrieval.tools.run_checks import check_runs, copy_without_texts

# One task with choices and one with generated answers, whose right answers are texts of the data set.
WORDS = ("--task.task_name", "afrixnli,afriqa", "--task.languages", "hau", "--task.prompts", "1", "--max-gen-toks", "2")


@pytest.fixture
def run(demo_run: Callable[..., Path], tmp_path: Path) -> Path:
    """A run whose rows pass for those of data sets."""
    return declared_as(Path(shutil.copytree(demo_run(*WORDS), tmp_path / "runs/a")), own_rows=False)


def test_a_copy_has_the_scores_and_no_text_of_the_data(run: Path, cli: Cli, tmp_path: Path) -> None:
    done = cli("check-runs", run.parent)
    assert done.code == 2 and "a: refused\n  refused: it has the questions of 2 cells" in done.out
    done = cli("check-runs", run.parent, "-o", tmp_path / "copy")
    assert done.code == 0 and done.out.startswith("a: good\n")
    copy = tmp_path / "copy/a"
    before, after = ({c.name: (c.score, c.n) for c in read_runs([folder])} for folder in (run, copy))
    assert before == after
    written = "".join(path.read_text(encoding="utf-8") for path in copy.iterdir())
    texts = [s for path in run.glob("samples_*") for line in read_samples(path) for s in _texts(line)]
    assert len(texts) > 30 and not [text for text in texts if text in written]
    assert str(tmp_path) not in written
    for command in (
        ("show", copy),
        ("samples", copy, "--tasks", "afriqa"),
        ("report", copy, "-o", tmp_path / "r.html"),
    ):
        assert cli(*command).code == 0


def _texts(line: dict[str, Any]) -> list[str]:
    """Returns question, context, prompt and right answer of a sample; short ones may be words of an answer."""
    asked = [line["arguments"][0][0], *map(str, line["doc"].values()), str(line["target"])]
    return [text for text in asked if len(text) > 20]


def test_own_and_first_rows_are_refused(run: Path, cli: Cli) -> None:
    declared_as(run, own_rows=True)
    assert "afrixnli: scores on the suite's own sample rows" in cli("check-runs", run).out
    declared_as(run, own_rows=False)
    record: dict[str, Any] = dict(read_run(run))
    record["declared"]["afriqa"]["test_set"] = {"hau": 300}
    write_run(run, record)
    assert "afriqa: first 12 of 300 rows: for debugging (hau)" in cli("check-runs", run).out


def _task(record: dict[str, Any], **changes: Any) -> None:
    record["identity"]["tasks"]["afrixnli"].update(changes)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda record: _task(record, version=1), "version 1, and version 3 is installed; score it again"),
        (lambda record: _task(record, declaration="0"), "its task file differs from the installed one"),
        (lambda record: _task(record, prompts={"eng": {1: "0"}}), "prompts eng 1 differ from the installed ones"),
        (lambda record: _task(record, data={"hau": {"test": "0"}}), "its test data in hau is not what most runs here"),
        (lambda record: record["cells"].append("afrixnli_yor_eng_1"), "is not finished: 1 of 3 cells are missing"),
    ],
)
def test_what_is_not_the_installed_benchmark_is_refused(
    run: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], problem: str
) -> None:
    copies = [tmp_path / name for name in ("first", "second", "other")]
    for copy in copies:
        copy_without_texts(run, copy, {})
    assert not any(found.problems for found in check_runs(copies))
    record: dict[str, Any] = dict(read_run(copies[2]))
    change(record)
    write_run(copies[2], record)
    found = check_runs(copies)
    assert [len(of.problems) for of in found] == [0, 0, 1] and problem in found[2].problems[0]


def test_a_canary_shows_that_a_file_is_of_a_test_set(run: Path, tmp_path: Path) -> None:
    copy_without_texts(run, tmp_path / "copy", {})
    (tmp_path / "copy/notes.md").write_text("BENCHMARK DATA SHOULD NEVER APPEAR ... canary GUID 1234", encoding="utf-8")
    [found] = check_runs([tmp_path / "copy"])
    assert found.problems == ["notes.md has a benchmark's canary, so it has text of a test set"]


def test_folders_without_runs_are_errors(cli: Cli, tmp_path: Path) -> None:
    assert "has no run" in cli("check-runs", tmp_path).err
    assert "is not a folder" in cli("check-runs", tmp_path / "none").err
