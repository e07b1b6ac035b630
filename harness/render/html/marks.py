"""Figures as inline SVG: a line of dots with intervals, and a bar of shares. Sizes are in percent; a title says the same in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from markupsafe import Markup

from harness.html_pages import visible
from harness.reports.answer.parts import STYLES
from harness.reports.tables.numbers import percent

_SHADES = 6
_ROOM_FOR_NUMBER = 0.16  # the least share whose part of a bar has room for its class and number
_ROOM_FOR_CLASS = 0.06  # the least share whose part of a bar has room for its class
_INSET = 3.0  # percent of a track's width left free at each end, so that dots at 0 and 1 are whole


@dataclass(frozen=True)
class Mark:
    """One number from 0 to 1 on a line, with its interval: of the `judge` (a dot), of `people` (a diamond) or of the `base`line (a bar)."""

    kind: Literal["judge", "people", "base"]
    value: float | None
    interval: tuple[float, float] | None = None


JUDGE_DOT = Markup('<circle class="judge" r="5"/>')
_DOT = {
    "judge": JUDGE_DOT,
    "people": Markup('<path class="people" d="M0-6L6 0L0 6L-6 0Z"/>'),
    "base": Markup('<line class="base" y1="-9" y2="9"/>'),
}
_SIGN = Markup('<svg width="20" height="20" aria-hidden="true"><svg x="10" y="10" overflow="visible">{}</svg></svg>')
LEGEND_MARKS = {kind: _SIGN.format(dot) for kind, dot in _DOT.items()}
"""The signs of a track, for the key of a page."""


def svg(kind: str, words: str, parts: Iterable[Markup]) -> Markup:
    """Return a figure of a class of the style sheet; `words` say the same for those who cannot see it."""
    return Markup('<svg class="{}" role="img"><title>{}</title>{}</svg>').format(kind, visible(words), Markup("").join(parts))


def line(kind: str, x1: str, x2: str, y1: str = "50%", y2: str = "50%") -> Markup:
    return Markup('<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(kind, x1, x2, y1, y2)


def placed(x: str, shape: Markup) -> Markup:
    """Return a shape in the middle of a track's height."""
    return Markup('<svg x="{}" y="50%" overflow="visible">{}</svg>').format(x, shape)


def correlation_track(marks: Sequence[Mark], words: str) -> Markup:
    """Correlations on a line from -1 to 1; `words` say the same."""
    halved = []
    for mark in marks:
        interval = ((1 + mark.interval[0]) / 2, (1 + mark.interval[1]) / 2) if mark.interval else None
        halved.append(Mark(mark.kind, None if mark.value is None else (1 + mark.value) / 2, interval))
    return track(halved, words)


def track(marks: Sequence[Mark], words: str) -> Markup:
    """Numbers on a line from 0 to 100 %; `words` say the same for those who cannot see it."""
    rules = [line("rule", _at(0), _at(1)), *(line("rule", _at(tick), _at(tick), "25%", "75%") for tick in (0, 0.5, 1))]
    reaches = (line(f"{mark.kind} reach", *map(_at, mark.interval)) for mark in marks if mark.interval)
    dots = (placed(_at(mark.value), _DOT[mark.kind]) for mark in marks if mark.value is not None)
    return svg("track", words, (*rules, *reaches, *dots))


def _at(value: float) -> str:
    """Return where a value from 0 to 1 stands on a track."""
    return f"{_INSET + (100 - 2 * _INSET) * min(max(value, 0.0), 1.0):.2f}%"


Limits = tuple[float | None, float | None]
"""The lower and the upper limit of a difference, None where it has none."""


def gap_track(
    value: float,
    limits: Limits,
    margin: float | None,
    reach: float,
    style: str,
    words: str,
    tick: float | None = None,
    decides: bool = True,
) -> Markup:
    """Return a difference on a line from -reach to reach: a dot, a line between its limits, and a band from -margin to 0.

    The side that decided is bold: the lower one of `good`, the upper one of `bad`, unless `decides` is False, as another number did. An
    arrow ends the line where it leaves the picture. `tick` marks a further place. The dot is full where `style` is `good` (blue) or `bad`
    (brown), and hollow where nothing is shown; `words` say the same.
    """
    band, over = [], []
    if margin is not None:
        band_left, right = (_INSET + (100 - 2 * _INSET) * (max(end, -reach) + reach) / (2 * reach) for end in (-margin, 0.0))
        band = [Markup('<rect class="margin" x="{:.2f}%" width="{:.2f}%" y="0" height="100%"/>').format(band_left, right - band_left)]
    for limit, side, arrow in zip(limits, ("good", "bad"), ("M-7 0L2-5V5Z", "M7 0L-2-5V5Z"), strict=True):
        if limit is not None:
            kind = "deciding" if decides and side == style else "reach"
            over.append(line(f"gap {style} {kind}", _beside_zero(limit, reach), _beside_zero(value, reach)))
            if abs(limit) > reach:
                over.append(placed(_beside_zero(limit, reach), Markup('<path class="gap {} leaves" d="{}"/>').format(style, arrow)))
    if tick is not None:
        over.append(line("limit", _beside_zero(tick, reach), _beside_zero(tick, reach), "20%", "80%"))
    dot = placed(_beside_zero(value, reach), Markup('<circle class="gap {}" r="5.5"/>').format(style))
    return svg("track", words, (*band, *_zero_line(), *over, dot))


