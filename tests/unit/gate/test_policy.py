"""Policies: what a rule may say, and the line of everything else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.errors import ContentError
from harness.gate.policy import load_policy


def written(folder: Path, text: str) -> Path:
    path = folder / "gate.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_rule_has_the_limits_that_it_sets_in_one_order(tmp_path: Path) -> None:
    policy = load_policy(written(tmp_path, '[[rule]]\nlanguage = ["cs", "ja"]\nmin_items = 3\nat_least = 0.5\nbeats_baseline = false\n'))
    assert policy.rule[0].limits == {"at_least": 0.5, "min_items": 3} and policy.rule[0].language == ("cs", "ja")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[[rule]]\nat_leest = 0.5\n", 2, "unknown field `at_leest`"),
        ("[[rule]]\nmin_items = 3\n[[rule]]\nlanguage = 'cs'\n", 3, "the rule sets no limit; add one of at_least, max_drop"),
        ("[[rule]]\nmax_drop = 5\n", 2, "max_drop"),
        ("[[rule]]\nat_least = 0.8\n[[rule]]\nat_least = -1\n", 4, "at_least is -1, which holds nothing"),
        ("[[rule]]\nstatistic = 'cohen_kappa'\nat_least = 0.0\n", 3, "at_least is 0, which holds nothing"),
        ("[[rule]]\nat_least = 80\n", 2, "at_least is 80, which no judge can reach: pa_failed_wrong is at most 1; 80 % is 0.8"),
        ("alpha = 0\n[[rule]]\nmin_items = 3\n", 1, "alpha"),
        ("[signature]\ndatum = 'x'\n[[rule]]\nmin_items = 3\n", 2, "'datum' is not a part of a signature; the parts are judge, data"),
        ("may_differ = ['prompt']\n[[rule]]\nmin_items = 3\n", 1, "'prompt' is not a part of a signature"),
        ("version = 2\n[[rule]]\nmin_items = 3\n", 1, "version"),
        ("version = 1\n", None, "rule"),
        ("rule = [\n", None, "not valid TOML"),
    ],
)
def test_a_wrong_policy_is_refused_with_its_line(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(ContentError) as caught:
        load_policy(written(tmp_path, text))
    assert message in str(caught.value) and (line is None or caught.value.line == line)


def test_an_empty_line_before_a_rule_does_not_move_its_line(tmp_path: Path) -> None:
    with pytest.raises(ContentError) as caught:
        load_policy(written(tmp_path, "[[rule]]\nmin_items = 3\n\n\n  [[rule]]\nlanguage = 'cs'\n"))
    assert caught.value.line == 5


@pytest.mark.parametrize("number", ["nan", "-nan", "inf", "-inf", "+inf"])
def test_a_limit_that_is_no_finite_number_is_refused_with_its_line(tmp_path: Path, number: str) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(f'# nan in a comment\n[[rule]]\nmetric = "nan"\nat_least = {number}\n')
    with pytest.raises(ContentError, match=rf"gate.toml:4: {re.escape(number)} is no number that can be compared; write a finite one"):
        load_policy(path)
