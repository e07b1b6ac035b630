"""The number of texts to label: still, for an interval of a given width and for a verdict, or before any judge was asked."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean, median
from typing import Any

import msgspec
import numpy as np

from harness.content.tags import choose_from
from harness.correction.cell_results import CellResults, KeyedRow, UnreadCells, refuse_unread
from harness.correction.correction_options import LabelBudgetOptions, SampleOptions
from harness.correction.mean_estimates import NewLanguage, new_languages
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.decide.cell_tests import CellTests
from harness.decide.options import DecisionOptions
from harness.decide.verdict_rule import COPIES, NOBODY, VerdictName
from harness.decide.verdict_sentences import unread_sentence
from harness.decide.verdicts import Verdict, tests_of_tables, verdicts_of_tests
from harness.errors import UsageError
from harness.measure.cells import number
from harness.measure.compare import Recording, align
from harness.measure.item_table import count_all_answers, item_tables
from harness.measure.options import MeasureOptions
from harness.model import BY_PEOPLE, Item, Scale, Score
from harness.options import part_of
from harness.stats.core.arrays import ShapeError
from harness.stats.estimation.labels_needed import (
    first_labels,
    items_for_wilson,
    neyman_allocation,
    proportional_allocation,
    stratified_variance,
    use_p,
    whole_labels,
)
from harness.stats.intervals.cluster_mean import ClusterMean
from harness.stats.intervals.intervals import wilson

NO_AGREEMENT = "no text has an aggregate of labels"
NOT_NATIVE = "labels are not native"
SHOWN = "use is shown"
NO_NUMBER = "at the agreement that was seen"

AGREEMENTS = (0.6, 0.7, 0.8, 0.9)
"""Agreements of two people that are tried where nothing is known."""
LEAST_TEXTS = 10
"""With two annotators: from fewer, the agreement of people is not read."""


class LabelsNeeded(KeyedRow, frozen=True, kw_only=True):
    """The labels of one cell, and those that are missing. Undefined numbers are None, and `reasons` says why.

    Attributes:
        n, groups: texts with two annotators, and independent ones among them.
        agreement, half_width: share of texts on which the judge gives the aggregate, failures as wrong, and the half-width of its 95 %
            interval: Wilson's on n divided by the design effect.
        design_effect: the variance of the share relative to that of as many independent texts, at least 1.
        texts_for_half_width, more_for_half_width: texts for the wanted half-width in all, and those that are missing.
        verdict: what the judge may be used for now.
        more_for_verdict: further texts until `use` is shown with the power of the options, if the judge is as good as people.
        more_than: `more_for_verdict` is the largest number that was tried, and it does not suffice.
    """

    n: int
    groups: int
    agreement: float | None
    half_width: float | None
    design_effect: float | None
    texts_for_half_width: int | None
    more_for_half_width: int | None
    verdict: VerdictName
    more_for_verdict: int | None
    more_than: bool
    reasons: dict[str, str]


class LabelBudget(CellResults, frozen=True):
    """The labels needed in every cell, for the wanted `half_width` and for verdicts.

    `new_languages` is what a new language needs if the others help it; None where it was not asked for. `unread` are cells without numbers,
    because most answers cannot be read.
    """

    signature: str
    half_width: float
    cells: tuple[LabelsNeeded, ...]
    new_languages: tuple[NewLanguage, ...] | None = None
    unread: tuple[UnreadCells, ...] = ()
    schema_version: int = 1

    def as_json(self) -> dict[str, Any]:
        """Return `{schema_version, signature, half_width, cells, unread}`, and `new_languages` where they were asked for."""
        return {name: part for name, part in super().as_json().items() if part is not None}


def label_budget(
    sources: Sequence[Recording],
    options: LabelBudgetOptions,
) -> LabelBudget:
    """Return the labels that are needed, by language, metric, judge and condition.

    Raises UsageError as `measure.compare` does, JudgeError where most answers of every judge cannot be read.

    The half-width is wanted of the interval of agreement, between 0 and 0.5; what a new language needs, if the others help it, is for a
    mean to the half-width of the scale.
    """
    half_width, decision = options.half_width, part_of(options, DecisionOptions)
    if not 0 < half_width < 0.5:
        raise UsageError(f"a half-width is a share between 0 and 0.5, such as 0.05 for 5 points; got {half_width:g}")
    aligned = align(sources, part_of(options, MeasureOptions))
    tables = (cell for judged in aligned.tables for cell in item_tables(judged, by_source="source" in aligned.by))
    readable, unread = refuse_unread(tables, "no number of labels is planned by the scores")
    tests = tests_of_tables(aligned, decision)
    tests_by_key = {tuple(tests_of_cell.key.values()): tests_of_cell for tests_of_cell in tests}
    cells = tuple(
        _labels_of_cell(tests_by_key[tuple(verdict.key.values())], verdict, half_width)
        for verdict in verdicts_of_tests(tests, decision)
        if not any(left_out.covers(verdict.key) for left_out in unread)
    )
    signature = aligned.signed(decide=decision.signed(judged.data.about for judged in aligned.tables))
    return LabelBudget(signature, half_width, cells, new_languages(readable, half_width) if options.borrow else None, unread)


def _labels_of_cell(cell_tests: CellTests, verdict: Verdict, half_width: float) -> LabelsNeeded:
    effect = design_effect_of_share(cell_tests.hits)
    texts = now = None
    reasons = {}
    if math.isnan(effect):
        reasons["agreement"] = NO_AGREEMENT
    else:
        lo, hi = wilson(cell_tests.right * cell_tests.hits.n / effect, cell_tests.hits.n / effect)
        now = (hi - lo) / 2
        with_aggregate = cell_tests.hits.n / max(cell_tests.texts.n, cell_tests.hits.n)  # some texts have no majority
        texts = math.ceil(items_for_wilson(cell_tests.right, half_width, effect=effect) / with_aggregate)
    if verdict.needed is None:
        # Why no number of further texts is named.
        if verdict.decision.verdict == "use":
            reasons["more_for_verdict"] = SHOWN
        elif cell_tests.texts.labels not in BY_PEOPLE:
            reasons["more_for_verdict"] = NOT_NATIVE
        else:
            reasons["more_for_verdict"] = verdict.decision.reason if verdict.decision in (NOBODY, COPIES) else NO_NUMBER
    return LabelsNeeded(
        key=cell_tests.key,
        n=cell_tests.texts.n,
        groups=cell_tests.texts.groups,
        agreement=number(cell_tests.right),
        half_width=now,
        design_effect=number(effect),
        texts_for_half_width=texts,
        more_for_half_width=None if texts is None else max(0, texts - max(cell_tests.texts.n, cell_tests.hits.n)),
        verdict=verdict.decision.verdict,
        more_for_verdict=verdict.needed.texts if verdict.needed else None,
        more_than=verdict.needed is not None and verdict.needed.more_than,
        reasons=reasons,
    )


def design_effect_of_share(share: ClusterMean) -> float:
    """Return variance over groups of a share, relative to p (1 - p) / (n - 1) of independent items; at least 1. NaN without items.

    It is 1 where all items or all groups say the same, and with one group, where it cannot be seen.

    >>> round(design_effect_of_share(ClusterMean(0.5, 0.1, 50, 10, 9.0, 9.0)), 2)
    1.96
    """
    if not share.n:
        return math.nan
    alone = share.mean * (1 - share.mean) / max(share.n - 1, 1)
    return max(1.0, round(share.error**2 / alone, 9)) if alone > 0 and share.error > 0 else 1.0


class People(msgspec.Struct, frozen=True, kw_only=True):
    """The people who label, as known or assumed: how often they give each class, how often two agree, how many label a text.

    `texts` is the number of texts with two annotators that this was read from; None where it is assumed.
    """

    language: str | None
    metric: str
    classes: tuple[Score, ...]
    shares: tuple[float, ...]
    agreement: float
    annotators: int
    texts: int | None = None


class PlannedLabels(msgspec.Struct, frozen=True, kw_only=True):
    """Texts to label for a judge that is as good as people.

    `for_verdict` texts until `use` is shown with the power of the options (None: more than 3,000), `for_half_width` until the interval of
    the judge's agreement has the wanted half-width. `right` and `constant` are the shares of right answers of such a judge and of the best
    constant, where people have a majority.
    """

    people: People
    for_verdict: int | None
    for_half_width: int
    right: float
    constant: float


class StatedPeople(msgspec.Struct, frozen=True):
    """The user's statements about people; None, or nothing, where the labels or an assumption say it."""

    agreement: float | None = None
    shares: tuple[float, ...] = ()
    annotators: int | None = None


