"""Reading and writing rows: JSONL (plain or gzip), Parquet and CSV, atomically and with `file:line` in every complaint."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import msgspec

from harness.errors import ContentError, StoreError

MAX_LINE_BYTES = 16 * 1024 * 1024
T = TypeVar("T")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def find_table(folder: Path, name: str) -> Path | None:
    """The file that holds table `name` in `folder`: `.jsonl`, `.jsonl.gz` or `.parquet`; None when there is none.

    Raises ContentError when there are several, as it could not be said which one counts.
    """
    found = [path for end in (".jsonl", ".jsonl.gz", ".parquet") if (path := folder / f"{name}{end}").is_file()]
    if len(found) > 1:
        raise ContentError(f"'{name}' is here twice ({', '.join(p.name for p in found)}); keep one of them", folder)
    return found[0] if found else None


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's content, hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of a JSONL, gzipped JSONL or Parquet file with their line (Parquet: row) numbers, from 1.

    Empty lines are passed over; a byte-order mark is ignored. Raises ContentError for a file that cannot be read, a line that is
    not one JSON object in UTF-8, and a gzip file that breaks off.
    """
    if path.suffix == ".parquet":
        yield from _parquet_rows(path)
    else:
        yield from json_rows(path, dict[str, Any], "a JSON object")


def json_rows(path: Path, kind: type[T], what: str) -> Iterator[tuple[int, T]]:
    """Lines of a JSONL file read as `kind`, with their numbers; `what` such a line is called in messages. Raises as `read_rows`."""
    decode = msgspec.json.Decoder(kind).decode
    for number, line in _lines(path):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            row = decode(line)
        except msgspec.ValidationError as err:
            raise ContentError(f"not {what} ({err}); one object a line is expected", path, number) from None
        except (UnicodeDecodeError, msgspec.DecodeError, RecursionError) as err:
            if not line.strip():
                continue
            raise ContentError(_what_is_wrong(line, err), path, number) from None
        yield number, row


def _what_is_wrong(line: bytes, err: Exception) -> str:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as bad:
        return f"not UTF-8 at byte {bad.start + 1} of the line; save the file as UTF-8"
    reason = "nested too deeply" if isinstance(err, RecursionError) else err
    return f"not a JSON object ({reason}); one object a line is expected"


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    number = 0
    with opened(path, lambda: number + 1) as file:
        while line := file.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(line) > MAX_LINE_BYTES:
                raise ContentError(f"a line of more than {MAX_LINE_BYTES >> 20} MiB", path, number)
            yield number, line


@contextmanager
def opened(path: Path, line: Callable[[], int | None] = lambda: None) -> Iterator[IO[bytes]]:
    """A file's bytes to read, out of gzip if it is gzipped.

    What cannot be read becomes a ContentError; one in the middle of a gzip file names the `line` that was being read, if it is known.
    """
    try:
        with cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == ".gz" else open(path, "rb") as file:
            yield file
    except EOFError:
        raise ContentError("the gzip file breaks off; fetch it again", path, line()) from None
    except (gzip.BadGzipFile, zlib.error) as err:
        raise ContentError(f"not a whole gzip file ({err}); fetch it again", path, line()) from None
    except OSError as err:
        raise ContentError(f"cannot be read: {err.strerror or err}", path) from None


def _parquet_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    rows = parquet_table(path).to_pylist()
    yield from enumerate(({k: v for k, v in row.items() if v is not None} for row in rows), start=1)


def parquet_table(path: Path, columns: list[str] | None = None) -> Any:
    """A Parquet file, or some of its columns, as a pyarrow Table. Raises ContentError when it cannot be read."""
    with parquet_file(path) as file:
        return file.read(columns)


@contextmanager
def parquet_file(path: Path) -> Iterator[Any]:
    """A Parquet file to read from, as a `pyarrow.parquet.ParquetFile`. Raises ContentError when it cannot be read."""
    pa = arrow()
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:  # read_table would import all of Arrow's data sets
            yield file
    except (pa.ArrowException, OSError) as err:
        raise ContentError(f"not a readable Parquet file ({err})", path) from None


def arrow() -> Any:
    """`pyarrow`, told to give memory back: the pool that it comes with keeps what it has once had."""
    import pyarrow as pa  # late: 0.2 s

    pa.set_memory_pool(pa.system_memory_pool())
    return pa


def arrow_array(values: Sequence[Any], kind: Any) -> Any:
    """An Arrow array of texts, numbers or truth values with gaps (None). `pyarrow.array` would import pandas: 0.4 s and 45 MB."""
    import numpy as np

    pa = arrow()
    known = np.array([value is not None for value in values], bool)
    if pa.types.is_string(kind):
        texts = [b"" if value is None else value.encode() for value in values]
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
        content = [ends, b"".join(texts)]
    elif pa.types.is_boolean(kind):
        content = [_bits(np.array([value is True for value in values], bool))]
    else:
        content = [np.array([0 if value is None else value for value in values], kind.to_pandas_dtype())]
    return pa.Array.from_buffers(kind, len(values), [pa.py_buffer(each) for each in (_bits(known), *content)])


def _bits(mask: Any) -> Any:
    import numpy as np

    return np.packbits(mask, bitorder="little")


def write_atomic(path: Path, data: bytes | str | Iterable[bytes]) -> None:
    """Write a whole file or nothing: to a temporary name beside it, flushed, then renamed. What comes in pieces is written as it comes.

    Raises StoreError when the folder is read-only or the disk is full; nothing is left behind.
    """
    pieces = [data.encode("utf-8")] if isinstance(data, str) else [data] if isinstance(data, bytes) else data
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
        temporary = None
    except OSError as err:
        raise StoreError(f"{path} cannot be written ({err.strerror or err}); make room or choose another folder") from None
    finally:  # Ctrl-C too leaves nothing behind
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def to_json(data: Any) -> str:
    """Readable, deterministic JSON: sorted keys, two spaces, UTF-8 unescaped, a newline at the end; NaN becomes null."""
    encoded = msgspec.json.encode(data, order="sorted")
    return msgspec.json.format(encoded, indent=2).decode("utf-8") + "\n"


def to_jsonl(rows: Iterable[Any]) -> bytes:
    """One JSON object a line, keys in the order given."""
    return b"".join(jsonl_lines(rows))


def jsonl_lines(rows: Iterable[Any]) -> Iterator[bytes]:
    """The lines of `to_jsonl`, one at a time."""
    encode = msgspec.json.Encoder().encode
    return (encode(row) + b"\n" for row in rows)


def to_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """CSV with a header. Texts that a spreadsheet would read as a formula get a leading apostrophe.

    >>> to_csv([{"a": "=1+1", "b": -0.5}], ["a", "b"])
    "a,b\\r\\n'=1+1,-0.5\\r\\n"
    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_guarded(row.get(column)) for column in columns])
    return out.getvalue()


def _guarded(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return value


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]], schema: Mapping[str, str]) -> None:
    """Write rows as Parquet. `schema` maps column names to Arrow type names (`string`, `double`, `int64`, `bool`)."""
    pa = arrow()
    import pyarrow.parquet as pq

    fields = [pa.field(name, pa.type_for_alias(kind)) for name, kind in schema.items()]
    columns = [arrow_array([row.get(name) for row in rows], field.type) for name, field in zip(schema, fields, strict=True)]
    sink = io.BytesIO()
    pq.write_table(pa.table(columns, schema=pa.schema(fields)), sink)
    write_atomic(path, sink.getvalue())
