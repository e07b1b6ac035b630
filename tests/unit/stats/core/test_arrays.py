from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.stats import cell_statistics, count_classes, intervals, tabulate
from harness.stats.core.arrays import Estimates, ScaleError, ShapeError, as_codes, as_index, as_judge, as_labels, as_values, power
from harness.stats.core.groups import group_sums
from harness.stats.core.many_cells import batch_by_shape, on_all_cores, run_lockstep, windows
from harness.stats.core.rows import Rows
from harness.stats.core.statistic import Statistic
from harness.stats.estimation.labels_needed import CellToPlan, about_more_each, use_p
from harness.stats.intervals import bootstrap
from harness.stats.intervals.bootstrap import intervals_on_all_cores
from harness.stats.intervals.intervals import Interval, MeanToTest, scatter_of
from harness.stats.intervals.intervals import tested_mean as mean_alone
from harness.stats.intervals.intervals import tested_means as means_at_once
from harness.stats.intervals.judge_tests import judge_sums, judge_tests, judge_tests_each, one_class_tests
from harness.stats.intervals.noninferiority import gap_sums, guarded_p, guarded_p_each
from tests.unit.stats.estimation.test_labels_needed import about_more


def test_codes_may_be_int_float_or_bool() -> None:
    for given in ([0, 2, -1], [0.0, 2.0, math.nan], np.array([0, 2, -1], np.int8)):
        assert as_codes(given, 3).tolist() == [0, 2, -1]
    assert as_codes([True, False], 2).tolist() == [1, 0]
    assert as_codes([], 3).shape == (0,)


@pytest.mark.parametrize("bad", [[3], [-2], [0.5], [math.inf], ["a"], [None], [3.0]])
def test_codes_off_the_scale_are_refused(bad: list[object]) -> None:
    with pytest.raises(ScaleError, match="class codes 0 to 2"):
        as_codes(bad, 3)  # type: ignore[arg-type]


def test_a_scale_has_classes() -> None:
    with pytest.raises(ScaleError, match="at least one class"):
        as_codes([0], 0)


def test_shapes_are_checked() -> None:
    with pytest.raises(ShapeError, match="items x raters"):
        as_labels([0, 1], 2)
    with pytest.raises(ShapeError, match="labels are of 3 items"):
        as_judge([0, 1], 2, 3)
    with pytest.raises(ShapeError, match="cell"):
        as_index([0, 1], 3, "cell")


def test_values_rise_one_a_class() -> None:
    assert as_values([1, 2, 5], 3).tolist() == [1, 2, 5]
    for bad in ([1, 2], [1, 1, 2], [3, 2, 1]):
        with pytest.raises(ScaleError, match="rising numbers"):
            as_values(bad, 3)


def test_estimates_give_one_cell() -> None:
    many = Estimates(np.array([0.5, np.nan]), np.array([4, 0]), (None, "no overlap"))
    assert many[0] == (0.5, 4, None)
    assert math.isnan(many[1].value) and many[1].reason == "no overlap"


@pytest.mark.parametrize("low", [0, 7, -100, 2**62, -(2**63)])
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64])
def test_index_is_the_rank_among_different_codes(low: int, dtype: type) -> None:
    codes = np.random.default_rng(0).integers(0, 200 if dtype is not np.int8 else 27, 90)
    if not np.iinfo(dtype).min <= low <= np.iinfo(dtype).max - 200 * (dtype is not np.int8):
        pytest.skip("beyond the type")
    given = np.array([low + code for code in codes.tolist()], dtype)
    assert as_index(given, 90, "groups").tolist() == np.unique(given, return_inverse=True)[1].tolist()


@pytest.mark.parametrize("exponent", [1.5, 2, 3, 1 / 7, 90])
def test_powers_are_those_of_c(exponent: float) -> None:
    base = np.random.default_rng(0).uniform(0, 3, 100_000)
    assert power(base, exponent).tolist() == [math.pow(each, exponent) for each in base.tolist()]


CELLS = 12


