"""Which words of a pair are marked as different: the page's own script, run by the Node.js of Playwright."""

from __future__ import annotations

import json
import subprocess
from importlib.resources import files
from typing import Any

import pytest

CALL = "\nconsole.log(JSON.stringify(JSON.parse(process.argv[1]).map((pair) => PairTexts.compared(...pair))));"
PAIRS = [
    ["The quick fox runs.", "The slow fox runs.", ["en", "en"]],
    ["東京で新しい駅が開業しました。", "大阪で新しい駅が開業しました。", ["ja", "ja"]],
    ["Stejný text.", "Stejný text.", ["cs", "cs"]],
    ["All words", "", ["en", "en"]],
    ["a <b>x</b>", "a <i>x</i>", ["not a tag!", "en"]],
    ["one " * 3000, "two " * 3000, ["en", "en"]],
]


@pytest.fixture(scope="module")
def compared() -> list[dict[str, Any]]:
    """What the script makes of `PAIRS`."""
    driver = pytest.importorskip("playwright._impl._driver")
    node = driver.compute_driver_executable()
    script = files("harness.render.html").joinpath("assets", "pair_texts.js").read_text("utf-8") + CALL
    done = subprocess.run([node[0], "-e", script, json.dumps(PAIRS)], capture_output=True, text=True, check=True, timeout=60)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def marked(one: dict[str, Any]) -> list[list[str]]:
    return [[text for text, differs in runs if differs] for runs in one["runs"]]


def test_words_that_the_other_text_lacks_are_marked(compared: list[dict[str, Any]]) -> None:
    assert marked(compared[0]) == [["quick"], ["slow"]]
    assert marked(compared[1]) == [["東京"], ["大阪"]], "in a language without spaces too"
    assert marked(compared[3]) == [["All words"], []]


def test_no_character_is_lost_or_added(compared: list[dict[str, Any]]) -> None:
    for (one, other, _), found in zip(PAIRS, compared, strict=True):
        assert ["".join(text for text, _ in runs) for runs in found["runs"]] == [one, other]


def test_the_same_text_twice_is_named(compared: list[dict[str, Any]]) -> None:
    assert marked(compared[2]) == [[], []] and compared[2]["note"] == "Both texts are the same."


def test_texts_that_are_too_long_say_so(compared: list[dict[str, Any]]) -> None:
    assert marked(compared[5]) == [[], []] and "too long" in compared[5]["note"]


def test_a_language_tag_that_the_browser_does_not_know_is_no_obstacle(compared: list[dict[str, Any]]) -> None:
    assert marked(compared[4]) == [["b", "b"], ["i", "i"]]
