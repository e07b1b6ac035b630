"""Reads and writes tables (JSONL, gzipped JSONL, Parquet, CSV) and writes JSON and TOML. Files are written atomically; errors in files
that are read name `file:line`. Members of ZIP archives are read in bounded memory: the sizes that an archive states are never believed."""

from __future__ import annotations

import atexit
import csv
import errno
import gzip
import hashlib
import io
import os
import re
import secrets
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import msgspec

from harness.csv_formulas import guard_cell
from harness.errors import ContentError, StoreError, refuse_pipe, unreadable

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700  # modes of files and folders with texts, labels or replies (docs/running.md)
TABLE_ENDS = (".jsonl", ".jsonl.gz", ".parquet")
MAX_LINE_BYTES = 16 * 1024 * 1024
_BLOCK_BYTES = 1 << 18  # of a JSONL file that are decoded together
T = TypeVar("T")
_HALF_SURROGATE = re.compile(rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]..")
_RAW_CONTROLS = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def find_table(folder: Path, name: str) -> Path | None:
    """Return the file of table `name` in `folder`: `.jsonl`, `.jsonl.gz` or `.parquet`; None when there is none.

    Raises ContentError when there are several, because any of them could be the right one.
    """
    paths = [path for end in TABLE_ENDS if (path := folder / f"{name}{end}").is_file()]
    if len(paths) > 1:
        raise ContentError(f"'{name}' is here twice ({', '.join(path.name for path in paths)}); keep one of them", folder)
    return paths[0] if paths else None


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's content, hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a JSONL, gzipped JSONL or Parquet file with their line numbers (Parquet: row numbers), from 1.

    Empty lines and a byte-order mark are ignored. Raises ContentError for an unreadable file, a line that is not one JSON object in
    UTF-8, and an incomplete gzip file.
    """
    if path.suffix == ".parquet":
        rows = parquet_table(path).to_pylist()
        yield from enumerate(({k: v for k, v in row.items() if v is not None} for row in rows), start=1)
    else:
        yield from json_rows(path, dict[str, Any], "a JSON object")


def json_rows(path: Path, kind: type[T], what: str) -> Iterator[tuple[int, T]]:
    """Yield lines of a JSONL file decoded as `kind`, with their numbers. `what` names such a line in messages. Raises as `read_rows`."""
    for numbers, rows in json_batches(path, kind, what):
        yield from zip(numbers, rows, strict=True)


def json_batches(path: Path, kind: type[T], what: str) -> Iterator[tuple[range, list[T]]]:
    """Yield what `json_rows` yields, many lines at a time: their numbers and their rows."""
    decoder = msgspec.json.Decoder(kind)
    for first, block in _blocks(path):
        rows = _decoded_together(block, decoder)
        if rows is not None:
            yield range(first, first + len(rows)), rows
            continue
        for number, line in enumerate(block.removesuffix(b"\n").split(b"\n"), first):
            if len(line) > MAX_LINE_BYTES:
                raise ContentError(f"a line of more than {MAX_LINE_BYTES >> 20} MiB", path, number)
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            try:
                yield range(number, number + 1), [decoder.decode(line)]
            except msgspec.ValidationError as err:
                raise ContentError(f"not {what} ({err}); one object a line is expected", path, number) from None
            except (UnicodeDecodeError, msgspec.DecodeError, RecursionError) as err:
                if line.strip():
                    raise ContentError(_decoding_message(line, err), path, number) from None


def _decoded_together(block: bytes, decoder: msgspec.json.Decoder[T]) -> list[T] | None:
    """Return the rows of a block in which every line is one object; None for any other block, whose lines are then read one by one."""
    lines = block.count(b"\n") + (not block.endswith(b"\n"))
    # Each line end stands between two objects, so none is inside of one; equal numbers exclude two objects in one line.
    if len(block) > MAX_LINE_BYTES or block.count(b"}\n{") != lines - 1:
        return None
    try:
        rows = decoder.decode_lines(block)
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError):
        return None
    return rows if len(rows) == lines else None


def _decoding_message(line: bytes, err: Exception) -> str:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as bad:
        return f"not UTF-8 at byte {bad.start + 1} of the line; save the file as UTF-8"
    if half := _HALF_SURROGATE.search(line):
        return f"{half[0].decode()} is half of a character (a lone surrogate); write whole characters"
    reason = "nested too deeply" if isinstance(err, RecursionError) else err
    return f"not a JSON object ({reason}); one object a line is expected"


def refuse_half_characters(value: Any, path: Path | str, line: int | None = None) -> None:
    """Raise ContentError where a value that no JSON file held, such as one of a frame, has half of a character (a lone surrogate)."""
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError as err:
        half = f"U+{ord(err.object[err.start]):04X}"
        raise ContentError(f"{half} is half of a character (a lone surrogate); write whole characters", path, line) from None


def _blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield a file in pieces of whole lines, each with the number of its first line; a line that is too long comes cut."""
    number, rest = 1, b""
    with open_bytes(path, lambda: number) as file:
        while piece := cast("io.BufferedReader", file).read1(_BLOCK_BYTES):
            block, end, tail = piece.rpartition(b"\n")
            if not end and len(rest) + len(tail) <= MAX_LINE_BYTES:
                rest += tail
                continue
            yield number, rest + block + end if end else rest + tail
            number, rest = number + block.count(b"\n") + 1, tail if end else b""
    if rest:
        yield number, rest


