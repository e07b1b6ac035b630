"""Scores in cells of tables: `0,5`, `4/5`, `★★★`, `2 (good)` and categories become the score that they mean. Ids in cells are read too.

Strict in meaning, tolerant in form: every command that reads tables reads scores and ids here.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from functools import cache, lru_cache
from typing import Any, NamedTuple

from harness.content.column_words import column_words
from harness.errors import UsageError
from harness.model import Scale, Score
from harness.text import normalised, normalised_id


class Unreadable(NamedTuple):
    """A cell whose value cannot be used, and the reason: a merged cell, a formula without a value."""

    reason: str


def is_blank(value: Any) -> bool:
    """Return whether a cell is empty or holds only white space.

    >>> is_blank(" "), is_blank(0)
    (True, False)
    """
    return value is None or (isinstance(value, str) and not value.strip())


_PROBABILITY = re.compile(
    r"(?:(?P<judge>\S.*?)[\s./:_-]+)?(?:p|prob|probs|probability|probabilities)(?:[\s._:-]+(?P<word>\S.*)|\s*[(\[](?P<inside>.+)[)\]])",
    re.IGNORECASE,
)
_PROBABILITY_LAST = re.compile(r"(?P<word>\S.*?)[\s._:-]+(?:prob|probability)", re.IGNORECASE)
LARGEST_SCORE = 1e15  # above it, means and variances lose all digits
MOST_CLASSES = 11  # of a scale without a limit of classes: 0 to 10
LONGEST_CLASS = 40  # characters
NUMBER = re.compile(r"[+-]?\d+(?:[.,٫]\d+)?")
_WITH_MEANING = re.compile(r"(\d+)\s*(?:[-–—:=)]|\.\s|\()\s*\D.*")
DATE_OF_SHEET = re.compile(
    r"\d{4}-\d{2}-\d{2}([ T].*)?|\d{1,2}-[A-Za-z]{3}(-\d{2,4})?|[A-Za-z]{3}-\d{2,4}|\d{1,2}/\d{1,2}/\d{2,4}"
)  # as spreadsheet programs make dates of scores
_SKIN_TONES = re.compile("[\U0001f3fb-\U0001f3ff\ufe0e\ufe0f]")  # of a thumb, and whether it is drawn in colour
_STARS = re.compile(r"([★⭐🌟]+)[☆✩]*")


@cache
def forms_with_words() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the forms of `4 out of 5` and of `4 points`, in the languages of the words for cells."""
    between, behind = ("|".join(map(re.escape, words)) for words in (column_words().verdicts.out_of, column_words().verdicts.units))
    return re.compile(rf"(\d+(?:[.,]\d+)?)\s*(?:{between})\s*(\d+)"), re.compile(rf"(\d+(?:[.,]\d+)?)\s*(?:{behind})")


def probability_class(name: str) -> tuple[str, str] | None:
    """Return whose probability of which class a column holds by its name; the judge is empty where the name says none.

    >>> [probability_class(name) for name in ("p_pass", "prob_1", "P(yes)", "gpt-4o p_pass", "probs.fail", "pass_prob")]
    [('', 'pass'), ('', '1'), ('', 'yes'), ('gpt-4o', 'pass'), ('', 'fail'), ('', 'pass')]
    >>> probability_class("comp_1")
    """
    if match := _PROBABILITY.fullmatch(name.strip()):
        return match["judge"] or "", (match["word"] or match["inside"]).strip()
    match = _PROBABILITY_LAST.fullmatch(name.strip())
    return ("", match["word"]) if match else None


def number_in(text: str | int | float) -> float | None:
    """Return a number that a cell holds or spells, with a decimal comma too; None if it is too large to be a score.

    >>> number_in("2,5"), number_in("9" * 400), number_in(10**400)
    (2.5, None, None)
    """
    try:
        found = float(re.sub("[,٫]", ".", text) if isinstance(text, str) else text)
    except OverflowError:  # of an integer
        return None
    return found if abs(found) <= LARGEST_SCORE else None


