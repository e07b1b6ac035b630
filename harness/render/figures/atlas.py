"""Pictures of the atlas: languages × qualities for print and the README, and one a language for previews of links."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import Any

from harness.render.figures.fonts import set_fonts
from harness.render.figures.style import BASELINE, GROUNDS, INK, VERDICTS, drawing
from harness.reports.answer_parts import SIGNS, Sentence
from harness.reports.atlas_answer import OTHER, QUALITIES, LanguageRow, QualitySquare
from harness.text import terminal_safe

_SHARE_INCHES, _SHARE_DPI = (12.0, 6.3), 100  # 1200 × 630 pixels, which previews of links show whole
_WIDTH, _LINE, _NAME, _DPI = 11.0, 0.21, 1.75, 150  # inches of the picture, a language, and the names; dots per inch
_LETTERS = 15  # of a judge's name in a square
_NOTE_LETTERS = 180  # of a line below the title


def draw_matrix(rows: Sequence[LanguageRow], title: str, note: str, about: str = "") -> bytes:
    """Return a PNG of the matrix: a line a language, a square a quality; `about` goes into the file's description.

    Raises UsageError without the extra `figures`.
    """
    with drawing(title) as new_figure:
        height = _LINE * (len(rows) + 4)
        figure = new_figure(figsize=(_WIDTH, height))
        panel = _canvas(figure, _WIDTH, height)
        panel.text(0.05, 0.16, title, fontsize=11, fontweight="bold", color=INK, va="center")
        panel.text(0.05, 0.4, "\n".join(textwrap.wrap(note, _NOTE_LETTERS)), fontsize=6.5, color=BASELINE, va="center")
        heads = (*QUALITIES, OTHER)
        step = (_WIDTH - _NAME - 0.05) / len(heads)
        top = 0.75
        for column, head in enumerate(heads):
            panel.text(_NAME + step * column + 0.05, top - 0.12, head, fontsize=7, fontweight="bold", color=INK, va="center")
        for line, row in enumerate(rows):
            y = top + _LINE * line
            panel.text(0.05, y + _LINE / 2, row.name, fontsize=7, color=INK, va="center")
            for column, square in enumerate(map(row.squares.get, QUALITIES)):
                _draw_square(panel, _NAME + step * column, y, step, square)
            other_counts = "  ".join(f"{sign} {count}" for _, sign, count in row.other_questions)
            panel.text(_NAME + step * len(QUALITIES) + 0.05, y + _LINE / 2, other_counts, fontsize=6.5, color=INK, va="center")
        return _png(figure, _DPI, about)


def draw_share(title: str, lead: str, sentences: Sequence[Sentence]) -> bytes:
    """Return a PNG of 1200 × 630 pixels: the title, the answer in a sentence, and how many qualities have which answer."""
    width, height = _SHARE_INCHES
    with drawing(title) as new_figure:
        figure = new_figure(figsize=_SHARE_INCHES)
        panel = _canvas(figure, width, height)
        panel.text(0.6, 0.9, terminal_safe(title), fontsize=34, fontweight="bold", color=INK, va="center")
        panel.text(0.6, 1.5, "\n".join(textwrap.wrap(terminal_safe(lead), 62)[:6]), fontsize=21, color=INK, va="top", linespacing=1.35)
        for index, (style, words) in enumerate((("good", "use"), ("bad", "do not use"), ("open", "unknown"))):
            count = sum(sentence_style.replace("gone", "good") == style for sentence_style, _ in sentences)
            _box(panel, 0.6 + 3.7 * index, 4.8, 3.4, 0.9, style)
            panel.text(0.85 + 3.7 * index, 5.25, f"{SIGNS[style]} {count} {words}", fontsize=22, color=VERDICTS[style], va="center")
        return _png(figure, _SHARE_DPI, "")


def _draw_square(panel: Any, x: float, y: float, step: float, square: QualitySquare | None) -> None:
    """A square on the ground of its style; one whose metrics differ, or whose judge is no longer served, has no ground."""
    if square is None:
        return
    style, middle = square.style, y + _LINE / 2
    if style in GROUNDS:
        _box(panel, x, y + 0.01, step - 0.03, _LINE - 0.02, style)
    words = "" if style == "split" else square.words
    words = words if len(words) <= _LETTERS else f"{words[: _LETTERS - 1]}…"
    colour = VERDICTS.get("good" if style == "gone" else style, INK if style == "split" else "#6b7681")
    weight = "bold" if style in ("good", "bad") else "normal"
    text = terminal_safe(f"{square.sign} {words}".rstrip())
    panel.text(x + 0.04, middle, text, fontsize=6.5, color=colour, va="center", fontweight=weight)


def _box(panel: Any, x: float, y: float, width: float, height: float, style: str) -> None:
    from matplotlib.patches import Rectangle

    panel.add_patch(Rectangle((x, y), width, height, facecolor=GROUNDS[style], edgecolor="none"))


def _canvas(figure: Any, width: float, height: float) -> Any:
    """Return an empty panel in inches, from the top left."""
    panel = figure.add_axes((0, 0, 1, 1))
    panel.set_xlim(0, width)
    panel.set_ylim(height, 0)
    panel.axis("off")
    return panel


def _png(figure: Any, dpi: int, about: str) -> bytes:
    set_fonts(figure)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=dpi, metadata={"Software": None, "Description": about or None}, facecolor="white")
    return out.getvalue()
