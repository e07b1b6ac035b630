"""The study of languages: English beside every other language, and the variants that name it."""

from __future__ import annotations

import pytest

from harness.content import Library
from harness.errors import UsageError
from harness.model import parse_variant
from harness.runs import RunSpec
from harness.runs.preparation import prepare
from harness.runs.study import specified

LIBRARY = Library()


def test_english_stands_beside_the_languages_that_are_named() -> None:
    spec = specified(RunSpec(study="languages", languages=("ja", "cs")), LIBRARY)
    named = ("single", "single+reasons:ja", "single+in:ja", "single+in:ja+reasons:en")
    assert (spec.board, spec.languages) == ("controls-parallel", ("ja", "cs", "en"))
    assert spec.variants == (*named, *(text.replace("ja", "cs") for text in named[1:]))
    assert all(str(parse_variant(text)) == text for text in spec.variants)


def test_without_languages_all_of_the_board_are_compared() -> None:
    spec = specified(RunSpec(study="languages"), LIBRARY)
    assert spec.languages is not None and len(spec.languages) == 9 and spec.variants is not None and len(spec.variants) == 1 + 3 * 8


def test_flags_of_the_user_take_precedence() -> None:
    spec = specified(RunSpec(study="languages", languages=("ja",), board="controls", variants=("joint",)), LIBRARY)
    assert (spec.board, spec.variants) == ("controls", ("joint",))


def test_a_language_is_asked_about_its_own_and_english_items_only() -> None:
    prepared = prepare(RunSpec(study="languages", languages=("ja", "cs"), allow_unreviewed=True))
    asked = {(query.item.language, str(query.condition.variant)) for query in prepared.plan(None).queries()}
    assert ("en", "single+in:ja") in asked and ("ja", "single+in:ja") in asked and ("cs", "single+in:ja") not in asked
    assert len(asked) == 7 + 4 + 4 and set(prepared.protocol.wording.instructions) == {"ja", "cs"}


def test_what_cannot_be_studied() -> None:
    with pytest.raises(UsageError, match="compares English with another language; name one, such as --langs ja"):
        specified(RunSpec(study="languages", languages=("en",)), LIBRARY)
    with pytest.raises(UsageError, match="no native reader has reviewed the instructions in 'ja'; --allow-unreviewed uses them"):
        prepare(RunSpec(study="languages", languages=("ja",)))
