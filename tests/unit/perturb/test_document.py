"""docs/studies.md says what the code says: kinds, doses, metrics, realised numbers, and an example that runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.model import Item
from harness.perturb import Kind, Perturbed, Words, registered

DOCUMENT = (Path(__file__).resolve().parents[3] / "docs" / "studies.md").read_text(encoding="utf-8")
PAGE = DOCUMENT.partition("\n## Perturbations\n")[2].partition("\n## Studies\n")[0]
METRICS = {"acceptability": "linguistic_acceptability", "task quality": "task_quality", "content quality": "output_content_quality"}
METRICS |= {"problematic content": "problematic_content", "hallucination": "hallucination"}


@pytest.mark.parametrize("name", sorted(registered()))
def test_the_table_holds_every_kind_with_its_doses_and_what_moves(name: str) -> None:
    kind = registered()[name]
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |")).split("|")
    doses, scores = row[3], row[4]
    if kind.doses is None:
        assert doses.strip() == "none"
    else:
        assert f": {kind.doses.default:g}, {kind.doses.least:g}–{kind.doses.most:g}" in doses
    moves: dict[str, int] = {}
    for clause in scores.split("a score that")[0].split(";"):
        direction = -1 if re.search(r"\bfalls?\b", clause) else 0
        moves |= {metric: direction for words, metric in METRICS.items() if words in clause}
    assert moves == dict(kind.moves)


@pytest.mark.parametrize("name", sorted(registered()))
def test_the_table_of_realised_numbers_names_each(name: str, perturb: Callable[..., Perturbed]) -> None:
    pool = (Item("p", "de", "open_prompt", fields={"output": "Zwei Häuser."}),)
    realised = perturb(name, "cs", "Kočka brzy leze dírou, 12 let.", pool=pool).realised
    row = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |")][1]
    assert re.findall(r"`([a-z]+)`", row.split("|", 2)[2]) == list(realised)


def test_the_example_is_a_kind_that_works() -> None:
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    kind = names["SHOUT"]
    assert isinstance(kind, Kind)
    change = kind.perturb(Item("i", "cs", "t"), (), 0, 1.0, Words("Kočka leze, 2.", "cs"))
    assert change == ("KOČKA LEZE, 2.", {"shouted": 1.0})
