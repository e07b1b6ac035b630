"""Reads judges' scores beside people's out of exports of annotation tools: Label Studio's predictions, Argilla's suggestions.

Labels that were given while a judge's score was shown are not independent of it; they are marked.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from harness.errors import ContentError
from harness.exchange.labels import argilla, label_studio
from harness.exchange.labels.records import first_object, objects_in
from harness.exchange.labels.source_table import flat
from harness.exchange.scores.external_scores import ExternalScore, ExternalScores, Reader, ReadOptions, plain_texts


def read_label_studio(path: Path, content: Any, _: ReadOptions) -> ExternalScores:
    """Annotations as labels and predictions as judgments. Raises ContentError for another form."""
    scores: list[ExternalScore] = []
    bare = 0
    tasks = objects_in(path, content)
    reference = label_studio.users_of_ground_truth(tasks)
    for number, task in enumerate(tasks, start=1):
        location = f"{path}:record {number}"
        try:
            data = flat(task["data"])
            shared: dict[str, Any] = {"place": location, "item": data.get("item_id", task.get("id")), "fields": data}
            for annotation in task["annotations"]:
                if annotation.get("was_cancelled"):
                    continue
                seen = False if annotation.get("prediction") else None
                who = str(label_studio.user_id(annotation.get("completed_by")))
                if who in reference:
                    continue
                for metric, value in label_studio.scores_of(annotation.get("result")):
                    scores.append(ExternalScore(**shared, metric=metric, value=value, who=who, human=True, blind=seen))
            for prediction in task.get("predictions") or ():
                if not isinstance(prediction, dict):
                    bare += 1
                    continue
                for metric, value in label_studio.scores_of(prediction.get("result")):
                    scores.append(ExternalScore(**shared, metric=metric, value=value, who=prediction.get("model_version") or None))
        except (AttributeError, TypeError, KeyError):
            raise ContentError("the task does not have Label Studio's form", location) from None
    notes = ["annotations of ground truth, by users who made nothing else, are left out"] if reference else []
    if bare:
        notes.append(
            f"{bare} predictions are only ids; a snapshot with the serialisation option predictions: only_id = false has their scores"
        )
    return ExternalScores("label-studio", _require_scores(scores, path), notes, plain_texts(scores))


def read_argilla(path: Path, content: Any, _: ReadOptions) -> ExternalScores:
    """Submitted responses as labels and suggestions as judgments. Raises ContentError for another form."""
    rows = content["items"] if isinstance(content, dict) and isinstance(content.get("items"), list) else content
    scores: list[ExternalScore] = []
    left_out: Counter[str] = Counter()
    unknown = 0
    for number, row in enumerate(objects_in(path, rows), start=1):
        location = f"{path}:record {number}"
        try:
            cells = argilla.item_cells(row)
            # The value and the agent of each suggestion, in nested and in flat records.
            nested = row.get("suggestions")
            suggested: dict[str, tuple[Any, str | None]] = {}
            if isinstance(nested, list):  # of the server's API, where it names the question
                named = [suggestion for suggestion in nested if suggestion.get("question_name")]
                suggested |= {suggestion["question_name"]: (suggestion.get("value"), suggestion.get("agent")) for suggestion in named}
            if isinstance(nested, dict):
                suggested |= {question: (suggestion.get("value"), suggestion.get("agent")) for question, suggestion in nested.items()}
            for name, value in row.items():
                if name.endswith(".suggestion") and value is not None:
                    suggested[name.removesuffix(".suggestion")] = value, row.get(f"{name}.agent")
            shared: dict[str, Any] = {"place": location, "item": cells.get("item_id"), "fields": cells}
            for question, user, status, value in argilla.responses(row):
                if status in (None, "submitted"):
                    seen = False if question in suggested else None
                    scores.append(
                        ExternalScore(**shared, metric=question, value=argilla.unwrapped(value), who=str(user), human=True, blind=seen)
                    )
            for question, (value, agent) in suggested.items():
                scores.append(ExternalScore(**shared, metric=question, value=argilla.unwrapped(value), who=agent))
            states = [status for _, _, status, _ in argilla.responses(row)]
        except (AttributeError, TypeError, ValueError):
            raise ContentError("the record does not have Argilla's form", location) from None
        left_out.update(status for status in states if status not in (None, "submitted"))
        unknown += states.count(None) if row.get("status") != "completed" else 0
    notes = [f"{times} responses that are {status}: left out" for status, times in left_out.items()]
    notes += [argilla.unknown_status(unknown)] if unknown else []
    return ExternalScores("argilla", _require_scores(scores, path), tuple(notes), plain_texts(scores))


def _require_scores(scores: list[ExternalScore], path: Path) -> list[ExternalScore]:
    if not scores:
        raise ContentError("no record has a finished score", path)
    return scores


READERS = {
    "label-studio": Reader(
        is_json=lambda content: label_studio.is_export(first_object(content)), read_json=read_label_studio, persistent=True
    ),
    "argilla": Reader(is_json=lambda content: argilla.is_record(first_object(content)), read_json=read_argilla, persistent=True),
}
