"""The parts of an answer, for every page and screen. `answer/` makes one from verdicts, `atlas_answer.py` from the atlas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

SIGNS = {"good": "✓", "bad": "✗", "open": "○", "next": "→"}
"""Signs of the styles of verdicts, where there is no room for words; a key explains them."""
Sentence = tuple[str, str]
"""`good`, `bad` or `open`, and the sentence."""


@dataclass(frozen=True)
class NextStep:
    """One thing to do: a sentence, and its command, or the judgments that a click on it shows."""

    text: str
    command: str = ""
    show: dict[str, Any] | None = None


@dataclass(frozen=True)
class Card:
    """One group of an answer: `good`, `bad` or `open`, what to do, where, and what is known beside it.

    `heading` and `text` are one sentence: `Use gpt-4o` and `for food and service.` A text may stand without a heading.
    """

    style: str
    heading: str
    text: str
    note: str = ""

    @property
    def sentence(self) -> str:
        if not self.heading:
            return self.text
        return f"{self.heading}{' ' if self.text.startswith(('in ', 'for ')) else ': '}{self.text}"

    @property
    def whole(self) -> str:
        """The sentence, and what is known beside it."""
        return f"{self.sentence} {self.note}".strip()


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

    `axis` says what the numbers are: there is one in each square that holds one verdict, of one against a judge the number that decided,
    which its words name. `condition` is how judges were asked. `controls`: labels are constructed, so that a judge passes or fails.
    """

    rows_are: str
    axis: str
    columns: tuple[MatrixColumn, ...]
    rows: tuple[VerdictRow, ...]
    condition: str = ""
    controls: bool = False

    @property
    def signs(self) -> tuple[tuple[str, str, str], ...]:
        """`(style, sign, words)` of the key."""
        good, bad = ("passes", "fails") if self.controls else ("use", "do not use")
        return (("good", SIGNS["good"], good), ("bad", SIGNS["bad"], bad), ("open", SIGNS["open"], "unknown"))


@dataclass(frozen=True)
class Answer:
    """The answer of verdicts, for a reader who reads nothing else.

    `title` states what was found of one judge, and asks which judge where there are several. `seen` says of one judge and few questions
    how far its scores are those of people, as numbers that the field knows; nothing of it is tested. `sure` says how often a wrong `use`
    happens, and what "as good as people" means; it is empty where labels are constructed. Several judges or conditions have a matrix of
    their verdicts, one for each condition that can be chosen.
    """

    title: str
    cards: tuple[Card, ...]
    sure: str
    steps: tuple[NextStep, ...]
    matrices: tuple[VerdictMatrix, ...] = ()
    seen: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        return tuple((card.style, card.sentence) for card in self.cards)

    def as_json(self) -> dict[str, Any]:
        """Return one object for programs: the words, without the matrix, which verdicts have."""
        return {
            "title": self.title,
            "seen": self.seen,
            "sentences": self.sentences,
            "sure": self.sure,
            "steps": [asdict(step) for step in self.steps],
        }


def plain_cards(sentences: Iterable[Sentence]) -> tuple[Card, ...]:
    """Return sentences as cards without headings."""
    return tuple(Card(style, "", text) for style, text in sentences)


def joined(texts: Sequence[str]) -> str:
    """Return `one, two and three`."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
