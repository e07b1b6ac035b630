"""Attention checks: the share of damaged texts that people scored below the original."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.data.dataset import Dataset
from harness.data.further_tables import AttentionCheck
from harness.measure.cells import bounds, number
from harness.measure.options import POOLED
from harness.stats import proportion_interval
from harness.stats.intervals.bootstrap import RESAMPLES


def attention_rows(data: Dataset, seed: int = 0, resamples: int = RESAMPLES) -> list[dict[str, Any]]:
    """One row a language, campaign and annotator, and one for all annotators of a campaign (`*`).

    A row is `{language, campaign, annotator, n, below, below_ci, equal, above}`: the number of damaged texts that were scored beside their
    originals, and the shares of them that were scored below, equal to and above the original, in the direction of the scale's best end.
    The interval respects that texts share documents. Ties count neither as seen nor as unseen.
    """
    scored = [check for check in data.checks if check.score is not None]
    keys: dict[tuple[str, str, str], list[AttentionCheck]] = {}
    for check in scored:
        place = (data.by_id[check.original_item_id].language, check.campaign)
        for annotator in dict.fromkeys((POOLED, check.annotator_id or POOLED)):
            keys.setdefault((*place, annotator), []).append(check)
    return [
        dict(zip(("language", "campaign", "annotator"), key, strict=True)) | _row(data, checks, seed, resamples)
        for key, checks in sorted(keys.items())
    ]


def _row(data: Dataset, checks: Sequence[AttentionCheck], seed: int, resamples: int) -> dict[str, Any]:
    step = np.array([np.sign((check.score or 0.0) - (check.score_of_original or 0.0)) * _direction(data, check) for check in checks])
    below = (step < 0).astype(np.float64)
    group = np.array([data.clusters.at(data.positions[check.original_item_id]) for check in checks])
    found = proportion_interval(below, np.unique(group, return_inverse=True)[1], seed=seed, resamples=resamples)
    return {
        "n": len(checks),
        "below": number(below.mean()),
        "below_ci": bounds(found),
        "equal": number((step == 0).mean()),
        "above": number((step > 0).mean()),
    }


def _direction(data: Dataset, check: AttentionCheck) -> int:
    """1 if high scores are good, -1 if low ones are: of the check's metric, or of the first one that people labelled."""
    used = data.labels.metric.used
    scale = data.scales.get(check.metric or (used[0] if used else ""))
    return -1 if scale is not None and scale.kind == "interval" and scale.best is not None and scale.best == scale.min else 1


def attention_notes(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A sentence for each campaign: all its people, and the one who saw the fewest."""
    for row in rows:
        if row["annotator"] != POOLED:
            continue
        people = [r for r in rows if r["annotator"] != POOLED and (r["language"], r["campaign"]) == (row["language"], row["campaign"])]
        of = ", ".join(filter(None, (row["campaign"], row["language"])))
        ci = f" [{100 * row['below_ci'][0]:.0f} to {100 * row['below_ci'][1]:.0f}]" if row["below_ci"] else ""
        lowest = f", each person at least {100 * min(r['below'] for r in people):.0f} %" if people else ""
        yield (
            f"Attention checks ({of}): people scored {100 * row['below']:.0f} %{ci} of {row['n']:,} damaged texts below their "
            f"originals{lowest}; {100 * row['equal']:.0f} % got the same score. "
            "'harness run --perturb attention-check' asks a judge about the same texts."
        )
