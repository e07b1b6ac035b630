"""The verdicts on several judges or conditions at a glance: questions by judge in one language, judges by language in several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.model import SIDE
from harness.render.forest import axis_words, forest_value
from harness.render.verdicts import side_of_verdict
from harness.reports.answer import style_of
from harness.reports.answer_parts import SIGNS
from harness.reports.tables.numbers import counted, difference, percent
from harness.reports.tables.titles import metric_words


@dataclass(frozen=True)
class VerdictSquare:
    """One judge in one language: `(style, sign, words)` of each kind of verdict, all in words, and the filters that show its judgments."""

    parts: tuple[tuple[str, str, str], ...]
    title: str
    show: dict[str, Any]


@dataclass(frozen=True)
class VerdictRow:
    """A row of squares, None where there is no verdict. `note` says of a question how many texts it has, and how far people agree."""

    name: str
    note: str
    squares: tuple[VerdictSquare | None, ...]


@dataclass(frozen=True)
class VerdictMatrix:
    """Squares by row and column. `rows_are` is `judge`, `condition` or, in one language, `question`: then judges are the columns.

    `axis` says what the numbers are: there is one in each square that holds one verdict.
    """

    rows_are: str
    axis: str
    columns: tuple[str, ...]
    rows: tuple[VerdictRow, ...]


def verdict_matrix(sides: Sequence[Sequence[Verdict]], names: Sequence[str]) -> VerdictMatrix:
    """The verdicts of all sides, each with its name: questions by judge in one language, judges by language in several.

    Judges and questions with the most shown for them, and the least against, come first; conditions keep their order.
    """
    every = [verdict for own in sides for verdict in own]
    languages = list(dict.fromkeys(verdict["language"] for verdict in every))
    metrics = list(dict.fromkeys(verdict["metric"] for verdict in every))
    kind, named = sides_are(sides), list(zip(names, sides, strict=True))
    if kind == "judge":
        named.sort(key=lambda each: _standing(each[1]), reverse=True)
    alone = len(metrics) == 1 or len(languages) == 1
    people = alone and any(verdict.gap is not None and not verdict.controls for verdict in every)
    if len(languages) == 1 and len(metrics) > 1:
        by_metric = sorted(([v for v in every if v["metric"] == metric] for metric in metrics), key=_standing, reverse=True)
        rows = [_question(own, [side for _, side in named], people) for own in by_metric]
        return VerdictMatrix("question", axis_words(people), tuple(name for name, _ in named), tuple(rows))
    rows = []
    for name, own in named:
        here = ([verdict for verdict in own if verdict["language"] == tag] for tag in languages)
        rows.append(VerdictRow(name, "", tuple(_square(verdicts, alone, people) if verdicts else None for verdicts in here)))
    return VerdictMatrix(kind, axis_words(people) if alone else "", tuple(map(english_name, languages)), tuple(rows))


def sides_are(sides: Sequence[Sequence[Verdict]]) -> str:
    """What the sides are: conditions of one judge, or judges."""
    return "condition" if len({own[0]["judge"] for own in sides}) == 1 else "judge"


def _standing(verdicts: Sequence[Verdict]) -> tuple[int, int]:
    """How many verdicts are for a judge, and how few against it."""
    styles = [style_of(verdict) for verdict in verdicts]
    return styles.count("good"), -styles.count("bad")


def _question(own: Sequence[Verdict], sides: Sequence[Sequence[Verdict]], people: bool) -> VerdictRow:
    """A metric with the verdict on each judge."""
    squares = []
    for side in sides:
        here = [verdict for verdict in side if verdict["metric"] == own[0]["metric"]]
        squares.append(_square(here, True, people) if here else None)
    texts = max(verdict.n_labelled for verdict in own)
    agree = [verdict.people for verdict in own if verdict.people is not None]
    note = f"{counted(texts, 'text')}{f' · people agree {percent(agree[0])}' if agree and not own[0].closeness else ''}"
    return VerdictRow(metric_words(own[0]["metric"]), note, tuple(squares))


def _square(verdicts: Sequence[Verdict], alone: bool, people: bool) -> VerdictSquare:
    language = str(verdicts[0]["language"])
    words = "; ".join(f"{metric_words(verdict['metric'])}: {verdict.answer}" for verdict in verdicts)
    side = zip(SIDE, side_of_verdict(verdicts[0]), strict=True)
    show = {name: value for name, value in side if value is not None} | {"language": language}
    show |= {"metric": verdicts[0]["metric"]} if alone else {}
    parts = _one_metric(verdicts[0], people) if alone else _counts(verdicts)
    return VerdictSquare(tuple(parts), f"{english_name(language)}: {words}", show)


def _one_metric(verdict: Verdict, people: bool) -> Iterator[tuple[str, str, str]]:
    """The verdict and its number."""
    style, value = style_of(verdict), forest_value(verdict, people)
    yield style, SIGNS[style], verdict.answer if value is None else f"{verdict.answer} {difference(value)}"


def _counts(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, str, str]]:
    """How many metrics have a verdict of each kind."""
    for style, sign in SIGNS.items():
        if own := [verdict for verdict in verdicts if style_of(verdict) == style]:
            yield style, sign, str(len(own))
