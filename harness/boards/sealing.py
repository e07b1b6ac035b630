"""`harness board seal`, `open`, `rotate`: labels are encrypted beside their board, and committed to before anybody submits."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.boards.keys import age
from harness.boards.keys import recipients as public_keys
from harness.boards.sealed import SALT_DIGITS, data_files, unseal
from harness.content import Board, Dataset, Library, load_bundled
from harness.content.canary import LABELS, MAX_BYTES, holds_canary, new_canary
from harness.content.labels import Labels, checked_labels, read_label_rows
from harness.content.specs import BoardData, Sealed
from harness.errors import ContentError, HarnessError, UsageError
from harness.labels.folder import write_folder
from harness.model import Item
from harness.sources import load_board
from harness.tables import find_table, write_atomic

_RECIPIENTS = re.compile(r"^recipients[ \t]*=[ \t]*\[[^\]]*\][ \t]*$", re.MULTILINE)


class SealedNow(msgspec.Struct, frozen=True):
    """What was sealed, for whoever has done it: counts and names, never a label. `unmarked` files lack the canary still."""

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
) -> SealedNow:
    """Encrypt the labels of a board's items beside the board, and write into its board.toml who can open them, the commitment, the canary.

    Args:
        board_name: a board without sealed labels; `content` and `data` say where it and its data are, as for `harness run`.
        labels: a label file, or a folder with one, that is not part of what is published.
        recipients: public keys (`age1…`).
        canary: the sentence that stands, or will stand, in every data file; by default a new one.

    Raises:
        UsageError, ContentError (with `file:line`); nothing has been changed then.
    """
    library = Library(*content)
    board = library.board(board_name)
    file = library.board_files[board_name]
    _refuse_second_sealing(board, file)
    keys = public_keys(recipients)
    mark = _checked_canary(canary or new_canary())
    provisional = msgspec.structs.replace(board, sealed=Sealed(tuple(recipients), "0" * 64, mark))
    source = load_board(provisional, library, sorted(board.languages), data)
    everything, items = source.everything, source.items
    _refuse_open_labels(board, library, items)
    found = _read_labels(_label_file(labels, file), board, everything, items)
    plaintext = secrets.token_hex(SALT_DIGITS // 2).encode() + canonical(found, mark)
    sealed = Sealed(tuple(recipients), hashlib.sha256(plaintext).hexdigest(), mark, _one_source(found))
    _write_both(file, _with_sealed(file, board, sealed), age().encrypt(plaintext, keys))
    return SealedNow(
        file.with_name(LABELS),
        sealed,
        len(found),
        len(items),
        len({item.item_id for item in items} - set(found.item)),
        tuple(path for path in data_files(board, library, source.folder) if not holds_canary(path, mark)),
    )


def canonical(labels: Labels, canary: str) -> bytes:
    """Labels as JSON lines in one fixed form: sorted, keys in one order, the canary in the first row.

    >>> from harness.model import Label
    >>> print(canonical(Labels.of([Label("i2", "a", "m", 1), Label("i1", "a", "m", 0)]), "c").decode(), end="")
    {"item_id":"i1","annotator_id":"a","metric":"m","score":0,"source":"native","canary":"c"}
    {"item_id":"i2","annotator_id":"a","metric":"m","score":1,"source":"native"}
    """
    rows = sorted((msgspec.to_builtins(label) for label in labels), key=lambda row: (row["item_id"], row["metric"], row["annotator_id"]))
    return b"".join(msgspec.json.encode(row | ({} if number else {"canary": canary})) + b"\n" for number, row in enumerate(rows))


def _refuse_second_sealing(board: Board, file: Path) -> None:
    if board.sealed is not None or file.with_name(LABELS).exists():
        raise UsageError(
            f"the labels of '{board.id}' are sealed already; 'harness board rotate' encrypts them to other keys, and other labels make "
            "another board"
        )


def _refuse_open_labels(board: Board, library: Library, items: Sequence[Item]) -> None:
    if isinstance(board.data, BoardData):
        return  # where they are left out of the content hash
    found = len(load_bundled(library, board.languages).labels.of_items(item.item_id for item in items))
    if found:
        raise UsageError(
            f"{found} labels of the items of '{board.id}' stand openly in languages/<tag>/labels/; take them out, then seal them"
        )


def _label_file(labels: Path, board_file: Path) -> Path:
    path = find_table(labels, "labels") if labels.is_dir() else labels
    if path is None or not path.is_file():
        raise UsageError(f"no labels at {labels}; name a label file, or a folder with labels.jsonl")
    _refuse_inside(path, board_file, "labels that are to be held out lie")
    return path


def _refuse_inside(path: Path, board_file: Path, what: str) -> None:
    """What is secret has no place in the folder that is published: that of the board, and the repository it is part of."""
    content = board_file.resolve().parents[2]
    roots = [content, *(folder for folder in content.parents if (folder / ".git").exists())]
    for root in roots:
        if path.resolve().is_relative_to(root):
            raise UsageError(f"{what} in {root}, which is published with the board; choose a place outside it")


def _read_labels(path: Path, board: Board, everything: Dataset, items: Sequence[Item]) -> Labels:
    found = checked_labels(
        read_label_rows(path), everything.scales, {item.item_id: item for item in items}, path, source=_usual(everything)
    )
    if not len(found):
        raise ContentError("no labels to seal", path)
    for label in found:
        if label.metric not in everything.asked_metrics[label.item_id]:
            raise ContentError(f"metric '{label.metric}' of '{label.item_id}' is not asked on the board '{board.id}'", path)
    return found


def _usual(everything: Dataset) -> Any:
    """The source of labels that do not say theirs: the recipe's, or native speakers, as packs hold no labels but those that say it."""
    return "native" if everything.about.id == "bundled" else everything.about.source


