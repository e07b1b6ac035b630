"""A key that stands in the wrong table of a TOML file is refused with its line and its place: it would move numbers, or be lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest

from harness.boards.card import JudgeCard
from harness.content.problems import key_line
from harness.content.specs import Board, DatasetCard, LabelMapping, Pack, Rubric, Task, read_spec
from harness.errors import ContentError
from harness.exchange.scores.score_import import ScoreMeaning
from harness.exchange.scores.score_records import RecordNames
from harness.gate.policy import Policy
from harness.judges import Panel
from harness.prompts.custom_prompt import OwnPrompt
from harness.runs.prices import Price

KINDS = (Board, DatasetCard, JudgeCard, LabelMapping, OwnPrompt, Pack, Panel, Policy, Price, RecordNames, Rubric, ScoreMeaning, Task)
SCALE = 'kind = "ordinal"\nclasses = [0, 1]\n'
TOP = "at the top of the file, above the first [table]"
CASES = {
    "below a table": (f'id = "x"\n[metrics.tone]\n{SCALE}\n[metrics]\nsampling = "random"\n', 7, f"in [metrics] and belongs {TOP}"),
    "among metrics": ('id = "x"\n[metrics]\ntone = {kind = "nominal", classes = ["a", "b"]}\nsampling = "random"\n', 4, TOP),
    "in a scale": (f'id = "x"\n[metrics.tone]\n{SCALE}annotators = "persistent"\n', 5, f"in [metrics.tone]; it belongs {TOP}"),
    "as a task": ('id = "x"\n[tasks]\nmine = "summarize"\nsampling = "random"\n', 4, f"'sampling' stands in [tasks] and belongs {TOP}"),
    "above its table": ('id = "x"\nrule = "all"\n[asked]\n', 2, "field `rule`; it belongs in [asked]"),
    "misspelt": ('id = "x"\n[asked]\nrules = "all"\n', 3, "unknown field `rules` in [asked]. Did you mean 'rule'?"),
    "same word in a text": ('id = "x"\ncitation = """\nsampling = 1\n"""\n[metrics]\nsampling = "random"\n', 6, TOP),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "words"), CASES.values(), ids=CASES)
def test_a_misplaced_key_is_refused_with_its_line_and_its_place(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = tmp_path / "data.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ContentError) as caught:
        read_spec(path, DatasetCard)
    assert str(caught.value).startswith(f"{path}:{line}: ") and words in str(caught.value)


def test_free_names_may_be_those_of_settings(tmp_path: Path) -> None:
    """A metric called `source`, and a task called like a setting that is any text, are no mistake."""
    path = tmp_path / "data.toml"
    path.write_text(f'id = "x"\n[metrics.source]\n{SCALE}[tasks]\ntitle = "summarize"\n', encoding="utf-8")
    card = read_spec(path, DatasetCard)
    assert list(card.metrics) == ["source"] and card.tasks == {"title": "summarize"}


def test_the_line_of_a_key_is_that_of_its_table() -> None:
    text = 'a = 1\n[x]\na = 2\n["x"."y z"]\n"a" = 3\nb.c = 4\n'
    assert [key_line(text, trail) for trail in (("a",), ("x", "a"), ("x", "y z", "a"), ("x", "y z", "b", "c"), ("x", "q"), ("q",))] == [
        *(1, 3, 5, 6, 2),
        None,
    ]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_table_of_a_file_takes_unknown_keys(kind: type) -> None:
    assert [found.__name__ for found in _structs(kind) if not found.__struct_config__.forbid_unknown_fields] == []


def _structs(kind: Any) -> set[Any]:
    if get_origin(kind) is not None:
        return {found for each in get_args(kind) for found in _structs(each)}
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return set()
    return {kind} | {found for hint in get_type_hints(kind, include_extras=True).values() for found in _structs(hint)}
