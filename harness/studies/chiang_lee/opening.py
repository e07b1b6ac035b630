"""The first screen of a page about ratings: do samples of a judge agree with each other and with people, and does it tell systems apart?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.content.tags import english_name
from harness.render.verdicts import Side, plainest_first, side_of
from harness.reports.answer.parts import Card
from harness.reports.answer.words import condition_words
from harness.reports.sections.section import Opening, OpeningNumber, SectionNumbers
from harness.reports.tables.columns import Row
from harness.reports.tables.numbers import coefficient, counted
from harness.reports.tables.titles import metric_words

_ALPHA = 0.05
_MOST_NUMBERS = 8  # that a page opens with
_OF_ALTERED_TEXTS = "meaning_preserved"  # the metric that only pairs of an original and its altered text have


def open_page(section: SectionNumbers) -> Opening | None:
    """Return the question, and cards on agreement and on differences between systems; None without rows."""
    rows: Sequence[Row] = section.get("rows", ())
    if not rows:
        return None
    judges = list(dict.fromkeys(row["judge"] for row in rows))
    people = any(row["r"] is not None for row in rows)
    who = judges[0] if len(judges) == 1 else f"each of {len(judges)} judges"
    altered = any(row["metric"] == _OF_ALTERED_TEXTS for row in rows)
    as_what = "texts as people do" if people else f"a text the same each time{', and altered texts lower' if altered else ''}"
    question = f"Does {who} rate {as_what}?"
    languages = list(dict.fromkeys(row["language"] for row in rows))
    plainest = plainest_first(map(_side, rows))[0]
    plainest_rows = [row for row in rows if _side(row) == plainest]
    conditions = {_side(row) for row in rows}
    condition = f"{judges[0]}, {condition_words(plainest_rows[0], rows) or 'one condition'}"
    facts = (
        f"{counted(max(row['texts'] for row in rows), 'text')} a question · {', '.join(map(english_name, languages))} · "
        f"{counted(len(conditions), 'condition')}; the cards are of the plainest: {condition}"
    )
    differences = [row for row in section.get("differences", ()) if _side(row) == plainest]
    cards = (*_ratings(plainest_rows), *_differences(differences, altered))
    return Opening(question, facts, cards, "Verdicts", tuple(_numbers(plainest_rows)))


def _numbers(rows: Sequence[Row]) -> Iterator[OpeningNumber]:
    """Yield the correlation with people of each language and metric; without people, how far samples of a question agree."""
    name, what = ("r", "r with people") if any(row["r"] is not None for row in rows) else ("alpha_ordinal", "α of its samples")
    for row in [row for row in rows if row[name] is not None][:_MOST_NUMBERS]:
        about = f"{english_name(row['language'])} · {metric_words(row['metric'])}: {what}"
        yield OpeningNumber(about, row[name], None, coefficient(row[name]), (-1.0, 1.0), ("−1", "0: chance", "1: perfect"))


def _side(row: Row) -> Side:
    return side_of({**row, "source": None})


def _ratings(rows: Sequence[Row]) -> Iterator[Card]:
    metrics = ", ".join(metric_words(metric) for metric in dict.fromkeys(row["metric"] for row in rows))
    for name, heading, kind in (
        ("r", "With people", "Its mean scores correlate with people's by r"),
        ("alpha_ordinal", "With itself", "Several samples of the same question agree by α"),
    ):
        if values := sorted(row[name] for row in rows if row[name] is not None):
            ends = " to ".join(dict.fromkeys(map(coefficient, (values[0], values[-1]))))
            text = f"{kind} {ends} ({metrics}); 1 is perfect, 0 is chance. These are observations, not tests."
            yield Card("open", heading, text)


def _differences(differences: Sequence[Row], altered: bool) -> Iterator[Card]:
    """Between systems, or between the versions of a text, which stand in the data as systems."""
    heading, what, unit = ("Altered texts", "versions", "texts") if altered else ("Between systems", "systems", "prompts")
    tested = [row for row in differences if row["paired_q"] is not None]
    significant = [row for row in tested if row["paired_q"] <= _ALPHA]
    if tested:
        sentence = (
            f"Of {counted(len(tested), 'difference')} between {what}' means within {unit} {len(significant)} are shown after correction"
        )
        yield Card("good" if significant else "open", heading, f"{sentence}.")
    elif differences:
        has = "in both versions" if altered else "with texts of both systems"
        yield Card("open", heading, f"Unknown: too few texts. A test needs 8 {unit} {has}; ask about more of them.")
