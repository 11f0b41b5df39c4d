"""Files that users name are written whole, or as what they are."""

import errno
import os
import threading
from pathlib import Path

import pytest

from afrieval._util.errors import UserError
from afrieval._util.whole_files import write_output


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    for content in (b"first, and longer", b"second"):
        write_output(path, content)
        assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.html").write_bytes(b"old")
    (tmp_path / "link.html").symlink_to("real.html")
    write_output(tmp_path / "link.html", b"new")
    assert (tmp_path / "link.html").is_symlink() and (tmp_path / "real.html").read_bytes() == b"new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_output(pipe, b"table")
    reader.join(10)
    assert found == [b"table"]


@pytest.mark.parametrize("name", ["", "missing/page.html", f"{'n' * 300}.html"])
def test_what_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="cannot be written"):
        write_output(tmp_path / name, b"page")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("number", "cure"), [(errno.ENOSPC, "free some space"), (errno.EACCES, "permissions"), (errno.ENOENT, "existing")]
)
def test_the_hint_fits_the_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, cure: str) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(UserError) as caught:
        write_output(tmp_path / "page.html", b"x")
    assert cure in caught.value.hint and not [*tmp_path.iterdir()]
