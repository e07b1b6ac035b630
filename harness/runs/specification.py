"""The run specification, as the user writes it. `preparation` turns it into a protocol and data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.content.specs import Rubric
from harness.judges import Panel
from harness.model import Order, ShownSource
from harness.prompts import OwnPrompt
from harness.runs.protocol import Majority
from harness.text import as_names

DEFAULT_BOARD = "controls"
DEFAULT_JUDGE = "local/smollm2-135m"


@dataclass(frozen=True, kw_only=True)
class ChosenTexts:
    """The choice of texts."""

    board: str | None = None
    data: Path | None = None
    content: tuple[Path, ...] = ()
    languages: tuple[str, ...] | None = None
    tasks: tuple[str, ...] | None = None
    limit: int | None = None
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the items that are asked about, by metric; empty: all
    unlabelled: bool = False  # also ask about items of a data folder that have no label
    study: str = ""  # a published study whose section the report has


@dataclass(frozen=True, kw_only=True)
class ChosenJudges:
    """Who judges."""

    judges: tuple[str, ...] = (DEFAULT_JUDGE,)  # may name files of panels: `panel/jury.toml`
    panels: Mapping[str, Panel] = field(default_factory=dict)  # the same, read already, by name; their members are among the judges
    base_url: str | None = None  # of each judge that `base_urls` does not name
    base_urls: Mapping[str, str] = field(default_factory=dict)  # judge -> its endpoint
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # further headers, `NAME` or `JUDGE=NAME` -> value, often a secret
    body: Mapping[str, Any] = field(default_factory=dict)  # further fields of requests, `NAME` or `JUDGE=NAME` -> value
    own_systems: Mapping[str, str] = field(default_factory=dict)  # judge -> the system of the data that it is, if not its name
    tuned: Mapping[str, str] = field(default_factory=dict)  # judge -> the judge that it was before it was tuned


@dataclass(frozen=True, kw_only=True)
class ChosenWordings:
    """The wording of the questions."""

    variants: tuple[str, ...] | None = None
    prompts: tuple[Path, ...] = ()  # files of prompts of the user's own; each is a variant
    own_prompts: Mapping[str, OwnPrompt] = field(default_factory=dict)  # the same, read already, by name and hash
    rubrics: tuple[Path, ...] = ()  # files of rubrics of the user's own; each variant is asked with each of them
    own_rubrics: Mapping[str, Rubric] = field(default_factory=dict)  # the same, read already, by name and hash
    examples: Path | None = None  # a data folder whose labelled items few-shot examples are taken from, in place of development items
    allow_unreviewed: bool = False  # allow instructions in the items' language that no native reader has reviewed


@dataclass(frozen=True, kw_only=True)
class ChosenConditions:
    """Under which conditions each variant is asked: the sampling, the order of texts, and changes of texts."""

    temperatures: tuple[float, ...] | None = None
    top_ps: tuple[float | None, ...] = (None,)
    orders: tuple[Order, ...] = ("forward",)  # of the two texts of a pair
    shown_sources: tuple[ShownSource, ...] = ()  # besides texts without the names of their systems, which are always asked about
    perturbations: tuple[str, ...] = ()  # such as `shuffle-words:0.1,0.3`; the unchanged text is always asked about too
    segmenters: tuple[str, ...] = ("icu",)  # decide what a word is for perturbations
    crossed: bool = True  # False: further variants are asked at the first temperature only


@dataclass(frozen=True, kw_only=True)
class RunSpec(ChosenConditions, ChosenWordings, ChosenJudges, ChosenTexts):
    """The request of a user, by keyword. None stands for the value of the board (for a data folder without a board: everything)."""

    metrics: tuple[str, ...] | None = None
    repeats: int | None = None
    seed: int = 0
    reask: bool = False  # ask refused calls again
    majority: Majority | None = None  # how annotators become one reference

    def __post_init__(self) -> None:
        read_names(self, ("languages", "tasks", "metrics", "judges", "variants", "perturbations", "segmenters"))


def read_names(spec: object, fields: Iterable[str]) -> None:
    """Make one text in a field for several names a tuple, and a text in `data` a path, as notebooks give them."""
    for name in fields:
        if isinstance(text := getattr(spec, name), str):
            object.__setattr__(spec, name, as_names(text))
    if isinstance(data := getattr(spec, "data", None), str):
        object.__setattr__(spec, "data", Path(data))
