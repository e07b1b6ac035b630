"""What choosing and confirming will take at most: calls, tokens and money, before anything is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

import msgspec

from harness.engines import Settings
from harness.errors import UsageError
from harness.improvement.asked_answers import AskedData, about, with_examples
from harness.improvement.calibrated_answers import calibrated
from harness.improvement.candidates import AskedCandidate
from harness.improvement.halves import ChooseHalf, ConfirmHalf
from harness.improvement.questions import LabelledQuestions
from harness.model import JudgeCondition
from harness.runs import CostEstimate, added, estimate_cost, open_judges, planned_calls, prepare, price_for_engine
from harness.stats.selection.halving import SHARES
from harness.store import Store


class CandidatePrice(msgspec.Struct, frozen=True):
    """What one candidate takes about all questions of each half, without answers that are stored."""

    condition: JudgeCondition
    choosing: CostEstimate
    confirming: CostEstimate


class AskingPrice(msgspec.Struct, frozen=True):
    """Of all candidates, the start first. Bad candidates are asked about a part of the choosing half only.

    `calibrated` are those whose calibrated scores are candidates too, which take no further calls.
    """

    candidates: tuple[CandidatePrice, ...]
    calibrated: tuple[JudgeCondition, ...] = ()

    @property
    def calls(self) -> int:
        """At most, if the candidates with the most calls go on."""
        return math.ceil(self._most(lambda one: one.calls))

    @property
    def cost(self) -> float | None:
        """In US dollars, at most; None if a price is not known."""
        if any(None in (each.choosing.cost, each.confirming.cost) for each in self.candidates):
            return None
        return self._most(lambda one: one.cost or 0.0)

    def text(self) -> str:
        """For readers: each candidate's calls and price on both halves, then what is asked at most."""
        lines = [
            f"{each.condition.judge}: {each.condition.words()}: {each.choosing.calls:,} calls to choose{_money(each.choosing.cost)}; "
            f"{each.confirming.calls:,} to confirm{_money(each.confirming.cost)}"
            for each in self.candidates
        ]
        lines += [f"{each.judge}: {each.words()}: no further calls" for each in map(calibrated, self.calibrated)]
        return "\n".join([*lines, f"At most {self.calls:,} calls{_money(self.cost)}: the better half goes on after each step."])

    def _most(self, of: Callable[[CostEstimate], float]) -> float:
        start, *others = self.candidates
        left = sorted((of(each.choosing) for each in others), reverse=True)
        total, before, going_on = of(start.choosing) + of(start.confirming), 0.0, len(left) + len(self.calibrated)
        for share in SHARES:
            total += (share - before) * sum(left[:going_on])
            going_on, before = max(1, going_on // 2), share
        return total + max((of(each.confirming) for each in others), default=0.0)


def _money(cost: float | None) -> str:
    return ", price unknown" if cost is None else f", ${cost:.2f}" if cost else ""


def asking_price(
    candidates: Mapping[JudgeCondition, AskedCandidate],
    start: int,
    asked: AskedData,
    halves: tuple[ChooseHalf, ConfirmHalf],
    out: Path,
    settings: Settings,
    pool: Path,
) -> AskingPrice:
    """What candidates take, of which the one at `start` is the start; `pool` is where few-shot examples are written. Asks nobody."""
    choosing, confirming = halves
    spec = with_examples(candidates, asked, choosing, pool)
    with ExitStack() as stack:
        store = stack.enter_context(Store.reading(out)) if (out / "store.sqlite").is_file() else None

        def of(candidate: AskedCandidate, questions: LabelledQuestions) -> CostEstimate:
            own = candidate.spec(about(spec, questions.items))
            prepared = prepare(own)
            judges = open_judges(own, prepared)
            estimates: CostEstimate | None = None
            for judge, calls in zip(judges, planned_calls(prepared, judges).values(), strict=True):
                new = calls if store is None else calls.without([number is not None for number in store.last_attempts(calls.ids())])
                estimates = added(estimates, estimate_cost(new, price_for_engine(judge.identity, settings)))
            assert estimates is not None
            return estimates

        found = [CandidatePrice(name, of(one, choosing.texts), of(one, confirming.texts)) for name, one in candidates.items()]
    also = tuple(name for name, one in candidates.items() if one.calibrated)
    return AskingPrice((found[start], *found[:start], *found[start + 1 :]), also)


def refuse_small_budget(price: AskingPrice, settings: Settings) -> None:
    """Raise UsageError where the money does not suffice to choose and to confirm."""
    limit = settings.limits.cost
    if limit is not None and price.cost is not None and price.cost > limit:
        raise UsageError(
            f"--max-cost {limit:g} is too little: choosing and confirming takes up to ${price.cost:.2f}. Raise it, name fewer candidates "
            "(--variant, --candidates), or fewer texts (--langs, --where, --limit)"
        )
