"""Tables with a row for each judge of a text, beside the same score of a person: each judge gets a column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from harness.content.column_words import column_words, is_judge_name
from harness.exchange.labels.cell_scores import is_blank
from harness.exchange.labels.source_table import Record, SourceTable
from harness.exchange.labels.table_columns import column_of_table
from harness.exchange.one_table.column_names import name_without_side, side_of
from harness.text import quoted

_MOST_JUDGES = 50


def with_column_of_each_judge(table: SourceTable, dropped: Sequence[str]) -> SourceTable:
    """Return a table with a row a text, if each row has the score of a judge that a column names; any other table as it is.

    Such a table repeats the text and what people said of it in the row of each judge:

    | text | human | model | llm_score |
    | --- | --- | --- | --- |
    | A | 4 | gpt-4o | 5 |
    | A | 4 | llama | 3 |

    It becomes `text, human, gpt-4o, llama`. All names of the column must be judges', no text may have a judge twice, and what differs
    between the rows of a text must be scores, reasons, or what nobody asks for (times, costs), which is left out.

    Args:
        table: the table as it was read.
        dropped: columns that the user leaves out.
    """
    for judges in table.columns:
        names = [record.cells.get(judges) for record in table.records]
        different = {name if isinstance(name, str) else "" for name in names}
        if judges in dropped or not 1 < len(different) <= _MOST_JUDGES or not all(map(is_judge_name, different)):
            continue
        others = [column_of_table(table, name) for name in table.columns if name != judges and name not in dropped]
        # The rows of a text have one id, or else the same texts.
        ids = [column.cells for column in others if column.repeats and column_words().in_name("id", column.name)]
        texts = [column.cells for column in others if column.is_text and not column_words().in_name("reason", column.name)]
        for key_cells in (*([cells] for cells in ids), texts, *([cells] for cells in texts)):
            keys = list(zip(*key_cells, strict=True))
            rows = Counter(keys)
            if not keys or 2 * sum(count > 1 for count in rows.values()) <= len(rows) or len({*zip(keys, names, strict=True)}) < len(keys):
                continue
            varying = [column for column in others if len({*zip(keys, column.cells, strict=True)}) > len(rows)]
            reasons = [column.name for column in varying if column_words().in_name("reason", column.name)]
            scores = [
                column.name
                for column in others
                if column.may_be_scores
                and column.name not in reasons
                # A judge's scores may be equal in all rows; a column of scores that says of nobody is a judge's where they differ.
                and (side_of(column.name) == "judge" or (column in varying and column_words().in_name("scores", column.name)))
            ]
            people = any(side_of(column.name) == "human" and column.may_be_scores for column in others if column not in varying)
            texts_vary = any(column.is_text and column.name not in reasons for column in varying)
            if not scores or not people or texts_vary or any(side_of(column.name) == "human" for column in varying):
                continue
            left_out = [column.name for column in varying if column.name not in (*scores, *reasons)]
            return _pivot(table, judges, list(map(str, names)), keys, scores, reasons, left_out)
    return table


def _pivot(
    table: SourceTable,
    judges: str,
    names: Sequence[str],
    keys: Sequence[Any],
    scores: Sequence[str],
    reasons: Sequence[str],
    left_out: Sequence[str],
) -> SourceTable:
    """Return the table with a row for each key, and the scores and reasons of each judge in columns that bear its name."""
    new_names: Mapping[tuple[str, str], str] = {
        (judge, column): judge if column in scores and len(scores) == 1 else f"{judge} {name_without_side(column) or column}"
        for judge in dict.fromkeys(names)
        for column in (*scores, *reasons)
    }
    records: dict[Any, Record] = {}
    for key, judge, record in zip(keys, names, table.records, strict=True):
        of_text = records.setdefault(key, record._replace(cells=dict(record.cells)))
        for column in (*scores, *reasons):
            if not is_blank(cell := record.cells.get(column)):
                of_text.cells[new_names[judge, column]] = cell
    gone = {judges, *scores, *reasons, *left_out}
    columns = [name for name in table.columns if name not in gone]
    note = f"'{judges}' names the judge of each row, {quoted(dict.fromkeys(names))}: each has a column of {quoted(scores)} now"
    if left_out:
        note += f"; {quoted(left_out)} {'is' if len(left_out) == 1 else 'are'} not used"
    cells_left = [
        record._replace(cells={name: cell for name, cell in record.cells.items() if name not in gone}) for record in records.values()
    ]
    return table._replace(columns=[*columns, *new_names.values()], records=cells_left, notes=[*table.notes, note])
