"""The table of runs, and what a run cost, in sentences."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness.render.runs import cost_sentences, language_cost_lines, print_runs
from harness.runs import run_record
from harness.runs.costs_of_answers import JudgeCost, PeopleCost, RunCosts

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


JAPANESE = JudgeCost("openai/m", "ja", calls=400, texts=200, dollars=0.5, tokens_per_character=0.9)
CZECH = JudgeCost("openai/m", "cs", calls=400, texts=200, dollars=0.25, tokens_per_character=0.4)


def test_a_run_with_prices_says_their_days_and_that_they_were_old() -> None:
    costs = RunCosts((CZECH, JAPANESE), (), ("2026-04",), "2026-11-29")
    assert list(cost_sentences(costs)) == [
        "The calls cost 0.7500 US dollars (800 calls), at prices of 2026-04.",
        "On that day the oldest price is 242 days old: check it, and name your own with --prices FILE.",
    ]
    assert len(list(cost_sentences(RunCosts((CZECH,), (), ("2026-11",), "2026-11-29")))) == 1


def test_languages_are_compared_by_tokens_and_price_where_there_are_several() -> None:
    assert list(language_cost_lines(RunCosts((CZECH, JAPANESE), (), ("2026-11",), ""))) == [
        "Czech: 0.40 tokens a character of the texts, 1.25 US dollars for 1,000 texts",
        "Japanese: 0.90 tokens a character of the texts, 2.50 US dollars for 1,000 texts",
    ]
    assert not list(language_cost_lines(RunCosts((CZECH,), (), ("2026-11",), "")))


def test_people_stand_beside_the_calls_for_as_many_texts() -> None:
    people = PeopleCost("cs", annotators=2, texts=100, readings=200, seconds=7200.0, median_seconds=30.0, wage=18.0)
    *_, sentence = cost_sentences(RunCosts((CZECH, JAPANESE), (people,), ("2026-11",), ""))
    assert sentence == (
        "Czech: 2 annotators took 30 seconds a text (median of 200 readings, 2.0 hours). "
        "At 18 US dollars an hour, 1,000 texts cost 180.00 for one person's labels, and for the calls of openai/m 1.25."
    )


def test_an_unknown_price_is_said() -> None:
    unknown = JudgeCost("openai/new", "cs", calls=1, texts=1, dollars=None, tokens_per_character=None)
    [sentence] = cost_sentences(RunCosts((CZECH, unknown), (), (), ""))
    assert "no known price" in sentence
