"""Fonts of a figure's texts: for letters that the usual font lacks, one of this machine that has them; a warning where none does."""

from __future__ import annotations

import base64
import io
import unicodedata
import warnings
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

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
    shaped = any(unicodedata.category(letter) in ("Mn", "Mc") or unicodedata.bidirectional(letter) in ("R", "AL") for letter in text)
    return not fonts_for(text).missing and (not shaped or _shapes_letters())


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


def _shapes_letters() -> bool:
    """Return True if letters are drawn right that change with their neighbours, or run from right to left."""
    from matplotlib import __version_info__  # late: an extra

    return tuple(__version_info__[:2]) >= _SHAPES


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
