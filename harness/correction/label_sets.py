"""Label sets with a guarantee: for a new text, the scores among which a person's score is with a promised probability.

The threshold of a language comes from labels that the map has not seen: from all of its labels where the map is that of the other
languages, from a random half of its groups where it has enough of them, or is alone.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.correction.options import Per, SetOptions
from harness.correction.score_maps import Curve, LearntMap, MapInput, NumberLine, learn, score_of
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.conformal import (
    TOLERANCE,
    least_groups,
    ordered_nonconformity,
    rank_for_this_draw,
    threshold_by_group,
    threshold_by_size,
    threshold_one_per_group,
)
from harness.stats.estimation.map_quality import label_rows
from harness.stats.estimation.number_map import NumberRule

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
    limit, count = _find_threshold(scores, groups, options), len(np.unique(groups))
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


def _find_threshold(scores: Floats, groups: Ints, options: SetOptions) -> float:
    if not len(scores):
        return math.inf
    if options.this_draw is not None:
        rng = np.random.default_rng(options.seed)
        order = rng.permutation(len(scores))
        picked = scores[order][np.unique(groups[order], return_index=True)[1]]
        rank = rank_for_this_draw(len(picked), options.miscoverage, confidence=options.this_draw)
        return threshold_one_per_group(picked, options.miscoverage, rank=rank) if rank else math.inf
    by = threshold_by_group if options.per == "group" else threshold_by_size
    return by(scores, groups, options.miscoverage)


def sets_at(probabilities: Floats, kind: str, threshold: float | None) -> np.ndarray:
    """Return (n, k) whether each class is in the set of each text; an empty set gets its least nonconforming class, unknown ones all."""
    distances = nonconformity(probabilities, kind)
    unknown = np.isnan(distances).any(axis=1)
    inside = np.ones_like(distances, bool) if threshold is None else distances <= threshold + TOLERANCE
    empty = np.flatnonzero(~inside.any(axis=1) & ~unknown)
    inside[empty, distances[empty].argmin(axis=1)] = True
    inside[unknown] = True
    return inside
