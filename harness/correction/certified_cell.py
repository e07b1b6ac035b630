"""One language and metric of a certificate, and its use on new scores: a corrected mean, calibrated texts, accepted answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.content.tags import canonical
from harness.correction.acceptance import share_left_out
from harness.correction.correction_options import ProbabilityOptions
from harness.correction.mean_estimates import interval_ends
from harness.correction.probabilities import HOLD, REFITTED, CellProbabilities, probabilities_of_table
from harness.correction.score_maps import EXPECTED, ClassCurve, ClassTable, Curve, LabelSets, LengthScale, NumberLine, sets_at
from harness.data.columns import CodedColumn
from harness.decide.verdict_rule import VerdictName
from harness.errors import CertificateError, StaleCertificate, UsageError, UseForbidden
from harness.measure.judged_table import JudgedTable
from harness.model import Basis, JudgeCondition, ProbabilityVerdict, Scale, Score
from harness.stats.core.arrays import Floats, ShapeError
from harness.stats.estimation.calibration import Platt
from harness.stats.estimation.prediction_powered import LabelledSpread, LabelledSummary, correct_with_summary

AGAIN = "make a new certificate with 'harness certify'"
_ROUNDING = 1e-9

NONE_RECORDED = "no probabilities were recorded"


class Correction(msgspec.Struct, frozen=True):
    """Parameters of the corrected mean, or of the share of class `share_of`.

    `n` labelled items in `groups` independent groups have the means `mean_label` and `mean_judge`; variances and covariance are those of
    these two means over groups, and `spread` is what degrees of freedom and the weight of the judge are computed from, for new scores. A
    score that cannot be read counts as `failure_value`.
    """

    share_of: Score | None
    n: int
    groups: int
    mean_label: float
    mean_judge: float
    variance_label: float
    variance_judge: float
    covariance: float
    failure_value: float
    spread: LabelledSpread

    def __post_init__(self) -> None:
        numbers = (self.mean_label, self.mean_judge, self.variance_label, self.variance_judge, self.covariance, self.failure_value)
        if not all(map(math.isfinite, numbers)):
            raise ValueError("the numbers of a correction are finite")
        if self.n < self.groups or self.groups < 2:
            raise ValueError("a correction needs two groups, and no more groups than labels")
        most = self.variance_label * self.variance_judge * (1 + 1e-6)
        if min(self.variance_label, self.variance_judge) < 0 or self.covariance * self.covariance > most:  # **2 of 1e308 raises
            raise ValueError("these are no variances with their covariance")
        spread = self.spread
        if (
            not all(map(math.isfinite, (*spread.sizes, *spread.between, *spread.within)))
            or min(spread.sizes, default=0) <= 0
            or min(spread.times, default=0) < 1
        ):
            raise ValueError("the sizes of groups are above 0, and sums of squares are finite")
        if len(spread.sizes) != len(spread.times) or sum(spread.times) != self.groups:
            raise ValueError(f"the sizes in spread are not of {self.groups} groups")
        if not math.isclose(sum(size * times for size, times in zip(spread.sizes, spread.times, strict=True)), self.n, rel_tol=1e-6):
            raise ValueError(f"the sizes in spread do not add up to {self.n} labels")
        for squares, products, squares_of_judge in (spread.between, spread.within):
            if min(squares, squares_of_judge) < 0 or products * products > squares * squares_of_judge * (1 + 1e-6) + _ROUNDING:
                raise ValueError("these are no sums of squares and products")

    @property
    def summary(self) -> LabelledSummary:
        means = (self.mean_label, self.mean_judge)
        return LabelledSummary(self.n, self.groups, *means, self.variance_label, self.variance_judge, self.covariance, self.spread)


class CertifiedThreshold(msgspec.Struct, frozen=True):
    """The confidence above which answers agree with people in a share 1 - `alpha`, with probability 1 - `delta`.

    `threshold` is None where nothing is certified, with the `reason`. It is about `n` labelled texts and says nothing of `left_out`
    others, which have no commonest label.
    """

    confidence: str
    alpha: float
    delta: float
    threshold: float | None
    coverage: float
    agreement: float | None
    agreement_lower: float | None
    n: int
    reason: str | None
    left_out: int

    @property
    def left_out_share(self) -> float | None:
        """`left_out` as a share of the labelled texts; None without labelled texts."""
        return share_left_out(self.n, self.left_out)


class CertifiedCell(msgspec.Struct, frozen=True, kw_only=True):
    """The use that a judge may be put to in one language on one metric, with the numbers for it.

    Attributes:
        scale: of the metric; `classes` are the scores that `confusion` counts, and `values` what they stand for in means.
        rubric: version and hash; None for recorded judgments.
        verdict, reason, sentence, not_for, n, groups, k: as `harness compare` gives them.
        annotators: the highest number of annotators of one item.
        corrections: parameters of the mean (first, on ordered scales) and of each class's share; empty with the `correction_reason`.
        confusion: (k, k) labelled items by people's aggregate (rows) and the judge's commonest answer (columns).
        agreement_error: standard error, over groups, of the share of the confusion counts in which both agree; None where it is undefined.
        acceptance: the certified threshold; None with the `acceptance_reason`.
        recalibration: the map from the judge's scores to people's, text by text; None with the `recalibration_reason`.
        basis: whether the verdict rests on how far people agree or, with one person a text, on a bar; the signature states the bar.
        probabilities: what may be believed of the judge's probabilities; None with the `probabilities_reason`.
    """

    language: str
    metric: str
    scale: Scale
    classes: tuple[Score, ...]
    values: tuple[float, ...] | None
    rubric: str | None
    verdict: VerdictName
    reason: str
    sentence: str
    not_for: tuple[str, ...]
    n: int
    groups: int
    annotators: int
    k: int | None
    corrections: tuple[Correction, ...]
    correction_reason: str | None
    confusion: tuple[tuple[int, ...], ...]
    acceptance: CertifiedThreshold | None
    acceptance_reason: str | None
    agreement_error: float | None = None
    recalibration: CertifiedMap | None = None
    recalibration_reason: str | None = None
    basis: Basis = "people"
    probabilities: CertifiedProbabilities | None = None
    probabilities_reason: str | None = None

    def __post_init__(self) -> None:
        k = len(self.classes)
        if self.scale.classes and self.classes != self.scale.classes:
            raise ValueError(f"the classes of {self.name} are not those of its scale")
        if self.values is not None and len(self.values) != k:
            raise ValueError(f"{self.name} has {k} classes, and values of {len(self.values)}")
        if [len(row) for row in self.confusion] != [k] * k:
            raise ValueError(f"the confusion counts of {self.name} are not of {k} classes")
        shares = [correction.share_of for correction in self.corrections]
        if len(set(shares)) < len(shares):
            raise ValueError(f"a correction of {self.name} stands twice")
        if self.recalibration is not None:
            self.recalibration.refuse_other_scale(k, self.scale.kind)
        try:
            right = canonical(self.language)
        except UsageError as err:
            raise ValueError(str(err)) from None
        if right != self.language:
            raise ValueError(f"language '{self.language}' is not canonical; it should be '{right}'")

    @property
    def name(self) -> str:
        return f"{self.language}/{self.metric}"

    def off_scale(self) -> Iterator[str]:
        """Yield, in words, numbers that are impossible on the cell's scale: means outside it, shares and confidences outside 0 to 1."""
        cell_name = self.name
        for correction in self.corrections:
            low, high = self.range_of_means(correction.share_of)
            what = "the mean" if correction.share_of is None else f"the share of {correction.share_of}"
            for name in ("mean_label", "mean_judge", "failure_value"):
                value = getattr(correction, name)
                if not low - _ROUNDING <= value <= high + _ROUNDING:
                    yield f"{name} of {what} of {cell_name} is {value:g}, which is not on its scale, {low:g} to {high:g}"
        for name in ("threshold", "coverage", "agreement", "agreement_lower"):
            value = getattr(self.acceptance, name, None)
            if value is not None and not 0 <= value <= 1:
                yield f"{name} of the acceptance of {cell_name} is {value:g}, which is not from 0 to 1"

    def range_of_means(self, share_of: Score | None) -> tuple[float, float]:
        """Return the smallest and largest possible mean of scores, or share of a class."""
        if share_of is not None:
            return 0.0, 1.0
        if self.scale.kind == "interval":
            low, high = self.scale.min, self.scale.max
            return -math.inf if low is None else low, math.inf if high is None else high
        values = self.values or (math.nan,)
        return min(values), max(values)


