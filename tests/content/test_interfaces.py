"""The words of the labelling page: every language has all of them, in its own language."""

from __future__ import annotations

import re

import pytest

from harness.content.lexicons import FALLBACK, missing_strings
from harness.content.library import Library
from harness.content.specs import Interface, read_spec

LIBRARY = Library()
TAGS = sorted(LIBRARY.interface_files)
ENGLISH = LIBRARY.interface(FALLBACK).strings
THE_SAME = {"start", "pause", "text_a", "text_b", "no"}  # words that another language may share with English


@pytest.mark.parametrize("tag", TAGS)
def test_every_string_is_translated(tag: str) -> None:
    own = read_spec(LIBRARY.interface_files[tag], Interface)
    assert list(missing_strings(own, LIBRARY.interface(FALLBACK))) == []
    assert list(own.strings) == list(ENGLISH), "the order of the English, so that the files can be read side by side"
    if tag != FALLBACK:
        assert {key for key, text in own.strings.items() if text.casefold() == ENGLISH[key].casefold()} <= THE_SAME


def test_every_task_has_a_title_in_every_language() -> None:
    titles = {key.removeprefix("task_"): text for key, text in ENGLISH.items() if key.startswith("task_")}
    assert titles == {name: LIBRARY.task(name).title for name in sorted(LIBRARY.task_files)}


@pytest.mark.parametrize("tag", [tag for tag in TAGS if tag != FALLBACK])
def test_long_strings_are_in_the_language(tag: str) -> None:
    from py3langid import langid

    plain = {key: re.sub(r"\{.*?\}", "", text) for key, text in LIBRARY.interface(tag).strings.items()}
    wrong = [key for key, text in plain.items() if len(ENGLISH[key]) >= 60 and langid.classify(text)[0] != tag.partition("-")[0]]
    assert wrong == []
