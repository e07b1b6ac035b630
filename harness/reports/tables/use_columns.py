"""The columns of corrected numbers and of automatic acceptance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.reports.tables.column import COUNT, SHARE, TEXT, Column, Row, TableName
from harness.reports.tables.numbers import UNDEFINED, difference, percent, rounded_up, signed

_CORRECTED = frozenset({TableName.CORRECTED})
_ACCEPTANCE = frozenset({TableName.ACCEPTANCE})


def estimate_text(name: str) -> Callable[[Row], str]:
    """Writes one of three estimates: a share in percent, a difference of shares in percentage points, a mean in points of its scale."""

    def text(row: Row) -> str:
        value, ci = row[name]["value"], row[name]["ci"]
        if row["quantity"] == "share":
            return difference(value, ci) if row["versus"] is not None else percent(value, ci)
        return _points_of_scale(value, ci, signed=row["versus"] is not None)

    return text


def _points_of_scale(value: float | None, ci: Any, *, signed: bool) -> str:
    if value is None:
        return UNDEFINED
    sign = "+" if signed else ""
    ends = f" [{ci[0]:{sign}.2f} to {ci[1]:{sign}.2f}]" if ci else ""
    return f"{value:{sign}.2f}{ends}"


def _reason(row: Row) -> str:
    reasons = [row[name]["reason"] for name in ("corrected", "labels_alone", "judge_alone")]
    return next((reason for reason in reasons if reason), "")


def _saved(row: Row) -> str:
    return UNDEFINED if row["labels_saved"] is None else signed(row["labels_saved"])


def _borrowed(row: Row) -> str:
    if row.get("borrowed") is None:
        return ""
    return row["borrowed"]["reason"] or f"~ {estimate_text('borrowed')(row)}"


CORRECTED_COLUMNS: tuple[Column, ...] = (
    Column("n", "labelled", COUNT, "texts with a label; of a paired difference, pairs", _CORRECTED),
    Column("unlabelled", "judged only", COUNT, "texts that only the judge scored", _CORRECTED),
    Column(
        "judge_alone",
        "judge alone [95 %]",
        TEXT,
        "the mean of the judge's scores; its bias is unknown and not in the interval",
        _CORRECTED,
        text=estimate_text("judge_alone"),
    ),
    Column("labels_alone", "labels alone [95 %]", TEXT, "the mean of the labels", _CORRECTED, text=estimate_text("labels_alone")),
    Column(
        "corrected",
        "corrected [95 %]",
        TEXT,
        "the judge's scores of all texts, corrected by the labels",
        _CORRECTED,
        text=estimate_text("corrected"),
    ),
    Column(
        "borrowed",
        "with the other languages [95 %]",
        TEXT,
        "marked ~: shrunk towards the judge's error in the other languages; it holds on average over languages",
        _CORRECTED,
        text=_borrowed,
    ),
    Column(
        "effective_labels",
        "effective labels",
        COUNT,
        "the number of labels that would be as precise without the judge",
        _CORRECTED,
        value=lambda row: None if row["effective_labels"] is None else round(row["effective_labels"]),
    ),
    Column("labels_saved", "labels saved", TEXT, "effective labels minus labels", _CORRECTED, text=_saved),
    Column("reason", "why not", TEXT, "why there is no corrected number, or why it is weak", _CORRECTED, text=_reason),
)

ACCEPTANCE_COLUMNS: tuple[Column, ...] = (
    Column("confidence", "confidence", TEXT, "what the confidence of an answer is read from", _ACCEPTANCE),
    Column(
        "threshold",
        "accept from",
        TEXT,
        "the lowest confidence at which agreement with people is certified",
        _ACCEPTANCE,
        text=lambda row: "nothing certified" if row["threshold"] is None else rounded_up(row["threshold"]),
    ),
    Column("coverage", "accepted", SHARE, "the share of labelled texts at or above this confidence", _ACCEPTANCE),
    Column("agreement", "agreement", SHARE, "how often the accepted answers give people's commonest label", _ACCEPTANCE),
    Column("agreement_lower", "at least", SHARE, "the agreement that is guaranteed with probability 1 - delta", _ACCEPTANCE),
    Column("n", "labelled", COUNT, "labelled texts that the guarantee is about", _ACCEPTANCE),
    Column(
        "left_out_share",
        "left out",
        SHARE,
        "the share of labelled texts without a commonest label, of which the guarantee says nothing",
        _ACCEPTANCE,
    ),
    Column("reason", "why not", TEXT, "why nothing is certified", _ACCEPTANCE, text=lambda row: row["reason"] or ""),
)
