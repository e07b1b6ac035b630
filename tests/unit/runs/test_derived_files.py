"""What judges have answered: read from the store once, and again only when it has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from harness.data.judgments import Judgments, read_judgments
from harness.model import JudgeIdentity, Reply, Usage
from harness.row_files import to_jsonl
from harness.runs import Plan, Prepared, RunAnswers, RunSpec, Spent, prepare
from harness.runs.derived_files import update_judgments
from harness.store import Attempt, Store

ONE, TWO = JudgeIdentity("openai", "one"), JudgeIdentity("openai", "two")
GOOD, BAD = Reply('{"score": 1}', "one-2024", "json_schema"), Reply("lovely", "one-2024", "text", left_out=("seed",))
ITEMS = {"a": "en", "b": "en", "c": "cs"}


class Run:
    """A run of two judges on three items and one metric, whose replies are put into its store."""

    def __init__(self, prepared: Prepared, store: Store, path: Path) -> None:
        self.prepared, self.store, self.path = prepared, store, path
        self.plan: Plan = prepared.plan(None)

    def answer(self, identity: JudgeIdentity = ONE, **replies: Reply | None) -> None:
        """One attempt for each item: its reply, or None for one that is lost."""
        for call in self.plan.calls(identity):
            if (name := call.query.item.item_id) in replies:
                reply = replies[name]
                self.store.put_attempts([Attempt(call, reply, None if reply else "no connection")], identity)

    def collect(self) -> RunAnswers:
        return update_judgments(self.prepared, self.plan, self.store, self.path)

    @property
    def judgments(self) -> Judgments:
        return read_judgments(self.path, self.prepared.data.scales)

    @property
    def written(self) -> int:
        """Which file it is: one that is written anew is another one."""
        return self.path.stat().st_ino


@pytest.fixture
def run_of(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    with Store.writing(tmp_path / "out") as store:

        def make(**texts: str) -> Run:
            """`texts` of items; by default each has its own."""
            fields = {item: {"prompt": "Say.", "output": texts.get(item, f"This is {item}.")} for item in ITEMS}
            items = [{"item_id": item, "language": tag, "task": "open_prompt", **fields[item]} for item, tag in ITEMS.items()]
            labels = [{"item_id": item, "annotator_id": "x", "metric": "task_quality", "score": 1} for item in ITEMS]
            (tmp_path / "items.jsonl").write_bytes(to_jsonl(items))
            (tmp_path / "labels.jsonl").write_bytes(to_jsonl(labels))
            prepared = prepare(RunSpec(data=tmp_path))
            protocol = prepared.protocol.with_fields(identities=(ONE, TWO))
            return Run(msgspec.structs.replace(prepared, protocol=protocol), store, tmp_path / "run" / "judgments.parquet")

        yield make


@pytest.fixture
def run(run_of: Callable[..., Run]) -> Run:
    return run_of()


def test_replies_become_a_file_of_judgments_and_it_is_said_who_answered_how(run: Run) -> None:
    run.answer(ONE, a=GOOD, b=BAD, c=GOOD)
    run.answer(TWO, a=msgspec.structs.replace(GOOD, model="two"))
    found = run.collect()
    columns = run.judgments
    rows = zip(columns.judge, columns.item, columns.score, columns.failure, strict=True)
    assert sorted(rows, key=str) == [
        ("openai/one", "a", 1, None),
        ("openai/one", "b", None, "not_json"),
        ("openai/one", "c", 1, None),
        ("openai/two", "a", 1, None),
    ]
    assert found.answered_by == {"openai/one": {"one-2024": 3}, "openai/two": {"two": 1}}
    assert found.forms == {"openai/one": {"json_schema": 2, "text": 1}, "openai/two": {"json_schema": 1}}
    assert found.left_out == {"openai/one": {"seed": 1}, "openai/two": {}}


def test_calls_without_a_reply_are_missing_also_those_whose_attempts_were_lost(run: Run) -> None:
    run.answer(ONE, a=GOOD, b=None)
    assert run.collect().missing == {"openai/one": 2, "openai/two": 3}
    assert len(run.judgments) == 1


def test_a_call_that_two_items_share_is_paid_for_once_and_judges_both(run_of: Callable[..., Run]) -> None:
    run = run_of(a="The same.", b="The same.")
    assert run.collect().missing["openai/one"] == 2
    run.answer(a=GOOD)
    found = run.collect()
    assert found.spent["openai/one"]["en"].calls == 1 and list(run.judgments.item) == ["a", "b"]


def test_tokens_seconds_and_failures_are_summed_by_language(run: Run) -> None:
    used = Usage(prompt_tokens=100, cached_tokens=10, completion_tokens=20, reasoning_tokens=5)
    cheap = msgspec.structs.replace(BAD, usage=Usage(prompt_tokens=7), seconds=0.25, batched=True)
    run.answer(a=msgspec.structs.replace(GOOD, usage=used, seconds=0.5), b=cheap, c=msgspec.structs.replace(GOOD, usage=used))
    assert run.collect().spent == {
        "openai/one": {
            "cs": Spent(1, used),
            "en": Spent(2, Usage(107, 10, 20, 5), 0.75, {"not_json": 1}, batched=Usage(7)),
        },
        "openai/two": {},
    }


def test_the_tokens_of_a_further_character_are_found_from_texts_of_different_length(run_of: Callable[..., Run]) -> None:
    run = run_of(a="x" * 100, b="x" * 300)
    run.answer(**{name: msgspec.structs.replace(GOOD, usage=Usage(tokens)) for name, tokens in (("a", 500), ("b", 550), ("c", 70))})
    spent = run.collect().spent["openai/one"]
    assert spent["en"].tokens_per_character == 0.25
    assert spent["cs"].tokens_per_character is None  # one text


def test_what_has_not_changed_is_not_read_again(run: Run) -> None:
    run.answer(a=GOOD)
    first, written = run.collect(), run.written
    run.answer(b=None)  # an attempt that brings nothing changes nothing
    assert run.collect() == first and run.written == written


def test_what_the_store_has_learnt_is_read(run: Run) -> None:
    run.answer(a=GOOD)
    run.collect()
    run.answer(a=BAD, b=GOOD)
    assert run.collect().missing["openai/one"] == 1
    assert dict(zip(run.judgments.item, run.judgments.score, strict=True)) == {"a": None, "b": 1}


@pytest.mark.parametrize("name", ["judgments.parquet", "answers.json"])
@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_bytes(b"{}")], ids=["deleted", "overwritten"])
def test_a_file_that_is_gone_or_another_is_made_anew(run: Run, name: str, change: Callable[[Path], object]) -> None:
    run.answer(a=GOOD)
    first, content = run.collect(), run.path.read_bytes()
    change(run.path.with_name(name))
    assert run.collect() == first and run.path.read_bytes() == content
