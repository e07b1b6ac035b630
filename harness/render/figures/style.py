"""The style of all figures: colours that colour-blind people can distinguish, panels of dots with intervals, captions and legends.

Text stays text in the file, so any script shows with any font. Ids are the same in every drawing.
"""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from xml.sax.saxutils import escape

from harness.content.tags import autonym, english_name
from harness.errors import UsageError
from harness.judges import traits_of
from harness.model import CONDITION, axis_words
from harness.render.figures.fonts import FontWarning, is_drawable, set_fonts
from harness.reports.tables.numbers import counted
from harness.text import terminal_safe

PEOPLE, JUDGE, BASELINE = "#1b2127", "#0b66b8", "#55606b"  # as on the pages (assets/style.css)
VERDICTS = {"good": "#0b5aa8", "bad": "#9a4b00", "open": "#55606b"}  # by the style of a verdict, as on the pages
GROUNDS = {"good": "#dcebf8", "bad": "#f7e6d6", "open": "#f3f5f7"}  # behind the words of a verdict
FAILURES = (VERDICTS["bad"], "#f5b578", BASELINE, "#a9b3bd", "#5c2d00", "#fff3bf", "#d3d9df")  # by the place of the kind, as on the pages
COLOURS = (JUDGE, "#7a5cc0", "#2a9db8", "#b08b00", "#3b2f80", "#777777")  # of series; no red, no green, no brown of "against"
WIDTHS = {"single": 3.5, "double": 7.2}
"""Inches of one column and of both columns of a journal's page."""
FORMS = ("svg", "pdf", "png")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK, FAINT = "#222222", "#bbbbbb"
SMALL = 7  # points
MOST_INCHES = 8.0  # of a figure's height: more is no figure of a page
LINE_HEIGHT = 0.19  # inches of one line of dots
_CHARACTERS_PER_INCH = 16  # of a caption
_TITLE_CHARACTERS_PER_INCH = 13
_LEGEND_SIGN = 9  # characters that the sign of an entry and the space beside it take
_BESIDE_WIDTH = 24  # characters in a line beside a panel

T = TypeVar("T")
Row = Mapping[str, Any]
Section = Mapping[str, Any]
Value = tuple[float, float | None, float | None]
"""A number and the ends of its interval, None where it has none."""


Drawn = dict[str, bytes]
"""The files of a figure, by form."""


@dataclass(frozen=True)
class FigureOptions:
    """How figures are saved.

    Args:
        width: in inches; `WIDTHS` has those of journals.
        names: whether languages go by their `english` names or by their `own`.
        forms: of `FORMS`.
    """

    width: float = WIDTHS["double"]
    names: str = "english"
    forms: tuple[str, ...] = ("svg",)

    @property
    def wide(self) -> bool:
        """Whether panels stand side by side."""
        return self.width > 5

    def shown_name(self, aspect: str, name: str) -> str:
        """A language by one of its names; anything else without underscores."""
        if aspect != "language":
            return terminal_safe(str(name).replace("_", " "))
        return terminal_safe(self._own_name(name) if self.names == "own" else english_name(name))

    def _own_name(self, tag: str) -> str:
        """The own name of a language, or its English one with a warning where no font can draw it into a file that has fonts in it."""
        own = f"{autonym(tag)} ({tag})"
        if self.forms == ("svg",) or is_drawable(own):
            return own
        english = english_name(tag)
        warnings.warn(f"no font on this machine draws {own}: a figure names it {english} (Noto fonts have it)", FontWarning, stacklevel=3)
        return english


@dataclass(frozen=True)
class Series:
    """One kind of dot: its name, a value for each category that has one, its colour and marker.

    `beside`: on the line of the series before it. A name that begins with `_` is not in the legend. `notes`: texts on the lines of
    categories without a value.
    """

    name: str
    values: Mapping[str, Value]
    colour: str
    marker: str = "o"
    hollow: bool = False
    beside: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)


def form_of(path: Path) -> str:
    """The form of a figure's file by its name. Raises UsageError for a name that is of no form."""
    form = path.suffix.removeprefix(".")
    if form not in FORMS:
        raise UsageError(f"figures are SVG, PDF or PNG files; name it {path.with_suffix('.svg').name}, or end it in .pdf or .png")
    return form


@contextmanager
def drawing(salt: str) -> Iterator[Any]:
    """A function that makes a figure, 8 inches high at most, in the style of all figures. Raises UsageError without the extra `figures`."""
    try:
        import matplotlib as mpl  # late: half a second, and an extra
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("figures need the extra 'figures': pip install 'judge-harness[figures]'") from None
    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
        "font.size": SMALL,
        "font.family": "sans-serif",
        "text.parse_math": False,
        "pdf.fonttype": 42,
    }
    with mpl.rc_context(style), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about names too long for the layout, and missing signs, which `set_fonts` tells
        yield lambda figsize, **more: Figure(figsize=(figsize[0], min(figsize[1], MOST_INCHES)), **more)


