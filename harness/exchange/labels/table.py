"""A source as a table: named columns and numbered records, with the place of each cell for messages; and what its cells hold.

A column says how many of its cells are filled, which values differ, and which of them can be scores. The score or the id in a cell is
read here alone: strictly in meaning, tolerantly in form.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import islice, pairwise
from statistics import mode
from typing import Any, NamedTuple

import msgspec
from rich.cells import cell_len

from harness.content.column_words import column_words
from harness.conversations import cell_text
from harness.errors import ContentError, UsageError
from harness.model import Scale, Score
from harness.text import normalised, normalised_id, quoted

MAX_BYTES = 512 * 1024 * 1024  # of an unpacked source: more than any label set needs, less than fills the memory


JUDGES_ALONE = "judges_alone"  # in `about` of a table with a judge's scores and no person's: the sentence on what is missing


class Unreadable(NamedTuple):
    """A cell whose value cannot be used, and the reason: a merged cell, a formula without a value."""

    reason: str


class Record(NamedTuple):
    """One row of a source: its `cells` by column, and the parts of its place (`ratings.csv:7`, `book.xlsx:Sheet1!C7`)."""

    cells: dict[str, Any]
    number: int
    head: str
    letters: Mapping[str, str] = {}
    tail: str = ""

    def place(self, column: str | None = None) -> str:
        """The place of the record, or of one of its cells.

        >>> Record({}, 7, "book.xlsx:Sheet1!", {"score": "C"}).place("score")
        'book.xlsx:Sheet1!C7'
        """
        return f"{self.head}{self.letters.get(column or '', '')}{self.number}{self.tail}"


class SourceTable(NamedTuple):
    """A source as it was read. `kind` is the kind of the source; `notes` tell the user how it was read."""

    kind: str
    columns: Sequence[str]
    records: Sequence[Record]
    notes: Sequence[str] = ()
    left_out: int = 0  # answers that cannot be labels: skipped tasks, comments, drawings
    about: Mapping[str, Any] = {}  # what the source says about its metrics (`scales`) and items


def with_conversations(table: SourceTable) -> SourceTable:
    """Return the table with a text in each cell that holds a list of messages, or such a list as JSON."""
    records = [
        record._replace(cells={column: cell_text(cell) for column, cell in record.cells.items()})
        if any(type(cell) is list or (type(cell) is str and cell[:1] == "[") for cell in record.cells.values())
        else record
        for record in table.records
    ]
    return table._replace(records=records)


def header_index(widths: Sequence[int], numbers: Sequence[int], stated: int | None, path: str) -> int:
    """Which row names the columns, among the rows that are not empty: the row number `asked` for, else the first below the title.

    `widths` are the filled cells of each row, `numbers` their numbers in the file. Rows above that fill one cell, or less than half of what
    rows usually fill, are a title. Raises ContentError for the file `place` if there is no row with the number `asked`.

    >>> header_index([1, 4, 4], [1, 3, 4], None, "ratings.csv"), header_index([4, 4], [1, 2], None, "ratings.csv")
    (1, 0)
    """
    if stated is not None:
        if stated not in numbers:
            first = ", ".join(map(str, numbers[:5]))
            raise ContentError(f"--header-row {stated}: this row is empty or not there; the first rows with cells are {first}", path)
        return numbers.index(stated)
    usual = mode(widths) if widths else 0
    rows = widths[: min(_TITLE_ROWS, len(widths) - 1)]
    return next((index for index, width in enumerate(rows) if width > 1 and 2 * width >= usual), 0)


_TITLE_ROWS = 10  # no table has its names further down than this without saying so


def header_note(header: int, numbers: Sequence[int]) -> list[str]:
    """Return the note on rows above the column names."""
    if not header:
        return []
    return [f"row {numbers[header]} was read as the column names, and what stands above it as a title; --header-row names another row"]


def two_row_names(names: Sequence[str], below: Sequence[str]) -> list[str] | None:
    """Return the names of columns whose header takes two rows, as SurveyMonkey writes it: questions, and below them what each column asks.

    None where the second row is one of answers: the first columns, such as the respondent's id, have nothing below their names, and
    all others have words there; of a question with several columns, only the first has its name above.

    >>> two_row_names(["Respondent ID", "How fluent?", "", "Why?"], ["", "Text 1", "Text 2", "Response"])
    ['Respondent ID', 'How fluent? [Text 1]', 'How fluent? [Text 2]', 'Why?']
    >>> two_row_names(["id", "score", ""], ["", "3", "4"]), two_row_names(["id", "text", ""], ["a", "b", "c"])
    (None, None)
    """
    first = next((index for index, cell in enumerate(below) if not is_blank(cell)), 0)
    words = [cell for cell in below[first:] if not is_blank(cell) and not re.fullmatch(r"[\s\d.,:/+-]*", cell)]
    complete = len(names) == len(below) and not any(map(is_blank, names[: first + 1]))
    of_several = any(map(is_blank, names[first:])) or "Collector ID" in names[:first]
    if not (first and complete and of_several and len(words) == len(below) - first):
        return None
    joined, question = list(names[:first]), ""
    for index in range(first, len(names)):
        question = names[index] or question
        alone = names[index] and (index + 1 == len(names) or names[index + 1])
        joined.append(question if alone else f"{question} [{below[index].strip()}]")
    return joined


def grouped_names(groups: Sequence[str], names: Sequence[str], rows: Sequence[Sequence[Any]], *, merged: bool = False) -> list[str] | None:
    """Return the names of columns below which a row of groups stands, such as `Human` over `fluency` and `tone`; None where it is none.

    Args:
        groups: the upper row. A blank cell belongs to the group before it, if all groups then have the same names.
        names: the row below, in words; a column that has no name there is named by the upper row.
        rows: the rows of answers below; a row whose words they repeat holds answers.
        merged: whether the upper row says how far each group reaches; a blank cell then has no group.

    Raises UnreadableScore where nothing says how far groups reach.

    >>> grouped_names(["", "Human", "", "Judge", ""], ["id", "fluency", "tone", "fluency", "tone"], [["1", "3", "4", "4", "4"]])
    ['id', 'Human [fluency]', 'Human [tone]', 'Judge [fluency]', 'Judge [tone]']
    >>> grouped_names(["My survey", "", ""], ["id", "text", "score"], [["1", "a", "3"]])
    >>> grouped_names(["", "text", "score"], ["a", "Some text", "good"], [["b", "Another text", "good"]])
    """
    above = [index for index, cell in enumerate(groups) if not is_blank(cell)]
    if not above or above == [0] or len(groups) != len(names) or not rows:
        return None
    several = any(is_blank(cell) for cell in groups[above[0] :]) or len({groups[index] for index in above}) < len(above)
    words = [cell for cell in names if not is_blank(cell)]
    named = not any(is_blank(name) and is_blank(group) for name, group in zip(names, groups, strict=True))
    in_words = len(words) > 1 and not any(_NUMBER.fullmatch(cell.strip()) or len(cell) > _LONGEST_CLASS for cell in words)
    if not (several and named and in_words):
        return None
    for index, name in enumerate(names):
        if not is_blank(name) and any(len(row) > index and str(row[index]).strip() == name.strip() for row in rows):
            return None
    joined, group, is_carried = [], "", False
    names_of: dict[str, list[str]] = {}
    for upper, name in zip(groups, names, strict=True):
        is_carried = is_carried or bool(group and is_blank(upper) and not merged)
        group = group if is_blank(upper) and not is_blank(name) and not merged else upper.strip()
        joined.append(group if is_blank(name) else f"{group} [{name.strip()}]" if group else name.strip())
        if group and not is_blank(name):
            names_of.setdefault(group, []).append(name.strip())
    if len({*joined}) < len(joined) or not names_of or (is_carried and len(names_of) == 1):
        return None
    if is_carried and len({tuple(of_group) for of_group in names_of.values()}) > 1:
        raise UnreadableScore(
            f"this row and the one below both hold names of columns, and blank cells do not say how far the groups {quoted(names_of)} "
            "reach: write the group into each of its cells, or keep one row of names"
        )
    return joined


def two_row_note(number: int) -> str:
    """Return the note on a second row of column names."""
    return f"row {number} was read as a second row of column names, and is no answer"


def groups_note(number: int) -> str:
    """Return the note on a row of groups above the names of columns."""
    return f"row {number} was read as groups of columns, and the row below it as their names"


def is_blank(value: Any) -> bool:
    """Return whether a cell is empty or holds only white space.

    >>> is_blank(" "), is_blank(0)
    (True, False)
    """
    return value is None or (isinstance(value, str) and not value.strip())


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """All keys of the rows, in the order of their first occurrence."""
    return list(dict.fromkeys(key for row in rows for key in row))


def flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a row with its nested objects flattened under dotted names.

    >>> flat({"id": 1, "answer": {"fluency": 2}})
    {'id': 1, 'answer.fluency': 2}
    """
    flattened: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict) and value:
            flattened |= flat(value, f"{prefix}{key}.")
        else:
            flattened[f"{prefix}{key}"] = value
    return flattened


