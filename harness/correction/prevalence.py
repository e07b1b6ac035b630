"""Numbers corrected by a judge's error rates, for labels that come from elsewhere: a declared shift of the classes' shares."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.correction.mean_estimates import ALL_LABELLED, Figure, MeanEstimates, Sample, mean_estimates
from harness.measure.item_table import ItemTable
from harness.measure.judged_table import as_text
from harness.model import Score
from harness.stats import corrected_shares, rogan_gladen
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.misclassification import INDISTINCT, few_labels

_Z = 1.959963984540054
IMPOSSIBLE = "no share explains how often the judge gives the class, with the error rates that the labels show"
BINARY, SEVERAL = "Rogan-Gladen (Fieller)", "inverse confusion matrix"


def shifted_estimates(cell: ItemTable, *, shares: bool, share_of: str | None) -> Iterator[tuple[Score | None, MeanEstimates]]:
    """Yield pairs of a class (None for the mean) and its three estimates; the corrected one is of the texts without a label.

    Items without a reference are left out of the error rates. The arguments are as in `CorrectOptions`.
    """
    truth = cell.reference
    new = ~cell.labelled
    answers = np.nan_to_num(cell.answer_shares)
    k = len(cell.classes.scores)
    judged = answers[new].sum(axis=0)
    if k == 2:
        figures, method = _correct_two_classes(truth, answers, new), BINARY
    else:
        counts = np.stack([answers[truth == code].sum(axis=0) for code in range(k)])
        figures, method = _correct_several_classes(counts, judged, cell.classes.scores), SEVERAL
    as_mean = cell.values is not None and not shares and share_of is None
    if as_mean:
        assert cell.values is not None
        mean = _mean_from_shares(figures, cell.values)
        yield None, _three_estimates(cell, cell.label_shares @ cell.values, cell.answer_shares @ cell.values, mean, method)
        return
    for code, score in enumerate(cell.classes.scores):
        if share_of in (None, as_text(score)):
            figure = figures.shares[code]
            yield score, _three_estimates(cell, cell.label_shares[:, code], cell.answer_shares[:, code], figure, method, share=True)


@dataclass(frozen=True, eq=False)
class _CorrectedShares:
    """Corrected shares of all classes; of three classes or more also `theta` (k,), not cut to [0, 1], with its `covariance` (k, k)."""

    shares: list[Figure]
    covariance: Floats | None = None
    theta: Floats | None = None


def _correct_two_classes(truth: Ints, answers: Floats, new: NDArray[np.bool_]) -> _CorrectedShares:
    figures = []
    for code in (0, 1):
        negative, positive = answers[truth == 1 - code, code], answers[truth == code, code]
        estimate = rogan_gladen(
            float(answers[new, code].sum()),
            float(new.sum()),
            float(len(negative) - negative.sum()),
            float(len(negative)),
            float(positive.sum()),
            float(len(positive)),
        )
        reason = estimate.refusal or estimate.reason
        if reason:
            figures.append(_refused_figure(reason, bool(new.any())))
        else:  # an interval of no width means that no share in [0, 1] explains the data
            impossible = estimate.fieller[0] == estimate.fieller[1]
            figures.append(Figure(None, None, IMPOSSIBLE) if impossible else Figure(estimate.value, estimate.fieller, estimate.warning))
    return _CorrectedShares(figures)


def _correct_several_classes(counts: Floats, judged: Floats, names: Sequence[Score]) -> _CorrectedShares:
    estimate = corrected_shares(counts, judged)
    few = few_labels(counts.sum(axis=1), names) if estimate.refusal and estimate.refusal != INDISTINCT else None
    reason = few or estimate.refusal or estimate.reason
    if reason:
        return _CorrectedShares([_refused_figure(reason, judged.sum() > 0)] * len(judged))
    shares = [
        Figure(float(value), (max(0.0, float(value - _Z * error)), min(1.0, float(value + _Z * error))))
        for value, error in zip(estimate.projected, estimate.error, strict=True)
    ]
    return _CorrectedShares(shares, estimate.covariance, estimate.value)


def _refused_figure(reason: str, any_judged: bool) -> Figure:
    return Figure(None, None, reason if any_judged else ALL_LABELLED)


def _mean_from_shares(figures: _CorrectedShares, values: Floats) -> Figure:
    if figures.theta is not None and figures.covariance is not None:
        mean, error = float(values @ figures.theta), math.sqrt(max(0.0, float(values @ figures.covariance @ values)))
        low, high = float(values.min()), float(values.max())
        return Figure(min(max(mean, low), high), (max(low, mean - _Z * error), min(high, mean + _Z * error)))
    share = figures.shares[-1]
    if share.value is None or share.ci is None or len(values) != 2:
        return Figure(None, None, share.reason)
    ends = [float(values[0] + end * (values[1] - values[0])) for end in (share.value, *share.ci)]
    return Figure(ends[0], (ends[1], ends[2]), share.reason)


def _three_estimates(cell: ItemTable, y: Floats, f: Floats, corrected: Figure, method: str, *, share: bool = False) -> MeanEstimates:
    """Return the judge alone of the texts without a label, the labels alone of those with one, and the corrected number."""
    new = ~cell.labelled
    labels = mean_estimates([(Sample(y[~new], f[~new], cell.group[~new]), 1.0)], share=share)
    judge = mean_estimates([(Sample(f[new], f[new], cell.group[new]), 1.0)], share=share)
    nothing: dict[str, Any] = dict.fromkeys(("lam", "effective_labels", "labels_saved"))
    unlabelled, alone = int(new.sum()), judge.judge_alone
    return msgspec.structs.replace(labels, unlabelled=unlabelled, judge_alone=alone, corrected=corrected, method=method, **nothing)
