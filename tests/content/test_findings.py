"""The table of what was done about the findings of a reading: every finding is there, and the files say what the table says."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

import pytest

from harness.content.library import bundled_root

ROOT = bundled_root()
TABLE = ROOT / "docs" / "reviews" / "texts-1.toml"
FINDINGS: list[dict[str, Any]] = tomllib.loads(TABLE.read_text("utf-8"))["finding"]
COUNT = 200


@cache
def files(pattern: str) -> dict[str, str]:
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in sorted(ROOT.glob(pattern))}


def faults(finding: dict[str, Any], texts: dict[str, str]) -> list[str]:
    """What the files say against a row of the table."""
    found = [] if texts else [f"no file {finding['file']}"]
    found += [f"{name} still has {piece!r}" for piece in finding["was"] for name, text in texts.items() if piece in text]
    found += [f"{piece!r} is not in {finding['file']}" for piece in finding["now"] if not any(piece in text for text in texts.values())]
    return found


def test_every_finding_has_its_row() -> None:
    assert [finding["n"] for finding in FINDINGS] == list(range(1, COUNT + 1))
    assert {finding["done"] for finding in FINDINGS} <= {"taken", "other", "kept"}
    assert [finding["n"] for finding in FINDINGS if finding["done"] == "kept" and not finding.get("why")] == []
    languages = {"all", *(path.parent.name for path in ROOT.glob("languages/*/pack.toml"))}
    assert {finding["language"] for finding in FINDINGS} == languages
    for finding in FINDINGS:
        assert finding["was"] and (finding["now"] or finding["done"] == "kept"), finding["n"]


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: str(finding["n"]))
def test_what_was_found_fault_with_is_gone(finding: dict[str, Any]) -> None:
    if finding["done"] != "kept":
        assert faults(finding, files(finding["file"])) == []


def test_a_fault_that_comes_back_is_seen() -> None:
    finding = {"file": "x.toml", "was": ["old"], "now": ["new"]}
    assert faults(finding, {"x.toml": "new"}) == []
    assert faults(finding, {"x.toml": "old"}) == ["x.toml still has 'old'", "'new' is not in x.toml"]
    assert faults(finding, {}) == ["no file x.toml", "'new' is not in x.toml"]
