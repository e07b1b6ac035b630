"""Words that exchange places, are left out, or cut off the end, in scripts with and without spaces."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest

from harness.perturb import Perturbed, Words
from tests.growth import assert_grows_linearly

JA = "猫が窓から外を見ている。雨は三時にやんだ。"
ZH = "我们去北京大学，看了2023年的展览。"
CS = "Kočka leze dírou, pes oknem; nezmoknem."
AR = "ذَهَبَ الوَلَدُ إلى المَدْرَسَةِ، ثُمَّ عاد."
TH = "ภาษาไทยง่ายนิดเดียวในปี 2566"
HI = "हिन्दी में लिखना आसान है, १२ बार।"
EMOJI = "Our family 👨‍👩‍👧‍👦 went to 🇨🇿 twice 👍🏽 today."


@pytest.mark.parametrize(
    ("language", "text", "shuffled"),
    [
        ("ja", JA, "外時に窓てがから見いる猫。雨は三をやんだ。"),
        ("zh", ZH, "去北京看了大学，我们2023年的展览。"),
        ("cs", CS, "oknem leze dírou, pes nezmoknem; Kočka."),
        ("ar", AR, "ذَهَبَ ثُمَّ إلى المَدْرَسَةِ، عاد الوَلَدُ."),
        ("th", TH, "ไทยในง่ายนิดเดียวปีภาษา 2566"),
        ("hi", HI, "में है लिखना आसान हिन्दी, १२ बार।"),
        ("en", EMOJI, "Our today 👨‍👩‍👧‍👦 went family 🇨🇿 twice 👍🏽 to."),
    ],
    ids=["ja", "zh", "cs", "ar", "th", "hi", "emoji"],
)
def test_half_of_the_words_exchange_places(output: Callable[..., str], language: str, text: str, shuffled: str) -> None:
    assert output("shuffle-words:0.5", language, text) == shuffled


@pytest.mark.parametrize("text", [JA, ZH, "猫が窓から外を見ている。"])
def test_white_space_finds_no_words_to_shuffle_where_there_is_none(perturb: Callable[..., Perturbed], text: str) -> None:
    left = perturb("shuffle-words:1@whitespace", "ja", text)
    assert (left.applied, left.realised, left.item.fields["output"]) == (False, {}, text)


def test_white_space_moves_whole_sentences_of_japanese(perturb: Callable[..., Perturbed]) -> None:
    moved = perturb("shuffle-words:1@whitespace", "ja", "猫がいる。 雨だ。")
    assert moved.item.fields["output"] == "雨だ。 猫がいる。"
    assert moved.realised == {"moved": 1.0, "distance": 1.0, "words": 2.0}


def test_white_space_takes_punctuation_along(output: Callable[..., str]) -> None:
    assert output("shuffle-words:1@whitespace", "en", "Yes,\tno.") == "no.\tYes,"
    assert output("shuffle-words:1", "en", "Yes,\tno.") == "no,\tYes."


def test_what_moved_is_measured_on_the_words_there_are(perturb: Callable[..., Perturbed]) -> None:
    moved = perturb("shuffle-words:0.5", "en", "one two three four", seed=1)
    before, after = ["one", "two", "three", "four"], moved.item.fields["output"].split()
    places = [(place, before.index(word)) for place, word in enumerate(after) if word != before[place]]
    assert moved.realised["words"] == 4
    assert moved.realised["moved"] == len(places) / 4 == 0.5
    assert moved.realised["distance"] == sum(abs(new - old) for new, old in places) / len(places)


@pytest.mark.parametrize("seed", range(20))
def test_no_chosen_word_stays_where_others_are_enough(perturb: Callable[..., Perturbed], seed: int) -> None:
    words = ["a", "a", "a", "b", "c", "d"]
    moved = perturb("shuffle-words:1", "en", " ".join(words), seed=seed)
    assert moved.realised["moved"] == 1
    assert all(one != other for one, other in zip(words, moved.item.fields["output"].split(), strict=True))


def test_one_word_among_too_many_equal_ones_moves_as_many_as_it_can(perturb: Callable[..., Perturbed]) -> None:
    assert perturb("shuffle-words:1", "en", "a a a a b").realised["moved"] == 2 / 5


@pytest.mark.parametrize("seed", range(20))
def test_where_equal_words_were_chosen_a_different_one_joins_in(perturb: Callable[..., Perturbed], seed: int) -> None:
    assert perturb("shuffle-words:0.1", "en", "a a a a a a a b", seed=seed).realised["moved"] == 2 / 8


@pytest.mark.parametrize("text", ["word", "word word word", "12, 13!", "👍🏽", "", " \n", "猫。"])
@pytest.mark.parametrize("form", ["shuffle-words:1", "shuffle-words:0.05"])
def test_texts_without_two_different_words_cannot_be_shuffled(perturb: Callable[..., Perturbed], form: str, text: str) -> None:
    assert perturb(form, "ja", text).applied is False


def test_digits_and_lines_stay_where_they_are(output: Callable[..., str]) -> None:
    assert output("shuffle-words:1", "en", "1. red\n2. blue (3.5)") == "1. blue\n2. red (3.5)"


def test_a_greater_dose_moves_what_a_smaller_one_does(output: Callable[..., str]) -> None:
    text = " ".join(f"w{chr(97 + one // 26)}{chr(97 + one % 26)}" for one in range(100))
    chosen = []
    for dose in ("0.05", "0.1", "0.5"):
        after = output(f"shuffle-words:{dose}", "en", text).split()
        chosen.append({place for place, (one, other) in enumerate(zip(text.split(), after, strict=True)) if one != other})
    assert [len(places) for places in chosen] == [5, 10, 50]
    assert chosen[0] < chosen[1] < chosen[2]


@pytest.mark.parametrize(
    ("language", "text", "left"),
    [
        ("ja", JA, "猫からを見て。三時にやんだ。"),
        ("zh", ZH, "北京大学，看了2023的展览。"),
        ("cs", CS, "Kočka dírou, pes; nezmoknem."),
        ("ar", AR, "ذَهَبَ الوَلَدُ إلى، عاد."),
        ("th", TH, "ภาษาง่ายในปี 2566"),
        ("hi", HI, "में लिखना आसान, १२ बार।"),
        ("en", EMOJI, "Our family 👨‍👩‍👧‍👦 to 🇨🇿 twice 👍🏽."),
    ],
    ids=["ja", "zh", "cs", "ar", "th", "hi", "emoji"],
)
def test_words_are_left_out_with_their_space(output: Callable[..., str], language: str, text: str, left: str) -> None:
    assert output("drop-words:0.4", language, text) == left


def test_a_space_stays_for_the_word_that_comes_to_stand_behind_it(output: Callable[..., str]) -> None:
    assert {output("drop-words:0.34", "ja", "東京 猫が", seed=seed) for seed in range(20)} == {"猫が", "東京 が", "東京 猫"}


def test_parts_of_a_syllable_that_come_to_meet_are_composed(output: Callable[..., str]) -> None:
    """Both are words of their own as long as another stands between them."""
    assert "각" in {output("drop-words:0.34", "ja", "가あ\u11a8", seed=seed) for seed in range(20)}


@pytest.mark.parametrize("seed", range(10))
def test_one_word_is_left_at_the_highest_dose(output: Callable[..., str], seed: int) -> None:
    assert output("drop-words:1", "en", "one two three", seed=seed) in ("one", "two", "three")


def test_lines_stay_lines_without_their_first_words(output: Callable[..., str]) -> None:
    kept = {output("drop-words:0.5", "en", "- one\n- two", seed=seed) for seed in range(8)}
    assert kept == {"- one\n-", "-\n- two"}


@pytest.mark.parametrize("form", ["drop-words:1", "truncate:0.95"])
def test_a_single_word_is_never_taken_away(perturb: Callable[..., Perturbed], form: str) -> None:
    assert perturb(form, "en", "Word!").applied is False


@pytest.mark.parametrize(
    ("language", "text", "left", "cut"),
    [
        ("ja", JA, "猫が窓から外を見", 8 / 15),
        ("zh", ZH, "我们去北京大学", 4 / 8),
        ("cs", CS, "Kočka leze dírou", 3 / 6),
        ("ar", AR, "ذَهَبَ الوَلَدُ إلى", 3 / 6),
        ("th", TH, "ภาษาไทยง่าย", 4 / 7),
        ("hi", HI, "हिन्दी में लिखना", 3 / 6),
        ("en", EMOJI, "Our family 👨‍👩‍👧‍👦 went", 3 / 6),
    ],
    ids=["ja", "zh", "cs", "ar", "th", "hi", "emoji"],
)
def test_the_end_is_cut_off_at_a_word(perturb: Callable[..., Perturbed], language: str, text: str, left: str, cut: float) -> None:
    truncated = perturb("truncate:0.5", language, text)
    assert truncated.item.fields["output"] == left
    assert truncated.realised["cut"] == cut
    assert truncated.realised["characters"] == pytest.approx(1 - len(left) / len(text))


def test_marks_that_continue_a_grapheme_go_with_what_is_before_them() -> None:
    loose = Words("one \u0301two", "en", "whitespace")
    assert ("".join(loose.parts), list(loose)) == ("one \u0301two", ["one"])
    assert list(Words("\u0301one two", "en", "whitespace")) == ["two"]
    assert list(Words("one\n\u0301", "en", "whitespace")) == ["one"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["shuffle-words:1", "drop-words:0.5", "truncate:0.5", "typos:1"])
def test_the_time_grows_with_the_text(perturb: Callable[..., Perturbed], form: str) -> None:
    def change(repeats: int) -> None:
        assert perturb(form, "ja", (JA + CS + " ") * repeats).applied

    assert_grows_linearly(change, 1700)  # 100,000 characters


@pytest.mark.parametrize(
    ("language", "text", "changed"),
    [
        ("zh", "我们去北京大学，看了2023年的展览。", "我们去北京大学，看了4597年的展览。"),
        ("th", "ภาษาไทยง่ายนิดเดียวในปี 2566", "ภาษาไทยง่ายนิดเดียวในปี 5142"),
        ("hi", "हिन्दी में लिखना आसान है, १२ बार।", "हिन्दी में लिखना आसान है, ७८ बार।"),
    ],
)
def test_numbers_become_others(output: Callable[..., str], language: str, text: str, changed: str) -> None:
    assert output("number-swap:1", language, text) == changed


@pytest.mark.parametrize("number", ["7", "42", "1,234.56", "10:30", "2024-05-01", "٢٠٢٣", "१२", "２０", "0", "0.5", "007", "000"])
@pytest.mark.parametrize("frame", ["{}", "({}).", "in {}, then", "約{}年", "ปี{}", "على {} مرات", "${}", "{} %"])
def test_another_number_of_as_many_digits_in_the_same_script(perturb: Callable[..., Perturbed], number: str, frame: str) -> None:
    text = frame.format(number)
    for seed in range(5):
        changed = perturb("number-swap:1", "en", text, seed=seed)
        assert changed.realised == {"changed": 1.0, "numbers": 1.0}
        new = changed.item.fields["output"]
        assert len(new) == len(text)
        pairs = [(one, other) for one, other in zip(text, new, strict=True) if one != other]
        assert pairs
        assert all(ord(one) - unicodedata.decimal(one) == ord(other) - unicodedata.decimal(other) for one, other in pairs)


@pytest.mark.parametrize(("number", "start"), [("0.5", "0."), ("007", "00"), ("000", "00")])
def test_zeros_at_the_start_stay(output: Callable[..., str], number: str, start: str) -> None:
    for seed in range(10):
        new = output("number-swap:1", "en", number, seed=seed)
        assert new.startswith(start)
        assert new[-1] not in ("0", number[-1])


def test_a_number_does_not_come_to_begin_with_zero(output: Callable[..., str]) -> None:
    assert all(output("number-swap:1", "en", "19", seed=seed)[0] not in "01" for seed in range(50))


@pytest.mark.parametrize(
    "text",
    [
        "COVID-19",
        "x_5 and v2.0",
        "5G, 10km, 1st, MP3",
        "https://example.org/2024/05",
        "a@1.example #12",
        "10letý 5-jährig",
        "三つ、一億二千万円",
        "1️⃣ 2\u0301",
        "½ ² ①",
        "three",
        "",
    ],
)
def test_what_is_no_number_of_its_own_is_left_alone(perturb: Callable[..., Perturbed], text: str) -> None:
    assert perturb("number-swap:1", "en", text).applied is False


def test_the_dose_is_a_share_of_the_numbers(perturb: Callable[..., Perturbed]) -> None:
    text = " ".join(str(number) for number in range(10, 50))
    changed = perturb("number-swap:0.25", "en", text)
    different = sum(one != other for one, other in zip(text.split(), changed.item.fields["output"].split(), strict=True))
    assert different == 10
    assert changed.realised == {"changed": 0.25, "numbers": 40.0}


def test_one_number_changes_at_the_least(perturb: Callable[..., Perturbed]) -> None:
    assert perturb("number-swap:0.05", "en", "1 2 3").realised["changed"] == pytest.approx(1 / 3)
