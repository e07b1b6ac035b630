"""Asks the judge of a run again about some of its texts, at another time: the same questions, in a results folder of their own.

A folder of its own makes every call a new one, as its store holds no reply yet; and a command that was killed goes on where it stopped.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from harness.asking import Addresses, Settings
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.judges.base import JudgeOptions
from harness.model import Condition
from harness.offensive import refuse_in_repository
from harness.runs.asking import Watcher
from harness.runs.preparation import Prepared
from harness.runs.runner import OpenedRun, RunResult, ask_opened, of_judge, remote_hosts, reopen_judge
from harness.store import Store


class AskAgain(msgspec.Struct, frozen=True):
    """The questions: the judge's name, the condition, the metrics, and the repeats for each item."""

    judge: str
    condition: Condition
    metrics: tuple[str, ...]
    times: Mapping[str, int]


def ask_again(
    result: RunResult,
    wanted: AskAgain,
    out: Path,
    watcher: Watcher,
    settings: Settings,
    addresses: Addresses = Addresses(),
) -> Judgments:
    """Ask a part of a run's questions: the calls that have no reply in the results folder `out` yet. Returns all their judgments.

    Where one call or conversation is about several metrics, it is about those of the run. `addresses` say where the judge answers, by
    default its usual endpoint, and with which further headers it was asked.

    Raises:
        UsageError: for a judge that is not one of the run, and an endpoint that is not its own.
        JudgeError, StoreError; IncompleteRun if calls have no answer: the same call continues.
    """
    identity = next((judge_identity for judge_identity in result.protocol.judges.identities if judge_identity.name == wanted.judge), None)
    if identity is None:
        raise UsageError(f"the run {result.name} did not ask '{wanted.judge}'")
    headers = of_judge(addresses.headers, wanted.judge, [wanted.judge])
    options = JudgeOptions(addresses.address_of(wanted.judge), os.environ, timeout=settings.timeout, headers=headers)
    judges = [reopen_judge(identity, options)]
    refuse_in_repository(out, result.prepared.data.about)  # the store holds prompts and replies
    for host in remote_hosts(judges, settings) if result.prepared.data.private else ():
        watcher.consent(host, len(wanted.times))
    with Store.writing(out) as store:
        parts = [
            ask_opened(OpenedRun(_part(result.prepared, wanted, times), judges), store, out, watcher, settings).judgments
            for times in sorted(set(wanted.times.values()))
        ]
    return Judgments.concatenate(parts)


def _part(prepared: Prepared, wanted: AskAgain, times: int) -> Prepared:
    """The items that are asked about so many times, under the one condition."""
    data = prepared.data.only(item for item in prepared.data.items if wanted.times.get(item.item_id) == times)
    together = wanted.condition.variant.call != "single"
    metrics = prepared.protocol.questions.metrics
    protocol = prepared.protocol.with_fields(
        metrics=metrics if together else tuple(name for name in metrics if name in wanted.metrics),
        conditions=(wanted.condition,),
        repeats=times,
        limit=None,
        data_sha256=data.sha256,
        panels={},
        identities=tuple(identity for identity in prepared.protocol.judges.identities if identity.name == wanted.judge),
    )
    return msgspec.structs.replace(prepared, data=data, protocol=protocol)
