"""Making one store of several: nothing is lost, nothing is taken twice, and who is merged first does not matter."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import StoreError, UsageError
from harness.model import Call, Condition, Item, JudgeIdentity, Prompt, Query, Reply
from harness.prompts.templates import PromptTemplate
from harness.store import SCHEMA_VERSION, Attempt, Store
from harness.store.damage import check
from harness.store.merge import merge

Put = Callable[..., None]
Rows = Callable[..., list[Any]]
Said = Callable[[str], Any]
TABLES = ("meta", "runs", "frames", "prompts", "calls", "attempts", "batches")
FRAME = msgspec.json.encode(PromptTemplate((), {}, 10))
NOTHING = {"runs": 0, "frames": 0, "prompts": 0, "calls": 0, "attempts": 0, "batches": 0}


def gained(*sources: Path, out: Path) -> dict[str, int]:
    found: dict[str, int] = msgspec.structs.asdict(merge(sources, out))
    return found


@pytest.fixture
def everything(rows: Rows) -> Callable[[Path], dict[str, Any]]:
    """Every table of a store, but for who holds it."""
    return lambda folder: {table: rows(folder, f"SELECT * FROM {table}") for table in TABLES if table != "meta"}


@pytest.fixture
def two(tmp_path: Path, put: Put, said: Said, clock: Any) -> tuple[Path, Path]:
    """Two machines that shared the asking; both asked `both`, in turns, and only one was answered by `late`."""
    one, other = tmp_path / "one", tmp_path / "other"
    turns = [
        (one, (("a", said("a"), None), ("both", None, "one's first"))),
        (other, (("b", said("b"), None), ("both", said("other's"), None))),
        (one, (("both", said("one's"), None), ("late", None, "one's"))),
        (other, (("late", said("late"), None),)),
    ]
    for n, (folder, attempts) in enumerate(turns):
        clock.now += 10
        with Store.writing(folder) as store:
            store.put_run(f"run {n}", b"{}")
            store.put_template(f"{folder.name}:question", FRAME)
            put(store, *attempts)
    with Store.writing(other) as store:
        store.put_batch("batch", "run 1", "openai/one", ["b"])
    return one, other


def test_everything_of_both_is_in_the_merged_store(two: tuple[Path, Path], tmp_path: Path, said: Said) -> None:
    out = tmp_path / "out"
    assert gained(*two, out=out) == {"runs": 4, "frames": 2, "prompts": 1, "calls": 4, "attempts": 7, "batches": 1}
    with Store.reading(out) as store:
        assert list(store.runs()) == ["run 0", "run 1", "run 2", "run 3"]
        assert list(store.replies(["a", "b", "late", "both"])) == [said("a"), said("b"), said("late"), said("one's")]
        assert [batch.batch_id for batch in store.batches("run 1", "openai/one")] == ["batch"]
        assert store.get_template("one:question") == store.get_template("other:question") == FRAME
    assert check(out).problems == ()


def test_attempts_of_one_call_are_numbered_in_the_order_of_their_reception(two: tuple[Path, Path], tmp_path: Path, rows: Rows) -> None:
    merge(two, tmp_path / "out")
    query = "SELECT attempt, lost, json_extract(reply, '$.text') FROM attempts WHERE call_id = ? ORDER BY attempt"
    assert rows(tmp_path / "out", query, "both") == [(1, "one's first", None), (2, None, "other's"), (3, None, "one's")]
    assert rows(tmp_path / "out", query, "late") == [(1, "one's", None), (2, None, "late")]


def test_merging_again_changes_nothing(two: tuple[Path, Path], tmp_path: Path, everything: Callable[[Path], Any]) -> None:
    out = tmp_path / "out"
    merge(two, out)
    before = everything(out)
    assert gained(*two, out=out) == gained(two[1], two[1], two[0], out=out) == NOTHING
    assert everything(out) == before


def test_one_after_the_other_is_the_same_as_together(two: tuple[Path, Path], tmp_path: Path, everything: Callable[[Path], Any]) -> None:
    merge(two, tmp_path / "together")
    for source in two:
        merge([source], tmp_path / "in turn")
    assert everything(tmp_path / "in turn") == everything(tmp_path / "together")


def test_what_has_gone_on_in_a_source_is_added_later(two: tuple[Path, Path], tmp_path: Path, put: Put, said: Said, clock: Any) -> None:
    out = tmp_path / "out"
    merge(two, out)
    clock.now += 10
    with Store.writing(two[0]) as store:
        put(store, ("late", said("later still"), None), ("new", said("new"), None))
    assert gained(*two, out=out) == NOTHING | {"calls": 1, "attempts": 2}
    with Store.reading(out) as store:
        assert list(store.replies(["late", "new"])) == [said("later still"), said("new")]
        assert list(store.last_attempts(["late", "new"])) == [3, 1]


def test_sources_are_only_read(two: tuple[Path, Path], tmp_path: Path) -> None:
    before = [(source / "store.sqlite").read_bytes() for source in two]
    merge(two, tmp_path / "out")
    assert [(source / "store.sqlite").read_bytes() for source in two] == before


def test_a_source_that_a_run_writes_to_is_read_as_it_stands(two: tuple[Path, Path], tmp_path: Path, put: Put, said: Said) -> None:
    with Store.writing(two[0]) as store:
        put(store, ("going on", said("now"), None))
        merge(two, tmp_path / "out")
    with Store.reading(tmp_path / "out") as store:
        assert list(store.last_attempts(["going on"])) == [1]


def test_a_batch_that_one_machine_has_settled_is_settled(two: tuple[Path, Path], tmp_path: Path) -> None:
    one, other = two
    merge([other], one)
    with Store.writing(one) as store:
        store.settle_batch("batch", "fetched")
    for order in itertools.permutations(two):
        merge(order, tmp_path / "-".join(folder.name for folder in order))
        merge(order, tmp_path / "-".join(folder.name for folder in order))
        with Store.reading(tmp_path / "-".join(folder.name for folder in order)) as store:
            assert [batch.state for batch in store.batches("run 1", "openai/one")] == ["fetched"]


# Whatever two machines did


_JUDGE = JudgeIdentity("openai", "one")
_RECEIVED = st.integers(0, 5)
_ATTEMPTS = st.lists(st.tuples(st.sampled_from("ab"), _RECEIVED, st.sampled_from(["x", "y", None])), max_size=6)


def made(folder: Path, attempts: Sequence[tuple[str, int, str | None]]) -> Path:
    with Store.writing(folder) as store:
        for call_id, received, text in attempts:
            call = Call(call_id, Prompt("p", (), {}, 1), Query(Item("i", "en", "t"), ("m",), Condition()))
            store.put_attempts([Attempt(call, Reply(text, "m") if text else None, None if text else "lost")], _JUDGE)
            store.db.execute(
                "UPDATE attempts SET received = ? WHERE call_id = ? AND attempt = "
                "(SELECT MAX(attempt) FROM attempts AS of_call WHERE of_call.call_id = attempts.call_id)",
                (received, call_id),
            )
    return folder


def by_call(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """What a store has of each call, in order."""
    with Store.reading(folder) as store:
        rows = store.db.execute("SELECT call_id, attempt, received, reply, lost FROM attempts ORDER BY call_id, attempt").fetchall()
    found: dict[str, list[tuple[Any, ...]]] = {}
    for call_id, attempt, *rest in rows:
        found.setdefault(call_id, []).append(tuple(rest))
        assert attempt == len(found[call_id])  # without a gap, from 1
    return found


def in_order(some: Sequence[Any], whole: Sequence[Any]) -> bool:
    rest = iter(whole)
    return all(any(one == other for other in rest) for one in some)


@pytest.mark.slow
@given(_ATTEMPTS, _ATTEMPTS)
def test_nothing_is_lost_or_taken_twice_and_the_order_of_merging_does_not_matter(one: Any, other: Any) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = [made(folder / "one", one), made(folder / "other", other)]
        merge(sources, folder / "out")
        merge(sources[::-1], folder / "reversed")
        found, apart = by_call(folder / "out"), [by_call(source) for source in sources]
        assert {call: set(attempts) for call, attempts in found.items()} == {
            call: set(apart[0].get(call, [])) | set(apart[1].get(call, [])) for call in apart[0] | apart[1]
        }
        shared = {call for call in found if set(apart[0].get(call, [])) & set(apart[1].get(call, []))}
        for call in found.keys() - shared:
            assert all(in_order(attempts.get(call, []), found[call]) for attempts in apart)
            assert by_call(folder / "reversed")[call] == found[call]
        assert msgspec.structs.asdict(merge(sources, folder / "out")) == NOTHING
        assert by_call(folder / "out") == found


# What is refused


def test_a_source_cannot_be_the_target(two: tuple[Path, Path], tmp_path: Path) -> None:
    one, other = two
    (tmp_path / "link").symlink_to(one)
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "store.sqlite").hardlink_to(one / "store.sqlite")
    before = (one / "store.sqlite").read_bytes()
    for source in (one, tmp_path / "other" / ".." / "one", tmp_path / "link", tmp_path / "copy"):
        with pytest.raises(UsageError, match="is a source and cannot be the target too; name another folder with --out"):
            merge([other, source], one)
    assert (one / "store.sqlite").read_bytes() == before


def test_a_bad_source_is_refused_before_anything_is_written(two: tuple[Path, Path], tmp_path: Path, rows: Rows) -> None:
    rows(two[1], f"UPDATE meta SET value = '{SCHEMA_VERSION + 1}' WHERE key = 'schema_version'")
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "store.sqlite").write_bytes(b"a letter to grandmother " * 100)
    for source, words in (
        (two[1], f"the store has version {SCHEMA_VERSION + 1}, and this program reads version {SCHEMA_VERSION}"),
        (tmp_path / "letters", "it is not a store of this program"),
        (tmp_path / "none", "no results in"),
    ):
        with pytest.raises(StoreError, match=words):
            merge([two[0], source], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_target_that_is_held_is_refused(two: tuple[Path, Path], everything: Callable[[Path], Any]) -> None:
    before = everything(two[0])
    with Store.writing(two[0]), pytest.raises(StoreError, match="is in use by another run"):
        merge([two[1]], two[0])
    assert everything(two[0]) == before


@pytest.mark.parametrize("there", [True, False], ids=["a target that is there", "a new target"])
def test_a_source_that_is_damaged_in_the_middle_adds_nothing(
    two: tuple[Path, Path], tmp_path: Path, put: Put, said: Said, everything: Callable[[Path], Any], there: bool
) -> None:
    damaged, out = tmp_path / "damaged", tmp_path / "out"
    with Store.writing(damaged) as store:
        put(store, *((f"call {n}", said("x" * 200), None) for n in range(500)))
    path = damaged / "store.sqlite"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 // 4096 * 4096] + b"\xff" * (len(whole) // 2))
    if there:
        merge(two, out)
        before = everything(out)
    with pytest.raises(StoreError, match=r"damaged: .*; the file is damaged"):
        merge([*two, damaged], out)
    assert everything(out) == before if there else not any(everything(out).values())
    merge(two, out)
    assert len(everything(out)["attempts"]) == 7


def test_checksums_go_with_their_replies(tmp_path: Path, put: Put, said: Callable[[str], Reply], rows: Rows) -> None:
    with Store.writing(tmp_path / "new") as store:
        put(store, ("call-9", said("nine"), None))
    assert merge([tmp_path / "new"], tmp_path / "out").attempts == 1
    query = "SELECT call_id, checksum FROM attempts"
    assert rows(tmp_path / "out", query) == rows(tmp_path / "new", query) != [("call-9", None)]
    assert merge([tmp_path / "new"], tmp_path / "out").attempts == 0
