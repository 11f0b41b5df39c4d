"""What is not a file of text is refused before it is in memory, and named."""

import os
import threading
from pathlib import Path

import pytest

from afrieval.errors import UserError
from afrieval.files.content import read_bytes, read_text


def test_a_file_and_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes("\ufeffẹ̀kọ́\r\n".encode())
    assert read_text(tmp_path / "x", "") == "ẹ̀kọ́\r\n" and read_bytes(tmp_path / "x", "").startswith(b"\xef\xbb\xbf")
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("a",))
    writer.start()
    assert read_text(tmp_path / "pipe", "") == "a", "such as <(command) of a shell"
    writer.join()


def test_what_is_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    (tmp_path / "bytes").write_bytes(b"a\nb\xff\n")
    cases = {
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
    with pytest.raises(UserError, match="has 1099511627776 bytes, and such a file has at most 1000"):
        read_text(tmp_path / "x", "", 1000)
