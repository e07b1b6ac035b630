"""Cascades: cheap judges first, a person last; answers of several judges are accepted with one guarantee for all, at a known price."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
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
from harness.correction.cell_results import CellResults, choose_condition, judged_rows, refuse_unread
from harness.correction.correction_options import AcceptOptions
from harness.errors import JudgeError, UsageError
from harness.judges import traits_of
from harness.measure.cells import number
from harness.measure.compare import Recording, align
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.options import MeasureOptions
from harness.model import JudgeCondition
from harness.runs import RunResult, estimate_text_usage, price_by_name, price_of
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.acceptance import Cascade, CascadePromise, Units, answered_by, joint_cascade, split_cascade, votes_so_far

Order = Literal["price", "named"]
_ROUNDING = 1e-9
VOTES = "votes"  # the confidence that is read from several judges
ORDER = "name the judges: --judge A --judge B; they are asked in the order of their price, and a person is the last step"
WORDS = {
    "texts": "exact: no two texts share a group",
    "one_per_group": "exact: tested on one text a group, drawn at random",
    "design_effect": "approximate: texts share groups, and the bound divides by the design effect; --units one_per_group is exact",
}

STATED, CHARGED, LISTED, FREE = "stated", "charged in the run", "list price of the texts' tokens, without instructions", "free"


class AnswerPrice(msgspec.Struct, frozen=True):
    """US dollars for a judge's answers to 1,000 texts on one metric, its repeats included; `source` says how they are known."""

    dollars: float
    source: str


Pricing = Callable[[Sequence[JudgeCondition]], Mapping[str, AnswerPrice]]


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
    def better_single_judge(self) -> AcceptedStep | None:
        """The one judge that by itself, under the same promise, answers more than all of them together, or no less at a lower price."""
        answered, price = 1 - self.person, math.inf if self.price is None else self.price
        enough = [step for step in self.steps if step.alone_coverage >= answered - _ROUNDING > 0]
        prices = [math.inf if (price_of_step := self.alone_price(step)) is None else price_of_step for step in enough]
        if prices and min(prices) < price:
            return enough[prices.index(min(prices))]
        most = max(self.steps, key=lambda step: step.alone_coverage)
        return most if most.alone_coverage > answered + _ROUNDING else None

    def alone_price(self, step: AcceptedStep) -> float | None:
        """Return the US dollars for asking one judge of the chain about 1,000 texts, and for votes the judges before it too."""
        steps = self.steps[: self.steps.index(step) + 1] if step.confidence == VOTES else (step,)
        prices = [step_asked.price for step_asked in steps if step_asked.price is not None]
        return sum(prices) if len(prices) == len(steps) else None

    @property
    def exact(self) -> bool:
        return self.units != "design_effect"

    def flat(self) -> dict[str, Any]:
        """Return one object for programs."""
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
    aligned = align([source], compare)
    cells = list(item_tables(aligned.tables[0]))
    chain = [choose_condition([cell.condition for cell in cells], (name,), "accept") for name in names]
    for left_out in refuse_unread((cell for cell in cells if cell.condition in chain), "nothing is accepted by the scores")[1]:
        raise JudgeError(left_out.sentence())
    prices = pricing(chain) if pricing else {}
    if order == "price" and all(condition.judge in prices for condition in chain):
        chain.sort(key=lambda condition: prices[condition.judge].dollars)  # equal prices keep the order in which judges are named
    by_cell: dict[tuple[str, str], dict[JudgeCondition, ItemTable]] = {}
    for cell in cells:
        by_cell.setdefault(cell.language_and_metric, {})[cell.condition] = cell
    by_judge = [of_cell for _, of_cell in sorted(by_cell.items())]
    complete = [[of_cell[condition] for condition in chain] for of_cell in by_judge if of_cell.keys() >= set(chain)]
    if not complete:
        raise UsageError(f"no language and metric has scores of all judges: {', '.join(names)}")
    cascades = tuple(_accept_in_cell(judges, options, units, prices) for judges in complete)
    use = f"{options} cascade={' then '.join(condition.judge for condition in chain)} units={units}"
    notes = (*aligned.notes, *_price_notes(chain, prices, order), GUARANTEE, *filter(None, (assumed,)))
    only_if = ONLY_IF if assumed else None
    return AcceptedCascades(aligned.signed(use=use), options.alpha_risk, options.delta, units, cascades, notes, only_if)


