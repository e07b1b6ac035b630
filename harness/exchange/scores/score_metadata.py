"""Metadata of our scores in other programs' files, for a later import and a comparison of signatures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.model import Failure, Item, Judgment, column_reader
from harness.signature import QuestionSignature

KEY = "harness"
"""The key of a score's metadata under which it stands."""
Reasons = Callable[[NDArray[np.int64]], list[str | None]]
"""Reads the judge's words for the judgments in some rows."""
_AS_IS = ("metric", "variant", "temperature", "justification")


def about_judgment(judgment: Judgment, signature: QuestionSignature, item: Item) -> dict[str, Any]:
    """The metadata of one judgment of an item, under our key."""
    columns = ("metric", "language", "judge", "variant", "temperature", "score", "failure", "justification", "call_id")
    about = {name: column_reader(name)(judgment) for name in columns}
    return {KEY: about | about_item(item) | {"signature": str(signature)}}


def about_item(item: Item) -> dict[str, Any]:
    """The task and the texts of an item. The texts have our names, so that they fit the task again."""
    return {"language": item.language, "task": item.task, "texts": dict(item.fields)}


def of_ours(metadata: Any) -> dict[str, Any]:
    """The fields of a `ExternalScore` that a score of ours states; empty if another judge made it. Its reply was read by our parser.

    Raises TypeError for a value of another type than ours have.
    """
    about = metadata.get(KEY) if isinstance(metadata, Mapping) else None
    if not isinstance(about, Mapping) or not isinstance(about.get("metric"), str):
        return {}
    texts = [about.get(name) for name in ("judge", "variant", "justification", "failure")]
    own_texts = about.get("texts")
    if not isinstance(own_texts, Mapping) or not all(isinstance(text, str) for text in (about.get("task"), *own_texts.values())):
        raise TypeError("not a score of ours: without its task and texts")
    numbers = [about.get("temperature")] if about.get("temperature") is not None else []
    if not (all(text is None or isinstance(text, str) for text in texts) and all(map(_is_finite, numbers))):
        raise TypeError("not a score of ours")
    failure = about.get("failure")
    is_kind = failure in list(Failure)
    return {
        **{name: about.get(name) for name in _AS_IS},
        "who": about.get("judge"),
        "task": about["task"],
        "texts": dict(own_texts),
        "value": about.get("score"),
        "failure": Failure(str(failure)) if is_kind else Failure.MISSING if about.get("score") is None else None,
    }


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e6
