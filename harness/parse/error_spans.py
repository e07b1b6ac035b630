"""Errors that a judge quotes from a text: read from its answer, and placed in the text by exact search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from harness.model import SEVERITIES, ErrorSpan
from harness.parse.json_form import JsonPairs, to_json_text
from harness.parse.values import clean

MAX_READ = 200  # no text has so many errors; further ones are not read


def read_error_spans(value: object) -> tuple[ErrorSpan, ...]:
    """Return the errors of an answer: a list of `{"text": quotation, "severity": "minor" or "major"}`. An empty quotation is an omission.

    What cannot be read is kept without a severity, so that it can be counted; nothing is guessed.

    >>> [(each.text, each.severity) for each in read_error_spans([JsonPairs([("text", "cat"), ("severity", "Major")]), "dog"])]
    [('cat', 'major'), ('"dog"', None)]
    """
    if value is None:
        return ()
    entries = value if isinstance(value, list) and not isinstance(value, JsonPairs) else [value]
    return tuple(_read_error(entry) for entry in entries[:MAX_READ])


def _read_error(entry: object) -> ErrorSpan:
    keys = {key.strip().casefold(): value for key, value in entry} if isinstance(entry, JsonPairs) else {}
    text, severity = keys.get("text"), keys.get("severity")
    severity_name = severity.strip().casefold() if isinstance(severity, str) else ""
    if not isinstance(text, str) or severity_name not in SEVERITIES:
        return ErrorSpan(text=clean(text if isinstance(text, str) else to_json_text(entry)))
    return ErrorSpan(severity=severity_name, text=clean(text), missing=not text.strip())


def place(spans: Sequence[ErrorSpan], text: str) -> tuple[ErrorSpan, ...]:
    """Return the errors with the places of their quotations in `text` by exact search; white space around a quotation does not count.

    A quotation that is given several times takes its next occurrence each time, and its last one once there are no more. Errors that have
    a place already keep it; omissions, and quotations that are not in the text, have none.

    >>> [(each.start, each.end) for each in place([ErrorSpan("minor", text=word) for word in ("an", "an", "in")], "ban an")]
    [(1, 3), (4, 6), (None, None)]
    """
    used: dict[str, int] = {}
    return tuple(span if span.start is not None or not span.text.strip() else _locate_span(span, text, used) for span in spans)


def _locate_span(span: ErrorSpan, text: str, used: dict[str, int]) -> ErrorSpan:
    quotation = span.text if span.text in text else span.text.strip()
    start = text.find(quotation, used.get(quotation, -1) + 1)
    if start < 0:
        start = used.get(quotation, -1)
    if start < 0:
        return span
    used[quotation] = start
    return msgspec.structs.replace(span, start=start, end=start + len(quotation))


def count_spans(spans: Sequence[ErrorSpan]) -> dict[str, int]:
    """The number of errors `marked`, and of these: `unplaced` quotations that are not in the text, and `unread` entries.

    >>> count_spans([ErrorSpan("minor", 0, 3, "cat"), ErrorSpan("major", text="dog"), ErrorSpan(text="?")])
    {'marked': 3, 'unplaced': 1, 'unread': 1}
    """
    read = [span for span in spans if span.severity is not None]
    return {
        "marked": len(spans),
        "unplaced": sum(span.start is None and not span.missing for span in read),
        "unread": len(spans) - len(read),
    }


def decode_spans(text: Any) -> tuple[ErrorSpan, ...]:
    """Return errors from JSON text; further keys are ignored. Raises msgspec.MsgspecError for a text that is not a list of errors."""
    return msgspec.json.decode(text, type=tuple[ErrorSpan, ...])
