"""The files of scores that can be read: one row a kind, and the module that knows it.

To add an importer: write a module with a `Reader` of its kind in `READERS`, and name it here. Where no kind is given, the first kind that
recognises a file reads it, and `records` reads the rest. No reader is loaded before a file is read: the command line lists the kinds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.exchange.scores.external_scores import Reader

MODULES = {
    "inspect": "inspect_log",
    "promptfoo": "promptfoo",
    "lm-eval": "evaluation_harnesses",
    "decisions": "recorded_requests",  # before batches: a line of theirs has a response too
    "openai-batch": "recorded_requests",
    "anthropic-batch": "recorded_requests",
    "gemini-batch": "recorded_requests",
    "fastchat-pair": "evaluation_harnesses",
    "records": "score_records",
    "label-studio": "annotation_tools",
    "argilla": "annotation_tools",
}
SCORE_KINDS = tuple(MODULES)
OTHERS = "records"


def reader_of(kind: str) -> Reader:
    """Return the reader of files of this kind, one of `SCORE_KINDS`."""
    reader: Reader = import_module(f"harness.exchange.scores.{MODULES[kind]}").READERS[kind]
    return reader
