"""What somebody who looks on is told while calls are asked."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from harness.engines import Progress
from harness.model import JudgeIdentity
from harness.render.progress import TerminalWatcher, _table_of
from harness.runs import LiveRow

JUDGE, OTHER = JudgeIdentity("openai", "m"), JudgeIdentity("openai", "n")


def test_each_note_is_shown_once_and_as_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    show = TerminalWatcher(assume_yes=True).progress([JUDGE, OTHER])
    progress = Progress(total=2, notes=["batch \x1b[31mb_1\x1b[0m is expired [red]"])
    show(JUDGE, progress)
    show(JUDGE, progress)
    progress.notes.append("another")
    show(JUDGE, progress)
    show(OTHER, Progress(total=1, notes=["of its own"]))
    assert capsys.readouterr().err.splitlines() == [
        "openai/m: batch [31mb_1[0m is expired [red]",
        "openai/m: another",
        "openai/n: of its own",
    ]


def test_a_note_is_broken_where_the_width_is_known_and_nowhere_else(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    note = "board wmt24-esa: WMT24 translations into Czech and Japanese (native scores)"
    monkeypatch.delenv("COLUMNS", raising=False)
    TerminalWatcher(assume_yes=True).note(note)
    assert capsys.readouterr().err == f"note: {note}\n"
    monkeypatch.setenv("COLUMNS", "60")
    TerminalWatcher(assume_yes=True).note(note)
    assert max(map(len, capsys.readouterr().err.splitlines())) <= 60


def test_batches_are_counted_by_state(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.render.progress._SECONDS_BETWEEN_LINES", 0.0)
    show = TerminalWatcher(assume_yes=True).progress([JUDGE])
    show(JUDGE, Progress(total=9, batches={"validating": 1, "in_progress": 2}, done_at_provider=4))
    assert "batches: 2 in_progress, 1 validating" in capsys.readouterr().err


def test_the_bar_of_a_terminal_counts_what_is_done(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes stderr for a terminal
    monkeypatch.setenv("COLUMNS", "120")
    watcher = TerminalWatcher(assume_yes=True)
    show = watcher.progress([JUDGE])
    show(JUDGE, Progress(total=9, done=4, lost=1, done_at_provider=2))
    show(JUDGE, Progress(total=9, done=9))
    watcher.finished()
    text = capsys.readouterr().err
    assert "9/9" in text


def test_rows_stand_above_the_bar_as_far_as_there_is_room(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [LiveRow("openai/m", tag, "task_quality", total=4) for tag in ("cs", "de", "ja", "ko", "zh")]
    rows[0] = LiveRow("openai/m", "cs", "task_quality", total=4, done=4, labelled=4, agreement=3.0, verdict="do not use")
    rows[1] = LiveRow("openai/m", "de", "task_quality", total=4, done=1, unreadable=1)
    Console(width=100).print(_table_of(rows, 3))
    first, *lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert first[:2] == ["language", "metric"] and lines == [
        ["Czech", "task", "quality", "4/4", "75%", "do", "not", "use"],
        ["German", "task", "quality", "1/4", "(1", "unreadable)", "–"],
        ["Japanese", "task", "quality", "0/4", "–"],
    ]


def test_a_terminal_follows_rows_and_a_file_does_not(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    rows: Any = [LiveRow("openai/m", "cs", "task_quality", total=4, done=2, labelled=2, agreement=1.0)]
    assert not TerminalWatcher(assume_yes=True).follow(rows)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    watcher = TerminalWatcher(assume_yes=True)
    assert watcher.follow(rows)
    watcher.progress([JUDGE])(JUDGE, Progress(total=4, done=2))
    assert watcher._live_view is not None
    watcher._live_view.refresh()
    watcher.finished()
    assert "50%" in capsys.readouterr().err
