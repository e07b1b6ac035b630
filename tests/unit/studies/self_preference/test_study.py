"""What the study of self-preference asks about: pairs, their computed answers, and their texts alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.content import Library
from harness.errors import UsageError
from harness.model import Item
from harness.runs import RunSpec
from harness.runs.preparation import Prepared, prepare
from harness.studies.self_preference.study import STUDY, first_pairs, refused_controls
from tests.conftest import write_rows

LIBRARY = Library()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"item_id": f"{tag}{n}|{system}", "language": tag, "task": "summarize", "group": f"{tag}{n}", "system": system}
        | {"passage": "A passage.", "output": words}
        for tag, texts in (("cs", ("Krátký text.", "Mnohem delší text.")), ("ja", ("短い文章です。", "ずっと長い文章です。")))
        for n in range(3)
        for system, words in zip(("a", "b"), texts, strict=True)
    ]
    write_rows(tmp_path / "data" / "items.jsonl", rows)
    return tmp_path / "data"


def prepared(folder: Path, **more: object) -> Prepared:
    return prepare(RunSpec(study=STUDY.name, data=folder, **more))  # type: ignore[arg-type]


def test_single_texts_are_paired_and_asked_about_alone(folder: Path) -> None:
    asked = [
        (query.item.language, query.item.task, query.metrics[0], query.condition.order, query.condition.shown_source)
        for query in prepared(folder).plan(None).queries()
    ]
    assert {metric for tag, task, metric, _, _ in asked if task == "summarize"} == {"overall_quality", "own_text"}
    assert {(order, shown) for _, task, _, order, shown in asked if task == "summarize"} == {("forward", "none")}
    controls = {
        (tag, metric, order, shown) for tag, _, metric, order, shown in asked if metric in ("longer", "more_vowels", "more_readable")
    }
    assert controls == {
        (tag, m, order, "none")
        for tag, m in (("cs", "longer"), ("cs", "more_vowels"), ("ja", "longer"))
        for order in ("forward", "swapped")
    }
    assert len(asked) == 6 * 2 * 2 * 3 + 12 * 2 + 3 * 3 * 2


def test_the_limit_counts_pairs_and_keeps_both_texts_of_each(folder: Path) -> None:
    items = prepared(folder, limit=1).data.items
    assert sorted(item.item_id for item in items if item.task == "summarize") == ["cs0|a", "cs0|b", "ja0|a", "ja0|b"]
    assert sum("output_a" in item.fields for item in items) == 2


def test_a_text_of_another_system_is_no_part_of_the_first_pairs() -> None:
    pair = Item("p", "cs", "compare_summaries", group="g", fields={"output_a": "x", "output_b": "y", "system_a": "a", "system_b": "b"})
    texts = [Item(f"g|{system}", "cs", "summarize", group="g", system=system) for system in "abc"]
    assert [item.item_id for item in first_pairs([pair, *texts], 1)] == ["p", "g|a", "g|b"]


def test_questions_that_a_language_does_not_have_are_refused_with_their_reason() -> None:
    found = refused_controls(("ja", "cs", "en"), ("longer", "more_vowels", "more_readable"), LIBRARY)
    assert {tag: set(of) for tag, of in found.items()} == {"ja": {"more_vowels", "more_readable"}, "cs": {"more_readable"}}
    assert "no vowel letters" in found["ja"]["more_vowels"]


def test_another_metric_is_no_question_of_the_study(folder: Path) -> None:
    with pytest.raises(UsageError, match="no metric 'task_quality'"):
        prepared(folder, metrics=("task_quality",))


def test_texts_alone_can_be_asked_about(folder: Path) -> None:
    asked = {query.metrics[0] for query in prepared(folder, tasks=("summarize",), limit=1).plan(None).queries()}
    assert asked == {"overall_quality", "own_text"}


def test_a_run_without_any_question_says_why(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"none of the questions more_vowels can be asked about these texts\. more_vowels in ja: vowels"):
        prepared(folder, metrics=("more_vowels",), languages=("ja",))


def test_texts_of_one_system_have_no_pair(folder: Path) -> None:
    rows = [row for row in (folder / "items.jsonl").read_text("utf-8").splitlines() if '"system": "a"' in row or '"system":"a"' in row]
    (folder / "items.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    with pytest.raises(UsageError, match="no source text has outputs of two systems; named are a"):
        prepared(folder)
