"""Answers that could not be read, by judge and condition: counts, and a bar of their kinds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from markupsafe import Markup

from harness.data.judgments import Judgments
from harness.model import Failure
from harness.pages import visible
from harness.render.html.cells import DrawnTable, FigureColumn
from harness.render.html.sides import side_name
from harness.render.numbers import percent
from harness.render.sides import Side, plainest_first
from harness.render.text_table import Heading, TextTable


def failures_by_condition(judgments: Judgments) -> DrawnTable | None:
    """A row for each judge and condition, from the plainest on; None where there is one condition, or every answer could be read.

    Perturbed texts count with their condition, as every answer does.
    """
    counts = _counts(judgments)
    kinds = [str(kind) for kind in Failure if any(by[str(kind)] for by in counts.values())]
    if not kinds or len({side[2:] for side in counts}) < 2:
        return None
    sides = plainest_first(counts)
    shares = {side: {kind: counts[side][kind] / counts[side].total() for kind in kinds} for side in sides}
    reach = max(0.1, math.ceil(10 * max(sum(by.values()) for by in shares.values())) / 10)
    words = [kind.replace("_", " ") for kind in kinds]
    numbers = ("judgments", "unreadable", *words)
    headings = (Heading("condition", "judge and condition", key=True), *(Heading(name, name, number=True) for name in numbers))
    rows = tuple(
        (
            side_name(side, sides),
            f"{counts[side].total():,}",
            percent(sum(shares[side].values())),
            *(f"{counts[side][kind]:,}" for kind in kinds),
        )
        for side in sides
    )
    figures = tuple(_bar([shares[side][kind] for kind in kinds], words, reach) for side in sides)
    drawn = FigureColumn("share of judgments, by kind", figures, ("0 %", "", percent(reach)))
    return DrawnTable(TextTable(headings, rows), {"unreadable": drawn})


def _counts(judgments: Judgments) -> dict[Side, Counter[str | None]]:
    """The number of judgments by side and failure; None: a score could be read."""
    columns = (judgments.judge, judgments.variant, judgments.temperature, judgments.top_p, judgments.failure)
    found: dict[Side, Counter[str | None]] = {}
    for (*key, failure), n in Counter(zip(*columns, strict=True)).items():
        found.setdefault((None, *key), Counter())[failure if failure is None else str(failure)] += n
    return found


def _bar(shares: Sequence[float], words: Sequence[str], reach: float) -> Markup:
    """Shares beside each other on a line from 0 to `reach`; a kind has the same colour in every bar."""
    parts, start = [], 0.0
    for number, share in enumerate(shares):
        rect = '<rect class="f{}" x="{:.2f}%" width="{:.2f}%" y="15%" height="70%"/>'
        parts.append(Markup(rect).format(number, 100 * start / reach, 100 * share / reach))
        start += share
    title = visible("; ".join(f"{word}: {percent(share)}" for word, share in zip(words, shares, strict=True)))
    return Markup('<svg class="bar failures" role="img"><title>{}</title>{}</svg>').format(title, Markup("").join(parts))
