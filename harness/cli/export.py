"""`harness export`: a judge or its scores in the form of another program."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from harness import api
from harness.errors import UsageError
from harness.render.numbers import counted
from harness.text import terminal_safe

if TYPE_CHECKING:
    from harness.interop.inspect_scores import Reasons
    from harness.runs import RunResult


def promptfoo_judge(arguments: argparse.Namespace) -> int:
    from harness.interop.promptfoo_files import write_promptfoo_judge
    from harness.interop.promptfoo_judge import AssertionConfig

    if bool(arguments.metrics) == bool(arguments.prompt):
        raise UsageError("name the metrics with --metric, or a prompt of your own with --prompt")
    same_name = ("judge", "language", "task", "variant", "temperature", "allow_unreviewed", "base_url")
    shared = {name: getattr(arguments, name) for name in same_name}
    if len(arguments.content) > 1:
        raise UsageError("an assertion has one content folder; put tasks and rubrics together")
    shared["content"] = str(arguments.content[0]) if arguments.content else None
    prompt = str(arguments.prompt) if arguments.prompt else None
    configs = [AssertionConfig(**shared, metric=metric, prompt=prompt) for metric in arguments.metrics or (None,)]
    for path in write_promptfoo_judge(arguments.to, configs):
        print(terminal_safe(str(path)))
    return 0


def inspect_scores(arguments: argparse.Namespace) -> int:
    from harness.interop.inspect_scores import ScoreChoice
    from harness.interop.inspect_scores import inspect_scores as score_lines
    from harness.tables import write_atomic

    if arguments.to.suffix != ".jsonl":
        raise UsageError(f"--to {arguments.to}: Inspect reads JSON lines only from a file whose name ends in .jsonl")
    [source] = api.open_sources([arguments.source], arguments.card, arguments.out)
    signatures = api.gated_source(source.run or source.recording.data, None, arguments.out).signatures
    choice = ScoreChoice(arguments.judge, arguments.metric, arguments.variant, arguments.temperature, arguments.top_p)
    lines = list(
        score_lines(
            source.recording.judgments,
            choice,
            lambda judge: signatures.get(judge) or signatures[""],
            _reasons_of(source.run) if source.run else None,
        )
    )
    write_atomic(arguments.to, lines, private=True)
    print(f"{counted(len(lines), 'score')} written", file=sys.stderr)
    print(terminal_safe(str(arguments.to)))
    return 0


def _reasons_of(run: RunResult) -> Reasons:
    from harness.runs import read_evidence

    return lambda rows: list(read_evidence(run, rows).justification)
