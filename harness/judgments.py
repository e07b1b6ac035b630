"""Replies become judgments: one row for each metric of each ask, in the item's own frame. Re-reading never asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from harness.model import Ask, Failure, JudgeIdentity, Judgment, Reply, Scale
from harness.parse import Reading, entropy, expected_score, read_reply, score_probabilities
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
    "top_p": "double",
    "perturbation": "string",
    "probs": "string",
    "expected": "double",
    "entropy": "double",
    "asked_language": "string",
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
        joint = ask.condition.variant.call == "joint"
        probs = score_probabilities(reply.tokens, {metric: scales[metric] for metric in ask.metrics}, joint=joint) if reply.tokens else {}
        for metric, reading in read(ask, reply, scales).items():
            own = probs.get(metric)
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
                top_p=ask.condition.top_p,
                perturbation=ask.condition.perturbation,
                probs=own,
                expected=expected_score(own, scales[metric]) if own else None,
                entropy=entropy(own) if own else None,
                asked_language=plan.asked_language(ask),
            )


def rows(judgments: Sequence[Judgment]) -> list[dict[str, Any]]:
    """Judgments as rows for a table; scores are text there, as metrics may have classes that are words."""
    return [
        msgspec.structs.asdict(j)
        | {"score": None if j.score is None else str(j.score), "failure": j.failure and j.failure.value}
        | {"perturbation": j.perturbation or None, "probs": msgspec.json.encode(j.probs).decode() if j.probs else None}
        for j in judgments
    ]
