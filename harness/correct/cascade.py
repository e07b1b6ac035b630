"""Cheap judges first, a person last: which answers of several judges can be accepted, with one guarantee for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from harness.correct.acceptance import (
    GUARANTEE,
    NO_CONFIDENCE,
    UNEQUAL,
    AcceptOptions,
    agrees_with_people,
    confidence_of,
    is_unequal,
    share_left_out,
)
from harness.correct.one_condition import one_condition
from harness.correct.scored_items import ScoredItems, refuse_unless_random, scored_items
from harness.errors import UsageError
from harness.measure.cells import number
from harness.measure.compare import Recording, align
from harness.measure.options import CompareOptions, Rule
from harness.model import JudgeCondition
from harness.signature import ComparisonSignature
from harness.stats.core.arrays import Floats, Ints
from harness.stats.selection.cascade import Cascade, Units, joint_cascade

ORDER = "name the judges in the order of their price, the cheapest first: --judge A --judge B; a person is the last step"
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
        threshold: it answers from this confidence on; None where nothing is certified.
        coverage: share of the labelled texts whose answer is its own.
        alone_threshold, alone_coverage, alone_upper: the same judge by itself under the same promise.
    """

    judge: str
    condition: str
    confidence: str
    threshold: float | None
    coverage: float
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
        n, groups: texts that the guarantee is about, and independent groups among them.
        left_out: labelled texts without a commonest label, of which it says nothing.
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
    n: int
    groups: int
    left_out: int
    not_asked: int
    units: Units
    reason: str | None

    @property
    def better_alone(self) -> AcceptedStep | None:
        """The judge that would answer most by itself, if that is more than all of them together under the same promise."""
        most = max(self.steps, key=lambda step: step.alone_coverage)
        return most if most.alone_coverage > 1 - self.person else None

    @property
    def exact(self) -> bool:
        return self.units != "design_effect"

    def as_row(self) -> dict[str, Any]:
        """One object for programs."""
        more = {"exact": self.exact, "left_out_share": share_left_out(self.n, self.left_out)}
        return {**msgspec.to_builtins(self), **more}


class AcceptedCascades(msgspec.Struct, frozen=True):
    """The chain in every language and metric, with what is needed to make it again."""

    signature: str
    alpha: float
    delta: float
    cascades: tuple[AcceptedCascade, ...]
    notes: tuple[str, ...]
    schema_version: int = 1

    def as_json(self) -> dict[str, Any]:
        """One object for programs: `{schema_version, signature, alpha, delta, notes, cascades}`."""
        return msgspec.structs.asdict(self) | {"cascades": [cascade.as_row() for cascade in self.cascades]}


def accept_cascade(
    source: Recording,
    compare: CompareOptions,
    options: AcceptOptions = AcceptOptions(),  # noqa: B008 (frozen)
    units: Units = "design_effect",
) -> AcceptedCascades:
    """Find thresholds of all judges together, so that accepted answers are wrong at most alpha, with probability 1 - delta.

    Args:
        source: judgments of several judges with the labels of some of their items.
        compare: its `judges` are the steps, in their order; each has to be left with one condition.
        options: the tolerated errors, and what confidence is read from; not votes.
        units: how texts that share groups are counted.

    Raises:
        UsageError: with fewer than two judges, for votes, for several conditions of a judge, where no text was put to all judges, and as
            `accept`.
    """
    names = tuple(dict.fromkeys(compare.judges or ()))
    if len(names) < 2:
        raise UsageError(f"a cascade has two judges or more; {ORDER}")
    if options.confidence == "votes":
        raise UsageError("votes are of all judges at once, and a cascade asks them one after the other; take probability or repeats")
    refuse_unless_random(source.data.about, "no cascade")
    laid_out = align([source], compare)
    cells = list(scored_items(laid_out.judged[0]))
    conditions = [JudgeCondition.of(cell.key) for cell in cells]
    chain = [one_condition(conditions, (name,), "accept") for name in names]
    by_place: dict[tuple[str, str], dict[JudgeCondition, ScoredItems]] = {}
    for cell, condition in zip(cells, conditions, strict=True):
        by_place.setdefault((str(cell.key["language"]), str(cell.key["metric"])), {})[condition] = cell
    complete = [[own[each] for each in chain] for _, own in sorted(by_place.items()) if all(each in own for each in chain)]
    if not complete:
        raise UsageError(f"no language and metric has scores of all judges: {', '.join(names)}")
    found = tuple(_cascade(own, compare.majority, options, units) for own in complete)
    signature = msgspec.structs.replace(ComparisonSignature.parse(laid_out.signature), use=_words(names, options, units))
    return AcceptedCascades(str(signature), options.alpha, options.delta, found, (*laid_out.notes, GUARANTEE))


