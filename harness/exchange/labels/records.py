"""Reads JSONL, JSON and Parquet. Nested objects become columns with dotted names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from harness.errors import ContentError
from harness.exchange.labels import table as limits
from harness.exchange.labels.delimited import refuse_repeated, unpacked
from harness.exchange.labels.layouts import unwrapped_result
from harness.exchange.labels.table import Record, SourceTable, columns_of, flat, is_blank
from harness.row_files import open_bytes, read_rows


def read_jsonl(path: Path) -> SourceTable:
    """Read one object from each line. Raises ContentError with the line for anything else."""
    refuse_large(path)
    rows = list(read_rows(path))
    if not rows:
        raise ContentError("the file is empty; one JSON object on each line is expected", path)
    return table_from_rows("jsonl", [(number, flat(row)) for number, row in rows], f"{path}:")


def refuse_large(path: Path) -> None:
    """Raise ContentError for a file that is larger than the limit, packed or unpacked. Keeps nothing in memory."""
    with open_bytes(path) as file:
        file.seek(limits.MAX_BYTES)
        more = file.read(1)
    if more:
        raise ContentError(f"larger than {limits.MAX_BYTES >> 20} MiB unpacked; import it in parts", path)


def table_from_rows(kind: str, rows: list[tuple[int, dict[str, Any]]], head: str) -> SourceTable:
    """Make a table from numbered rows. Records leave out blank values."""
    records = [Record({key: value for key, value in row.items() if not is_blank(value)}, number, head) for number, row in rows]
    return SourceTable(kind, columns_of([row for _, row in rows]), records)


def read_parquet(path: Path) -> SourceTable:
    """Read the rows of a Parquet file, counted from 1. Raises ContentError when it cannot be read or is too large."""
    import pyarrow as pa  # late: 0.2 s
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
        names = pq.read_schema(path).names
    except (pa.ArrowException, OSError) as err:
        raise ContentError(f"not a readable Parquet file ({err})", path) from None
    if sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)) > limits.MAX_BYTES:
        raise ContentError(f"larger than {limits.MAX_BYTES >> 20} MiB unpacked; import it in parts", path)
    refuse_repeated(path, names, None)
    rows = [(number, flat(row)) for number, row in read_rows(path)]
    if not rows:
        raise ContentError("no rows", path)
    table = table_from_rows("parquet", rows, f"{path}:")
    return table._replace(columns=list(dict.fromkeys([*names, *table.columns])))


def load_json(path: Path) -> Any:
    """Read a JSON file (UTF-8, gzipped or not). Raises ContentError with the line of the first mistake."""
    data = unpacked(path).removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise ContentError("the file is empty", path)
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        reason = "nested too deeply" if isinstance(err, RecursionError) else str(err)
        raise ContentError(f"not JSON in UTF-8 ({reason})", path, _find_line(data, reason)) from None


def _find_line(data: bytes, reason: str) -> int | None:
    _, separator, byte = reason.rpartition("(byte ")
    if not separator:
        return None if "truncated" not in reason else data.count(b"\n") + 1
    return data[: int(byte.rstrip(")"))].count(b"\n") + 1


def first_object(content: Any) -> dict[str, Any]:
    """The first object of a JSON list, or of the list `items` of an object; empty where there is none."""
    rows = content.get("items") if isinstance(content, dict) else content
    return rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}


def objects_in(path: Path, content: Any) -> list[dict[str, Any]]:
    """Return the objects of a JSON list. Raises ContentError for any other content."""
    if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
        raise ContentError("a list of objects is expected", path)
    if not content:
        raise ContentError("an empty list: no records", path)
    return content


def read_json(path: Path, content: Any) -> SourceTable:
    """Read a list of plain objects, one for each row."""
    rows = [
        (number, {name: unwrapped_result(value) for name, value in flat(row).items()})
        for number, row in enumerate(objects_in(path, content), start=1)
    ]
    return table_from_rows("json", rows, f"{path}:record ")
