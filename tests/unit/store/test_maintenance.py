"""The care of a store: each kind of damage has its sentence, only unreferenced rows are removed, and merging loses nothing."""

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
from harness.prompts.templates import PromptTemplate, program_hash, prompt_hash
from harness.store import SCHEMA_VERSION, Attempt, Store
from harness.store.maintenance import check, collect, merge

Put = Callable[..., None]
Rows = Callable[..., list[Any]]
PROMPT = prompt_hash((), {"type": "object"})
Said = Callable[[str], Any]
ATTEMPTS = "SELECT call_id, attempt, lost FROM attempts ORDER BY call_id, attempt"
TABLES = ("meta", "runs", "frames", "prompts", "calls", "attempts", "batches")
FRAME = msgspec.json.encode(PromptTemplate((), {}, 10))
NOTHING_MERGE = {"runs": 0, "frames": 0, "prompts": 0, "calls": 0, "attempts": 0, "batches": 0}


@pytest.fixture
def whole(tmp_path: Path, put: Put, said: Callable[[str], Any]) -> Path:
    """A store with something of everything."""
    with Store.writing(tmp_path) as store:
        store.put_run("run", b"{}")
        store.put_template("program:question", msgspec.json.encode(PromptTemplate((), {}, 10)))
        store.put_batch("batch", "run", "openai/one", ["a"])
        put(store, ("a", None, "lost"), ("b", said("b"), None))
        put(store, ("a", said("a"), None), ("c", None, "lost"))
    return tmp_path


def test_a_whole_store_is_counted_and_nothing_is_wrong(whole: Path) -> None:
    found = check(whole)
    assert found.counts == {"runs": 1, "calls": 3, "attempts": 4, "replies": 2, "lost": 2}
    assert found.problems == ()


def test_an_empty_store_is_whole(tmp_path: Path) -> None:
    with Store.writing(tmp_path):
        pass
    assert check(tmp_path).counts == {"runs": 0, "calls": 0, "attempts": 0, "replies": 0, "lost": 0}
    assert check(tmp_path).problems == ()


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("UPDATE attempts SET reply = '{' WHERE call_id = 'b'", "attempt 1 of call b has a reply that cannot be read: "),
        ("UPDATE attempts SET reply = '{\"text\":1}' WHERE call_id = 'b'", "attempt 1 of call b has a reply that cannot be read: Expected"),
        ("UPDATE attempts SET reply = NULL WHERE call_id = 'b'", "attempt 1 of call b has neither a reply nor a reason why there is none"),
        ("UPDATE attempts SET lost = 'x' WHERE call_id = 'b'", "attempt 1 of call b has both a reply and a reason why there is none"),
        ("UPDATE attempts SET attempt = 2 WHERE call_id = 'b'", "call b has 1 attempts, numbered from 2 to 2; they should be numbered"),
        ("DELETE FROM attempts WHERE attempt = 1 AND call_id = 'a'", "call a has 1 attempts, numbered from 2 to 2"),
        ("UPDATE attempts SET attempt = 7 WHERE attempt = 2", "call a has 2 attempts, numbered from 1 to 7"),
        ("DELETE FROM calls WHERE call_id = 'a'", "there are attempts of call a, but the call is missing"),
        ("UPDATE calls SET prompt_id = 'p' WHERE call_id = 'a'", "call a asks prompt p, which is missing"),
        ("UPDATE prompts SET body = x'00'", f"prompt {PROMPT} cannot be read: Error -"),
        ("UPDATE prompts SET body = 'text'", f"prompt {PROMPT} cannot be read: "),
        ("UPDATE frames SET frame = x'7b'", "the prompt template program:question cannot be read: "),
        ("UPDATE frames SET frame = x'80'", "the prompt template program:question cannot be read: "),
        ("UPDATE runs SET spec = '[]'", "the specification of run run cannot be read: Expected `object`"),
        ("UPDATE batches SET calls = x'00'", "the list of calls of batch batch cannot be read: Error -"),
    ],
)
def test_each_damage_has_its_sentence(whole: Path, rows: Rows, damage: str, sentence: str) -> None:
    rows(whole, damage)
    problems = check(whole).problems
    assert len(problems) == 1 and problems[0].startswith(sentence), problems


def test_a_prompt_whose_text_has_changed_is_found(whole: Path, rows: Rows) -> None:
    [body] = rows(whole, "SELECT body FROM prompts")
    rows(whole, "UPDATE prompts SET prompt_id = 'other'")
    rows(whole, "UPDATE calls SET prompt_id = 'other'")
    rows(whole, "INSERT INTO prompts VALUES (?, ?)", PROMPT, body)
    assert check(whole).problems == (f"prompt other has a different text than it was made with: its hash is {PROMPT}",)


