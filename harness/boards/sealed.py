"""Held-out labels where the key is: read in memory, and held against what was committed to.

What is encrypted is a salt of 64 hexadecimal digits, followed by the labels as JSON lines in one fixed form; the commitment is the SHA-256
of just that. Once salt and labels are published, `cat salt.txt labels.jsonl | sha256sum` shows anybody that they are what they were.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from harness.boards.keys import age, identities
from harness.content import Board, Dataset, Library
from harness.content.canary import LABELS, not_sealed
from harness.content.labels import Labels
from harness.content.specs import BoardData
from harness.errors import ContentError, UsageError
from harness.model import Label
from harness.protocol import Prepared
from harness.tables import find_table

SALT_DIGITS = 64


def data_files(board: Board, library: Library, folder: Path | None) -> list[Path]:
    """The files that hold what a board judges: tables of a data folder, or of the packs."""
    if isinstance(board.data, BoardData):
        shared = library.recipe(board.data.recipe).shared
        names = ["items", *([shared.table] if shared else [])]
        return [path for name in names if folder and (path := find_table(folder, name))]
    return [path for tag in board.languages for task, path in library.item_files(tag).items() if task in board.tasks]


def unseal(board: Board, file: Path, key: Path) -> bytes:
    """Salt and labels of a board as they were sealed, in memory. `file` is its board.toml, `key` a file of age identities.

    Raises UsageError where nothing is sealed, ContentError for a key that cannot be read or is another one, labels that were tampered
    with, and labels that are not those that were committed to. No message holds a label or a part of a key.
    """
    if board.sealed is None:
        raise UsageError(f"the board '{board.id}' has no sealed labels; leave --key away")
    path = file.with_name(LABELS)
    if wrong := not_sealed(path):
        raise ContentError(wrong, path)
    library, found = age(), identities(key)
    try:
        plaintext: bytes = library.decrypt(path.read_bytes(), found)
    except library.DecryptError as err:
        if "matching keys" in str(err):
            raise ContentError(f"not the key of {path}, which is encrypted to {', '.join(board.sealed.recipients)}", key) from None
        raise ContentError("damaged, or changed since it was sealed: it cannot be decrypted whole; restore the file", path) from None
    if hashlib.sha256(plaintext).hexdigest() != board.sealed.commitment:
        raise ContentError(
            f"not the labels that were committed to, whose hash is {board.sealed.commitment}; restore the file, or find out who changed it",
            path,
        )
    return plaintext


def labels_in(plaintext: bytes, path: Path) -> Labels:
    """The labels that were sealed. Raises ContentError, which quotes nothing, when there are none."""
    decode = msgspec.json.Decoder(_SealedRow).decode
    try:
        rows = [decode(line) for line in plaintext[SALT_DIGITS:].splitlines()]
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise ContentError("what is sealed here is of another version of this program", path) from None
    return Labels.of(Label(row.item_id, row.annotator_id, row.metric, row.score, row.source) for row in rows)


class _SealedRow(msgspec.Struct):
    item_id: str
    annotator_id: str
    metric: str
    score: int | float | str
    source: Any = "native"


def with_labels(prepared: Prepared, key: Path) -> Prepared:
    """The same protocol with the sealed labels in it, in memory: what is asked, and so every call id, stays as it is without them.

    Raises as `unseal`.
    """
    name = prepared.protocol.board
    if name is None:
        raise UsageError("only a board has sealed labels")
    board, file = prepared.library.board(name), prepared.library.board_files[name]
    labels = labels_in(unseal(board, file, key), file.with_name(LABELS))
    return msgspec.structs.replace(prepared, data=_labelled(prepared.data, labels), training=_labelled(prepared.training, labels))


def _labelled(data: Dataset, labels: Labels) -> Dataset:
    own = labels.of_items(data.by_id)
    return msgspec.structs.replace(data, labels=Labels.of([*data.labels, *own]))
