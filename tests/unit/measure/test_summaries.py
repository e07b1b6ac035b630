"""One judge in one language over all metrics together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.measure.cells import Cell
from harness.measure.options import MeasureOptions
from harness.measure.recorded_run import recording
from harness.measure.summaries import LanguageSummary, pooled_differences, summaries
from harness.model import Failure, Item, Judgment, Label, Scale
from harness.stats import Difference, Interval

MakeItem = Callable[..., Item]
MakeData = Callable[..., Dataset]
Judged = Callable[..., Judgment]

THREE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
JUDGE = "openai/one"


def letters(count: int) -> list[str]:
    return [chr(ord("a") + number) for number in range(count)]


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
