"""`harness board show` and `harness board build`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from harness.boards.build import Opened, open_board
from harness.boards.changes import TABLE
from harness.boards.check import submissions_of
from harness.content import Library
from harness.content.library import bundled_root
from harness.content.tags import resolve
from harness.errors import UsageError
from harness.render.progress import working
from harness.tables import to_json, write_atomic
from harness.text import plain


def show(arguments: argparse.Namespace) -> int:
    with working("reading replies"):
        found = open_board(Library(*arguments.content), arguments.board, arguments.content)
    ranked = found.standings
    language = resolve((arguments.lang,), ranked.languages, "board's languages")[0] if arguments.lang else None
    if arguments.json:
        kept = tuple(table for table in ranked.tables if language in (None, table.language))
        sys.stdout.write(to_json(msgspec.structs.replace(ranked, tables=kept).as_json() | {"findings": found.findings}))
        return 0
    from harness.render.standings import print_standings

    print_standings(ranked, found.findings, language)
    return 0


def build(arguments: argparse.Namespace) -> int:
    """Everything is read and ranked before the first file is written."""
    library = Library(*arguments.content)
    names = tuple(arguments.boards or library.board_files)
    _refuse_installed(library, names, arguments.site)
    with working("reading replies"):
        here = [name for name in names if submissions_of(library.board_files[name].parent)]
        opened = [open_board(library, name, arguments.content, probes=arguments.site is not None) for name in here]
    texts = _tables(opened) | (_site(arguments.site, opened) if arguments.site else {})
    for path, text in texts.items():
        write_atomic(path, text)
        print(plain(str(path)))
    for name in names:
        if name not in here:
            print(plain(f"{name}: no submissions yet"), file=sys.stderr)
    return 0


def _refuse_installed(library: Library, names: Sequence[str], site: Path | None) -> None:
    for name in names:
        library.board(name)
        if bundled_root().name == "_content" and bundled_root() in library.board_files[name].parents:
            raise UsageError(f"'{name}' is a board of the installed program, which is not written to; run this in a checkout")
    if site is not None and site.exists() and not site.is_dir():
        raise UsageError(f"--site {site} is a file; name a folder, which is made if it is not there")


def _tables(opened: Sequence[Opened]) -> dict[Path, str]:
    from harness.render.standings_markdown import standings_markdown

    return {one.folder / TABLE: standings_markdown(one.standings) for one in opened}


def _site(folder: Path, opened: Sequence[Opened]) -> dict[Path, str]:
    from harness.render.html.boards import board_pages

    pages = board_pages([(one.standings, one.findings) for one in opened])
    return {folder / name: text for name, text in pages.items()}
