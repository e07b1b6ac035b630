"""The results of a run: its judgments, its record `run.json`, the evidence behind judgments, and the costs of its answers.

`run.json` holds questions, judge, time, speed and price, and never a key or a port. Evidence (justifications, probabilities, raw replies)
is read for the rows that a page shows: a million of them would not fit into memory.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.asking_options import Settings
from harness.data.columns import NO_VALUE, CodedColumn
from harness.data.folders import fetched_folder
from harness.data.judgments import Judgments, read_columns_at
from harness.engines import Engine
from harness.errors import IncompleteRun, StoreError, UsageError, refuse_pipe
from harness.model import RealisedPerturbation, Reply, Score
from harness.parse.finish_reasons import was_cut
from harness.parse.reply import decode_spans
from harness.row_files import to_json, write_atomic
from harness.runs.ask_judges import JudgeSummary
from harness.runs.derived_files import RunAnswers
from harness.runs.preparation import Prepared
from harness.runs.prices import price_of
from harness.runs.protocol import Majority, RunProtocol
from harness.store import Store
from harness.store.database import FILE
from harness.text import short_repr


class RunResult(msgspec.Struct, frozen=True):
    """A run in its results folder. `derived` holds its judgments: it is `folder`, or a temporary folder if `folder` is read-only."""

    name: str
    folder: Path
    derived: Path
    protocol: RunProtocol
    prepared: Prepared
    judgments: Judgments
    answers: RunAnswers
    realised: tuple[RealisedPerturbation, ...] = ()  # what perturbations did to the texts
    absent: dict[tuple[str, str, str], tuple[Score, ...]] = {}  # classes without an example, by (language, task, metric)

    def __repr__(self) -> str:
        judges, items = self.protocol.judges.identities, self.prepared.data.items
        return short_repr(self, self.name, judges=len(judges), items=len(items), judgments=len(self.judgments))

    def refuse_unanswered(self) -> None:
        """Raise IncompleteRun if no call of the run has an answer: a report of it would look like a result."""
        if any(self.answers.missing.values()) and not any(any(calls.values()) for calls in self.answers.forms.values()):
            raise IncompleteRun(
                f"run {self.name} has no answer yet, so there is nothing to show (calls without one: "
                f"{sum(self.answers.missing.values()):,}). The 'harness run' command that began it goes on with it",
                self,
            )

    def with_majority(self, rule: Majority) -> RunResult:
        """The same answers with another rule for the annotators' reference. Raises UsageError as `Prepared.with_majority`."""
        prepared = self.prepared.with_majority(rule)
        return msgspec.structs.replace(self, prepared=prepared, protocol=prepared.protocol)


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
    spent_by_judge: dict[str, dict[str, dict[str, Any]]] = {}
    for judge, by_language in answers.spent.items():
        price = prices.get(judge)
        for language, spent in by_language.items():
            in_dollars: dict[str, float | None] = {}  # None if no price is known
            used = {"cost": (spent.usage, spent.batched), "replaced_cost": (spent.replaced_usage, spent.replaced_batched)}
            for name, (usage, batched) in used.items():
                cost = price.cost(usage) - price.cost(batched) + price.in_batch().cost(batched) if price else None
                in_dollars[name] = None if cost is None else round(cost, 6)
            spent_by_judge.setdefault(judge, {})[language] = msgspec.structs.asdict(spent) | in_dollars
    record = {
        "schema_version": 2,
        "run": protocol.name,
        "protocol": protocol.flat(),
        **{name: getattr(answers, name) for name in ("missing", "answered_by", "forms", "left_out", "reasoning")},
        "spent": {judge: spent_by_judge.get(judge, {}) for judge in answers.spent},
        "prices": prices,
        "sessions": all_sessions,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in _PACKAGES},
    }
    write_atomic(path, to_json(record), private=True)


