"""The errors that people and judges marked, as the page shows them: `[severity, start, end, words, reason]`.

Places count in UTF-16 units of the text as the page shows it, because its script reads them so. Without a place, `start` is null: something
is left out if there are no `words`; otherwise the words are not in the text, or the stated place is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.data.columns import NO_VALUE, CodedColumn
from harness.data.marked_errors import lies_in
from harness.model import ErrorSpan
from harness.pages import visible

_MOST_WORDS = 300  # characters of a quotation or reason
_OUTSIDE = "outside the text"


def shown_errors(column: CodedColumn, texts: Sequence[str]) -> dict[str, Any]:
    """The errors of some rows as a column `{"v": values, "c": codes}`; `texts` has the judged text of every row."""
    values: list[list[list[Any]]] = []
    known: dict[tuple[int, str], int] = {}
    codes = []
    for code, text in zip(column.codes.tolist(), texts, strict=True):
        if code == NO_VALUE:
            codes.append(-1)
            continue
        if (code, text) not in known:
            known[code, text] = len(values)
            values.append([_shown(error, text) for error in column.values[code]])
        codes.append(known[code, text])
    return {"v": values, "c": codes if values else -1}


def _shown(error: ErrorSpan, text: str) -> list[Any]:
    severity, reason = visible(error.severity or "unreadable")[:40], visible(error.reason[:_MOST_WORDS])
    if lies_in(error, text):
        quoted = visible(text[error.start : error.end][:_MOST_WORDS])
        return [severity, _units(text[: error.start]), _units(text[: error.end]), quoted, reason]
    words = visible(error.text[:_MOST_WORDS]) or ("" if error.missing else _OUTSIDE)
    return [severity, None, None, words, reason]


def _units(text: str) -> int:
    return len(visible(text).encode("utf-16-le", "surrogatepass")) // 2
