"""Figures for print as SVG, PDF and PNG, drawn from `report.json` alone: every dot is a number of that file.

Figures of studies and of other packages are entry points of the group `harness.figures`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from harness.decide.verdicts import Verdict
from harness.plugins import load, registered
from harness.render.figures.charts import draw_doses, draw_failures, draw_few_shot, draw_reliability, draw_temperature, write_reliability
from harness.render.figures.dots import draw_agreement, draw_consistency, draw_corrected, draw_injection, draw_sensitivity
from harness.render.figures.style import FORMS, WIDTHS, Drawn, FigureOptions, Section, form_of
from harness.render.figures.verdict_figures import draw_answer, draw_by_agreement, draw_distributions, write_answer
from harness.render.pictured import dose_responses, failure_shares
from harness.reports.answer.judged_sides import judged_sides
from harness.row_files import write_together

__all__ = [
    "FORMS",
    "WIDTHS",
    "FigureOptions",
    "SectionFigure",
    "draw_answer",
    "draw_by_agreement",
    "draw_corrected",
    "draw_figures",
    "form_of",
    "write_answer",
    "write_reliability",
]

GROUP = "harness.figures"


@dataclass(frozen=True)
class SectionFigure:
    """A figure that is drawn from the numbers of a section.

    Args:
        name: of the section, and of the entry point.
        file: the name of its files.
        draw: takes the section, the signature and `FigureOptions`.
        is_drawn: the test whether a section has the numbers for it.
    """

    name: str
    file: str
    draw: Callable[..., Drawn]
    is_drawn: Callable[[Section], bool] = bool


def plugged_in() -> list[SectionFigure]:
    """Return the figures of entry points. Raises UsageError for one that cannot be used."""
    return [load(point, SectionFigure, "figure") for point in registered(GROUP, "figure").values()]


_SECTIONS: dict[str, tuple[str, Callable[..., Drawn]]] = {
    "variants": ("agreement", draw_agreement),
    "temperature": ("temperature", draw_temperature),
    "few_shot": ("few_shot", draw_few_shot),
    "consistency": ("consistency", draw_consistency),
    "injection": ("injection", draw_injection),
    "probabilities": ("reliability", draw_reliability),
}


def draw_figures(report_json: Mapping[str, Any], folder: Path, options: FigureOptions = FigureOptions()) -> list[Path]:
    """Draw every figure that a report has the numbers for, into a folder that is created if it does not exist; the files in their order.

    `report_json` is what `report.json` holds. Raises UsageError without the extra `figures`, StoreError where the folder cannot be written.
    """
    figures = _figures(msgspec.to_builtins(report_json))
    files = {folder / f"{name}.{form}": content for name, draw in figures for form, content in draw(options=options).items()}
    write_together(files)
    return list(files)


def _figures(report_json: Mapping[str, Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the names of the figures, and the functions that draw them."""
    signature = "\n".join(str(text) for _, text in sorted(report_json.get("signatures", {}).items()))
    sections = report_json.get("ablations", {})
    verdicts = [Verdict.from_flat(row) for row in report_json.get("verdicts", ())]
    if judged_sides(verdicts):
        yield "verdicts", partial(draw_answer, verdicts, signature, name=report_json.get("title", ""))
    for section, (name, draw) in _SECTIONS.items():
        if section in sections:
            baselines = {row["language"]: row["baseline"] for row in report_json.get("summaries", ()) if row.get("baseline") is not None}
            more = {"baselines": baselines} if section == "variants" else {}
            yield name, partial(draw, sections[section], signature, **more)
    for figure in plugged_in():
        if figure.name in sections and figure.is_drawn(sections[figure.name]):
            yield figure.file, partial(figure.draw, sections[figure.name], signature)
    for metric, rows in _by_metric(sections.get("perturbations", {}).get("rows", ())):
        if any(row["sensitivity"] is not None for row in rows):
            yield f"sensitivity-{_slug(metric)}", partial(draw_sensitivity, rows, signature)
    for number, response in enumerate(dose_responses(sections.get("perturbations", {}).get("rows", ())), 1):
        yield f"doses-{number}-{_slug(response.kind)}", partial(draw_doses, response, signature)
    if failures := failure_shares(report_json.get("failures", ())):
        yield "failures", partial(draw_failures, failures, signature)
    cells = [cell for cell in report_json.get("by_metric", ()) if cell.get("distribution_by_agreement")]
    for metric, rows in _by_metric(cells):
        yield f"by_agreement-{_slug(metric)}", partial(draw_distributions, rows, signature, name=report_json.get("title", ""))


def _by_metric(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    for metric in dict.fromkeys(row["metric"] for row in rows):
        yield metric, [row for row in rows if row["metric"] == metric]


def _slug(metric: str) -> str:
    """Return a metric's name as part of a file name: never a path, and different for different metrics."""
    safe = re.sub(r"[^\w-]+", "_", metric)[:60]
    return safe if safe == metric else f"{safe}-{hashlib.sha256(metric.encode()).hexdigest()[:8]}"
