"""The sections of judgments beside labels, as a run's report has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.model import RealisedPerturbation
from harness.reports.sections.section import SectionInput
from harness.reports.sections.section_registry import run_sections


def ablations(
    data: Dataset,
    judgments: Judgments,
    options: MeasureOptions,
    perturbed: Sequence[RealisedPerturbation] = (),
    *,
    metrics: Sequence[str] | None = None,
) -> dict[str, Any]:
    return run_sections(SectionInput(Recording("run", data, judgments), options, perturbed, metrics))
