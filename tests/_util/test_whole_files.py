"""Files and folders are written whole, and never with anyone else's files in them."""

import errno
import os
import shutil
import threading
from pathlib import Path

import pytest

from afrieval._util.errors import UserError
from afrieval._util.whole_files import (
    FILLING,
    NEW,
    OLD,
    check_replaceable,
    filled,
    is_written,
    made,
    replace_folder,
    write_output,
)


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


MARKER = ".ours"
KILLED = 2**22 + 1  # no process has such a number


def contents(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_new_folder_is_written_with_the_list_of_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    replace_folder(folder, {"index.html": b"one", "tasks/a.html": b"two"}, MARKER)
    assert contents(folder) == {MARKER: "index.html\ntasks/a.html\n", "index.html": "one", "tasks/a.html": "two"}
    assert is_written(folder, MARKER)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_an_empty_one_and_one_of_ours_are_replaced_whole(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    replace_folder(folder, {"old.html": b"old"}, MARKER)
    replace_folder(folder, {"new.html": b"new"}, MARKER)
    assert contents(folder) == {MARKER: "new.html\n", "new.html": "new"}


@pytest.mark.parametrize("ours", [False, True])
def test_one_with_other_files_is_left_as_it_is(tmp_path: Path, ours: bool) -> None:
    folder = tmp_path / "site"
    if ours:
        replace_folder(folder, {"a.html": b"a"}, MARKER)
    (folder / "notes").mkdir(parents=True)
    (folder / "notes/mine.txt").write_text("mine")
    before = contents(folder)
    with pytest.raises(UserError, match=r"mine\.txt in it was not written by this command"):
        replace_folder(folder, {"b.html": b"b"}, MARKER)
    assert contents(folder) == before


def test_a_link_in_it_is_another_file(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    replace_folder(tmp_path / "site", {"a.html": b"a"}, MARKER)
    (tmp_path / "site/runs").symlink_to(tmp_path / "runs")
    with pytest.raises(UserError, match="site/runs"):
        check_replaceable(tmp_path / "site", MARKER)


def test_a_file_and_a_folder_nowhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is not a folder"):
        check_replaceable(tmp_path / "file", MARKER)
    with pytest.raises(UserError, match="nowhere does not exist"):
        check_replaceable(tmp_path / "nowhere/site", MARKER)


def test_a_failure_leaves_the_old_pages_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    replace_folder(folder, {"old.html": b"old"}, MARKER)
    with pytest.raises(UserError, match="cannot be written"):
        replace_folder(folder, {"x" * 300: b"new"}, MARKER)
    assert contents(folder) == {MARKER: "old.html\n", "old.html": "old"}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_signal_between_the_two_renames_leaves_the_old_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, rename = tmp_path / "site", Path.rename
    replace_folder(folder, {"old.html": b"old"}, MARKER)

    def interrupted(path: Path, target: Path) -> Path:
        found = rename(path, target)
        if path == folder:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace_folder(folder, {"new.html": b"new"}, MARKER)
    assert contents(folder) == {MARKER: "old.html\n", "old.html": "old"}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_one_process_fills_a_new_or_empty_folder(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with filled(folder):
        assert [path.name for path in folder.iterdir()] == [FILLING]
        with pytest.raises(UserError, match="another process writes to"), filled(folder):
            raise AssertionError("it is in use")
        (folder / "whole.csv").write_text("whole")
    with pytest.raises(UserError, match="is not empty"), filled(folder):
        raise AssertionError("it has files")
    assert contents(folder) == {"whole.csv": "whole"}


def test_what_a_killed_process_left_of_a_folder_is_removed(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    for name in (FILLING, "half.csv", "more/half.csv"):
        (tmp_path / name).write_text("")
    with filled(tmp_path):
        assert [path.name for path in tmp_path.iterdir()] == [FILLING]


def test_what_a_kill_between_the_two_renames_left_is_removed(tmp_path: Path) -> None:
    for kind in (NEW, OLD):
        replace_folder(tmp_path / f".site{kind}.{KILLED}", {"a.html": b"a"}, MARKER)
    replace_folder(tmp_path / "site", {"a.html": b"new"}, MARKER)
    assert contents(tmp_path) == {f"site/{MARKER}": "a.html\n", "site/a.html": "new"}


def test_what_another_process_begins_is_left_while_it_lives(tmp_path: Path) -> None:
    path, other = tmp_path / "[a].html", tmp_path / f".[a].html.{os.getppid()}"
    other.write_text("of a process that lives")
    other.with_suffix(f".{KILLED}").write_text("half")
    write_output(path, b"new")
    assert contents(tmp_path) == {"[a].html": "new", other.name: "of a process that lives"}


def test_a_filled_folder_that_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with pytest.raises(UserError, match="out was removed while it was filled"), filled(folder):
        shutil.rmtree(folder)
        (folder / "scores.csv").write_text("")
    assert not folder.exists()


@pytest.mark.parametrize("name", ["/proc/x", "/proc/x/y", "/dev/null/x"])
def test_a_folder_that_cannot_be_made_is_named(name: str) -> None:
    with pytest.raises(UserError, match=f"{name} cannot be written") as caught:
        made(Path(name))
    assert caught.value.hint
