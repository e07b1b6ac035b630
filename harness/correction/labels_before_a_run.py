"""The number of texts to label before any judge was asked, from the labels or from assumptions about people."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from statistics import fmean, median
from typing import Any

import msgspec

from harness.data import Dataset
from harness.decide.options import DecisionOptions
from harness.errors import UsageError
from harness.model import Scale, Score
from harness.stats import items_for_wilson
from harness.stats.core.arrays import ShapeError
from harness.stats.estimation.labels_needed import first_labels, use_p

AGREEMENTS = (0.6, 0.7, 0.8, 0.9)
"""Agreements of two people that are tried where nothing is known."""
LEAST_TEXTS = 10
"""With two annotators: from fewer, the agreement of people is not read."""


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
