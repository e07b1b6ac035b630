"""Looking calls up by their ids, in order and in chunks: a million ids need no more memory than a thousand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from harness.errors import StoreError
from harness.model import Reply

Fetch = Callable[..., list[tuple[Any, ...]]]  # the rows of a query with its parameters
_CHUNK = 500
_LAST_ATTEMPT = "SELECT MAX(attempt) FROM attempts WHERE call_id = value AND reply IS NOT NULL"
_LAST_REPLY = "SELECT reply FROM attempts WHERE call_id = value AND reply IS NOT NULL ORDER BY attempt DESC LIMIT 1"


def last_attempts(fetch: Fetch, call_ids: Iterable[str]) -> Iterator[int | None]:
    """For each id, in order, the number of its last attempt that has a reply."""
    return (attempt for _, attempt in _each(fetch, _LAST_ATTEMPT, call_ids))


def replies(fetch: Fetch, call_ids: Iterable[str]) -> Iterator[Reply | None]:
    """For each id, in order, its last reply. Raises StoreError for one that is damaged."""
    decode = msgspec.json.Decoder(Reply).decode
    for call_id, reply in _each(fetch, _LAST_REPLY, call_ids):
        try:
            yield None if reply is None else decode(reply)
        except msgspec.DecodeError as err:
            raise StoreError(f"the reply of call {call_id} is damaged ({err}); 'harness store check' lists all that is") from None


def _each(fetch: Fetch, wanted: str, call_ids: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """`(call id, what is wanted)`; a chunk of ids goes to SQLite as one JSON list, whose order the rows keep."""
    left = iter(call_ids)
    while chunk := list(islice(left, _CHUNK)):
        rows = fetch(f"SELECT ({wanted}) FROM json_each(?) ORDER BY key", msgspec.json.encode(chunk).decode())
        yield from zip(chunk, (found for (found,) in rows), strict=True)
