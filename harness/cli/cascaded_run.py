"""`harness run --cascade`: the judges of a certificate, each about what those before it left."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from harness.cli.dry_run import spending
from harness.correction.cascade_certificate import CascadeCertificate, load
from harness.correction.cascade_run import CascadedRun, refuse_changed, run_cascade, step_spec
from harness.engines import Settings
from harness.errors import UsageError
from harness.options import flag_name
from harness.render.improvement import print_cascaded
from harness.render.progress import TerminalWatcher
from harness.row_files import to_json, write_atomic
from harness.runs import RunSpec, estimate_cost, open_judges, planned_calls, prepare, price_for_engine

_FROM_CERTIFICATE = ("judges", "variants", "temperatures", "top_ps", "repeats", "perturbations", "study")
"""What the certificate says."""


def run_cascaded(arguments: Any, spec: RunSpec, settings: Settings) -> int:
    """Ask the chain and write who answers each text."""
    usual = RunSpec()
    if given := [field for field in _FROM_CERTIFICATE if getattr(spec, field) != getattr(usual, field)]:
        flags = ", ".join(flag_name(RunSpec, field) for field in given)
        raise UsageError(f"the certificate of the cascade says whom to ask, and how; leave out {flags}")
    held = load(arguments.cascade)
    if arguments.dry_run:
        return _dry_run(held, spec, settings)
    found = run_cascade(spec, held, arguments.out, TerminalWatcher(assume_yes=arguments.yes), settings)
    path = _write(found, arguments.out)
    if arguments.json:
        sys.stdout.write(to_json(found))
    else:
        print_cascaded(found)
    print(f"answers: {path}", file=sys.stderr)
    return 0


def _dry_run(held: CascadeCertificate, spec: RunSpec, settings: Settings) -> int:
    """What each judge would be asked: the share of the texts that reaches it, as certified in the mean of languages and metrics."""
    for place, step in enumerate(held.steps):
        each = step_spec(spec, step)
        ready = prepare(each)
        refuse_changed(held, step, ready, each)
        [judge] = open_judges(each, ready)
        [calls] = planned_calls(ready, [judge]).values()
        share = sum(cell.chain.steps[place].asked for cell in held.cells) / len(held.cells)
        part = estimate_cost(calls, price_for_engine(judge.identity, settings)).times(share)
        words = f" ({100 * share:.0f} % of the questions, as certified)" if place else ""
        print(f"{spending({'judge': step.judge.name, **msgspec.structs.asdict(part)})}{words}")
    return 0


def _write(found: CascadedRun, out: Path) -> Path:
    """Write the answers beside the run of the first judge that was asked."""
    first = next(step.run for step in found.steps if step.run is not None)
    path = out / "runs" / first / "cascade.jsonl"
    write_atomic(path, b"".join(msgspec.json.encode(answer) + b"\n" for answer in found.answers), private=True)
    return path
