"""Small figures as inline SVG, each of one cell: a confusion matrix, and points beside a diagonal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from harness.pages import visible

_SIDE = 22  # pixels of a square
_MARGIN = 14  # pixels left of and below a matrix, for its classes
_LETTER, _MOST_LETTERS = 6, 22  # pixels of a letter of a row's name, and the most letters of it
_PANEL, _INSET = 76, 8  # pixels of a panel of points, and what is left free inside
_LOW, _HIGH = _INSET, _PANEL - _INSET
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
    text = Markup('<text class="axis-text" x="{}" y="{}" text-anchor="{}">{}</text>')
    parts = []
    for down, (label, name, row) in enumerate(zip(classes, names, counts, strict=True)):
        parts.append(text.format(left - 3, down * _SIDE + 15, "end", name))
        for across, score in enumerate(scores):
            place = (left + across * _SIDE, down * _SIDE)
            parts.append(_matrix_square(place, row[across], sum(row), down == across, {**show, "reference": label, "score": score}))
    bottom = len(classes) * _SIDE
    for across, score in enumerate(scores):
        parts.append(text.format(left + (across + 0.5) * _SIDE, bottom + 11, "middle", "–" if score is None else _short(score)))
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


def _joined(places: Iterable[tuple[float, float]]) -> Markup:
    line = " ".join(f"{_along(x):.1f},{_PANEL - _along(y):.1f}" for x, y in places)
    return Markup('<polyline class="joined" points="{}"/>').format(line)


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