def assume_people(metric: str, scale: Scale | None, stated: StatedPeople) -> list[People]:
    """Return assumptions where nobody labelled: all agreements that are tried, unless one is given; classes that are equally common.

    Raises UsageError if neither a scale nor shares say what the classes are, or if they do not fit.
    """
    if scale is None and not stated.shares:
        raise UsageError(
            f"'{metric}' has no rubric here, so its classes are not known: say how often people give each, such as --shares 0.2,0.3,0.5"
        )
    classes = _choose_classes(metric, scale, stated.shares)
    shares = stated.shares or (1 / len(classes),) * len(classes)
    chance = sum(share * share for share in shares) / sum(shares) ** 2
    tried = (stated.agreement,) if stated.agreement else tuple(agreement for agreement in AGREEMENTS if agreement > chance)
    if not tried:
        raise UsageError(
            f"people who guess with these shares agree on {100 * chance:.0f} of 100 texts: say how often yours do, --people-agree SHARE"
        )
    return [
        People(language=None, metric=metric, classes=classes, shares=shares, agreement=agreement, annotators=stated.annotators or 2)
        for agreement in tried
    ]


def read_people(data: Dataset, metrics: Sequence[str], languages: Sequence[str], stated: StatedPeople) -> list[People]:
    """Return what the labels of a data folder show of people, by language and metric. Raises UsageError where they say nothing."""
    by_cell: dict[tuple[str, str], dict[str, list[Score]]] = defaultdict(lambda: defaultdict(list))
    items = data.by_id
    for label in data.labels:
        language = items[label.item_id].language
        if (not metrics or label.metric in metrics) and (not languages or language in languages):
            by_cell[language, label.metric][label.item_id].append(label.score)
    if unknown := [metric for metric in metrics if metric not in {labelled for _, labelled in by_cell}]:
        labelled_metrics = ", ".join(sorted({label.metric for label in data.labels}))
        raise UsageError(f"no label on '{unknown[0]}' there; labelled metrics: {labelled_metrics}")
    if not by_cell:
        raise UsageError("there are no labels to plan from; without the folder, --metric and an assumption are enough")
    return [_people_of_cell(cell, list(texts.values()), data, stated) for cell, texts in sorted(by_cell.items())]


