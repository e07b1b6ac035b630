"""What commands say in a terminal of 80 columns: errors and lists too."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

Cli = Callable[..., Any]


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (("doctor",), r"You can now do (all of this|\d of these \d things):"),
        (("data", "list"), r"Of \d+ published sets \d+ are here ✓( and \d+ in part \(✓\))?\."),
        (("list",), r"Six kinds of content can be listed:"),
        (("atlas",), r"In (none|\d+) of \d+ languages .*\."),
        (("run", "--langs", "ja", "--limit", "2", "--judge", "baseline/majority"), r"Control items \(constructed labels\)"),
        (("comapre", "x"), r"harness: no command 'comapre'\. Did you mean 'compare'\? .*"),
        (("watch",), r"harness watch: .*"),
        (("correct", "no-such-run-of-this-long-name-in-results"), r"harness: .*"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_the_first_line_says_something_and_no_line_is_wider(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], first: str
) -> None:
    monkeypatch.chdir(tmp_path)
    _, out, err = cli(*arguments)
    lines = (out or err).splitlines()
    assert re.fullmatch(first, lines[0]), lines[0]
    for line in (*out.splitlines(), *err.splitlines()):
        assert cell_len(line) <= 80 or " " not in line.strip(), line


def test_an_error_is_one_line_where_no_width_is_known_and_never_breaks_a_command(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = cli("comapre", "x").err
    monkeypatch.delenv("COLUMNS")
    whole = cli("comapre", "x").err
    assert whole.count("\n") == 1 and narrow.count("\n") == 2 and " ".join(narrow.split()) == whole.strip()
    monkeypatch.setenv("COLUMNS", "30")
    assert "'harness help'" in cli("comapre", "x").err


def test_a_run_of_baselines_alone_says_that_an_answer_needs_a_judge(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out = cli("run", "--langs", "ja", "--limit", "2", "--judge", "baseline/majority").out
    assert "Only baselines were asked; an answer needs a judge" in out.splitlines()[:3]
