"""The answer, language by language: each judge's verdict in words, and a line for each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.analyse import Cell, Report, Verdict
from harness.judges import traits_of
from harness.render.html.cells import DrawnTable, answer_table, beside_people
from harness.render.terminal import agreement_sentence, belongs, condition_of

_UNFOLDED = 2  # verdicts of a language that are not folded away


@dataclass(frozen=True)
class Answer:
    """One verdict: in words, then metric by metric."""

    name: str
    sentence: str
    mood: str
    agreement: str
    condition: str
    beside_people: str
    lines: DrawnTable


@dataclass(frozen=True)
class LanguageAnswer:
    """One language: what no native reader has reviewed, the first verdicts, and those that are folded away."""

    tag: str
    unreviewed: tuple[str, ...]
    first: tuple[Answer, ...]
    more: tuple[Answer, ...]


@dataclass(frozen=True)
class JudgedCells:
    """A verdict with the cells that it rests on, and the name of its judge where there are several."""

    verdict: Verdict
    cells: tuple[Cell, ...]
    name: str
    condition: str = ""
    constructed: bool = False


def answers_of_report(report: Report) -> list[LanguageAnswer]:
    """Every language of a report, in its order."""
    judged = []
    for verdict in report.verdicts:
        condition = condition_of(verdict)
        cells = tuple(cell for cell in report.by_metric if belongs(cell, verdict))
        shown = condition if len(report.verdicts) > 1 else ""
        judged.append(JudgedCells(verdict, cells, f"{verdict.judge}, {condition}", shown, report.constructed_labels))
    unreviewed = {tag: ["No native reader has reviewed these texts."] for tag in report.unreviewed}
    for tag in report.unreviewed_instructions:
        unreviewed.setdefault(tag, []).append("No native reader has reviewed the own-language instructions.")
    return answers_by_language(judged, unreviewed)


def answers_by_language(judged: Sequence[JudgedCells], unreviewed: Mapping[str, Sequence[str]] = {}) -> list[LanguageAnswer]:
    """Verdicts language by language: judges before baselines. Baselines are folded away, unless there is nothing else."""
    answers = []
    for tag in dict.fromkeys(each.verdict.language for each in judged):
        verdicts = sorted((each for each in judged if each.verdict.language == tag), key=_is_baseline)
        judges = sum(not _is_baseline(each) for each in verdicts)
        first = min(_UNFOLDED, judges or len(verdicts))
        shown = tuple(map(_answer, verdicts))
        answers.append(LanguageAnswer(tag, tuple(unreviewed.get(tag, ())), shown[:first], shown[first:]))
    return answers


def _is_baseline(judged: JudgedCells) -> bool:
    return traits_of(judged.verdict.judge).is_baseline


def _answer(judged: JudgedCells) -> Answer:
    verdict = judged.verdict
    return Answer(
        name=judged.name,
        sentence=verdict.sentence,
        mood=_mood(judged),
        agreement=agreement_sentence(verdict),
        condition=judged.condition,
        beside_people=beside_people(judged.cells, judged.constructed),
        lines=answer_table(judged.cells),
    )


def _mood(judged: JudgedCells) -> str:
    """The colour of a verdict. One that cannot be told is neither good nor bad."""
    intervals = [judged.verdict.ci, *(cell.vs_baseline["ci"] for cell in judged.cells)]
    if _is_baseline(judged) or not any(intervals):
        return "open"
    return "good" if judged.verdict.usable else "bad"


def answer_legend(answers: Sequence[LanguageAnswer]) -> list[str]:
    """What the headings of all answers mean, each once."""
    tables = (answer.lines.table for language in answers for answer in (*language.first, *language.more))
    return list(dict.fromkeys(line for table in tables for line in table.legend))
