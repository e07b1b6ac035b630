"""Answers in the judge's own words: the first number that is not part of a title or of a scale's name is the score."""

from __future__ import annotations

import pytest

from harness.model import Failure, Reply, Scale, Score
from harness.parse import bundled_vocabulary, clean_text, read_reply, read_text, writing_failure
from tests.growth import assert_grows_linearly

INTERVAL = Scale(kind="interval", min=1, max=5, best=5)
ORDINAL = Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5)
CHOICE = Scale(kind="nominal", classes=("A", "B", "tie"), swap={"A": "B", "B": "A"})
WORDS = bundled_vocabulary()


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("4", 4),
        ("Rating: 4/5", 4),
        ("On a scale of 1-5, I would say 3.", 3),
        ("On a scale from 1 to 5 this is a 2 out of 5.", 2),
        ("Story 2 is well told: 4", 4),
        ("Auf einer Skala von 1 bis 5: eine 4 von 5.", 4),
        ("una puntuación de 5", 5),
        ("Le doy 4 de 5.", 4),
        ("Une note de 4 sur 5.", 4),
        ("Darei 3 su 5.", 3),
        ("Nota 4 de 5, texto 2.", 4),
        ("Ohodnotil bych to 4 z 5.", 4),
        ("5点満点中4点です。", 4),
        ("5段階で3です。", 3),
        ("满分5分，我给４分。", 4),
        ("It came 2nd and 50 % liked it: 3", 3),
        ("1.0", 1),
    ],
)
def test_the_first_number_that_may_be_a_score_counts(text: str, score: Score) -> None:
    for scale in (INTERVAL, ORDINAL):
        assert read_text(text, scale, WORDS).score == score


@pytest.mark.parametrize(
    "text",
    [
        "4 von maximal 5 Punkten",
        "Dávám 4 z maximálně 5 bodů.",
        "Dávám 4 z maximálních 5 bodů.",
        "Dávám 4 z nejvýše 5 bodů.",
        "A 4 out of a maximum of 5.",
        "A 4 out of a possible 5.",
        "Un 4 de un máximo de 5.",
        "Un 4 sobre un máximo de 5.",
        "Un 4 sur un maximum de 5.",
        "Darei 4 su un massimo di 5.",
        "Nota 4 de um máximo de 5.",
        "Nota 4 de no máximo 5.",
        "最高5点中4点です。",
        "最大5点中、4点です。",
        "最多5分，我给4分。",
        "最高分为5分，我给4分。",
    ],
)
def test_at_most_names_the_end_of_the_scale_and_no_score(text: str) -> None:
    reading = read_text(text, INTERVAL, WORDS)
    assert (reading.score, reading.further_numbers) == (4, None)


def test_halves_are_kept_on_interval_scales_and_are_off_other_scales() -> None:
    assert read_text("3,5 von 5", INTERVAL, WORDS).score == 3.5
    assert read_text("3.5/5", ORDINAL, WORDS).failure is Failure.OFF_SCALE
    assert read_text("7", INTERVAL, WORDS).failure is Failure.OFF_SCALE


def test_other_numbers_are_kept_beside_the_score() -> None:
    reading = read_text("A 4 out of 5. Its grammar alone is a 3, its plot a 5.", INTERVAL, WORDS)
    assert (reading.score, reading.raw_choice, reading.further_numbers) == (4.0, "4", "3 5")
    assert read_text("A 4, as I said: 4.", INTERVAL, WORDS).further_numbers is None


@pytest.mark.parametrize(
    ("text", "score", "further"),
    [
        ("A", "A", None),
        ("Text B is better.", "B", None),
        ("A better text is B.", "B", None),
        ("I prefer it to A. Answer: B", "B", "A"),
        ("B\nIt is better than A.", "B", "A"),
        ("It is a Tie.", "tie", None),
        ("テキストA", "A", None),
    ],
)
def test_on_a_scale_of_words_the_class_that_is_named_counts(text: str, score: str, further: str | None) -> None:
    reading = read_text(text, CHOICE, WORDS)
    assert (reading.score, reading.further_numbers) == (score, further)


def test_what_holds_no_score_is_a_failure_with_a_name() -> None:
    assert read_text("As an AI, I cannot rate stories on a scale of 1-5.", INTERVAL, WORDS).failure is Failure.REFUSED
    assert read_text("", INTERVAL, WORDS, refusal="no").failure is Failure.REFUSED
    assert read_text("A fine story.", INTERVAL, WORDS).failure is Failure.MISSING
    assert read_text("A fine story, which", INTERVAL, WORDS, finish_reason="length").failure is Failure.TRUNCATED
    assert read_text("A 4, because it", INTERVAL, WORDS, finish_reason="length").score == 4


@pytest.mark.parametrize("unit", ["1 - ", "9", "text ", "1 to "])
def test_the_time_grows_with_the_answer(unit: str) -> None:
    assert_grows_linearly(lambda repeats: read_text(unit * repeats, INTERVAL, WORDS), 50_000)


