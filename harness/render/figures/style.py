"""The style of printed figures: sizes, colours, markers, and the fonts in which names of languages can be drawn."""

from __future__ import annotations

import base64
import io
import textwrap
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from xml.sax.saxutils import escape

from harness.content.tags import autonym, english_name
from harness.errors import UsageError
from harness.reports.tables.numbers import counted
from harness.row_files import write_atomic
from harness.text import terminal_safe

USUAL = "DejaVu Sans"  # matplotlib brings it along
_NO_LETTERS = ("Last Resort", "STIX", "cm", "DejaVu")  # fonts of boxes and formulas, and the usual one
_REGIONS = (("HIRAGANA", "JP"), ("KATAKANA", "JP"), ("HANGUL", "KR"))  # whose form of Chinese characters a text wants
_SHAPES = (3, 11)  # the matplotlib from which on letters that change with their neighbours are drawn right


class FontWarning(Warning):
    """A text of a figure cannot be drawn as it is."""


class Fonts(NamedTuple):
    """The families for a text, the most usual one first, and the letters that none of them has."""

    families: tuple[str, ...]
    missing: str


class _Font(NamedTuple):
    family: str
    path: str
    face: int


@lru_cache(maxsize=4096)
def fonts_for(text: str) -> Fonts:
    """Return the fonts of this machine that have all letters of a text.

    >>> fonts_for("Čeština, 50 %")
    Fonts(families=('DejaVu Sans',), missing='')
    """
    from matplotlib import font_manager  # late: an extra

    usual = _letters(_Font(USUAL, str(font_manager.findfont(USUAL)), 0))
    missing = {letter for letter in text if letter.isprintable() and not letter.isspace()} - usual
    families = [USUAL]
    for font in _by_preference(text) if missing else ():
        if missing & _letters(font):
            families.append(font.family)
            missing -= _letters(font)
        if not missing:
            break
    return Fonts(tuple(families), "".join(sorted(missing)))


def is_drawable(text: str) -> bool:
    """Return True if a text can be drawn into a PDF or PNG file: a font has its letters, and they can be joined as their script wants."""
    from matplotlib import __version_info__  # late: an extra

    # Letters that change with their neighbours, or run from right to left: older versions draw them wrong.
    shaped = any(unicodedata.category(letter) in ("Mn", "Mc") or unicodedata.bidirectional(letter) in ("R", "AL") for letter in text)
    return not fonts_for(text).missing and (not shaped or tuple(__version_info__[:2]) >= _SHAPES)


def set_fonts(figure: Any, *, warn: bool = True) -> None:
    """Give each text of a figure the fonts that it needs; `warn` of letters that would be empty boxes."""
    from matplotlib.text import Text  # late: an extra

    missing: dict[str, None] = {}
    for text in figure.findobj(Text):
        if not text.get_text().isascii():
            fonts = fonts_for(text.get_text())
            text.set_fontfamily([*fonts.families, "sans-serif"])
            missing |= dict.fromkeys(fonts.missing)
    if missing and warn:
        text = "".join(list(missing)[:20])
        warnings.warn(
            f"no font on this machine has these letters of a figure: {text} (Noto fonts have them all)", FontWarning, stacklevel=2
        )


@lru_cache(maxsize=64)
def embedded_font(letters: frozenset[str]) -> str:
    """Return the style sheet that brings the usual font along with these letters alone: a few kilobytes of WOFF in a `data:` address."""
    from fontTools import subset  # late: comes with matplotlib
    from matplotlib import font_manager

    options = subset.Options(flavor="woff", hinting=False, layout_features=[], recalc_timestamp=False, notdef_outline=True)
    options.drop_tables += ["FFTM"]
    out = io.BytesIO()
    with subset.load_font(font_manager.findfont(USUAL), options) as font:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=[ord(letter) for letter in letters])
        subsetter.subset(font)
        subset.save_font(font, out, options)
    data = base64.b64encode(out.getvalue()).decode("ascii")
    return f"@font-face{{font-family:'{USUAL}';src:url(data:font/woff;base64,{data}) format('woff')}}"


def _by_preference(text: str) -> list[_Font]:
    """Return all fonts: those named for a script of the text first, then Noto's, with the forms of Chinese characters of the text."""
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in text if not letter.isascii()}
    chinese = f"NOTO SANS CJK {next((region for script, region in _REGIONS if script in scripts), 'SC')}"

    def order(font: _Font) -> tuple[bool, bool, bool, str]:
        name = font.family.upper()
        return (name != chinese, not any(script in name for script in scripts if script), not name.startswith("NOTO SANS"), name)

    return sorted(_fonts(), key=order)


@lru_cache(maxsize=1)
def _fonts() -> tuple[_Font, ...]:
    """Return a regular font of each family, also of families that were installed since matplotlib last looked."""
    from matplotlib import font_manager  # late: an extra

    manager = font_manager.fontManager
    registered = {str(entry.fname) for entry in manager.ttflist}
    for path in font_manager.findSystemFonts():
        if path not in registered:
            with suppress(OSError, RuntimeError):  # a file that is no font
                manager.addfont(path)
    regular = (entry for entry in manager.ttflist if entry.style == "normal" and entry.weight in (400, "normal", "regular"))
    fonts = (_Font(entry.name, str(entry.fname), getattr(entry, "index", 0)) for entry in regular)
    return tuple({font.family: font for font in fonts if not font.family.startswith(_NO_LETTERS)}.values())


@lru_cache(maxsize=512)
def _letters(font: _Font) -> frozenset[str]:
    """Return the letters that a font has."""
    from matplotlib.ft2font import FT2Font  # late: an extra

    try:
        face = FT2Font(font.path, face_index=font.face) if font.face else FT2Font(font.path)
    except (OSError, RuntimeError):
        return frozenset()
    return frozenset(map(chr, face.get_charmap()))


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
    from matplotlib.text import Text  # late: an extra

    letters = frozenset("".join(text.get_text() for text in figure.findobj(Text)))
    # the title and the description are for those who cannot see the picture
    svg = out.getvalue()
    font = embedded_font(letters)
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
    """Add the legend of all panels, taken from `panel`, which has all series, and the caption `text`; then `finish`.

    The legend stands above the panels and below the heading, if there is any.
    """
    heading = textwrap.fill(terminal_safe(title), int(options.width * _TITLE_CHARACTERS_PER_INCH)) if legend.headed else ""
    characters = figure.get_size_inches()[0] * _CHARACTERS_PER_INCH
    handles, labels = panel.get_legend_handles_labels()
    if len(labels) >= legend.least:
        longest = max(map(len, labels), default=0) + _LEGEND_SIGN
        columns = min(legend.columns if options.wide else min(legend.columns, 2), len(labels), max(1, int(characters / longest)))
        look = {"loc": "outside upper left", "ncols": columns, "frameon": False, "alignment": "left"}
        figure.legend(handles, labels, title=heading or None, title_fontsize=SMALL + 2, **look)
    elif heading:
        figure.suptitle(heading, x=0.01, ha="left", fontsize=SMALL + 2)
    width = max(40, int(characters))
    figure.supxlabel(terminal_safe(textwrap.fill(text, width)), x=0.01, ha="left", fontsize=SMALL - 0.5, color=INK)
    return finish(figure, title, text, signature, options)


def colour_and_marker(number: int) -> tuple[str, str]:
    """Return the look of a series. The marker changes with the colour, and also where the colours start again."""
    return COLOURS[number % len(COLOURS)], MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]


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
