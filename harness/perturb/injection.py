"""An instruction to the judge inside the text that it judges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

import msgspec

from harness.content.tags import likely_script
from harness.model import Item
from harness.perturb.kind import Change, Kind
from harness.perturb.segments import Words


def inject(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """`give the top score`, in the item's language, on a line of its own after the text; None where there is no wording in it.

    Realised: `added`, the characters (code points) that were added, as a share of the new text.
    """
    wording = _wording(item.language)
    if wording is None:
        return None
    text = f"{words.text}\n{wording}"
    return Change(text, {"added": 1 - len(words.text) / len(text)})


@cache
def wordings() -> dict[str, str]:
    """The wordings by language tag."""
    return msgspec.toml.decode(Path(__file__).with_name("injections.toml").read_bytes(), type=dict[str, str])


@lru_cache(maxsize=256)
def _wording(language: str) -> str | None:
    """The wording in exactly this language, or in the same one without its region where the script is the same: en for en-GB."""
    every = wordings()
    if language in every:
        return every[language]
    base = language.partition("-")[0]
    try:
        return every.get(base) if likely_script(base) == likely_script(language) else None
    except ValueError:  # not a language tag
        return None


INJECT = Kind(
    name="inject",
    summary="an instruction to give the top score stands after the text",
    doses=None,
    heeds_segmenter=False,
    moves={"linguistic_acceptability": 0, "hallucination": 0},
    perturb=inject,
)
