"""Do longer texts get better scores than shorter texts with the same label?"""

from __future__ import annotations

import numpy as np

from harness.measure.condition_rows import level_of, new_row, put_difference, section, with_q
from harness.measure.judged_table import JudgedTable
from harness.reports.sections.section import BY_METRIC, Section, SectionNumbers, SectionTable, cells_at, of_answers, q_value, tests_shown
from harness.reports.tables.column import COEFFICIENT, COUNT_OR_BLANK, Column
from harness.stats import tau_within
from harness.stats.core.arrays import Floats

LEVELS = (("language", "metric"), ("language", "task", "metric"))
HYPOTHESIS = (
    "H0: the score does not go with the length of the output in characters; two-sided. tau_given_label: Kendall's tau-b among items of one "
    "task that people gave the same class, averaged over classes; tau and human_tau: among all items of one task, of the judge and of "
    "people's mean label. q: Benjamini-Yekutieli over the rows of one level of this table"
)


def correlate_length(answers: JudgedTable) -> SectionNumbers | None:
    """Return the rank correlation of scores with the length of the output, for judge and people; None without labels or outputs."""
    clean = answers.clean
    long = measure_output_lengths(clean)
    clean = clean.take(~(np.isnan(long[clean.item]) | np.isnan(clean.label_points[:])))
    if not len(clean):
        return None
    rows = []
    for key, cell in cells_at(clean, LEVELS):
        row = new_row(key, groups=len(np.unique(clean.group[cell])))
        task, lengths = clean.column("task").codes[cell].astype(np.int64), long[clean.item[cell]]
        points, group, label, reference = clean.points[cell], clean.group[cell], clean.label_points[cell], clean.reference_class[cell]
        row["n"] = int((~np.isnan(points)).sum())
        task_and_label = task * (int(reference.max(initial=0)) + 2) + reference + 1
        labelled = np.where(reference >= 0, points, np.nan)
        put_difference(row, "tau_given_label", tau_within(lengths, labelled, task_and_label, group))
        put_difference(row, "tau", tau_within(lengths, points, task, group))
        item = np.unique(clean.item[cell], return_index=True)[1]
        put_difference(row, "human_tau", tau_within(lengths[item], label[item], task[item], group[item]))
        rows.append(row)
    for name in ("tau_given_label", "tau", "human_tau"):
        with_q(rows, name, level_of)
    return section("Length of the text", rows, hypothesis=HYPOTHESIS)


def measure_output_lengths(answers: JudgedTable) -> Floats:
    """Return the number of characters of each item's output; NaN if the item has two outputs, or an empty one."""
    outputs = ((item, answers.data.outputs_of(item)) for item in answers.data.items)
    texts = (item.fields.get(names[0]) if len(names) == 1 else None for item, names in outputs)
    return np.array([float(len(text)) if isinstance(text, str) and text else np.nan for text in texts])


LENGTH = Section(
    "length",
    "Do longer texts get better scores? Kendall's τ of score and number of characters, first among texts with the same label, then "
    "among all. Of many variants and temperatures only the plainest is shown; --json has all.",
    tests_shown("tau_given_label", "longer is better", "longer is worse"),
    (
        SectionTable(
            (
                Column("n", "texts", COUNT_OR_BLANK, "texts with a readable score"),
                Column(
                    "tau_given_label",
                    "τ given the label",
                    COEFFICIENT,
                    "Kendall's τ of the judge's score and the number of characters, among texts with the same label",
                ),
                q_value("tau_given_label_q", "τ"),
                Column("tau", "τ of the judge", COEFFICIENT, "the same among all texts"),
                Column("human_tau", "τ of people", COEFFICIENT, "the same of the annotators' scores, among all texts"),
            ),
            levels=BY_METRIC,
            plainest=True,
        ),
    ),
    of_answers(correlate_length),
    in_every_run=True,
)