def _price_notes(chain: Sequence[JudgeCondition], prices: Mapping[str, AnswerPrice], order: Order) -> Iterator[str]:
    unknown = [condition.judge for condition in chain if condition.judge not in prices]
    if unknown:
        yield (
            f"No price is known of {', '.join(unknown)}, so judges are asked in the order in which they are named; --price NAME=N "
            "gives the US dollars for 1,000 texts."
        )
        return
    if order == "price":
        yield "Judges are asked in the order of their price; --order named keeps the order in which they are named."
    sources: dict[str, list[str]] = {}
    for condition in chain:
        sources.setdefault(prices[condition.judge].source, []).append(condition.judge)
    words = (f"{source} ({', '.join(judges)})" if len(sources) > 1 else source for source, judges in sources.items())
    yield f"Prices are of 1,000 texts in US dollars: {'; '.join(words)}."


class _SharedAnswers(NamedTuple):
    """The texts that every judge was asked about: confidences and agreement (judges, texts), NaN outside the guarantee."""

    sure: Floats
    right: Floats
    group: Ints

    def find_thresholds(self, judges: list[int], options: AcceptOptions, units: Units) -> Cascade:
        """Return several judges along a path that a part of the labels finds; one judge along its own confidences, which need no labels."""
        test = split_cascade if len(judges) > 1 else joint_cascade
        arrays = list(self.sure[judges]), list(self.right[judges])
        return test(*arrays, self.group, promise=CascadePromise(options.alpha_risk, options.delta, units))


def _accept_in_cell(cells: Sequence[ItemTable], options: AcceptOptions, units: Units, prices: Mapping[str, AnswerPrice]) -> AcceptedCascade:
    shared = np.asarray(sorted(set.intersection(*(set(cell.item.tolist()) for cell in cells))), np.int64)
    labelled = set().union(*(cell.item[cell.labelled].tolist() for cell in cells))
    common = [cell.take(np.searchsorted(cell.item, shared)) for cell in cells]
    agrees, has_reference = zip(*(agrees_with_people(cell) for cell in common), strict=True)
    left_out = common[0].labelled & ~has_reference[0]
    confidences = [confidence_of(cell, options) for cell in common]
    if options.confidence == VOTES:  # the share of the judges asked so far, this one included, that give its answer
        answers = np.vstack([cell.answer for cell in common])
        confidences = [(VOTES, votes_so_far(answers[: index + 1])) for index in range(len(common))]
    n = int(has_reference[0].sum())
    counts: dict[str, Any] = {
        "n": n,
        "groups": len(np.unique(common[0].group[has_reference[0]])),
        "left_out": int(left_out.sum()),
        "finding": 0,
        "left_out_accepted": 0,
        "not_asked": len(labelled - set(shared.tolist())),
        "units": "texts" if len(np.unique(common[0].group)) == len(common[0]) else units,
    }
    without = next((cell.key["judge"] for cell, (_, values) in zip(common, confidences, strict=True) if values is None), None)
    reason = CONTINUOUS if common[0].classes.continuous else None if without is None else f"{without}: {NO_CONFIDENCE}"
    if reason is None and is_unequal(common[0]):
        reason = UNEQUAL
    if reason is not None:
        steps = _describe_steps(common, confidences, prices, None, [None] * len(cells))
        return _describe_cascade(common[0], steps, None, counts, reason)
    sure = np.vstack([values for _, values in confidences if values is not None])
    answers_of_judges = _SharedAnswers(sure, np.vstack(agrees), common[0].group)
    cascade = answers_of_judges.find_thresholds(list(range(len(cells))), options, units)
    alone = [answers_of_judges.find_thresholds([index], options, units) for index in range(len(cells))]
    if cascade.chosen:
        counts["left_out_accepted"] = int((answered_by(sure[:, left_out], cascade.chosen.thresholds) >= 0).sum())
    counts |= {"n": cascade.texts, "groups": cascade.groups, "finding": n - cascade.texts}
    return _describe_cascade(common[0], _describe_steps(common, confidences, prices, cascade, alone), cascade, counts, cascade.reason)


def _describe_steps(
    cells: Sequence[ItemTable],
    confidences: Sequence[tuple[str, Floats | None]],
    prices: Mapping[str, AnswerPrice],
    cascade: Cascade | None,
    alone: Sequence[Cascade | None],
) -> tuple[AcceptedStep, ...]:
    chosen, coverage = cascade.chosen if cascade else None, cascade.coverage() if cascade and cascade.chosen else np.zeros(len(cells))
    steps = []
    for index, (cell, (name, _), cascade_alone) in enumerate(zip(cells, confidences, alone, strict=True)):
        price = prices.get(str(cell.key["judge"]))
        chosen_alone = cascade_alone.chosen if cascade_alone else None
        steps.append(
            AcceptedStep(
                judge=str(cell.key["judge"]),
                condition=cell.condition,
                confidence=name,
                threshold=_finite(chosen.thresholds[index]) if chosen else None,
                coverage=float(coverage[index]),
                asked=float(1 - coverage[:index].sum()),
                price=price.dollars if price else None,
                price_from=price.source if price else None,
                alone_threshold=_finite(chosen_alone.thresholds[0]) if chosen_alone else None,
                alone_coverage=chosen_alone.accepted / cascade_alone.texts if cascade_alone and chosen_alone else 0.0,
                alone_upper=number(chosen_alone.upper) if chosen_alone else None,
            )
        )
    return tuple(steps)


