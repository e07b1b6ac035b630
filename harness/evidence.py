"""What stands behind a run's judgments: justifications, probabilities and raw replies, fetched for some rows only.

A million of them would not fit into memory; what is looked at does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.columns import NO_VALUE, Coded
from harness.judgments import read_columns_at
from harness.model import Reply
from harness.runner import RunResult
from harness.store import Store

_COLUMNS = ("justification", "probs", "call_id")


class Said(msgspec.Struct, frozen=True, array_like=True):
    """One reply as it came: its text, and in words what was wrong with it, if anything."""

    text: str
    note: str = ""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Columns (rows,) of some judgments: `justification` in full, `probs` by class, `reply` as `Said`; a joint call has one reply."""

    justification: Coded
    probs: Coded
    reply: Coded


def evidence(result: RunResult, rows: NDArray[np.int64]) -> Evidence:
    """The evidence of the judgments `rows` (rising numbers) of a run. Raises ContentError or StoreError for what cannot be read."""
    found = read_columns_at(result.folder / "judgments.parquet", _COLUMNS, rows)
    probs = found["probs"]
    read = Coded(tuple(msgspec.json.decode(text) for text in probs.values), probs.codes)
    return Evidence(found["justification"], read, _replies(result, found["call_id"]))


def _replies(result: RunResult, calls: Coded) -> Coded:
    with Store.reading(result.folder.parent.parent) as store:
        said = [None if reply is None else _said(reply) for reply in store.replies(list(calls.values))]
    return _distinct(said, calls)


def _distinct(said: Sequence[Said | None], calls: Coded) -> Coded:
    values: dict[Any, int] = {}
    codes = [NO_VALUE if one is None else values.setdefault(one, len(values)) for one in said]
    return Coded(tuple(values), np.array([*codes, NO_VALUE], np.int32)[calls.codes])


def _said(reply: Reply) -> Said:
    if reply.error:
        return Said(reply.text or reply.error, "the endpoint refused the call")
    if reply.refusal:
        return Said(reply.text or reply.refusal, "the model refused")
    return Said(reply.text, "the answer was cut off" if reply.finish_reason == "length" else "")
