""""""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from scipy.stats import norm

from harness.stats.estimation.choose_and_confirm import margin_score_p


def _outcome(won: int, lost: int, n: int) -> np.ndarray:
    return np.repeat([1.0, -1.0, 0.0], [won, lost, n - won - lost])


@pytest.mark.parametrize(("won", "lost", "n", "margin"), [(3, 20, 150, 0.1), (0, 0, 70, 0.1), (10, 9, 40, 0.05), (0, 1, 10, 0.3)])
def test_the_variance_is_that_of_the_likeliest_losses(won: int, lost: int, n: int, margin: float) -> None:
    def unlikely(q: float) -> float:
        return -float(xlogy(won, q - margin) + xlogy(lost, q) + xlogy(n - won - lost, 1 - 2 * q + margin))

    q = minimize_scalar(unlikely, bounds=(margin, (1 + margin) / 2), method="bounded", options={"xatol": 1e-12}).x
    z = (won - lost + n * margin) / math.sqrt(n * (2 * q - margin * (1 + margin)))
    assert margin_score_p(_outcome(won, lost, n), range(n), margin) == pytest.approx(float(norm.sf(z)), abs=1e-6)


def test_texts_that_are_alike_count_once() -> None:
    once, twice = _outcome(5, 4, 40), np.repeat(_outcome(5, 4, 40), 2)
    alone = margin_score_p(once, range(40), 0.1)
    assert margin_score_p(twice, np.repeat(range(40), 2), 0.1) == pytest.approx(alone, rel=0.1)
    assert margin_score_p(twice, range(80), 0.1) < alone / 2


def test_it_is_undefined_with_one_group_and_defined_where_all_texts_are_lost() -> None:
    assert math.isnan(margin_score_p([0, 0, 1], [1, 1, 1], 0.1))
    assert margin_score_p(_outcome(0, 20, 20), range(20), 0.1) > 0.99
    assert margin_score_p(np.zeros(20), np.repeat([0, 1], 10), 0.1) > 0.05, "two groups show nothing"