def _one_source(labels: Labels) -> Any:
    sources = labels.source.used
    if len(sources) > 1:
        raise UsageError(f"the labels come from several sources ({', '.join(sources)}); seal those of one source")
    return sources[0]


def _checked_canary(text: str) -> str:
    try:
        return msgspec.convert({"recipients": ["-"], "commitment": "0" * 64, "canary": text}, Sealed).canary
    except msgspec.ValidationError:
        raise UsageError("a canary is one line of 30 to 300 printable ASCII characters without quotation marks and backslashes") from None


def open_labels(board_name: str, key: Path, into: Path, *, content: Sequence[Path] = ()) -> Path:
    """Decrypt a board's labels into a new folder outside the repository: `labels.jsonl` and `salt.txt`. Raises as `unseal`."""
    library = Library(*content)
    board, file = library.board(board_name), library.board_files[board_name]
    _refuse_inside(into, file, "the labels would lie")
    if into.exists():
        raise UsageError(f"{into} is there already; name a folder that is not")
    plaintext = unseal(board, file, key)
    write_folder(into, {"labels.jsonl": plaintext[SALT_DIGITS:], "salt.txt": plaintext[:SALT_DIGITS]})
    into.chmod(0o700)
    return into


def rotate(board_name: str, key: Path, recipients: Sequence[str], *, content: Sequence[Path] = ()) -> Path:
    """Encrypt the same salt and labels to other keys, under the same commitment. Raises as `unseal`; nothing has been changed then."""
    library = Library(*content)
    board, file = library.board(board_name), library.board_files[board_name]
    keys = public_keys(recipients)
    plaintext = unseal(board, file, key)
    assert board.sealed is not None
    text = file.read_text("utf-8")
    changed, times = _RECIPIENTS.subn(lambda _: _recipients_line(recipients), text)
    wanted = msgspec.structs.replace(board, sealed=msgspec.structs.replace(board.sealed, recipients=tuple(recipients)))
    if times != 1 or msgspec.toml.decode(changed, type=Board) != wanted:
        raise ContentError("'recipients' should stand in [sealed] as a list of its own, as 'harness board seal' writes it", file)
    _write_both(file, changed, age().encrypt(plaintext, keys))
    return file.with_name(LABELS)


def _recipients_line(recipients: Sequence[str]) -> str:
    return "recipients = [" + ", ".join(f'"{each}"' for each in recipients) + "]"


def _with_sealed(file: Path, board: Board, sealed: Sealed) -> str:
    """board.toml with the table [sealed] at its end."""
    text = (
        file.read_text("utf-8").rstrip("\n")
        + "\n\n"
        + "\n".join(
            [
                "# Labels are in labels.age. The commitment is the SHA-256 of what is encrypted: a salt, then the labels.",
                "[sealed]",
                _recipients_line(sealed.recipients),
                f'commitment = "{sealed.commitment}"',
                f'canary = "{sealed.canary}"',
                f'source = "{sealed.source}"',
            ]
        )
    )
    if msgspec.toml.decode(text, type=Board) != msgspec.structs.replace(board, sealed=sealed):
        raise ContentError("a table [sealed] cannot be put at its end", file)
    return text + "\n"


def _write_both(file: Path, text: str, ciphertext: bytes) -> None:
    """The sealed labels and board.toml, both or neither."""
    path = file.with_name(LABELS)
    if len(ciphertext) > MAX_BYTES:
        raise UsageError(f"sealed labels of more than {MAX_BYTES >> 20} MiB are not read; seal fewer")
    before = path.read_bytes() if path.exists() else None
    write_atomic(path, ciphertext)
    try:
        write_atomic(file, text)
    except HarnessError:
        if before is None:
            path.unlink(missing_ok=True)
        else:
            write_atomic(path, before)
        raise
