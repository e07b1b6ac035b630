"""What 1,000 answers of a judge cost: as the user says, as its run was charged, or by list prices."""

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
    """US dollars for what a judge says of 1,000 texts on one metric, its repeats included; `source` says how they are known."""

    dollars: float
    source: str


def answer_prices(
    source: Recording,
    conditions: Sequence[JudgeCondition],
    run: RunResult | None,
    stated: Mapping[str, float],
    own: Path | None = None,
) -> dict[str, AnswerPrice]:
    """The prices of judges, by name, each for its one of the `conditions`; a judge whose price is unknown is left out.

    What the user `stated` (US dollars for 1,000 texts) comes first, then what the `run` was charged, then list prices, for which `own` is a
    file of the user's own prices (`price_of`). Raises UsageError for prices of other judges, ContentError if `own` cannot be read.
    """
    names = [each.judge for each in conditions]
    for name in stated:
        if name not in names:
            raise UsageError(f"--price names '{name}', which is no judge of the cascade; its judges: {', '.join(names)}")
    found = {}
    for condition in conditions:
        name = condition.judge
        price = AnswerPrice(stated[name], STATED) if name in stated else _charged(run, name, own) or _listed(source, name, own)
        if price is not None:
            repeats = 1.0 if price.source == STATED else _repeats(source, condition)
            found[name] = AnswerPrice(price.dollars * repeats, price.source)
    return found


def _charged(run: RunResult | None, judge: str, own: Path | None) -> AnswerPrice | None:
    identity = next((each for each in run.protocol.judges.identities if each.name == judge), None) if run else None
    price = price_of(identity, own) if identity else None
    if run is None or price is None or not (spent := run.answers.spent.get(judge)):
        return None
    answers = int(run.judgments.judge.equals(judge).sum())
    dollars = sum(price.cost(each.usage) - price.cost(each.batched) + price.in_batch().cost(each.batched) for each in spent.values())
    return AnswerPrice(1000 * dollars / answers, FREE if traits_of(judge).is_free else CHARGED) if answers else None


def _listed(source: Recording, judge: str, own: Path | None) -> AnswerPrice | None:
    """By list prices, for a judge that is named after its model; the tokens are those of the texts and of a short answer."""
    if traits_of(judge).is_free:
        return AnswerPrice(0.0, FREE)
    price = price_by_name(judge, own)
    if price is None:
        return None
    texts = [" ".join(each for each in item.fields.values() if isinstance(each, str)) for item in source.data.items]
    return AnswerPrice(1000 * float(np.mean([price.cost(estimate_text_usage(text)) for text in texts])), LISTED)


def _repeats(source: Recording, condition: JudgeCondition) -> float:
    rows = judged_rows(source, condition)
    questions = len(set(zip(rows.item.codes.tolist(), rows.metric.codes.tolist(), strict=True)))
    return len(rows) / questions if questions else 1.0
