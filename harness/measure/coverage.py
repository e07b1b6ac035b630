"""The report of a run with sealed labels: the share of readable answers, and the reasons for the others."""

from __future__ import annotations

from collections import Counter
from typing import Any

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.model import CONDITION, ConditionRow


class RunCoverage(ConditionRow, frozen=True, kw_only=True):
    """One judge in one language under one condition: the judgments `asked`, those with a score (`read`), and the `failures` by name."""

    language: str
    asked: int
    read: int
    failures: dict[str, int]

    @property
    def coverage(self) -> float:
        """The share of judgments with a score."""
        return self.read / self.asked


def run_coverage(judgments: Judgments, data: Dataset) -> tuple[RunCoverage, ...]:
    """Coverage by language, judge and condition, in that order; judgments of perturbed texts are left out."""
    found: dict[tuple[Any, ...], Counter[str]] = {}
    clean = judgments.clean
    columns = [getattr(clean, name) for name in CONDITION]
    for item, *key, failure in zip(clean.item, *columns, clean.failure, strict=True):
        counts = found.setdefault((data.by_id[item].language, *key), Counter())
        counts[str(failure) if failure is not None else ""] += 1
    return tuple(
        RunCoverage(
            **dict(zip(("language", *CONDITION), key, strict=True)),
            asked=counts.total(),
            read=counts.pop("", 0),
            failures=dict(sorted(counts.items())),
        )
        for key, counts in sorted(found.items(), key=lambda pair: tuple(map(str, pair[0])))
    )
