"""Pictures of the atlas: a matrix and a picture for previews, the same bytes for the same atlas."""

from __future__ import annotations

import struct

import pytest

from harness.render.figures.verdict_figures import draw_matrix, draw_share
from harness.reports.atlas_answer import atlas_matrix
from tests.unit.judge_atlas.atlases import TODAY, atlas, row

pytest.importorskip("matplotlib")


def size_of(png: bytes) -> tuple[int, ...]:
    assert png.startswith(b"\x89PNG")
    return struct.unpack(">II", png[16:24])


def test_a_preview_has_the_size_that_others_show_whole() -> None:
    sentences = (("good", "harm: use gpt."), ("open", "story: not known."))
    drawn = draw_share("Japanese: which judge for what", "Use gpt. " * 40, sentences)
    assert size_of(drawn) == (1200, 630) and drawn == draw_share("Japanese: which judge for what", "Use gpt. " * 40, sentences)
    assert drawn != draw_share("Japanese: which judge for what", "Use gpt. " * 40, sentences[:1]), "the counts are drawn"


def test_the_matrix_grows_with_its_languages() -> None:
    rows = atlas_matrix(atlas(row(), row(language="pt-BR", judge="a name that is far too long", verdict="do not use")), TODAY)
    small, large = draw_matrix(rows[:1], "Title", "Note"), draw_matrix(rows, "Title", "Note")
    assert size_of(small)[0] == size_of(large)[0] and size_of(small)[1] < size_of(large)[1]
