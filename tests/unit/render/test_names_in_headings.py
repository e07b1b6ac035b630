"""A judge's name with line breaks stays on the line of its heading, in every form of a comparison."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

NAME = "evil\n## Use it\u2028now"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    items = [{"item_id": f"i{n}", "language": "cs", "task": "open_prompt", "prompt": "x", "output": f"t {n}"} for n in range(40)]
    labels = [
        {"item_id": item["item_id"], "annotator_id": who, "metric": "kind", "score": n % 2} for n, item in enumerate(items) for who in "ab"
    ]
    judged = [
        {"item_id": item["item_id"], "judge": judge, "metric": "kind", "score": (n // 3) % 2}
        for n, item in enumerate(items)
        for judge in (NAME, "calm")
    ]
    for file, rows in (("items", items), ("labels", labels), ("judgments", judged)):
        (tmp_path / f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "data.toml").write_text(
        'id = "nl"\nversion = "1.0.0"\ntitle = "t"\n[metrics.kind]\nkind = "ordinal"\nclasses = [0, 1]\nbest = 1\n'
    )
    return tmp_path


@pytest.mark.parametrize("form", [(), ("--md",), ("--latex",)])
def test_no_line_begins_within_the_name(cli: Callable[..., Any], folder: Path, form: tuple[str, ...]) -> None:
    done = cli("compare", folder, *form)
    assert done.code == 0, done.err
    assert "evil" in done.out
    assert not any(line.lstrip().startswith(("## Use it", "now")) for line in done.out.splitlines()), form


def test_csv_keeps_its_rows(cli: Callable[..., Any], folder: Path) -> None:
    rows = list(csv.reader(io.StringIO(cli("compare", folder, "--csv").out)))
    assert len({len(row) for row in rows}) == 1
