"""Maps from a judge's scores to people's, text by text: how good scores are before and after a map, by language, and label sets.

Maps are judged on texts that they have not seen, by cross-fitting over groups. A gain counts only if the map is better than the raw scores
and than the same map without the judge's score: class shares alone "calibrate" a judge that knows nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.correction.cell_results import UnreadCells, choose_condition, copied_sentences, refuse_unread, split_unread
from harness.correction.correction_options import CalibrateOptions
from harness.correction.score_maps import METHODS, Curve, LabelSets, LearntMap, MapInput, SetMaker, cross_fitted, map_inputs
from harness.data.dataset import Dataset
from harness.errors import UsageError
from harness.measure.compare import Recording, align, judged_tables
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.judged_table import JudgedTable
from harness.measure.options import POOLED, Annotators, MeasureOptions
from harness.model import JudgeCondition
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.calibration import group_folds
from harness.stats.estimation.map_quality import Gap, brier_losses, brier_parts, gain_test, gap_best_worst, mean_calibration_error
from harness.stats.estimation.score_maps import isotonic_points
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.intervals.intervals import MIN_GROUPS, t_quantile
from harness.stats.intervals.multiplicity import holm

FOLDS, ALPHA, LEAST_GROUPS, CHANCE_DRAWS = 5, 0.05, 20, 20_000
Advice = Literal["use the map", "leave the scores as they are", "refused: the map falls", "too few groups"]
FEW_GROUPS = f"Fewer than {LEAST_GROUPS} independent groups in a language are too few to show a gain; more labels would help."
NO_TAU = "Within a language a rising map keeps the order of texts: no gain in Kendall's τ is claimed."
GAIN_RULE = (
    f"A gain is shown where the map is better than the raw scores and than the same map without the judge's score, each at {ALPHA:g} "
    "after Holm over the languages of a metric; elsewhere leave the scores as they are."
)
NOT_DECLARED = "The labelled texts are not declared to be a random sample: what is said here is of texts like them, drawn in the same way."

Bounds = tuple[float, float]


class CalibratedCell(msgspec.Struct, frozen=True, kw_only=True):
    """One language (`*`: all of them) of a metric.

    Attributes:
        language: its tag.
        n, labels, groups: labelled texts that the judge scored, their labels, and independent groups.
        before, after: how good the raw scores are, and the map's predictions of texts that it has not seen.
        over_scores, over_constant: by how much the map lowers the loss, against raw scores and against the map without the score.
        p: the larger of both one-sided p-values; `q` is corrected over the languages of the metric. None with fewer than two groups.
        advice: what to do; `shown` where it is "use the map".
        curve: the map, learnt from all labelled texts; None of all languages together, since each has its own.
        sets: label sets; None of all languages together.
    """

    language: str
    n: int
    labels: int
    groups: int
    before: ScoreQuality
    after: ScoreQuality
    over_scores: float | None
    over_constant: float | None
    p: float | None
    q: float | None
    advice: Advice
    curve: Curve | None
    sets: LabelSets | None

    @property
    def shown(self) -> bool:
        return self.advice == "use the map"


class CalibratedMetric(msgspec.Struct, frozen=True, kw_only=True):
    """One metric under one condition.

    Attributes:
        key: that of a cell (`CELL`) without its language.
        kind: of the scale; `loss` is Brier's score of classes or the squared error of numbers.
        read: what of the judge the map reads: `score`, or `expected score` by its token probabilities.
        method: the kind of map, in words.
        cells: one a language; `overall` is all of them.
        gap_before, gap_after: the gap between the best and the worst language in agreement (of numbers in squared error), with what chance
            alone makes; None with fewer than two languages, and where one of them does not vary.
    """

    key: dict[str, Any]
    kind: str
    loss: Literal["Brier score", "squared error"]
    read: str
    method: str
    cells: tuple[CalibratedCell, ...]
    overall: CalibratedCell
    gap_before: Gap | None
    gap_after: Gap | None


class Calibrated(msgspec.Struct, frozen=True):
    """All metrics of a judge, with what is needed to make them again; `unread` are cells without maps: most answers cannot be read.

    `warnings` are what a reader has to know: texts that are left out, and what the promise of the sets assumes.
    """

    signature: str
    sampling: str
    level: float
    promise: str
    metrics: tuple[CalibratedMetric, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    unread: tuple[UnreadCells, ...] = ()
    copied: tuple[str, ...] = ()
    schema_version: int = 1

    def as_json(self) -> dict[str, Any]:
        """Return one object: `{schema_version, signature, sampling, level, promise, metrics, warnings, notes, unread, copied}`."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        for metric in fields["metrics"]:
            metric |= metric.pop("key")
        return fields | {"unread": [cells.flat() for cells in self.unread]}


