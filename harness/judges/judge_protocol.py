"""The protocol of a judge, the arguments of its opening, and the errors of a call without a reply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec

from harness.errors import EndpointRefusal
from harness.judges.rate_limit_headers import RateLimitStatus
from harness.model import Call, JudgeIdentity, Reply

if TYPE_CHECKING:
    from harness.data.dataset import Dataset


class NoReply(Exception):
    """The attempt brought no reply (connection lost, rate limit, server error). A further attempt may help.

    `retry_after` is the wait in seconds that the endpoint asked for, if any. `busy`: the endpoint has more requests than it can take
    (429, 503). `down`: the endpoint may not be there at all (no connection, no response in time, a server error).
    """

    def __init__(self, reason: str, retry_after: float | None = None, *, busy: bool = False, down: bool = False) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        self.busy = busy
        self.down = down


class UnexplainedRefusal(EndpointRefusal):
    """The endpoint refused a call and named no reason that is known: it may be about the text, or about every call.

    Where other calls are answered, it is about the text; then `reply` is the reply to the call.
    """

    def __init__(self, reason: str, advice: str, reply: Reply) -> None:
        super().__init__(reason, advice)
        self.reply = reply

    def __reduce__(self) -> tuple[type[UnexplainedRefusal], tuple[str, str, Reply]]:  # type: ignore[override]  # workers of a cluster send it
        return type(self), (self.reason, self.advice, self.reply)


class JudgeOptions(msgspec.Struct, frozen=True):
    """Options for opening a judge. `training` holds items and labels that baselines may learn from: never those that are scored."""

    base_url: str | None = None
    environment: Mapping[str, str] = {}
    training: Dataset | None = None
    seed: int = 0
    timeout: float | None = None  # seconds for one attempt; None: the judge's own default
    headers: Mapping[str, str] = {}  # further headers of requests; their values may be secrets
    body: Mapping[str, Any] = {}  # further fields of requests
    persona: str = ""  # a sentence about who reads the text, before the other words of the system


class Environment(Mapping[str, str]):
    """Environment variables that remember which of them were read: only those have to travel with a judge.

    Iterating over the variables counts as reading all of them.

    >>> environment = Environment({"KEY": "k", "SHELL": "sh"})
    >>> environment.get("KEY"), environment.read
    ('k', {'KEY': 'k'})
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = dict(variables)
        self._read: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self._read.add(name)
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        self._read.update(self._variables)
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    @property
    def read(self) -> dict[str, str]:
        """The variables that were read so far and are set."""
        return {name: value for name, value in self._variables.items() if name in self._read}


@runtime_checkable
class Judge(Protocol):
    """Who answers calls. Opening a judge costs nothing; `start` is called only if there are calls to answer.

    A judge may also have `traits` (see `harness.judges.traits_of`) and `rate_limit_status` (see `rate_limit_status_of`).
    """

    @property
    def identity(self) -> JudgeIdentity: ...

    @property
    def endpoint(self) -> str | None:
        """The host that texts are sent to; None if they stay on this machine."""

    @property
    def concurrency(self) -> int | None:
        """The number of calls that this judge wants in flight; None: adaptive."""

    async def start(self, calls: Iterable[Call]) -> None:
        """Prepare for these calls, which may be iterated more than once. Raises JudgeError with what to do if that is not possible."""

    async def answer(self, call: Call) -> Reply:
        """Make one attempt.

        Raises NoReply when a further attempt may help, FatalReply when every call would fail in the same way, and its subclass
        EndpointRefusal when the endpoint refused this call for a reason that has nothing to do with the item, or, as UnexplainedRefusal,
        for a reason that is not known.
        """

    async def stop(self) -> None: ...


def rate_limit_status_of(judge: Judge) -> RateLimitStatus | None:
    """Return the rate limit that the judge's endpoint last reported; None if it reports none.

    `allowance` is the name that judges of other packages may still use.
    """
    status: RateLimitStatus | None = getattr(judge, "rate_limit_status", None) or getattr(judge, "allowance", None)
    return status


def answer_object(scores: Mapping[str, Any], justification: str | None, joint: bool) -> dict[str, Any]:
    """Return the JSON object that a prompt asks for, for judges that are not models."""
    answers = {metric: ({"justification": justification} if justification else {}) | {"score": score} for metric, score in scores.items()}
    return answers if joint else next(iter(answers.values()))
