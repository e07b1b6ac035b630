"""Plan and ask the candidates of an improvement: data divided before any call, the calls and price at most, and each step of choosing.

A step is a run about the texts that it needs, in one store, so that nothing is asked twice. Few-shot examples come from the choosing half
and development items, never from the confirming half.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from harness.asking_options import Settings
from harness.content import Library
from harness.content.specs import DatasetCard
from harness.content.tags import choose_from
from harness.data.dataset import Dataset, read_back
from harness.data.folders import data_toml, write_folder
from harness.data.judgments import Judgments
from harness.decide.options import DecisionOptions
from harness.engines.budget import budget_of
from harness.errors import UsageError
from harness.improvement.candidates import (
    AskedCandidate,
    CalibratedCandidates,
    calibrated,
    default_candidates,
    named_metric,
    refuse_unfit,
)
from harness.improvement.improve import Division, Improved, divided, improve, starting_point
from harness.improvement.improvement_options import ImproveOptions
from harness.improvement.questions import (
    ChooseHalf,
    ConfirmHalf,
    LabelledQuestions,
    labelled_questions,
    refuse_second_use,
    right_by_question,
)
from harness.judges.panel import is_panel_file, split_panels
from harness.measure import recordings
from harness.measure.compare import Recording, align, of_metrics, only_where
from harness.measure.options import MeasureOptions, annotators_needed
from harness.model import SAMPLING, JudgeCondition, Query, Variant, parse_variant
from harness.offensive_texts import refuse_in_repository
from harness.prompts import load_own_prompt, load_own_rubric, with_rubric
from harness.row_files import to_jsonl
from harness.runs import (
    CostEstimate,
    Prepared,
    RunSpec,
    Watcher,
    added,
    estimate_cost,
    open_judges,
    planned_calls,
    prepare,
    price_for_engine,
    run,
)
from harness.stats.core.arrays import Floats
from harness.stats.estimation.choose_and_confirm import SHARES
from harness.store import Store

SAMPLED = 100
"""Texts of each half that are planned, so that a plan of very many texts takes seconds."""


class CandidatePrice(msgspec.Struct, frozen=True):
    """Calls and price of one candidate on all questions of each half, without answers that are stored."""

    condition: JudgeCondition
    choosing: CostEstimate
    confirming: CostEstimate


class AskingPrice(msgspec.Struct, frozen=True):
    """Calls and prices of all candidates, the start first. Bad candidates are asked about a part of the choosing half only.

    `calibrated` are those whose calibrated scores are candidates too, which take no further calls. `planned` of the `texts` were planned,
    and stand for all.
    """

    candidates: tuple[CandidatePrice, ...]
    calibrated: tuple[JudgeCondition, ...] = ()
    planned: int = 0
    texts: int = 0

    @property
    def calls(self) -> int:
        """The calls at most, if the candidates with the most calls go on."""
        return math.ceil(self._sum_at_most(lambda estimate: estimate.calls))

    @property
    def cost(self) -> float | None:
        """The price at most in US dollars; None if a price is not known."""
        if any(None in (candidate.choosing.cost, candidate.confirming.cost) for candidate in self.candidates):
            return None
        return self._sum_at_most(lambda estimate: estimate.cost or 0.0)

    def text(self) -> str:
        """Return lines for readers: each candidate's calls and price on both halves, then the calls at most."""
        lines = []
        for candidate in self.candidates:
            choosing, confirming = candidate.choosing, candidate.confirming
            lines += [
                f"{candidate.condition.judge}: {candidate.condition.words()}",
                f"  {choosing.calls:,} calls to choose{_money_words(choosing.cost)}; "
                f"{confirming.calls:,} to confirm{_money_words(confirming.cost)}",
            ]
        for condition in map(calibrated, self.calibrated):
            lines += [f"{condition.judge}: {condition.words()}", "  no further calls"]
        lines.append(f"At most {self.calls:,} calls{_money_words(self.cost)}: the better half goes on after each step.")
        if self.planned < self.texts:
            lines.append(f"Estimated from {self.planned:,} of the {self.texts:,} texts.")
        return "\n".join(lines)

    def _sum_at_most(self, quantity: Callable[[CostEstimate], float]) -> float:
        start, *challengers = self.candidates
        to_choose = sorted((quantity(candidate.choosing) for candidate in challengers), reverse=True)
        total, before, going_on = quantity(start.choosing) + quantity(start.confirming), 0.0, len(to_choose) + len(self.calibrated)
        for share in SHARES:
            total += (share - before) * sum(to_choose[:going_on])
            going_on, before = max(1, going_on // 2), share
        return total + max((quantity(candidate.confirming) for candidate in challengers), default=0.0)


def _money_words(cost: float | None) -> str:
    return ", price unknown" if cost is None else f", ${cost:.2f}" if cost else ""


def asking_price(
    candidates: Mapping[JudgeCondition, AskedCandidate],
    start: int,
    data: AskedData,
    halves: tuple[ChooseHalf, ConfirmHalf],
    out: Path,
    settings: Settings,
    pool: Path,
) -> AskingPrice:
    """Return the calls and prices of candidates, without asking. `start` is the position of the start, `pool` the folder of examples.

    Where a half has more than `SAMPLED` texts, every so many of them are planned and stand for all.
    """
    planned = tuple(_Planned.of(half.texts.items) for half in halves)
    spec = about(with_examples(candidates, data, halves[0], pool), [item for half in planned for item in half.items])
    with ExitStack() as stack:
        store = stack.enter_context(Store.reading(out)) if (out / "store.sqlite").is_file() else None
        alike = alike_but_for_variant(candidates)
        prices = {price.condition: price for members in alike for price in _price_candidates(members, spec, planned, store, settings)}
    challengers = [name for name in candidates if name != tuple(candidates)[start]]
    ordered = tuple(prices[name] for name in (tuple(candidates)[start], *challengers))
    also = tuple(name for name, candidate in candidates.items() if candidate.calibrated)
    return AskingPrice(ordered, also, sum(len(half.items) for half in planned), sum(half.texts for half in planned))


class _Planned(NamedTuple):
    """The texts of a half that are planned, and how many it has."""

    items: frozenset[str]
    texts: int

    @classmethod
    def of(cls, items: Sequence[str]) -> _Planned:
        return cls(frozenset(items[:: math.ceil(len(items) / SAMPLED)]), len(items))


def _price_candidates(
    alike: Mapping[JudgeCondition, AskedCandidate], spec: RunSpec, halves: Sequence[_Planned], store: Store | None, settings: Settings
) -> Iterator[CandidatePrice]:
    """Yield the prices of candidates that one run asks: the data are loaded once for all of them."""
    joint_spec = run_spec(alike, spec)
    prepared = prepare(joint_spec)
    judges = open_judges(joint_spec, prepared)
    planned = planned_calls(prepared, judges)
    for name in alike:
        variant, of_halves = parse_variant(name.variant), []
        for half in halves:
            estimate: CostEstimate | None = None
            for judge, calls in zip(judges, planned.values(), strict=True):
                new = calls.of(partial(_is_about, half.items, variant))
                if store is not None:
                    new = new.without([number is not None for number in store.last_attempts(new.ids())])
                estimate = added(estimate, estimate_cost(new, price_for_engine(judge.identity, settings)))
            assert estimate is not None
            of_halves.append(estimate.times(half.texts / len(half.items)))
        yield CandidatePrice(name, *of_halves)


def _is_about(items: frozenset[str], variant: Variant, query: Query) -> bool:
    return query.item.item_id in items and query.condition.variant == variant


def refuse_small_budget(price: AskingPrice, settings: Settings) -> None:
    """Raise UsageError where the money does not suffice to choose and to confirm."""
    limit = settings.max_cost
    if limit is not None and price.cost is not None and price.cost > limit:
        raise UsageError(
            f"--max-cost {limit:g} is too little: choosing and confirming takes up to ${price.cost:.2f}. Raise it, name fewer candidates "
            "(--variant, --candidates), or fewer texts (--langs, --where, --limit)"
        )


class Asking(msgspec.Struct, frozen=True):
    """Candidates that are asked.

    Attributes:
        judges: who is asked under about eight settings that fit the data, if there are no `candidates`.
        candidates: judges under settings.
        spec: everything else about the runs: data, endpoints, content, seed, limit.
        settings: calls in flight and limits; `settings.max_cost` is for choosing and confirming together.
    """

    judges: tuple[str, ...] = ()
    candidates: tuple[AskedCandidate, ...] = ()
    spec: RunSpec = RunSpec()
    settings: Settings = Settings()


class PlannedImprovement(msgspec.Struct, frozen=True):
    """Candidates, the data that they are asked about, and its two halves."""

    asking: Asking
    candidates: Mapping[JudgeCondition, AskedCandidate]
    asked: AskedData
    division: Division
    options: ImproveOptions

    @property
    def folder(self) -> Path:
        return Path(str(self.asked.prepared.protocol.texts.data))

    @property
    def calibrated(self) -> tuple[int, ...]:
        """Positions of the candidates whose calibrated scores are candidates too."""
        return tuple(index for index, candidate in enumerate(self.candidates.values()) if candidate.calibrated)

    @property
    def description(self) -> str:
        return self.division.describe(len(self.candidates) + len(self.calibrated))

    def price(self, out: Path) -> AskingPrice:
        """Return the calls and price at most that the results folder does not hold yet. Asks nobody."""
        start = starting_point(tuple(self.candidates), self.options.start)
        with tempfile.TemporaryDirectory() as pool:
            halves = self.division.choosing, self.division.confirming
            return asking_price(self.candidates, start, self.asked, halves, out, self.asking.settings, Path(pool))

    def run(self, out: Path, watcher: Watcher, decision: DecisionOptions, today: date) -> Improved:
        """Ask what choosing needs, then what confirming needs. Raises as `improve` and as `runs.run`."""
        refuse_second_use(self.division.uses, self.options.reuse)  # before anything is paid for
        watcher.note(self.description)
        if self.asking.settings.max_cost is not None:
            refuse_small_budget(self.price(out), self.asking.settings)
        choosing, compare = self.division.choosing, self.asked.compare
        asked = AskedCandidates(self.candidates, self.asked, choosing, out, watcher, self.asking.settings)
        answers = CalibratedCandidates(asked, self.calibrated, choosing, compare, self.options.seed)
        return improve(self.division, answers, compare, self.options, decision, self.folder, today)


def planned(asking: Asking, compare: MeasureOptions, options: ImproveOptions) -> PlannedImprovement:
    """Load the data, name the candidates and divide the labels. Asks nobody.

    Raises UsageError without a judge or a second candidate, without labels, with too few texts, and for an unknown start; ContentError for
    data, prompts or content that cannot be read.
    """
    if not (asking.judges or asking.candidates):
        raise UsageError("name who is asked: --judge openai/MODEL, repeatable")
    metric = named_metric(asking.candidates)
    spec = asking.spec if metric is None else replace(asking.spec, metrics=(metric,))
    data = asked_data(spec, compare)
    candidates = conditions_of(asking.candidates or default_candidates(asking.judges, data.prepared, spec.allow_unreviewed), data)
    starting_point(tuple(candidates), options.start)
    return PlannedImprovement(
        asking, candidates, data, divided(data.questions, options, Path(str(data.prepared.protocol.texts.data))), options
    )


class AskedData(msgspec.Struct, frozen=True):
    """The data that candidates are asked about. In `spec`, a candidate fills in the judge and its setting.

    `prepared` is the same, loaded, as the plain setting would be asked; `questions` are those with a commonest label.
    """

    spec: RunSpec
    prepared: Prepared
    compare: MeasureOptions
    questions: LabelledQuestions


def asked_data(spec: RunSpec, compare: MeasureOptions) -> AskedData:
    """Load the data that candidates are asked about. Raises as `prepare`, and UsageError where no text has a commonest label."""
    where = dict(compare.restrictions)
    metrics, languages, tasks = (where.pop(name, None) for name in ("metric", "language", "task"))
    spec = replace(spec, metrics=metrics or spec.metrics, languages=languages or spec.languages, tasks=tasks or spec.tasks)
    prepared = prepare(spec)
    data = only_where(prepared.data, where) if where else prepared.data
    labelled = of_metrics(data, prepared.protocol.questions.metrics)
    if not len(labelled.labels):
        raise UsageError(f"{spec.data} has no labels to choose by; label some texts first ('harness annotate')")
    needed = annotators_needed(compare, labelled.most_annotators)
    compare = MeasureOptions(annotators=needed, majority=compare.majority)
    questions = labelled_questions(labelled, compare)
    if not len(questions):
        raise UsageError(f"no text of {spec.data} has a commonest label on {', '.join(prepared.protocol.questions.metrics)}")
    spec = replace(spec, metrics=tuple(sorted({question.metric for question in questions.questions})))
    return AskedData(spec, prepared, compare, questions)


def conditions_of(candidates: Sequence[AskedCandidate], data: AskedData) -> dict[JudgeCondition, AskedCandidate]:
    """Return the candidates by the judge and condition that their judgments will have, in their order.

    Raises UsageError for fewer than two, for one that is named twice, and for a judge that cannot be opened.
    """
    refuse_unfit(candidates)
    # Refuse the address or a header of a judge that nobody asks.
    members = {name for candidate in candidates for name in split_panels((candidate.judge,))[0]}
    judges_of_flags = {
        "--base-url": set(data.spec.base_url) - {""},
        "--header": {name.rpartition("=")[0] for name in data.spec.headers} - {""},
    }
    for flag, judges in judges_of_flags.items():
        if other := sorted(judges - members):
            raise UsageError(f"{flag} names '{other[0]}', which is not asked.{choose_from(members, other[0])}")
    names = {judge: _judge_name(judge, data) for judge in dict.fromkeys(candidate.judge for candidate in candidates)}
    by_condition: dict[JudgeCondition, AskedCandidate] = {}
    for candidate in candidates:
        # The variant that its judgments name. Raises UsageError for a custom rubric under a variant that cannot show it.
        if candidate.prompt:
            variant = Variant(prompt=load_own_prompt(Path(candidate.prompt))[0])
        elif not candidate.rubric:
            variant = parse_variant(candidate.variant)
        else:
            variant = with_rubric(candidate.variant, load_own_rubric(Path(candidate.rubric))[0])
        condition = JudgeCondition(names[candidate.judge], str(variant), *(getattr(candidate, name) for name in SAMPLING))
        if condition in by_condition:
            raise UsageError(f"the candidate '{condition}' is named twice; candidates differ in judge, variant, prompt or sampling")
        by_condition[condition] = candidate
    return by_condition


def _judge_name(judge: str, data: AskedData) -> str:
    if is_panel_file(judge):
        return next(iter(split_panels((judge,))[1]))
    [opened] = open_judges(AskedCandidate(judge).spec(data.spec), data.prepared)
    return opened.identity.name


class AskedCandidates:
    """Candidates that are asked when their judgments are needed. Few-shot examples come from the half that chooses."""

    def __init__(
        self,
        candidates: Mapping[JudgeCondition, AskedCandidate],
        data: AskedData,
        choosing: ChooseHalf,
        out: Path,
        watcher: Watcher,
        settings: Settings,
    ) -> None:
        self.candidates = tuple(candidates)
        self.labels_sha256 = data.prepared.data.sha256
        self._by_condition = candidates
        self._asked = data
        self._spec = with_examples(candidates, data, choosing, out)
        self._out = out
        self._watcher = watcher
        self._settings = replace(settings, shared_budget=budget_of(settings))
        self._recordings: dict[tuple[tuple[int, ...], tuple[str, ...]], Recording] = {}

    def right(self, candidates: Sequence[int], questions: LabelledQuestions) -> Floats:
        right = right_by_question(align([self.recording(candidates, questions)], self._asked.compare).tables[0])
        chosen = [self.candidates[index] for index in candidates]
        for question in questions.questions:
            for candidate in chosen:
                if candidate not in right[question]:
                    raise UsageError(
                        f"'{candidate}' is not asked about {question.metric} in '{question.language}'; leave it out, or name metrics and "
                        "languages that all candidates are asked about (--where metric=NAME, --langs)"
                    )
        return np.array([[right[question][candidate] for candidate in chosen] for question in questions.questions])

    def flags(self, candidate: int) -> dict[str, Any]:
        asked_candidate = self._by_condition[self.candidates[candidate]]
        shows = not asked_candidate.prompt and parse_variant(asked_candidate.variant).shots
        return asked_candidate.flags | ({"examples": str(self._spec.examples)} if shows and self._spec.examples else {})

    def recording(self, candidates: Sequence[int], questions: LabelledQuestions) -> Recording:
        key = tuple(candidates), tuple(sorted(questions.items))
        if key not in self._recordings:
            self._watcher.note(f"{len(candidates)} candidates, {len(questions)} questions about {len(key[1])} texts")
            chosen = {self.candidates[index]: self._by_condition[self.candidates[index]] for index in candidates}
            spec = about(self._spec, key[1])
            results = [run(run_spec(alike, spec), self._out, self._watcher, self._settings) for alike in alike_but_for_variant(chosen)]
            wanted = set(chosen)
            parts = []
            for result in results:
                run_judgments = result.judgments
                names = zip(*(run_judgments.columns[name] for name in JudgeCondition._fields), strict=True)
                parts.append(run_judgments.take(np.array([JudgeCondition(*values) in wanted for values in names], bool)))
            first = results[0]
            judgments = Judgments.concatenate(parts)
            panels = {name: panel for result in results for name, panel in result.protocol.judges.panels.items()}
            self._recordings[key] = recordings.recording(
                judgments, first.prepared.data, first.prepared.training, first.prepared.data.id, panels
            )
        return self._recordings[key]


def about(spec: RunSpec, items: Iterable[str]) -> RunSpec:
    """Return the specification for these items alone, on all its metrics, so that a joint call names the same metrics in every step."""
    return replace(spec, only=dict.fromkeys(spec.metrics or (), tuple(items)))


def with_examples(candidates: Mapping[JudgeCondition, AskedCandidate], data: AskedData, choosing: ChooseHalf, out: Path) -> RunSpec:
    """Return the specification, with texts for few-shot examples if a candidate shows some and the data have none."""
    few_shot = any(not candidate.prompt and parse_variant(candidate.variant).shots for candidate in candidates.values())
    if not few_shot or has_development_items(data.prepared.training, choosing):
        return data.spec
    return replace(data.spec, examples=write_pool(choosing, data.prepared.training, out, data.prepared.library))


def alike_but_for_variant(candidates: Mapping[JudgeCondition, AskedCandidate]) -> list[dict[JudgeCondition, AskedCandidate]]:
    """Group the candidates that differ in nothing but the variant: one run asks them, so that prompts share beginnings."""
    alike: dict[AskedCandidate, dict[JudgeCondition, AskedCandidate]] = {}
    for condition, candidate in candidates.items():
        alike.setdefault(msgspec.structs.replace(candidate, variant="", prompt="", calibrated=False), {})[condition] = candidate
    return list(alike.values())


def run_spec(alike: Mapping[JudgeCondition, AskedCandidate], base: RunSpec) -> RunSpec:
    """Return the specification of the run that asks candidates that differ in nothing but the variant."""
    members = list(alike.values())
    variants = tuple(candidate.variant for candidate in members if not candidate.prompt)
    prompts = tuple(Path(candidate.prompt) for candidate in members if candidate.prompt)
    return replace(members[0].spec(base), variants=variants or None, prompts=prompts)


FOLDER = "examples"


def has_development_items(data: Dataset, half: ChooseHalf) -> bool:
    """Return True if the data have labelled development items for each language and metric that is asked about."""
    by_id, labelled = data.by_id, data.labelled_metrics
    covered = {
        (item.language, item.task, metric) for item in data.items if item.split == "dev" for metric in labelled.get(item.item_id, ())
    }
    return {(question.language, by_id[question.item_id].task, question.metric) for question in half.texts.questions} <= covered


def write_pool(half: ChooseHalf, data: Dataset, parent: Path, library: Library) -> Path:
    """Write a data folder of the choosing half and of the development items, with their labels, for `RunSpec.examples`.

    Its name in `parent` is a hash of what it holds. Raises TypeError for anything but the choosing half, since what confirms may be in no
    prompt; UsageError for offensive texts in a repository; StoreError where it cannot be written or read again.
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
        names = ("item_id", "language", "task", "group", "system", "parallel_id")
        keys = [{name: value for name in names if (value := getattr(item, name)) is not None} for item in pool.items]
        items = [{**item.fields, **item_keys, "split": "dev"} for item, item_keys in zip(pool.items, keys, strict=True)]
        rows = {"items.jsonl": to_jsonl(items), "labels.jsonl": to_jsonl(pool.labels)}
        counts = {"items": len(items), "labels": len(pool.labels)}
        write_folder(folder, {"data.toml": data_toml(about).encode(), **rows}, read_back(folder, library, counts))
    return folder
