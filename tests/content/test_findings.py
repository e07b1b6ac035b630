"""The tables of what was done about findings of readings: every finding is there; the files and the card say what the tables say."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from harness.content.library import Library, bundled_root

ROOT = bundled_root()
COUNTS = {"texts-1": 200, "models-1": 33}
TABLES: dict[str, dict[str, Any]] = {
    name: tomllib.loads((ROOT / "docs" / "reviews" / f"{name}.toml").read_text("utf-8")) for name in COUNTS
}
FINDINGS: dict[str, dict[str, Any]] = {f"{name}-{row['n']}": row for name, table in TABLES.items() for row in table["finding"]}
READINGS: dict[str, dict[str, dict[str, list[str]]]] = TABLES["models-1"]["readings"]
THIRD: dict[str, Any] = tomllib.loads((ROOT / "docs" / "reviews" / "models-2.toml").read_text("utf-8"))
LATER: dict[str, dict[str, list[dict[str, str]]]] = {
    name: tomllib.loads((ROOT / "docs" / "reviews" / f"{name}.toml").read_text("utf-8")) for name in ("models-3", "models-4")
}
CONSTRUCTED = {"base": "right", "plain": "wrong", "subtle": "wrong"}


@cache
def files(pattern: str) -> dict[str, str]:
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in sorted(ROOT.glob(pattern))}


def faults(finding: dict[str, Any], texts: dict[str, str]) -> list[str]:
    """What the files say against a row of the table."""
    found = [] if texts else [f"no file {finding['file']}"]
    found += [f"{name} still has {piece!r}" for piece in finding["was"] for name, text in texts.items() if piece in text]
    found += [f"{piece!r} is not in {finding['file']}" for piece in finding["now"] if not any(piece in text for text in texts.values())]
    return found


@pytest.mark.parametrize("name", COUNTS)
def test_every_finding_has_its_row(name: str) -> None:
    findings = TABLES[name]["finding"]
    assert [finding["n"] for finding in findings] == list(range(1, COUNTS[name] + 1))
    assert {finding["done"] for finding in findings} <= {"taken", "other", "kept"}
    assert [finding["n"] for finding in findings if finding["done"] == "kept" and not finding.get("why")] == []
    languages = {path.parent.name for path in ROOT.glob("languages/*/pack.toml")}
    assert {finding["language"] for finding in findings} - {"all"} == languages
    for finding in findings:
        assert finding["was"] and (finding["now"] or finding["done"] == "kept"), finding["n"]


@pytest.mark.parametrize("finding", FINDINGS.values(), ids=FINDINGS)
def test_what_was_found_fault_with_is_gone(finding: dict[str, Any]) -> None:
    if finding["done"] != "kept":
        assert faults(finding, files(finding["file"])) == []


def test_a_fault_that_comes_back_is_seen() -> None:
    finding = {"file": "x.toml", "was": ["old"], "now": ["new"]}
    assert faults(finding, {"x.toml": "new"}) == []
    assert faults(finding, {"x.toml": "old"}) == ["x.toml still has 'old'", "'new' is not in x.toml"]
    assert faults(finding, {}) == ["no file x.toml", "'new' is not in x.toml"]


def options() -> Iterator[tuple[str, str, str, int]]:
    """Each wording that was read blindly: its language, its item, `base` or its strength, and how many readers read it as constructed."""
    for group, kinds in READINGS.items():
        for kind, answers in kinds.items():
            for strength, said in answers.items():
                item = f"{group}-flawless" if strength == "base" else f"{group}-{kind}-{strength}"
                yield group.partition("-models-")[0], item, strength, said.count(CONSTRUCTED[strength])


def done_about(item: str) -> list[str]:
    return [finding["done"] for finding in FINDINGS.values() if finding["item"] == item]


def test_every_option_was_read_twice() -> None:
    texts = {tag: tomllib.loads((ROOT / f"languages/{tag}/packs/models/texts.toml").read_text("utf-8"))["text"] for tag in board_tags()}
    assert {item for _, item, strength, _ in options() if strength != "base"} == {
        f"{text['group']}-{version['construction']}" for own in texts.values() for text in own for version in text["version"]
    }
    assert {len(said) for kinds in READINGS.values() for answers in kinds.values() for said in answers.values()} == {2}
    assert {one for kinds in READINGS.values() for answers in kinds.values() for said in answers.values() for one in said} == {
        "right", "wrong", "arguable",
    }  # fmt: skip


def board_tags() -> list[str]:
    return list(Library().board("controls-models").languages)


def test_what_a_reader_did_not_read_as_constructed_was_answered() -> None:
    assert [item for _, item, _, as_constructed in options() if as_constructed < 2 and not done_about(item)] == []


def test_the_card_has_the_table_of_agreement() -> None:
    card = (ROOT / "leaderboards" / "controls-models" / "CARD.md").read_text("utf-8")
    for place, rows in ((0, board_tags()), (2, list(CONSTRUCTED))):
        for name in [*rows, "all"]:
            own = [option for option in options() if name in (option[place], "all")]
            seen = Counter(option[3] for option in own)
            mended = sum("kept" not in done_about(option[1]) for option in own if option[3] < 2)
            line = f"| {name} | {len(own)} | {seen[2]} | {seen[1]} | {seen[0]} | {mended} |"
            assert line in card, line


@cache
def texts_of_the_tier(tag: str) -> dict[str, str]:
    path = ROOT / "languages" / tag / "packs" / "models" / "items" / "open_prompt.jsonl"
    return {row["item_id"]: row["output"] for row in map(json.loads, path.read_text("utf-8").splitlines())}


@pytest.mark.parametrize("finding", THIRD["finding"], ids=lambda finding: f"{finding['language']}-{finding['items'][0]}")
def test_a_finding_of_the_third_reading_is_answered_and_its_quote_is_gone(finding: dict[str, Any]) -> None:
    """A fault that is mended in the request may leave its sentence in the text."""
    texts = texts_of_the_tier(finding["language"])
    done, colon, what = finding["answer"].partition(": ")
    assert done.partition(",")[0] in ("taken", "other") and colon and what
    assert finding["problem"] and (ROOT / "rubrics" / f"{finding['metric']}.toml").is_file()
    assert finding["about"] in ("label", "fault") and all(item in texts for item in finding["items"])
    if "request" not in what:
        assert all(finding["quote"] not in texts[item] for item in finding["items"])


def test_texts_that_were_changed_besides_are_here() -> None:
    assert len(THIRD["finding"]) == 40
    for row in THIRD["changed_too"]:
        tag = row["group"].partition("-models-")[0]
        assert f'group = "{row["group"]}"' in (ROOT / f"languages/{tag}/packs/models/texts.toml").read_text("utf-8") and row["why"]


@pytest.mark.parametrize("row", [row for table in LATER.values() for rows in table.values() for row in rows], ids=lambda row: row["item"])
def test_what_later_readings_changed_is_gone(row: dict[str, str]) -> None:
    text = texts_of_the_tier(row["item"].partition("-models-")[0])[row["item"]]
    assert row["quote"] not in text and row["now"] and row["problem"] and row["about"] in ("label", "fault")
