"""Plan an improvement that asks judges: candidates, data divided before any call, and the calls and price at most."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.asking import Settings
from harness.decide.options import DecisionOptions
from harness.errors import UsageError
from harness.improvement.asked_candidates import (
    AskedCandidates,
    AskedData,
    about,
    alike_but_for_variant,
    asked_data,
    conditions_of,
    run_spec,
    with_examples,
)
from harness.improvement.calibrated_candidates import CalibratedCandidates, calibrated
from harness.improvement.candidates import AskedCandidate, default_candidates, named_metric
from harness.improvement.halves import ChooseHalf, ConfirmHalf, refuse_second_use
from harness.improvement.improve import Division, Improved, divided, improve, starting_point
from harness.improvement.options import ImproveOptions
from harness.measure.options import MeasureOptions
from harness.model import JudgeCondition, Query, Variant, parse_variant
from harness.runs import CostEstimate, RunSpec, Watcher, added, estimate_cost, open_judges, planned_calls, prepare, price_for_engine
from harness.stats.selection.choose_and_confirm import SHARES
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
        lines = [
            f"{candidate.condition.judge}: {candidate.condition.words()}: "
            f"{candidate.choosing.calls:,} calls to choose{_money_words(candidate.choosing.cost)}; "
            f"{candidate.confirming.calls:,} to confirm{_money_words(candidate.confirming.cost)}"
            for candidate in self.candidates
        ]
        lines += [f"{condition.judge}: {condition.words()}: no further calls" for condition in map(calibrated, self.calibrated)]
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
    def sentence(self) -> str:
        return self.division.sentence(len(self.candidates) + len(self.calibrated))

    def price(self, out: Path) -> AskingPrice:
        """Return the calls and price at most that the results folder does not hold yet. Asks nobody."""
        start = starting_point(tuple(self.candidates), self.options.start)
        with tempfile.TemporaryDirectory() as pool:
            halves = self.division.choosing, self.division.confirming
            return asking_price(self.candidates, start, self.asked, halves, out, self.asking.settings, Path(pool))

    def run(self, out: Path, watcher: Watcher, decision: DecisionOptions, today: date) -> Improved:
        """Ask what choosing needs, then what confirming needs. Raises as `improve` and as `runs.run`."""
        refuse_second_use(self.division.uses, self.options.reuse)  # before anything is paid for
        watcher.note(self.sentence)
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