def difference_track(value: float, interval: tuple[float, float] | None, reach: float, words: str) -> Markup:
    """Return a difference on a line from -reach to reach with its interval: full and coloured where the interval lies on one side of 0."""
    style = "open" if not interval or interval[0] <= 0 <= interval[1] else "good" if interval[0] > 0 else "bad"
    over = [line(f"gap {style} reach", *(_beside_zero(end, reach) for end in interval))] if interval else []
    dot = placed(_beside_zero(value, reach), Markup('<circle class="gap {}" r="5"/>').format(style))
    return svg("track", words, (*_zero_line(), *over, dot))


def _beside_zero(value: float, reach: float) -> str:
    return _at((value + reach) / (2 * reach))


def _zero_line() -> tuple[Markup, Markup]:
    return line("rule", _at(0), _at(1)), line("zero", _at(0.5), _at(0.5), "0", "100%")


def bar(shares: Mapping[str, float], classes: Sequence[str], what: str, *, people: bool = False) -> Markup:
    """Shares of classes as one bar, of `people` in ink. `classes` are all of the scale, so that a class has one shade everywhere."""
    words = ", ".join(f"{name}: {percent(share)}" for name, share in shares.items())
    parts, start = [], 0.0
    for name, share in shares.items():
        index, most = classes.index(name) if name in classes else 0, len(classes) - 1
        shade = index % _SHADES if most >= _SHADES else round(index * (_SHADES - 1) / max(most, 1))  # the first is the lightest
        if share > 0:
            rect = '<rect class="{}{}" x="{:.3f}%" width="{:.3f}%" height="100%"/>'
            parts.append(Markup(rect).format("people" if people else "s", shade, 100 * start, 100 * share))
            text = name if share >= _ROOM_FOR_CLASS and len(name) < 3 else ""
            if share >= _ROOM_FOR_NUMBER and len(name) < 4:
                text = f"{name}: {percent(share)}"
            if text:
                label = '<text class="on{}" x="{:.3f}%" y="50%" dy=".35em" text-anchor="middle">{}</text>'
                parts.append(Markup(label).format(shade, 100 * (start + share / 2), visible(text)))
        start += share
    return svg("bar", f"{what}: {words}", parts)


def state_bar(counts: Mapping[str, int]) -> Markup:
    """Return how many questions have each state (`states.STYLES`) as one bar; the words beneath are the page's."""
    total, parts, start = sum(counts.values()), [], 0
    for state, count in counts.items():
        rect = '<rect class="{}" x="{:.3f}%" width="{:.3f}%" height="100%"/>'
        parts.append(Markup(rect).format(STYLES[state], 100 * start / total, 100 * count / total))
        start += count
    return svg("states", ", ".join(f"{count} {state}" for state, count in counts.items()), parts)


_SIDE = 22  # pixels of a square
_MARGIN = 14  # pixels left of and below a matrix, for its classes
_LETTER, _MOST_LETTERS = 6, 22  # pixels of a letter of a row's name, and the most letters of it
_PANEL, _PANEL_INSET = 76, 8  # pixels of a panel of points, and what is left free inside
_LOW, _HIGH = _PANEL_INSET, _PANEL - _PANEL_INSET
_LEAST_TEXT = 0.005  # the least share that is written


@dataclass(frozen=True)
class Point:
    """A point of a panel: where it lies, from 0 to 1 along both axes, the ends of its whisker, its weight from 0 to 1, and its words."""

    x: float
    y: float
    whisker: tuple[float, float] | None
    weight: float
    words: str


def confusion_matrix(classes: Sequence[Any], counts: Sequence[Sequence[int]], show: Mapping[str, Any], words: str) -> Markup:
    """Labels from the top, scores from the left, both from the worst class to the best; a last column of unreadable answers if any.

    Each row is in percent of its labels. A square with judgments is a link: `show` with its `reference` and its `score`.
    """
    scores = [*classes, None] if any(row[-1] for row in counts) else [*classes]
    names = [_short(label, _MOST_LETTERS) for label in classes]
    margin = max(_MARGIN, 4 + _LETTER * max(map(len, names), default=0))
    text = Markup('<text class="axis-text" x="{}" y="{}" text-anchor="{}">{}</text>')
    parts = []
    for down, (label, name, row) in enumerate(zip(classes, names, counts, strict=True)):
        parts.append(text.format(margin - 3, down * _SIDE + 15, "end", name))
        for across, score in enumerate(scores):
            corner = (margin + across * _SIDE, down * _SIDE)
            parts.append(_matrix_square(corner, row[across], sum(row), down == across, {**show, "reference": label, "score": score}))
    bottom = len(classes) * _SIDE
    for across, score in enumerate(scores):
        parts.append(text.format(margin + (across + 0.5) * _SIDE, bottom + 11, "middle", "–" if score is None else _short(score)))
    width, height = margin + len(scores) * _SIDE, bottom + _MARGIN
    return _svg("matrix", width, height, words, parts)


