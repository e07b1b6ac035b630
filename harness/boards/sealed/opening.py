"""Read sealed labels with the key: decrypt them in memory and check them against the commitment of the board.

The plaintext is a salt of 64 hex_ids digits, followed by the labels as JSON lines in one fixed form. The commitment is its SHA-256.
Once salt and labels are published, anybody can check them with `cat salt.txt labels.jsonl | sha256sum`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from harness.boards.sealed.keys import age_library, read_identities
from harness.content import Board
from harness.content.canary import LABELS, sealed_file_problem
from harness.data import Dataset
from harness.data.labels import Labels
from harness.errors import ContentError, UsageError
from harness.model import Label
from harness.runs import Prepared

SALT_DIGITS = 64


def unseal(board: Board, file: Path, key: Path) -> bytes:
    """Decrypt the salt and the labels of a board in memory. `file` is its board.toml, `key` a file of age identities.

    Raises UsageError if the board has no sealed labels. Raises ContentError if the key cannot be read or does not fit, if the encrypted
    file was changed, and if the labels differ from the commitment. No message quotes a label or a part of a key.
    """
    if board.sealed is None:
        raise UsageError(f"the board '{board.id}' has no sealed labels; leave out --key")
    path = file.with_name(LABELS)
    if problem := sealed_file_problem(path):
        raise ContentError(problem, path)
    library, identities = age_library(), read_identities(key)
    try:
        plaintext: bytes = library.decrypt(path.read_bytes(), identities)
    except library.DecryptError as err:
        if "matching keys" in str(err):
            raise ContentError(f"not the key of {path}, which is encrypted to {', '.join(board.sealed.recipients)}", key) from None
        raise ContentError("damaged, or changed since it was sealed, so that it cannot be decrypted; restore the file", path) from None
    if hashlib.sha256(plaintext).hexdigest() != board.sealed.commitment:
        raise ContentError(
            f"these labels are not the ones in the commitment of the board ({board.sealed.commitment}); "
            "restore the file, or find out who changed it",
            path,
        )
    return plaintext


def parse_labels(plaintext: bytes, path: Path) -> Labels:
    """The labels in a decrypted text. Raises ContentError, which quotes nothing, if they cannot be read."""
    decode = msgspec.json.Decoder(_SealedRow).decode
    try:
        rows = [decode(line) for line in plaintext[SALT_DIGITS:].splitlines()]
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise ContentError("these labels were sealed by another version of this program", path) from None
    return Labels.from_rows(Label(row.item_id, row.annotator_id, row.metric, row.score, row.source) for row in rows)


class _SealedRow(msgspec.Struct):
    item_id: str
    annotator_id: str
    metric: str
    score: int | float | str
    source: Any = "native"


def add_sealed_labels(prepared: Prepared, key: Path) -> Prepared:
    """The same prepared board, with its sealed labels added in memory.

    The labels do not change what is asked, so all call ids stay the same. Raises the errors of `unseal`.
    """
    name = prepared.protocol.texts.board
    if name is None:
        raise UsageError("only a board has sealed labels")
    board, file = prepared.library.board(name), prepared.library.board_files[name]
    labels = parse_labels(unseal(board, file, key), file.with_name(LABELS))
    return msgspec.structs.replace(prepared, data=_with_labels(prepared.data, labels), training=_with_labels(prepared.training, labels))


def _with_labels(data: Dataset, labels: Labels) -> Dataset:
    own_labels = labels.for_items(data.by_id)
    return msgspec.structs.replace(data, labels=Labels.from_rows([*data.labels, *own_labels]))
