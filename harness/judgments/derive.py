"""A reply becomes judgments: one for each metric of its ask, in the item's own frame. Re-reading never asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from harness.model import Ask, Failure, JudgeIdentity, Judgment, Reply, Scale
from harness.parse import Reading, entropy, expected_score, read_reply, score_probabilities
from harness.parse.language import is_loaded, language_of

_MOST = 1 << 15  # languages told early that are kept
_TOGETHER = 64  # the identifier's tables are large: texts that are told one by one between other things cost much more each
_early: dict[str, str] = {}
_untold: list[str] = []
_spoken = lru_cache(maxsize=1 << 12)(language_of)  # judges repeat themselves


def read(ask: Ask, reply: Reply, scales: Mapping[str, Scale]) -> dict[str, Reading]:
    """What a reply says about each metric of an ask. A call that the endpoint refused has no score: `missing`, or `refused`."""
    return read_reply(
        reply.text,
        {metric: scales[metric] for metric in ask.metrics},
        joint=ask.condition.variant.call == "joint",
        finish_reason=reply.finish_reason,
        refusal=reply.refusal,
    )


def failures(ask: Ask, reply: Reply, scales: Mapping[str, Scale]) -> list[Failure]:
    """Why metrics of the ask have no score; empty where all have one."""
    return [Failure(reading.failure) for reading in read(ask, reply, scales).values() if reading.failure is not None]


def look_at(ask: Ask, reply: Reply, scales: Mapping[str, Scale]) -> int:
    """How many metrics of the ask have no score. While others are waited for, languages are told that `derive` will ask for again."""
    readings = read(ask, reply, scales).values()
    if len(_early) + len(_untold) < _MOST:
        _untold.extend(reading.justification for reading in readings if reading.justification)
    if len(_untold) >= _TOGETHER and is_loaded():
        _early.update((justification, _spoken(justification)) for justification in _untold)
        _untold.clear()
    return sum(reading.failure is not None for reading in readings)


def derive(
    ask: Ask,
    reply: Reply,
    call_id: str,
    identity: JudgeIdentity,
    scales: Mapping[str, Scale],
    asked_language: str = "en",
    *,
    tell: bool = True,
) -> Iterator[Judgment]:
    """The judgments of one reply, in the order in which the ask names its metrics; `tell`: also the languages of their justifications."""
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
            asked_language=asked_language,
            told_language=(_early.get(reading.justification) or _spoken(reading.justification)) if tell and reading.justification else None,
        )
