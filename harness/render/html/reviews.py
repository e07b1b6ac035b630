"""The page of people's reviews of a judge's reasons: the shares, and every objection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from harness.annotate.reviews import ReasonReview, ReviewSummary
from harness.html_pages import visible
from harness.render.html.shell import render, shell
from harness.render.sections import review_table
from harness.reports.tables.titles import metric_title

_AGREEMENT = {"agree": "agrees", "partly": "partly agrees", "disagree": "disagrees"}
_MOST = 500  # answers that are quoted in one language


def reviews_page(summary: ReviewSummary, name: str, command: str, warning: str = "") -> str:
    """One self-contained page of the reviews of a data set, made by `command`; a `warning` stands before quotations behind a click."""
    title = f"{name}: do people agree with the judge's reasons?"
    quoted = {language: [*_quotes(rows)] for language, rows in groupby(summary.reviews, key=lambda row: row[1])}
    body = render(
        "reviews.html",
        title=title,
        reviews=len(summary.reviews),
        table=review_table(summary),
        quoted={language: rows[:_MOST] for language, rows in quoted.items() if rows},
        left={language: len(rows) - _MOST for language, rows in quoted.items() if len(rows) > _MOST},
        command=command,
        warning=warning,
        signature=summary.signature,
    )
    return shell(title, body, scripts=("tables.js",))


def _quotes(rows: Iterable[tuple[ReasonReview, str, str]]) -> Iterator[dict[str, str]]:
    """Yield the answers that do not simply agree. All texts are untrusted: the template escapes them, and control characters are made
    visible.
    """
    for review, _, people in rows:
        if review.agreement != "agree" or review.words:
            yield {
                "metric": metric_title(review.metric),
                "agreement": _AGREEMENT[review.agreement],
                "reasons": ", ".join(reason.replace("_", " ") for reason in review.reasons),
                "judge": visible(review.judge),
                "score": visible(str(review.score)),
                "item": visible(review.item_id),
                "people": people,
                "justification": visible(review.justification),
                "annotator": visible(review.annotator_id),
                "words": visible(review.words),
            }
