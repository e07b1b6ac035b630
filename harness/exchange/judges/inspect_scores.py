"""Scores for Inspect's `precomputed_scores`: one JSON line for each sample and epoch."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from harness.data.columns import NO_VALUE
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.exchange.scores.score_metadata import KEY, Reasons, about_item
from harness.model import CONDITION, Item, Sampling
from harness.row_files import escape_controls

_CHOSEN = ("judge", "metric", *CONDITION[1:])
_ABOUT = ("metric", "judge", "variant", "temperature", "score", "failure")
_UNSCORED = "grader_failed"  # as Inspect names a judge's reply without a score


class ScoreChoice(Sampling, frozen=True, kw_only=True):
    """The judgments that are exported; None where there is only one to choose."""

    judge: str | None = None
    metric: str | None = None
    variant: str | None = None


def inspect_scores(
    judgments: Judgments, choice: ScoreChoice, signature: Callable[[str], str], items: Mapping[str, Item], reasons: Reasons | None = None
) -> Iterator[bytes]:
    """The lines of a scores file: one judge on one metric under one condition, on unchanged texts in their own order. A failure is NaN.

    `choice` says which of the judgments, `signature` gives that of a judge's numbers, and `reasons` reads the judge's words, if they are
    kept. The tasks and texts of `items` (by id) go along, so that the scores can be imported again as what they are.
    Raises UsageError at the first line, if several judges, metrics or conditions are left, or none is.
    """
    rows = np.flatnonzero(judgments.is_clean & (judgments.order.codes == NO_VALUE))
    for name in _CHOSEN:
        wanted = getattr(choice, name)
        values = list(judgments.columns[name].take(rows))
        if wanted is not None:
            rows = rows[[value == wanted for value in values]]
            if not len(rows):
                raise UsageError(f"there is no judgment with {name} '{wanted}'; there are: {_list_values(values)}")
    if not len(rows):
        raise UsageError("there is no judgment to export")
    for name in _CHOSEN:
        values = list(judgments.columns[name].take(rows))
        if len(set(values)) > 1:
            raise UsageError(
                f"Inspect has one score for each sample and epoch, and there are several {name}s; choose one with "
                f"--{name.replace('_', '-')}: {_list_values(values)}"
            )
    chosen = judgments.take(rows)
    columns = {name: list(chosen.columns[name]) for name in ("item", "repeat", *_ABOUT)}
    words = reasons(rows) if reasons else [None] * len(rows)
    about = signature(columns["judge"][0])
    for (item, repeat, *values), reason in zip(zip(*columns.values(), strict=True), words, strict=True):
        fields = dict(zip(_ABOUT, values, strict=True)) | {"signature": about} | about_item(items[item])
        score = fields["score"]
        record: dict[str, Any] = {"id": item, "epoch": (repeat or 0) + 1, "value": math.nan if score is None else score}
        if reason:
            record["explanation"] = reason
        record["metadata"] = {KEY: fields} | ({"unscored_reason": _UNSCORED} if score is None else {})
        # Inspect itself writes NaN bare; strict JSON has only null, which Inspect refuses
        yield escape_controls(json.dumps(record, ensure_ascii=False)).encode() + b"\n"


def _list_values(values: list[Any]) -> str:
    return ", ".join(sorted({"none" if value is None else str(value) for value in values}))