def run_place(run: str | Path, out: Path) -> tuple[str, Path]:
    """The name of a run and its results folder. `run` is the run's folder, a file in it, or else a name (or its beginning) in `out`.

    Raises UsageError, with what to do, for a path that exists and is no run's; StoreError for a run's folder without its store.
    """
    path = Path(run)
    refuse_pipe(path)
    folder = (path.parent if path.is_file() else path).resolve()
    if (folder / "run.json").is_file():
        results = folder.parent.parent
        if not (store := results / FILE).is_file():
            raise StoreError(
                f"{run} is the folder of a run, whose replies are in the store of its results, and {store} is not there; put the folder "
                f"back under runs/ beside its {FILE}, or bring that file along"
            )
        return folder.name, results
    if path.exists() and not any(run_folder.name.startswith(str(run)) for run_folder in out.glob("runs/*")):
        what = f"a folder of data; 'harness run --data {path}' asks a judge, 'harness compare {path}' compares judgments that it holds"
        if path.is_file():
            what = f"a file that no run wrote; 'harness start {path}' looks at a table of texts or scores"
        elif (path / "runs").is_dir():
            what = f"a folder of results; 'harness runs --out {path}' lists the runs in it"
        raise UsageError(f"{run} is no run: {what}")
    if not path.exists() and fetched_folder(str(run)):
        raise UsageError(f"{run} is no run: published labels; 'harness compare {run}' compares the judgments that they hold")
    return str(run), out


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


_COLUMNS = ("justification", "probs", "spans", "call_id")


class JudgeWords(msgspec.Struct, frozen=True, array_like=True):
    """One reply, verbatim: its text, and a note if something was wrong with it."""

    text: str
    note: str = ""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Columns (rows,) of some judgments.

    `justification` is the whole text, `probs` are probabilities by class, `spans` is a tuple of marked errors, `reply` is a `JudgeWords`.
    The metrics of a joint call share one reply.
    """

    justification: CodedColumn
    probs: CodedColumn
    reply: CodedColumn
    spans: CodedColumn | None = None


def read_evidence(result: RunResult, rows: NDArray[np.int64]) -> Evidence:
    """The evidence of the judgments `rows` of a run, in that order. Row numbers may stand in any order and more than once.

    Rows that the run does not have are those of panels that were added to it, without evidence.

    Raises ContentError or StoreError if the file or the store cannot be read.
    """
    is_in_file = rows < len(result.judgments)
    rising, row_index = np.unique(np.where(is_in_file, rows, 0), return_inverse=True)  # the file is read once, from beginning to end
    columns = read_columns_at(result.derived / "judgments.parquet", _COLUMNS, rising)
    columns = {
        name: CodedColumn(column.values, np.where(is_in_file, column.codes[row_index], NO_VALUE)) for name, column in columns.items()
    }
    encoded = columns["probs"]
    probs = CodedColumn(tuple(msgspec.json.decode(text) for text in encoded.values), encoded.codes)
    marked = CodedColumn(tuple(map(decode_spans, columns["spans"].values)), columns["spans"].codes)
    calls = columns["call_id"]
    with Store.reading(result.folder.parent.parent) as store:
        replies = [None if reply is None else _judge_words(reply) for reply in store.replies(list(calls.values))]
    values: dict[Any, int] = {}
    codes = [NO_VALUE if words is None else values.setdefault(words, len(values)) for words in replies]
    judge_words = CodedColumn(tuple(values), np.array([*codes, NO_VALUE], np.int32)[calls.codes])
    return Evidence(columns["justification"], probs, judge_words, marked)


def _judge_words(reply: Reply) -> JudgeWords:
    if reply.error:
        return JudgeWords(reply.text or reply.error, "the endpoint refused the call")
    if reply.refusal:
        return JudgeWords(reply.text or reply.refusal, "the model refused")
    if reply.whole_length:
        return JudgeWords(reply.text, f"only the first {len(reply.text):,} of {reply.whole_length:,} characters are stored")
    return JudgeWords(reply.text, "the answer was cut off" if was_cut(reply.finish_reason) else "")
