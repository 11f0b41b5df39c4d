"""What is not a file of text is refused before it is in memory, and named; paths are what users meant."""

import os
import re
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Cli

import afrieval
from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes, read_text, user_path

SOURCE = Path(afrieval.__file__).parent


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes("\ufeffẹ̀kọ́\r\n".encode())
    assert read_text(tmp_path / "x", "") == "ẹ̀kọ́\r\n" and read_bytes(tmp_path / "x", "").startswith(b"\xef\xbb\xbf")


def test_what_is_not_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    (tmp_path / "bytes").write_bytes(b"a\nb\xff\n")
    with socket.socket(socket.AF_UNIX) as made:
        monkeypatch.chdir(tmp_path)  # its path may have 107 bytes
        made.bind("socket")
    cases = {
        tmp_path / "socket": "is a socket, not a file",
        tmp_path: "is a folder, not a file",
        tmp_path / "none": "there is no file",
        tmp_path / "dangling": "there is no file",
        tmp_path / "loop": "Too many levels of symbolic links",
        tmp_path / "bytes": "line 2, is not UTF-8 text",
        Path("/dev/zero"): "is a device, not a file",
        tmp_path / "bytes/x": "Not a directory",
    }
    for path, message in cases.items():
        with pytest.raises(UserError, match=message) as caught:
            read_text(path, "the cure")
        assert caught.value.hint == "the cure" or "symbolic" in message


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "x").open("wb") as file:
        file.truncate(2**40)  # a hole: no disk is used
    with pytest.raises(UserError, match="is larger than 1000 bytes"):
        read_text(tmp_path / "x", "", 1000)


def test_every_module_opens_files_here() -> None:
    """Others may read what comes with the suite or the system, or what they know to be a file."""
    reads = re.compile(r"\.read_(bytes|text)\(|\.open\((\"rb?\"|encoding|\))|[^.\w]open\(")
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any(reads.search(line) and "def " not in line for line in path.read_text(encoding="utf-8").splitlines())
    }
    assert found == {
        "addons/llama/llama_command.py",
        "tools/doctor/machine.py",
        "_util/whole_files.py",
        "addons/readers/inspect_ai.py",
        "_util/worker.py",
        "models/backend_args.py",
        "models/engine/processor.py",
        "report/html/frame.py",
        "tools/review/generated.py",
        "tools/review/forms.py",
        "tools/review/read.py",
        "cli/commands/review.py",
    }


def test_reads_a_pipe_as_a_shell_hands_it_over() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"a: 1")
    os.close(writing)
    assert read_bytes(Path(f"/dev/fd/{reading}"), "hint") == b"a: 1"
    os.close(reading)


def test_refuses_a_named_pipe_which_may_have_no_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="named pipe"):
        read_bytes(tmp_path / "pipe", "hint")


def test_takes_no_more_of_a_pipe_than_such_a_file_can_have() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"12345")  # and stays open
    with pytest.raises(UserError, match="larger than 4 bytes"):
        read_bytes(Path(f"/dev/fd/{reading}"), "hint", largest=4)
    os.close(reading)
    os.close(writing)


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
    for text in [*impossible(tmp_path)[:2], "/dev/zero"]:
        done = run_demo("--task.languages", "yor", "--eval.limit", 1, option, text)
        assert done.code == 2 and done.err.count("\n") == 2 and done.err.startswith("error: "), (text[:20], done.err)


@pytest.mark.parametrize(
    "command", ["compare", "samples", "llama", "llama --print-command", "export --to harness", "preview"]
)
def test_every_command_that_takes_a_path(cli: Cli, tmp_path: Path, command: str) -> None:
    for text in impossible(tmp_path)[:2]:
        done = cli(*command.split(), text)
        assert done.code == 2 and done.err.count("\n") == 2 and done.err.startswith("error: "), (text[:20], done.err)