def finish(figure: Any, title: str, words: str, signature: str, options: FigureOptions) -> Drawn:
    """The figure as the bytes of a file in each form, without a date: with a title, a description in words, and the signature."""
    set_fonts(figure, warn=options.forms != ("svg",))  # in an SVG file text stays text, and its reader brings the fonts
    return {form: _saved(figure, form, title, words, signature) for form in options.forms}


def _saved(figure: Any, form: str, title: str, words: str, signature: str) -> bytes:
    out, title_, source = io.BytesIO(), terminal_safe(title), terminal_safe(signature)
    about: dict[str, dict[str, Any]] = {
        "svg": {"Date": None, "Creator": None, "Title": title_, "Description": source},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None, "Title": title_, "Subject": source},
        "png": {"Software": None, "Title": title_.encode("latin-1", "replace").decode("latin-1")},
    }
    figure.savefig(out, format=form, metadata=about[form], dpi=300 if form == "png" else 100)
    return _described(out.getvalue(), title, words) if form == "svg" else out.getvalue()


def _described(svg: bytes, title: str, words: str) -> bytes:
    """An SVG file with a title and a description for those who cannot see it."""
    head, opening, rest = svg.partition(b"<svg ")
    attributes, end, body = rest.partition(b">")
    told = f"\n <title>{escape(terminal_safe(title))}</title>\n <desc>{escape(terminal_safe(words))}</desc>"
    return b"".join((head, opening, b'role="img" ', attributes, end, told.encode(), body))


class Legend(NamedTuple):
    """Entries in one line; with fewer entries than `least` there is no legend.

    Where it is `headed`, the title stands above it, in as many lines as it needs.
    """

    columns: int = 4
    least: int = 2
    headed: bool = False


def finish_with_legend(
    figure: Any,
    panel: Any,
    title: str,
    text: str,
    signature: str,
    options: FigureOptions,
    legend: Legend = Legend(),  # noqa: B008 (frozen)
) -> Drawn:
    """Add the legend of all panels, taken from one of them, and the caption; then `finish`.

    Args:
        figure, panel: the figure, and the panel with the names of all series.
        text: the caption, which also describes the figure in words.
        title, signature, options: as `finish` takes them.
        legend: how many entries it has in one line, from how many on, and whether the title stands above it.
    """
    heading = textwrap.fill(terminal_safe(title), int(options.width * _TITLE_CHARACTERS_PER_INCH)) if legend.headed else ""
    _add_legend(figure, panel, legend.columns if options.wide else min(legend.columns, 2), legend.least, heading)
    _add_caption(figure, text)
    return finish(figure, title, text, signature, options)


def colour_and_marker(number: int) -> tuple[str, str]:
    """The look of a series. The marker changes with the colour, and also where the colours start again."""
    return COLOURS[number % len(COLOURS)], MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]


def _add_caption(figure: Any, text: str) -> None:
    """Write below the figure what it shows."""
    width = max(40, int(figure.get_size_inches()[0] * _CHARACTERS_PER_INCH))
    figure.supxlabel(terminal_safe(textwrap.fill(text, width)), x=0.01, ha="left", fontsize=SMALL - 0.5, color=INK)


def _add_legend(figure: Any, panel: Any, columns: int, least: int, heading: str) -> None:
    """Draw one legend for all panels, above them and below the heading, if there is any."""
    handles, labels = panel.get_legend_handles_labels()
    if len(labels) >= least:
        longest = max(map(len, labels), default=0) + _LEGEND_SIGN
        room = max(1, int(figure.get_size_inches()[0] * _CHARACTERS_PER_INCH / longest))
        look = {"loc": "outside upper left", "ncols": min(columns, len(labels), room), "frameon": False, "alignment": "left"}
        figure.legend(handles, labels, title=heading or None, title_fontsize=SMALL + 2, **look)
    elif heading:
        figure.suptitle(heading, x=0.01, ha="left", fontsize=SMALL + 2)


def fitting(things: Sequence[T], inches: Sequence[float], around: float, what: str) -> tuple[list[T], str]:
    """The first things whose heights fit into a figure, at least one, and a sentence about those that are left out.

    >>> fitting("abc", [3, 3, 3], 1, "condition")
    (['a', 'b'], ' 1 other condition does not fit and is left out.')
    """
    tall = list(accumulate(inches, initial=around))[1:]
    kept = list(things[: max(1, sum(height <= MOST_INCHES for height in tall))])
    left = len(things) - len(kept)
    verbs = "does not fit and is" if left == 1 else "do not fit and are"
    return kept, f" {counted(left, f'other {what}')} {verbs} left out." if left else ""


def height_of(categories: int, series: int) -> float:
    """The height of a panel of dots, in inches."""
    return 0.75 + categories * (series * LINE_HEIGHT + 0.1)


