"""Unreadable answers by judge and condition: counts, kinds, and a bar that shows both."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from harness.cli import parse
from harness.content import Library
from harness.data.judgments import Judgments
from harness.model import Failure, JudgeIdentity
from harness.render.html.report import command_notes, command_of, failure_key, failures_table
from harness.render.pictured import failure_shares
from harness.reports.run_report import failures_by_condition
from harness.runs import RunProtocol, RunSpec, open_judges, prepare
from tests.unit.made_judgments import made_judgment


def judgments(*rows: tuple[str, Failure | None]) -> Judgments:
    """Judgments of one judge: variant and failure."""
    same: dict[str, Any] = {"language": "en", "task": "t", "metric": "m", "judge": "one", "temperature": 0.0, "repeat": 0}
    same |= {"raw_choice": None, "justification": None, "call_id": ""}
    outcomes = [(variant, {"score": None if failure else 1, "failure": failure}) for variant, failure in rows]
    return Judgments.from_rows(
        [made_judgment(item_id=f"i{n}", variant=variant, **known, **same) for n, (variant, known) in enumerate(outcomes)]
    )


def test_conditions_go_from_the_plainest_on_with_counts_and_kinds() -> None:
    rows = [("joint", Failure.REFUSED), ("joint", Failure.NOT_JSON), ("joint", None), ("joint", None), ("single", None)]
    shares = failure_shares(failures_by_condition(judgments(*rows)))
    assert shares is not None and shares.kinds == ("refused", "not_json") and shares.reach == 0.5
    found = failures_table(shares)
    assert [heading.text for heading in found.table.headings] == ["judge and condition", "judgments", "unreadable", "refused", "not json"]
    assert found.table.rows == (("single", "1", "0 %", "0", "0"), ("joint", "4", "50 %", "1", "1"))
    drawn = found.figures["unreadable"]
    assert drawn.ends == ("0 %", "", "50 %")
    assert 'x="0.00%" width="50.00%"' in str(drawn.figures[1]) and 'x="50.00%" width="50.00%"' in str(drawn.figures[1])
    assert "refused: 25 %; not json: 25 %" in str(drawn.figures[1])


def test_a_kind_has_the_same_colour_whatever_other_kinds_occur() -> None:
    shares = failure_shares(failures_by_condition(judgments(("single", None), ("joint", Failure.MISSING), ("joint", Failure.OFF_SCALE))))
    assert shares is not None and failure_key(shares) == [("f2", "off scale"), ("f4", "missing")]
    assert 'class="f2"' in str(failures_table(shares).figures["unreadable"].figures[1])


def test_one_condition_or_no_failure_needs_no_figure() -> None:
    for rows in ([("single", Failure.REFUSED), ("single", None)], [("single", None), ("joint", None)], []):
        assert failure_shares(failures_by_condition(judgments(*rows))) is None


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
        reask=("refused",),
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
    assert protocol_of(parse(words[1:])[0].request).name == protocol.name


def test_folders_lose_their_path_and_addresses_are_asked_for(tmp_path: Path) -> None:
    protocol = protocol_of(SPECS["plain"])
    there = JudgeIdentity("openai", "m; rm -rf /", {"endpoint": "host.example"})
    own = protocol.with_fields(data=str(tmp_path / "my data"), board=None, identities=(there,))
    command = command_of(own)
    assert "--data 'my data'" in command and str(tmp_path) not in command and "--judge 'openai/m; rm -rf /'" in command
    assert any("--base-url" in note and "host.example" in note for note in command_notes(own))
    assert any("Add their paths" in note for note in command_notes(own))
