"""The answer, language by language: each judge's verdicts in words, and a line with figures for each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from markupsafe import Markup

from harness.decide.verdicts import Verdict
from harness.measure.cells import Cell
from harness.measure.options import POOLED
from harness.measure.summaries import LanguageSummary
from harness.render.html.marks import Mark, correlation_track, track
from harness.render.terminal import agreement_sentence, belongs, condition_of
from harness.render.verdict_text import WEAK
from harness.reports.answer.judged_sides import Side, is_baseline, plainest_first, side_of
from harness.reports.answer.verdict_words import style_of
from harness.reports.run_report import Report
from harness.reports.tables.columns import TableName, columns_in, metric_words
from harness.reports.tables.numbers import coefficient, percent
from harness.reports.tables.text_table import TextTable, cell_row, tabulate


@dataclass(frozen=True)
class FigureColumn:
    """A figure for each row of a table, what its axis shows, and what stands at its left end, middle and right end, if anything does."""

    axis: str
    figures: tuple[Markup | None, ...]
    ends: tuple[str, ...] = ("0 %", "50", "100 %")


@dataclass(frozen=True)
class DrawnTable:
    """A table of text with columns of figures, each to the right of the column that it is named by."""

    table: TextTable
    figures: Mapping[str, FigureColumn] = field(default_factory=dict)


def answer_table(cells: Sequence[Cell]) -> DrawnTable:
    """Return a line for each metric: agreement beside the baseline, and beside people where they can be compared."""
    rows = [cell_row(cell) for cell in cells]
    keys = ("metric", "task") if any(cell["task"] != POOLED for cell in cells) else ("metric",)
    table = tabulate(rows, columns_in(TableName.ANSWER), keys)
    figures = {"pa_failed_wrong": FigureColumn("agreement with the labels", tuple(map(agreement_figure, cells)))}
    if any(cell.continuous for cell in cells):
        drawn = tuple(correlation_figure(cell) if cell.continuous else None for cell in cells)
        figures["kendall_tau"] = FigureColumn("order of texts, judge and people", drawn, ("−1", "0", "1"))
    if any(map(has_people, cells)):
        drawn = tuple(_beside_people(cell) if has_people(cell) else None for cell in cells)
        figures["loo_gap"] = FigureColumn("against the same other annotators", drawn)
    return DrawnTable(table, figures)


def agreement_figure(cell: Cell, who: str = "judge ") -> Markup:
    """Return the agreement with the labels beside that of a constant answer."""
    value, interval, baseline = cell["pa_failed_wrong"], cell["pa_failed_wrong_ci"], cell.vs_baseline["pa"]
    words = f"{who}{percent(value, interval)}, a constant answer {percent(baseline)}"
    return track([Mark("base", baseline), Mark("judge", value, interval)], words)


def _beside_people(cell: Cell) -> Markup:
    judge, people = percent(cell["judge_loo"], cell["judge_loo_ci"]), percent(cell["human_loo"], cell["human_loo_ci"])
    marks = [Mark("people", cell["human_loo"]), Mark("judge", cell["judge_loo"], cell["judge_loo_ci"])]
    return track(marks, f"judge {judge}, people {people}, against the same other annotators")


def correlation_figure(cell: Cell) -> Markup:
    """Return the rank correlation of a judge's numbers with people's, beside that of two people where some texts were scored twice."""
    marks = [Mark("people", cell["human_second_kendall_tau"]), Mark("judge", cell["kendall_tau"], cell["kendall_tau_ci"])]
    return correlation_track(marks, correlation_words(cell))


def correlation_words(cell: Cell) -> str:
    """Return the same in words: `judge τ .14 [.02 .25], two people .19`."""
    judge, two = coefficient(cell["kendall_tau"], cell["kendall_tau_ci"]), cell["human_second_kendall_tau"]
    return f"judge τ {judge}" + ("" if two is None else f", two people {coefficient(two)}")


def has_people(cell: Cell) -> bool:
    """Return True if the judge can be compared with people: both against the same remaining annotators."""
    return cell["judge_loo"] is not None and cell["human_loo"] is not None


def beside_people(cells: Sequence[Cell], constructed: bool) -> str:
    """Return the judge beside people, in words; only of numbers that may be compared."""
    if constructed:
        return "The labels are constructed with the texts, so the judge cannot be compared with people."
    paired, numbers = [cell for cell in cells if has_people(cell)], [cell for cell in cells if cell.continuous]
    if not paired and numbers:
        judge = ", ".join(
            f"{coefficient(cell['kendall_tau'], cell['kendall_tau_ci'])} on {metric_words(cell['metric'])}" for cell in numbers
        )
        texts = f"Scores are numbers, so what counts is the order of the texts: Kendall's τ of the judge with people is {judge}."
        two = []
        twice = [cell for cell in numbers if cell["human_second_kendall_tau"] is not None]
        for cell in twice:
            value = coefficient(cell["human_second_kendall_tau"], cell["human_second_kendall_tau_ci"])
            two.append(f"{value} on {metric_words(cell['metric'])} (n {(cell.score_counts or {}).get('second_ratings', 0):,})")
        weak = any(cell["human_second_kendall_tau"] < WEAK for cell in twice)
        says_little = " People themselves hardly order texts alike, so a low correlation says little against the judge." if weak else ""
        return f"{texts} Beside people: of two people who scored the same texts it is {', '.join(two)}.{says_little}" if two else texts
    if not paired:
        return "No item has enough annotators, so the judge cannot be compared with people."
    findings: dict[str, list[str]] = {words: [] for words in _BESIDE_PEOPLE.values()}
    for cell in paired:
        findings[_BESIDE_PEOPLE[interval_sign(cell["loo_gap_ci"])]].append(metric_words(cell["metric"]))
    return "Beside people: " + "; ".join(f"{words} {', '.join(dict.fromkeys(m))}" for words, m in findings.items() if m) + "."


BELOW, WITHIN, ABOVE, UNKNOWN = "▼", "○", "▲", "·"
_BESIDE_PEOPLE = {
    BELOW: "it agrees with the other annotators less than a person does on",
    WITHIN: "it is not shown to differ from a person on",
    ABOVE: "it agrees more than a person does on",
    UNKNOWN: "there are too few independent texts to tell on",
}


def interval_sign(interval: tuple[float, float] | None) -> str:
    """Return where the interval of a difference lies: above 0, below it, around it, or nowhere."""
    if not interval:
        return UNKNOWN
    return ABOVE if interval[0] > 0 else BELOW if interval[1] < 0 else WITHIN


_UNFOLDED = 2  # answers of a language that are not folded away


@dataclass(frozen=True)
class JudgedCells:
    """One judge in one language: its summary, verdicts and cells, its name, and its condition where there are several."""

    summary: LanguageSummary
    verdicts: tuple[Verdict, ...]
    cells: tuple[Cell, ...]
    name: str
    condition: str = ""
    constructed: bool = False

    @property
    def side(self) -> Side:
        return side_of(self.cells[0].key) if self.cells else (None, *self.summary.condition)

    @property
    def sentences(self) -> list[tuple[str, str]]:
        """`(style, sentence)` of each verdict, none of baselines."""
        return [] if is_baseline(self.side) else [(style_of(verdict), verdict.words.sentence) for verdict in self.verdicts]

    @property
    def agreement(self) -> str:
        return "" if all(cell.continuous for cell in self.cells) else agreement_sentence(self.summary)

    @property
    def beside_people(self) -> str:
        return beside_people(self.cells, self.constructed)

    @cached_property
    def lines(self) -> DrawnTable:
        return answer_table(self.cells)


@dataclass(frozen=True)
class LanguageAnswer:
    """One language: what no native reader has reviewed, the first answers, and those that are folded away."""

    tag: str
    unreviewed: tuple[str, ...]
    first: tuple[JudgedCells, ...]
    more: tuple[JudgedCells, ...]


def judged_of_report(report: Report) -> list[JudgedCells]:
    """Every judge in every language of a report, in its order."""
    judged = []
    for summary in report.summaries:
        condition = condition_of(summary)
        cells = tuple(cell for cell in report.by_metric if belongs(cell, summary))
        verdicts = tuple(verdict for verdict in report.verdicts if belongs(verdict, summary))
        condition_name = condition if len(report.summaries) > 1 else ""
        judged.append(JudgedCells(summary, verdicts, cells, f"{summary.judge}, {condition}", condition_name, report.constructed_labels))
    return judged


def answers_by_language(judged: Sequence[JudgedCells], unreviewed: Mapping[str, Sequence[str]] = {}) -> list[LanguageAnswer]:
    """Answers language by language: judges before baselines, plain conditions before others. Baselines alone are not folded."""
    answers = []
    for tag in dict.fromkeys(cells.summary.language for cells in judged):
        in_language = [cells for cells in judged if cells.summary.language == tag]
        order = plainest_first(cells.side for cells in in_language)
        ordered = sorted(in_language, key=lambda cells: order.index(cells.side))
        judges = sum(not is_baseline(cells.side) for cells in ordered)
        first = min(_UNFOLDED, judges or len(ordered))
        answers.append(LanguageAnswer(tag, tuple(unreviewed.get(tag, ())), tuple(ordered[:first]), tuple(ordered[first:])))
    return answers


def answer_legend(answers: Sequence[LanguageAnswer]) -> list[str]:
    """Return what the headings of all answers mean, each once."""
    tables = (answer.lines.table for language in answers for answer in (*language.first, *language.more))
    return list(dict.fromkeys(line for table in tables for line in table.legend))