def cells(text: int, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Gaps, differences from a baseline and groups of cells of 30 to 60 items, some of which have no aggregate."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([30, 60], CELLS)
    gaps = ([0.0, 1 / 3, -1 / 3, -2 / 3], [0.6, 0.2, 0.15, 0.05])
    return [
        (rng.choice(gaps[0], n, p=gaps[1]), rng.choice([0.0, 1.0, -1.0, math.nan], n, p=[0.5, 0.3, 0.1, 0.1]), np.arange(n) // text)
        for n in sizes
    ]


@pytest.mark.parametrize("text", [1, 3])
def test_tests_of_many_cells_are_those_of_each(text: int) -> None:
    sums = [judge_sums(*cell) for cell in cells(text)]
    assert judge_tests_each(sums, 0.1) == [judge_tests(one, 0.1) for one in sums]
    gaps = [gap_sums(gap, group) for gap, _, group in cells(text)]
    assert guarded_p_each(gaps, 0.1) == [guarded_p(one, 0.1) for one in gaps]


@pytest.mark.parametrize("bounds", [(-1.0, 1.0), None])
def test_means_of_many_cells_are_those_of_each(bounds: tuple[float, float] | None) -> None:
    asked = [MeanToTest(group_sums(gap, group), scatter_of(gap), bounds) for gap, _, group in cells(3)]
    few = MeanToTest(group_sums(np.ones(4), np.arange(4)), 0.0, bounds)
    found = means_at_once([*asked, few], level=0.95)
    assert found[:-1] == [mean_alone(*one, level=0.95) for one in asked]
    assert found[-1][0].reason == "too few independent texts"


@pytest.mark.parametrize("text", [1, 3])
def test_plans_of_many_cells_are_those_of_each(text: int) -> None:
    def rule(sums: object) -> np.ndarray:
        return use_p(sums, 0.1, 0.05)  # type: ignore[arg-type]

    some = cells(text)
    found = about_more_each([CellToPlan(judge_sums(*cell), 0.05 / 10) for cell in some], rule)
    alone = [about_more(*cell, cells=10) for cell in some]
    assert list(map(repr, found)) == list(map(repr, alone))  # NaN is equal to NaN there
    assert len({one.more for one in found}) > 3


def test_one_class_of_many_cells_is_that_of_each() -> None:
    rng = np.random.default_rng(1)
    asked = [(rng.integers(0, 3, (n, 3)), rng.choice(3, n, p=[0.9, 0.05, 0.05]), np.arange(n) // 2) for n in (30, 40, 30, 40, 30)]
    for one, alone in zip(one_class_tests(asked), (one_class_tests([each])[0] for each in asked), strict=True):
        assert (one.p, one.others, one.n, one.usual) == (alone.p, alone.others, alone.n, alone.usual)


@pytest.mark.parametrize("text", [1, 3])
def test_intervals_of_a_cell_do_not_depend_on_the_other_cells(text: int) -> None:
    rng = np.random.default_rng(2)
    counts, judge = count_classes(rng.integers(0, 3, (CELLS * 30, 3)), 3), rng.integers(-1, 3, CELLS * 30)
    cell, group = np.repeat(np.arange(CELLS), 30), np.arange(CELLS * 30) // text
    together = intervals(cell_statistics(3, "ordinal"), tabulate(counts, judge, cell=cell, group=group), resamples=200)
    for number in range(CELLS):
        own = cell == number
        alone = intervals(cell_statistics(3, "ordinal"), tabulate(counts[own], judge[own], group=group[own]), resamples=200)
        assert {name: found[number] for name, found in together.items()} == {name: found[0] for name, found in alone.items()}


def test_values_that_are_alike_are_computed_together_and_come_back_in_order() -> None:
    asked: list[list[int]] = []

    def doubled(values: list[int]) -> list[int]:
        asked.append(values)
        return [2 * value for value in values]

    assert batch_by_shape(doubled, [5, 2, 3, 4, 7], lambda value: value % 2, most=2) == [10, 4, 6, 8, 14]
    assert asked == [[5, 3], [7], [2, 4]]
    assert run_lockstep([], lambda asked: asked) == [] and [*windows([], size=int, most=1)] == []


STATISTICS = partial(cell_statistics, 2, "ordinal")


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Rows:
    monkeypatch.setattr("harness.stats.core.many_cells.MANY_CELLS", 4)
    rng = np.random.default_rng(0)
    cell = np.repeat(np.arange(7), 24)
    return tabulate(
        count_classes(rng.integers(0, 2, (len(cell), 3)), 2), rng.integers(0, 2, len(cell)), cell=cell, group=np.arange(len(cell)) // 2
    )


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_the_number_of_processes_changes_no_number(rows: Rows, processes: int) -> None:
    assert intervals_on_all_cores(STATISTICS, rows, processes=processes, seed=3, resamples=100) == intervals(
        STATISTICS(), rows, seed=3, resamples=100
    )


def test_this_process_computes_only_its_own_part(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, here = intervals(STATISTICS(), rows, resamples=100), []

    def counted(statistics: Sequence[Statistic], part: Rows, **drawing: Any) -> dict[str, tuple[Interval, ...]]:
        here.append(part.cells)
        return intervals(statistics, part, **drawing)

    monkeypatch.setattr(bootstrap, "intervals", counted)
    assert intervals_on_all_cores(STATISTICS, rows, processes=2, resamples=100) == expected
    assert here == [3]  # of seven cells


@pytest.mark.parametrize("interpreter", ["/nowhere/python", "/bin/false", None])
def test_without_another_interpreter_cells_are_computed_here(rows: Rows, monkeypatch: pytest.MonkeyPatch, interpreter: str | None) -> None:
    monkeypatch.setattr(sys, "executable", interpreter)
    assert intervals_on_all_cores(STATISTICS, rows, processes=2, resamples=100) == intervals(STATISTICS(), rows, resamples=100)


def test_the_script_of_the_caller_is_not_run_again(tmp_path: Path) -> None:
    import subprocess

    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\nfrom functools import partial\nfrom harness.stats import cell_statistics, tabulate\n"
        "import harness.stats.core.many_cells as p\nfrom harness.stats.intervals.bootstrap import intervals_on_all_cores\n"
        "print('began')\np.MANY_CELLS = 1\n"
        "rows = tabulate(np.tile([[1, 2], [3, 0]], (20, 1)), np.tile([0, 1], 20), cell=np.repeat([0, 1], 20))\n"
        "print(len(intervals_on_all_cores(partial(cell_statistics, 2, 'ordinal'), rows, processes=2)['pa']))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[4])
    assert done.stdout.split() == ["began", "2"]


def test_calls_on_several_cores_come_back_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.stats.core.many_cells.MANY_CELLS", 4)
    assert on_all_cores(partial(np.power, 2), range(11), processes=3) == [2**power for power in range(11)]


def test_an_error_of_a_call_is_raised_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.stats.core.many_cells.MANY_CELLS", 1)
    with pytest.raises(np.linalg.LinAlgError):
        on_all_cores(np.linalg.inv, np.array([np.eye(2), np.zeros((2, 2))]), processes=2)