_PROBABILITY = re.compile(
    r"(?:(?P<judge>\S.*?)[\s./:_-]+)?(?:p|prob|probs|probability|probabilities)(?:[\s._:-]+(?P<word>\S.*)|\s*[(\[](?P<inside>.+)[)\]])",
    re.IGNORECASE,
)
_PROBABILITY_LAST = re.compile(r"(?P<word>\S.*?)[\s._:-]+(?:prob|probability)", re.IGNORECASE)
MOST_CLASSES = 11  # of a scale without a limit of classes: 0 to 10
_TEXT_WIDTH = 25  # of the cells of a column of texts on average, at least, in Latin letters; a Chinese character is as wide as two
_FEW_WIDE = 8  # Chinese characters: names are shorter
_LONGEST_CLASS = 40  # characters
_NUMBER = re.compile(r"[+-]?\d+(?:[.,٫]\d+)?")
_WITH_MEANING = re.compile(r"(\d+)\s*(?:[-–—:=)]|\.\s|\()\s*\D.*")
_DATE = re.compile(r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.] ?\d{1,2}[-/.] ?\d{2,4})(?!\d)|[A-Z][a-z]{2} [A-Z][a-z]{2} \d")
_SECONDS = re.compile(r"(?:9[5-9]|1\d\d|2[0-4]\d)\d{7}(?:\d{3}|\d{6})?(?:\.\d+)?")  # from 2000 to 2049
DATE_OF_SHEET = re.compile(
    r"\d{4}-\d{2}-\d{2}([ T].*)?|\d{1,2}-[A-Za-z]{3}(-\d{2,4})?|[A-Za-z]{3}-\d{2,4}|\d{1,2}/\d{1,2}/\d{2,4}"
)  # as spreadsheet programs make dates of scores
_SKIN_TONES = re.compile("[\U0001f3fb-\U0001f3ff\ufe0e\ufe0f]")  # of a thumb, and whether it is drawn in colour
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
# A UUID, a digest.
_ID = re.compile(r"\{?[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}?|(?:sha\d+:)?(?=\w*[a-f])[0-9a-f]{16,}")
_ADDRESS = re.compile(r"(?:https?|ftp|file|s3|gs)://\S+|www\.\S+", re.IGNORECASE)
_STARS = re.compile(r"([★⭐🌟]+)[☆✩]*")


