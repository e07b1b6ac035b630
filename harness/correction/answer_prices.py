"""Prices of 1,000 answers of a judge: as the user says, as its run was charged, or by list prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from harness.correction.cell_results import judged_rows
from harness.errors import UsageError
from harness.judges import traits_of
from harness.measure.compare import Recording
from harness.model import JudgeCondition
from harness.runs import RunResult, estimate_text_usage, price_by_name, price_of

STATED, CHARGED, LISTED, FREE = "stated", "charged in the run", "list price of the texts' tokens, without instructions", "free"


class AnswerPrice(msgspec.Struct, frozen=True):
    """US dollars for a judge's answers to 1,000 texts on one metric, its repeats included; `source` says how they are known."""

    dollars: float
    source: str


def answer_prices(
    source: Recording,
    conditions: Sequence[JudgeCondition],
    run: RunResult | None,
    stated: Mapping[str, float],
    price_file: Path | None = None,
) -> dict[str, AnswerPrice]:
    """Return the prices of judges, by name, each for its one of the `conditions`; a judge whose price is unknown is left out.

    The price that the user `stated` (US dollars for 1,000 texts) comes first, then what the `run` was charged, then list prices, to which
    `price_file` adds the user's (`price_of`). Raises UsageError for prices of other judges, ContentError if the file cannot be read.
    """
    names = [condition.judge for condition in conditions]
    for name in stated:
        if name not in names:
            raise UsageError(f"--price names '{name}', which is no judge of the cascade; its judges: {', '.join(names)}")
    prices = {}
    for condition in conditions:
        name = condition.judge
        if name in stated:
            prices[name] = AnswerPrice(stated[name], STATED)
        elif price := _charged_price(run, name, price_file) or _list_price(source, name, price_file):
            prices[name] = AnswerPrice(price.dollars * _repeats(source, condition), price.source)
    return prices


def _charged_price(run: RunResult | None, judge: str, price_file: Path | None) -> AnswerPrice | None:
    identity = next((identity for identity in run.protocol.judges.identities if identity.name == judge), None) if run else None
    price = price_of(identity, price_file) if identity else None
    if run is None or price is None or not (spent := run.answers.spent.get(judge)):
        return None
    answers = int(run.judgments.judge.equals(judge).sum())
    dollars = sum(
        price.cost(spending.usage) - price.cost(spending.batched) + price.in_batch().cost(spending.batched) for spending in spent.values()
    )
    return AnswerPrice(1000 * dollars / answers, FREE if traits_of(judge).is_free else CHARGED) if answers else None


def _list_price(source: Recording, judge: str, price_file: Path | None) -> AnswerPrice | None:
    """Return the price by list, for a judge that is named after its model; the tokens are those of the texts and of a short answer."""
    if traits_of(judge).is_free:
        return AnswerPrice(0.0, FREE)
    price = price_by_name(judge, price_file)
    if price is None:
        return None
    texts = [" ".join(field for field in item.fields.values() if isinstance(field, str)) for item in source.data.items]
    return AnswerPrice(1000 * float(np.mean([price.cost(estimate_text_usage(text)) for text in texts])), LISTED)


def _repeats(source: Recording, condition: JudgeCondition) -> float:
    rows = judged_rows(source, condition)
    questions = len(set(zip(rows.item.codes.tolist(), rows.metric.codes.tolist(), strict=True)))
    return len(rows) / questions if questions else 1.0
