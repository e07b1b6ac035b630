"""The command that reproduces a run, from its protocol."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import PurePath

from harness.content import Board
from harness.judges import opening_name
from harness.model import SAMPLING
from harness.runs import DEFAULT_BOARD, RunProtocol


def command_of(protocol: RunProtocol, board: Board | None = None) -> str:
    """`harness run …` with the same specification, which is the same run. Folders have no path; keys and ports are left out.

    `board` is the board of the protocol; flags that repeat it are left out.
    """
    return " ".join(map(shlex.quote, ("harness", "run", *_flags(protocol, board))))


def command_notes(protocol: RunProtocol) -> list[str]:
    """What a reader has to add to the command."""
    notes = []
    if protocol.data or protocol.content:
        notes.append("Folders are given by name only. Add their paths on your machine.")
    if protocol.panels:
        notes.append("Files of panels are given by name only. Add their paths on your machine.")
    hosts = sorted({str(i.settings["endpoint"]) for i in protocol.identities if "endpoint" in i.settings})
    if hosts:
        notes.append(f"Calls went to {', '.join(hosts)}. Give the address with --base-url.")
    return notes


def _flags(p: RunProtocol, board: Board | None) -> Iterator[str]:
    if p.data:
        yield from ("--data", PurePath(p.data).name)
    elif p.board and p.board != DEFAULT_BOARD:
        yield from ("--board", p.board)
    for folder in p.content:
        yield from ("--content", PurePath(folder).name)
    yield from ("--langs", ",".join(p.languages))
    if board is None or tuple(p.tasks) != tuple(board.tasks):
        yield from ("--tasks", ",".join(p.tasks))
    if board is None or p.metrics != tuple(board.rubrics):
        yield from ("--metrics", ",".join(p.metrics))
    for identity in p.identities:
        yield from ("--judge", opening_name(identity))
    for panel in p.panels:
        yield from ("--judge", f"{panel}.toml")
    for variant in dict.fromkeys(condition.variant for condition in p.conditions):
        name = variant.prompt.partition("@")[0]
        yield from ("--prompt", f"{name}.toml") if name else ("--variant", str(variant))
    for name in SAMPLING:
        if values := [v for v in dict.fromkeys(getattr(condition, name) for condition in p.conditions) if v is not None]:
            yield from (f"--{name.replace('_', '-')}", ",".join(f"{v:g}" for v in values))
    for change in dict.fromkeys(condition.perturbation for condition in p.conditions if condition.perturbation):
        yield from ("--perturb", change)
    orders = {condition.order for condition in p.conditions}
    if orders != {"forward"}:
        yield from ("--order", "swapped" if len(orders) == 1 else "both")
    if shown := [each for each in dict.fromkeys(condition.shown_source for condition in p.conditions) if each != "none"]:
        yield from ("--shown-source", ",".join(shown))
    yield from ("--repeats", str(p.repeats), "--seed", str(p.seed))
    if p.majority != (board.majority if board else "drop"):
        yield from ("--majority", p.majority)
    if p.limit is not None:
        yield from ("--limit", str(p.limit))
    if p.unlabelled:
        yield "--unlabelled"
    if p.study:
        yield from ("--study", p.study)
    for flag, named in (("--is", p.own_systems), ("--tuned", p.tuned)):
        for judge, other in named.items():
            yield from (flag, f"{judge}={other}")
    if p.reask:
        yield from ("--reask", "refused")
    if p.instructions:
        yield "--allow-unreviewed"