@cache
def _forms_with_words() -> tuple[re.Pattern[str], re.Pattern[str]]:
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


@lru_cache(maxsize=1 << 16, typed=True)  # True is not 1
def cell_score(value: str | int | float | bool) -> float | str | None:
    """Return what a cell means as a score: a number, a word in lower case, or None where it says that there is no answer.

    >>> [cell_score(cell) for cell in ("4/5", "4 – good", "85 %", "★★★☆☆", "3 points", "Pass", "n/a", "2,5", True, "[[4]]")]
    [4.0, 4.0, 85.0, 3.0, 3.0, 'pass', None, 2.5, 'true', 4.0]
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return None if value != value else float(value)
    text = _SKIN_TONES.sub("", unicodedata.normalize("NFKC", value)).strip().casefold()
    if text.startswith("[[") and text.endswith("]]"):  # as judges are asked to write their score
        text = text[2:-2].strip()
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
        if (
            self.nested
            or self.is_text
            or self.is_id
            or self.is_address
            or not self.scores
            or (len(self.counts) > _LOOKED_AT and not self.is_numeric)
        ):
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
    readable = (None if is_blank(cell) or isinstance(cell, Unreadable) else cell for cell in cells)
    return SourceColumn(
        name, [cell if cell is None or isinstance(cell, (str, int, float, bool)) else str(cell) for cell in readable], nested
    )


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
        decimal = re.sub("[,٫]", ".", text)
        readings.append(int(float(decimal)) if float(decimal).is_integer() and "." not in decimal else float(decimal))
        if re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", text):
            readings.append(int(text.replace(",", "")))
    return readings


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
