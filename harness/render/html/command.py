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
    if protocol.texts.data or protocol.texts.content:
        notes.append("Folders are given by name only. Add their paths on your machine.")
    if protocol.judges.panels:
        notes.append("Files of panels are given by name only. Add their paths on your machine.")
    hosts = sorted({str(i.settings["endpoint"]) for i in protocol.judges.identities if "endpoint" in i.settings})
    if hosts:
        notes.append(f"Calls went to {', '.join(hosts)}. Give the address with --base-url.")
    return notes


def _flags(p: RunProtocol, board: Board | None) -> Iterator[str]:
    if p.texts.data:
        yield from ("--data", PurePath(p.texts.data).name)
    elif p.texts.board and p.texts.board != DEFAULT_BOARD:
        yield from ("--board", p.texts.board)
    for folder in p.texts.content:
        yield from ("--content", PurePath(folder).name)
    yield from ("--langs", ",".join(p.texts.languages))
    if board is None or tuple(p.wording.tasks) != tuple(board.tasks):
        yield from ("--tasks", ",".join(p.wording.tasks))
    if board is None or p.questions.metrics != tuple(board.rubrics):
        yield from ("--metrics", ",".join(p.questions.metrics))
    for identity in p.judges.identities:
        yield from ("--judge", opening_name(identity))
    for panel in p.judges.panels:
        yield from ("--judge", f"{panel}.toml")
    for variant in dict.fromkeys(condition.variant for condition in p.questions.conditions):
        name = variant.prompt.partition("@")[0]
        yield from ("--prompt", f"{name}.toml") if name else ("--variant", str(variant))
    for name in SAMPLING:
        if values := [v for v in dict.fromkeys(getattr(condition, name) for condition in p.questions.conditions) if v is not None]:
            yield from (f"--{name.replace('_', '-')}", ",".join(f"{v:g}" for v in values))
    for change in dict.fromkeys(condition.perturbation for condition in p.questions.conditions if condition.perturbation):
        yield from ("--perturb", change)
    orders = {condition.order for condition in p.questions.conditions}
    if orders != {"forward"}:
        yield from ("--order", "swapped" if len(orders) == 1 else "both")
    if shown := [each for each in dict.fromkeys(condition.shown_source for condition in p.questions.conditions) if each != "none"]:
        yield from ("--shown-source", ",".join(shown))
    yield from ("--repeats", str(p.questions.repeats), "--seed", str(p.questions.seed))
    if p.rule.majority != (board.majority if board else "drop"):
        yield from ("--majority", p.rule.majority)
    if p.texts.limit is not None:
        yield from ("--limit", str(p.texts.limit))
    if p.texts.unlabelled:
        yield "--unlabelled"
    if p.texts.study:
        yield from ("--study", p.texts.study)
    for flag, named in (("--is", p.judges.own_systems), ("--tuned", p.judges.tuned)):
        for judge, other in named.items():
            yield from (flag, f"{judge}={other}")
    if p.questions.reask:
        yield from ("--reask", "refused")
    if p.wording.instructions:
        yield "--allow-unreviewed"
