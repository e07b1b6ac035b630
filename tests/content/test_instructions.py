"""What judges are told in other languages says what the English says: as many points, the same names, in the language itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
import pytest

from harness.content.library import Library
from harness.content.specs import PLACEHOLDERS, Instructions, PromptWords
from harness.parse.written_texts import WrittenText, clean_text
from harness.prompts.wording import ENGLISH

LIBRARY = Library()
TAGS = list(LIBRARY.instruction_files)
# Without letters that are vowels, and without syllables that divide words, these two questions make no sense.
SENSELESS = {"ja": {"more_vowels", "more_readable"}, "zh": {"more_vowels", "more_readable"}}
# Questions of boards on people's labels that nobody has translated yet: they are asked in English, as the boards say.
ENGLISH_ONLY = {
    "answer_exam_question",
    "answer_sensitive_question",
    "answer_trick_question",
    "compare_advertisements",
    "detoxify",
    "example_sentence",
    "rate_harm",
    "summary_beside_reference",
    "translate_tokenised",
    "write_story",
}
WITH_CONVERSATIONS = ("cs", "ja")  # languages with items of the task rate_conversation
ENGLISH_ONLY_RUBRICS = {metric for task in ENGLISH_ONLY for metric in LIBRARY.task(task).metrics} - {"relevance_to_prompt"}
# Shorter texts (titles, "Score 1:") say too little for a language to be known by.
LONG_ENOUGH = 28
SENTENCES = (".simple", ".description", ".instruction")
IN_THE_LANGUAGE = {
    "cs": "česky",
    "de": "auf Deutsch",
    "es": "en español",
    "fr": "en français",
    "it": "in italiano",
    "ja": "日本語で",
    "pt-BR": "em português",
    "zh": "用中文写",
}


def texts_of(found: Instructions) -> Iterator[tuple[str, str]]:
    """Every text, with its place."""
    yield from ((f"words.{key}", text) for key, text in msgspec.structs.asdict(found.words).items())
    for name, task in found.tasks.items():
        yield f"tasks.{name}.instruction", task.instruction
        yield from ((f"tasks.{name}.fields.{key}", title) for key, title in task.fields.items())
    for name, rubric in found.rubrics.items():
        yield f"rubrics.{name}.title", rubric.title
        yield f"rubrics.{name}.simple", rubric.simple
        yield f"rubrics.{name}.description", rubric.description
        for score, points in rubric.criteria.items():
            yield from ((f"rubrics.{name}.criteria.{score}", point) for point in points)
    for name, words in found.writing.items():
        yield from ((f"writing.{name}.{key}", getattr(words, key)) for key in ("system", "instruction", "meant_for", "reminder"))


def quoted_in_words(words: PromptWords) -> dict[str, set[str]]:
    """The keys and values of the answer that words name in straight quotes."""
    quoted = {key: set(re.findall(r'"(.*?)"', text)) for key, text in msgspec.structs.asdict(words).items()}
    return {key: found for key, found in quoted.items() if found}


def test_there_are_some() -> None:
    assert sorted(set(LIBRARY.tags_with_items()) - {"en"}) == TAGS


def test_table_of_placeholders_is_that_of_the_english_words() -> None:
    found = {key: tuple(re.findall(r"\{(.*?)\}", text)) for key, text in msgspec.structs.asdict(ENGLISH).items()}
    assert {key: names for key, names in found.items() if names} == PLACEHOLDERS


@pytest.mark.parametrize("tag", TAGS)
def test_languages_are_what_they_say(tag: str) -> None:
    from py3langid import langid

    wrong = []
    for place, text in texts_of(LIBRARY.instructions(tag)):
        plain = re.sub(r'\{.*?\}|".*?"', "", text)
        if len(plain) >= LONG_ENOUGH and langid.classify(plain)[0] != tag.partition("-")[0]:
            wrong.append(place)
    assert wrong == []


@pytest.mark.parametrize("tag", TAGS)
def test_every_task_and_rubric_is_translated(tag: str) -> None:
    found = LIBRARY.instructions(tag)
    without_items = set() if tag in WITH_CONVERSATIONS else {"rate_conversation"}
    of_these = {metric for task in without_items for metric in LIBRARY.task(task).metrics}
    assert set(found.tasks) == set(LIBRARY.task_files) - ENGLISH_ONLY - without_items
    assert set(found.rubrics) == set(LIBRARY.rubric_files) - SENSELESS.get(tag, set()) - ENGLISH_ONLY_RUBRICS - of_these


@pytest.mark.parametrize("tag", TAGS)
def test_every_request_to_write_is_translated_with_its_sentences(tag: str) -> None:
    found = LIBRARY.instructions(tag).writing
    assert set(found) == set(LIBRARY.writing_files)
    for name, words in found.items():
        english = LIBRARY.writing(name).words
        assert len(words.instruction.strip().splitlines()) == len(english.instruction.strip().splitlines()), name
        assert re.findall(r"\{.*?\}", words.meant_for) == ["{language}"], name


@pytest.mark.parametrize("tag", TAGS)
def test_lead_ins_are_removed(tag: str) -> None:
    for name, words in LIBRARY.instructions(tag).writing.items():
        assert len(set(words.lead_ins)) == len(words.lead_ins) > 0, name
        for opening in words.lead_ins:
            cleaned = clean_text(f"{opening.capitalize()}\n\n1 2 3", words.lead_ins)
            assert cleaned == WrittenText("1 2 3", ("lead-in",)), f"{name}: {opening}"


@pytest.mark.parametrize("tag", TAGS)
def test_tasks_have_the_sentences_languages_and_texts_of_the_english(tag: str) -> None:
    for name, found in LIBRARY.instructions(tag).tasks.items():
        english = LIBRARY.task(name)
        assert list(found.fields) == list(english.fields), name
        assert len(set(found.fields.values())) == len(found.fields), name
        assert len(found.instruction.strip().splitlines()) == len(english.instruction.strip().splitlines()), name
        assert set(re.findall(r"\{.*?\}", found.instruction)) == set(re.findall(r"\{.*?\}", english.instruction)), name


@pytest.mark.parametrize("tag", TAGS)
def test_rubrics_have_the_points_and_sentences_of_the_english(tag: str) -> None:
    for name, found in LIBRARY.instructions(tag).rubrics.items():
        english = LIBRARY.rubric(name)
        criteria = [(str(group.score), len(group.points)) for group in english.detailed.criteria]
        assert [(score, len(points)) for score, points in found.criteria.items()] == criteria, name
        assert len(found.description.strip().splitlines()) == len(english.detailed.description.strip().splitlines()), name
        scores = [line.partition(":")[0] for line in english.simple.instruction.strip().splitlines()[1:]]
        lines = [re.match(r"([\w ]+)\u00a0?[:：]", line) for line in found.simple.strip().splitlines()[1:]]
        assert [line and line[1] for line in lines] == scores, name


@pytest.mark.parametrize("tag", TAGS)
def test_a_text_has_one_name_in_all_tasks(tag: str) -> None:
    """A text that two tasks share is called the same in both, and so is the same English heading."""
    called: dict[str, set[str]] = {}
    for name, found in LIBRARY.instructions(tag).tasks.items():
        for key, title in found.fields.items():
            called.setdefault(LIBRARY.task(name).fields[key].title, set()).add(title)
    assert {heading: titles for heading, titles in called.items() if len(titles) > 1} == {}


@pytest.mark.parametrize("tag", TAGS)
def test_keys_of_the_answer_stay_english_in_straight_quotes(tag: str) -> None:
    english, found = map(quoted_in_words, (ENGLISH, LIBRARY.instructions(tag).words))
    assert found == english and english["score_key"] == {"score"}


@pytest.mark.parametrize("tag", TAGS)
def test_reasons_are_asked_for_in_the_language(tag: str) -> None:
    found = LIBRARY.instructions(tag).words
    assert IN_THE_LANGUAGE[tag] in found.justification_key
    assert IN_THE_LANGUAGE[tag] in found.short_reason


@pytest.mark.parametrize("tag", TAGS)
def test_no_text_stands_twice_under_a_metric(tag: str) -> None:
    for name, rubric in LIBRARY.instructions(tag).rubrics.items():
        points = [point for group in rubric.criteria.values() for point in group]
        assert len(set(points)) == len(points), name


@pytest.mark.parametrize("tag", ["ja", "zh"])
def test_full_width_punctuation(tag: str) -> None:
    for place, text in texts_of(LIBRARY.instructions(tag)):
        plain = re.sub(r"\{.*?\}", "", text)
        assert not re.search(r"[,.:;!?()“”„]", plain), f"{place}: {text}"


@pytest.mark.parametrize(
    ("tag", "foreign"), [("cs", "’”‘«»"), ("de", "’”‘«»"), ("es", "’“„"), ("fr", "'“„"), ("it", "'“„"), ("pt-BR", "’„")]
)
def test_no_foreign_punctuation(tag: str, foreign: str) -> None:
    for place, text in texts_of(LIBRARY.instructions(tag)):
        assert not re.search(f"[{foreign}「」，。：]", text), f"{place}: {text}"
        assert not re.search('"', re.sub(r'"[a-z]*"', "", text)), f"{place}: {text}"


@pytest.mark.parametrize("tag", TAGS)
def test_sentences_end_in_a_full_stop(tag: str) -> None:
    for place, text in texts_of(LIBRARY.instructions(tag)):
        if place.startswith("writing.") or ".criteria." in place or (".fields." not in place and place.endswith(SENTENCES)):
            first, *others = text.strip().splitlines()
            asks = place.endswith(".simple") and first.endswith(("?", "？"))  # some simple instructions are a question and nothing else
            for line in others if asks else (first, *others):
                assert line.endswith((".", "。")), f"{place}: {line}"


def test_french_signs_of_two_parts_have_a_space_that_does_not_break() -> None:
    for place, text in texts_of(LIBRARY.instructions("fr")):
        assert not re.search(r"[^\u00a0]:|[^\u202f][;?!]", text), f"{place}: {text}"
