"""The run or data folder whose judgments a command uses, as `@judged` and `@restrictions` name it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness import sources
from harness.errors import UsageError
from harness.measure.options import CompareOptions, Rule

if TYPE_CHECKING:
    from harness.correction.certify import JudgedRun
    from harness.measure.compare import Recording
    from harness.runs import RunResult


def opened_source(arguments: Any) -> sources.OpenedSource:
    """The source that `source`, `--card` and `--out` name."""
    return sources.open_sources([arguments.source], arguments.card, arguments.out)[0]


def asked_source(arguments: Any) -> tuple[Recording, JudgedRun | None]:
    """The judgments of the source, and how they were asked where it is a run."""
    source = opened_source(arguments)
    return source.recording, judged_run(source.run)


def judged_run(run: RunResult | None) -> JudgedRun | None:
    """What a certificate says of a run."""
    from harness.correction.certify import JudgedRun

    return JudgedRun(run.protocol, run.prepared.library) if run else None


def compare_options(arguments: Any, **more: Any) -> CompareOptions:
    """Which judgments and labels count: the flags of `@restrictions`, `--judge`, `--majority`, and `more` of `sources.compare_options`."""
    where = restrictions(arguments.where, arguments.langs)
    majority: Rule = getattr(arguments, "majority", "drop")
    return sources.compare_options(arguments.judge, arguments.annotators, where, majority=majority, **more)


def restrictions(texts: Sequence[str], langs: Sequence[str] | None = None) -> dict[str, tuple[str, ...]]:
    """What `--where` and `--langs` say: values by name. Raises UsageError for a text without a name or a value."""
    values: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, value = key_and_value(text, "--where language=ja,cs")
        values[name] = values.get(name, ()) + tuple(value.split(","))
    return sources.restricted(values, langs)


def key_and_value(text: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise UsageError(f"'{text}' must be a name, '=' and a value, such as {example}")
    return name, value
