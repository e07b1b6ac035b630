"""The run or data folder whose judgments a command uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness import sources
from harness.cli.command import value_of

if TYPE_CHECKING:
    from harness.correction.certify import JudgedRun
    from harness.measure.compare import Recording
    from harness.runs import RunResult


def opened_source(arguments: Any) -> sources.OpenedSource:
    """Return the source that `source`, `--card` and `--out` name."""
    return sources.open_sources([arguments.source], value_of(arguments, "card"), arguments.out)[0]


def asked_source(arguments: Any) -> tuple[Recording, JudgedRun | None]:
    """The judgments of the source, and how they were asked where it is a run."""
    source = opened_source(arguments)
    return source.recording, judged_run(source.run)


def judged_run(run: RunResult | None) -> JudgedRun | None:
    """Return the run as a certificate records it."""
    from harness.correction.certify import JudgedRun

    return JudgedRun(run.protocol, run.prepared.library) if run else None
