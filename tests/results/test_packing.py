"""Packing moves sample files and loses nothing: restored to the byte, stopped anywhere, damaged or not."""

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

import pytest
from tests.conftest import content
from tests.results.test_run_folder import line, record

from afrieval._util.errors import UserError
from afrieval._util.files import opened
from afrieval.results import packed, packing
from afrieval.results.comparable_runs import read_runs
from afrieval.results.packed import FILE, PACKED, directory_comment
from afrieval.results.packing import pack, unpack
from afrieval.results.run_files import locked, sample_files, sample_path, write_run, write_samples
from afrieval.results.run_folder import RunFolder, read_rows
from afrieval.results.samples import read_samples

NAMES = ["t_yor_eng_1", "t_yor_eng_2"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    write_run(folder, record(cells=NAMES))
    for prompt, name in enumerate(NAMES, 1):
        write_samples(folder, name, [line(i, {"acc": [float(i % 2)]}, prompt=prompt) for i in range(5)])
    return folder


def test_packed_and_restored(run: Path) -> None:
    before = content(run)
    moved = pack(run)
    assert (moved.files, moved.loose) == (2, sum(len(before[path]) for path in before if FILE.fullmatch(path)))
    assert sorted(content(run)) == ["run.yaml", PACKED] and RunFolder(run).names == NAMES
    with ZipFile(run / PACKED) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            name: of for name, of in before.items() if FILE.fullmatch(name)
        }
    assert [cell.name for cell in read_runs([run])] == NAMES
    assert len(read_samples(sample_path(run, NAMES[0]))) == 5 and list(read_rows(sample_path(run, NAMES[1]), [3])) == [
        3
    ]
    assert pack(run).files == 0, "there is nothing left to pack"
    assert unpack(run).files == 2
    assert content(run) == before


def test_a_newer_sample_file_beats_the_packed_one_and_replaces_it(run: Path) -> None:
    pack(run)
    kept = RunFolder(run)
    assert all(kept.has(name, 5) and not kept.has(name, 6) for name in NAMES)
    for name, prompt in zip(NAMES, (1, 2), strict=True):
        write_samples(run, name, [line(i, {"acc": [1.0]}, prompt=prompt) for i in range(7)])
    assert all(kept.has(name, 7) for name in NAMES) and kept.scores(NAMES[0]).score == 1.0
    newer = sample_path(run, NAMES[0]).read_bytes()
    sample_path(run, NAMES[1]).unlink()
    assert not kept.has(NAMES[1], 6)
    write_samples(run, NAMES[1], [line(i, {"acc": [1.0]}, prompt=2) for i in range(7)])
    assert pack(run).files == 2 and not sample_files(run)
    assert [cell.rows for cell in read_runs([run])] == [7, 7]
    unpack(run)
    assert sample_path(run, NAMES[0]).read_bytes() == newer


