"""The roles of columns in tables with names and words of many languages: found, or asked about; never a judge as a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.errors import UsageError
from harness.exchange.labels.cell_scores import cell_score
from harness.exchange.labels.table_columns import SourceColumn
from harness.exchange.labels.table_options import Role, TableOptions
from harness.exchange.one_table.roles import TableRoles, find_roles

TEXT = "The kettle boils slowly near the window of the house"


def columns(names: Sequence[str], words: Sequence[Any], **more: Sequence[Any]) -> list[SourceColumn]:
    """Return a column of texts, one of a person and one of a judge who differ in one of ten texts, and `more` columns."""
    person = [words[k * k // 3 % len(words)] for k in range(60)]
    judge = [words[(words.index(score) + (k % 10 == 0)) % len(words)] for k, score in enumerate(person)]
    cells = ([f"{TEXT} {k}" for k in range(60)], person, judge)
    further = [SourceColumn(name, [values[k % len(values)] for k in range(60)]) for name, values in more.items()]
    return [*(SourceColumn(name, of_column) for name, of_column in zip(names, cells, strict=True)), *further]


def roles(found: Sequence[SourceColumn], **options: Any) -> TableRoles:
    return find_roles(found, TableOptions(**options))


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("odpowiedź", "ocena człowieka", "ocena modelu"), ("tak", "nie")),
        (("ответ", "оценка эксперта", "оценка модели"), (0, 1)),
        (("답변", "사람 평가", "모델 평가"), ("합격", "불합격")),
        (("respuesta", "puntuación del experto", "puntuación de la IA"), (1, 2, 3, 4, 5)),
        (("Antwort", "Note Gutachter", "Note GPT"), (1, 2, 3, 4, 5, 6)),
        (("answer", "gold", "pred"), ("yes", "no")),
        (("response", "is_correct_human", "is_correct_llm"), ("TRUE", "FALSE")),
        (("Model Answer", "Human Rating", "Autorater"), ("4 - Good", "2 - Poor", "1 - Bad")),
        (("translation", "人工打分", "GPT-4打分"), (60, 70, 80, 90, 100)),
        (("réponse", "évaluateur", "juge"), ("bon", "mauvais")),
        (("yanıt", "insan puanı", "model puanı"), ("evet", "hayır")),
        (("antwoord", "oordeel mens", "oordeel model"), ("goed", "fout")),
        (("resposta", "avaliação humana", "avaliação automática"), ("sim", "não")),
        (("risposta", "voto umano", "voto del modello"), ("sì", "no")),
        (("відповідь", "оцінка людини", "оцінка машини"), ("так", "ні")),
        (("output", "scores.human_quality", "scores.llm_quality"), (1, 2, 3)),
        (("answer", "HumanVerdict", "JudgeVerdict"), ("pass", "fail")),
        (("text", "annotator", "claude-3.5-sonnet"), ("good", "bad")),
        (("svar", "mänskligt betyg", "modellens betyg"), (1, 2, 3)),
        (("vastaus", "ihmisen arvosana", "mallin arvosana"), (1, 2, 3, 4, 5)),
        (("válasz", "emberi értékelés", "gépi értékelés"), (0, 1)),
        (("απάντηση", "βαθμός ανθρώπου", "βαθμός μοντέλου"), (1, 2, 3)),
        (("उत्तर", "मानव रेटिंग", "मॉडल रेटिंग"), (1, 2, 3, 4, 5)),
        (("câu trả lời", "điểm của con người", "điểm của mô hình"), (1, 2, 3)),
        (("jawaban", "skor manusia", "skor model"), (1, 2, 3, 4)),
        (("răspuns", "notă umană", "notă model"), (1, 2, 3)),
        (("الإجابة", "تقييم الخبير", "تقييم النموذج"), (1, 2, 3)),
        (("תשובה", "ציון אנושי", "ציון המודל"), (1, 2, 3, 4, 5)),
        (("پاسخ", "امتیاز انسان", "امتیاز مدل"), ("۱", "۲", "۳")),
        (("คำตอบ", "คะแนนจากคน", "คะแนนจากโมเดล"), ("ผ่าน", "ไม่ผ่าน")),
        (("jibu", "alama_mtu", "alama_gpt"), (1, 2, 3, 4, 5)),
        (("răspuns", "evaluator uman", "model"), ("da", "nu")),
        (("answer", "human", "o3-mini"), (1, 2, 3)),
        (("回答", "专家打分", "通义千问打分"), (1, 2, 3)),
        (("answer", "human_score", "judge"), (1, 2, 3, 4, 5)),
        (("reply", "human", "bot judge"), ("👍", "👎🏽")),
        (("评论", "人工", "模型"), (1, 2, 3)),
        (("回答", "人間の評価", "AIの評価"), ("１", "２", "３")),
        (("svar", "menneskelig vurdering", "maskinens vurdering"), (0, 1)),
    ],
)
def test_a_person_and_a_judge_are_found(names: Sequence[str], words: Sequence[Any]) -> None:
    found = roles(columns(names, words))
    assert found.by_column == dict(zip(names, ("text", "human", "judge"), strict=True))


@pytest.mark.parametrize("name", ["Jana", "label", "falcon", "col3", "оцінка"])
def test_a_column_that_may_be_anybodys_is_refused_or_asked_about(name: str) -> None:
    table = columns(("answer", name, "gpt-4o"), (1, 2, 3))
    with pytest.raises(UsageError, match=f"'{name}' holds scores, and nothing says who gave them"):
        roles(table)
    assert roles(table, human=(name,)).by_column[name] == "human"
    assert find_roles(table, TableOptions(), lambda column: "human").by_column[name] == "human"
    with pytest.raises(UsageError, match="no column with people's scores was found"):
        find_roles(table, TableOptions(), lambda column: "judge")


def test_what_is_no_score_of_anybody_is_set_aside() -> None:
    table = columns(
        ("answer", "rater1", "judge"),
        (1, 2, 3),
        latency=(0.5, 1.25, 0.75),
        topic=("law", "tea"),
        rater_age=(31, 32, 33),
        confidence=(1, 2, 3),
        comment=("fine", "odd"),
        doc=("d1", "d2", "d3"),
        model=("alpha", "beta"),
    )
    found = roles(table).by_column
    assert [found[name] for name in ("latency", "topic", "rater_age", "confidence")] == ["unused"] * 4
    assert (found["comment"], found["doc"], found["model"]) == ("reason", "group", "system")


def test_scores_are_read_in_the_forms_that_people_write() -> None:
    read = [cell_score(cell) for cell in ("3/5", "٣", "④", "75%", "4 stars", "not  OK", "N/A", float("nan"), "２点")]
    assert read == [3.0, 3.0, 4.0, 75.0, 4.0, "not ok", None, None, 2.0]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("svar", "Anna", "Björn"), (1, 2, 3)),
        (("vastaus", "arvosana A", "arvosana B"), (1, 2, 3)),
        (("câu trả lời", "điểm 1", "điểm 2"), (1, 2, 3)),
        (("ответ", "колонка", "gpt-4o"), (1, 2, 3)),
        (("คำตอบ", "คะแนน", "โมเดล"), (1, 2, 3)),
        (("پاسخ", "امتیاز", "مدل"), (0, 1)),
    ],
)
def test_names_that_tell_nobody_are_asked_about(names: Sequence[str], words: Sequence[Any]) -> None:
    with pytest.raises(UsageError, match=r"nothing says who gave them: pass --human .* --judge"):
        roles(columns(names, words))


@pytest.mark.parametrize("names", [("avaliador_1", "avaliador_2", "nota_claude"), ("rater 1", "rater 2", "judge score")])
def test_numbered_people_beside_a_column_of_scores_are_people(names: Sequence[str]) -> None:
    [text, person, judge] = columns(["text", names[0], names[2]], (1, 2, 3, 4, 5))
    found = roles([text, person, SourceColumn(names[1], [*person.cells[1:], 3]), judge])
    assert found.rater is None and [found.by_column[name] for name in names] == ["human", "human", "judge"]


def test_the_item_of_several_raters_is_no_column_with_a_value_for_each_row() -> None:
    [text, person, _] = columns(["Input.answer", "Answer.rating", "x"], (1, 2, 3, 4, 5))
    three = {
        "AssignmentId": [f"a{k}" for k in range(180)],
        "WorkerId": [f"w{k % 3}" for k in range(180)],
        "Input.id": [k // 3 for k in range(180)],
        text.name: [text.cells[k // 3] for k in range(180)],
        "Input.gpt4_score": [person.cells[k // 3] for k in range(180)],
        person.name: [person.cells[k * 7 % 60] for k in range(180)],
    }
    found = roles([SourceColumn(name, cells) for name, cells in three.items()])
    assert (found.first("id"), found.rater, found.first("judge")) == ("Input.id", "WorkerId", "Input.gpt4_score")


def test_replies_of_a_judge_without_a_score_do_not_hide_its_scores() -> None:
    [text, person, judge] = columns(["text", "human", "judge"], (1, 2, 3, 4, 5))
    replies = [f"ERROR: no answer {k % 3}" if k % 7 == 0 else score for k, score in enumerate(judge.cells)]
    assert roles([text, person, SourceColumn("judge", replies)]).first("judge") == "judge"


def test_a_column_with_the_names_of_judges_beside_a_persons_scores_names_no_raters() -> None:
    [text, person, judge] = columns(["text", "human_score", "judge_score"], (1, 2, 3, 4, 5))
    names = SourceColumn("judge_model", ["gpt-4o", "claude-3"] * 30)
    found = roles([text, person, names, judge])
    assert found.rater is None and (found.first("human"), found.first("judge")) == ("human_score", "judge_score")
    twice = [SourceColumn(column.name, [column.cells[k // 2] for k in range(60)]) for column in (text, person)]
    with pytest.raises(UsageError, match="30 texts stand in several rows, which 'judge_model' tells apart"):
        roles([*twice, names, judge])


def test_names_of_people_beside_their_labels_are_no_scores() -> None:
    [text, person, judge] = columns(["text", "annotator_1_label", "llm_label"], ("good", "bad"))
    second = SourceColumn("annotator_2_label", [*person.cells[1:], "bad"])
    names = [SourceColumn(f"annotator_{place}", [name] * 60) for place, name in ((1, "ann"), (2, "bob"))]
    found = roles([text, names[0], person, names[1], second, judge])
    assert found.rater is None and [name for name, role in found.by_column.items() if role == "human"] == [person.name, second.name]


def test_a_role_that_tells_people_from_judges_is_no_fact_to_set_aside() -> None:
    [text, person, judge] = columns(["text", "score", "x"], (1, 2, 3, 4, 5))
    rows = {"text": [cell for cell in text.cells for _ in "ab"], "role": ["human", "llm"] * 60}
    scores = [cell for both in zip(person.cells, judge.cells, strict=True) for cell in both]
    found = roles([SourceColumn(name, cells) for name, cells in rows.items()] + [SourceColumn("score", scores)])
    assert (found.kind, found.first("score")) == ("role", "score")


def test_a_rater_who_is_neither_a_person_nor_a_judge_is_refused() -> None:
    texts = [f"The clerk explains rule {k} of the page." for k in range(40) for _ in range(2)]
    table = [
        SourceColumn("text", texts),
        SourceColumn("who", ["Eleni", "falcon"] * 40),
        SourceColumn("score", [1 + (k * k + at) % 3 for k in range(40) for at in range(2)]),
    ]
    answers: dict[str, Role] = {"Eleni": "human", "falcon": "judge"}
    assert find_roles(table, TableOptions(), answers.__getitem__).judges == {"falcon"}
    with pytest.raises(UsageError, match="'falcon' is neither a person nor a judge: take its rows out of the table"):
        find_roles(table, TableOptions(), {"Eleni": "human", "falcon": "unused"}.__getitem__)
