"""Candidates that are asked: each step of choosing is a run about the texts that it needs, in one store, so that nothing is asked twice.

Few-shot examples come from the choosing half and development items, never from the confirming half.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from harness.content.specs import DatasetCard
from harness.content.tags import choose_from
from harness.data.dataset import Dataset
from harness.data.folder_writer import data_toml, write_folder
from harness.data.judgments import Judgments
from harness.engines import Settings
from harness.errors import UsageError
from harness.improvement.candidates import AskedCandidate, refuse_unfit
from harness.improvement.halves import ChooseHalf
from harness.improvement.questions import LabelledQuestions, answers_of, labelled_questions
from harness.judges.panel import is_panel_file, split_panels
from harness.measure import recorded_run
from harness.measure.compare import Recording, align, of_metrics, only_where
from harness.measure.options import CompareOptions, annotators_needed
from harness.model import SAMPLING, Item, JudgeCondition, Variant, parse_variant
from harness.offensive import refuse_in_repository
from harness.prompts import load_own_prompt, load_own_rubric, with_rubric
from harness.row_files import to_jsonl
from harness.runs import Prepared, RunResult, RunSpec, Watcher, open_judges, prepare, run
from harness.stats.core.arrays import Floats


class AskedData(msgspec.Struct, frozen=True):
    """What candidates are asked about. In `spec`, a candidate fills in who answers, and how.

    `prepared` is the same, loaded, as the plain setting would be asked; `questions` are those with a commonest label.
    """

    spec: RunSpec
    prepared: Prepared
    compare: CompareOptions
    questions: LabelledQuestions


def asked_data(spec: RunSpec, compare: CompareOptions) -> AskedData:
    """Load the data that candidates are asked about. Raises as `prepare`, and UsageError where no text has a commonest label."""
    where = dict(compare.where)
    metrics, languages, tasks = (where.pop(name, None) for name in ("metric", "language", "task"))
    spec = replace(spec, metrics=metrics or spec.metrics, languages=languages or spec.languages, tasks=tasks or spec.tasks)
    prepared = prepare(spec)
    data = only_where(prepared.data, where) if where else prepared.data
    known = of_metrics(data, prepared.protocol.questions.metrics)
    if not len(known.labels):
        raise UsageError(f"{spec.data} has no labels to choose by; label some texts first ('harness annotate')")
    needed = annotators_needed(compare, known.labels.max_annotators)
    compare = CompareOptions(annotators=needed, majority=compare.majority)
    questions = labelled_questions(known, compare)
    if not len(questions):
        raise UsageError(f"no text of {spec.data} has a commonest label on {', '.join(prepared.protocol.questions.metrics)}")
    spec = replace(spec, metrics=tuple(sorted({each.metric for each in questions.questions})))
    return AskedData(spec, prepared, compare, questions)


def conditions_of(candidates: Sequence[AskedCandidate], asked: AskedData) -> dict[JudgeCondition, AskedCandidate]:
    """The candidates by the judge and condition that their judgments will have, in their order.

    Raises UsageError for fewer than two, for one that is named twice, and for a judge that cannot be opened.
    """
    refuse_unfit(candidates)
    _refuse_other_addresses(candidates, asked.spec)
    names = {judge: _judge_name(judge, asked) for judge in dict.fromkeys(each.judge for each in candidates)}
    found: dict[JudgeCondition, AskedCandidate] = {}
    for each in candidates:
        condition = JudgeCondition(names[each.judge], str(_variant_of(each)), *(getattr(each, name) for name in SAMPLING))
        if condition in found:
            raise UsageError(f"the candidate '{condition}' is named twice; candidates differ in judge, variant, prompt or sampling")
        found[condition] = each
    return found


def _variant_of(candidate: AskedCandidate) -> Variant:
    """The variant that its judgments name. Raises UsageError for a rubric of the user's own under a variant that cannot show it."""
    if candidate.prompt:
        return Variant(prompt=load_own_prompt(Path(candidate.prompt))[0])
    if not candidate.rubric:
        return parse_variant(candidate.variant)
    return with_rubric(candidate.variant, load_own_rubric(Path(candidate.rubric))[0])


