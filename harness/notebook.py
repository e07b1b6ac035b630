"""Displays in a notebook: a run while it goes on, and reports and comparisons as tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from harness.decide.verdicts import Verdict
from harness.errors import UsageError
from harness.measure.cells import Cell
from harness.model import CellKey, JudgeIdentity
from harness.render.comparison import language_name, language_tables
from harness.render.terminal import continuous_table, notes, reason_without_agreement, sealed_table, unreviewed
from harness.render.verdict_text import answer_lines, screen_tables, verdict_tables
from harness.reports.answer.judged_sides import judged_sides
from harness.reports.answer.parts import SIGNS, cause_words, state_of
from harness.reports.comparison import DecidedComparison
from harness.reports.run_report import Report
from harness.reports.sections.probabilities import NAME as PROBABILITIES
from harness.reports.sections.section_registry import shown_sections
from harness.reports.tables.text_table import TextTable
from harness.runs import CostEstimate, RunResult
from harness.text import terminal_safe

if TYPE_CHECKING:
    import pandas as pd

    from harness.render.latex import LatexKind
    from harness.runs import LiveRows


class Quiet:
    """Follows a run and shows only warnings. Refuses to send a data folder's texts to an endpoint unless `may_send` is true."""

    def __init__(self, *, may_send: bool = False) -> None:
        self._may_send = may_send

    def consent(self, host: str, texts: int) -> None:
        if not self._may_send:
            raise UsageError(f"{texts} texts of your data folder would be sent to {host}; pass may_send=True to allow this")

    def planned(self, identity: JudgeIdentity, estimate: CostEstimate, stored: int, /) -> None:
        """Shows nothing."""

    def note(self, text: str) -> None:
        warnings.warn(text, stacklevel=2)

    def progress(self, identities: Sequence[JudgeIdentity]) -> Callable[[JudgeIdentity, Any], None]:
        return lambda identity, state: None

    def finished(self) -> None:
        """Shows nothing."""

    def follow(self, rows: LiveRows) -> bool:
        """Shows nothing."""
        return False

    def first_language(self, part: RunResult) -> None:
        """Shows nothing."""


class NotebookReport(Report, frozen=True):
    """A report that a notebook shows as tables."""

    def _repr_html_(self) -> str:

        return report_html(self)


class NotebookComparison(DecidedComparison, frozen=True, kw_only=True):
    """A comparison that a notebook shows as its answer and tables."""

    def _repr_html_(self) -> str:

        return comparison_html(self)

    def frame(self, full: bool = False) -> pd.DataFrame:
        """Return the cells as a pandas frame, one row each, with the columns that people use, or with `full` every number.

        Columns: the keys; of the verdict its state in words, the `cause` of an unknown one, `judge_agrees` and `people_agree`, their
        difference `judge_minus_people` with its limits `at_least` and `at_most`; `texts`, `agreement` with the labels (answers that
        cannot be read count as wrong everywhere) with its interval, `minus_constant` and its `q`, `tau`. With `full` the names of
        `as_json`; what is nested there has dotted names.
        """
        import pandas  # late: half a second

        if full:
            return super().frame()
        decided: dict[CellKey | None, Verdict] = {CellKey.of(verdict.key): verdict for verdict in self.verdicts}
        return pandas.DataFrame([{**cell.key, **_shown(cell, decided.get(_cell_key(cell)))} for cell in self.cells])

    def markdown(self) -> str:
        """Return the answer and all tables as Markdown, like `harness compare --md`."""
        from harness.render.markdown import comparison_markdown

        return comparison_markdown(self)

    def latex(self, kind: LatexKind = "verdicts") -> str:
        """Return a LaTeX table, like `harness compare --latex`: the `verdicts`, the `shares` of classes, or all `numbers` of all cells."""
        from harness.render.latex import to_latex

        return to_latex(self, kind)

    def figure(self) -> DrawnFigure:
        """Return the answer as a picture that a notebook shows, like `harness compare --figure`. Raises UsageError without a verdict."""
        from harness.render.figures import FigureOptions, draw_answer

        drawn = draw_answer(self.verdicts, self.signature, FigureOptions(forms=("svg",)), self.data_names)
        if drawn is None:
            raise UsageError("there is no verdict on a judge to draw")
        return DrawnFigure(drawn["svg"].decode(), self)


class DrawnFigure(msgspec.Struct, frozen=True):
    """A drawing as SVG, which a notebook shows; `svg` is the file's text."""

    svg: str
    comparison: NotebookComparison

    def __repr__(self) -> str:
        return f"<DrawnFigure: {len(self.svg):,} characters of SVG>"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Path | str) -> Path:
        """Draw the figure into a file and return its path; the name ends in `.svg`, `.pdf` or `.png`.

        Raises:
            UsageError: for another ending, and without the extra `figures`.  StoreError: if the file cannot be written.
        """
        from harness.render.figures import write_answer

        write_answer(self.comparison, Path(path))
        return Path(path)


def _cell_key(cell: Cell) -> CellKey | None:
    """Return the key of a cell that names a language and a metric; None of others."""
    return CellKey.of(cell.key) if {"language", "metric"} <= cell.key.keys() else None