def _words(names: Sequence[str], options: AcceptOptions, units: Units) -> str:
    return f"{options} cascade={' then '.join(names)} units={units}"


class _Answers(NamedTuple):
    """The texts that every judge was asked about: confidences and agreement (judges, texts); `known` marks those of the guarantee."""

    sure: Floats
    right: Floats
    group: Ints
    names: tuple[str, ...]


def _cascade(cells: Sequence[ScoredItems], majority: Rule, options: AcceptOptions, units: Units) -> AcceptedCascade:
    shared = np.asarray(sorted(set.intersection(*(set(cell.item.tolist()) for cell in cells))), np.int64)
    labelled = set().union(*(cell.item[cell.labelled].tolist() for cell in cells))
    common = [cell.take(np.searchsorted(cell.item, shared)) for cell in cells]
    agrees, known = zip(*(agrees_with_people(cell, majority) for cell in common), strict=True)
    independent = len(np.unique(common[0].group)) == len(common[0])
    counted: Units = "texts" if independent else units
    counts = {
        "n": int(known[0].sum()),
        "groups": len(np.unique(common[0].group[known[0]])),
        "left_out": int((common[0].labelled & ~known[0]).sum()),
        "not_asked": len(labelled - set(shared.tolist())),
    }
    read = [confidence_of(cell, options) for cell in common]
    names = tuple(name for name, _ in read)
    reason = _obstacle(common, read)
    if reason is not None:
        return _result(common, names, None, [None] * len(cells), counts, counted, reason)
    sure = np.vstack([values for _, values in read if values is not None])
    given = _Answers(sure, np.vstack(agrees), common[0].group, names)
    alone = [_tested(given, [place], options, counted) for place in range(len(cells))]
    return _result(common, names, _tested(given, list(range(len(cells))), options, counted), alone, counts, counted, None)


def _tested(given: _Answers, judges: list[int], options: AcceptOptions, units: Units) -> Cascade:
    groups = None if units == "texts" else given.group
    return joint_cascade(list(given.sure[judges]), list(given.right[judges]), groups, alpha=options.alpha, delta=options.delta, units=units)


def _obstacle(cells: Sequence[ScoredItems], read: Sequence[tuple[str, Floats | None]]) -> str | None:
    """Why these judges make no cascade; None if they do."""
    if cells[0].classes.continuous:
        return "continuous scores have no classes that could be equal to a person's"
    for cell, (_, values) in zip(cells, read, strict=True):
        if values is None:
            return f"{cell.key['judge']}: {NO_CONFIDENCE}"
    return UNEQUAL if is_unequal(cells[0]) else None


def _result(
    cells: Sequence[ScoredItems],
    names: Sequence[str],
    found: Cascade | None,
    alone: Sequence[Cascade | None],
    counts: Mapping[str, int],
    units: Units,
    reason: str | None,
) -> AcceptedCascade:
    chosen = found.chosen if found else None
    n = max(1, counts["n"])
    steps = []
    for place, (cell, name, own) in enumerate(zip(cells, names, alone, strict=True)):
        by_itself = own.chosen if own else None
        steps.append(
            AcceptedStep(
                judge=str(cell.key["judge"]),
                condition=JudgeCondition.of(cell.key).words(),
                confidence=name,
                threshold=number(chosen.thresholds[place]) if chosen else None,
                coverage=chosen.accepted_by[place] / n if chosen else 0.0,
                alone_threshold=number(by_itself.thresholds[0]) if by_itself else None,
                alone_coverage=by_itself.accepted / n if by_itself else 0.0,
                alone_upper=number(by_itself.upper) if by_itself else None,
            )
        )
    return AcceptedCascade(
        language=str(cells[0].key["language"]),
        metric=str(cells[0].key["metric"]),
        steps=tuple(steps),
        person=1 - chosen.accepted / n if chosen else 1.0,
        risk=chosen.errors / chosen.accepted if chosen else None,
        upper=number(chosen.upper) if chosen else None,
        units=units,
        reason=reason or (found.reason if found else None),
        **counts,
    )
