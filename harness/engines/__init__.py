"""Engines: `local` asks from this machine, `batch` by a provider's files, `ray` from a cluster.

All engines take the same work and write to the same store; `work` says what an engine is given and returns. The module of an engine is
imported on first use, because it may need a package of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec

from harness.asking_options import Settings
from harness.engines.local_engine import Watch
from harness.engines.work import Engine, JudgeOpening, JudgeWork, Outcome, Progress
from harness.errors import UsageError
from harness.judges import Judge
from harness.judges.batches import Batching
from harness.store import Store

__all__ = ["Engine", "JudgeOpening", "JudgeWork", "Outcome", "Progress", "ask_all", "check_engine"]

_ENGINES = {
    "local": "harness.engines.local_engine:ask_all",
    "batch": "harness.engines.batch_engine:ask_all",
    "ray": "harness.engines.ray_engine:ask_all",
}
_NEEDS = {"ray": "ray"}  # engine -> package that it needs; the extra of the same name installs it


def check_engine(settings: Settings, judges: Sequence[Judge] = ()) -> None:
    """Raises UsageError unless the engine of the settings exists, its package is installed, and it can ask these judges."""
    name = settings.engine
    if name not in _ENGINES:
        raise UsageError(f"the engine '{name}' is not part of this version; choose from: {', '.join(_ENGINES)}")
    package = find_spec(_NEEDS[name]) if name in _NEEDS else None
    if name in _NEEDS and (package is None or package.origin is None):  # without an origin it is only a folder of that name
        raise UsageError(f"the engine '{name}' needs the package '{_NEEDS[name]}': pip install \"judge-harness[{name}]\"")
    unsuitable = [judge.identity.name for judge in judges if not isinstance(judge, Batching)]
    if name == "batch" and unsuitable:
        raise UsageError(f"--engine batch needs a provider with a batch interface; {', '.join(unsuitable)} has none. Leave --engine out")


def ask_all(works: Sequence[JudgeWork], store: Store, settings: Settings, watch: Watch = lambda work, progress: None) -> list[Outcome]:
    """Ask the calls of all judges with the engine of the settings, and store the replies: see `harness.engines.local_engine`.

    Raises what the engine raises.
    """
    check_engine(settings)
    module, _, function = _ENGINES[settings.engine].partition(":")
    ask: Callable[..., list[Outcome]] = getattr(import_module(module), function)
    return ask(works, store, settings, watch)
