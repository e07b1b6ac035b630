"""`harness batch status`, `collect`, `forget`: the batches that a results folder has submitted to providers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from harness.asking import Addresses, Settings
from harness.cli.commands.studies_and_jobs import BatchCollect, BatchForget, BatchStatus
from harness.cli.run import Output, show
from harness.engines.batch.engine import states_of
from harness.engines.batch.submission import is_file, is_open
from harness.errors import HarnessError, JudgeError, UsageError
from harness.judges import JudgeOptions, opening_name
from harness.judges.batches import Batching, ProviderBatch
from harness.model import JudgeIdentity
from harness.row_files import to_json
from harness.runs import RunProtocol, collect_batches, of_judge, reopen_judge
from harness.store import Store, StoredBatch
from harness.text import terminal_safe

_UPLOADED = "a file was uploaded; the run's command will check what happened to it"


def status(arguments: BatchStatus) -> int:
    with Store.reading(arguments.out) as store:
        open_batches = [(identity, batch) for identity, batch in _list_batches(store) if is_open(batch) or not is_file(batch)]
    at_provider = _ask_providers(open_batches, arguments.addresses)
    rows = [_make_row(batch, at_provider.get(batch.batch_id)) for _, batch in open_batches]
    if arguments.json:
        sys.stdout.write(to_json(rows))
    elif rows:
        from harness.render.runs import print_batches

        print_batches(rows)
    else:
        print(f"no batches in {arguments.out}", file=sys.stderr)
    unknown = next((row["note"] for row in rows if row["note"] not in (None, _UPLOADED)), None)
    if unknown:
        raise JudgeError(f"the state of some batches is unknown: {unknown}")
    return 0


def _list_batches(store: Store) -> Iterator[tuple[JudgeIdentity, StoredBatch]]:
    for run, spec in store.runs().items():
        for identity in RunProtocol.read(spec).judges.identities:
            for batch in store.batches(run, identity.name):
                yield identity, batch


def _ask_providers(
    open_batches: list[tuple[JudgeIdentity, StoredBatch]],
    addresses: Addresses,
) -> dict[str, ProviderBatch | str]:
    """Open batches as their providers describe them, or the reason why that is unknown."""
    batches: dict[str, ProviderBatch | str] = dict.fromkeys((batch.batch_id for _, batch in open_batches if is_file(batch)), _UPLOADED)
    identities = {identity.name: identity for identity, batch in open_batches if is_open(batch) and not is_file(batch)}
    names = [opening_name(identity) for identity in identities.values()]
    for identity, opening in zip(identities.values(), names, strict=True):
        ids = [batch.batch_id for owner, batch in open_batches if owner.name == identity.name and is_open(batch) and not is_file(batch)]
        try:
            options = JudgeOptions(addresses.address_of(opening), os.environ, headers=of_judge(addresses.headers, opening, names))
            judge = reopen_judge(identity, options)
            assert isinstance(judge, Batching)
            batches |= states_of(judge, ids)
        except HarnessError as err:
            batches |= dict.fromkeys(ids, str(err))
    return batches


def _make_row(batch: StoredBatch, at_provider: ProviderBatch | str | None) -> dict[str, Any]:
    provider = None
    if isinstance(at_provider, ProviderBatch):
        provider = {"status": at_provider.status, **msgspec.structs.asdict(at_provider.counts)}
    return {
        "batch": batch.batch_id,
        "run": batch.run,
        "judge": batch.judge,
        "submitted": batch.submitted,
        "calls": len(batch.calls),
        "state": batch.state,
        "provider": provider,
        "note": at_provider if isinstance(at_provider, str) else None,
    }


def collect(arguments: BatchCollect) -> int:
    from harness.render.progress import TerminalWatcher

    name = arguments.run or _find_latest(arguments)
    settings = Settings(prices=arguments.pricing.prices)
    watcher = TerminalWatcher(assume_yes=True)
    show(collect_batches(name, arguments.out, watcher, settings, arguments.addresses), Output(arguments.json))
    return 0


def _find_latest(arguments: Any) -> str:
    """The latest run with open batches; without any, the latest run with batches."""
    with Store.reading(arguments.out) as store:
        batches = [batch for _, batch in _list_batches(store)]
    runs = [batch.run for batch in batches if is_open(batch)] or [batch.run for batch in batches]
    if not runs:
        raise UsageError(f"no batches in {arguments.out}; 'harness run --engine batch' submits some")
    return runs[-1]


def forget(arguments: BatchForget) -> int:
    with Store.writing(arguments.out) as store:
        batches = [batch for _, batch in _list_batches(store) if batch.batch_id == arguments.batch]
        if not any(map(is_open, batches)):
            problem = f"{arguments.batch} has ended ({batches[0].state})" if batches else f"no batch '{arguments.batch}' in {arguments.out}"
            raise UsageError(f"{problem}; 'harness batch status' lists the batches")
        store.settle_batch(arguments.batch, "forgotten")
    print(
        f"{terminal_safe(arguments.batch)} is given up; the run's command will ask its {len(batches[0].calls)} calls again", file=sys.stderr
    )
    return 0
