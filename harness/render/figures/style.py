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
from typing import Any

from harness.content.tags import autonym
from harness.errors import UsageError
from harness.judges import traits_of
from harness.text import terminal_safe

PEOPLE, JUDGE = "#4477aa", "#ee6677"
COLOURS = ("#ee6677", "#4477aa", "#228833", "#aa3377", "#ccbb44", "#66ccee", "#777777")  # Tol's bright scheme
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK, FAINT = "#222222", "#bbbbbb"
SMALL = 8  # points
_LINE_HEIGHT = 0.19  # inches of one line of dots
_CHARACTERS_PER_INCH = 16  # of a caption
_BESIDE_WIDTH = 24  # characters in a line beside a panel

Row = Mapping[str, Any]
Section = Mapping[str, Any]
Value = tuple[float, float | None, float | None]
"""A number and the ends of its interval, None where it has none."""


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


@contextmanager
def drawing(salt: str) -> Iterator[Any]:
    """`Figure`, in the style of all figures. Raises UsageError without the extra `figures`."""
    try:
        import matplotlib as mpl  # late: half a second, and an extra
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("figures need the extra 'figures': pip install 'judge-harness[figures]'") from None
    style: Any = {"svg.fonttype": "none", "svg.hashsalt": salt, "font.size": SMALL, "font.family": "sans-serif", "text.parse_math": False}
    with mpl.rc_context(style), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about missing signs in a font and names too long for the layout
        yield Figure


def finish(figure: Any, description: str, *, form: str = "svg") -> bytes:
    """Return the figure as the bytes of a file, without a date; `description` goes into its metadata."""
    out = io.BytesIO()
    about = {"Date": None, "Creator": None, "Description": terminal_safe(description)} if form == "svg" else {}
    figure.savefig(out, format=form, metadata=about, dpi=100)
    return out.getvalue()


def finish_with_legend(
    figure: Any, panel: Any, text: str, description: str, *, form: str = "svg", columns: int = 4, least: int = 2
) -> bytes:
    """Add the legend of all panels, taken from one of them, and the caption; then `finish`.

    Args:
        figure, panel: the figure, and the panel with the names of all series.
        text: the caption.
        description, form: as `finish` takes them.
        columns, least: of the legend: entries in one line; with fewer entries than `least` there is no legend.
    """
    _add_legend(figure, panel, columns, least)
    _add_caption(figure, text)
    return finish(figure, description, form=form)


def colour_and_marker(number: int) -> tuple[str, str]:
    """The look of a series. The marker changes with the colour, and also where the colours start again."""
    return COLOURS[number % len(COLOURS)], MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]


def _add_caption(figure: Any, text: str) -> None:
    """Write below the figure what it shows."""
    width = max(40, int(figure.get_size_inches()[0] * _CHARACTERS_PER_INCH))
    figure.supxlabel(terminal_safe(textwrap.fill(text, width)), x=0.01, ha="left", fontsize=SMALL - 0.5, color=INK)


def _add_legend(figure: Any, panel: Any, columns: int, least: int) -> None:
    """Draw one legend for all panels, above them."""
    handles, labels = panel.get_legend_handles_labels()
    if len(labels) >= least:
        figure.legend(handles, labels, loc="outside upper left", ncols=min(columns, len(labels)), frameon=False)


def height_of(categories: int, series: int) -> float:
    """The height of a panel of dots, in inches."""
    return 0.75 + categories * (series * _LINE_HEIGHT + 0.1)


def dots(panel: Any, aspect: str, categories: Sequence[str], series: Sequence[Series]) -> None:
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
    panel.set_yticks(range(len(categories)), [shown_name(aspect, name) for name in categories])
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


def shown_name(aspect: str, name: str) -> str:
    """A language by its own name; anything else without underscores."""
    return terminal_safe(f"{autonym(name)} ({name})") if aspect == "language" else terminal_safe(str(name).replace("_", " "))


CONTEXT = ("judge", "variant", "temperature", "top_p")


def context_of(row: Row, names: Sequence[str] = CONTEXT) -> tuple[Any, ...]:
    """The judge and condition of a row."""
    return tuple(row.get(name) for name in names)


def contexts(rows: Sequence[Row], names: Sequence[str] = CONTEXT) -> list[tuple[Any, ...]]:
    """The different judges and conditions of rows, in their order; baselines only if there are no other judges."""
    every = list(dict.fromkeys(context_of(row, names) for row in rows))
    judges = [each for each in every if not traits_of(str(each[names.index("judge")])).is_baseline]
    return judges or every


def context_name(context: Sequence[Any], names: Sequence[str] = CONTEXT) -> str:
    """A judge and condition in words: `local/model, single, T = 0`."""
    formats = {"temperature": "T = {:g}", "top_p": "top-p = {:g}"}
    parts = [
        formats[name].format(value) if name in formats and isinstance(value, (int, float)) else str(value)
        for name, value in zip(names, context, strict=True)
        if value is not None and value != "*"
    ]
    return terminal_safe(", ".join(parts))


def name_row_of_panels(panel: Any, context: Sequence[Any], names: Sequence[str] = CONTEXT) -> None:
    """Write a judge and condition beside the first panel of a row, in lines that are no longer than the panel is high."""
    panel.set_ylabel("\n".join(textwrap.wrap(context_name(context, names), _BESIDE_WIDTH)))


def of_level(rows: Sequence[Row], *keys: str) -> list[Row]:
    """The rows that name exactly these of language, task and metric, and pool the others."""
    return [row for row in rows if all((row[name] != "*") == (name in keys) for name in ("language", "task", "metric"))]
