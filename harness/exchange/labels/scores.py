"""Reads the score in a cell: strict about meaning, tolerant about form."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from harness.errors import UsageError
from harness.exchange.labels.cells import DATE_OF_SHEET, SourceColumn, cell_score
from harness.exchange.labels.table import Unreadable, is_blank
from harness.model import Scale, Score
from harness.text import normalised, normalised_id

_NUMBER = re.compile(r"[+-]?\d+(?:[.,٫]\d+)?")

_NAMES = ("metric", "language", "task", "split", "system")  # in which 2.0 is a version and no whole number


class UnreadableScore(Exception):
    """The reason why one label is refused. Caught inside this package."""


def read_score(value: Any, scale: Scale, categories: Mapping[str, Score] | None = None) -> Score:
    """Read the score of a cell: through the mapping of categories, or as a point of the scale.

    Numbers may be text (`"2"`, `"2.0"`, `" 2 "`, `"2,5"`, digits of any script, but not ² or ①), if only one point of the scale can be
    meant. Raises UnreadableScore with the reason.

    >>> read_score(" 2.0", Scale(kind="ordinal", classes=(0, 1, 2)))
    2
    >>> read_score("2,5", Scale(kind="interval", min=1, max=5))
    2.5
    >>> [read_score(cell, Scale(kind="ordinal", classes=(1, 2, 3, 4, 5))) for cell in ("4/5", "4 – good", "★★★☆☆")]
    [4, 4, 3]
    """
    if isinstance(value, (list, tuple)) and not isinstance(value, Unreadable) and len(value) == 1:
        value = value[0]  # some tools write every answer as a list
    if isinstance(value, Unreadable):
        raise UnreadableScore(value.reason)
    if is_blank(value):
        raise UnreadableScore("the score is empty")
    if categories and (mapped := _find_category(value, categories)) is not None:
        return mapped
    if isinstance(value, bool):
        raise UnreadableScore(f"the truth value {str(value).upper()} where a score should be; map it with --category METRIC:{value}=SCORE")
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        raise UnreadableScore(f"{date_reason(value)} where a score should be")
    if not isinstance(value, (int, float, str)):
        raise UnreadableScore(f"{_name_of_type(value)} where one score should be")
    points = {(isinstance(point, str), point): point for number in _list_readings(value) for point in _find_points(number, scale)}
    if len(points) > 1:
        raise UnreadableScore(f"'{value}' may mean {' or '.join(map(str, points.values()))}; write it with a decimal point")
    if not points:
        if (point := _read_form(value, scale)) is None:
            excerpt = str(value) if len(str(value)) <= 60 else f"{str(value)[:60]}…"
            hint = "; it looks like a date made by a spreadsheet program" if DATE_OF_SHEET.fullmatch(excerpt.strip()) else ""
            problem = f"'{excerpt}' is not on the scale ({scale.describe()}){hint}"
            raise UnreadableScore(problem)
        return point
    return next(iter(points.values()))


def _read_form(value: Any, scale: Scale) -> Score | None:
    """Return the point that a cell means by its form: `4 – good`, `★★★`, `4/5` where 5 is the highest, a class in another case."""
    if not isinstance(value, str) or any(unicodedata.category(character) == "No" for character in value):  # ² and ① are no numbers
        return None
    out_of, score = SourceColumn("", [value]).out_of, cell_score(value)
    highest = scale.max if scale.kind == "interval" else max((c for c in scale.classes if not isinstance(c, str)), default=None)
    if score is None or (out_of and out_of != {highest}):
        return None
    if isinstance(score, float):
        points = _find_points(score, scale)
    else:
        points = [point for point in scale.classes if isinstance(point, str) and cell_score(point) == score]
    return points[0] if len(points) == 1 else None


def _find_category(value: Any, categories: Mapping[str, Score]) -> Score | None:
    text = str(value).strip()
    if isinstance(value, bool):  # TRUE, true and True are the same answer
        categories = {name.casefold(): score for name, score in categories.items()}
        text = text.casefold()
    elif isinstance(value, float) and value.is_integer():
        text = str(int(value))
    return categories.get(text)


def date_reason(value: Any) -> str:
    """The reason for refusing a cell that a spreadsheet program turned into a date or time."""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    what = "date" if isinstance(value, datetime.date) else "time"
    return f"Excel turned it into the {what} {value}; format the column as text and enter it again: a {what}"


def _name_of_type(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    return "an object" if isinstance(value, dict) else f"a value of type {type(value).__name__}"


def _list_readings(value: int | float | str) -> list[Score]:
    """The possible meanings of a cell: a comma is a decimal sign or separates thousands."""
    if not isinstance(value, str):
        return [value]
    text = unicodedata.normalize("NFKC", value).strip()
    readings: list[Score] = [value.strip()]
    if _NUMBER.fullmatch(text) and not any(unicodedata.category(c) == "No" for c in value):  # not ², ①, ½
        readings.append(_number(re.sub("[,٫]", ".", text)))
        if re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", text):
            readings.append(int(text.replace(",", "")))
    return readings


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() and "." not in text else value


def _find_points(reading: Score, scale: Scale) -> list[Score]:
    """The points of the scale that a reading can mean: the reading itself, or the class with the same number."""
    if scale.kind == "interval":
        return [] if isinstance(reading, str) or not scale.holds(reading) else [reading]
    if isinstance(reading, str):
        return [c for c in scale.classes if isinstance(c, str) and c == reading]
    return [c for c in scale.classes if c == reading or (isinstance(c, str) and c == _number_text(reading))]


def _number_text(number: int | float) -> str:
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
        raise UnreadableScore(f"{'a truth value' if isinstance(value, bool) else _name_of_type(value)} where {what} should be")
    if value != value:
        raise UnreadableScore(f"no {what}: the cell holds no number")
    if isinstance(value, (int, float)):
        return _number_text(value)
    text = normalised(value) if what in _NAMES else normalised_id(value)
    if not text:
        raise UnreadableScore(f"no {what}: the cell holds only invisible characters")
    return text
