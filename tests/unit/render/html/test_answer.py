"""Cells on a page: a judge is set beside people only where both are measured alike, and colour never says anything alone."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from harness.measure.cells import Cell
from harness.measure.score_cells import NOT_CLASSES
from harness.render.html.answer import answer_table, beside_people

MakeCell = Callable[..., Cell]
PAIRED = {"judge_loo": 0.6, "judge_loo_ci": (0.5, 0.7), "human_loo": 0.7, "human_loo_ci": (0.6, 0.8), "loo_gap": -0.1}


def test_with_constructed_labels_there_is_no_comparison_with_people_and_it_says_so(make_cell: MakeCell) -> None:
    words = beside_people([make_cell(**PAIRED)], True)
    assert "constructed" in words and "cannot be compared with people" in words


def test_agreement_of_pairs_alone_cannot_be_compared(make_cell: MakeCell) -> None:
    cell = make_cell(human_pa=0.6, pa_pairwise=0.4)
    assert "cannot be compared with people" in beside_people([cell], False) and "loo_gap" not in answer_table([cell]).figures


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ((-0.2, -0.01), "less than a person does on task quality"),
        ((-0.2, 0.05), "not shown to differ from a person on task quality"),
        ((0.01, 0.2), "more than a person does on task quality"),
        (None, "too few independent texts to tell on task quality"),
    ],
)
def test_the_judge_beside_people_in_words(make_cell: MakeCell, interval: tuple[float, float] | None, words: str) -> None:
    assert words in beside_people([make_cell(**PAIRED, loo_gap_ci=interval)], False)


def test_the_two_matched_figures_are_drawn_together_and_the_baseline_apart(make_cell: MakeCell) -> None:
    lines = answer_table([make_cell(**PAIRED, loo_gap_ci=(-0.2, 0.0))])
    [baseline], [people] = (lines.figures[name].figures for name in ("pa_failed_wrong", "loo_gap"))
    assert people and "judge 60 % [50–70], people 70 % [60–80]" in people
    assert baseline and "people" not in baseline and "a constant answer 67 %" in baseline
    assert {*lines.figures} <= {heading.name for heading in lines.table.headings}


def numbers(cell: Cell) -> Cell:
    """The cell with continuous scores."""
    return msgspec.structs.replace(cell, undefined={"pa": NOT_CLASSES})


NUMBERS = {"kendall_tau": 0.14, "kendall_tau_ci": (0.02, 0.25)}
TWICE = {"human_second_kendall_tau": 0.19, "human_second_kendall_tau_ci": (0.08, 0.3), "score_counts": {"second_ratings": 365}}


def test_numbers_are_compared_by_the_order_of_texts_beside_that_of_two_people(make_cell: MakeCell) -> None:
    cell = numbers(make_cell(**NUMBERS, **TWICE))
    words = beside_people([cell], False)
    assert "Kendall's τ of the judge with people is .14 [.02 .25] on task quality." in words
    assert "of two people who scored the same texts it is .19 [.08 .30] on task quality (n 365)." in words
    assert "a low correlation says little against the judge" in words
    [drawn] = answer_table([cell]).figures["kendall_tau"].figures
    assert drawn and "judge τ .14 [.02 .25], two people .19" in drawn and 'class="people"' in drawn


def test_without_second_scores_nothing_is_said_of_people(make_cell: MakeCell) -> None:
    cell = numbers(make_cell(**NUMBERS))
    assert "Beside people" not in beside_people([cell], False)
    [drawn] = answer_table([cell]).figures["kendall_tau"].figures
    assert drawn and 'class="people"' not in drawn
    assert "kendall_tau" not in answer_table([make_cell()]).figures  # classes are compared by equality