class CorrectedMean(msgspec.Struct, frozen=True):
    """The corrected mean of new scores, or share of a class.

    Attributes:
        estimate, interval: of people's mean label in the population that the labels and the new texts come from; 95 % unless asked
            otherwise. None with the `reason`.
        judge_only: the mean of the new scores, whose bias is unknown.
        effective_labels: number of labels that would be as precise without the judge.
        lam: weight of the judge, from 0 (labels alone) to 1.
        labels, scores: how many labels and new scores it rests on.
        error: standard error of the estimate; `label_error` is the part that comes from the labelled texts.
        not_for: what the verdict does not cover.
        unchecked: what of judge, prompt and rubric could not be compared with the certificate.
        texts: what people are expected to say of each text, with label sets; None with the `texts_reason`.
    """

    estimate: float | None
    interval: tuple[float, float] | None
    judge_only: float
    effective_labels: float | None
    lam: float | None
    labels: int
    scores: int
    error: float | None
    label_error: float | None
    not_for: tuple[str, ...]
    unchecked: tuple[str, ...]
    reason: str | None
    texts: CalibratedTexts | None = None
    texts_reason: str | None = None


class AcceptedScores(msgspec.Struct, frozen=True, eq=False):
    """The new scores that can be accepted without a person.

    Attributes:
        accepted: (items,) booleans, all false where nothing is certified; then the `reason` says why.
        threshold: the lowest accepted confidence.
        agreement_lower: the certified agreement of accepted answers with people's aggregate, where they have one.
        left_out_share: the share of labelled texts without a commonest label, of which `agreement_lower` says nothing; None if unknown.
        unchecked: what of judge, prompt and rubric could not be compared with the certificate.
    """

    accepted: NDArray[np.bool_]
    threshold: float | None
    agreement_lower: float | None
    unchecked: tuple[str, ...]
    reason: str | None
    left_out_share: float | None = None