@lru_cache(maxsize=1 << 16, typed=True)  # True is not 1
def cell_score(value: str | int | float | bool) -> float | str | None:
    """Return what a cell means as a score: a number, a word in lower case, or None where it says that there is no answer.

    >>> [cell_score(cell) for cell in ("4/5", "4 – good", "85 %", "★★★☆☆", "3 points", "Pass", "n/a", "2,5", True, "[[4]]")]
    [4.0, 4.0, 85.0, 3.0, 3.0, 'pass', None, 2.5, 'true', 4.0]
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        number = number_in(value)
        return None if value != value else str(value) if number is None else number
    text = _SKIN_TONES.sub("", unicodedata.normalize("NFKC", value)).strip().casefold()
    if text.startswith("[[") and text.endswith("]]"):  # as judges are asked to write their score
        text = text[2:-2].strip()
    if not text or text in column_words().verdicts.none:
        return None
    number = None
    if NUMBER.fullmatch(text):
        number = number_in(text)
    elif match := next(filter(None, (form.fullmatch(text) for form in forms_with_words())), None):
        number = None if None in map(number_in, match.groups()) else number_in(match[1])
    elif (match := _WITH_MEANING.fullmatch(text)) and not DATE_OF_SHEET.fullmatch(text):
        number = number_in(match[1])
    if number is not None:
        return number
    if match := _STARS.fullmatch(value.strip()):
        return float(len(match[1]))
    return " ".join(text.split())


_NAMES = ("metric", "language", "task", "split", "system")  # in which 2.0 is a version and no whole number


class UnreadableScore(Exception):
    """The reason why one label is refused. Caught inside this package."""


def date_reason(value: Any) -> str:
    """The reason for refusing a cell that a spreadsheet program turned into a date or time."""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    what = "date" if isinstance(value, datetime.date) else "time"
    return f"Excel turned it into the {what} {value}; format the column as text and enter it again: a {what}"


def name_of_type(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    return "an object" if isinstance(value, dict) else f"a value of type {type(value).__name__}"


def number_text(number: int | float) -> str:
    return str(int(number)) if isinstance(number, float) and number.is_integer() else str(number)


def reverse_score(score: Score, scale: Scale) -> Score:
    """Return the score on the reversed scale: the mirrored class, or `min + max - score`.

    >>> reverse_score(0, Scale(kind="ordinal", classes=(0, 1, 2)))
    2
    """
    if scale.kind != "interval":
        return scale.classes[len(scale.classes) - 1 - scale.classes.index(score)]
    reversed_score = scale.min + scale.max - score  # type: ignore[operator]
    return int(reversed_score) if isinstance(score, int) and float(reversed_score).is_integer() else reversed_score


def require_flippable(metric: str, scale: Scale) -> None:
    """Raise UsageError if a scale cannot be reversed."""
    if scale.kind == "interval" and (scale.min is None or scale.max is None):
        raise UsageError(f"'{metric}' cannot be flipped: its scale has no {'min' if scale.min is None else 'max'}")
    if scale.kind == "nominal" and len(scale.classes) != 2:
        raise UsageError(f"'{metric}' cannot be flipped: its {len(scale.classes)} classes have no order; map them with --category")


def id_text(value: Any, what: str) -> str:
    """Return an id as text, in one form (see `normalised_id`). Raises UnreadableScore for a value that cannot be an id."""
    if isinstance(value, Unreadable):
        raise UnreadableScore(value.reason)
    if is_blank(value):
        raise UnreadableScore(f"no {what}: the cell is empty")
    if isinstance(value, (datetime.date, datetime.time)):
        raise UnreadableScore(f"{date_reason(value)} where {what} should be")
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise UnreadableScore(f"{'a truth value' if isinstance(value, bool) else name_of_type(value)} where {what} should be")
    if value != value:
        raise UnreadableScore(f"no {what}: the cell holds no number")
    if isinstance(value, (int, float)):
        return number_text(value)
    text = normalised(value) if what in _NAMES else normalised_id(value)
    if not text:
        raise UnreadableScore(f"no {what}: the cell holds only invisible characters")
    return text
