"""Reads members of zip archives, with a size limit; supports Zstandard."""

import contextlib
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from afrieval._util.errors import UserError
from afrieval._util.files import check_file, opened

ZSTANDARD = 93  # as the zip format numbers it; Python's zipfile knows it from 3.14 on
HEADER = struct.Struct("<26xHH")  # of a member: lengths of its name and of what follows it
DAMAGE = (OSError, EOFError, ValueError, RuntimeError, struct.error, zipfile.BadZipFile, zlib.error)


class Archive:
    """A zip archive, which is open only while a member is read.

    Args:
        path: its file.
        hint: how to fix it, if it is damaged.
        largest: bytes of the largest valid member, uncompressed.

    Attributes:
        members: what the archive says of each member, by name.
        comment: the archive's own comment.
    """

    def __init__(self, path: Path, hint: str, largest: int):
        self.path, self._hint, self._largest = path, hint, largest
        check_file(path, hint)
        try:
            with zipfile.ZipFile(path) as file:
                self.members = {info.filename: info for info in file.infolist()}
                self.comment = file.comment
        except DAMAGE as e:
            raise UserError(f"{path} cannot be read: {e}", hint) from None

    def read(self, name: str) -> bytes:
        """Returns the content of a member."""
        with self.open(name) as member:
            return member.read()

    @contextlib.contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Opens a member for reading. Its checksum is compared at its end.

        Raises:
            UserError: if it is missing, too large or damaged.
        """
        if (info := self.members.get(name)) is None:
            raise UserError(f"{self.path} has no member {name}", self._hint)
        where = f"{self.path}, {name},"
        too_large = UserError(f"{where} is larger than {self._largest} bytes, the limit for a member", self._hint)
        if info.file_size > self._largest:  # no more than this is read, whatever is in it
            raise too_large
        try:
            with opened(self.path, self._hint) as file:
                file.seek(info.header_offset)
                file.seek(sum(HEADER.unpack(file.read(HEADER.size))), 1)
                if info.compress_type == ZSTANDARD:
                    from pyarrow import BufferReader, CompressedInputStream

                    with CompressedInputStream(BufferReader(file.read(info.compress_size)), "zstd") as stream:
                        content = bytes(stream.read(self._largest + 1))
                    if len(content) > self._largest:
                        raise too_large
                    if zlib.crc32(content) != info.CRC:
                        raise zipfile.BadZipFile("its checksum is another")
                    yield io.BytesIO(content)
                else:
                    with zipfile.ZipExtFile(file, "r", info) as member, io.BufferedReader(member) as whole:
                        yield whole
        except DAMAGE as e:
            raise UserError(f"{where} cannot be read: {e}", self._hint) from None
