"""`harness correct`, `accept` and `certify` from flags to ink, on a data folder of 120 prompts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli import parse
from harness.cli.command import value_of
from tests.judged_folder import judged_folder

Cli = Callable[..., Any]


def parsed(*arguments: str) -> Any:
    return parse(arguments)[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return judged_folder(tmp_path / "made", repeats=3)


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (("correct", "d"), "by", ("system",)),
        (("correct", "d", "--by", "system,task"), "by", ("system", "task")),
        (("correct", "d", "--class", "2"), "share_of", "2"),
        (("correct", "d", "--prevalence-shift"), "prevalence_shift", True),
        (("accept", "d"), "alpha_risk", 0.1),
        (("accept", "d", "--delta", "0.05"), "delta", 0.05),
        (("accept", "d", "--confidence", "votes"), "confidence", "votes"),
        (("certify", "d", "--to", "c.json"), "to", Path("c.json")),
        (("certify", "--check", "c.json"), "source", None),
        (("certify", "d", "--to", "c.json", "--set", "margin=0.2"), "margin", 0.2),
    ],
    ids=str,
)
def test_flags_are_read(arguments: tuple[str, ...], name: str, value: Any) -> None:
    assert value_of(parsed(*arguments), name) == value


def test_flags_reach_the_numbers(cli: Cli, folder: Path) -> None:
    def numbers(*flags: str) -> list[dict[str, Any]]:
        return list(json.loads(cli("correct", folder, "--json", *flags).out)["numbers"])

    assert len(numbers()) == 4 and len(numbers("--by", "task")) == 2
    assert len(numbers("--where", "metric=tone")) == 2 and len(numbers("--where", "metric=tone", "--shares")) == 6
    assert {number["share_of"] for number in numbers("--class", "2")} == {2}
    assert {number["method"] for number in numbers("--prevalence-shift")} == {"Rogan-Gladen (Fieller)", "inverse confusion matrix"}
    assert len(numbers("--judge", "model/one")) == 4


def test_acceptance_takes_repeats_and_its_flags(cli: Cli, folder: Path) -> None:
    one, strict = (json.loads(cli("accept", folder, "--json", *flags).out) for flags in ((), ("--alpha-risk", "0.02", "--delta", "0.01")))
    assert {threshold["confidence"] for threshold in one["thresholds"]} == {"repeats"}
    assert (strict["alpha"], strict["delta"]) == (0.02, 0.01) and strict["thresholds"] != one["thresholds"]


def test_thresholds_of_the_verdict_reach_the_certificate(cli: Cli, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    assert cli("certify", folder, "--to", path, "--set", "margin=0.2", "--alpha-risk", "0.2").code == 0
    made = json.loads(path.read_text("utf-8"))
    assert made["thresholds"]["margin"] == 0.2 and {cell["acceptance"]["alpha"] for cell in made["cells"]} == {0.2}


def test_a_folder_that_cannot_be_written_is_a_sentence(cli: Cli, folder: Path, tmp_path: Path) -> None:
    done = cli("certify", folder, "--to", tmp_path / "made" / "data.toml" / "c.json")
    assert done.code == 5 and done.out == "" and "cannot be written" in done.err and "Traceback" not in done.err
