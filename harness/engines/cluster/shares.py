"""Dividing what a judge may be asked over workers, so that together they keep to it."""

from __future__ import annotations

import msgspec

from harness.engines.work import Settings, for_judge


def shares(settings: Settings, judge: str, workers: int) -> list[Settings]:
    """For each of the workers that ask the judge, at most `workers` of them, how it does so.

    Calls in flight are whole, so there are no more workers than these; nor more than requests a minute, as each begins with one. What a
    judge likes to have in flight by itself (a local model one call) holds for each worker.

    >>> [one.concurrency[""] for one in shares(Settings(concurrency={"": 8}), "openai/m", 3)]
    [3, 3, 2]
    """
    concurrency, rpm, tpm = for_judge(settings.concurrency, judge), for_judge(settings.rpm, judge), for_judge(settings.tpm, judge)
    count = max(1, min(workers, concurrency or workers, int(rpm or workers)))
    return [
        msgspec.structs.replace(
            settings,
            concurrency={"": (concurrency + count - 1 - place) // count} if concurrency else {},
            rpm={"": rpm / count} if rpm else {},
            tpm={"": tpm / count} if tpm else {},
        )
        for place in range(count)
    ]
