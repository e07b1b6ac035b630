"""The plan of labels before a run: what was assumed, and a row for each assumption or cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.content.tags import english_name
from harness.correction.labels_before_a_run import LabelsBefore, People
from harness.decide.more_labels import MORE_THAN
from harness.decide.options import DecisionOptions


def rows_of(planned: Sequence[LabelsBefore], half_width: float) -> list[list[str]]:
    """The headings, and a row for each."""
    heads = ["metric", "two people agree", "people a text", "texts for 'use'", f"texts for ±{100 * half_width:g} points", "best constant"]
    named = any(one.people.language for one in planned)
    rows = [["language", *heads] if named else heads]
    for one in planned:
        people = one.people
        texts = str(MORE_THAN) if one.for_verdict is None else f"about {one.for_verdict:,}"
        row = [
            people.metric.replace("_", " "),
            f"{100 * people.agreement:.0f} %",
            str(people.annotators),
            texts,
            f"{one.for_half_width:,}",
            f"{100 * one.constant:.0f} %",
        ]
        rows.append([english_name(people.language) if people.language else "", *row] if named else row)
    return rows


def sentences_of(planned: Sequence[LabelsBefore], decision: DecisionOptions, cells: int, shares_given: bool) -> Iterator[str]:
    """What stands behind the numbers."""
    people = planned[0].people
    if people.texts is None:
        yield from _assumed(people, shares_given, len(planned) > 1)
    else:
        yield "People's agreement and the shares of classes are those of the labels, unless a flag says otherwise; no judge was asked."
    where = "one metric in one language" if cells == 1 else f"each of {cells} cells (metrics in languages) that are tested together"
    chance = f"{100 * decision.power:.0f} %"
    yield (
        f"The judge is taken to be one more person. With so many texts 'use' is shown in {where} with a chance of {chance}: at most "
        f"{100 * decision.margin:g} points below people, and better than the best constant. A worse judge needs more texts, or is never "
        "shown to be good enough."
    )
    if cells == 1:
        yield "--cells 10 says how many metrics in languages you will test together: the more, the more texts each of them needs."
    yield "Texts count once for each source: ten answers to one question are not ten independent texts."


def _assumed(people: People, shares_given: bool, several: bool) -> Iterator[str]:
    classes = ", ".join(map(str, people.classes))
    if shares_given:
        yield f"Nobody labelled yet. Assumed: people give {classes} as often as --shares says."
    else:
        yield (
            f"Nobody labelled yet. Assumed: {classes} are equally common; --shares says otherwise, and where a class is rare, more texts "
            "are needed."
        )
    if several:
        yield "How often two people agree is not known, so several values are shown; --people-agree 0.7 takes one. 30 texts show it."
