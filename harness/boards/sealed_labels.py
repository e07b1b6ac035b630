"""Sealed labels: the labels of a board, encrypted beside it, so that nobody without a key can read them or train on them.

The encrypted labels lie beside board.toml. Their commitment (a hash) stands in it before anybody submits, so that nobody can exchange
the labels later without being noticed. What is encrypted is a salt of 64 hexadecimal digits, followed by the labels as JSON lines in one
fixed form; the commitment is its SHA-256. Once salt and labels are published, anybody can check them with
`cat salt.txt labels.jsonl | sha256sum`. Encryption needs the extra `sealed` (the package `pyrage`, for the tool age).
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from harness.content import Board, Library
from harness.content.canary import LABELS, MAX_BYTES, holds_canary, new_canary, sealed_file_problem
from harness.content.library import item_files
from harness.content.specs import BoardData, Sealed
from harness.data.dataset import Dataset, load_bundled
from harness.data.folders import write_folder
from harness.data.labels import Labels, checked_labels, read_label_rows
from harness.errors import ContentError, UsageError, unreadable
from harness.model import Item, Label
from harness.row_files import find_table, to_toml, write_together
from harness.runs import Prepared, load_board

_MAX_KEY_BYTES = 1 << 16


def age_library() -> Any:
    """The library that encrypts and decrypts. Raises UsageError where it is not installed."""
    if find_spec("pyrage") is None:
        raise UsageError("sealed labels need the package 'pyrage': pip install \"judge-harness[sealed]\"")
    return import_module("pyrage")


def parse_recipients(texts: Sequence[str]) -> list[Any]:
    """Public keys (`age1…`) as objects of the library. Raises UsageError for an invalid key, and for a key that is given twice."""
    library = age_library()
    if len(set(texts)) != len(texts):
        raise UsageError("a recipient is named twice; name each once")
    recipients = []
    for text in texts:
        try:
            recipients.append(library.x25519.Recipient.from_str(text))
        except library.RecipientError:  # a secret key in its place is never quoted
            excerpt = "AGE-SECRET-KEY-…" if "SECRET" in text.upper() else text[:20] + ("…" if len(text) > 20 else "")
            raise UsageError(f"'{excerpt}' is not a public key of age; one begins with age1, and 'age-keygen' prints it") from None
    return recipients


def read_identities(key: Path) -> list[Any]:
    """The secret keys in a file of `age-keygen`: one a line, comments after '#'. Raises ContentError, which quotes nothing of the file."""
    library = age_library()
    try:
        with key.open("rb") as file:
            raw = file.read(_MAX_KEY_BYTES + 1)
        lines = [line.strip() for line in raw.decode("ascii").splitlines()]
        identities = [library.x25519.Identity.from_str(line) for line in lines if line and not line.startswith("#")]
    except OSError as err:
        raise unreadable(err, key, "the key") from None
    except (UnicodeDecodeError, library.IdentityError):
        identities = []
    if not identities or len(raw) > _MAX_KEY_BYTES:
        raise ContentError("not a key file of age; it should have a line that begins with AGE-SECRET-KEY-1, as 'age-keygen' writes it", key)
    return identities


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


_RECIPIENTS = re.compile(r"^recipients[ \t]*=[ \t]*\[[^\]]*\][ \t]*$", re.MULTILINE)


class SealingReport(msgspec.Struct, frozen=True):
    """The result of `seal`: counts and names, never a label. `unmarked` are the data files that lack the canary."""

    file: Path
    sealed: Sealed
    labels: int
    items: int
    unlabelled: int
    unmarked: tuple[Path, ...] = ()


def seal(
    board_name: str,
    labels: Path,
    recipients: Sequence[str],
    *,
    content: Sequence[Path] = (),
    data: Path | None = None,
    canary: str | None = None,
) -> SealingReport:
    """Encrypt the labels of a board's items beside the board; write recipients, commitment and canary into its board.toml.

    Args:
        board_name: a board without sealed labels. `content` and `data` locate it and its data, as for `harness run`.
        labels: a label file, or a folder with one, outside the folders that are published.
        recipients: public keys (`age1…`).
        canary: the sentence that stands, or will stand, in every data file; by default a new one.

    Raises:
        UsageError, ContentError (with `file:line`); nothing has been changed in that case.
    """
    library = Library(*content)
    board = library.board(board_name)
    file = library.board_files[board_name]
    if board.sealed is not None or file.with_name(LABELS).exists():
        raise UsageError(
            f"the labels of '{board.id}' are sealed already; 'harness board rotate' encrypts them to other keys, "
            "and other labels need a new board"
        )
    keys = parse_recipients(recipients)
    try:
        mark = msgspec.convert({"recipients": ["-"], "commitment": "0" * 64, "canary": canary or new_canary()}, Sealed).canary
    except msgspec.ValidationError:
        message = "a canary should be one line of 30 to 300 printable ASCII characters, without quotation marks and backslashes"
        raise UsageError(message) from None
    provisional = msgspec.structs.replace(board, sealed=Sealed(tuple(recipients), "0" * 64, mark))
    source = load_board(provisional, library, sorted(board.languages), data)
    items = source.items
    public = None if isinstance(board.data, BoardData) else load_bundled(library, board.languages, board).labels
    if public and (count := len(public.for_items(item.item_id for item in items))):
        raise UsageError(f"{count} labels of the items of '{board.id}' are public in languages/<tag>/labels/; remove them, then seal them")
    path = find_table(labels, "labels") if labels.is_dir() else labels
    if path is None or not path.is_file():
        raise UsageError(f"no labels at {labels}; name a label file, or a folder with labels.jsonl")
    _refuse_published_place(path, file)
    rows = _read_labels(path, board, source.everything, items)
    plaintext = secrets.token_hex(SALT_DIGITS // 2).encode() + canonical_rows(rows, mark)
    sources = rows.source.used
    if len(sources) > 1:
        raise UsageError(f"the labels come from several sources ({', '.join(sources)}); seal those of one source")
    sealed = Sealed(tuple(recipients), hashlib.sha256(plaintext).hexdigest(), mark, sources[0])
    comment = "# Labels are in labels.age. The commitment is the SHA-256 of what is encrypted: a salt, then the labels."
    table = to_toml({"sealed": msgspec.to_builtins(sealed)})
    text = file.read_text("utf-8").rstrip("\n") + f"\n\n{comment}\n{table}"
    if msgspec.toml.decode(text, type=Board) != msgspec.structs.replace(board, sealed=sealed):
        raise ContentError("a table [sealed] cannot be put at its end", file)
    _write_both(file, text, age_library().encrypt(plaintext, keys))
    return SealingReport(
        file.with_name(LABELS),
        sealed,
        len(rows),
        len(items),
        len({item.item_id for item in items} - set(rows.item)),
        tuple(files_without_canary(board, library, source.folder, mark)),
    )


def files_without_canary(board: Board, library: Library, folder: Path | None, canary: str) -> list[Path]:
    """List the files that hold items of a board and lack its canary: tables of its data folder `folder`, or item files of the packs."""
    if isinstance(board.data, BoardData):
        shared = library.dataset_card(board.data.card).shared
        names = ["items", *([shared.table] if shared else [])]
        files = [path for name in names if folder and (path := find_table(folder, name))]
    else:
        packs = [pack for tag in board.packs if (pack := library.pack_path(tag, board))]
        files = [path for pack in packs for task, path in item_files(pack).items() if task in board.tasks]
    return [path for path in files if not holds_canary(path, canary)]


def canonical_rows(labels: Labels, canary: str) -> bytes:
    """Labels as JSON lines in one fixed form: rows sorted, keys in a fixed order, the canary in the first row.

    >>> from harness.model import Label
    >>> print(canonical_rows(Labels.from_rows([Label("i2", "a", "m", 1), Label("i1", "a", "m", 0)]), "c").decode(), end="")
    {"item_id":"i1","annotator_id":"a","metric":"m","score":0,"source":"native","canary":"c"}
    {"item_id":"i2","annotator_id":"a","metric":"m","score":1,"source":"native"}
    """
    rows = sorted((msgspec.to_builtins(label) for label in labels), key=lambda row: (row["item_id"], row["metric"], row["annotator_id"]))
    return b"".join(msgspec.json.encode(row | ({} if number else {"canary": canary})) + b"\n" for number, row in enumerate(rows))


def _refuse_published_place(path: Path, board_file: Path) -> None:
    """Keep secret labels out of the folders that are published: the board's content folder and the repository around it."""
    content = board_file.resolve().parents[2]
    roots = [content, *(folder for folder in content.parents if (folder / ".git").exists())]
    for root in roots:
        if path.resolve().is_relative_to(root):
            raise UsageError(f"{path} is inside {root}, which is published with the board; secret labels need a place outside it")


