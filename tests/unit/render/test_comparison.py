"""Comparisons and label checks in the terminal: nothing is cut or obeyed, and what is undefined is a dash."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType

from harness.annotate.label_check import LabelCheck, WrongLanguageText
from harness.measure.cells import Cell
from harness.measure.compare import Comparison
from harness.render.comparison import render_comparison, render_label_check, show
from harness.render.terminal import signature_line
from harness.reports.tables.numbers import coefficient

MakeCell = Callable[..., Cell]
MakeComparison = Callable[..., Comparison]
HOSTILE = ["[/nope]", "[bold red]loud[/]", ":smile:", "na\x1b[31mme", "ti\u202etle", "a\x07b"]


def shown(found: RenderableType, closing: str = "data:d", width: int = 200) -> str:
    console = Console(width=width, file=io.StringIO(), force_terminal=True, color_system=None)
    show(lambda width: found, closing, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("value", "interval", "text"),
    [
        (0.351, None, ".35"),
        (0.351, (0.208, 0.484), ".35 [.21 .48]"),
        (-0.5, (-1.0, 0.0), "−.50 [−1.00 .00]"),
        (1.0, None, "1.00"),
        (1.25, None, "1.25"),
        (0.999, None, "1.00"),
        (0.0, None, ".00"),
        (10.5, None, "10.50"),
        (-10.05, None, "−10.05"),
        (None, None, "–"),
    ],
)
def test_a_coefficient_as_ink(value: float | None, interval: tuple[float, float] | None, text: str) -> None:
    assert coefficient(value, interval) == text


def test_a_comparison_of_one_judge_names_it_and_how_it_was_asked(make_cell: MakeCell, make_comparison: MakeComparison) -> None:
    assert shown(render_comparison(make_comparison(make_cell()))).startswith("openai/one, single, temperature 0")
    two = shown(render_comparison(make_comparison(make_cell(), make_cell(judge="openai/two"))))
    assert two.lstrip().startswith("Czech") and "openai/two" in two


def test_every_number_stands_in_its_column(make_cell: MakeCell, make_comparison: MakeComparison) -> None:
    text = shown(render_comparison(make_comparison(make_cell())))
    assert "Czech · čeština (cs)" in text
    for piece in (
        "task quality",
        "18",
        "13",
        "46 % [18–77] ‡",
        "−33 [−54 to −13]",
        ".012",
        "40 %",
        "60 %",
        ".21 [−.10 .40]",
        ".25 [.10 .40]",
    ):
        assert piece in text, piece
    assert text.rstrip().endswith("data:d")


def test_what_is_undefined_is_a_dash(make_cell: MakeCell, make_comparison: MakeComparison) -> None:
    text = shown(render_comparison(make_comparison(make_cell(), make_cell(undefined=True, metric="hallucination"))))
    line = next(line for line in text.splitlines() if line.startswith("hallucination"))
    assert "–" in line and not any(word in line for word in ("None", "nan", "null"))


def test_a_nominal_metric_is_shown_without_what_it_lacks(make_cell: MakeCell, make_comparison: MakeComparison) -> None:
    cell = make_cell(leniency=None, kendall_tau=None)
    for name in ("leniency", "kendall_tau"):
        cell.intervals.pop(name)
    assert "46 % [18–77]" in shown(render_comparison(make_comparison(cell)))


def test_languages_have_headings_and_keys_that_tell_nothing_apart_no_column(make_cell: MakeCell, make_comparison: MakeComparison) -> None:
    text = shown(render_comparison(make_comparison(make_cell(), make_cell(language="ja", judge="openai/two"), make_cell(language="*"))))
    assert [line for line in text.splitlines() if "·" in line or line == "All languages"] == [
        "Czech · čeština (cs)",
        "Japanese · 日本語 (ja)",
        "All languages",
    ]
    head = next(line for line in text.splitlines() if line.startswith("metric"))
    assert "judge" in head.split("agreement")[0] and "variant" not in head


def test_a_pair_has_columns_of_its_own(make_cell: MakeCell, make_comparison: MakeComparison) -> None:
    versus = {"with": "openai/two", "diff": 0.1, "ci": (0.05, 0.15), "p": 0.01, "q": 0.0001}
    text = shown(render_comparison(make_comparison(make_cell(versus=versus), make_cell(judge="openai/two"))))
    assert "judge − other" in text and "+10 [+5 to +15]" in text and "<.001" in text
    assert "judge − other" not in shown(render_comparison(make_comparison(make_cell())))


def test_systems_have_columns_of_their_own(make_cell: MakeCell, make_comparison: MakeComparison) -> None:
    text = shown(render_comparison(make_comparison(make_cell(kendall_tau=0.8, kendall_tau_ci=(0.6, 0.9), n=5), level="system")))
    assert "Kendall's τ" in text and ".80 [.60 .90]" in text and "intervals resample texts and keep the systems" in text
    assert "agreement" not in text


def test_class_shares_by_agreement_are_shown_if_asked_for(make_cell: MakeCell, make_comparison: MakeComparison) -> None:
    of: Any = {
        "full": {"items": 5, "labels": {"0": 0.2, "1": 0.8}, "judge": {"0": 0.0, "1": 1.0}},
        "partial": {"items": 3, "labels": {"0": 0.5, "1": 0.5}, "judge": None},
        "none": {"items": 0, "labels": None, "judge": None},
    }
    found = make_comparison(make_cell(distribution_by_agreement=of))
    text = shown(render_comparison(found, distributions=True))
    assert "class shares by agreement" in text and "0:20 1:80" in text and "0:0 1:100" in text
    assert "class shares by agreement" not in shown(render_comparison(found))


@pytest.mark.parametrize("hostile", HOSTILE, ids=ascii)
@pytest.mark.parametrize("field", ["task", "metric", "judge", "variant"])
def test_names_are_shown_as_they_are_and_never_obeyed(
    make_cell: MakeCell, make_comparison: MakeComparison, field: str, hostile: str
) -> None:
    text = shown(
        render_comparison(make_comparison(make_cell(**{field: hostile}), make_cell(**{field: "other"}))), closing=signature_line(hostile)
    )
    assert not set(text) & set("\x1b\u202e\x07")
    visible = hostile.translate(dict.fromkeys(map(ord, "\x1b\u202e\x07")))
    assert visible in text and f"signature  {visible}" in text


@pytest.mark.parametrize("width", [80, 120, 200])
def test_nothing_is_cut(make_cell: MakeCell, make_comparison: MakeComparison, width: int) -> None:
    text = shown(render_comparison(make_comparison(make_cell(metric="a_long_name_of_a_metric"), make_cell())), width=width)
    assert "…" not in text and all(cell_len(line) <= width for line in text.splitlines())


def test_a_pipe_gets_room_and_no_colour(make_cell: MakeCell, make_comparison: MakeComparison, capsys: pytest.CaptureFixture[str]) -> None:
    show(lambda width: render_comparison(make_comparison(make_cell())), "s" * 300)
    text = capsys.readouterr().out
    assert "\x1b" not in text and "46 % [18–77]" in text and "s" * 300 in text


def test_no_cells_are_no_table(make_comparison: MakeComparison) -> None:
    assert shown(render_comparison(make_comparison())).split() == ["data:d"]


# Label checks


LABELS: dict[str, Any] = {
    "language": "cs",
    "task": "summarize",
    "metric": "task_quality",
    "items": 20,
    "labelled": 18,
    "coverage": 0.9,
    "labels": 50,
    "raters": {"2": 4, "3": 14},
    "annotators": None,
    "no_majority": 3,
    "groups": 18,
    "few_rare_cases": False,
    "distribution_labels": {"0": 0.2, "1": 0.3, "2": 0.5},
    "human_pa": 0.71,
    "human_pa_ci": (0.6, 0.8),
    "human_fleiss": 0.42,
    "human_fleiss_ci": None,
    "human_alpha_nominal": 0.4,
    "human_alpha_ordinal": None,
    "human_ac1": 0.5,
    "mean_labels": 1.3,
    "sd_labels": 0.7,
    "pairs": None,
    "undefined": {},
}


@pytest.fixture
def make_check() -> Callable[..., LabelCheck]:
    """A check that found nothing odd in one cell."""

    def make(*cells: dict[str, Any], **other: Any) -> LabelCheck:
        usual: dict[str, Any] = {
            "signature": "data:d",
            "ci_method": "95%",
            "cells": cells or (LABELS,),
            "flagged": (),
            "duplicates": (),
            "misplaced": (),
            "texts_identified": 20,
            "languages_unknown": (),
            "notes": (),
        }
        return LabelCheck(**(usual | other))

    return make


def test_a_label_check_says_how_far_the_numbers_of_two_people_go_together(make_check: Callable[..., LabelCheck]) -> None:
    """Equality says little of numbers, and two people a text are two people."""
    graded = LABELS | {"human_pa": None, "human_alpha_interval": 0.56}
    both = shown(render_label_check(make_check(graded, graded | {"language": "ja", "human_alpha_interval": 0.9})))
    assert both.startswith("Two people's numbers go together with α .90 for ") and "(the most) down to α .56 for" in " ".join(both.split())
    assert shown(render_label_check(make_check(graded))).startswith("Two people's numbers go together with α .56 for ")


def test_a_label_check_shows_who_agrees_and_how_many_labels_there_are(make_check: Callable[..., LabelCheck]) -> None:
    cells = (LABELS, LABELS | {"language": "ja", "metric": "[bold]x", "labelled": 20})
    short = shown(render_label_check(make_check(*cells)))
    assert short.startswith("Two people give the same score to ") and "71 % (" in short and "Nothing looks odd." in short
    assert "[bold]x" in short and "Gwet" not in short
    text = shown(render_label_check(make_check(*cells), all_numbers=True))
    for piece in ("Czech · čeština (cs)", "18 of 20", "4×2, 14×3", "71 % [60–80]", ".42", ".40", ".50", "0:20 1:30 2:50", "[bold]x"):
        assert piece in text, piece
    assert "0 of 20 texts look like another language than they say" in text


def test_what_deserves_a_look_is_listed_up_to_a_number(make_check: Callable[..., LabelCheck]) -> None:
    flag = {"language": "cs", "task": "t", "metric": "m", "annotator": "na\x1bme", "n": 40, "why": "answers constantly"}
    found = make_check(
        flagged=(flag,) * 9,
        duplicates=(["a", "b"],),
        misplaced=(WrongLanguageText("c", "output", "cs", "de", 0.99),),
        languages_unknown=("ch",),
        notes=("Mind this.",),
    )
    text = shown(render_label_check(found, all_numbers=True))
    assert "To look at: 9 remarks on annotators, 1 text that occurs more than once and 1 text in another language." in text
    assert text.count("annotator name: answers constantly (m in Czech, 40 items)") == 8 and "… and 1 more annotators" in text
    for piece in (
        "the same text: a, b",
        "c: says cs, looks like de",
        "1 of 20 texts look like",
        "The language of texts in ch was not checked",
        "Mind this.",
    ):
        assert piece in text, piece
