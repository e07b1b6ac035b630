"""Figures as SVG, drawn from `report.json` alone: every dot is a number of that file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness.render.figures.agreement import draw_agreement
from harness.render.figures.by_agreement import draw_by_agreement, draw_distributions
from harness.render.figures.by_language import draw_consistency, draw_injection
from harness.render.figures.corrected import draw_corrected
from harness.render.figures.line_chart import draw_few_shot, draw_temperature
from harness.render.figures.sensitivity import draw_sensitivity
from harness.tables import write_atomic

__all__ = ["draw_by_agreement", "draw_corrected", "draw_figures"]

_SECTIONS: dict[str, tuple[str, Callable[..., bytes]]] = {
    "variants": ("agreement", draw_agreement),
    "temperature": ("temperature", draw_temperature),
    "few_shot": ("few_shot", draw_few_shot),
    "consistency": ("consistency", draw_consistency),
    "injection": ("injection", draw_injection),
}


def draw_figures(report_json: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw every figure that a report has the numbers for.

    Args:
        report_json: what `report.json` holds: `signatures`, `by_metric` and `ablations`.
        folder: where the SVG files go; it is created if it does not exist.

    Returns:
        The files, in the order in which they were written.

    Raises:
        UsageError: without the extra `figures`.  StoreError: where the folder cannot be written.
    """
    paths = []
    for name, draw in _figures(report_json):
        path = folder / f"{name}.svg"
        write_atomic(path, draw(form="svg"))
        paths.append(path)
    return paths


def _figures(report_json: Mapping[str, Any]) -> Iterator[tuple[str, Callable[..., bytes]]]:
    """The names of the figures, and the functions that draw them."""
    signature = "\n".join(str(text) for _, text in sorted(report_json.get("signatures", {}).items()))
    sections = report_json.get("ablations", {})
    for section, (name, draw) in _SECTIONS.items():
        if section in sections:
            yield name, partial(draw, sections[section], signature)
    for metric, rows in _by_metric(sections.get("perturbations", {}).get("rows", ())):
        if any(row["sensitivity"] is not None for row in rows):
            yield f"sensitivity-{_slug(metric)}", partial(draw_sensitivity, rows, signature)
    cells = [cell for cell in report_json.get("by_metric", ()) if cell.get("distribution_by_agreement")]
    for metric, rows in _by_metric(cells):
        named = ("language", *(key for key in ("judge", "variant", "temperature", "top_p") if len({row.get(key) for row in rows}) > 1))
        yield f"by_agreement-{_slug(metric)}", partial(draw_distributions, rows, signature, named)


def _by_metric(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    for metric in dict.fromkeys(row["metric"] for row in rows):
        yield metric, [row for row in rows if row["metric"] == metric]


def _slug(metric: str) -> str:
    """A metric's name as part of a file name: never a path, and different for different metrics."""
    kept = re.sub(r"[^\w-]+", "_", metric)[:60]
    return kept if kept == metric else f"{kept}-{hashlib.sha256(metric.encode()).hexdigest()[:8]}"
