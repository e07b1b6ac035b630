"""Items as a condition shows them to a judge: with perturbed texts, in the other order, with the names of the systems."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import msgspec

from harness.content import Library, Task
from harness.errors import UsageError
from harness.model import Item, Order, Query, RealisedPerturbation, ShownSource
from harness.perturb import apply, parse_perturbation
from harness.prompts import source_of

SYSTEM_KEYS = ("system_a", "system_b")
"""The keys of a pair item that name the systems of its two outputs."""

_Change = tuple[str, Order, ShownSource]


class ShownItems:
    """Items changed as conditions say. A change is a pure function, so only the forms of the last item are cached.

    `realised` says what each perturbation did to each text.
    """

    def __init__(self, library: Library, pool: Sequence[Item], seed: int) -> None:
        self.realised: dict[tuple[str, str], RealisedPerturbation] = {}
        self._library = library
        self._task = cache(library.task)
        self._pool = pool
        self._seed = seed
        self._item: Item | None = None
        self._cached: dict[_Change, Item | None] = {}

    def shown(self, query: Query) -> Item | None:
        """The item of a query as its condition shows it; None if the perturbation cannot change its text."""
        condition = query.condition
        change = (condition.perturbation, condition.order, condition.shown_source)
        if change == ("", "forward", "none"):
            return query.item
        if query.item is not self._item:
            self._item, self._cached = query.item, {}
        if change not in self._cached:
            task = self._task(query.item.task)
            if condition.perturbation:
                [perturbation] = parse_perturbation(condition.perturbation)
                result = apply(perturbation, query.item, self._pool, self._seed, task.outputs, self._library.lexicons)
                self.realised.setdefault(
                    (query.item.item_id, condition.perturbation),
                    RealisedPerturbation(query.item.item_id, condition.perturbation, result.applied, result.realised),
                )
                changed = result.item if result.applied else None
            else:
                changed = query.item
            if changed is None:
                self._cached[change] = None
            else:
                if condition.order == "swapped":
                    changed = exchanged(changed, task)
                self._cached[change] = changed if condition.shown_source == "none" else with_sources(changed, task, condition.shown_source)
        return self._cached[change]

    def is_applicable(self, query: Query) -> bool:
        """Return True if there is a text to ask about; `shown` must have been called for it before."""
        perturbation = query.condition.perturbation
        return not perturbation or self.realised[query.item.item_id, perturbation].applied


def exchanged(item: Item, task: Task) -> Item:
    """A pair whose two texts, and the names of their systems, have changed places."""
    fields = dict(item.fields)
    for first, other in (task.outputs, SYSTEM_KEYS):
        fields |= {first: item.fields.get(other), other: item.fields.get(first)}
    return msgspec.structs.replace(item, fields=fields)


def with_sources(item: Item, task: Task, source: ShownSource) -> Item:
    """The item with the system of each output, under the names of `source_of`; `swapped` gives each text of a pair the other's name.

    Raises UsageError for an item that does not name its systems.
    """
    systems = [item.fields.get(key) for key in SYSTEM_KEYS] if task.is_pair else [item.system]
    for key, system in zip(SYSTEM_KEYS if task.is_pair else ("system",), systems, strict=True):
        if not system:
            raise UsageError(f"--shown-source needs to know who wrote the texts, but item '{item.item_id}' has no '{key}'")
    if source == "swapped":
        systems.reverse()
    system_names = {source_of(name): str(system) for name, system in zip(task.outputs, systems, strict=True)}
    return msgspec.structs.replace(item, fields=item.fields | system_names)
