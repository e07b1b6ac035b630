"""`harness board check`: every submission is looked through, and all that is wrong is said at once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from harness.analyse import STATISTICS
from harness.boards.card import CARD, JudgeCard, examine_card, plainly
from harness.boards.changes import TABLE, Change, change_since
from harness.boards.pool import look_through
from harness.boards.scoring import Entry, Examined
from harness.boards.sealed import data_files, with_labels
from harness.boards.structure import folder_problems, kind_of
from harness.content import Board, Library
from harness.content.canary import HOW_TO_MARK, holds_canary
from harness.content.problem import Problem, line_of
from harness.content.scales import of_key
from harness.content.tags import suggest
from harness.errors import MissingData, UsageError
from harness.protocol import Prepared, RunSpec, prepare

SUBMISSIONS = "submissions"
_LARGEST_TABLE = 4 << 20  # bytes
Table = Callable[[Board, Prepared, Sequence[Entry]], str]
"""What TABLE.md says of the entries of a board."""


class Checked(msgspec.Struct, frozen=True):
    """One submission: how many calls were answered, how many judgments cannot be read by the names of their failures, and what is wrong."""

    board: str
    submission: str
    judge: str
    status: str
    calls: int
    failures: dict[str, int]
    problems: list[Problem]


class CheckedBoards(msgspec.Struct, frozen=True):
    """All that was checked; `problems` are those of all submissions, and those that belong to none.

    `unchecked` are boards with submissions whose data are not here, and how to get them.
    """

    submissions: list[Checked]
    problems: list[Problem]
    change: Change | None = None
    unchecked: dict[str, str] = {}


def whole_board(name: str, content: Sequence[Path] = (), data: Path | None = None) -> Prepared:
    """A board as its protocol is: all languages, items, tasks, metrics and repeats. Raises what `prepare` raises."""
    return prepare(RunSpec(board=name, content=tuple(content), data=data))


def submissions_of(board: Path) -> list[Path]:
    """Everything in the folder of submissions of a board's folder, sorted by name: what is none, too."""
    folder = board / SUBMISSIONS
    return [folder / name for name in sorted(os.listdir(folder))] if kind_of(folder) == "a folder" else []


def check_boards(
    library: Library,
    names: Sequence[str] = (),
    *,
    content: Sequence[Path] = (),
    data: Path | None = None,
    key: Path | None = None,
    changed: str | None = None,
    table: Table | None = None,
    processes: int | None = None,
) -> CheckedBoards:
    """Check the submissions of these boards (of all, without names); with `changed`, those that the commits since it bring.

    `data` is the data folder of a board that judges one, and `key` opens sealed labels, which are read in memory. `table` makes what
    TABLE.md should say; without it a TABLE.md is not looked at.

    Raises:
        UsageError: for a board that is not there, a named one whose data are not given, and a `changed` that git does not know.
        ContentError: for a board or content that cannot be read: what is wrong with submissions is found and never raised.
    """
    boards = {name: library.board(name) for name in (names or library.board_files)}
    if (data is not None or key is not None) and len(boards) != 1:
        raise UsageError("--data and --key are of one board; name it")
    folders = {name: library.board_files[name].parent for name in boards}
    change = change_since(changed, folders) if changed is not None else None
    found = CheckedBoards([], list(change.problems) if change else [], change)
    for name, board in boards.items():
        folder = folders[name]
        found.problems.extend([*_board_problems(board, library.board_files[name]), *_no_folder(folder / SUBMISSIONS)])
        wanted = change.submissions[name] if change else submissions_of(folder)
        tabled = change is not None and name in change.tables
        if not (wanted or tabled or key is not None):
            continue
        try:
            prepared = whole_board(name, content, data)
        except MissingData as err:
            if name in names:
                raise
            found.unchecked[name] = str(err)
            found.problems.extend([Problem(path, None, f"not checked: {err}") for path in wanted if change])
            continue
        checked = list(_check(name, prepared, folder, wanted, processes, of_change=change is not None))
        found.submissions.extend(checked)
        found.problems.extend([*(problem for one in checked for problem in one.problems), *_unmarked(board, library, prepared)])
        labelled = with_labels(prepared, key) if key is not None else None
        if tabled:
            found.problems.extend(_table_problems(board, prepared, folder, table, processes, labelled))
    return found


def _no_folder(path: Path) -> Iterator[Problem]:
    if (kind := kind_of(path)) not in ("", "a folder"):
        yield Problem(path, None, f"{kind} where the folder of submissions should be; nothing of it is read")


