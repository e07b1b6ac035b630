"""`harness gate` and `harness new gate`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness import api
from harness.errors import GATE_FAILED, GATE_INCONCLUSIVE, UsageError


def gate(arguments: argparse.Namespace) -> int:
    from harness.render.gate import gate_junit, gate_markdown, print_gate
    from harness.render.progress import working
    from harness.tables import to_json, write_atomic

    with working("checking limits"):
        result = api.check_gate(arguments.source, arguments.policy, baseline=arguments.baseline, card=arguments.card, out=arguments.out)
    if arguments.junit:
        write_atomic(arguments.junit, gate_junit(result))
    if arguments.json:
        write_atomic(arguments.json, to_json(result.as_json()))
    if arguments.summary:
        write_atomic(arguments.summary, gate_markdown(result))
    print_gate(result)
    return {"pass": 0, "fail": GATE_FAILED, "inconclusive": GATE_INCONCLUSIVE}[result.outcome]


def new_policy(arguments: argparse.Namespace) -> int:
    from harness.gate import policy_text
    from harness.tables import write_atomic

    path = (arguments.into or Path()) / "gate.toml"
    if path.exists():
        raise UsageError(f"{path} exists; edit it, or choose another folder with --into")
    write_atomic(path, policy_text(api.gated_source(arguments.name, None, arguments.out)))
    print(path)
    return 0
