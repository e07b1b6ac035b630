"""People's answers to a judge's reasons: labels of the kind `review`. They lie in a table of their own, as they are no scores of texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from harness.annotate.answers.page_results import Reason
from harness.errors import ContentError
from harness.model import Score
from harness.row_files import read_rows

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
