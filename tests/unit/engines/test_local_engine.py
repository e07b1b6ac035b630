"""The local engine: calls are stored before they are asked, and replies before the next call takes their place."""

from __future__ import annotations

import pickle
import sqlite3
import string
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from harness.asking_options import Settings
from harness.engines import JudgeWork
from harness.engines import local_engine as engine
from harness.engines.local_engine import ask_all
from harness.errors import JudgeError
from harness.judges.judge_protocol import NoReply, UnexplainedRefusal
from harness.judges.rate_limit_headers import RateLimitStatus
from harness.model import Call, JudgeIdentity, Reply
from harness.store import Store

REPLY = Reply(text="{}", model="m", form="text")


class StoreReader:
    """A judge that counts the stored calls and attempts whenever it is asked."""

    identity = JudgeIdentity("openai", "m")
    concurrency = 1

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stored: list[tuple[int, int]] = []

    async def start(self, calls: object) -> None: ...

    async def stop(self) -> None: ...

    async def answer(self, call: Call) -> Reply:
        with closing(sqlite3.connect(self.folder / "store.sqlite")) as db:
            assert db.execute("SELECT 1 FROM calls JOIN prompts USING (prompt_id) WHERE call_id = ?", (call.call_id,)).fetchone()
            [counts] = db.execute("SELECT (SELECT COUNT(*) FROM calls), (SELECT COUNT(*) FROM attempts)")
        self.stored.append(counts)
        return REPLY