@contextmanager
def open_bytes(path: Path, line: Callable[[], int | None] = lambda: None) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressed if it is gzipped.

    Raises ContentError for what cannot be read. An error inside a gzip file names the current `line`, if known.
    """
    refuse_pipe(path)
    try:
        # gzip reads a line in Python, a buffer around it does so in C: four times as fast
        with io.BufferedReader(cast("io.RawIOBase", gzip.open(path, "rb"))) if path.suffix == ".gz" else open(path, "rb") as file:
            yield file
    except EOFError:
        raise ContentError("the gzip file breaks off; fetch it again", path, line()) from None
    except (gzip.BadGzipFile, zlib.error) as err:
        raise ContentError(f"not a whole gzip file ({err}); fetch it again", path, line()) from None
    except OSError as err:
        raise unreadable(err, path) from None


def parquet_table(path: Path, columns: list[str] | None = None) -> Any:
    """Return a Parquet file, or some of its columns, as a pyarrow Table. Raises ContentError when it cannot be read."""
    with parquet_file(path) as file:
        return file.read(columns)


@contextmanager
def parquet_file(path: Path) -> Iterator[Any]:
    """Open a Parquet file as a `pyarrow.parquet.ParquetFile`. Raises ContentError when it cannot be read."""
    pa = arrow()
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:  # not read_table, which imports all of pyarrow.dataset
            yield file
    except (pa.ArrowException, OSError) as err:
        raise ContentError(f"not a readable Parquet file ({err})", path) from None


def arrow() -> Any:
    """Return `pyarrow` with the system's memory pool: its default pool does not return memory to the system."""
    import pyarrow as pa  # late: 0.2 s

    pa.set_memory_pool(pa.system_memory_pool())
    return pa


def arrow_array(values: Sequence[Any], kind: Any) -> Any:
    """Return an Arrow array of texts, numbers, booleans or days; None is a gap. `pyarrow.array` would import pandas: 0.4 s and 45 MB."""
    import numpy as np

    pa = arrow()
    present = np.array([value is not None for value in values], bool)
    if pa.types.is_string(kind):
        texts = [b"" if value is None else value.encode() for value in values]
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
        content = [ends, b"".join(texts)]
    elif pa.types.is_boolean(kind):
        content = [_bits(np.array([value is True for value in values], bool))]
    elif pa.types.is_date32(kind):
        content = [np.array([value or 0 for value in values], "datetime64[D]").astype(np.int32)]
    else:
        content = [np.array([0 if value is None else value for value in values], kind.to_pandas_dtype())]
    return pa.Array.from_buffers(kind, len(values), [pa.py_buffer(buffer) for buffer in (_bits(present), *content)])