TWO = Scale(kind="ordinal", classes=(0, 1, 2), best=2)


@pytest.mark.parametrize(
    "text",
    [
        "2点中1点です。",
        "満点は2点ですが、1点とします。",
        "０〜２で１",
        "2점 만점에 1점입니다.",
        "2 में से 1 अंक",
        "२ में से १",
        "2 üzerinden 1",
        "2-ből 1",
        "(0 = bad, 2 = good) 1",
        "The text has 2 mistakes. Rating: 1",
        "1\nIt has 2 mistakes.",
        "It has 2 mistakes.\n\n**1**",
        "1 out of 2, because it has 2 mistakes and 0 style.",
        "So it is \\boxed{1} of 2 and 0.",
        "Score: 1 (max 2)",
        "Out of a possible 2, this gets a 1.",
        "★☆",
    ],
)
def test_the_highest_score_is_not_taken_for_the_score(text: str) -> None:
    assert read_text(text, TWO, WORDS).score == 1


@pytest.mark.parametrize(
    "text",
    [
        "De 2 puntos, le doy 1.",
        "Von 2 Punkten gebe ich 1.",
        "Ze 2 bodů dávám 1.",
        "Of the 2 points available I award 1.",
        "Of 2 points, 1.",
        "The highest score is 2. This one gets 1.",
        "A 1, perhaps a 2.",
        "1 out of 2 sentences is fine, so I give 0.",
    ],
)
def test_of_two_numbers_of_which_none_is_announced_none_is_taken(text: str) -> None:
    assert read_text(text, TWO, WORDS).failure is Failure.NOT_JSON


@pytest.mark.parametrize("text", ["Score: 1+", "2-", "A 1+.", "Rating: **2-**"])
def test_a_grade_with_a_sign_is_off_the_scale(text: str) -> None:
    assert read_text(text, TWO, WORDS).failure is Failure.OFF_SCALE


@pytest.mark.parametrize("text", ["Text A is worse than text B.", "A and B are alike."])
def test_of_two_classes_of_which_none_is_announced_none_is_taken(text: str) -> None:
    assert read_text(text, CHOICE, WORDS).failure is Failure.NOT_JSON


@pytest.mark.parametrize(
    "text",
    [
        "1/3", "2/5", "7/10", "1 out of 3", "1 av 3", "١ من ٥", "1 מתוך 5", "1 trên 10", "1 / 10 puan", "I give 1/3.", "Rating: 1/3",
        "**Score:** 2/5", "1\n/ 5", "5점 만점에 1점", "10-ből 1", "1 von 3", "1 sur 3", "1 z 5",
    ],
)  # fmt: skip
def test_a_score_beside_another_maximum_is_off_the_scale(text: str) -> None:
    assert read_text(text, TWO, WORDS).failure is Failure.OFF_SCALE


@pytest.mark.parametrize(
    "text",
    [
        "1 of 3", "1 az 5-ből", "1점(5점 만점)", "1 คะแนนจาก 5 คะแนน", "1 ከ5", "1 (5 में से)",
        "arvosana 1 asteikolla 1-5", "1, scale 1-5", "1:3",
    ],
)  # fmt: skip
def test_a_number_before_another_maximum_in_unknown_words_is_not_taken(text: str) -> None:
    assert read_text(text, TWO, WORDS).failure is Failure.NOT_JSON


@pytest.mark.parametrize(
    "text", ["1/2", "1 von 2", "1/3 of it is bad. Rating: 1", "Rating: 1\n3 of 5 sentences are fine.", "I give 1. It has 12 lines."]
)
def test_fractions_and_counts_elsewhere_do_not_hide_the_score(text: str) -> None:
    reading = read_text(text, TWO, WORDS)
    assert (reading.score, "/" in (reading.further_numbers or "")) == (1, False)


@pytest.mark.parametrize(
    "text",
    ["-1", "Score: -1", "Score -1", "Score: –1", "–1", "Score = −1", "The text cannot be judged.\nScore: -1", "评分：-1", "Rating:-1."],
)
def test_a_number_below_zero_is_off_the_scale(text: str) -> None:
    """Programs ask for -1 where a text cannot be judged."""
    scale = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
    assert read_text(text, scale, bundled_vocabulary()).failure == Failure.OFF_SCALE
    assert read_reply(text, {"score": scale}, joint=False, vocabulary=bundled_vocabulary())["score"].score is None


@pytest.mark.parametrize("text", ["- 1", "Score - 1", "Score-1", "Rating – 1", "* Score: 1"])
def test_a_dash_is_no_sign(text: str) -> None:
    assert read_text(text, Scale(kind="ordinal", classes=(0, 1, 2), best=2), bundled_vocabulary()).score == 1


