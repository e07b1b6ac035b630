"""What is noted of batches in the store, and what a later process finds there.

A file is handed over and paid for once, whatever the connection does in between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from harness.asking import Limits
from harness.engines import Progress
from harness.engines.batch import submission as module
from harness.engines.batch.files import RequestFile
from harness.engines.batch.submission import BatchRecord, BatchSubmitter, capabilities_of, file_id, is_file
from harness.engines.budget import Budget
from harness.engines.retry import Polling
from harness.judges import NoReply
from harness.judges.batches import Batches, BatchRefused, ProviderBatch
from harness.judges.capabilities import EndpointCapabilities
from harness.store import Store


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
    monkeypatch.setattr("harness.engines.retry.backoff", lambda count: 0.0)
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
