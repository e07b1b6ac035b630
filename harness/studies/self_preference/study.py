"""`harness run --study self-preference`: who wrote which text, and which one is better.

Pairs are asked in both orders, without and with the names of the writers, beside control questions with computed answers and each text
alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from harness.content import Library
from harness.content.lexicons import lexicon_for
from harness.data.dataset import Dataset
from harness.data.labels import Labels
from harness.errors import UsageError
from harness.exchange.labels.pairs_of_outputs import COMPUTED, make_pairs
from harness.judges import traits_of
from harness.model import Condition, Item, Label, Variant
from harness.runs import SYSTEM_KEYS, RunProtocol, RunSpec, SelectedTexts, Study, choose_languages, choose_names, first_items
from harness.text_measures import CONTROL_MEASURES, control_answer, control_refusal

RECOGNITION, PREFERENCE = "authorship", "forced_preference"
PAIR_METRICS = (RECOGNITION, PREFERENCE, *CONTROL_MEASURES)
SINGLE_METRICS = ("overall_quality", "own_text")
"""The questions about one text alone: a score, and whether the judge wrote it."""
_SIDES = (("item_a", "system_a", "output_a"), ("item_b", "system_b", "output_b"))
_ITEM_KEYS = ("item_id", "language", "task", "split", "group")


def prepare_pairs(spec: RunSpec, everything: Dataset, library: Library) -> SelectedTexts:
    """Return the pairs of the chosen languages, tasks and metrics, and each text of them alone.

    Raises UsageError where nothing can be asked.
    """
    metrics = choose_names(spec.metrics, (*PAIR_METRICS, *SINGLE_METRICS), "metric")
    languages = choose_languages(spec, {item.language for item in everything.items})
    data = with_pairs(everything.only(item for item in everything.items if item.language in languages), library, metrics)
    tasks = choose_names(spec.tasks, sorted({item.task for item in data.items}), "task")
    test_items = [item for item in data.items if item.split == "test"]
    items = [item for item in first_pairs(test_items, spec.limit) if item.task in tasks]
    refuse_no_question(data, items, languages, metrics, library)
    return SelectedTexts(data, items, tasks, metrics, languages)


def with_pairs(data: Dataset, library: Library, metrics: Collection[str]) -> Dataset:
    """Return the pairs of a data set, or where it has single texts only those that can be made of them, with computed answers.

    Every pair is followed by its two texts as items of the single task (`pairs_of`), each text once. Labels of people stay on pairs.
    `asks` has, by task, the chosen `metrics`.

    Raises UsageError for data without pairs and without outputs of two systems.
    """
    tasks = {task.id: task for name in library.task_files if (task := library.task(name)).is_pair}
    pairs = [item for item in data.items if item.task in tasks]
    if not pairs:
        pairs = []
        for row in make_pairs(data, library).rows:
            keys = {name: row[name] for name in _ITEM_KEYS if name in row}
            pairs.append(Item(**keys, fields={name: value for name, value in row.items() if name not in keys}))
    single: dict[str, Item] = {}
    for pair in pairs:
        task = tasks[pair.task]
        [output] = library.task(task.pairs_of).outputs if task.pairs_of in library.task_files else [""]
        inputs = {name: value for name, value in pair.fields.items() if not any(name in side for side in _SIDES)}
        for number, (id_key, system_key, output_key) in enumerate(_SIDES if output else ()):
            system, text = pair.fields.get(system_key), pair.fields.get(output_key)
            name = str(pair.fields.get(id_key) or f"{pair.item_id}|{'ab'[number]}")
            if system and isinstance(text, str) and name not in single:  # a text without its system cannot be asked about
                fields = inputs | {output: text}
                single[name] = Item(name, pair.language, task.pairs_of, pair.split, pair.group, str(system), fields=fields)
    labels = data.labels.for_items(pair.item_id for pair in pairs)
    labels = Labels.concatenate([labels, Labels.from_rows(_computed(pairs, labels, library, metrics))])
    asks = {name: frozenset(metrics) & frozenset(PAIR_METRICS) for name in tasks}
    asks |= {item.task: frozenset(metrics) & frozenset(SINGLE_METRICS) for item in single.values()}
    return msgspec.structs.replace(
        data, items=(*pairs, *single.values()), labels=labels, asks=asks, second=None, second_spans=None, checks=()
    )


def _computed(pairs: Sequence[Item], labels: Labels, library: Library, metrics: Collection[str]) -> Iterator[Label]:
    """Yield the computed answers to control questions, where the language has the measure and the data have no label."""
    labelled = set(zip(labels.item, labels.metric, strict=True))
    refused = refused_controls({pair.language for pair in pairs}, metrics, library)
    for pair in pairs:
        lexicon = lexicon_for(pair.language, library.lexicons)
        for metric in CONTROL_MEASURES:
            if metric not in metrics or metric in refused.get(pair.language, {}) or (pair.item_id, metric) in labelled:
                continue
            texts = str(pair.fields.get("output_a", "")), str(pair.fields.get("output_b", ""))
            if (answer := control_answer(metric, *texts, pair.language, lexicon)) is not None:
                yield Label(pair.item_id, COMPUTED, metric, answer, "constructed")


def refused_controls(languages: Iterable[str], metrics: Collection[str], library: Library) -> dict[str, dict[str, str]]:
    """Return `{language: {control question: why it is not asked there}}`, without languages that have all of them."""
    reasons = {
        tag: {
            metric: reason
            for metric in CONTROL_MEASURES
            if metric in metrics and (reason := control_refusal(metric, tag, lexicon_for(tag, library.lexicons)))
        }
        for tag in sorted(languages)
    }
    return {tag: refused for tag, refused in reasons.items() if refused}


def first_pairs(items: Sequence[Item], limit: int | None) -> list[Item]:
    """Return the first `limit` pairs of each language and task, and the texts of these pairs alone."""
    pairs = first_items((item for item in items if "output_a" in item.fields), limit)
    texts = {(pair.language, pair.group, str(pair.fields.get(system_key))) for pair in pairs for _, system_key, _ in _SIDES}
    return pairs + [item for item in items if "output_a" not in item.fields and (item.language, item.group, str(item.system)) in texts]


def refuse_no_question(data: Dataset, items: Sequence[Item], languages: Sequence[str], metrics: Collection[str], library: Library) -> None:
    """Raise UsageError if none of the chosen questions can be asked about any of the items; the reasons are those of control questions."""
    is_asked, plain = question_filter(data), Condition(Variant(), 0.0)
    if any(is_asked(item, metric, plain) for item in items for metric in (data.asks or {}).get(item.task, ())):
        return
    reasons = [
        f"{metric} in {tag}: {why}"
        for tag, refused in refused_controls(languages, metrics, library).items()
        for metric, why in refused.items()
    ]
    raise UsageError(f"none of the questions {', '.join(metrics)} can be asked about these texts. {'; '.join(reasons)}".rstrip(" ."))


def question_filter(data: Dataset) -> Callable[[Item, str, Condition], bool]:
    """Return the questions that are asked under a condition.

    A text alone has no order and no names of systems. Control questions are asked without names, about pairs that have an answer. Pairs
    whose texts are changed are asked who wrote them and which is better, without names: a change moves the answers to control questions.
    """

    def is_asked(item: Item, metric: str, condition: Condition) -> bool:
        if condition.perturbation:
            return metric in (RECOGNITION, PREFERENCE) and condition.shown_source == "none"
        if metric in SINGLE_METRICS:
            return condition.order == "forward" and condition.shown_source == "none"
        if metric in CONTROL_MEASURES:
            return condition.shown_source == "none" and metric in data.labelled_metrics.get(item.item_id, ())
        return True

    return is_asked


def own_system(protocol: RunProtocol, judge: str, systems: Collection[str]) -> str:
    """Return the system of the data that a judge is: that of `--is`, else its own name.

    A tuned judge that wrote none of the texts is the system of the judge before.
    """
    before = protocol.judges.tuned.get(judge)
    if before is None or judge in systems:
        return protocol.judges.own_systems.get(judge, judge)
    return protocol.judges.own_systems.get(judge) or protocol.judges.own_systems.get(before, before)


def systems_of(items: Iterable[Item]) -> list[str]:
    """Return the systems that wrote the texts of pairs, sorted."""
    return sorted({str(item.fields[key]) for item in items for key in SYSTEM_KEYS if item.fields.get(key)})


def refuse_judges_without_texts(protocol: RunProtocol, items: Iterable[Item]) -> None:
    """Raise UsageError for a judge that wrote none of the texts. Baselines wrote none and are asked all the same."""
    systems = systems_of(items)
    names = {identity.name for identity in protocol.judges.identities}
    for flag, judges in (("--is", protocol.judges.own_systems), ("--tuned", (*protocol.judges.tuned, *protocol.judges.tuned.values()))):
        for judge in judges:
            if judge not in names:
                raise UsageError(f"{flag} names '{judge}', which is not a judge of this run; its judges: {', '.join(sorted(names))}")
    for identity in protocol.judges.identities:
        system = own_system(protocol, identity.name, systems)
        if system not in systems and not traits_of(identity).is_baseline:
            raise UsageError(
                f"judge '{identity.name}' wrote none of these texts, so it cannot prefer its own; the systems are {', '.join(systems)}. "
                f"Pass --is '{identity.name}=SYSTEM' if it is one of them under another name"
            )


def controls_not_asked(protocol: RunProtocol, library: Library) -> Mapping[str, Any]:
    """Return the control questions that the languages of a run do not have, with the reasons."""
    return refused_controls(protocol.texts.languages, protocol.questions.metrics, library)


STUDY = Study(
    "self-preference",
    {
        "variants": ("score-only+probabilities",),
        "metrics": (*PAIR_METRICS, *SINGLE_METRICS),
        "orders": ("forward", "swapped"),
        "shown_sources": ("correct", "swapped"),
        "unlabelled": True,
    },
    needs="texts of several systems, or pairs of them: write some with 'harness generate'",
    prepare=prepare_pairs,
    is_asked=question_filter,
    without_order=frozenset(SINGLE_METRICS),
    refuse=refuse_judges_without_texts,
    facts=controls_not_asked,
)
