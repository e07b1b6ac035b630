"""The verdicts at a glance: on several judges or conditions as a matrix, on one judge in groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.reports.answer.parts import (
    CAUSES,
    CORRECTED,
    SIGNS,
    MatrixColumn,
    VerdictMatrix,
    VerdictRow,
    VerdictSquare,
    cause_of,
    cause_words,
    deciding,
    state_of,
    state_words,
)
from harness.reports.answer.verdict_words import Sides, condition_words, difference_words, judge_of, shown_value, side_names, style_of
from harness.reports.tables.columns import metric_words
from harness.reports.tables.numbers import counted, difference, percent


@dataclass(frozen=True)
class VerdictGroup:
    """Verdicts of one kind under a heading; `says_little` where they are unknown."""

    heading: str
    style: str
    verdicts: tuple[Verdict, ...]
    says_little: bool = False


def groups_of(verdicts: Sequence[Verdict], people: bool) -> Iterator[VerdictGroup]:
    """Yield the verdicts for the judge (best first), against it (worst first), and the unknown ones by their cause."""

    def value(verdict: Verdict) -> float:
        return shown_value(verdict, people) or 0.0

    by_style = {style: [v for v in verdicts if style_of(v) == style] for style in ("good", "bad", "open")}
    controls = verdicts[0].controls
    groups = (
        ("good", "It passes the controls" if controls else "Use it", sorted(by_style["good"], key=value, reverse=True)),
        ("open", "Use it with corrected means only", [v for v in by_style["open"] if state_of(v) == CORRECTED]),
        ("bad", "It fails the controls" if controls else "Do not use it", sorted(by_style["bad"], key=value)),
    )
    for style, heading, group_verdicts in groups:
        if group_verdicts:
            yield VerdictGroup(heading, style, tuple(group_verdicts))
    for cause in CAUSES:
        if unknown := [v for v in by_style["open"] if cause_of(v) == cause]:
            unknown.sort(key=lambda verdict: (verdict.settled_by or 0, -value(verdict)))
            yield VerdictGroup(f"Unknown: {cause}", "open", tuple(unknown), says_little=True)


def beside_people(verdicts: Sequence[Verdict]) -> bool:
    """Return whether any verdict compares the judge with people; else all values are differences from one constant answer."""
    return any(verdict.agreement.gap is not None and not verdict.controls for verdict in verdicts)


def axis_reach(values: Sequence[float]) -> float:
    """Return the limit of an axis of differences on both sides of 0: the largest of them, in tenths, from 0.2 to 1.

    >>> axis_reach([0.03, -0.27]), axis_reach([])
    (0.4, 0.2)
    """
    return min(1.0, max(0.2, math.ceil(10 * max((abs(value) for value in values), default=0.0) + 0.5) / 10))


_HEADINGS = {"good": "A judge may stand in for people", "open": "Unknown", "bad": "No judge may be used"}
_PASSES = {"good": "A judge passes the controls", "open": "Unknown", "bad": "No judge passes the controls"}
_SAME = "each judge's plainest condition"


def verdict_matrices(sides: Sides) -> Iterator[VerdictMatrix]:
    """Yield a matrix of all sides; of several judges with several conditions one for each condition, the plainest of each judge first."""
    for condition, same in _by_condition(sides):
        matrix = _build_matrix(same, side_names(same))
        if condition:  # headings say so, because cards are about all conditions, under another of which more may be known
            rows = tuple(replace(row, group=row.group and f"{row.group}, asked this way") for row in matrix.rows)
            matrix = replace(matrix, condition=condition, rows=rows)
        yield matrix


def judges_in_order(sides: Sides) -> list[tuple[Any, Any]]:
    """Return the judges of the sides, each with its source, in the order in which the first matrix has them."""
    first = next((same for _, same in _by_condition(sides)), [])
    return list(dict.fromkeys(judge_of(side[0]) for side in sorted(first, key=_count_for_and_against, reverse=True)))


def _by_condition(sides: Sides) -> Iterator[tuple[str, Sides]]:
    """Yield the sides of each matrix, and the condition that they share, where it is chosen."""
    by_judge: dict[tuple[Any, Any], list[Sequence[Verdict]]] = {}
    for side in sides:
        by_judge.setdefault(judge_of(side[0]), []).append(side)
    if len(by_judge) == 1 or len(by_judge) == len(sides):
        yield "", sides
        return
    keys = [side[0].key for side in sides]
    by_condition: dict[str, list[Sequence[Verdict]]] = {}
    for side in sides:
        by_condition.setdefault(condition_words(side[0].key, keys), []).append(side)
    plainest = [side[0] for side in by_judge.values()]
    if not any(same == plainest for same in by_condition.values()):
        yield _SAME, plainest
    yield from by_condition.items()


def _build_matrix(sides: Sides, names: Sequence[str]) -> VerdictMatrix:
    """Return the matrix of sides with their names: questions by judge in one language, judges by language in several.

    Judges and questions with the most shown for them, and the least against, come first; conditions keep their order.
    """
    verdicts = [verdict for side in sides for verdict in side]
    languages = list(dict.fromkeys(verdict["language"] for verdict in verdicts))
    metrics = list(dict.fromkeys(verdict["metric"] for verdict in verdicts))
    kind, named_sides = sides_kind(sides), list(zip(names, sides, strict=True))
    if kind == "judge":
        named_sides.sort(key=lambda named_side: _count_for_and_against(named_side[1]), reverse=True)
    alone = len(metrics) == 1 or len(languages) == 1
    people = alone and any(verdict.agreement.gap is not None and not verdict.controls for verdict in verdicts)
    axis = difference_words(people) if alone else ""
    if len(languages) == 1:
        by_metric = [[verdict for verdict in verdicts if verdict["metric"] == metric] for metric in metrics]
        by_metric.sort(key=_question_order)
        rows = [_question_row(question, [side for _, side in named_sides], people) for question in by_metric]
        headings = (_PASSES if verdicts[0].controls else _HEADINGS) if kind == "judge" else {}
        grouped = [replace(row, group=headings.get(_question_style(question), "")) for question, row in zip(by_metric, rows, strict=True)]
        columns = []
        for name, side in named_sides:
            styles = [style_of(verdict) for verdict in side] if len(metrics) > 1 else []
            counts = tuple((style, SIGNS[style], styles.count(style)) for style in ("good", "bad", "open") if styles)
            columns.append(MatrixColumn(name, counts))
        several, before = len({row.group for row in grouped}) > 1, ""
        for number, row in enumerate(grouped):  # the first row of a group has its heading, where there are several groups
            grouped[number] = replace(row, group=row.group if several and row.group != before else "")
            before = row.group
        return VerdictMatrix("question", axis, tuple(columns), tuple(grouped), controls=bool(verdicts[0].controls))
    rows = []
    for name, side in named_sides:
        by_language = ([verdict for verdict in side if verdict["language"] == tag] for tag in languages)
        squares = tuple(build_square(in_language, alone, people) if in_language else None for in_language in by_language)
        rows.append(VerdictRow(name, "", squares))
    language_columns = tuple(MatrixColumn(english_name(tag), ()) for tag in languages)
    return VerdictMatrix(kind, axis, language_columns, tuple(rows), controls=bool(verdicts[0].controls))


def _question_style(verdicts: Sequence[Verdict]) -> str:
    """Return the style of a question: `good` where any judge may be used, `bad` where none may, else `open`."""
    styles = {style_of(verdict) for verdict in verdicts}
    return "good" if "good" in styles else "bad" if styles == {"bad"} else "open"


def _question_order(verdicts: Sequence[Verdict]) -> tuple[int, int, int]:
    """Return what questions are sorted by: those where a judge may be used, the open ones, then the others; the clearest first."""
    good, bad = _count_for_and_against(verdicts)
    return ("good", "open", "bad").index(_question_style(verdicts)), -good, -bad


def sides_kind(sides: Sides) -> str:
    """Return `condition` where the sides are conditions of one judge, else `judge`."""
    return "condition" if len({judge_of(side[0]) for side in sides}) == 1 else "judge"


def _count_for_and_against(verdicts: Sequence[Verdict]) -> tuple[int, int]:
    """Return how many verdicts are for a judge, and minus how many are against it."""
    styles = [style_of(verdict) for verdict in verdicts]
    return styles.count("good"), -styles.count("bad")


def _question_row(verdicts: Sequence[Verdict], sides: Sides, people: bool) -> VerdictRow:
    """Return the row of a metric, with the verdict on each judge."""
    on_metric = ([verdict for verdict in side if verdict["metric"] == verdicts[0]["metric"]] for side in sides)
    squares = tuple(build_square(cell_verdicts, True, people) if cell_verdicts else None for cell_verdicts in on_metric)
    texts = max(verdict.texts.labelled for verdict in verdicts)
    agree = [verdict.agreement.people for verdict in verdicts if verdict.agreement.people is not None]
    note = f"{counted(texts, 'text')}{f' · people agree {percent(agree[0])}' if agree and not verdicts[0].texts.closeness else ''}"
    return VerdictRow(metric_words(verdicts[0]["metric"]), note, squares)


def build_square(verdicts: Sequence[Verdict], alone: bool, people: bool) -> VerdictSquare:
    """Return the verdict on one metric, `alone`, with its reason or cause and its number; of several, how many have a verdict of each kind.

    The number of a verdict against a judge is the one that decided.
    """
    first, styles = verdicts[0], [style_of(verdict) for verdict in verdicts]
    words = "; ".join(f"{metric_words(verdict['metric'])}: {state_words(verdict)}" for verdict in verdicts)
    show = {name: value for name, value in first.key.items() if value is not None and (alone or name != "metric")}
    parts = tuple((style, sign, str(styles.count(style))) for style, sign in SIGNS.items() if style in styles)
    number, over_constant = "", False
    if alone:
        against = styles[0] == "bad" and not first.controls
        reason, value = cause_words(first) or state_of(first), shown_value(first, people)
        if against:
            reason, value, over_constant = deciding(first)
        parts = ((styles[0], SIGNS[styles[0]], reason),)
        number = "" if value is None else difference(value)
    return VerdictSquare(parts, number, f"{english_name(first['language'])}: {words}", show, over_constant)
