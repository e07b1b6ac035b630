"""Next steps of an answer: the labels that would settle most for least, how people make them, and the judgments to read."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

import msgspec

from harness.content import Library
from harness.content.tags import english_name
from harness.data.dataset import Dataset
from harness.decide.verdicts import Verdict
from harness.reports.answer.parts import NextStep
from harness.reports.answer.verdict_words import easiest, nobody_to_compare, place_of, second_person_texts, style_of, texts_of
from harness.reports.tables.columns import metric_words
from harness.reports.tables.numbers import counted
from harness.text_measures import reading_seconds

_ENOUGH = 200  # texts of a language whose length is measured
_TEXT_LENGTH = 8  # characters that most values of a text have at least; ids and categories are shorter, or come again
_NOT_SHOWN = {
    "comment",
    "comments",
    "explanation",
    "hash",
    "id",
    "justification",
    "model",
    "note",
    "notes",
    "reason",
    "reference",
    "remark",
}
_NOT_SHOWN |= {"remarks", "target", "timestamp", "url", "uuid"}


class LabelPages(msgspec.Struct, frozen=True):
    """The way in which people label the data of a comparison or a run.

    Attributes:
        command: the beginning of the command, with the data and, where their tasks are not described, the texts that people see.
        seconds: how long a median text takes with one question, by language.
        unlabelled: how many texts no person labelled, by language and metric; what is not named is not known.
    """

    command: str = "harness labels page DATA"
    seconds: dict[str, float] = {}
    unlabelled: dict[str, dict[str, int]] = {}

    def time(self, language: str, texts: int) -> str:
        """Return about how long so many texts take one person: `about 40 min`; empty where the texts are not known.

        >>> LabelPages(seconds={"ja": 60.0}).time("ja", 30), LabelPages().time("ja", 30)
        ('about 30 min', '')
        """
        minutes = self.seconds.get(language, 0.0) * texts / 60
        if not minutes:
            return ""
        return f"about {max(5, 5 * round(minutes / 5)):.0f} min" if minutes < 90 else f"about {minutes / 60:.0f} hours"


def label_pages(name: str, data: Dataset) -> LabelPages:
    """Return how people label more of a data set.

    People see the texts that bundled tasks have names for, else those that differ from item to item, never systems or notes.

    The command is empty where the data have no texts, as some published sets leave them out.
    """
    library = Library()
    text_fields = dict.fromkeys(field for task in library.task_files for field in library.task(task).fields)
    if not any(isinstance(item.fields.get(field), str) for item in data.items for field in text_fields):
        # texts to be read are long, most of them differ, and they have no name of a remark or a writer
        values: dict[str, list[str]] = {}
        for item in data.items:
            for field, value in item.fields.items():
                if isinstance(value, str) and field.casefold() not in _NOT_SHOWN:
                    values.setdefault(field, []).append(value)
        long = (field for field, texts in values.items() if median(map(len, texts)) >= _TEXT_LENGTH and 2 * len(set(texts)) > len(texts))
        text_fields = dict.fromkeys(long)
    letters: dict[str, list[int]] = {}
    used_fields: dict[str, None] = {}
    for item in data.items:
        seen = letters.setdefault(item.language, [])
        if len(seen) < _ENOUGH:
            texts = {field: item.fields[field] for field in text_fields if isinstance(item.fields.get(field), str)}
            seen.append(sum(map(len, texts.values())))
            used_fields |= dict.fromkeys(texts)
    if not used_fields:
        return LabelPages("")
    fields = sorted(used_fields, key=lambda field: (field.startswith("output"), list(text_fields).index(field)))
    described = {item.task for item in data.items} <= set(library.task_files)
    command = shlex.join(["harness", "labels", "page", name, *([] if described else ["--fields", ",".join(fields)])])
    seconds = {tag: reading_seconds(round(median(lengths)), tag, 1) for tag, lengths in letters.items()}
    waiting: dict[str, dict[str, int]] = {}  # the texts that 'labels page --next' would select
    for metric in data.labels.metric.used:
        labelled = data.labels.items_of_people((metric,))
        for item in data.items:
            counts = waiting.setdefault(item.language, {})
            counts[metric] = counts.get(metric, 0) + (item.split == "test" and item.item_id not in labelled)
    return LabelPages(command, seconds, waiting)


def next_steps(verdicts: Sequence[Verdict], judge_names: Mapping[int, str], pages: LabelPages) -> Iterator[NextStep]:
    """Yield what to do next; `judge_names` has the names of judges where there are several.

    Labels are asked for the question that needs the fewest, among those that no judge answers yet. What cannot be done is not a step: of
    a set without texts nobody can label more.
    """
    first = verdicts[0]
    if first.controls:
        yield NextStep("compare with native speakers' labels", f"harness data list --lang {first['language']}")
    needed = [(k, verdict) for verdict in verdicts if (k := verdict.settled_by)] if pages.command else []
    alone = [verdict for verdict in verdicts if "annotators" in verdict.words.obstacles]
    if alone and pages.command and (nobody_to_compare(verdicts) or not needed):
        verdict = easiest(alone)
        texts = min(second_person_texts(verdict), verdict.texts.labelled)
        what = "make the pages for a second person"
        yield _labelling_step(what, pages, verdict["language"], f"--second --next {texts} --annotators 1", texts, "")
    answered = {(verdict["language"], verdict["metric"]) for verdict in verdicts if style_of(verdict) == "good"}
    needed = [(k, verdict) for k, verdict in needed if (verdict["language"], verdict["metric"]) not in answered]
    for k, verdict in sorted(needed, key=lambda need: need[0])[:1]:
        judge = judge_names.get(id(verdict), "the judge")
        question = f"{metric_words(verdict['metric'])} in {english_name(verdict['language'])}"
        good = "finds as much as it did here" if verdict.basis == "bar" else "is as good as people"
        classes = verdict.needed.by_class if verdict.needed else {}
        counts = " and ".join(f"{count:,} more are '{name}'" for name, count in classes.items())
        of_class = f" (until about {counts})" if classes else ""
        more = f"label {verdict.needed} more texts for {question}{of_class}; they are enough if {judge} {good}"
        waiting = pages.unlabelled.get(verdict["language"], {}).get(verdict["metric"], k)
        if not waiting:
            yield NextStep(f"{more}. Every text of this set is labelled: bring new ones")
            continue
        shortage = "" if waiting >= k else f". This set has {waiting:,} left; bring new ones for the rest"
        flags = f"--metrics {verdict['metric']} --next {min(k, waiting)}"
        if verdict.basis == "bar":  # one more person suffices, and a sheet may be sorted by score
            flags += " --random --annotators 1"
        yield _labelling_step(f"{more}{shortage}", pages, verdict["language"], flags, min(k, waiting))
    if all("unread" in verdict.words.obstacles for verdict in verdicts):
        yield NextStep("read what it answered", show={"judge": first["judge"]})
    bad = sorted(
        (verdict for verdict in verdicts if style_of(verdict) == "bad"),
        key=lambda verdict: (verdict.baseline.diff if verdict.controls else verdict.agreement.gap) or 0.0,
    )
    for verdict in bad[:2]:
        name = judge_names.get(id(verdict))
        read = f"read judgments of {place_of(verdict)} – {name}" if name else f"read its judgments of {place_of(verdict)}"
        yield NextStep(read, show=texts_of(verdict))


def _labelling_step(text: str, pages: LabelPages, language: str, flags: str, texts: int, whom: str = " for each person") -> NextStep:
    """Return a step with the command that makes labelling pages, and about how long so many texts take `whom`."""
    time = pages.time(language, texts)
    words = f"{text} ({counted(texts, 'text')}: {time}{whom})" if time else text
    return NextStep(words, f"{pages.command} --lang {language} {flags} --out pages")
