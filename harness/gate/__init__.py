"""A policy of limits, held against the numbers of a run or a data folder: pass, fail or inconclusive."""

from harness.gate.baseline import GatedSource
from harness.gate.check import Check, GateResult, gate
from harness.gate.policy import NEEDS_BASELINE, Policy, Rule, load_policy
from harness.gate.suggest import policy_text

__all__ = ["NEEDS_BASELINE", "Check", "GateResult", "GatedSource", "Policy", "Rule", "gate", "load_policy", "policy_text"]