def _bits(mask: Any) -> Any:
    import numpy as np

    return np.packbits(mask, bitorder="little")


def write_atomic(path: Path, data: bytes | str | Iterable[bytes], *, private: bool = False) -> None:
    """Write a whole file or nothing: into a temporary file beside it, which is flushed and renamed. Pieces are written as they arrive.

    A `private` file (with texts, labels or replies) is readable by its owner only; other files follow the umask. Raises StoreError
    when the folder is read-only or the disk is full; no temporary file remains.
    """
    write_together({path: data}, private=private)


def write_together(files: Mapping[Path, bytes | str | Iterable[bytes]], *, private: bool | Container[Path] = False) -> None:
    """Write files that belong together, all or none, as `write_atomic` writes one: none has its name before all are on the disk.

    `private` says whether all of them are for their owner only, or names those that are. If a file cannot be written, or Ctrl-C comes,
    the folders that were made for them are removed too. Raises StoreError, which names the file.
    """
    path, temporaries = Path(), []
    try:
        with ExitStack() as stack:
            for path, data in files.items():
                is_private = private if isinstance(private, bool) else path in private
                temporaries += make_folder(path.parent, private=is_private)
                if path.is_dir():
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))  # now: a file cannot take its name later
                temporary = stack.enter_context(replace_file(path, private=is_private))
                with open(temporary, "wb") as file:
                    file.writelines([data.encode("utf-8")] if isinstance(data, str) else [data] if isinstance(data, bytes) else data)
                    file.flush()
                    os.fsync(file.fileno())
    except BaseException as err:
        for folder in reversed(temporaries):
            with suppress(OSError):
                folder.rmdir()  # refused where somebody else put a file meanwhile
        if not isinstance(err, OSError):
            raise
        raise StoreError(f"{path} cannot be written ({err.strerror or err}); make room or choose another folder") from None


@contextmanager
def replace_file(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield an empty temporary file beside `path`. It replaces `path` when the block ends without an error, else it is removed,
    even if the process is asked to end meanwhile. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    _temporary.add(temporary)  # before the file exists: Ctrl-C may come at any moment
    try:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE if private else 0o666))
        yield temporary
        os.replace(temporary, path)
    finally:
        with suppress(OSError):  # a read-only medium refuses to remove a file that is not there, and that is no other error
            temporary.unlink(missing_ok=True)
        _temporary.discard(temporary)


_temporary: set[Path] = set()  # files in the middle of being written


@atexit.register
def _remove_temporary() -> None:
    for path in _temporary:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def make_folder(folder: Path, *, private: bool = False) -> list[Path]:
    """Make a folder and its parents where they are missing, and return those that were, outermost first.

    A `private` folder is for its owner only; others, and parents, follow the umask.
    """
    missing = [parent for parent in (*reversed(folder.parents), folder) if not parent.exists()]
    for parent in missing:
        parent.mkdir(PRIVATE_FOLDER if private and parent == folder else 0o777, exist_ok=True)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    return missing


def can_write(folder: Path) -> bool:
    """Return True if files can be created in a folder, or in its nearest existing parent if it does not exist."""
    existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    return os.access(existing, os.W_OK | os.X_OK)


def temporary_copy(folder: Path, *names: str) -> Path:
    """Return a private folder with copies of the named files, as far as `folder` has them. It is removed when the process ends."""
    target = Path(tempfile.mkdtemp(prefix="harness-"))
    atexit.register(shutil.rmtree, target, ignore_errors=True)
    for name in names:
        if (folder / name).is_file():
            shutil.copyfile(folder / name, target / name)
    return target


