"""Minimal pairs as they are read: tables by language and construction, counts across languages, CSV, the plot of the first screen."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from harness.decide.verdicts import Verdict
from harness.render.files import section_csvs
from harness.render.html.ablations import ablation_figures, row_links
from harness.render.html.first_screen import Known, first_screen
from harness.render.terminal import render_sections
from harness.reports.sections.section_registry import shown_sections

SIDE: dict[str, Any] = {"task": "*", "judge": "openai/one", "variant": "single", "temperature": 0.0, "top_p": None}
NUMBERS: dict[str, Any] = {
    "n": 11,
    "unreadable": 1,
    "unpaired": 0,
    "groups": 11,
    "n_flawless": 12,
    "higher": 6 / 11,
    "higher_ci": [0.28, 0.79],
    "equal": 4 / 11,
    "equal_ci": [0.15, 0.65],
    "lower": 1 / 11,
    "lower_ci": [0.02, 0.38],
    "from": "scores",
    "sensitivity": 8 / 11,
    "sensitivity_ci": [0.54, 0.86],
    "false_alarms": 2 / 12,
    "false_alarms_ci": [0.05, 0.45],
    "undefined": {},
}
COUNTS: dict[str, Any] = {
    "n": 2,
    "unreadable": 0,
    "unpaired": 0,
    "groups": 2,
    "n_flawless": 0,
    "higher_n": 1,
    "equal_n": 1,
    "lower_n": 0,
    "false_alarms_n": 0,
    "undefined": {},
}


def row(language: str = "*", metric: str = "*", **other: Any) -> dict[str, Any]:
    return {"language": language, "metric": metric, **SIDE, **NUMBERS, **other}


def counts(language: str, construction: str = "one-error", kind: str = "flaw", **other: Any) -> dict[str, Any]:
    return {"language": language, "metric": "m", **SIDE, "kind": kind, "construction": construction, **COUNTS, **other}


@pytest.fixture
def sections() -> dict[str, Any]:
    return {
        "minimal_pairs": {
            "title": "Minimal pairs",
            "rows": [row("cs", "task_quality"), row("cs", "hallucination"), row("cs"), row()],
            "constructions": [row(metric="m", kind="flaw", construction="one-error")],
            "crossed": [
                counts("cs"),
                counts("ja", higher_n=0),
                counts("ja", "refrain", "tempting", n=0, n_flawless=3, false_alarms_n=1),
            ],
        }
    }


def test_the_terminal_says_what_was_found_and_counts_by_language(sections: dict[str, Any]) -> None:
    console = Console(width=200, color_system=None)
    with console.capture() as captured:
        console.print(render_sections(sections))
    text = captured.get()
    found = "The flawless text is scored higher in 55 %, equal in 36 %, lower in 9 % of 11 pairs; false alarms: 17 % of 12 texts."
    assert found in " ".join(text.split())
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "flaw one-error 1 · 1 · 0 0 · 1 · 0" in lines and "tempting refrain – 1/3" in lines
    assert any(line.startswith("all") and ".73 [.54 .86]" in line for line in lines)


def test_baselines_are_rows_and_no_finding(sections: dict[str, Any]) -> None:
    own = sections["minimal_pairs"]
    for rows in (own["rows"], own["constructions"], own["crossed"]):
        for each in rows:
            each["judge"] = "baseline/random"
    [shown] = shown_sections(sections)
    assert shown.text.endswith("false alarms / texts.")


def test_names_of_constructions_are_untrusted() -> None:
    evil = "\x1b[31m<script>"
    rows = [row(metric="m", kind="flaw", construction=evil), row(metric="m", kind="flaw", construction="b")]
    section = {"title": "Minimal pairs", "rows": [row()], "constructions": rows, "crossed": [counts("cs", evil), counts("cs", "b")]}
    console = Console(width=200, color_system=None)
    with console.capture() as captured:
        console.print(render_sections({"minimal_pairs": section}))
    assert "\x1b" not in captured.get()
    texts = section_csvs({"minimal_pairs": {**section, "constructions": [row(construction="=1+1", kind="flaw")]}})
    [read] = csv.DictReader(io.StringIO(texts["minimal_pairs.constructions.csv"], newline=""))
    assert read["construction"] == "'=1+1"


def test_every_table_is_a_file_of_csv(sections: dict[str, Any]) -> None:
    texts = section_csvs(sections)
    assert list(texts) == ["minimal_pairs.csv", "minimal_pairs.constructions.csv", "minimal_pairs.crossed.csv"]
    first, *_ = csv.DictReader(io.StringIO(texts["minimal_pairs.csv"], newline=""))
    assert (first["language"], float(first["sensitivity"]), first["sensitivity_lo"]) == ("cs", 8 / 11, "0.54")


def test_marks_and_counts_open_their_texts(sections: dict[str, Any]) -> None:
    [shown] = shown_sections(sections)
    rows, constructions, crossed = row_links(shown)
    side = {"judge": "openai/one", "variant": "single", "temperature": 0.0}
    assert {"language": "cs", "metric": "task_quality", **side} in [links["sensitivity"] for links in rows]
    assert constructions[0]["sensitivity"] == {"metric": "m", **side, "construction": "one-error", "compared": True}
    assert crossed[0]["ja"] == {"language": "ja", "metric": "m", **side, "construction": "one-error", "compared": True}
    assert crossed[1]["ja"]["construction"] == "flawless"  # a text that tempts has no flaw to be found by
    assert ablation_figures(shown)[0]["sensitivity"].axis == "flawless text scores above the flawed one"


def test_pairs_stand_below_the_mark_of_the_first_screen(make_verdict: Callable[..., Verdict]) -> None:
    controls = make_verdict(verdict="no verdict", controls="fails", obstacles=("constant",), gap=None, family_bound=None)
    found = first_screen([controls], Known(pairs=[row(), row("cs", controls["metric"]), row("cs", "another")]))
    assert found is not None
    [answer] = found.views[0].answers
    said = "It scores the flawless text of a minimal pair higher in 55 %, equal in 36 %, lower in 9 % of 11 pairs."
    assert answer.sentences == (("good", f"{said} It finds a flaw in 17 % of the flawless texts."),)
    [mark] = answer.list.groups[0].rows
    assert answer.list.pairs and mark.pairs is not None
    assert (mark.pairs.number, mark.pairs.name) == (".73", "pairs: 6/11 found; 2/12 false alarms")
    assert 'class="gap good"' in mark.pairs.drawn and "higher in 6, equal in 4, lower in 1 of 11" in mark.pairs.drawn


@pytest.mark.parametrize(("interval", "style"), [([0.4, 0.6], "open"), ([0.1, 0.4], "bad"), (None, "open")])
def test_a_judge_that_is_not_shown_to_find_flaws(make_verdict: Callable[..., Verdict], interval: Any, style: str) -> None:
    controls = make_verdict(verdict="no verdict", controls="fails", obstacles=("constant",), gap=None, family_bound=None)
    found = first_screen([controls], Known(pairs=[row(sensitivity_ci=interval)]))
    assert found is not None
    [answer] = found.views[0].answers
    assert [found for found, _ in answer.sentences] == [style] and not answer.list.pairs


def test_pairs_of_another_condition_are_not_drawn(make_verdict: Callable[..., Verdict]) -> None:
    controls = make_verdict(verdict="no verdict", controls="fails", obstacles=("constant",), gap=None, family_bound=None)
    found = first_screen([controls], Known(pairs=[row(variant="joint"), row("cs", controls["metric"], variant="joint")]))
    assert found is not None
    [answer] = found.views[0].answers
    assert answer.sentences == () and not answer.list.pairs


def test_flaws_at_two_strengths_have_a_table_of_their_own(sections: dict[str, Any]) -> None:
    both = {"seen_subtle": 0.25, "seen_subtle_ci": [0.1, 0.5], "seen_plain": 0.75, "seen_plain_ci": [0.5, 0.9], "false_alarms": None}
    strengths = [
        row(flaw="*", **both, n_tempting=0, slope=2.197, slope_ci=[0.9, 3.5]),
        row("ja", flaw="*", **both, n_tempting=0, slope=None),
    ]
    strengths += [row(flaw="calque", **both, n_tempting=0, slope=2.197, slope_ci=[0.9, 3.5])]
    sections["minimal_pairs"]["strengths"] = strengths
    console = Console(width=200, color_system=None)
    with console.capture() as captured:
        console.print(render_sections(sections))
    lines = [" ".join(line.split()) for line in captured.get().splitlines()]
    assert any("flaws that come plain and subtle" in line for line in lines)
    assert any(line.startswith("all all 11 25 % [10–50] 75 % [50–90] 2.20 [.90 3.50]") for line in lines)
    assert "minimal_pairs.strengths.csv" in section_csvs(sections)
