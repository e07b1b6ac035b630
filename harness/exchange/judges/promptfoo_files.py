"""The files that carry a judge into promptfoo: a python assertion, and the test settings that use it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import UsageError
from harness.exchange.judges.instrument import Instrument
from harness.exchange.judges.promptfoo_judge import AssertionConfig
from harness.judges import open_judge, traits_of
from harness.model import Scale
from harness.row_files import escape_controls, write_together

SCRIPT, SETTINGS = "harness_judge.py", "harness_judge.yaml"
_SCRIPT = '''\
"""A judge as a python assertion of promptfoo. PROMPTFOO_PYTHON has to be a Python in which judge-harness is installed."""

from pathlib import Path

from harness.exchange.judges import promptfoo_judge


def get_assert(output, context):
    return promptfoo_judge.get_assert(output, context, Path(__file__).resolve().parent)
'''
_HEADING = f"""\
# Test settings of promptfoo: write `defaultTest: file://{SETTINGS}` into promptfooconfig.yaml, or copy the assertions.
# Scores are on the metric's own scale; a `threshold` is the lowest score that passes.
"""


def write_promptfoo_judge(folder: Path, configs: Sequence[AssertionConfig]) -> list[Path]:
    """Write the assertion's script and settings with one assertion for each of `configs`; returns the paths.

    Raises UsageError for a judge or a question that cannot be asked, and if one of the files exists.
    """
    assertions = [_write_assertion(config, folder) for config in configs]
    paths = [folder / SCRIPT, folder / SETTINGS]
    if existing := next((path for path in paths if path.exists()), None):
        raise UsageError(f"{existing} exists; remove it, or choose another folder with --to")
    write_together(dict(zip(paths, (_SCRIPT, _HEADING + "assert:\n" + "".join(assertions)), strict=True)))
    return paths


def _write_assertion(config: AssertionConfig, folder: Path) -> str:
    """One assertion in YAML; its values are JSON, which is YAML too. Its paths are relative to the folder of the script."""
    instrument = Instrument(config.instrument)
    if traits_of(config.judge).is_baseline:
        raise UsageError(f"'{config.judge}' learns from the labels of a run, which promptfoo does not have; choose a model")
    open_judge(config.judge, config.judge_options(dict.fromkeys(config.headers.values(), "")))  # a wrong name is refused now
    paths = {name: path and os.path.relpath(path, folder) for name, path in (("prompt", config.prompt), ("content", config.content))}
    written = msgspec.to_builtins(config) | paths
    settings = {name: value for name, value in written.items() if value != _DEFAULTS[name]}
    lines = [
        "  - type: python",
        f"    metric: {_write_value(instrument.metric)}",
        f"    value: file://{SCRIPT}",
        *_write_threshold(instrument.scale),
        "    config:",
        *(f"      {name}: {_write_value(value)}" for name, value in settings.items()),
    ]
    return "\n".join(lines) + "\n"


def _write_threshold(scale: Scale) -> list[str]:
    """The lowest score that passes: the best one. promptfoo has none for scales on which lower is better; a word counts 1 if it is best."""
    if isinstance(scale.best, str):
        return ["    threshold: 1"]
    numbers = [score for score in scale.classes if isinstance(score, int)]
    highest = scale.max if scale.kind == "interval" else max(numbers, default=None)
    return [f"    threshold: {_write_value(scale.best)}"] if scale.best is not None and scale.best == highest else []


_DEFAULTS = msgspec.to_builtins(AssertionConfig(judge="", language=""))


def _write_value(value: Any) -> str:
    return escape_controls(msgspec.json.encode(value).decode())
