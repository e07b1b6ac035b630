"""Maps from a judge's scores to people's: their input as arrays, their curves as a few numbers, and how they are learnt.

A map is learnt by the kind of the scale: all languages together, each with a curve of its own that a certificate can hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.correction.cell_results import over_languages
from harness.correction.correction_options import Per, SetOptions
from harness.measure.item_table import ItemTable
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.map_quality import (
    TOLERANCE,
    label_rows,
    least_groups,
    ordered_nonconformity,
    rank_for_this_draw,
    threshold_by_group,
    threshold_by_size,
    threshold_one_per_group,
)
from harness.stats.estimation.score_maps import (
    LabelledScores,
    NominalMap,
    NumberMap,
    NumberRule,
    OrdinalMap,
    class_probabilities_at,
    cross_fitted_map,
    fit_nominal_map,
    fit_number_map,
    fit_ordinal_map,
)

METHODS = {
    "ordered": "proportional odds, languages partly pooled",
    "named": "shares of classes by answer, languages partly pooled",
    "numbers": "{}, shifts of languages partly pooled",
}
_STEPS_A_SD = 100
"""Scores are rounded to this part of their standard deviation where more are different, so that fits count rows."""

MapKind = Literal["ordered", "named", "numbers"]
MOST_ORDERED = 12
"""An interval scale with more different scores than this is mapped as numbers, and not class by class."""
SCORE, EXPECTED = "score", "expected score"
_SHARE_WITH_EXPECTED = 0.95


@dataclass(frozen=True, eq=False)
class LearntMap:
    """A map of one metric. The fit reads (score - centre) / unit, and has seen scores from the lowest to the highest of `scores`.

    `falls` has the codes of the languages in which it falls.
    """

    fitted: OrdinalMap | NominalMap | NumberMap
    centre: float
    unit: float
    falls: frozenset[int]
    scores: tuple[float, float]

    def predict(self, map_input: MapInput, language: int | None = None) -> Floats:
        """Return (n, k) probabilities of classes, or (n,) numbers, for the texts' languages or another code; -1 is an unseen language."""
        code: Any = map_input.language if language is None else language
        if isinstance(self.fitted, OrdinalMap):
            return self.fitted.probabilities((map_input.x - self.centre) / self.unit, code, map_input.covariates)
        if isinstance(self.fitted, NominalMap):
            return self.fitted.probabilities(map_input.x, np.broadcast_to(code, len(map_input)))
        return self.fitted.predict(map_input.x, code)

    def curve(self, language: int) -> Curve:
        """Return the map of one language (-1: one that was not seen) as the numbers that a certificate holds."""
        fitted = self.fitted
        if isinstance(fitted, OrdinalMap):
            slope, shift = fitted.slope, 0.0
            if language >= 0:
                slope, shift = slope + float(fitted.slopes[language]), float(fitted.shifts[language])
            slope /= self.unit
            return ClassCurve(tuple((fitted.cuts - shift + slope * self.centre).tolist()), slope, tuple(fitted.further.tolist()))
        if isinstance(fitted, NominalMap):
            return ClassTable(tuple(tuple(row) for row in fitted.tables[language].tolist()))
        low, high = self.scores
        x = fitted.x if len(fitted.x) > 2 else np.unique([low, high])
        return NumberLine(tuple(x.tolist()), tuple(fitted.predict(x, language).tolist()))