def _read_labels(path: Path, board: Board, dataset: Dataset, items: Sequence[Item]) -> Labels:
    source: Any = "native" if dataset.about.id == "bundled" else dataset.about.source  # of labels that name none
    labels = checked_labels(read_label_rows(path), path, dataset.scales, {item.item_id: item for item in items}, source=source)
    if not len(labels):
        raise ContentError("no labels to seal", path)
    for label in labels:
        if label.metric not in dataset.asked_metrics[label.item_id]:
            raise ContentError(f"metric '{label.metric}' of '{label.item_id}' is not asked on the board '{board.id}'", path)
    return labels


def open_labels(board_name: str, key: Path, into: Path, *, content: Sequence[Path] = ()) -> Path:
    """Decrypt a board's labels into a new folder outside the repository: `labels.jsonl` and `salt.txt`. Raises the errors of `unseal`."""
    library = Library(*content)
    board, file = library.board(board_name), library.board_files[board_name]
    _refuse_published_place(into, file)
    if into.exists():
        raise UsageError(f"{into} exists already; name a new folder")
    plaintext = unseal(board, file, key)
    write_folder(into, {"labels.jsonl": plaintext[SALT_DIGITS:], "salt.txt": plaintext[:SALT_DIGITS]})
    return into


def rotate(board_name: str, key: Path, recipients: Sequence[str], *, content: Sequence[Path] = ()) -> Path:
    """Encrypt the same salt and labels to other keys, under the same commitment.

    Raises the errors of `unseal`; nothing has been changed in that case.
    """
    library = Library(*content)
    board, file = library.board(board_name), library.board_files[board_name]
    keys = parse_recipients(recipients)
    plaintext = unseal(board, file, key)
    assert board.sealed is not None
    text = file.read_text("utf-8")
    changed, times = _RECIPIENTS.subn(lambda _: to_toml({"recipients": recipients}).rstrip("\n"), text)
    expected = msgspec.structs.replace(board, sealed=msgspec.structs.replace(board.sealed, recipients=tuple(recipients)))
    if times != 1 or msgspec.toml.decode(changed, type=Board) != expected:
        raise ContentError("'recipients' should be one line of [sealed], as 'harness board seal' writes it", file)
    _write_both(file, changed, age_library().encrypt(plaintext, keys))
    return file.with_name(LABELS)


def _write_both(file: Path, text: str, ciphertext: bytes) -> None:
    """Write the sealed labels and board.toml: both or neither."""
    path = file.with_name(LABELS)
    if len(ciphertext) > MAX_BYTES:
        raise UsageError(f"the sealed labels take more than {MAX_BYTES >> 20} MiB, which is the limit; seal fewer")
    write_together({path: ciphertext, file: text})


__all__ = ["SealingReport", "add_sealed_labels", "files_without_canary", "open_labels", "rotate", "seal", "unseal"]