def _shown(cell: Cell, verdict: Verdict | None) -> dict[str, Any]:
    """Return the numbers of a row of a notebook's frame."""
    numbers = cell.flat()
    baseline = numbers.get("vs_baseline") or {}
    return {
        "verdict": verdict and state_of(verdict),
        "cause": verdict and cause_words(verdict),
        "judge_agrees": verdict and verdict.agreement.judge,
        "people_agree": verdict.agreement.people if verdict else numbers.get("human_pa"),
        "judge_minus_people": verdict and verdict.agreement.gap,
        "at_least": verdict and verdict.bounds.gap,
        "at_most": verdict and verdict.bounds.gap_upper,
        "texts": numbers.get("n_ref", numbers.get("n")),
        "agreement": numbers.get("pa_failed_wrong"),
        "agreement_ci": numbers.get("pa_failed_wrong_ci"),
        "minus_constant": baseline.get("diff"),
        "q": baseline.get("q"),
        "tau": numbers.get("kendall_tau"),
    }


_SHADES: dict[str, str] = {
    "good": "background:rgba(0,98,168,.2)",
    "bad": "background:rgba(168,92,0,.22)",
    "open": "background:rgba(128,128,128,.12)",
}
"""Colours of verdicts on a light ground and on a dark one: those of the pages, see-through."""
_OF_WORDS = {"use": "good", "passes the controls": "good", "do not use": "bad", "fails the controls": "bad"}


def report_html(report: Report) -> str:
    """Return a report: its answer, its verdicts, continuous scores, notes and signatures."""
    sections = [(reason_without_agreement(report), sealed_table(report))] if report.sealed else []
    sections += _verdict_sections(report.verdicts)
    if (continuous := continuous_table(report)) is not None:
        sections.append(("Continuous scores", continuous))
    return _page(report.title, report, sections, [*unreviewed(report), *notes(report)], report.signatures)


def comparison_html(comparison: DecidedComparison) -> str:
    """Return a comparison: its answer with coloured cells; folded below it all verdicts, a table for each language, notes and signature."""
    sections = _verdict_sections(comparison.verdicts)
    sections += [(language_name(language), table) for language, table in language_tables(comparison)]
    for section in shown_sections({name: numbers for name, numbers in comparison.sections.items() if name == PROBABILITIES}):
        sections += [(f"{section.title} {section.text}" if table is section.tables[0] else table.shared, table) for table in section.tables]
    return _page("", comparison, sections, comparison.notes, {"": comparison.signature})


def _verdict_sections(verdicts: Sequence[Verdict]) -> list[tuple[str, TextTable]]:
    return [(f"Verdicts{f': {name}' if name else ''}", table) for name, table in verdict_tables(verdicts)]


def _page(
    title: str,
    answered: Report | DecidedComparison,
    sections: Sequence[tuple[str, TextTable]],
    notes: Iterable[str],
    signatures: Mapping[str, str],
) -> str:
    answer = list(screen_tables(answered.verdicts)) if judged_sides(answered.verdicts) else []
    legend = dict.fromkeys(line for _, table in sections for line in table.legend)
    parts = [f"<p><b>{_text(title)}</b></p>"] if title else []
    for line in answer_lines(answered.verdicts, answered.pages):
        shade = f' style="{_SHADES[line.style]};padding:.2em .6em"' if line.style in _SHADES else ""
        parts.append(f"<p><b>{_text(line.full_text)}</b></p>" if line.style == "title" else f"<p{shade}>{_text(line.full_text)}</p>")
    for screen in answer:
        key = (*([screen.below] if screen.below else []), *screen.table.signs)
        parts += [*_table(screen.table, screen.headings), *(f"<p><small>{_text(line)}</small></p>" for line in key)]
    tables = [part for heading, table in sections for part in (f"<p><b>{_text(heading)}</b></p>", *_table(table))]
    parts += [f"<details><summary>All numbers</summary>{''.join(tables)}</details>"] if answer else tables
    lines = [*legend, *notes, *(f"Signature{f' of {judge}' if judge else ''}: {text}" for judge, text in signatures.items())]
    about = "".join(f"<li>{_text(line)}</li>" for line in lines)
    return "".join(("<div>", *parts, f"<details><summary>Notes and signatures</summary><ul>{about}</ul></details></div>"))


def _table(table: TextTable, groups: Mapping[int, str] = MappingProxyType({})) -> Iterator[str]:
    """Yield a table; `groups` are headings that stand above rows, by the number of the row. Cells of a verdict are coloured by it."""
    sides = ["right" if heading.number else "left" for heading in table.headings]
    yield "<table><thead><tr>"
    yield from (
        f'<th scope="col" style="text-align:{side}">{_text(heading.text)}</th>' for heading, side in zip(table.headings, sides, strict=True)
    )
    yield "</tr></thead><tbody>"
    for number, row in enumerate(table.rows):
        if number in groups:
            yield f'<tr><th colspan="{len(row)}" style="text-align:left">{_text(groups[number])}</th></tr>'
        cells = (f'<td style="text-align:{side}{_shade(cell)}">{_text(cell)}</td>' for cell, side in zip(row, sides, strict=True))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"


def _shade(cell: str) -> str:
    """Return the colour of a cell that is a verdict, for its style attribute: blue for a judge, brown against it; signs and words say the
    same.
    """
    styles = [style for style in _SHADES if SIGNS[style] in cell or _OF_WORDS.get(cell) == style]
    return f";{_SHADES[styles[0]]}" if len(styles) == 1 else ""


def _text(text: str) -> str:
    """Return a text from anywhere: escaped, without control characters, in a direction of its own."""
    return f'<bdi dir="auto">{escape(terminal_safe(text))}</bdi>'
