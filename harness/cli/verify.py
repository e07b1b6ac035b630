"""`harness board verify`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from harness.boards.verify import LEVEL, Verification
from harness.boards.verify import verify as verify_submission
from harness.engines import Limits, Settings
from harness.tables import to_json
from harness.text import plain

_SHOWN = 20  # of what differs


def verify(arguments: argparse.Namespace) -> int:
    from harness.render.progress import TerminalWatcher

    found = verify_submission(
        arguments.board,
        arguments.submission,
        TerminalWatcher(assume_yes=arguments.yes),
        _settings(arguments),
        share=arguments.share,
        seed=arguments.seed,
        base_url=arguments.base_url,
        content=arguments.content,
        data=arguments.data,
        out=arguments.out,
    )
    if arguments.json:
        sys.stdout.write(to_json(_as_json(found)))
    else:
        for line in _said(found):
            print(plain(line))
    return 0 if found.holds else 1


def _settings(arguments: argparse.Namespace) -> Settings:
    return Settings(
        concurrency={"": arguments.concurrency} if arguments.concurrency else {},
        rpm=dict([arguments.rpm] if arguments.rpm else []),
        tpm=dict([arguments.tpm] if arguments.tpm else []),
        attempts=arguments.attempts,
        timeout=arguments.timeout,
        limits=Limits(cost=arguments.max_cost),
        prices=arguments.prices,
    )


def _as_json(found: Verification) -> dict[str, Any]:
    return {
        **msgspec.structs.asdict(found),
        "submission": str(found.submission),
        "holds": found.holds,
        "agreement": 1 - found.found.apart,
        "retest": 1 - found.found.apart_fresh,
    }


def _said(found: Verification) -> Iterator[str]:
    numbers = found.found
    drawn = ", ".join(f"{tag} {count}" for tag, count in found.drawn.items() if count)
    low, high = numbers.alone_interval
    yield f"{found.judge}: {found.calls} calls asked again, twice each (seed {found.seed}; {drawn})"
    yield f"agreement   {100 * (1 - numbers.apart):.1f} % of the fresh scores are the submitted ones"
    yield f"retest      {100 * (1 - numbers.apart_fresh):.1f} % of the fresh scores are equal to each other"
    yield f"test        p = {numbers.p:.3g}: one judge would be as far from itself as often as that (not verified below {LEVEL:g})"
    yield (
        f"alone       {numbers.alone} of {found.calls} submitted replies differ from two fresh ones that agree "
        f"(95 %: {100 * low:.1f} to {100 * high:.1f} % of all)"
    )
    rows = sorted(found.differing, key=lambda one: not one.alone)
    for one in rows[:_SHOWN]:
        yield (
            f"  {one.language} {one.item_id} {one.metric}: submitted {one.submitted}, fresh {one.first} and {one.second} "
            f"(call {one.call_id[:12]})"
        )
    if len(rows) > _SHOWN:
        yield f"  and {len(rows) - _SHOWN:,} more that differ"
    if found.renamed:
        before, now = found.renamed
        yield f"another model answers: {now}, and the submitted replies are of {before}"
    yield "verified: judge.toml says so now" if found.holds else "not verified: nothing was changed"
