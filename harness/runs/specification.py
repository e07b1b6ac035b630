"""The run specification, as the user writes it. `preparation` turns it into a protocol and data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from harness.content.specs import Rubric
from harness.judges import Panel
from harness.model import Order, ShownSource
from harness.prompts import OwnPrompt
from harness.runs.protocol import Majority
from harness.text import as_names

DEFAULT_BOARD = "controls"
DEFAULT_JUDGE = "local/smollm2-135m"


class RunSpec(msgspec.Struct, frozen=True):
    """What a user asks for. None stands for the value of the board (for a data folder without a board: everything)."""

    board: str | None = None
    data: Path | None = None
    examples: Path | None = None  # a data folder whose labelled items few-shot examples are taken from, in place of development items
    content: tuple[Path, ...] = ()
    languages: tuple[str, ...] | None = None
    tasks: tuple[str, ...] | None = None
    metrics: tuple[str, ...] | None = None
    judges: tuple[str, ...] = (DEFAULT_JUDGE,)  # may name files of panels: `panel/jury.toml`
    panels: Mapping[str, Panel] = {}  # the same, read already, by name; their members are among the judges
    base_url: str | None = None  # of each judge that `base_urls` does not name
    base_urls: Mapping[str, str] = {}  # judge -> its endpoint
    variants: tuple[str, ...] | None = None
    prompts: tuple[Path, ...] = ()  # files of prompts of the user's own; each is a variant
    own_prompts: Mapping[str, OwnPrompt] = {}  # the same, read already, by name and hash
    rubrics: tuple[Path, ...] = ()  # files of rubrics of the user's own; each variant is asked with each of them
    own_rubrics: Mapping[str, Rubric] = {}  # the same, read already, by name and hash
    temperatures: tuple[float, ...] | None = None
    top_ps: tuple[float | None, ...] = (None,)
    orders: tuple[Order, ...] = ("forward",)  # of the two texts of a pair
    shown_sources: tuple[ShownSource, ...] = ()  # besides texts without the names of their systems, which are always asked about
    perturbations: tuple[str, ...] = ()  # such as `shuffle-words:0.1,0.3`; the unchanged text is always asked about too
    segmenters: tuple[str, ...] = ("icu",)  # decide what a word is for perturbations
    allow_unreviewed: bool = False  # allow instructions in the items' language that no native reader has reviewed
    repeats: int | None = None
    reask: bool = False  # ask refused calls again
    study: str = ""  # a published study whose section the report has
    own_systems: Mapping[str, str] = {}  # judge -> the system of the data that it is; others are the system of their own name
    tuned: Mapping[str, str] = {}  # judge -> the judge that it was before it was tuned
    crossed: bool = True  # False: further variants are asked at the first temperature only
    seed: int = 0
    majority: Majority | None = None  # how annotators become one reference
    limit: int | None = None
    only: Mapping[str, tuple[str, ...]] = {}  # the items that are asked about, by metric, where only some are; empty: all
    unlabelled: bool = False  # also ask about items of a data folder that have no label

    def __post_init__(self) -> None:
        read_names(self, ("languages", "tasks", "metrics", "judges", "variants", "perturbations", "segmenters"))


def read_names(spec: msgspec.Struct, fields: Iterable[str]) -> None:
    """Make one text in a field for several names a tuple, and a text in `data` a path, as notebooks give them."""
    for field in fields:
        if isinstance(given := getattr(spec, field), str):
            msgspec.structs.force_setattr(spec, field, as_names(given))
    if isinstance(data := getattr(spec, "data", None), str):
        msgspec.structs.force_setattr(spec, "data", Path(data))
