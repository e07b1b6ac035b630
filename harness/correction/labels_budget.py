"""The number of texts to label: still, for an interval of a given width and for a verdict, or before any judge was asked."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from statistics import fmean, median
from typing import Any

import msgspec

from harness.correction.cell_results import CellResults, KeyedRow, UnreadCells, refuse_unread
from harness.correction.options import LabelBudgetOptions
from harness.correction.with_others import NewLanguage, new_languages
from harness.data import Dataset
from harness.decide.cell_tests import CellTests
from harness.decide.options import DecisionOptions
from harness.decide.rule import COPIES, NOBODY, VerdictName
from harness.decide.verdicts import Verdict, tests_of_tables, verdicts_of_tests
from harness.errors import UsageError
from harness.measure.cells import number
from harness.measure.compare import Recording, align
from harness.measure.item_table import item_tables
from harness.measure.options import MeasureOptions
from harness.model import BY_PEOPLE, Scale, Score
from harness.options import part_of
from harness.stats import items_for_wilson, wilson
from harness.stats.core.arrays import ShapeError
from harness.stats.estimation.labels_needed import first_labels, use_p
from harness.stats.intervals.cluster_mean import ClusterMean

NO_AGREEMENT = "no text has an aggregate of labels"
NOT_NATIVE = "labels are not native"
SHOWN = "use is shown"
NO_NUMBER = "at what was seen, no number of labels would do"

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