def learn(map_input: MapInput, *, rule: NumberRule = "linear", with_score: bool = True, near: LearntMap | None = None) -> LearntMap:
    """Return the map of all texts (at least one).

    `with_score` False learns the same map without the judge's score. Spreads are sought `near` a map of most of the same texts.
    """
    centre, unit = (near.centre, near.unit) if near else _centre_and_unit(map_input.x)
    fitted: OrdinalMap | NominalMap | NumberMap
    if map_input.kind == "ordered":
        start = near.fitted if near is not None and isinstance(near.fitted, OrdinalMap) else None
        fitted = fit_ordinal_map(_labelled_scores(map_input, centre, unit), with_score=with_score, start=start)
    elif map_input.kind == "named":
        k = map_input.counts.shape[1]
        answer = map_input.x if with_score else np.zeros(len(map_input))
        table = fit_nominal_map(
            answer, map_input.counts, map_input.language, languages=len(map_input.cells), answers=k if with_score else 1
        )
        fitted = table if with_score else NominalMap(np.repeat(table.tables, k, axis=1), table.weight)
    else:
        fitted = fit_number_map(map_input.x, map_input.mean, map_input.language, len(map_input.cells), rule if with_score else "constant")
    return _fitted_map(map_input, fitted, centre, unit)


def cross_fitted(map_input: MapInput, folds: Ints, *, rule: NumberRule = "linear", with_score: bool = True) -> tuple[Floats, LearntMap]:
    """Return the predictions by the other folds for each text, (n, k) or (n,), and the map of all texts; args as `learn`."""
    if map_input.kind == "ordered":
        centre, unit = _centre_and_unit(map_input.x)
        predicted, fitted = cross_fitted_map(_labelled_scores(map_input, centre, unit), folds, with_score=with_score)
        return predicted, _fitted_map(map_input, fitted, centre, unit)
    learnt = learn(map_input, rule=rule, with_score=with_score)
    predicted = learnt.predict(map_input)
    for fold in np.unique(folds):
        in_fold = folds == fold
        if not in_fold.all():
            predicted[in_fold] = learn(map_input.take(~in_fold), rule=rule, with_score=with_score).predict(map_input.take(in_fold))
    return predicted, learnt


def _fitted_map(map_input: MapInput, fitted: OrdinalMap | NominalMap | NumberMap, centre: float, unit: float) -> LearntMap:
    falls = frozenset() if isinstance(fitted, NominalMap) else frozenset(fitted.falls())
    return LearntMap(fitted, centre, unit, falls, (float(map_input.x.min()), float(map_input.x.max())))


def _centre_and_unit(x: Floats) -> tuple[float, float]:
    return float(x.mean()), float(x.std()) or 1.0


def _labelled_scores(map_input: MapInput, centre: float, unit: float) -> LabelledScores:
    x = (map_input.x - centre) / unit
    if len(np.unique(x)) > _STEPS_A_SD:
        x = np.round(x * _STEPS_A_SD) / _STEPS_A_SD
    return LabelledScores.of(x, map_input.counts, map_input.language, languages=len(map_input.cells), covariates=map_input.covariates)


class LengthScale(msgspec.Struct, frozen=True):
    """The length of a text as a map reads it: its logarithm in standard deviations from the mean of the labelled texts."""

    mean: float
    sd: float

    def __post_init__(self) -> None:
        _refuse_infinite((self.mean, self.sd))
        if self.sd <= 0:
            raise ValueError("the standard deviation of lengths is above 0")

    @classmethod
    def of(cls, characters: ArrayLike) -> LengthScale:
        """Return that of labelled texts with so many characters; NaN where there is no text."""
        logs = np.log1p(np.asarray(characters, np.float64))
        known_logs = logs[~np.isnan(logs)]
        return cls(float(known_logs.mean()), float(known_logs.std()) or 1.0) if len(known_logs) else cls(0.0, 1.0)

    def read(self, characters: ArrayLike) -> Floats:
        """Return (n, 1) lengths as maps read them, to a tenth; the mean where a length is NaN.

        >>> LengthScale(3.0, 0.5).read([100, float("nan")]).tolist()
        [[3.2], [0.0]]
        """
        logs = np.log1p(np.asarray(characters, np.float64))
        return np.asarray(np.round((np.where(np.isnan(logs), self.mean, logs) - self.mean) / self.sd, 1)[:, None])


