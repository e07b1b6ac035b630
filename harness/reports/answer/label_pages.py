"""The command with which people label more of the data that verdicts rest on, and how long that takes."""

from __future__ import annotations

import shlex
from statistics import median

import msgspec

from harness.annotate.pages.page_data import reading_seconds
from harness.content import Library
from harness.data import Dataset

_ENOUGH = 200  # texts of a language whose length is measured


class LabelPages(msgspec.Struct, frozen=True):
    """How people label the data of a comparison or a run.

    Attributes:
        command: the beginning of the command, with the data and, where their tasks are not described, the texts that people see.
        seconds: how long a median text takes with one question, by language.
        unlabelled: how many texts have no native label, by language and metric; what is not named is not known.
    """

    command: str = "harness labels page DATA"
    seconds: dict[str, float] = {}
    unlabelled: dict[str, dict[str, int]] = {}

    def time(self, language: str, texts: int) -> str:
        """About how long so many texts take one person: `about 40 min`; empty where the texts are not known.

        >>> LabelPages(seconds={"ja": 60.0}).time("ja", 30), LabelPages().time("ja", 30)
        ('about 30 min', '')
        """
        minutes = self.seconds.get(language, 0.0) * texts / 60
        if not minutes:
            return ""
        return f"about {max(5, 5 * round(minutes / 5)):.0f} min" if minutes < 90 else f"about {minutes / 60:.0f} hours"


def label_pages(name: str, data: Dataset) -> LabelPages:
    """How people label more of a data set. People see the texts that bundled tasks have names for, never systems or notes.

    The command is empty where the data have none of these texts, as some published sets leave them out.
    """
    library = Library()
    known = dict.fromkeys(field for task in library.task_files for field in library.task(task).fields)
    letters: dict[str, list[int]] = {}
    found: dict[str, None] = {}
    for item in data.items:
        seen = letters.setdefault(item.language, [])
        if len(seen) < _ENOUGH:
            texts = {field: item.fields[field] for field in known if isinstance(item.fields.get(field), str)}
            seen.append(sum(map(len, texts.values())))
            found |= dict.fromkeys(texts)
    if not found:
        return LabelPages("")
    fields = sorted(found, key=lambda field: (field.startswith("output"), list(known).index(field)))
    described = {item.task for item in data.items} <= set(library.task_files)
    command = shlex.join(["harness", "labels", "page", name, *([] if described else ["--fields", ",".join(fields)])])
    seconds = {tag: reading_seconds(round(median(own)), tag, 1) for tag, own in letters.items()}
    return LabelPages(command, seconds, _unlabelled(data))


def _unlabelled(data: Dataset) -> dict[str, dict[str, int]]:
    """How many texts 'labels page --next' would find, by language and metric."""
    waiting: dict[str, dict[str, int]] = {}
    for metric in data.labels.metric.used:
        native = data.labels.native_items((metric,))
        for item in data.items:
            own = waiting.setdefault(item.language, {})
            own[metric] = own.get(metric, 0) + (item.split == "test" and item.item_id not in native)
    return waiting