def asked_steps(steps: Sequence[AcceptedStep]) -> tuple[bool, ...]:
    """Return for each judge whether it has to be asked: its answers are ever accepted, or it votes on the answers of later ones."""
    last = max((index for index, step in enumerate(steps) if step.threshold is not None), default=-1)
    return tuple(step.threshold is not None or (step.confidence == VOTES and index < last) for index, step in enumerate(steps))


def _finite(threshold: float) -> float | None:
    return threshold if math.isfinite(threshold) else None


def _describe_cascade(
    cell: ItemTable, steps: tuple[AcceptedStep, ...], cascade: Cascade | None, counts: Mapping[str, Any], reason: str | None
) -> AcceptedCascade:
    chosen = cascade.chosen if cascade else None
    costs = [
        step.price * step.asked for step, is_needed in zip(steps, asked_steps(steps), strict=True) if is_needed and step.price is not None
    ]
    has_prices = all(step.price is not None for step in steps)
    return AcceptedCascade(
        language=str(cell.key["language"]),
        metric=str(cell.key["metric"]),
        steps=steps,
        person=1 - float(sum(step.coverage for step in steps)),
        risk=chosen.errors / chosen.accepted if chosen else None,
        upper=number(chosen.upper) if chosen else None,
        price=sum(costs) if has_prices and chosen else None,
        accepted=chosen.accepted if chosen else 0,
        reason=reason,
        **counts,
    )


def answer_prices(
    source: Recording,
    conditions: Sequence[JudgeCondition],
    run: RunResult | None,
    stated: Mapping[str, float],
    price_file: Path | None = None,
) -> dict[str, AnswerPrice]:
    """Return the prices of judges, by name, each for its one of the `conditions`; a judge whose price is unknown is left out.

    The price that the user `stated` (US dollars for 1,000 texts) comes first, then what the `run` was charged, then list prices, to which
    `price_file` adds the user's (`price_of`). Raises UsageError for prices of other judges, ContentError if the file cannot be read.
    """
    names = [condition.judge for condition in conditions]
    for name in stated:
        if name not in names:
            raise UsageError(f"--price names '{name}', which is no judge of the cascade; its judges: {', '.join(names)}")
    prices = {}
    for condition in conditions:
        name = condition.judge
        if name in stated:
            prices[name] = AnswerPrice(stated[name], STATED)
        elif price := _charged_price(run, name, price_file) or _list_price(source, name, price_file):
            rows = judged_rows(source, condition)
            questions = len(set(zip(rows.item.codes.tolist(), rows.metric.codes.tolist(), strict=True)))
            repeats = len(rows) / questions if questions else 1.0
            prices[name] = AnswerPrice(price.dollars * repeats, price.source)
    return prices


def _charged_price(run: RunResult | None, judge: str, price_file: Path | None) -> AnswerPrice | None:
    identity = next((identity for identity in run.protocol.judges.identities if identity.name == judge), None) if run else None
    price = price_of(identity, price_file) if identity else None
    if run is None or price is None or not (spent := run.answers.spent.get(judge)):
        return None
    answers = int(run.judgments.judge.equals(judge).sum())
    dollars = sum(
        price.cost(spending.usage) - price.cost(spending.batched) + price.in_batch().cost(spending.batched) for spending in spent.values()
    )
    return AnswerPrice(1000 * dollars / answers, FREE if traits_of(judge).is_free else CHARGED) if answers else None


def _list_price(source: Recording, judge: str, price_file: Path | None) -> AnswerPrice | None:
    """Return the price by list, for a judge that is named after its model; the tokens are those of the texts and of a short answer."""
    if traits_of(judge).is_free:
        return AnswerPrice(0.0, FREE)
    price = price_by_name(judge, price_file)
    if price is None:
        return None
    texts = [" ".join(field for field in item.fields.values() if isinstance(field, str)) for item in source.data.items]
    return AnswerPrice(1000 * float(np.mean([price.cost(estimate_text_usage(text)) for text in texts])), LISTED)
