"""The words of a prompt: English for every language, or the items' own language where a pack says them, completely."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from harness.content import Library
from harness.content.specs import PLACEHOLDERS, PromptWords
from harness.errors import ContentError, UsageError
from harness.model import Condition, Item, Variant, parse_variant
from harness.prompts import PromptSpec, english_wording, own_language_wording, words_of
from harness.prompts.templates import render_template
from harness.prompts.wording import ENGLISH, FURTHER_WORDS
from harness.text import fill_placeholders

MakeSpec = Callable[..., PromptSpec]

# English


def test_english_words_hold_just_the_names_that_are_put_in() -> None:
    for key, text in msgspec.structs.asdict(ENGLISH).items():
        names = PLACEHOLDERS.get(key, ())
        filled = fill_placeholders(text, **dict.fromkeys(names, "value"))
        assert "{" not in filled and filled.count("value") == text.count("value") + len(names), key


def test_english_speaks_of_any_language(library: Library) -> None:
    task, rubric = library.task("open_prompt"), library.rubric("task_quality")
    for tag, name in (("ja", "Japanese"), ("pt-BR", "Portuguese"), ("zh", "Chinese")):
        wording = english_wording(task, (rubric,), tag)
        assert wording.words == msgspec.structs.replace(ENGLISH, **dict.fromkeys(FURTHER_WORDS, "")) and name in wording.language_name
        assert wording.task.fields == {key: field.title for key, field in task.fields.items()}
        assert list(wording.rubrics) == ["task_quality"] and list(wording.rubrics["task_quality"].criteria) == ["0", "1", "2"]


# The items' own language


@pytest.mark.parametrize(("tag", "name"), [("ja", "日本語"), ("cs", "čeština")])
def test_own_words_are_the_packs_and_call_the_language_by_its_own_name(library: Library, tag: str, name: str) -> None:
    task, rubric = library.task("open_prompt"), library.rubric("task_quality")
    wording, told = own_language_wording(library, task, (rubric,), tag), library.instructions(tag)
    assert wording.language_name == name
    assert wording.words == msgspec.structs.replace(told.words, **dict.fromkeys(FURTHER_WORDS, ""))
    assert wording.task == told.tasks["open_prompt"]
    assert wording.rubrics == {"task_quality": told.rubrics["task_quality"]}


def test_a_prompt_in_the_own_language_has_no_english_but_keys_and_names(make_spec: MakeSpec, library: Library) -> None:
    for variant in ("own-language", "joint+detailed+own-language", "score-only+own-language"):
        spec = make_spec(parse_variant(variant), language="cs")
        item = Item("i", "cs", "summarize", fields={name: "Text." for name in spec.text_names})
        told = "\n".join(message.content for message in render_template(spec).fill(item).messages)
        ours = msgspec.structs.asdict(ENGLISH).values()
        assert not [
            words for words in ours if words.partition("{")[0].strip() and len(words) > 12 and words.partition("{")[0] in told + "\0"
        ]
        assert library.instructions("cs").words.system in told


@pytest.fixture
def pack(library: Library, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Library]:
    """A library that has instructions in Greek: the Czech ones, with changes."""

    def make(**changes: object) -> Library:
        here = Library()
        here.__dict__["instruction_files"] = {"el": Path("el/instructions.toml")}
        told = msgspec.structs.replace(library.instructions("cs"), tag="el", **changes)
        monkeypatch.setattr(here, "instructions", lambda tag: told)
        return here

    return make


def test_without_instructions_the_packs_that_have_some_are_named(library: Library) -> None:
    choice = r"choose from: cs, de, es, fr, it, ja, pt-BR, zh"
    with pytest.raises(UsageError, match=r"no instructions in 'el' for the variant own-language\.\n +" + choice):
        own_language_wording(library, library.task("open_prompt"), (), "el")


def test_a_task_or_rubric_that_is_not_translated_is_named_with_the_file(pack: Callable[..., Library], library: Library) -> None:
    here = pack(tasks={"open_prompt": library.instructions("cs").tasks["open_prompt"]}, rubrics={})
    with pytest.raises(ContentError, match=r"el/instructions\.toml: \[tasks\.summarize\] is missing"):
        own_language_wording(here, here.task("summarize"), (), "el")
    with pytest.raises(ContentError, match=r"el/instructions\.toml: \[rubrics\.task_quality\] is missing"):
        own_language_wording(here, here.task("open_prompt"), (here.rubric("task_quality"),), "el")


@pytest.mark.parametrize("metric", ["more_vowels", "more_readable"])
def test_a_question_that_makes_no_sense_in_a_language_is_left_out_with_an_option(library: Library, metric: str) -> None:
    with pytest.raises(ContentError, match=rf"\[rubrics\.{metric}\] is missing: translate it, or leave it out with --metrics"):
        own_language_wording(library, library.task("compare_responses"), (library.rubric(metric),), "ja")


def test_a_pair_is_told_of_pairs_and_two_languages_are_named_in_the_first_of_them(library: Library) -> None:
    told = library.instructions("ja")
    task = library.task("compare_responses")
    wording = own_language_wording(library, task, (library.rubric("preference"),), "ja", words_of(task, Condition(Variant(persona=True))))
    kept = {name for name in FURTHER_WORDS if getattr(wording.words, name)}
    assert kept == {"system_pair", "meant_for_pair", "persona"} and wording.words.system_pair == told.words.system_pair
    both = {"language": "ja", "source_language": "cs"}
    translating = own_language_wording(library, library.task("translate"), (library.rubric("translation_quality"),), both)
    assert "チェコ語の文章" in translating.task.instruction and "日本語に翻訳" in translating.task.instruction


def test_a_translation_with_gaps_is_refused(pack: Callable[..., Library], library: Library) -> None:
    told = library.instructions("cs")
    task = msgspec.structs.replace(told.tasks["open_prompt"], fields={"prompt": "Požadavek"})
    criteria = {score: points for score, points in told.rubrics["task_quality"].criteria.items() if score != "1"}
    rubric = msgspec.structs.replace(told.rubrics["task_quality"], criteria=criteria)
    here = pack(tasks=told.tasks | {"open_prompt": task}, rubrics=told.rubrics | {"task_quality": rubric})
    with pytest.raises(ContentError, match=r"\[tasks\.open_prompt\.fields\] lacks output; translate it"):
        own_language_wording(here, here.task("open_prompt"), (), "el")
    with pytest.raises(ContentError, match=r"\[rubrics\.task_quality\.criteria\] lacks 1; translate it"):
        own_language_wording(here, here.task("summarize"), (here.rubric("task_quality"),), "el")


def test_braces_in_content_reach_the_prompt_as_they_are(pack: Callable[..., Library], make_spec: MakeSpec) -> None:
    words: PromptWords = msgspec.structs.replace(ENGLISH, system="Say {language} or {nothing} or {0}.", question="{title}? {score}")
    here = pack(words=words)
    rubric = here.rubric("task_quality")
    wording = own_language_wording(here, here.task("open_prompt"), (rubric,), "el")
    spec = PromptSpec(wording, {rubric.id: rubric.scale}, Variant(language="own"), "el", ("prompt", "output"))
    told, asked = (
        render_template(spec).fill(Item("i", "el", "open_prompt", fields={"prompt": "{score}", "output": "{title} {language}"})).messages
    )
    assert told.content.startswith("Say {language} or {nothing} or {0}.")
    assert f"{wording.rubrics['task_quality'].title}? {{score}}" in asked.content
    assert '"""\n{score}\n"""' in asked.content and '"""\n{title} {language}\n"""' in asked.content


def test_what_is_said_about_the_justification_stands_in_its_language(library: Library) -> None:
    from harness.prompts import with_reasons_in

    task, rubric = library.task("open_prompt"), library.rubric("task_quality")
    english, own = english_wording(task, (rubric,), "ja"), own_language_wording(library, task, (rubric,), "ja")
    mixed = with_reasons_in("ja", english, library)
    assert mixed.words.justification_key == own.words.justification_key and mixed.words.system == english.words.system
    assert with_reasons_in("en", own, library).words.short_reason == "a short reason in English"


def test_instructions_in_a_language_ask_about_english_items_too(library: Library) -> None:
    task, rubric = library.task("open_prompt"), library.rubric("task_quality")
    wording = own_language_wording(library, task, (rubric,), "en", language="ja")
    of_japanese_items = own_language_wording(library, task, (rubric,), "ja")
    assert wording.words == of_japanese_items.words and wording.language_name == "英語"
