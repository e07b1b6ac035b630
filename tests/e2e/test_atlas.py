"""`harness atlas`: the answers of the bundled file, and that the file is what comparisons of its sets give."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.content.library import Library, bundled_root
from harness.judge_atlas.atlas_file import FILE, read_atlas
from harness.judge_atlas.atlas_rows import joined, rows_of_set

ATLAS = read_atlas(bundled_root() / FILE)


def test_a_language_is_answered_from_the_file_alone(cli: Callable[..., Any]) -> None:
    shown = cli("atlas", "--lang", "Japanese")
    assert shown.code == 0 and shown.out.startswith("Japanese: which judge for what\n○ harm: not known yet")
    assert "native speakers" in shown.out and "Nothing is known of" in shown.out
    assert "insult" in shown.out and "rtp_lx" in shown.out


def test_all_languages_stand_in_one_table(cli: Callable[..., Any]) -> None:
    shown = cli("atlas").out
    assert all(f"({tag})" in shown for tag in ATLAS.languages) and len(ATLAS.languages) >= 39


def test_rows_for_programs_are_those_of_the_notebook(cli: Callable[..., Any]) -> None:
    rows = json.loads(cli("atlas", "--quality", "preference", "--json").out)
    frame = harness.atlas()
    assert rows and len(rows) == int((frame["quality"] == "preference").sum())
    assert {row["labels"] for row in rows} == {"native"} and {row["set"] for row in rows} == {"alttest", "pariksha_pairwise"}


def test_what_is_not_there_is_said(cli: Callable[..., Any]) -> None:
    unknown = cli("atlas", "--lang", "tlh")
    assert unknown.code == 2 and "nothing is known of judges in 'tlh'" in unknown.err and "harness labels page" in unknown.err
    nothing = cli("atlas", "--to", "atlas.json")
    assert nothing.code == 2 and "nothing is written" in nothing.err and not nothing.out


def test_readme_shows_what_the_command_prints(cli: Callable[..., Any]) -> None:
    text = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
    [(command, block)] = re.findall(r"```console\n\$ harness (atlas[^\n]*)\n(.*?)```", text, re.DOTALL)
    printed = cli(*command.split()).out.splitlines()
    assert block.splitlines() and all(line in printed for line in block.splitlines() if line != "…")


@pytest.mark.needs("shared data")
@pytest.mark.parametrize(
    "name",
    [
        *("pariksha", "pariksha_pairwise", "alttest"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("hanna", "basse", "wmt23_esa_de")),
    ],
)
def test_the_rows_of_a_set_are_those_of_its_comparison(shared_data: Path, name: str) -> None:
    card = Library().dataset_card(name)
    compared = harness.compare(shared_data / name)
    again = joined({name: card}, {name: compared.signature}, rows_of_set(card, compared.verdicts))
    assert again.rows == tuple(row for row in ATLAS.rows if row.set == name) and again.sets[name] == ATLAS.sets[name]
