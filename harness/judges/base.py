"""What a judge is: a protocol, the settings it is opened with, and the two ways in which no reply comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec

from harness.judges.allowance import Allowance
from harness.model import Call, JudgeIdentity, Reply

if TYPE_CHECKING:
    from harness.content.dataset import Dataset  # needs numpy, which listing judges should not


class NoReply(Exception):
    """Nothing came back that could be an answer (connection lost, rate limit, server error): asking again may help.

    `retry_after` is the wait in seconds that the endpoint asked for, if it did; `busy` says that it is asked more than it can take
    (429, 503), `down` that it may not be there at all (no connection, no answer in time, a server error).
    """

    def __init__(self, reason: str, retry_after: float | None = None, *, busy: bool = False, down: bool = False) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        self.busy = busy
        self.down = down


class JudgeOptions(msgspec.Struct, frozen=True):
    """What a judge may need to be opened. `training` holds items and labels that baselines may learn from: never those scored."""

    base_url: str | None = None
    environment: Mapping[str, str] = {}
    training: Dataset | None = None
    seed: int = 0
    timeout: float | None = None  # seconds for one attempt; None: what the judge thinks right


@runtime_checkable
class Judge(Protocol):
    """Who answers calls. Opening one costs nothing; `start` is called only if there is something to ask."""

    @property
    def identity(self) -> JudgeIdentity: ...

    @property
    def endpoint(self) -> str | None:
        """The host that texts are sent to; None when they stay on this machine."""

    @property
    def concurrency(self) -> int | None:
        """How many calls this judge likes to have in flight; None: as many as its endpoint bears, which is found out."""

    @property
    def allowance(self) -> Allowance | None:
        """What the endpoint last said that it still takes; None where it says nothing."""

    async def start(self, calls: Iterable[Call]) -> None:
        """Get ready for these calls, which may be gone through more than once. Raises JudgeError with what to do when that cannot be."""

    async def answer(self, call: Call) -> Reply:
        """One attempt. Raises NoReply when asking again may help, FatalReply when every call would end the same way."""

    async def stop(self) -> None: ...


def answer_object(scores: Mapping[str, Any], justification: str | None, joint: bool) -> dict[str, Any]:
    """The JSON object that judges are asked for, as judges that are no models write it."""
    answers = {metric: ({"justification": justification} if justification else {}) | {"score": score} for metric, score in scores.items()}
    return answers if joint else next(iter(answers.values()))
