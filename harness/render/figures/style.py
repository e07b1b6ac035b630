"""The style of all figures: colours that colour-blind people can distinguish, panels of dots with intervals, captions and legends.

Text stays text in the file, so any script shows with any font; SVG files bring the letters of the usual font along. Ids are the same in
every drawing.
"""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from xml.sax.saxutils import escape

from harness.content.tags import autonym, english_name
from harness.errors import UsageError
from harness.render.figures.fonts import FontWarning, embedded_font, is_drawable, set_fonts
from harness.reports.tables.numbers import counted
from harness.row_files import write_atomic
from harness.text import terminal_safe

PEOPLE, JUDGE, BASELINE = "#1b2127", "#0b66b8", "#55606b"  # as on the pages (assets/style.css)
VERDICTS = {"good": "#0b5aa8", "bad": "#9a4b00", "open": "#55606b"}  # by the style of a verdict, as on the pages
GROUNDS = {"good": "#dcebf8", "bad": "#f7e6d6", "open": "#f3f5f7"}  # behind the words of a verdict
FAILURES = (
    VERDICTS["bad"],
    "#f5b578",
    BASELINE,
    "#a9b3bd",
    "#5c2d00",
    "#fff3bf",
    "#d3d9df",
    "#44505c",
)  # by the place of the kind, as on the pages
COLOURS = (JUDGE, "#7a5cc0", "#2a9db8", "#b08b00", "#3b2f80", "#777777")  # of series; no red, no green, no brown of "against"
WIDTHS = {"single": 3.5, "double": 7.2}
"""Inches of one column and of both columns of a journal's page."""
FORMS = ("svg", "pdf", "png")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK, FAINT = "#222222", "#bbbbbb"
SMALL = 7  # points
MOST_INCHES = 8.0  # of a figure's height: more is no figure of a page
_CHARACTERS_PER_INCH = 16  # of a caption
_TITLE_CHARACTERS_PER_INCH = 13
_LEGEND_SIGN = 9  # characters that the sign of an entry and the space beside it take

T = TypeVar("T")
Row = Mapping[str, Any]
Section = Mapping[str, Any]
Drawn = dict[str, bytes]
"""The files of a figure, by form."""


@dataclass(frozen=True)
class FigureOptions:
    """Options of saved figures: `width` in inches (`WIDTHS`), languages by their `english` or their `own` names, `forms` of `FORMS`."""

    width: float = WIDTHS["double"]
    names: str = "english"
    forms: tuple[str, ...] = ("svg",)

    @property
    def wide(self) -> bool:
        """Return True if panels stand side by side."""
        return self.width > 5

    def shown_name(self, aspect: str, name: str) -> str:
        """Return a language by one of its names; anything else without underscores."""
        if aspect != "language":
            return terminal_safe(str(name).replace("_", " "))
        native, english = f"{autonym(name)} ({name})", english_name(name)
        if self.names == "own" and (self.forms == ("svg",) or is_drawable(native)):  # text stays text in an SVG file
            return terminal_safe(native)
        if self.names == "own":
            message = f"no font on this machine draws {native}: a figure names it {english} (Noto fonts have it)"
            warnings.warn(message, FontWarning, stacklevel=2)
        return terminal_safe(english)


def form_of(path: Path) -> str:
    """Return the form of a figure's file by its name. Raises UsageError for a name that is of no form."""
    form = path.suffix.removeprefix(".")
    if form not in FORMS:
        raise UsageError(f"figures are SVG, PDF or PNG files; name it {path.with_suffix('.svg').name}, or end it in .pdf or .png")
    return form


def write_figure(path: Path, draw: Callable[[FigureOptions], Drawn], options: FigureOptions = FigureOptions()) -> None:
    """Write what `draw` makes in the form that the name of the file says. Raises UsageError as `form_of` and `drawing` do."""
    form = form_of(path)
    write_atomic(path, draw(replace(options, forms=(form,)))[form])


