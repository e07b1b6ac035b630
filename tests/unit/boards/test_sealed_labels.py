"""Sealed labels: what is written, what a key opens, and that nobody learns anything without one."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.authoring.check import check
from harness.authoring.lock import _KEYHOLDERS
from harness.boards.sealed_labels import add_sealed_labels, canonical_rows, open_labels, rotate, seal, unseal
from harness.content import Library
from harness.content.canary import LABELS, holds_canary, new_canary
from harness.content.specs import Board, read_spec
from harness.data.labels import Labels
from harness.errors import ContentError, StoreError, UsageError
from harness.model import JudgeIdentity, Label
from harness.runs import Prepared, RunSpec, prepare

pytestmark = pytest.mark.needs("pyrage")
CANARY = "A canary for tests: these rows should never appear in training corpora, 4d1f"


@pytest.fixture
def owner(make_key: Callable[..., Any]) -> Any:
    return make_key("owner")


@pytest.fixture
def held(own_board: Any, owner: Any) -> Any:
    """The board `held` with its labels sealed to `owner`."""
    seal("held", own_board.labels, [owner.recipient], content=[own_board.content], canary=CANARY)
    return own_board


def prepared(board: Any) -> Prepared:
    return prepare(RunSpec(board="held", content=(board.content,)))


def spec(board: Any) -> Board:
    return read_spec(board.toml, Board)


def refused(board: Any, error: type[Exception], words: str, act: Callable[[], object]) -> str:
    """Assert that an action is refused with a message and changes nothing; return the message."""
    before = board.tree()
    with pytest.raises(error, match=words) as caught:
        act()
    assert board.tree() == before
    return str(caught.value)


# ---- sealing


def test_a_sealed_board_holds_no_label_outside_of_the_encrypted_file(held: Any) -> None:
    for name, content in held.tree().items():
        assert b'"score"' not in content and b'"annotator_id"' not in content, name
    assert (held.folder / LABELS).read_bytes().startswith(b"age-encryption.org/v1")


def test_the_board_names_its_recipients_its_commitment_and_its_canary(held: Any, owner: Any) -> None:
    sealed = spec(held).sealed
    assert sealed is not None
    assert (sealed.recipients, sealed.canary, sealed.source) == ((owner.recipient,), CANARY, "native")
    plaintext = unseal(spec(held), held.toml, owner.file)
    assert hashlib.sha256(plaintext).hexdigest() == sealed.commitment


def test_what_is_sealed_is_what_comes_out(held: Any, owner: Any) -> None:
    labels = add_sealed_labels(prepared(held), owner.file).data.labels
    given = [msgspec.json.decode(line) for line in held.labels.read_bytes().splitlines()]
    assert {(x.item_id, x.metric, x.score, x.source) for x in labels} == {(g["item_id"], g["metric"], g["score"], "native") for g in given}
    assert len(labels) == len(given) == 120


def test_the_same_labels_have_another_commitment_each_time(held: Any, owner: Any, own_board: Any) -> None:
    first = spec(held).sealed
    (held.folder / LABELS).unlink()
    held.toml.write_text(held.toml.read_text("utf-8").partition("# Labels are in")[0], encoding="utf-8")
    seal("held", own_board.labels, [owner.recipient], content=[own_board.content], canary=CANARY)
    second = spec(held).sealed
    assert first and second and first.commitment != second.commitment, (
        "without a salt, guessed labels could be checked against the commitment"
    )


def test_the_canonical_form_does_not_depend_on_the_order_of_rows() -> None:
    rows = [Label("i2", "a", "m", 1), Label("i1", "b", "m", 0), Label("i1", "a", "m", 2)]
    assert canonical_rows(Labels.from_rows(rows), "c") == canonical_rows(Labels.from_rows(rows[::-1]), "c")


def test_a_sealed_board_passes_the_content_check(held: Any) -> None:
    assert [str(problem) for problem in check(Library(held.content)) if held.content in problem.path.parents] == []


def test_sealing_twice_is_refused(held: Any, owner: Any) -> None:
    refused(
        held,
        UsageError,
        "sealed already; 'harness board rotate'",
        lambda: seal("held", held.labels, [owner.recipient], content=[held.content]),
    )


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"item_id": "nl-0", "annotator_id": "a", "metric": "task_quality", "score": 7}], "labels.jsonl:1: .*outside the scale"),
        ([{"item_id": "xx", "annotator_id": "a", "metric": "task_quality", "score": 1}], "labels.jsonl:1: .*xx"),
        ([{"item_id": "nl-0", "annotator_id": "a", "metric": "hallucination", "score": 1}], "is not asked on the board 'held'"),
        ([], "no labels to seal"),
    ],
    ids=["off the scale", "of no item", "on no metric of the board", "none"],
)
def test_labels_of_other_items_or_metrics_are_refused(own_board: Any, owner: Any, rows: list[dict[str, Any]], words: str) -> None:
    own_board.labels.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    refused(own_board, ContentError, words, lambda: seal("held", own_board.labels, [owner.recipient], content=[own_board.content]))


def test_labels_in_a_published_folder_are_refused(own_board: Any, owner: Any) -> None:
    inside = own_board.folder / "labels.jsonl"
    inside.write_bytes(own_board.labels.read_bytes())
    refused(own_board, UsageError, "published with the board", lambda: seal("held", inside, [owner.recipient], content=[own_board.content]))


def test_labels_that_are_public_in_a_pack_are_refused(own_board: Any, owner: Any) -> None:
    openly = own_board.content / "languages" / "nl" / "labels" / "open_prompt.jsonl"
    openly.parent.mkdir()
    openly.write_bytes(b"".join(line for line in own_board.labels.read_bytes().splitlines(keepends=True) if b'"nl-' in line))
    refused(
        own_board,
        UsageError,
        "60 labels .* are public",
        lambda: seal("held", own_board.labels, [owner.recipient], content=[own_board.content]),
    )


@pytest.mark.parametrize("recipient", ["age1nothing", "somebody", ""])
def test_an_invalid_public_key_is_refused(own_board: Any, recipient: str) -> None:
    refused(
        own_board,
        UsageError,
        "is not a public key of age",
        lambda: seal("held", own_board.labels, [recipient], content=[own_board.content]),
    )


def test_a_secret_key_given_instead_of_a_public_one_is_not_quoted(own_board: Any, owner: Any) -> None:
    secret = owner.file.read_text("ascii").splitlines()[1]
    message = refused(
        own_board, UsageError, "not a public key", lambda: seal("held", own_board.labels, [secret], content=[own_board.content])
    )
    assert secret[16:] not in message


def test_if_the_board_cannot_be_written_there_is_no_encrypted_file_either(
    own_board: Any, owner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush, flushed = os.fsync, []

    def full(handle: int) -> None:
        flushed.append(handle)
        if len(flushed) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        flush(handle)

    monkeypatch.setattr(os, "fsync", full)
    refused(own_board, StoreError, "No space left", lambda: seal("held", own_board.labels, [owner.recipient], content=[own_board.content]))
    assert len(flushed) == 2


# ---- what is asked does not depend on the labels


def test_every_item_is_asked_about_on_every_metric_with_and_without_the_key(held: Any, owner: Any) -> None:
    without = prepared(held)
    opened = add_sealed_labels(without, owner.file)
    judge = JudgeIdentity("openai", "m")
    ids = list(without.plan(None).calls(judge).ids())
    assert len(ids) == 120 and ids == list(opened.plan(None).calls(judge).ids())
    assert without.data.sealed and not opened.data.sealed
    assert without.protocol.texts.constructed is False


# ---- opening


def test_open_writes_what_anybody_can_check_against_the_commitment(held: Any, owner: Any, tmp_path: Path) -> None:
    folder = open_labels("held", owner.file, tmp_path / "opened", content=[held.content])
    text = (folder / "salt.txt").read_bytes() + (folder / "labels.jsonl").read_bytes()
    sealed = spec(held).sealed
    assert sealed and hashlib.sha256(text).hexdigest() == sealed.commitment
    assert holds_canary(folder / "labels.jsonl", CANARY)
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("place", ["leaderboards/held/opened", "opened"])
def test_labels_are_not_opened_into_a_published_folder(held: Any, owner: Any, place: str) -> None:
    refused(held, UsageError, "outside it", lambda: open_labels("held", owner.file, held.content / place, content=[held.content]))


def test_labels_are_not_opened_into_a_repository_around_it(held: Any, owner: Any, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    refused(held, UsageError, "outside it", lambda: open_labels("held", owner.file, tmp_path / "opened", content=[held.content]))


def test_labels_are_not_opened_into_an_existing_folder(held: Any, owner: Any, tmp_path: Path) -> None:
    (tmp_path / "opened").mkdir()
    refused(held, UsageError, "exists already", lambda: open_labels("held", owner.file, tmp_path / "opened", content=[held.content]))


def test_another_key_does_not_open_it(held: Any, make_key: Callable[..., Any], owner: Any) -> None:
    message = refused(held, ContentError, "not the key of", lambda: add_sealed_labels(prepared(held), make_key("other").file))
    assert owner.recipient in message


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe\x00", b"AGE-SECRET-KEY-1QQQQQQQQ\n", b"x" * 100_000, b"# only a comment\n"],
    ids=["empty", "binary", "broken", "long", "comment"],
)
def test_an_invalid_key_file_is_refused_and_not_quoted(held: Any, tmp_path: Path, content: bytes) -> None:
    key = tmp_path / "key"
    key.write_bytes(content)
    message = refused(held, ContentError, "not a key file of age", lambda: add_sealed_labels(prepared(held), key))
    assert "QQQQ" not in message and "xxx" not in message


def test_a_key_that_cannot_be_read_is_refused(held: Any, tmp_path: Path) -> None:
    refused(held, ContentError, "the key cannot be read: No such file", lambda: add_sealed_labels(prepared(held), tmp_path / "none"))


@pytest.mark.parametrize("where", ["middle", "end", "cut"])
def test_an_encrypted_file_that_was_tampered_with_is_refused(held: Any, owner: Any, where: str) -> None:
    path = held.folder / LABELS
    raw = bytearray(path.read_bytes())
    if where == "cut":
        raw = raw[: len(raw) // 2]
    else:
        raw[len(raw) // 2 if where == "middle" else -1] ^= 1
    path.write_bytes(raw)
    refused(held, ContentError, "damaged, or changed", lambda: add_sealed_labels(prepared(held), owner.file))


def test_other_labels_under_the_same_commitment_are_refused(held: Any, owner: Any) -> None:
    import pyrage

    plaintext = unseal(spec(held), held.toml, owner.file)
    changed = plaintext.replace(b'"score":0', b'"score":2', 1)
    (held.folder / LABELS).write_bytes(pyrage.encrypt(changed, [pyrage.x25519.Recipient.from_str(owner.recipient)]))
    message = refused(held, ContentError, "not the ones in the commitment", lambda: add_sealed_labels(prepared(held), owner.file))
    assert "score" not in message


def test_labels_that_are_not_encrypted_are_not_read(held: Any, owner: Any) -> None:
    (held.folder / LABELS).write_bytes(held.labels.read_bytes())
    refused(held, ContentError, "not a file encrypted with age", lambda: add_sealed_labels(prepared(held), owner.file))


def test_a_board_without_sealed_labels_takes_no_key(own_board: Any, owner: Any) -> None:
    with pytest.raises(UsageError, match="no sealed labels"):
        unseal(spec(own_board), own_board.toml, owner.file)


# ---- rotating


def test_rotation_encrypts_to_other_keys_under_the_same_commitment(held: Any, owner: Any, make_key: Callable[..., Any]) -> None:
    before, new = spec(held), [make_key("one"), make_key("two")]
    rotate("held", owner.file, [key.recipient for key in new], content=[held.content])
    after = spec(held)
    assert before.sealed and after.sealed
    assert after.sealed.recipients == tuple(key.recipient for key in new)
    assert msgspec.structs.replace(after.sealed, recipients=before.sealed.recipients) == before.sealed
    for key in new:
        assert len(add_sealed_labels(prepared(held), key.file).data.labels) == 120
    with pytest.raises(ContentError, match="not the key"):
        add_sealed_labels(prepared(held), owner.file)


def test_rotation_by_somebody_without_a_key_changes_nothing(held: Any, make_key: Callable[..., Any]) -> None:
    other = make_key("other")
    refused(held, ContentError, "not the key", lambda: rotate("held", other.file, [other.recipient], content=[held.content]))


def test_recipients_are_not_part_of_the_locked_content(held: Any, owner: Any, make_key: Callable[..., Any]) -> None:
    before = held.toml.read_bytes()
    rotate("held", owner.file, [make_key("one").recipient, make_key("two").recipient], content=[held.content])
    after = held.toml.read_bytes()
    assert before != after and _KEYHOLDERS.sub(b"", before) == _KEYHOLDERS.sub(b"", after)
    assert _KEYHOLDERS.sub(b"", after.replace(CANARY.encode(), b"another canary of thirty letters")) != _KEYHOLDERS.sub(b"", after)


# ---- the canary, and checks without a key


def test_a_data_file_that_has_lost_the_canary_is_a_problem(held: Any) -> None:
    path = held.content / "languages" / "sv" / "items" / "open_prompt.jsonl"
    path.write_text(path.read_text("utf-8").replace(CANARY, "gone"), encoding="utf-8")
    [problem] = [p for p in check(Library(held.content)) if held.content in p.path.parents]
    assert problem.path == path and "canary of the board 'held' is not in this file" in problem.message


def test_labels_that_become_public_are_a_problem(held: Any) -> None:
    openly = held.content / "languages" / "nl" / "labels" / "open_prompt.jsonl"
    openly.parent.mkdir()
    openly.write_bytes(b"".join(line for line in held.labels.read_bytes().splitlines(keepends=True) if b'"nl-' in line))
    messages = [p.message for p in check(Library(held.content)) if p.path == openly]
    assert messages == ["60 labels that the board 'held' has sealed are readable here; remove them"]


def test_missing_encrypted_labels_are_a_problem(held: Any) -> None:
    (held.folder / LABELS).unlink()
    assert [p.message for p in check(Library(held.content)) if p.path == held.folder / LABELS] == [
        "no labels.age in this folder; 'harness board seal' creates it"
    ]


def test_every_new_canary_is_different() -> None:
    assert new_canary() != new_canary() and re.fullmatch(r"[ -~]{30,300}", new_canary())


def test_sealing_names_the_files_that_lack_the_canary(own_board: Any, owner: Any) -> None:
    found = seal("held", own_board.labels, [owner.recipient], content=[own_board.content])
    assert len(found.unmarked) == 2 and (found.labels, found.items, found.unlabelled) == (120, 60, 0)


def test_the_canary_is_found_across_the_pieces_in_which_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(b"x" * ((1 << 20) - 10) + CANARY.encode() + b"y" * 100)
    assert holds_canary(path, CANARY) and not holds_canary(path, CANARY + "z")
