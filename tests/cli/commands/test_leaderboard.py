"""`afrieval leaderboard`: what it writes, and what it refuses to replace."""

import shutil
from pathlib import Path

import pytest
from tests.conftest import Cli, Refusal
from tests.report.html.small_runs import small_run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    small_run(tmp_path / "runs/a", "first")
    return tmp_path / "runs"


def test_it_writes_pages_and_says_where(runs: Path, cli: Cli, tmp_path: Path) -> None:
    small_run(runs / "b", "second").joinpath("samples_afrixnli_yor_eng_1.jsonl").unlink()
    done = cli("leaderboard", runs, "-o", tmp_path / "site").ok()
    assert f"open {tmp_path / 'site/index.html'} in a browser" in done.out
    assert done.err.startswith("left out: b: it is not finished: 1 of 4 cells are missing")
    assert (tmp_path / "site/models/first.html").is_file()


def test_the_same_command_replaces_its_own_pages_alone(runs: Path, cli: Cli, refusal: Refusal, tmp_path: Path) -> None:
    site = tmp_path / "site"
    assert cli("leaderboard", runs, "-o", site).code == 0
    small_run(runs / "b", "second")
    shutil.rmtree(runs / "a")
    assert cli("leaderboard", runs, "-o", site).code == 0
    assert [path.name for path in (site / "models").iterdir()] == ["second.html"]
    (site / "CNAME").write_text("mine")
    assert "CNAME in it was not written by this command" in refusal("leaderboard", runs, "-o", site)
    assert (site / "CNAME").read_text() == "mine" and (site / "index.html").is_file()


def test_pages_inside_the_folder_are_no_results(runs: Path, cli: Cli) -> None:
    for _ in range(2):
        done = cli("leaderboard", runs, "-o", runs / "site")
        assert done.code == 0 and done.err == ""


@pytest.mark.parametrize("output", [".", ".."])
def test_the_results_are_never_replaced(runs: Path, refusal: Refusal, output: str) -> None:
    assert "has the results in it" in refusal("leaderboard", runs, "-o", runs / output)
    assert (runs / "a/run.yaml").is_file()


def test_wrong_folders_are_errors(cli: Cli, refusal: Refusal, tmp_path: Path) -> None:
    assert "does not exist" in cli("leaderboard", tmp_path / "none", "-o", tmp_path / "site").err
    (tmp_path / "empty").mkdir()
    assert "has no results" in refusal("leaderboard", tmp_path / "empty", "-o", tmp_path / "site")
    (tmp_path / "file").write_text("")
    small_run(tmp_path / "runs/a", "first")
    assert "is not a folder" in cli("leaderboard", tmp_path / "runs", "-o", tmp_path / "file").err
    assert not (tmp_path / "site").exists()
    assert f"{tmp_path / 'file'} is a file" in cli("leaderboard", tmp_path / "file", "-o", tmp_path / "site").err
    assert "the path is empty" in cli("leaderboard", tmp_path / "runs", "-o", "").err


def test_what_is_left_out_is_named_as_it_was_given(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("")
    done = cli("leaderboard", tmp_path, "-o", tmp_path / "site")
    assert done.err.startswith(f"left out: {tmp_path.name}: it has no finished cell\n")


def test_watching_builds_again_after_a_change_until_it_is_stopped(
    runs: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What happens between two looks at the folder: a new run, nothing, all runs gone, Ctrl-C."""
    site, pages = tmp_path / "site", []

    def change(at: int) -> None:
        pages.append(sorted(path.name for path in (site / "models").iterdir()))
        if at == 0:
            small_run(runs / "b", "second")
        if at == 2:
            shutil.rmtree(runs)
        if at == 3:
            raise KeyboardInterrupt

    looks = iter(range(4))
    monkeypatch.setattr("time.sleep", lambda seconds: change(next(looks)))
    done = cli("leaderboard", runs, "-o", site, "--watch")
    assert done.code == 130
    assert pages == [
        ["first.html"],
        ["first.html", "second.html"],
        ["first.html", "second.html"],
        ["first.html", "second.html"],
    ]
    assert done.out.count("wrote") == 2 and "the pages stay as they are" in done.err
