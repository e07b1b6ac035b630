"""A policy of limits, held against the numbers of a run or a data folder: pass, fail or inconclusive."""

from harness.gate.check import Check, GateResult, gate
from harness.gate.numbers import GatedSource
from harness.gate.policy import NEEDS_BASELINE, Policy, Rule, load_policy
from harness.gate.suggest import SuggestedPolicy, suggested_policy
from harness.gate.unanswered import unanswered_calls

__all__ = [
    "NEEDS_BASELINE",
    "Check",
    "GateResult",
    "GatedSource",
    "Policy",
    "Rule",
    "SuggestedPolicy",
    "gate",
    "load_policy",
    "suggested_policy",
    "unanswered_calls",
]
