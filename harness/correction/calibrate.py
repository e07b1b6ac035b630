"""What a judge's scores are worth, text by text: maps to people's scores, before and after by language, and label sets.

Maps are judged on texts that they have not seen, by cross-fitting over groups. A gain counts only if the map is better than the raw scores
and than the same map without the judge's score: class shares alone "calibrate" a judge that knows nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import msgspec
import numpy as np

from harness.correction.before_after import AfterMap, ComparedLosses, Side, compared_losses, side_of
from harness.correction.cell_results import one_condition
from harness.correction.label_sets import LabelSets, SetMaker
from harness.correction.map_input import MapInput, map_inputs
from harness.correction.options import CalibrateOptions
from harness.correction.score_curves import Curve
from harness.correction.score_maps import METHODS, cross_fitted
from harness.correction.unread_cells import UnreadCells, refuse_unread, split_unread
from harness.data.dataset import Dataset
from harness.errors import UsageError
from harness.measure.compare import Recording, align, judged_data
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.judged_table import JudgedTable
from harness.measure.options import POOLED, Annotators, MeasureOptions
from harness.model import JudgeCondition
from harness.stats import group_folds, holm
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.map_quality import Gap, gap_best_worst

FOLDS, ALPHA, LEAST_GROUPS, CHANCE_DRAWS = 5, 0.05, 20, 20_000
Advice = Literal["use the map", "leave the scores as they are", "refused: the map falls", "too few groups"]
FEW_GROUPS = f"Fewer than {LEAST_GROUPS} independent groups in a language are too few to show a gain; more labels would help."
NO_TAU = "Within a language a rising map keeps the order of texts: no gain in Kendall's τ is claimed."
GAIN_RULE = (
    f"A gain is shown where the map is better than the raw scores and than the same map without the judge's score, each at {ALPHA:g} "
    "after Holm over the languages of a metric; elsewhere leave the scores as they are."
)
NOT_DECLARED = "The labelled texts are not declared to be a random sample: what is said here is of texts like them, drawn in the same way."


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
    before: Side
    after: Side
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
    """All metrics of a judge, with what is needed to make them again; `unread` are cells without maps: most answers cannot be read."""

    signature: str
    sampling: str
    level: float
    promise: str
    metrics: tuple[CalibratedMetric, ...]
    notes: tuple[str, ...]
    unread: tuple[UnreadCells, ...] = ()
    schema_version: int = 1

    def as_json(self) -> dict[str, Any]:
        """One object for programs: `{schema_version, signature, sampling, level, promise, metrics, notes, unread}`."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        for metric in found["metrics"]:
            metric |= metric.pop("key")
        return found | {"unread": [each.flat() for each in self.unread]}


def calibrate(source: Recording, compare: MeasureOptions, options: CalibrateOptions = CalibrateOptions()) -> Calibrated:
    """Learn maps from a judge's scores to people's, and say what they are worth.

    Raises UsageError for several judges or conditions, with what to choose; where there is nothing to learn from; and as `measure.compare`.
    Raises JudgeError where most of the judge's answers cannot be read.
    """
    compare = _single_labels(compare)
    laid_out = align([source], compare)
    judged = laid_out.judged[0]
    inputs, unread = judge_inputs(judged, compare, options)
    found = [calibrated_metric(given, options) for given in inputs]
    if not found:
        raise UsageError("nothing to calibrate: the judge has no readable score of a labelled text; see 'harness compare'")
    sampling = source.data.about.sampling
    few = any(cell.advice == "too few groups" for metric in found for cell in metric.cells)
    notes = (
        *laid_out.notes,
        *_left_out(inputs),
        *([FEW_GROUPS] if few else []),
        GAIN_RULE,
        NO_TAU,
        *([] if sampling == "random" else [NOT_DECLARED]),
    )
    return Calibrated(laid_out.signed(use=str(options)), sampling, options.sets.level, options.sets.promise, tuple(found), notes, unread)


def _left_out(inputs: Sequence[MapInput]) -> Iterator[str]:
    """How many labelled texts no map is learnt from, because the judge's answer cannot be read or is off the scale."""
    for given in inputs:
        labelled = sum(int(cell.labelled.sum()) for cell in given.cells)
        if labelled > len(given):
            without = f"{labelled - len(given):,} of {labelled:,} labelled texts"
            yield f"{str(given.key['metric']).replace('_', ' ')}: {without} have no readable score on the scale, and are left out."


def metrics_of_all_judges(source: Recording, compare: MeasureOptions, options: CalibrateOptions) -> list[CalibratedMetric]:
    """Every metric of every judge and condition but baselines, each as `calibrate` has it. Raises UsageError as `measure.compare`."""
    [judged] = judged_data([source], _single_labels(compare))
    by_condition: dict[JudgeCondition, list[ItemTable]] = {}
    for cell in split_unread(item_tables(judged))[0]:
        if not cell.is_baseline:
            by_condition.setdefault(cell.condition, []).append(cell)
    return [calibrated_metric(given, options) for cells in by_condition.values() for given in map_inputs(cells)]


