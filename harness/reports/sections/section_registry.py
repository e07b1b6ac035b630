"""Every section, in the order of reports: what computes reports, and all formats, read this list.

Sections of studies and of other packages are entry points of the group `harness.sections`.

A section is `{"title", "hypothesis" or "note", "rows"}`; some have further tables (`trends`, `drag`). Rows hold their key (language,
task, metric, judge and condition; `*` where they pool), every number under its name, its 95 % interval under
`<name>_ci`, and under `undefined` the reason for every null. docs/statistics.md describes all of them.
"""

from __future__ import annotations

from functools import cache
from itertools import chain

import msgspec

from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.plugins import load, registered, registered_twice
from harness.reports.sections.answer_changes import ANSWER_CHANGES
from harness.reports.sections.calibrated_scores import CALIBRATED_SCORES
from harness.reports.sections.consistency import CONSISTENCY
from harness.reports.sections.free_text import FREE_TEXT
from harness.reports.sections.language import JUSTIFICATION_LANGUAGE
from harness.reports.sections.language_rankings import LANGUAGE_RANKINGS
from harness.reports.sections.length import LENGTH
from harness.reports.sections.metric_order import METRIC_ORDER
from harness.reports.sections.minimal_pairs import MINIMAL_PAIRS
from harness.reports.sections.pairs import PAIRS
from harness.reports.sections.panel_gains import PANELS
from harness.reports.sections.perturbations import INJECTION, PERTURBATIONS
from harness.reports.sections.probabilities import PROBABILITIES
from harness.reports.sections.runs_over_time import RUN_SHARES, RUNS
from harness.reports.sections.same_texts import SAME_TEXTS
from harness.reports.sections.section import Section, SectionInput, SectionNumbers
from harness.reports.sections.temperature import TEMPERATURE
from harness.reports.sections.variants import CORRELATIONS, FEW_SHOT, SCORE_POSITION, VARIANTS

GROUP = "harness.sections"
BUNDLED: tuple[Section, ...] = (
    PAIRS,
    FREE_TEXT,
    MINIMAL_PAIRS,
    SAME_TEXTS,
    LANGUAGE_RANKINGS,
    PANELS,
    RUNS,
    RUN_SHARES,
    PROBABILITIES,
    CALIBRATED_SCORES,
    VARIANTS,
    CORRELATIONS,
    FEW_SHOT,
    SCORE_POSITION,
    METRIC_ORDER,
    CONSISTENCY,
    TEMPERATURE,
    PERTURBATIONS,
    INJECTION,
    ANSWER_CHANGES,
    LENGTH,
    JUSTIFICATION_LANGUAGE,
)


@cache
def all_sections() -> tuple[Section, ...]:
    """Return the bundled sections and those of entry points, in the order of reports. Raises UsageError for one that cannot be used."""
    points = registered(GROUP, "section")
    for section in BUNDLED:
        if section.name in points:
            raise registered_twice("section", section.name, "this program", points[section.name].value)
    plugins = [load(point, Section, "section") for point in points.values()]
    names = {section.name for section in BUNDLED}
    behind = {name: [section for section in plugins if section.after == name] for name in names}
    last = (section for section in plugins if section.after not in names)
    return (*chain.from_iterable((section, *behind[section.name]) for section in BUNDLED), *last)


def run_sections(inputs: SectionInput, *, labelled: bool = True) -> dict[str, SectionNumbers]:
    """Return every section that a run contains, by name. The order of the judgments does not matter; those of unknown items are ignored.

    Without labels (`labelled`), only the sections that need none.
    """
    return _compute_sections([section for section in all_sections() if labelled or not section.needs_labels], inputs)


def comparison_sections(source: Recording, options: MeasureOptions) -> dict[str, SectionNumbers]:
    """Return the sections of a comparison: minimal pairs, the same texts in several languages, rankings, panels, and probabilities."""
    clean = msgspec.structs.replace(source, judgments=source.judgments.clean)
    return _compute_sections([section for section in all_sections() if section.in_comparisons], SectionInput(clean, options))


def _compute_sections(sections: list[Section], inputs: SectionInput) -> dict[str, SectionNumbers]:
    computed = {section.name: section.compute(inputs) for section in sections if section.compute}
    return {name: numbers for name, numbers in computed.items() if numbers}