def test_unpacking_keeps_newer_sample_files(run: Path) -> None:
    pack(run)
    write_samples(run, NAMES[0], [line(i, {"acc": [1.0]}) for i in range(6)])
    newer = sample_path(run, NAMES[0]).read_bytes()
    assert unpack(run).files == 1
    assert sample_path(run, NAMES[0]).read_bytes() == newer and len(sample_files(run)) == 2


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "half": (lambda path: path.write_bytes(path.read_bytes()[:500]), "line 3 is not valid JSON"),
    "fewer lines": (
        lambda path: path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n"),
        "has 1 of the 5 lines of its cell in",
    ),
    "nothing": (lambda path: path.write_bytes(b""), "is empty"),
    "a folder": (as_folder, "is a folder"),
    "a named pipe": (as_pipe, "is a named pipe"),
    "another cell": (lambda path: write_samples(path.parent, NAMES[0], [line(0, {}, prompt=2)]), "line 1"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_damaged_sample_file_does_not_cost_what_is_packed(run: Path, fault: str) -> None:
    whole = content(run)
    pack(run)
    before, path = content(run), sample_path(run, NAMES[0])
    path.write_bytes(whole[path.name])
    damage, message = FAULTS[fault]
    damage(path)
    for move in (unpack, pack):
        with pytest.raises(UserError, match=message) as caught:
            move(run)
        assert (run / PACKED).read_bytes() == before[PACKED] and f"delete {path}" in caught.value.hint
    path.rmdir() if path.is_dir() else path.unlink()
    unpack(run)
    assert content(run) == whole


def test_nothing_is_removed_if_the_archive_differs(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, plain = content(run), packing.write_archive

    def other(file: BinaryIO, paths: Iterable[Path]) -> None:
        write_samples(run, NAMES[0], [line(i, {"acc": [0.0]}) for i in range(5)])
        plain(file, paths)
        sample_path(run, NAMES[0]).write_bytes(before[f"samples_{NAMES[0]}.jsonl"])

    monkeypatch.setattr(packing, "write_archive", other)
    with pytest.raises(UserError, match=r"samples_t_yor_eng_1.jsonl does not read back"):
        pack(run)
    assert content(run) == before


def test_the_archive_stays_while_a_file_is_missing_or_differs(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack(run)
    before, path = (run / PACKED).read_bytes(), sample_path(run, NAMES[1])
    changes: dict[str, Callable[[], object]] = {
        "does not read back": lambda: path.write_bytes(b"{}\n"),
        "there is no file": path.unlink,
        "is a folder": lambda: as_folder(path),
    }
    plain = packing._check_same
    for message, change in changes.items():

        def checked(*given: Any, change: Callable[[], object] = change) -> None:
            change()
            plain(*given)

        monkeypatch.setattr(packing, "_check_same", checked)
        with pytest.raises(UserError, match=message):
            unpack(run)
        assert (run / PACKED).read_bytes() == before
        for restored in run.glob("samples_*.jsonl"):
            restored.rmdir() if restored.is_dir() else restored.unlink()


@pytest.mark.parametrize("at", [0, 4, 300, -300, -30, -8, -1])
def test_a_damaged_file_is_named(run: Path, at: int) -> None:
    pack(run)
    data = bytearray((run / PACKED).read_bytes())
    data[at] ^= 0xFF
    (run / PACKED).write_bytes(data)
    try:
        found = RunFolder(run)
        names, lines = found.names, [list(found.lines(name)) for name in NAMES]
        assert names == NAMES and [len(of) for of in lines] == [5, 5], "a byte that says nothing"
    except UserError as e:
        assert PACKED in e.message and "delete it and run again" in e.hint


def test_readers_find_what_is_packed_in_between(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [RunFolder(run).scores(name).score for name in NAMES]

    def packed_first(path: Path, hint: str) -> AbstractContextManager[BinaryIO]:
        monkeypatch.undo()
        pack(run)
        return opened(path, hint)

    monkeypatch.setattr(packed, "opened", packed_first)
    assert len(read_samples(sample_path(run, NAMES[0]))) == 5 and not sample_files(run)
    assert [cell.score for cell in read_runs([run])] == cells


def test_lines_are_read_one_by_one(run: Path) -> None:
    pack(run)
    data = bytearray((run / PACKED).read_bytes())
    lines = RunFolder(run).lines(NAMES[0])
    assert next(lines)["doc_id"] == 0
    lines.close()  # type: ignore[attr-defined]
    data[data.index(b"PK\1\2") - 20] ^= 0xFF  # in the last file
    (run / PACKED).write_bytes(data)
    assert len(list(RunFolder(run).lines(NAMES[0]))) == 5
    with pytest.raises(UserError, match=f"{PACKED}, samples_{NAMES[1]}.jsonl, cannot be read"):
        list(RunFolder(run).lines(NAMES[1]))


def test_a_changed_bit_is_reported_of_the_archive(run: Path) -> None:
    """In a member that is not compressed, the line is damaged before the checksum is compared."""
    pack(run)
    text = b"".join((run / PACKED).read_bytes() for _ in range(1))
    with ZipFile(run / PACKED) as archive:
        members = {name: archive.read(name).replace(b'"doc_id": 1', b'"doc_ie": 1') for name in archive.namelist()}
    with ZipFile(run / PACKED, "w") as archive:
        for name, content_ in members.items():
            archive.writestr(name, content_)
        archive.comment = directory_comment(archive.infolist())
    assert text != (run / PACKED).read_bytes()
    for read in (lambda: list(RunFolder(run).lines(NAMES[0])), lambda: RunFolder(run).scores(NAMES[0])):
        with pytest.raises(UserError, match=f"{PACKED}, samples_{NAMES[0]}.jsonl") as caught:
            read()
        assert "restore it from a copy, or delete it and run again; all cells" in caught.value.hint


def test_what_is_too_large_is_not_read(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "LARGEST", 1000)
    with pytest.raises(UserError, match="is larger than 1000 bytes"):
        pack(run)
    monkeypatch.undo()
    pack(run)
    monkeypatch.setattr(packed, "LARGEST", 1000)
    packed._archive.cache_clear()
    for read in (lambda: list(RunFolder(run).lines(NAMES[0])), lambda: unpack(run)):
        with pytest.raises(UserError, match=f"{NAMES[0]}.jsonl, is larger than 1000 bytes, the limit for a member"):
            read()
    packed._archive.cache_clear()


def rewritten(path: Path, comment: bytes, name: str = f"samples_{NAMES[0]}.jsonl") -> None:
    with ZipFile(path, "w") as archive:
        archive.writestr(name, b"{}")
        archive.comment = comment or directory_comment(archive.infolist())


def test_an_archive_of_another_program_or_a_later_version(run: Path, tmp_path: Path) -> None:
    rewritten(run / PACKED, b"of another program")
    with pytest.raises(UserError, match="not written by afrieval pack"):
        pack(run)
    rewritten(run / PACKED, b"afrieval pack 2 " + b"0" * 32)
    with pytest.raises(UserError, match="a later version"):
        RunFolder(run).names  # noqa: B018
    for comment, name in (
        (b"afrieval pack 1 " + b"0" * 32, f"samples_{NAMES[0]}.jsonl"),
        (b"", "samples_../../x.jsonl"),
    ):
        rewritten(run / PACKED, comment, name)
        with pytest.raises(UserError, match="damaged"):
            unpack(run)


def test_what_cannot_be_packed(run: Path, tmp_path: Path) -> None:
    with locked(run), pytest.raises(UserError, match="in use by another process"):
        pack(run)
    with pytest.raises(UserError, match=r"has no samples\.zip"):
        unpack(run)
    with pytest.raises(UserError, match="no run folder"):
        pack(tmp_path / "none")
    sample_path(run, NAMES[1]).rename(aside := tmp_path / "aside")
    with pytest.raises(UserError, match="is not finished"):
        pack(run)
    os.rename(aside, sample_path(run, NAMES[1]))  # noqa: PTH104
    sample_path(run, NAMES[1]).write_text("{]\n")
    with pytest.raises(UserError, match=r"samples_t_yor_eng_2.jsonl, line 1, is not valid JSON|is not valid JSON"):
        pack(run)
    assert not (run / PACKED).exists() and len(sample_files(run)) == 2
