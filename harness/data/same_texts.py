"""Items that are the same text under other ids: what a judge reads of them is equal.

Copies of a text say the same twice. They belong to one cluster, whatever group the data name.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterator, Sequence

import msgspec
import numpy as np

from harness.model import Item
from harness.offensive_texts import looks_like_text
from harness.text import normalised

_BESIDE = ("system_prompt", "prompt", "instruction", "query", "context", "passage", "source", "original", "left", "right")
"""Texts that stand beside the judged ones. Without a judged text they are no text: a release may leave its texts out."""
_USUAL = ("text", "content", "sentence", "answer", "response", "summary", "translation", "completion", "message", "story")
_REMARKS = ("comment", "comments", "explanation", "justification", "note", "notes", "reason", "remark", "remarks")
_NOT_READ = (*_REMARKS, "reference", "stratum", "target")
"""Texts that no judge reads: a copy with another reference is a copy."""
_SHORTEST_TEXT = 20
"""Characters of a text under a name that says nothing; half as many in other scripts. What is shorter may be the name of a class."""

Text = tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]
"""The language, the judged texts, and what stands beside them under their names."""


def text_key(item: Item, outputs: Sequence[str]) -> str | None:
    """Return a short hash of what a judge reads of an item, which equal texts share; None where its judged text is not there, as where
    "…" stands for it. `outputs` are the names of the judged texts.
    """
    text = read_text(item, outputs)
    return None if text is None else hashlib.sha256(msgspec.json.encode(text)).hexdigest()[:16]


def read_text(item: Item, outputs: Sequence[str]) -> Text | None:
    """Return what a judge reads of an item: None where its judged text is not there.

    Texts are compared in NFC and without regard to blanks and invisible characters. A pair in the other order is the same pair. An item
    without texts under the names of `outputs` is read under any name but those of remarks.

    >>> read_text(Item("a", "cs", "t", fields={"output": "Malý  dům.", "note": "a copy"}), ("output",))
    ('cs', ('Malý dům.',), ())
    """
    texts = {name: value for name, value in item.fields.items() if isinstance(value, str) and _is_read(name, value, outputs)}
    judged = [texts.pop(name) for name in outputs if name in texts]
    to_judge = judged or [value for name, value in texts.items() if name not in _BESIDE]
    if not any(any(map(str.isalnum, text)) for text in to_judge):
        return None
    return item.language, tuple(sorted(map(normalised, judged))), tuple((name, normalised(texts[name])) for name in sorted(texts))


def _is_read(name: str, value: str, outputs: Sequence[str]) -> bool:
    if name in outputs or name in _BESIDE or name in _USUAL:
        return bool(value)
    is_long = len(value) >= (_SHORTEST_TEXT if value.isascii() else _SHORTEST_TEXT // 2)
    return is_long and name not in _NOT_READ and not name.endswith(("_id", "_language")) and looks_like_text(value)


def first_copies(items: Sequence[Item], outputs: Callable[[Item], Sequence[str]]) -> Iterator[tuple[int, int]]:
    """Yield the position of each item whose text an earlier item has, with the position of the first such item.

    Items without texts are copies where only the case of their ids differs, or blanks and characters that nobody sees.
    """

    def key(item: Item) -> object:
        return read_text(item, outputs(item)) or (item.language, folded_id(item.item_id))

    codes = np.fromiter((hash(key(item)) for item in items), np.int64, len(items))  # a million keys would take a gigabyte
    different, counts = np.unique(codes, return_counts=True)
    first = dict[object, int]()
    for position in np.flatnonzero(np.isin(codes, different[counts > 1])).tolist():
        if (earlier := first.setdefault(key(items[position]), position)) != position:
            yield position, earlier


def folded_id(item_id: str) -> str:
    """Return an id without what readers do not see: case, blanks, and characters without ink.

    >>> folded_id("Text\u200b 1 ")
    'text1'
    """
    if item_id.isascii():
        return "".join(item_id.split()).casefold()
    text = unicodedata.normalize("NFC", item_id)
    return "".join(c for c in text if not c.isspace() and unicodedata.category(c) not in ("Cf", "Cc")).casefold()
