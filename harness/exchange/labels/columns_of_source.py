"""Finds the columns of a source, by the mapping or by their names, and reads its labels one by one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from harness.content.column_words import column_words, is_judge_name
from harness.content.specs import ROLES, LabelMapping, ScoreColumn
from harness.errors import ContentError
from harness.exchange.labels.cells import column_of_table
from harness.exchange.labels.table import Record, SourceTable, Unreadable, is_blank
from harness.model import Score, Source, Split
from harness.text import quoted

# The words for each role (see `column_words`), and the roles whose first word in each language alone is meant: a document is no group of
# texts before somebody says so. Other names are exact.
_WORDS = {
    "item_id": ("id",),
    "annotator_id": ("annotator", "account"),
    "metric": ("metric",),
    "score": ("scores",),
    "language": ("language",),
}
_FIRST_WORDS = ("group", "system")
_EXACT_NAMES = {"task": ("task", "task_id", "task_name"), "parallel_id": ("parallel_id",), "source": ("source",), "split": ("split",)}
_ALLOWED_VALUES: dict[str, Collection[str]] = {"source": get_args(Source), "split": get_args(Split)}  # other values: another meaning


NO_ITEM_ID = "no column with item ids was found; name it with --column item_id=COLUMN"


class ColumnPlan(NamedTuple):
    """The column of each role: `columns` by role, `wide` columns of scores (if none, one row is one label), `texts` by field.

    `guessed` holds the columns that were found by their names, so that people can check them.
    """

    columns: Mapping[str, str]
    wide: Sequence[ScoreColumn]
    texts: Mapping[str, str]
    guessed: Mapping[str, str]


class SourceLabel(NamedTuple):
    """One label as the source has it, without any check."""

    place: str
    record: Record
    item_id: Any
    annotator: Any
    metric: Any
    score: Any
    source: Any


class BlankCell(NamedTuple):
    """An empty score cell. Its item counts all the same."""

    record: Record
    item_id: Any


def make_column_plan(
    table: SourceTable, mapping: LabelMapping, metrics: Collection[str], texts: Collection[str], location: str, *, scored: bool = True
) -> ColumnPlan:
    """Find every column that is needed.

    `metrics` are the metrics with a scale, and `texts` the texts of the tasks; if the mapping does not name their columns, columns of the
    same name are used. Without `scored`, only the items are read. Error messages begin with `place`.
    Raises ContentError for a named column that does not exist and for a needed column that is not found.
    """
    wide = mapping.scored_columns
    mapped = [*mapping.named_columns.values(), *mapping.texts.values(), *(w.column for w in wide)]
    absent = [name for name in dict.fromkeys(mapped) if name not in table.columns]
    missing = [quoted(absent) + (" is not a column" if len(absent) == 1 else " are not columns")] if absent else []
    used = {*mapping.texts.values(), *(w.column for w in wide)}
    needed_roles = [role for role in ROLES if mapping.constant(role) is None and not _is_given_by(wide, role)]
    columns, guessed = find_columns(table, mapping.named_columns, needed_roles, used)
    used |= set(columns.values())
    if not wide and not {"score", "metric"} & columns.keys() and mapping.metric is None:
        wide = tuple(ScoreColumn(column=name, metric=name) for name in table.columns if name in metrics and name not in used)
        guessed |= {f"metric {w.metric}": w.column for w in wide}
    unknown = [message for role, message in _find_unknown_roles(columns, wide, mapping) if scored or role == "item_id"]
    if missing or unknown:
        choices = f"the columns are: {', '.join(table.columns)}"
        raise ContentError(_list_problems([*missing, *unknown]) + (f" ({choices})" if unknown else f"; {choices}"), location)
    fields = dict(mapping.texts) or {name: name for name in table.columns if name in texts and name not in used}
    return ColumnPlan(columns, wide, fields, guessed)


def find_columns(
    table: SourceTable, column_of_role: Mapping[str, str], roles: Iterable[str], used: Collection[str] = ()
) -> tuple[dict[str, str], dict[str, str]]:
    """Return `{role: column}` and the guessed part of it. Roles without a `named` column get the column with a usual name, if any."""
    columns, guessed = dict(column_of_role), {}
    for role in roles:
        if role not in columns and (column := _find_usual_column(table, role, {*used, *columns.values()})) is not None:
            columns[role] = guessed[role] = column
    return columns, guessed


def _is_given_by(wide: Sequence[ScoreColumn], role: str) -> bool:
    if not wide or role == "score":
        return bool(wide)
    if role == "annotator_id":
        return all(w.annotator is not None or w.votes_for is not None for w in wide)
    return role == "metric" and all(w.metric is not None for w in wide)


def _to_snake_case(name: str) -> str:
    """A name in small letters, with an underscore between its words.

    >>> _to_snake_case("Annotator Name"), _to_snake_case("WorkerId"), _to_snake_case("item-ID")
    ('annotator_name', 'worker_id', 'item_id')
    """
    return re.sub(r"[\s._-]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip())).casefold()


def _find_usual_column(table: SourceTable, role: str, used: Collection[str]) -> str | None:
    """Return the column whose name says the role and nothing else, in any language of the words for columns; earlier words win."""
    ranked = [(rank, name) for name in table.columns if name not in used and (rank := _rank(table, role, name)) is not None]
    return min(ranked, key=lambda pair: pair[0])[1] if ranked else None


def _rank(table: SourceTable, role: str, name: str) -> int | None:
    """Return how well a column fits a role, 0 the best; None where its name says something else, or its cells do."""
    words = column_words()
    if role in _EXACT_NAMES:
        names, allowed = _EXACT_NAMES[role], _ALLOWED_VALUES.get(role)
        fits = _to_snake_case(name) in names and (
            not allowed or all(record.cells.get(name) in (None, *allowed) for record in table.records)
        )
        return names.index(_to_snake_case(name)) if fits else None
    if role in _FIRST_WORDS:
        first = [listed[0] for listed in words.roles[role].values()]
        snake = _to_snake_case(name).removesuffix("_id")
        return first.index(snake) if snake in first else None
    ranks = ((index, rank) for index, listed in enumerate(_WORDS[role]) if (rank := words.rank_of_name(listed, name)) is not None)
    if (best := next(ranks, None)) is None or (role == "annotator_id" and is_judge_name(name)):
        return None
    if role in ("score", "metric"):  # a note may be a mark or a remark, and a quality what was scored or its score
        column = column_of_table(table, name)
        if column.is_text or column.holds_objects or (role == "metric" and (column.is_numeric or column.looks_like_scores)):
            return None
    return best[0] * len(words.of_role(_WORDS[role][0])) + best[1]


def _list_problems(problems: Sequence[str]) -> str:
    """One problem as it is, several with their numbers."""
    if len(problems) == 1:
        return problems[0]
    return "; ".join(f"({number}) {problem}" for number, problem in enumerate(problems, start=1))


def _find_unknown_roles(columns: Mapping[str, str], wide: Sequence[ScoreColumn], mapping: LabelMapping) -> Iterator[tuple[str, str]]:
    """Each role that nothing gives, with a sentence on it."""
    needed = {
        "item_id": NO_ITEM_ID,
        "score": "no column with scores was found; name it with --column score=COLUMN, or several with --wide-annotators or --wide-metrics",
        "metric": "the metric of the scores is unknown; give --metric NAME or --column metric=COLUMN",
        "annotator_id": "the annotator of the scores is unknown; give --column annotator_id=COLUMN, --annotator NAME or "
        "--annotators aggregate",
    }
    for role, message in needed.items():
        if role in columns or mapping.constant(role) is not None or _is_given_by(wide, role):
            continue
        if role != "annotator_id" or mapping.annotators != "aggregate":
            yield role, message


def iterate_labels(table: SourceTable, plan: ColumnPlan, mapping: LabelMapping) -> Iterator[SourceLabel | BlankCell]:
    """Yield every label of the source in order, and every blank score cell of a wide source or a sheet."""
    columns, no_answer = plan.columns, {text.strip().casefold() for text in mapping.no_answer}
    for record in table.records:
        cells = record.cells
        values = {role: cells.get(column) for role, column in columns.items()}
        annotator = values.get("annotator_id") if mapping.annotator is None else mapping.annotator
        metric = values.get("metric") if mapping.metric is None else mapping.metric
        source = values.get("source") if mapping.source is None or "source" in mapping.columns else None
        voters: Counter[Any] = Counter()
        for wide in plan.wide or (None,):
            score = values.get("score") if wide is None else cells.get(wide.column)
            nobody = is_blank(values.get("annotator_id"))  # a text that nobody has scored
            if str(score).strip().casefold() in no_answer or (is_blank(score) and (wide is not None or table.kind == "sheet" or nobody)):
                yield BlankCell(record, values.get("item_id"))
                continue
            # The place of a label. If a line has several labels, it includes the number of the column, not its name: that may be a
            # person's.
            column = columns.get("score", "score") if wide is None else wide.column
            location = record.place(column)
            location = location if wide is None or record.letters else f"{location} (column {list(table.columns).index(column) + 1})"
            label = SourceLabel(
                location,
                record,
                values.get("item_id"),
                wide.annotator if wide and wide.annotator is not None else annotator,
                wide.metric if wide and wide.metric is not None else metric,
                score,
                source,
            )
            if wide is None or wide.votes_for is None:
                yield label
            else:
                yield from _expand_votes(label, wide.votes_for, voters)


def _expand_votes(label: SourceLabel, score: Score, voters: Counter[Any]) -> Iterator[SourceLabel | BlankCell]:
    """One label a vote, where the cell is a number of votes. anon-1 to anon-n number the votes on one metric of one item."""
    text = str(label.score).strip()
    if not re.fullmatch(r"\d+(\.0+)?", text, re.ASCII):
        yield label._replace(score=Unreadable(f"'{text}' is no number of votes"), annotator="anon-1")
        return
    count = int(float(text))
    for number in range(voters[label.metric] + 1, voters[label.metric] + count + 1):
        yield label._replace(score=score, annotator=f"anon-{number}")
    voters[label.metric] += count
    if not count:
        yield BlankCell(label.record, label.item_id)
