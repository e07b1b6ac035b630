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
SIGNS = {"good": "✓", "bad": "✗", "open": "○", "next": "→"}
"""Signs of the styles of verdicts, where there is no room for words; a key explains them."""
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
class VerdictSquare:
    """One judge in one language: `(style, sign, words)` of each kind of verdict, the number of one verdict, all in words, what it shows."""

    parts: tuple[tuple[str, str, str], ...]
    number: str
    title: str
    show: dict[str, Any]


@dataclass(frozen=True)
class VerdictRow:
    """A row of squares, None where there is no verdict. `note` says of a question how many texts it has, and how far people agree.

    `group` is the heading of the rows from here on, where they are grouped.
    """

    name: str
    note: str
    squares: tuple[VerdictSquare | None, ...]
    group: str = ""


@dataclass(frozen=True)
class MatrixColumn:
    """A judge or a language: its name, and how many verdicts of each style it has: `(style, sign, count)`."""

    name: str
    counts: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True)
class VerdictMatrix:
    """Squares by row and column. `rows_are` is `judge`, `condition` or, in one language, `question`: then judges are the columns.

    `axis` says what the numbers are: there is one in each square that holds one verdict. `asked` is the condition, where it is chosen.
    """

    rows_are: str
    axis: str
    columns: tuple[MatrixColumn, ...]
    rows: tuple[VerdictRow, ...]
    asked: str = ""


@dataclass(frozen=True)
class Answer:
    """What verdicts say, for a reader who reads nothing else.

    `title` states what was found of one judge, and asks which judge where there are several. `sure` says how often a wrong `use`
    happens, and what "as good as people" means; it is empty where labels are constructed. Several judges or conditions have a matrix of
    their verdicts, one for each condition that can be chosen.
    """

    title: str
    cards: tuple[Card, ...]
    sure: str
    steps: tuple[NextStep, ...]
    matrices: tuple[VerdictMatrix, ...] = ()

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        return tuple((card.style, card.sentence) for card in self.cards)


def style_of(verdict: Verdict | Mapping[str, Any]) -> str:
    """`good`, `bad` or `open`: how a verdict, or its flat object in JSON, is coloured; words say the same."""
    if verdict["verdict"] == "use" or verdict["controls"] == "passes":
        return "good"
    return "bad" if verdict["verdict"] == "do not use" or verdict["controls"] == "fails" else "open"


def axis_words(people: bool) -> str:
    """What a shown value is the difference of."""
    return "judge − people" if people else "judge − constant"


def shown_value(verdict: Verdict | Mapping[str, Any], people: bool) -> float | None:
    """Judge minus people, or minus a constant where `people` is false or labels are constructed; None where it is undefined."""
    value: float | None = verdict["gap"] if people and not verdict["controls"] else verdict["base_diff"]
    return value


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
