"""The columns of a table as their cells stand there: how many are filled, which values differ, and which of them can be scores."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache, cached_property, lru_cache
from itertools import islice, pairwise
from typing import Any

import msgspec
from rich.cells import cell_len

from harness.content.column_words import column_words
from harness.exchange.labels.table import SourceTable, Unreadable, is_blank

PROBABILITY = "p_"  # begins the name of a column with a judge's probability of a class, as in p_pass
MOST_CLASSES = 11  # of a scale without a limit of classes: 0 to 10
_TEXT_WIDTH = 25  # of the cells of a column of texts on average, at least, in Latin letters; a Chinese character is as wide as two
_LONGEST_CLASS = 40  # characters
_NUMBER = re.compile(r"[+-]?\d+(?:[.,٫]\d+)?")
_WITH_MEANING = re.compile(r"(\d+)\s*(?:[-–—:=)]|\.\s|\()\s*\D.*")
_DATE = re.compile(r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.] ?\d{1,2}[-/.] ?\d{2,4})(?!\d)|[A-Z][a-z]{2} [A-Z][a-z]{2} \d")
DATE_OF_SHEET = re.compile(
    r"\d{4}-\d{2}-\d{2}([ T].*)?|\d{1,2}-[A-Za-z]{3}(-\d{2,4})?|[A-Za-z]{3}-\d{2,4}|\d{1,2}/\d{1,2}/\d{2,4}"
)  # as spreadsheet programs make dates of scores
_SKIN_TONES = re.compile("[\U0001f3fb-\U0001f3ff\ufe0e\ufe0f]")  # of a thumb, and whether it is drawn in colour
_STARS = re.compile(r"([★⭐🌟]+)[☆✩]*")


@cache
def _forms_with_words() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the forms of `4 out of 5` and of `4 points`, in the languages of the words for cells."""
    between, behind = ("|".join(map(re.escape, words)) for words in (column_words().verdicts.out_of, column_words().verdicts.units))
    return re.compile(rf"(\d+(?:[.,]\d+)?)\s*(?:{between})\s*(\d+)"), re.compile(rf"(\d+(?:[.,]\d+)?)\s*(?:{behind})")


@lru_cache(maxsize=1 << 16, typed=True)  # True is not 1
def cell_score(value: str | int | float | bool) -> float | str | None:
    """Return what a cell means as a score: a number, a word in lower case, or None where it says that there is no answer.

    >>> [cell_score(cell) for cell in ("4/5", "4 – good", "85 %", "★★★☆☆", "3 points", "Pass", "n/a", "2,5", True)]
    [4.0, 4.0, 85.0, 3.0, 3.0, 'pass', None, 2.5, 'true']
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return None if value != value else float(value)
    text = _SKIN_TONES.sub("", unicodedata.normalize("NFKC", value)).strip().casefold()
    if not text or text in column_words().verdicts.none:
        return None
    if _NUMBER.fullmatch(text):
        return float(re.sub("[,٫]", ".", text))
    for form in _forms_with_words():
        if match := form.fullmatch(text):
            return float(match[1].replace(",", "."))
    if (match := _WITH_MEANING.fullmatch(text)) and not DATE_OF_SHEET.fullmatch(text):
        return float(match[1])
    if match := _STARS.fullmatch(value.strip()):
        return float(len(match[1]))
    return " ".join(text.split())


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
        """Return whether nearly all cells begin with a date."""
        different = list(islice(self.counts, _LOOKED_AT))
        return bool(different) and 10 * sum(_DATE.match(str(value)) is not None for value in different) > 9 * len(different)

    @cached_property
    def holds_objects(self) -> bool:
        """Return whether cells are objects or lists of them, or the JSON of some."""
        return any(isinstance(cell, str) and cell.lstrip()[:2] in ("[{", '{"') for cell in islice(self.counts, _LOOKED_AT))

    @cached_property
    def is_text(self) -> bool:
        """Return whether the cells are texts: long ones, or several words that differ from row to row."""
        if self.nested or self.is_date:
            return False
        different = list(islice(self.counts, _LOOKED_AT))
        values = [value for value in different if isinstance(value, str) and isinstance(cell_score(value), str)]
        if 2 * len(values) <= len(different) or not values:
            return False
        width = sum(map(cell_len, values)) / len(values)
        phrases = sum(len(value.split()) > 1 for value in values)
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
        form = _forms_with_words()[0]
        texts = [unicodedata.normalize("NFKC", value).strip().casefold() for value in self.counts if isinstance(value, str)]
        stated = {float(match[2]) for text in texts if (match := form.fullmatch(text))}
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
        if self.nested or self.is_text or not self.scores or (len(self.counts) > _LOOKED_AT and not self.is_numeric):
            return False
        return self.is_numeric or (len(self.scores) <= MOST_CLASSES and all(len(word) <= _LONGEST_CLASS for word in self.words))

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
    return SourceColumn(name, [None if is_blank(cell) or isinstance(cell, Unreadable) else _make_plain(cell) for cell in cells], nested)


def _make_plain(cell: Any) -> str | int | float | bool:
    return cell if isinstance(cell, (str, int, float, bool)) else str(cell)
