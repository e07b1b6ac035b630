"""Small figures as inline SVG, each of one cell: a confusion matrix, and points beside a diagonal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from harness.pages import visible

_SIDE = 22  # pixels of a square
_MARGIN = 14  # pixels left of and below a matrix, for its classes
_LETTER, _MOST_LETTERS = 6, 22  # pixels of a letter of a row's name, and the most letters of it
_PANEL, _INSET = 76, 8  # pixels of a panel of points, and what is left free inside
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
    left = max(_MARGIN, 4 + _LETTER * max(map(len, names), default=0))
    parts = []
    for down, (label, name, row) in enumerate(zip(classes, names, counts, strict=True)):
        y = down * _SIDE
        text = '<text class="axis-text" x="{}" y="{}" text-anchor="end">{}</text>'
        parts.append(Markup(text).format(left - 3, y + 15, name))
        for across, score in enumerate(scores):
            place = (left + across * _SIDE, y)
            parts.append(_matrix_square(place, row[across], sum(row), down == across, {**show, "reference": label, "score": score}))
    bottom = len(classes) * _SIDE
    for across, score in enumerate(scores):
        text = '<text class="axis-text" x="{}" y="{}" text-anchor="middle">{}</text>'
        parts.append(Markup(text).format(left + (across + 0.5) * _SIDE, bottom + 11, "–" if score is None else _short(score)))
    width, height = left + len(scores) * _SIDE, bottom + _MARGIN
    return _svg("matrix", width, height, words, parts)


def _matrix_square(place: tuple[float, float], count: int, total: int, diagonal: bool, show: Mapping[str, Any]) -> Markup:
    share = count / total if total else 0.0
    shade = 0 if not count else 1 + min(4, int(5 * share))
    square = '<rect class="c{}{}" x="{}" y="{}" width="{}" height="{}"/>'
    drawn = Markup(square).format(shade, " diagonal" if diagonal else "", place[0] + 0.5, place[1] + 0.5, _SIDE - 1, _SIDE - 1)
    if not count:
        return drawn
    if share >= _LEAST_TEXT:
        text = '<text class="t{}" x="{}" y="{}" text-anchor="middle">{:.0f}</text>'
        drawn += Markup(text).format(shade, place[0] + _SIDE / 2, place[1] + 15, 100 * share)
    label, score = show["reference"], "no readable score" if show["score"] is None else f"score {show['score']}"
    title = visible(f"label {label}, {score}: {count:,} of {total:,} ({100 * share:.0f} %)")
    link = '<a href="#items" data-show="{}"><title>{}</title>{}</a>'
    return Markup(link).format(json.dumps(dict(show)), title, drawn)


def _short(value: Any, most: int = 2) -> str:
    text = visible(str(value))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def diagonal_panel(points: Sequence[Point], words: str) -> Markup:
    """Points in a square whose diagonal says `equal`."""
    low, high = _INSET, _PANEL - _INSET
    parts = [Markup('<rect class="frame" x="0.5" y="0.5" width="{0}" height="{0}"/>').format(_PANEL - 1)]
    parts.append(Markup('<line class="rule dashed" x1="{0}" y1="{1}" x2="{1}" y2="{0}"/>').format(low, high))
    parts += [_point(point) for point in points]
    return _svg("panel", _PANEL, _PANEL, words, parts)


def level_panel(points: Sequence[Point], level: float, words: str) -> Markup:
    """Points from left to right, joined by a line, in a square with a dashed line at `level`."""
    low, high = _INSET, _PANEL - _INSET
    parts = [Markup('<rect class="frame" x="0.5" y="0.5" width="{0}" height="{0}"/>').format(_PANEL - 1)]
    across = '<line class="rule dashed" x1="{}" y1="{y:.1f}" x2="{}" y2="{y:.1f}"/>'
    parts.append(Markup(across).format(low, high, y=_PANEL - _along(level)))
    places = " ".join(f"{_along(point.x):.1f},{_PANEL - _along(point.y):.1f}" for point in points)
    parts.append(Markup('<polyline class="joined" points="{}"/>').format(places))
    parts += [_point(point) for point in points]
    return _svg("panel", _PANEL, _PANEL, words, parts)


def fitted_panel(points: Sequence[Point], line: tuple[float, float] | None, words: str) -> Markup:
    """Points in a square with dashed lines at one half, and a straight line (slope, intercept) between the outermost points."""
    low, high = _INSET, _PANEL - _INSET
    parts = [Markup('<rect class="frame" x="0.5" y="0.5" width="{0}" height="{0}"/>').format(_PANEL - 1)]
    for ends in ((low, _PANEL / 2, high, _PANEL / 2), (_PANEL / 2, low, _PANEL / 2, high)):
        parts.append(Markup('<line class="rule dashed" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(*ends))
    if line is not None and points:
        across = [min(point.x for point in points), max(point.x for point in points)]
        places = " ".join(f"{_along(x):.1f},{_PANEL - _along(line[1] + line[0] * x):.1f}" for x in across)
        parts.append(Markup('<polyline class="joined" points="{}"/>').format(places))
    parts += [_point(point) for point in points]
    return _svg("panel", _PANEL, _PANEL, words, parts)


def _point(point: Point) -> Markup:
    x, y = _along(point.x), _PANEL - _along(point.y)
    drawn = Markup("")
    if point.whisker:
        ends = (_PANEL - _along(each) for each in point.whisker)
        drawn = Markup('<line class="judge whisker" x1="{0}" x2="{0}" y1="{1:.1f}" y2="{2:.1f}"/>').format(f"{x:.1f}", *ends)
    dot = '<circle class="judge" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"/>'
    return Markup("<g><title>{}</title>{}{}</g>").format(visible(point.words), drawn, Markup(dot).format(x, y, 2 + 3 * point.weight**0.5))


def _along(share: float) -> float:
    return _INSET + (_PANEL - 2 * _INSET) * min(max(share, 0.0), 1.0)


def _svg(kind: str, width: float, height: float, words: str, parts: Sequence[Markup]) -> Markup:
    head = '<svg class="{0}" width="{1:g}" height="{2:g}" viewBox="0 0 {1:g} {2:g}" role="group" aria-label="{3}">{4}</svg>'
    return Markup(head).format(kind, width, height, visible(words), Markup("").join(parts))
