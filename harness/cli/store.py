"""`harness store check`, `export`, `gc`, `merge`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import chain

import msgspec

from harness.errors import UsageError
from harness.store import Store
from harness.store.check import check as look_through
from harness.store.garbage import Removed, collect
from harness.store.merge import merge as merge_stores
from harness.tables import jsonl_lines, to_json, write_atomic
from harness.text import plain


def check(arguments: argparse.Namespace) -> int:
    found = look_through(arguments.out)
    if arguments.json:
        sys.stdout.write(to_json(found))
    else:
        for problem in found.problems:
            print(plain(problem))
        counts = {name: "?" if count is None else f"{count:,}" for name, count in found.counts.items()}
        print(", ".join(f"{name} {count}" for name, count in counts.items()))
        print("something is wrong" if found.problems else "nothing is wrong")
    return 1 if found.problems else 0


def export(arguments: argparse.Namespace) -> int:
    with Store.reading(arguments.out) as opened:
        rows = opened.export(arguments.judge)
        first = next(rows, None)
        if first is None:
            raise UsageError(f"no replies{f' of {arguments.judge!r}' if arguments.judge else ''} in {arguments.out}")
        lines = _Counted(jsonl_lines(chain((first,), rows)))
        write_atomic(arguments.to, lines)
    print(f"{lines.count} replies written to {arguments.to}", file=sys.stderr)
    return 0


class _Counted:
    """Lines that are counted as they go by."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self.count = 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self._lines:
            self.count += 1
            yield line


def gc(arguments: argparse.Namespace) -> int:
    removed = collect(arguments.out, dry_run=arguments.dry_run)
    if arguments.json:
        sys.stdout.write(to_json(removed))
    else:
        print(f"{'would remove' if arguments.dry_run else 'removed'} {_removed(removed)}")
        if not arguments.dry_run:
            shrunk = removed.bytes_before - removed.bytes_after
            print(f"the file shrank by {shrunk:,} bytes to {removed.bytes_after:,}")
    return 0


def _removed(rows: Removed) -> str:
    return (
        f"{rows.frames} prompt frames of other versions, {rows.attempts} lost attempts of calls that were answered later, "
        f"{rows.calls} calls without attempts, {rows.prompts} prompts without calls"
    )


def merge(arguments: argparse.Namespace) -> int:
    merged = merge_stores(arguments.sources, arguments.out)
    if arguments.json:
        sys.stdout.write(to_json(merged))
    else:
        gained = ", ".join(f"{count:,} {table}" for table, count in msgspec.structs.asdict(merged).items())
        print(f"{arguments.out} has gained {gained}")
    return 0
