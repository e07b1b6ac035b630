"""A judge's scores with their reasons, for people to agree or disagree with. People are told only at the end that a program gave them.

Chiang & Lee (2023) showed teachers the scores and explanations of a language model in this way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness.annotate.answers.page_record import ReviewedJudge, ReviewedScore
from harness.annotate.answers.review_answers import REVIEWS, read_reviews
from harness.content.tags import choose_from
from harness.data.judgment_file import read_columns_at
from harness.data.judgments import UNCHANGED
from harness.errors import UsageError
from harness.measure.compare import Recording
from harness.model import Scale

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
