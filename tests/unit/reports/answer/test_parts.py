"""Three states, and a cause for each unknown."""

from __future__ import annotations

from typing import Any

import pytest

from harness.reports.answer.parts import CAUSES, cause_words, count_causes, count_states, counted_states, state_words


def row(verdict: str, *obstacles: str, k: int | None = None, more_than_k: bool = False, controls: str | None = None) -> dict[str, Any]:
    return {"verdict": verdict, "obstacles": obstacles, "k": k, "more_than_k": more_than_k, "controls": controls}


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (row("use"), "use"),
        (row("use corrected", "people"), "use corrected means only"),
        (row("do not use", "worse"), "do not use"),
        (row("too few labels", "people", k=1250), "unknown: label 1,250 more"),
        (row("too few labels", "labels", k=20), "unknown: label 20 more"),
        (row("too few labels", "people"), "unknown: more labels will not help"),
        (row("too few labels", "people", k=20000, more_than_k=True), "unknown: too few texts"),
        (row("too few labels", "labels"), "unknown: too few texts"),
        (row("too few labels", "annotators", k=30), "unknown: one score a text"),
        (row("no verdict", "annotators"), "unknown: one score a text"),
        (row("no verdict", "unread"), "unknown: most answers cannot be read"),
        (row("no verdict"), "unknown: no labels by people"),
        (row("no verdict", controls="passes"), "passes"),
        (row("no verdict", controls="not shown"), "unknown: too few texts"),
    ],
)
def test_a_verdict_has_one_state_and_an_unknown_one_its_cause(verdict: dict[str, Any], words: str) -> None:
    assert state_words(verdict) == words
    assert bool(cause_words(verdict)) == words.startswith("unknown: ")


def test_states_are_counted_in_one_order() -> None:
    rows = [row("too few labels", "people"), row("use"), row("do not use", "worse"), row("use"), row("too few labels", "people", k=5)]
    assert counted_states(rows) == "2 use · 1 do not use · 2 unknown"
    assert list(count_states(rows)) == ["use", "do not use", "unknown"]
    assert list(count_causes(rows)) == list(CAUSES[:2])
