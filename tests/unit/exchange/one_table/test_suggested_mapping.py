"""A first look at a table: what is taken for ids, texts, scores, systems and languages."""

from __future__ import annotations

from typing import Any

import pytest

from harness.content.specs import LabelMapping
from harness.exchange.labels.source_table import Record, SourceTable
from harness.exchange.one_table.suggested_mapping import SuggestedMapping, suggest_mapping
from harness.model import Scale

ANSWERS = ("Praha je hlavní město České republiky a leží na Vltavě.", "Žádost vyřídíme přibližně do tří pracovních dnů.")


def _table(rows: list[dict[str, Any]]) -> SourceTable:
    return SourceTable("csv", list(rows[0]), [Record(row, number, "a.csv:") for number, row in enumerate(rows, start=2)])


def _look(rows: list[dict[str, Any]], known: tuple[str, ...] = (), **given: Any) -> SuggestedMapping:
    return suggest_mapping(_table(rows), known, LabelMapping(**given))


def _rated(raters: tuple[str, ...]) -> list[dict[str, Any]]:
    """Two systems' answers to six questions, each scored 1 to 5 by every rater."""
    return [
        {"Č. dotazu": str(q), "Systém": system, "Odpověď": f"{ANSWERS[q % 2]} ({q}{system})"}
        | {rater: str(1 + (q + at + len(raters)) % 5) for at, rater in enumerate(raters)}
        for q in range(1, 7)
        for system in ("A", "B")
    ]


def test_a_spreadsheet_of_named_raters_is_read_whole() -> None:
    look = _look(_rated(("Jana", "Petr", "Eva")))
    mapping = look.mapping
    assert look.scored and look.unused == []
    assert (mapping.wide_annotators, mapping.annotators, mapping.metric) == (("Jana", "Petr", "Eva"), "persistent", "rating")
    assert mapping.metrics == {"rating": Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5)}
    assert (mapping.id_from, mapping.group, mapping.system) == (("Č. dotazu", "Systém"), "Č. dotazu", "Systém")
    assert (mapping.texts, mapping.language) == ({"odpoved": "Odpověď"}, "cs")


@pytest.mark.parametrize("names", [("Rater 1", "Rater 2"), ("Hodnotitel A", "Hodnotitel B"), ("score_1", "score_2")])
def test_numbered_columns_are_places_and_not_people(names: tuple[str, ...]) -> None:
    assert _look(_rated(names)).mapping.annotators == "positional"


def test_columns_of_known_metrics_are_metrics() -> None:
    look = _look(_rated(("hallucination", "task_quality")), known=("hallucination", "task_quality"))
    assert look.mapping.wide_metrics == ("hallucination", "task_quality") and look.mapping.annotator == "one"
    assert look.mapping.metrics == {}


def test_columns_of_different_scales_are_metrics() -> None:
    rows = [{"id": str(n), "tone": str(n % 2), "stars": str(n % 5 + 1), "text": ANSWERS[0]} for n in range(10)]
    look = _look(rows)
    assert look.mapping.wide_metrics == ("tone", "stars")
    assert look.mapping.metrics["tone"].classes == (0, 1) and look.mapping.metrics["stars"].best == 5


def test_what_the_user_says_is_not_guessed() -> None:
    scale = Scale(kind="ordinal", classes=(0, 1, 2, 3, 4, 5), best=0)
    look = _look(
        _rated(("Jana", "Petr")), wide_annotators=("Jana",), metric="anger", metrics={"anger": scale}, language="sk", id_from=("#",)
    )
    mapping = look.mapping
    assert (mapping.wide_annotators, mapping.metric, mapping.metrics, mapping.language) == (("Jana",), "anger", {"anger": scale}, "sk")
    assert mapping.id_from == ("#",) and mapping.system == "Systém" and "Petr" in look.unused


def test_a_long_table_keeps_the_columns_that_the_importer_knows() -> None:
    rows = [
        {"item_id": str(n), "annotator": who, "metric": "tone", "score": str((n + len(who)) % 3), "answer": ANSWERS[n % 2]}
        for n in range(8)
        for who in ("a", "bb")
    ]
    look = _look(rows)
    columns = look.mapping.columns
    assert (columns["item_id"], columns["annotator_id"], columns["metric"], columns["score"]) == ("item_id", "annotator", "metric", "score")
    assert look.mapping.metrics["tone"].classes == (0, 1, 2) and look.scored and not look.mapping.wide_annotators


def test_a_table_of_texts_has_no_scores_and_ids_from_its_rows() -> None:
    look = _look([{"answer": text, "year": "2024"} for text in ANSWERS * 4])
    assert not look.scored and look.mapping.id_from == ("#",)
    assert look.mapping.texts == {"answer": "answer"}


def test_a_number_for_each_row_is_an_id_and_no_score() -> None:
    look = _look([{"nr": str(n), "text": ANSWERS[n % 2], "note": str(n % 2)} for n in range(1, 9)])
    assert look.mapping.columns["item_id"] == "nr" and look.mapping.columns["score"] == "note"


def test_a_table_of_texts_alone_gets_a_question_and_no_scores() -> None:
    look = _look([{"id": f"x{n}", "answer": ANSWERS[n % 2] + str(n)} for n in range(6)])
    assert not look.scored and list(look.mapping.metrics) == ["rating"]
    assert not [guess for guess in look.guesses if guess.startswith("scores:")]


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [("文", "今日は天気がとても良いですね。", "ja"), ("text", "The film was rather short.", "en"), ("Satz", "Das Buch ist gut.", "de")],
)
def test_short_texts_are_texts_and_tell_their_language_together(name: str, text: str, language: str) -> None:
    look = _look([{"id": f"x{n}", name: f"{text} {n}", "Ann": str(n % 2), "Bob": str(n % 3 % 2)} for n in range(20)])
    assert list(look.mapping.texts.values()) == [name] and look.mapping.language == language and look.unused == []


def test_a_text_may_also_tell_which_rows_share_a_source() -> None:
    look = _look(_rated(("Jana", "Petr")), group="Odpověď")
    assert look.mapping.texts == {"odpoved": "Odpověď"} and look.mapping.group == "Odpověď"


def test_names_of_texts_can_stand_in_a_prompt() -> None:
    look = _look(
        [
            {"id": str(n), "回答": "東京は日本の首都で、人口は約一千四百万人です。とても大きな都市です。" + str(n), "Über uns!": ANSWERS[0]}
            for n in range(4)
        ]
    )
    assert look.mapping.texts == {"text": "回答", "uber_uns": "Über uns!"}


def test_turns_of_conversations_that_several_people_scored_are_items() -> None:
    rows = [
        {"dialog_id": f"d{d}", "turn": str(turn), "role": "assistant", "utterance": f"{ANSWERS[turn % 2]} ({d}.{turn})", "annotator": who}
        | {"helpful": str(1 + (d + turn + at) % 3)}
        for d in range(6)
        for turn in range(1, 5)
        for at, who in enumerate("xy")
    ]
    look = _look(rows)
    assert not look.doubts and look.mapping.wide_metrics == ("helpful",) and look.mapping.texts == {"utterance": "utterance"}
    assert (look.mapping.id_from, look.mapping.columns["group"]) == (("dialog_id", "turn"), "dialog_id")


def test_a_column_that_is_asked_about_is_named_beside_the_other_people() -> None:
    rows = [row | {"topic": "5"} for row in _rated(("Jana", "Petr"))]
    assert "--wide-annotators Jana,Petr,topic" in _look(rows).doubts[0]
