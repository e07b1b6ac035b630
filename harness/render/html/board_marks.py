"""Figures of boards as inline SVG: the interval of a rank, and cost against agreement. A title says the same in words."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from harness.pages import visible
from harness.render.html.marks import JUDGE_DOT, line, placed, svg
from harness.reports.tables.numbers import percent, two_digits

_INSET = 6.0  # percent of a track's width left free at each end
_WIDTH, _HEIGHT = 720, 300  # of the plot, in its own units
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 270, 16, 46  # margins of the plot; names stand in the right one
_LETTERS = 34  # of a name in the plot
_LINE = 15  # the least distance of two names
_MOST_TICKS = 20  # places of a track of ranks that all have a tick: 200 ticks on each of 200 tracks would be most of a page
_FEW_TICKS = 10  # steps between the ticks of more places


def rank_track(rank: int, ends: tuple[int, int] | None, judges: int, words: str) -> Markup:
    """A rank from 1 (left) to the number of judges, with its interval; `words` say the same. Of many places only round ones have a tick."""
    ticks = [_place(place, judges) for place in _ticks(judges)]
    rules = [line("rule", ticks[0], ticks[-1]), *(line("rule", tick, tick, "32%", "68%") for tick in ticks)]
    reach = [line("judge reach", *(_place(end, judges) for end in ends))] if ends else []
    return svg("track", words, (*rules, *reach, placed(_place(rank, judges), JUDGE_DOT)))


def _ticks(judges: int) -> list[int]:
    """The places that have a tick: all, or the first, the last and the round ones between.

    >>> _ticks(5), _ticks(100)
    ([1, 2, 3, 4, 5], [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
    """
    if judges <= _MOST_TICKS:
        return [*range(1, judges + 1)]
    steps = (first * 10**power for power in itertools.count() for first in (2, 5, 10))
    step = next(step for step in steps if judges <= _FEW_TICKS * step)
    return [1, *range(step, judges, step), judges]


def _place(rank: int, judges: int) -> str:
    return f"{_INSET + (100 - 2 * _INSET) * ((rank - 1) / (judges - 1) if judges > 1 else 0.5):.2f}%"


@dataclass(frozen=True)
class PricedJudge:
    """A judge in the plot of cost and agreement: `cost` of 1,000 judgments above 0, `value` from 0 to 1."""

    name: str
    cost: float
    value: float


def cost_plot(judges: Sequence[PricedJudge], lines: Sequence[tuple[str, str, float]], unit: str, title: str) -> Markup:
    """Agreement (up) of at least one judge against cost (to the right, on a logarithmic axis) in a unit, `$` or `s`.

    `lines` are reference lines, `(kind, name, value)`; kind is `base` or `people`.
    """
    decades = [math.log10(judge.cost) for judge in judges]
    low, high = math.floor(min(decades)), max(math.ceil(max(decades)), math.floor(min(decades)) + 1)
    tenths = [10 * value for value in (*(judge.value for judge in judges), *(value for _, _, value in lines))]
    y_low = math.floor(min(tenths)) / 10
    y_high = max(math.ceil(max(tenths)) / 10, y_low + 0.1)
    parts = [*_axes(low, high, y_low, y_high, unit)]
    names: list[tuple[float, str, str]] = []
    for kind, name, value in lines:
        y = _up(value, y_low, y_high)
        reference = '<line class="{0} reference" x1="{1}" x2="{2}" y1="{3:.1f}" y2="{3:.1f}"/>'
        parts.append(Markup(reference).format(kind, _LEFT, _WIDTH - _RIGHT, y))
        names.append((y, f"{percent(value)} {name}", kind))
    for judge in judges:
        x, y = _along(judge.cost, low, high), _up(judge.value, y_low, y_high)
        words = f"{judge.name}: {percent(judge.value)}, {two_digits(judge.cost)} {unit} for 1,000 judgments"
        dot = '<circle class="judge" cx="{:.1f}" cy="{:.1f}" r="5"><title>{}</title></circle>'
        parts.append(Markup(dot).format(x, y, visible(words)))
        parts.append(Markup('<line class="rule" x1="{:.1f}" x2="{}" y1="{y:.1f}" y2="{y:.1f}"/>').format(x + 7, _WIDTH - _RIGHT, y=y))
        short = judge.name if len(judge.name) <= _LETTERS else f"{judge.name[: _LETTERS - 1]}…"
        names.append((y, f"{percent(judge.value)} {short}", "name"))
    parts += _names(names)
    said = [f"{judge.name} {percent(judge.value)} at {two_digits(judge.cost)} {unit}" for judge in judges]
    words = "; ".join((*said, *(f"{name} {percent(value)}" for _, name, value in lines)))
    frame = '<svg class="plot" role="img" viewBox="0 0 {} {}"><title>{}</title><desc>{}</desc>{}</svg>'
    return Markup(frame).format(_WIDTH, _HEIGHT, visible(title), visible(words), Markup("").join(parts))


def _axes(low: int, high: int, y_low: float, y_high: float, unit: str) -> list[Markup]:
    bottom = _HEIGHT - _BOTTOM
    parts = [Markup('<line class="rule" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>').format(_LEFT, _WIDTH - _RIGHT, bottom)]
    for exponent in range(low, high + 1):
        x, text = _along(10.0**exponent, low, high), f"{10.0**exponent:,.{max(0, -exponent)}f}"
        parts.append(Markup('<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(x, bottom + 18, text))
    for tenth in range(round(10 * y_low), round(10 * y_high) + 1):
        y = _up(tenth / 10, y_low, y_high)
        parts.append(Markup('<line class="rule" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>').format(_LEFT, _WIDTH - _RIGHT, y))
        parts.append(
            Markup('<text class="tick" x="{}" y="{:.1f}" text-anchor="end">{}</text>').format(_LEFT - 6, y + 4, percent(tenth / 10))
        )
    label = Markup('<text class="tick" x="{}" y="{}">{} for 1,000 judgments</text>')
    return [*parts, label.format(_LEFT, _HEIGHT - 6, {"$": "US dollars", "s": "seconds"}[unit])]


def _names(names: Sequence[tuple[float, str, str]]) -> list[Markup]:
    """Names to the right of the plot, at the height of their values, moved apart where they would cover each other."""
    texts, below = [], -math.inf
    for y, name, kind in sorted(names):
        below = max(y + 4, below + _LINE)
        texts.append(Markup('<text class="{}-name" x="{}" y="{:.1f}">{}</text>').format(kind, _WIDTH - _RIGHT + 8, below, visible(name)))
    return texts


def _along(cost: float, low: int, high: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (math.log10(cost) - low) / (high - low)


def _up(value: float, low: float, high: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (value - low) / (high - low)
