"""One judge in one language over all metrics together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.measure.cells import Cell
from harness.measure.compare import Recording, compare, table_of_all
from harness.measure.options import MeasureOptions
from harness.measure.recordings import recording
from harness.measure.summaries import LabelScorePairs, LanguageSummary, label_score_pairs, pooled_differences, summaries
from harness.model import Failure, Item, Judgment, Label, Scale
from harness.stats import Difference, Interval
from tests.unit.made_judgments import letters
from tests.unit.measure.test_outcomes import judged, recorded

MakeItem = Callable[..., Item]
MakeData = Callable[..., Dataset]
Judged = Callable[..., Judgment]

THREE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
JUDGE = "openai/one"


BETTER, WORSE, UNCLEAR = (0.1, 0.5), (-0.5, -0.1), (-0.1, 0.5)


def beaten(metric: str, interval: tuple[float, float] | None, *, judge: str = JUDGE, **other: Any) -> Cell:
    """A cell whose judge differs from the baseline by something in `interval`."""
    fields: dict[str, Any] = dict.fromkeys(Cell.__struct_fields__)
    key = {"language": "cs", "task": "*", "metric": metric, "judge": judge, "variant": "single", "temperature": 0.0}
    own = {"key": key, "undefined": {}, "n_ref": 2, "n": 1, "values": {"pa_failed_wrong": 0.5}, "vs_baseline": {"ci": interval, "pa": 0.25}}
    return Cell(**(fields | own | other))


def summary(*cells: Cell) -> LanguageSummary:
    [one] = summaries(cells)
    return one


def test_shares_are_over_all_references_and_a_cell_without_any_counts_nothing() -> None:
    empty = {"n_ref": 0, "n": 0, "values": {"pa_failed_wrong": None}, "vs_baseline": {"ci": None, "pa": None}}
    large = {"n_ref": 6, "values": {"pa_failed_wrong": 1.0}, "vs_baseline": {"ci": None, "pa": 0.75}}
    found = summary(beaten("p", None), beaten("q", None, **empty), beaten("r", None, **large))
    assert (found.n_ref, found.pa_failed_wrong, found.baseline) == (8, (0.5 * 2 + 6) / 8, (0.25 * 2 + 0.75 * 6) / 8)
    assert summary(beaten("q", None, **empty)).pa_failed_wrong == 0.0


def apart(ci: tuple[float, float]) -> dict[tuple[Any, ...], Difference]:
    """A difference over all metrics with this interval."""
    interval = Interval(*ci, "made up", 12, None, None)
    return {("cs", JUDGE, "single", 0.0, None): Difference(sum(ci) / 2, 24, interval, 0.01, "H0", None)}


def test_the_difference_over_all_metrics_is_the_pooled_one() -> None:
    cells = [beaten("m0", BETTER), beaten("m1", None)]
    [found] = summaries(cells, apart(WORSE))
    assert (found.ci, found.diff, found.p) == (WORSE, sum(WORSE) / 2, 0.01)
    [without] = summaries(cells)
    assert (without.ci, without.diff, without.p) == (None, None, None)


def test_a_text_that_several_metrics_ask_about_is_one_group(make_item: MakeItem, make_data: MakeData, judged: Judged) -> None:
    """Eight texts with two metrics each are eight groups; repeats of a question are averaged, and failures are wrong."""
    items = [make_item(name) for name in letters(8)]
    scores = {name: number % 3 for number, name in enumerate(letters(8))}
    data = msgspec.structs.replace(
        make_data(items, scores),
        labels=Labels.from_rows([Label(name, "x", metric, scores[name]) for name in scores for metric in ("m", "n")]),
    )
    data = msgspec.structs.replace(data, scales={"m": THREE, "n": THREE})
    answers = [judged(name, scores[name], judge=JUDGE, metric=metric, repeat=r) for name in scores for metric in "mn" for r in (0, 1)]
    answers[0] = judged("a", Failure.REFUSED, judge=JUDGE, metric="m", repeat=0)
    [found] = pooled_differences(recording(Judgments.from_rows(answers), data, data), MeasureOptions()).values()
    assert (found.n, found.interval.groups) == (16, 8)
    assert found.diff == pytest.approx(1 - 0.5 / 16 - 3 / 8)


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
