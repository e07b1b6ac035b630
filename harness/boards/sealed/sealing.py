"""Seal labels, open them, rotate their keys: the work of `harness board seal`, `open` and `rotate`.

The encrypted labels lie beside board.toml. Their commitment (a hash) stands in it before anybody submits, so that nobody can exchange
the labels later without being noticed.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.boards.sealed.keys import age_library, parse_recipients
from harness.boards.sealed.opening import SALT_DIGITS, unseal
from harness.content import Board, Library
from harness.content.canary import LABELS, MAX_BYTES, holds_canary, new_canary
from harness.content.library import item_files
from harness.content.specs import BoardData, Sealed
from harness.data import Dataset, load_bundled
from harness.data.folder_writer import write_folder
from harness.data.labels import Labels, checked_labels, read_label_rows
from harness.errors import ContentError, UsageError
from harness.model import Item
from harness.row_files import find_table, to_toml, write_together
from harness.runs import load_board

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
    _refuse_second_sealing(board, file)
    keys = parse_recipients(recipients)
    mark = _checked_canary(canary or new_canary())
    provisional = msgspec.structs.replace(board, sealed=Sealed(tuple(recipients), "0" * 64, mark))
    source = load_board(provisional, library, sorted(board.languages), data)
    items = source.items
    _refuse_public_labels(board, library, items)
    rows = _read_labels(_label_file(labels, file), board, source.everything, items)
    plaintext = secrets.token_hex(SALT_DIGITS // 2).encode() + canonical_rows(rows, mark)
    sealed = Sealed(tuple(recipients), hashlib.sha256(plaintext).hexdigest(), mark, _single_source(rows))
    _write_both(file, _with_sealed(file, board, sealed), age_library().encrypt(plaintext, keys))
    return SealingReport(
        file.with_name(LABELS),
        sealed,
        len(rows),
        len(items),
        len({item.item_id for item in items} - set(rows.item)),
        tuple(files_without_canary(board, library, source.folder, mark)),
    )


def files_without_canary(board: Board, library: Library, folder: Path | None, canary: str) -> list[Path]:
    """The data files of a board that lack its canary. `folder` is the data folder of a board on data of its own."""
    return [path for path in _data_files(board, library, folder) if not holds_canary(path, canary)]


def _data_files(board: Board, library: Library, folder: Path | None) -> list[Path]:
    """The files that hold the items of a board: tables of a data folder, or item files of the packs."""
    if isinstance(board.data, BoardData):
        shared = library.dataset_card(board.data.card).shared
        names = ["items", *([shared.table] if shared else [])]
        return [path for name in names if folder and (path := find_table(folder, name))]
    packs = [pack for tag in board.packs if (pack := library.pack_path(tag, board))]
    return [path for pack in packs for task, path in item_files(pack).items() if task in board.tasks]


def canonical_rows(labels: Labels, canary: str) -> bytes:
    """Labels as JSON lines in one fixed form: rows sorted, keys in a fixed order, the canary in the first row.

    >>> from harness.model import Label
    >>> print(canonical_rows(Labels.from_rows([Label("i2", "a", "m", 1), Label("i1", "a", "m", 0)]), "c").decode(), end="")
    {"item_id":"i1","annotator_id":"a","metric":"m","score":0,"source":"native","canary":"c"}
    {"item_id":"i2","annotator_id":"a","metric":"m","score":1,"source":"native"}
    """
    rows = sorted((msgspec.to_builtins(label) for label in labels), key=lambda row: (row["item_id"], row["metric"], row["annotator_id"]))
    return b"".join(msgspec.json.encode(row | ({} if number else {"canary": canary})) + b"\n" for number, row in enumerate(rows))


def _refuse_second_sealing(board: Board, file: Path) -> None:
    if board.sealed is not None or file.with_name(LABELS).exists():
        raise UsageError(
            f"the labels of '{board.id}' are sealed already; 'harness board rotate' encrypts them to other keys, "
            "and other labels need a new board"
        )


def _refuse_public_labels(board: Board, library: Library, items: Sequence[Item]) -> None:
    if isinstance(board.data, BoardData):
        return  # the labels of such a board are not in the packs
    count = len(load_bundled(library, board.languages, board).labels.for_items(item.item_id for item in items))
    if count:
        raise UsageError(f"{count} labels of the items of '{board.id}' are public in languages/<tag>/labels/; remove them, then seal them")


def _label_file(labels: Path, board_file: Path) -> Path:
    path = find_table(labels, "labels") if labels.is_dir() else labels
    if path is None or not path.is_file():
        raise UsageError(f"no labels at {labels}; name a label file, or a folder with labels.jsonl")
    _refuse_published_place(path, board_file)
    return path


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


def _single_source(labels: Labels) -> Any:
    sources = labels.source.used
    if len(sources) > 1:
        raise UsageError(f"the labels come from several sources ({', '.join(sources)}); seal those of one source")
    return sources[0]


def _checked_canary(text: str) -> str:
    try:
        return msgspec.convert({"recipients": ["-"], "commitment": "0" * 64, "canary": text}, Sealed).canary
    except msgspec.ValidationError:
        message = "a canary should be one line of 30 to 300 printable ASCII characters, without quotation marks and backslashes"
        raise UsageError(message) from None


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


def _with_sealed(file: Path, board: Board, sealed: Sealed) -> str:
    """board.toml with the table [sealed] at its end."""
    comment = "# Labels are in labels.age. The commitment is the SHA-256 of what is encrypted: a salt, then the labels."
    table = to_toml({"sealed": msgspec.to_builtins(sealed)})
    text = file.read_text("utf-8").rstrip("\n") + f"\n\n{comment}\n{table}"
    if msgspec.toml.decode(text, type=Board) != msgspec.structs.replace(board, sealed=sealed):
        raise ContentError("a table [sealed] cannot be put at its end", file)
    return text


def _write_both(file: Path, text: str, ciphertext: bytes) -> None:
    """Write the sealed labels and board.toml: both or neither."""
    path = file.with_name(LABELS)
    if len(ciphertext) > MAX_BYTES:
        raise UsageError(f"the sealed labels take more than {MAX_BYTES >> 20} MiB, which is the limit; seal fewer")
    write_together({path: ciphertext, file: text})
