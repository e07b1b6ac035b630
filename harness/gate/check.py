"""Every limit of a policy against the numbers of one source: three outcomes, and never a pass without evidence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from harness.decide.class_shares import words_of_bar
from harness.decide.gate_measurements import LimitedNumber, better_than_baseline, corrected, no_worse_than_people
from harness.decide.language_comparisons import FEW_TEXTS
from harness.decide.options import DecisionOptions
from harness.decide.verdict_rule import COPIES, CORRECTED_WORSE
from harness.decide.verdicts import Verdict
from harness.errors import UsageError
from harness.gate.numbers import BaselineProblem, GatedNumbers, GatedSource, NoNumber
from harness.gate.policy import NEEDS_BASELINE, Bound, Policy, Rule, complaints
from harness.measure.cells import number
from harness.model import Basis, CellKey, Sampling
from harness.row_files import to_toml
from harness.text import short_repr

Outcome = Literal["pass", "fail", "inconclusive"]
BROKEN, OPEN, UNANSWERED, LABELS, UNREAD, COPIED = "broken", "open", "unanswered", "labels", "unread", "copied"
"""Obstacles of limits: shown to be broken, neither shown, questions without an answer, (as of verdicts) too few labels to test and answers
that cannot be read, and scores that equal people's in every text."""
_NAMED = 3  # cells that a warning names
_BETTER_OR_EQUAL = {"use": ("use",), "use corrected": ("use", "use corrected")}


