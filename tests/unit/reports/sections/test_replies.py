"""Replies: refusals and several scores in answers in own words, and the language of justifications."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.measure.options import MeasureOptions
from harness.model import Failure, Item, Judgment
from harness.parse.language import detect_language, without_quotations
from harness.reports.sections.replies import summarise_free_text
from tests.unit.made_judgments import made_judgment

MakeItem = Callable[..., Item]
MakeData = Callable[..., Dataset]


def said(
    item: str, score: int | None, further: str | None = None, *, metric: str = "m", variant: str = "single+text", **rest: Any
) -> Judgment:
    failure = rest.pop("failure", None if score is not None else Failure.REFUSED)
    own = {"repeat": 0, "raw_choice": None, "justification": None, "call_id": "c"} | rest
    same = {"language": "en", "task": "open_prompt", "judge": "j", "temperature": 0.0}
    return made_judgment(item_id=item, metric=metric, variant=variant, score=score, failure=failure, further_numbers=further, **same, **own)  # type: ignore[arg-type]


@pytest.fixture
def data(make_item: MakeItem, make_data: MakeData) -> Dataset:
    return make_data([make_item(name) for name in "abcd"], {})


def section(data: Dataset, *judgments: Judgment) -> dict[str, Any]:
    found = summarise_free_text(data, Judgments.from_rows(judgments), MeasureOptions())
    assert found is not None
    return found


def test_several_scores_and_refusals_are_counted_by_metric(data: Dataset) -> None:
    style = [said("a", None, metric="style"), said("b", None, metric="style", failure=Failure.MISSING)]
    found = section(data, said("a", 1), said("b", 2, "1 0"), said("c", 0, "2"), said("d", None), *style)
    rows = {row["metric"]: row for row in found["rows"] if (row["language"], row["task"]) == ("en", "*")}
    assert (rows["m"]["n"], rows["m"]["several_n"], rows["m"]["unreadable"]) == (4, 2, 1)
    assert (rows["m"]["several"], rows["m"]["refused"]) == (pytest.approx(2 / 3), 0.25)
    assert (rows["style"]["several"], rows["style"]["refused"], rows["style"]["unreadable"]) == (None, 0.5, 2)
    assert rows["style"]["undefined"]["several"] == "no answer has a score"


def test_answers_with_several_scores_are_shown_once_for_each_item(data: Dataset) -> None:
    found = section(data, said("c", 0, "2"), said("b", 2, "1 0"), said("b", 2, "1 0", repeat=1), said("a", 1))
    assert found["several"] == 3
    first = {"item": "b", "metric": "m", "judge": "j", "score": 2, "further_numbers": "1 0"}
    assert found["examples"] == [first, first | {"item": "c", "score": 0, "further_numbers": "2"}]


def test_other_variants_and_changed_texts_do_not_count(data: Dataset) -> None:
    others = [said("a", 1, variant="single"), said("b", 1, "2", perturbation="shuffle-words:0.1")]
    assert section(data, said("c", 1), *others)["rows"][0]["n"] == 1
    assert summarise_free_text(data, Judgments.from_rows(others), MeasureOptions()) is None


Find = Callable[..., dict[str, Any]]
Said = Callable[..., Judgment]
TheRow = Callable[..., dict[str, Any]]

ENGLISH = "The text is fluent and natural; only one sentence has a small mistake in it."
JAPANESE = "この文章は自然で流暢ですが、一つの文に小さな間違いがあります。読みやすいです。"
CZECH = "Text je plynulý a přirozený, jen v jedné větě je malá pravopisná chyba."


def test_by_hand(find: Find, the_row: TheRow, said: Said) -> None:
    reasons = {"a": JAPANESE, "b": ENGLISH, "c": "短い", "d": None}
    judgments = [said(name, 1, justification=words, asked_language="ja") for name, words in reasons.items()]
    row = the_row(
        find(judgments, places={name: {"language": "ja"} for name in reasons})["justification_language"]["rows"], language="ja", metric="*"
    )
    assert (row["asked_language"], row["n"], row["too_short"], row["in_asked_language"]) == ("ja", 2, 1, 0.5)
    assert row["other_languages"] == {"en": 1}


def test_what_is_asked_is_told_apart(find: Find, said: Said) -> None:
    judgments = [
        said("a", 1, justification=CZECH, asked_language="cs", variant="single+own-language"),
        said("a", 1, justification=CZECH, asked_language="en"),
    ]
    rows = find(judgments)["justification_language"]["rows"]
    assert {row["asked_language"]: row["in_asked_language"] for row in rows} == {"cs": 1.0, "en": 0.0}


def test_varieties_are_one_language(find: Find, said: Said) -> None:
    portuguese = "O texto é fluente e natural, mas uma das frases contém um pequeno erro de ortografia."
    [row] = find([said("a", 1, justification=portuguese, asked_language="pt-BR")])["justification_language"]["rows"]
    assert row["in_asked_language"] == 1.0


def test_a_language_that_the_identifier_does_not_know(find: Find, said: Said) -> None:
    [row] = find([said("a", 1, justification=ENGLISH, asked_language="tlh")])["justification_language"]["rows"]
    assert row["in_asked_language"] is None and row["undefined"]["in_asked_language"] == "the identifier does not know 'tlh'"


@pytest.mark.parametrize("words", ["Good.", "「とても自然で流暢な文章だと思います」"], ids=["short", "only a quotation"])
def test_where_nothing_can_be_told_there_is_no_section(find: Find, said: Said, words: str) -> None:
    assert "justification_language" not in find([said("a", 1, justification=words)])


def test_changed_texts_are_left_out(find: Find, said: Said) -> None:
    assert "justification_language" not in find([said("a", 1, justification=ENGLISH, perturbation="swap-language")])


@pytest.mark.parametrize(
    "quotation",
    [
        f"“{JAPANESE}”",
        f'"{JAPANESE}"',
        f"«{JAPANESE}»",
        f"「{JAPANESE}」",
        f"『{JAPANESE}』",
        f"'{JAPANESE}'",
        f"„{JAPANESE}“",
        f"‘{JAPANESE}’",
    ],
)
def test_a_quotation_is_not_the_judges_own_language(quotation: str) -> None:
    assert detect_language(f"The sentence {quotation} doesn't read well, it's the judge's opinion that it isn't natural.") == "en"


def test_json_is_no_language() -> None:
    assert without_quotations('{"score": 2, "justification": "gut"}').strip() == ""
    assert without_quotations("```json\n[1, 2]\n```").split() == []


def test_apostrophes_are_no_quotation_marks() -> None:
    text = "It isn't the author's fault that readers don't follow."
    assert without_quotations(text) == text


def test_very_long_texts_are_told_quickly() -> None:
    assert detect_language("'" * 50_000 + "{" * 50_000) == "und"
    assert detect_language((ENGLISH + " ") * 2000) == "en"
