"""What each worker is given to open and ask the judges: no more than they need, and secrets nowhere else."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.content import Dataset
from harness.engines.cluster.shares import shares
from harness.engines.cluster.turns import Charge
from harness.engines.work import Opening, Settings, Work
from harness.errors import UsageError
from harness.judges.environment import Environment
from harness.judges.local import context_needed
from harness.model import Call

# Of the judges that come with the program it is known what they need; strangers' are given everything.
_LEARN_NOTHING = ("openai", "local", "replay")
_START_UNSEEN = ("openai", "baseline", "replay")


def charges(works: Sequence[Work], settings: Settings, workers: int) -> list[dict[int, Charge]]:
    """For each worker, `{place of a work: its charge}`: a judge may have calls for fewer than all of them."""
    found: list[dict[int, Charge]] = [{} for _ in range(workers)]
    for place, work in enumerate(works):
        identity, opening, foremost = work.judge.identity, _opening(work), _foremost(work)
        for mine, share in zip(found, shares(settings, identity.name, workers), strict=False):
            mine[place] = Charge(identity, opening, share, foremost)
    return [mine for mine in found if mine]


def training(works: Sequence[Work]) -> Dataset | None:
    """What judges among these may learn from; None where none does."""
    return next((w.opening.options.training for w in works if w.opening and _kind(w.opening) not in _LEARN_NOTHING), None)


def _opening(work: Work) -> Opening:
    """How the judge was opened, without its training and with what it has read of the environment."""
    if work.opening is None:
        raise UsageError(f"{work.judge.identity.name} can be asked from this machine only: it is not known how it was opened")
    options = work.opening.options
    environment = options.environment.read if isinstance(options.environment, Environment) else dict(options.environment)
    return Opening(work.opening.name, msgspec.structs.replace(options, training=None, environment=environment))


def _foremost(work: Work) -> tuple[Call, ...]:
    """The call that takes most room stands for all of them: what is there to be known before they come is how large they get."""
    if work.opening and _kind(work.opening) in _START_UNSEEN:
        return ()
    return (max(work.calls, key=context_needed),)


def _kind(opening: Opening) -> str:
    return opening.name.partition("/")[0]
