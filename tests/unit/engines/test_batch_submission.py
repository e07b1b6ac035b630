"""What is noted of batches in the store, and what a later process finds there.

A file is handed over and paid for once, whatever the connection does in between."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from harness.asking_options import Limits
from harness.engines import Progress
from harness.engines import batch_submission as batch_files
from harness.engines import batch_submission as module
from harness.engines.batch_submission import (
    BatchRecord,
    BatchSubmitter,
    RequestFile,
    Results,
    capabilities_of,
    file_id,
    is_file,
    is_queue_full,
    learn_from_problems,
    problems_in_words,
    request_files,
    scratch,
)
from harness.engines.budget import Budget
from harness.engines.retries import Polling
from harness.errors import StoreError
from harness.judges import NoReply
from harness.judges.batches import Batches, BatchRefused, LineError, ProviderBatch
from harness.judges.batches import _Errors as Errors
from harness.judges.capabilities import EndpointCapabilities
from harness.judges.chat import Chat
from harness.store import Store, StoredBatch


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.writing(tmp_path) as opened:
        for run in ("one", "two"):
            opened.put_run(run, b"{}")
        yield opened


@pytest.fixture
def record(store: Store) -> BatchRecord:
    return BatchRecord(store, "openai/m", "one")


def test_an_uploaded_file_is_open_with_its_calls(record: BatchRecord) -> None:
    note = record.add_file("file-1", ("a", "b"))
    [found] = record.open()
    assert is_file(found) and file_id(found) == "file-1"
    assert (found.calls, found.run, found.judge) == (note.calls, note.run, note.judge) == (("a", "b"), "one", "openai/m")


def test_a_batch_takes_the_place_of_its_file(record: BatchRecord) -> None:
    made = record.add_batch(record.add_file("file-1", ("a", "b")), "batch_1")
    [found] = record.open()
    assert not is_file(found) and found.batch_id == made.batch_id == "batch_1" and found.calls == made.calls == ("a", "b")


def test_noting_a_batch_twice_changes_nothing(record: BatchRecord) -> None:
    note = record.add_file("file-1", ("a",))
    record.add_batch(note, "batch_1")
    record.add_batch(note, "batch_1")
    assert [one.batch_id for one in record.open()] == ["batch_1"]


def test_what_came_to_nothing_or_to_its_end_is_not_open(record: BatchRecord, store: Store) -> None:
    record.drop_file(record.add_file("file-1", ("a",)))
    record.settle(record.add_batch(record.add_file("file-2", ("b",)), "batch_2"), "expired")
    assert record.open() == []
    states = {batch.batch_id: batch.state for batch in store.batches("one", "openai/m")}
    assert states == {"file file-1": "not made into a batch", "file file-2": "made into batch_2", "batch_2": "expired"}


def test_batches_of_other_runs_are_open_too_and_stay_theirs(record: BatchRecord, store: Store) -> None:
    other = BatchRecord(store, "openai/m", "two")
    other.add_file("file-1", ("a",))
    [note] = record.open()
    assert record.add_batch(note, "batch_1").run == "two"
    assert [batch.batch_id for batch in store.batches("two", "openai/m")] == ["file file-1", "batch_1"]
    assert store.batches("one", "openai/m") == []


def test_batches_of_another_judge_are_not_seen(record: BatchRecord, store: Store) -> None:
    BatchRecord(store, "openai/other", "one").add_file("file-1", ("a",))
    assert record.open() == []


FILE = RequestFile(Path("requests.jsonl"), ("a", "b"))


class Provider:
    """Stands where a provider stands. `faults` say for each making whether nothing, or nothing that is heard of, becomes of it."""

    def __init__(self) -> None:
        self.faults: list[tuple[bool, Exception]] = []
        self.made: list[ProviderBatch] = []
        self.looked_for = 0

    async def upload(self, path: Path) -> str:
        return "file-1"

    async def submit(self, file_id: str, metadata: dict[str, str]) -> ProviderBatch:
        happens, err = self.faults.pop(0) if self.faults else (True, None)
        batch = ProviderBatch(f"batch_{len(self.made) + 1}", "validating", file_id, metadata=dict(metadata))
        if happens:
            self.made.append(batch)
        if err:
            raise err
        return batch

    async def find(self, file_id: str, name: str, value: str) -> ProviderBatch | None:
        self.looked_for += 1
        return next((batch for batch in self.made if batch.input_file_id == file_id or batch.metadata_value(name) == value), None)


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
def submission(provider: Provider, record: BatchRecord, monkeypatch: pytest.MonkeyPatch) -> BatchSubmitter:
    monkeypatch.setattr(module, "UNSURE_SECONDS", 0.0)
    monkeypatch.setattr("harness.engines.retries.backoff", lambda count: 0.0)
    return BatchSubmitter(cast(Batches, provider), record, Polling("openai/m", Budget(Limits()), Progress(total=2), lambda: None))


def submit(submission: BatchSubmitter, capabilities: EndpointCapabilities | None = None) -> ProviderBatch:
    return asyncio.run(submission.submit(FILE, capabilities or EndpointCapabilities()))[1]


LOST = NoReply("no connection", down=True)
BUSY = NoReply("slow down", 0.0, busy=True)
ODD = NoReply("answers, but not like a batch interface")


@pytest.mark.parametrize(
    ("faults", "looked_for"),
    [
        ([], 0),
        ([(False, LOST)], 1),
        ([(True, LOST)], 1),
        ([(False, LOST), (True, LOST)], 2),
        ([(True, ODD)], 1),
        ([(False, BUSY), (False, BUSY)], 0),  # a plain 429 has made nothing
    ],
)
def test_there_is_one_batch_whatever_was_heard(
    submission: BatchSubmitter, provider: Provider, record: BatchRecord, faults: list[Any], looked_for: int
) -> None:
    provider.faults = faults
    made = submit(submission)
    assert [batch.id for batch in provider.made] == [made.id] and provider.looked_for == looked_for
    assert [(noted.batch_id, noted.calls) for noted in record.open()] == [(made.id, FILE.calls)]


def test_the_file_is_noted_before_the_batch_is_made(submission: BatchSubmitter, provider: Provider, record: BatchRecord) -> None:
    seen: list[str] = []
    make = provider.submit

    async def submit_and_look(file_id: str, metadata: dict[str, str]) -> ProviderBatch:
        seen.extend(noted.batch_id for noted in record.open())
        return await make(file_id, metadata)

    provider.submit = submit_and_look  # type: ignore[method-assign]
    submit(submission)
    assert seen == ["file file-1"]


def test_a_file_that_is_refused_at_once_is_not_looked_for_later(
    submission: BatchSubmitter, provider: Provider, record: BatchRecord
) -> None:
    provider.faults = [(False, BatchRefused("no", 400))]
    with pytest.raises(BatchRefused):
        submit(submission)
    assert record.open() == []


def test_a_file_that_is_refused_after_an_unheard_making_is_looked_for_later(
    submission: BatchSubmitter, provider: Provider, record: BatchRecord
) -> None:
    provider.faults = [(False, LOST), (False, BatchRefused("no", 400))]
    with pytest.raises(BatchRefused):
        submit(submission)
    assert [noted.batch_id for noted in record.open()] == ["file file-1"]


def test_a_batch_is_recovered_from_the_note_on_its_file(submission: BatchSubmitter, provider: Provider, record: BatchRecord) -> None:
    note = record.add_file("file-1", FILE.calls)
    assert asyncio.run(submission.recover(note)) is None and record.open() == []
    note = record.add_file("file-2", FILE.calls)
    provider.made = [ProviderBatch("batch_9", "in_progress", "file-2")]
    found = asyncio.run(submission.recover(note))
    assert found and found[1].id == "batch_9" and [noted.batch_id for noted in record.open()] == ["batch_9"]


def test_a_young_note_is_given_time_until_the_provider_lists_its_batch(
    submission: BatchSubmitter, record: BatchRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "UNSURE_SECONDS", 10.0)
    waits: list[float] = []

    async def wait(self: Polling, seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(Polling, "wait", wait)
    note = record.add_file("file-1", FILE.calls)
    for age in (4.0, 11.0, -100_000.0):  # the clock may have jumped
        asyncio.run(submission.recover(msgspec.structs.replace(note, submitted=time.time() - age)))
    assert waits == [pytest.approx(6.0, abs=1.0)]


def test_how_the_calls_were_asked_is_noted_on_the_batch(submission: BatchSubmitter) -> None:
    capabilities = EndpointCapabilities("json_object", 5, ("seed", "temperature"), "max_completion_tokens", 8192)
    assert capabilities_of(submit(submission, capabilities)) == capabilities


@pytest.mark.parametrize("text", ["", "{", "[]", '{"form": "telepathy"}', '{"room": "much"}', None, 7])
def test_a_note_that_says_nothing_means_the_usual_way(text: Any) -> None:
    assert (
        capabilities_of(ProviderBatch("b", "completed", metadata={"harness_manner": text}))
        == capabilities_of(ProviderBatch("b", "completed"))
        == EndpointCapabilities()
    )


def test_keys_tell_batches_apart(submission: BatchSubmitter, provider: Provider, record: BatchRecord) -> None:
    notes = [record.add_file(file, calls) for file, calls in (("f", ("a",)), ("f", ("a", "b")), ("g", ("a",)))]
    assert len({module._key(note) for note in notes}) == 3


# ---- files of requests within limits, and lines that come back and are not believed


# ---- files of requests


def written(path: Path, lines: Iterable[tuple[str, bytes]], **limits: int) -> list[tuple[tuple[str, ...], bytes]]:
    """The ids and the content of each file."""

    async def gather() -> list[tuple[tuple[str, ...], bytes]]:
        return [(file.calls, file.path.read_bytes()) async for file in request_files(path, lines, **limits)]

    return asyncio.run(gather())


LINES = [(name, name.encode() * 4) for name in "abcde"]  # five bytes each, with their ends


def test_all_lines_go_into_one_file_where_it_holds_them(tmp_path: Path) -> None:
    [(calls, content)] = written(tmp_path / "f", LINES, most_requests=5, most_bytes=25)
    assert calls == tuple("abcde") and content == b"aaaa\nbbbb\ncccc\ndddd\neeee\n"


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"most_requests": 2}, ["ab", "cd", "e"]),
        ({"most_requests": 1}, ["a", "b", "c", "d", "e"]),
        ({"most_bytes": 24}, ["abcd", "e"]),
        ({"most_bytes": 14}, ["ab", "cd", "e"]),
        ({"most_requests": 3, "most_bytes": 10}, ["ab", "cd", "e"]),
    ],
)
def test_a_further_file_begins_where_a_limit_is_reached(tmp_path: Path, limits: dict[str, int], expected: list[str]) -> None:
    found = written(tmp_path / "f", LINES, **limits)
    assert ["".join(calls) for calls, _ in found] == expected
    assert all(len(content) <= limits.get("most_bytes", 25) for _, content in found)
    assert b"".join(content for _, content in found) == b"".join(line + b"\n" for _, line in LINES)


def test_a_line_that_is_too_long_for_any_file_has_one_of_its_own(tmp_path: Path) -> None:
    lines = [("a", b"a"), ("long", b"x" * 100), ("b", b"b")]
    assert [calls for calls, _ in written(tmp_path / "f", lines, most_bytes=10)] == [("a",), ("long",), ("b",)]


def test_no_lines_make_no_file(tmp_path: Path) -> None:
    assert written(tmp_path / "f", []) == [] and not (tmp_path / "f").exists()


def test_lines_are_made_while_they_are_written(tmp_path: Path) -> None:
    made: list[str] = []

    def lines() -> Iterable[tuple[str, bytes]]:
        for name, line in LINES:
            made.append(name)
            yield name, line

    async def first() -> None:
        files = request_files(tmp_path / "f", lines(), most_requests=2)
        await anext(files)
        await files.aclose()

    asyncio.run(first())
    assert made == ["a", "b", "c"]  # one is looked at ahead


def test_a_full_disk_is_said_in_words() -> None:
    with pytest.raises(StoreError, match="No space left on device"):
        written(Path("/dev/full"), LINES)


def test_what_a_killed_process_has_left_is_removed_and_nothing_is_left_behind(tmp_path: Path) -> None:
    left = tmp_path / ".batch-left"
    left.mkdir()
    (left / "requests.jsonl").write_text("…")
    (tmp_path / "store.sqlite").write_text("")
    with scratch(tmp_path) as folder:
        assert folder.parent == tmp_path and not left.exists()
        (folder / "f").write_text("…")
    assert [path.name for path in tmp_path.iterdir()] == ["store.sqlite"]


# ---- lines that come back


def line(call_id: str, status: int = 200, body: Any = "said") -> bytes:
    return json.dumps({"custom_id": call_id, "response": {"status_code": status, "body": body}, "error": None}).encode()


def read(tmp_path: Path, *files: Iterable[bytes], calls: Iterable[str] = ("a", "b")) -> Results:
    results = Results(tuple(calls))
    for number, lines in enumerate(files):
        path = tmp_path / f"results-{number}"
        path.write_bytes(b"\n".join(lines))
        results.add(path)
    return results


def test_lines_are_found_by_their_call_whatever_their_order_and_file(tmp_path: Path) -> None:
    with read(tmp_path, [line("b", body={"text": "čau"})], [line("a", 400)]) as results:
        found = results.line("b"), results.line("a"), results.line("b")
    assert [one and one.custom_id for one in found] == ["b", "a", "b"]
    assert found[0] and found[0].response and json.loads(bytes(found[0].response.body)) == {"text": "čau"}
    assert results.answers == {"b"} and not results.ignored_lines


def test_a_call_without_a_line_has_none(tmp_path: Path) -> None:
    with read(tmp_path, [line("a")]) as results:
        assert results.line("b") is None


def test_of_several_lines_about_a_call_the_first_counts(tmp_path: Path) -> None:
    with read(tmp_path, [line("a", body=1), line("a", body=2)], [line("a", body=3)]) as results:
        found = results.line("a")
    assert found and found.response and bytes(found.response.body) == b"1"
    assert results.ignored_lines == "2 repeated"


def test_an_answer_to_a_stranger_is_counted(tmp_path: Path) -> None:
    with read(tmp_path, [line("c"), line("a")]) as results:
        assert results.line("c") is None and results.line("a")
    assert results.ignored_lines == "1 about other calls"


@pytest.mark.parametrize(
    "bad",
    [
        b"no JSON",
        b"{",
        line("a")[:-3],
        b"[]",
        b"null",
        b"{}",
        b'{"custom_id": 7}',
        b'{"custom_id": "a", "response": {}}',
        b'{"custom_id": "a", "response": {"status_code": "200"}}',
        b'{"custom_id": "a", "response": "fine"}',
        b"\xff\xfe\x00",
        b"[" * 100_000,
    ],
    ids=lambda text: text[:24].decode(errors="replace"),
)
def test_what_is_no_result_is_counted_and_hides_nothing(tmp_path: Path, bad: bytes) -> None:
    with read(tmp_path, [line("b"), bad, line("a")]) as results:
        assert results.line("a") and results.line("b")
    assert results.ignored_lines == "1 invalid"


def test_a_line_of_any_length_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_files, "LONGEST_LINE", 200)
    with read(tmp_path, [line("b", body="x" * 500), line("a")]) as results:
        assert results.line("b") is None and results.line("a")
    assert results.ignored["invalid"] == 3  # the pieces of the long one


def test_half_characters_are_read(tmp_path: Path) -> None:
    with read(tmp_path, [line("a", body={"text": "\ud83d"})]) as results:
        found = results.line("a")
    assert found and found.response and json.loads(bytes(found.response.body)) == {"text": "\ud83d"}


def test_an_error_of_the_batch_is_a_line_too(tmp_path: Path) -> None:
    expired = json.dumps({"custom_id": "a", "response": None, "error": {"code": "batch_expired"}}).encode()
    with read(tmp_path, [expired]) as results:
        found = results.line("a")
    assert found and found.response is None and found.error == {"code": "batch_expired"} and not results.answers


# ---- why files of requests are refused as a whole, in words and in what follows


RECORD = StoredBatch("batch_1", "run", "openai/m", 0.0, "submitted", ("a", "b"))


def refused(*problems: LineError) -> ProviderBatch:
    return ProviderBatch("batch_1", "failed", errors=Errors(problems))


@pytest.mark.parametrize(
    ("problem", "full"),
    [
        (LineError("token_limit_exceeded", "Limit reached"), True),
        (LineError(None, "Enqueued token limit reached for m in organization o. Limit: 90,000 enqueued tokens."), True),
        (LineError("invalid_json_line", "This line is not parseable.", 3), False),
        (LineError(), False),
    ],
)
def test_a_full_queue_is_told_by_its_words(problem: LineError, full: bool) -> None:
    assert is_queue_full(refused(problem)) is full


def test_problems_are_shown_with_their_lines_and_the_rest_is_counted() -> None:
    assert (
        problems_in_words(refused(LineError("code", "Bad.", 2), LineError("other", "Worse (other).")))
        == "line 2: Bad. (code); Worse (other)."
    )
    assert problems_in_words(refused(*(LineError(None, f"Problem {n}", n) for n in range(1, 8)))).endswith("line 5: Problem 5; and 2 more")
    assert problems_in_words(refused()) == problems_in_words(refused(LineError())) == "no reason given"


@pytest.mark.parametrize("line", [2, None, 99, -1, 0])
def test_a_parameter_that_is_named_is_learnt_wherever_its_line_is_said_to_be(line: int | None, some_calls: Callable[..., Any]) -> None:
    chat = Chat(None, "m", "the host")
    assert learn_from_problems(chat, some_calls("a", "b"), RECORD, refused(LineError("x", "'temperature' is not supported", line)))
    assert chat.capabilities.left_out == ("temperature",)


def test_nothing_is_learnt_from_other_words_nor_twice(some_calls: Callable[..., Any]) -> None:
    chat = Chat(None, "m", "the host")
    assert not learn_from_problems(chat, some_calls("a"), RECORD, refused(LineError("x", "the weather is bad", 1)))
    assert not learn_from_problems(chat, some_calls("a"), RECORD, refused())


def test_what_follows_goes_by_how_the_batch_was_asked(some_calls: Callable[..., Any]) -> None:
    """A batch that already asked without a parameter cannot be refused for it."""
    chat = Chat(None, "m", "the host")
    without = ProviderBatch(
        "batch_1",
        "failed",
        errors=Errors((LineError("x", "'temperature' is not supported", 1),)),
        metadata={"harness_manner": '{"left_out": ["temperature"]}'},
    )
    assert not learn_from_problems(chat, some_calls("a"), RECORD, without)
