"""What travels to workers: what their judges need to be opened there, and nothing else."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.asking_options import Settings
from harness.data import Dataset
from harness.engines.ray_worker import assign_judges, divide_limits, training_data
from harness.engines.work import JudgeOpening, JudgeWork
from harness.errors import UsageError
from harness.judges import JudgeOptions, open_judge
from harness.judges.judge_protocol import Environment
from harness.model import Call, Item, JudgeIdentity, Message, Prompt


@pytest.fixture
def work(make_data: Callable[..., Dataset], make_item: Callable[..., Item]) -> Callable[..., JudgeWork]:
    """The work of a judge that was opened with data to learn from and an environment with secrets."""

    def make(name: str, *calls: Call, judge: Any = None, **environment: str) -> JudgeWork:
        data = make_data([make_item("i")], {"i": 1})
        options = JudgeOptions(environment=Environment(environment), training=data, seed=3, timeout=9.0)
        return JudgeWork(judge or open_judge(name, options), calls, opening=JudgeOpening(name, options))

    return make


def local(name: str) -> Any:
    """A judge that cannot be opened without its model."""
    return SimpleNamespace(identity=JudgeIdentity("local", name))


def test_only_what_the_judge_has_read_of_the_environment_travels(work: Callable[..., JudgeWork]) -> None:
    [mine] = assign_judges([work("openai/m", OPENAI_API_KEY="sk-1234", AWS_SECRET="other", PATH="/bin")], Settings(), 1)
    assert mine[0].opening.options.environment == {"OPENAI_API_KEY": "sk-1234"}
    assert b"sk-1234" in (travelling := pickle.dumps(mine)) and b"other" not in travelling


def test_everything_else_that_it_was_opened_with_stays_as_it_is(work: Callable[..., JudgeWork]) -> None:
    [mine] = assign_judges([work("openai/m")], Settings(attempts=2), 1)
    options = mine[0].opening.options
    assert (options.seed, options.timeout, options.training) == (3, 9.0, None)
    assert mine[0].settings.attempts == 2
    assert open_judge(mine[0].opening.name, options).identity == mine[0].identity


def test_data_travel_only_to_judges_that_may_learn_from_them(work: Callable[..., JudgeWork]) -> None:
    model, baseline = work("openai/m"), work("baseline/majority")
    stranger = JudgeWork(
        SimpleNamespace(identity=JudgeIdentity("mykind", "x")), (), opening=JudgeOpening("mykind/x", baseline.opening.options)
    )  # type: ignore[union-attr]
    assert (
        training_data([model]) is None
        and training_data([JudgeWork(local("x"), (), opening=JudgeOpening("local/x", baseline.opening.options))]) is None
    )  # type: ignore[union-attr]
    assert training_data([model, baseline]) is training_data([stranger]) is baseline.opening.options.training  # type: ignore[union-attr]


def test_data_arrive_as_they_were(make_data: Callable[..., Dataset], make_item: Callable[..., Item]) -> None:
    data = make_data([make_item("i", language="ja"), make_item("j")], {"i": 1, "j": [0, 2]})
    arrived = pickle.loads(pickle.dumps(data))
    assert arrived.sha256 == data.sha256 and list(arrived.labels) == list(data.labels)


def test_a_judge_that_gets_ready_for_its_calls_sees_the_one_that_takes_most_room(
    work: Callable[..., JudgeWork], make_call: Callable[..., Call]
) -> None:
    def long(length: int) -> Call:
        call = make_call(f"c{length}")
        return Call(call.call_id, Prompt("p", (Message("user", "x" * length),), {}, 10), call.query)

    calls = [long(30), long(3000), long(300)]
    [mine] = assign_judges([work("local/x", *calls, judge=local("x"))], Settings(), 1)
    assert [call.call_id for call in mine[0].start_calls] == ["c3000"]
    [blind] = assign_judges([work("openai/m", *calls)], Settings(), 1)
    assert blind[0].start_calls == ()


def test_judges_have_workers_according_to_what_they_may_be_asked(work: Callable[..., JudgeWork]) -> None:
    works = [work("openai/fast"), work("openai/slow")]
    found = assign_judges(works, Settings(concurrency={"openai/slow": 2}), 3)
    assert [list(mine) for mine in found] == [[0, 1], [0, 1], [0]]


def test_workers_without_anything_to_ask_are_not_hired(work: Callable[..., JudgeWork]) -> None:
    assert len(assign_judges([work("openai/m")], Settings(concurrency={"": 2}), 5)) == 2


def test_a_judge_of_which_it_is_not_known_how_it_was_opened_is_refused(work: Callable[..., JudgeWork]) -> None:
    with pytest.raises(UsageError, match="openai/m can be asked from this machine only"):
        assign_judges([JudgeWork(work("openai/m").judge, ())], Settings(), 1)


# ---- what a judge may be asked is divided over workers: together they never exceed it


@given(
    workers=st.integers(1, 40),
    concurrency=st.none() | st.integers(1, 100),
    rpm=st.none() | st.floats(0.1, 1e4),
    tpm=st.none() | st.floats(1, 1e7),
)
def test_shares_add_up_to_the_whole_and_leave_nobody_without(
    workers: int, concurrency: int | None, rpm: float | None, tpm: float | None
) -> None:
    whole = {name: {} if value is None else {"": value} for name, value in (("concurrency", concurrency), ("rpm", rpm), ("tpm", tpm))}
    found = divide_limits(Settings(**whole), "openai/m", workers)  # type: ignore[arg-type]
    assert 1 <= len(found) <= workers
    for name, wanted in (("concurrency", concurrency), ("rpm", rpm), ("tpm", tpm)):
        parts = [getattr(one, name) for one in found]
        if wanted is None:
            assert parts == [{}] * len(found)
        else:
            assert sum(part[""] for part in parts) == pytest.approx(wanted) and all(part[""] > 0 for part in parts)


def test_whole_parts_differ_by_one_at_most() -> None:
    assert [one.concurrency[""] for one in divide_limits(Settings(concurrency={"": 11}), "openai/m", 4)] == [3, 3, 3, 2]


def test_no_more_workers_ask_than_may_ask_at_once_or_in_a_minute() -> None:
    assert len(divide_limits(Settings(concurrency={"": 2}), "openai/m", 8)) == 2
    assert len(divide_limits(Settings(rpm={"": 3}), "openai/m", 8)) == 3
    assert len(divide_limits(Settings(rpm={"": 0.5}), "openai/m", 8)) == 1


def test_what_is_said_of_one_judge_is_its_own() -> None:
    settings = Settings(concurrency={"": 8, "openai/slow": 1}, attempts=3)
    assert [one.concurrency for one in divide_limits(settings, "openai/slow", 2)] == [{"": 1}]
    [fast, _] = divide_limits(settings, "openai/fast", 2)
    assert fast.concurrency == {"": 4} and fast.attempts == 3
