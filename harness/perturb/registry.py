"""Kinds of perturbation by name: our own, and those that other packages register under the entry point group `harness.perturbations`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from harness.content.tags import suggest
from harness.errors import UsageError
from harness.model import Item
from harness.perturb import characters, injection, numbers, ordering, partner, repetition
from harness.perturb.kind import Change, Kind
from harness.perturb.segments import Words

GROUP = "harness.perturbations"

BUNDLED: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        ordering.SHUFFLE_WORDS,
        ordering.DROP_WORDS,
        repetition.REPEAT_SENTENCES,
        partner.SWAP_LANGUAGE,
        characters.STRIP_DIACRITICS,
        characters.TYPOS,
        ordering.TRUNCATE,
        numbers.NUMBER_SWAP,
        injection.INJECT,
    )
}


def registered() -> dict[str, Kind]:
    """All kinds by name. A plug-in that cannot be loaded is among them, `broken`, and its summary says why.

    Raises UsageError, naming both, when a name is registered twice.
    """
    return BUNDLED | {name: _listed(point) for name, point in sorted(_plug_ins().items())}


def kind_of(name: str) -> Kind:
    """The kind called `name`. Raises UsageError where there is none, or where it cannot be loaded."""
    if name in BUNDLED:
        return BUNDLED[name]
    plug_ins = _plug_ins()
    if name not in plug_ins:
        known = sorted({*BUNDLED, *plug_ins})
        raise UsageError(f"no perturbation '{name}'.{suggest(name, known)}\n         here: {', '.join(known)}")
    return _loaded(plug_ins[name])


def check_names() -> None:
    """Raise UsageError when a name is registered twice."""
    _plug_ins()


@cache  # what is installed does not change while this runs, and a plan asks for every item
def _plug_ins() -> dict[str, EntryPoint]:
    """Other packages' entry points by name; nothing is imported."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        if point.name in BUNDLED:
            raise _twice(point.name, "this program", point.value)
        if point.name in found and found[point.name].value != point.value:
            raise _twice(point.name, found[point.name].value, point.value)
        found[point.name] = point
    return found


def _twice(name: str, one: str, other: str) -> UsageError:
    return UsageError(f"perturbation '{name}' is registered twice: by {one} and by {other}; uninstall one")


@cache
def _loaded(point: EntryPoint) -> Kind:
    try:
        kind = point.load()
    except Exception as err:  # a stranger's plug-in may fail in any way; the run that asked for it fails, nothing else
        raise UsageError(f"perturbation '{point.name}' is registered by {point.value}, but cannot be loaded: {err}") from err
    if not isinstance(kind, Kind) or kind.name != point.name:
        found = f"the kind '{kind.name}'" if isinstance(kind, Kind) else f"a {type(kind).__name__}"
        wanted = "it should be a harness.perturb.Kind of that name"
        raise UsageError(f"perturbation '{point.name}' is registered by {point.value}, which is {found}; {wanted}")
    return kind


def _listed(point: EntryPoint) -> Kind:
    try:
        return _loaded(point)
    except UsageError as err:
        return Kind(point.name, str(err), doses=None, heeds_segmenter=False, moves={}, perturb=_nothing, broken=str(err))


def _nothing(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    return None
