"""Cheap judges first, a person last: which answers of several judges can be accepted, with one guarantee for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np

from harness.correction.acceptance import (
    CONTINUOUS,
    GUARANTEE,
    NO_CONFIDENCE,
    ONLY_IF,
    UNEQUAL,
    agrees_with_people,
    assumption,
    confidence_of,
    is_unequal,
    share_left_out,
)
from harness.correction.answer_prices import AnswerPrice
from harness.correction.cell_results import CellResults, one_condition
from harness.correction.options import AcceptOptions
from harness.correction.unread_cells import refuse_unread
from harness.errors import JudgeError, UsageError
from harness.measure.cells import number
from harness.measure.compare import Recording, align
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.options import MeasureOptions
from harness.model import JudgeCondition
from harness.stats.core.arrays import Floats, Ints
from harness.stats.selection.cascade import Cascade, CascadePromise, Units, answered_by, joint_cascade, split_cascade, votes_so_far

Order = Literal["price", "named"]
_ROUNDING = 1e-9
VOTES = "votes"  # the confidence that is read from several judges
Pricing = Callable[[Sequence[JudgeCondition]], Mapping[str, AnswerPrice]]
ORDER = "name the judges: --judge A --judge B; they are asked in the order of their price, and a person is the last step"
WORDS = {
    "texts": "exact: no two texts share a group",
    "one_per_group": "exact: tested on one text a group, drawn at random",
    "design_effect": "approximate: texts share groups, and the bound divides by the design effect; --units one_per_group is exact",
}


class AcceptedStep(msgspec.Struct, frozen=True, kw_only=True):
    """One judge of a cascade. Undefined numbers are None.

    Attributes:
        judge, condition: who answers, and how it was asked.
        confidence: what its confidence is read from.
        threshold: it answers from this confidence on; None where nothing is certified, or where it answers nothing in this chain.
        coverage: share of the texts that test the chain whose answer is its own.
        asked: share of them that it is asked about.
        price: US dollars for its answers to 1,000 texts; None where it is unknown. `price_from` says how it is known.
        alone_threshold, alone_coverage, alone_upper: if only this judge answered, under the same promise, tested on all labelled texts; its
            confidence stays the same, so that votes are still those of the judges before it too.
    """

    judge: str
    condition: JudgeCondition
    confidence: str
    threshold: float | None
    coverage: float
    asked: float
    price: float | None
    price_from: str | None
    alone_threshold: float | None
    alone_coverage: float
    alone_upper: float | None


class AcceptedCascade(msgspec.Struct, frozen=True, kw_only=True):
    """The chain of judges in one language and metric. Undefined numbers are None.

    Attributes:
        language, metric: of the cell.
        steps: the judges in the order in which they are asked.
        person: share of the texts that are left to people.
        risk, upper: share of wrong answers among all accepted ones: seen, and its bound at the level 1 - delta.
        price: US dollars for 1,000 texts that are put to the chain; None where the price of a judge is unknown.
        n, groups: texts that test the chain, and independent groups among them.
        finding: other labelled texts, which found the order in which thresholds are tested.
        left_out: labelled texts without a commonest label, of which the guarantee says nothing.
        accepted, left_out_accepted: accepted answers to texts that test the chain, and to those left out, which are not in the risk.
        not_asked: labelled texts that not every judge was asked about.
        units: how the bound counts texts that share groups; `exact` unless by design effect.
        reason: why nothing is certified.
    """

    language: str
    metric: str
    steps: tuple[AcceptedStep, ...]
    person: float
    risk: float | None
    upper: float | None
    price: float | None
    n: int
    groups: int
    finding: int
    left_out: int
    accepted: int
    left_out_accepted: int
    not_asked: int
    units: Units
    reason: str | None

    @property
    def better_alone(self) -> AcceptedStep | None:
        """The judge that by itself, under the same promise, answers more than all of them together, or no less at a lower price."""
        answered, price = 1 - self.person, math.inf if self.price is None else self.price
        enough = [step for step in self.steps if step.alone_coverage >= answered - _ROUNDING > 0]
        prices = [math.inf if (own := self.alone_price(step)) is None else own for step in enough]
        if prices and min(prices) < price:
            return enough[prices.index(min(prices))]
        most = max(self.steps, key=lambda step: step.alone_coverage)
        return most if most.alone_coverage > answered + _ROUNDING else None

    def alone_price(self, step: AcceptedStep) -> float | None:
        """US dollars for asking one judge of the chain about 1,000 texts, and for votes the judges before it too."""
        asked = self.steps[: self.steps.index(step) + 1] if step.confidence == VOTES else (step,)
        prices = [each.price for each in asked if each.price is not None]
        return sum(prices) if len(prices) == len(asked) else None

    @property
    def exact(self) -> bool:
        return self.units != "design_effect"

    def flat(self) -> dict[str, Any]:
        """One object for programs."""
        more = {"exact": self.exact, "left_out_share": share_left_out(self.n + self.finding, self.left_out)}
        return {**msgspec.to_builtins(self), **more}


class AcceptedCascades(CellResults, frozen=True):
    """The chain in every language and metric; `only_if`: what the promise rests on beside labels."""

    signature: str
    alpha: float
    delta: float
    units: Units
    cascades: tuple[AcceptedCascade, ...]
    notes: tuple[str, ...]
    only_if: str | None = None
    schema_version: int = 1


def accept_cascade(
    source: Recording,
    compare: MeasureOptions,
    options: AcceptOptions = AcceptOptions(),
    units: Units = "design_effect",
    pricing: Pricing | None = None,
    order: Order = "price",
) -> AcceptedCascades:
    """Find thresholds of all judges together, so that accepted answers are wrong at most alpha, with probability 1 - delta.

    Args:
        source: judgments of several judges with the labels of some of their items.
        compare: its `judges` are the steps; each has to be left with one condition.
        options: as `accept` takes them; votes are those of the judges asked so far.
        units: how texts that share groups are counted.
        pricing: finds the prices of judges by name; None knows none.
        order: `price` asks the cheapest first where all prices are known; `named` keeps the order of `compare.judges`.

    Raises UsageError with fewer than two judges, for several conditions of a judge, where no text was put to all judges, and as `accept`.
    Raises JudgeError where most of a judge's answers cannot be read, in all of it or in one language and metric.
    """
    names = tuple(dict.fromkeys(compare.judges or ()))
    if len(names) < 2:
        raise UsageError(f"a cascade has two judges or more; {ORDER}")
    assumed = assumption(source.data.about, options, "no cascade")
    laid_out = align([source], compare)
    cells = list(item_tables(laid_out.judged[0]))
    chain = [one_condition([cell.condition for cell in cells], (name,), "accept") for name in names]
    for left_out in refuse_unread((cell for cell in cells if cell.condition in chain), "nothing is accepted by the scores")[1]:
        raise JudgeError(left_out.sentence())
    prices = pricing(chain) if pricing else {}
    if order == "price" and all(each.judge in prices for each in chain):
        chain.sort(key=lambda each: prices[each.judge].dollars)  # equal prices keep the order in which judges are named
    by_place: dict[tuple[str, str], dict[JudgeCondition, ItemTable]] = {}
    for cell in cells:
        by_place.setdefault(cell.place, {})[cell.condition] = cell
    complete = [[own[each] for each in chain] for _, own in sorted(by_place.items()) if all(each in own for each in chain)]
    if not complete:
        raise UsageError(f"no language and metric has scores of all judges: {', '.join(names)}")
    found = tuple(_cascade(own, options, units, prices) for own in complete)
    use = f"{options} cascade={' then '.join(each.judge for each in chain)} units={units}"
    notes = (*laid_out.notes, *_price_notes(chain, prices, order), GUARANTEE, *filter(None, (assumed,)))
    only_if = ONLY_IF if assumed else None
    return AcceptedCascades(laid_out.signed(use=use), options.alpha_risk, options.delta, units, found, notes, only_if)


def _price_notes(chain: Sequence[JudgeCondition], prices: Mapping[str, AnswerPrice], order: Order) -> Iterator[str]:
    unknown = [each.judge for each in chain if each.judge not in prices]
    if unknown:
        yield (
            f"No price is known of {', '.join(unknown)}, so judges are asked in the order in which they are named; --price NAME=N "
            "gives the US dollars for 1,000 texts."
        )
        return
    if order == "price":
        yield "Judges are asked in the order of their price; --order named keeps the order in which they are named."
    sources: dict[str, list[str]] = {}
    for each in chain:
        sources.setdefault(prices[each.judge].source, []).append(each.judge)
    words = (f"{source} ({', '.join(judges)})" if len(sources) > 1 else source for source, judges in sources.items())
    yield f"Prices are of 1,000 texts in US dollars: {'; '.join(words)}."


class _Answers(NamedTuple):
    """The texts that every judge was asked about: confidences and agreement (judges, texts), NaN outside the guarantee."""

    sure: Floats
    right: Floats
    group: Ints

    def tested(self, judges: list[int], options: AcceptOptions, units: Units) -> Cascade:
        """Several judges along a path that a part of the labels finds; one judge along its own confidences, which need no labels."""
        test = split_cascade if len(judges) > 1 else joint_cascade
        arrays = list(self.sure[judges]), list(self.right[judges])
        return test(*arrays, self.group, promise=CascadePromise(options.alpha_risk, options.delta, units))


def _cascade(cells: Sequence[ItemTable], options: AcceptOptions, units: Units, prices: Mapping[str, AnswerPrice]) -> AcceptedCascade:
    shared = np.asarray(sorted(set.intersection(*(set(cell.item.tolist()) for cell in cells))), np.int64)
    labelled = set().union(*(cell.item[cell.labelled].tolist() for cell in cells))
    common = [cell.take(np.searchsorted(cell.item, shared)) for cell in cells]
    agrees, known = zip(*(agrees_with_people(cell) for cell in common), strict=True)
    left_out = common[0].labelled & ~known[0]
    read = [confidence_of(cell, options) for cell in common]
    if options.confidence == VOTES:  # the share of the judges asked so far, this one included, that give its answer
        answers = np.vstack([cell.answer for cell in common])
        read = [(VOTES, votes_so_far(answers[: place + 1])) for place in range(len(common))]
    n = int(known[0].sum())
    counts: dict[str, Any] = {
        "n": n,
        "groups": len(np.unique(common[0].group[known[0]])),
        "left_out": int(left_out.sum()),
        "finding": 0,
        "left_out_accepted": 0,
        "not_asked": len(labelled - set(shared.tolist())),
        "units": "texts" if len(np.unique(common[0].group)) == len(common[0]) else units,
    }
    reason = _obstacle(common, read)
    if reason is not None:
        steps = _steps(common, read, prices, None, [None] * len(cells))
        return _result(common[0], steps, None, counts, reason)
    sure = np.vstack([values for _, values in read if values is not None])
    given = _Answers(sure, np.vstack(agrees), common[0].group)
    found = given.tested(list(range(len(cells))), options, units)
    alone = [given.tested([place], options, units) for place in range(len(cells))]
    if found.chosen:
        counts["left_out_accepted"] = int((answered_by(sure[:, left_out], found.chosen.thresholds) >= 0).sum())
    counts |= {"n": found.texts, "groups": found.groups, "finding": n - found.texts}
    return _result(common[0], _steps(common, read, prices, found, alone), found, counts, found.reason)


def _obstacle(cells: Sequence[ItemTable], read: Sequence[tuple[str, Floats | None]]) -> str | None:
    """Why these judges make no cascade; None if they do."""
    if cells[0].classes.continuous:
        return CONTINUOUS
    for cell, (_, values) in zip(cells, read, strict=True):
        if values is None:
            return f"{cell.key['judge']}: {NO_CONFIDENCE}"
    return UNEQUAL if is_unequal(cells[0]) else None


def _steps(
    cells: Sequence[ItemTable],
    read: Sequence[tuple[str, Floats | None]],
    prices: Mapping[str, AnswerPrice],
    found: Cascade | None,
    alone: Sequence[Cascade | None],
) -> tuple[AcceptedStep, ...]:
    chosen, coverage = found.chosen if found else None, found.coverage() if found and found.chosen else np.zeros(len(cells))
    steps = []
    for place, (cell, (name, _), own) in enumerate(zip(cells, read, alone, strict=True)):
        price = prices.get(str(cell.key["judge"]))
        by_itself = own.chosen if own else None
        steps.append(
            AcceptedStep(
                judge=str(cell.key["judge"]),
                condition=cell.condition,
                confidence=name,
                threshold=_finite(chosen.thresholds[place]) if chosen else None,
                coverage=float(coverage[place]),
                asked=float(1 - coverage[:place].sum()),
                price=price.dollars if price else None,
                price_from=price.source if price else None,
                alone_threshold=_finite(by_itself.thresholds[0]) if by_itself else None,
                alone_coverage=by_itself.accepted / own.texts if own and by_itself else 0.0,
                alone_upper=number(by_itself.upper) if by_itself else None,
            )
        )
    return tuple(steps)


def needed(steps: Sequence[AcceptedStep]) -> tuple[bool, ...]:
    """Which judges have to be asked: those whose answers are ever taken, and those that vote on the answers of later ones."""
    last = max((place for place, step in enumerate(steps) if step.threshold is not None), default=-1)
    return tuple(step.threshold is not None or (step.confidence == VOTES and place < last) for place, step in enumerate(steps))


def _finite(threshold: float) -> float | None:
    return threshold if math.isfinite(threshold) else None


def _result(
    cell: ItemTable, steps: tuple[AcceptedStep, ...], found: Cascade | None, counts: Mapping[str, Any], reason: str | None
) -> AcceptedCascade:
    chosen = found.chosen if found else None
    each = [step.price * step.asked for step, asked in zip(steps, needed(steps), strict=True) if asked and step.price is not None]
    known = all(step.price is not None for step in steps)
    return AcceptedCascade(
        language=cell.place[0],
        metric=cell.place[1],
        steps=steps,
        person=1 - float(sum(step.coverage for step in steps)),
        risk=chosen.errors / chosen.accepted if chosen else None,
        upper=number(chosen.upper) if chosen else None,
        price=sum(each) if known and chosen else None,
        accepted=chosen.accepted if chosen else 0,
        reason=reason,
        **counts,
    )