def calibrate(source: Recording, compare: MeasureOptions, options: CalibrateOptions = CalibrateOptions()) -> Calibrated:
    """Learn maps from a judge's scores to people's, and measure how much better scores become by them.

    Raises UsageError for several judges or conditions, with what to choose; where there is nothing to learn from; and as `measure.compare`.
    Raises JudgeError where most of the judge's answers cannot be read.
    """
    compare = _count_single_labels(compare)
    aligned = align([source], compare)
    judged = aligned.tables[0]
    inputs, unread = judge_inputs(judged, compare, options)
    metrics = [calibrate_metric(map_input, options) for map_input in inputs]
    if not metrics:
        raise UsageError("nothing to calibrate: the judge has no readable score of a labelled text; see 'harness compare'")
    sampling = source.data.about.sampling
    few = any(cell.advice == "too few groups" for metric in metrics for cell in metric.cells)
    warnings = []
    for map_input in inputs:  # no map is learnt from texts whose answer cannot be read or is off the scale
        labelled = sum(int(cell.labelled.sum()) for cell in map_input.cells)
        if labelled > len(map_input):
            name, without = str(map_input.key["metric"]).replace("_", " "), f"{labelled - len(map_input):,} of {labelled:,} labelled texts"
            warnings.append(f"{name}: {without} have no readable score on the scale, and are left out.")
    if sampling != "random":
        warnings.append(NOT_DECLARED)
    notes = (*aligned.notes, *([FEW_GROUPS] if few else []), GAIN_RULE, NO_TAU)
    signature, copied = aligned.signed(use=str(options)), copied_sentences(aligned)
    return Calibrated(signature, sampling, options.sets.level, options.sets.promise, tuple(metrics), tuple(warnings), notes, unread, copied)


def metrics_of_all_judges(source: Recording, compare: MeasureOptions, options: CalibrateOptions) -> list[CalibratedMetric]:
    """Return every metric of every judge and condition but baselines, as `calibrate` has it. Raises UsageError as `measure.compare`."""
    [judged] = judged_tables([source], _count_single_labels(compare))
    by_condition: dict[JudgeCondition, list[ItemTable]] = {}
    for cell in split_unread(item_tables(judged))[0]:
        if not cell.is_baseline:
            by_condition.setdefault(cell.condition, []).append(cell)
    return [calibrate_metric(map_input, options) for cells in by_condition.values() for map_input in map_inputs(cells)]


def _count_single_labels(compare: MeasureOptions) -> MeasureOptions:
    """Return the options with texts of one annotator too: maps are learnt from single labels and need no aggregate."""
    return replace(compare, annotators=compare.annotators or Annotators(1))


def judge_inputs(judged: JudgedTable, compare: MeasureOptions, options: CalibrateOptions) -> tuple[list[MapInput], tuple[UnreadCells, ...]]:
    """Return what maps of one judge and condition are learnt from, by metric, and the cells that are left out. Raises as `calibrate`."""
    cells = list(item_tables(judged))
    condition = choose_condition([cell.condition for cell in cells], compare.judges, "calibrate")
    readable, unread = refuse_unread((cell for cell in cells if cell.condition == condition), "no map is learnt from the scores")
    return map_inputs(readable, text_lengths(judged.data) if options.covariate else None), unread


def text_lengths(data: Dataset) -> Floats:
    """Return (items,) characters of each item's output; NaN of an item with two. Raises UsageError where there are no texts."""
    texts = (item.fields.get(names[0]) if len(names := data.outputs_of(item)) == 1 else None for item in data.items)
    lengths = np.array([float(len(text)) if isinstance(text, str) and text else np.nan for text in texts])
    if np.isnan(lengths).all():
        raise UsageError("--with length needs texts, and the items have no output; leave it out")
    return lengths


