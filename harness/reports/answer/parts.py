"""The parts of an answer for every page and screen, and the three states of a question about a judge with the causes of an unknown one.

A question is one metric in one language. JSON and tables of numbers keep the codes of verdicts; all that people read says *use*, *do not
use* or *unknown*, and each unknown has its cause. Of constructed labels the states are *passes*, *fails* and *unknown*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.reports.tables.numbers import points

if TYPE_CHECKING:
    from harness.decide.verdicts import Verdict

USE, CORRECTED, AGAINST, UNKNOWN = "use", "use corrected means only", "do not use", "unknown"
PASSES, FAILS = "passes", "fails"
GONE = "use, no longer served"  # only judges whose provider has ended them may be used
_STATES = {"use": USE, "use corrected": CORRECTED, "do not use": AGAINST}

LABEL_MORE = "label more"
NO_HELP = "more labels will not help"
ONE_PERSON = "one score a text"
TOO_FEW = "too few texts"
UNREADABLE = "most answers cannot be read"
COPIED = "scores may be copies of the labels"
NO_PEOPLE = "no labels by people"
CAUSES = (LABEL_MORE, NO_HELP, ONE_PERSON, TOO_FEW, UNREADABLE, COPIED, NO_PEOPLE)
"""Why a question is unknown, in the order in which pages show the causes."""

_AGAINST = {
    "worse": "{gap} below people",
    "base_worse": "{over_constant} below a constant answer",
    "below_bar": "below the bar",
    "constant": "one class for nearly all texts",
    "failures": "many answers cannot be read",
}
"""What is shown against a judge, by the name of the obstacle, with the number that decided."""

STYLES = {USE: "good", GONE: "gone", PASSES: "good", AGAINST: "bad", FAILS: "bad", CORRECTED: "open", UNKNOWN: "open"}
"""The style of each state; the order is that of counts."""


def state_of(verdict: Verdict | Mapping[str, Any]) -> str:
    """Return the state of a verdict, or of its flat object in JSON.

    >>> state_of({"verdict": "too few labels", "controls": None}), state_of({"verdict": "no verdict", "controls": "passes"})
    ('unknown', 'passes')
    """
    if controls := verdict["controls"]:
        return controls if controls in (PASSES, FAILS) else UNKNOWN
    return _STATES.get(verdict["verdict"], UNKNOWN)


def cause_of(verdict: Verdict | Mapping[str, Any]) -> str:
    """Return why a question is unknown, one of `CAUSES`; empty for the other states."""
    if state_of(verdict) != UNKNOWN:
        return ""
    settled = verdict["k"] is not None and not verdict["more_than_k"]
    return unknown_cause(verdict["verdict"], verdict["obstacles"], bool(verdict["k"]), settled, bool(verdict["controls"]))


def unknown_cause(code: str, obstacles: Collection[str], needed: bool, settled: bool, controls: bool = False) -> str:
    """Return the cause of an unknown question, one of `CAUSES`.

    Args:
        code: the code of its verdict.
        obstacles: the names of its obstacles.
        needed: whether more labels would settle it.
        settled: whether their number is known.
        controls: whether its labels are constructed.

    >>> unknown_cause("too few labels", ["people"], True, True), unknown_cause("too few labels", ["people"], False, False)
    ('label more', 'more labels will not help')
    """
    if "unread" in obstacles:
        return UNREADABLE
    if "copied" in obstacles:
        return COPIED
    if "annotators" in obstacles:
        return ONE_PERSON
    if code == "no verdict" and not controls:
        return NO_PEOPLE
    if needed:
        return LABEL_MORE if settled else TOO_FEW
    return TOO_FEW if "labels" in obstacles or controls else NO_HELP


def cause_words(verdict: Verdict | Mapping[str, Any]) -> str:
    """Return the cause with its number: `label 250 more`; empty where a question is not unknown."""
    cause = cause_of(verdict)
    return f"label {verdict['k']:,} more" if cause == LABEL_MORE else cause


def state_words(verdict: Verdict | Mapping[str, Any]) -> str:
    """Return a state with its cause: `use`, `do not use`, or `unknown: label 250 more`."""
    cause = cause_words(verdict)
    return f"{UNKNOWN}: {cause}" if cause else state_of(verdict)


def count_states(verdicts: Iterable[Verdict | Mapping[str, Any]]) -> dict[str, int]:
    """Return how many verdicts have each state, in the order of `STYLES`, without states that none has."""
    counts = Counter(map(state_of, verdicts))
    return {state: counts[state] for state in STYLES if counts[state]}


def counted_states(verdicts: Iterable[Verdict | Mapping[str, Any]]) -> str:
    """Return `3 use · 2 do not use · 25 unknown`."""
    return " · ".join(f"{count:,} {state}" for state, count in count_states(verdicts).items())


def count_causes(verdicts: Iterable[Verdict | Mapping[str, Any]]) -> dict[str, int]:
    """Return how many unknown questions have each cause, in the order of `CAUSES`, without causes that none has."""
    counts = Counter(map(cause_of, verdicts))
    return {cause: counts[cause] for cause in CAUSES if counts[cause]}


def against_words(
    obstacles: Collection[str], gap: float | None, over_constant: float | None, number: Callable[[float], str] = points
) -> list[str]:
    """Return what is shown against a judge, the deciding reason first, each with its number as `number` writes it.

    >>> against_words(["base_worse"], 0.11, -0.12)
    ['12 points below a constant answer']
    """
    numbers = {"gap": number(-(gap or 0.0)), "over_constant": number(-(over_constant or 0.0))}
    return [words.format(**numbers) for name, words in _AGAINST.items() if name in obstacles]


class Deciding(NamedTuple):
    """Why a judge must not be used, in words without a number, and the number that decided; None where it was none.

    `over_constant`: the number is judge − constant.
    """

    words: str
    number: float | None
    over_constant: bool


def deciding(verdict: Verdict | Mapping[str, Any]) -> Deciding:
    """Return what decided against a judge.

    >>> deciding({"obstacles": ("base_worse",), "gap": 0.11, "base_diff": -0.12})
    Deciding(words='below a constant answer', number=-0.12, over_constant=True)
    """
    obstacles = verdict["obstacles"]
    name = next((name for name in _AGAINST if name in obstacles), "")
    words = _AGAINST.get(name, AGAINST).split("} ")[-1]
    return Deciding(words, {"worse": verdict["gap"], "base_worse": verdict["base_diff"]}.get(name), name == "base_worse")


def count_questions(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Return how many questions have each state, whoever was asked: *use* if a judge may be used, *do not use* if none may, else *unknown*.

    The order is that of `STYLES`, without states that no question has.
    """
    states: dict[tuple[Any, Any], set[str]] = {}
    for verdict in verdicts:
        states.setdefault((verdict["language"], verdict["metric"]), set()).add(state_of(verdict))
    best = (USE, PASSES, CORRECTED)
    counts = Counter(
        next((state for state in best if state in question), next(iter(question)) if len(question) == 1 else UNKNOWN)
        for question in states.values()
    )
    return {state: counts[state] for state in STYLES if counts[state]}


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
    """One judge in one language: `(style, sign, words)` of each kind of verdict, the number of one verdict, all in words, what it shows.

    `over_constant`: the number is judge − constant, as this decided, and no other difference.
    """

    parts: tuple[tuple[str, str, str], ...]
    number: str
    title: str
    show: dict[str, Any]
    over_constant: bool = False


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

    `title` states what was found: of several judges, which of them may be used. `seen` says of one judge and few questions
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