def _people_of_cell(cell: tuple[str, str], texts: list[list[Score]], data: Dataset, stated: StatedPeople) -> People:
    language, metric = cell
    classes = _choose_classes(metric, data.label_scale(metric), stated.shares)
    counts = Counter(score for scores in texts for score in scores)
    several = [scores for scores in texts if len(scores) > 1]
    if stated.agreement is None and len(several) < LEAST_TEXTS:
        raise UsageError(
            f"{metric} in {language}: {len(several)} texts have two annotators, too few to see how far people agree: "
            "say what you expect, --people-agree 0.7"
        )
    agreement = stated.agreement or fmean(fmean(a == b for a, b in combinations(scores, 2)) for scores in several)
    return People(
        language=language,
        metric=metric,
        classes=classes,
        shares=stated.shares or tuple(counts[score] / counts.total() for score in classes),
        agreement=agreement,
        annotators=stated.annotators or max(2, round(median(map(len, several or texts)))),
        texts=len(several),
    )


def _choose_classes(metric: str, scale: Scale | None, shares: Sequence[float]) -> tuple[Score, ...]:
    """Return the classes of a scale; without one, numbers in the place of names."""
    if scale is None:
        return tuple(range(len(shares)))
    if scale.kind == "interval":
        raise UsageError(
            f"the scores of '{metric}' are numbers without classes, and this plan needs classes: label {LEAST_TEXTS * 3} texts, ask a "
            "judge, and run 'harness labels needed RUN'"
        )
    if shares and len(shares) != len(scale.classes):
        raise UsageError(f"--shares has {len(shares)} numbers, and '{metric}' has {len(scale.classes)} classes ({scale.describe()})")
    return scale.classes


