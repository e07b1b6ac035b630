"""Which engine asks, by its name in the settings. Its module is imported when it is wanted, and may need a package of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec

from harness.engines.local import Watch
from harness.engines.work import Outcome, Settings, Work
from harness.errors import UsageError
from harness.judges import Judge
from harness.judges.batches import Batching
from harness.store import Store

_ENGINES = {
    "local": "harness.engines.local:ask_all",
    "batch": "harness.engines.batch.engine:ask_all",
    "ray": "harness.engines.cluster.engine:ask_all",
}
_NEEDS = {"ray": "ray"}  # engine -> package, which the extra of the engine's name installs


def check_engine(settings: Settings, judges: Sequence[Judge] = ()) -> None:
    """Raises UsageError unless there is an engine of the name that the settings give, with all that it needs, and it can ask the judges."""
    name = settings.engine
    if name not in _ENGINES:
        raise UsageError(f"the engine '{name}' is not part of this version; here: {', '.join(_ENGINES)}")
    found = find_spec(_NEEDS[name]) if name in _NEEDS else None
    if name in _NEEDS and (found is None or found.origin is None):  # without an origin it is a mere folder of that name
        raise UsageError(f"the engine '{name}' needs the package '{_NEEDS[name]}': pip install \"judge-harness[{name}]\"")
    without = [judge.identity.name for judge in judges if not isinstance(judge, Batching)]
    if name == "batch" and without:
        raise UsageError(f"--engine batch needs a provider with a batch interface, which {', '.join(without)} has not; leave --engine away")


def ask_all(works: Sequence[Work], store: Store, settings: Settings, watch: Watch = lambda work, progress: None) -> list[Outcome]:
    """Ask the calls of all judges with the engine that the settings name, and keep what comes back: see `harness.engines.local`.

    Raises what that engine raises.
    """
    check_engine(settings)
    module, _, function = _ENGINES[settings.engine].partition(":")
    ask: Callable[..., list[Outcome]] = getattr(import_module(module), function)
    return ask(works, store, settings, watch)
