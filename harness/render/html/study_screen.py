"""The first screens of published studies: each with its own question and answer, above the verdicts, if there are any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.content.tags import english_name
from harness.measure.options import POOLED
from harness.render.html.first_screen import FirstScreen
from harness.render.sides import Side, plainest_first, side_of
from harness.reports.answer import condition_words
from harness.reports.answer_parts import Card
from harness.reports.sections.self_preference import ALL_SOURCES
from harness.reports.tables.numbers import coefficient, counted, percent
from harness.reports.tables.titles import metric_words

_FEW_ROWS = 4  # that have a card each
_NEITHER = 0.5
_ALPHA = 0.05
_OF_ALTERED_TEXTS = "meaning_preserved"  # the metric that only pairs of an original and its altered text have
StudyRow = Mapping[str, Any]
"""A row of the section of a study."""


def study_screen(screen: FirstScreen | None, sections: Mapping[str, Mapping[str, Any]]) -> FirstScreen | None:
    """The first screen with the question and the answer of the study that a report's sections have; `screen` as it is without one."""
    screen = _self_preference(screen, sections.get("self_preference", {}).get("rows", ()))
    return _chiang_lee(screen, sections.get("chiang_lee", {}))


def _self_preference(screen: FirstScreen | None, section: Sequence[StudyRow]) -> FirstScreen | None:
    rows = [row for row in section if row["source"] == ALL_SOURCES]
    if not rows:
        return screen
    judges = list(dict.fromkeys(row["judge"] for row in rows))
    question = f"Does {judges[0]} prefer its own texts?" if len(judges) == 1 else f"Do {len(judges)} judges prefer their own texts?"
    languages = {row["language"] for row in rows} - {POOLED}
    shown = [row for row in rows if row["language"] == POOLED] or rows
    pairs = max(row["n"] for row in shown)
    facts = f"{counted(pairs, 'pair')} of texts in {counted(len(languages), 'language')}"
    return _opened(screen, question, facts, tuple(_own_texts(shown)), "Control questions")


def _opened(screen: FirstScreen | None, question: str, facts: str, lead: tuple[Card, ...], below: str) -> FirstScreen:
    """A study's question and answer; the views of the verdicts keep their cards below a heading."""
    if screen is None:
        return FirstScreen(question, facts, (), lead=lead)
    views = tuple(replace(view, title=question, facts=facts, heading=f"{below}: {view.title}") for view in screen.views)
    return replace(screen, title=question, facts=facts, views=views, lead=lead)


def _own_texts(rows: Sequence[StudyRow]) -> Iterator[Card]:
    for row in rows[:_FEW_ROWS]:
        interval = row["preference_ci"]
        prefers = interval is not None and interval[0] > _NEITHER
        same = [other for other in rows if other["judge"] == row["judge"]]
        asked = f" ({condition_words(row, same)})" if len(same) > 1 else ""
        better, written = percent(row["preference"], interval), percent(row["recognition"], row["recognition_ci"])
        yield Card(
            "bad" if prefers else "open",
            f"{row['judge']}{asked} {'prefers' if prefers else 'is not shown to prefer'} its own texts",
            f"Over {counted(row['n'], 'pair')} it gives them {better} of the confidence as the better text, and {written} as the text that "
            f"it wrote; {percent(_NEITHER)} favours neither.{'' if interval else ' The independent texts are too few to test this.'}",
        )
    if len(rows) > _FEW_ROWS:
        yield Card("open", f"{len(rows) - _FEW_ROWS} further conditions", "They stand below, under Self-preference.")


def _chiang_lee(screen: FirstScreen | None, section: Mapping[str, Any]) -> FirstScreen | None:
    """Do samples of the judge agree with each other and with people, and does it tell the systems apart?"""
    rows: Sequence[StudyRow] = section.get("rows", ())
    if not rows:
        return screen
    judges = list(dict.fromkeys(row["judge"] for row in rows))
    people = any(row["r"] is not None for row in rows)
    who = judges[0] if len(judges) == 1 else f"each of {len(judges)} judges"
    altered = any(row["metric"] == _OF_ALTERED_TEXTS for row in rows)
    as_what = "texts as people do" if people else f"a text the same each time{', and altered texts lower' if altered else ''}"
    question = f"Does {who} rate {as_what}?"
    languages = list(dict.fromkeys(row["language"] for row in rows))
    plainest = plainest_first(map(_side, rows))[0]
    shown = [row for row in rows if _side(row) == plainest]
    conditions = {_side(row) for row in rows}
    asked = f"{judges[0]}, {condition_words(shown[0], rows) or 'one condition'}"
    facts = (
        f"{counted(max(row['texts'] for row in rows), 'text')} a question · {', '.join(map(english_name, languages))} · "
        f"{counted(len(conditions), 'condition')}; the cards are of the plainest: {asked}"
    )
    differences = [row for row in section.get("differences", ()) if _side(row) == plainest]
    return _opened(screen, question, facts, (*_ratings(shown), *_differences(differences, altered)), "Verdicts")


def _side(row: StudyRow) -> Side:
    return side_of({**row, "source": None})


def _ratings(rows: Sequence[StudyRow]) -> Iterator[Card]:
    metrics = ", ".join(metric_words(metric) for metric in dict.fromkeys(row["metric"] for row in rows))
    for name, heading, kind in (
        ("r", "With people", "Its mean scores correlate with people's by r"),
        ("alpha_ordinal", "With itself", "Several samples of the same question agree by α"),
    ):
        if known := sorted(row[name] for row in rows if row[name] is not None):
            ends = " to ".join(dict.fromkeys(map(coefficient, (known[0], known[-1]))))
            text = f"{kind} {ends} ({metrics}); 1 is perfect, 0 is chance. This is what was seen; nothing of it is tested."
            yield Card("open", heading, text)


def _differences(differences: Sequence[StudyRow], altered: bool) -> Iterator[Card]:
    """Between systems, or between the versions of a text, which stand in the data as systems."""
    heading, what, whole = ("Altered texts", "versions", "texts") if altered else ("Between systems", "systems", "prompts")
    tested = [row for row in differences if row["paired_q"] is not None]
    shown = [row for row in tested if row["paired_q"] <= _ALPHA]
    if tested:
        found = f"Of {counted(len(tested), 'difference')} between {what}' means within {whole} {len(shown)} are shown after correction"
        yield Card("good" if shown else "open", heading, f"{found}.")
    elif differences:
        has = "in both versions" if altered else "with texts of both systems"
        yield Card("open", heading, f"No difference within {whole} can be tested: that needs 8 {whole} {has}.")