def believed_probabilities(
    cell: CertifiedCell, probabilities: ArrayLike, answers: int, unchecked: tuple[str, ...]
) -> BelievedProbabilities:
    """Return probabilities as they are where they hold, and refitted where they hold after a refit.

    Raises UseForbidden where neither is shown, UsageError for numbers that are no probabilities.
    """
    certified = cell.probabilities
    if certified is None:
        raise UseForbidden(f"the certificate says nothing of the probabilities of {cell.name}: {cell.probabilities_reason}")
    if certified.verdict not in (HOLD, REFITTED):
        says = (
            ""
            if certified.confidence is None or certified.right is None
            else f" (mean {certified.confidence:.2f}, right {certified.right:.2f}, n {certified.n:,})"
        )
        raise UseForbidden(
            f"the certificate's verdict on the probabilities of {cell.name} is '{certified.verdict}'{says}; do not rely on them"
        )
    values = np.asarray(probabilities, np.float64)
    if values.shape != (answers,):
        raise UsageError(f"probabilities has shape {values.shape} and there are {answers} scores; give one probability a score")
    if ((values < 0) | (values > 1)).any():
        raise UsageError("probabilities are numbers from 0 to 1, of the score that was given, or NaN where there is none")
    return BelievedProbabilities(certified.refitted(values), certified.verdict == REFITTED, certified.verdict, unchecked)


