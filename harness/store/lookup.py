"""Looking calls up by their ids, in order and in chunks: a million ids need no more memory than a thousand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from harness.model import Reply

Fetch = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]  # the rows of a query with its parameters
_CHUNK = 500


def last_attempts(fetch: Fetch, call_ids: Iterable[str]) -> Iterator[int | None]:
    """For each id, in order, the number of its last attempt that has a reply."""
    query = "SELECT call_id, MAX(attempt) FROM attempts WHERE call_id IN ({}) AND reply IS NOT NULL GROUP BY call_id"
    for chunk in _chunks(call_ids):
        found: dict[str, int] = dict(fetch(query.format(_marks(chunk)), chunk))
        yield from map(found.get, chunk)


def replies(fetch: Fetch, call_ids: Iterable[str]) -> Iterator[Reply | None]:
    """For each id, in order, its last reply."""
    decode = msgspec.json.Decoder(Reply).decode
    # SQLite takes a bare column from the row that has the MAX
    query = "SELECT call_id, reply, MAX(attempt) FROM attempts WHERE call_id IN ({}) AND reply IS NOT NULL GROUP BY call_id"
    for chunk in _chunks(call_ids):
        found = {call: decode(reply) for call, reply, _ in fetch(query.format(_marks(chunk)), chunk)}
        yield from map(found.get, chunk)


def _chunks(ids: Iterable[str]) -> Iterator[list[str]]:
    left = iter(ids)
    while chunk := list(islice(left, _CHUNK)):
        yield chunk


def _marks(chunk: list[str]) -> str:
    return ",".join("?" * len(chunk))
