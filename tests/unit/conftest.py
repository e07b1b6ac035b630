"""Small makers of the project's nouns, and hypothesis without chance: the same examples every time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from hypothesis import settings

from harness.data import Dataset
from harness.data.labels import Labels
from harness.model import Call, Condition, Item, Label, Prompt, Query, Scale, Score, Variant

settings.register_profile("same every time", derandomize=True, deadline=None)
settings.load_profile("same every time")


@pytest.fixture(scope="session")
def three() -> Scale:
    """Three ordered classes, 2 the best."""
    return Scale(kind="ordinal", classes=(0, 1, 2), best=2)


@pytest.fixture(scope="session")
def make_item() -> Callable[..., Item]:
    """An English open prompt unless told otherwise; its group is itself, its text is its own, and other keywords are its texts."""

    def make(item_id: str = "i", **given: Any) -> Item:
        own = {name: given.pop(name) for name in ("language", "task", "split", "group", "system") if name in given}
        texts = {"prompt": "Say something.", "output": f"Something of {item_id}."} | given
        return Item(item_id, **({"language": "en", "task": "open_prompt", "group": item_id} | own), fields=texts)

    return make


@pytest.fixture(scope="session")
def make_data(three: Scale) -> Callable[..., Dataset]:
    """A data set: items, `{item_id: score}` on the metric `m` or `{(item_id, metric): [scores]}`, and scales (default: `m` has `three`)."""

    def make(items: Iterable[Item], scores: Mapping[Any, Any], scales: Mapping[str, Scale] | None = None) -> Dataset:
        labels: list[Label] = []
        for key, value in scores.items():
            item_id, metric = key if isinstance(key, tuple) else (key, "m")
            given: list[Score] = value if isinstance(value, list) else [value]
            labels += [Label(item_id, f"annotator {number}", metric, score) for number, score in enumerate(given)]
        return Dataset("made", tuple(items), Labels.from_rows(labels), dict(scales or {"m": three}))

    return make


@pytest.fixture(scope="session")
def make_call(make_item: Callable[..., Item]) -> Callable[..., Call]:
    """A call about an item; two calls with the same `call_id` are the same."""

    def make(
        call_id: str = "call",
        item: Item | None = None,
        metrics: tuple[str, ...] = ("m",),
        *,
        prompt_id: str = "prompt",
        joint: bool = False,
        temperature: float = 0.0,
        repeat: int = 0,
    ) -> Call:
        condition = Condition(Variant(call="joint" if joint else "single"), temperature)
        query = Query(item or make_item(), metrics, condition, repeat)
        return Call(call_id, Prompt(prompt_id, (), {"type": "object"}, 10), query, seed=repeat)

    return make
