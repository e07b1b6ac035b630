"""Replies become judgments: one row for each metric of each ask, in the item's own frame. Re-reading never asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from harness.model import Ask, Failure, JudgeIdentity, Judgment, Reply, Scale
from harness.parse import Reading, read_reply
from harness.plan import Plan

PARQUET_COLUMNS = {
    "item_id": "string",
    "language": "string",
    "task": "string",
    "metric": "string",
    "judge": "string",
    "variant": "string",
    "temperature": "double",
    "repeat": "int64",
    "score": "string",
    "failure": "string",
    "raw_choice": "string",
    "justification": "string",
    "call_id": "string",
}


def read(ask: Ask, reply: Reply, scales: Mapping[str, Scale]) -> dict[str, Reading]:
    """What a reply says about each metric of an ask. A call that the endpoint refused has no score: `missing`, or `refused`."""
    return read_reply(
        reply.text,
        {metric: scales[metric] for metric in ask.metrics},
        joint=ask.condition.variant.call == "joint",
        finish_reason=reply.finish_reason,
        refusal=reply.refusal,
    )


def is_readable(ask: Ask, reply: Reply, scales: Mapping[str, Scale]) -> bool:
    """Whether every metric of the ask has a score."""
    return all(reading.failure is None for reading in read(ask, reply, scales).values())


def derive(plan: Plan, identity: JudgeIdentity, replies: Mapping[str, Reply], scales: Mapping[str, Scale]) -> Iterator[Judgment]:
    """Judgments of one judge in the plan's order. Asks without a reply are not among them: they were not answered."""
    for ask, call_id in zip(plan.asks, plan.call_ids(identity), strict=True):
        reply = replies.get(call_id)
        if reply is None:
            continue
        for metric, reading in read(ask, reply, scales).items():
            yield Judgment(
                item_id=ask.item.item_id,
                language=ask.item.language,
                task=ask.item.task,
                metric=metric,
                judge=identity.name,
                variant=str(ask.condition.variant),
                temperature=ask.condition.temperature,
                repeat=ask.repeat,
                score=reading.score,
                failure=Failure(reading.failure) if reading.failure else None,
                raw_choice=reading.raw_choice,
                justification=reading.justification,
                call_id=call_id,
            )


def rows(judgments: Sequence[Judgment]) -> list[dict[str, Any]]:
    """Judgments as rows for a table; scores are text there, as metrics may have classes that are words."""
    return [
        msgspec.structs.asdict(j) | {"score": None if j.score is None else str(j.score), "failure": j.failure and j.failure.value}
        for j in judgments
    ]
