"""Options of asking judges: where they answer, and how fast and for how much they are asked, which changes no number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from harness.errors import UsageError
from harness.options import (
    Count,
    Flag,
    Options,
    PositiveNumber,
    ReadsEach,
    base_url,
    body_field,
    header,
    integer_per_judge,
    number_per_judge,
)

_SPEED = "speed and limits (they change no number)"


@dataclass(frozen=True, kw_only=True)
class Addresses(Options):
    """Say where judges answer, by judge; the empty name stands for all others. One text for `base_url` is the endpoint of all."""

    heading: ClassVar[str] = "endpoint"

    base_url: Annotated[Mapping[str, str], ReadsEach(base_url, dict), Flag(metavar="[JUDGE=]URL")] = field(default_factory=dict)
    """the OpenAI-compatible endpoint of all openai/ judges, or of one (default: from the environment); repeatable"""
    headers: Annotated[Mapping[str, str], ReadsEach(header, dict), Flag("--header", "[JUDGE=]NAME=VALUE")] = field(
        default_factory=dict, repr=False
    )
    """a further header of each request, for a gateway; its value is never recorded, so that later commands need it again; repeatable"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.base_url, str) or self.base_url is None:
            object.__setattr__(self, "base_url", {"": self.base_url} if self.base_url else {})

    def address_of(self, judge: str) -> str | None:
        """Return the endpoint of a judge; None: the one of the environment."""
        return self.base_url.get(judge, self.base_url.get(""))


@dataclass(frozen=True, kw_only=True)
class Endpoints(Addresses):
    """Say where judges answer, and what their requests hold beside the question."""

    heading: ClassVar[str] = Addresses.heading

    body: Annotated[Mapping[str, Any], ReadsEach(body_field, dict), Flag(metavar="[JUDGE=]NAME=VALUE")] = field(default_factory=dict)
    """a further field of each request, such as reasoning_effort=low, or a value in JSON; it is part of the judge's identity; repeatable"""


@dataclass(frozen=True, kw_only=True)
class Prices(Options):
    """Say what tokens cost."""

    heading: ClassVar[str] = _SPEED

    prices: Annotated[Path | None, Flag(metavar="FILE")] = None
    """your own prices (TOML); they take precedence over list prices"""


@dataclass(frozen=True, kw_only=True)
class Limits(Options):
    """Limit what a command may spend; None: no limit."""

    heading: ClassVar[str] = _SPEED

    max_cost: Annotated[PositiveNumber | None, Flag(metavar="DOLLARS")] = None
    """stop before the cost exceeds this"""
    max_calls: Annotated[Count | None, Flag(metavar="N", setting=True)] = None
    """stop after N calls"""
    max_minutes: Annotated[PositiveNumber | None, Flag(metavar="N", setting=True)] = None
    """stop after N minutes"""


@dataclass(frozen=True, kw_only=True)
class Speed(Limits, Prices):
    """Say how fast and for how much judges are asked. None: the default. Values by judge: the empty name stands for all others."""

    heading: ClassVar[str] = _SPEED

    concurrency: Annotated[Mapping[str, int], ReadsEach(integer_per_judge, dict), Flag(metavar="[JUDGE=]N", setting=True)] = field(
        default_factory=dict
    )
    """calls in flight (default: adaptive, grows while latency stays flat); repeatable for several judges"""
    rpm: Annotated[Mapping[str, float], ReadsEach(number_per_judge, dict), Flag(metavar="[JUDGE=]N", setting=True)] = field(
        default_factory=dict
    )
    """at most N requests a minute"""
    tpm: Annotated[Mapping[str, float], ReadsEach(number_per_judge, dict), Flag(metavar="[JUDGE=]N", setting=True)] = field(
        default_factory=dict
    )
    """at most N tokens a minute"""
    attempts: Annotated[Count | None, Flag(metavar="N", setting=True)] = None
    """attempts before a call is given up (default: 8)"""
    timeout: Annotated[PositiveNumber | None, Flag(metavar="SECONDS", setting=True)] = None
    """time limit of one attempt (default: 120)"""


@dataclass(frozen=True, kw_only=True)
class Settings(Speed):
    """Say how judges are asked: by which engine, how fast and for how much. Nothing here changes a result."""

    heading: ClassVar[str] = _SPEED

    engine: Annotated[Literal["local", "batch", "ray"], Flag()] = "local"
    """local: ask from this machine (default); batch: the provider's batches, within a day at half the price; ray: a Ray cluster"""
    detach: Annotated[bool, Flag(setting=True)] = False
    """with --engine batch: submit the batches and do not wait"""
    collect: bool = False
    """fetch batches that have ended, and submit none"""
    ray_address: Annotated[str | None, Flag(metavar="ADDRESS", setting=True)] = None
    """address of the cluster: auto, HOST:PORT, or local to start one (default: auto)"""
    ray_actors: Annotated[Count | None, Flag(metavar="N", setting=True)] = None
    """number of actors, with one CPU each (default: one for each node)"""
    fresh: Annotated[bool, Flag(group="how to ask")] = False
    """ask every call again, even if it has an answer; the last reply counts, and all are kept"""
    shared_budget: Any = None
    """the `Budget` that several runs of one command use together; without it, a run has a budget of its own"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.detach and self.engine != "batch":
            raise UsageError("--detach needs --engine batch: only a provider's batches continue without this program")
        if self.engine != "ray" and (self.ray_address is not None or self.ray_actors is not None):
            raise UsageError("--ray-address and --ray-actors describe a Ray cluster; add --engine ray")
