"""The answer, language by language: each judge's verdict in words, and a line a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.analyse import Cell, Report, Verdict
from harness.render.html.cells import Line, beside_people, line_of
from harness.render.terminal import belongs, condition_of, right_on

_OPEN = 2  # verdicts of a language that are shown without being asked for


@dataclass(frozen=True)
class Answer:
    """One verdict: in words, then metric by metric."""

    name: str
    sentence: str
    mood: str
    right: str
    condition: str
    beside: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class LanguageAnswer:
    """One language: what is not reviewed of it, the first verdicts, and those that are folded away."""

    tag: str
    unread: tuple[str, ...]
    first: tuple[Answer, ...]
    more: tuple[Answer, ...]


@dataclass(frozen=True)
class Judged:
    """A verdict with the cells that it is made of, and what the judge is called where several are told apart."""

    verdict: Verdict
    cells: tuple[Cell, ...]
    name: str
    condition: str = ""
    constructed: bool = False


def of_report(report: Report) -> list[LanguageAnswer]:
    """Every language of a report, in its order."""
    judged = []
    for verdict in report.verdicts:
        condition = condition_of(verdict)
        cells = tuple(cell for cell in report.by_metric if belongs(cell, verdict))
        shown = condition if len(report.verdicts) > 1 else ""
        judged.append(Judged(verdict, cells, f"{verdict.judge}, {condition}", shown, report.constructed_labels))
    unread = {tag: ["No native reader has reviewed these texts."] for tag in report.unreviewed}
    for tag in report.unreviewed_instructions:
        unread.setdefault(tag, []).append("No native reader has reviewed the own-language instructions.")
    return by_language(judged, unread)


def by_language(judged: Sequence[Judged], unread: Mapping[str, Sequence[str]] = {}) -> list[LanguageAnswer]:
    """Verdicts language by language: judges before baselines; where there are baselines alone, these."""
    found = []
    for tag in dict.fromkeys(each.verdict.language for each in judged):
        here = sorted((each for each in judged if each.verdict.language == tag), key=_is_baseline)
        judges = sum(not _is_baseline(each) for each in here)
        first = min(_OPEN, judges or len(here))
        shown = tuple(map(_answer, here))
        found.append(LanguageAnswer(tag, tuple(unread.get(tag, ())), shown[:first], shown[first:]))
    return found


def _is_baseline(judged: Judged) -> bool:
    return judged.verdict.judge.startswith("baseline/")


def _answer(judged: Judged) -> Answer:
    verdict = judged.verdict
    return Answer(
        name=judged.name,
        sentence=verdict.sentence,
        mood=_mood(judged),
        right=right_on(verdict),
        condition=judged.condition,
        beside=beside_people(judged.cells, judged.constructed),
        lines=tuple(map(line_of, judged.cells)),
    )


def _mood(judged: Judged) -> str:
    """How a verdict is coloured: one that cannot tell is neither good nor bad."""
    if _is_baseline(judged) or all(cell.vs_baseline["ci"] is None for cell in judged.cells):
        return "open"
    return "good" if judged.verdict.usable else "bad"