def _refuse_other_addresses(candidates: Sequence[AskedCandidate], spec: RunSpec) -> None:
    """Raise UsageError for the address or a header of a judge that nobody asks."""
    asked = {name for each in candidates for name in split_panels((each.judge,))[0]}
    named = {"--base-url": set(spec.base_urls), "--header": {name.rpartition("=")[0] for name in spec.headers} - {""}}
    for flag, judges in named.items():
        if other := sorted(judges - asked):
            raise UsageError(f"{flag} names '{other[0]}', which is not asked.{choose_from(asked, other[0])}")


def _judge_name(judge: str, asked: AskedData) -> str:
    if is_panel_file(judge):
        return next(iter(split_panels((judge,))[1]))
    [opened] = open_judges(AskedCandidate(judge).spec(asked.spec), asked.prepared)
    return opened.identity.name


class AskedAnswers:
    """Answers that are asked for when they are needed. Few-shot examples come from the half that chooses."""

    def __init__(
        self,
        candidates: Mapping[JudgeCondition, AskedCandidate],
        asked: AskedData,
        choosing: ChooseHalf,
        out: Path,
        watcher: Watcher,
        settings: Settings,
    ) -> None:
        self.candidates = tuple(candidates)
        self.labels_sha256 = asked.prepared.data.sha256
        self._by_condition = candidates
        self._asked = asked
        self._spec = with_examples(candidates, asked, choosing, out)
        self._out = out
        self._watcher = watcher
        self._settings = msgspec.structs.replace(settings, shared_budget=settings.budget)
        self._kept: dict[tuple[tuple[int, ...], tuple[str, ...]], Recording] = {}

    def right(self, candidates: Sequence[int], questions: LabelledQuestions) -> Floats:
        rows = dict(answers_of(align([self.recording(candidates, questions)], self._asked.compare).judged[0]))
        chosen = [self.candidates[at] for at in candidates]
        for question in questions.questions:
            for each in chosen:
                if each not in rows[question].right:
                    raise UsageError(
                        f"'{each}' is not asked about {question.metric} in '{question.language}'; leave it out, or name metrics and "
                        "languages that all candidates are asked about (--where metric=NAME, --langs)"
                    )
        return np.array([[rows[question].right[each] for each in chosen] for question in questions.questions])

    def flags(self, candidate: int) -> dict[str, Any]:
        own = self._by_condition[self.candidates[candidate]]
        shows = not own.prompt and parse_variant(own.variant).shots
        return own.flags | ({"examples": str(self._spec.examples)} if shows and self._spec.examples else {})

    def recording(self, candidates: Sequence[int], questions: LabelledQuestions) -> Recording:
        key = tuple(candidates), tuple(sorted(questions.items))
        if key not in self._kept:
            self._watcher.note(f"{len(candidates)} candidates, {len(questions)} questions about {len(key[1])} texts")
            chosen = {self.candidates[at]: self._by_condition[self.candidates[at]] for at in candidates}
            spec = about(self._spec, key[1])
            results = [run(run_spec(alike, spec), self._out, self._watcher, self._settings) for alike in alike_but_for_variant(chosen)]
            self._kept[key] = _recording(results, chosen)
        return self._kept[key]


def about(spec: RunSpec, items: Iterable[str]) -> RunSpec:
    """The specification for these items alone, on all its metrics, so that a joint call names the same metrics in every step."""
    return replace(spec, only=dict.fromkeys(spec.metrics or (), tuple(items)))


