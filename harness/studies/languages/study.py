"""`harness run --study languages`: English beside every other language, 2 x 2 x 2 on the same texts."""

from __future__ import annotations

from dataclasses import replace

from harness.content import Library
from harness.errors import UsageError
from harness.prompts import is_english
from harness.runs import RunSpec, Study

_BOARD = "controls-parallel"
_VARIANTS = ("single", "single+reasons:{}", "single+in:{}", "single+in:{}+reasons:en")


def add_english(spec: RunSpec, library: Library) -> RunSpec:
    """Return the specification with English beside its languages, and for each of them the variants that name it."""
    board = spec.board or (None if spec.data else _BOARD)
    tags = spec.languages or (tuple(library.board(board).languages) if board else ())
    foreign_tags = [tag for tag in tags if not is_english(tag)]
    if not foreign_tags:
        raise UsageError("--study languages compares English with another language; name one, such as --langs ja")
    variants = dict.fromkeys(text.replace("{}", tag) for tag in foreign_tags for text in _VARIANTS)
    return replace(spec, board=board, languages=tuple(dict.fromkeys((*foreign_tags, "en"))), variants=spec.variants or tuple(variants))


STUDY = Study("languages", specify=add_english)
