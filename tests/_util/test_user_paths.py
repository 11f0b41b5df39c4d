"""Paths that no file can have are refused in one line, wherever a user names one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Cli

from afrieval._util.errors import UserError
from afrieval._util.files import user_path


def impossible(folder: Path) -> list[str]:
    (folder / "loop").symlink_to(folder / "loop")
    return ["~nosuchuser/x", "a" * 300, "a/" * 3000, "a\0b", str(folder / "loop"), str(folder / "loop/x")]


def test_impossible_paths(tmp_path: Path) -> None:
    for text in ["", *impossible(tmp_path)]:
        with pytest.raises(UserError) as caught:
            user_path(text)
        assert len(caught.value.message) < 300 and caught.value.hint


def test_possible_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_path("~/x") == tmp_path / "x"
    assert user_path("not/there") == Path("not/there") and user_path(".") == Path()


@given(st.text(max_size=400))
def test_any_text_is_a_path_or_a_user_error(text: str) -> None:
    try:
        assert isinstance(user_path(text), Path)
    except UserError as e:
        assert e.message and e.hint


OPTIONS = ["--model.model_name", "--run_dir", "--data.source", "--task.folder", "--model-config-yaml"]
OPTIONS += ["--task-config-yaml"]


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_that_takes_a_path(run_demo: Cli, tmp_path: Path, option: str) -> None:
    device = ["/dev/zero"] if Path("/dev/zero").exists() else []
    for text in [*impossible(tmp_path), *device]:
        done = run_demo("--task.languages", "yor", "--eval.limit", 1, option, text)
        assert done.code == 2 and done.err.count("\n") == 2 and done.err.startswith("error: "), (text[:20], done.err)


@pytest.mark.parametrize(
    "command", ["compare", "samples", "llama", "llama --print-command", "export --to harness", "preview"]
)
def test_every_command_that_takes_a_path(cli: Cli, tmp_path: Path, command: str) -> None:
    for text in impossible(tmp_path):
        done = cli(*command.split(), text)
        assert done.code == 2 and done.err.count("\n") == 2 and done.err.startswith("error: "), (text[:20], done.err)
