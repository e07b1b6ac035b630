"""`harness batch status`, `collect`, `forget`: what a results folder has submitted to providers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from harness.cli.run import show
from harness.engines import Settings
from harness.engines.batch.record import is_file, is_open
from harness.engines.batch.status import look_at
from harness.errors import HarnessError, JudgeError, UsageError
from harness.judges.batches import Batch as Seen
from harness.judges.batches import Batching
from harness.model import JudgeIdentity
from harness.protocol import RunProtocol
from harness.runner import collect_batches, same_judge
from harness.store import Batch, Store
from harness.tables import to_json

_UPLOADED = "a file was uploaded; the run's command finds out what became of it"


def status(arguments: argparse.Namespace) -> int:
    with Store.reading(arguments.out) as store:
        known = [(identity, batch) for identity, batch in _every(store) if is_open(batch) or not is_file(batch)]
    there = _there(known, arguments.base_url)
    rows = [_row(batch, there.get(batch.batch_id)) for _, batch in known]
    if arguments.json:
        sys.stdout.write(to_json(rows))
    elif rows:
        from harness.render.batches import print_batches

        print_batches(rows)
    else:
        print(f"no batches in {arguments.out}", file=sys.stderr)
    unseen = next((row["note"] for row in rows if row["note"] not in (None, _UPLOADED)), None)
    if unseen:
        raise JudgeError(f"not every batch could be looked at: {unseen}")
    return 0


def _every(store: Store) -> Iterator[tuple[JudgeIdentity, Batch]]:
    """All batches of a results folder with the judge that they ask."""
    for run, spec in store.runs().items():
        for identity in msgspec.json.decode(spec, type=RunProtocol).identities:
            for batch in store.batches(run, identity.name):
                yield identity, batch


def _there(known: list[tuple[JudgeIdentity, Batch]], base_url: str | None) -> dict[str, Seen | str]:
    """Open batches as their providers see them, or why they cannot be seen."""
    found: dict[str, Seen | str] = dict.fromkeys((batch.batch_id for _, batch in known if is_file(batch)), _UPLOADED)
    asked = {identity.name: identity for identity, batch in known if is_open(batch) and not is_file(batch)}
    for identity in asked.values():
        ids = [batch.batch_id for owner, batch in known if owner.name == identity.name and is_open(batch) and not is_file(batch)]
        try:
            judge = same_judge(identity, base_url)
            assert isinstance(judge, Batching)
            found |= look_at(judge, ids)
        except HarnessError as err:
            found |= dict.fromkeys(ids, str(err))
    return found


def _row(batch: Batch, there: Seen | str | None) -> dict[str, Any]:
    seen = None
    if isinstance(there, Seen):
        seen = {"status": there.status, **msgspec.structs.asdict(there.counts)}
    return {
        "batch": batch.batch_id,
        "run": batch.run,
        "judge": batch.judge,
        "submitted": batch.submitted,
        "calls": len(batch.calls),
        "state": batch.state,
        "provider": seen,
        "note": there if isinstance(there, str) else None,
    }


def collect(arguments: argparse.Namespace) -> int:
    from harness.render.progress import TerminalWatcher

    name = arguments.run or _latest(arguments)
    settings = Settings(prices=arguments.prices)
    show(collect_batches(name, arguments.out, TerminalWatcher(assume_yes=True), settings, arguments.base_url), as_json=arguments.json)
    return 0


def _latest(arguments: argparse.Namespace) -> str:
    """The latest run with batches that are open, else the latest with any."""
    with Store.reading(arguments.out) as store:
        batches = [batch for _, batch in _every(store)]
    runs = [batch.run for batch in batches if is_open(batch)] or [batch.run for batch in batches]
    if not runs:
        raise UsageError(f"no batches in {arguments.out}; 'harness run --engine batch' submits some")
    return runs[-1]


def forget(arguments: argparse.Namespace) -> int:
    with Store.writing(arguments.out) as store:
        batches = [batch for _, batch in _every(store) if batch.batch_id == arguments.batch]
        if not any(map(is_open, batches)):
            what = f"{arguments.batch} has ended ({batches[0].state})" if batches else f"no batch '{arguments.batch}' in {arguments.out}"
            raise UsageError(f"{what}; 'harness batch status' lists them")
        store.settle_batch(arguments.batch, "forgotten")
    print(f"{arguments.batch} is given up; the run's command asks its {len(batches[0].calls)} calls again", file=sys.stderr)
    return 0
