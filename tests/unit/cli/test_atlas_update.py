"""`harness atlas update`: which boards a judge has not answered, and the text of the pull request."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

from harness.boards.card import JudgeCard
from harness.boards.submit import WrittenSubmission
from harness.cli.atlas_update import COLLECTION, answered_boards, letter_lines
from harness.content import Library
from harness.judge_atlas.atlas import AtlasJudge
from tests.unit.judge_atlas.atlases import atlas, row

TOY = "decider/sparrow-nano"


def test_a_judge_with_submissions_everywhere_has_answered_all_boards() -> None:
    library = Library()
    assert answered_boards(library, TOY) == [*library.collection(COLLECTION).boards]
    assert answered_boards(library, "openai/new") == []
    assert "korean-square" not in answered_boards(library, "local/qwen2.5-coder-1.5b-instruct-q4_k_m"), "a part is no answer to a board"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "name the judge that is asked with --judge"),
        (("--judge", "baseline/random"), "the atlas has no rows of baselines"),
        (("--judge", TOY), f"adparaphrase is left out: {TOY} has a submission to it"),
        (("--judge", "openai/new"), "--to DIR names the folder of the pull request"),
    ],
)
def test_what_cannot_be_updated_is_said(cli, arguments: tuple[str, ...], words: str) -> None:  # type: ignore[no-untyped-def]
    done = cli("atlas", "update", *arguments)
    assert done.code == 2 and words in done.err


@pytest.mark.parametrize(("judge", "takes_words"), [("openai/new", True), ("decisions/new", False)])
def test_boards_that_take_no_replies_in_words_are_planned_for_decision_models_alone(cli, judge: str, takes_words: bool) -> None:  # type: ignore[no-untyped-def]
    done = cli("atlas", "update", "--judge", judge, "--dry-run", "--json")
    plan = json.loads(done.out)
    planned = {row["board"] for row in plan["boards"]} | {line.partition(":")[0] for line in plan["absent"]}  # data may be here or not
    left_out = {line.partition(" ")[0] for line in plan["absent"] if "is left out: its texts are extremely offensive" in line}
    offensive = {"rtp-lx", "mlqe-critical", "textdetox"}
    assert done.code == 0 and "korean-square" in planned
    assert (offensive <= left_out and not offensive & planned) if takes_words else (offensive <= planned and not left_out)


def test_the_letter_says_how_old_the_newest_judge_of_each_language_is() -> None:
    judges = {"gpt": AtlasJudge(released=datetime.date(2024, 1, 1)), "new": AtlasJudge(released=datetime.date(2026, 1, 1))}
    known = atlas(row(), row(language="ca"), judges=judges)
    card = JudgeCard(name="new", provider="openai", model="new", board="b@1.0.0", replies_sha256="0" * 64)
    written = {"b": WrittenSubmission(Path("folder"), card, 1200)}
    asked = [row(judge="new", board="b", verdict="do not use")]
    lines = [*letter_lines(known, "new", written, asked, ["c is left out: no data"], datetime.date(2026, 7, 1))]
    assert lines[0] == "# new on 1 boards of people's labels" and "- `b`: 1,200 replies" in lines and "- c is left out: no data" in lines
    assert "Verdicts: do not use 1." in lines and "| Japanese | new | 2026-01-01 | 6 months |" in lines
    assert not any("Catalan" in line for line in lines), "only languages that were asked"
    assert any("judges.toml` says it" in line for line in letter_lines(known, "unknown", written, asked, [], datetime.date(2026, 7, 1)))