def dots(panel: Any, aspect: str, categories: Sequence[str], series: Sequence[Series], options: FigureOptions) -> None:
    """Draw one line for each category of an aspect (language, task), from the top; on it the dots of all series with their intervals."""
    lines = sum(not one.beside for one in series)
    step, line = 0.8 / max(lines, 1), -1
    for one in series:
        line += not one.beside
        places = {name: place + (line - (lines - 1) / 2) * step for place, name in enumerate(categories)}
        for name, words in one.notes.items():
            panel.text(
                0.01,
                places[name],
                terminal_safe(words),
                color=one.colour,
                fontsize=SMALL - 1,
                va="center",
                transform=panel.get_yaxis_transform(),
            )
        at = [places[name] for name in categories if name in one.values]
        values = [one.values[name] for name in categories if name in one.values]
        for y, (_, lo, hi) in zip(at, values, strict=True):
            if lo is not None and hi is not None:
                panel.plot([lo, hi], [y, y], color=one.colour, linewidth=1.2, alpha=0.8, zorder=2, solid_capstyle="butt")
        panel.plot(
            [value for value, _, _ in values],
            at,
            linestyle="",
            marker=one.marker,
            markersize=4.5,
            color=one.colour,
            markerfacecolor="white" if one.hollow else one.colour,
            label=terminal_safe(one.name),
            zorder=2.5 if one.beside else 3,
        )
    panel.set_yticks(range(len(categories)), [_wrapped(options.shown_name(aspect, name)) for name in categories])
    panel.set_ylim(len(categories) - 0.5, -0.5)
    for place in range(1, len(categories)):
        panel.axhline(place - 0.5, color=FAINT, linewidth=0.5, zorder=0)
    panel.tick_params(axis="y", length=0)
    remove_frame(panel)


def shares_along(panel: Any, axis: str = "x", label: str = "", *, narrow: bool = False) -> None:
    """An axis of shares from 0 to 1, in percent."""
    ticks = (0.0, 0.5, 1.0) if narrow else (0.0, 0.25, 0.5, 0.75, 1.0)
    names = [f"{100 * tick:.0f} %" for tick in ticks]
    if axis == "x":
        panel.set_xlim(-0.02, 1.02)
        panel.set_xticks(ticks, names)
        panel.set_xlabel(label)
    else:
        panel.set_ylim(-0.02, 1.02)
        panel.set_yticks(ticks, names)
        panel.set_ylabel(label)


def remove_frame(panel: Any) -> None:
    """Leave only the axes that are read."""
    panel.spines[["top", "right"]].set_visible(False)


def row_value(row: Row, name: str) -> Value | None:
    """A row's number with its interval; None where it is undefined."""
    if row.get(name) is None:
        return None
    lo, hi = row.get(f"{name}_ci") or (None, None)
    return row[name], lo, hi


def _wrapped(name: str) -> str:
    """A name in lines of at most 18 letters, so that it leaves room for its panel."""
    return "\n".join(textwrap.wrap(name, 18)) or name


def panels_of(figure: Any, count: int, across: int, heights: Sequence[float] | None = None, **options: Any) -> list[Any]:
    """So many panels, in lines of `across`; the places that are left over are empty. `heights`: of the lines."""
    lines = -(-count // across)
    grid = [panel for line in figure.subplots(lines, across, squeeze=False, height_ratios=heights, **options) for panel in line]
    for panel in grid[count:]:
        panel.set_axis_off()
    return grid[:count]


def context_of(row: Row, names: Sequence[str] = CONDITION) -> tuple[Any, ...]:
    """The judge and condition of a row."""
    return tuple(row.get(name) for name in names)


def contexts(rows: Sequence[Row], names: Sequence[str] = CONDITION) -> list[tuple[Any, ...]]:
    """The different judges and conditions of rows, in their order; baselines only if there are no other judges."""
    every = list(dict.fromkeys(context_of(row, names) for row in rows))
    judges = [each for each in every if not traits_of(str(each[names.index("judge")])).is_baseline]
    return judges or every


def context_name(context: Sequence[Any], names: Sequence[str] = CONDITION) -> str:
    """A judge and condition in words: `local/model, single, temperature 0`."""
    known = ((name, value) for name, value in zip(names, context, strict=True) if value is not None and value != "*")
    return terminal_safe(", ".join(axis_words(*each) for each in known))


def name_row_of_panels(panel: Any, context: Sequence[Any], names: Sequence[str] = CONDITION) -> None:
    """Write a judge and condition beside the first panel of a row, in lines that are no longer than the panel is high."""
    panel.set_ylabel("\n".join(textwrap.wrap(context_name(context, names), _BESIDE_WIDTH)))


def rows_at_level(rows: Sequence[Row], *keys: str) -> list[Row]:
    """The rows that name exactly these of language, task and metric, and pool the others."""
    return [row for row in rows if all((row[name] != "*") == (name in keys) for name in ("language", "task", "metric"))]
