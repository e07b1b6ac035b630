"""The public API for notebooks: the same things that the commands do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import analyse
from harness.content import Dataset, Library, load_folder
from harness.errors import UsageError
from harness.model import JudgeIdentity
from harness.plan import Estimate
from harness.protocol import RunSpec
from harness.runner import RunResult, Watcher
from harness.runner import run as run_spec


class Quiet:
    """Watches a run without showing anything. Refuses to send a data folder's texts away unless told that it may."""

    def __init__(self, *, may_send: bool = False) -> None:
        self._may_send = may_send

    def consent(self, host: str, texts: int) -> None:
        if not self._may_send:
            raise UsageError(f"{texts} texts of your data folder would be sent to {host}; pass may_send=True if they may be")

    def planned(self, identity: JudgeIdentity, wanted: Estimate, stored: int) -> None:
        """Shows nothing."""

    def progress(self, identity: JudgeIdentity) -> Callable[[Any], None]:
        return lambda state: None

    def finished(self, identity: JudgeIdentity) -> None:
        """Shows nothing."""


def run(
    spec: RunSpec, out: Path | str = "results", *, watcher: Watcher | None = None, concurrency: int | None = None, may_send: bool = False
) -> RunResult:
    """Ask what is not yet answered and read the run from the store: what `harness run` does.

    Args:
        spec: what to judge, by whom, how.
        out: the results folder; the same spec in the same folder is the same run.
        watcher: told about plan and progress; by default nobody.
        concurrency: calls in flight; by default what each judge likes.
        may_send: whether texts of a data folder may go to an endpoint that is not on this machine.

    Raises:
        UsageError, ContentError, JudgeError, StoreError; IncompleteRun (with `result`) when calls are left without an answer.
    """
    return run_spec(spec, Path(out), watcher or Quiet(may_send=may_send), concurrency)


def report(result: RunResult) -> analyse.Report:
    """The numbers of a run: verdicts, cells that pool tasks, cells by task. Asks nobody; equal stores give equal reports."""
    library, protocol = result.prepared.library, result.protocol
    packs = library.pack_files
    unreviewed = [tag for tag in protocol.languages if not protocol.data and tag in packs and not library.pack(tag).reviewed_by]
    return analyse.report(
        result.name, protocol, result.judgments, result.prepared.data, result.prepared.training, unreviewed, result.missing
    )


def load(folder: Path | str) -> Dataset:
    """Items and labels of a data folder. Raises UsageError when it is none, ContentError with `file:line` for what is wrong in it."""
    return load_folder(Path(folder), Library())
