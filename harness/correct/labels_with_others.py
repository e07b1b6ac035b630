"""How many labels fewer a new language needs for a corrected mean, if the languages that are labelled help it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from harness.correct.correct import mean_sample, share_sample
from harness.correct.mean_estimates import Sample
from harness.correct.scored_items import ScoredItems, scored_items
from harness.correct.with_others import MIN_LANGUAGES, MIN_OWN_LABELS, Z95, own_errors
from harness.measure.compare import AlignedData
from harness.stats.estimation.borrowed import floored_between, labels_with_others
from harness.stats.intervals.intervals import t_quantile


class NewLanguage(msgspec.Struct, frozen=True, kw_only=True):
    """Independent labels that a new language needs for a corrected mean (without order: for the share of the best class).

    Attributes:
        key: metric, judge, variant, temperature and top-p.
        languages: that help, each with 15 independent labels or more.
        half_width: wanted, in points of the scale.
        label_sd: of the judge's error on one independent label, in points.
        between_sd: of the judge's mean error between languages, with its floor.
        alone, with_others: labels that are needed; None where no number suffices, with the `reason`.
    """

    key: dict[str, Any]
    languages: int
    half_width: float
    label_sd: float | None = None
    between_sd: float | None = None
    alone: int | None = None
    with_others: int | None = None
    reason: str | None = None

    def flat(self) -> dict[str, Any]:
        """One object for programs, with the parts of the key beside the other values."""
        values = msgspec.structs.asdict(self)
        return {**values.pop("key"), **values}


def new_languages(laid_out: AlignedData, half_width: float) -> tuple[NewLanguage, ...]:
    """One a metric, judge and condition; `half_width` is a share of the scale. Undefined without a scale that has ends."""
    cells: dict[tuple[Any, ...], list[ScoredItems]] = {}
    for judged in laid_out.judged:
        for cell in scored_items(judged, by_source="source" in laid_out.by):
            cells.setdefault(tuple(value for name, value in cell.key.items() if name != "language"), []).append(cell)
    return tuple(_new_language(alike, half_width) for alike in cells.values())


def _new_language(cells: Sequence[ScoredItems], half_width: float) -> NewLanguage:
    first = cells[0]
    key = {name: value for name, value in first.key.items() if name != "language"}
    samples = [one for one in map(mean_or_share, cells) if one.groups >= MIN_OWN_LABELS and not np.isnan(one.f[one.known]).all()]
    wanted = half_width * _reach(first)
    few = f"{len(samples)} languages have {MIN_OWN_LABELS} independent labels, and {MIN_LANGUAGES} are needed"
    if len(samples) < MIN_LANGUAGES or not math.isfinite(wanted):
        return NewLanguage(
            key=key, languages=len(samples), half_width=wanted, reason=few if len(samples) < MIN_LANGUAGES else "the scale has no ends"
        )
    errors = own_errors(samples)
    between = floored_between(errors.value, errors.error)
    common = float(between.fitted_error[0]) * t_quantile(0.95, len(samples) - 1) / Z95  # as `borrow` counts it where errors are estimated
    borrowed = labels_with_others(errors.label_sd, between.tau2, wanted, least=MIN_OWN_LABELS, mean_error=common)
    alone = max(math.ceil((Z95 * errors.label_sd / wanted) ** 2), MIN_OWN_LABELS)
    return NewLanguage(
        key=key,
        languages=len(samples),
        half_width=wanted,
        label_sd=errors.label_sd,
        between_sd=math.sqrt(between.tau2),
        alone=alone,
        with_others=None if borrowed is None else min(borrowed, alone),
    )


def mean_or_share(cell: ScoredItems) -> Sample:
    """What a corrected mean is made from; without order, what the corrected share of the best class is made from."""
    if cell.means is not None:
        return mean_sample(cell)
    scores = cell.classes.scores
    return share_sample(cell, scores[0] if cell.classes.direction == -1 else scores[-1])


def _reach(cell: ScoredItems) -> float:
    if cell.classes.continuous:
        return cell.classes.reach or math.nan
    return 1.0 if cell.values is None else float(np.ptp(cell.values))
