"""The policy file of a gate: limits by language and metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from harness.content.problems import line_of
from harness.content.specs import read_spec
from harness.content.tags import choose_from
from harness.decide.options import DecisionOptions
from harness.errors import ContentError, UsageError
from harness.options import Flag, Options, fields_named
from harness.signature import Signature

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Names = str | tuple[str, ...]
Bound = float | bool | int | str
ANY = "*"
LIMITS = ("at_least", "max_drop", "beats_baseline", "not_below_people_by", "unread_at_most", "min_items", "verdict")
"""The limits that a rule can have, in the order in which they are shown."""
NEEDS_BASELINE = "max_drop"
AGREEMENT = "pa_failed_wrong"
"""What `at_least` limits unless a rule names another statistic: agreement with people, failures as wrong."""
_SIGNED = ("leniency", "pairwise_gap", "loo_gap", "mean_labels", "mean_judge")
_UNBOUNDED = ("sd_labels", "sd_judge", "rmse", "mae")
"""Statistics that may be negative, and those that may exceed 1; all others are shares and coefficients."""


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of the cells of some languages and metrics; `*` means each that the run has, or that people labelled in a data folder.

    Attributes:
        language, metric: one name, several, or `*`.
        at_least: the least value of `statistic`, on its own scale.
        statistic: a statistic of the cell that has an interval; by default agreement with people, failures as wrong.
        max_drop: the largest loss of agreement against the baseline run, on the same items and labels.
        beats_baseline: whether the judge must be shown to beat the majority baseline.
        not_below_people_by: the judge must be shown to agree with people no more than this less than they agree with each other.
        unread_at_most: the largest share of answers that cannot be read.
        min_items: the least number of items with a reference; repeats of a question count once.
        verdict: what the judge must be shown to be fit for: `use`, or `use corrected`, which a judge with the verdict `use` holds too.
    """

    language: Names = ANY
    metric: Names = ANY
    at_least: float | None = None
    statistic: str = AGREEMENT
    max_drop: Share | None = None
    beats_baseline: bool = False
    not_below_people_by: Annotated[float, msgspec.Meta(gt=0, lt=1)] | None = None
    unread_at_most: Share | None = None
    min_items: Annotated[int, msgspec.Meta(ge=1)] | None = None
    verdict: Literal["use", "use corrected"] | None = None

    @property
    def limits(self) -> dict[str, Bound]:
        return {name: value for name in LIMITS if (value := getattr(self, name)) is not None and value is not False}


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`gate.toml`.

    Attributes:
        rule: the rules; each limit of each rule is checked in every cell that it names.
        alpha: the level of the two tests, corrected by Holm over the whole policy, and of the verdicts.
        judge, variant: only this judge and variant; without, each of the run must hold.
        signature: parts of the signature and the values that they must have.
        may_differ: parts of the signature in which the baseline run may differ, beside the judge.
        decision: the other thresholds of the verdicts, by their names in `DecisionOptions`.
    """

    rule: Annotated[tuple[Rule, ...], msgspec.Meta(min_length=1)]
    version: Literal[1] = 1
    alpha: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.05
    judge: str | None = None
    variant: str | None = None
    signature: dict[str, str] = {}
    may_differ: tuple[str, ...] = ()
    decision: dict[str, Any] = {}

    @property
    def thresholds(self) -> DecisionOptions:
        """When a verdict is given. Raises UsageError for a threshold that makes no sense."""
        return thresholds(self.alpha, self.decision)


def load_policy(path: Path) -> Policy:
    """Read a policy. Raises ContentError with the line for a key or value that a policy cannot have, and for a rule without a limit."""
    policy = read_spec(path, Policy)
    for message, pattern, nth in complaints(policy):
        raise ContentError(message, path, line_of(path, pattern, nth))
    return policy


def thresholds(alpha: float, decision: Mapping[str, Any]) -> DecisionOptions:
    """Return the thresholds of verdicts at a level. Raises UsageError for an unknown name, and for a value that makes no sense."""
    for name in decision:
        if name == "alpha":
            raise UsageError("alpha stands at the top of a policy, not under [decision]: it is the level of tests and verdicts")
        if name not in fields_named(DecisionOptions):
            raise UsageError(f"no threshold '{name}' of verdicts.{choose_from(fields_named(DecisionOptions), name)}")
    try:
        return msgspec.convert({"alpha": alpha, **decision}, DecisionOptions)
    except msgspec.ValidationError as err:
        raise UsageError(f"[decision]: {err}") from None


def complaints(policy: Policy) -> Iterator[tuple[str, str, int]]:
    """Yield each problem of a policy, a pattern for its line, and the number of the match of this pattern."""
    for number, rule in enumerate(policy.rule, start=1):
        if not rule.limits:
            yield f"the rule sets no limit; add one of {', '.join(LIMITS)}", r"^\s*\[\[rule\]\]", number
        for key in ("language", "metric"):
            if getattr(rule, key) in ((), ""):
                yield f'{key} names nothing, so the rule would hold nothing; name one, or write "*" for all', r"^\s*\[\[rule\]\]", number
        # A least value that every judge reaches demands nothing, and one that none reaches is a mistake too.
        problem = ""
        if rule.at_least is not None and rule.statistic not in _SIGNED:
            if rule.at_least <= 0:
                problem = f"at_least is {rule.at_least:g}, which holds nothing: {rule.statistic} should be more than 0, such as 0.8"
            elif rule.at_least > 1 and rule.statistic not in _UNBOUNDED:
                problem = f"at_least is {rule.at_least:g}, which no judge can reach: {rule.statistic} is at most 1; 80 % is 0.8"
        if problem:
            earlier = sum(other.at_least is not None for other in policy.rule[: number - 1])
            yield problem, r"^\s*at_least\s*=", earlier + 1
    try:
        thresholds(policy.alpha, policy.decision)
    except UsageError as err:
        yield str(err), r"^\s*\[decision\]", 1
    parts = Signature.__struct_fields__
    for name, line in (*((name, name) for name in policy.signature), *((name, "may_differ") for name in policy.may_differ)):
        if name not in parts:
            yield f"'{name}' is not a part of a signature; the parts are {', '.join(parts)}", rf"^\s*{line}\s*=", 1


@dataclass(frozen=True, kw_only=True)
class GateOptions(Options):
    """Choose what a run is compared with, and what its published data mean."""

    heading: ClassVar[str] = "flags"

    baseline: Annotated[Any, Flag(metavar="RUN_OR_DIR")] = None
    """an earlier run of the same items and labels, for max_drop"""
    card: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """dataset card of the published data in the folder; see 'harness data list'"""
