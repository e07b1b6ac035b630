"""The way in for a table: it is read from a file or a frame, two are joined by an id, and its roles make a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.content.column_words import column_words
from harness.data import Dataset
from harness.errors import UsageError
from harness.exchange.labels.cells import SourceColumn, columns_of_table
from harness.exchange.labels.delimited import likely_encoding
from harness.exchange.labels.options import SourceOptions
from harness.exchange.labels.plain_exports import with_plain_names
from harness.exchange.labels.read import KIND_BY_SUFFIX, read_source
from harness.exchange.labels.table import Record, SourceTable, columns_of, flat, is_blank, with_conversations
from harness.exchange.one_table.options import Role, TableOptions
from harness.exchange.one_table.records import RecordReader, TableRecords
from harness.exchange.one_table.roles import RoleFinder, TableRoles, find_roles
from harness.exchange.one_table.scales import recoded_columns
from harness.text import normalised_id, one_line

_NO_TABLES = ("run.json", "report.json")  # of a run's folder
_DELIMITED = (".csv", ".tsv", ".txt", ".tab")


class OneTable(msgspec.Struct, frozen=True):
    """A table as it was read: its data set, the roles of its columns, and at most six lines that say how it was read."""

    data: Dataset
    roles: TableRoles
    lines: tuple[str, ...]


def is_table_file(source: Any) -> bool:
    """Return True if a source is a file with rows, by its name, or a frame. A file in a run's folder names the run."""
    if is_frame(source):
        return True
    if not isinstance(source, (str, Path)):
        return False
    path = Path(source)
    if path.name in _NO_TABLES or (path.parent / "run.json").is_file():
        return False
    return path.is_file() and any(suffix.lower() in KIND_BY_SUFFIX for suffix in path.suffixes)


def is_frame(source: Any) -> bool:
    """Return True for a frame of pandas, Polars or PyArrow."""
    return any(hasattr(source, name) for name in ("iterrows", "to_pandas", "collect"))


def read_one_table(sources: Sequence[Any], options: TableOptions | None = None, ask: Callable[[str], Role] | None = None) -> OneTable:
    """Read a table with people's and judges' scores, or two that an id joins.

    Args:
        sources: one or two files or frames.
        options: what the user says of the columns.
        ask: answers what a column of scores is that nothing explains.

    Raises:
        UsageError: for columns that nothing explains, and where people or judges have no scores.
        ContentError: for what cannot be read, with `file:line`.
    """
    if len(sources) > 2:
        raise UsageError(f"{len(sources)} tables were named; one table, or two that an id joins, can be compared")
    notes: list[str] = []
    tables = [_read(source, notes) for source in sources]
    names = [Path(source).stem if isinstance(source, (str, Path)) else "table" for source in sources]
    options = options or TableOptions()
    table = tables[0] if len(tables) == 1 else _join_tables(tables, names, options, notes)
    return _make_table(table, columns_of_table(table), names[0], options, ask, notes)


def read_judged_table(source: Any, options: TableOptions | None = None, ask: Callable[[str], Role] | None = None) -> OneTable | None:
    """Read a table in which a judge has scored; None for any other table, and for what is no table. Raises as `read_one_table`."""
    if not is_table_file(source):
        return None
    notes: list[str] = []
    table, options = _read(source, notes), options or TableOptions()
    columns = columns_of_table(table)
    if not RoleFinder(columns, options).has_judge():
        return None
    return _make_table(table, columns, Path(source).stem if isinstance(source, (str, Path)) else "table", options, ask, notes)


def _make_table(
    table: SourceTable, columns: list[SourceColumn], name: str, options: TableOptions, ask: Callable[[str], Role] | None, notes: list[str]
) -> OneTable:
    columns, recoded = recoded_columns(table, columns, options.recode)
    roles = find_roles(columns, options, ask)
    read = RecordReader(table, columns, roles, options, name).read()
    notes += [*table.notes, *recoded, *read.notes]
    data = msgspec.structs.replace(read.data, about=msgspec.structs.replace(read.data.about, notes=tuple(notes)))
    return OneTable(data, roles, tuple(_describe_reading(roles, read, notes)))


