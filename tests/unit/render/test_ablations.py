"""Ablations on the terminal: a sentence that says what was tested, small tables, nothing that says nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from harness.render.terminal import render_sections
from harness.reports.sections.section_registry import shown_sections

KEY: dict[str, Any] = {
    "language": "ja",
    "task": "*",
    "metric": "linguistic_acceptability",
    "judge": "local/model",
    "variant": "single",
    "temperature": 0.0,
    "top_p": None,
}
MOVED = {
    "perturbation": "shuffle-words:0.1",
    "kind": "shuffle-words",
    "dose": 0.1,
    "segmenter": None,
    "should": -1,
    "undefined": {},
    "n": 24,
    "not_applied": 0,
    "unreadable": 0,
    "unpaired": 0,
    "groups": 12,
    "fell": 0.5,
    "fell_ci": [0.3, 0.7],
    "rose": 0.25,
    "rose_ci": [0.1, 0.4],
    "stayed": 0.25,
    "stayed_ci": [0.1, 0.4],
    "from": "scores",
    "sensitivity": 0.625,
    "sensitivity_ci": [0.52, 0.73],
    "realised_moved": 0.0912,
    "realised_distance": 3.25,
}
STUCK: dict[str, Any] = {
    "n": 0,
    "not_applied": 24,
    "from": None,
    **{name: None for name in ("fell", "rose", "stayed", "sensitivity", "fell_ci", "rose_ci", "stayed_ci", "sensitivity_ci")},
    "undefined": dict.fromkeys(("fell", "rose", "stayed", "sensitivity"), "no text could be changed"),
}
AGREEMENT: dict[str, Any] = {
    "undefined": {},
    "n_ref": 30,
    "n": 28,
    "groups": 10,
    "pa": 0.5,
    "pa_ci": [0.3, 0.7],
    "pa_failed_wrong": 0.47,
    "pa_failed_wrong_ci": [0.28, 0.66],
    "pa_pairwise": 0.5,
    "pa_pairwise_ci": [0.3, 0.7],
    "human_pa": 0.6,
    "human_pa_ci": [0.4, 0.8],
    "pairwise_gap": -0.1,
    "pairwise_gap_ci": [-0.3, 0.1],
    "versus": None,
    **{name: None for name in ("diff", "diff_ci", "diff_p", "diff_q")},
    "diff_n": 0,
}
BETTER = {"versus": "single", "diff": 0.2, "diff_ci": [0.1, 0.3], "diff_n": 28, "diff_p": 0.001, "diff_q": 0.004}


def words(text: str) -> str:
    """The text in one line, as a sentence may be broken anywhere."""
    return " ".join(text.split())


def section(*rows: dict[str, Any], title: str = "A title", **more: Any) -> dict[str, Any]:
    return {"title": title, "rows": list(rows), **more}


@pytest.fixture
def shown() -> Callable[..., str]:
    """The sections as a wide terminal shows them."""

    def show(**sections: Any) -> str:
        console = Console(width=250, color_system=None)
        with console.capture() as captured:
            console.print(render_sections(sections))
        return captured.get()

    return show


def test_sensitivity(shown: Callable[..., str]) -> None:
    text = shown(perturbations=section({**KEY, **MOVED}, {**KEY, "language": "zh", **MOVED, **STUCK}))
    assert "Sensitivity is how often the original scores above the changed text, ties counting half." in words(text)
    assert "above ½ (the changed text is found worse) in 1, below ½ in 0 of 1 rows" in words(text)
    assert "In 1 rows no text could be changed: that is not insensitivity." in words(text)
    line = next(line for line in text.splitlines() if line.startswith("ja"))
    assert all(part in line for part in ("24", "fall", "50 % [30–70]", ".62 [.52 .73]", "scores", "moved 0.091, distance 3.2"))
    stuck = next(line for line in text.splitlines() if line.startswith("zh"))
    assert "24" in stuck and stuck.count("–") == 5


def test_what_all_rows_share_stands_above_and_what_says_nothing_is_dropped(shown: Callable[..., str]) -> None:
    sections = {"perturbations": section({**KEY, **MOVED}, {**KEY, "language": "zh", **MOVED})}
    text = shown(**sections)
    assert "metric linguistic acceptability, judge local/model, variant single, temperature 0, perturbation shuffle-words:0.1" in text
    headings = ["language", "pairs", "should", "fell [95 %]", "rose [95 %]", "stayed [95 %]", "sensitivity [95 %]", "from", "achieved"]
    [table] = shown_sections(sections)[0].tables
    assert [heading.text for heading in table.headings] == headings
    for heading in table.headings:
        assert heading.key or f"\n{heading.text.removesuffix(' [95 %]')}: " in text


def test_where_nothing_can_be_said_the_reason_stands(shown: Callable[..., str]) -> None:
    row = {name: value for name, value in {**KEY, **MOVED, **STUCK}.items() if not name.startswith("realised_")}
    text = shown(perturbations=section(row | {"should": None}))
    assert "No result: no text could be changed." in text and "–" not in text


def test_variants_are_compared(shown: Callable[..., str]) -> None:
    rows = ({**KEY, **AGREEMENT}, {**KEY, **AGREEMENT, "variant": "joint", **BETTER})
    text = shown(variants=section(*rows))
    assert "Shown (q < .05, all levels): better in 1, worse in 0 of 1 tests." in text
    assert "+20 [+10 to +30]" in text and ".004" in text and "−10 [−30 to +10]" in text


def test_one_variant_is_the_report_itself(shown: Callable[..., str]) -> None:
    assert shown(variants=section({**KEY, **AGREEMENT})).strip() == ""


def test_nothing_of_nothing(shown: Callable[..., str]) -> None:
    assert shown().strip() == ""


def test_trends_stand_below_the_temperatures(shown: Callable[..., str]) -> None:
    trend = {
        **KEY,
        "temperature": "*",
        "undefined": {"page_l": "fewer than three conditions", "page_p": "fewer than three conditions"},
        "slope": -0.31,
        "slope_ci": [-0.5, -0.1],
        "slope_n": 24,
        "slope_p": 0.01,
        "slope_q": 0.02,
        "page_l": None,
        "page_p": None,
        "page_blocks": 0,
        "page_q": None,
    }
    rows = ({**KEY, **AGREEMENT}, {**KEY, **AGREEMENT, "temperature": 1.0, **BETTER})
    text = shown(temperature=section(*rows, trends=[trend]))
    assert "rising in 0, falling in 1 of 1 tests" in words(text) and "−31 [−50 to −10]" in text
    assert "Page's L" not in text  # says nothing here


def test_the_finest_level_is_left_to_the_file(shown: Callable[..., str]) -> None:
    fine = [{**KEY, **MOVED, "task": task} for task in ("summarize", "open_prompt")]
    text = shown(perturbations=section({**KEY, **MOVED}, *fine))
    assert "summarize" not in text and text.count(".62 [.52 .73]") == 1


def test_many_rows_of_a_finer_level_are_left_to_the_file(shown: Callable[..., str]) -> None:
    def row(language: str, metric: str) -> dict[str, Any]:
        return {**KEY, "language": language, "metric": metric, **AGREEMENT, "shots": 0}

    languages = [f"l{n}" for n in range(9)]
    coarse, fine = [row(one, "*") for one in languages], [row(one, f"m{n}") for one in languages for n in range(5)]
    assert "m3" not in shown(few_shot=section(*coarse, *fine))
    assert "m3" in shown(few_shot=section(*coarse[:1], *fine[:5]))


def test_the_languages_of_justifications(shown: Callable[..., str]) -> None:
    row = {**KEY, "metric": "*", "asked_language": "ja", "undefined": {}, "n": 9, "too_short": 1, "in_asked_language": 0.333}
    text = shown(justification_language=section({**row, "in_asked_language_ci": None, "other_languages": {"en": 5, "zh": 1}}))
    assert "33 %" in text and "en 5, zh 1" in text and "In the language asked: 33 %." in text


def test_control_characters_stay_out_of_the_terminal(shown: Callable[..., str]) -> None:
    text = shown(perturbations=section({**KEY, **MOVED, "judge": "a\x1b[31mb", "metric": "m\x07"}, title="t\x1b"))
    assert "\x1b" not in text and "\x07" not in text


def test_answers_with_several_scores_are_shown(shown: Callable[..., str]) -> None:
    row = {"undefined": {}, "n": 8, "several_n": 4, "unreadable": 1, "several": 0.57, "several_ci": [0.2, 0.8]}
    row |= {"refused": 0.125, "refused_ci": [0.0, 0.4]}
    examples = [{"item": f"text {n}", "metric": "m", "judge": "j", "score": 4.0, "further_numbers": "3\x1b[31m"} for n in range(4)]
    text = shown(free_text=section({**KEY, **row}, several=4, examples=examples))
    assert "4 answers name more than one score: text 0 (m): 4.0, then 3" in text and "text 3" not in text and "\x1b" not in text
    assert "naming several" in text and "several scores" in text and "refused" in text


def test_pairs_without_systems_are_named(shown: Callable[..., str]) -> None:
    row = {"undefined": {}, "n": 2, "pairs": 2, "unreadable": 0, "identical": 0, "first_position": 0.5}
    found = section({**KEY, **row}, systems=[], identical=[], unnamed=["one", "two"])
    assert "2 pairs do not name both systems (system_a, system_b), so systems cannot be compared there: one, two." in shown(pairs=found)
