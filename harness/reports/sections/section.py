"""A section of a report: its computation, its question, its finding in a sentence, and its tables with their columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.data.columns import NO_VALUE, CodedColumn
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.measure.compare import Recording
from harness.measure.judged_table import JudgedTable, item_key, ordered_table
from harness.measure.options import POOLED, MeasureOptions
from harness.model import CONDITION, RealisedPerturbation
from harness.reports.answer.parts import Card
from harness.reports.tables.columns import POINTS, PROBABILITY, Column, Row
from harness.reports.tables.numbers import percent
from harness.runs import RunProtocol
from harness.stats.core.arrays import Ints

SectionNumbers = Mapping[str, Any]
"""A section's numbers as `report.json` has them: `title`, `hypothesis` or `note`, `rows`, and further tables by name."""
SHOWN_BELOW = 0.05
"""The q-value below which a difference counts as shown."""
FEW_NAMES = 3  # in a sentence

BY_METRIC = (("language", "metric"),)
BY_TASK = (("language", "task", "metric"),)
OVER_LANGUAGES = (("metric",),)


@dataclass(frozen=True, eq=False)
class SectionInput:
    """The judgments that a section is computed from, of a run or of one source of a comparison.

    Args:
        recording: judgments of unchanged and of perturbed texts, beside items, labels and scales; only the former are compared with labels.
        options: how annotators become one reference, how many an item needs, seed and resamples; the same as for the cells.
        perturbed: the result of each perturbation for each item; a text that could not be changed is counted, not judged.
        metrics: in the order in which a forward joint call names them; by default in the order of the judgments.
        protocol: that of the run; None in a comparison.
        study_facts: what the study of the run states beside judgments and protocol (`Study.facts`).
    """

    recording: Recording
    options: MeasureOptions
    perturbed: Sequence[RealisedPerturbation] = ()
    metrics: Sequence[str] | None = None
    protocol: RunProtocol | None = None
    study_facts: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def answers(self) -> JudgedTable:
        """The answers beside their labels, without those to questions that name the systems. Tabulated once for all sections."""
        judgments = self.recording.judgments
        shown_source = judgments.shown_source
        unnamed = judgments.take(shown_source.codes == NO_VALUE) if shown_source.values else judgments
        return ordered_table(self.recording.data, unnamed, self.options)


def of_answers(compute: Callable[[JudgedTable], SectionNumbers | None]) -> Callable[[SectionInput], SectionNumbers | None]:
    """Return the computation of a section that needs nothing but the answers beside their labels; None where there are none."""
    return lambda inputs: compute(inputs.answers) if len(inputs.answers) else None


def cells_at(
    answers: JudgedTable, levels: Iterable[Sequence[str]], condition: Sequence[str] = CONDITION
) -> Iterator[tuple[dict[str, Any], Ints]]:
    """Return `(key, rows)` of every cell of several levels, as `JudgedTable.cells` has those of one."""
    return chain.from_iterable(answers.cells(level, condition) for level in levels)


class JudgmentsWithItems(NamedTuple):
    """Judgments with the position and the group of each one's item, and the columns of its key: for sections that need no labels."""

    judgments: Judgments
    item: Ints
    group: Ints
    columns: dict[str, CodedColumn]

    @classmethod
    def select(cls, data: Dataset, judgments: Judgments, mask: NDArray[np.bool_]) -> JudgmentsWithItems:
        """Return the judgments of the mask whose item is in the data."""
        item = judgments.item.recode(data.positions).astype(np.int64)
        rows = np.flatnonzero(mask & (item >= 0))
        judgments, item = judgments.take(rows), item[rows]
        columns = {name: item_key(data, name).take(item) for name in ("language", "task")}
        columns |= {name: getattr(judgments, name) for name in ("metric", *CONDITION)}
        return cls(judgments, item, data.clusters.codes[item].astype(np.int64), columns)


@dataclass(frozen=True)
class SectionTable:
    """One table of a section.

    Args:
        columns: in their order; or a function that makes them from the table's rows.
        part: the name of its rows in the section.
        keys: further keys that name a row.
        levels: the levels of detail, the coarsest first; finer ones are shown where their rows are few.
        plainest: where there are many rows, only those of the plainest variant at the lowest temperature.
        title: the name of the table.
        across: joins rows of the section that stand in one row of the table, side by side.
    """

    columns: Sequence[Column] | Callable[[Sequence[Row]], Sequence[Column]]
    part: str = "rows"
    keys: tuple[str, ...] = ()
    levels: tuple[tuple[str, ...], ...] = (("language",), ("language", "metric"))
    plainest: bool = False
    title: str = ""
    across: Callable[[Sequence[Row]], Sequence[Row]] | None = None


