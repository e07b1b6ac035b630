"""Verdicts as text: the answer in a few lines, then a table for each judge and condition with a row for each language and metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.model import CONDITION, SIDE, axis_words
from harness.render.sides import Side, is_baseline, plainest_first
from harness.reports.answer import answer_of
from harness.reports.answer_parts import SIGNS, Answer
from harness.reports.tables.column import Row, TableName
from harness.reports.tables.columns import columns_in
from harness.reports.tables.text_table import TextTable, tabulate
from harness.text import one_line

SHORT_NAMES = {
    "linguistic_acceptability": "acceptability",
    "output_content_quality": "content quality",
    "problematic_content": "problematic",
}
"""Metrics in a narrow terminal."""
"""Signs of the styles of verdicts, where there is no room for words; a key explains them."""
_WIDE = 180
_ROOM = {TableName.VERDICTS_ALONE: 120, TableName.VERDICTS_REASONS: 120, TableName.VERDICTS_WIDE: _WIDE}


def verdict_tables(verdicts: Sequence[Verdict], width: int = _WIDE) -> Iterator[tuple[str, TextTable]]:
    """For each judge and condition its name and its table; judges first, baselines last.

    The name is empty where there is only one. A language is named in its first row only. Columns that have no room in `width` characters
    are left out, and then long names of metrics are short.
    """
    beside_people = any(verdict.gap is not None for verdict in verdicts)
    room = _ROOM if beside_people else _ROOM | {TableName.VERDICTS_ALONE: 0}
    tables = [TableName.VERDICTS, *(name for name, needed in room.items() if width >= needed)]
    sides = sides_of_verdicts(verdicts)
    for own in sides:
        rows = list(_rows(own, {} if width >= _WIDE else SHORT_NAMES))
        yield side_text(own[0].key) if len(sides) > 1 else "", tabulate(rows, columns_in(*tables), ("language", "metric"), tables=tables)


def answer_lines(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, str]]:
    """The answer as lines of text, each with its style: `title`, `good`, `bad`, `open` or `note`; no lines without a verdict on a judge."""
    sides = [own for own in sides_of_verdicts(verdicts) if not is_baseline(side_of_verdict(own[0]))]
    if not sides:
        return
    yield from lines_of(answer_of(sides, short_names(sides) if len(sides) > 1 else [""]))


def lines_of(answer: Answer) -> Iterator[tuple[str, str]]:
    """An answer as lines of text, each with its style."""
    yield "title", answer.title
    yield from ((style, f"{SIGNS[style]} {sentence}") for style, sentence in answer.sentences)
    if answer.sure:
        yield "note", answer.sure
    yield from (("note", f"Next: {step.text}: {step.command}") for step in answer.steps if step.command)


def sides_of_verdicts(verdicts: Sequence[Verdict]) -> list[list[Verdict]]:
    """Verdicts by source, judge and condition: judges first, baselines last, the conditions of a judge from the plainest on."""
    sides: dict[Side, list[Verdict]] = {}
    for verdict in verdicts:
        sides.setdefault(side_of_verdict(verdict), []).append(verdict)
    return [sides[side] for side in plainest_first(sides)]


def side_of_verdict(verdict: Verdict) -> Side:
    return tuple(verdict.key.get(name) for name in SIDE)


def short_names(sides: Sequence[Sequence[Verdict]]) -> list[str]:
    """A name for each side: what differs between them, of judge and condition: `joint, temperature 0.3`."""
    shared = {name for name in SIDE if len({str(side[0].key.get(name)) for side in sides}) == 1}
    return [side_text({name: value for name, value in side[0].key.items() if name not in shared}) for side in sides]


def _rows(verdicts: Sequence[Verdict], names: Mapping[str, str]) -> Iterator[Row]:
    before = None
    for verdict in verdicts:
        row = verdict.flat() | {"answer": verdict.answer, "metric": names.get(verdict["metric"], verdict["metric"])}
        language = verdict["language"]
        row["language"] = "" if language == before else english_name(language)
        before = language
        yield row


def side_text(key: Mapping[str, Any]) -> str:
    """Who judged, and how, as far as a key has it: `openai/one, joint, temperature 0.3`."""
    known = {name: value for name, value in key.items() if value is not None}
    parts = [axis_words(name, known[name]) for name in CONDITION if name in known]
    sides = [str(known["source"])] if "source" in known else []
    return one_line(": ".join([*sides, *([", ".join(parts)] if parts else [])]))