@contextmanager
def drawing(salt: str) -> Iterator[Any]:
    """A function that makes a figure, 8 inches high at most, in the style of all figures. Raises UsageError without the extra `figures`."""
    try:
        import matplotlib as mpl  # late: half a second, and an extra
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("figures need the extra 'figures': pip install 'judge-harness[figures]'") from None
    files: Any = {"svg.fonttype": "none", "svg.hashsalt": salt, "pdf.fonttype": 42}
    texts: Any = {"font.size": SMALL, "font.family": "sans-serif", "text.parse_math": False}
    with mpl.rc_context(files | texts), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about names too long for the layout, and missing signs, which `set_fonts` tells
        yield lambda figsize, **more: Figure(figsize=(figsize[0], min(figsize[1], MOST_INCHES)), **more)


def finish(figure: Any, title: str, words: str, signature: str, options: FigureOptions) -> Drawn:
    """Return the figure as the bytes of a file in each form, without a date: with a title, a description in words, and the signature."""
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
    if form != "svg":
        return out.getvalue()
    letters = frozenset("".join(text.get_text() for text in figure.findobj(_text_type())))
    return _described(out.getvalue(), title, words, embedded_font(letters))


def _text_type() -> Any:
    from matplotlib.text import Text  # late: an extra

    return Text


def _described(svg: bytes, title: str, words: str, font: str) -> bytes:
    """Return an SVG file with its font, and with a title and a description for those who cannot see it."""
    head, opening, rest = svg.partition(b"<svg ")
    attributes, end, body = rest.partition(b">")
    description = f"\n <title>{escape(terminal_safe(title))}</title>\n <desc>{escape(terminal_safe(words))}</desc>"
    style = f"\n <style>{font}</style>"
    return b"".join((head, opening, b'role="img" ', attributes, end, description.encode(), style.encode(), body))


class Legend(NamedTuple):
    """Entries in one line, from `least` entries on; where it is `headed`, the title stands above it, in as many lines as it needs."""

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
    legend: Legend = Legend(),
) -> Drawn:
    """Add the legend of all panels, taken from `panel`, which has all series, and the caption `text`; then `finish`."""
    heading = textwrap.fill(terminal_safe(title), int(options.width * _TITLE_CHARACTERS_PER_INCH)) if legend.headed else ""
    _add_legend(figure, panel, legend.columns if options.wide else min(legend.columns, 2), legend.least, heading)
    width = max(40, int(figure.get_size_inches()[0] * _CHARACTERS_PER_INCH))
    figure.supxlabel(terminal_safe(textwrap.fill(text, width)), x=0.01, ha="left", fontsize=SMALL - 0.5, color=INK)
    return finish(figure, title, text, signature, options)


def colour_and_marker(number: int) -> tuple[str, str]:
    """Return the look of a series. The marker changes with the colour, and also where the colours start again."""
    return COLOURS[number % len(COLOURS)], MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]


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
    """Return the first things whose heights fit into a figure, at least one, and a sentence about those that are left out.

    >>> fitting("abc", [3, 3, 3], 1, "condition")
    (['a', 'b'], ' 1 other condition does not fit and is left out.')
    """
    tall = list(accumulate(inches, initial=around))[1:]
    fitted = list(things[: max(1, sum(height <= MOST_INCHES for height in tall))])
    omitted = len(things) - len(fitted)
    verbs = "does not fit and is" if omitted == 1 else "do not fit and are"
    return fitted, f" {counted(omitted, f'other {what}')} {verbs} left out." if omitted else ""


def shares_along(panel: Any, label: str = "", axis: str = "x", *, narrow: bool = False) -> None:
    """An axis of shares from 0 to 1, in percent."""
    ticks = (0.0, 0.5, 1.0) if narrow else (0.0, 0.25, 0.5, 0.75, 1.0)
    limits, names = (-0.02, 1.02), [f"{100 * tick:.0f} %" for tick in ticks]
    panel.set(**{f"{axis}lim": limits, f"{axis}ticks": ticks, f"{axis}ticklabels": names, f"{axis}label": label})


def remove_frame(panel: Any) -> None:
    """Leave only the axes that are read."""
    panel.spines[["top", "right"]].set_visible(False)


def panels_of(figure: Any, count: int, across: int, heights: Sequence[float] | None = None, **options: Any) -> list[Any]:
    """Return so many panels, in lines of `across`; the places that are left over are empty. `heights`: of the lines."""
    lines = -(-count // across)
    grid = [panel for line in figure.subplots(lines, across, squeeze=False, height_ratios=heights, **options) for panel in line]
    for panel in grid[count:]:
        panel.set_axis_off()
    return grid[:count]