def _read(source: Any, notes: list[str]) -> SourceTable:
    if is_frame(source):
        # A frame as a table. Rows are counted from 1.
        frame = source
        if hasattr(frame, "collect"):  # a query of Polars that has not run yet
            frame = frame.collect()
        if hasattr(frame, "to_pandas"):
            frame = frame.to_pandas()
        names = [str(name) for name in frame.columns]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise UsageError(f"the frame has several columns called '{repeated[0]}'; give each column its own name")
        if not len(frame):
            raise UsageError("the frame has no rows")
        lists = [frame.iloc[:, number].tolist() for number in range(len(names))]
        rows = [flat({name: _make_plain(cell) for name, cell in zip(names, row, strict=True)}) for row in zip(*lists, strict=True)]
        records = [
            Record({key: value for key, value in row.items() if not is_blank(value)}, number, "row ")
            for number, row in enumerate(rows, start=1)
        ]
        return with_plain_names(with_conversations(SourceTable("frame", columns_of(rows), records)))
    path = Path(source)
    options = SourceOptions()
    if path.suffix.lower() in _DELIMITED and path.is_file() and (encoding := likely_encoding(path)):
        notes.append(f"{path.name} is not UTF-8; it is read as {encoding}")
        options = SourceOptions(encoding=encoding)
    return with_plain_names(read_source(str(path), options))


