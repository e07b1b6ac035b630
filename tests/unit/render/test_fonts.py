"""Fonts of figures: letters that the usual font lacks get one that has them; where none has, names are English and a warning says so."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("matplotlib")

from harness.decide.verdicts import Verdict
from harness.render.figures import FigureOptions, draw_answer, style
from harness.render.figures.style import FontWarning, embedded_font, fonts_for, is_drawable


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine with the fonts that matplotlib brings along, and no others."""
    style.fonts_for.cache_clear()
    monkeypatch.setattr(style, "_fonts", lambda: ())
    yield
    style.fonts_for.cache_clear()


def test_latin_greek_and_cyrillic_need_no_other_font() -> None:
    for text in ("čeština", "Ελληνικά", "українська", "✓ +9"):
        assert fonts_for(text) == ((style.USUAL,), "")


@pytest.mark.usefixtures("bare")
def test_letters_without_a_font_are_named() -> None:
    assert fonts_for("日本") == ((style.USUAL,), "日本") and not is_drawable("हिन्दी") and is_drawable("čeština")


@pytest.mark.needs("chinese font")
def test_chinese_japanese_and_korean_get_a_font_of_this_machine() -> None:
    for text in ("日本語", "中文", "かな", "한국어"):
        assert len(fonts_for(text).families) == 2 and fonts_for(text).missing == ""


def pictured(make_verdict: Any, forms: tuple[str, ...]) -> tuple[dict[str, bytes], list[str]]:
    """An answer in three languages by their own names, and what is warned of."""
    verdicts: list[Verdict] = [
        make_verdict(language=tag, judge="local/m", gap=0.02, family_bound=-0.05, verdict="use", obstacles=()) for tag in ("ja", "hi", "zh")
    ]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        drawn = draw_answer(verdicts, "s", FigureOptions(names="own", forms=forms))
    assert drawn
    return drawn, [str(one.message) for one in found if one.category is FontWarning]


@pytest.mark.usefixtures("bare")
def test_own_names_are_english_in_files_that_hold_fonts_where_no_font_has_them(make_verdict: Any) -> None:
    drawn, said = pictured(make_verdict, ("svg", "pdf"))
    assert [text.partition(": ")[2].partition(" (")[0] for text in said] == [
        f"a figure names it {name}" for name in ("Japanese", "Hindi", "Chinese")
    ]
    assert b"Hindi" in drawn["svg"] and "हिन्दी".encode() not in drawn["svg"], "all forms of a figure are alike"


@pytest.mark.usefixtures("bare")
def test_in_an_svg_file_text_stays_text_so_any_name_may_stand_there(make_verdict: Any) -> None:
    drawn, said = pictured(make_verdict, ("svg",))
    assert said == [] and all(name.encode() in drawn["svg"] for name in ("日本語", "हिन्दी", "中文"))


@pytest.mark.skipif(not is_drawable("日本語中文"), reason="needs a font with Chinese characters")
def test_a_pdf_file_has_the_letters_in_it(make_verdict: Any) -> None:
    drawn, said = pictured(make_verdict, ("pdf",))
    assert not any("日本語" in text or "中文" in text for text in said)
    assert b"CJK" in drawn["pdf"] or b"Gothic" in drawn["pdf"] or b"Hei" in drawn["pdf"]


def test_a_picture_brings_its_letters_along() -> None:
    """An SVG file looks the same where the font is missing: it has the letters that it uses, and no others."""
    few, more = embedded_font(frozenset("ab −")), embedded_font(frozenset("abcdefghijklmnopqrstuvwxyz −"))
    assert few.startswith("@font-face{font-family:'DejaVu Sans';src:url(data:font/woff;base64,") and len(few) < len(more) < 20_000
    assert embedded_font.__wrapped__(frozenset("ab −")) == few, "the same bytes again"
