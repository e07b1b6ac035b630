"""The meaning of files with scores, as options and mapping files with the same names say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness.content.problems import scale_complaints
from harness.content.specs import read_spec
from harness.errors import UsageError
from harness.exchange.labels.mapping import parse_categories, parse_pairs, parse_scales
from harness.exchange.scores.score_options import ScoreImportOptions
from harness.model import Scale, Score
from harness.timed_patterns import Pattern

ALL_METRICS = "*"


class ScoreMeaning(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The meaning of scores: metric, judge and scale, which flags and mapping files both can say. Each field is the flag of the same name.

    Attributes:
        item_from, language_from: the field of a record that holds the item's id, or its language.
        id_pattern: a regular expression for ids, with the groups item, metric, language, judge or repeat.
        language, task, metric, judge: of all scores that do not say it.
        group, system: fields that become keys of new items.
        preset: the field names of score records, by the name of a program.
        scales: by metric; a scale is never guessed.
        categories: `{metric: {word: score}}`; `*` for every metric.
        rename, drop: metrics.
        texts: fields that become texts of new items.
        records: the field names of score records, under `[records]` of a mapping file.
    """

    item_from: str | None = None
    language_from: str | None = None
    id_pattern: str | None = None
    language: str | None = None
    task: str | None = None
    metric: str | None = None
    judge: str | None = None
    group: str | None = None
    system: str | None = None
    preset: str | None = None
    scales: dict[str, Scale] = {}
    categories: dict[str, dict[str, Score]] = {}
    rename: dict[str, str] = {}
    drop: tuple[str, ...] = ()
    texts: dict[str, str] = {}
    records: dict[str, Any] = {}

    def categories_of(self, metric: str) -> Mapping[str, Score]:
        """The words that stand for scores of a metric."""
        return {**self.categories.get(ALL_METRICS, {}), **self.categories.get(metric, {})}


def read_meaning(options: ScoreImportOptions) -> ScoreMeaning:
    """Return what options say of scores, and where they say nothing what their mapping files do; tables are joined key by key.

    Raises UsageError for a text that cannot be read or a scale that cannot be, ContentError for a file.
    """
    files = [text for text in options.map if text.endswith(".toml")]
    read: dict[str, Any] = {
        "scales": parse_scales(options.scale),
        "categories": parse_map([text for text in options.map if text not in files]),
        "rename": parse_pairs(options.rename, "--rename"),
        "texts": parse_pairs(options.text, "--text"),
    }
    said = {name: getattr(options, name) for name in ScoreMeaning.__struct_fields__ if hasattr(options, name)} | read
    for text in files:
        written = msgspec.structs.asdict(read_spec(Path(text), ScoreMeaning))
        stated = {name: value for name, value in said.items() if value not in (None, (), {})}
        said = written | {name: {**written[name], **value} if isinstance(value, dict) else value for name, value in stated.items()}
    for name, scale in said["scales"].items():
        for problem, _ in scale_complaints(scale, needs_best=False):
            raise UsageError(f"the scale of '{name}': {problem}")
    return ScoreMeaning(**said)


def parse_map(texts: Iterable[str]) -> dict[str, dict[str, Score]]:
    """Read `C=1,P=0.5,I=0` or, for one metric, `METRIC:C=1,P=0.5`. Raises UsageError for another form.

    >>> parse_map(["C=1,P=0.5", "tone:good=2"])
    {'*': {'C': 1, 'P': 0.5}, 'tone': {'good': 2}}
    """
    pairs = []
    for text in texts:
        metric, colon, rest = text.partition(":")
        name, listed = (metric, rest) if colon and "=" not in metric else (ALL_METRICS, text)
        pairs += [f"{name}:{pair}" for pair in listed.split(",")]
    try:
        return parse_categories(pairs)
    except UsageError:
        raise UsageError(
            f"--map needs WORD=SCORE pairs such as C=1,P=0.5,I=0, or the name of a TOML file; got '{' '.join(texts)}'"
        ) from None


def id_pattern(text: str | None) -> Pattern | None:
    """The pattern of ids. Raises UsageError for one that is no regular expression or names nothing."""
    if text is None:
        return None
    try:
        pattern = Pattern(text)
    except ValueError as err:
        raise UsageError(f"--id-pattern {text}: {err}") from None
    group_names = {"item", "metric", "language", "judge", "repeat"}
    if not pattern.names or pattern.names - group_names:
        raise UsageError(
            f"--id-pattern {text}: name its groups, such as (?P<item>.+):(?P<metric>.+); the names are {', '.join(sorted(group_names))}"
        )
    return pattern
