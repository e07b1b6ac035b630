"""The evidence behind a run's judgments: justifications, probabilities and raw replies.

It is read for the rows that a page shows: a million of them would not fit into memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.data.columns import NO_VALUE, CodedColumn
from harness.data.judgment_file import read_columns_at
from harness.model import Reply
from harness.parse.error_spans import decode_spans
from harness.parse.finish_reasons import was_cut
from harness.runs.runner import RunResult
from harness.store import Store

_COLUMNS = ("justification", "probs", "spans", "call_id")


class JudgeWords(msgspec.Struct, frozen=True, array_like=True):
    """One reply, verbatim: its text, and a note if something was wrong with it."""

    text: str
    note: str = ""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Columns (rows,) of some judgments.

    `justification` is the whole text, `probs` are probabilities by class, `spans` is a tuple of marked errors, `reply` is a `JudgeWords`.
    The metrics of a joint call share one reply.
    """

    justification: CodedColumn
    probs: CodedColumn
    reply: CodedColumn
    spans: CodedColumn | None = None


def read_evidence(result: RunResult, rows: NDArray[np.int64]) -> Evidence:
    """The evidence of the judgments `rows` of a run, in that order. Row numbers may stand in any order and more than once.

    Rows that the run does not have are those of panels that were added to it, without evidence.

    Raises ContentError or StoreError if the file or the store cannot be read.
    """
    is_in_file = rows < len(result.judgments)
    rising, row_index = np.unique(np.where(is_in_file, rows, 0), return_inverse=True)  # the file is read once, from beginning to end
    columns = read_columns_at(result.derived / "judgments.parquet", _COLUMNS, rising)
    columns = {
        name: CodedColumn(column.values, np.where(is_in_file, column.codes[row_index], NO_VALUE)) for name, column in columns.items()
    }
    encoded = columns["probs"]
    probs = CodedColumn(tuple(msgspec.json.decode(text) for text in encoded.values), encoded.codes)
    marked = CodedColumn(tuple(map(decode_spans, columns["spans"].values)), columns["spans"].codes)
    calls = columns["call_id"]
    with Store.reading(result.folder.parent.parent) as store:
        replies = [None if reply is None else _judge_words(reply) for reply in store.replies(list(calls.values))]
    values: dict[Any, int] = {}
    codes = [NO_VALUE if words is None else values.setdefault(words, len(values)) for words in replies]
    judge_words = CodedColumn(tuple(values), np.array([*codes, NO_VALUE], np.int32)[calls.codes])
    return Evidence(columns["justification"], probs, judge_words, marked)


def _judge_words(reply: Reply) -> JudgeWords:
    if reply.error:
        return JudgeWords(reply.text or reply.error, "the endpoint refused the call")
    if reply.refusal:
        return JudgeWords(reply.text or reply.refusal, "the model refused")
    if reply.whole_length:
        return JudgeWords(reply.text, f"only the first {len(reply.text):,} of {reply.whole_length:,} characters are stored")
    return JudgeWords(reply.text, "the answer was cut off" if was_cut(reply.finish_reason) else "")