def corrected_mean(
    cell: CertifiedCell, scores: Any, groups: Any, share_of: Score | None, level: float, unchecked: tuple[str, ...]
) -> CorrectedMean:
    correction = _find_correction(cell, share_of)
    numbers = _read_numbers(cell, scores, share_of)
    filled = np.where(np.isnan(numbers), correction.failure_value, numbers)
    try:
        if groups is None:
            codes = None
        elif isinstance(groups, np.ndarray) and groups.dtype.kind in "iu":
            codes = groups
        else:
            codes = CodedColumn.from_values(list(groups)).codes.astype(np.int64)
        mean = correct_with_summary(correction.summary, filled, codes, share=share_of is not None, level=level)
    except ShapeError as err:
        raise UsageError(str(err)) from None
    defined = mean.reason is None
    return CorrectedMean(
        estimate=mean.value if defined else None,
        interval=interval_ends(mean.interval),
        judge_only=float(np.nanmean(numbers)) if not np.isnan(numbers).all() else math.nan,
        effective_labels=mean.effective_n if defined and math.isfinite(mean.effective_n) else None,
        lam=mean.lam if defined else None,
        labels=correction.n,
        scores=len(filled),
        error=mean.error if defined else None,
        label_error=math.sqrt(mean.residual_variance) if defined else None,
        not_for=cell.not_for,
        unchecked=unchecked,
        reason=mean.reason or mean.interval.reason,
    )


def texts_without_mean(cell: CertifiedCell, scores: Any, unchecked: tuple[str, ...], texts: CalibratedTexts) -> CorrectedMean:
    """Return calibrated texts of a cell that has no correction of means, with the reason."""
    numbers = _read_map_scores(cell, scores)
    no_mean = np.isnan(numbers).all() or (cell.values is None and cell.scale.kind != "interval")
    nothing: dict[str, None] = dict.fromkeys(("estimate", "interval", "effective_labels", "lam", "error", "label_error"))
    return CorrectedMean(
        **nothing,
        judge_only=math.nan if no_mean else float(np.nanmean(numbers)),
        labels=0,
        scores=len(numbers),
        not_for=cell.not_for,
        unchecked=unchecked,
        reason=cell.correction_reason,
        texts=texts,
    )


def calibrate_texts(
    cell: CertifiedCell, scores: Any, expected: ArrayLike | None, lengths: ArrayLike | Sequence[str] | None
) -> tuple[CalibratedTexts | None, str | None]:
    """Return people's expected scores of each text, or the reason why there are none."""
    certified_map = cell.recalibration
    if certified_map is None:
        return None, cell.recalibration_reason
    numbers = _read_map_scores(cell, scores)
    if certified_map.read == EXPECTED:
        if expected is None:
            return None, "the map reads expected scores by token probabilities; pass expected="
        expected_scores = np.asarray(expected, np.float64)
        if expected_scores.shape != numbers.shape:
            raise UsageError(f"expected has shape {expected_scores.shape} and scores {numbers.shape}; give one expected score a score")
        numbers = np.where(np.isnan(numbers), math.nan, expected_scores)
    two_named = cell.values is None and len(cell.classes) == 2
    values = np.arange(2.0) if two_named else None if cell.values is None else np.asarray(cell.values, np.float64)
    characters = None if certified_map.length_scale is None else _read_lengths(cell, lengths, len(numbers))
    return apply_map(certified_map, numbers, cell.classes, values, cell.range_of_means(None), characters), None


def _read_lengths(cell: CertifiedCell, lengths: ArrayLike | Sequence[str] | None, count: int) -> Floats:
    """Return (texts,) lengths that a map reads, which are given as numbers or as texts."""
    if lengths is None:
        raise CertificateError(
            f"pass lengths=: the map of {cell.name} reads the length of each text beside its score (characters, or the texts)"
        )
    numbers = [len(text) if isinstance(text, str) else text for text in lengths] if isinstance(lengths, Sequence) else lengths
    try:
        characters = np.asarray(numbers, np.float64)
    except (TypeError, ValueError):
        raise UsageError("lengths are numbers of characters, texts, or None where there is no text") from None
    if characters.shape != (count,):
        raise UsageError(f"lengths has shape {characters.shape} and there are {count} scores; give one length a score")
    if (characters < 0).any() or np.isinf(characters).any():
        raise UsageError("lengths are numbers of characters, 0 or more")
    return characters


