"""Verification: which calls are drawn, how replies are compared, and when a card changes. The command itself: tests/e2e/test_verify.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.asking_options import Settings
from harness.boards.card import read_card
from harness.boards.submission_options import SubmitterStatement, VerifyOptions
from harness.boards.submit import submit
from harness.boards.verify import MIN_CALLS, DifferingAnswer, draw_calls, verify
from harness.errors import ContentError, UsageError
from harness.measure.summaries import retest_outcomes
from harness.notebook import Quiet
from harness.runs import RunSpec, run

CALLS = {tag: [f"{tag}{n}" for n in range(count)] for tag, count in {"cs": 700, "ja": 300, "zh": 200}.items()}


def test_a_share_of_the_calls_is_drawn_spread_over_the_languages() -> None:
    drawn = draw_calls(CALLS, 0.05, seed=1)
    assert {tag: len(ids) for tag, ids in drawn.items()} == {"cs": 35, "ja": 15, "zh": 10}
    assert all(set(ids) <= set(CALLS[tag]) and len(set(ids)) == len(ids) for tag, ids in drawn.items())


def test_the_same_seed_draws_the_same_calls_and_another_one_others() -> None:
    assert draw_calls(CALLS, 0.05, seed=1) == draw_calls({tag: ids[::-1] for tag, ids in reversed(CALLS.items())}, 0.05, seed=1)
    assert draw_calls(CALLS, 0.05, seed=1) != draw_calls(CALLS, 0.05, seed=2)


def test_one_language_more_does_not_change_what_is_drawn_of_another_with_the_same_number() -> None:
    assert draw_calls({"cs": CALLS["cs"]}, 0.05, seed=3)["cs"] == draw_calls({"cs": CALLS["cs"], "ja": []}, 0.05, seed=3)["cs"]


@pytest.mark.parametrize("share", [0.001, 0.01])
def test_at_least_twenty_calls_are_drawn(share: float) -> None:
    assert sum(map(len, draw_calls(CALLS, share, seed=0).values())) == MIN_CALLS


def test_of_fewer_than_twenty_calls_all_are_drawn() -> None:
    assert (
        draw_calls({"cs": ["a", "b"], "ja": ["c"]}, 0.05, seed=0) == {"cs": ["a", "b"], "ja": ["c"]}
        or sum(map(len, draw_calls({"cs": ["a", "b"], "ja": ["c"]}, 0.05, seed=0).values())) == 3
    )


def test_every_language_is_drawn_from_however_small_it_is() -> None:
    drawn = draw_calls({"cs": [str(n) for n in range(10_000)], "ja": ["x"]}, 0.01, seed=0)
    assert drawn["ja"] == ["x"]


def test_outcomes_are_compared_by_metric_and_a_failure_is_an_outcome() -> None:
    given = [{"a": 1, "b": "off_scale"}, {"a": 0}]
    found = retest_outcomes(given, [{"a": 1, "b": "off_scale"}, {"a": 2}], [{"b": "off_scale", "a": 1}, {"a": 2}])
    assert (found.n, found.alone, round(found.apart, 3), found.apart_fresh) == (2, 1, 0.333, 0)


def test_a_score_and_the_name_of_a_failure_are_never_equal() -> None:
    assert retest_outcomes([{"a": 0}], [{"a": "0"}], [{"a": "0"}]).alone == 1


def test_a_reply_stands_alone_if_the_fresh_ones_agree_with_each_other_only() -> None:
    assert DifferingAnswer("c", "cs", "i", "m", 0, 1, 1).alone
    assert not DifferingAnswer("c", "cs", "i", "m", 0, 1, 2).alone


# ---- a baseline, which answers here


@pytest.fixture
def submitted(own_board: Any, tmp_path: Path) -> Callable[[str], Path]:
    """A submission of a judge to the board `held`, whose labels are public."""
    own_board.label_openly()

    def make(judge: str) -> Path:
        out = tmp_path / "results"
        result = run(RunSpec(board="held", content=(own_board.content,), judges=(judge,)), out, Quiet(), Settings())
        [found] = submit(result, out, "held", SubmitterStatement())
        return found.folder

    return make


@pytest.mark.parametrize("judge", ["baseline/length", "baseline/random"])
def test_a_judge_that_answers_the_same_is_verified(submitted: Any, own_board: Any, judge: str) -> None:
    folder = submitted(judge)
    found = verify("held", folder.name, Quiet(), Settings(), VerifyOptions(content=(own_board.content,), seed=5))
    assert found.holds and found.differing == () and found.calls == MIN_CALLS
    card = read_card(folder / "judge.toml")
    assert card.status == "verified" and card.verified is not None
    assert (card.verified.calls, card.verified.agreement, card.verified.retest, card.verified.seed) == (MIN_CALLS, 1.0, 1.0, 5)


def test_without_a_seed_other_calls_are_drawn_each_time(submitted: Any, own_board: Any) -> None:
    folder = submitted("baseline/length")
    seeds = {verify("held", folder.name, Quiet(), Settings(), VerifyOptions(content=(own_board.content,))).seed for _ in range(3)}
    assert len(seeds) == 3, "somebody who edits replies must not know beforehand which calls are asked again"


def test_a_submission_may_be_named_by_its_path(submitted: Any, own_board: Any) -> None:
    folder = submitted("baseline/length")
    assert verify("held", str(folder), Quiet(), Settings(), VerifyOptions(content=(own_board.content,))).holds


def test_a_submission_that_is_not_there_is_named_with_those_that_are(submitted: Any, own_board: Any) -> None:
    submitted("baseline/length")
    with pytest.raises(UsageError, match=r"no submission 'nobody' on the board 'held'.\n .*choose from: baseline-length"):
        verify("held", "nobody", Quiet(), Settings(), VerifyOptions(content=(own_board.content,)))


def test_a_submission_with_problems_is_not_asked_again(submitted: Any, own_board: Any) -> None:
    folder = submitted("baseline/length")
    (folder / "more.txt").write_text("x", encoding="utf-8")
    with pytest.raises(ContentError, match=r"unexpected file.*harness board check"):
        verify("held", folder.name, Quiet(), Settings(), VerifyOptions(content=(own_board.content,)))


def test_a_budget_that_is_too_small_is_refused_before_anything_is_asked(submitted: Any, own_board: Any, tmp_path: Path) -> None:
    folder = submitted("baseline/length")
    prices = tmp_path / "prices.toml"
    prices.write_text('["baseline/length"]\ninput = 1000\noutput = 1000\nas_of = "2026-01"\n', encoding="utf-8")
    settings = Settings(prices=prices, max_cost=0.01)
    with pytest.raises(UsageError, match=r"40 calls costs about \$.* --max-cost 0.01"):
        verify("held", folder.name, Quiet(), settings, VerifyOptions(content=(own_board.content,)))


def test_replies_are_kept_if_a_folder_is_given(submitted: Any, own_board: Any, tmp_path: Path) -> None:
    folder = submitted("baseline/length")
    for _ in range(2):
        assert verify(
            "held", folder.name, Quiet(), Settings(), VerifyOptions(content=(own_board.content,), seed=1, out=tmp_path / "again")
        ).holds
    assert sorted(path.name for path in (tmp_path / "again").iterdir()) == ["first", "second"]
