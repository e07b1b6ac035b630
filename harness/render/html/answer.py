"""The answer of a run, language by language: each judge's verdict in words, and a line a metric."""

from __future__ import annotations

from dataclasses import dataclass

from harness.analyse import Report, Verdict
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


def answers(report: Report) -> list[LanguageAnswer]:
    """Every language of a report, in its order. Judges come before baselines; a run of baselines alone shows these."""
    return [_language(report, tag) for tag in dict.fromkeys(verdict.language for verdict in report.verdicts)]


def _language(report: Report, tag: str) -> LanguageAnswer:
    verdicts = sorted((v for v in report.verdicts if v.language == tag), key=_is_baseline)
    judges = sum(not _is_baseline(v) for v in verdicts)
    first = min(_OPEN, judges or len(verdicts))
    found = [_answer(report, verdict, len(report.verdicts) > 1) for verdict in verdicts]
    unread = []
    if tag in report.unreviewed:
        unread.append("No native reader has reviewed these texts.")
    if tag in report.unreviewed_instructions:
        unread.append("No native reader has reviewed the own-language instructions.")
    return LanguageAnswer(tag, tuple(unread), tuple(found[:first]), tuple(found[first:]))


def _is_baseline(verdict: Verdict) -> bool:
    return verdict.judge.startswith("baseline/")


def _answer(report: Report, verdict: Verdict, with_condition: bool) -> Answer:
    cells = [cell for cell in report.by_metric if belongs(cell, verdict)]
    condition = condition_of(verdict)
    return Answer(
        name=f"{verdict.judge}, {condition}",
        sentence=verdict.sentence,
        mood="open" if _is_baseline(verdict) else "good" if verdict.usable else "bad",
        right=right_on(verdict),
        condition=condition if with_condition else "",
        beside=beside_people(cells, report.constructed_labels),
        lines=tuple(map(line_of, cells)),
    )
