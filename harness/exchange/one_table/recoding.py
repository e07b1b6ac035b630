"""Recode the cells of a column to another scale, as the user says it: `judge:0..1=1..5`, `judge:4..5=pass,1..3=fail`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from harness.errors import ContentError, UsageError
from harness.exchange.labels.cells import Column, cell_score
from harness.exchange.labels.table import SourceTable
from harness.text import quoted

_NUMBER = r"[+-]?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})")
_DIGITS = 12  # of a recoded number: 0.1 + 0.2 is 0.3


class Recode(NamedTuple):
    """Numbers from `low` to `high`, or one value, become numbers of the range `to`, in proportion, or one value."""

    low: float | str
    high: float | str
    to: tuple[float, float] | float | str

    def recoded(self, score: float | str) -> float | str | None:
        """Return what a score becomes; None where it is not meant."""
        if isinstance(self.low, str) or isinstance(self.high, str) or isinstance(score, str):
            return self.to if score == self.low and not isinstance(self.to, tuple) else None
        if not self.low <= score <= self.high:
            return None
        if not isinstance(self.to, tuple):
            return self.to
        share = (score - self.low) / (self.high - self.low)
        return round(self.to[0] + share * (self.to[1] - self.to[0]), _DIGITS)


def recoded_columns(table: SourceTable, columns: Sequence[Column], recodes: Sequence[str]) -> tuple[list[Column], list[str]]:
    """Return the columns with those cells recoded that the user names, and a note on each of them.

    Raises UsageError for another form, ContentError for a cell that none of a column's rules means.
    """
    by_name, notes = {column.name: column for column in columns}, []
    for text in recodes:
        name = max((name for name in by_name if text.startswith(f"{name}:")), key=len, default=None)
        if name is None:
            raise UsageError(
                f"--recode {text}: begin with a column of the table, such as judge:0..1=1..5; its columns are: {', '.join(by_name)}"
            )
        rules = [_parse_rule(part, text) for part in text[len(name) + 1 :].split(",")]
        cells: list[str | int | float | bool | None] = []
        for record, cell in zip(table.records, by_name[name].cells, strict=True):
            score = None if cell is None else cell_score(cell)
            value = next((value for rule in rules if score is not None and (value := rule.recoded(score)) is not None), None)
            if score is not None and value is None:
                raise ContentError(f"'{cell}' is none of the values in --recode {text}", record.place(name))
            cells.append(value)
        by_name[name] = msgspec.structs.replace(by_name[name], cells=cells)
        notes.append(f"{quoted([name])} was recoded: {text[len(name) + 1 :]}")
    return list(by_name.values()), notes


def _parse_rule(part: str, text: str) -> Recode:
    source, sign, target = part.rpartition("=")
    low, high = _ends(source)
    to_low, to_high = _ends(target)
    if not (sign and source.strip() and target.strip()):
        raise UsageError(f"--recode {text}: write COLUMN:VALUE=VALUE or COLUMN:LOW..HIGH=LOW..HIGH, several with commas; got '{part}'")
    if isinstance(to_low, str) or isinstance(to_high, str) or to_low == to_high:
        spelling = target.strip()
        return Recode(low, high, to_low if isinstance(to_low, float) else spelling)
    if isinstance(low, str) or isinstance(high, str) or low >= high:
        raise UsageError(f"--recode {text}: '{source}' is no range from a lower to a higher number, and '{target}' is a range")
    return Recode(low, high, (to_low, to_high))


def _ends(text: str) -> tuple[float | str, float | str]:
    if match := _RANGE.fullmatch(text.strip()):
        return float(match[1]), float(match[2])
    score = cell_score(text)
    value = text.strip().casefold() if score is None else score
    return value, value
