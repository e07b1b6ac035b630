"""Panels: their files, what the rules give, and what they refuse."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from harness.errors import ContentError, HarnessError, UsageError
from harness.judges import JudgeOptions, open_judge
from harness.judges.panel import Panel, is_panel_file, read_panel, refuse_unfit_panels, split_panels
from harness.model import Failure, JudgeIdentity, Scale
from harness.stats import aggregate

THREE = ("a", "b", "c")
ORDINAL = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
NOMINAL = Scale(kind="nominal", classes=("A", "B", "tie"), swap={"A": "B", "B": "A"})
NUMBERS = Scale(kind="interval", min=0, max=100, best=100)


def test_rules_give_what_aggregates_of_people_give() -> None:
    draw = random.Random(4)
    votes = [[draw.choice([0, 1, 2]) for _ in THREE] for _ in range(200)]
    mode, median = aggregate(votes, 3, "drop"), aggregate(votes, 3, "median")
    expected = {
        ("majority", "median"): np.where(mode >= 0, mode, median),
        ("majority", "none"): np.where(mode >= 0, mode, -1),
        ("median", "none"): median,
    }
    for (rule, ties), scores in expected.items():
        panel = Panel(THREE, rule, ties)  # type: ignore[arg-type]
        given = [panel.score(each, ORDINAL) for each in votes]
        assert [-1 if one is Failure.TIED else one for one in given] == scores.tolist()
    means = [Panel(THREE, "mean").score(each, NUMBERS) for each in votes]
    assert means == pytest.approx(np.mean(votes, axis=1).tolist())


def test_a_panel_answers_if_more_than_half_of_its_members_did() -> None:
    panel = Panel(THREE)
    assert panel.score([1, 1, Failure.REFUSED], ORDINAL) == 1
    assert panel.score([1, Failure.REFUSED, Failure.REFUSED], ORDINAL) is Failure.REFUSED
    assert panel.score([1, Failure.REFUSED, Failure.NOT_JSON], ORDINAL) is Failure.MISSING
    assert Panel(("a", "b")).score([1, Failure.OFF_SCALE], ORDINAL) is Failure.OFF_SCALE
    assert Panel((*THREE, "d")).score([1, 1], ORDINAL) is Failure.MISSING, "two of four were never asked"


@pytest.mark.parametrize(("ties", "expected"), [("none", Failure.TIED), ("median", 1), ("first", 2)])
def test_ties(ties: str, expected: object) -> None:
    assert Panel(THREE, "majority", ties).score([2, 0, 1], ORDINAL) == expected  # type: ignore[arg-type]


def test_the_first_member_with_one_of_the_tied_classes_decides() -> None:
    panel = Panel(("a", "b", "c", "d", "e"), "majority", "first")
    assert panel.score(["tie", "B", "A", "A", "B"], NOMINAL) == "B"


@pytest.mark.parametrize(
    ("panel", "scale", "words"),
    [
        (Panel(THREE, "mean"), ORDINAL, 'rule = "median"'),
        (Panel(THREE, "mean"), NOMINAL, 'rule = "majority"'),
        (Panel(THREE, "median"), NOMINAL, "have no order"),
        (Panel(THREE, "majority", "median"), NOMINAL, 'ties = "first"'),
        (Panel(THREE), NUMBERS, "numbers without classes"),
    ],
)
def test_a_rule_that_the_scale_does_not_allow(panel: Panel, scale: Scale, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        refuse_unfit_panels({"panel/p": panel}, {"fine": scale})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('members = ["a"]', "length >= 2"),
        ('members = ["a", "b", "a"]', r"jury\.toml:1: the panel names 'a' 2 times"),
        ('rule = "median"\nmembers = ["a",\n"panel/b"]', r"jury\.toml:3: 'panel/b' is a panel"),
        ('members = ["a", "b"]\nrule = "median"\nties = "first"', r"jury\.toml:3: a median has no ties"),
        ('members = ["a", "b"]\nrule = "vote"', "vote"),
        ('member = ["a", "b"]', "member"),
        ("members = [", "not valid TOML"),
    ],
)
def test_files_that_are_no_panel(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "jury.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(ContentError, match=words):
        read_panel(f"panel/{file}")


def test_a_panel_without_a_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no panel file 'nobody\.toml'"):
        read_panel("panel/nobody")
    with pytest.raises(HarnessError, match="computed from the answers of its members"):
        open_judge("panel/jury", JudgeOptions())
    assert is_panel_file("panel/jury.toml") and not is_panel_file("panel/jury") and not is_panel_file("replay/jury.toml")


def test_members_are_asked_once(tmp_path: Path) -> None:
    file = tmp_path / "jury.toml"
    file.write_text('members = ["a", "b", "c"]', "utf-8")
    asked, panels = split_panels(["b", f"panel/{file}", "d"])
    assert asked == ("b", "d", "a", "c") and panels == {"panel/jury": Panel(THREE)}
    with pytest.raises(UsageError, match="two panels would have the name 'panel/jury'"):
        split_panels([f"panel/{file}", f"panel/{tmp_path}/../{tmp_path.name}/jury.toml"])


def test_the_identity_is_the_content_and_the_members() -> None:
    members = {name: JudgeIdentity("openai", name) for name in THREE}
    one = Panel(THREE).identity("panel/jury", members)
    assert (one.name, one.settings["rule"], one.settings["members"]) == ("panel/jury", "majority", "a + b + c")
    others = [Panel(THREE, ties="first"), Panel(THREE[::-1])]
    assert all(other.identity("panel/jury", members) != one for other in others)
    assert Panel(THREE).identity("panel/jury", {**members, "a": JudgeIdentity("openai", "a", {"endpoint": "x"})}) != one