class OpeningNumber(NamedTuple):
    """A number that a page opens with: its name, the value with its interval on a scale, in text too, and the scale's ends and middle."""

    name: str
    value: float
    interval: tuple[float, float] | None
    text: str
    ends: tuple[float, float] = (0.0, 1.0)
    scale: tuple[str, str, str] = ("0 %", "50 %", "100 %")


class Opening(NamedTuple):
    """The first screen of a page as a section has it: its answer in a sentence, facts beside it, what is said of it in cards.

    `numbers` are drawn first, as one chart, and `measure` says what they are. `verdicts` says what the verdicts are, which are folded.
    """

    title: str
    facts: str
    cards: tuple[Card, ...]
    verdicts: str
    numbers: tuple[OpeningNumber, ...] = ()
    measure: str = ""


@dataclass(frozen=True)
class Section:
    """One section, whole.

    Args:
        name: its name in `report.json`.
        question: what it asks.
        finding: what it finds, in a sentence; empty where nothing can be said.
        tables: the first has its `rows`, the others further parts.
        compute: its numbers; None where there are none. Without the function, a comparison computes it from several sources at once.
        needs_labels: whether it is left out of runs without labels.
        in_comparisons: whether a comparison has it too, because it needs one condition only.
        in_every_run: whether it needs no further condition, so that alone it is no reason to print the sections of a run.
        standalone: whether it stands on pages by itself, apart from the sections on what changes the scores.
        least_values: how many values of a key its rows must have to be shown, such as two variants.
        opening: the first screen that it gives a page, from its numbers; None where it has no answer.
        after: the bundled section behind which it stands; empty: behind all of them. For sections of entry points.
    """

    name: str
    question: str
    finding: Callable[[SectionNumbers], str]
    tables: tuple[SectionTable, ...]
    compute: Callable[[SectionInput], SectionNumbers | None] | None = None
    needs_labels: bool = True
    in_comparisons: bool = False
    in_every_run: bool = False
    standalone: bool = False
    least_values: tuple[str, int] = ("", 0)
    opening: Callable[[SectionNumbers], Opening | None] | None = None
    after: str = ""

    def is_shown(self, numbers: SectionNumbers | None) -> bool:
        name, least = self.least_values
        return bool(numbers) and (not name or len({row[name] for row in (numbers or {})["rows"]}) >= least)


def rows_across(rows: Sequence[Row], names: Sequence[str], by: str, under: str) -> list[dict[str, Any]]:
    """Return rows with one key `names` as one row, which has them by their value of `by`, under the name `under`."""
    joined: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = {name: row.get(name) for name in names}
        joined.setdefault(tuple(key.values()), {**key, under: {}, "undefined": {}})[under][row[by]] = row
    return list(joined.values())


def mean_of(values: Sequence[float]) -> float:
    """Return the mean; NaN without values."""
    return sum(values) / len(values) if values else math.nan


def q_value(name: str, quantity: str) -> Column:
    """Return the column of a p-value that is corrected over the rows of one level."""
    return Column(name, f"q-value of {quantity}", PROBABILITY, "its p-value, corrected over the rows of one level")


AGREEMENT_DIFFERENCE = (
    Column(
        "diff",
        "difference",
        POINTS,
        "agreement minus that of what it is compared with (the plainest condition, the best member, the first run), on the same items, "
        "failures as wrong, in percentage points",
    ),
    q_value("diff_q", "the difference"),
)


def tests_shown(name: str, up: str, down: str, part: str = "rows") -> Callable[[SectionNumbers], str]:
    """Return what writes `Shown (q < .05): better in 1, worse in 2 of 12 tests.`, of a test of the rows."""

    def finding(numbers: SectionNumbers) -> str:
        tested = [row for row in numbers.get(part, ()) if row.get(f"{name}_q") is not None]
        if not tested:
            return "No row could be tested."
        differences = [row[name] for row in tested if row[f"{name}_q"] < SHOWN_BELOW]
        above, below = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
        return f"Shown (q < .05, all levels): {up} in {above}, {down} in {below} of {len(tested)} tests."

    return finding


def range_by_language(name: str, what: str) -> Callable[[SectionNumbers], str]:
    """Return what writes the lowest and the highest row by language."""

    def finding(numbers: SectionNumbers) -> str:
        shares = [row[name] for row in numbers["rows"] if row["language"] != POOLED and row.get(name) is not None]
        if not shares:
            return ""
        low, high = percent(min(shares)), percent(max(shares))
        return f"{what}: {low}." if low == high else f"{what}: from {low} to {high} in the rows by language."

    return finding
