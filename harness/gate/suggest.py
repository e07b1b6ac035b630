"""A first policy for a run: limits that its own numbers hold, to be edited by those who know what is needed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from harness.gate.baseline import GatedSource
from harness.gate.check import Check, GateResult, gate
from harness.gate.policy import Policy, Rule
from harness.tables import to_toml

_PINNED = ("data", "tasks", "rubrics", "conditions", "prompts", "majority", "annotators")
_MARGIN = 0.1

_HEADING = """\
# Limits for 'harness gate'. docs/gate.md explains each. They were taken from the numbers of {source}, which hold them;
# raise them to what you need. Outcomes: pass (exit code 0), fail (1), inconclusive (7).
"""
_DROP = "# max_drop = 0.05            # with --baseline RUN: at most this loss of agreement, on the same items and labels"


def policy_text(source: GatedSource, judge: str | None = None) -> str:
    """The text of a policy whose limits the source holds.

    A limit is only written where its check passes: the agreement that the interval leaves, the unread answers that it allows, the
    number of items, and the two tests where they show something.
    """
    judges = {str(name) for name in source.recording.judgments.judge.used}
    only = judge or (sorted(judges)[0] if len(judges) == 1 else None)
    probe = Rule(at_least=0.0, beats_baseline=True, not_below_people_by=_MARGIN, unread_at_most=1.0, min_items=1)
    result = gate(source, Policy(rule=(probe,), judge=only))
    parts = source.parts(only or "") or next((source.parts(name) for name in source.signatures), {})
    head: dict[str, Any] = {"version": 1, "alpha": 0.05, "judge": only if len(judges) > 1 else None}
    head["signature"] = {name: parts[name] for name in _PINNED if name in parts}
    rules = "\n".join(f"[[rule]]\n{to_toml(rule)}{_DROP}\n" for rule in _rules(result))
    return f"{_HEADING.format(source=source.recording.name)}\n{to_toml(head)}\n{rules}"


def _rules(result: GateResult) -> Iterator[dict[str, Any]]:
    """One rule a language and metric, in the order of the cells; of several judges and conditions, the limits that all hold."""
    cells: dict[tuple[str, str], dict[str, list[Check]]] = {}
    for check in result.checks:
        cells.setdefault((check.language, check.metric), {}).setdefault(check.limit, []).append(check)
    for (language, metric), limits in cells.items():
        made: dict[str, Any] = {"language": language, "metric": metric, "min_items": min(c.n for c in limits["min_items"]) or 1}
        lower = [check.lower for check in limits["at_least"]]
        upper = [check.upper for check in limits["unread_at_most"]]
        if known := [value for value in lower if value is not None]:
            made["at_least"] = math.floor(100 * min(known)) / 100 if len(known) == len(lower) else None
        if known := [value for value in upper if value is not None]:
            made["unread_at_most"] = min(1.0, math.ceil(100 * max(known)) / 100) if len(known) == len(upper) else None
        if all(check.outcome == "pass" for check in limits["beats_baseline"]):
            made["beats_baseline"] = True
        if all(check.outcome == "pass" for check in limits["not_below_people_by"]):
            made["not_below_people_by"] = _MARGIN
        yield made
