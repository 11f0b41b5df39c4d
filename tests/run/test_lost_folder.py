"""A run folder that fails while a run goes on: a clean error that says what is lost, whatever fails and whenever."""

import resource
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Cli, of_demo
from tests.forks import Fork, afrieval

from afrieval.models.answer_file import AnswerFile
from afrieval.results.run_files import LOCK, sample_files

CELLS = ("--task.languages", "yor", "--task.prompts", "1,2", "--eval.limit", "1")


def removed(folder: Path) -> None:
    shutil.rmtree(folder)


def replaced(folder: Path) -> None:
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    shutil.rmtree(folder)
    copy.rename(folder)


def a_file_instead(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("")


def unlocked(folder: Path) -> None:
    (folder / LOCK).unlink()


GONE: dict[Callable[[Path], None], str] = {
    removed: "was removed or replaced",
    replaced: "was removed or replaced",
    a_file_instead: "was removed or replaced",
    unlocked: f"{LOCK} was removed",
}
LOADING, ANSWERING = "afrieval.models.loading.seed_libraries", "afrieval.tasks.cells.harness_tasks.ask"
SUMMARISING = "afrieval.run.finish.summarise"


@pytest.mark.parametrize(
    ("loss", "moment"),
    [(removed, LOADING), *((loss, ANSWERING) for loss in GONE), (removed, SUMMARISING), (replaced, SUMMARISING)],
)
def test_a_folder_that_is_gone(
    run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loss: Callable[[Path], None], moment: str
) -> None:
    folder = tmp_path / "run"
    module, name = moment.rsplit(".", 1)
    work = getattr(sys.modules.get(module) or __import__(module, fromlist=[name]), name)

    def lose(*args: object) -> object:
        if (folder / LOCK).exists() and not (folder.with_name("lost")).exists():
            folder.with_name("lost").write_text("")
            loss(folder)
        return work(*args)

    monkeypatch.setattr(moment, lose)
    monkeypatch.setattr("afrieval.run.progress.EVERY", 0)
    done = run_demo(*CELLS)
    if (loss, moment) != (replaced, SUMMARISING):  # then all is stored already
        assert done.code == 2 and GONE[loss] in done.err and done.err.count("error: ") == 1
    assert not folder.is_dir() or not sample_files(folder) or loss in (replaced, unlocked)
    monkeypatch.undo()
    if folder.is_file():
        folder.unlink()
    assert run_demo(*CELLS).code == 0
    assert len(sample_files(folder)) == 2


def test_a_removal_is_seen_before_the_cell_ends(run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put, kept = AnswerFile.put, list[str]()

    def put_then_lose(answers: AnswerFile, key: str, answer: object) -> None:
        put(answers, key, answer)
        kept.append(key)
        shutil.rmtree(tmp_path / "run", ignore_errors=True)

    monkeypatch.setattr(AnswerFile, "put", put_then_lose)
    monkeypatch.setattr("afrieval.run.progress.EVERY", 0)
    assert run_demo(*CELLS).code == 2 and len(kept) == 1


def test_an_answer_file_that_is_removed(run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put = AnswerFile.put

    def put_then_lose(answers: AnswerFile, key: str, answer: object) -> None:
        put(answers, key, answer)
        for path in (tmp_path / "run").glob("answers_*"):
            path.unlink()

    monkeypatch.setattr(AnswerFile, "put", put_then_lose)
    done = run_demo(*CELLS)
    assert done.code == 2 and "/answers_" in done.err and "was deleted during the run" in done.err
    monkeypatch.undo()
    assert run_demo(*CELLS).code == 0


@pytest.mark.parametrize("name", ["results.json", "summary.csv"])
def test_a_folder_in_the_place_of_a_file(run_demo: Cli, tmp_path: Path, name: str) -> None:
    (tmp_path / "run" / name).mkdir(parents=True)
    done = run_demo(*CELLS)
    lines = done.err.splitlines()
    assert done.code == 2 and name in lines[-2] and lines[-2].startswith("error: "), done.err
    assert lines[-1].startswith("hint: ") and "Traceback" not in done.err
    (tmp_path / "run" / name).rmdir()
    assert run_demo(*CELLS).code == 0


def test_a_limit_of_file_sizes(run_demo: Cli, tmp_path: Path) -> None:
    words = of_demo(*CELLS, folder=tmp_path / "run")
    assert run_demo(*CELLS, "--run_dir", tmp_path / "other").code == 0, "which also makes the demo model"

    def limited() -> int:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
        return afrieval("run", *words)()

    code, _, err = Fork(limited, tmp_path / "said").wait()
    assert code == 2 and "Traceback" not in err
    error, hint = [line for line in err.splitlines() if not line.startswith(("[", "to run: "))]
    assert error.startswith(f"error: {tmp_path / 'run'}/") and error.endswith(" cannot be written: File too large")
    assert "ulimit -f" in hint and "the same command continues" in hint
    assert run_demo(*CELLS).code == 0
