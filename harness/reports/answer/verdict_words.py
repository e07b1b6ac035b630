"""The words of single verdicts in an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.reports.tables.titles import metric_words

Sides = Sequence[Sequence[Verdict]]
"""The verdicts of each judge under each condition."""


_AGAINST = {
    "worse": "worse than people",
    "base_worse": "below the baseline",
    "constant": "one class for nearly all texts",
    "failures": "many answers cannot be read",
}


def style_of(verdict: Verdict | Mapping[str, Any]) -> str:
    """`good`, `bad` or `open`: how a verdict, or its flat object in JSON, is coloured; words say the same."""
    if verdict["verdict"] == "use" or verdict["controls"] == "passes":
        return "good"
    return "bad" if verdict["verdict"] == "do not use" or verdict["controls"] == "fails" else "open"


def difference_words(people: bool) -> str:
    """What a shown value is the difference of."""
    return "judge − people" if people else "judge − constant"


def shown_value(verdict: Verdict | Mapping[str, Any], people: bool) -> float | None:
    """Judge minus people, or minus a constant where `people` is false or labels are constructed; None where it is undefined."""
    value: float | None = verdict["gap"] if people and not verdict["controls"] else verdict["base_diff"]
    return value


def reason_against(verdict: Verdict) -> str:
    """What is shown against a judge, in few words; its answer where nothing is.

    Beside a number that is no reason, as of a judge that agrees more than people do, this is what a reader needs.
    """
    return next((words for name, words in _AGAINST.items() if name in verdict.words.obstacles), verdict.answer)


def place_of(verdict: Verdict) -> str:
    """The language and metric of a verdict in words: `Czech (task quality)`."""
    return f"{english_name(verdict['language'])} ({metric_words(verdict['metric'])})"


def texts_of(verdict: Verdict) -> dict[str, Any]:
    """The filters that show the texts of a verdict: those with two annotators, or those with a label where it is about controls."""
    texts = {"compared": True} if verdict.controls else {"annotators": "two or more"}
    return {name: value for name, value in verdict.key.items() if value is not None} | texts


def annotators_of(verdicts: Sequence[Verdict]) -> str:
    """Who gave the labels, in words: native speakers only where all of the labels are theirs."""
    return "native speakers" if all(verdict.texts.labels == "native" for verdict in verdicts) else "people"


def nobody_to_compare(verdicts: Sequence[Verdict]) -> bool:
    """Whether no text has the scores of two people, so that nothing can be held against how far people agree."""
    return all("annotators" in verdict.words.obstacles for verdict in verdicts)


def judge_of(verdict: Verdict) -> tuple[Any, Any]:
    """The judge of a verdict and, of several, its source."""
    return verdict.key.get("source"), verdict["judge"]


def setting(verdict: Verdict, name: str) -> str:
    """One threshold of a verdict, as its signature prints it; empty where it has none of the name."""
    return dict(word.split("=") for word in verdict.settings.split()).get(name, "")
