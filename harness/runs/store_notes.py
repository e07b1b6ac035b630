"""Notes of a run in its store: the addresses that answered for a judge, and the start of a `--fresh` run.

The notes are in no record, report or export.
"""

from __future__ import annotations

import time

import msgspec

from harness.judges import Judge
from harness.model import JudgeIdentity
from harness.store import Store


def address_of(judge: Judge) -> str | None:
    """Scheme, host, port and path that a judge's calls go to; None for judges that have no address."""
    address: str | None = getattr(judge, "address", None)
    return address


def known_addresses(store: Store, identity: JudgeIdentity) -> list[str]:
    """The addresses that have answered for a judge, oldest first; empty if unknown."""
    try:
        return msgspec.json.decode(store.note(_address_key(identity)) or "[]", type=list[str])
    except msgspec.DecodeError:
        return []


def note_address(store: Store, judge: Judge, *, only: bool = False) -> None:
    """Note that the judge's address has answered. With `only`, forget the others: all stored replies that count come from this address."""
    address = address_of(judge)
    known = known_addresses(store, judge.identity)
    if address is not None and (only or address not in known):
        addresses = [*([] if only else known), address]
        store.put_note(_address_key(judge.identity), msgspec.json.encode(addresses).decode())


def begin_fresh_run(store: Store, run: str) -> float:
    """Return the time (seconds since 1970) after which replies count for a `--fresh` run.

    An unfinished `--fresh` command goes on with its own time. A new one begins now, but never before a reply that is already in the store,
    whatever the clock says.
    """
    began = unfinished_fresh_run(store, run)
    if began is None:
        began = max(time.time(), store.last_received())
        store.put_note(_fresh_key(run), repr(began))
    return began


def unfinished_fresh_run(store: Store, run: str) -> float | None:
    """When an unfinished `--fresh` command of this run began; None if there is none."""
    note = store.note(_fresh_key(run))
    try:
        return None if note is None else float(note)
    except ValueError:
        return None


def finish_fresh_run(store: Store, run: str) -> None:
    """Remove the note: every call has a fresh reply."""
    store.put_note(_fresh_key(run), None)


def _address_key(identity: JudgeIdentity) -> str:
    return f"address {msgspec.json.encode(identity, order='sorted').decode()}"


def _fresh_key(run: str) -> str:
    return f"fresh {run}"