class ClassCurve(msgspec.Struct, frozen=True, tag="proportional odds"):
    """Ordered classes: P(a person's class is at most k) = expit(cuts[k] - slope * score - further · covariates)."""

    cuts: tuple[float, ...]
    slope: float
    further: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _refuse_infinite((*self.cuts, self.slope, *self.further))
        if any(lower > upper for lower, upper in pairwise(self.cuts)):
            raise ValueError("the cuts of a curve rise")

    def predict(self, scores: ArrayLike, covariates: Floats | None = None) -> Floats:
        """Return (n, k) probabilities of people's classes; NaN where the judge's score is NaN.

        `covariates` (n, q) are as the map was learnt from them. Raises ValueError where the curve has coefficients and they are absent.
        """
        eta = self.slope * np.asarray(scores, np.float64)
        if self.further:
            if covariates is None:
                raise ValueError("the curve reads covariates")
            eta = eta + covariates @ np.array(self.further)
        return class_probabilities_at(self.cuts, eta)


class ClassTable(msgspec.Struct, frozen=True, tag="shares"):
    """Classes without order: `shares[answer][class]` of people's classes among texts that the judge gave a class."""

    shares: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        for row in self.shares:
            _refuse_infinite(row)
            if min(row, default=-1) < 0 or not math.isclose(sum(row), 1, abs_tol=1e-6):
                raise ValueError("the shares of an answer lie between 0 and 1 and add up to 1")

    def predict(self, scores: ArrayLike, covariates: Floats | None = None) -> Floats:
        """Return (n, k) probabilities of people's classes at the judge's class codes; NaN where a code is NaN."""
        codes = np.asarray(scores, np.float64)
        is_answered = ~np.isnan(codes)
        table = np.vstack([self.shares, np.full(len(self.shares[0]), math.nan)])
        return np.asarray(table[np.where(is_answered, np.nan_to_num(codes), -1).astype(np.int64)], np.float64)


class NumberLine(msgspec.Struct, frozen=True, tag="line"):
    """Numbers: people's mean score, straight between the points (x, y); nothing outside them, where there were no labels."""

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        _refuse_infinite((*self.x, *self.y))
        if not self.x or len(self.x) != len(self.y) or any(lower >= upper for lower, upper in pairwise(self.x)):
            raise ValueError("the points of a line have rising x")

    def predict(self, scores: ArrayLike, covariates: Floats | None = None) -> Floats:
        """Return (n,) people's mean scores; NaN where the judge's score is NaN or outside the scores that had labels."""
        x = np.asarray(scores, np.float64)
        return np.asarray(np.interp(x, self.x, self.y, left=math.nan, right=math.nan) if len(self.x) > 1 else np.full(len(x), self.y[0]))


Curve = ClassCurve | ClassTable | NumberLine


def _refuse_infinite(numbers: tuple[float, ...]) -> None:
    if not all(map(math.isfinite, numbers)):
        raise ValueError("the numbers of a map are finite")


@dataclass(frozen=True, eq=False)
class MapInput:
    """One row for each text that has a label and a readable score.

    Attributes:
        key: that of a cell (`CELL`) without its language.
        kind: `ordered` classes, `named` classes (three or more without order), or `numbers`.
        read: what of the judge the map reads: its score, or the expected score by its token probabilities.
        cells: one a language, with all of the judge's texts, labelled or not.
        values: (k,) numbers of the classes; None of named classes and of numbers.
        x: (n,) the judge's score in points, or its class code where classes have names only.
        counts: (n, k) how many labels gave each class; empty columns where scores are numbers.
        mean: (n,) people's mean score in points; NaN of named classes.
        answers: (n, k) share of the judge's answers in each class.
        language, group: (n,) codes; languages are those of `cells`. `item`: (n,) positions among the items of the data.
        covariates: (n, q) as maps read them.
        lengths: (items of the data,) characters of texts, where their length is a covariate, read by `length_scale`.
    """

    key: dict[str, Any]
    kind: MapKind
    read: str
    cells: tuple[ItemTable, ...]
    values: Floats | None
    x: Floats
    counts: Floats
    mean: Floats
    answers: Floats
    language: Ints
    group: Ints
    item: Ints
    covariates: Floats
    lengths: Floats | None = None
    length_scale: LengthScale | None = None

    def __len__(self) -> int:
        return len(self.x)

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(str(cell.key["language"]) for cell in self.cells)

    @property
    def direction(self) -> int:
        """1 if higher scores are better or no score is best, -1 if lower ones are."""
        return self.cells[0].classes.direction or 1

    def covariates_of(self, item: Ints) -> Floats:
        """Return (items, q) the covariates of any items of the data, labelled or not."""
        if self.lengths is None or self.length_scale is None:
            return np.zeros((len(item), 0))
        return self.length_scale.read(self.lengths[item])

    def take(self, rows: ArrayLike) -> MapInput:
        """Return some of the texts; languages keep their codes."""
        indices = np.asarray(rows)
        names = ("x", "counts", "mean", "answers", "language", "group", "item", "covariates")
        return replace(self, **{name: getattr(self, name)[indices] for name in names})


