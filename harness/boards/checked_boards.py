"""Check submissions, for `harness board check`: examine each one and report all problems at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from harness.boards.allowed_changes import TABLE, SubmittedChange, change_since
from harness.boards.board import SUBMISSIONS, submissions_of, unmarked_files, whole_board, with_labels
from harness.boards.card import CARD, JudgeCard, examine_card, quote, skeleton
from harness.boards.examined_submission import ScoredSubmission, examine_all
from harness.boards.submission_files import FILE, FOLDER, folder_problems, kind_of
from harness.content import Board, Library
from harness.content.canary import HOW_TO_MARK
from harness.content.problems import Problem, key_pattern, line_of
from harness.content.tags import suggest
from harness.errors import MissingData, UsageError
from harness.measure.cells import statistic_names
from harness.measure.item_table import AnswerCounts
from harness.runs import Prepared

_MAX_TABLE_BYTES = 4 << 20
TableRenderer = Callable[[Board, Prepared, Mapping[Path, ScoredSubmission]], str]
"""Renders the TABLE.md of a board from its entries."""


class CheckedSubmission(msgspec.Struct, frozen=True):
    """One submission: its number of calls, its unreadable judgments by the name of the failure, and its problems.

    `unread` counts its answers where most of them cannot be read: it has no rank then. None of others, and of baselines.
    """

    board: str
    submission: str
    judge: str
    status: str
    calls: int
    failures: dict[str, int]
    problems: list[Problem]
    unread: AnswerCounts | None = None


class CheckedBoards(msgspec.Struct, frozen=True):
    """The result of a check. `problems` are those of all submissions, and those that belong to no submission.

    `unchecked` are boards with submissions whose data are missing, with a sentence on how to get them.
    """

    submissions: list[CheckedSubmission]
    problems: list[Problem]
    change: SubmittedChange | None = None
    unchecked: dict[str, str] = {}


def check_boards(
    library: Library,
    names: Sequence[str] = (),
    *,
    content: Sequence[Path] = (),
    data: Path | None = None,
    key: Path | None = None,
    changed: str | None = None,
    table: TableRenderer | None = None,
) -> CheckedBoards:
    """Check the submissions of the named boards, or of all boards; with `changed`, only those that the commits since it add.

    `data` is the data folder of a board on data of its own. `key` opens sealed labels; they are read in memory only. `table` renders what
    TABLE.md should hold; without it, a TABLE.md is not checked.

    Raises:
        UsageError: for an unknown board, and a `changed` that git does not know.
        ContentError: for a board or content that cannot be read. Problems of submissions are returned, never raised.
    """
    folders = {name: library.board_file(name).parent for name in (names or library.board_files)}
    if (data is not None or key is not None) and len(folders) != 1:
        raise UsageError("--data and --key belong to one board; name the board")
    change = change_since(changed, folders) if changed is not None else None
    result = CheckedBoards([], list(change.problems) if change else [], change)
    if change and change.unreadable:  # a link may lead anywhere, so nothing is read through it
        return result
    boards = {name: library.board(name) for name in folders}
    for name, board in boards.items():
        folder = folders[name]
        for field, names_of_statistics in {"statistics": board.statistics, "rank_by": (board.rank_by,)}.items():
            for statistic in names_of_statistics:
                names = statistic_names()
                if statistic not in names:
                    message = f"no statistic '{quote(statistic)}'.{suggest(statistic, names)} Choose from: {', '.join(names)}"
                    file = library.board_files[name]
                    result.problems.append(Problem(file, line_of(file, key_pattern(field)), message))
        if (kind := kind_of(folder / SUBMISSIONS)) not in ("", FOLDER):
            message = f"{kind} where the folder of submissions should be; it is not read"
            result.problems.append(Problem(folder / SUBMISSIONS, None, message))
        paths = change.submissions[name] if change else submissions_of(folder)
        table_changed = change is not None and name in change.tables
        if not (paths or table_changed or key is not None):
            continue
        try:
            prepared = whole_board(name, content, data)
        except MissingData as err:
            result.unchecked[name] = str(err)
            result.problems.extend([Problem(path, None, f"not checked: {err}") for path in paths if change])
            continue
        checked = list(_check_submissions(name, prepared, folder, paths, is_change=change is not None))
        result.submissions.extend(checked)
        result.problems.extend(problem for submission in checked for problem in submission.problems)
        for path in unmarked_files(board, prepared):
            result.problems.append(Problem(path, None, f"this file lacks the canary of the board '{board.id}'; {HOW_TO_MARK}"))
        labelled = with_labels(prepared, key)  # also checks the commitment
        if table_changed:
            result.problems.extend(_table_problems(board, prepared, folder, table, labelled if key else None))
    return result


def _check_submissions(
    board: str, prepared: Prepared, folder: Path, paths: Sequence[Path], *, is_change: bool
) -> Iterator[CheckedSubmission]:
    """Check the submissions at `paths`. Submissions of a change may not have the status `verified`, which only a maintainer gives."""
    other_cards = _readable_cards(set(submissions_of(folder)) - set(paths))
    judges = {_identity_text(card): path.name for path, card in other_cards.items()}
    cards = other_cards | _readable_cards(paths)
    for examined in examine_all(prepared, paths, judgments=False):
        card, entry, path = examined.card, examined.entry, examined.folder / CARD
        problems = list(examined.problems)
        if card:
            first = judges.setdefault(_identity_text(card), examined.folder.name)
            if first != examined.folder.name:
                message = f"the same judge with the same settings is in {SUBMISSIONS}/{first}; a judge may be on a board only once"
                problems.append(Problem(path, None, message))
            title = skeleton(card.title)
            same_title = (other for other in cards.values() if other.name != card.name and title in map(skeleton, other.names))
            if title and (other := next(same_title, None)):
                message = f"the title '{quote(card.title)}' looks like the judge {quote(other.name)}; choose another title, or none"
                problems.append(Problem(path, line_of(path, key_pattern("title")), message))
            if is_change and card.status == "verified":
                message = 'only a maintainer sets "verified"; submit with status = "submitted"'
                problems.append(Problem(path, line_of(path, key_pattern("status")), message))
        spent = [costs for by_language in entry.answers.spent.values() for costs in by_language.values()] if entry else []
        failures: Counter[str] = Counter()
        for costs in spent:
            failures.update(costs.failures)
        yield CheckedSubmission(
            board=board,
            submission=examined.folder.name,
            judge=card.name if card else "",
            status=card.status if card else "",
            calls=sum(costs.calls for costs in spent),
            failures=dict(sorted(failures.items())),
            problems=problems,
            unread=examined.unread,
        )


def _readable_cards(folders: Iterable[Path]) -> dict[Path, JudgeCard]:
    cards = {folder: examine_card(folder / CARD)[0] for folder in sorted(folders) if not any(folder_problems(folder))}
    return {folder: card for folder, card in cards.items() if card}


def _identity_text(card: JudgeCard) -> str:
    return msgspec.json.encode(card.identity, order="sorted").decode()


def _table_problems(
    board: Board, prepared: Prepared, folder: Path, table: TableRenderer | None, labelled: Prepared | None = None
) -> Iterator[Problem]:
    """Report a TABLE.md of a change that is not the one that the submissions give. With sealed labels, only the key can tell."""
    path = folder / TABLE
    if board.sealed is not None and labelled is None:
        message = f"the labels of '{board.id}' are sealed, so its table can be checked only with the key; leave it out of the change"
        yield Problem(path, None, message)
        return
    if table is None:
        yield Problem(path, None, "the table is built when a change is merged; leave it out of the change")
        return
    if (kind := kind_of(path)) != FILE:
        yield Problem(path, None, f"{kind or 'nothing'} where the table should be; 'harness board build {board.id}' makes it")
        return
    if (size := path.lstat().st_size) > _MAX_TABLE_BYTES:
        yield Problem(path, None, f"{size:,} bytes, more than any table has; 'harness board build {board.id}' makes it")
        return
    entries = {examined.folder: examined.entry for examined in examine_all(prepared, submissions_of(folder))}
    if None in entries.values():
        yield Problem(path, None, "the table cannot be built while submissions have problems")
    elif path.read_bytes() != table(board, labelled or prepared, {path: entry for path, entry in entries.items() if entry}).encode():
        yield Problem(path, None, f"not the table that the submissions give; run 'harness board build {board.id}'")
