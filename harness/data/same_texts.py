"""Which items are the same text under other ids: what a judge reads of them is equal."""

from __future__ import annotations

import hashlib
import unicodedata

import msgspec

from harness.data.dataset import Dataset
from harness.model import Item

_READ = ("system_prompt", "prompt", "instruction", "query", "context", "passage", "source", "original", "left", "right")
"""Texts that stand beside the judged ones; `reference` is not among them: a copy with another reference is a copy."""


def text_key(data: Dataset, item: Item) -> str | None:
    """Return a short hash of what a judge reads of an item, which equal texts share; None where its judged text is not there, as where
    "…" stands for it.

    Texts are compared in NFC and without regard to blanks, and their language belongs to them.
    """
    outputs = data.outputs_of(item)
    if not any(character.isalnum() for name in outputs for character in str(item.fields.get(name) or "")):
        return None
    texts = [(name, item.fields[name]) for name in dict.fromkeys((*_READ, *outputs)) if item.fields.get(name)]
    parts = [(name, " ".join(unicodedata.normalize("NFC", str(text)).split())) for name, text in texts]
    return hashlib.sha256(msgspec.json.encode((item.language, parts))).hexdigest()[:16]
