"""Answers that could be read, and those that could not, by judge and condition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.model import CONDITION, ConditionRow, Failure


class RunCoverage(ConditionRow, frozen=True, kw_only=True):
    """With sealed labels, one judge in one language under one condition: the judgments `asked`, those with a score, and the `failures`."""

    language: str
    asked: int
    read: int
    failures: dict[str, int]

    @property
    def coverage(self) -> float:
        """The share of judgments with a score."""
        return self.read / self.asked


def run_coverage(judgments: Judgments, data: Dataset) -> tuple[RunCoverage, ...]:
    """Return the coverage by language, judge and condition, in that order; judgments of perturbed texts are left out."""
    clean = judgments.clean
    languages = (data.by_id[item].language for item in clean.item)
    failures = _failures(languages, *(getattr(clean, name) for name in CONDITION), clean.failure)
    return tuple(
        RunCoverage(
            **dict(zip(("language", *CONDITION), key, strict=True)),
            asked=counts.total(),
            read=counts.pop(None, 0),
            failures={str(kind): n for kind, n in sorted(counts.items())},
        )
        for key, counts in sorted(failures.items(), key=lambda pair: tuple(map(str, pair[0])))
    )


def failures_by_condition(judgments: Judgments) -> tuple[dict[str, Any], ...]:
    """Return a row for each judge and condition, in the order of the judgments: all its judgments, and the unreadable ones by kind.

    Perturbed texts count with their condition, as every answer does. Only kinds that occur have a count.
    """
    counts = _failures(*(judgments.columns[name] for name in CONDITION), judgments.failure)
    return tuple(
        {
            **dict(zip(CONDITION, side, strict=True)),
            "judgments": by_kind.total(),
            "failures": {str(kind): by_kind[kind] for kind in Failure if by_kind[kind]},
        }
        for side, by_kind in counts.items()
    )


def _failures(*columns: Iterable[Any]) -> dict[tuple[Any, ...], Counter[Any]]:
    """Count failures by all columns but the last one, which holds them (None: a score)."""
    failures: dict[tuple[Any, ...], Counter[Any]] = {}
    for (*side, failure), n in Counter(zip(*columns, strict=True)).items():
        failures.setdefault(tuple(side), Counter())[failure] += n
    return failures