def test_blocks_of_calls_are_stored_before_they_are_asked_and_each_reply_before_the_next_call(
    tmp_path: Path, make_work: Callable[..., JudgeWork], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_STORED_TOGETHER", 2)
    judge = StoreReader(tmp_path)
    work = replace(make_work(*"abcde"), judge=judge)
    with Store.writing(tmp_path) as store:
        ask_all([work], store, Settings())
        assert list(store.replies("abcde")) == [REPLY] * 5
    assert [attempts for _, attempts in judge.stored] == [0, 1, 2, 3, 4]
    assert all(calls in (2, 4, 5) and calls > attempts for calls, attempts in judge.stored)


class Refuser:
    """A judge whose endpoint refuses some calls without a reason, each in words of its own or in the same."""

    identity = JudgeIdentity("openai", "m")
    concurrency = 1
    endpoint = None

    def __init__(self, refuses: Callable[[str, int], bool], words: Callable[[str], str] = lambda call_id: "No") -> None:
        self._refuses = refuses
        self._words = words
        self.asked: list[str] = []

    async def start(self, calls: object) -> None: ...

    async def stop(self) -> None: ...

    async def answer(self, call: Call) -> Reply:
        self.asked.append(call.call_id)
        if self._refuses(call.call_id, len(self.asked)):
            words = self._words(call.call_id)
            raise UnexplainedRefusal(f"refused with 400: {words}", "Look into it", Reply("", "", refusal=words, error="400"))
        return REPLY


def refusals_of(folder: Path, judge: Refuser, make_work: Callable[..., JudgeWork], ids: str, **work: object) -> list[str | None]:
    """The refusals in the stored replies to calls; `lost` for a call without a reply."""
    with Store.writing(folder) as store:
        try:
            ask_all([replace(make_work(*ids, **work), judge=judge)], store, Settings())
        except JudgeError as err:
            assert "5 refusals one after the other" in str(err) or not any(store.replies(ids)), err
        return ["lost" if reply is None else reply.refusal for reply in store.replies(ids)]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to be waited for."""
    monkeypatch.setattr(engine, "backoff", lambda attempt: 0.0)


@pytest.mark.usefixtures("impatient")
def test_a_refusal_without_a_reason_is_about_the_text_if_another_call_is_answered_still(
    tmp_path: Path, make_work: Callable[..., JudgeWork]
) -> None:
    ids = string.ascii_lowercase
    judge = Refuser(lambda call_id, number: call_id in "bcdefghxyz")
    found = refusals_of(tmp_path, judge, make_work, ids)
    assert found == ["No" if call_id in "bcdefghxyz" else None for call_id in ids]
    assert judge.asked.count("a") == 2 and len(judge.asked) <= len(ids) + 3  # the answered call once more, the first refused ones twice


@pytest.mark.usefixtures("impatient")
def test_each_wording_is_checked_and_numbers_in_it_do_not_count(tmp_path: Path, make_work: Callable[..., JudgeWork]) -> None:
    judge = Refuser(lambda call_id, number: call_id in "bcdef", lambda call_id: f"request req_7{call_id} is odd")
    assert refusals_of(tmp_path / "ids", judge, make_work, "abcdefg").count(None) == 2
    assert judge.asked.count("a") == 2
    judge = Refuser(lambda call_id, number: call_id in "bcdef", lambda call_id: f"word {call_id * 3}")
    assert refusals_of(tmp_path / "words", judge, make_work, "abcdefg").count(None) == 2
    assert len([call_id for call_id in judge.asked if call_id not in "bcdef"]) == 2 + 5


@pytest.mark.usefixtures("impatient")
def test_an_endpoint_that_refuses_what_it_has_answered_is_given_up_and_no_text_is_blamed(
    tmp_path: Path, make_work: Callable[..., JudgeWork]
) -> None:
    judge = Refuser(lambda call_id, number: number > 3)
    assert set(refusals_of(tmp_path, judge, make_work, string.ascii_lowercase)) == {None, "lost"}
    assert len(judge.asked) < 3 + 4 * 6


@pytest.mark.usefixtures("impatient")
def test_a_refusal_that_does_not_come_again_was_an_exception(tmp_path: Path, make_work: Callable[..., JudgeWork]) -> None:
    judge = Refuser(lambda call_id, number: number in (1, 4, 9))
    assert refusals_of(tmp_path, judge, make_work, "abcdefgh") == [None] * 8


@pytest.mark.usefixtures("impatient")
def test_refused_calls_that_are_left_alone_are_compared_with_a_call_of_an_earlier_command(
    tmp_path: Path, make_work: Callable[..., JudgeWork], make_call: Callable[..., Call]
) -> None:
    judge = Refuser(lambda call_id, number: call_id != "a")
    work = {"answered_before": True, "answered_call": lambda: make_call("a", prompt_id="prompt a")}
    assert refusals_of(tmp_path, judge, make_work, "bc", **work) == ["No", "No"]
    assert refusals_of(tmp_path / "alone", judge, make_work, "bc", answered_before=True) == ["lost", "lost"]


def test_a_refusal_without_a_reason_travels_between_processes() -> None:
    refusal = UnexplainedRefusal("refused", "Look into it", REPLY)
    copied = pickle.loads(pickle.dumps(refusal))
    assert (copied.reason, copied.advice, copied.reply, str(copied)) == ("refused", "Look into it", REPLY, "refused. Look into it")


# ---- the limiter: a fixed or found-out number of calls in flight, limits a minute, and pauses that hold the line


class Limiter:
    """A judge whose endpoint is busy at first and asks for a wait."""

    identity = JudgeIdentity("openai", "m")
    concurrency = 1
    endpoint = None

    def __init__(self, wait: float, refusals: int = 1) -> None:
        self.asked = 0
        self._wait = wait
        self._refusals = refusals

    async def start(self, calls: object) -> None: ...

    async def stop(self) -> None: ...

    async def answer(self, call: Call) -> Reply:
        self.asked += 1
        if self.asked <= self._refusals:
            raise NoReply("host.example answered 429: Slow down, please", self._wait, busy=True)
        return REPLY


def test_a_judge_that_asks_for_longer_than_the_longest_wait_is_given_up_with_the_reason(
    tmp_path: Path, make_work: Callable[..., JudgeWork]
) -> None:
    judge = Limiter(365 * 86400.0)
    with Store.writing(tmp_path) as store:
        with pytest.raises(JudgeError) as raised:
            ask_all([replace(make_work(*"abc"), judge=judge)], store, Settings())
        assert list(store.last_attempts("abc")) == [None] * 3
    assert judge.asked == 1
    assert str(raised.value) == (
        "openai/m: host.example answered 429: Slow down, please. It asks to wait 365 days, and a command waits at most 60 minutes at a "
        "time: run the same command again after that. All answers so far are kept"
    )


def test_a_long_wait_is_told_once_with_the_words_of_the_endpoint_and_how_to_stop(
    tmp_path: Path, make_work: Callable[..., JudgeWork], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.RateLimiter, "pause", lambda self, seconds: None)
    notes: list[str] = []
    with Store.writing(tmp_path) as store:
        judge = Limiter(3000.0, refusals=3)
        ask_all([replace(make_work("a", "b"), judge=judge)], store, Settings(), lambda work, progress: notes.extend(progress.notes))
        assert list(store.replies("ab")) == [REPLY, REPLY]
    [note] = set(notes)
    assert note == (
        "host.example answered 429: Slow down, please. It asks to wait 50 minutes, and this command waits. Ctrl-C stops it, and "
        "--max-minutes limits it; the same command goes on later"
    )
    quiet: list[str] = []
    with Store.writing(tmp_path / "short") as store:
        ask_all([replace(make_work("a"), judge=Limiter(2.0))], store, Settings(), lambda work, progress: quiet.extend(progress.notes))
    assert quiet == []


def test_a_limit_that_is_used_up_is_told_like_any_other_wait(
    tmp_path: Path, make_work: Callable[..., JudgeWork], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.RateLimiter, "pause", lambda self, seconds: None)
    judge: Any = Limiter(0.0, refusals=0)
    judge.rate_limit_status = RateLimitStatus(0, None, 1800.0)
    notes: list[str] = []
    with Store.writing(tmp_path) as store:
        ask_all([replace(make_work("a", "b"), judge=judge)], store, Settings(), lambda work, progress: notes.extend(progress.notes))
    [note] = set(notes)
    assert "openai/m reports that its limit is used up. It asks to wait 30 minutes, and this command waits. Ctrl-C stops it" in note
