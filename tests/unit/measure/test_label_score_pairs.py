"""Labels and scores of the same texts count what the cells count."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from harness.measure.compare import Recording, compare, table_of_all
from harness.measure.label_score_pairs import LabelScorePairs, label_score_pairs
from harness.measure.options import MeasureOptions
from harness.model import Scale
from tests.unit.measure.test_outcomes import judged, recorded


def only(source: Recording) -> LabelScorePairs:
    [one] = label_score_pairs(table_of_all(source, MeasureOptions()))
    return one


def on_scale(source: Recording, **scale: Any) -> Recording:
    return msgspec.structs.replace(source, data=msgspec.structs.replace(source.data, scales={"m": Scale(**scale)}))


def test_confusion_counts_sum_to_what_the_cell_rests_on() -> None:
    labels = {f"t{n}": [n % 3, n % 3, 0] for n in range(30)} | {"split": [0, 1, 2], "alone": [1]}
    answers = [judged(name, None if n % 7 == 0 else n % 2) for n, name in enumerate(labels)]
    answers.append(judged("t1", 2, perturbation="shuffle-words:0.1"))
    source = recorded(labels, answers)
    one = only(source)
    [cell] = compare([source], MeasureOptions()).cells
    counts = np.array(one.counts)
    assert one.classes == (0, 1, 2) and counts.shape == (3, 4)
    assert counts.sum() == cell.n_ref and counts[:, 3].sum() == cell.n_ref - cell.n
    assert np.trace(counts) == round(cell["pa_failed_wrong"] * cell.n_ref)


def test_classes_go_from_the_worst_to_the_best() -> None:
    source = recorded({"a": [0, 0], "b": [2, 2]}, [judged("a", 0), judged("b", 0)])
    assert only(on_scale(source, kind="ordinal", classes=(0, 1, 2), best=0)).classes == (2, 1, 0)
    assert only(on_scale(source, kind="ordinal", classes=(0, 1, 2), best=0)).counts == ((0, 0, 1, 0), (0, 0, 0, 0), (0, 0, 1, 0))


def test_scores_along_the_mean_are_of_texts_with_two_annotators() -> None:
    source = recorded({"a": [0, 1], "b": [1, 1], "c": [2, 2], "d": [2]}, [judged("a", 0), judged("b", 2), judged("c", 2), judged("d", 0)])
    points = [(point.label, point.score, point.n) for point in only(source).by_mean]
    assert points == [(0.5, 0.0, 1), (1.0, 2.0, 1), (2.0, 2.0, 1)], "also texts without a commonest class"
    assert only(source).ends == (0.0, 2.0)


def test_many_means_share_bins() -> None:
    labels = {f"t{n}": [float(n), float(n)] for n in range(100)}
    source = on_scale(recorded(labels, [judged(name, n) for n, name in enumerate(labels)]), kind="interval", min=0, max=100)  # type: ignore[arg-type]
    one = only(source)
    assert 2 < len(one.by_mean) <= 9 and sum(point.n for point in one.by_mean) == 100
    assert all(point.score == pytest.approx(point.label) for point in one.by_mean)
    assert one.classes == () and one.counts == (), "no matrix of a hundred classes"


def test_a_scale_without_order_has_no_means() -> None:
    source = on_scale(recorded({"a": [0, 0]}, [judged("a", 0)]), kind="nominal", classes=(0, 1, 2))
    assert only(source).by_mean == () and only(source).ends is None


def test_reliability_is_of_readable_answers_with_a_reference() -> None:
    labels = {f"t{n}": [1, 1] for n in range(40)} | {"split": [0, 1]}
    answers = [judged(name, n % 2, probs={"0": 0.1, "1": 0.9} if n % 2 else {"0": 0.6, "1": 0.4}) for n, name in enumerate(labels)]
    low, high = only(recorded(labels, answers)).reliability
    assert (low.n, low.confidence, low.right) == (20, pytest.approx(0.6), 0.0)
    assert (high.n, high.confidence, high.right) == (20, pytest.approx(0.9), 1.0)
