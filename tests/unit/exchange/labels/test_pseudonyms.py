"""Pseudonyms: the same under the same salt, another under another, and the salt is nobody else's business."""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
from pathlib import Path

import pytest

from harness.errors import StoreError, UsageError
from harness.exchange.labels.pseudonyms import Pseudonyms, default_salt_file, read_salt

SALT = bytes(range(32))


def test_a_pseudonym_is_the_beginning_of_the_keyed_hash() -> None:
    digits = hmac.new(SALT, b"anna", hashlib.sha256).hexdigest()[:10]
    assert Pseudonyms(SALT).pseudonym_for("Anna") == f"ann-{digits}" == Pseudonyms(SALT).pseudonym_for("Anna")
    assert Pseudonyms(bytes(32)).pseudonym_for("Anna") != f"ann-{digits}"


@pytest.mark.parametrize("spelling", ["EVA NOVÁ", " Eva  Nova\u0301", "Eva\u00a0Nová\u200b"])
def test_spellings_of_one_person_are_one(spelling: str) -> None:
    """Two ids of one person would agree with each other in everything."""
    for pseudonyms in (Pseudonyms(SALT), Pseudonyms(None)):
        assert pseudonyms.pseudonym_for("Eva Nová") == pseudonyms.pseudonym_for(spelling) != pseudonyms.pseudonym_for("Eva Novak")
    assert Pseudonyms(None, ["Eva Nová"]).pseudonym_for(spelling) == "Eva Nová"
    assert Pseudonyms(None).pseudonym_for("7.0") == "7.0"
    assert Pseudonyms(None, ["7"]).pseudonym_for("7.0") == "7"


def test_without_a_salt_ids_are_kept() -> None:
    assert Pseudonyms(None).pseudonym_for("Anna") == "Anna" and Pseudonyms(None).scrub("Anna") == "Anna"


def test_a_collision_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Same:
        def hexdigest(self) -> str:
            return "0" * 64

    monkeypatch.setattr(hmac, "new", lambda *_: Same())
    pseudonyms = Pseudonyms(SALT)
    pseudonyms.pseudonym_for("Anna")
    with pytest.raises(UsageError, match="two annotators would both be called ann-0000000000"):
        pseudonyms.pseudonym_for("Bob")


def test_ids_are_taken_out_of_texts_but_not_out_of_words() -> None:
    pseudonyms = Pseudonyms(SALT)
    anna, _, _ = (pseudonyms.pseudonym_for(name) for name in ("Anna", "w1", "17"))
    assert pseudonyms.scrub("anna.xlsx: ANNA said 17, Annabel said w1") == f"{anna}.xlsx: {anna} said 17, Annabel said w1"


def test_a_salt_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "salt"
    salt = read_salt(path, outside=tmp_path / "data")
    assert len(salt) == 32 and path.stat().st_mode & 0o777 == 0o600
    assert read_salt(path, outside=tmp_path / "data") == salt != read_salt(tmp_path / "other", outside=tmp_path / "data")


def test_a_salt_never_lies_in_the_data(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"would be inside .*data, which is meant to be shared"):
        read_salt(tmp_path / "data" / "deep" / ".." / "salt", outside=tmp_path / "data")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("content", ["", "hello", "00" * 31, "0G" * 32])
def test_a_file_that_is_no_salt_is_refused_and_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "salt"
    path.write_text(content)
    with pytest.raises(UsageError, match="is not a salt that this program made"):
        read_salt(path, outside=tmp_path / "data")
    assert path.read_text() == content


@pytest.mark.parametrize(
    ("what", "raised"),
    [(OSError(errno.ENOSPC, "No space left on device"), StoreError), (KeyboardInterrupt(), KeyboardInterrupt)],
    ids=["full disk", "Ctrl-C"],
)
def test_a_salt_that_cannot_be_written_leaves_no_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: BaseException, raised: type[BaseException]
) -> None:
    def fail(_: int) -> None:
        raise what

    with monkeypatch.context() as full, pytest.raises(raised):
        full.setattr(os, "fsync", fail)
        read_salt(tmp_path / "salt", outside=tmp_path / "data")
    assert list(tmp_path.iterdir()) == []
    assert len(read_salt(tmp_path / "salt", outside=tmp_path / "data")) == 32


def test_the_salt_is_in_the_users_settings_by_default(tmp_path: Path) -> None:
    assert default_salt_file().is_relative_to(tmp_path / "settings")