def test_of_many_problems_of_a_kind_the_first_ten_are_told(tmp_path: Path, rows: Rows, put: Put, said: Callable[[str], Any]) -> None:
    with Store.writing(tmp_path) as store:
        put(store, *((f"call {n}", said(""), None) for n in range(35)))
    rows(tmp_path, "UPDATE attempts SET reply = '', attempt = 3")
    problems = check(tmp_path).problems
    assert len(problems) == 22
    assert problems[10] == problems[21] == "and 25 more of this kind"


@pytest.fixture
def long(tmp_path: Path, put: Put, said: Callable[[str], Any]) -> Path:
    """The file of a store with 500 calls."""
    with Store.writing(tmp_path) as store:
        store.put_run("run", b"{}")
        put(store, *((f"call {n:03}", said("x" * 200), None) for n in range(500)))
    return tmp_path / "store.sqlite"


def test_a_torn_file_is_said_and_what_can_be_counted_is_counted(long: Path) -> None:
    whole = long.read_bytes()
    half = len(whole) // 2 // 4096 * 4096
    long.write_bytes(whole[:half] + b"\xff" * (len(whole) - half))
    found = check(long.parent)
    assert "the file cannot be read to its end (database disk image is malformed): restore it from a copy" in found.problems
    assert found.counts["runs"] == 1 and found.counts["attempts"] is None


def test_an_index_that_disagrees_with_its_table_is_found(long: Path) -> None:
    long.write_bytes(long.read_bytes().replace(b"call 123", b"call 12x", 1))
    problems = check(long.parent).problems
    assert any(problem.startswith("the file is damaged: ") and "missing from index" in problem for problem in problems), problems


def test_a_store_is_checked_while_a_run_goes_on_and_not_changed(whole: Path, put: Put, said: Callable[[str], Any], rows: Rows) -> None:
    before = rows(whole, "SELECT * FROM attempts")
    with Store.writing(whole) as store:
        put(store, ("d", said("d"), None))
        assert check(whole).counts["attempts"] == 5
    assert rows(whole, "SELECT * FROM attempts WHERE call_id != 'd'") == before