def calibrate_metric(map_input: MapInput, options: CalibrateOptions = CalibrateOptions()) -> CalibratedMetric:
    """Return the maps of one metric, held against its labels."""
    if options.covariate and map_input.kind != "ordered":
        raise UsageError(f"--with length is for ordered classes, and {map_input.key['metric']} has none; choose with --where metric=NAME")
    folds = min(FOLDS, len(np.unique(map_input.group)))
    fold: Ints = group_folds(map_input.group, folds, seed=options.seed) if folds > 1 else np.zeros(len(map_input), np.int64)
    predicted, learnt = cross_fitted(map_input, fold, rule=options.numbers)
    constant, _ = cross_fitted(map_input, fold, rule=options.numbers, with_score=False)
    predictions = MapPredictions(map_input, learnt, predicted, constant)
    rows = [map_input.language == language for language in range(len(map_input.cells))]
    gains = [compare_losses(predictions, selected) for selected in rows]
    is_tested = [gain is not None and _has_enough_groups(map_input, selected) for gain, selected in zip(gains, rows, strict=True)]
    q = holm([gain.p if gain and tested else np.nan for gain, tested in zip(gains, is_tested, strict=True)])
    sets = SetMaker(map_input, learnt, options.sets, options.numbers)
    cells = tuple(
        _calibrate_cell(predictions, selected, name, gains[language], float(q[language]), language in learnt.falls, sets.make(language))
        for language, (selected, name) in enumerate(zip(rows, map_input.languages, strict=True))
        if selected.any()
    )
    all_texts = np.ones(len(map_input), bool)
    gain = compare_losses(predictions, all_texts)
    all_fall = len(learnt.falls) == len(cells)
    overall = _calibrate_cell(predictions, all_texts, POOLED, gain, np.nan if gain is None else gain.p, all_fall, None)
    method = METHODS[map_input.kind].format({"linear": "a line", "isotonic": "a rising function"}.get(options.numbers, options.numbers))
    return CalibratedMetric(
        key=map_input.key,
        kind=map_input.kind,
        loss="squared error" if map_input.kind == "numbers" else "Brier score",
        read=map_input.read,
        method=f"{method}; reads the {map_input.read}{' and the length' if options.covariate else ''}",
        cells=cells,
        overall=overall,
        gap_before=_gap_over_languages([cell.before for cell in cells], options.seed),
        gap_after=_gap_over_languages([cell.after for cell in cells], options.seed),
    )


def _has_enough_groups(map_input: MapInput, selected: Any) -> bool:
    return len(np.unique(map_input.group[selected])) >= LEAST_GROUPS


def _calibrate_cell(
    predictions: MapPredictions, selected: Any, language: str, gain: LossGains | None, q: float, falls: bool, sets: LabelSets | None
) -> CalibratedCell:
    """Return the result for some texts: their gains, the corrected p of these (NaN: none), and whether the map falls there."""
    map_input = predictions.texts
    advice: Advice = "leave the scores as they are"
    if falls:
        advice = "refused: the map falls"
    elif not _has_enough_groups(map_input, selected):
        advice = "too few groups"
    elif q <= ALPHA:
        advice = "use the map"
    gains: dict[str, Any] = dict.fromkeys(LossGains._fields) if gain is None else gain._asdict()
    return CalibratedCell(
        language=language,
        n=int(selected.sum()),
        labels=int(map_input.counts[selected].sum()),
        groups=len(np.unique(map_input.group[selected])),
        before=measure_quality(predictions, selected, raw=True),
        after=measure_quality(predictions, selected, raw=False),
        **gains,
        q=None if np.isnan(q) else q,
        advice=advice,
        curve=None if sets is None else predictions.learnt.curve(int(map_input.language[selected][0])),
        sets=sets,
    )


def _gap_over_languages(sides: Sequence[ScoreQuality], seed: int) -> Gap | None:
    pairs = [(side.compared, side.compared_error) for side in sides if side.compared is not None]
    if len(pairs) < 2 or not all(error for _, error in pairs):  # without one of them it would be the gap of others
        return None
    values, errors = zip(*pairs, strict=True)
    return gap_best_worst(values, errors, draws=CHANCE_DRAWS, seed=seed)


