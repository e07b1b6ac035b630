"""The run specification, as the user writes it. `preparation` turns it into a protocol and data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from harness.asking_options import Endpoints
from harness.options import (
    ContentFolders,
    Count,
    Flag,
    Majority,
    Names,
    Orders,
    OwnSystems,
    Reads,
    Reask,
    Seed,
    ShownSources,
    Temperature,
    Temperatures,
    TopP,
    TunedJudges,
    top_ps,
)
from harness.runs.run_defaults import DEFAULT_JUDGE
from harness.text import as_names

if TYPE_CHECKING:
    from harness.content.specs import Rubric
    from harness.judges import Panel
    from harness.prompts import OwnPrompt


@dataclass(frozen=True, kw_only=True)
class ChosenTexts(ContentFolders):
    """The choice of texts."""

    heading: ClassVar[str] = "what to judge"

    languages: Annotated[Names | None, Flag("--langs --lang", "TAGS")] = None
    """languages, separated by commas: ja,cs (default: all that have items)"""
    tasks: Annotated[Names | None, Flag(metavar="NAMES")] = None
    """only these tasks"""
    metrics: Annotated[Names | None, Flag(metavar="NAMES")] = None
    """only these metrics"""
    board: Annotated[str | None, Flag(metavar="NAME")] = None
    """the board whose protocol is used, or a collection of boards: people (default: controls)"""
    data: Annotated[Path | None, Flag(metavar="DIR")] = None
    """judge the items of a data folder, or of a language pack, instead of a board's"""
    unlabelled: Annotated[bool, Flag()] = False
    """with --data: also judge items without a label, so that 'harness correct' can extend the labels to them"""
    limit: Annotated[Count | None, Flag(metavar="N")] = None
    """only the first N items of each language and task"""
    study: Annotated[str, Flag(metavar="NAME")] = ""
    """ask as a study does, with its section in the report: chiang-lee, self-preference, languages; other flags take precedence"""
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """the items that are asked about, by metric; empty: all"""


@dataclass(frozen=True, kw_only=True)
class ChosenJudges(Endpoints):
    """Who judges."""

    heading: ClassVar[str] = "judges"

    judges: Annotated[tuple[str, ...], Flag("--judge", "NAME")] = (DEFAULT_JUDGE,)
    """openai/<model>[@<label>], local/<model or .gguf>, a decision model as decisions/<model>, systemone/<model> or decider/<name>,
    baseline/<name>, python:<module>:<function>, replay/<file>, or a panel of them, panel/<file.toml>; repeatable"""
    panels: Mapping[str, Panel] = field(default_factory=dict)
    """the panels among them, read already, by name; their members are among the judges"""
    personas: Mapping[str, str] = field(default_factory=dict)
    """the sentences about who reads, of members of panels, by name"""
    own_systems: Annotated[OwnSystems, Flag("--is", "JUDGE=SYSTEM", setting=True)] = field(default_factory=dict)
    """for --study self-preference: the system of the data that a judge is (default: the one with its name); repeatable"""
    tuned: Annotated[TunedJudges, Flag(metavar="NEW=OLD", setting=True)] = field(default_factory=dict)
    """for --study self-preference: a judge that was tuned, and the judge before; both are the system of the latter; repeatable"""


@dataclass(frozen=True, kw_only=True)
class ChosenWordings:
    """The wording of the questions."""

    heading: ClassVar[str] = "how to ask"

    variants: Annotated[tuple[str, ...] | None, Flag("--variant", "NAME")] = None
    """single, joint, conversation, detailed, few-shot, score-only, text, persona, ... joined by '+'; repeatable"""
    prompts: Annotated[tuple[Path, ...], Flag("--prompt", "FILE")] = ()
    """a prompt of your own (TOML) instead of the usual variants; repeatable, to compare prompts; see 'harness new prompt'"""
    own_prompts: Mapping[str, OwnPrompt] = field(default_factory=dict)
    """the same, read already, by name and hash"""
    rubrics: Annotated[tuple[Path, ...], Flag("--rubric", "FILE")] = ()
    """a wording of your own of a metric's rubric (TOML, as in rubrics/), in place of the usual one; repeatable"""
    own_rubrics: Mapping[str, Rubric] = field(default_factory=dict)
    """the same, read already, by name and hash"""
    examples: Annotated[Path | None, Flag(metavar="DIR")] = None
    """a data folder whose labelled items are the few-shot examples (default: dev items)"""
    levels: Annotated[Count | None, Flag(metavar="N", setting=True)] = None
    """ask decision models about N bands of a scale that they cannot be asked about as it is, such as 0 to 100"""
    allow_unreviewed: Annotated[bool, Flag()] = False
    """allow instructions that no native reader has reviewed"""


