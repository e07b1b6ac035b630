"""How many of the errors that people and recorded judges marked have no place in their text, in words."""

from __future__ import annotations

from collections.abc import Iterator

from harness.data.columns import CodedColumn
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.data.marked_errors import OUTPUT, lies_in, rows_with_errors


def error_notes(data: Dataset, judgments: Judgments) -> Iterator[str]:
    """Yield a sentence where errors of people, or of judges, lie outside their text or quote words that are not in it."""
    for who, item, column in (("People", data.labels.item, data.labels.spans), ("Judges", judgments.item, judgments.spans)):
        marked, outside, unplaced = _counts(data, item, column)
        lost = [
            *([f"{outside:,} lie outside their text"] if outside else []),
            *([f"{unplaced:,} quote words that are not in it"] if unplaced else []),
        ]
        if lost:
            yield f"{who} marked {marked:,} errors; {' and '.join(lost)}. They are counted, and pages cannot show them in the text."


def _counts(data: Dataset, item: CodedColumn, column: CodedColumn) -> tuple[int, int, int]:
    """How many errors were marked, how many of them lie outside the text, and how many have no place although something is quoted."""
    marked = outside = unplaced = 0
    for row, errors in rows_with_errors(column):
        text = str(data.by_id[item.values[item.codes[row]]].fields.get(OUTPUT, ""))
        marked += len(errors)
        for error in errors:
            placed = error.start is not None or error.end is not None
            outside += placed and not lies_in(error, text)
            unplaced += not placed and not error.missing
    return marked, outside, unplaced
