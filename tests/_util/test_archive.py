"""Members of zip archives: whole, not too large, whatever they are compressed with."""

import zipfile
from pathlib import Path

import pytest
from tests.conftest import ROOT

from afrieval._util.archive import Archive
from afrieval._util.errors import UserError

ZSTANDARD = ROOT / "tests/addons/readers/logs/inspect_ai.eval"


def written(path: Path, content: bytes, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a", content)
    return path


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_are_read(tmp_path: Path, method: int) -> None:
    archive = Archive(written(tmp_path / "z", b"text", method), "again", 10)
    assert list(archive.members) == ["a"] and archive.read("a") == b"text"
    with archive.open("a") as member:
        assert [member.read(2), member.readline()] == [b"te", b"xt"]
    with pytest.raises(UserError, match="z has no member b"):
        archive.read("b")


def test_members_compressed_with_zstandard_are_read() -> None:
    archive = Archive(ZSTANDARD, "again", 10_000)
    sizes = {name: len(archive.read(name)) for name in archive.members}
    with zipfile.ZipFile(ZSTANDARD) as known:
        assert sizes == {info.filename: info.file_size for info in known.infolist()}


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    bomb = written(tmp_path / "z", bytes(50_000_000))
    assert bomb.stat().st_size < 100_000
    with pytest.raises(UserError, match="z, a, is larger than 1000 bytes"):
        Archive(bomb, "again", 1000).read("a")
    with pytest.raises(UserError, match="larger than 1000 bytes"):
        Archive(ZSTANDARD, "again", 1000).read("header.json")
    stated = bytearray(bomb.read_bytes())
    at = stated.index(b"PK\1\2") + 24
    stated[at : at + 4] = (500).to_bytes(4, "little")  # no more is read than it says, and that is not all
    bomb.write_bytes(stated)
    with pytest.raises(UserError, match="z, a, cannot be read: Bad CRC"):
        Archive(bomb, "again", 1000).read("a")


def test_damaged_archives_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "z"
    path.write_bytes(b"PK, but no archive")
    with pytest.raises(UserError, match="z cannot be read"):
        Archive(path, "again", 10)
    content = bytearray(written(path, b"text", zipfile.ZIP_STORED).read_bytes())
    content[content.index(b"text")] ^= 1
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"z, a, .*CRC"):
        Archive(path, "again", 10).read("a")
