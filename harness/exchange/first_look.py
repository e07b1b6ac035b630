"""A first look at a table that somebody made: which columns are ids, texts, people's scores, systems and languages. All are guesses."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import msgspec
from rich.cells import cell_len

from harness.content.column_words import column_words
from harness.content.judge_names import is_judge_name, judge_refusal
from harness.content.specs import LabelMapping
from harness.errors import UsageError
from harness.exchange.labels.columns_of_source import find_columns
from harness.exchange.labels.layouts import ROW_NUMBER
from harness.exchange.labels.mapping import ITEM_KEYS
from harness.exchange.labels.table import SourceTable, Unreadable, is_blank
from harness.model import Scale
from harness.text import quoted

_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
_DATE = re.compile(r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.] ?\d{1,2}[-/.] ?\d{2,4})(?!\d)|[A-Z][a-z]{2} [A-Z][a-z]{2} \d")
_TEXT_WIDTH = 25  # of the cells of a column of texts on average, at least, in Latin letters; a Chinese character is as wide as two
_MOST_CLASSES = 11  # different whole numbers of a column of scores, at most: 0 to 10
_MOST_SYSTEMS = 20
_MOSTLY = 0.9  # of the filled cells of a column of scores, to be told of those that are not
_MANY = 0.25  # of the texts must look like a further language, to be one of the table's
_READ = 50  # texts whose language is identified


_MISSING_CODES = (-1.0, -9.0, -99.0, -999.0, 9.0, 88.0, 99.0, 999.0)
_FEW_ROWS = 10
_RESPONDENTS = ("ResponseId", "Respondent ID")  # of Qualtrics and SurveyMonkey
_MTURK, _MTURK_INPUT = ("HITId", "AssignmentId", "WorkerId"), "Input."  # columns of its results; what the workers were shown


class LookedAtColumn(NamedTuple):
    """What the cells of a column look like: how many are filled, differ and hold several words, their mean width, and their numbers."""

    name: str
    filled: int
    different: int
    phrases: int
    width: float
    numbers: tuple[float, ...]

    dates: int = 0

    @property
    def is_text(self) -> bool:
        return not self.numbers and self.width >= _TEXT_WIDTH and not self.is_date

    @property
    def is_date(self) -> bool:
        return self.dates > _MOSTLY * self.filled

    @property
    def is_score(self) -> bool:
        """Few different numbers, again and again. One number for all rows is none, nor are numbers that count up."""
        numbers = self.numbers
        if len(numbers) < _MOSTLY * self.filled or not 1 < len(set(numbers)) <= _MOST_CLASSES:
            return False
        return len(set(numbers)) == 2 or any(later < earlier for earlier, later in pairwise(numbers))


class FirstLook(NamedTuple):
    """The mapping that the table suggests, and a sentence on each guess. `scored` is false for a table of texts alone."""

    mapping: LabelMapping
    guesses: Sequence[str]
    unused: Sequence[str]
    scored: bool
    doubts: Sequence[str] = ()  # what the guesses leave unexplained: a wrong guess would move numbers


def look_at(table: SourceTable, known_metrics: Collection[str], given: LabelMapping) -> FirstLook:
    """Guess what the columns of a table hold. What the user gave in the mapping `given` is not guessed.

    A column whose name the importer knows (`item_id`, `score`, `language`, …) keeps its role. Of the others, columns with few different
    numbers are scores, long texts are texts, and the rest are ids and systems.
    """
    return _Look(table, known_metrics, given).found()


class _Look:
    """What was guessed so far: `mapping`, the columns `by_role` and the `used` ones, with a sentence on each guess."""

    def __init__(self, table: SourceTable, known_metrics: Collection[str], given: LabelMapping) -> None:
        self.table, self.known_metrics, self.given, self.mapping = table, known_metrics, given, given
        self.columns = [_column(table, name) for name in table.columns]
        self.guesses: list[str] = []
        self.guessed_system = ""  # that no name tells
        named = {*given.named_columns.values(), *given.texts.values(), *given.id_from, *(wide.column for wide in given.scored_columns)}
        roles = [role for role in ("item_id", "annotator_id", "metric", "score", "language", "task", "system", "group") if self._open(role)]
        self.by_role, guessed = find_columns(table, {}, roles, named)
        if "metric" in guessed and _column(table, guessed["metric"]).is_text:  # a column 'question' may hold users' questions
            del self.by_role["metric"], guessed["metric"]
        self.guesses += [f"{role.replace('_', ' ')}: the column '{name}', by its name" for role, name in guessed.items()]
        self.named = {*named, *given.drop}
        self.languages: dict[str, int] = {}  # that many of the texts look like
        self.looked = 0
        self.used = {*named, *self.by_role.values(), *given.drop}
        if {*_MTURK} <= {*table.columns}:
            facts = [name for name in table.columns if name not in self.used and not name.startswith((_MTURK_INPUT, "Answer."))]
            self.used |= {*facts}
            self.guesses.append(f"what Mechanical Turk notes, and is not read: {quoted(facts)}")

    def _open(self, role: str) -> bool:
        given = self.given
        taken = given.constant(role) is not None or role in given.named_columns or (role == "item_id" and bool(given.id_from))
        return not (taken or (given.scored_columns and role in ("score", "metric", "annotator_id")))

    def _guess(self, sentence: str, **changes: Any) -> None:
        self.guesses.append(sentence)
        self.mapping = msgspec.structs.replace(self.mapping, **changes)

    def found(self) -> FirstLook:
        """Look in the order in which one finding helps the next."""
        self._scores()
        self._texts()
        self._ids()
        self.mapping = msgspec.structs.replace(
            self.mapping,
            columns={**self.given.columns, **{role: name for role, name in self.by_role.items() if role != "system"}},
            system=self.by_role.get("system") or self.mapping.system,
        )
        self._language()
        scored = bool(self.mapping.scored_columns) or "score" in self.by_role or "score" in self.given.columns
        return FirstLook(self.mapping, self.guesses, [column.name for column in self._free()], scored, list(self._doubts(scored)))

    def _doubts(self, scored: bool) -> Iterator[str]:
        """Yield a sentence on each thing that the guesses leave unexplained, with what would explain it."""
        if form := self._form():
            yield form
            return
        repeated = [column.name for column in self._free() if column.different < column.filled]
        if repeated and self.given.wide_items is None:
            yield (
                f"what are {quoted(repeated)}? Their values repeat, and nothing is read from them; if people gave them: --wide-annotators "
                f"{','.join(repeated)} with --scale or --category; if they do not matter: --drop {repeated[0]}"
            )
        nested = [name for name in self.table.columns if name not in self.named and self._holds_lists(name)]
        if nested:
            yield f"{quoted(nested)} hold lists or objects, maybe with scores: give each score a column or a row, or --drop {nested[0]}"
        if len(self.languages) > 1:
            shown = ", ".join(f"{tag} ({count} of {self.looked})" for tag, count in self.languages.items())
            yield f"the texts look like several languages: {shown}; name their column (--column language=COLUMN), or --language TAG"
        if self.guessed_system and (not scored or (len(self.mapping.scored_columns) == 1 and self.mapping.scored_columns[0].annotator)):
            name = self.guessed_system
            yield f"'{name}' may hold people or their answers, or systems: --column annotator_id={name}, --system {name} or --drop {name}"
        guessed = [] if self.given.scored_columns else [_column(self.table, wide.column) for wide in self.mapping.scored_columns]
        if metadata := [
            column.name for column in guessed if column_words().metadata & set(re.findall(r"[^\W\d_]+", column.name.casefold()))
        ]:
            yield f"{quoted(metadata)} look like facts about the people or the task, not scores: --drop {' '.join(metadata)}"
        if gold := [column.name for column in guessed if column.name.casefold() in column_words().gold or self._is_median(column, guessed)]:
            yield f"{quoted(gold)} may be made from the other columns (a gold label, a median), and no person: --drop {' '.join(gold)}"
        rows = [[record.cells.get(column.name) for column in guessed] for record in self.table.records]
        numbers = [[float(str(cell).replace(",", ".")) for cell in row if _NUMBER.fullmatch(str(cell).strip())] for row in rows]
        numbers = [row for row in numbers if len(row) == len(guessed)]
        if len(guessed) > 2 and numbers:
            if all(sorted(row) == list(range(1, len(row) + 1)) for row in numbers):
                yield f"{quoted(column.name for column in guessed)} hold ranks (1 to {len(guessed)} once in each row), which are no scores"
            elif all(abs(sum(row) - 1) < 0.01 for row in numbers):
                yield f"{quoted(column.name for column in guessed)} add up to 1 in each row: one answer in several columns, no scores"
        if not self.given.metrics and (code := missing_code([number for column in guessed for number in column.numbers])) is not None:
            metric = self.mapping.metric or "METRIC"
            yield f"{code:g} may mean that there is no answer: empty these cells, or say the scale: --scale {metric}=LOWEST..HIGHEST"
        annotators = self.by_role.get("annotator_id") or self.given.columns.get("annotator_id")
        if annotators and self.mapping.id_from == (ROW_NUMBER,) and not self.given.id_from and self.mapping.texts:
            rows_of: dict[tuple[str, ...], set[int]] = {}
            for record in self.table.records:
                rows_of.setdefault(tuple(str(record.cells.get(name, "")) for name in self.mapping.texts.values()), set()).add(record.number)
            if repeated_texts := sum(len(rows) > 1 for rows in rows_of.values()):
                yield (
                    f"{repeated_texts} texts stand in several rows, and no column says which rows are about one text: name it with "
                    "--column item_id=COLUMN, or say that each row is a text of its own: --id-from '#'"
                )
        if {*_MTURK} <= {*self.table.columns}:
            states = [str(record.cells.get("AssignmentStatus", "")) for record in self.table.records]
            if rejected := sum(state.casefold() == "rejected" for state in states):
                yield f"{rejected} assignments were rejected: take these rows out of the table"
        ids = [str(record.cells.get(self.by_role.get("item_id", ""), "")).strip().casefold() for record in self.table.records]
        if footers := [self.table.records[at].place() for at, name in enumerate(ids) if name in column_words().totals]:
            yield f"{', '.join(footers)}: a row of totals or means, and no text; take it out of the table"

    def _form(self) -> str:
        """Return a sentence if columns look like the answers of a form, where a row is a person and a column has the scores of one text."""
        if self.mapping.wide_items is not None or self.given.scored_columns or any(column.is_text for column in self.columns):
            return ""
        ids = "ResponseId" in self.table.columns  # of Qualtrics, whose columns are called Q1_1: elsewhere rater_1 may be a person
        for pattern, families in ((r"(.+?)\s*\[[^]]+\]", r"{} *\[(?P<item>[^]]+)\]"), (r"(\w+?)_\d+", r"{}_(?P<item>\d+)")):
            found = Counter(match[1] for column in self.columns if column.filled and (match := re.fullmatch(pattern, column.name)))
            stems = [stem for stem, times in found.items() if times > 1]
            if not stems or not (ids or pattern.startswith("(.+")):
                continue
            flag = families.format(r"(?P<metric>.+?)" if len(stems) > 1 else ".*" if "[" in families else stems[0])
            who = next((column.name for column in self._free() if column.different == column.filled == len(self.table.records)), None)
            named = next((name for name in _RESPONDENTS if name in self.table.columns), None)
            who = named or who or self.by_role.get("item_id") or "COLUMN"
            return (
                f"the columns of {quoted(stems)} look like the answers to a form: a row a person, a column a text; read them with "
                f"--wide-items '{flag}' --column 'annotator_id={who}' --language TAG, and the texts with --items FILE, or name what the "
                "columns are: --wide-annotators or --wide-metrics"
            )
        return ""

    def _is_median(self, column: LookedAtColumn, guessed: Sequence[LookedAtColumn]) -> bool:
        """Return whether a column is the median of three others or more in every row."""
        others = [other.numbers for other in guessed if other is not column]
        if len(others) < 3 or len(column.numbers) < _FEW_ROWS or any(len(numbers) != len(column.numbers) for numbers in others):
            return False
        return all(value == median(row) for value, row in zip(column.numbers, zip(*others, strict=True), strict=True))

    def _free(self) -> list[LookedAtColumn]:
        return [column for column in self.columns if column.name not in self.used and column.filled]

    def _scores(self) -> None:
        """Columns of scores: of one person each, or on one metric each. Of a table with a score column, only the scale is guessed."""
        given = self.given
        if "score" in self.by_role or "score" in given.columns:
            metrics = self._metrics_in_rows() or [self._metric()]
            self._one_person()
            self._scales(metrics, [_column(self.table, self.by_role.get("score") or given.columns["score"])])
            return
        if not given.scored_columns:
            scores = [column for column in self._free() if column.is_score]
            if not scores:
                return self._not_scored_yet()
            names = tuple(column.name for column in scores)
            if judges := [name for name in names if name not in given.human and is_judge_name(name)]:
                others = ",".join(name for name in names if name not in judges) or "COLUMNS"
                flag = f"name people's columns alone: --wide-annotators {others}; or "
                raise UsageError(judge_refusal(judges, f"{flag}say that it is a person: --human '{judges[0]}'"))
            rated = "annotator_id" in self.by_role or "annotator_id" in given.columns  # then a row is one person's
            if rated and len(names) == 1 and given.metric is not None:
                self._use("score", names[0], f"score: the column '{names[0]}'")
                return self._scales([given.metric], scores)
            self.used |= set(names)
            if rated or all(name in self.known_metrics for name in names) or (given.metric is None and _differ(scores)):
                people = "(--wide-annotators, if they are people)"
                self._guess(f"scores: the columns {quoted(names)}, each on a metric of its own {people}", wide_metrics=names)
            else:
                questions = "(--wide-metrics, if they are questions)"
                self._guess(f"scores: the columns {quoted(names)}, each of one person {questions}", wide_annotators=names)
        wide = self.mapping.scored_columns
        columns = {each.column: _column(self.table, each.column) for each in wide if each.column in self.table.columns}
        if any(each.annotator for each in wide) and given.annotators is None:
            kind = "positional" if are_places(columns) else "persistent"
            self._guess(_WHO[kind], annotators=kind)
        if metrics := [each.metric for each in wide if each.metric]:
            self._one_person()
            self._scales(metrics, list(columns.values()), each=True)
        else:
            self._scales([self._metric()], list(columns.values()))

    def _not_scored_yet(self) -> None:
        """What will be asked about a table of texts: the metric that the user names, from 1 to 5 where its scale is not known."""
        metric = self._metric()
        if metric not in self.known_metrics and metric not in self.given.metrics:
            scale = Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5)
            sentence = f"scale of '{metric}': 1 to 5, as nobody has scored yet (--scale {metric}=LOWEST..HIGHEST:best=SCORE)"
            self._guess(sentence, metrics={**self.given.metrics, metric: scale})
        if numbers := [column.name for column in self._free() if column.numbers and column.different < column.filled]:
            self._guess(f"no scores found; if {quoted(numbers)} hold people's scores: --wide-annotators {','.join(numbers)}")

    def _metric(self) -> str:
        """A name for what was scored, where nothing says it."""
        if self.given.metric is None:
            self._guess("metric: 'rating' (--metric NAME says what was asked)", metric="rating")
        return self.mapping.metric or ""

    def _one_person(self) -> None:
        """The annotator of a table without one: all scores are of one person."""
        given = self.given
        if not ("annotator_id" in {*self.by_role, *given.columns} or given.annotator or given.annotator_from_file or given.annotators):
            self._guess("annotator: one person gave all scores (--column annotator_id=COLUMN, if there are several)", annotator="one")

    def _metrics_in_rows(self) -> list[str]:
        column = self.by_role.get("metric") or self.given.columns.get("metric")
        return sorted({str(record.cells[column]) for record in self.table.records if column and not is_blank(record.cells.get(column))})

    def _scales(self, metrics: Sequence[str], columns: Sequence[LookedAtColumn], *, each: bool = False) -> None:
        """A scale for each metric that has none: from the lowest to the highest score seen; the highest is the best."""
        for at, metric in enumerate(metrics):
            if metric in self.mapping.metrics or metric in self.known_metrics:
                continue
            numbers = [number for column in (columns[at : at + 1] if each else columns) for number in column.numbers]
            if scale := _scale(numbers):
                self._guess(
                    f"scale of '{metric}': {scale.describe()}, from the scores seen ({min(numbers):g} to {max(numbers):g}); the best is "
                    f"{scale.best} (--scale {metric}=LOWEST..HIGHEST:best=SCORE, if it is another one)",
                    metrics={**self.mapping.metrics, metric: scale},
                )

    def _texts(self) -> None:
        if self.given.texts:
            return
        texts: dict[str, str] = {}
        source = self.given.named_columns.get("group")  # texts of one source may be told by the text itself
        for column in self.columns:
            if (
                column.is_text
                and column.filled
                and not self._is_remark(column.name)
                and (column.name not in self.used or column.name == source)
            ):
                texts[field_name(column.name, texts)] = column.name
        if not texts and (short := [column for column in self._free() if column.phrases > _MOSTLY * column.filled and not column.is_date]):
            longest = max(short, key=lambda column: column.width)
            texts = {field_name(longest.name, ()): longest.name}
        remarks = [column.name for column in self._free() if column.name not in texts.values() and self._is_remark(column.name)]
        if remarks:
            self.guesses.append(f"remarks: {quoted(remarks)}; no judge sees them (--text FIELD=COLUMN, if they are a text of the item)")
        self.used |= {*texts.values(), *remarks}
        if texts:
            self._guess("texts: " + ", ".join(f"'{column}' as {field}" for field, column in texts.items()), texts=texts)

    def _holds_lists(self, name: str) -> bool:
        """Return whether cells of a column are lists or objects, or the JSON of some."""
        cells = (record.cells.get(name) for record in self.table.records)
        return any(isinstance(cell, (list, dict)) or (isinstance(cell, str) and cell.lstrip()[:2] in ("[{", '{"')) for cell in cells)

    def _is_remark(self, name: str) -> bool:
        """Return whether a column holds what raters wrote: by its name, as lists and objects, or as it differs between rows of one item."""
        parts = set(re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold()))
        if parts & column_words().remarks or name.casefold().startswith("answer."):
            return True
        if self._holds_lists(name):
            return True
        cells = [(record.cells.get(self.by_role.get("item_id", "")), record.cells.get(name)) for record in self.table.records]
        of_item: dict[str, str] = {}
        return "item_id" in self.by_role and any(of_item.setdefault(str(item), str(cell)) != str(cell) for item, cell in cells if cell)

    def _ids(self) -> None:
        """A column whose values all differ, or two columns that together do; else the number of the row."""
        if "item_id" in self.by_role or not self._open("item_id"):
            return self._system()
        free = [column for column in self._free() if not column.is_text]
        several = {"annotator_id", "metric"} & {*self.by_role, *self.given.columns}  # then an item has several rows
        rows = len(self.table.records)
        if column := self._repeated_item(free):
            self._use("item_id", column.name, f"item id: the column '{column.name}', whose texts several people scored")
            return self._system()
        single = next((column for column in free if column.filled == column.different == rows), None)
        if single and not several:
            self._use("item_id", single.name, f"item id: the column '{single.name}', whose values all differ")
            return self._system()
        for first in free:
            for second in free:
                if first is not second and first.different >= second.different and self._pairs(first, second) == rows:
                    return self._id_of(first, second)
        self._guess("item id: the number of the row, as no column tells the rows apart (--id-from COLUMN,COLUMN)", id_from=(ROW_NUMBER,))
        self._system()

    def _repeated_item(self, free: Sequence[LookedAtColumn]) -> LookedAtColumn | None:
        """Return the column of the items where a row is a score of one person: its text stays the same, and nobody scores it twice."""
        roles = {**self.given.named_columns, **self.by_role}
        if "annotator_id" not in roles:
            return None
        beside = [roles[role] for role in ("annotator_id", "metric") if role in roles]
        rows = [{name: str(record.cells.get(name, "")) for name in self.table.columns} for record in self.table.records]
        fitting = []
        for column in free:
            if not 1 < column.different < column.filled == len(rows):
                continue
            once = len({(row[column.name], *(row[name] for name in beside)) for row in rows}) == len(rows)
            texts = {(row[column.name], *(row[name] for name in self.mapping.texts.values())) for row in rows}
            if once and len(texts) == column.different:
                fitting.append(column)
        return max(fitting, key=lambda column: (column.different, column.name.startswith(_MTURK_INPUT)), default=None)

    def _use(self, role: str, name: str, sentence: str) -> None:
        self.used.add(name)
        self.by_role[role] = name
        self.guesses.append(sentence)

    def _id_of(self, first: LookedAtColumn, second: LookedAtColumn) -> None:
        self.used |= {first.name, second.name}
        self._guess(f"item id: '{first.name}' and '{second.name}' together", id_from=(first.name, second.name))
        if first.different < len(self.table.records) and self._open("group") and "group" not in self.by_role:
            sentence = f"group: rows with the same '{first.name}' share a source, and count as one independent text"
            self._guess(sentence, group=first.name)
        self._system(second)

    def _pairs(self, first: LookedAtColumn, second: LookedAtColumn) -> int:
        cells = [tuple(_cell(record.cells.get(name)) for name in (first.name, second.name)) for record in self.table.records]
        return len({pair for pair in cells if not any(map(is_blank, pair))})

    def _system(self, *candidates: LookedAtColumn) -> None:
        if "system" in self.by_role or not self._open("system"):
            return
        rows = len(self.table.records)
        for column in (*candidates, *self._free()):
            if not column.numbers and 1 < column.different <= min(_MOST_SYSTEMS, rows // 2) and column.filled == rows:
                self.guessed_system = column.name
                return self._use("system", column.name, f"system: the column '{column.name}'")

    def _language(self) -> None:
        texts = self.mapping.texts
        if self.given.language or "language" in self.by_role or "language" in self.given.named_columns or not texts:
            return
        from harness.parse.language import identify_language  # late: loading its model takes half a second

        cells = [str(record.cells.get(column) or "") for record in self.table.records for column in texts.values()]
        long = [cell for cell in cells if cell_len(cell) >= _TEXT_WIDTH]
        long = long[:: max(len(long) // _READ, 1)]  # from the whole table: a table may be sorted by language
        if long := long or [" ".join(filter(None, cells[:_READ]))]:
            seen = Counter(identify_language(cell)[0] for cell in long)
            [(tag, count)] = seen.most_common(1)
            self.looked = len(long)
            self.languages = {other: times for other, times in seen.most_common() if times >= max(_MANY * len(long), 3) or other == tag}
            self._guess(f"language: {tag}, as {count} of {len(long)} texts look like it (--language TAG)", language=tag)


_WHO = {
    "persistent": "people: each column is one person throughout (--annotators positional, if anybody could be in it)",
    "positional": "people: the columns are numbered places, in which different people may stand (--annotators persistent, if each is one "
    "person throughout)",
}


def _column(table: SourceTable, name: str) -> LookedAtColumn:
    cells = [record.cells[name] for record in table.records if not is_blank(record.cells.get(name))]
    cells = [cell for cell in cells if not isinstance(cell, Unreadable)]
    texts = [str(cell).strip() for cell in cells]
    numbers = tuple(float(text.replace(",", ".")) for text in texts if _NUMBER.fullmatch(text))
    phrases = sum(len(text.split()) > 1 for text in texts)
    dates = sum(_DATE.match(text) is not None for text in texts)
    return LookedAtColumn(name, len(cells), len(set(texts)), phrases, sum(map(cell_len, texts)) / max(len(texts), 1), numbers, dates)


def missing_code(numbers: Sequence[float]) -> float | None:
    """Return the number that stands for no answer: a usual code, far from all other scores.

    >>> missing_code([1, 2, 3, 99]), missing_code([1, 2, -1]), missing_code([0, 1, 2])
    (99, -1, None)
    """
    for end in {min(numbers, default=0), max(numbers, default=0)} & {*_MISSING_CODES}:
        others = [number for number in numbers if number != end]
        if others and (end > max(others) + (max(others) - min(others)) or (end < 0 < min(others))):
            return end
    return None


def _cell(value: Any) -> Any:
    return str(value) if isinstance(value, (list, dict)) else value


def _differ(columns: Sequence[LookedAtColumn]) -> bool:
    """Whether columns have scales of their own: their highest or lowest scores are far from each other."""
    highest = [max(column.numbers) for column in columns]
    return len(set(highest)) > 1 and max(highest) >= 2 * min(highest)


def are_places(names: Collection[str]) -> bool:
    """Whether columns are places, such as 'Rater 1' and 'Rater 2', and no people: one word, and a number or letter after it.

    >>> are_places(["Rater A", "Rater B"]), are_places(["Jana N", "Petr K"])
    (True, False)
    """
    numbered = [re.fullmatch(r"(.*?)[\s_.-]*(?:\d+|\b[A-Za-z])", name.strip()) for name in names]
    return all(numbered) and len({found[1] for found in numbered if found}) == 1


def _scale(numbers: Sequence[float]) -> Scale | None:
    if not numbers or min(numbers) == max(numbers):
        return None
    if all(number.is_integer() for number in numbers) and max(numbers) - min(numbers) < _MOST_CLASSES:
        classes = tuple(range(int(min(numbers)), int(max(numbers)) + 1))
        return Scale(kind="ordinal", classes=classes, best=classes[-1])
    return Scale(kind="interval", min=min(numbers), max=max(numbers), best=max(numbers))


def field_name(name: str, taken: Collection[str]) -> str:
    """The name of a text, in letters that a prompt can hold: 'Über uns!' becomes uber_uns."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().casefold()
    field = re.sub(r"[^a-z0-9]+", "_", plain).strip("_") or "text"
    return field if field not in taken and field not in ITEM_KEYS else f"{field}_{len(taken) + 1}"
