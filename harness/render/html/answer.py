"""The answer, language by language: each judge's verdicts in words, and a line for each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.decide.verdicts import Verdict
from harness.measure.cells import Cell
from harness.measure.summaries import LanguageSummary
from harness.render.html.cells import DrawnTable, answer_table, beside_people
from harness.render.sides import Side, is_baseline, plainest_first, side_of
from harness.render.terminal import agreement_sentence, belongs, condition_of
from harness.reports.answer import style_of
from harness.reports.run_report import Report

_UNFOLDED = 2  # answers of a language that are not folded away


@dataclass(frozen=True)
class AnswerInLanguage:
    """One judge in one language: its verdicts as `(style, sentence)`, then metric by metric."""

    name: str
    verdicts: tuple[tuple[str, str], ...]
    agreement: str
    condition: str
    beside_people: str
    lines: DrawnTable


@dataclass(frozen=True)
class LanguageAnswer:
    """One language: what no native reader has reviewed, the first answers, and those that are folded away."""

    tag: str
    unreviewed: tuple[str, ...]
    first: tuple[AnswerInLanguage, ...]
    more: tuple[AnswerInLanguage, ...]


@dataclass(frozen=True)
class JudgedCells:
    """One judge in one language: its summary, verdicts and cells, and its name where there are several."""

    summary: LanguageSummary
    verdicts: tuple[Verdict, ...]
    cells: tuple[Cell, ...]
    name: str
    condition: str = ""
    constructed: bool = False


def answers_of_report(report: Report) -> list[LanguageAnswer]:
    """Every language of a report, in its order."""
    return answers_by_language(judged_of_report(report), _unreviewed(report))


def judged_of_report(report: Report) -> list[JudgedCells]:
    """Every judge in every language of a report, in its order."""
    judged = []
    for summary in report.summaries:
        condition = condition_of(summary)
        cells = tuple(cell for cell in report.by_metric if belongs(cell, summary))
        verdicts = tuple(verdict for verdict in report.verdicts if belongs(verdict, summary))
        shown = condition if len(report.summaries) > 1 else ""
        judged.append(JudgedCells(summary, verdicts, cells, f"{summary.judge}, {condition}", shown, report.constructed_labels))
    return judged


def _unreviewed(report: Report) -> dict[str, list[str]]:
    """What no native reader has reviewed, by language."""
    unreviewed = {tag: ["No native reader has reviewed these texts."] for tag in report.unreviewed}
    for tag in report.unreviewed_instructions:
        unreviewed.setdefault(tag, []).append("No native reader has reviewed the own-language instructions.")
    return unreviewed


def answers_by_language(judged: Sequence[JudgedCells], unreviewed: Mapping[str, Sequence[str]] = {}) -> list[LanguageAnswer]:
    """Answers language by language: judges before baselines, plain conditions before others. Baselines alone are not folded."""
    answers = []
    for tag in dict.fromkeys(each.summary.language for each in judged):
        here = [each for each in judged if each.summary.language == tag]
        order = plainest_first(map(_side, here))
        own = sorted(here, key=lambda each: order.index(_side(each)))
        judges = sum(not _is_baseline(each) for each in own)
        first = min(_UNFOLDED, judges or len(own))
        shown = tuple(map(_answer, own))
        answers.append(LanguageAnswer(tag, tuple(unreviewed.get(tag, ())), shown[:first], shown[first:]))
    return answers


def _side(judged: JudgedCells) -> Side:
    return side_of(judged.cells[0].key) if judged.cells else (None, *judged.summary.condition)


def _is_baseline(judged: JudgedCells) -> bool:
    return is_baseline(_side(judged))


def _answer(judged: JudgedCells) -> AnswerInLanguage:
    verdicts = () if _is_baseline(judged) else judged.verdicts
    return AnswerInLanguage(
        name=judged.name,
        verdicts=tuple((style_of(verdict), verdict.words.sentence) for verdict in verdicts),
        agreement="" if all(cell.continuous for cell in judged.cells) else agreement_sentence(judged.summary),
        condition=judged.condition,
        beside_people=beside_people(judged.cells, judged.constructed),
        lines=answer_table(judged.cells),
    )


def answer_legend(answers: Sequence[LanguageAnswer]) -> list[str]:
    """What the headings of all answers mean, each once."""
    tables = (answer.lines.table for language in answers for answer in (*language.first, *language.more))
    return list(dict.fromkeys(line for table in tables for line in table.legend))
