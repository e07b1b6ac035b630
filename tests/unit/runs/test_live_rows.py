"""Rows that fill while judges are asked count what the whole run counts."""

from __future__ import annotations

from pathlib import Path

import pytest

import harness
from harness.engines import Settings
from harness.notebook import Quiet
from harness.runs import LiveRow, LiveRows, live_rows, run

SPEC = harness.RunSpec(languages=("ja", "cs"), metrics=("linguistic_acceptability",), judges=("baseline/constant-best",))


class Following(Quiet):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[LiveRow] = []

    def follow(self, rows: LiveRows) -> bool:
        self.live = rows
        return True

    def finished(self) -> None:
        self.rows = list(self.live)


def test_rows_end_with_the_counts_and_the_agreement_of_the_run(tmp_path: Path) -> None:
    following = Following()
    result = run(SPEC, tmp_path, following, Settings())
    cells = {cell["language"]: cell for cell in harness.report(result).by_metric}
    assert [row.language for row in following.rows] == ["cs", "ja"]
    for row in following.rows:
        assert (row.done, row.unreadable) == (row.total, 0) and row.total == row.labelled == cells[row.language]["n"]
        assert row.agreement / row.labelled == pytest.approx(cells[row.language]["pa"])
    following.live.decide([{"judge": "baseline/constant-best", "language": "ja", "metric": SPEC.metrics[0], "answer": "do not use"}])  # type: ignore[index]
    assert [row.verdict for row in following.live] == ["", "do not use"]


def test_what_is_answered_already_and_a_large_run_have_no_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    following = Following()
    run(SPEC, tmp_path, following, Settings())
    run(SPEC, tmp_path, again := Following(), Settings())
    assert following.rows and not again.rows
    monkeypatch.setattr(live_rows, "_MOST_CALLS", 5)
    monkeypatch.setattr(live_rows, "derive_judgments", lambda *_, **__: pytest.fail("a reply of a large run is read twice"))
    run(SPEC, tmp_path / "large", large := Following(), Settings())
    assert not large.rows