def map_inputs(cells: Iterable[ItemTable], lengths: Floats | None = None) -> list[MapInput]:
    """Return the cells of one judge and condition, by metric; metrics without a labelled text that the judge scored are left out.

    `lengths` are the (items of the data,) characters of texts, where maps of ordered classes read them.
    """
    return [map_input for alike in over_languages(cells) if len(map_input := _build_input(alike, lengths))]


def score_of(cell: ItemTable, kind: MapKind, read: str) -> Floats:
    """Return (items,) what a map reads of each text; NaN where nothing can be read."""
    if read == EXPECTED:
        return cell.expected
    if kind == "named":
        return np.where(cell.answer < 0, math.nan, cell.answer)
    if kind == "ordered" and cell.values is None:  # two classes with names
        return np.asarray(cell.answer_shares @ np.arange(len(cell.classes.scores)))
    assert cell.means is not None
    return cell.means[1]


def values_of(cell: ItemTable) -> Floats | None:
    """Return (k,) numbers of a cell's classes as maps read them; 0 and 1 where two classes have names only."""
    if cell.classes.continuous:
        return None
    is_named = cell.values is None and len(cell.classes.scores) == 2
    return np.arange(2.0) if is_named else cell.values


def _build_input(cells: Sequence[ItemTable], lengths: Floats | None) -> MapInput:
    cells = sorted(cells, key=lambda cell: str(cell.key["language"]))
    cell = cells[0]
    if cell.classes.continuous or (cell.classes.kind == "interval" and len(cell.classes.scores) > MOST_ORDERED):
        kind: MapKind = "numbers"
    else:
        kind = "named" if values_of(cell) is None else "ordered"
    # The expected score where nearly all labelled texts that have a score have one.
    if kind != "ordered":
        read = SCORE
    else:
        scored = [cell.labelled & (cell.answers.sum(axis=1) > 0) for cell in cells]
        with_expected = sum(int((~np.isnan(cell.expected[rows])).sum()) for cell, rows in zip(cells, scored, strict=True))
        read = EXPECTED if 0 < with_expected >= _SHARE_WITH_EXPECTED * sum(int(rows.sum()) for rows in scored) else SCORE
    scores = [score_of(cell, kind, read) for cell in cells]
    used_rows = [cell.labelled & ~np.isnan(x) for cell, x in zip(cells, scores, strict=True)]
    used = [cell.take(np.flatnonzero(rows)) for cell, rows in zip(cells, used_rows, strict=True)]
    item = np.concatenate([cell.item for cell in used])
    values = values_of(cells[0]) if kind != "numbers" else None
    if values is not None:
        means = [np.asarray(cell.label_shares @ values) for cell in used]
    else:
        means = [np.full(len(cell), math.nan) if cell.means is None else cell.means[0] for cell in used]
    lengths = lengths if kind == "ordered" else None
    scale = None if lengths is None else LengthScale.of(lengths[item])
    return MapInput(
        key=cells[0].key_over_languages,
        kind=kind,
        read=read,
        cells=tuple(cells),
        values=values,
        x=np.concatenate([x[rows] for x, rows in zip(scores, used_rows, strict=True)]),
        counts=np.concatenate([cell.labels for cell in used]).astype(np.float64),
        mean=np.concatenate(means),
        answers=np.concatenate([cell.answer_shares for cell in used]),
        language=np.repeat(np.arange(len(used)), [len(cell) for cell in used]),
        group=np.concatenate([cell.group for cell in used]),
        item=item,
        covariates=np.zeros((len(item), 0)) if lengths is None or scale is None else scale.read(lengths[item]),
        lengths=lengths,
        length_scale=scale,
    )


