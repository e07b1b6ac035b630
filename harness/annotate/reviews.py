"""People's reviews of a judge's scores with their reasons: what is shown, what was answered, and the share that people accept.

People are told only at the end that a program gave the scores. Their answers lie in a table of their own, `reviews.jsonl`, as they are no
scores of texts. The share that they accept is counted by agreement on the score. After Chiang & Lee (2023), Can large language models be
an alternative to human evaluation? (arXiv 2305.01937), who showed teachers the scores and explanations of a language model.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from harness.annotate.page_results import Reason, ReviewedJudge, ReviewedScore
from harness.content.tags import choose_from
from harness.data.dataset import Dataset
from harness.data.judgments import UNCHANGED, read_columns_at
from harness.errors import ContentError, UsageError
from harness.measure.cells import bounds
from harness.measure.compare import Recording
from harness.model import Scale, Score
from harness.options import RESAMPLES
from harness.row_files import read_rows
from harness.signature import StudySignature
from harness.stats.intervals.intervals import proportion_interval

REVIEWS = "reviews.jsonl"
Agreement = Literal["agree", "partly", "disagree"]
AGREEMENTS: tuple[Agreement, ...] = ("agree", "partly", "disagree")


class ReasonReview(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One person's answer to a judge's score and its reason.

    Attributes:
        item_id, metric: what the judge scored.
        annotator_id: who reviewed it.
        judge, variant: who gave the score, and how it was asked.
        score, justification: what the reviewer was shown.
        agreement: whether the reviewer agrees with the reason.
        reasons: what is wrong with it, from the short list.
        words: the same in the reviewer's own words.
    """

    item_id: str
    annotator_id: str
    metric: str
    judge: str
    variant: str
    score: Score
    justification: str
    agreement: Agreement
    reasons: tuple[Reason, ...] = ()
    words: str = ""
    kind: Literal["review"] = "review"

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """Return what is reviewed once: by whom, whose score, of what."""
        return self.item_id, self.annotator_id, self.metric, self.judge, self.variant


def read_reviews(folder: Path) -> list[ReasonReview]:
    """Return the reviews in a data folder. Raises ContentError for a folder without any, and with `file:line` for a row that is none."""
    path = folder / REVIEWS
    if not path.is_file():
        raise ContentError(
            f"has no {REVIEWS}; 'harness labels page … --review RUN' makes pages for people to review a judge's reasons", folder
        )
    reviews = []
    for line, row in read_rows(path):
        try:
            reviews.append(msgspec.convert(row, ReasonReview))
        except msgspec.ValidationError as err:
            raise ContentError(f"not a review ({err})", path, line) from None
    return reviews


def review_row(review: ReasonReview) -> dict[str, Any]:
    """Return the row of a review in its table."""
    row: dict[str, Any] = msgspec.to_builtins(review)
    return {"kind": review.kind, **row}


Reviewed = Mapping[str, Mapping[str, ReviewedScore]]
"""`{item_id: {metric: score and reason}}`."""


def reviewed_scores(
    recording: Recording, texts: Path | None, judge: str | None, language: str | None = None
) -> tuple[ReviewedJudge, Reviewed]:
    """Return a judge's scores that have a reason: of each item and metric the first, of the first condition that the run has.

    `recording` has hashes of the justifications, and `texts` is the run's file of judgments that has them; None for recorded judgments,
    which have none. `judge` is its name (None: the only one), `language` that of the items (None: all).
    Raises UsageError for a judge that is not there or has to be named, and for one that gave no reasons.
    """
    judges = sorted(map(str, recording.judgments.judge.used))
    if judge is not None and judge not in judges:
        raise UsageError(f"{recording.name} has no judgments by '{judge}'.{choose_from(judges, judge)}")
    if judge is None and len(judges) != 1:
        raise UsageError(f"{recording.name} has several judges; name the one to review with --judge.{choose_from(judges)}")
    name = judge or judges[0]
    reviewed: dict[str, dict[str, ReviewedScore]] = {}
    condition: tuple[Any, ...] | None = None
    for item_id, metric, score, reason, *details in _reasons(recording, texts, name, language):
        condition = condition or tuple(details)
        if tuple(details) == condition:
            reviewed.setdefault(item_id, {}).setdefault(metric, ReviewedScore(score, reason))
    if condition is None:
        where = f" in '{language}'" if language else ""
        raise UsageError(
            f"{recording.name} has no reasons by {name}{where} to review: only runs of judges that justify their scores keep them "
            "(not recorded judgments, not baselines, not the answer form 'score')"
        )
    return ReviewedJudge(name, recording.name, str(condition[0]), condition[1]), reviewed


def without_review(reviewed: Reviewed, judge: ReviewedJudge, folder: Path) -> Reviewed:
    """Return the items whose reasons by this judge nobody has reviewed yet in a data folder. Raises UsageError where none is left."""
    earlier = read_reviews(folder) if (folder / REVIEWS).is_file() else []
    done = {review.item_id for review in earlier if (review.judge, review.variant) == (judge.judge, judge.variant)}
    remaining = {item_id: scores for item_id, scores in reviewed.items() if item_id not in done}
    if not remaining:
        raise UsageError(f"--next: every reason of {judge.judge} has a review already; there is nothing to review")
    return remaining


def _reasons(recording: Recording, texts: Path | None, judge: str, language: str | None) -> Iterator[tuple[Any, ...]]:
    """Yield (item_id, metric, score, reason, variant, temperature) of the judge's readable scores of unchanged texts."""
    judged = recording.judgments
    if texts is None:
        return
    changed = np.logical_or.reduce([getattr(judged, name).codes >= 0 for name in UNCHANGED])
    with_reason = judged.judge.equals(judge) & (judged.justification.codes >= 0) & (judged.score.codes >= 0)
    rows = np.flatnonzero(with_reason & ~changed)
    judged_rows = judged.take(rows)
    reasons = read_columns_at(texts, ("justification",), rows)["justification"]
    languages = {item.item_id: item.language for item in recording.data.items}
    for row in zip(
        judged_rows.item, judged_rows.metric, judged_rows.score, reasons, judged_rows.variant, judged_rows.temperature, strict=True
    ):
        if str(row[3] or "").strip() and (language is None or languages.get(row[0]) == language):
            yield row


def refuse_other_scales(reviewed: Reviewed, scales: Mapping[str, Scale]) -> None:
    """Raise UsageError for a reviewed score that is not on the scale of the data, as then it is another metric."""
    for item_id, scores in reviewed.items():
        for metric, review in scores.items():
            if metric in scales and not scales[metric].holds(review.score):
                raise UsageError(
                    f"the judge's score {review.score!r} for '{metric}' of '{item_id}' is not on the scale of these data "
                    f"({scales[metric].describe()}); name the data that the run judged"
                )


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
