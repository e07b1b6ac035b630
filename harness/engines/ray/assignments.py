"""The assignment of each worker: enough to open and ask its judges, and no further secrets."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.data import Dataset
from harness.engines.ray.messages import Assignment
from harness.engines.work import JudgeOpening, JudgeWork, Settings, for_judge
from harness.errors import UsageError
from harness.judges import Environment, traits_of
from harness.judges.local import context_needed


def assign_judges(works: Sequence[JudgeWork], settings: Settings, workers: int) -> list[dict[int, Assignment]]:
    """For each worker, `{index of a work: its assignment}`. A judge with low limits is assigned to some of the workers only."""
    by_worker: list[dict[int, Assignment]] = [{} for _ in range(workers)]
    for index, work in enumerate(works):
        identity, opening = work.judge.identity, _travelling_opening(work)
        # The largest call stands for all of them: a judge that looks at calls before it starts needs to know how large they get.
        start_calls = (max(work.calls, key=context_needed),) if traits_of(work.judge).needs_calls_to_start else ()
        answered = work.answered_call() if work.answered_before else None
        for assigned, share in zip(by_worker, divide_limits(settings, identity.name, workers), strict=False):
            assigned[index] = Assignment(identity, opening, share, start_calls, work.answered_before, answered)
    return [assigned for assigned in by_worker if assigned]


def divide_limits(settings: Settings, judge: str, workers: int) -> list[Settings]:
    """Divide the limits of a judge among at most `workers` workers: the settings of each, which together keep to the limits.

    There are no more workers than calls in flight, which are whole numbers, and no more than requests a minute, because each worker begins
    with one. The number of calls that a judge wants in flight by itself (a local model: one) holds for each worker.

    >>> [one.concurrency[""] for one in divide_limits(Settings(concurrency={"": 8}), "openai/m", 3)]
    [3, 3, 2]
    """
    concurrency, rpm, tpm = for_judge(settings.concurrency, judge), for_judge(settings.rpm, judge), for_judge(settings.tpm, judge)
    count = max(1, min(workers, concurrency or workers, int(rpm or workers)))
    return [
        msgspec.structs.replace(
            settings,
            concurrency={"": (concurrency + count - 1 - index) // count} if concurrency else {},
            rpm={"": rpm / count} if rpm else {},
            tpm={"": tpm / count} if tpm else {},
        )
        for index in range(count)
    ]


def training_data(works: Sequence[JudgeWork]) -> Dataset | None:
    """The data that judges among these learn from; None where no judge learns."""
    return next((work.opening.options.training for work in works if work.opening and traits_of(work.judge).needs_training), None)


def _travelling_opening(work: JudgeWork) -> JudgeOpening:
    """How the judge was opened, without its training data, and with only those environment variables that it has read."""
    if work.opening is None:
        raise UsageError(f"{work.judge.identity.name} can be asked from this machine only: it is not known how it was opened")
    options = work.opening.options
    environment = options.environment.read if isinstance(options.environment, Environment) else dict(options.environment)
    return JudgeOpening(work.opening.name, msgspec.structs.replace(options, training=None, environment=environment))
