"""`harness board verify`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from harness.asking import Settings
from harness.boards.verify import LEVEL, Verification
from harness.boards.verify import verify as verify_submission
from harness.cli.commands.leaderboards import BoardVerify
from harness.options import part_of
from harness.row_files import to_json
from harness.text import terminal_safe

_SHOWN = 20  # differing judgments on the screen


def verify(arguments: BoardVerify) -> int:
    from harness.render.progress import TerminalWatcher

    result = verify_submission(
        arguments.board,
        arguments.submission,
        TerminalWatcher(assume_yes=arguments.yes),
        part_of(arguments.asking, Settings),
        arguments.options,
    )
    if arguments.json:
        sys.stdout.write(to_json(_to_json_object(result)))
    else:
        for line in _summarise_verification(result):
            print(terminal_safe(line))
    return 0 if result.holds else 1


def _to_json_object(result: Verification) -> dict[str, Any]:
    return {
        **msgspec.structs.asdict(result),
        "submission": str(result.submission),
        "holds": result.holds,
        "agreement": 1 - result.found.apart,
        "retest": 1 - result.found.apart_fresh,
    }


def _summarise_verification(result: Verification) -> Iterator[str]:
    numbers = result.found
    drawn = ", ".join(f"{tag} {count}" for tag, count in result.drawn.items() if count)
    low, high = numbers.alone_interval
    yield f"{result.judge}: {result.calls} calls asked again, twice each (seed {result.seed}; {drawn})"
    yield f"agreement   {100 * (1 - numbers.apart):.1f} % of the fresh scores equal the submitted ones"
    yield f"retest      {100 * (1 - numbers.apart_fresh):.1f} % of the fresh scores equal each other"
    yield f"test        p = {numbers.p:.3g}: how often one judge would differ from itself as much (not verified below {LEVEL:g})"
    yield (
        f"alone       {numbers.alone} of {result.calls} submitted replies differ from two fresh ones that agree "
        f"(95 %: {100 * low:.1f} to {100 * high:.1f} % of all)"
    )
    rows = sorted(result.differing, key=lambda answer: not answer.alone)
    for answer in rows[:_SHOWN]:
        yield (
            f"  {answer.language} {answer.item_id} {answer.metric}: submitted {answer.submitted}, fresh {answer.first} and {answer.second} "
            f"(call {answer.call_id[:12]})"
        )
    if len(rows) > _SHOWN:
        yield f"  and {len(rows) - _SHOWN:,} more that differ"
    if result.renamed:
        before, now = result.renamed
        yield f"another model answers: {now}; the submitted replies are from {before}"
    yield "verified: judge.toml was marked" if result.holds else "not verified: no file was changed"