@pytest.mark.parametrize(
    "text",
    [
        "There are 2 sentences.",
        "2 Sätze.",
        "Il y a 2 phrases.",
        "文が2つあります。",
        "有2个句子。",
        "2 предложения.",
        "2개의 문장이 있습니다.",
        "2 grammatical errors",
        "The text has 2 minor spelling mistakes.",
        "2 schwere Grammatikfehler",
        "Text má 2 drobné gramatické chyby.",
        "Il y a 2 petites erreurs.",
        "2 грамматические ошибки",
        "2个语法错误",
        "文法的な誤りが2つあります。",
        "2개의 문법 오류",
        "2 dil bilgisi hatası",
        "2 nyelvtani hiba",
    ],
)
def test_what_a_number_counts_makes_it_no_score(text: str) -> None:
    assert read_text(text, TWO, WORDS).failure is Failure.MISSING


@pytest.mark.parametrize(
    "text", ["It has 2 sentences. I'd say 1.", "I'd give 1; it has 2 sentences.", "2 Sätze, ich gebe 1.", "1 point. There are 2 words."]
)
def test_a_count_is_no_rival_of_the_score(text: str) -> None:
    reading = read_text(text, TWO, WORDS)
    assert (reading.score, reading.further_numbers) == (1, "2")


@pytest.mark.parametrize(
    "text",
    [
        "2 points",
        "2 because sentences are fine",
        "I give 2.",
        "Rating: 2 words are missing",
        "**2** words",
        "2 minor",
        "I give 2, minor errors",
    ],
)
def test_a_score_beside_other_words_stays_one(text: str) -> None:
    assert read_text(text, TWO, WORDS).score == 2


@pytest.mark.parametrize("text", ["minus 2", "I would say minus 2.", "Score: minus 2", "moins 2", "マイナス2", "负2", "минус 2", "eksi 2"])
def test_a_word_for_minus_is_a_sign(text: str) -> None:
    assert read_text(text, TWO, WORDS).failure is Failure.OFF_SCALE
    assert read_text(text, Scale(kind="interval", min=-2, max=2, best=2), WORDS).score == -2


# Texts that models were asked to write: what is removed from them, and what is no text.


LEAD_INS = ("here is", "summary", "sure")


@pytest.mark.parametrize(
    ("text", "cleaned", "removed"),
    [
        ("The library opens.", "The library opens.", ()),
        ("Sure, here it is:\n\nThe library opens.", "The library opens.", ("lead-in",)),
        ("Here is the summary: The library opens.", "The library opens.", ("lead-in",)),
        ("**Summary**\nThe library opens.", "The library opens.", ("lead-in",)),
        ("Summary of the news. The library opens.", "The library opens.", ("lead-in",)),
        ("Summaries are short. They help.", "Summaries are short. They help.", ()),  # another word
        ("以下は要約です：\n図書館が開く。", "図書館が開く。", ("lead-in",)),
        ("Prague: the city opens a library.", "Prague: the city opens a library.", ()),
        ("- It opens.\n- It has seats.\n2) It is new.", "It opens.\nIt has seats.\nIt is new.", ("bullets",)),
        ("1.2 million came.", "1.2 million came.", ()),
        ('"The library opens."', "The library opens.", ("quotation marks",)),
        ("「図書館が開く。」", "図書館が開く。", ("quotation marks",)),
        ("```text\nThe library opens.\n```", "The library opens.", ("fence",)),
        ("The library opens. —", "The library opens.", ("trailing punctuation",)),
        ("It opens…", "It opens…", ()),
        ("Sure!\n\nHere is the summary:\n\nThe library opens.", "The library opens.", ("lead-in",)),
        ("Sure! The text in two sentences:\nThe library opens.", "The library opens.", ("lead-in",)),
        ("The text you asked for:\n\n**Summary**\nThe library opens.", "The library opens.", ("lead-in",)),
        ("Here is the list:\n\nTo bring:\nbread, salt", "To bring:\nbread, salt", ("lead-in",)),  # the second colon is the text's own
        ("Sure! Here is the summary. Summary: It opens.", "Summary: It opens.", ("lead-in",)),  # never three
        ("Sure!\nHere is:", "Here is", ("lead-in", "trailing punctuation")),
        ("Here is:", "Here is", ("trailing punctuation",)),  # without the lead-in nothing would be left
    ],
)
def test_what_is_no_part_of_a_text_is_removed_and_named(text: str, cleaned: str, removed: tuple[str, ...]) -> None:
    found = clean_text(text, LEAD_INS)
    assert (found.text, found.removed) == (cleaned, removed)


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (Reply("It opens.", "m"), None),
        (Reply("", "m"), Failure.MISSING),
        (Reply(" ** ", "m"), Failure.MISSING),
        (Reply("I'm sorry, but I can't help with that.", "m"), Failure.REFUSED),
        (Reply("I'm sorry, but I can't rate this, he said. " + "The road was long. " * 30, "m"), None),  # a story
        (Reply("text", "m", refusal="policy"), Failure.REFUSED),
        (Reply("It", "m", finish_reason="content_filter"), Failure.REFUSED),
        (Reply("", "", error="400: too long"), Failure.MISSING),
    ],
)
def test_a_reply_without_a_text_is_a_named_failure(reply: Reply, failure: Failure | None) -> None:
    assert writing_failure(reply, bundled_vocabulary()) is failure