def test_without_a_store_there_is_nothing_to_check(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no results in"):
        check(tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("table", ["attempts", "frames"])
def test_every_flipped_bit_of_a_reply_or_a_frame_is_found(whole: Path, rows: Rows, table: str) -> None:
    column, where = ("reply", "call_id = 'b'") if table == "attempts" else ("frame", "1")
    [text] = rows(whole, f"SELECT CAST({column} AS BLOB) FROM {table} WHERE {where}")
    kind = "TEXT" if table == "attempts" else "BLOB"
    for place in range(0, len(text), 7):
        for bit in range(8):
            flipped = bytearray(text)
            flipped[place] ^= 1 << bit
            rows(whole, f"UPDATE {table} SET {column} = CAST(? AS {kind}) WHERE {where}", bytes(flipped))
            found = check(whole)
            assert len(found.problems) == 1 and ("its checksum differs" in found.problems[0] or "cannot be read" in found.problems[0])
            assert None not in found.counts.values()
    rows(whole, f"UPDATE {table} SET {column} = CAST(? AS {kind}) WHERE {where}", text)
    assert check(whole).problems == ()


def test_a_changed_reply_that_can_be_read_is_found(whole: Path, rows: Rows) -> None:
    rows(whole, "UPDATE attempts SET reply = replace(reply, 'one-2024', 'one-2025') WHERE call_id = 'b'")
    [problem] = check(whole).problems
    assert problem == "attempt 1 of call b has a different reply than the one that was received: its checksum differs"


def test_a_reply_and_a_frame_without_a_checksum_are_found(whole: Path, rows: Rows) -> None:
    rows(whole, "UPDATE attempts SET checksum = NULL WHERE call_id = 'b'")
    rows(whole, "UPDATE frames SET checksum = NULL")
    assert [problem.endswith("its checksum differs") for problem in check(whole).problems] == [True, True]


def test_a_damaged_frame_is_not_used(whole: Path, rows: Rows) -> None:
    rows(whole, "UPDATE frames SET frame = CAST(replace(CAST(frame AS TEXT), '10', '1}') AS BLOB)")
    with Store.reading(whole) as store, pytest.raises(StoreError, match="the prompt template program:question is damaged"):
        store.get_template("program:question")


def removed(folder: Path, **options: bool) -> dict[str, int]:
    found = msgspec.structs.asdict(collect(folder, **options))
    return {table: found[table] for table in ("frames", "attempts", "calls", "prompts")}


NOTHING = {"frames": 0, "attempts": 0, "calls": 0, "prompts": 0}


@pytest.fixture
def littered(tmp_path: Path, put: Put, said: Said, make_call: Callable[..., Any], rows: Rows) -> Path:
    """A store with something to remove of each kind."""
    folder = tmp_path / "littered"
    with Store.writing(folder) as store:
        store.put_run("run", b'{"prompts":"earlier"}')
        for program in ("earlier", "another", program_hash()):
            store.put_template(f"{program}:question", b"{}")
        put(store, ("late", None, "1"), ("late", None, "2"), ("lost", None, "1"), ("lost", None, "2"))
        put(store, ("late", said("first"), None), ("late", None, "3"), ("late", said("second"), None), ("late", None, "4"))
        put(store, (make_call("untried", prompt_id="unasked"), said(""), None))
    rows(folder, "DELETE FROM attempts WHERE call_id = 'untried'")
    return folder


def test_only_what_is_of_no_use_is_removed(littered: Path, rows: Rows) -> None:
    assert removed(littered) == {"frames": 1, "attempts": 3, "calls": 1, "prompts": 1}
    assert rows(littered, ATTEMPTS) == [("late", 1, None), ("late", 2, None), ("late", 3, "4"), ("lost", 1, "1"), ("lost", 2, "2")]
    assert rows(littered, "SELECT call_id FROM calls ORDER BY call_id") == ["late", "lost"]
    assert rows(littered, "SELECT COUNT(*) FROM prompts") == [1]
    assert rows(littered, "SELECT name FROM runs") == ["run"]


def test_replies_and_their_order_stay(littered: Path, said: Said) -> None:
    with Store.reading(littered) as store:
        before = list(store.export())
    collect(littered)
    with Store.reading(littered) as store:
        assert list(store.export()) == before
        assert list(store.replies(["late"])) == [said("second")]


def test_frames_stay_that_a_run_is_read_with(littered: Path, rows: Rows) -> None:
    """Those of an earlier wording cannot be made again."""
    collect(littered)
    assert rows(littered, "SELECT key FROM frames ORDER BY key") == sorted(["earlier:question", f"{program_hash()}:question"])


def test_a_second_time_there_is_nothing_to_remove(littered: Path) -> None:
    collect(littered)
    assert removed(littered) == NOTHING


def test_a_dry_run_counts_the_same_and_changes_nothing(littered: Path) -> None:
    path = littered / "store.sqlite"
    before = path.read_bytes()
    counted = removed(littered, dry_run=True)
    assert path.read_bytes() == before
    assert counted == removed(littered) != NOTHING


def test_the_file_shrinks_by_what_is_said(tmp_path: Path, put: Put, said: Said) -> None:
    with Store.writing(tmp_path) as store:
        put(store, *(("a", None, "x" * 1000) for _ in range(1000)), ("a", said("at last"), None))
    size = (tmp_path / "store.sqlite").stat().st_size
    found = collect(tmp_path)
    assert found.bytes_before == size > 1_000_000
    assert found.bytes_after == (tmp_path / "store.sqlite").stat().st_size < 100_000
    assert check(tmp_path).problems == ()


def test_room_that_an_earlier_try_could_not_give_back_is_given_back(tmp_path: Path, put: Put, said: Said, rows: Rows) -> None:
    with Store.writing(tmp_path) as store:
        put(store, *(("a", None, "x" * 1000) for _ in range(1000)), ("a", said("at last"), None))
    rows(tmp_path, "DELETE FROM attempts WHERE lost IS NOT NULL")
    rows(tmp_path, "UPDATE attempts SET attempt = 1")
    assert removed(tmp_path, dry_run=True) == NOTHING
    assert collect(tmp_path).bytes_after < 100_000


def test_a_run_that_cannot_be_read_might_need_anything(littered: Path, rows: Rows) -> None:
    rows(littered, "UPDATE runs SET spec = '{'")
    before = rows(littered, ATTEMPTS)
    with pytest.raises(StoreError, match=r"the specification of run run is damaged, .*; nothing was removed"):
        collect(littered)
    assert rows(littered, ATTEMPTS) == before


def test_a_folder_that_a_run_holds_is_left_alone(littered: Path) -> None:
    with Store.writing(littered), pytest.raises(StoreError, match="is in use by another run"):
        collect(littered)


@pytest.mark.parametrize("dry_run", [True, False])
def test_without_a_store_there_is_nothing_to_clean_and_none_is_made(tmp_path: Path, dry_run: bool) -> None:
    with pytest.raises(StoreError, match="no results in"):
        collect(tmp_path / "none", dry_run=dry_run)
    assert list(tmp_path.iterdir()) == []


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
    assert gained(*two, out=out) == gained(two[1], two[1], two[0], out=out) == NOTHING_MERGE
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
    assert gained(*two, out=out) == NOTHING_MERGE | {"calls": 1, "attempts": 2}
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
        assert msgspec.structs.asdict(merge(sources, folder / "out")) == NOTHING_MERGE
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
