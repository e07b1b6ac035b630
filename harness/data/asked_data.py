"""Data of a folder as judges are asked about them: its tasks and metrics under our names, and labels for metrics without their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec
import numpy as np

from harness.content.library import Library
from harness.content.specs import DatasetCard, Rubric
from harness.content.tags import choose_from
from harness.data.columns import CodedColumn
from harness.data.dataset import Dataset, text_problems
from harness.data.labels import Labels
from harness.errors import UsageError
from harness.model import Item


def with_our_names(data: Dataset, library: Library) -> Dataset:
    """Return the data with the tasks and metrics that its card says are ours under our names.

    Raises UsageError if there is no such task or rubric, and if a rubric has another scale than the labels.
    """
    for their_name, our_name in data.about.tasks.items():
        _refuse_unknown(data, their_name, our_name, library.task_files, f"the task '{our_name}', which does not exist")
    if data.about.tasks:
        data = msgspec.structs.replace(data, items=tuple(_with_our_task(item, data, library) for item in data.items))
    names, scales = data.about.rubrics, dict(data.scales)
    if not names:
        return data
    for their_name, our_name in names.items():
        _refuse_unknown(data, their_name, our_name, library.rubric_files, f"the metric '{our_name}', which has no rubric")
        if problem := renaming_problem(data.about, their_name, library.rubric(our_name)):
            raise UsageError(f"the dataset card of '{data.id}': {problem}")
        scales[our_name] = scales.pop(their_name)
    return msgspec.structs.replace(
        data, scales=scales, labels=_renamed(data.labels, names), second=data.second and _renamed(data.second, names)
    )


def _with_our_task(item: Item, data: Dataset, library: Library) -> Item:
    """Return the item under our name of its task. One that lacks a text keeps its own, so that nobody is asked about it.

    Raises UsageError for an item with labels that lacks a text.
    """
    our_name = data.about.tasks.get(item.task)
    if our_name is None:
        return item
    problem = next(text_problems(item, library.task(our_name)), None)
    if problem is None:
        return msgspec.structs.replace(item, task=our_name)
    if data.labelled_metrics.get(item.item_id):
        raise UsageError(f"data set '{data.id}': {problem}, and people labelled it")
    return item


def _refuse_unknown(data: Dataset, their_name: str, our_name: str, names: Collection[str], what: str) -> None:
    if our_name not in names:
        raise UsageError(f"the dataset card of '{data.id}' says that '{their_name}' is {what}.{choose_from(names, our_name)}")


def renaming_problem(card: DatasetCard, metric: str, rubric: Rubric) -> str | None:
    """Return why labels on a metric of a card cannot be compared with answers to a rubric; None if they can."""
    scale = card.metrics.get(metric)
    if scale is None:
        return f"[rubrics] names '{metric}', which is no metric of the card; they are {', '.join(card.metrics)}"
    if rubric.id in card.metrics or [*card.rubrics.values()].count(rubric.id) > 1:
        return f"[rubrics] gives two metrics the name '{rubric.id}'"
    if scale != rubric.scale:
        return (
            f"the scale of '{metric}' is {scale.kind} {scale.describe()}, best {scale.best}, but its rubric '{rubric.id}' is "
            f"{rubric.scale.kind} {rubric.scale.describe()}, best {rubric.scale.best}; they must be the same"
        )
    return None


def quality_of(metric: str, card: DatasetCard, library: Library) -> str:
    """Return what people ask about with a metric as judges are asked about it, such as `harm`; empty where the card does not say.

    >>> from harness.model import Scale
    >>> card = DatasetCard(id="x", metrics={"focus": Scale(kind="interval", min=0, max=1)}, qualities={"focus": "summary"})
    >>> quality_of("focus", card, Library())
    'summary'
    """
    compared = library.rubric(metric).compared_with if metric in library.rubric_files else ""
    data_metrics = {data_metrics: rubric for rubric, data_metrics in card.rubrics.items()}
    return card.qualities.get(data_metrics.get(metric, compared or metric), "")


def _renamed(labels: Labels, names: Mapping[str, str]) -> Labels:
    renamed = labels.take(np.arange(len(labels)))
    renamed.metric = CodedColumn(tuple(names.get(metric, metric) for metric in labels.metric.values), labels.metric.codes)
    return renamed


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
    """Return the data with labels on the metric of each rubric: those on the metric that it is compared with, on the scale that they have.

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
    rows = np.flatnonzero(labels.metric.equals(metric))
    copy = labels.take(rows)
    copy.metric = CodedColumn.constant(new, len(rows))
    return Labels.concatenate([labels, copy])
