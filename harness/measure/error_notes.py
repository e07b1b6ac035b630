"""Notes on marked errors without a place in their text, of people and of recorded judges."""

from __future__ import annotations

from collections.abc import Iterator

from harness.data.columns import CodedColumn
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.data.marked_errors import OUTPUT, lies_in, rows_with_errors


def error_notes(data: Dataset, judgments: Judgments) -> Iterator[str]:
    """Yield a sentence where errors of people, or of judges, lie outside their text or quote words that are not in it."""
    tables = {"people": data.labels, "people of the second round": data.second_spans, "judges": judgments}
    for who, table in tables.items():
        marked, empty, outside, unplaced = _counts(data, table.item, table.spans) if table is not None else (0, 0, 0, 0)
        lost = [
            *([f"with an empty place: {empty:,}"] if empty else []),
            *([f"outside their text: {outside:,}"] if outside else []),
            *([f"with words that are not in it: {unplaced:,}"] if unplaced else []),
        ]
        if lost:
            yield f"Errors that {who} marked: {marked:,}; {'; '.join(lost)}. They are counted, and pages cannot show them in the text."


def _counts(data: Dataset, item: CodedColumn, column: CodedColumn) -> tuple[int, int, int, int]:
    """How many errors were marked; how many of them have an empty place, one outside the text, or none although something is quoted."""
    marked = empty = outside = unplaced = 0
    for row, errors in rows_with_errors(column):
        text = str(data.by_id[item.values[item.codes[row]]].fields.get(OUTPUT, ""))
        marked += len(errors)
        for error in errors:
            placed = error.start is not None or error.end is not None
            nothing = placed and error.start == error.end
            empty += nothing
            outside += placed and not nothing and not lies_in(error, text)
            unplaced += not placed and not error.missing
    return marked, empty, outside, unplaced
