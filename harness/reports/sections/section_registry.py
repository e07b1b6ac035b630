"""Every section, in the order of reports: what computes reports, and all formats, read this list.

Sections of studies and of other packages are entry points of the group `harness.sections`.

A section is `{"title", "hypothesis" or "note", "rows"}`; some have further tables (`trends`, `drag`). Rows hold their key (language,
task, metric, judge and condition; `*` where they pool), every number under its name, its 95 % interval under
`<name>_ci`, and under `undefined` the reason for every null. docs/statistics.md describes all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain

import msgspec

from harness.measure.compare import Recording
from harness.measure.judged_table import KEYS
from harness.measure.options import POOLED, MeasureOptions
from harness.plugins import load, registered, registered_twice
from harness.reports.sections.calibrated_scores import CALIBRATED_SCORES
from harness.reports.sections.halo_and_length import LENGTH, METRIC_ORDER
from harness.reports.sections.languages import LANGUAGE_RANKINGS, SAME_TEXTS
from harness.reports.sections.minimal_pairs import MINIMAL_PAIRS
from harness.reports.sections.pairs import PAIRS
from harness.reports.sections.perturbations import INJECTION, PERTURBATIONS
from harness.reports.sections.probabilities import PROBABILITIES
from harness.reports.sections.repeats_and_panels import CONSISTENCY, PANELS, RUN_SHARES, RUNS
from harness.reports.sections.replies import FREE_TEXT, JUSTIFICATION_LANGUAGE
from harness.reports.sections.section import Section, SectionInput, SectionNumbers, SectionTable
from harness.reports.sections.variants import ANSWER_CHANGES, CORRELATIONS, FEW_SHOT, SCORE_POSITION, TEMPERATURE, VARIANTS
from harness.reports.tables.columns import COUNT, COUNT_OR_BLANK, Row
from harness.reports.tables.text_table import TextTable, key_heading, key_text, tabulate, varying_keys
from harness.text import terminal_safe

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


_KEYS = ("source", *KEYS)
_FEW_ROWS = 24  # rows of a finer level that are shown below those of a coarser one


@dataclass(frozen=True)
class ShownSection:
    """A section as it is read: its title, what it asks and finds, its tables with the rows of each, its name in JSON, and all of it."""

    title: str
    text: str
    tables: tuple[TextTable, ...]
    rows: tuple[tuple[Row, ...], ...] = ()
    name: str = ""
    section: SectionNumbers = field(default_factory=dict)

    @property
    def legend(self) -> tuple[str, ...]:
        return tuple(sections_legend([self]))


def shown_sections(numbers: Mapping[str, SectionNumbers]) -> list[ShownSection]:
    """Return the sections of a report, in their order, without agreement by variant where there is one variant."""
    return [_show_section(section, numbers[section.name]) for section in all_sections() if section.is_shown(numbers.get(section.name))]


def sections_legend(sections: Sequence[ShownSection]) -> list[str]:
    """Return the meanings of the headings and signs of all tables, each once."""
    return list(dict.fromkeys(line for section in sections for table in section.tables for line in table.legend))


def _show_section(section: Section, numbers: SectionNumbers) -> ShownSection:
    first, *more_tables = section.tables
    layouts = [first] if numbers["rows"] or not more_tables else []
    layouts += [layout for layout in more_tables if numbers.get(layout.part)]
    rows = [_select_levels(layout.across(numbers[layout.part]) if layout.across else numbers[layout.part], layout) for layout in layouts]
    tables = []
    for table_rows, layout in zip(rows, layouts, strict=True):  # what all rows share stands above a table
        names = tuple(dict.fromkeys((*_KEYS, *layout.keys)))
        keys = varying_keys(table_rows, names)
        columns = layout.columns(table_rows) if callable(layout.columns) else layout.columns
        table = tabulate(table_rows, columns, keys)
        shared_keys = [name for name in names if name not in keys and table_rows[0].get(name) not in (None, POOLED, "")]
        shared = [f"{key_heading(name)} {key_text(name, table_rows[0][name])}" for name in shared_keys]
        counts = {column.name for column in columns if column.format in (COUNT, COUNT_OR_BLANK)}
        no_result = ""
        if not layout.across and all(heading.key or heading.name in counts for heading in table.headings):  # nothing but counts
            reasons = dict.fromkeys(str(reason) for row in table_rows for reason in row["undefined"].values())
            no_result = f"No result: {terminal_safe('; '.join(reasons))}." if reasons else ""
        heading = ": ".join(filter(None, (layout.title, ", ".join(shared))))
        tables.append(replace(table, shared=heading, no_result=no_result))
    text = f"{section.question} {section.finding(numbers)}".strip()
    return ShownSection(terminal_safe(numbers["title"]), text, tuple(tables), tuple(map(tuple, rows)), section.name, numbers)


def _select_levels(rows: Sequence[Row], layout: SectionTable) -> list[Row]:
    """Return the rows of the coarsest level, and those of finer levels if they are few."""
    by_level: list[list[Row]] = [[] for _ in layout.levels]
    for row in rows:
        keys = {name for name in ("language", "task", "metric") if row.get(name) != POOLED}
        for level, at_level in zip(layout.levels, by_level, strict=True):
            if keys == set(level):
                at_level.append(row)
    by_level = [at_level for at_level in by_level if at_level]
    if len({row["metric"] for row in rows} - {POOLED}) == 1:  # pooling one metric says the same twice
        by_level = [at_level for at_level in by_level if any(row["metric"] != POOLED for row in at_level)] or by_level
    selected: list[Row] = by_level[0] if by_level else list(rows)
    for finer in by_level[1:]:
        if len(finer) <= _FEW_ROWS:
            selected = [*selected, *finer]
    if layout.plainest and len(selected) > _FEW_ROWS:
        selected = [row for row in selected if (row["variant"], row["temperature"]) == (rows[0]["variant"], rows[0]["temperature"])]
    return selected
