"""Members of zip archives: whole, not too large, whatever they are compressed with."""

import zipfile
from pathlib import Path

import pytest
from tests.conftest import ROOT

from afrieval._util.archive import Archive
from afrieval._util.errors import UserError

ZSTANDARD = ROOT / "tests/foreign/logs/inspect_ai.eval"


def written(path: Path, content: bytes, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a", content)
    return path


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_are_read(tmp_path: Path, method: int) -> None:
    with Archive(written(tmp_path / "z", b"text", method), "again", 10) as archive:
        assert archive.names == ["a"] and archive.read("a") == b"text"
        with pytest.raises(UserError, match="z has no member b"):
            archive.read("b")


def test_members_compressed_with_zstandard_are_read() -> None:
    with Archive(ZSTANDARD, "again", 10_000) as archive:
        sizes = {name: len(archive.read(name)) for name in archive.names}
    with zipfile.ZipFile(ZSTANDARD) as known:
        assert sizes == {info.filename: info.file_size for info in known.infolist()}


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    bomb = written(tmp_path / "z", bytes(50_000_000))
    assert bomb.stat().st_size < 100_000
    with Archive(bomb, "again", 1000) as archive, pytest.raises(UserError, match="z, a, is larger than 1000 bytes"):
        archive.read("a")
    with Archive(ZSTANDARD, "again", 1000) as archive, pytest.raises(UserError, match="larger than 1000 bytes"):
        archive.read("header.json")


def test_damaged_archives_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "z"
    path.write_bytes(b"PK, but no archive")
    with pytest.raises(UserError, match="z cannot be read"):
        Archive(path, "again", 10)
    content = bytearray(written(path, b"text", zipfile.ZIP_STORED).read_bytes())
    content[content.index(b"text")] ^= 1
    path.write_bytes(content)
    with Archive(path, "again", 10) as archive, pytest.raises(UserError, match=r"z, a, .*CRC"):
        archive.read("a")
