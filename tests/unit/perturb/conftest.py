"""One item, one perturbation by its text form, and texts in many scripts for hypothesis."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from harness.model import Item
from harness.perturb import Perturbed, apply, parse_perturbation


@pytest.fixture(scope="session")
def perturb() -> Callable[..., Perturbed]:
    """`perturb("drop-words:0.4", "cs", "Kočka leze dírou.")`: what becomes of an item with this output."""

    def run(form: str, language: str, text: object, *, seed: int = 0, item_id: str = "i", pool: Sequence[Item] = ()) -> Perturbed:
        item = Item(item_id, language, "open_prompt", group=item_id, fields={"prompt": "Say something.", "output": text})
        [perturbation] = parse_perturbation(form)
        return apply(perturbation, item, pool, seed)

    return run


@pytest.fixture(scope="session")
def output(perturb: Callable[..., Perturbed]) -> Callable[..., str | None]:
    """The perturbed output text; None where it was left alone."""

    def run(form: str, language: str, text: object, **given: object) -> str | None:
        perturbed = perturb(form, language, text, **given)
        return perturbed.item.fields["output"] if perturbed.applied else None

    return run
