"""`run.json`: questions, judge, time, speed and price of a run. It never holds a key or a port."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from harness.asking import Settings
from harness.data.named_folders import fetched_folder
from harness.engines import Engine
from harness.errors import UsageError, refuse_pipe
from harness.row_files import to_json, write_atomic
from harness.runs.asking import JudgeSummary
from harness.runs.prices import Price, price_of
from harness.runs.protocol import RunProtocol
from harness.runs.run_completeness import RunAnswers, Spent

_PACKAGES = ("judge-harness", "guidance", "openai", "aiohttp", "xllamacpp", "icu4py")


def write_record(
    path: Path,
    protocol: RunProtocol,
    answers: RunAnswers,
    started: float,
    sessions: Sequence[JudgeSummary],
    settings: Settings,
    engine: Engine,
) -> None:
    """Write a run's run.json to `path`.

    Each command that asked calls adds a session. A command that only reads the run again adds none.
    """
    prices = {identity.name: price_of(identity, settings.prices) for identity in protocol.judges.identities}
    all_sessions = (_read(path) or {}).get("sessions")
    if not isinstance(all_sessions, list):  # missing or damaged; the file is derived and will be written again
        all_sessions = []
    if not all_sessions or any(session.asked or session.lost or session.batches for session in sessions):
        all_sessions = [*all_sessions, {"started": started, "ended": time.time(), "engine": engine, "judges": sessions}]
    record = {
        "schema_version": 2,
        "run": protocol.name,
        "protocol": protocol.flat(),
        **{name: getattr(answers, name) for name in ("missing", "answered_by", "forms", "left_out", "reasoning")},
        "spent": {
            judge: {language: _with_cost(spent, prices.get(judge)) for language, spent in by.items()} for judge, by in answers.spent.items()
        },
        "prices": prices,
        "sessions": all_sessions,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in _PACKAGES},
    }
    write_atomic(path, to_json(record), private=True)


def _with_cost(spent: Spent, price: Price | None) -> dict[str, Any]:
    """Return the usage of one judge in one language with its cost in US dollars; None if no price is known."""
    cost = price.cost(spent.usage) - price.cost(spent.batched) + price.in_batch().cost(spent.batched) if price else None
    return msgspec.structs.asdict(spent) | {"cost": None if cost is None else round(cost, 6)}


def run_place(run: str | Path, out: Path) -> tuple[str, Path]:
    """The name of a run and its results folder. `run` is the run's folder, a file in it, or else a name (or its beginning) in `out`.

    Raises UsageError, with what to do, for a path that exists and is no run's.
    """
    path = Path(run)
    refuse_pipe(path)
    folder = (path.parent if path.is_file() else path).resolve()
    if (folder / "run.json").is_file():
        return folder.name, folder.parent.parent
    if path.exists() and not any(run_folder.name.startswith(str(run)) for run_folder in out.glob("runs/*")):
        raise UsageError(f"{run} is no run: {_what_it_is(path)}")
    if not path.exists() and fetched_folder(str(run)):
        raise UsageError(f"{run} is no run: published labels; 'harness compare {run}' compares the judgments that they hold")
    return str(run), out


def _what_it_is(path: Path) -> str:
    if path.is_file():
        return f"a file that no run wrote; 'harness start {path}' looks at a table of texts or scores"
    if (path / "runs").is_dir():
        return f"a folder of results; 'harness runs --out {path}' lists the runs in it"
    return f"a folder of data; 'harness run --data {path}' asks a judge, 'harness compare {path}' compares judgments that it holds"


def run_record(out: Path, name: str) -> dict[str, Any] | None:
    """Return the content of a run's run.json; None where it is absent or cannot be read."""
    return _read(out / "runs" / name / "run.json")


def date_asked(record: Mapping[str, Any]) -> str:
    """Return the day (UTC) when the run's first calls were asked, as 2026-11-22; empty where its run.json does not say.

    >>> date_asked({"sessions": [{"started": 1790000000.0}]}), date_asked({"sessions": [{"started": "x"}]}), date_asked({})
    ('2026-09-21', '', '')
    """
    try:
        return datetime.fromtimestamp(record["sessions"][0]["started"], UTC).date().isoformat()
    except (KeyError, IndexError, TypeError, ValueError, OverflowError, OSError):
        return ""


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.DecodeError):
        return None
