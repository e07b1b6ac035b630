"""The first screen of the self-preference study: judges' preference for their own texts, above the verdicts on control questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.measure.options import POOLED
from harness.render.doses import side_of_row
from harness.render.html.first_screen import FirstScreen
from harness.render.sides import side_name
from harness.reports.sections.self_preference import ALL_SOURCES
from harness.reports.tables.numbers import counted, percent

_FEW_ROWS = 4  # that have a sentence each
_NEITHER = 0.5
OwnRow = Mapping[str, Any]
"""A row of the section of self-preference."""


def self_preference_screen(screen: FirstScreen | None, section: Mapping[str, Any] | None) -> FirstScreen | None:
    """The first screen with the study's question and answer.

    Args:
        screen: that of the verdicts about control questions; None without any.
        section: of self-preference; without it, or without pairs, `screen` is returned as it is.
    """
    rows = [row for row in (section or {}).get("rows", ()) if row["source"] == ALL_SOURCES]
    if not rows:
        return screen
    judges = list(dict.fromkeys(row["judge"] for row in rows))
    question = f"Does {judges[0]} prefer its own texts?" if len(judges) == 1 else f"Do {len(judges)} judges prefer their own texts?"
    languages = {row["language"] for row in rows} - {POOLED}
    shown = [row for row in rows if row["language"] == POOLED] or rows
    pairs = max(row["n"] for row in shown)
    facts = f"{counted(pairs, 'pair')} of texts in {counted(len(languages), 'language')}"
    own = tuple(_sentences(shown))
    if screen is None:
        return FirstScreen(question, own, (), None, (), facts)
    return replace(screen, title=question, sentences=(*own, *screen.sentences), facts=f"{facts} · control questions: {screen.facts}")


def _sentences(rows: Sequence[OwnRow]) -> Iterator[tuple[str, str]]:
    sides = [side_of_row({**row, "source": None}) for row in rows]
    for row, side in list(zip(rows, sides, strict=True))[:_FEW_ROWS]:
        interval = row["preference_ci"]
        prefers = interval is not None and interval[0] > _NEITHER
        name = side_name(side, sides)
        who = name if row["judge"] in name.split(" · ") else f"{row['judge']} · {name}"
        better, written = percent(row["preference"], interval), percent(row["recognition"], row["recognition_ci"])
        yield (
            "bad" if prefers else "open",
            f"{who} {'prefers' if prefers else 'is not shown to prefer'} its own texts: over {counted(row['n'], 'pair')} it gives them "
            f"{better} of the confidence as the better text, and {written} as the text that it wrote; {percent(_NEITHER)} favours neither.",
        )
    if len(rows) > _FEW_ROWS:
        yield "open", f"{len(rows) - _FEW_ROWS} further conditions stand below, under Self-preference."
