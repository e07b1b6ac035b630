"""What the campaigns of WMT share: the last of several ratings, and places of spans in composed text."""

from harness.published.wmt import Rating, latest, place


def rating(score: str, end: str) -> Rating:
    return Rating("engces1", "S", "3", "TGT", "eng", "ces", score, "doc", "False", "[]", "0.0", end)


def test_the_rating_that_ended_last_counts() -> None:
    kept = latest([("a", rating("10", "5.5")), ("a", rating("20", "11.0")), ("a", rating("30", "7.0"))])
    assert kept["a"].score == "20"


def test_a_span_includes_its_last_character_and_ends_with_the_text() -> None:
    assert place({"start_i": 1, "end_i": 2}, "abcd") == {"start": 1, "end": 3}
    assert place({"start_i": 1, "end_i": 9}, "abcd") == {"start": 1, "end": 4}


def test_a_span_at_the_end_or_without_a_place_is_something_missing() -> None:
    assert place({"start_i": 4, "end_i": 4}, "abcd") == place({"start_i": "missing", "end_i": "missing"}, "abcd") == {"missing": True}


def test_places_are_those_of_the_composed_text() -> None:
    assert place({"start_i": 3, "end_i": 4}, "e\u0301 ab") == {"start": 2, "end": 4}
