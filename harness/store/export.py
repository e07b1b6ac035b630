"""A store's replies as rows that can be read elsewhere."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import msgspec

_QUERY = """
SELECT call_id, prompt_id, judge, item_id, metrics, condition, temperature, repeat,
  (SELECT reply FROM attempts WHERE call_id = calls.call_id AND reply IS NOT NULL ORDER BY attempt DESC LIMIT 1) AS reply
FROM calls WHERE reply IS NOT NULL AND (:judge IS NULL OR judge = :judge) ORDER BY call_id
"""


def rows(db: sqlite3.Connection, judge: str | None) -> Iterator[dict[str, Any]]:
    """Every call (of one judge) with its last reply, in order of call id; rows are read as they are asked for."""
    cursor = db.execute(_QUERY, {"judge": judge})
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True)) | {"reply": msgspec.Raw(row[-1].encode())}
