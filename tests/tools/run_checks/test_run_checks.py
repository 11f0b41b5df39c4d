"""`afrieval check-runs`: what a board refuses, and copies of runs that it takes."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli
from tests.exchange.conftest import declared_as
from tests.report.judged_runs import GIVEN, judged_run

from afrieval._util.errors import UserError
from afrieval.results.comparable_runs import read_runs
from afrieval.results.run_files import read_run, write_run, write_samples
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import WITHHELD, read_samples
from afrieval.tasks.declaration.spec import load_task
from afrieval.tools.run_checks.run_checks import check_runs, copy_without_texts
from afrieval.tools.run_checks.score_checks import score_problems

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
        (lambda record: _task(record, version=1), "version 1, and version 4 is installed; score it again"),
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


def _line(folder: Path, task: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes the second line of a task's sample file."""
    path = folder / f"samples_{task}_hau_eng_1.jsonl"
    lines = read_samples(path)
    change(lines[1])
    write_samples(folder, path.stem.removeprefix("samples_"), lines)


def _score(line: dict[str, Any], score: float, metric: str = "acc", **more: Any) -> None:
    line.update({metric: score, "measures": {**line["measures"], metric: [score]}, **more})


def _other(line: dict[str, Any]) -> int:
    return int((line["picked"] + 1) % 3)


FIRST, SECOND = "samples_afrixnli_hau_eng_1.jsonl, line 2: ", "samples_afriqa_hau_eng_1.jsonl, line 2: "
FORGED: dict[str, tuple[str, Callable[[dict[str, Any]], None], str, bool]] = {  # and whether the data show it alone
    "score": ("afrixnli", lambda of: _score(of, 1 - of["acc"]), f"{FIRST}acc is ", False),
    "pick": ("afrixnli", lambda of: of.update(picked=_other(of), answer=_other(of)), f"{FIRST}answer is ", False),
    "pick and score": (
        "afrixnli",
        lambda of: _score(of, 1.0, picked=of["gold"], answer=of["gold"]) if of["acc"] == 0 else _score(of, 0.0),
        FIRST,
        False,
    ),
    "gold": ("afrixnli", lambda of: _score(of, 1.0, gold=of["picked"]), f"{FIRST}gold is ", True),
    "answer": ("afriqa", lambda of: of.update(answer="Kano"), f"{SECOND}answer is Kano, and its answer gives", True),
    "score of a text": ("afriqa", lambda of: _score(of, 0.5, "f1"), f"{SECOND}f1 is 0.5", True),
}


@pytest.mark.parametrize("texts", [True, False])
@pytest.mark.parametrize("what", FORGED)
def test_scores_that_the_answers_do_not_give_are_named(
    run: Path, tmp_path: Path, what: str, texts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, change, problem, needs_data = FORGED[what]
    folder = run if texts else tmp_path / "copy"
    if not texts:
        copy_without_texts(run, folder, {})
    _line(folder, task, change)
    [found] = check_runs([folder])
    assert any(line.startswith(problem) for line in found.problems), found.problems
    monkeypatch.setattr("afrieval.tools.run_checks.score_checks.rescored", _no_data)
    [found] = check_runs([folder])
    assert any("without the data set: none" in line for line in found.remarks)
    assert needs_data or any(line.startswith(FIRST) for line in found.problems)


def _no_data(*given: Any, **more: Any) -> None:
    raise UserError("none", "")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda record: record.pop("declared"), "run.yaml does not have data of afrixnli as"),
        (lambda record: record["declared"]["afrixnli"].pop("metrics"), "run.yaml does not have metrics of afrixnli as"),
        (lambda record: record["declared"]["afrixnli"]["labels"].pop(), "run.yaml does not have labels of afrixnli"),
        (lambda record: record["declared"]["afrixnli"]["test_set"].update(hau=2), "does not have test_set of afrixnli"),
    ],
)
def test_declarations_that_are_gone_are_named(
    run: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], problem: str
) -> None:
    copy_without_texts(run, tmp_path / "copy", {})
    record: dict[str, Any] = dict(read_run(tmp_path / "copy"))
    change(record)
    write_run(tmp_path / "copy", record)
    [found] = check_runs([tmp_path / "copy"])
    assert any(problem in line for line in found.problems), found.problems


