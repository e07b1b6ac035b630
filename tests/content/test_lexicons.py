"""Words of languages are in the packs and nowhere else: every lexicon is filled, and the engine's source holds none of its words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness
from harness.content import Library
from harness.content.specs import Lexicon
from harness.studies.chiang_lee.commands import IDENTICAL, alter_texts

LIBRARY = Library()
ENGINE = Path(harness.__file__).parent
SOURCES = {
    path.relative_to(ENGINE).as_posix(): path.read_text("utf-8") for path in sorted(ENGINE.rglob("*.py")) if "_content" not in path.parts
}
LOWER_CASE = {name: text.lower() for name, text in SOURCES.items()}

# What may stand in the source although it stands in a lexicon, and why.
LISTS = (
    "announcers",
    "remarks",
    "linking_words",
    "units",
    "out_of",
    "endings",
    "scale_phrases",
    "numbered",
    "refusals",
    "refused_actions",
    "keyboard",
)
# (quotation_marks are left out: parse/choice_on_scale.py strips marks of every script from around a bare score, whatever the language.)
ENGLISH = "en"  # the language of the program: its words stand in names, messages and prompts; only its refusals are looked for
ALSO_ENGLISH = {"note", "score", "point", "points", "body", "phrase", "tag"}
ALSO_A_TAG = {"es"}
LATIN_KEYS = {"qwertyuiop", "asdfghjkl", "zxcvbnm"}  # perturb/bundled_kinds.py: the keys of Latin script where a lexicon lists none


def test_every_pack_has_a_lexicon() -> None:
    assert list(LIBRARY.lexicons) == sorted([*LIBRARY.pack_files, "mul"])  # words of languages without a pack


@pytest.mark.parametrize("tag", LIBRARY.pack_files)
def test_a_lexicon_is_filled(tag: str) -> None:
    lexicon = LIBRARY.lexicon(tag)
    for key in ("announcers", "linking_words", "units", "refusals", "quotation_marks", "injection"):
        assert getattr(lexicon, key), key
    assert bool(lexicon.keyboard) == (LIBRARY.pack(tag).script == "Latn")


NUMBERED = frozenset(LIBRARY.lexicon(ENGLISH).numbered)  # "text" and "question" are also words of other languages


def words_of(lexicon: Lexicon) -> Iterator[str]:
    if lexicon.tag == ENGLISH:
        yield from lexicon.refusals
        return
    for key in LISTS:
        yield from (word for word in getattr(lexicon, key) if word.casefold() not in ALSO_ENGLISH | ALSO_A_TAG | LATIN_KEYS | NUMBERED)
    yield from filter(None, [lexicon.injection])


@pytest.mark.parametrize("tag", LIBRARY.lexicons)
def test_no_python_file_holds_a_word_of_the_lexicon(tag: str) -> None:
    found = []
    for word in words_of(LIBRARY.lexicon(tag)):
        holders = [name for name, text in LOWER_CASE.items() if word.lower() in text]  # far fewer texts than those to search
        spaced = word[0] < "\u0250"  # a Latin word is looked for as a whole
        pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)" if spaced else re.escape(word), re.IGNORECASE)
        found += [f"{word!r} in {name}" for name in holders if pattern.search(SOURCES[name])]
    assert found == []


# Where "en" stands in the source: judges are asked in English unless a variant says otherwise, and so are people without an interface.
ASKED_IN_ENGLISH = {
    "authoring/scaffold.py",
    "content/lexicons.py",
    "model.py",
    "runs/judgments_from_replies.py",
    "runs/plan.py",
    "prompts/wording.py",
}
BESIDE_ENGLISH = {"studies/languages/study.py", "studies/languages/section.py"}  # the study that asks in English and in another language
RELEASES = "published/"  # converters name the languages as the files of a release do
EXPLAINS_TAGS = "content/tags.py"  # country codes that people type for a language


def test_the_engine_has_no_table_of_languages() -> None:
    found = {
        (name, node.value)
        for name, text in SOURCES.items()
        for node in ast.walk(ast.parse(text))
        if not name.startswith(RELEASES) and isinstance(node, ast.Constant) and node.value in LIBRARY.pack_files
    }
    assert {name for name, tag in found if tag != ENGLISH} == {EXPLAINS_TAGS}
    assert {name for name, tag in found if tag == ENGLISH} - {EXPLAINS_TAGS} <= ASKED_IN_ENGLISH | BESIDE_ENGLISH


@pytest.mark.parametrize("tag", LIBRARY.tags_with_items())
def test_synonyms_are_single_words_and_change_texts_of_the_control_items(tag: str) -> None:
    lexicon = LIBRARY.lexicon(tag)
    assert len(lexicon.synonyms) >= 25 and not lexicon.reviewed_by, "read by a native reader? then the documents may say so"
    made = alter_texts(LIBRARY, [tag], ["swap-synonyms:1"])
    changed = sum(row["system"] != IDENTICAL for row in made.rows)
    assert changed >= len(made.rows) / 4, "at least a third of the texts have a word with a synonym"
