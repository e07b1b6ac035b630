"""Answers that could not be read, by judge and condition: counts, and a bar of their kinds."""

from __future__ import annotations

from markupsafe import Markup

from harness.pages import visible
from harness.render.failure_shares import ConditionFailures, FailureShares, kind_number, kind_words
from harness.render.html.cells import DrawnTable, FigureColumn
from harness.reports.tables.numbers import counted, percent
from harness.reports.tables.text_table import Heading, TextTable


def failures_table(found: FailureShares) -> DrawnTable:
    """A row for each judge and condition, from the plainest on."""
    numbers = ("judgments", "unreadable", *map(kind_words, found.kinds))
    headings = (Heading("condition", "judge and condition", key=True), *(Heading(name, name, number=True) for name in numbers))
    rows = tuple(
        (one.name, counted(one.judgments), percent(one.unreadable), *(counted(one.counts[kind]) for kind in found.kinds))
        for one in found.conditions
    )
    figures = tuple(_bar(one, found.reach) for one in found.conditions)
    drawn = FigureColumn("share of judgments, by kind", figures, ("0 %", "", percent(found.reach)))
    return DrawnTable(TextTable(headings, rows), {"unreadable": drawn})


def failure_key(found: FailureShares) -> list[tuple[str, str]]:
    """The class of the style sheet and the words of each kind."""
    return [(f"f{kind_number(kind)}", kind_words(kind)) for kind in found.kinds]


def _bar(one: ConditionFailures, reach: float) -> Markup:
    """Shares beside each other on a line from 0 to `reach`; a kind has the same colour in every bar."""
    parts, start = [], 0.0
    for kind, share in one.shares.items():
        rect = '<rect class="f{}" x="{:.2f}%" width="{:.2f}%" y="15%" height="70%"/>'
        parts.append(Markup(rect).format(kind_number(kind), 100 * start / reach, 100 * share / reach))
        start += share
    title = visible("; ".join(f"{kind_words(kind)}: {percent(share)}" for kind, share in one.shares.items()))
    return Markup('<svg class="bar failures" role="img"><title>{}</title>{}</svg>').format(title, Markup("").join(parts))
