"""Data of a folder as judges are asked about them: its tasks under our names, and labels for metrics that have none of their own."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from harness.content.library import Library
from harness.content.specs import Rubric
from harness.content.tags import choose_from
from harness.data.columns import CodedColumn
from harness.data.dataset import Dataset
from harness.data.labels import Labels
from harness.errors import UsageError


def with_our_tasks(data: Dataset, library: Library) -> Dataset:
    """The data with the tasks that its card says are ours under our names. Raises UsageError if there is no such task."""
    for theirs, ours in data.about.tasks.items():
        if ours not in library.task_files:
            raise UsageError(
                f"the dataset card of '{data.id}' says that '{theirs}' is the task '{ours}', which does not exist."
                f"{choose_from(library.task_files, ours)}"
            )
    names = data.about.tasks
    if not names:
        return data
    items = tuple(msgspec.structs.replace(item, task=names[item.task]) if item.task in names else item for item in data.items)
    return msgspec.structs.replace(data, items=items)


def comparable_rubrics(data: Dataset, library: Library) -> dict[str, Rubric]:
    """Rubrics without labels of their own that can be compared, by order, with continuous labels on the metric that they name."""
    labelled = set(data.labels.metric.used)
    rubrics = {name: library.rubric(name) for name in library.rubric_files if name not in labelled}
    return {
        name: rubric
        for name, rubric in rubrics.items()
        if rubric.compared_with in labelled and data.scales[rubric.compared_with].kind == "interval"
    }


def with_compared_labels(data: Dataset, rubrics: Iterable[Rubric]) -> Dataset:
    """The data with labels on the metric of each rubric: those on the metric that it is compared with, on the scale that they have.

    The scale of the metric itself is the rubric's, because judges answer on it; `label_scales` has that of the labels.
    """
    for rubric in rubrics:
        data = msgspec.structs.replace(
            data,
            labels=_copied(data.labels, rubric.compared_with, rubric.id),
            second=data.second and _copied(data.second, rubric.compared_with, rubric.id),
            scales=data.scales | {rubric.id: rubric.scale},
            label_scales={**data.label_scales, rubric.id: data.scales[rubric.compared_with]},
        )
    return data


def _copied(labels: Labels, metric: str, new: str) -> Labels:
    """The labels, and after them those on a metric again, under a new name."""
    rows = np.flatnonzero(labels.metric.recode({metric: 0}) == 0)
    copy = labels.take(rows)
    copy.metric = CodedColumn.constant(new, len(rows))
    return Labels.concatenate([labels, copy])