def plan_labels(people: Sequence[People], decision: DecisionOptions, *, cells: int, half_width: float) -> list[PlannedLabels]:
    """Return the texts to label for each, if `use` is to be shown in `cells` cells at once. Raises UsageError for what cannot be."""
    planned = []
    for assumed in people:
        try:
            needed = first_labels(
                assumed.shares,
                assumed.agreement,
                assumed.annotators,
                lambda sums: use_p(sums, decision.margin, decision.alpha, decision.effective_groups),
                level=decision.alpha / cells,
                power=decision.power,
                least=max(decision.items, decision.groups),
            )
        except ShapeError as err:
            raise UsageError(f"{assumed.metric}{f' in {assumed.language}' if assumed.language else ''}: {err}") from None
        texts = math.ceil(items_for_wilson(needed.right, half_width) / needed.with_majority)
        planned.append(
            PlannedLabels(people=assumed, for_verdict=needed.texts, for_half_width=texts, right=needed.right, constant=needed.constant)
        )
    return planned


def as_json(planned: Sequence[PlannedLabels], *, cells: int, half_width: float) -> dict[str, Any]:
    """Return one object for programs: `{schema_version, cells, half_width, planned}`."""
    rows = [{**msgspec.structs.asdict(plan.people), **msgspec.structs.asdict(plan)} for plan in planned]
    for row in rows:
        del row["people"]
    return {"schema_version": 1, "cells": cells, "half_width": half_width, "planned": rows}


NO_SCORE = "no score"


class SampledItem(msgspec.Struct, frozen=True):
    """One drawn text. The keys are those that `harness correct` reads from items."""

    item_id: str
    inclusion_probability: float
    stratum: str


class SampleStratum(msgspec.Struct, frozen=True):
    """One stratum: its texts and how many of them were drawn, and the spread of right and wrong answers that the judge expects."""

    name: str
    texts: int
    drawn: int
    sd: float | None


class LabelSample(msgspec.Struct, frozen=True):
    """The drawn texts in random order, the number of texts that they were drawn from, and the strata."""

    items: tuple[SampledItem, ...]
    texts: int
    strata: tuple[SampleStratum, ...]
    notes: tuple[str, ...]


class _Text(msgspec.Struct, frozen=True):
    item: Item
    score: str
    stratum: str
    confidence: float


