"""The map from a judge's scores to people's that a certificate holds for a cell, and its use text by text."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.correction.label_sets import LabelSets, sets_at
from harness.correction.score_maps import ClassCurve, ClassTable, Curve, LengthScale, NumberLine
from harness.stats.core.arrays import Floats


class CertifiedMap(msgspec.Struct, frozen=True):
    """The map from a judge's score of a text to people's score.

    Attributes:
        read: what of the judge the map reads: `score`, or `expected score` by the probabilities of its tokens.
        curve: the map, learnt from all labelled texts.
        shown: whether it is shown to be better than the raw scores and than class shares; else scores stay as they are, as `advice` says.
        n, groups: labelled texts and independent groups.
        sets: label sets, with the map that has not seen the labels that set their threshold.
        length_scale: how both maps read the length of a text; None where they read the score alone.
    """

    read: str
    curve: Curve
    shown: bool
    advice: str
    n: int
    groups: int
    sets: LabelSets
    length_scale: LengthScale | None = None

    def refuse_other_scale(self, classes: int, kind: str) -> None:
        """Raise ValueError for maps that are not of a cell's scale."""
        for curve in (self.curve, self.sets.curve):
            widths = {len(curve.cuts) + 1} if isinstance(curve, ClassCurve) else set()
            if isinstance(curve, ClassTable):
                widths = {len(curve.shares), *map(len, curve.shares)}
            covariates = len(curve.further) if isinstance(curve, ClassCurve) else 0
            if covariates != (self.length_scale is not None):
                raise ValueError("a map with a coefficient of the length says how lengths are read, and others do not")
            if widths - {classes} or (isinstance(curve, NumberLine) and kind != "interval"):
                raise ValueError(f"the map is not of {classes} classes")
        if self.sets.threshold is not None and self.sets.threshold < 0:
            raise ValueError("the threshold of label sets is 0 or more")


class CalibratedTexts(msgspec.Struct, frozen=True, eq=False):
    """People's expected scores of new texts.

    Attributes:
        expected: (n,) calibrated expected score in points of the scale; None of classes without order, and where no gain is shown.
        probabilities: (n, k) of the classes; None of numbers, and where no gain is shown.
        classes: the k scores of the columns.
        sets: (n, k) whether each score is in the text's set; None of numbers.
        intervals: (n, 2) the same of numbers, the ends of the scale where nothing is known.
        abstains: (n,) whether the set says nothing, because it holds every score.
        level: the share of new texts whose set holds a person's score.
        reason: why there are no calibrated scores, or no sets smaller than every score.
    """

    expected: Floats | None
    probabilities: Floats | None
    classes: tuple[int | float | str, ...]
    sets: NDArray[np.bool_] | None
    intervals: Floats | None
    abstains: NDArray[np.bool_]
    level: float
    reason: str | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CalibratedTexts) and all(
            np.array_equal(value, other_value, equal_nan=value.dtype.kind == "f")
            if isinstance(value, np.ndarray) and other_value is not None
            else value is other_value or value == other_value
            for value, other_value in zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays


def apply_map(
    certified_map: CertifiedMap,
    scores: Floats,
    classes: Sequence[int | float | str],
    values: Floats | None,
    ends: tuple[float, float],
    lengths: Floats | None = None,
) -> CalibratedTexts:
    """Apply a map to a judge's scores of new texts.

    `scores` (n,) are what the map reads of each text: points, or class codes where classes have names only; NaN where nothing was read.
    `lengths` (n,) are characters of the texts, where the map reads them. Of the scale, `values` are None without order; intervals of
    numbers stay within its `ends`.
    """
    sets_of_map, is_shown = certified_map.sets, certified_map.shown
    reasons = filter(None, (None if is_shown else certified_map.advice, sets_of_map.reason))
    reason = "; ".join(dict.fromkeys(reasons)) or None
    # The distinct texts for a map, with their covariates, and the index of each text among them: a million texts are few.
    distinct, text_index = np.unique(scores, return_inverse=True)
    covariates: Floats | None = None
    if certified_map.length_scale is not None and lengths is not None:
        distinct_lengths, length_index = np.unique(certified_map.length_scale.read(lengths)[:, 0], return_inverse=True)
        pairs, text_index = np.unique(text_index * len(distinct_lengths) + length_index, return_inverse=True)
        covariates = distinct_lengths[pairs % len(distinct_lengths)][:, None]
        distinct = distinct[pairs // len(distinct_lengths)]
    predicted, behind = (curve.predict(distinct, covariates) for curve in (certified_map.curve, sets_of_map.curve))
    if isinstance(certified_map.curve, NumberLine):
        has_interval, half_width = ~np.isnan(behind) & (sets_of_map.threshold is not None), sets_of_map.threshold or 0.0
        around = np.nan_to_num(behind)[:, None] + np.array([-half_width, half_width])
        intervals = np.clip(np.where(has_interval[:, None], around, np.asarray(ends)), *ends)[text_index]
        nothing = np.asarray((intervals[:, 0] <= ends[0]) & (intervals[:, 1] >= ends[1]))
        expected = predicted[text_index] if is_shown else None
        return CalibratedTexts(expected, None, (), None, intervals, nothing, sets_of_map.level, reason)
    sets = sets_at(behind, "ordered" if isinstance(certified_map.curve, ClassCurve) else "named", sets_of_map.threshold)
    expected = (predicted @ values)[text_index] if is_shown and values is not None else None
    probabilities, nothing = predicted[text_index] if is_shown else None, np.asarray(sets.all(axis=1))[text_index]
    return CalibratedTexts(expected, probabilities, tuple(classes), sets[text_index], None, nothing, sets_of_map.level, reason)
