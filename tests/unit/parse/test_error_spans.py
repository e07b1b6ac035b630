"""Errors that judges mark: read from the answer, placed by exact search, counted where that is impossible."""

from __future__ import annotations

import msgspec
import pytest

from harness.model import Condition, ErrorSpan, Failure, Item, JudgeIdentity, Judgment, Query, Reply, Scale, Variant
from harness.parse import bundled_vocabulary, read_reply
from harness.parse.reply import MAX_READ, count_spans, decode_spans, place
from harness.runs import ReadingRules, derive_judgments
from tests.growth import assert_grows_linearly

SCALE = Scale(kind="interval", min=0, max=100, best=100)
TEXT = "Pes štěkal na psa."
ITEM = Item("i", "cs", "translate", fields={"source": "The dog barked at a dog.", "output": TEXT, "source_language": "en"})


def read(text: str, finish: str | None = None) -> tuple[object, tuple[ErrorSpan, ...] | None]:
    reading = read_reply(text, {"m": SCALE}, joint=False, finish_reason=finish)["m"]
    return reading.failure or reading.score, reading.spans


def test_errors_stand_beside_the_score() -> None:
    score, spans = read('{"errors": [{"text": "psa", "severity": "minor"}, {"severity": "MAJOR", "text": ""}], "score": 71}')
    assert score == 71
    assert spans == (ErrorSpan("minor", text="psa"), ErrorSpan("major", missing=True))
    assert read('{"errors": [], "score": 100}') == (100.0, ())
    assert read('{"score": 100}') == (100.0, None)


@pytest.mark.parametrize(
    "answer",
    [
        'Here you are:\n```json\n{"errors": [{"text": "psa", "severity": "minor"},], "score": 71,}\n```',
        '{"m": {"errors": [{"text": "psa", "severity": "minor"}], "score": "71"}}',
        '{"errors": {"text": "psa", "severity": "minor"}, "score": "71/100"}',
    ],
)
def test_the_form_may_be_a_little_off(answer: str) -> None:
    assert read(answer) == (71.0, (ErrorSpan("minor", text="psa"),))


@pytest.mark.parametrize(
    "entry", ['"psa"', '{"text": "psa"}', '{"text": "psa", "severity": "critical"}', '{"text": [5], "severity": "minor"}']
)
def test_an_error_that_cannot_be_read_is_kept_and_counted(entry: str) -> None:
    score, spans = read(f'{{"errors": [{entry}], "score": 71}}')
    assert score == 71 and spans is not None and spans[0].severity is None and spans[0].text
    assert count_spans(spans) == {"marked": 1, "unplaced": 0, "unread": 1}


def test_an_answer_that_was_cut_among_its_errors_has_no_score() -> None:
    assert read('{"errors": [{"text": "psa", "sev', "length")[0] is Failure.TRUNCATED
    assert read('{"errors": [], "score": 101}')[0] is Failure.OFF_SCALE


def test_half_a_surrogate_and_control_characters_do_not_survive() -> None:
    _, spans = read('{"errors": [{"text": "a\\ud83d\\u0000b", "severity": "minor"}], "score": 1}')
    assert spans == (ErrorSpan("minor", text="a\ufffdb"),)


def test_quotations_are_placed_by_exact_search() -> None:
    quoted = [ErrorSpan("minor", text=text) for text in ("ps", " štěkal ", "Psa", "ps", "")]
    placed = place([*quoted[:-1], ErrorSpan("major", missing=True)], TEXT)
    assert [(each.start, each.end) for each in placed] == [(14, 16), (3, 11), (None, None), (14, 16), (None, None)]
    assert [TEXT[each.start : each.end] for each in placed if each.start is not None] == ["ps", " štěkal ", "ps"]
    assert count_spans(placed) == {"marked": 5, "unplaced": 1, "unread": 0}


def test_a_place_that_is_known_stays() -> None:
    assert place([ErrorSpan("minor", 2, 3, "Pes")], TEXT) == (ErrorSpan("minor", 2, 3, "Pes"),)


def test_the_time_grows_with_the_number_of_errors() -> None:
    def read_and_place(errors: int) -> None:
        _, spans = read('{"errors": [' + ", ".join(['{"text": "a", "severity": "minor"}'] * errors) + '], "score": 5}')
        assert spans is not None and len(place(spans, "a" * 5_000)) == min(errors, MAX_READ)

    assert_grows_linearly(read_and_place, 2_000)


def test_errors_round_trip_as_text() -> None:
    spans = (ErrorSpan("minor", 0, 3, "Pes", reason="why"), ErrorSpan("major", missing=True), ErrorSpan(text="?"))
    assert decode_spans(msgspec.json.encode(spans).decode()) == spans
    assert decode_spans('[{"severity": "minor", "start": 1, "end": 2, "unplaced": true}]') == (ErrorSpan("minor", 1, 2),)


def judgment(variant: Variant, perturbation: str = "") -> Judgment:
    reply = Reply('{"errors": [{"text": "psa", "severity": "minor"}], "score": 71}', "one")
    query = Query(ITEM, ("m",), Condition(variant, perturbation=perturbation))
    [found] = derive_judgments(query, reply, "c", JudgeIdentity("openai", "one"), ReadingRules({"m": SCALE}, bundled_vocabulary()))
    return found


def test_a_judgment_keeps_the_errors_that_were_asked_for() -> None:
    asked = judgment(Variant(answer="spans"))
    assert asked.spans == (ErrorSpan("minor", 14, 17, "psa"),) and str(asked.condition.variant) == "single+spans" and asked.score == 71
    assert judgment(Variant()).spans is None
    assert judgment(Variant(answer="spans"), "truncate:0.5").spans == (ErrorSpan("minor", text="psa"),)
