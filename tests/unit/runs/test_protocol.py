"""What a specification may not say, and what a protocol's name depends on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.errors import UsageError
from harness.runs import RunProtocol, RunSpec, open_judges, prepare


@pytest.mark.parametrize(
    "spec",
    [RunSpec(temperatures=(0.0, 0.0)), RunSpec(variants=("single", "simple")), RunSpec(variants=("detailed", "single+detailed"))],
    ids=["temperature", "two names of one variant", "short and long name"],
)
def test_a_condition_named_twice_is_refused(spec: RunSpec) -> None:
    with pytest.raises(UsageError, match="twice"):
        prepare(replace(spec, languages=("cs",)))


def conditions(**spec: Any) -> list[str]:
    return [str(condition) for condition in prepare(RunSpec(languages=("cs",), **spec)).protocol.questions.conditions]


def test_the_text_as_it_is_is_always_asked_about_beside_its_perturbations() -> None:
    assert conditions(perturbations=("shuffle-words:0.1,0.5", "inject")) == [
        "single T=0",
        "single T=0 shuffle-words:0.1",
        "single T=0 shuffle-words:0.5",
        "single T=0 inject",
    ]


def test_conditions_are_every_variant_at_every_temperature_top_p_and_perturbation() -> None:
    found = conditions(
        variants=("single", "few-shot"), temperatures=(0.0, 1.0), top_ps=(None, 0.9), perturbations=("truncate",), segmenters=("icu",)
    )
    assert len(found) == len(set(found)) == 2 * 2 * 2 * 2
    assert "single+fewshot:2 T=1 top_p=0.9 truncate:0.5" in found


def test_perturbations_are_made_with_every_segmenter_that_they_heed() -> None:
    assert conditions(perturbations=("shuffle-words", "inject"), segmenters=("icu", "whitespace")) == [
        "single T=0",
        "single T=0 shuffle-words:0.1",
        "single T=0 inject",
        "single T=0 shuffle-words:0.1@whitespace",
    ]


def test_a_perturbation_that_is_named_twice_is_made_once() -> None:
    assert conditions(perturbations=("truncate", "truncate:0.5")) == ["single T=0", "single T=0 truncate:0.5"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (RunSpec(variants=("jiont",)), "unknown variant 'jiont'"),
        (RunSpec(variants=("reversed",)), "only a joint call"),
        (RunSpec(perturbations=("shufle-words",)), r"no perturbation 'shufle-words'\. Did you mean 'shuffle-words'"),
        (RunSpec(perturbations=("shuffle-words:2",)), "2.0 is not a dose of 'shuffle-words'; doses are numbers from 0.05 to 1"),
        (RunSpec(perturbations=("inject:1",)), "'1' is not a dose|'inject' has no dose"),
        (RunSpec(perturbations=("shuffle-words",), segmenters=("mecab",)), "no segmenter 'mecab'"),
        (RunSpec(perturbations=("inject@icu",)), "does not work on words, so it has no segmenter"),
        (RunSpec(top_ps=(0.5, 0.5)), "twice"),
        (RunSpec(variants=("prompt:polite@1f2e3d4c",)), "the prompt 'polite@1f2e3d4c' is not here; --prompt FILE asks with a prompt"),
        (RunSpec(variants=("own-language",)), "no native reader has reviewed the instructions in 'cs'; --allow-unreviewed uses them"),
    ],
    ids=["axis", "order", "kind", "dose", "without dose", "segmenter", "no segmenter", "top-p", "own prompt", "unreviewed"],
)
def test_a_condition_that_cannot_be_is_explained(spec: RunSpec, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        prepare(replace(spec, languages=spec.languages or ("cs",)))


def test_english_items_are_asked_about_in_their_own_language_anyway() -> None:
    prepared = prepare(RunSpec(variants=("own-language",), languages=("en",)))
    assert prepared.protocol.wording.instructions == {}
    frames = [
        list(prepare(RunSpec(variants=(text,), languages=("en",), limit=1)).plan(None).all_prompt_ids())
        for text in ("single", "own-language")
    ]
    assert frames[0] == frames[1]


def test_unreviewed_instructions_may_be_allowed() -> None:
    assert conditions(variants=("single", "own-language"), allow_unreviewed=True) == ["single T=0", "single+own-language T=0"]


def test_two_judges_with_one_name_are_refused(tmp_path: Path) -> None:
    models = []
    for folder in ("a", "b"):
        path = tmp_path / folder / "judge.gguf"
        path.parent.mkdir()
        path.write_bytes(b"GGUF" + folder.encode())
        models.append(f"local/{path}")
    spec = RunSpec(languages=("cs",), judges=tuple(models))
    with pytest.raises(UsageError, match="have the name 'local/judge'"):
        open_judges(spec, prepare(spec), {})


def test_equal_specifications_are_the_same_run_and_others_are_not() -> None:
    first = prepare(RunSpec(languages=("cs", "ja"))).protocol
    assert first.name == prepare(RunSpec(languages=("ja", "cs"))).protocol.name
    same = RunSpec(languages=("cs", "ja"))
    others = [
        RunSpec(languages=("cs",)),
        *(
            replace(same, **{name: value})
            for name, value in {"seed": 1, "repeats": 2, "top_ps": (0.5,), "perturbations": ("inject",), "variants": ("few-shot",)}.items()
        ),
    ]
    assert len({first.name, *(prepare(other).protocol.name for other in others)}) == len(others) + 1
    assert first.name == prepare(replace(same, segmenters=("whitespace",))).protocol.name  # nothing is cut into words


def test_a_protocol_of_an_earlier_store_is_read_with_the_axes_that_it_does_not_name() -> None:
    protocol = prepare(RunSpec(languages=("cs",))).protocol
    old = protocol.flat()
    old["conditions"] = [{"variant": {"call": "single", "instructions": "detailed", "justification": "after"}, "temperature": 0.3}]
    read = RunProtocol.read(msgspec.json.encode(old).decode())
    assert [str(condition) for condition in read.questions.conditions] == ["single+detailed+score-first T=0.3"]


def test_limit_takes_the_first_items_of_each_language_and_task() -> None:
    items = prepare(RunSpec(languages=("cs", "ja"), limit=2)).data.items
    assert len(items) == 2 * 2 * 3
    assert {(item.language, item.task) for item in items} == {
        (tag, task) for tag in ("cs", "ja") for task in ("open_prompt", "continue_writing", "summarize")
    }


def test_the_rule_for_the_reference_is_the_boards_unless_the_user_names_one() -> None:
    usual, strict = (prepare(RunSpec(languages=("cs",), majority=rule)).protocol for rule in (None, "strict"))
    assert (usual.rule.majority, strict.rule.majority) == ("drop", "strict")
    assert prepare(RunSpec(languages=("cs",), majority="drop")).protocol.name == usual.name != strict.name


def test_classes_without_an_order_have_no_median() -> None:
    with pytest.raises(UsageError, match="has classes without an order, so no median; take --majority drop or strict"):
        prepare(RunSpec(board="controls-hard", languages=("cs",), majority="median"))
