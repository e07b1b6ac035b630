"""Columns of a table: how many cells of one are filled, which values differ, and whether they look like scores, ids, dates or texts."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice, pairwise
from typing import Any

import msgspec
from rich.cells import cell_len

from harness.content.column_words import column_words
from harness.exchange.labels.cell_scores import (
    DATE_OF_SHEET,
    LONGEST_CLASS,
    MOST_CLASSES,
    NUMBER,
    Unreadable,
    UnreadableScore,
    cell_score,
    date_reason,
    forms_with_words,
    is_blank,
    name_of_type,
    number_in,
    number_text,
)
from harness.exchange.labels.source_table import SourceTable
from harness.model import Scale, Score

_TEXT_WIDTH = 25  # of the cells of a column of texts on average, at least, in Latin letters; a Chinese character is as wide as two
_FEW_WIDE = 8  # Chinese characters: names are shorter
_DATE = re.compile(r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.] ?\d{1,2}[-/.] ?\d{2,4})(?!\d)|[A-Z][a-z]{2} [A-Z][a-z]{2} \d")
_SECONDS = re.compile(r"(?:9[5-9]|1\d\d|2[0-4]\d)\d{7}(?:\d{3}|\d{6})?(?:\.\d+)?")  # from 2000 to 2049
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
# A UUID, a digest.
_ID = re.compile(r"\{?[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}?|(?:sha\d+:)?(?=\w*[a-f])[0-9a-f]{16,}")
_ADDRESS = re.compile(r"(?:https?|ftp|file|s3|gs)://\S+|www\.\S+", re.IGNORECASE)


class SourceColumn(msgspec.Struct, frozen=True, dict=True):
    """A column with its cells (rows,): texts, numbers, truth values; None where a cell is empty. Lists and objects are their JSON."""

    name: str
    cells: Sequence[str | int | float | bool | None]
    nested: bool = False

    @cached_property
    def counts(self) -> Counter[Any]:
        """Count how often each value occurs."""
        counts = Counter(self.cells)
        counts.pop(None, None)
        return counts

    @cached_property
    def filled(self) -> int:
        return sum(self.counts.values())

    @cached_property
    def repeats(self) -> bool:
        return len(self.counts) < self.filled

    @cached_property
    def is_key(self) -> bool:
        """Return whether each row has a value of its own."""
        return self.filled == len(self.counts) == len(self.cells)

    @cached_property
    def is_date(self) -> bool:
        """Return whether nearly all cells begin with a date, or are seconds or milliseconds since 1970."""
        different = list(islice(self.counts, _LOOKED_AT))
        if different and all(_SECONDS.fullmatch(str(value)) for value in different):
            return True
        return bool(different) and 10 * sum(_DATE.match(str(value)) is not None for value in different) > 9 * len(different)

    @cached_property
    def is_id(self) -> bool:
        """Return whether nearly all cells are e-mail addresses, UUIDs or digests, which are neither texts nor scores."""
        return self.is_mail or self._are_mostly(_ID)

    @cached_property
    def is_mail(self) -> bool:
        """Return whether nearly all cells are e-mail addresses: they say who, and enter neither ids nor texts."""
        return self._are_mostly(_MAIL)

    @cached_property
    def is_address(self) -> bool:
        """Return whether nearly all cells are addresses on the web or of files."""
        return self._are_mostly(_ADDRESS)

    def _are_mostly(self, form: re.Pattern[str]) -> bool:
        different = list(islice(self.counts, _LOOKED_AT))
        return bool(different) and 10 * sum(form.fullmatch(str(value).strip()) is not None for value in different) > 9 * len(different)

    @cached_property
    def holds_objects(self) -> bool:
        """Return whether cells are objects or lists of them, or the JSON of some."""
        return any(isinstance(cell, str) and cell.lstrip()[:2] in ("[{", '{"') for cell in islice(self.counts, _LOOKED_AT))

    @cached_property
    def is_text(self) -> bool:
        """Return whether the cells are texts: long ones, or several words that differ from row to row."""
        if self.nested or self.is_date or self.is_id:
            return False
        different = list(islice(self.counts, _LOOKED_AT))
        values = [value for value in different if isinstance(value, str) and isinstance(cell_score(value), str)]
        if 2 * len(values) <= len(different) or not values:
            return False
        if not self.is_address and 10 * sum(value.isascii() and not re.search(r"\s", value.strip()) for value in values) > 9 * len(values):
            return False  # names of models, paths, addresses of people
        width = sum(map(cell_len, values)) / len(values)
        # Several words, or in scripts without blanks so many characters; a wide character is as wide as two letters.
        phrases = sum(len(value.split()) > 1 or cell_len(value) >= len(value) + _FEW_WIDE for value in values)
        differ = 2 * len(self.counts) > self.filled or len(self.counts) > 2 * MOST_CLASSES  # a text stands in a row for each rater
        return width >= _TEXT_WIDTH or (2 * phrases > len(values) and differ and width >= _TEXT_WIDTH / 3)

    @cached_property
    def scores(self) -> Counter[float | str]:
        """Count how often each score occurs, where cells are read as scores."""
        scores: Counter[float | str] = Counter()
        if self.is_text:
            return scores
        for value, count in self.counts.items():
            if (score := cell_score(value)) is not None:
                scores[score] += count
        return scores

    @cached_property
    def out_of(self) -> set[float]:
        """The highest scores that cells state: 5 of `4/5`, 100 of `85 %`."""
        form = forms_with_words()[0]
        texts = [unicodedata.normalize("NFKC", value).strip().casefold() for value in self.counts if isinstance(value, str)]
        stated = {end for text in texts if (match := form.fullmatch(text)) and (end := number_in(match[2])) is not None}
        return stated | ({100.0} if any(text.endswith("%") and not isinstance(cell_score(text), str) for text in texts) else set())

    @cached_property
    def numbers(self) -> list[float]:
        """The different scores that are numbers, from low to high."""
        return sorted(score for score in self.scores if isinstance(score, float))

    @cached_property
    def words(self) -> set[str]:
        """The different scores that are words."""
        return {score for score in self.scores if isinstance(score, str)}

    @cached_property
    def is_numeric(self) -> bool:
        """Return whether the scores are numbers, but for a few cells."""
        return bool(self.numbers) and 10 * sum(self.scores[word] for word in self.words) <= sum(self.scores.values())

    @cached_property
    def may_be_scores(self) -> bool:
        """Return whether the cells can be scores: numbers, or a few short words."""
        if (
            self.nested
            or self.is_text
            or self.is_id
            or self.is_address
            or not self.scores
            or (len(self.counts) > _LOOKED_AT and not self.is_numeric)
        ):
            return False
        return self.is_numeric or (len(self.scores) <= MOST_CLASSES and all(len(word) <= LONGEST_CLASS for word in self.words))

    @cached_property
    def counts_up(self) -> bool:
        """Return whether numbers, more than two different ones, never become less from row to row: they number texts or pages."""
        if self.words or len(self.numbers) < 3:
            return False
        numbers = [score for cell in self.cells if cell is not None and isinstance(score := cell_score(cell), float)]
        return all(earlier <= later for earlier, later in pairwise(numbers))

    @cached_property
    def looks_like_scores(self) -> bool:
        """Return whether the cells are scores by themselves, whatever the column is called: few values, again and again."""
        if not self.may_be_scores or not 1 < len(self.scores) <= MOST_CLASSES or not self.repeats or self.counts_up:
            return False
        verdicts = column_words().verdicts
        return not self.words or self.words <= verdicts.good | verdicts.bad | {"a", "b", "tie"}


_LOOKED_AT = 2000  # different cells of a column: enough for a mean


def columns_of_table(table: SourceTable) -> list[SourceColumn]:
    """Return the columns of a table."""
    return [column_of_table(table, name) for name in table.columns]


def column_of_table(table: SourceTable, name: str) -> SourceColumn:
    """Return a column of a table. Cells that cannot be used are empty here; the reader of records refuses them where they count."""
    cells: list[Any] = [record.cells.get(name) for record in table.records]
    nested = any(isinstance(cell, (list, dict)) for cell in cells)
    if nested:
        cells = [msgspec.json.encode(cell).decode() if isinstance(cell, (list, dict)) else cell for cell in cells]
    readable = (None if is_blank(cell) or isinstance(cell, Unreadable) else cell for cell in cells)
    return SourceColumn(
        name, [cell if cell is None or isinstance(cell, (str, int, float, bool)) else str(cell) for cell in readable], nested
    )


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
        raise UnreadableScore(f"{name_of_type(value)} where one score should be")
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


def _list_readings(value: int | float | str) -> list[Score]:
    """The possible meanings of a cell: a comma is a decimal sign or separates thousands."""
    if not isinstance(value, str):
        return [value]
    text = unicodedata.normalize("NFKC", value).strip()
    readings: list[Score] = [value.strip()]
    if NUMBER.fullmatch(text) and not any(unicodedata.category(c) == "No" for c in value):  # not ², ①, ½
        number = number_in(text)
        if number is not None:
            readings.append(int(number) if number.is_integer() and text.lstrip("+-").isdecimal() else number)
        if re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", text):
            readings.append(int(text.replace(",", "")))
    return readings


def _find_points(reading: Score, scale: Scale) -> list[Score]:
    """The points of the scale that a reading can mean: the reading itself, or the class with the same number."""
    if scale.kind == "interval":
        return [] if isinstance(reading, str) or not scale.holds(reading) else [reading]
    if isinstance(reading, str):
        return [c for c in scale.classes if isinstance(c, str) and c == reading]
    return [c for c in scale.classes if c == reading or (isinstance(c, str) and c == number_text(reading))]
