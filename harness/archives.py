"""Reads members of ZIP archives in bounded memory. The sizes that an archive states are never believed."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import ContentError, unreadable
from harness.row_files import arrow

_ZSTANDARD = 93  # Python reads it in archives from 3.14 on only, so these bytes go to pyarrow
_METHODS = {zipfile.ZIP_STORED: "stored", zipfile.ZIP_DEFLATED: "deflate", _ZSTANDARD: "Zstandard"}
_LOCAL_HEADER = 30
_PIECE = 1 << 16


class Archive:
    """An open ZIP archive. Reading a member ends at its stated size, or at `limit` bytes."""

    def __init__(self, path: Path, file: zipfile.ZipFile, limit: int) -> None:
        self._path, self._file, self._limit = path, file, limit
        self.names = file.namelist()
        self.stated = sum(member.file_size for member in file.infolist())

    def read(self, name: str) -> bytes:
        """Return the content of a member. Raises ContentError if it is damaged, is too large, or is packed in another way than stored,
        deflate or Zstandard.
        """
        member = self._file.getinfo(name)
        if member.compress_type not in _METHODS:
            raise ContentError(
                f"{name} is packed with method {member.compress_type}; pack it with one of: {', '.join(_METHODS.values())}", self._path
            )
        if member.flag_bits & 1:
            raise ContentError(f"{name} is encrypted; save the file without a password", self._path)
        if member.file_size > self._limit:
            raise ContentError(f"{name} unpacks to more than {self._limit >> 20} MiB; save only what is needed", self._path)
        content = self._unpacked(member, min(member.file_size, self._limit) + 1)
        if len(content) != member.file_size:
            raise ContentError(f"{name} does not have the size that the archive states", self._path)
        if zlib.crc32(content) != member.CRC:
            raise ContentError(f"{name} is damaged: its checksum is another one", self._path)
        return content

    def _unpacked(self, member: zipfile.ZipInfo, most: int) -> bytes:
        """Return at most `most` bytes of a member, unpacked piece by piece: zipfile itself unpacks all that a piece holds."""
        with self._path.open("rb") as file:
            file.seek(member.header_offset)
            header = file.read(_LOCAL_HEADER)
            if header[:4] != b"PK\x03\x04":
                raise ContentError(f"{member.filename} does not stand where the archive states", self._path)
            file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
            if member.compress_type == zipfile.ZIP_STORED:
                return file.read(min(member.compress_size, most))
            if member.compress_type == zipfile.ZIP_DEFLATED:
                unpack, out, remaining = zlib.decompressobj(-15), io.BytesIO(), member.compress_size
                while remaining > 0 and not unpack.eof and out.tell() < most:
                    piece = file.read(min(_PIECE, remaining))
                    if not piece:
                        break
                    remaining -= len(piece)
                    while piece and out.tell() < most:
                        out.write(unpack.decompress(piece, most - out.tell()))
                        piece = unpack.unconsumed_tail
                return out.getvalue()
            pa = arrow()
            stream, out = pa.CompressedInputStream(pa.BufferReader(file.read(min(member.compress_size, self._limit))), "zstd"), io.BytesIO()
            while out.tell() < most and (piece := stream.read(min(_PIECE, most - out.tell()))):
                out.write(piece)
            return out.getvalue()


@contextmanager
def open_archive(path: Path, limit: int, what: str) -> Iterator[Archive]:
    """Open a ZIP archive, `limit` bytes for each member. `what` names such a file in messages. Raises ContentError for a damaged one."""
    try:
        with zipfile.ZipFile(path) as file:
            yield Archive(path, file, limit)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, ValueError, KeyError, EOFError) as err:
        raise ContentError(f"not a readable {what} ({err})", path) from None
    except OSError as err:
        raise unreadable(err, path) from None
