"""Figures: valid SVG with text as text, the same every time, and an error in words where there is nothing to draw."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.analyse import Cell, Comparison
from harness.errors import UsageError
from harness.render.figures import draw_by_agreement

pytest.importorskip("matplotlib")

MakeCell = Callable[..., Cell]
MakeComparison = Callable[..., Comparison]
BY_AGREEMENT: dict[str, Any] = {
    "full": {"items": 5, "labels": {"0": 0.2, "1": 0.8}, "judge": {"0": 0.0, "1": 1.0}},
    "partial": {"items": 3, "labels": {"0": 0.5, "1": 0.5}, "judge": None},
    "none": {"items": 0, "labels": None, "judge": None},
}


@pytest.fixture
def drawn(make_cell: MakeCell, make_comparison: MakeComparison, tmp_path: Path) -> Callable[..., bytes]:
    """The bytes of the drawing of one cell for each metric."""

    def draw(*metrics: str, of: Any = BY_AGREEMENT, signature: str = "data:d") -> bytes:
        cells = [make_cell(metric=metric, distribution_by_agreement=of) for metric in metrics or ("task_quality",)]
        draw_by_agreement(make_comparison(*cells, make_cell(), signature=signature), tmp_path / "figure.svg")
        return (tmp_path / "figure.svg").read_bytes()

    return draw


def texts(svg: bytes) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("}text")]


def test_it_is_svg_with_its_texts_as_text(drawn: Callable[..., bytes]) -> None:
    found = texts(drawn())
    assert ElementTree.fromstring(drawn()).tag == "{http://www.w3.org/2000/svg}svg"
    assert {"full agreement, 5 items", "partial agreement, 3 items", "people", "judge", "0 %", "100 %"} <= set(found)
    assert "no agreement, 0 items" in found and "task quality" in " ".join(found)


def test_the_same_comparison_is_the_same_bytes(drawn: Callable[..., bytes]) -> None:
    assert drawn("m", "n") == drawn("m", "n")
    assert not re.search(rb"20\d\d-\d\d-\d\d", drawn())  # no clock


def test_each_cell_with_three_annotators_has_a_row(drawn: Callable[..., bytes]) -> None:
    assert [texts(drawn(*names)).count("full agreement, 5 items") for names in (["m"], ["m", "n"], ["m", "n", "o"])] == [1, 2, 3]


@pytest.mark.parametrize("name", ["流暢さ", "$x^$", r"\frac{", "a & <b>", "na\x1b[31mme", "x" * 80, "]]>"], ids=ascii)
def test_any_name_is_drawn(drawn: Callable[..., bytes], name: str) -> None:
    """Signs that the font here does not have, formulas and markup."""
    of = {level: counts | {"labels": {name: 1.0, "b": 0.0}} for level, counts in BY_AGREEMENT.items()}
    svg = drawn(name, of=of, signature=f"data:{name}")
    shown = " ".join(texts(svg))
    assert name.replace("\x1b", "").replace("_", " ") in shown and b"\x1b" not in svg


def test_without_three_annotators_there_is_nothing_to_draw(make_cell: MakeCell, make_comparison: MakeComparison, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no cell has items with three annotators, so there is no agreement to draw by"):
        draw_by_agreement(make_comparison(make_cell()), tmp_path / "figure.svg")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["figure.png", "figure", "figure.SVG"])
def test_only_svg_is_drawn(make_cell: MakeCell, make_comparison: MakeComparison, tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"figures are SVG files; name it figure\.svg"):
        draw_by_agreement(make_comparison(make_cell(distribution_by_agreement=BY_AGREEMENT)), tmp_path / name)


def test_without_matplotlib_it_says_what_to_install(drawn: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip install 'judge-harness\[figures\]'"):
        drawn()
