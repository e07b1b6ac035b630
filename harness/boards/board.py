"""A board as a whole: its protocol with data and labels, the folders of its submissions, and its standings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from harness.boards.examined_submission import ScoredSubmission, examine_all
from harness.boards.probes import Finding, probe, read_traces
from harness.boards.sealed_labels import add_sealed_labels, files_without_canary
from harness.boards.standings import Standings, entries_by_id, standings
from harness.boards.submission_files import FOLDER, kind_of
from harness.content import Board, Library
from harness.errors import ContentError, MissingData
from harness.judges import traits_of
from harness.runs import Prepared, RunSpec, prepare

SUBMISSIONS = "submissions"


class OpenBoard(msgspec.Struct, frozen=True):
    """A board with the standings of its submissions."""

    board: Board
    folder: Path
    standings: Standings
    findings: tuple[Finding, ...]


def whole_board(name: str, content: Sequence[Path] = (), data: Path | None = None) -> Prepared:
    """Prepare everything that a board asks: all languages, items, tasks, metrics and repeats. Raises the errors of `prepare`."""
    return prepare(RunSpec(board=name, content=tuple(content), data=data))


def with_labels(prepared: Prepared, key: Path | None) -> Prepared:
    """A prepared board with all its labels: those that `key` opens are added. Without a key, the board as it is."""
    return prepared if key is None else add_sealed_labels(prepared, key)


def unmarked_files(board: Board, prepared: Prepared) -> list[Path]:
    """The data files of a board with sealed labels that lack its canary. Files of packs are checked by `harness check`."""
    if board.sealed is None or not prepared.protocol.texts.data:
        return []
    return files_without_canary(board, prepared.library, Path(prepared.protocol.texts.data), board.sealed.canary)


def submissions_of(board: Path) -> list[Path]:
    """Everything in the submissions folder of a board's folder, sorted by name, whether it is a submission or not."""
    folder = board / SUBMISSIONS
    return [folder / name for name in sorted(os.listdir(folder))] if kind_of(folder) == FOLDER else []


def open_board(
    library: Library, name: str, content: Sequence[Path] = (), *, data: Path | None = None, key: Path | None = None, probes: bool = True
) -> OpenBoard:
    """Read every reply of a board's submissions and rank them.

    `data` is the data folder of a board on data of its own. `key` opens sealed labels; they are read in memory only.

    Raises:
        UsageError: if there is no such board. MissingData: if its data or its key are not given.
        ContentError: with the first problem of a submission, because leaving it out would change the ranks of all others. Also if the
            key does not fit the board.
    """
    board = library.board(name)
    folder = library.board_files[name].parent
    if board.sealed is not None and key is None:
        raise MissingData(f"the labels of the board '{name}' are sealed, and its numbers can be computed only with the key: use --key FILE")
    prepared = whole_board(name, content, data)
    labelled = with_labels(prepared, key)
    entries: dict[Path, ScoredSubmission] = {}
    for examined in examine_all(prepared, submissions_of(folder)):
        for problem in examined.problems:
            hint = f"'harness board check {name}' lists all problems"
            raise ContentError(f"{problem.message}\n         {hint}", problem.path, problem.line)
        assert examined.entry is not None
        entries[examined.folder] = examined.entry
    ranked = standings(board, labelled, list(entries.values()))
    return OpenBoard(board, folder, ranked, findings_about(board, labelled, entries) if probes else ())


def findings_about(board: Board, prepared: Prepared, entries: Mapping[Path, ScoredSubmission]) -> tuple[Finding, ...]:
    """Return the findings of the probes about submissions, which are named by their folders."""
    by_id = entries_by_id([entry for entry in entries.values() if entry.card.ranked])
    folders = {_key(entry): folder for folder, entry in entries.items()}
    live_entries = {
        judge: entry for judge, entry in by_id.items() if not (entry.card.recorded or traits_of(entry.card.identity).is_baseline)
    }
    traces = {judge: read_traces(folders[_key(entry)], prepared.data) for judge, entry in live_entries.items()}
    return probe(board, prepared, by_id, traces)


def _key(entry: ScoredSubmission) -> str:
    """Return the key that names the folder of a submission: two judges with one name hold different replies."""
    return entry.card.content_sha256 + entry.card.name