def draw_label_sample(recording: Recording, options: SampleOptions) -> LabelSample:
    """Draw texts that nobody labelled yet (or some that people labelled), stratified by a judge's scores.

    Their order is random, so that the first n are a sample too.

    Without a budget, as many as `label_budget` says are missing: for a verdict, or where it cannot say, for the interval; the most of all
    cells.

    Raises UsageError for a language, judge or metric that is not there or has to be named, and for a budget that is too small for the
    strata, larger than what is there, or unknown.
    """
    if options.budget is None:
        where = {name: (value,) for name, value in (("language", options.language), ("metric", options.metric)) if value}
        cells = label_budget([recording], LabelBudgetOptions(judges=(options.judge,) if options.judge else None, where=where)).cells
        missing = [cell.more_for_verdict if cell.more_for_verdict is not None else cell.more_for_half_width for cell in cells]
        if not (needed := [number for number in missing if number]):
            raise UsageError(
                "'labels needed' has no number here (no judgments beside people's labels); name the number of texts with --budget"
            )
        budget = max(needed)
    else:
        budget = options.budget
    languages = list(dict.fromkeys(item.language for item in recording.data.items))
    language = options.language or (languages[0] if len(languages) == 1 else None)
    if language is None:
        raise UsageError(f"texts of one language are drawn together; name it with --lang.{choose_from(languages)}")
    if language not in languages:
        raise UsageError(f"there is no item in '{language}'.{choose_from(languages, language)}")
    labelled = recording.data.labels.items_of_people(None if options.metric is None else [options.metric])
    of_language = [item for item in recording.data.items if item.language == language and item.split == "test"]
    items = [item for item in of_language if (item.item_id in labelled) == options.labelled]
    if not items and options.labelled:
        raise UsageError(f"no text in '{language}' has a person's label; there is nothing to draw from")
    if not items:
        raise UsageError(f"every text in '{language}' has a person's label already; there is nothing to draw from")
    named = []
    for what, wanted, names in (
        ("judge", options.judge, recording.judgments.judge.used),
        ("metric", options.metric, recording.judgments.metric.used),
    ):
        if wanted is not None and wanted not in names:
            raise UsageError(f"no judgment is by the {what} '{wanted}'.{choose_from(sorted(names), wanted)}")
        if wanted is None and len(names) > 1:
            raise UsageError(f"strata come from the scores of one {what}; name it with --{what}.{choose_from(sorted(names))}")
        named.append(wanted or (names[0] if names else ""))
    judge, metric = named
    answers = recording.judgments.take(np.flatnonzero(recording.judgments.judge.equals(judge) & recording.judgments.metric.equals(metric)))
    counts_of_judge = count_all_answers(answers)
    unread = unread_sentence(counts_of_judge, f"the scores of {judge} on {metric} make no strata") if counts_of_judge.mostly_unread else ""
    texts = _assign_strata(items, *(({}, {}) if unread else _scores_and_confidences(answers)), recording.data.scales.get(metric))
    strata = {name: [text for text in texts if text.stratum == name] for name in sorted({text.stratum for text in texts})}
    counts = _allocate(strata, len(items), budget, options)
    chosen: dict[str, SampledItem] = {}
    for name, in_stratum in strata.items():
        # Draw `count` texts, each with the probability count / texts: every k-th of a random order that keeps groups together. Systematic
        # sampling takes texts of as many groups as there are, so that few labels are spent on versions of one text.
        count = counts[name]
        chance = random.Random(f"{options.seed} {name}")
        group_order = {group: chance.random() for group in dict.fromkeys(text.item.group for text in in_stratum)}
        ordered = sorted(in_stratum, key=lambda text: (group_order[text.item.group], chance.random()))
        step, start = len(in_stratum) / max(count, 1), chance.random()
        for item in [ordered[min(len(in_stratum) - 1, int((start + position) * step))].item for position in range(count)]:
            chosen[item.item_id] = SampledItem(item.item_id, counts[name] / len(in_stratum), name)
    described = tuple(SampleStratum(name, len(in_stratum), counts[name], _expected_sd(in_stratum)) for name, in_stratum in strata.items())
    drawn = [chosen[item.item_id] for item in items if item.item_id in chosen]
    random.Random(f"{options.seed} order").shuffle(drawn)
    notes = [unread] if unread else _sample_notes(described, judge, metric)
    return LabelSample(tuple(drawn), len(items), described, tuple(notes))


def _scores_and_confidences(answers: Judgments) -> tuple[dict[str, list[object]], dict[str, list[float]]]:
    """Return `{item_id: scores}` and `{item_id: probabilities of the scores}`."""
    scores: dict[str, list[object]] = {}
    confidences: dict[str, list[float]] = {}
    for item, score, confidence in zip(answers.item, answers.score, answers.confidence, strict=True):
        if score is not None:
            scores.setdefault(item, []).append(score)
            if confidence is not None:
                confidences.setdefault(item, []).append(float(confidence))
    return scores, confidences


def _assign_strata(
    items: Sequence[Item], scores: Mapping[str, list[object]], confidences: Mapping[str, list[float]], scale: Scale | None
) -> list[_Text]:
    """Return the texts with their strata: the class nearest to the mean score, and whether the mean confidence is above the median."""
    confidence = {item.item_id: _mean(confidences.get(item.item_id, ())) for item in items}
    confidences_known = [value for value in confidence.values() if not math.isnan(value)]
    median = float(np.median(confidences_known)) if confidences_known and np.ptp(confidences_known) > 0 else math.nan
    texts = []
    for item in items:
        score = stratum = _score_stratum(scores.get(item.item_id, ()), scale) if scores else "all"
        if not math.isnan(median) and not math.isnan(confidence[item.item_id]):
            stratum += ", sure" if confidence[item.item_id] >= median else ", unsure"
        texts.append(_Text(item, score, stratum, confidence[item.item_id]))
    return texts