def _matrix_square(corner: tuple[float, float], count: int, total: int, diagonal: bool, show: Mapping[str, Any]) -> Markup:
    share = count / total if total else 0.0
    shade = 0 if not count else 1 + min(4, int(5 * share))
    square = '<rect class="c{}{}" x="{}" y="{}" width="{}" height="{}"/>'
    drawn = Markup(square).format(shade, " diagonal" if diagonal else "", corner[0] + 0.5, corner[1] + 0.5, _SIDE - 1, _SIDE - 1)
    if not count:
        return drawn
    if share >= _LEAST_TEXT:
        text = '<text class="t{}" x="{}" y="{}" text-anchor="middle">{:.0f}</text>'
        drawn += Markup(text).format(shade, corner[0] + _SIDE / 2, corner[1] + 15, 100 * share)
    label, score = show["reference"], "no readable score" if show["score"] is None else f"score {show['score']}"
    title = visible(f"label {label}, {score}: {count:,} of {total:,} ({100 * share:.0f} %)")
    link = '<a href="#items" data-show="{}"><title>{}</title>{}</a>'
    return Markup(link).format(json.dumps(dict(show)), title, drawn)


def _short(value: Any, most: int = 2) -> str:
    text = visible(str(value))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def diagonal_panel(points: Sequence[Point], words: str) -> Markup:
    """Points in a square whose diagonal says `equal`."""
    return _panel([_dashed(_LOW, _HIGH, _HIGH, _LOW)], points, words)


def level_panel(points: Sequence[Point], level: float, words: str) -> Markup:
    """Points from left to right, joined by a line, in a square with a dashed line at `level`."""
    y = f"{_PANEL - _along(level):.1f}"
    return _panel([_dashed(_LOW, y, _HIGH, y), _joined((point.x, point.y) for point in points)], points, words)


def fitted_panel(points: Sequence[Point], line: tuple[float, float] | None, words: str) -> Markup:
    """Points in a square with dashed lines at one half, and a straight line (slope, intercept) between the outermost points."""
    guides = [_dashed(_LOW, _PANEL / 2, _HIGH, _PANEL / 2), _dashed(_PANEL / 2, _LOW, _PANEL / 2, _HIGH)]
    if line is not None and points:
        ends = (min(point.x for point in points), max(point.x for point in points))
        guides.append(_joined((x, line[1] + line[0] * x) for x in ends))
    return _panel(guides, points, words)


def _panel(guides: Sequence[Markup], points: Sequence[Point], words: str) -> Markup:
    frame = Markup('<rect class="frame" x="0.5" y="0.5" width="{0}" height="{0}"/>').format(_PANEL - 1)
    return _svg("panel", _PANEL, _PANEL, words, [frame, *guides, *map(_point, points)])


def _dashed(*ends: float | str) -> Markup:
    return Markup('<line class="rule dashed" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(*ends)


def _joined(corners: Iterable[tuple[float, float]]) -> Markup:
    line = " ".join(f"{_along(x):.1f},{_PANEL - _along(y):.1f}" for x, y in corners)
    return Markup('<polyline class="joined" points="{}"/>').format(line)


def _point(point: Point) -> Markup:
    x, y = _along(point.x), _PANEL - _along(point.y)
    drawn = Markup("")
    if point.whisker:
        ends = (_PANEL - _along(end) for end in point.whisker)
        drawn = Markup('<line class="judge whisker" x1="{0}" x2="{0}" y1="{1:.1f}" y2="{2:.1f}"/>').format(f"{x:.1f}", *ends)
    dot = '<circle class="judge" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"/>'
    return Markup("<g><title>{}</title>{}{}</g>").format(visible(point.words), drawn, Markup(dot).format(x, y, 2 + 3 * point.weight**0.5))


def _along(share: float) -> float:
    return _PANEL_INSET + (_PANEL - 2 * _PANEL_INSET) * min(max(share, 0.0), 1.0)


def _svg(kind: str, width: float, height: float, words: str, parts: Sequence[Markup]) -> Markup:
    head = '<svg class="{0}" width="{1:g}" height="{2:g}" viewBox="0 0 {1:g} {2:g}" role="group" aria-label="{3}">{4}</svg>'
    return Markup(head).format(kind, width, height, visible(words), Markup("").join(parts))
