"""Rows and values of a release in a data folder: the same number, text and name on every machine."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from typing import Any, TypeVar

from harness.published.raw import Row

Id = TypeVar("Id", int, str)


def label(item_id: str, annotator_id: str, metric: str, score: Any, **more: Any) -> Row:
    """A row of `labels`, with its keys in their order; `more` keys stand behind them."""
    return {"item_id": item_id, "annotator_id": annotator_id, "metric": metric, "score": score, **more}


def judgment(item_id: str, judge: str, variant: str, metric: str, score: Any, **more: Any) -> Row:
    """A row of `judgments`, with its keys in their order; `more` keys stand behind them."""
    return {"item_id": item_id, "judge": judge, "variant": variant, "metric": metric, "score": score, **more}


def whole(number: float) -> int | float:
    """The number, as an integer if it is whole, so that it is written without a decimal point.

    >>> whole(4.0), whole(2.5), whole(-0.0)
    (4, 2.5, 0)
    """
    return int(number) if math.isfinite(number) and number == int(number) else number


def rounded(number: float, digits: int) -> int | float:
    """The number with at most `digits` decimals; an integer if it is whole.

    >>> rounded(4.6666666666667, 6), rounded(3.0000000001, 6)
    (4.666667, 3)
    """
    return whole(round(number, digits))


def nfc(text: str) -> str:
    """The text in Unicode's composed form. Nothing else changes."""
    return unicodedata.normalize("NFC", text)


def numbered(ids: Iterable[Id], prefix: str, digits: int = 1) -> dict[Id, str]:
    """Names for annotators whose ids are not to be passed on: `prefix` and the id's place, from 1, in the order of first appearance.

    >>> numbered(["B7", "A1", "B7"], "de-w", digits=2)
    {'B7': 'de-w01', 'A1': 'de-w02'}
    """
    return {one: f"{prefix}{number:0{digits}d}" for number, one in enumerate(dict.fromkeys(ids), start=1)}
