"""The first screen of a page about self-preference: does a judge prefer its own texts?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.measure.options import POOLED
from harness.reports.answer.parts import Card
from harness.reports.answer.words import condition_words
from harness.reports.sections.section import Opening, OpeningNumber, SectionNumbers
from harness.reports.tables.columns import Row
from harness.reports.tables.numbers import counted, percent
from harness.studies.self_preference.analysis import ALL_SOURCES

_FEW_ROWS = 4  # that have a card each
_NEITHER = 0.5


def open_page(section: SectionNumbers) -> Opening | None:
    """Return the question, and a card for each judge and condition; None without a row about all systems."""
    rows = [row for row in section.get("rows", ()) if row["source"] == ALL_SOURCES]
    if not rows:
        return None
    judges = list(dict.fromkeys(row["judge"] for row in rows))
    question = f"Does {judges[0]} prefer its own texts?" if len(judges) == 1 else f"Do {len(judges)} judges prefer their own texts?"
    languages = {row["language"] for row in rows} - {POOLED}
    pooled_rows = [row for row in rows if row["language"] == POOLED] or rows
    pairs = max(row["n"] for row in pooled_rows)
    facts = f"{counted(pairs, 'pair')} of texts in {counted(len(languages), 'language')}"
    return Opening(question, facts, tuple(_own_texts(pooled_rows)), "Control questions", tuple(_numbers(pooled_rows)))


def _numbers(rows: Sequence[Row]) -> Iterator[OpeningNumber]:
    """Yield the confidence that goes to a judge's own texts, as the better ones and as those that it wrote."""
    scale = ("the other text", "neither", "its own text")
    for row in rows[:_FEW_ROWS]:
        for what, value, interval in (
            ("its own text is better", row["preference"], row["preference_ci"]),
            ("it wrote this text", row["recognition"], row["recognition_ci"]),
        ):
            if value is not None:
                yield OpeningNumber(f"{row['judge']}: {what}", value, interval, percent(value, interval), scale=scale)


def _own_texts(rows: Sequence[Row]) -> Iterator[Card]:
    for row in rows[:_FEW_ROWS]:
        interval = row["preference_ci"]
        prefers = interval is not None and interval[0] > _NEITHER
        same = [other for other in rows if other["judge"] == row["judge"]]
        condition = f" ({condition_words(row, same)})" if len(same) > 1 else ""
        better, written = percent(row["preference"], interval), percent(row["recognition"], row["recognition_ci"])
        over = f"{'Over' if interval else 'Too few independent texts to test: over'} {counted(row['n'], 'pair')}"
        yield Card(
            "bad" if prefers else "open",
            f"{'' if prefers else 'Unknown whether '}{row['judge']}{condition} prefers its own texts",
            f"{over} its own text gets {better} of the confidence as the better one, and {written} as the one that it wrote; "
            f"{percent(_NEITHER)} favours neither.",
        )
    if len(rows) > _FEW_ROWS:
        yield Card("open", f"{len(rows) - _FEW_ROWS} further conditions", "They stand below, under Self-preference.")
