"""`harness gate` and `harness new gate`: exit codes, files, and what a reader sees."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.judged_folder import judged_folder

Cli = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return judged_folder(tmp_path / "made", labelled=0.9, noise=0.05)


def policy(path: Path, *limits: str) -> Path:
    path.write_text("".join(f'[[rule]]\nlanguage = "ja"\nmetric = "tone"\n{limit}\n' for limit in limits), "utf-8")
    return path


def test_exit_codes_and_files(cli: Cli, folder: Path, tmp_path: Path) -> None:
    held, files = tmp_path / "gate.toml", [tmp_path / name for name in ("gate.xml", "gate.json", "gate.md")]
    flags = ("--junit", files[0], "--json", files[1], "--summary", files[2])
    assert cli("gate", folder, "--policy", policy(held, "min_items = 5")).code == 0
    assert cli("gate", folder, "--policy", policy(held, "min_items = 5000")).code == 7
    done = cli("gate", folder, "--policy", policy(held, "at_least = 0.99", "min_items = 5000", "min_items = 5"), *flags)
    assert done.code == 1 and done.err == "" and "gate: fail: a limit is broken (1 pass, 1 fail, 1 inconclusive of 3)" in done.out
    suites = ElementTree.parse(files[0]).getroot()
    assert suites.tag == "testsuites" and suites.attrib | {"name": ""} == {
        **{"name": "", "tests": "3", "failures": "1", "errors": "0", "skipped": "1"}
    }
    [suite] = suites
    assert (suite.get("name"), [[child.tag for child in case] for case in suite]) == ("ja", [["failure"], ["skipped"], []])
    assert json.loads(files[1].read_text("utf-8"))["outcome"] == "fail"
    summary = files[2].read_text("utf-8")
    assert summary.startswith("## Gate: fail\n") and "| ja | tone | model/one | agreement at least 99 % |" in summary


def test_a_new_policy_is_written_once(cli: Cli, folder: Path, tmp_path: Path) -> None:
    made = cli("new", "gate", folder, "--into", tmp_path)
    assert made.code == 0 and made.out.strip() == str(tmp_path / "gate.toml")
    assert cli("gate", folder, "--policy", tmp_path / "gate.toml").code == 0
    again = cli("new", "gate", folder, "--into", tmp_path)
    assert again.code == 2 and "exists; edit it" in again.err


def test_bad_input_is_a_sentence(cli: Cli, folder: Path, tmp_path: Path) -> None:
    absent = cli("gate", folder, "--policy", tmp_path / "no.toml")
    assert absent.code == 3 and "no.toml: cannot be read" in absent.err
    assert cli("gate", "nowhere", "--policy", policy(tmp_path / "g.toml", "min_items = 1")).code == 2
    hostile = tmp_path / "h.toml"
    hostile.write_text('[[rule]]\nlanguage = "ja"\nmetric = "a\\u001b[31m|<b>`"\nmin_items = 1\n', "utf-8")
    done = cli("gate", folder, "--policy", hostile, "--summary", tmp_path / "s.md", "--junit", tmp_path / "j.xml")
    assert done.code == 7 and "\x1b" not in done.out
    assert "\\|&lt;b>\\`" in (tmp_path / "s.md").read_text("utf-8")
    assert ElementTree.parse(tmp_path / "j.xml").getroot()[0][0].get("name", "").startswith("a\ufffd[31m|<b>`")
