"""Figures as inline SVG: a line of dots with intervals, a bar of shares. Drawn in percent of their width; words say what they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from harness.render.html.visible import visible
from harness.render.terminal import percent

_SHADES = 6
_FITS = 0.16  # of a bar: the share from which its class and number fit into it
_FITS_CLASS = 0.06  # of a bar: the share from which its class alone fits into it
_INSET = 3.0  # percent of a track's width beside each end, so that dots at 0 and 1 are whole


@dataclass(frozen=True)
class Mark:
    """One number on a line: the `judge`'s (a dot), `people`'s (a diamond) or a `base`line's (a bar), from 0 to 1, and its interval."""

    kind: Literal["judge", "people", "base"]
    value: float | None
    interval: tuple[float, float] | None = None


_DOT = {
    "judge": Markup('<circle class="judge" r="5"/>'),
    "people": Markup('<path class="people" d="M0-6L6 0L0 6L-6 0Z"/>'),
    "base": Markup('<line class="base" y1="-9" y2="9"/>'),
}


def track(marks: Sequence[Mark], words: str) -> Markup:
    """Numbers on a line from 0 to 100 %; `words` say the same to who cannot see it."""
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
    """One of the signs of a track, for its key."""
    return Markup('<svg width="20" height="20" aria-hidden="true"><svg x="10" y="10" overflow="visible">{}</svg></svg>').format(_DOT[kind])


def _at(value: float) -> str:
    return f"{_INSET + (100 - 2 * _INSET) * min(max(value, 0.0), 1.0):.2f}%"


def bar(shares: Mapping[str, float], classes: Sequence[str], what: str) -> Markup:
    """Shares of classes as one bar; `classes` are all of the scale, so that a class has one shade everywhere."""
    words = ", ".join(f"{name}: {percent(share)}" for name, share in shares.items())
    parts, start = [], 0.0
    for name, share in shares.items():
        shade = _shade(classes.index(name) if name in classes else 0, len(classes))
        if share > 0:
            rect = '<rect class="s{}" x="{:.3f}%" width="{:.3f}%" height="100%"/>'
            parts.append(Markup(rect).format(shade, 100 * start, 100 * share))
            text = (
                f"{name}: {percent(share)}" if share >= _FITS and len(name) < 4 else name if share >= _FITS_CLASS and len(name) < 3 else ""
            )
            if text:
                label = '<text class="on{}" x="{:.3f}%" y="50%" dy=".35em" text-anchor="middle">{}</text>'
                parts.append(Markup(label).format(shade, 100 * (start + share / 2), visible(text)))
        start += share
    return Markup('<svg class="bar" role="img"><title>{}</title>{}</svg>').format(visible(f"{what}: {words}"), Markup("").join(parts))


def _shade(place: int, many: int) -> int:
    """The shade of a class: the lightest of the first, the darkest of the last; those of many classes come again."""
    return place % _SHADES if many > _SHADES else round(place * (_SHADES - 1) / max(many - 1, 1))
