"""A board opened: its submissions read again, their standings, and what probes find."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from harness.boards.check import submissions_of, whole_board
from harness.boards.pool import look_through
from harness.boards.probes import Finding, probe, traces_of
from harness.boards.scoring import Entry
from harness.boards.sealed import with_labels
from harness.boards.standings import Standings, named, standings
from harness.content import Board, Library
from harness.errors import ContentError, MissingData
from harness.protocol import Prepared


class Opened(msgspec.Struct, frozen=True):
    """A board with the standings of its submissions."""

    board: Board
    folder: Path
    standings: Standings
    findings: tuple[Finding, ...]


def open_board(
    library: Library, name: str, content: Sequence[Path] = (), *, data: Path | None = None, key: Path | None = None, probes: bool = True
) -> Opened:
    """Read every reply of a board's submissions and rank them.

    `data` is the data folder of a board that judges one, and `key` opens sealed labels, which are read in memory.

    Raises:
        UsageError: for a board that is not there; MissingData where its data or its key are not given.
        ContentError: with the first thing that is wrong with a submission: standings with one left out would say something about all
        others. Also for a key that is not the board's.
    """
    board = library.board(name)
    folder = library.board_files[name].parent
    if board.sealed is not None and key is None:
        raise MissingData(f"the labels of the board '{name}' are sealed, and numbers are made where the key is: say --key FILE")
    prepared = whole_board(name, content, data)
    labelled = prepared if key is None else with_labels(prepared, key)
    entries: list[Entry] = []
    folders: dict[str, Path] = {}
    for found in look_through(prepared, submissions_of(folder)):
        for problem in found.problems:
            more = f"'harness board check {name}' says all that is wrong"
            raise ContentError(f"{problem.message}\n         {more}", problem.path, problem.line)
        assert found.entry is not None
        entries.append(found.entry)
        folders[found.entry.card.replies_sha256 + found.entry.card.name] = found.folder
    ranked = standings(board, labelled, entries)
    return Opened(board, folder, ranked, _findings(board, labelled, entries, folders) if probes else ())


def _findings(board: Board, prepared: Prepared, entries: Sequence[Entry], folders: dict[str, Path]) -> tuple[Finding, ...]:
    by_name = named(entries)
    asked = {name: entry for name, entry in by_name.items() if entry.card.provider != "baseline"}
    traced = {name: traces_of(folders[entry.card.replies_sha256 + entry.card.name], prepared.data) for name, entry in asked.items()}
    return probe(board, prepared, by_name, traced)
