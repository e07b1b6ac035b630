"""Figures say in words what they draw, and stay inside their frame."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.render.html.marks import Mark, bar, track


def percents(text: str) -> list[float]:
    return [float(number) for number in re.findall(r'="(-?[\d.]+)%"', text)]


@given(st.floats(-1, 2), st.floats(-1, 2), st.floats(-1, 2))
def test_a_track_stays_inside_its_frame(value: float, lo: float, hi: float) -> None:
    drawn = track([Mark("judge", value, (lo, hi)), Mark("people", 0.5), Mark("base", None)], "words")
    ET.fromstring(drawn)
    assert all(0 <= place <= 100 for place in percents(drawn))


@pytest.mark.parametrize("many", [1, 2, 3, 5, 6, 9])
def test_a_bar_fills_its_width_and_gives_every_class_of_a_short_scale_a_shade_of_its_own(many: int) -> None:
    shares = {str(number): 1 / many for number in range(many)}
    drawn = ET.fromstring(bar(shares, list(shares), "judge"))
    rects = [each for each in drawn if each.tag == "rect"]
    assert sum(float(each.attrib["width"].rstrip("%")) for each in rects) == pytest.approx(100, abs=0.1)
    assert len({each.attrib["class"] for each in rects}) == min(many, 6)


def test_words_say_the_same() -> None:
    drawn = ET.fromstring(bar({"0": 0.25, "<b>": 0.75}, ["0", "<b>"], "labels"))
    assert drawn.attrib["role"] == "img" and drawn.findtext("title") == "labels: 0: 25 %, <b>: 75 %"


def test_a_class_that_nobody_gave_is_not_drawn() -> None:
    assert len(ET.fromstring(bar({"0": 0.0, "1": 1.0}, ["0", "1"], "judge")).findall("rect")) == 1
