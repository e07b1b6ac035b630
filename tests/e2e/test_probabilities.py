"""`harness probabilities`: the sentence first, the figure, JSON, tables of one file, and what it says where nothing is recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.errors import USAGE
from tests.unit.correction.probability_folder import probability_folder

Cli = Callable[..., Any]


def _too_sure(sure: float) -> float:
    return sure - 0.3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield probability_folder(tmp_path_factory.mktemp("made") / "ratings", {"cs": lambda sure: sure, "ja": _too_sure}, texts=500)


def test_the_first_line_is_the_sentence(cli: Cli, folder: Path) -> None:
    done = cli("probabilities", folder)
    assert done.code == 0, done.err
    first = " ".join(done.out.split())
    assert first.startswith("In Czech it says 89 % and is right in")
    assert "]: its probabilities hold. In Japanese it says" in first and "]: do not gate on them" in first
    assert "With one cut at 90 % for all languages, accepted answers are wrong in" in first
    headings = ("gap (points)", "slope", "refitted by language", "one cut for all", "languages side by side")
    assert "is right" in done.out and not any(heading in done.out for heading in headings), "the short screen"
    whole = cli("probabilities", folder, "--all").out
    assert all(heading in whole for heading in headings)


def test_one_cut_that_does_the_same_everywhere_is_said_once(cli: Cli, tmp_path: Path) -> None:
    folder = probability_folder(tmp_path / "ratings", {"cs": lambda sure: 1.0, "ja": lambda sure: 1.0}, texts=200, annotators=7)
    first = " ".join(cli("probabilities", folder).out.split())
    assert "With one cut at 90 % for all languages, accepted answers are wrong in 0 % in each of 2 languages." in first
    assert "0 % (" not in first


def test_programs_get_all_numbers(cli: Cli, folder: Path) -> None:
    found = json.loads(cli("probabilities", folder, "--json", "--langs", "ja", "--margin", "0.02").out)
    [cell] = found["cells"]
    assert (cell["language"], cell["verdict"], found["margin"]) == ("ja", "do not hold", 0.02)
    assert cell["bins"] and cell["refit"]["map_slope"] and found["cuts"] and "margin=0.02" in found["signature"]


def test_the_figure_has_a_panel_a_language_with_its_gap(cli: Cli, folder: Path, tmp_path: Path) -> None:
    done = cli("probabilities", folder, "--figure", tmp_path / "curves.svg")
    assert done.code == 0, done.err
    drawn = (tmp_path / "curves.svg").read_text("utf-8")
    ElementTree.fromstring(drawn)
    for words in ("Czech", "Japanese", "too sure", "do not hold", "people 9", "it says", "it is right"):
        assert words in drawn
    other = cli("compare", folder, "--figure", tmp_path / "same.svg", "--figure-kind", "reliability")
    assert other.code == 0 and "do not hold" in (tmp_path / "same.svg").read_text("utf-8")


def test_comparisons_have_the_section_everywhere(cli: Cli, folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert cli("compare", folder, "--html", page).code == 0
    text = page.read_text("utf-8")
    assert "May its probabilities be believed?" in text and 'class="reliability"' in text and "people 9" in text
    assert "May its probabilities be believed?" in cli("compare", folder, "--full").out
    assert "May its probabilities be believed?" in cli("compare", folder, "--md").out
    assert json.loads(cli("compare", folder, "--json").out)["sections"]["probabilities"]["rows"][0]["verdict"] == "hold"
    assert cli("compare", folder, "--sections", tmp_path / "sections").code == 0
    assert any("probabilities" in path.name for path in (tmp_path / "sections").iterdir())


def test_without_probabilities_it_says_how_to_get_them(cli: Cli, tmp_path: Path) -> None:
    bare = probability_folder(tmp_path / "bare", {"cs": lambda sure: sure}, texts=40, probs=False)
    done = cli("probabilities", bare)
    assert done.code == USAGE and "ask with the variant 'probabilities', or write 'probs' into the judgments" in done.err
    drawn = cli("compare", bare, "--figure", tmp_path / "x.svg", "--figure-kind", "reliability")
    assert drawn.code == USAGE and "variant 'probabilities'" in drawn.err and not (tmp_path / "x.svg").exists()


def test_a_table_without_probabilities_is_read_and_says_the_same(cli: Cli, tmp_path: Path) -> None:
    table = tmp_path / "ratings.csv"
    rows = "".join(f"text number {n},{n % 2},{(n // 2) % 2},{n % 2}\n" for n in range(40))
    table.write_text("text,ann,bob,gpt\n" + rows, "utf-8")
    done = cli("probabilities", table, "--human", "ann,bob", "--judge", "gpt", "--language", "cs")
    assert done.code == USAGE and "variant 'probabilities'" in done.err


@pytest.mark.parametrize("value", ["0", "1.5", "x"])
def test_the_margin_is_a_share(cli: Cli, folder: Path, value: str) -> None:
    done = cli("probabilities", folder, "--margin", value)
    assert done.code == USAGE and "--margin" in done.err
