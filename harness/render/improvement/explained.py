"""What errors of judges and choices between two texts follow, in the terminal: what is shown, and what could have been found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.content.tags import english_name
from harness.improvement.explain import ErrorEffect, Explained, ExplainedErrors
from harness.improvement.explain_pairs import PEOPLE, ExplainedPairs
from harness.model import JudgeCondition
from harness.render.fitted_table import plain_table
from harness.render.terminal import dim_lines
from harness.reports.tables.numbers import UNDEFINED, counted, probability, signed
from harness.reports.tables.titles import metric_title
from harness.text import one_line, terminal_safe

_MOST_ROWS = 40
"""With more effects than this, only those that are shown have rows of their own."""


def render_explained(found: Explained, *, every: bool = False) -> RenderableType:
    """A block for each metric and judge. `every`: rows for effects that are not shown too, however many there are."""
    whole = every or sum(len(metric.effects) for metric in found.metrics) <= _MOST_ROWS
    parts: list[RenderableType] = []
    for metric in found.metrics:
        condition = JudgeCondition.of(metric.key)
        title = one_line(f"{metric_title(str(metric.key['metric']))}, {condition.judge}: {condition.words()}")
        parts += [Text(""), Text(title, style="bold cyan")]
        parts += [Text(terminal_safe(line)) for line in _findings(metric)]
        rows = [effect for effect in metric.effects if whole or effect.outcome == "shown"]
        parts += [_table(rows)] if rows else []
        if len(rows) < len(metric.effects):
            parts.append(Text(_rest([effect for effect in metric.effects if effect.outcome != "shown"])))
        parts += [Text(terminal_safe(f"left out: {reason}")) for reason in metric.left_out]
    parts += render_pairs(found.pairs) if found.pairs else []
    more = () if whole else ("--all has a row for each effect.",)
    return Group(*parts, dim_lines(map(terminal_safe, (*found.notes, *more))))


def _findings(metric: ExplainedErrors) -> Iterator[str]:
    texts = f"{counted(metric.n, 'text')} in {counted(metric.groups, 'group')}"
    yield f"Judge minus people: {signed(metric.mean_error, 2)} points on average, {texts}."
    for effect in metric.effects:
        if effect.outcome != "shown" or effect.level or effect.value is None:
            continue
        times = "" if metric.times_longer is None else f" ({metric.times_longer:.1f} times as long as others of its language)"
        yield f"A longer text{times} goes with {signed(effect.value, 2)} points against people's mean: an association."


def _table(effects: Sequence[ErrorEffect]) -> Table:
    noisy = any(effect.noise is not None for effect in effects)
    rows = []
    for effect in effects:
        level = english_name(effect.level[0]) if effect.covariate == "language" else " × ".join(effect.level)
        moves = ", moves systems" if effect.outcome == "shown" and effect.moves_systems else ""
        numbers = [_points(effect.value, effect.low, effect.high), probability(effect.q), _detectable(effect)]
        numbers += [UNDEFINED if effect.noise is None else f"±{effect.noise:.2f}"] if noisy else []
        rows.append([one_line(f"{effect.covariate} {level}".rstrip()), *numbers, f"{effect.outcome}{moves}"])
    headings = ("error goes with", "points [95 %]", "q", "detectable", *(["noise alone"] if noisy else []), "")
    return plain_table(headings, rows, range(1, len(headings) - 1))


def _points(value: float | None, low: float | None, high: float | None) -> str:
    """`+0.12 [+0.02 to +0.22]`; a dash for none."""
    ends = "" if low is None or high is None else f" [{signed(low, 2)} to {signed(high, 2)}]"
    return UNDEFINED if value is None else f"{signed(value, 2)}{ends}"


def _detectable(found: ErrorEffect | ExplainedPairs) -> str:
    """The least effect that would have been found, where none was."""
    return UNDEFINED if found.detectable is None or found.outcome == "shown" else f"{found.detectable:.2f}"


def _rest(effects: Sequence[ErrorEffect]) -> str:
    """What has no row: how many effects, and the range of what would have been found."""
    parts = []
    for name in dict.fromkeys(effect.covariate for effect in effects):
        own = [effect for effect in effects if effect.covariate == name]
        found = [effect.detectable for effect in own if effect.detectable is not None]
        ends = f"detectable {min(found):.2f}" + (f" to {max(found):.2f}" if len(found) > 1 else "") if found else "too few groups"
        parts.append(f"{name} {len(own)} ({ends})")
    return f"Not shown: {', '.join(parts)}."


_MOST_SYSTEMS = 15


def render_pairs(found: Sequence[ExplainedPairs]) -> list[RenderableType]:
    """A block for each metric: sentences, a row for people and each judge, and the systems of each."""
    parts: list[RenderableType] = []
    for metric in dict.fromkeys(str(each.key["metric"]) for each in found):
        own = [each for each in found if each.key["metric"] == metric]
        parts += [Text(""), Text(one_line(f"{metric_title(metric)}: choices and the length of the texts"), style="bold cyan")]
        parts += [Text(terminal_safe(line)) for each in own for line in _pair_sentences(each)]
        parts.append(_pairs_table(own))
        parts += [_systems(each) for each in own if each.systems]
        parts += [Text(terminal_safe(f"{_who(each)}, left out: {reason}")) for each in own for reason in each.left_out]
    return parts


def _who(found: ExplainedPairs) -> str:
    condition = JudgeCondition.of(found.key)
    return PEOPLE if condition.judge == PEOPLE else f"{condition.judge}: {condition.words()}".removesuffix(": ")


def _pair_sentences(found: ExplainedPairs) -> Iterator[str]:
    if found.outcome == "shown" and found.length is not None and found.times_longer is not None:
        odds = math.exp(found.length)
        yield (
            f"{_who(found)}: a text {found.times_longer:.1f} times as long as the other has {odds:.2f} times the odds to be chosen: "
            "an association."
        )


def _pairs_table(found: Sequence[ExplainedPairs]) -> Table:
    headings = ("choices of", "choices", "groups", "length [95 %]", "q", "detectable", "first place", "beside length", "")
    rows = []
    for each in found:
        length = (_points(each.length, each.low, each.high), probability(each.q), _detectable(each))
        places = (UNDEFINED if value is None else signed(value, 2) for value in (each.place, each.place_adjusted))
        rows.append([one_line(_who(each)), f"{each.n:,}", f"{each.groups:,}", *length, *places, each.outcome])
    return plain_table(headings, rows, range(1, len(headings) - 1))


def _systems(found: ExplainedPairs) -> Table:
    rows = [(one_line(system.name), signed(system.raw, 2), signed(system.adjusted, 2)) for system in found.systems[:_MOST_SYSTEMS]]
    left = counted(len(found.systems) - _MOST_SYSTEMS, "other")
    rows += [(f"and {left}; --json has all", "", "")] if len(found.systems) > _MOST_SYSTEMS else []
    return plain_table((one_line(f"systems, by {_who(found)}"), "log-odds", "beside length"), rows, (1, 2))
