"""`harness board show` and `harness board build`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.boards.board import OpenBoard, open_board, submissions_of
from harness.boards.changes import TABLE
from harness.cli.commands.leaderboards import BoardBuild, BoardShow
from harness.content import Library
from harness.content.library import bundled_root
from harness.content.tags import resolve
from harness.errors import JUDGE, MissingData, UsageError
from harness.render.terminal import working
from harness.row_files import to_json, write_together
from harness.text import terminal_safe


def show(arguments: BoardShow) -> int:
    with working("reading replies"):
        board = open_board(Library(*arguments.content), arguments.board, arguments.content, data=arguments.data, key=arguments.key)
    ranked = board.standings
    language = resolve((arguments.lang,), ranked.languages, "tables")[0] if arguments.lang else None
    if arguments.json:
        tables = tuple(table for table in ranked.tables if language in (None, table.language))
        sys.stdout.write(to_json(msgspec.structs.replace(ranked, tables=tables).as_json() | {"findings": board.findings}))
        return JUDGE if ranked.unread else 0
    from harness.render.standings import print_standings

    for line in ranked.unread:
        print(terminal_safe(line))
    print_standings(ranked, board.findings, language, all_tables=arguments.all)
    return JUDGE if ranked.unread else 0


def build(arguments: BoardBuild) -> int:
    """All boards are read and ranked before the first file is written."""
    library = Library(*arguments.content)
    names = tuple(arguments.boards or library.board_files)
    _refuse_installed(library, names, arguments.site)
    with working("reading replies"):
        opened, left_out = _open(library, names, arguments)
    texts = _render_tables(opened) | (_render_site(arguments.site, opened, arguments.beside) if arguments.site else {})
    write_together(texts)
    for path in texts:
        print(terminal_safe(str(path)))
    unread = [f"{board.board.id}: {line}" for board in opened for line in board.standings.unread]
    for line in (*unread, *(f"{name}: {why}" for name, why in left_out.items())):
        print(terminal_safe(line), file=sys.stderr)
    return JUDGE if unread else 0


def _open(library: Library, names: Sequence[str], arguments: Any) -> tuple[list[OpenBoard], dict[str, str]]:
    """The boards that can be opened, and the reason for each that cannot. Raises MissingData for a board that the user named."""
    if (arguments.data or arguments.key) and len(names) != 1:
        raise UsageError("--data and --key need one board; name it")
    opened, left_out = [], {}
    options = {"data": arguments.data, "key": arguments.key}
    for name in names:
        if not submissions_of(library.board_files[name].parent):
            left_out[name] = "no submissions yet"
            continue
        try:
            opened.append(open_board(library, name, arguments.content, **options))
        except MissingData as err:
            if name in arguments.boards:
                raise
            left_out[name] = str(err)
    return opened, left_out


def _refuse_installed(library: Library, names: Sequence[str], site: Path | None) -> None:
    for name in names:
        library.board(name)
        if bundled_root().name == "_content" and bundled_root() in library.board_files[name].parents:
            raise UsageError(f"'{name}' is a board of the installed program, which cannot be changed; run this in a checkout")
    if site is not None and site.exists() and not site.is_dir():
        raise UsageError(f"--site {site} is a file; name a folder (it is created if it does not exist)")


def _render_tables(opened: Sequence[OpenBoard]) -> dict[Path, str]:
    from harness.render.markdown import standings_markdown

    return {board.folder / TABLE: standings_markdown(board.standings, board.findings) for board in opened}


def _render_site(folder: Path, opened: Sequence[OpenBoard], linked_pages: Sequence[str]) -> dict[Path, str]:
    from harness.exchange.labels.mapping import PAGE_BESIDE, parse_pairs
    from harness.render.html.boards import board_pages

    pages = board_pages([(board.standings, board.findings) for board in opened], parse_pairs(linked_pages, "--beside", form=PAGE_BESIDE))
    return {folder / name: text for name, text in pages.items()}