def _score_stratum(scores: Sequence[object], scale: Scale | None) -> str:
    if not scores or scale is None:
        return NO_SCORE
    if scale.kind == "interval":
        assert scale.min is not None and scale.max is not None
        fifth = min(4, int(5 * (float(np.mean([float(str(score)) for score in scores])) - scale.min) / (scale.max - scale.min)))
        return f"fifth {fifth + 1}"
    positions = [scale.classes.index(score) for score in scores if score in scale.classes]
    return f"score {scale.classes[round(_mean(positions))]}" if positions else NO_SCORE


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def _allocate(strata: Mapping[str, Sequence[_Text]], available: int, budget: int, options: SampleOptions) -> dict[str, int]:
    if not 0 < budget <= available:
        raise UsageError(f"--budget {budget}: {available} texts without a person's label are there; name a number from 1 to that")
    sizes = [len(in_stratum) for in_stratum in strata.values()]
    least = _least_per_stratum(strata, options)
    if budget < sum(least):
        flags = f"--least {options.least}" + (f", --least-per-class {options.least_per_class}" if options.least_per_class else "")
        raise UsageError(f"--budget {budget}: {len(sizes)} strata need {sum(least)} texts ({flags}); draw more, or lower these")
    if options.allocation == "proportional":
        return dict(zip(strata, map(int, whole_labels(proportional_allocation(sizes, budget, floor=least))), strict=True))
    sds = [_expected_sd(in_stratum) for in_stratum in strata.values()]
    if any(sd is None for sd in sds):
        raise UsageError("--allocation neyman needs the judge's token probabilities, and some texts have none; leave it out")
    drawn = whole_labels(neyman_allocation(sizes, np.array(sds, float), budget, floor=least))
    return dict(zip(strata, map(int, drawn), strict=True))


def _least_per_stratum(strata: Mapping[str, Sequence[_Text]], options: SampleOptions) -> list[int]:
    """Return fewest texts of each stratum, such that every class of scores has its own number too: shared by its strata in proportion."""
    least = {name: min(options.least, len(in_stratum)) for name, in_stratum in strata.items()}
    if not options.least_per_class:
        return list(least.values())
    classes: dict[str, list[str]] = {}
    for name, in_stratum in strata.items():
        classes.setdefault(in_stratum[0].score, []).append(name)
    for names in classes.values():
        sizes, floor = [len(strata[name]) for name in names], [least[name] for name in names]
        wanted = min(sum(sizes), max(options.least_per_class, sum(floor)))
        shared = whole_labels(proportional_allocation(sizes, wanted, floor=floor))
        least |= dict(zip(names, map(int, shared), strict=True))
    return list(least.values())


def _expected_sd(texts: Sequence[_Text]) -> float | None:
    """Return sqrt(p (1 - p)) of the mean confidence p: how much right and wrong answers are expected to vary. None without confidences."""
    p = _mean([text.confidence for text in texts])
    return None if math.isnan(p) else math.sqrt(p * (1 - p))


def _sample_notes(strata: Sequence[SampleStratum], judge: str, metric: str) -> list[str]:
    if not judge:
        return ["there are no judgments, so every text had the same probability; with a judge's scores, strata make estimates more precise"]
    notes = [f"strata: scores of {judge} on {metric}"]
    sds = [stratum.sd for stratum in strata]
    if all(sd is not None and sd > 0 for sd in sds):
        sizes, drawn = [s.texts for s in strata], [s.drawn for s in strata]
        overall = math.sqrt(sum(n * float(sd or 0) ** 2 for n, sd in zip(sizes, sds, strict=True)) / sum(sizes))
        proportional = stratified_variance(sizes, [overall] * len(sizes), proportional_allocation(sizes, sum(drawn)))
        as_drawn = stratified_variance(sizes, np.array(sds, float), drawn)
        if as_drawn > 0:
            notes.append(
                f"expected variance of a mean, at the judge's own confidence: {as_drawn / proportional:.2f} of a proportional sample's"
            )
    return notes