def _board_problems(board: Board, path: Path) -> Iterator[Problem]:
    """Columns of the table that no cell has."""
    for key, names in {"statistics": board.statistics, "rank_by": (board.rank_by,)}.items():
        for name in names:
            if name not in STATISTICS:
                message = f"no statistic '{plainly(name)}'.{suggest(name, STATISTICS)} Here: {', '.join(STATISTICS)}"
                yield Problem(path, line_of(path, of_key(key)), message)


def _check(
    board: str, prepared: Prepared, folder: Path, wanted: Sequence[Path], processes: int | None, *, of_change: bool
) -> Iterator[Checked]:
    """The submissions `wanted` of one board; those of a change may not say that a maintainer has verified them."""
    judges = _judges(set(submissions_of(folder)) - set(wanted))
    for found in look_through(prepared, wanted, judgments=False, processes=processes):
        problems = list(found.problems)
        if found.card:
            problems += _beside_others(found.card, found.folder, judges)
            if of_change and found.card.status == "verified":
                path = found.folder / CARD
                problems.append(
                    Problem(path, line_of(path, of_key("status")), 'a maintainer verifies: submit it with status = "submitted"')
                )
        yield _checked(board, found, problems)


def _checked(board: str, found: Examined, problems: list[Problem]) -> Checked:
    card, entry = found.card, found.entry
    spent = [each for by in entry.answers.spent.values() for each in by.values()] if entry else []
    failures: Counter[str] = Counter()
    for each in spent:
        failures.update(each.failures)
    return Checked(
        board=board,
        submission=found.folder.name,
        judge=card.name if card else "",
        status=card.status if card else "",
        calls=sum(each.calls for each in spent),
        failures=dict(sorted(failures.items())),
        problems=problems,
    )


def _judges(folders: Iterable[Path]) -> dict[str, str]:
    """`{judge: folder}` of those submissions whose cards can be read."""
    cards = {folder: examine_card(folder / CARD)[0] for folder in sorted(folders) if not any(folder_problems(folder))}
    return {_judge(card): folder.name for folder, card in cards.items() if card}


def _judge(card: JudgeCard) -> str:
    return msgspec.json.encode(card.identity, order="sorted").decode()


def _beside_others(card: JudgeCard, folder: Path, judges: dict[str, str]) -> Iterator[Problem]:
    """A judge stands on a board once; `judges` gains this one."""
    first = judges.setdefault(_judge(card), folder.name)
    if first != folder.name:
        yield Problem(folder / CARD, None, f"the same judge with the same settings is in {SUBMISSIONS}/{first}; it stands on a board once")


def _unmarked(board: Board, library: Library, prepared: Prepared) -> Iterator[Problem]:
    """Data files of a board with sealed labels that lack its canary; those of packs are looked at by `harness check`."""
    if board.sealed is None or not prepared.protocol.data:
        return
    for path in data_files(board, library, Path(prepared.protocol.data)):
        if not holds_canary(path, board.sealed.canary):
            yield Problem(path, None, f"the canary of the board '{board.id}' does not stand in this file; {HOW_TO_MARK}")


def _table_problems(
    board: Board, prepared: Prepared, folder: Path, table: Table | None, processes: int | None, labelled: Prepared | None = None
) -> Iterator[Problem]:
    """Whether the TABLE.md of a change is what the submissions give; of sealed labels only who has a key can tell."""
    path = folder / TABLE
    if board.sealed is not None and labelled is None:
        yield Problem(path, None, f"the labels of '{board.id}' are sealed, so that its numbers are checked where the key is; leave it out")
        return
    if table is None:
        yield Problem(path, None, "the table is made from the submissions when a change is merged; leave it out")
        return
    if (kind := kind_of(path)) != "a file":
        yield Problem(path, None, f"{kind or 'nothing'} where the table should be; 'harness board build {board.id}' makes it")
        return
    if (size := path.lstat().st_size) > _LARGEST_TABLE:
        yield Problem(path, None, f"{size:,} bytes, which no table has; 'harness board build {board.id}' makes it")
        return
    entries = [found.entry for found in look_through(prepared, submissions_of(folder), processes=processes)]
    if None in entries:
        yield Problem(path, None, "cannot be made again while submissions have something wrong")
    elif path.read_bytes() != table(board, labelled or prepared, [entry for entry in entries if entry]).encode():
        yield Problem(path, None, f"not what the submissions give; run 'harness board build {board.id}'")
