"""Answers that could not be read, counted by judge and condition: for every reader of a report."""

from __future__ import annotations

from collections import Counter
from typing import Any

from harness.data.judgments import Judgments
from harness.model import CONDITION, Failure


def failures_by_condition(judgments: Judgments) -> tuple[dict[str, Any], ...]:
    """A row for each judge and condition, in the order of the judgments: all its judgments, and the unreadable ones by kind.

    Perturbed texts count with their condition, as every answer does. Only kinds that occur have a count.
    """
    columns = (*(judgments.columns[name] for name in CONDITION), judgments.failure)
    counts: dict[tuple[Any, ...], Counter[Any]] = {}
    for (*side, failure), n in Counter(zip(*columns, strict=True)).items():
        counts.setdefault(tuple(side), Counter())[failure] += n
    return tuple(
        {
            **dict(zip(CONDITION, side, strict=True)),
            "judgments": by_kind.total(),
            "failures": {str(kind): by_kind[kind] for kind in Failure if by_kind[kind]},
        }
        for side, by_kind in counts.items()
    )
