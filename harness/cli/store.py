"""`harness store check`, `export`, `gc`, `merge`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import msgspec

from harness.cli.commands.studies_and_jobs import StoreCheck, StoreExport, StoreGc, StoreMerge
from harness.cli.streams import print_json
from harness.content.library import Library
from harness.data.dataset import card_of_folder
from harness.errors import UsageError
from harness.offensive import refuse_in_repository
from harness.row_files import jsonl_lines, to_json, write_atomic
from harness.runs import RunProtocol
from harness.store import Store
from harness.store.maintenance import RemovedRows, collect
from harness.store.maintenance import check as check_store
from harness.store.maintenance import merge as merge_stores
from harness.text import terminal_safe

_TABLE_NAMES = {"frames": "prompt templates"}  # tables of the store whose names are not the words of the documentation


def check(arguments: StoreCheck) -> int:
    result = check_store(arguments.out)
    if arguments.json:
        sys.stdout.write(to_json(result))
    else:
        for problem in result.problems:
            print(terminal_safe(problem))
        counts = {_TABLE_NAMES.get(name, name): "?" if count is None else f"{count:,}" for name, count in result.counts.items()}
        print(", ".join(f"{name} {count}" for name, count in counts.items()))
        print("something is wrong" if result.problems else "nothing is wrong")
    return 1 if result.problems else 0


def export(arguments: StoreExport) -> int:
    with Store.reading(arguments.out) as opened:
        _refuse_texts_in_repository(opened, arguments.to)
        rows = opened.export(arguments.judge)
        first = next(rows, None)
        if first is None:
            raise UsageError(f"no replies{f' of {arguments.judge!r}' if arguments.judge else ''} in {arguments.out}")
        lines = _CountedLines(jsonl_lines(chain((first,), rows)))
        write_atomic(arguments.to, lines, private=True)
    print(f"{lines.count} replies written to {arguments.to}", file=sys.stderr)
    return 0


def _refuse_texts_in_repository(store: Store, to: Path) -> None:
    """Raise UsageError where prompts and replies of a run on offensive data would come into a repository."""
    for spec in store.runs().values():
        texts = RunProtocol.read(spec).texts
        folder = Path(texts.data or texts.source.partition("@")[0])  # where the folder is gone, the published card of its name holds
        refuse_in_repository(to, card_of_folder(folder, Library()))


class _CountedLines:
    """Lines that are counted while they are read."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self.count = 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self._lines:
            self.count += 1
            yield line


def gc(arguments: StoreGc) -> int:
    removed = collect(arguments.out, dry_run=arguments.dry_run)
    if arguments.json:
        return print_json(removed)
    print(f"{'would remove' if arguments.dry_run else 'removed'} {_describe(removed)}")
    if not arguments.dry_run:
        shrunk = removed.bytes_before - removed.bytes_after
        print(f"the file shrank by {shrunk:,} bytes to {removed.bytes_after:,}")
    return 0


def _describe(rows: RemovedRows) -> str:
    return (
        f"{rows.frames} prompt templates of other versions, {rows.attempts} lost attempts of calls that have an answer now, "
        f"{rows.calls} calls without attempts, {rows.prompts} prompts without calls"
    )


def merge(arguments: StoreMerge) -> int:
    for source in arguments.sources:
        with Store.reading(source) as opened:
            _refuse_texts_in_repository(opened, arguments.out)
    merged = merge_stores(arguments.sources, arguments.out)
    if arguments.json:
        return print_json(merged)
    counts = {_TABLE_NAMES.get(table, table): count for table, count in msgspec.structs.asdict(merged).items()}
    print(f"{arguments.out} has gained {', '.join(f'{count:,} {name}' for name, count in counts.items())}")
    return 0
