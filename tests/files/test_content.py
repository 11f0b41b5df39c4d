"""Tests what takes the place of a file: pipes with and without an end."""

import os
from pathlib import Path

import pytest

from afrieval.errors import UserError
from afrieval.files.content import read_bytes


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
    with pytest.raises(UserError, match="more than 4 bytes"):
        read_bytes(Path(f"/dev/fd/{reading}"), "hint", largest=4)
    os.close(reading)
    os.close(writing)
