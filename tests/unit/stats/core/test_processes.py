"""Many cells on several cores."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.stats import cell_statistics, count_classes, intervals, tabulate
from harness.stats.core.processes import intervals_on_all_cores, on_all_cores
from harness.stats.core.rows import Rows
from harness.stats.core.statistic import Statistic
from harness.stats.intervals.intervals import Interval

STATISTICS = partial(cell_statistics, 2, "ordinal")


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Rows:
    monkeypatch.setattr("harness.stats.core.processes.MANY_CELLS", 4)
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

    monkeypatch.setattr("harness.stats.core.processes.intervals", counted)
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
        "import harness.stats.core.processes as p\nprint('began')\np.MANY_CELLS = 1\n"
        "rows = tabulate(np.tile([[1, 2], [3, 0]], (20, 1)), np.tile([0, 1], 20), cell=np.repeat([0, 1], 20))\n"
        "print(len(p.intervals_on_all_cores(partial(cell_statistics, 2, 'ordinal'), rows, processes=2)['pa']))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[4])
    assert done.stdout.split() == ["began", "2"]


def test_calls_on_several_cores_come_back_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.stats.core.processes.MANY_CELLS", 4)
    assert on_all_cores(partial(np.power, 2), range(11), processes=3) == [2**power for power in range(11)]


def test_an_error_of_a_call_is_raised_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.stats.core.processes.MANY_CELLS", 1)
    with pytest.raises(np.linalg.LinAlgError):
        on_all_cores(np.linalg.inv, np.array([np.eye(2), np.zeros((2, 2))]), processes=2)