def _make_plain(cell: Any) -> Any:
    """Return a cell of a frame without the types of numpy and pandas; a gap is None."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell):
        return None
    if hasattr(cell, "tolist"):
        return cell.tolist()
    return cell if isinstance(cell, (str, int, float, bool, list, dict)) else str(cell)


def _join_tables(tables: Sequence[SourceTable], names: Sequence[str], options: TableOptions, notes: list[str]) -> SourceTable:
    """Return one table from two: rows of the one with repeated ids, or of the first, with the other's cells beside them.

    A column that both have keeps its name where its cells are equal, else it is called by its table: `people.score`.
    """
    keys = _find_shared_key(tables, options)
    ids = [[_read_id(record.cells.get(key)) for record in table.records] for table, key in zip(tables, keys, strict=True)]
    unique = [len(set(of_table)) == len(of_table) for of_table in ids]
    if not any(unique):
        raise UsageError(f"'{keys[0]}' repeats in both tables, so rows cannot be joined; one of them needs a row a text")
    order = (0, 1) if unique[1] else (1, 0)
    base, joined_table = (tables[index] for index in order)
    stems = (
        [names[index] for index in order]
        if names[0] != names[1]
        else [f"{name}{index + 1}" for index, name in zip(order, names, strict=True)]
    )
    right_by_id = {id_: record for id_, record in zip(ids[order[1]], joined_table.records, strict=True) if id_}
    shared = [name for name in base.columns if name in joined_table.columns and name not in keys]
    pairs = [(record.cells, right_by_id[id_].cells) for id_, record in zip(ids[order[0]], base.records, strict=True) if id_ in right_by_id]
    if not pairs:
        raise UsageError(f"the tables share no value of '{keys[0]}', so no row can be joined; name the column of ids with --id")
    differ = {name for name in shared if any(base_cells.get(name) != right_cells.get(name) for base_cells, right_cells in pairs)}
    key = keys[order[0]]

    def renamed(cells: Mapping[str, Any], stem: str, own_key: str) -> dict[str, Any]:
        return {key if name == own_key else f"{stem}.{name}" if name in differ else name: cell for name, cell in cells.items()}

    records, used = [], set()
    for id_, record in zip(ids[order[0]], base.records, strict=True):
        other = right_by_id.get(id_)
        used.add(id_)
        right_cells = renamed(other.cells, stems[1], keys[order[1]]) if other else {}
        records.append(record._replace(cells=right_cells | renamed(record.cells, stems[0], key)))
    alone = [record for id_, record in right_by_id.items() if id_ not in used]
    records += [record._replace(cells=renamed(record.cells, stems[1], keys[order[1]])) for record in alone]
    if missing := len(base.records) - len(pairs) + len(alone):
        notes.append(f"{missing} rows of one table have no row in the other (joined by '{key}')")
    columns = [
        *renamed(dict.fromkeys(base.columns), stems[0], key),
        *renamed(dict.fromkeys(joined_table.columns), stems[1], keys[order[1]]),
    ]
    return SourceTable("joined", list(dict.fromkeys(columns)), records, [*base.notes, *joined_table.notes])


def _read_id(cell: Any) -> str:
    return "" if cell is None else normalised_id(str(cell))


def _find_shared_key(tables: Sequence[SourceTable], options: TableOptions) -> tuple[str, str]:
    """Return the columns of ids that join two tables: of one name, and with values in common."""
    first, second = tables
    if options.id:
        for table in tables:
            if options.id not in table.columns:
                raise UsageError(f"--id '{options.id}' is not a column of both tables; their columns are: {', '.join(table.columns)}")
        return options.id, options.id
    shared = [name for name in first.columns if name in second.columns]
    shared.sort(key=lambda name: not column_words().in_name("id", name))
    for name in shared:
        values = [[_read_id(record.cells.get(name)) for record in table.records] for table in tables]
        unique = any(len(set(of_table)) == len(of_table) for of_table in values)
        if unique and 2 * len(set(values[0]) & set(values[1])) > min(len(set(of_table)) for of_table in values):
            return name, name
    raise UsageError("the two tables have no column of ids in common; name it with --id COLUMN")


def _describe_reading(roles: TableRoles, read: TableRecords, notes: Sequence[str]) -> list[str]:
    """Return the block that says how the table was read: at most six lines."""

    def names(role: Role) -> str:
        return ", ".join(one_line(name) for name, column_role in roles.by_column.items() if column_role == role)

    data = read.data
    people = sorted(set(data.labels.annotator.used))
    judges = sorted(data.judgments.judge.used) if data.judgments is not None else []
    if roles.rows_are_scores:
        parts = [f"people: {len(people)} ({names('annotator')})", f"judge: {', '.join(map(one_line, judges))}", f"scores: {names('score')}"]
    else:
        rated = f" by {len(people)} ({names('annotator')})" if roles.rater else ""
        parts = [f"people: {names('human')}{rated}", f"judge: {names('judge')}"]
    texts = ", ".join(one_line(column) for name, column in roles.texts.items() if name.startswith("output")) or "none"
    inputs = ", ".join(one_line(column) for name, column in roles.texts.items() if not name.startswith("output"))
    parts += [f"text: {texts}{f' (beside: {inputs})' if inputs else ''}", f"language: {read.languages}"]
    scales = {name: scale.described for name, scale in read.scales.items()}
    if len(set(scales.values())) == 1:
        metrics = f" ({', '.join(map(one_line, scales))})" if len(scales) > 1 else ""
        parts.append(f"scale: {one_line(next(iter(scales.values())))}{metrics}")
    else:
        parts.append("scales: " + "; ".join(f"{one_line(name)} {one_line(scale)}" for name, scale in scales.items()))
    lines = [" · ".join(parts)]
    keys = [f"{role}: {names(role)}" for role in _KEYS if names(role)]
    if unused := names("unused"):
        keys.append(f"not used: {unused}")
    if keys:
        lines.append(" · ".join(keys))
    return [*lines, *map(one_line, notes)][:_MOST_LINES]


_KEYS: tuple[Role, ...] = ("id", "group", "system", "metric", "probability", "reason")
_MOST_LINES = 6