@pytest.mark.parametrize("name", ["summary.csv", "results.json"])
def test_files_that_the_samples_do_not_give_are_named(run: Path, name: str) -> None:
    text = (run / name).read_text()
    score = next(iter(read_runs([run]))).score
    (run / name).write_text(text.replace(str(score), "0.987"))
    [found] = check_runs([run])
    assert any(f"is 0.987, and its samples give {score}" in line and line.startswith(name) for line in found.problems)


def test_answers_that_repeat_the_question_are_left_out(run: Path, cli: Cli, tmp_path: Path) -> None:
    """Whole or in part, with other line breaks, case or marks; what only has some of its words stays."""
    path = run / "samples_afriqa_hau_eng_1.jsonl"
    lines = read_samples(path)
    question = str(lines[0]["doc"]["question"])
    assert len(question) > 20
    broken = "\n> ".join(question.upper().split() * 2)
    lines[0]["details"] = {"thinking": f"They ask: {question}", "prompt_tokens": 7}
    lines[1]["resps"] = lines[1]["filtered_resps"] = [[f"Q: {lines[1]['doc']['question']}\nA: Kano"]]
    lines[2].update(resps=[[broken]], doc={**lines[2]["doc"], "question": f"{question} {question}"})
    lines[3]["resps"] = [[" ".join(str(lines[3]["doc"]["question"]).split()[:2]) + " Kano"]]
    lines[4]["judged"] = {"judge_x": {"level": "1", "reason": question}}
    lines[5]["resps"] = [[lines[5]["arguments"][0][0][-60:]]]
    write_samples(run, "afriqa_hau_eng_1", lines)
    done = cli("check-runs", run, "-o", tmp_path / "copy")
    assert "a: answers or thinking of 4 samples repeat texts of the data set and are left out" in done.err
    copied = read_samples(tmp_path / f"copy/a/{path.name}")
    texts = [line["resps"][0][0] for line in copied[:6]]
    assert [text == WITHHELD for text in texts] == [False, True, True, False, False, True]
    assert copied[0]["details"] == {"thinking": WITHHELD, "prompt_tokens": 7} and "reason" not in str(copied[4])
    assert copied[1]["filtered_resps"] == [WITHHELD] or copied[1]["filtered_resps"] == [[WITHHELD]]
    assert all(before["doc_hash"] == after["doc_hash"] for before, after in zip(lines, copied, strict=True))
    again = cli("check-runs", tmp_path / "copy")
    assert not [line for line in again.out.splitlines() if "line 2" in line or "line 3" in line]


@pytest.mark.parametrize(
    ("metric", "measure"), [("judge_tiny", [0.9]), ("people", [0.9]), ("corrected_tiny", [0.5, 0.9, 1.0])]
)
def test_scores_are_those_of_the_levels_that_judges_and_people_gave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metric: str, measure: list[float]
) -> None:
    monkeypatch.setattr("afrieval.tools.run_checks.score_checks.rescored", _no_data)
    run, specs = RunFolder(judged_run(tmp_path / "run", GIVEN)), {"open": load_task("afriqa")}
    assert score_problems(run, read_runs([run.path]), specs)[0] == []
    lines = read_samples(run.path / "samples_open_hau_eng_1.jsonl")
    shown = measure[0] if len(measure) == 1 else measure
    lines[0] = {**lines[0], metric: shown, "measures": {**lines[0]["measures"], metric: measure}}
    write_samples(run.path, "open_hau_eng_1", lines)
    problems = score_problems(run, read_runs([run.path]), specs)[0]
    assert any(f"samples_open_hau_eng_1.jsonl, line 1: the measure of {metric} is {measure}" in of for of in problems)


def test_a_file_that_no_run_writes_is_not_read(run: Path, tmp_path: Path) -> None:
    copy_without_texts(run, tmp_path / "copy", {})
    with (tmp_path / "copy/hole.bin").open("wb") as file:
        file.truncate(30 * 2**30)
    [found] = check_runs([tmp_path / "copy"])
    assert found.problems == ["hole.bin is larger than any file of a run; remove it"]