def with_examples(candidates: Mapping[JudgeCondition, AskedCandidate], asked: AskedData, choosing: ChooseHalf, out: Path) -> RunSpec:
    """The specification, with the texts that few-shot examples are taken from if a candidate shows some and the data have none for it."""
    few_shot = any(not each.prompt and parse_variant(each.variant).shots for each in candidates.values())
    if not few_shot or has_development_items(asked.prepared.training, choosing):
        return asked.spec
    return replace(asked.spec, examples=write_pool(choosing, asked.prepared.training, out))


def alike_but_for_variant(candidates: Mapping[JudgeCondition, AskedCandidate]) -> list[dict[JudgeCondition, AskedCandidate]]:
    """The candidates that one run asks: those that differ in nothing but the variant, so that prompts share beginnings."""
    alike: dict[AskedCandidate, dict[JudgeCondition, AskedCandidate]] = {}
    for name, each in candidates.items():
        alike.setdefault(msgspec.structs.replace(each, variant="", prompt="", calibrated=False), {})[name] = each
    return list(alike.values())


def run_spec(alike: Mapping[JudgeCondition, AskedCandidate], base: RunSpec) -> RunSpec:
    """The run that asks candidates that differ in nothing but the variant."""
    members = list(alike.values())
    variants = tuple(each.variant for each in members if not each.prompt)
    prompts = tuple(Path(each.prompt) for each in members if each.prompt)
    return replace(members[0].spec(base), variants=variants or None, prompts=prompts)


def _recording(results: Sequence[RunResult], candidates: Iterable[JudgeCondition]) -> Recording:
    wanted = set(candidates)
    parts = []
    for result in results:
        judgments = result.judgments
        names = zip(*(judgments.columns[name] for name in JudgeCondition._fields), strict=True)
        parts.append(judgments.take(np.array([JudgeCondition(*each) in wanted for each in names], bool)))
    first = results[0]
    whole = Judgments.concatenate(parts)
    panels = {name: panel for result in results for name, panel in result.protocol.judges.panels.items()}
    return recorded_run.recording(whole, first.prepared.data, first.prepared.training, first.prepared.data.id, panels)


FOLDER = "examples"


def has_development_items(data: Dataset, half: ChooseHalf) -> bool:
    """Whether the data have labelled development items for each language and metric that is asked about."""
    by_id, labelled = data.by_id, data.labelled_metrics
    known = {(item.language, item.task, metric) for item in data.items if item.split == "dev" for metric in labelled.get(item.item_id, ())}
    return {(each.language, by_id[each.item_id].task, each.metric) for each in half.texts.questions} <= known


def write_pool(half: ChooseHalf, data: Dataset, parent: Path) -> Path:
    """Write a data folder of the choosing half and of the development items, with their labels, for `RunSpec.examples`.

    Its name in `parent` is a hash of what it holds. Raises TypeError for anything but the choosing half, since what confirms may be in no
    prompt; UsageError for offensive texts in a repository; StoreError where it cannot be written.
    """
    if not isinstance(half, ChooseHalf):
        raise TypeError(f"few-shot examples come from the half that chooses, not from {type(half).__name__}")
    chosen = set(half.texts.items)
    pool = data.only(item for item in data.items if item.split == "dev" or item.item_id in chosen)
    folder = parent / FOLDER / pool.sha256[:12]
    refuse_in_repository(folder, data.about)
    if not folder.is_dir():
        used = {name: data.label_scale(name) for name in sorted(pool.labels.metric.used)}
        about = DatasetCard(
            id=f"{data.id}-examples",
            annotators=data.about.annotators,
            source=data.about.source,
            metrics=used,
            offensive=data.about.offensive,
        )
        rows = {"items.jsonl": to_jsonl(map(_row, pool.items)), "labels.jsonl": to_jsonl(pool.labels)}
        write_folder(folder, {"data.toml": data_toml(about).encode(), **rows})
    return folder


def _row(item: Item) -> dict[str, Any]:
    own = {name: getattr(item, name) for name in ("item_id", "language", "task", "group", "system", "parallel_id")}
    return {**item.fields, **{name: value for name, value in own.items() if value is not None}, "split": "dev"}
