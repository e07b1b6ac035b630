"""Every limit of a policy against the numbers of one source: three outcomes, and never a pass without evidence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from harness.analyse import BY_METRIC, Cell, CompareOptions, LaidOut, compare_laid_out, lay_out
from harness.analyse.cells import number
from harness.content.tags import suggest
from harness.decide import DecisionOptions
from harness.decide.cell_tests import CellTests
from harness.decide.limits import (
    CellHits,
    CellKey,
    LimitedNumber,
    better_than_baseline,
    cell_hits,
    cell_key,
    corrected,
    drop,
    no_worse_than_people,
    unread_shares,
)
from harness.decide.verdicts import tests_laid_out
from harness.gate.baseline import BaselineProblem, GatedSource, other_parts, partner_key, same_texts_and_labels
from harness.gate.policy import ANY, NEEDS_BASELINE, Names, Policy, Rule
from harness.text import short_repr

Outcome = Literal["pass", "fail", "inconclusive"]
SCHEMA_VERSION = 1


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One limit in one cell. Undefined numbers are None; shares and differences are fractions.

    Attributes:
        language, metric, judge, variant, temperature: the cell; the last three are None where there is no such cell.
        limit, bound: the name of the limit and its value in the policy.
        statistic: what `at_least` limits; None for other limits.
        outcome: `pass` or `fail` where the evidence suffices, else `inconclusive`.
        reason: why it is not a pass; empty for a pass.
        value, lower, upper: the number and its 95 % interval; a count has no interval, a test no interval either.
        q: the corrected p of what the limit demands; None for limits that are held against an interval.
        n, groups: items (or pairs of items), and independent texts.
    """

    language: str
    metric: str
    judge: str | None = None
    variant: str | None = None
    temperature: float | None = None
    limit: str
    bound: float | bool | int
    statistic: str | None = None
    outcome: Outcome
    reason: str = ""
    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    q: float | None = None
    n: int = 0
    groups: int = 0


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """All checks of a gate. `source` and `baseline` are names; `notes` are for readers of the numbers."""

    source: str
    baseline: str | None
    alpha: float
    checks: tuple[Check, ...]
    signatures: dict[str, str]
    notes: tuple[str, ...] = ()
    schema_version: int = SCHEMA_VERSION

    def __repr__(self) -> str:
        return short_repr(self, f"{self.source}, {self.outcome}", checks=len(self.checks))

    @property
    def outcome(self) -> Outcome:
        """`fail` if any check failed; else `inconclusive` if any is; else `pass`."""
        outcomes = {check.outcome for check in self.checks}
        return next(outcome for outcome in ("fail", "inconclusive", "pass") if outcome in outcomes)

    def count(self, outcome: Outcome) -> int:
        """The number of checks with an outcome."""
        return sum(check.outcome == outcome for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        """One object for programs, with the outcome."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        return fields | {"outcome": self.outcome}


def gate(source: GatedSource, policy: Policy, baseline: GatedSource | None = None) -> GateResult:
    """Hold every limit of `policy` against the numbers of `source`. Raises UsageError as `analyse.compare` does.

    Args:
        source: the run or data folder that is checked.
        policy: its limits.
        baseline: an earlier run of the same items and labels, for `max_drop`.
    """
    numbers = _Numbers(source, policy, baseline)
    drafts = [draft for rule in policy.rule for draft in _drafts(rule, numbers)]
    return GateResult(
        source=source.recording.name,
        baseline=baseline.recording.name if baseline else None,
        alpha=policy.alpha,
        checks=tuple(_decided(drafts, policy.alpha)),
        signatures=dict(source.signatures),
        notes=numbers.notes,
    )


class _Draft(msgspec.Struct, frozen=True):
    """A check whose tests are not corrected yet: p of what it demands, and of the contrary; None where it is decided already."""

    check: Check
    p: tuple[float, float] | None = None


class _Numbers:
    """What the limits are held against, by the key of the cell."""

    def __init__(self, source: GatedSource, policy: Policy, baseline: GatedSource | None) -> None:
        self.source, self.policy, self.baseline = source, policy, baseline
        laid_out, options = _laid_out(source)
        compared = compare_laid_out(laid_out, options)
        self.notes = compared.notes
        self.cells: dict[CellKey, Cell] = {cell_key(cell.key): cell for cell in compared.cells}
        self.tests: dict[CellKey, CellTests] = {cell_key(one.key): one for one in tests_laid_out(laid_out, options, DecisionOptions())}
        self.unread = unread_shares(laid_out)
        self.hits = cell_hits(laid_out, options) if baseline else {}
        self.earlier: dict[CellKey, CellHits] = cell_hits(*_laid_out(baseline)) if baseline else {}

    def keys(self, language: str, metric: str) -> list[CellKey]:
        """The cells of a language and metric that the policy means."""
        return [key for key in self.cells if key[:2] == (language, metric) and self._is_meant(key)]

    def _is_meant(self, key: CellKey) -> bool:
        policy = self.policy
        return policy.judge in (None, key[2]) and policy.variant in (None, key[3])

    def values(self, place: int) -> list[str]:
        """The languages (0) or metrics (1) of the source."""
        return list(dict.fromkeys(key[place] for key in self.cells))

    def other_signature(self, judge: str) -> str:
        """Why the judge's numbers are not those that the policy is about; empty if they are."""
        apart = other_parts(self.source.parts(judge), self.policy.signature, "in the policy")
        return f"another signature: {apart}" if apart else ""

    def drop(self, key: CellKey) -> LimitedNumber:
        """The loss of agreement of a cell. Raises BaselineProblem if there is nothing to compare it with."""
        if self.baseline is None:
            raise BaselineProblem("max_drop needs an earlier run; pass --baseline RUN")
        partner = partner_key(key, self.earlier)
        here, there = self.source.parts(key[2]), self.baseline.parts(partner[2])
        apart = other_parts(here, there, "there", self.policy.may_differ)
        if apart:
            raise BaselineProblem(f"the baseline has another signature: {apart}")
        if not same_texts_and_labels(self.source.recording, self.baseline.recording, key[0], key[1]):
            raise BaselineProblem("the baseline has other items or labels")
        return drop(self.hits[key], self.earlier[partner])


def _laid_out(source: GatedSource) -> tuple[LaidOut, CompareOptions]:
    options = msgspec.structs.replace(source.options, by=BY_METRIC.by)
    return lay_out([source.recording], options), options


def _drafts(rule: Rule, numbers: _Numbers) -> Iterator[_Draft]:
    for language in _named(rule.language, numbers.values(0)):
        for metric in _named(rule.metric, numbers.values(1)):
            keys = numbers.keys(language, metric)
            if not keys and ANY in (rule.language, rule.metric) and _known_apart(numbers, language, metric):
                continue
            for limit, bound in rule.limits.items():
                statistic = rule.statistic if limit == "at_least" else None
                asked: dict[str, Any] = {"limit": limit, "bound": bound, "statistic": statistic}
                if not keys:
                    reason = _missing(numbers, language, metric)
                    yield _Draft(Check(language=language, metric=metric, outcome="inconclusive", reason=reason, **asked))
                for key in keys:
                    cell = {"language": language, "metric": metric, "judge": key[2], "variant": key[3], "temperature": key[4]}
                    yield _draft(cell | asked, key, numbers)


def _named(names: Names, known: Sequence[str]) -> Sequence[str]:
    return known if names == ANY else (names,) if isinstance(names, str) else names


def _known_apart(numbers: _Numbers, language: str, metric: str) -> bool:
    """Whether a pair that `*` makes does not exist in the data at all: both names occur, never together."""
    return language in numbers.values(0) and metric in numbers.values(1) and not any(key[:2] == (language, metric) for key in numbers.cells)


def _missing(numbers: _Numbers, language: str, metric: str) -> str:
    for what, name, place in (("language", language, 0), ("metric", metric, 1)):
        if name not in numbers.values(place):
            return f"no numbers for the {what} '{name}'.{suggest(name, numbers.values(place))}".rstrip(".")
    if any(key[:2] == (language, metric) for key in numbers.cells):
        wanted = [f"{what} '{name}'" for what, name in (("judge", numbers.policy.judge), ("variant", numbers.policy.variant)) if name]
        return f"no numbers of {' and '.join(wanted)}"
    return "no numbers for this language and metric together"


def _draft(fields: Mapping[str, Any], key: CellKey, numbers: _Numbers) -> _Draft:
    if reason := numbers.other_signature(key[2]):
        return _Draft(Check(**fields, outcome="inconclusive", reason=reason))
    limit, bound = fields["limit"], fields["bound"]
    if limit == "beats_baseline":
        tests = numbers.tests[key]
        return _tested(fields, better_than_baseline(tests, numbers.policy.alpha), tests.baseline, "the texts")
    if limit == "not_below_people_by":
        tests = numbers.tests[key]
        return _tested(fields, no_worse_than_people(tests, bound, numbers.policy.alpha), tests.gap, "the texts with two annotators")
    if limit == "min_items":
        return _Draft(_counted(fields, numbers.cells[key]))
    try:
        measured = _measured(fields, key, numbers)
    except BaselineProblem as problem:
        return _Draft(Check(**fields, outcome="inconclusive", reason=str(problem)))
    return _Draft(_against_interval(fields, measured, least=limit == "at_least"))


def _measured(fields: Mapping[str, Any], key: CellKey, numbers: _Numbers) -> LimitedNumber:
    if fields["limit"] == "unread_at_most":
        return numbers.unread[key]
    if fields["limit"] == NEEDS_BASELINE:
        return numbers.drop(key)
    cell, name = numbers.cells[key], fields["statistic"]
    if name not in cell.values:
        raise BaselineProblem(f"no statistic '{name}'.{suggest(name, list(cell.values))}".rstrip("."))
    value, ends = cell.values[name], cell.intervals.get(name)
    reason = cell.undefined.get(name) or cell.undefined.get(f"{name}_ci") or ""
    lower, upper = ends or (math.nan, math.nan)
    return LimitedNumber(math.nan if value is None else value, lower, upper, cell.n_ref, cell.groups, reason)


def _against_interval(fields: Mapping[str, Any], measured: LimitedNumber, *, least: bool) -> Check:
    """`pass` where the whole interval holds the limit, `fail` where all of it breaks the limit."""
    bound = fields["bound"]
    outcome: Outcome = "inconclusive"
    if math.isnan(measured.lower):
        reason = measured.reason or "no interval"
    elif measured.lower >= bound if least else measured.upper <= bound:
        outcome, reason = "pass", ""
    elif measured.upper < bound if least else measured.lower > bound:
        outcome, reason = "fail", "the whole interval is beyond the limit"
    else:
        reason = "the limit is inside the interval"
    return Check(
        **fields,
        outcome=outcome,
        reason=reason,
        value=number(measured.value),
        lower=number(measured.lower),
        upper=number(measured.upper),
        n=measured.n,
        groups=measured.groups,
    )


def _counted(fields: Mapping[str, Any], cell: Cell) -> Check:
    enough = cell.n_ref >= fields["bound"]
    reason = "" if enough else "too few items with a reference"
    return Check(**fields, outcome="pass" if enough else "inconclusive", reason=reason, value=cell.n_ref, n=cell.n_ref, groups=cell.groups)


def _tested(fields: Mapping[str, Any], p: tuple[float, float], mean: Any, what: str) -> _Draft:
    """A check that rests on a test. Cells with too few items or groups for a verdict are no members of the family."""
    least = DecisionOptions()
    check = Check(**fields, outcome="inconclusive", value=number(mean.mean), n=mean.n, groups=mean.groups)
    if mean.n < least.items or mean.groups < least.groups:
        few = f"{what} are too few: {mean.n} in {mean.groups} groups; a test needs {least.items} in {least.groups}"
        return _Draft(msgspec.structs.replace(check, reason=few))
    return _Draft(check, p)


def _decided(drafts: Sequence[_Draft], alpha: float) -> Iterator[Check]:
    """The checks, with the tests of the whole policy corrected together: those of what is demanded, and those of the contrary."""
    tested = [draft.p for draft in drafts if draft.p is not None]
    shown, broken = (iter(corrected([1.0 if math.isnan(pair[side]) else pair[side] for pair in tested])) for side in (0, 1))
    for draft in drafts:
        yield draft.check if draft.p is None else _by_test(draft.check, next(shown), next(broken), alpha)


def _by_test(check: Check, q_holds: float, q_broken: float, alpha: float) -> Check:
    if q_holds <= alpha:
        return msgspec.structs.replace(check, outcome="pass", q=q_holds)
    if q_broken <= alpha:
        return msgspec.structs.replace(check, outcome="fail", q=q_holds, reason="shown to be worse than the limit")
    return msgspec.structs.replace(check, q=q_holds, reason="neither is shown")
