"""What an answer is made of, and the words of single verdicts in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.reports.tables.titles import metric_words

Sentence = tuple[str, str]
"""`good`, `bad` or `open`, and the sentence."""
Sides = Sequence[Sequence[Verdict]]
"""The verdicts of each judge under each condition."""


@dataclass(frozen=True)
class NextStep:
    """One thing to do: a sentence, and its command, or the judgments that a click on it shows."""

    text: str
    command: str = ""
    show: dict[str, Any] | None = None


@dataclass(frozen=True)
class Card:
    """One group of an answer: `good`, `bad` or `open`, what to do, where, and what is known beside it.

    `heading` and `text` are one sentence: `Use gpt-4o` and `for food and service.`
    """

    style: str
    heading: str
    text: str
    note: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.heading}{' ' if self.text.startswith(('in ', 'for ')) else ': '}{self.text}"


@dataclass(frozen=True)
class Answer:
    """What verdicts say, for a reader who reads nothing else.

    `title` states what was found of one judge, and asks which judge where there are several. `sure` says how often a wrong `use`
    happens, and what "as good as people" means; it is empty where labels are constructed.
    """

    title: str
    cards: tuple[Card, ...]
    sure: str
    steps: tuple[NextStep, ...]

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        return tuple((card.style, card.sentence) for card in self.cards)


def style_of(verdict: Verdict | Mapping[str, Any]) -> str:
    """`good`, `bad` or `open`: how a verdict, or its flat object in JSON, is coloured; words say the same."""
    if verdict["verdict"] == "use" or verdict["controls"] == "passes":
        return "good"
    return "bad" if verdict["verdict"] == "do not use" or verdict["controls"] == "fails" else "open"


def place_of(verdict: Verdict) -> str:
    """The language and metric of a verdict in words: `Czech (task quality)`."""
    return f"{english_name(verdict['language'])} ({metric_words(verdict['metric'])})"


def texts_of(verdict: Verdict) -> dict[str, Any]:
    """The filters that show the texts of a verdict: those with two annotators, or those with a label where it is about controls."""
    texts = {"compared": True} if verdict.controls else {"annotators": "two or more"}
    return {name: value for name, value in verdict.key.items() if value is not None} | texts


def annotators_of(verdicts: Sequence[Verdict]) -> str:
    """Who gave the labels, in words: native speakers only where all of the labels are theirs."""
    return "native speakers" if all(verdict.labels == "native" for verdict in verdicts) else "people"


def nobody_to_compare(verdicts: Sequence[Verdict]) -> bool:
    """Whether no text has the scores of two people, so that nothing can be held against how far people agree."""
    return all("annotators" in verdict.obstacles for verdict in verdicts)


def judge_of(verdict: Verdict) -> tuple[Any, Any]:
    """The judge of a verdict and, of several, its source."""
    return verdict.key.get("source"), verdict["judge"]


def setting(verdict: Verdict, name: str) -> str:
    """One threshold of a verdict, as its signature prints it; empty where it has none of the name."""
    return dict(word.split("=") for word in verdict.settings.split()).get(name, "")


def joined(texts: Sequence[str]) -> str:
    """`one, two and three`."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
