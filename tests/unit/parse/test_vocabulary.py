"""The words that replies are read by come from the packs: a content folder adds a language, and no Python file is opened."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from harness.content import Library
from harness.content.specs import Lexicon
from harness.model import Failure, Scale
from harness.parse import Reading, Vocabulary, bundled_vocabulary, read_reply, vocabulary_of
from harness.parse.language import without_quotations

FIVE = Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5)
REFUSED, NOT_JSON = Failure.REFUSED, Failure.NOT_JSON

# id: (reply, what it says with the words of its language)
NEW: dict[str, tuple[str, int | Failure]] = {
    "ko-colon": ("점수: 4", 4),
    "ko-other-word": ("**평점**: 4점", 4),
    "ko-full-width": ("평가：４점", 4),
    "ko-is": ("이 글의 점수는 4점입니다.", 4),
    "ko-unit": ("4점", 4),
    "ko-unit-in-json": ('{"score": "4점"}', 4),
    "ko-refusal": ("죄송하지만 이 글은 평가할 수 없습니다.", REFUSED),
    "ko-refusal-quoted": ("“죄송하지만, 도와드릴 수 없습니다.”", REFUSED),
    "ko-two-scores": ("점수: 3. 평점: 4", NOT_JSON),
    "vi-colon": ("Điểm: 4", 4),
    "vi-two-words": ("Đánh giá: 4 điểm", 4),
    "vi-is": ("Điểm số là 4 vì văn bản trôi chảy.", 4),
    "vi-decomposed": ("Đie\u0302\u0309m: 4", 4),
    "vi-out-of": ("Điểm: 4 trên 5", 4),
    "vi-refusal": ("Xin lỗi, tôi không giúp được.", REFUSED),
    "vi-refused-action": ("Tôi không thể đánh giá văn bản này.", REFUSED),
    "vi-no-refusal": ("Tôi không thể tìm thấy lỗi nào.", NOT_JSON),
    "vi-part-of-a-word": ("Quanđiểm: 4", NOT_JSON),
}


@pytest.fixture(scope="session")
def vocabulary(new_languages: Path) -> Vocabulary:
    return vocabulary_of(Library(new_languages))


def read_one(text: str, vocabulary: Vocabulary | None = None) -> Reading:
    return read_reply(text, {"m": FIVE}, joint=False, vocabulary=vocabulary)["m"]


def outcome(reading: Reading) -> object:
    return reading.score if reading.failure is None else reading.failure


@pytest.mark.parametrize(("text", "says"), NEW.values(), ids=NEW)
def test_a_content_folder_brings_the_words_of_its_languages(vocabulary: Vocabulary, text: str, says: object) -> None:
    assert outcome(read_one(text, vocabulary)) == says


@pytest.mark.parametrize("text", [text for text, says in NEW.values() if says != NOT_JSON])
def test_without_any_lexicon_the_words_are_unknown(text: str) -> None:
    reading = read_one(text, Vocabulary([]))
    assert reading.score is None and reading.failure is not REFUSED


def test_the_words_of_the_bundled_languages_stay_known_beside_them(vocabulary: Vocabulary) -> None:
    assert read_one("評価は２点です。", vocabulary).score == 2
    assert read_one("Hodnocení: 2 body", vocabulary).score == 2
    assert read_one("I'm sorry, but I can't.", vocabulary).failure is REFUSED


def test_a_word_in_one_language_may_be_a_remark_in_another() -> None:
    score = Lexicon(tag="xx", version="1.0.0", reviewed_by=(), announcers=("remarque",))
    remark = Lexicon(tag="yy", version="1.0.0", reviewed_by=(), remarks=("Remarque",))
    assert read_one("Remarque: 2 mots", Vocabulary([score])).score == 2
    assert read_one("Remarque: 2 mots", Vocabulary([score, remark])).failure is NOT_JSON
    assert read_one("Remarque: 2.", Vocabulary([score, remark])).score == 2


def test_words_are_plain_text_and_no_patterns() -> None:
    odd = Lexicon(tag="xx", version="1.0.0", reviewed_by=(), announcers=("a.b", "c#d e"), units=("p+",), refusals=("no (",))
    assert read_one("a.b: 2p+", Vocabulary([odd])).score == 2
    assert read_one("axb: 2", Vocabulary([odd])).failure is NOT_JSON
    assert read_one("C#D E: 2", Vocabulary([odd])).score == 2
    assert read_one("No (never)", Vocabulary([odd])).failure is REFUSED


def test_without_any_lexicon_only_the_form_is_read() -> None:
    empty = Vocabulary([])
    assert read_one('{"score": 2}', empty).score == 2 and read_one("2/5", empty).score == 2
    assert read_one("Score: 2", empty).failure is NOT_JSON
    assert without_quotations('The “word” is "here"', empty).split() == ["The", "“word”", "is"]


def test_quotation_marks_are_those_of_the_packs() -> None:
    polish = Lexicon(tag="pl", version="1.0.0", reviewed_by=(), quotation_marks=("„”", "‹›"))
    assert without_quotations("Say ‹tekst›.", Vocabulary([polish])).split() == ["Say", "."]
    assert "‹tekst›" in without_quotations("Say ‹tekst›.")


def test_it_is_compiled_once_a_library_and_travels(vocabulary: Vocabulary, new_languages: Path) -> None:
    assert vocabulary_of(Library(new_languages)) is vocabulary
    assert vocabulary_of(Library()) is bundled_vocabulary() is not vocabulary
    assert pickle.loads(pickle.dumps(vocabulary)) is vocabulary


def test_another_process_gets_it_whole(vocabulary: Vocabulary) -> None:
    """Workers of a cluster and processes that look through submissions read replies too."""
    program = "import pickle, sys; print(pickle.load(sys.stdin.buffer).digest)"
    done = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(vocabulary), capture_output=True, check=True)
    assert done.stdout.decode().strip() == vocabulary.digest


def test_it_is_another_one_when_a_word_changes(vocabulary: Vocabulary) -> None:
    digests = {Vocabulary(lexicons).digest for lexicons in ([], [Lexicon("xx", "1.0.0", ())], [Lexicon("xx", "1.0.0", (), ("score",))])}
    assert len({*digests, vocabulary.digest, bundled_vocabulary().digest}) == 5
    assert Vocabulary(vocabulary.lexicons[::-1]).digest == vocabulary.digest