SPLIT_FROM = 200
"""Languages with so many labelled groups learn from one half and set the threshold with the other; below, the others' map is used."""
OTHERS, HALVES, HALF_ALONE = "the other languages", "one half of the groups of all languages", "one half of the groups"


class LabelSets(msgspec.Struct, frozen=True):
    """The sets of one language.

    Attributes:
        level, per, this_draw: what they promise, as `SetOptions`.
        threshold: the largest nonconformity in a set; None: every score is in every set, and `reason` says why.
        curve: the map that nonconformity is measured by; it has not seen the labels that set the threshold.
        learnt_from: what that map was learnt from.
        groups, labels: independent groups and labels that set the threshold.
        mean_size: mean number of scores in the sets of the judge's texts, or mean length of intervals in points; None without any.
        whole: share of the judge's texts whose set says nothing, because it holds every score.
    """

    level: float
    per: Per
    this_draw: float | None
    threshold: float | None
    curve: Curve
    learnt_from: str
    groups: int
    labels: int
    mean_size: float | None = None
    whole: float | None = None
    reason: str | None = None


class SetMaker:
    """Makes the sets of each language of a metric.

    Where `map_of_all`, the map of all texts, falls in a language, the map without the judge's score is used there.
    """

    def __init__(self, map_input: MapInput, map_of_all: LearntMap, options: SetOptions, rule: NumberRule = "linear") -> None:
        self.map_input, self.map_of_all, self.options, self.rule = map_input, map_of_all, options, rule
        groups = np.unique(map_input.group)
        self.threshold_half = np.isin(map_input.group, np.random.default_rng(options.seed).permutation(groups)[: (len(groups) + 1) // 2])
        self.has_several_languages = len(np.unique(map_input.language)) > 1
        self.halves: dict[bool, LearntMap] = {}

    def make(self, language: int) -> LabelSets:
        """Return the sets of a language by its code; without a labelled text that the judge scored, every score."""
        map_input, options = self.map_input, self.options
        of_language = map_input.language == language
        groups, with_score = np.unique(map_input.group[of_language]), language not in self.map_of_all.falls
        if self.has_several_languages and len(groups) < SPLIT_FROM:
            learnt, used, learnt_from = self._learn_map(~np.isin(map_input.group, groups), with_score), of_language, OTHERS
        else:
            if with_score not in self.halves:
                self.halves[with_score] = self._learn_map(~self.threshold_half, with_score)
            learnt, used, learnt_from = (
                self.halves[with_score],
                self.threshold_half & of_language,
                HALVES if self.has_several_languages else HALF_ALONE,
            )
        curve = learnt.curve(-1 if learnt_from == OTHERS else language)
        nothing = LabelSets(options.level, options.per, options.this_draw, None, curve, learnt_from, 0, 0)
        return _find_sets(map_input, language, map_input.take(used), nothing, options)

    def _learn_map(self, rest: NDArray[np.bool_], with_score: bool) -> LearntMap:
        """Return the map of the rest of the texts; that of all where nothing would be left, since then no threshold is possible either."""
        texts = self.map_input.take(rest) if rest.any() else self.map_input
        return learn(texts, rule=self.rule, with_score=with_score, near=self.map_of_all)


def _find_sets(map_input: MapInput, language: int, used: MapInput, sets: LabelSets, options: SetOptions) -> LabelSets:
    # The nonconformity and the group of every label; of numbers, of every text's mean.
    predicted = sets.curve.predict(used.x, used.covariates)
    if isinstance(sets.curve, NumberLine):
        inside = ~np.isnan(predicted)  # a text outside the map's scores has no interval, like a new one there
        scores, groups = np.abs(used.mean - predicted)[inside], used.group[inside]
    else:
        text, y = label_rows(used.counts)
        scores, groups = nonconformity(predicted, used.kind)[text, y], used.group[text]
    if not len(scores):
        limit = math.inf
    elif options.this_draw is not None:
        rng = np.random.default_rng(options.seed)
        order = rng.permutation(len(scores))
        picked = scores[order][np.unique(groups[order], return_index=True)[1]]
        rank = rank_for_this_draw(len(picked), options.miscoverage, confidence=options.this_draw)
        limit = threshold_one_per_group(picked, options.miscoverage, rank=rank) if rank else math.inf
    else:
        by = threshold_by_group if options.per == "group" else threshold_by_size
        limit = by(scores, groups, options.miscoverage)
    count = len(np.unique(groups))
    if math.isfinite(limit):
        reason = None
    else:
        if options.this_draw is not None:
            needed = next(n for n in range(1, 100_000) if rank_for_this_draw(n, options.miscoverage, confidence=options.this_draw))
        else:
            needed = least_groups(options.miscoverage)
        if count < needed:
            reason = f"every score: {count} groups set the threshold, and {needed} are needed at {100 * options.level:g} %"
        else:
            reason = "every score: one more group could be as large as the largest, and would outweigh the misses that are allowed"
    sets = msgspec.structs.replace(sets, threshold=None if reason else limit, groups=count, labels=len(scores), reason=reason)
    # Mean size of the sets of all texts of the judge, labelled or not, and the share that says nothing.
    cell = map_input.cells[language]
    x = score_of(cell, map_input.kind, map_input.read)
    is_scored = ~np.isnan(x)
    predicted = sets.curve.predict(x[is_scored], map_input.covariates_of(cell.item[is_scored]))
    if not len(predicted):
        size, share_whole = None, None
    elif isinstance(sets.curve, NumberLine):
        nothing = np.isnan(predicted) if sets.threshold is not None else np.ones(len(predicted), bool)
        low, high = cell.classes.ends
        if sets.threshold is None or nothing.all():
            size, share_whole = None, float(nothing.mean())
        else:
            ends = np.clip(predicted[~nothing, None] + [-sets.threshold, sets.threshold], low, high)
            size, share_whole = float((ends[:, 1] - ends[:, 0]).mean()), float(nothing.mean())
    else:
        size = sets_at(predicted, map_input.kind, sets.threshold).sum(axis=1)
        size, share_whole = float(size.mean()), float((size == map_input.counts.shape[1]).mean())
    return msgspec.structs.replace(sets, mean_size=size, whole=share_whole)


def nonconformity(probabilities: Floats, kind: str) -> Floats:
    """Return (n, k) of each class: sets of ordered classes are unbroken, those of named ones have the most probable classes."""
    return ordered_nonconformity(probabilities) if kind == "ordered" else 1 - probabilities


def sets_at(probabilities: Floats, kind: str, threshold: float | None) -> np.ndarray:
    """Return (n, k) whether each class is in the set of each text; an empty set gets its least nonconforming class, unknown ones all."""
    distances = nonconformity(probabilities, kind)
    unknown = np.isnan(distances).any(axis=1)
    inside = np.ones_like(distances, bool) if threshold is None else distances <= threshold + TOLERANCE
    empty = np.flatnonzero(~inside.any(axis=1) & ~unknown)
    inside[empty, distances[empty].argmin(axis=1)] = True
    inside[unknown] = True
    return inside
