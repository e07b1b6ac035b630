"""Open decision models that are published inside Python packages, with what a reader of their verdicts should know."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

KIND = "decider"


class PackagedDecider(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decision model that is published inside a Python package."""

    title: str
    note: str
    package: str
    version: str
    file: str
    sha256: str
    licence: str


@cache
def catalogue() -> dict[str, PackagedDecider]:
    """Return the packaged decision models by name."""
    return msgspec.toml.decode(Path(__file__).with_name("models.toml").read_bytes(), type=dict[str, PackagedDecider])


def note_of(judge: str) -> str:
    """Return what a reader of a judge's verdicts should know of it, as a clause after its name; empty if nothing is known.

    >>> note_of("decider/sparrow-nano").startswith("is a toy"), note_of("openai/gpt-4o")
    (True, '')
    """
    kind, _, name = judge.partition("/")
    model = catalogue().get(name) if kind == KIND else None
    return f"is {model.note}" if model else ""
