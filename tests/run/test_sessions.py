"""Each session of a run ends with what it took, also where it was stopped."""

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli

from afrieval.results.run_files import RUN, read_run, write_run

SOME = ("--task.task_name", "afrixnli", "--task.languages", "yor", "--task.prompts", 1)


def sessions(folder: Path) -> list[dict[str, Any]]:
    return [dict(session) for session in read_run(folder)["visits"]]


def test_a_session_says_what_it_took(run_demo: Cli, cli: Cli, tmp_path: Path) -> None:
    assert run_demo(*SOME).code == 0
    assert run_demo(*SOME[:-1], "1,2").code == 0
    first, second = (session["work"]["likelihoods"] for session in sessions(tmp_path / "run"))
    assert 0 < first["computed"] < first["plain"] and first["requests"] > 0
    assert 0.5 < second["plain"] / first["plain"] < 2, "the first prompt is not asked again"
    assert sessions(tmp_path / "run")[0]["device_name"].split()[-1] in ("thread", "threads")
    table = cli("show", tmp_path / "run").out.partition("What the run took")[2]
    assert f"{first['plain']:,}" in table and f"{second['computed']:,}" in table
    page = tmp_path / "report.html"
    assert cli("report", tmp_path / "run", "-o", page).code == 0
    assert f"{first['computed']:,}" in page.read_text()


def test_a_stopped_session_says_it_too(run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(20))

    def stop() -> None:
        if next(ticks) == 12:
            raise KeyboardInterrupt

    with monkeypatch.context() as changed:
        changed.setattr("afrieval.run.evaluate.signals.check", stop)
        assert run_demo(*SOME).code == 130
    (stopped,) = sessions(tmp_path / "run")
    assert stopped["work"]["likelihoods"]["computed"] > 0
    assert run_demo(*SOME).code == 0
    assert len(sessions(tmp_path / "run")) == 2


def test_damaged_work_is_named(run_demo: Cli, cli: Cli, tmp_path: Path) -> None:
    assert run_demo(*SOME).code == 0
    record = read_run(tmp_path / "run")
    record["visits"][0]["work"] = {"likelihoods": {"requests": "many"}}
    write_run(tmp_path / "run", record)
    done = cli("show", tmp_path / "run")
    assert done.code == 2 and RUN in done.err and "work.likelihoods" in done.err
