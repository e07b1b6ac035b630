"""`harness run --cascade`: the judges of a certificate, each about what those before it left."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from harness.asking import Settings
from harness.cli.dry_run import spending
from harness.correction.cascade_certificate import CascadeCertificate, load
from harness.correction.cascade_run import CascadedRun, refuse_changed, run_cascade, step_spec
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
    if stated := [field for field in _FROM_CERTIFICATE if getattr(spec, field) != getattr(usual, field)]:
        flags = ", ".join(flag_name(RunSpec, field) for field in stated)
        raise UsageError(f"the certificate of the cascade says whom to ask, and how; leave out {flags}")
    certificate = load(arguments.cascade)
    if arguments.dry_run:
        return _dry_run(certificate, spec, settings)
    cascaded = run_cascade(spec, certificate, arguments.out, TerminalWatcher(assume_yes=arguments.yes), settings)
    path = _write(cascaded, arguments.out)
    if arguments.json:
        sys.stdout.write(to_json(cascaded))
    else:
        print_cascaded(cascaded)
    print(f"answers: {path}", file=sys.stderr)
    return 0


def _dry_run(certificate: CascadeCertificate, spec: RunSpec, settings: Settings) -> int:
    """Print what each judge would be asked: the share of the texts that reaches it, as certified in the mean of languages and metrics."""
    for index, step in enumerate(certificate.steps):
        spec_of_step = step_spec(spec, step)
        ready = prepare(spec_of_step)
        refuse_changed(certificate, step, ready, spec_of_step)
        [judge] = open_judges(spec_of_step, ready)
        [calls] = planned_calls(ready, [judge]).values()
        share = sum(cell.chain.steps[index].asked for cell in certificate.cells) / len(certificate.cells)
        part = estimate_cost(calls, price_for_engine(judge.identity, settings)).times(share)
        words = f" ({100 * share:.0f} % of the questions, as certified)" if index else ""
        print(f"{spending({'judge': step.judge.name, **msgspec.structs.asdict(part)})}{words}")
    return 0


def _write(cascaded: CascadedRun, out: Path) -> Path:
    """Write the answers beside the run of the first judge that was asked."""
    first = next(step.run for step in cascaded.steps if step.run is not None)
    path = out / "runs" / first / "cascade.jsonl"
    write_atomic(path, b"".join(msgspec.json.encode(answer) + b"\n" for answer in cascaded.answers), private=True)
    return path
