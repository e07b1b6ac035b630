"""Figures as inline SVG: a line of dots with intervals, and a bar of shares. Sizes are in percent; a title says the same in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from harness.pages import visible
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


_DOT = {
    "judge": Markup('<circle class="judge" r="5"/>'),
    "people": Markup('<path class="people" d="M0-6L6 0L0 6L-6 0Z"/>'),
    "base": Markup('<line class="base" y1="-9" y2="9"/>'),
}


def correlation_track(marks: Sequence[Mark], words: str) -> Markup:
    """Correlations on a line from -1 to 1; `words` say the same."""
    return track([Mark(mark.kind, _half(mark.value), _halves(mark.interval)) for mark in marks], words)


def _half(value: float | None) -> float | None:
    return None if value is None else (1 + value) / 2


def _halves(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    return ((1 + interval[0]) / 2, (1 + interval[1]) / 2) if interval else None


def track(marks: Sequence[Mark], words: str) -> Markup:
    """Numbers on a line from 0 to 100 %; `words` say the same for those who cannot see it."""
    parts = [Markup('<line class="rule" x1="{0}" x2="{1}" y1="50%" y2="50%"/>').format(_at(0), _at(1))]
    parts += [Markup('<line class="rule" x1="{0}" x2="{0}" y1="25%" y2="75%"/>').format(_at(tick)) for tick in (0, 0.5, 1)]
    for mark in marks:
        if mark.interval:
            parts.append(Markup('<line class="{} reach" x1="{}" x2="{}" y1="50%" y2="50%"/>').format(mark.kind, *map(_at, mark.interval)))
    for mark in marks:
        if mark.value is not None:
            parts.append(Markup('<svg x="{}" y="50%" overflow="visible">{}</svg>').format(_at(mark.value), _DOT[mark.kind]))
    return Markup('<svg class="track" role="img"><title>{}</title>{}</svg>').format(visible(words), Markup("").join(parts))


def legend_mark(kind: Literal["judge", "people", "base"]) -> Markup:
    """One of the signs of a track, for the key of a page."""
    return Markup('<svg width="20" height="20" aria-hidden="true"><svg x="10" y="10" overflow="visible">{}</svg></svg>').format(_DOT[kind])


def _at(value: float) -> str:
    return f"{_INSET + (100 - 2 * _INSET) * min(max(value, 0.0), 1.0):.2f}%"


def gap_track(
    value: float, bound: float | None, margin: float | None, reach: float, style: str, words: str, tick: float | None = None
) -> Markup:
    """A difference on a line from -reach to reach: a dot, a line to its lower bound, and a band from -margin to 0.

    An arrow ends the line where it leaves the picture. `tick` marks a further place. The dot is full where `style` is `good` (blue) or
    `bad` (brown), and hollow where nothing is shown; `words` say the same.
    """
    at = [_at((each + reach) / (2 * reach)) for each in (-reach, reach, 0.0, value)]
    parts = []
    if margin is not None:
        left, right = (_INSET + (100 - 2 * _INSET) * (max(each, -reach) + reach) / (2 * reach) for each in (-margin, 0.0))
        band = '<rect class="margin" x="{:.2f}%" width="{:.2f}%" y="0" height="100%"/>'
        parts.append(Markup(band).format(left, right - left))
    parts.append(Markup('<line class="rule" x1="{}" x2="{}" y1="50%" y2="50%"/>').format(at[0], at[1]))
    parts.append(Markup('<line class="zero" x1="{0}" x2="{0}" y1="0" y2="100%"/>').format(at[2]))
    if bound is not None:
        start = _at((bound + reach) / (2 * reach))
        parts.append(Markup('<line class="gap {} reach" x1="{}" x2="{}" y1="50%" y2="50%"/>').format(style, start, at[3]))
        if bound < -reach:
            arrow = '<svg x="{}" y="50%" overflow="visible"><path class="gap {} leaves" d="M-7 0L2-5V5Z"/></svg>'
            parts.append(Markup(arrow).format(start, style))
    if tick is not None:
        place = _at((tick + reach) / (2 * reach))
        parts.append(Markup('<line class="limit" x1="{0}" x2="{0}" y1="20%" y2="80%"/>').format(place))
    dot = Markup('<circle class="gap {}" r="5.5"/>').format(style)
    parts.append(Markup('<svg x="{}" y="50%" overflow="visible">{}</svg>').format(at[3], dot))
    return Markup('<svg class="track" role="img"><title>{}</title>{}</svg>').format(visible(words), Markup("").join(parts))


def difference_track(value: float, interval: tuple[float, float] | None, reach: float, words: str) -> Markup:
    """A difference on a line from -reach to reach with its interval: full and coloured where the interval lies on one side of 0."""
    style = "open" if not interval or interval[0] <= 0 <= interval[1] else "good" if interval[0] > 0 else "bad"
    at = [_at((each + reach) / (2 * reach)) for each in (-reach, reach, 0.0, value)]
    parts = [Markup('<line class="rule" x1="{}" x2="{}" y1="50%" y2="50%"/>').format(at[0], at[1])]
    parts.append(Markup('<line class="zero" x1="{0}" x2="{0}" y1="0" y2="100%"/>').format(at[2]))
    if interval:
        ends = [_at((each + reach) / (2 * reach)) for each in interval]
        parts.append(Markup('<line class="gap {} reach" x1="{}" x2="{}" y1="50%" y2="50%"/>').format(style, *ends))
    dot = Markup('<circle class="gap {}" r="5"/>').format(style)
    parts.append(Markup('<svg x="{}" y="50%" overflow="visible">{}</svg>').format(at[3], dot))
    return Markup('<svg class="track" role="img"><title>{}</title>{}</svg>').format(visible(words), Markup("").join(parts))


def bar(shares: Mapping[str, float], classes: Sequence[str], what: str, *, people: bool = False) -> Markup:
    """Shares of classes as one bar, of `people` in ink. `classes` are all of the scale, so that a class has one shade everywhere."""
    words = ", ".join(f"{name}: {percent(share)}" for name, share in shares.items())
    parts, start = [], 0.0
    for name, share in shares.items():
        shade = _shade(classes.index(name) if name in classes else 0, len(classes))
        if share > 0:
            rect = '<rect class="{}{}" x="{:.3f}%" width="{:.3f}%" height="100%"/>'
            parts.append(Markup(rect).format("people" if people else "s", shade, 100 * start, 100 * share))
            if text := _bar_text(name, share):
                label = '<text class="on{}" x="{:.3f}%" y="50%" dy=".35em" text-anchor="middle">{}</text>'
                parts.append(Markup(label).format(shade, 100 * (start + share / 2), visible(text)))
        start += share
    return Markup('<svg class="bar" role="img"><title>{}</title>{}</svg>').format(visible(f"{what}: {words}"), Markup("").join(parts))


def _bar_text(name: str, share: float) -> str:
    """The text that fits into a part of a bar."""
    if share >= _ROOM_FOR_NUMBER and len(name) < 4:
        return f"{name}: {percent(share)}"
    return name if share >= _ROOM_FOR_CLASS and len(name) < 3 else ""


def _shade(place: int, classes: int) -> int:
    """The shade of a class: the lightest for the first, the darkest for the last. Many classes repeat the shades."""
    return place % _SHADES if classes > _SHADES else round(place * (_SHADES - 1) / max(classes - 1, 1))
