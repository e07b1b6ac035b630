"""The options of a comparison: which judgments and labels count, the keys to group by, and how annotators become one reference."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, TypedDict

from harness.errors import UsageError
from harness.options import RESAMPLES, Flag, Majority, Names, Options, Reads, ReadsEach, Seed, key_and_value
from harness.text import as_names

Rule = Majority
Level = Literal["item", "system"]
Standardise = Literal["none", "annotator"]

ALWAYS = ("language", "task", "metric", "judge", "variant")
"""The keys that every cell has; `*` where the cell pools."""
POOLED = "*"


@dataclass(frozen=True)
class Annotators:
    """The number of annotators that an item needs to count: exactly `least`, or at least that many."""

    least: int
    exactly: bool = False

    def __str__(self) -> str:
        return f"{self.least}" if self.exactly else f"{self.least}+"

    @classmethod
    def parse(cls, text: str) -> Annotators:
        """Read `3` or `2+`. Raises UsageError.

        >>> Annotators.parse("2+")
        Annotators(least=2, exactly=False)
        """
        match = re.fullmatch(r"([1-9]\d{0,3})(\+?)", text)
        if not match:
            raise UsageError(f"'{text}' is not a number of annotators; write 3 for exactly three, 2+ for two or more")
        return cls(int(match[1]), exactly=not match[2])


class Drawing(TypedDict):
    """The random draws of intervals."""

    seed: int
    resamples: int


def key_and_values(text: str) -> tuple[str, tuple[str, ...]]:
    """Return what `KEY=VALUES` says. Raises UsageError."""
    name, value = key_and_value("--where language=ja,cs", text)
    return name, tuple(value.split(","))


def restrictions(pairs: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    """Return the values by name, those of a name that is given twice together."""
    values: dict[str, tuple[str, ...]] = {}
    for name, texts in pairs:
        values[name] = values.get(name, ()) + texts
    return values


@dataclass(frozen=True, kw_only=True)
class LabelSelection(Options):
    """Select the labels that count."""

    heading: ClassVar[str] = "which judgments and labels count"

    languages: Annotated[Names | None, Flag("--langs --lang", "TAGS")] = None
    """only items in these languages: ja,cs; nothing else is tested or corrected for"""
    annotators: Annotated[Annotators | None, Reads(Annotators.parse), Flag(metavar="N|N+", setting=True)] = None
    """only items with N (or N or more) annotators"""
    where: Annotated[Mapping[str, tuple[str, ...]], ReadsEach(key_and_values, restrictions), Flag(metavar="KEY=VALUES")] = field(
        default_factory=dict
    )
    """only items, metrics or variants with these values; repeatable"""
    card: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """dataset card of the published data in the folder; see 'harness data list'"""

    def __post_init__(self) -> None:
        super().__post_init__()
        values = {name: as_names(texts) for name, texts in self.where.items()}
        if self.languages is not None and "language" in values:
            raise UsageError("the languages are named twice, by --langs and by --where language=...; name them once")
        parsed: dict[str, Any] = {"where": values}
        if isinstance(self.annotators, str):
            parsed["annotators"] = Annotators.parse(self.annotators)
        if self.languages is not None or "language" in values:
            from harness.content.tags import canonical  # late: the names of all languages take time

            if self.languages is None:
                values["language"] = tuple(map(canonical, values["language"]))
            else:
                parsed["languages"] = tuple(map(canonical, as_names(self.languages)))
        for name, value in parsed.items():
            object.__setattr__(self, name, value)

    @property
    def restrictions(self) -> dict[str, tuple[str, ...]]:
        """Return the values that are kept, by name, the languages first."""
        languages = self.where.get("language") if self.languages is None else self.languages
        return {**({} if languages is None else {"language": languages}), **{k: v for k, v in self.where.items() if k != "language"}}


@dataclass(frozen=True, kw_only=True)
class JudgeSelection(LabelSelection):
    """Select the judgments and labels that count."""

    heading: ClassVar[str] = LabelSelection.heading

    judges: Annotated[tuple[str, ...] | None, Flag("--judge", "NAME")] = None
    """only this judge; repeatable"""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "judges", as_names(self.judges) if self.judges else None)


@dataclass(frozen=True, kw_only=True)
class MajorityRule(Options):
    """Choose how labels become one reference."""

    heading: ClassVar[str] = LabelSelection.heading

    majority: Annotated[Majority, Flag()] = "drop"
    """how the labels of several annotators become one reference"""


@dataclass(frozen=True, kw_only=True)
class MeasureOptions(JudgeSelection, MajorityRule):
    """Select the judgments and labels that count, and what is computed of them.

    Without `annotators`, items with two or more count; with one or more if no item has two, and for systems, whose reference is a mean.
    """

    heading: ClassVar[str] = "how to compare"

    by: Annotated[Names, Flag(metavar="KEYS")] = (*ALWAYS, "temperature")
    """keys to group by, such as system or any key of the items (default: language,task,metric,judge,variant,temperature)"""
    level: Annotated[Level, Flag()] = "item"
    """compare items, or means of systems"""
    standardise: Annotated[Standardise, Flag(setting=True)] = "none"
    """annotator: correlations on interval scales use scores standardised by person"""
    versus: Annotated[tuple[str, str] | None, Reads(partial(key_and_value, "--versus judge=NAME")), Flag(metavar="KEY=NAME")] = None
    """add paired differences from one judge, variant, temperature or source: judge=gpt-4o"""
    seed: Annotated[Seed, Flag(metavar="N", setting=True)] = 0
    """seed for the bootstrap"""
    resamples: int = RESAMPLES
    """resamples of the bootstrap"""
    intervals: frozenset[str] | None = None
    """the statistics that have an interval in a grid of more than 500 cells; None: all, as in smaller grids"""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "by", as_names(self.by))

    @property
    def drawing(self) -> Drawing:
        """The seed and the resamples of all intervals."""
        return {"seed": self.seed, "resamples": self.resamples}


BY_METRIC = MeasureOptions(by=("language", "metric", "judge", "variant", "temperature"))
"""Cells that pool tasks."""


def of_rule(majority: Rule, annotators: str) -> MeasureOptions:
    """Return the options of a board's rule: annotators' aggregate, and the number of annotators that an item needs (`2+`; empty: default).

    >>> of_rule("median", "3").annotators
    Annotators(least=3, exactly=True)
    """
    return MeasureOptions(annotators=Annotators.parse(annotators) if annotators else None, majority=majority)


def annotators_needed(options: MeasureOptions, most: int) -> Annotators:
    """Return the number of annotators that an item needs to count. `most` is the largest number that any item has.

    >>> str(annotators_needed(MeasureOptions(), most=3)), str(annotators_needed(MeasureOptions(), most=1))
    ('2+', '1+')
    """
    return options.annotators or Annotators(2 if most > 1 and options.level == "item" else 1)
