"""The command that a page gives is the run itself: asked again it has the same name, so it is re-read and not paid for."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from harness.cli import parse
from harness.cli.run import _spec
from harness.content import Library
from harness.model import JudgeIdentity
from harness.render.html.command import command_notes, command_of
from harness.runs import RunProtocol, RunSpec, open_judges, prepare

SPECS = {
    "plain": RunSpec(languages=("cs", "ja"), judges=("baseline/majority",)),
    "every flag": RunSpec(
        languages=("en",),
        tasks=("summarize",),
        metrics=("hallucination", "task_quality"),
        judges=("baseline/majority", "baseline/length"),
        variants=("single", "joint+detailed", "single+fewshot:2"),
        temperatures=(0.0, 0.7),
        top_ps=(0.9,),
        perturbations=("shuffle-words:0.1,0.3", "truncate:0.5"),
        repeats=3,
        seed=5,
        majority="strict",
        limit=2,
        reask=True,
    ),
    "another board": RunSpec(board="controls-full", languages=("cs",), judges=("baseline/random",)),
    "own language": RunSpec(languages=("ja",), variants=("single+own-language",), allow_unreviewed=True, judges=("baseline/majority",)),
}


def protocol_of(spec: RunSpec) -> RunProtocol:
    prepared = prepare(spec)
    return prepared.protocol.with_fields(identities=tuple(judge.identity for judge in open_judges(spec, prepared)))


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_the_command_is_the_same_run(spec: RunSpec, library: Library) -> None:
    protocol = protocol_of(spec)
    assert protocol.texts.board
    words = shlex.split(command_of(protocol, library.board(protocol.texts.board)))
    assert words[:2] == ["harness", "run"]
    assert protocol_of(_spec(parse(words[1:])[0])).name == protocol.name


def test_folders_lose_their_path_and_addresses_are_asked_for(tmp_path: Path) -> None:
    protocol = protocol_of(SPECS["plain"])
    there = JudgeIdentity("openai", "m; rm -rf /", {"endpoint": "host.example"})
    own = protocol.with_fields(data=str(tmp_path / "my data"), board=None, identities=(there,))
    command = command_of(own)
    assert "--data 'my data'" in command and str(tmp_path) not in command and "--judge 'openai/m; rm -rf /'" in command
    assert any("--base-url" in note and "host.example" in note for note in command_notes(own))
    assert any("Add their paths" in note for note in command_notes(own))
