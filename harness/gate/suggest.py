"""A first policy for a run: limits from its own numbers and on its verdicts, ready for editing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from harness.gate.check import Check, GateResult, checked
from harness.gate.numbers import GatedSource
from harness.gate.policy import Policy, Rule
from harness.row_files import to_toml

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
