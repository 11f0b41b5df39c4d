"""Reads members of zip archives from other programs, with a size limit; supports Zstandard."""

import struct
import zipfile
import zlib
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import check_file, opened

ZSTANDARD = 93  # as the zip format numbers it; Python's zipfile knows it from 3.14 on
HEADER = struct.Struct("<26xHH")  # of a member: lengths of its name and of what follows it


class Archive:
    """A zip archive that is read member by member; use as a context manager.

    Args:
        path: its file.
        hint: how to fix it, if it is damaged.
        largest: bytes of the largest valid member, uncompressed.
    """

    def __init__(self, path: Path, hint: str, largest: int):
        self._path, self._hint, self._largest = path, hint, largest
        check_file(path, hint)
        try:
            self._zip = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as e:
            raise UserError(f"{path} cannot be read: {e}", hint) from None
        self.names = self._zip.namelist()

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *of: object) -> None:
        self._zip.close()

    def read(self, name: str) -> bytes:
        """Returns the content of a member.

        Raises:
            UserError: if it is missing, too large or damaged.
        """
        where = f"{self._path}, {name},"
        try:
            info = self._zip.getinfo(name)
            content = self._zstandard(info) if info.compress_type == ZSTANDARD else self._plain(info)
        except KeyError:
            raise UserError(f"{self._path} has no member {name}", self._hint) from None
        except (OSError, EOFError, ValueError, RuntimeError, struct.error, zipfile.BadZipFile, zlib.error) as e:
            raise UserError(f"{where} cannot be read: {e}", self._hint) from None
        if len(content) > self._largest:
            raise UserError(f"{where} is larger than {self._largest} bytes, the limit for a member", self._hint)
        if zlib.crc32(content) != info.CRC:
            raise UserError(f"{where} is damaged: its checksum is another", self._hint)
        return content

    def _plain(self, info: zipfile.ZipInfo) -> bytes:
        with self._zip.open(info) as member:
            return member.read(self._largest + 1)

    def _zstandard(self, info: zipfile.ZipInfo) -> bytes:
        from pyarrow import BufferReader, CompressedInputStream

        with opened(self._path, self._hint) as file:
            file.seek(info.header_offset)
            file.seek(sum(HEADER.unpack(file.read(HEADER.size))), 1)
            compressed = file.read(info.compress_size)
        with CompressedInputStream(BufferReader(compressed), "zstd") as stream:
            return bytes(stream.read(self._largest + 1))
