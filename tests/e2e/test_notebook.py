"""The API where an event loop is running already, as in a notebook."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import harness
from harness.errors import StoreError
from tests.conftest import HANG_SECONDS
from tests.e2e.conftest import MODEL


def spec(endpoint: Any) -> Any:
    return harness.RunSpec(languages=("cs",), tasks=("open_prompt",), limit=2, judges=(f"openai/{MODEL}",), base_url=endpoint.url)


def in_a_loop(do: Callable[[], Any]) -> Any:
    async def cell() -> Any:
        return do()

    return asyncio.run(cell())


def test_a_run_in_a_running_loop_is_the_same_run(endpoint: Any, out: Path, tmp_path: Path) -> None:
    inside = in_a_loop(lambda: harness.run(spec(endpoint), out))
    outside = harness.run(spec(endpoint), tmp_path / "other")
    assert len(endpoint.requests) == 8 and inside.name == outside.name
    for result in (inside, outside):
        harness.report(result)
    assert (inside.folder / "judgments.parquet").read_bytes() == (outside.folder / "judgments.parquet").read_bytes()
    assert in_a_loop(lambda: harness.compare(inside)).cells == harness.compare(inside).cells


def test_errors_reach_the_cell(endpoint: Any, out: Path) -> None:
    endpoint.script = lambda request: endpoint.error(401, "Who are you?")
    with pytest.raises(harness.HarnessError, match="401: Who are you"):
        in_a_loop(lambda: harness.run(spec(endpoint), out))


def test_a_folder_in_use_is_said_in_the_cell(endpoint: Any, out: Path) -> None:
    from harness.store import Store

    with Store.writing(out), pytest.raises(StoreError, match="in use"):
        in_a_loop(lambda: harness.run(spec(endpoint), out))


_CELL = """
import asyncio, sys
import harness
from harness.errors import IncompleteRun

async def cell():
    spec = harness.RunSpec(languages=("cs",), tasks=("open_prompt",), limit=2, judges=(sys.argv[1],), base_url=sys.argv[2])
    try:
        harness.run(spec, sys.argv[3], settings=harness.Settings(concurrency={"": 1}))
    except IncompleteRun as err:
        print(err)
    print("the cell goes on")

asyncio.run(cell())
"""


@pytest.mark.slow
def test_an_interruption_ends_the_run_and_keeps_what_came(endpoint: Any, out: Path, replies: Callable[[Path], Any]) -> None:
    good, third = endpoint.script, []

    def answer(request: Any) -> Any:
        if len(endpoint.requests) == 3:
            third.append(request)
            process.send_signal(signal.SIGINT)
            while process.poll() is None:  # it does not wait for this answer
                try:
                    process.wait(0.05)
                except subprocess.TimeoutExpired:
                    continue
        return good(request)

    endpoint.script = answer
    command = [sys.executable, "-c", _CELL, f"openai/{MODEL}", endpoint.url, str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said, trouble = process.communicate(timeout=60)
    assert "interrupted; calls without an answer: 2 of" in said and "the cell goes on" in said, trouble
    assert len(third) == 1 and len(replies(out)) == 2
    result = in_a_loop(lambda: harness.run(spec(endpoint), out))
    assert len(replies(out)) == 4 and json.loads((result.folder / "run.json").read_bytes())["missing"] == {f"openai/{MODEL}": 0}


def readme_cells() -> list[str]:
    text = (Path(harness.__file__).parents[1] / "README.md").read_text("utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_cells_of_the_readme_run_in_a_kernel_and_show_tables(tmp_path: Path) -> None:
    cells = readme_cells()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = NotebookClient(notebook, kernel_name="python3", timeout=HANG_SECONDS, resources={"metadata": {"path": str(tmp_path)}})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the kernel's own libraries
        client.execute()
    shown = [output["data"]["text/html"] for cell in notebook.cells for output in cell.outputs if output.output_type == "execute_result"]
    report, comparison, frame = shown
    assert report.startswith("<div>") and "Control items (constructed labels)" in report and "Signature of baseline/majority" in report
    assert "Czech · čeština (cs)" in comparison and "<table>" in comparison
    assert frame.count("<tr") == 1 + 2 * 2 * 5 and "minus_constant" in frame  # languages, judges, metrics
    assert (tmp_path / "results" / "store.sqlite").is_file()
