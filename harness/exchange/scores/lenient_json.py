"""JSON as other programs write it: bare NaN and Infinity, halves of characters. Strict readers refuse such files as a whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.errors import ContentError
from harness.exchange.labels.records import refuse_large
from harness.row_files import open_bytes

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


def load(path: Path) -> Any:
    """The content of a JSON file, gzipped or not. Raises ContentError with the line of the first mistake."""
    refuse_large(path)
    with open_bytes(path) as file:
        return decode(file.read(), path)


def decode(data: bytes, path: Path | str, line: int | None = None) -> Any:
    """Read one JSON value. `line` is its line in the file, for messages; without it the line of the mistake is named.

    Half of a character (a lone surrogate), as programs write that cut texts, becomes U+FFFD: no file can hold it.
    """
    try:
        content = json.loads(data.decode("utf-8-sig"))
        return _replace_half_characters(content) if _SURROGATE_ESCAPE.search(data) else content
    except UnicodeDecodeError as err:
        raise ContentError("not UTF-8; save the file as UTF-8", path, line or data[: err.start].count(b"\n") + 1) from None
    except RecursionError:
        raise ContentError("nested too deeply", path, line) from None
    except ValueError as err:  # JSONDecodeError; also integers of thousands of digits
        error_line = getattr(err, "lineno", 1)
        raise ContentError(f"not JSON ({getattr(err, 'msg', err)})", path, line or error_line) from None


def _replace_half_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_replace_half_characters(part) for part in value]
    return (
        {_replace_half_characters(key): _replace_half_characters(part) for key, part in value.items()} if isinstance(value, dict) else value
    )


def lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSONL file with their line numbers; empty lines are ignored. Raises ContentError for anything else."""
    refuse_large(path)
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            row = decode(line, path, number)
            if not isinstance(row, dict):
                raise ContentError("not a JSON object; one object a line is expected", path, number)
            yield number, row
