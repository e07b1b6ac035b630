"""People's reviews of a judge's reasons: the share that they accept, by agreement on the score.

After Chiang & Lee (2023), Can large language models be an alternative to human evaluation? (arXiv 2305.01937).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from itertools import groupby
from typing import Any

import msgspec
import numpy as np

from harness.annotate.answers.review_answers import AGREEMENTS, ReasonReview
from harness.data.dataset import Dataset
from harness.errors import UsageError
from harness.measure.cells import bounds
from harness.model import Scale, Score
from harness.options import RESAMPLES
from harness.signature import StudySignature
from harness.stats.intervals.intervals import proportion_interval

SCHEMA_VERSION = 1
ALL, SAME, OTHER, UNKNOWN = "all", "same score", "another score", "no score of people"
"""The parts of a cell: all reviews, and those by whether the judge's score is that of the people who labelled the text."""
_NEAR = 0.1  # on an interval scale, scores within this share of its length are the same


class ReviewCell(msgspec.Struct, frozen=True, kw_only=True):
    """The reviews of a judge's reasons in one language, on one metric; shares are of all reviews of the cell.

    Attributes:
        language, metric, judge: what was reviewed.
        people: `all`, `same score`, `another score` or `no score of people`.
        n, texts, groups, reviewers: reviews, different texts, independent texts, and people.
        agree, partly, disagree: shares; `agree_ci` the 95 % interval of the first, by groups of texts, and `reason` why there is none.
        reasons: `{what is wrong: reviews that say so}`.
    """

    language: str
    metric: str
    judge: str
    people: str
    n: int
    texts: int
    groups: int
    reviewers: int
    agree: float
    agree_ci: tuple[float, float] | None
    reason: str | None
    partly: float
    disagree: float
    reasons: dict[str, int]


class ReviewSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The cells, and every review with the language of its text and what people's score was."""

    signature: str
    cells: tuple[ReviewCell, ...]
    reviews: tuple[tuple[ReasonReview, str, str], ...]
    schema_version: int = SCHEMA_VERSION

    def as_json(self) -> dict[str, Any]:
        """One object for programs: `{schema_version, signature, cells, reviews}`."""
        rows = [{"language": language, "people": people, **msgspec.to_builtins(review)} for review, language, people in self.reviews]
        return {"schema_version": self.schema_version, "signature": self.signature, "cells": self.cells, "reviews": rows}


def review_summary(data: Dataset, reviews: Sequence[ReasonReview], *, seed: int = 0, resamples: int = RESAMPLES) -> ReviewSummary:
    """Summarise the reviews of the items of a data set.

    A judge and people give the same score if the judge's class is the one that most of the item's labels have, or, on an interval scale,
    if it is within a tenth of the scale of their mean. Without labels, or where no class leads, nothing is known.

    Raises UsageError for a review of an item that the data do not have.
    """
    reviewed = []
    scores_of: dict[tuple[str, str], list[Score]] = {}
    for label in data.labels:
        scores_of.setdefault((label.item_id, label.metric), []).append(label.score)
    for review in reviews:
        item = data.by_id.get(review.item_id)
        if item is None:
            raise UsageError(f"a review is about the item '{review.item_id}', which is not in the data")
        labels = scores_of.get((review.item_id, review.metric), [])
        reviewed.append((review, item.language, _people(review.score, labels, data.scales.get(review.metric))))
    reviewed.sort(key=lambda row: (row[1], row[0].metric, row[0].judge, row[0].item_id, row[0].annotator_id))
    cells = []
    for (language, metric, judge), group in groupby(reviewed, key=lambda row: (row[1], row[0].metric, row[0].judge)):
        rows = list(group)
        for part in (ALL, SAME, OTHER, UNKNOWN):
            chosen = [review for review, _, people in rows if part in (ALL, people)]
            if chosen and (part != UNKNOWN or len(chosen) < len(rows)):
                cells.append(_cell(data, chosen, (language, metric, judge, part), seed, resamples))
    digest = hashlib.sha256(msgspec.json.encode(sorted(reviews, key=lambda review: review.key))).hexdigest()
    used = (f"{data.about.id}@{data.about.version}+{data.sha256[:12]}", f"reviews+{digest[:12]}")
    judges = tuple(sorted({review.judge for review in reviews}))
    signature = str(StudySignature(study="reviews", data=used, judges=judges, seed=seed, harness=version("judge-harness")))
    return ReviewSummary(signature=signature, cells=tuple(cells), reviews=tuple(reviewed))


def _cell(data: Dataset, reviews: Sequence[ReasonReview], key: tuple[str, str, str, str], seed: int, resamples: int) -> ReviewCell:
    language, metric, judge, part = key
    said = np.array([AGREEMENTS.index(review.agreement) for review in reviews])
    group = np.unique([data.clusters.at(data.positions[review.item_id]) for review in reviews], return_inverse=True)[1]
    interval = proportion_interval((said == 0).astype(np.float64), group, seed=seed, resamples=resamples)
    agree, partly, disagree = (float((said == number).mean()) for number in range(len(AGREEMENTS)))
    return ReviewCell(
        language=language,
        metric=metric,
        judge=judge,
        people=part,
        n=len(reviews),
        texts=len({review.item_id for review in reviews}),
        groups=int(group.max()) + 1,
        reviewers=len({review.annotator_id for review in reviews}),
        agree=agree,
        agree_ci=bounds(interval),
        reason=interval.reason,
        partly=partly,
        disagree=disagree,
        reasons=dict(Counter(reason for review in reviews for reason in review.reasons).most_common()),
    )


def _people(score: Score, labels: Sequence[Score], scale: Scale | None) -> str:
    if not labels or scale is None:
        return UNKNOWN
    if scale.kind == "interval":
        numbers = [float(label) for label in labels]
        reach = (scale.max or 0.0) - (scale.min or 0.0) if scale.max is not None and scale.min is not None else float(np.ptp(numbers))
        return SAME if abs(float(score) - float(np.mean(numbers))) <= _NEAR * reach else OTHER
    ranked = Counter(labels).most_common(2)
    if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
        return UNKNOWN
    return SAME if ranked[0][0] == score else OTHER
