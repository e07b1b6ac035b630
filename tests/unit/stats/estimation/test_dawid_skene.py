"""Dawid and Skene's model finds the judges' confusion where errors are independent, and claims too much where they are shared."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.estimation.dawid_skene import dawid_skene


def panel(rng: np.random.Generator, n: int, right: list[float], shared: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """True classes and scores of judges; on a share of the items all errors come from one draw."""
    true = rng.integers(0, 2, n)
    alone, common = rng.random((n, len(right))), rng.random((n, 1))
    draw = np.where(rng.random((n, 1)) < shared, common, alone)
    return true, np.where(draw < np.array(right), true[:, None], 1 - true[:, None])


def test_confusions_are_recovered() -> None:
    true, scores = panel(np.random.default_rng(1), 4000, [0.9, 0.75, 0.7])
    found = dawid_skene(scores, 2)
    assert found.confusion[:, [0, 1], [0, 1]] == pytest.approx(np.array([[0.9] * 2, [0.75] * 2, [0.7] * 2]), abs=0.06)
    assert (found.answer == true).mean() > 0.89


def test_shared_errors_make_it_claim_too_much() -> None:
    true, scores = panel(np.random.default_rng(1), 4000, [0.75] * 3, shared=0.6)
    found = dawid_skene(scores, 2)
    assert found.posterior.max(axis=1).mean() > 0.96 and (found.answer == true).mean() < 0.82


@given(st.lists(st.lists(st.integers(-1, 2), min_size=3, max_size=3), min_size=1, max_size=25))
def test_posteriors_add_up_and_likelihood_rises(scores: list[list[int]]) -> None:
    found = dawid_skene(scores, 3, steps=6)
    known = (np.array(scores) >= 0).any(axis=1)
    assert np.isnan(found.posterior[~known]).all() and found.posterior[known].sum(axis=1) == pytest.approx(1)
    assert ((found.answer >= 0) == known).all()
    if known.any():
        assert dawid_skene(scores, 3, steps=7).loglik >= found.loglik - 1e-9


def test_the_names_of_classes_do_not_matter() -> None:
    _, scores = panel(np.random.default_rng(3), 100, [0.8, 0.7, 0.6])
    assert dawid_skene(1 - scores, 2).posterior[:, ::-1] == pytest.approx(dawid_skene(scores, 2).posterior)


def test_edges() -> None:
    nobody = dawid_skene([[-1, -1]], 2)
    assert np.isnan(nobody.posterior).all() and nobody.answer.tolist() == [-1] and np.isnan(nobody.loglik)
    silent = dawid_skene([[0, -1], [1, -1]], 2)
    assert np.isnan(silent.confusion[1]).all() and silent.answer.tolist() == [0, 1]
    constant = dawid_skene(np.ones((5, 3)), 3)
    assert constant.answer.tolist() == [1] * 5 and constant.class_shares.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="one step"):
        dawid_skene([[0]], 2, steps=0)
