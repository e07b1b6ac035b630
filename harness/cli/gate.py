"""`harness gate` and `harness new gate`."""

from __future__ import annotations

import sys
from pathlib import Path

from harness import api, sources
from harness.cli.commands.content_and_installation import NewContent
from harness.cli.commands.use_scores import Gate
from harness.errors import GATE_FAILED, GATE_INCONCLUSIVE, JUDGE, UsageError


def gate(arguments: Gate) -> int:
    from harness.gate.check import UNREAD
    from harness.render.gate import gate_junit, gate_markdown, print_gate
    from harness.render.terminal import working
    from harness.row_files import to_json, write_atomic

    policy = arguments.policy or Path("gate.toml")
    if not arguments.policy and not policy.is_file():
        raise UsageError(f"there is no gate.toml here; 'harness new gate {arguments.source}' writes a first one")
    with working("checking limits"):
        result = api.check_gate(arguments.source, policy, arguments.options, out=arguments.out)
    if arguments.junit:
        write_atomic(arguments.junit, gate_junit(result))
    if arguments.json:
        write_atomic(arguments.json, to_json(result.as_json()))
    if arguments.summary:
        write_atomic(arguments.summary, gate_markdown(result))
    print_gate(result, _repeat_names(arguments), all_rows=arguments.all, notes=arguments.notes)
    if result.outcome == "inconclusive" and any(UNREAD in check.obstacles for check in result.checks):
        return JUDGE
    return {"pass": 0, "fail": GATE_FAILED, "inconclusive": GATE_INCONCLUSIVE}[result.outcome]


def _repeat_names(arguments: Gate) -> list[str]:
    """The words of a command line that name what was checked."""
    card = ["--card", arguments.options.card] if arguments.options.card else []
    return [arguments.source, *card, *(["--out", str(arguments.out)] if arguments.out != Path("results") else [])]


def new_policy(arguments: NewContent) -> int:
    from harness.gate.suggest import suggested_policy
    from harness.row_files import write_atomic

    path = (arguments.into or Path()) / "gate.toml"
    if path.exists():
        raise UsageError(f"{path} exists; edit it, or choose another folder with --into")
    policy = suggested_policy(sources.gated_source(arguments.name, None, arguments.out))
    write_atomic(path, policy.text)
    print(path)
    if policy.unproven:
        first, more = ", ".join(policy.unproven[:3]), len(policy.unproven) - 3
        where = first + (f" and {more} more" if more > 0 else "")
        print(f"harness: {arguments.name} does not hold the verdict that the policy asks for: {where}", file=sys.stderr)
    return 0
