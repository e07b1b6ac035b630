"""What happens beside the calls while judges are asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.asking_options import Settings
from harness.notebook import Quiet
from harness.runs import LiveRow, LiveRows, RunResult, ask_judges, run

JUDGE = """
def score(item, metric):
    return 1
"""


@pytest.mark.parametrize(("models", "loaded"), [([], 0), (["first_of_asking"], 1), (["first_of_asking", "second_of_asking"], 1)])
def test_the_libraries_of_the_report_are_loaded_once_a_model_has_answered(
    cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: list[str], loaded: int
) -> None:
    loads: list[bool] = []
    monkeypatch.setattr(ask_judges, "_load_libraries", loads.append)
    monkeypatch.chdir(tmp_path)
    judges = [part for name in models for part in ("--judge", f"python:{name}:score")]
    for name in models:
        (tmp_path / f"{name}.py").write_text(JUDGE, "utf-8")
    done = cli("run", "--langs", "cs", "--judge", "baseline/random", *judges, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert len(loads) == loaded


# ---- rows that fill while judges are asked count what the whole run counts. The first language is shown as soon as it is answered, once


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
    monkeypatch.setattr(ask_judges, "_MOST_CALLS", 5)
    monkeypatch.setattr(ask_judges, "derive_judgments", lambda *_, **__: pytest.fail("a reply of a large run is read twice"))
    run(SPEC, tmp_path / "large", large := Following(), Settings())
    assert not large.rows


class Watching(Quiet):
    """Keeps what it is shown while judges are asked."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[tuple[str, dict[str, Any]]] = []
        self.asking = False

    def progress(self, identities: Any) -> Any:
        self.asking = True
        return super().progress(identities)

    def finished(self) -> None:
        self.asking = False

    def first_language(self, part: RunResult) -> None:
        assert self.asking
        report = harness.report(part)
        self.parts.append((part.protocol.texts.languages[0], {cell["metric"]: cell["pa"] for cell in report.by_metric}))


@pytest.fixture
def watching(monkeypatch: pytest.MonkeyPatch) -> Watching:
    monkeypatch.setattr(ask_judges, "_SECONDS", 0)
    monkeypatch.setattr(ask_judges, "_SECONDS_BETWEEN_LOOKS", 0)
    return Watching()


def test_the_first_language_is_shown_once_with_its_numbers_while_judges_are_asked(watching: Watching, tmp_path: Path) -> None:
    result = run(SPEC, tmp_path, watching, Settings(concurrency={"": 1}))
    [(language, shares)] = watching.parts
    assert language == "cs"
    whole = {cell["metric"]: cell["pa"] for cell in harness.report(result).by_metric if cell["language"] == "cs"}
    assert shares == whole
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [result.name]


def test_a_run_of_one_language_a_quick_one_and_a_second_one_show_nothing_before(
    watching: Watching, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(harness.RunSpec(languages=("cs",), metrics=SPEC.metrics, judges=SPEC.judges), tmp_path, watching, Settings())
    run(SPEC, tmp_path, watching, Settings())  # what it would show is answered already
    monkeypatch.setattr(ask_judges, "_SECONDS", 60)
    run(SPEC, tmp_path / "quick", watching, Settings())
    assert watching.parts == []


def test_on_the_screen_it_stands_before_the_whole_and_says_that_it_is_a_part(cli: Any, watching: Watching, tmp_path: Path) -> None:
    arguments = ("run", "--langs", "ja,cs", "--metrics", "linguistic_acceptability", "--judge", "baseline/constant-best", "--out", tmp_path)
    done = cli(*arguments)
    assert done.code == 0 and done.out.count("Japanese") > 0
    assert "Czech is answered. Its verdicts by itself, while the other languages are asked:" in done.err
    shown = done.err.partition("Czech is answered")[2].partition("corrected for all languages together")[0]
    assert "linguistic acceptability" in shown and "Japanese" not in shown
    assert "is answered." not in cli(*arguments).err