class ScoreQuality(msgspec.Struct, frozen=True, kw_only=True):
    """The quality of scores before or after a map, over the texts of one language. Undefined numbers are None.

    Attributes:
        agreement: share of people's labels that the score equals; after the map, that its most probable class equals. None of numbers.
        loss: Brier's score, or the mean squared error of numbers; = miscalibration - discrimination + uncertainty (CORP).
        error, error_ci: calibration error without its bias, in points of the scale: how far people's mean is from the score, or from the
            expected score of the map; of named classes, how far agreement is from the probability of the most probable class.
        leniency, leniency_ci: score minus people's mean in points, positive towards the best score; None of named classes.
        compared, compared_error: the number that languages are compared by, agreement or loss, with its standard error.
    """

    agreement: float | None
    loss: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    error: float
    error_ci: Bounds | None
    leniency: float | None
    leniency_ci: Bounds | None
    compared: float | None
    compared_error: float | None


class LossGains(NamedTuple):
    """The amount by which a map lowers the loss against raw scores and against the map without the score; `p` is the larger one-sided p."""

    over_scores: float
    over_constant: float
    p: float


@dataclass(frozen=True, eq=False)
class MapPredictions:
    """Texts with the predictions of the map of the other folds, (n, k) or (n,), and of the same map without the judge's score."""

    texts: MapInput
    learnt: LearntMap
    predicted: Floats
    constant: Floats


def compare_losses(predictions: MapPredictions, selected: NDArray[np.bool_]) -> LossGains | None:
    """Return the gains over some texts; None with fewer than two groups."""
    texts = predictions.texts.take(selected)
    if len(np.unique(texts.group)) < 2:
        return None
    raw, mapped, constant = (
        _compute_losses(texts, predicted)
        for predicted in (_raw_predictions(texts), predictions.predicted[selected], predictions.constant[selected])
    )
    over_scores, over_constant = (gain_test(losses, mapped, texts.group) for losses in (raw, constant))
    return LossGains(over_scores.mean, over_constant.mean, max(over_scores.p_above(0), over_constant.p_above(0)))


def _raw_predictions(texts: MapInput) -> Floats:
    """Return raw scores as predictions: with certainty the class that was given, or the number."""
    return texts.x if texts.kind == "numbers" else texts.answers


def _compute_losses(texts: MapInput, predicted: Floats) -> Floats:
    return np.asarray((predicted - texts.mean) ** 2) if texts.kind == "numbers" else brier_losses(predicted, texts.counts)


def measure_quality(predictions: MapPredictions, selected: NDArray[np.bool_], *, raw: bool) -> ScoreQuality:
    """Return how good raw scores, or the map's predictions, are over some texts (at least one)."""
    texts = predictions.texts.take(selected)
    predicted = _raw_predictions(texts) if raw else predictions.predicted[selected]
    losses = _compute_losses(texts, predicted)
    if texts.kind == "numbers":
        agreement: Floats | None = None
        expected: Floats | None = predicted
        loss, uncertainty = float(losses.mean()), float(texts.mean.var())
        recalibrated = np.interp(predicted, *isotonic_points(predicted, texts.mean))
        least = float(_compute_losses(texts, recalibrated).mean())
        parts = {"miscalibration": loss - least, "discrimination": uncertainty - least, "uncertainty": uncertainty}
    else:
        top, rows = predicted.argmax(axis=1), np.arange(len(texts))
        shares = texts.counts / texts.counts.sum(axis=1, keepdims=True)
        agreement = np.asarray((predicted * shares).sum(axis=1) if raw else shares[rows, top])
        expected = None if texts.values is None else np.asarray(predicted @ texts.values)
        parts = brier_parts(predicted, texts.counts)
    compared = cluster_mean(losses if agreement is None else agreement, texts.group)
    leniency = leniency_ci = None
    if expected is None:  # of named classes: the probability of the most probable one, and its share of the labels
        error = mean_calibration_error(predicted.max(axis=1), shares[rows, top], texts.group)
    else:
        error = mean_calibration_error(expected, texts.mean, texts.group)
        leniency = cluster_mean((expected - texts.mean) * texts.direction, texts.group)
        if leniency.groups >= MIN_GROUPS:
            half_width = t_quantile(0.95, leniency.interval_freedom) * leniency.error
            leniency_ci = leniency.mean - half_width, leniency.mean + half_width
    return ScoreQuality(
        agreement=None if agreement is None else float(agreement.mean()),
        loss=float(losses.mean()),
        **parts,
        error=error.error,
        error_ci=error.ci,
        leniency=None if leniency is None else leniency.mean,
        leniency_ci=leniency_ci,
        compared=compared.mean,
        compared_error=None if math.isnan(compared.error) else compared.error,
    )
