"""What a notebook shows: a run while it goes on, and reports and comparisons as tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from harness.decide.verdicts import Verdict
from harness.errors import UsageError
from harness.measure.cells import Cell
from harness.model import CellKey, JudgeIdentity
from harness.reports.comparison import DecidedComparison
from harness.reports.run_report import Report
from harness.runs import CostEstimate, RunResult

if TYPE_CHECKING:  # read on use
    import pandas as pd

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
        from harness.render.notebook import report_html  # importing tables takes time

        return report_html(self)


class NotebookComparison(DecidedComparison, frozen=True, kw_only=True):
    """A comparison that a notebook shows as its answer and tables."""

    def _repr_html_(self) -> str:
        from harness.render.notebook import comparison_html  # importing tables takes time

        return comparison_html(self)

    def frame(self, full: bool = False) -> pd.DataFrame:
        """The cells as a pandas frame, one row each, with the columns that people use, or with `full` every number.

        Columns: the keys; `verdict` in words, `judge_minus_people` and `at_least` where the cell has a verdict; `texts`, `agreement`
        (answers that cannot be read count as wrong) with its interval, `minus_baseline` and its `q`, `people`, `tau`. With `full` the
        names of `as_json`; what is nested there has dotted names.
        """
        import pandas  # late: half a second

        if full:
            return super().frame()
        decided: dict[CellKey | None, Verdict] = {CellKey.of(verdict.key): verdict for verdict in self.verdicts}
        return pandas.DataFrame([{**cell.key, **_shown(cell, decided.get(_cell_key(cell)))} for cell in self.cells])

    def markdown(self) -> str:
        """The answer and all tables as Markdown, like `harness compare --md`."""
        from harness.render.markdown import comparison_markdown

        return comparison_markdown(self)

    def latex(self) -> str:
        """The cells as a LaTeX table, like `harness compare --latex`."""
        from harness.render.latex import to_latex

        return to_latex(self)

    def figure(self) -> DrawnFigure:
        """The answer as a picture that a notebook shows, like `harness compare --figure`. Raises UsageError without a verdict."""
        from harness.render.figures import FigureOptions, draw_answer

        drawn = draw_answer(self.verdicts, self.signature, FigureOptions(forms=("svg",)))
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
    """The key of a cell that names a language and a metric; None of others."""
    return CellKey.of(cell.key) if {"language", "metric"} <= cell.key.keys() else None


def _shown(cell: Cell, verdict: Verdict | None) -> dict[str, Any]:
    """The numbers of a row of a notebook's frame."""
    numbers = cell.flat()
    beside = numbers.get("vs_baseline") or {}
    return {
        "verdict": verdict and verdict.answer,
        "judge_minus_people": verdict and verdict.agreement.gap,
        "at_least": verdict and verdict.bounds.gap,
        "texts": numbers.get("n_ref", numbers.get("n")),
        "agreement": numbers.get("pa_failed_wrong"),
        "agreement_ci": numbers.get("pa_failed_wrong_ci"),
        "minus_baseline": beside.get("diff"),
        "q": beside.get("q"),
        "people": numbers.get("human_pa"),
        "tau": numbers.get("kendall_tau"),
    }