@dataclass(frozen=True, kw_only=True)
class ChosenConditions:
    """Under which conditions each variant is asked: the sampling, the order of texts, and changes of texts."""

    heading: ClassVar[str] = "how to ask"

    temperatures: Annotated[Temperatures | None, Flag("--temperature", "T[,T]")] = None
    """sampling temperatures (default: the board's)"""
    top_ps: Annotated[tuple[float | None, ...], Reads(top_ps), Flag("--top-p", "P[,P]")] = (None,)
    """nucleus sampling (default: the endpoint's default)"""
    orders: Annotated[Orders | None, Flag("--order", "ORDER")] = None
    """of the two texts of a pair: forward, swapped, both (default: forward)"""
    shown_sources: Annotated[ShownSources, Flag("--shown-source", "SOURCES")] = ()
    """also ask with the names of the systems in the texts' headings: correct, or swapped in a pair; correct,swapped"""
    perturbations: Annotated[tuple[str, ...], Flag("--perturb", "NAME[:DOSE,..]")] = ()
    """also ask about perturbed texts: shuffle-words:0.1,0.5, truncate, inject, ...; repeatable; see docs/studies.md"""
    segmenters: Annotated[Names, Flag("--segmenter", "NAMES", setting=True)] = ("icu",)
    """how perturbations split texts into words: icu, whitespace"""
    crossed: bool = True
    """False: further variants are asked at the first temperature only"""


@dataclass(frozen=True, kw_only=True)
class RunSpec(ChosenConditions, ChosenWordings, ChosenJudges, ChosenTexts):
    """The request of a user, by keyword. None stands for the value of the board (for a data folder without a board: everything)."""

    heading: ClassVar[str] = "how to ask"

    repeats: Annotated[Count | None, Flag(metavar="N")] = None
    """ask each question N times"""
    seed: Annotated[Seed, Flag(metavar="N")] = 0
    """seed for everything random"""
    majority: Annotated[Majority | None, Flag()] = None
    """how the labels of several annotators become one reference (default: the board's, or drop)"""
    reask: Annotated[Reask, Flag(metavar="KINDS")] = ()
    """ask calls again, up to three times, whose reply was refused, missing or truncated: missing,truncated"""

    def __post_init__(self) -> None:
        super().__post_init__()
        read_names(self, ("languages", "tasks", "metrics", "judges", "variants", "perturbations", "segmenters"))


def read_names(spec: object, fields: Iterable[str]) -> None:
    """Make one text in a field for several names a tuple, and a text in `data` a path, as notebooks give them."""
    for name in fields:
        if isinstance(text := getattr(spec, name), str):
            object.__setattr__(spec, name, as_names(text))
    if isinstance(data := getattr(spec, "data", None), str):
        object.__setattr__(spec, "data", Path(data))


@dataclass(frozen=True, kw_only=True)
class GenerateSpec(Endpoints, ContentFolders):
    """The specification of texts that models write. Without `data`, the inputs are those of the language packs' control items."""

    heading: ClassVar[str] = "how to ask"

    task: Annotated[str, Flag(metavar="NAME")]
    """what is written: summarize, open_prompt, continue_writing, rate_story, ..."""
    writers: Annotated[tuple[str, ...], Flag("--by", "JUDGE")]
    """who writes: any judge that is a model; repeatable"""
    languages: Annotated[Names | None, Flag("--langs --lang", "TAGS")] = None
    """languages, separated by commas: ja,cs (default: all that have inputs)"""
    data: Annotated[Path | None, Flag(metavar="DIR")] = None
    """take the inputs of a data folder instead of the control items'"""
    limit: Annotated[Count | None, Flag(metavar="N")] = None
    """only the first N inputs of each language"""
    temperature: Annotated[Temperature, Flag(metavar="T")] = 0.0
    """sampling temperature"""
    top_p: Annotated[TopP | None, Flag(metavar="P")] = None
    """nucleus sampling (default: the endpoint's default)"""
    own_language: Annotated[bool, Flag()] = False
    """ask in the language of the items instead of English"""
    allow_unreviewed: Annotated[bool, Flag()] = False
    """allow instructions that no native reader has reviewed"""
    seed: Annotated[Seed, Flag(metavar="N")] = 0
    """seed of the calls"""
    reask: Annotated[Reask, Flag(metavar="KINDS")] = ()
    """ask calls again whose reply was: refused (by the model), missing, truncated"""

    def __post_init__(self) -> None:
        super().__post_init__()
        read_names(self, ("writers", "languages"))
