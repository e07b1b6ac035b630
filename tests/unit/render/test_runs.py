"""The list of runs: a table on a terminal, names alone for programs; a damaged record is no error."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness.render.runs import print_runs
from harness.runs import run_record

RECORD: dict[str, Any] = {
    "sessions": [{"started": 1_700_000_000.0}],
    "protocol": {"identities": [{"provider": "openai", "model": "m\x1b[31m"}], "languages": ["cs", "ja"]},
    "missing": {"openai/m": 0},
}


def shown(**records: Any) -> str:
    console = Console(width=100, file=io.StringIO(), force_terminal=True, color_system=None)
    print_runs(records, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_terminal_shows_date_judges_languages_and_state() -> None:
    text = shown(done=RECORD, part=RECORD | {"missing": {"openai/m": 1200}}, stopped=None)
    done, part, stopped = (next(line for line in text.splitlines() if line.startswith(name)) for name in ("done", "part", "stopped"))
    assert "2023-11-1" in done and "openai/m[31m" in done and "cs ja" in done and done.rstrip().endswith("complete")
    assert "1,200 calls without an answer" in part and "not finished" in stopped and "\x1b" not in text


def test_elsewhere_names_stand_alone(capsys: pytest.CaptureFixture[str]) -> None:
    print_runs({"one": RECORD, "two": None}, Console(file=io.StringIO()))
    assert capsys.readouterr().out == "one\ntwo\n"


@pytest.mark.parametrize("content", [None, b"{", b"[]", b"\xff"])
def test_a_damaged_record_is_none(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "runs" / "r").mkdir(parents=True)
        (tmp_path / "runs" / "r" / "run.json").write_bytes(content)
    assert run_record(tmp_path, "r") is None
