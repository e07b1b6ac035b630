"""Candidates under several rounds of labels in the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.content.tags import english_name
from harness.improvement.improve import candidate_words
from harness.improvement.label_rounds import RoundsCompared
from harness.reports.tables.numbers import counted, percent
from harness.reports.tables.titles import metric_words
from harness.text import terminal_safe


def render_rounds(found: RoundsCompared) -> RenderableType:
    """Which candidate wins under which round, how far each agrees, and where the rounds differ."""
    same = len(set(found.winners)) == 1
    lines = [
        f"{'Every round' if same else name} agrees most with {candidate_words(winner)}."
        for name, winner in list(zip(found.rounds, found.winners, strict=True))[: 1 if same else None]
    ]
    lines.append(f"The rounds differ on {found.differing:,} of {found.common:,} questions that have a commonest label in each.")
    parts: list[RenderableType] = [Text(terminal_safe(line)) for line in lines]
    parts += [Text(""), _agreement(found)]
    if found.examples:
        parts += [Text("\nWhere they differ:"), _examples(found)]
    parts.append(
        Text(
            f"\nAgreement on the {counted(found.questions, 'question')} that choose. Nothing is confirmed, and no label is spent: decide "
            "which instructions you mean, then choose by their labels.",
            style="dim",
        )
    )
    return Group(*parts)


def _agreement(found: RoundsCompared) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("candidate")
    for name in found.rounds:
        table.add_column(terminal_safe(name), justify="right")
    for candidate, row in zip(found.candidates, found.agreement, strict=True):
        cells = [f"{percent(share)}{' *' if winner == candidate else '  '}" for share, winner in zip(row, found.winners, strict=True)]
        table.add_row(terminal_safe(candidate_words(candidate)), *cells)
    return table


def _examples(found: RoundsCompared) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("language", "metric", "text", *found.rounds):
        table.add_column(terminal_safe(heading))
    for row in found.examples:
        labels = (terminal_safe(str(label)) for label in row.labels)
        table.add_row(english_name(row.language), metric_words(row.metric), terminal_safe(row.item_id), *labels)
    return table