def to_json(data: Any) -> str:
    """Return readable, deterministic JSON: sorted keys, two spaces, UTF-8, a final newline; NaN becomes null.

    Letters are not escaped. Control and bidi characters are, so that they do not reach a terminal.
    """
    encoded = msgspec.json.encode(data, order="sorted")
    return escape_controls(msgspec.json.format(encoded, indent=2).decode("utf-8")) + "\n"


class _Versioned(msgspec.Struct):
    schema_version: int


def refuse_other_schema(data: bytes, version: int, path: Path, instead: str) -> None:
    """Raise ContentError for a JSON file of ours with another schema version; `instead` says what to do. Leave all else to its reader."""
    with suppress(msgspec.DecodeError, UnicodeDecodeError):
        written = msgspec.json.decode(data, type=_Versioned).schema_version
        if written != version:
            raise ContentError(f"schema version {written}; this program reads version {version} only; {instead}", path)


def escape_controls(text: str) -> str:
    """Return JSON with escapes for the control and bidi characters that JSON allows inside texts.

    >>> escape_controls('"a\\u009b\\u202e"')
    '"a\\\\u009b\\\\u202e"'
    """
    return _RAW_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def to_jsonl(rows: Iterable[Any]) -> bytes:
    """Return one JSON object a line; keys keep their order."""
    return b"".join(jsonl_lines(rows))


def jsonl_lines(rows: Iterable[Any]) -> Iterator[bytes]:
    """Return the lines of `to_jsonl`, one at a time."""
    encode = msgspec.json.Encoder().encode
    return (encode(row) + b"\n" for row in rows)


def to_toml(data: Mapping[str, Any], *, multiline: bool = False) -> str:
    """Return TOML with keys in their order, tables after the other keys; None is left out. With `multiline`, long texts keep their lines.

    >>> print(to_toml({"id": "mine", "size": None, "scale": {"classes": (0, 1)}}), end="")
    id = "mine"
    <BLANKLINE>
    [scale]
    classes = [
        0,
        1,
    ]
    """
    import tomli_w  # late: reading needs no writer

    return tomli_w.dumps(_without_none(data), multiline_strings=multiline)


def _without_none(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _without_none(value) for key, value in data.items() if value is not None}
    return [*map(_without_none, data)] if isinstance(data, (list, tuple)) else data


def to_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return CSV with a header. Texts that a spreadsheet could read as a formula get a leading apostrophe; `unguard_cell` removes it.

    >>> to_csv([{"a": "=1+1", "b": -0.5}], ["a", "b"])
    "a,b\\r\\n'=1+1,-0.5\\r\\n"
    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([guard_cell(row.get(column)) for column in columns])
    return out.getvalue()


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]], schema: Mapping[str, str], *, private: bool = False) -> None:
    """Write rows as Parquet, `private` as in `write_atomic`; `schema` as in `to_parquet`."""
    write_atomic(path, to_parquet(rows, schema), private=private)


def to_parquet(rows: Sequence[Mapping[str, Any]], schema: Mapping[str, str]) -> bytes:
    """Return rows as a Parquet file. `schema` maps column names to Arrow type names (`string`, `double`, `int64`, `bool`, `date32`)."""
    pa = arrow()
    import pyarrow.parquet as pq

    fields = [pa.field(name, pa.type_for_alias(kind)) for name, kind in schema.items()]
    columns = [arrow_array([row.get(name) for row in rows], field.type) for name, field in zip(schema, fields, strict=True)]
    sink = io.BytesIO()
    pq.write_table(pa.table(columns, schema=pa.schema(fields)), sink)
    return sink.getvalue()


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


def cache_home() -> Path:
    """Return the user's cache folder, which may not exist. HARNESS_CACHE names another one."""
    import platformdirs  # late: it is needed where a cache is

    chosen = os.environ.get("HARNESS_CACHE")
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("judge-harness"))
