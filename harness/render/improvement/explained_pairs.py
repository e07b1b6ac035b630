"""What choices between two texts follow, in the terminal: the length for judges beside people, and systems with and without it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harness.improvement.explain_pairs import PEOPLE, ExplainedPairs
from harness.model import JudgeCondition
from harness.reports.tables.numbers import UNDEFINED, counted, probability, signed
from harness.reports.tables.titles import metric_title
from harness.text import one_line, terminal_safe

_MOST_SYSTEMS = 15


def render_pairs(found: Sequence[ExplainedPairs]) -> list[RenderableType]:
    """A block for each metric: sentences, a row for people and each judge, and the systems of each."""
    parts: list[RenderableType] = []
    for metric in dict.fromkeys(str(each.key["metric"]) for each in found):
        own = [each for each in found if each.key["metric"] == metric]
        parts += [Text(""), Text(one_line(f"{metric_title(metric)}: choices and the length of the texts"), style="bold cyan")]
        parts += [Text(terminal_safe(line)) for each in own for line in _sentences(each)]
        parts.append(_table(own))
        parts += [_systems(each) for each in own if each.systems]
        parts += [Text(terminal_safe(f"{_who(each)}, left out: {reason}")) for each in own for reason in each.left_out]
    return parts


def _who(found: ExplainedPairs) -> str:
    condition = JudgeCondition.of(found.key)
    return PEOPLE if condition.judge == PEOPLE else f"{condition.judge}: {condition.words()}".removesuffix(": ")


def _sentences(found: ExplainedPairs) -> Iterator[str]:
    if found.outcome == "shown" and found.length is not None and found.times_longer is not None:
        odds = math.exp(found.length)
        yield (
            f"{_who(found)}: a text {found.times_longer:.1f} times as long as the other has {odds:.2f} times the odds to be chosen: "
            "an association."
        )


def _table(found: Sequence[ExplainedPairs]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("choices of")
    for heading in ("choices", "groups", "length [95 %]", "q", "detectable", "first place", "beside length"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for each in found:
        ends = "" if each.low is None or each.high is None else f" [{signed(each.low, 2)} to {signed(each.high, 2)}]"
        table.add_row(
            one_line(_who(each)),
            f"{each.n:,}",
            f"{each.groups:,}",
            UNDEFINED if each.length is None else f"{signed(each.length, 2)}{ends}",
            probability(each.q),
            UNDEFINED if each.detectable is None or each.outcome == "shown" else f"{each.detectable:.2f}",
            UNDEFINED if each.place is None else signed(each.place, 2),
            UNDEFINED if each.place_adjusted is None else signed(each.place_adjusted, 2),
            each.outcome,
        )
    return table


def _systems(found: ExplainedPairs) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(one_line(f"systems, by {_who(found)}"))
    table.add_column("log-odds", justify="right")
    table.add_column("beside length", justify="right")
    for system in found.systems[:_MOST_SYSTEMS]:
        table.add_row(one_line(system.name), signed(system.raw, 2), signed(system.adjusted, 2))
    if len(found.systems) > _MOST_SYSTEMS:
        table.add_row(f"and {counted(len(found.systems) - _MOST_SYSTEMS, 'other')}; --json has all", "", "")
    return table
