"""Probes find the signs that they search for, and flag no judge without them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness.boards.examined_submission import ScoredSubmission
from harness.boards.probes import Finding, Traces, collect_traces, probe
from harness.boards.submission_files import ReplyRow
from harness.data import Dataset
from harness.model import Item, Reply
from harness.runs import Prepared

LONG = "The words are in order and the sentences follow each other"
TEXTS = 40


@pytest.fixture(scope="module")
def data(make_item: Callable[..., Item], make_data: Callable[..., Dataset]) -> Dataset:
    """Forty items, two of each group."""
    return make_data([make_item(f"i{n}", group=f"g{n // 2}") for n in range(TEXTS)], {})


def row(item: int, text: str, *, prompt: str | None = None, temperature: float = 0.0, repeat: int = 0) -> ReplyRow:
    fields = {"metrics": "m", "condition": "", "temperature": temperature, "repeat": repeat, "judge": "openai/x"}
    return ReplyRow(call_id=f"{item}-{repeat}", prompt_id=prompt or f"p{item}", item_id=f"i{item}", reply=Reply(text, "x"), **fields)


def answer(justification: str, score: Any = 1) -> str:
    return json.dumps({"justification": justification, "score": score}, ensure_ascii=False)


@pytest.fixture
def probed(mini: Prepared, data: Dataset, entries_of: Callable[[str], ScoredSubmission]) -> Callable[..., dict[str, Finding]]:
    """The findings of the first of some judges, by probe: `probed([rows], [rows of another])`."""

    def run_probes(*submissions: list[ReplyRow]) -> dict[str, Finding]:
        names = [f"openai/judge-{number}" for number in range(len(submissions))]
        traces = {name: collect_traces(rows, data) for name, rows in zip(names, submissions, strict=True)}
        findings = probe(mini.library.board("mini"), mini, {name: entries_of(name) for name in names}, traces)
        return {finding.probe: finding for finding in findings if finding.judge == names[0]}

    return run_probes


@pytest.fixture
def entries_of(result: Any) -> Callable[[str], ScoredSubmission]:
    from harness.boards.card import JudgeCard

    def make(name: str) -> ScoredSubmission:
        card = JudgeCard(name=name, provider="openai", model=name, board="mini@1.0.0", replies_sha256="0" * 64)
        judgments = result.judgments
        return ScoredSubmission(
            card, judgments.take(judgments.judge.codes == judgments.judge.values.index("baseline/random")), result.answers
        )

    return make


def test_one_justification_for_different_scores_of_different_texts_is_found(probed: Callable[..., dict[str, Finding]]) -> None:
    found = probed([row(n, answer(LONG, n % 2)) for n in range(0, TEXTS, 2)] + [row(n, answer(LONG, n % 3)) for n in range(1, TEXTS, 2)])
    assert found["justifications"].flagged
    assert found["justifications"].numbers["copied"] == TEXTS


def test_justifications_that_differ_in_case_digits_and_punctuation_are_nearly_copied(probed: Callable[..., dict[str, Finding]]) -> None:
    found = probed([row(n, answer(f"{LONG if n % 4 else LONG.upper()}, in {n} places!", n // 2 % 2)) for n in range(TEXTS)])
    assert found["justifications"].numbers["copied"] == 0
    assert found["justifications"].numbers["nearly_copied"] == TEXTS and found["justifications"].flagged


def test_the_same_justification_for_the_same_score_is_no_copy(probed: Callable[..., dict[str, Finding]]) -> None:
    found = probed([row(n, answer(LONG, 1)) for n in range(TEXTS)])
    assert found["justifications"].numbers["copied"] == 0 and not found["justifications"].flagged


def test_the_same_justification_within_one_group_is_no_copy(probed: Callable[..., dict[str, Finding]]) -> None:
    found = probed([row(n, answer(f"{LONG} {'a' * (n // 2 + 1)}", n % 2)) for n in range(TEXTS)])
    assert found["justifications"].numbers == {"justifications": TEXTS, "short": 0, "copied": 0, "nearly_copied": 0}


def test_short_justifications_are_not_counted(probed: Callable[..., dict[str, Finding]]) -> None:
    found = probed([row(n, answer("ok", n % 3)) for n in range(TEXTS)])
    assert found["justifications"].numbers["short"] == TEXTS and not found["justifications"].flagged
    assert "20 letters" in found["justifications"].sentence


def test_a_joint_answer_has_a_justification_for_each_metric(data: Dataset) -> None:
    text = json.dumps({"a": {"justification": LONG, "score": 1}, "b": {"justification": LONG, "score": 2}})
    assert len(collect_traces([row(0, text)], data).letters) == 2


@pytest.mark.parametrize("text", ["", "no JSON", "[1, 2]", '{"score": 1}', '{"justification": 5}', "\ud800", "[" * 100_000, '{"a": NaN}'])
def test_replies_without_a_justification_are_skipped(text: str, data: Dataset) -> None:
    found = collect_traces([row(0, text)], data)
    assert len(found.text) == 1 and len(found.letters) == 0


def test_replies_to_one_prompt_at_temperature_0_should_be_the_same(probed: Callable[..., dict[str, Finding]]) -> None:
    steady = [row(n, answer(LONG), repeat=r) for n in range(10) for r in range(3)]
    assert not probed(steady)["repeats"].flagged
    moody = [row(n, answer(LONG, r if n < 3 else 1), repeat=r) for n in range(10) for r in range(3)]
    found = probed(moody)["repeats"]
    assert found.flagged and found.numbers == {"prompts_at_0": 10, "differing_at_0": 3}
    assert "3 of 10 prompts" in found.sentence


def test_items_with_equal_texts_are_one_prompt(probed: Callable[..., dict[str, Finding]]) -> None:
    found = probed([row(0, answer(LONG, 0), prompt="same"), row(2, answer(LONG, 1), prompt="same")])["repeats"]
    assert found.numbers == {"prompts_at_0": 1, "differing_at_0": 1} and found.flagged


def test_above_temperature_0_not_all_replies_should_be_equal(probed: Callable[..., dict[str, Finding]]) -> None:
    frozen = [row(n, answer(LONG), repeat=r, temperature=0.7) for n in range(TEXTS) for r in range(2)]
    assert probed(frozen)["repeats"].flagged
    alive = [row(n, answer(f"{LONG} {r if n == 0 else ''}"), repeat=r, temperature=0.7) for n in range(TEXTS) for r in range(2)]
    assert not probed(alive)["repeats"].flagged


def test_a_prompt_that_was_asked_once_says_nothing_of_temperature(probed: Callable[..., dict[str, Finding]]) -> None:
    found = probed([row(n, answer(LONG)) for n in range(10)])["repeats"]
    assert not found.flagged and "asked more than once" in found.sentence and found.numbers == {}


def test_replies_of_another_submission_are_found(probed: Callable[..., dict[str, Finding]]) -> None:
    own = [row(n, answer(f"{LONG} {n}", n % 2)) for n in range(TEXTS)]
    other = [row(n, answer(f"{LONG}, number {n}", n % 2)) for n in range(TEXTS)]
    found = probed(own, other, own[:39])["twins"]
    assert found.flagged and found.numbers == {"replies": TEXTS, "most_shared": 39, "with": "openai/judge-2"}
    assert not probed(own, other)["twins"].flagged
    assert probed(own)["twins"].sentence.startswith("There is no other")


def test_equal_scores_without_justifications_make_no_twin(probed: Callable[..., dict[str, Finding]]) -> None:
    bare = [row(n, '{"score": 1}') for n in range(TEXTS)]
    assert probed(bare, bare)["twins"].numbers == {"replies": 0}


def test_three_texts_are_too_few_to_test_against_a_baseline(probed: Callable[..., dict[str, Finding]]) -> None:
    found = probed([])["baselines"]
    assert not found.flagged and "too few texts in 2" in found.sentence
    assert set(found.numbers) == {"constant-best", "majority", "length"} and set(found.numbers["length"]) == {"cs", "en"}


def test_a_submission_without_replies_to_compare_is_no_error(data: Dataset) -> None:
    nothing: Traces = collect_traces([], data)
    assert nothing.prompt.dtype == np.uint64 and len(nothing.group) == 0


def test_baselines_are_not_probed(mini: Prepared, result: Any) -> None:
    from harness.boards.card import JudgeCard

    card = JudgeCard(name="baseline/x", provider="baseline", model="x", board="mini@1.0.0", replies_sha256="0" * 64)
    assert probe(mini.library.board("mini"), mini, {"baseline/x": ScoredSubmission(card, result.judgments, result.answers)}, {}) == ()
