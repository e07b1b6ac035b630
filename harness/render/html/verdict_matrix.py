"""The verdicts on several judges or conditions at a glance: a row for each, a column for each language, metrics counted in a square."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.render.forest import axis_words, forest_value
from harness.render.sides import SIDE_KEYS
from harness.render.verdicts import SIGNS, side_of_verdict
from harness.reports.answer import style_of
from harness.reports.tables.numbers import difference
from harness.reports.tables.titles import metric_words


@dataclass(frozen=True)
class VerdictSquare:
    """One judge in one language: `(style, sign, words)` of each kind of verdict, all in words, and the filters that show its judgments."""

    parts: tuple[tuple[str, str, str], ...]
    title: str
    show: dict[str, Any]


@dataclass(frozen=True)
class VerdictMatrix:
    """Rows of squares by name, None where there is no verdict. `rows_are` is `judge` or `condition`.

    `axis` says what the numbers are: there is one in each square where there is one metric.
    """

    rows_are: str
    axis: str
    languages: tuple[str, ...]
    rows: tuple[tuple[str, tuple[VerdictSquare | None, ...]], ...]


def verdict_matrix(sides: Sequence[Sequence[Verdict]], names: Sequence[str]) -> VerdictMatrix:
    """The verdicts of all sides, each with its name, by language."""
    every = [verdict for own in sides for verdict in own]
    languages = tuple(dict.fromkeys(verdict["language"] for verdict in every))
    alone = len({verdict["metric"] for verdict in every}) == 1
    people = alone and any(verdict.gap is not None and not verdict.controls for verdict in every)
    rows = []
    for own, name in zip(sides, names, strict=True):
        here = ([verdict for verdict in own if verdict["language"] == tag] for tag in languages)
        rows.append((name, tuple(_square(verdicts, alone, people) if verdicts else None for verdicts in here)))
    return VerdictMatrix(sides_are(sides), axis_words(people) if alone else "", languages, tuple(rows))


def sides_are(sides: Sequence[Sequence[Verdict]]) -> str:
    """What the sides are: conditions of one judge, or judges."""
    return "condition" if len({own[0]["judge"] for own in sides}) == 1 else "judge"


def _square(verdicts: Sequence[Verdict], alone: bool, people: bool) -> VerdictSquare:
    language = str(verdicts[0]["language"])
    words = "; ".join(f"{metric_words(verdict['metric'])}: {verdict.answer}" for verdict in verdicts)
    side = zip(SIDE_KEYS, side_of_verdict(verdicts[0]), strict=True)
    show = {name: value for name, value in side if value is not None} | {"language": language}
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