def _read_map_scores(cell: CertifiedCell, scores: Any) -> Floats:
    """Return scores as a map reads them: points, or class codes where classes have names only; NaN where there is none."""
    if cell.values is not None or cell.scale.kind == "interval":
        return _read_numbers(cell, scores, None)
    codes = _encode_classes(cell, scores if isinstance(scores, np.ndarray) else np.asarray(scores), scores)
    return np.where(codes < 0, math.nan, codes)


def _find_correction(cell: CertifiedCell, share_of: Score | None) -> Correction:
    for correction in cell.corrections:
        if correction.share_of == share_of:
            return correction
    if cell.correction_reason:
        raise UseForbidden(f"the certificate has no correction for {cell.name}: {cell.correction_reason}")
    if share_of is None:
        raise UseForbidden(f"the scale of {cell.name} has no order, so it has no mean; pass share_of= with one of its classes")
    raise UsageError(f"'{share_of}' is no class of {cell.name}; its classes are {', '.join(map(str, cell.classes))}")


def accepted_scores(cell: CertifiedCell, scores: Any, confidence: ArrayLike, unchecked: tuple[str, ...]) -> AcceptedScores:
    numbers, confidences = _read_numbers(cell, scores, cell.classes[0] if cell.values is None else None), np.asarray(confidence, np.float64)
    if confidences.shape != numbers.shape:
        raise UsageError(f"confidence has shape {confidences.shape} and scores {numbers.shape}; give one confidence a score")
    threshold = cell.acceptance
    if threshold is None or threshold.threshold is None:
        reason = cell.acceptance_reason if threshold is None else threshold.reason
        return AcceptedScores(np.zeros(len(confidences), bool), None, None, unchecked, reason)
    accepted = np.asarray(~np.isnan(numbers) & (confidences >= threshold.threshold))
    return AcceptedScores(accepted, threshold.threshold, threshold.agreement_lower, unchecked, None, threshold.left_out_share)


def _read_numbers(cell: CertifiedCell, scores: Any, share_of: Score | None) -> Floats:
    """Return the scores as numbers, or as 0 and 1 for the share of a class; NaN where there is none.

    Raises StaleCertificate for scores off the certificate's scale.
    """
    array = scores if isinstance(scores, np.ndarray) else np.asarray(scores)
    if array.ndim != 1:
        raise UsageError(f"scores have shape {array.shape}; they should be of one dimension, one score a text")
    if cell.scale.kind == "interval":
        try:
            numbers = array.astype(np.float64)
        except (TypeError, ValueError):
            raise UsageError("scores on this scale are numbers, None or NaN") from None
        low, high = cell.scale.min, cell.scale.max
        off = (numbers < (-math.inf if low is None else low)) | (numbers > (math.inf if high is None else high)) | np.isinf(numbers)
        if off.any():
            raise _off_scale_error(cell, float(numbers[off][0]))
        return numbers if share_of is None else np.where(np.isnan(numbers), math.nan, numbers == share_of)
    codes = _encode_classes(cell, array, scores)
    values = np.asarray(cell.values if share_of is None else [score == share_of for score in cell.classes], np.float64)
    return np.append(values, math.nan)[codes]