class Check(Sampling, frozen=True, kw_only=True):
    """One limit in one cell. Undefined numbers are None; shares and differences are fractions.

    Attributes:
        language, metric: of the cell. Its judge and condition are None where there is no such cell; sampling also where it is unknown.
        limit, bound: the name of the limit and its value in the policy.
        statistic: what `at_least` limits; None for other limits.
        outcome: `pass` or `fail` where the evidence suffices, else `inconclusive`.
        reason: why it is not a pass; empty for a pass.
        value, lower, upper: the number and its 95 % interval; a count has no interval, a test no interval either.
        q: the corrected p of what the limit demands; None for limits that are held against an interval.
        n, groups: items (or pairs of items), and independent texts. Repeats of a question count once.
        verdict: the verdict on the judge in this cell, whatever the limit; None where there is none.
        basis: what that verdict rests on: how far people agree, or a bar; None without a verdict.
        obstacles: short names of what keeps the limit from holding, for screens; JSON does not have them. Of a verdict, its own; else
            `BROKEN`, `OPEN`, `UNANSWERED` or `LABELS`; empty for a reason that has no short name.
    """

    language: str
    metric: str
    judge: str | None = None
    variant: str | None = None
    limit: str
    bound: Bound
    statistic: str | None = None
    outcome: Outcome
    reason: str = ""
    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    q: float | None = None
    n: int = 0
    groups: int = 0
    verdict: str | None = None
    basis: Basis | None = None
    obstacles: tuple[str, ...] = ()

    @property
    def cell(self) -> CellKey:
        return CellKey.of(msgspec.structs.asdict(self))


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """All checks of a gate. `source` and `baseline` are names; `notes` are what the data say about themselves.

    `warnings` are what a reader has to know: what makes labels less than they seem, the bar where one person labelled each text, and cells
    in which limits pass although the verdict is worse than `use`.
    """

    source: str
    baseline: str | None
    alpha: float
    checks: tuple[Check, ...]
    signatures: dict[str, str]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    schema_version: int = 1

    def __repr__(self) -> str:
        return short_repr(self, f"{self.source}, {self.outcome}", checks=len(self.checks))

    @property
    def outcome(self) -> Outcome:
        """`fail` if any check failed; else `inconclusive` if any is; else `pass`."""
        outcomes = {check.outcome for check in self.checks}
        return next((outcome for outcome in ("fail", "inconclusive", "pass") if outcome in outcomes), "inconclusive")

    def count(self, outcome: Outcome) -> int:
        """Return the number of checks with an outcome."""
        return sum(check.outcome == outcome for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        """Return one object for programs, with the outcome."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        for check in fields["checks"]:
            del check["obstacles"]
        return fields | {"outcome": self.outcome}


def gate(source: GatedSource, policy: Policy, baseline: GatedSource | None = None) -> GateResult:
    """Hold every limit of `policy` against numbers of `source`; `max_drop` needs a baseline, an earlier run on the same texts and labels.

    Raises UsageError for a policy with a rule that holds nothing, or with an unknown threshold; and as `measure.compare` does.
    """
    for problem, _, _ in complaints(policy):
        raise UsageError(problem)
    return checked(source, policy, baseline)


def checked(source: GatedSource, policy: Policy, baseline: GatedSource | None = None) -> GateResult:
    """Hold every limit of a policy without a look at whether it demands anything. Raises as `measure.compare` does."""
    numbers = GatedNumbers(source, policy, baseline)
    drafts = [draft for rule in policy.rule for draft in _drafts(rule, numbers)]
    # The tests of the whole policy are corrected together: those of what is demanded, and those of the contrary.
    tested = [draft.p for draft in drafts if draft.p is not None]
    q_holds, q_broken = (iter(corrected([1.0 if math.isnan(pair[side]) else pair[side] for pair in tested])) for side in (0, 1))
    checks = []
    for draft in drafts:
        check = draft.check
        if draft.p is not None:
            q, q_contrary = next(q_holds), next(q_broken)
            if q <= policy.alpha:
                check = msgspec.structs.replace(check, outcome="pass", q=q)
            elif q_contrary <= policy.alpha:
                check = msgspec.structs.replace(check, outcome="fail", q=q, reason="shown to be worse than the limit", obstacles=(BROKEN,))
            else:
                check = msgspec.structs.replace(check, q=q, reason="neither is shown", obstacles=(OPEN,))
        if check.outcome == "pass" and draft.why_open:
            check = msgspec.structs.replace(check, outcome="inconclusive", reason=draft.why_open, obstacles=(draft.obstacle,))
        checks.append(check)
    # What the verdicts rest on where one person labelled each text.
    on_bar = dict.fromkeys(check.cell for check in checks if check.basis == "bar" and check.limit == "verdict")
    bars = words_of_bar([share for key in on_bar for share in numbers.verdicts[key].shares])
    bar_note = (
        f"Verdicts rest on a bar where one person labelled each text: the judge has to find {bars} ([decision] bar in the policy sets "
        "another one). How often two people agree is not known."
    )
    return GateResult(
        source=source.recording.name,
        baseline=baseline.recording.name if baseline else None,
        alpha=policy.alpha,
        checks=tuple(checks),
        signatures=dict(source.signatures),
        notes=tuple(note for note in numbers.notes if note not in numbers.warnings),
        warnings=(*numbers.warnings, *([bar_note] if bars else []), *_warnings(checks, numbers)),
    )


class _Draft(msgspec.Struct, frozen=True):
    """A check whose tests are not corrected yet: p of what it demands, and of the contrary; None where it is decided already.

    `why_open` says why it may not pass even if its numbers hold the limit, and `obstacle` the same in a word; empty if it may.
    """

    check: Check
    p: tuple[float, float] | None = None
    why_open: str = ""
    obstacle: str = UNANSWERED


def _drafts(rule: Rule, numbers: GatedNumbers) -> Iterator[_Draft]:
    for language, metric in numbers.pairs(rule.language, rule.metric):
        keys = numbers.keys(language, metric)
        for limit, bound in rule.limits.items():
            limit_fields: dict[str, Any] = {"limit": limit, "bound": bound, "statistic": rule.statistic if limit == "at_least" else None}
            if not keys:
                reason = numbers.missing(language, metric)
                yield _Draft(Check(language=language, metric=metric, outcome="inconclusive", reason=reason, **limit_fields))
            for key in keys:
                verdict = numbers.verdicts.get(key)
                said = {"verdict": verdict and verdict.answer, "basis": verdict and verdict.basis}
                yield _draft(key.flat() | said | limit_fields, key, numbers)


def _draft(fields: Mapping[str, Any], key: CellKey, numbers: GatedNumbers) -> _Draft:
    if reason := numbers.other_signature(key.condition.judge):
        return _Draft(Check(**fields, outcome="inconclusive", reason=reason))
    verdict = numbers.verdicts.get(key)
    if verdict is not None and UNREAD in verdict.words.obstacles and fields["limit"] != "unread_at_most":
        return _Draft(Check(**fields, outcome="inconclusive", reason=verdict.words.reasons[0], obstacles=(UNREAD,)))
    if key not in numbers.cells:
        reason = f"no numbers: {numbers.unanswered[key]}"
        return _Draft(Check(**fields, outcome="inconclusive", reason=reason, obstacles=(UNANSWERED,)))
    try:
        # Check one limit in a cell that has numbers. Where questions have no answer, only a count of items is exact and may pass.
        limit, bound = fields["limit"], fields["bound"]
        if limit == "min_items":
            cell = numbers.cells[key]
            enough = cell.n_asked >= bound
            reason = "" if enough else "too few items with a reference"
            outcome: Outcome = "pass" if enough else "inconclusive"
            draft: _Draft = _Draft(Check(**fields, outcome=outcome, reason=reason, value=cell.n_asked, n=cell.n_asked, groups=cell.groups))
        else:
            if key not in numbers.tests:
                raise NoNumber("the judge's scale is not that of the labels, so only their orders are compared")
            why_open, tests, options = numbers.why_open(key, limit), numbers.tests[key], numbers.policy.thresholds
            if limit == "beats_baseline":
                draft = _tested(fields, better_than_baseline(tests, options.alpha), tests.baseline, "the texts", options, why_open)
            elif limit == "not_below_people_by":
                p = no_worse_than_people(tests, float(bound), options)
                draft = _tested(fields, p, tests.gap, "the texts with two annotators", options, why_open)
            elif limit == "verdict":
                draft = _Draft(_of_verdict(fields, numbers.verdicts[key]), why_open=why_open)
            else:
                if limit == "unread_at_most":
                    measured = numbers.unread[key]
                else:
                    measured = numbers.drop(key) if limit == NEEDS_BASELINE else numbers.statistic(key, fields["statistic"])
                draft = _Draft(_against_interval(fields, measured, least=limit == "at_least"), why_open=why_open)
    except (BaselineProblem, NoNumber) as problem:
        return _Draft(Check(**fields, outcome="inconclusive", reason=str(problem)))
    if (
        draft.why_open
        or verdict is None
        or not verdict.copied
        or verdict.copied.nearly
        or fields["limit"] in ("unread_at_most", "min_items")
    ):
        return draft
    if numbers.policy.thresholds.equal_scores == "own":
        return draft
    return msgspec.structs.replace(draft, why_open=verdict.copied.doubt, obstacle=COPIED)


def _against_interval(fields: Mapping[str, Any], measured: LimitedNumber, *, least: bool) -> Check:
    """Return `pass` where the whole interval holds the limit, `fail` where all of it breaks the limit."""
    bound = fields["bound"]
    outcome: Outcome = "inconclusive"
    if math.isnan(measured.lower):
        reason, obstacle = measured.reason or "no interval", LABELS if measured.reason == FEW_TEXTS else ""
    elif measured.lower >= bound if least else measured.upper <= bound:
        outcome, reason, obstacle = "pass", "", ""
    elif measured.upper < bound if least else measured.lower > bound:
        outcome, reason, obstacle = "fail", "the whole interval is beyond the limit", BROKEN
    else:
        reason, obstacle = "the limit is inside the interval", OPEN
    return Check(
        **fields,
        outcome=outcome,
        reason=reason,
        obstacles=(obstacle,) if obstacle else (),
        value=number(measured.value),
        lower=number(measured.lower),
        upper=number(measured.upper),
        n=measured.n,
        groups=measured.groups,
    )


def _of_verdict(fields: Mapping[str, Any], verdict: Verdict) -> Check:
    """Return `pass` for this verdict or a better one, `fail` for one that is shown to be worse, else `inconclusive`."""
    wanted = _BETTER_OR_EQUAL[fields["bound"]]
    value, why = verdict.decision
    if verdict.decision == COPIES and verdict.copied:
        why = verdict.copied.doubt
    shown_worse = value == "do not use" or verdict.controls == "fails" or verdict.decision == CORRECTED_WORSE
    outcome: Outcome = "pass" if value in wanted else "fail" if shown_worse else "inconclusive"
    reason = "" if outcome == "pass" else f"the verdict is '{verdict.answer}'" + (f": {why}" if why else "")
    seen: dict[str, Any] = {"q": verdict.corrected.use, "n": verdict.texts.labelled, "groups": verdict.texts.groups}
    return Check(**fields, outcome=outcome, reason=reason, obstacles=verdict.words.obstacles, **seen)


def _tested(fields: Mapping[str, Any], p: tuple[float, float], mean: Any, what: str, least: DecisionOptions, why_open: str) -> _Draft:
    """Return a check that rests on a test. Cells with too few items or groups for a verdict are no members of the family."""
    check = Check(**fields, outcome="inconclusive", value=number(mean.mean), n=mean.n, groups=mean.groups)
    if mean.n < least.items or mean.groups < least.groups:
        few = f"{what} are too few: {mean.n} in {mean.groups} groups; a test needs {least.items} in {least.groups}"
        return _Draft(msgspec.structs.replace(check, reason=few, obstacles=(LABELS,)))
    return _Draft(check, p, why_open)


def _warnings(checks: Sequence[Check], numbers: GatedNumbers) -> Iterator[str]:
    """Yield what does not show in the outcome: scores that may be copies with changes, and limits that pass beside a worse verdict."""
    for key in dict.fromkeys(check.cell for check in checks if check.outcome == "pass"):
        if (verdict := numbers.verdicts.get(key)) is not None and verdict.copied and verdict.copied.nearly:
            yield f"{key.condition.judge} in {key.language}/{key.metric}: {verdict.copied.doubt}. No limit breaks for it."
    limited = {check.cell for check in checks if check.limit == "verdict"}
    cells_by_answer: dict[str, list[str]] = {}
    for key in dict.fromkeys(check.cell for check in checks if check.outcome == "pass" and check.cell not in limited):
        verdict = numbers.verdicts.get(key)
        if verdict is not None and verdict.decision.verdict != "use" and verdict.controls != "passes":
            cells_by_answer.setdefault(verdict.answer, []).append(f"{key.language}/{key.metric} of {key.condition.judge}")
    for answer, cells in cells_by_answer.items():
        where = ", ".join(cells[:_NAMED]) + (f" and {len(cells) - _NAMED} more (--json has all)" if len(cells) > _NAMED else "")
        yield f"Limits pass where the verdict is '{answer}': {where}. verdict = \"use\" in a rule limits the verdict too."


_PINNED = ("data", "tasks", "rubrics", "conditions", "prompts", "majority", "annotators")
_MARGIN = 0.1
_LEAST: Literal["use corrected"] = "use corrected"

_HEADING = """\
# Limits for 'harness gate'. docs/gate.md explains each. The numbers were taken from {source}; raise them to what you need.
# The verdict is what the judge must be shown to be fit for: "use", or "use corrected". {held}
# Outcomes: pass (exit code 0), fail (1), inconclusive (7).
"""
_DROP = "# max_drop = 0.05            # with --baseline RUN: at most this loss of agreement, on the same items and labels"


class SuggestedPolicy(NamedTuple):
    """The text of a policy, and the cells in which its source does not hold the verdict."""

    text: str
    unproven: tuple[str, ...]


def suggested_policy(source: GatedSource) -> SuggestedPolicy:
    """Return a policy with limits from the numbers of a source.

    A limit on a number is only written where its check passes: the agreement that the interval leaves, the unread answers that it allows,
    the number of items, and the two tests where they show something. A limit on the verdict is always written: `use corrected` where that
    is the source's verdict, else `use`. So the policy does not pass for a judge that nothing is shown of.
    """
    judges = {str(name) for name in source.recording.judgments.judge.used}
    only = sorted(judges)[0] if len(judges) == 1 else None
    probe = Rule(at_least=0.0, beats_baseline=True, not_below_people_by=_MARGIN, unread_at_most=1.0, min_items=1, verdict=_LEAST)
    result = checked(source, Policy(rule=(probe,), judge=only))
    unproven = tuple(f"{c.language}/{c.metric} of {c.judge}" for c in result.checks if c.limit == "verdict" and c.outcome != "pass")
    parts = source.parts(only or "") or next((source.parts(name) for name in source.signatures), {})
    head: dict[str, Any] = {"version": 1, "alpha": 0.05}
    head["signature"] = {name: parts[name] for name in _PINNED if name in parts}
    rules = "\n".join(f"[[rule]]\n{to_toml(rule)}{_DROP}\n" for rule in _rules(result))
    held_sentence = f"{source.recording.name} holds it." if not unproven else f"{source.recording.name} does not hold it everywhere."
    return SuggestedPolicy(f"{_HEADING.format(source=source.recording.name, held=held_sentence)}\n{to_toml(head)}\n{rules}", unproven)


def _rules(result: GateResult) -> Iterator[dict[str, Any]]:
    """Yield one rule a language and metric, in the order of the cells; of several judges and conditions, the limits that all hold."""
    cells: dict[tuple[str, str], dict[str, list[Check]]] = {}
    for check in result.checks:
        cells.setdefault((check.language, check.metric), {}).setdefault(check.limit, []).append(check)
    for (language, metric), limits in cells.items():
        rule: dict[str, Any] = {"language": language, "metric": metric, "min_items": min(c.n for c in limits["min_items"]) or 1}
        lower = [check.lower for check in limits["at_least"]]
        upper = [check.upper for check in limits["unread_at_most"]]
        if defined := [value for value in lower if value is not None]:
            rule["at_least"] = (math.floor(100 * min(defined)) / 100 or None) if len(defined) == len(lower) else None
        if defined := [value for value in upper if value is not None]:
            rule["unread_at_most"] = min(1.0, math.ceil(100 * max(defined)) / 100) if len(defined) == len(upper) else None
        if all(check.outcome == "pass" for check in limits["beats_baseline"]):
            rule["beats_baseline"] = True
        if all(check.outcome == "pass" for check in limits["not_below_people_by"]):
            rule["not_below_people_by"] = _MARGIN
        rule["verdict"] = _LEAST if any(check.verdict == _LEAST for check in limits["verdict"]) else "use"
        yield rule
