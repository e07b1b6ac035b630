"""The mapping: TOML and flags say the same things, flags win, and what cannot be together is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.content.specs import LabelMapping, ScoreColumn
from harness.errors import ContentError, UsageError
from harness.exchange.labels.mapping import load_mapping, parse_categories, parse_pairs, parse_scales
from harness.model import Scale

TOML = """
id = "mine"
language = "ja"
task = "summarize"
annotators = "persistent"
group = "document"
flip = ["tone"]

[columns]
item_id = "ID"

[texts]
output = "ANSWER"

[rename]
flow = "fluency"

[categories.tone]
Good = 2

[metrics.tone]
kind = "ordinal"
classes = [0, 1, 2]
best = 2

[[wide]]
column = "Anna tone"
annotator = "Anna"
metric = "tone"
"""


def test_a_mapping_is_read_from_toml(written: Callable[..., Path]) -> None:
    mapping = load_mapping(written("map.toml", TOML), {})
    assert mapping.named_columns == {"item_id": "ID", "group": "document"} and mapping.texts == {"output": "ANSWER"}
    assert mapping.scored_columns == (ScoreColumn("Anna tone", "Anna", "tone"),)
    assert mapping.metrics["tone"] == Scale(kind="ordinal", classes=(0, 1, 2), best=2)
    assert (mapping.id, mapping.annotators, mapping.flip, mapping.rename) == ("mine", "persistent", ("tone",), {"flow": "fluency"})


def test_flags_win_over_the_file_and_tables_are_joined(written: Callable[..., Path]) -> None:
    flags: dict[str, Any] = {"language": "cs", "task": None, "texts": {"output": "B"}, "flip": ()}
    mapping = load_mapping(written("map.toml", TOML), flags | {"columns": {"split": "S"}})
    assert (mapping.language, mapping.task, mapping.flip) == ("cs", "summarize", ("tone",))
    assert mapping.texts == {"output": "B"} and mapping.columns == {"item_id": "ID", "split": "S"}


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("flips = ['a']", r"map.toml:1: Object contains unknown field `flips`"),
        ("[columns]\nscores = 'a'", r"map.toml:2?.*Invalid enum value 'scores'"),
        ("[metrics.m]\nkind = 'fuzzy'", "map.toml:2: Invalid enum value 'fuzzy'"),
        ("a = [", "map.toml: not valid TOML"),
    ],
)
def test_a_file_that_is_no_mapping_is_named_with_the_line(written: Callable[..., Path], toml: str, words: str) -> None:
    with pytest.raises(ContentError, match=words):
        load_mapping(written("map.toml", toml), {})


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"wide_annotators": ("a",), "wide_metrics": ("b",)}, r"needs \[\[wide\]\] entries"),
        ({"language": "ja", "columns": {"language": "L"}}, "language is given twice: as 'ja' for all rows, and as the column 'L'"),
        ({"annotator": " "}, "annotator_id is empty"),
        ({"columns": {"score": "a"}, "wide_metrics": ("b",)}, "a score column and wide columns exclude each other"),
        ({"columns": {"score": "a", "metric": "a"}}, "the column 'a' has two roles"),
        ({"wide_metrics": ("a", "a")}, "the column 'a' has two roles"),
        ({"rename": {"a": "b"}, "flip": ("a",)}, "metric 'a' is renamed to 'b'; use the new name"),
        (
            {"metrics": {"m": Scale(kind="ordinal", classes=(1,))}},
            "the scale of 'm': a scale of kind 'ordinal' needs at least two classes; found: 1",
        ),
        ({"metrics": {"m": Scale(kind="ordinal", classes=(1, 2), best=3)}}, "best is 3, which is outside the scale"),
        ({"metrics": {"m": Scale(kind="interval", min=5, max=1)}}, "an interval scale needs min and max, with min below max; found 5"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_cannot_be_together_is_refused(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        load_mapping(None, flags)


def test_no_mapping_is_an_empty_one() -> None:
    assert load_mapping(None, {}) == LabelMapping()


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("m=0,1,2:best=2", Scale(kind="ordinal", classes=(0, 1, 2), best=2)),
        ("m=yes,no", Scale(kind="nominal", classes=("yes", "no"))),
        ("m=poor,fair,good:kind=ordinal:best=good", Scale(kind="ordinal", classes=("poor", "fair", "good"), best="good")),
        ("m=1..5:best=5", Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5)),
        ("m=1..5:best=5:kind=interval", Scale(kind="interval", min=1, max=5, best=5)),
        ("m=0.0..1.0", Scale(kind="interval", min=0.0, max=1.0)),
        ("m=0..100:best=100", Scale(kind="interval", min=0, max=100, best=100)),
        ("m=0.5..1.5", Scale(kind="interval", min=0.5, max=1.5)),
    ],
)
def test_scales_can_be_typed(text: str, scale: Scale) -> None:
    assert parse_scales([text]) == {"m": scale}


@pytest.mark.parametrize(
    ("parse", "text", "words"),
    [
        (parse_scales, "m", "--scale needs NAME=VALUE; got 'm'"),
        (parse_scales, "m=0,1:worst=0", "'worst' is not one of best, kind"),
        (parse_scales, "m=0,1:kind=fuzzy", "Invalid enum value 'fuzzy'"),
        (parse_scales, "m=0,0.5,1", "classes are whole numbers or words; for fractions give an interval"),
        (parse_categories, "Good=2", "--category needs METRIC:CATEGORY=SCORE; got 'Good=2'"),
        (parse_categories, "m:=2", "--category needs"),
    ],
)
def test_another_form_is_refused_with_the_right_one(parse: Callable[[list[str]], Any], text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse([text])


def test_the_same_name_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="--text names 'a' twice"):
        parse_pairs(["a=b", "a=c"], "--text")
    with pytest.raises(UsageError, match="--category names 'Good' of 'm' twice"):
        parse_categories(["m:Good=1", "m:Good=2"])