def _single_labels(compare: MeasureOptions) -> MeasureOptions:
    """Texts with one annotator count too: maps are learnt from single labels and need no aggregate."""
    return replace(compare, annotators=compare.annotators or Annotators(1))


def judge_inputs(judged: JudgedTable, compare: MeasureOptions, options: CalibrateOptions) -> tuple[list[MapInput], tuple[UnreadCells, ...]]:
    """Return what maps of one judge and condition are learnt from, by metric, and the cells that are left out. Raises as `calibrate`."""
    cells = list(item_tables(judged))
    condition = one_condition([cell.condition for cell in cells], compare.judges, "calibrate")
    readable, unread = refuse_unread((cell for cell in cells if cell.condition == condition), "no map is learnt from the scores")
    return map_inputs(readable, text_lengths(judged.data) if options.covariate else None), unread


def text_lengths(data: Dataset) -> Floats:
    """(items,) characters of each item's output; NaN of an item with two. Raises UsageError where there are no texts."""
    texts = (item.fields.get(names[0]) if len(names := data.outputs_of(item)) == 1 else None for item in data.items)
    found = np.array([float(len(text)) if isinstance(text, str) and text else np.nan for text in texts])
    if np.isnan(found).all():
        raise UsageError("--with length needs texts, and the items have no output; leave it out")
    return found


def calibrated_metric(given: MapInput, options: CalibrateOptions = CalibrateOptions()) -> CalibratedMetric:
    """The maps of one metric, held against its labels."""
    if options.covariate and given.kind != "ordered":
        raise UsageError(f"--with length is for ordered classes, and {given.key['metric']} has none; choose with --where metric=NAME")
    after = _after(given, options)
    rows = [given.language == at for at in range(len(given.cells))]
    losses = [compared_losses(after, own) for own in rows]
    q = holm([np.nan if one is None or not _enough(given, own) else one.p for one, own in zip(losses, rows, strict=True)])
    sets = SetMaker(given, after.learnt, options.sets, options.numbers)
    cells = tuple(
        _cell(after, own, name, losses[at], float(q[at]), at in after.learnt.falls, sets.of(at))
        for at, (own, name) in enumerate(zip(rows, given.languages, strict=True))
        if own.any()
    )
    every = np.ones(len(given), bool)
    tested = compared_losses(after, every)
    all_fall = len(after.learnt.falls) == len(cells)
    overall = _cell(after, every, POOLED, tested, np.nan if tested is None else tested.p, all_fall, None)
    method = METHODS[given.kind].format({"linear": "a line", "isotonic": "a rising function"}.get(options.numbers, options.numbers))
    return CalibratedMetric(
        key=given.key,
        kind=given.kind,
        loss="squared error" if given.kind == "numbers" else "Brier score",
        read=given.read,
        method=f"{method}; reads the {given.read}{' and the length' if options.covariate else ''}",
        cells=cells,
        overall=overall,
        gap_before=_gap([cell.before for cell in cells], options.seed),
        gap_after=_gap([cell.after for cell in cells], options.seed),
    )


def _after(given: MapInput, options: CalibrateOptions) -> AfterMap:
    folds = min(FOLDS, len(np.unique(given.group)))
    fold: Ints = group_folds(given.group, folds, seed=options.seed) if folds > 1 else np.zeros(len(given), np.int64)
    predicted, learnt = cross_fitted(given, fold, rule=options.numbers)
    constant, _ = cross_fitted(given, fold, rule=options.numbers, with_score=False)
    return AfterMap(given, learnt, predicted, constant)


def _enough(given: MapInput, own: Any) -> bool:
    return len(np.unique(given.group[own])) >= LEAST_GROUPS


def _cell(
    after: AfterMap, own: Any, language: str, losses: ComparedLosses | None, q: float, falls: bool, sets: LabelSets | None
) -> CalibratedCell:
    """Some texts with their gains, the corrected p of these (NaN: none), and whether the map falls there."""
    given = after.given
    advice: Advice = "leave the scores as they are"
    if falls:
        advice = "refused: the map falls"
    elif not _enough(given, own):
        advice = "too few groups"
    elif q <= ALPHA:
        advice = "use the map"
    gains: dict[str, Any] = dict.fromkeys(ComparedLosses._fields) if losses is None else losses._asdict()
    return CalibratedCell(
        language=language,
        n=int(own.sum()),
        labels=int(given.counts[own].sum()),
        groups=len(np.unique(given.group[own])),
        before=side_of(after, own, raw=True),
        after=side_of(after, own, raw=False),
        **gains,
        q=None if np.isnan(q) else q,
        advice=advice,
        curve=None if sets is None else after.learnt.curve(int(given.language[own][0])),
        sets=sets,
    )


def _gap(sides: Sequence[Side], seed: int) -> Gap | None:
    known = [(side.compared, side.compared_error) for side in sides if side.compared is not None]
    if len(known) < 2 or not all(error for _, error in known):  # without one of them it would be the gap of others
        return None
    values, errors = zip(*known, strict=True)
    return gap_best_worst(values, errors, draws=CHANCE_DRAWS, seed=seed)
