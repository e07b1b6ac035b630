"""The mapping: a description of the user's source, in a TOML file or in flags with the same names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness.content.problems import scale_complaints
from harness.content.scale_text import MOST_CLASSES, parse_scale, parse_score
from harness.content.specs import ROLES, LabelMapping, read_spec
from harness.errors import UsageError
from harness.exchange.labels.table_options import MappingOptions
from harness.model import Item, Scale, Score
from harness.options import fields_named
from harness.timed_patterns import TOO_SLOW, Pattern, SlowPattern

ITEM_KEYS = Item.__struct_fields__  # what a text cannot be called


def mapping_of(options: MappingOptions) -> LabelMapping:
    """Return the mapping of a file, changed by what the options say beside it.

    Raises ContentError for a file that is not a mapping, UsageError for contradictions and texts that cannot be read.

    >>> mapping_of(MappingOptions(scale=("tone=0,1:best=1",), language="ja")).metrics["tone"].best
    1
    """
    values = {name: getattr(options, name) for name in fields_named(MappingOptions) if name in LabelMapping.__struct_fields__}
    values |= {
        "columns": parse_pairs(options.column, "--column", ROLES),
        "texts": parse_pairs(options.text, "--text"),
        "rename": parse_pairs(options.rename, "--rename"),
        "categories": parse_categories(options.category),
        "metrics": parse_scales(options.scale),
    }
    return load_mapping(options.map, values)


def load_mapping(path: Path | None, flags: Mapping[str, Any]) -> LabelMapping:
    """Return the mapping of a TOML file, changed by the flags: tables are joined key by key, other values are replaced.

    Raises ContentError for a file that is not a mapping, UsageError for contradictions.
    """
    written = read_spec(path, LabelMapping) if path else LabelMapping()
    stated = {name: value for name, value in flags.items() if value not in (None, (), {})}
    joined = {name: {**getattr(written, name), **value} if isinstance(value, dict) else value for name, value in stated.items()}
    mapping = msgspec.structs.replace(written, **joined)
    if problems := list(_find_problems(mapping)):
        raise UsageError("\n         ".join(problems))
    return mapping


def with_annotator_of_file(mapping: LabelMapping, source: str | Path) -> LabelMapping:
    r"""The mapping with the annotator that `annotator_from_file` finds in the name of the file: its first group, or all that it matches.

    Raises UsageError for a name that does not fit.

    >>> with_annotator_of_file(LabelMapping(annotator_from_file=r"ratings_(.+)\.csv"), "forms/ratings_eva.csv").annotator
    'eva'
    """
    if mapping.annotator_from_file is None:
        return mapping
    flag, name = f"--annotator-from-file {mapping.annotator_from_file}", Path(source).name
    try:
        pattern = Pattern(mapping.annotator_from_file)
        match = pattern.full_match(name)
    except ValueError as err:
        raise UsageError(f"{flag}: {err}") from None
    except SlowPattern:
        raise UsageError(f"{flag} {TOO_SLOW} the name {name}") from None
    annotator = match and (match[1] if pattern.groups else match[0])
    if not annotator or not annotator.strip():
        raise UsageError(rf"{flag}: the name {name} does not fit; the whole name has to, such as ratings_(.+)\.csv")
    return msgspec.structs.replace(mapping, annotator=annotator.strip(), annotator_from_file=None)


def _find_problems(mapping: LabelMapping) -> Iterator[str]:
    if sum(map(bool, (mapping.wide, mapping.wide_annotators, mapping.wide_metrics))) > 1:
        yield "a table with one column for each annotator and metric needs [[wide]] entries (column, annotator, metric) in --map"
    for role in ROLES:
        constant = mapping.constant(role)
        if constant is not None and role in mapping.named_columns:
            yield f"{role} is given twice: as '{constant}' for all rows, and as the column '{mapping.named_columns[role]}'"
        if constant is not None and not constant.strip():
            yield f"{role} is empty"
    if mapping.annotator_from_file is not None and (mapping.annotator is not None or "annotator_id" in mapping.columns):
        yield "the annotator is given twice: by --annotator-from-file, and for all rows or as a column"
    if "score" in mapping.columns and mapping.scored_columns:
        yield "a score column and wide columns exclude each other"
    for field in mapping.texts.keys() & {*ITEM_KEYS}:
        yield f"a text cannot be called '{field}', which is a key of items; name it otherwise (--text NAME={mapping.texts[field]})"
    role_columns = [column for role, column in mapping.columns.items() if role in ("item_id", "annotator_id", "metric", "score")]
    for column, times in Counter([*role_columns, *(wide.column for wide in mapping.scored_columns)]).items():
        if times > 1:
            yield f"the column '{column}' has two roles"
    for name in (*mapping.flip, *mapping.categories, *mapping.metrics):
        if name in mapping.rename:
            yield f"metric '{name}' is renamed to '{mapping.rename[name]}'; use the new name"
    for name, scale in mapping.metrics.items():
        yield from (f"the scale of '{name}': {problem}" for problem, _ in scale_complaints(scale, needs_best=False))


def scale_hint(name: str, scale: Scale) -> str:
    """Say which kind of scale with three scores or more was taken, why, what it means for verdicts, and which flag takes the other kind.

    >>> scale_hint("m", Scale(kind="interval", min=1, max=3)).split("; ")[1]
    'if only equal scores agree, give the classes: --scale m=1..3'
    """
    taken = f"'{name}' is on the {scale.kind} scale {scale.describe()}, because "
    if scale.kind == "interval":
        means = "an interval was given: fractions are scores too, and verdicts take two scores as closer the less they differ"
        whole_limits = scale.min is not None and scale.max is not None and float(scale.min).is_integer() and float(scale.max).is_integer()
        low, high = (int(scale.min or 0), int(scale.max or 0)) if whole_limits else (0, 0)
        classes = f"{low}..{high}" if 0 < high - low <= MOST_CLASSES else "0,1,2"
        return f"{taken}{means}; if only equal scores agree, give the classes: --scale {name}={classes}"
    means = "whole numbers or words were given: only equal scores agree, and verdicts take a score that is one off as wrong"
    numbers = [value for value in scale.classes if not isinstance(value, str)]
    interval = f"--scale {name}={min(numbers)}..{max(numbers)}:kind=interval" if numbers else ""
    return f"{taken}{means}{f'; if close scores nearly agree, say so: {interval}' if interval else ''}"


# The text forms of the flags

PAGE_BESIDE = "NAME=PAGE, such as Leaderboards=boards/index.html"


def parse_pairs(texts: Iterable[str], flag: str, keys: Iterable[str] = (), form: str = "NAME=VALUE") -> dict[str, str]:
    """Read `NAME=VALUE` texts. Raises UsageError for another form, a key that is not one of `keys` (if given), or a repeated key.

    Messages call the form as the flag's help does: `form`.

    >>> parse_pairs(["item_id=ID", "score=a=b"], "--column")
    {'item_id': 'ID', 'score': 'a=b'}
    """
    choices, pairs = tuple(keys), {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not (sign and name.strip() and value):
            raise UsageError(f"{flag} needs {form}; got '{text}'")
        if choices and name not in choices:
            raise UsageError(f"{flag} {text}: '{name}' is not one of {', '.join(choices)}")
        if name in pairs:
            raise UsageError(f"{flag} names '{name}' twice")
        pairs[name] = value
    return pairs


def parse_categories(texts: Iterable[str]) -> dict[str, dict[str, Score]]:
    """Read `METRIC:CATEGORY=SCORE` texts, by metric. Raises UsageError for another form.

    >>> parse_categories(["tone:Good=2", "tone:Bad=0"])
    {'tone': {'Good': 2, 'Bad': 0}}
    """
    categories: dict[str, dict[str, Score]] = {}
    for text in texts:
        metric, colon, pair = text.partition(":")
        name, sign, value = pair.rpartition("=")
        if not (colon and sign and metric and name and value):
            raise UsageError(f"--category needs METRIC:CATEGORY=SCORE; got '{text}'")
        if name in categories.setdefault(metric, {}):
            raise UsageError(f"--category names '{name}' of '{metric}' twice")
        categories[metric][name.strip()] = parse_score(value)
    return categories


def parse_scales(texts: Iterable[str]) -> dict[str, Scale]:
    """Read `METRIC=CLASSES[:best=SCORE][:kind=KIND]` texts as scales (see `parse_scale`). Raises UsageError for another form.

    >>> parse_scales(["tone=0,1,2:best=2"])["tone"]
    Scale(kind='ordinal', classes=(0, 1, 2), min=None, max=None, best=2, swap={}, steps=())
    """
    return {name: parse_scale(text, f"--scale {name}=") for name, text in parse_pairs(texts, "--scale").items()}
