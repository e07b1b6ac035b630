"""The user's description of files with scores: in flags, or in a mapping file with the same names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness.content.problems import scale_complaints
from harness.content.specs import read_spec
from harness.errors import UsageError
from harness.exchange.labels.mapping import parse_categories
from harness.model import Scale, Score
from harness.patterns import Pattern

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


class ScoreImportOptions(ScoreMeaning, frozen=True, forbid_unknown_fields=True):
    """Options to read files with scores, and where items come from. Each field is the flag of the same name.

    Attributes:
        kind: one of `SCORE_KINDS`; without it the content decides.
        items: a data folder, or a table, that has the items.
        names: the field names of score records.
        wide_metrics: columns of a table that hold the scores of one metric each.
        filter: one of the filters of lm-eval.
        label_from: the field of lm-eval's documents that holds people's label.
        take_values: whether to take the program's own scores where the file keeps raw replies too.
    """

    kind: str | None = None
    items: str | None = None
    names: dict[str, Any] = {}
    wide_metrics: tuple[str, ...] = ()
    filter: str | None = None
    label_from: str | None = None
    take_values: bool = False
    append: bool = False
    allow_refused: bool = False
    keep_annotators: bool = False
    salt_file: Path | None = None
    id: str | None = None
    title: str | None = None

    def categories_of(self, metric: str) -> Mapping[str, Score]:
        """The words that stand for scores of a metric."""
        return {**self.categories.get(ALL_METRICS, {}), **self.categories.get(metric, {})}


class ScoreMappingFile(ScoreMeaning, frozen=True, forbid_unknown_fields=True):
    """A mapping file: what the flags say, and the field names of score records under `[records]`."""

    records: dict[str, Any] = {}


def with_mapping_file(options: ScoreImportOptions, path: Path) -> ScoreImportOptions:
    """The options of a file, where the flags say nothing; tables are joined key by key. Raises ContentError for another file."""
    written = msgspec.structs.asdict(read_spec(path, ScoreMappingFile))
    written["names"] = written.pop("records")
    stated = {name: value for name, value in msgspec.structs.asdict(options).items() if value not in (None, (), {}, False)}
    joined = {name: {**written[name], **value} if isinstance(value, dict) and name in written else value for name, value in stated.items()}
    return ScoreImportOptions(**(written | joined))


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


def check_scales(scales: Mapping[str, Scale]) -> None:
    """Raise UsageError for a scale that cannot be."""
    for name, scale in scales.items():
        for problem, _ in scale_complaints(scale, needs_best=False):
            raise UsageError(f"the scale of '{name}': {problem}")


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
