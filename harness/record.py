"""`run.json`: what was asked, of whom, when, at what speed and price. Never a key, never a port."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from harness.answers import Answers, Spent
from harness.asking import Asked
from harness.engines import Engine, Settings
from harness.prices import Price, price_of
from harness.protocol import RunProtocol
from harness.tables import to_json, write_atomic

_PACKAGES = ("judge-harness", "guidance", "openai", "httptools", "xllamacpp", "icu4py")


def write_record(
    path: Path, protocol: RunProtocol, answers: Answers, started: float, sessions: Sequence[Asked], settings: Settings, engine: Engine
) -> None:
    """Write a run's run.json at `path`.

    Every time that calls were asked is one of its `sessions`; a run that is only re-read adds none.
    """
    prices = {identity.name: price_of(identity, settings.prices) for identity in protocol.identities}
    earlier = _sessions(path)
    if not earlier or any(asked.asked or asked.lost or asked.batches for asked in sessions):
        earlier = [*earlier, {"started": started, "ended": time.time(), "engine": engine, "judges": sessions}]
    record = {
        "schema_version": 2,
        "run": protocol.name,
        "protocol": protocol,
        "missing": answers.missing,
        "answered_by": answers.answered_by,
        "forms": answers.forms,
        "spent": {
            judge: {language: _priced(spent, prices.get(judge)) for language, spent in by.items()} for judge, by in answers.spent.items()
        },
        "prices": prices,
        "sessions": earlier,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in _PACKAGES},
    }
    write_atomic(path, to_json(record))


def _priced(spent: Spent, price: Price | None) -> dict[str, Any]:
    """What one judge took in one language, with US dollars at this price; None where no price is known."""
    cost = price.of(spent.usage) - price.of(spent.batched) + price.in_batch().of(spent.batched) if price else None
    return msgspec.structs.asdict(spent) | {"cost": None if cost is None else round(cost, 6)}


def _sessions(path: Path) -> list[Any]:
    try:
        return list(msgspec.json.decode(path.read_bytes())["sessions"])
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return []  # not there, or not ours: it is derived, and made anew
