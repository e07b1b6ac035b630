"""How often people agree with a judge's reasons, and how that is split by people's own scores."""

from __future__ import annotations

import re
from typing import Any

import pytest

from harness.annotate.reviews import ReasonReview, review_summary
from harness.errors import UsageError
from harness.model import Item, Scale
from harness.render.html.shell import reviews_page
from harness.render.terminal import review_table

HOSTILE = "</script><script>window.ran=1</script>{{7*7}}\u202e=cmd"


def review(item: str, agreement: Any, **own: Any) -> ReasonReview:
    given = {"annotator_id": "eva", "metric": "m", "judge": "j", "variant": "single", "score": 2, "justification": "Fine."} | own
    return ReasonReview(item_id=item, agreement=agreement, **given)


@pytest.fixture
def data(make_data: Any) -> Any:
    """20 texts, two of a group: people gave 2 to the first ten, 0 to the next eight, and are of two minds about the last two."""
    items = [Item(f"i{n}", "cs", "t", group=f"g{n // 2}") for n in range(20)]
    return make_data(items, {(f"i{n}", "m"): [2, 2, 0] if n < 10 else [0] if n < 18 else [0, 2] for n in range(20)})


def test_shares_are_split_by_whether_people_gave_the_score(data: Any) -> None:
    given = [review(f"i{n}", "agree" if n < 10 else "disagree", reasons=() if n < 10 else ("too_lenient",)) for n in range(20)]
    given.append(review("i0", "partly", annotator_id="jan"))
    summary = review_summary(data, given, resamples=200)
    whole, same, other, unknown = summary.cells
    assert [(cell.people, cell.n) for cell in summary.cells] == [
        ("all", 21),
        ("same score", 11),
        ("another score", 8),
        ("no score of people", 2),
    ]
    assert (whole.texts, whole.groups, whole.reviewers, whole.reasons) == (20, 10, 2, {"too_lenient": 10})
    assert whole.agree == pytest.approx(10 / 21) and whole.partly == pytest.approx(1 / 21) and whole.disagree == pytest.approx(10 / 21)
    assert whole.agree_ci is not None and whole.agree_ci[0] < 10 / 21 < whole.agree_ci[1]
    assert same.agree == pytest.approx(10 / 11) and other.agree == 0 and unknown.disagree == 1
    assert same.agree_ci is None and same.reason == "too few independent texts"
    assert "reviews+" in summary.signature and summary.as_json()["reviews"][0]["people"] == "same score"


def test_numbers_are_the_same_within_a_tenth_of_the_scale(make_data: Any) -> None:
    data = make_data(
        [Item(f"i{n}", "cs", "t") for n in range(3)], {f"i{n}": n * 10 for n in range(3)}, {"m": Scale(kind="interval", min=0, max=100)}
    )
    summary = review_summary(data, [review(f"i{n}", "agree", score=9.0) for n in range(3)])
    assert [people for _, _, people in summary.reviews] == ["same score", "same score", "another score"]


def test_a_review_of_an_unknown_text_is_a_sentence(data: Any) -> None:
    with pytest.raises(UsageError, match=re.escape("a review is about the item 'gone', which is not in the data")):
        review_summary(data, [review("gone", "agree")])


def test_the_page_quotes_untrusted_texts_as_texts(data: Any) -> None:
    said = review("i0", "disagree", words=HOSTILE, justification=HOSTILE, annotator_id=HOSTILE, judge=HOSTILE, reasons=("wrong_fact",))
    summary = review_summary(data, [said, review("i1", "agree"), review("i2", "agree", words="Quite so.")])
    page = reviews_page(summary, HOSTILE, "harness labels reviews d")
    assert "<script>window.ran" not in page and page.count("⟨U+202E⟩") >= 4 and "disagrees (wrong fact)" in page
    assert "Quite so." in page and page.count('<section class="quote">') == 2
    table = review_table(summary)
    assert [heading.name for heading in table.headings][:3] == ["language", "metric", "judge"]
    assert any("wrong fact 1" in " ".join(row) for row in table.rows)
