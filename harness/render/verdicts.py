"""Verdicts as text: the answer in a few lines, then a table for each judge and condition with a row for each language and metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.render.sides import SIDE_KEYS, Side, is_baseline, plainest_first
from harness.reports.answer import SIGNS, LabelPages, answer_of
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
_WIDE = 180
_ROOM = {TableName.VERDICTS_ALONE: 120, TableName.VERDICTS_REASONS: 120, TableName.VERDICTS_WIDE: _WIDE}
_SAMPLING = {"temperature": "temperature", "top_p": "top-p"}


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


def answer_lines(verdicts: Sequence[Verdict], pages: LabelPages = LabelPages()) -> Iterator[tuple[str, str]]:  # noqa: B008 (frozen)
    """The answer in at most six lines, each with its style: `title`, `good`, `bad`, `open`, `next` or `note`; none without a verdict."""
    sides = judged_sides(verdicts)
    if not sides:
        return
    answer = answer_of(sides, pages)
    yield "title", answer.title
    for style, cards in groupby(answer.cards, key=lambda card: card.style):
        yield style, f"{SIGNS[style]} {' '.join(card.sentence for card in cards)}"
    if answer.sure:
        yield "note", answer.sure
    for step in [step for step in answer.steps if not step.show][:1]:
        yield "note", f"Next: {step.text}{f': {step.command}' if step.command else ''}"


def judged_sides(verdicts: Sequence[Verdict]) -> list[list[Verdict]]:
    """The same as `sides_of_verdicts` without baselines, of which no answer is given."""
    return [own for own in sides_of_verdicts(verdicts) if not is_baseline(side_of_verdict(own[0]))]


def sides_of_verdicts(verdicts: Sequence[Verdict]) -> list[list[Verdict]]:
    """Verdicts by source, judge and condition: judges first, baselines last, the conditions of a judge from the plainest on."""
    sides: dict[Side, list[Verdict]] = {}
    for verdict in verdicts:
        sides.setdefault(side_of_verdict(verdict), []).append(verdict)
    return [sides[side] for side in plainest_first(sides)]


def side_of_verdict(verdict: Verdict) -> Side:
    return tuple(verdict.key.get(name) for name in SIDE_KEYS)


def _rows(verdicts: Sequence[Verdict], names: Mapping[str, str]) -> Iterator[Row]:
    before = None
    for verdict in verdicts:
        row = verdict.flat() | {"metric": names.get(verdict["metric"], verdict["metric"])}
        language = verdict["language"]
        row["language"] = "" if language == before else english_name(language)
        before = language
        yield row


def side_text(key: Mapping[str, Any]) -> str:
    """Who judged, and how, as far as a key has it: `openai/one, joint, temperature 0.3`."""
    known = {name: value for name, value in key.items() if value is not None}
    parts = [str(known[name]) for name in ("judge", "variant") if name in known]
    parts += [f"{words} {known[name]:g}" for name, words in _SAMPLING.items() if name in known]
    sides = [str(known["source"])] if "source" in known else []
    return one_line(": ".join([*sides, *([", ".join(parts)] if parts else [])]))
