"""How far two people agree, beside the judges: one sentence, and none without second ratings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.measure.cells import Cell
from harness.render.human_agreement import two_people_sentence

MakeCell = Callable[..., Cell]
CI = {"human_second_pearson_ci": (-0.3, 0.5)}
CZECH: dict[str, Any] = {"language": "cs", "human_second_pearson": 0.002, "human_second_kendall_tau": -0.06, **CI}
JAPANESE: dict[str, Any] = {"language": "ja", "human_second_pearson": 0.36, "human_second_kendall_tau": 0.19, **CI}


@pytest.fixture
def numeric(make_cell: MakeCell) -> MakeCell:
    return lambda **other: make_cell(**({"pearson": 0.2, "kendall_tau": 0.1, "score_counts": {"second_ratings": 1089}} | other))


def test_without_second_ratings_nothing_is_said(numeric: MakeCell) -> None:
    assert two_people_sentence([]) == two_people_sentence([numeric()]) == ""


def test_of_too_few_texts_for_an_interval_nothing_is_said(numeric: MakeCell) -> None:
    assert two_people_sentence([numeric(**CZECH | {"human_second_pearson_ci": None}, score_counts={"second_ratings": 4})]) == ""


def test_people_stand_beside_the_lowest_and_the_highest_judge_of_each_language(numeric: MakeCell) -> None:
    judges = [{"judge": "openai/one"}, {"judge": "openai/two", "pearson": -0.07, "kendall_tau": None}]
    sentence = two_people_sentence([numeric(**place, **judge) for place in (CZECH, JAPANESE) for judge in judges])
    assert sentence.replace("\u00a0", " ") == (
        "In Czech a second person scored 1,089 texts: the two people's scores correlate by r .00, τ −.06, the scores of judges and people "
        "by r −.07 to .20, τ .10. In Japanese a second person scored 1,089 texts: the two people's scores correlate by r .36, τ .19, the "
        "scores of judges and people by r −.07 to .20, τ .10. Where people agree little, a low correlation says little against a judge."
    )


def test_people_who_agree_excuse_no_judge(numeric: MakeCell) -> None:
    sentence = two_people_sentence([numeric(language="cs", human_second_pearson=0.8, human_second_kendall_tau=0.7, **CI)])
    assert sentence.endswith("the scores of the judge and people by r\u00a0.20, τ\u00a0.10.")


def test_baselines_and_pooled_cells_do_not_count(numeric: MakeCell) -> None:
    assert two_people_sentence([numeric(judge="baseline/majority", **{**CZECH}), numeric(**{**CZECH, "language": "*"})]) == ""


def test_metrics_are_named_where_they_differ(numeric: MakeCell) -> None:
    sentence = two_people_sentence([numeric(metric=name, **CZECH) for name in ("coherence", "surprise")])
    assert "In Czech (coherence) a second person scored 1,089 texts:" in sentence and " In Czech (surprise) a second" in sentence
