"""The report of a run with sealed labels: the share of readable answers, and the reasons for the others."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from harness.data import Dataset
from harness.data.judgments import Judgments

_KEY = ("judge", "variant", "temperature", "top_p")


class RunCoverage(msgspec.Struct, frozen=True):
    """One judge in one language under one condition: the judgments `asked`, those with a score (`read`), and the `failures` by name."""

    language: str
    judge: str
    variant: str
    temperature: float
    asked: int
    read: int
    failures: dict[str, int]
    top_p: float | None = None

    @property
    def coverage(self) -> float:
        """The share of judgments with a score."""
        return self.read / self.asked


def run_coverage(judgments: Judgments, data: Dataset) -> tuple[RunCoverage, ...]:
    """Coverage by language, judge and condition, in that order; judgments of perturbed texts are left out."""
    found: dict[tuple[Any, ...], Counter[str]] = {}
    clean = judgments.clean
    columns = [getattr(clean, name) for name in _KEY]
    for item, *key, failure in zip(clean.item, *columns, clean.failure, strict=True):
        counts = found.setdefault((data.by_id[item].language, *key), Counter())
        counts[str(failure) if failure is not None else ""] += 1
    return tuple(
        RunCoverage(language, judge, variant, temperature, counts.total(), counts.pop("", 0), dict(sorted(counts.items())), top_p)
        for (language, judge, variant, temperature, top_p), counts in sorted(found.items(), key=lambda pair: tuple(map(str, pair[0])))
    )