def _encode_classes(cell: CertifiedCell, array: NDArray[Any], scores: Any) -> NDArray[np.int64]:
    """Return positions among the classes, -1 for no score."""
    if array.dtype.kind in "iuf" and all(isinstance(score, int) for score in cell.classes):
        classes = np.array(cell.classes, np.float64)
        order = np.argsort(classes)
        index = np.minimum(np.searchsorted(classes[order], array), len(classes) - 1)
        codes = np.where(np.isnan(array.astype(np.float64)), -1, order[index])
        off = (codes >= 0) & (classes[order][index] != array)
        if off.any():
            raise _off_scale_error(cell, array[off][0].item())
        return codes
    column = CodedColumn.from_values(None if score is None or score != score else score for score in list(scores))
    for score in column.values:
        if not cell.scale.holds(score):
            raise _off_scale_error(cell, score)
    return column.recode({score: code for code, score in enumerate(cell.classes)}).astype(np.int64)


def _off_scale_error(cell: CertifiedCell, score: object) -> StaleCertificate:
    return StaleCertificate(
        f"score {score!r} is off the scale of '{cell.metric}' in the certificate ({cell.scale.describe()}); if the scale changed, {AGAIN}"
    )


class CertifiedProbabilities(msgspec.Struct, frozen=True):
    """The verdict on probabilities, with the numbers behind it, and the refit where one is needed.

    Attributes:
        verdict: `hold`, `hold after refit`, `do not hold` or `too few labels`.
        n, groups: answers with a probability and a commonest label, and independent texts among them.
        confidence, right: mean probability of these answers, and the share that is right.
        margin, alpha: of the tests.
        map_intercept, map_slope: logit P(right) = intercept + slope logit probability; None unless the verdict is `hold after refit`.
    """

    verdict: ProbabilityVerdict
    n: int
    groups: int
    confidence: float | None
    right: float | None
    margin: float
    alpha: float
    map_intercept: float | None = None
    map_slope: float | None = None

    def __post_init__(self) -> None:
        if (self.verdict == REFITTED) != (self.map_intercept is not None and self.map_slope is not None):
            raise ValueError("a refit stands where the verdict on probabilities is 'hold after refit', and there only")
        numbers = [value for value in (self.confidence, self.right, self.map_intercept, self.map_slope) if value is not None]
        if not all(map(math.isfinite, numbers)) or not all(0 <= value <= 1 for value in (self.confidence, self.right) if value is not None):
            raise ValueError("the numbers of probabilities are finite, and shares are from 0 to 1")
        if self.map_slope is not None and self.map_slope <= 0:
            raise ValueError("a refit rises: its slope is above 0")

    def refitted(self, values: Floats) -> Floats:
        """Return probabilities (items,) after the refit, where there is one; NaN stays NaN."""
        if self.map_intercept is None or self.map_slope is None:
            return values
        return np.where(np.isnan(values), math.nan, Platt(self.map_intercept, self.map_slope)(np.nan_to_num(values, nan=0.5)))


class BelievedProbabilities(msgspec.Struct, frozen=True, eq=False):
    """Probabilities of new answers that may be believed.

    Attributes:
        values: (items,) how likely each answer is people's commonest label; NaN where none was given.
        refitted: whether they were refitted, because the raw ones do not hold.
        verdict: on the raw ones.
        unchecked: what of judge, prompt and rubric could not be compared with the certificate.
    """

    values: Floats
    refitted: bool
    verdict: ProbabilityVerdict
    unchecked: tuple[str, ...]


def certified_probabilities(judged: JudgedTable, condition: JudgeCondition) -> dict[tuple[str, str], CertifiedProbabilities]:
    """Return what is certified of the probabilities of one judge under one condition, by language and metric."""
    options = ProbabilityOptions()
    cells: Iterable[CellProbabilities] = probabilities_of_table(judged, options)[0]
    certified = {}
    for cell in cells:
        if JudgeCondition.of(cell.key) == condition:
            refit = cell.refit if cell.verdict == REFITTED else None
            certified[str(cell.key["language"]), str(cell.key["metric"])] = CertifiedProbabilities(
                cell.verdict,
                cell.n,
                cell.groups,
                cell.confidence,
                cell.right,
                options.margin,
                options.alpha,
                None if refit is None else refit.map_intercept,
                None if refit is None else refit.map_slope,
            )
    return certified


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
