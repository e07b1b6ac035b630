"""The first language of a run is shown as soon as it is answered, once, with the numbers that the whole run gives it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import harness
from harness.engines import Settings
from harness.notebook import Quiet
from harness.runs import RunResult, first_language, run

SPEC = harness.RunSpec(languages=("ja", "cs"), metrics=("linguistic_acceptability",), judges=("baseline/constant-best",))


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
    monkeypatch.setattr(first_language, "_SECONDS", 0)
    monkeypatch.setattr(first_language, "_SECONDS_BETWEEN_LOOKS", 0)
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
    monkeypatch.setattr(first_language, "_SECONDS", 60)
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
