"""Recorded answers beside fresh answers to the same calls, coded for the exact test of `harness.stats`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.stats import Retest, retest

__all__ = ["Outcome", "Retest", "retest_outcomes"]

Outcome = Mapping[str, object]  # metric -> score, or the failure in its place


def retest_outcomes(recorded: Sequence[Outcome], first: Sequence[Outcome], second: Sequence[Outcome]) -> Retest:
    """Test recorded answers against two fresh ones, call by call. All three have the same metrics for each call."""
    codes: dict[object, int] = {}
    widest = max(map(len, recorded), default=0)

    def coded(outcomes: Sequence[Outcome]) -> list[list[int]]:
        rows = []
        for outcome in outcomes:
            answers = [codes.setdefault(outcome[metric], len(codes)) for metric in sorted(outcome)]
            rows.append(answers + [-1] * (widest - len(answers)))
        return rows

    return retest(coded(recorded), coded(first), coded(second))
