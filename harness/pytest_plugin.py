"""A pytest plug-in: a judged table as a fixture, and one assertion on what the judge may be used for.

def test_the_judge_is_usable(judge_table):
    assert_judge_usable(judge_table("answers.csv"), metric="rating", language="cs", bar=".9")
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.exchange.labels.table_options import TableOptions
    from harness.sources import OpenedSource


@pytest.fixture
def judge_table(request: pytest.FixtureRequest) -> Callable[..., OpenedSource]:
    """Return a function that opens a table with people's and judges' scores: a file beside the test, or a frame."""
    from harness.sources import opened_table

    def open_table(table: Any, options: TableOptions | None = None) -> OpenedSource:
        __tracebackhide__ = True
        source = Path(request.path).parent / table if isinstance(table, (str, Path)) else table
        if isinstance(source, Path) and not source.exists():
            pytest.fail(f"{source} does not exist; judge_table opens a table beside the test", pytrace=False)
        with _failing():
            return opened_table([source], options).source

    return open_table


def assert_judge_usable(
    table: Any, *, metric: str | None = None, language: str | None = None, judge: str | None = None, bar: str | float | None = None
) -> None:
    """Fail unless every verdict on a judge is `use`; the message is the answer that `harness compare` prints.

    Args:
        table: what `judge_table` opens, the path of a table or a data folder, or a frame.
        metric, language, judge: only the verdicts of these.
        bar: what the judge is held against where one person labelled each text, as `--bar` takes it.
    """
    __tracebackhide__ = True
    from rich.console import Console

    from harness.api import compare
    from harness.decide.options import CompareOptions
    from harness.render.comparison import render_comparison

    where = {name: (value,) for name, value in (("metric", metric), ("language", language)) if value is not None}
    with _failing():
        judges = None if judge is None else (judge,)
        compared = compare(table, CompareOptions(judges=judges, where=where, bar=None if bar is None else str(bar)))
    usable = sum(verdict.decision.verdict == "use" for verdict in compared.verdicts)
    if not compared.verdicts or usable < len(compared.verdicts):
        answer = io.StringIO()
        Console(width=140, file=answer).print(render_comparison(compared, width=140))
        lines = [line.rstrip() for line in answer.getvalue().splitlines() if not line.startswith("--all adds")]  # a flag of the command
        asserted = f"assert_judge_usable: {usable} of {len(compared.verdicts)} verdicts are 'use', and all have to be"
        pytest.fail("\n".join([asserted, *lines]).rstrip(), pytrace=False)


@contextmanager
def _failing() -> Iterator[None]:
    """Fail with the sentence of an error, such as of a column that nothing explains: its traceback says nothing more."""
    from harness.errors import HarnessError

    __tracebackhide__ = True
    try:
        yield
    except HarnessError as err:
        raise pytest.fail.Exception(str(err), pytrace=False) from None
