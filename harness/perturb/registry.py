"""Kinds of perturbation by name: the bundled ones, and those of other packages under the entry point group `harness.perturbations`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from harness.content.tags import choose_from
from harness.errors import UsageError
from harness.foreign import ctrl_c, what_it_did
from harness.model import Item
from harness.perturb import additions, changed_numbers, changed_words, characters, replaced_texts
from harness.perturb.kind import Change, Kind
from harness.perturb.segments import Words

GROUP = "harness.perturbations"

BUNDLED: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        changed_words.SHUFFLE_WORDS,
        changed_words.DROP_WORDS,
        additions.REPEAT_SENTENCES,
        replaced_texts.SWAP_LANGUAGE,
        characters.STRIP_DIACRITICS,
        characters.TYPOS,
        changed_words.SWAP_SYNONYMS,
        changed_words.TRUNCATE,
        changed_numbers.NUMBER_SWAP,
        additions.INJECT,
        replaced_texts.ATTENTION_CHECK,
    )
}


def registered() -> dict[str, Kind]:
    """Return all kinds by name. A plug-in that cannot be loaded is listed as `broken`, with the reason as its summary.

    Raises UsageError when a name is registered twice; the message names both packages.
    """
    return BUNDLED | {name: _kind_or_broken(point) for name, point in sorted(plug_ins().items())}


def kind_named(name: str) -> Kind:
    """Return the kind with this name. Raises UsageError if there is none or it cannot be loaded."""
    if name in BUNDLED:
        return BUNDLED[name]
    points = plug_ins()
    if name not in points:
        raise UsageError(f"no perturbation '{name}'.{choose_from(sorted({*BUNDLED, *points}), name)}")
    return _load(points[name])


def is_bundled(kind: Kind) -> bool:
    """Whether a kind is one of this program, not of another package."""
    return BUNDLED.get(kind.name) is kind


@cache  # installed packages do not change during a run, and a plan looks up a kind for every item
def plug_ins() -> dict[str, EntryPoint]:
    """The entry points of other packages by name. Nothing is imported. Raises UsageError when a name is registered twice."""
    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        if point.name in BUNDLED:
            raise _registered_twice(point.name, "this program", point.value)
        if point.name in points and points[point.name].value != point.value:
            raise _registered_twice(point.name, points[point.name].value, point.value)
        points[point.name] = point
    return points


def _registered_twice(name: str, one: str, other: str) -> UsageError:
    return UsageError(f"perturbation '{name}' is registered twice: by {one} and by {other}; uninstall one")


@cache
def _load(point: EntryPoint) -> Kind:
    try:
        with ctrl_c() as pressed:
            kind = point.load()
    except BaseException as err:  # a plug-in may fail in any way; only the run that uses it must fail
        if isinstance(err, KeyboardInterrupt) and pressed():
            raise
        raise UsageError(
            f"perturbation '{point.name}' is registered by {point.value}, but cannot be loaded: it {what_it_did(err)}"
        ) from err
    if not isinstance(kind, Kind) or kind.name != point.name:
        actual = f"the kind '{kind.name}'" if isinstance(kind, Kind) else f"a {type(kind).__name__}"
        expected = "it should be a harness.perturb.Kind of that name"
        raise UsageError(f"perturbation '{point.name}' is registered by {point.value}, which is {actual}; {expected}")
    return kind


def _kind_or_broken(point: EntryPoint) -> Kind:
    try:
        return _load(point)
    except UsageError as err:
        return Kind(point.name, str(err), doses=None, heeds_segmenter=False, moves={}, perturb=_change_nothing, broken=str(err))


def _change_nothing(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    return None
