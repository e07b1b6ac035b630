"""`harness compare TABLE`: the tables that people have, with the real command; what is not explained is refused in a sentence.

Texts and scores are made here: `agreeing` changes every so many of a person's scores.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

import harness

EN = ("The kettle boils slowly near the window", "Our garden gives beans until late in October", "A bus to the harbour leaves at seven")
CS = (
    "Konvice se pomalu vaří v malé kuchyni u okna",
    "Zahrada dává fazole až do konce října",
    "Autobus do přístavu jezdí v sedm hodin ráno",
)
JA = ("台所の窓のそばでやかんがゆっくり沸いています。", "庭では十月の終わりまで豆が採れます。", "港へのバスは毎朝七時に出発します。")
Rows = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def text(texts: Sequence[str], number: int) -> str:
    return f"{texts[number % 3]}, {number}."


def said(number: int, classes: Sequence[Any]) -> Any:
    """Return a person's score of a text: all classes, in no order that the number of the text shows."""
    return classes[(number * number // 3 + number // 7) % len(classes)]


def agreeing(number: int, classes: Sequence[Any], every: int = 15, shift: int = 0) -> Any:
    """Return the score of somebody who differs from `said` in one of so many texts."""
    score = said(number, classes)
    return classes[(classes.index(score) + 1) % len(classes)] if (number + shift) % every == 0 else score


def write(name: str, rows: Rows, delimiter: str = ",") -> str:
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return name


def read(cli: Any, *arguments: str) -> dict[str, Any]:
    done = cli("compare", *arguments, "--json")
    assert not done.code, done.err
    result: dict[str, Any] = json.loads(done.out)
    return result


def pass_fail(texts: Sequence[str] = EN, count: int = 200, every: int = 20) -> Rows:
    words = ("pass", "fail")
    return [
        {"question": f"What is in scene {k}?", "answer": text(texts, k), "human": said(k, words), "judge": agreeing(k, words, every)}
        for k in range(count)
    ]


# The forms of tables


def test_two_columns_of_verdicts(cli: Any) -> None:
    write("t.csv", pass_fail())
    done = cli("compare", "t.csv")
    assert done.code == 0 and len(done.err.splitlines()) <= 6
    assert (
        "people: human · judge: judge · text: answer (beside: question) · language: en, seen in the texts · scale: fail < pass" in done.err
    )
    shown = " ".join(done.out.split())
    assert "✓ Use it in English. Against a bar of 80 % of each class it finds" in shown
    assert "of what the person failed (at least" in shown and "Each text has one label" in shown
    [verdict] = read(cli, "t.csv")["verdicts"]
    assert verdict["basis"] == "bar" and verdict["verdict"] == "use" and "bar=0.8" in verdict["settings"]
    assert [share["score"] for share in verdict["shares"]] == ["fail", "pass"]
    assert not Path("t").exists()


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        # German that the identifier takes for Luxembourgish, at .5 and less
        ([f"Antwort Nummer {k} zu Thema {k % 17}" for k in range(60)], "not known, perhaps Luxembourgish (und; --language lb if it is)"),
        # Tetun, which the identifier does not have
        ([f"Nia dehan katak uma {k} boot liu iha suku ne'e" for k in range(60)], "not known, perhaps"),
        ([f"0x{k:x} += {k}; 12 -> {{{k}: [3, 4, {k}]}}; 88 % 7 == 3 && 1" for k in range(60)], "not known"),
        ([f"Die Lieferung {k} kam pünktlich, und der Fahrer war freundlich." for k in range(60)], "de, seen in the texts"),
    ],
    ids=["german-like", "tetun", "code", "german"],
)
def test_an_unsure_language_is_not_named(cli: Any, texts: Sequence[str], said: str) -> None:
    write("t.csv", [{"text": text, "human": k % 3, "judge": (k + k % 2) % 3} for k, text in enumerate(texts)])
    assert said in " ".join(cli("compare", "t.csv").err.split())


def test_a_row_for_each_judge_beside_the_same_persons_score(cli: Any) -> None:
    wide = pass_fail()
    long = [
        {**row, "model": name, "llm_verdict": verdict, "latency": (k + len(name)) * 0.31}
        for k, row in enumerate(wide)
        for name, verdict in (("gpt-4o", row["judge"]), ("llama-3", row["human"]))
    ]
    for row in long:
        del row["judge"]
    verdicts = {verdict["judge"]: verdict for verdict in read(cli, write("long.csv", long))["verdicts"]}
    columns = [{**row, "gpt-4o": row["judge"], "llama-3": row["human"]} for row in wide]
    for row in columns:
        del row["judge"]
    in_columns = {verdict["judge"]: verdict for verdict in read(cli, write("wide.csv", columns))["verdicts"]}
    assert set(verdicts) == {"gpt-4o", "llama-3"}
    for name, verdict in verdicts.items():
        assert {key: verdict[key] for key in ("verdict", "n_labelled", "shares")} == {
            key: in_columns[name][key] for key in ("verdict", "n_labelled", "shares")
        }
    said = " ".join(cli("compare", "long.csv").err.split())
    assert "'model' names the judge of each row, 'gpt-4o', 'llama-3'" in said and "'latency' is not used" in said


@pytest.mark.parametrize(
    "change",
    [
        lambda row: {**row, "answer": f"{row['answer']} {row['model']}"},  # the models wrote the texts
        lambda row: {**row, "human": "pass" if row["model"] == "gpt-4o" else "fail"},  # a person scored each row
        lambda row: {**row, "model": "Anna" if row["model"] == "gpt-4o" else "Ben"},  # no judges
    ],
    ids=["texts", "people", "names"],
)
def test_rows_of_systems_or_people_are_no_rows_of_judges(cli: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    rows = [change({**row, "model": name}) for row in pass_fail() for name in ("gpt-4o", "llama-3")]
    write("t.csv", rows)
    assert "names the judge of each row" not in cli("compare", "t.csv").err


def test_scores_of_replies_in_words_are_read_where_judge_names_their_column(cli: Any) -> None:
    rows = [{**row, "judge_reply": f"I read it twice. Verdict: {row['judge']}"} for row in pass_fail()]
    numbers = pass_fail()
    for row in rows:
        del row["judge"]
    rows[7]["judge_reply"] = "I cannot judge this."
    done = cli("compare", write("t.csv", rows))
    assert done.code == 2 and "'judge_reply' holds texts" in done.err and "--judge COLUMN" in " ".join(done.err.split())
    done = cli("compare", "t.csv", "--judge", "judge_reply", "--json")
    said = " ".join(done.err.split())
    assert (
        f"a score was read in {len(rows) - 1} of {len(rows)}" in said
        and "the others are failures of the judge, such as 'I cannot judge this.'" in said
    )
    [verdict], [in_numbers] = json.loads(done.out)["verdicts"], read(cli, write("n.csv", numbers))["verdicts"]
    assert verdict["n_labelled"] == in_numbers["n_labelled"]
    assert [cell["failures"] for cell in json.loads(done.out)["cells"]] == [{"off_scale": 1}]
    assert [share["score"] for share in verdict["shares"]] == ["fail", "pass"]
    for row in rows:
        row["judge_reply"] = "A fine text about a scene."
    done = cli("compare", write("t.csv", rows), "--judge", "judge_reply")
    assert done.code == 2 and "a score could be read in 0 of" in " ".join(done.err.split())


def test_replies_in_words_on_two_metrics_and_words_of_another_scale(cli: Any) -> None:
    scale = (1, 2, 3)
    rows = [
        {"text": text(EN, k), "human_tone": said(k, scale), "human_style": said(k + 1, scale),
         "gpt4_tone": f"Good. Score: {said(k, scale)}/3",
         "gpt4_style": f"Hm. Score: {agreeing(k + 1, scale)}/3" if k else "I cannot say."}
        for k in range(60)
    ]  # fmt: skip
    table = write("t.csv", rows)
    found = json.loads(cli("compare", table, "--judge", "gpt4_tone", "--judge", "gpt4_style", "--json").out)
    assert {cell["metric"]: cell["failures"] for cell in found["cells"]} == {"tone": {}, "style": {"off_scale": 1}}
    assert {verdict["metric"]: verdict["n_labelled"] for verdict in found["verdicts"]} == {"tone": 60, "style": 60}
    words = [{"text": text(EN, k), "human": said(k, ("neg", "pos")), "gpt4": said(k, ("negative", "positive"))} for k in range(60)]
    [verdict] = read(cli, write("words.csv", words), "--human", "human", "--judge", "gpt4")["verdicts"]
    assert verdict["n_labelled"] == 60 and verdict["verdict"] != "do not use"


def test_a_list_beside_peoples_columns_is_no_persons(cli: Any) -> None:
    rows = [{**row, "span": [k % 3, 4 + k % 2]} for k, row in enumerate(pass_fail())]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = read(cli, "t.jsonl")
    assert [column for column, role in found["roles"].items() if role == "human"] == ["human"]


def test_people_named_as_native_speakers_and_lists_of_their_scores(cli: Any) -> None:
    scale = (1, 2, 3, 4, 5)
    rows = [
        {"text": text(EN, k), "native": said(k, scale), "other": scale[(k + 1) % 5], "LLM rating": agreeing(k, scale)} for k in range(60)
    ]
    columns = [
        {
            "text": row["text"],
            "Native speaker rating": row["native"],
            "Native speaker 2 rating": row["other"],
            "LLM rating": row["LLM rating"],
        }
        for row in rows
    ]
    found = read(cli, write("columns.csv", columns))
    assert {name for name, role in found["roles"].items() if role == "human"} == {"Native speaker rating", "Native speaker 2 rating"}
    lists = [{"text": row["text"], "human_scores": [row["native"], row["other"]], "LLM rating": row["LLM rating"]} for row in rows]
    Path("lists.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lists), "utf-8")
    in_lists = read(cli, "lists.jsonl")
    assert [name for name, role in in_lists["roles"].items() if role == "human"] == ["human_scores 1", "human_scores 2"]
    assert [verdict["n_labelled"] for verdict in in_lists["verdicts"]] == [verdict["n_labelled"] for verdict in found["verdicts"]] == [60]


def test_a_sheet_of_explanations_before_the_table_is_passed_over(cli: Any) -> None:
    book = openpyxl.Workbook()
    book.active.append(["The scores are on the second sheet"])
    sheet = book.create_sheet("Scores")
    rows = pass_fail()
    for row in ([*rows[0]], *(list(row.values()) for row in rows)):
        sheet.append(row)
    book.save("book.xlsx")
    done = cli("compare", "book.xlsx")
    assert done.code == 0 and "the sheet 'Scores' was read; choose another with --sheet (Sheet)" in " ".join(done.err.split())


def test_a_scale_is_stated_without_a_metric_or_for_one(cli: Any) -> None:
    table = write("results.csv", pass_fail())
    [plain] = read(cli, table)["verdicts"]
    for scale in ("fail,pass:best=pass", "rating=fail,pass:best=pass"):
        [stated] = read(cli, table, "--scale", scale)["verdicts"]
        assert (stated["verdict"], stated["shares"]) == (plain["verdict"], plain["shares"])
    refused = cli("compare", table, "--scale", "tone=fail,pass:best=pass")
    assert refused.code == 2 and "the table has no metric 'tone'; its metrics are" in refused.err


def test_two_languages_on_a_scale_by_one_person(cli: Any) -> None:
    scale = (1, 2, 3, 4, 5)
    rows = [
        {"id": f"t{k}", "language": tag, "text": text(texts, k), "human_score": said(k, scale), "judge_score": agreeing(k, scale)}
        for k in range(120)
        for tag, texts in [(("cs", CS), ("ja", JA))[k % 2]]
    ]
    found = read(cli, write("t.csv", rows))
    assert found["roles"] == {"id": "id", "language": "language", "text": "text", "human_score": "human", "judge_score": "judge"}
    assert {verdict["language"]: verdict["n_labelled"] for verdict in found["verdicts"]} == {"cs": 60, "ja": 60}
    assert {verdict["basis"] for verdict in found["verdicts"]} == {"people"}
    barred = read(cli, "t.csv", "--bar", ".7")["verdicts"]
    assert {verdict["verdict"] for verdict in barred} == {"use"} and {verdict["basis"] for verdict in barred} == {"bar"}


def test_three_people_and_a_model_as_a_column(cli: Any) -> None:
    scale = (1, 2, 3)
    rows: Rows = [{"id": k, "lang": "en", "text": text(EN, k)} for k in range(150)]
    for k, row in enumerate(rows):
        row |= {f"rater{at}": agreeing(k, scale, 11, at) for at in (1, 2, 3)} | {"gpt-4o": agreeing(k, scale, 13, 5)}
    found = read(cli, write("t.csv", rows))
    assert [name for name, role in found["roles"].items() if role == "human"] == ["rater1", "rater2", "rater3"]
    [verdict] = found["verdicts"]
    assert verdict["judge"] == "gpt-4o" and verdict["n"] == 150 and verdict["basis"] == "people"


def test_labels_in_words_beside_a_reference_answer(cli: Any) -> None:
    words = ("good", "bad")
    rows = [
        {
            "input": f"Describe scene {k} in a sentence",
            "output": text(EN, k),
            "expected": text(EN, k + 1),
            "llm_label": agreeing(k, words),
            "my_label": said(k, words),
            "notes": "odd" if k % 3 else "",
        }
        for k in range(90)
    ]
    found = read(cli, write("t.csv", rows))
    assert found["roles"]["expected"] == "text" and found["roles"]["notes"] == "reason"
    assert found["roles"]["my_label"] == "human" and found["roles"]["llm_label"] == "judge"


def test_a_reviewer_by_name_and_rows_that_only_the_judge_scored(cli: Any) -> None:
    words = ("pass", "fail")
    rows = [
        {
            "trace_id": f"tr-{k:04x}",
            "ts": f"2026-03-01T10:{k // 60:02d}:{k % 60:02d}",
            "model": ("alpha", "beta")[k % 2],
            "response": text(EN, k),
            "judge_reason": f"The answer names what scene {k % 5} shows, and nothing else",
            "judge_verdict": agreeing(k, words),
            "reviewer": ("Jana", "Petr")[k // 2 % 2] if k % 2 else "",
            "reviewer_verdict": said(k, words) if k % 2 else "",
        }
        for k in range(160)
    ]
    write("t.csv", rows)
    found = read(cli, "t.csv", "--to", "kept")
    roles = found["roles"]
    assert (roles["reviewer"], roles["reviewer_verdict"], roles["model"], roles["judge_reason"]) == (
        "annotator",
        "human",
        "system",
        "reason",
    )
    assert found["verdicts"][0]["n_labelled"] == 80
    assert any("80 judged texts have no person's label" in note for note in found["notes"])
    kept = "".join(path.read_text("utf-8") for path in Path("kept").iterdir())
    assert "Jana" not in kept and "Petr" not in kept and "The answer names" not in kept


def test_rows_of_scores_by_people_and_programs(cli: Any) -> None:
    scale, metrics = (1, 2, 3, 4), ("fluency", "adequacy")
    rows = [
        {"item": f"i{k}", "rater_type": kind, "rater": who, "metric": metric, "value": agreeing(k + 3 * at, scale, 9 + at, at)}
        for k in range(60)
        for metric in metrics
        for at, (kind, who) in enumerate((("human", "Jana"), ("human", "Petr"), ("llm", "Jan-7b")))
    ]
    found = read(cli, write("t.csv", rows), "--language", "cs")
    assert found["roles"] == {"item": "id", "rater_type": "annotator", "rater": "annotator", "metric": "metric", "value": "score"}
    assert {(verdict["metric"], verdict["judge"], verdict["n"]) for verdict in found["verdicts"]} == {(m, "Jan-7b", 60) for m in metrics}


def test_two_metrics_each_for_both(cli: Any) -> None:
    scale = (1, 2, 3, 4, 5)
    rows = [
        {
            "text": text(EN, k),
            "fluency_human": said(k, scale),
            "fluency_gpt": agreeing(k, scale),
            "adequacy_human": said(k + 9, scale),
            "adequacy_gpt": agreeing(k + 9, scale),
        }
        for k in range(80)
    ]
    found = read(cli, write("t.tsv", rows, "\t"))
    assert {(verdict["metric"], verdict["judge"]) for verdict in found["verdicts"]} == {("fluency", "gpt"), ("adequacy", "gpt")}


@pytest.mark.parametrize("words", [("A", "B", "tie"), ("1", "2", "tie"), ("left", "right", "same"), ("alpha", "beta", "tie")])
def test_pairs(cli: Any, words: Sequence[str]) -> None:
    rows = [
        {
            "prompt": f"Write a sentence about scene {k}",
            "response_a": text(EN, k),
            "response_b": text(EN, k + 1),
            "model_a": "alpha",
            "model_b": "beta",
            "human_pref": said(k, words),
            "judge_pref": agreeing(k, words),
        }
        for k in range(80)
    ]
    write("t.csv", rows)
    found = read(cli, "t.csv", "--to", "kept")
    assert found["verdicts"][0]["metric"] == "preference" and found["roles"]["response_a"] == "text"
    assert "swap" in Path("kept/data.toml").read_text("utf-8")
    items = [json.loads(line) for line in Path("kept/items.jsonl").read_text("utf-8").splitlines()]
    labels = [json.loads(line) for line in Path("kept/labels.jsonl").read_text("utf-8").splitlines()]
    assert (items[0]["output_a"], items[0]["system_a"], items[0]["system_b"]) == (text(EN, 0), "alpha", "beta")
    assert [label["score"] for label in labels] == [said(k, ("A", "B", "tie")) for k in range(80)]


@pytest.mark.parametrize(
    ("names", "words", "texts", "language"),
    [
        (("文章", "人手評価", "LLM評価"), ("合格", "不合格"), JA, "ja"),
        (("text", "hodnocení člověka", "hodnocení modelu"), ("ano", "ne"), CS, "cs"),
        (("Antwort", "Bewertung Mensch", "Bewertung KI"), ("richtig", "falsch"), EN, "en"),
        (("回答", "人工评分", "模型评分"), ("通过", "不通过"), JA, "ja"),
        (("réponse", "note humaine", "note du modèle"), ("oui", "non"), EN, "en"),
        (("respuesta", "etiqueta humana", "etiqueta automática"), ("👍", "👎"), EN, "en"),
    ],
)
def test_names_and_words_in_the_users_language(
    cli: Any, names: Sequence[str], words: Sequence[str], texts: Sequence[str], language: str
) -> None:
    rows = [dict(zip(names, (text(texts, k), said(k, words), agreeing(k, words)), strict=True)) for k in range(80)]
    found = read(cli, write("t.csv", rows))
    assert found["roles"] == dict(zip(names, ("text", "human", "judge"), strict=True))
    [verdict] = found["verdicts"]
    assert verdict["language"] == language and [share["score"] for share in verdict["shares"]] == [words[1], words[0]]


def test_nested_objects_with_a_verdict_and_a_score_of_one_judge(cli: Any) -> None:
    words = ("pass", "fail")
    rows = [
        {
            "messages": [{"role": "user", "content": f"Tell me of scene {k}"}, {"role": "assistant", "content": text(EN, k)}],
            "human": {"label": said(k, words)},
            "judge": {"label": agreeing(k, words), "score": round(0.1 + k % 8 / 10, 2)},
        }
        for k in range(100)
    ]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    roles = read(cli, "t.jsonl")["roles"]
    assert roles == {"messages": "text", "human.label": "human", "judge.label": "judge", "judge.score": "unused"}


@pytest.mark.parametrize("kind", ["csv", "parquet", "xlsx", "json"])
def test_a_frame_and_a_file_of_any_kind_are_one(cli: Any, kind: str) -> None:
    frame = pd.DataFrame(pass_fail(count=80))
    if kind == "json":
        frame.to_json("t.json", orient="records", force_ascii=False)
    elif kind == "xlsx":
        book = openpyxl.Workbook()
        for row in [list(frame.columns), *frame.to_numpy().tolist()]:
            book.active.append(row)
        book.save("t.xlsx")
    else:
        {"csv": frame.to_csv, "parquet": frame.to_parquet}[kind](f"t.{kind}", index=False)
    of_frame, of_file = harness.compare(frame), harness.compare(f"t.{kind}")
    assert [verdict["shares"] for verdict in of_frame.verdicts] == [verdict["shares"] for verdict in of_file.verdicts]


def test_two_tables_that_an_id_joins(cli: Any) -> None:
    rows = [{"id": k, "text": text(EN, k), "score": said(k, (0, 1))} for k in range(90)]
    write("people.csv", rows)
    write("judge.csv", [{"id": k, "score": agreeing(k, (0, 1))} for k in reversed(range(2, 90))])
    found = read(cli, "people.csv", "judge.csv")
    assert found["roles"] == {"id": "id", "text": "text", "people.score": "human", "judge.score": "judge"}
    assert found["verdicts"][0]["n_labelled"] == 88
    assert any("2 rows of one table have no row in the other" in note for note in found["notes"])


def test_two_tables_whose_ids_have_two_names(cli: Any) -> None:
    write("people.csv", [{"item_id": f"q{k}", "text": text(EN, k), "human": said(k, (0, 1))} for k in range(90)])
    write("judge.csv", [{"ID": f"q{k}", "gpt4": agreeing(k, (0, 1))} for k in reversed(range(90))])
    found = read(cli, "people.csv", "judge.csv")
    assert found["roles"] == {"item_id": "id", "text": "text", "human": "human", "gpt4": "judge"}
    assert found["verdicts"][0]["n_labelled"] == 90
    write("judge.csv", [{"ID": f"other{k}", "gpt4": agreeing(k, (0, 1))} for k in range(90)])
    done = cli("compare", "people.csv", "judge.csv")
    assert done.code == 2 and "no column of ids in common" in done.err


def test_two_languages_without_a_column(cli: Any) -> None:
    found = read(cli, write("t.csv", pass_fail(CS, 60) + pass_fail(JA, 60)))
    assert {verdict["language"]: verdict["n_labelled"] for verdict in found["verdicts"]} == {"cs": 60, "ja": 60}


# A judge is never a person in silence


def test_a_column_that_nothing_explains_is_refused_with_both_flags(cli: Any) -> None:
    rows = [
        {"text": text(EN, k), "rater1": said(k, (1, 2, 3)), "falcon": agreeing(k, (1, 2, 3)), "gpt-4o": said(k, (1, 2, 3))}
        for k in range(40)
    ]
    done = cli("compare", write("t.csv", rows))
    assert done.code == 2 and not done.out and "'falcon' holds scores, and nothing says who gave them" in done.err
    assert "--human 'falcon'" in done.err and "--judge 'falcon'" in done.err
    judged = read(cli, "t.csv", "--judge", "falcon")
    assert {verdict["judge"] for verdict in judged["verdicts"]} == {"falcon", "gpt-4o"}
    assert read(cli, "t.csv", "--human", "falcon")["roles"]["falcon"] == "human"


def test_the_score_of_the_annotator_in_the_row_is_a_persons(cli: Any) -> None:
    words = ("Positive", "Negative")
    rows = [
        {
            "annotation_id": 1000 + k,
            "text": text(EN, k),
            "annotator": k % 2 + 1,
            "choice": said(k, words),
            "prediction": agreeing(k, words),
            "userId": f"u{k % 5}",
            "lead_time": 3 + k % 17 / 4,
        }
        for k in range(60)
    ]
    found = read(cli, write("t.csv", rows))
    assert (found["roles"]["choice"], found["roles"]["prediction"], found["roles"]["annotator"]) == ("human", "judge", "annotator")
    assert (found["roles"]["annotation_id"], found["roles"]["userId"]) == ("id", "unused")


def test_a_gold_column_is_no_further_person(cli: Any) -> None:
    scale = (1, 2, 3)
    rows: Rows = [{"text": text(EN, k)} for k in range(40)]
    for k, row in enumerate(rows):
        row |= {f"rater{at}": agreeing(k, scale, 8, at) for at in (1, 2, 3)} | {"gold": said(k, scale), "judge": agreeing(k, scale)}
    found = read(cli, write("t.csv", rows))
    assert found["roles"]["gold"] == "unused" and any("'gold' is made of other people's scores" in note for note in found["notes"])


def test_two_judges_of_which_one_is_a_copy_are_said(cli: Any) -> None:
    rows = [row | {"gpt": row["judge"]} for row in pass_fail(count=60)]
    done = cli("compare", write("t.csv", rows))
    assert done.code == 0 and "'judge' and 'gpt' have the same score in all 60 texts: one may be a copy of the other" in done.err


def with_probabilities(rows: Rows, judges: Sequence[str] = ("judge",)) -> Rows:
    """Return the rows with the probabilities of a judge that is about as sure as it is right (19 of 20)."""
    return [
        {key: value for key, value in row.items() if key != "judge"}
        | dict.fromkeys(judges, row["judge"])
        | {f"p_{word}": 0.95 if row["judge"] == word else 0.05 for word in ("pass", "fail")}
        for row in rows
    ]


def test_a_judges_probabilities_stand_in_columns_of_their_own(cli: Any) -> None:
    table = write("t.csv", with_probabilities(pass_fail(count=400)))
    answer = read(cli, table)
    roles = answer["roles"]
    assert roles["p_pass"] == roles["p_fail"] == "probability"
    done = cli("probabilities", table, "--json")
    assert not done.code, done.err
    [cell] = json.loads(done.out)["cells"]
    assert cell["verdict"] == "hold" and cell["n"] == 400
    assert cell["confidence"] == pytest.approx(0.95) and cell["right"] == pytest.approx(0.95)


def test_a_probability_of_the_class_0_is_one_of_a_class(cli: Any) -> None:
    rows = [
        {"text": text(EN, k), "human": k % 2, "judge": k % 2, "p_0": 0.95 - 0.9 * (k % 2), "p_1": 0.05 + 0.9 * (k % 2)} for k in range(40)
    ]
    done = cli("compare", write("t.csv", rows), "--to", "d")
    assert not done.code and "are not read" not in done.err
    first = json.loads(Path("d/judgments.jsonl").read_text("utf-8").splitlines()[0])
    assert first["probs"] == {"0": 0.95, "1": 0.05}


def test_rows_whose_probabilities_do_not_sum_to_1_are_counted(cli: Any) -> None:
    rows = with_probabilities(pass_fail())
    rows[3]["p_pass"], rows[8]["p_fail"] = "0.5", "-"
    done = cli("compare", write("t.csv", rows))
    assert not done.code and "2 of 200 rows have no probabilities that sum to 1 (p_pass, p_fail)" in done.err


def probabilities_alone(names: Sequence[str], whole: float = 1, count: int = 400) -> Rows:
    """Return rows of a judge that gave no verdict: columns of these names with the probabilities of pass and of fail, or of pass alone."""
    return [
        {key: value for key, value in row.items() if not key.startswith("p_") and key != "judge"}
        | {name: round(whole * row[f"p_{word}"], 2) for name, word in zip(names, ("pass", "fail"), strict=False)}
        for row in with_probabilities(pass_fail(count=count))
    ]


@pytest.mark.parametrize(
    ("names", "whole"),
    [
        (("p_pass", "p_fail"), 1),
        (("p_pass", "p_fail"), 100),
        (("prob_pass", "prob_fail"), 1),
        (("P(pass)", "P(fail)"), 1),
        (("probs.pass", "probs.fail"), 1),
        (("pass_prob", "fail_prob"), 1),
        (("gpt-4o p_pass", "gpt-4o p_fail"), 1),
        (("p_pass",), 1),
        (("p_pass",), 100),
    ],
)
def test_the_score_of_a_judge_that_gave_probabilities_alone_is_the_likeliest_class(cli: Any, names: tuple[str, ...], whole: float) -> None:
    table = write("t.csv", probabilities_alone(names, whole))
    done = cli("probabilities", table, "--json")
    assert not done.code, done.err
    [cell] = json.loads(done.out)["cells"]
    assert (cell["verdict"], cell["n"]) == ("hold", 400)
    assert cell["confidence"] == pytest.approx(0.95) and cell["right"] == pytest.approx(0.95)
    judge = "gpt-4o" if names[0].startswith("gpt-4o") else "judge"
    assert f"the score of '{judge}' is the likeliest class by {', '.join(names)}" in done.err
    answer = read(cli, table)
    assert {answer["roles"][name] for name in names} == {"probability"}
    assert "Use it in English" in cli("compare", table).out
    assert "Use it in English" in cli("start", table, "--yes").out and Path("t/judgments.jsonl").is_file()


def test_percent_signs_levels_and_a_class_that_nobody_names_are_read(cli: Any) -> None:
    signs = [row | {name: f"{row[name]:g} %" for name in ("p_pass", "p_fail")} for row in probabilities_alone(("p_pass", "p_fail"), 100)]
    assert '"verdict": "hold"' in cli("probabilities", write("signs.csv", signs), "--json").out
    levels = [
        {"text": text(EN, k), "human": k % 5 + 1} | {f"prob_{level}": 0.8 if level == k % 5 + 1 else 0.05 for level in range(1, 6)}
        for k in range(100)
    ]
    [cell] = json.loads(cli("probabilities", write("levels.csv", levels), "--json").out)["cells"]
    assert cell["right"] == 1 and cell["confidence"] == pytest.approx(0.8)
    third = [row | {"p_unsure": 0} for row in probabilities_alone(("p_pass", "p_fail"))]
    table = write("third.csv", third)
    assert "are not read: they are no probabilities of the classes of the scale (fail, pass); --scale states" in cli("compare", table).err
    assert not cli("probabilities", table, "--scale", "fail,unsure,pass:best=pass").code


def test_rows_without_a_likeliest_class_are_counted(cli: Any) -> None:
    rows = probabilities_alone(("p_pass", "p_fail"))
    rows[3] |= {"p_pass": 0.5, "p_fail": 0.5}
    rows[8] |= {"p_pass": "-"}
    done = cli("compare", write("t.csv", rows))
    assert not done.code and "2 of 400 rows have no likeliest class" in done.err


def test_a_confidence_beside_verdicts_is_the_probability_of_the_verdict(cli: Any) -> None:
    rows = [
        {key: value for key, value in row.items() if not key.startswith("p_")} | {"confidence": 0.95 - 0.001 * (k % 7)}
        for k, row in enumerate(with_probabilities(pass_fail(count=400)))
    ]
    done = cli("probabilities", write("t.csv", rows), "--json")
    assert not done.code, done.err
    assert "'confidence' is read as the probability of the verdict in 'judge'" in done.err
    [cell] = json.loads(done.out)["cells"]
    assert cell["verdict"] == "hold" and cell["n"] == 400
    assert "no probabilities are recorded" in cli("probabilities", write("t.csv", rows), "--drop", "confidence").err
    unsure = [row | {"confidence": round(1 - row["confidence"], 3)} for row in rows]
    assert "no probabilities are recorded" in cli("probabilities", write("u.csv", unsure)).err
    of_person = [{"confidence": row.pop("confidence")} | row for row in rows]  # it stands at the beginning, far from the verdict
    assert "no probabilities are recorded" in cli("probabilities", write("p.csv", of_person)).err


def test_shares_of_people_are_no_judge(cli: Any) -> None:
    rows = [
        {key: value for key, value in row.items() if not key.startswith("p_") and key != "judge"}
        | {"human p_pass": 0.75, "human p_fail": 0.25}
        for row in with_probabilities(pass_fail())
    ]
    done = cli("compare", write("t.csv", rows))
    assert done.code == 2 and "a judge's scores" in done.err


def test_probabilities_beside_two_judges_belong_to_neither(cli: Any) -> None:
    table = write("t.csv", with_probabilities(pass_fail(), ("gpt-4o", "llama-3")))
    done = cli("compare", table)
    assert not done.code and "p_pass, p_fail are not read: they are no probabilities of the classes of one judge" in done.err
    refused = cli("probabilities", table)
    assert refused.code == 2 and "no probabilities are recorded" in refused.err + refused.out


def test_start_ends_in_the_answer_where_a_judge_has_scored(cli: Any) -> None:
    write("t.csv", pass_fail())
    done = cli("start", "t.csv", "--yes")
    assert done.code == 0 and "✓ Use it in English" in done.out and Path("t/judgments.jsonl").is_file()
    assert "✓ Use it in English" in cli("compare", "t").out


def test_start_ends_in_the_answer_as_the_first_command_of_a_process() -> None:
    write("t.csv", pass_fail())
    done = subprocess.run([sys.executable, "-m", "harness", "start", "t.csv", "--yes"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "✓ Use it in English" in done.stdout, done.stderr


@pytest.mark.parametrize(
    "command", ["start t.csv --yes", "labels import t.csv --to d --wide-annotators human,judge --metric q --scale q=1..3"]
)
def test_no_command_takes_a_judge_for_a_person(cli: Any, command: str) -> None:
    rows = [{"id": k, "text": text(EN, k), "human": said(k, (1, 2, 3)), "judge": agreeing(k, (1, 2, 3))} for k in range(40)]
    write("t.csv", rows)
    done = cli(*command.split(), *(["--language", "en", "--task", "texts"] if "import" in command else []))
    labels = [json.loads(line) for path in Path().glob("*/labels.jsonl") for line in path.read_text("utf-8").splitlines()]
    assert (
        (done.code == 2 and "looks like a judge" in done.err)
        if "import" in command
        else {row["annotator_id"] for row in labels} == {"person"}
    )


def test_a_gate_and_a_page_read_a_table(cli: Any) -> None:
    write("t.csv", pass_fail())
    Path("gate.toml").write_text('[[rule]]\nmetric = "rating"\nverdict = "use"\n', encoding="utf-8")
    assert cli("gate", "t.csv").code == 0
    assert cli("compare", "t.csv", "--html", "t.html", "--human", "human", "--bar", ".7").code == 0
    page = Path("t.html").read_text("utf-8")
    assert "harness compare t.csv --human human --bar .7" in page
    assert "of what the person failed" in page and "One person labelled each text" in page


# Shares of classes


def test_a_judge_that_lets_failures_through_is_not_used(cli: Any) -> None:
    rows = pass_fail(count=160)
    for k, row in enumerate(rows):
        if row["human"] == "fail":
            row["judge"] = "fail" if k % 3 == 0 else "pass"
    done = cli("compare", write("t.csv", rows))
    shown = " ".join(done.out.split())
    assert done.code == 0 and "✗" in shown and "It misses most of what the person failed in English" in shown
    assert read(cli, "t.csv")["verdicts"][0]["reason"] == "finds less than the bar of a class"


def test_a_judges_replies_without_a_score_are_shown(cli: Any) -> None:
    rows = [row | {"judge": f"I would rather talk about something else, number {number}"} for number, row in enumerate(pass_fail())]
    for flags, said in (
        ((), "'judge' holds texts, such as 'I would rather talk about something else, number 0'"),
        (("--judge", "judge"), "the first that could not be read is 'I would rather talk about something else, number 0'"),
    ):
        done = cli("compare", write("t.csv", rows), *flags)
        assert done.code == 2 and said in done.err


def test_the_bar_is_stated_by_class_and_more_labels_of_the_rarer_class_are_named(cli: Any) -> None:
    write("t.csv", pass_fail(count=120))
    [verdict] = read(cli, "t.csv", "--bar", "fail=.92,pass=.6")["verdicts"]
    assert [share["bar"] for share in verdict["shares"]] == [0.92, 0.6]
    assert verdict["verdict"] == "too few labels" and "more of what the person failed" in verdict["sentence"]
    assert cli("compare", "t.csv", "--bar", "fail=.92,pass=.6").code == 0
    write(
        "u.csv", [row | {"human": row["human"].replace("fail", "bad"), "judge": row["judge"].replace("fail", "bad")} for row in pass_fail()]
    )
    for name in ("t", "u"):
        assert cli("compare", f"{name}.csv", "--to", name).code == 0
    assert cli("compare", "t", "u", "--bar", "fail=.92,bad=.9").code == 0  # a class of one source
    unknown = cli("compare", "t.csv", "--bar", "fial=.9")
    assert unknown.code == 2 and "--bar fial=0.9: no class is called 'fial'; the classes are fail, pass" in unknown.err
    done = cli("compare", "t.csv", "--bar", "fail=2")
    assert done.code == 2 and "--bar fail=2: 2 should lie between 0 and 1" in done.err


def test_an_evaluator_may_be_a_person_and_is_asked_about(cli: Any) -> None:
    rows: Rows = [{"text": text(EN, k), "annotator": said(k, ("pass", "fail")), "evaluator": said(k, ("pass", "fail"))} for k in range(40)]
    write("t.csv", rows)
    done = cli("compare", "t.csv")
    assert done.code == 2 and "'evaluator' holds scores, and nothing says who gave them: pass --human 'evaluator'" in done.err
    assert cli("compare", "t.csv", "--judge", "evaluator").code == 0


def test_a_bar_beside_people_asks_for_both(cli: Any) -> None:
    words = ("pass", "fail")
    rows: Rows = [{"text": text(EN, k), "judge": agreeing(k, words, 30)} for k in range(200)]
    for k, row in enumerate(rows):
        row |= {f"rater{at}": agreeing(k, words, 12, at) for at in (1, 2, 3)}
    write("t.csv", rows)
    bars: tuple[tuple[str, ...], ...] = ((), ("--bar", ".8"), ("--bar", ".9999"), ("--bar", ".95"))
    [plain], [passed], [below], [open_] = (read(cli, "t.csv", *more)["verdicts"] for more in bars)
    assert plain["verdict"] == passed["verdict"] == "use" and passed["basis"] == "people"
    assert "The bar (80 % of each class) is asked for beside people: it finds" in passed["sentence"]
    assert "bar" not in plain["settings"] and [share["bar"] for share in plain["shares"]] == [None, None]
    # use: the larger p of both questions; against the judge: twice the smaller one
    assert passed["q_use"] == max(plain["q_use"], *(share["p_above"] for share in passed["shares"]))
    assert below["verdict"] == "do not use" and below["obstacles"] == ["below_bar"]
    assert below["q_worse"] == pytest.approx(4 * min(share["p_below"] for share in below["shares"]))
    assert open_["verdict"] == "too few labels" and open_["obstacles"] == ["bar"] and open_["p_gap"] > plain["p_gap"]


# What cannot be read


BAD: dict[str, tuple[Rows, str]] = {
    "no judge": ([{"text": text(EN, k), "human": said(k, "ab")} for k in range(30)], "no column with a judge's scores was found"),
    "no person": ([{"text": text(EN, k), "judge": said(k, "ab")} for k in range(30)], "no column with people's scores was found"),
    "one class": ([{"text": text(EN, k), "human": "pass", "judge": said(k, ("pass", "fail"))} for k in range(30)], "one class only"),
    "other scales": (
        [{"text": text(EN, k), "human": f"{said(k, (1, 2, 3, 4, 5))}/5", "judge": k % 10 / 10} for k in range(30)],
        "different scales of 'rating': people 1 to 5, the judge 0 to 0.9",
    ),
    "a code": ([{"text": text(EN, k), "human": (1, 2, 99)[k % 3], "judge": (1, 2)[k % 2]} for k in range(30)], "99 may mean"),
    "one id twice": (
        [{"id": k % 29, "text": text(EN, k), "human": said(k, "ab"), "judge": said(k, "ab")} for k in range(30)],
        "t.csv:31: '0' is also at t.csv:2",
    ),
    "a word that is no class": (
        [{"text": text(EN, k), "human": said(k, (1, 2, 3)) if k else "maybe", "judge": said(k, (1, 2, 3))} for k in range(30)],
        "t.csv:2: 'maybe' is not on the scale",
    ),
    **{
        f"a score of {len(number)} digits": (
            [{"text": text(EN, k), "human": said(k, (1, 2, 3)) if k else number, "judge": said(k, (1, 2, 3))} for k in range(30)],
            f"t.csv:2: '{shown}' is not on the scale (1, 2, 3)",
        )
        for number, shown in (("9" * 17, "9" * 17), ("9" * 5000, f"{'9' * 60}… (5,000 characters)"))
    },
    "a row of means": (
        [{"id": k, "text": text(EN, k), "human": said(k, (1, 2, 3)), "judge": said(k, (1, 2, 3))} for k in range(30)]
        + [{"id": "Average", "text": "", "human": 2, "judge": 2}],
        "t.csv:32: 'Average' looks like a row of totals or means",
    ),
    "ranks": (
        [{"text": text(EN, k)} | {f"human_{at}": (k + at) % 3 + 1 for at in (1, 2, 3)} | {"judge": k % 3 + 1} for k in range(30)],
        "hold ranks (1 to 3 once in each row)",
    ),
}


@pytest.mark.parametrize(("rows", "words"), BAD.values(), ids=BAD)
def test_what_cannot_be_compared_is_refused_in_a_sentence(cli: Any, rows: Rows, words: str) -> None:
    done = cli("compare", write("t.csv", rows), "--to", "kept")
    assert done.code and words in done.err and not done.out and not Path("kept").exists()


@pytest.mark.parametrize(("content", "words"), [("text,human,judge\n", "no rows"), ("", "empty"), ('a,b\n"x,1\n', "never closed")])
def test_broken_files_are_refused_with_their_place(cli: Any, content: str, words: str) -> None:
    Path("t.csv").write_text(content, encoding="utf-8")
    done = cli("compare", "t.csv")
    assert done.code and words in done.err and "t.csv" in done.err and "Traceback" not in done.err


def test_a_table_that_is_not_there_is_said(cli: Any) -> None:
    assert "t.csv does not exist" in cli("compare", "t.csv").err


def test_a_judges_score_of_400_digits_is_an_answer_that_cannot_be_read(cli: Any) -> None:
    rows = [{"text": text(EN, k), "human": said(k, (1, 2, 3)), "judge": agreeing(k, (1, 2, 3)) if k else "9" * 400} for k in range(60)]
    data = read(cli, write("t.csv", rows))
    assert [(verdict["n_ref"], verdict["failures"]) for verdict in data["cells"]] == [(60, {"off_scale": 1})]


@pytest.mark.parametrize("rows_at_the_end", [[("Průměr", "3.1", "3.0")], [("", "", ""), ("N = 60", "", ""), ("Mean", "3.1", "3.0")]])
def test_means_below_a_table_without_ids_are_no_scores(cli: Any, rows_at_the_end: Sequence[Sequence[str]]) -> None:
    words = (1, 2, 3, 4, 5)
    rows = [{"text": text(EN, k), "human": said(k, words), "judge": agreeing(k, words)} for k in range(60)]
    done = cli("compare", write("t.csv", [*rows, *(dict(zip(rows[0], row, strict=True)) for row in rows_at_the_end)]))
    assert done.code == 3 and "looks like a row of totals or means" in done.err


@pytest.mark.parametrize("every", [1, 10])
def test_formulas_without_a_stored_value_are_refused_with_their_place(cli: Any, every: int) -> None:
    book = openpyxl.Workbook()
    book.active.append(["text", "human", "judge"])
    for k in range(60):
        book.active.append([text(EN, k), said(k, (1, 2, 3)), "=1+1" if k % every == 0 else agreeing(k, (1, 2, 3))])
    book.save("t.xlsx")
    done = cli("compare", "t.xlsx")
    assert done.code == 3 and "t.xlsx:Sheet!C2" in done.err and f"({60 // every} cells of 'judge' have no value" in done.err


@pytest.mark.parametrize(
    ("name", "value", "people"),
    [
        ("human_scores", lambda low, high: [low, high], ["human_scores 1", "human_scores 2"]),
        ("expert_annotations", lambda low, high: [{"tone": low}, {"tone": high}], ["expert 1 tone", "expert 2 tone"]),
    ],
    ids=["numbers", "metrics"],
)
def test_lists_of_peoples_scores_are_columns(cli: Any, name: str, value: Callable[[int, int], list[Any]], people: Sequence[str]) -> None:
    rows = [{"text": text(EN, k), name: value(1 + k % 3, 1 + (k + k % 2) % 3), "gpt4_tone": said(k, (1, 2, 3))} for k in range(60)]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = read(cli, "t.jsonl")
    assert [column for column, role in found["roles"].items() if role == "human"] == people
    assert [verdict["n_labelled"] for verdict in found["verdicts"]] == [60]


def test_lists_that_say_of_nobody_are_asked_about(cli: Any) -> None:
    rows = [{"text": text(EN, k), "tone": [1 + k % 3, 1 + (k + k % 2) % 3], "gpt4_tone": said(k, (1, 2, 3))} for k in range(60)]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = cli("compare", "t.jsonl")
    assert done.code == 2 and "--human 'tone 1,tone 2' if it was people" in " ".join(done.err.split())
    Path("t.jsonl").write_text("".join(json.dumps({**row, "tone": ["calm", "rude"]}) + "\n" for row in rows), encoding="utf-8")
    done = cli("compare", "t.jsonl")
    assert done.code == 2 and "'tone' holds lists or objects, maybe with scores" in " ".join(done.err.split())


def test_the_code_of_a_country_is_no_language(cli: Any) -> None:
    words, korean = (1, 2, 3), "상품은 수령 후 14일 이내에 어느 우체국에서나 반품할 수 있습니다"
    rows = [{"lang": "kr", "text": f"{korean} {k}", "human": said(k, words), "judge": agreeing(k, words)} for k in range(60)]
    done = cli("compare", write("t.csv", rows))
    assert done.code == 2 and "40 of 40 texts look like Korean: write 'ko' in the table (column 'lang')" in done.err


def test_three_rows_are_too_few(cli: Any) -> None:
    done = cli("compare", write("t.csv", pass_fail(count=3)), "--language", "en")
    assert done.code == 0 and "Unknown" in done.out and "✓" not in done.out


def test_cells_without_an_answer_are_no_scores(cli: Any) -> None:
    rows = pass_fail(count=100)
    for k, row in enumerate(rows):
        row["judge"] = ("", "N/A")[k % 2] if k % 3 == 0 else row["judge"]
    found = read(cli, write("t.csv", rows))
    assert found["verdicts"][0]["n_labelled"] == 66
    assert any("34 of 100 labelled texts have no score of a judge" in note for note in found["notes"])


def test_a_certificate_and_corrected_means_of_one_person_a_text(cli: Any) -> None:
    rows = pass_fail(count=300)
    for row in rows[200:]:
        row["human"] = ""
    write("t.csv", rows)
    assert cli("certify", "t.csv", "--to", "certificate.json").code == 0
    certificate = json.loads(Path("certificate.json").read_text("utf-8"))
    assert certificate["cells"][0]["basis"] == "bar" and "bar=0.8" in certificate["signature"] and certificate["cells"][0]["n"] == 200
    assert cli("compare", "t.csv", "--sampling", "random", "--to", "kept").code == 0
    corrected = cli("correct", "kept", "--json")
    assert corrected.code == 0 and '"labels_saved"' in corrected.out


def test_a_gate_states_its_own_bar(cli: Any) -> None:
    write("t.csv", pass_fail())
    Path("gate.toml").write_text('[[rule]]\nmetric = "rating"\nverdict = "use"\n\n[decision]\nbar = "0.97"\n', encoding="utf-8")
    done = cli("gate", "t.csv")
    assert done.code != 0, done.out


def test_a_gate_and_a_certificate_say_the_bar(cli: Any) -> None:
    table = write("t.csv", pass_fail())
    Path("gate.toml").write_text('[decision]\nbar = ".7"\n[[rule]]\nlanguage = "*"\nmetric = "*"\nverdict = "use"\n', "utf-8")
    done = cli("gate", table, "--json", "gate.json")
    assert done.code == 0, done.err
    assert "rest on a bar where one person labelled each text: the judge has to find 70 % of each class" in " ".join(done.out.split())
    result = json.loads(Path("gate.json").read_text("utf-8"))
    assert {(check["verdict"], check["basis"]) for check in result["checks"]} == {("use", "bar")}
    assert cli("certify", table, "--bar", ".7", "--to", "c.json").code == 0
    certificate = json.loads(Path("c.json").read_text("utf-8"))
    [cell] = certificate["cells"]
    assert cell["basis"] == "bar" and "against a bar of 70 %" in cell["sentence"]


def test_a_folder_of_words_has_no_comparison_of_own_texts(cli: Any) -> None:
    assert cli("compare", write("t.csv", pass_fail()), "--to", "kept").code == 0
    done = cli("study", "self-preference", "--data", "kept")
    assert done.code == 2 and "no judgment compares a judge's own output with another one" in done.err and "Expected" not in done.err


# Names of judges, other scales, ids


@pytest.mark.parametrize("name", ["Hodnocení modelu", "LLM評価", "judge_score", "gpt-4o"])
def test_a_judge_is_named_by_its_column(cli: Any, name: str) -> None:
    rows = [{"text": text(EN, k), "human": said(k, (1, 2)), name: agreeing(k, (1, 2))} for k in range(40)]
    assert {verdict["judge"] for verdict in read(cli, write("t.csv", rows))["verdicts"]} == {name}


@pytest.mark.parametrize(
    ("human", "judge", "recode"),
    [
        (lambda k: said(k, (1, 2, 3, 4, 5)), lambda k: (agreeing(k, (1, 2, 3, 4, 5)) - 1) / 4, "judge:0..1=1..5"),
        (lambda k: f"{said(k, (1, 2, 3, 4, 5))}/5", lambda k: (agreeing(k, (1, 2, 3, 4, 5)) - 1) / 4, "judge:0..1=1..5"),
        (lambda k: f"{said(k, (2, 4))}/5", lambda k: f"{2 * agreeing(k, (2, 4))}/10", "judge:4=2,8=4"),
        (lambda k: said(k, ("pass", "fail")), lambda k: agreeing(k, (5, 2)), "judge:4..5=pass,1..3=fail"),
    ],
    ids=["a share", "of five against a share", "of five against of ten", "words"],
)
def test_scales_that_differ_are_one_only_where_that_is_said(cli: Any, human: Any, judge: Any, recode: str) -> None:
    rows = [{"text": text(EN, k), "human": human(k), "judge": judge(k)} for k in range(60)]
    done = cli("compare", write("t.csv", rows))
    assert done.code == 2 and "people and judge are on different scales" in done.err and "--recode 'judge:" in done.err
    found = read(cli, "t.csv", "--recode", recode)
    assert found["verdicts"][0]["n_labelled"] == 60 and any("'judge' was recoded" in note for note in found["notes"])
    started = cli("start", "t.csv", "--yes", "--recode", recode)
    assert started.code == 0 and cli("compare", "t", "--json").code == 0


@pytest.mark.parametrize(
    "made",
    [
        lambda rows: {"data": rows},
        lambda rows: {name: {str(k): row[name] for k, row in enumerate(rows)} for name in rows[0]},
        lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
        lambda rows: {"columns": [*rows[0]], "index": [*range(len(rows))], "data": [[*row.values()] for row in rows]},
        lambda rows: {str(k): row for k, row in enumerate(rows)},
    ],
    ids=["an object with a list", "columns", "lists", "split", "index"],
)
def test_json_of_a_frame_is_read_like_a_list_of_rows(cli: Any, made: Any) -> None:
    rows = [{"text": text(EN, k), "human": said(k, (1, 2)), "judge": agreeing(k, (1, 2))} for k in range(40)]
    Path("rows.json").write_text(json.dumps(rows), encoding="utf-8")
    Path("t.json").write_text(json.dumps(made(rows)), encoding="utf-8")
    assert read(cli, "t.json")["verdicts"] == read(cli, "rows.json")["verdicts"]


def test_a_scale_that_runs_the_other_way_is_recoded_so(cli: Any) -> None:
    rows = [{"text": text(EN, k), "human": said(k, (1, 2, 3, 4, 5)), "judge": 5 - said(k, (1, 2, 3, 4, 5))} for k in range(60)]
    done = cli("compare", write("t.csv", rows))
    assert done.code == 2 and "--recode 'judge:0..4=5..1'" in done.err
    assert read(cli, "t.csv", "--recode", "judge:0..4=5..1")["verdicts"][0]["n_labelled"] == 60


@pytest.mark.parametrize(
    ("recode", "words"),
    [
        ("judge:0..1", "write COLUMN:VALUE=VALUE"),
        ("falcon:1=2", "begin with a column of the table"),
        ("judge:1..2=1..5", "t.csv:2: '0.0' is none of"),
    ],
)
def test_a_recoding_that_cannot_be_is_refused(cli: Any, recode: str, words: str) -> None:
    write("t.csv", [{"text": text(EN, k), "human": said(k, (1, 2)), "judge": k % 3 / 2} for k in range(20)])
    done = cli("compare", "t.csv", "--recode", recode)
    assert done.code in (2, 3) and words in done.err


def test_ids_are_one_in_two_files_and_frames_in_all_their_forms(cli: Any) -> None:
    names = ["č-1", "x  2", "3"]
    people = pd.DataFrame({"id": names, "text": [text(EN, k) for k in range(3)], "human": [1, 2, 1]})
    judge = pd.DataFrame({"id": ["c\u030c-1", "x\u00a02\u200b", 3.0], "judge": [1, 2, 2]})
    people.to_csv("p.csv", index=False)
    judge.to_csv("j.csv", index=False)
    assert read(cli, "p.csv", "j.csv")["verdicts"][0]["n_labelled"] == 3
    assert len(harness.compare([people, judge]).verdicts) == 1


def test_start_reads_a_table_with_a_judge_as_its_flags_say(cli: Any) -> None:
    rows = [{"text": text(EN, k), "jana": said(k, (1, 2, 3)), "falcon": agreeing(k, (1, 2, 3))} for k in range(40)]
    write("t.csv", rows)
    done = cli("start", "t.csv", "--yes", "--judge", "falcon", "--human", "jana", "--metric", "tone", "--language", "en")
    assert done.code == 0, done.err
    assert {json.loads(line)["judge"] for line in Path("t/judgments.jsonl").read_text("utf-8").splitlines()} == {"falcon"}
    assert {json.loads(line)["metric"] for line in Path("t/labels.jsonl").read_text("utf-8").splitlines()} == {"tone"}


def test_labels_import_refuses_scores_that_nothing_reads(cli: Any) -> None:
    rows = [{"id": k, "text": text(EN, k), "rater1": said(k, (1, 2, 3)), "falcon": agreeing(k, (1, 2, 3))} for k in range(40)]
    flags = ("--to", "d", "--language", "en", "--task", "texts", "--metric", "q", "--scale", "q=1..3", "--wide-annotators", "rater1")
    done = cli("labels", "import", write("t.csv", rows), *flags)
    assert done.code == 2 and "'falcon' holds scores, and nothing is read from them" in done.err and not Path("d").exists()
    assert cli("labels", "import", "t.csv", *flags, "--drop", "falcon").code == 0


@pytest.mark.parametrize(
    "header",
    [
        ("číslo položky", "hodnotitel", "hodnocení", "odpověď"),
        ("番号", "評価者", "評価", "回答"),
        ("Nummer", "Gutachter", "Bewertung", "Antwort"),
        ("identifiant", "évaluateur", "note", "réponse"),
        ("número", "avaliador", "nota", "resposta"),
        ("numero", "valutatore", "punteggio", "risposta"),
        ("编号", "标注者", "评分", "回答"),
        ("nummer", "bedömare", "betyg", "svar"),
    ],
)
def test_labels_import_reads_headers_in_the_words_of_tables(cli: Any, header: Sequence[str]) -> None:
    rows = [dict(zip(header, (k, who, said(k, (1, 2, 3)), text(EN, k)), strict=True)) for k in range(10) for who in ("a", "b")]
    flags = ("--language", "en", "--task", "texts", "--metric", "q", "--scale", "q=1..3", "--text", f"output={header[3]}")
    done = cli("labels", "import", write("t.csv", rows), "--to", "d", *flags)
    assert done.code == 0 and "20 labels by 2 annotators" in done.err, done.err


# What a refusal offers leads to an answer


def suggested_flags(sentence: str) -> list[list[str]]:
    """Return the flags that a sentence offers, with their values; those that stand side by side belong together."""
    offers = re.findall(r"(?:--(?:human|judge|drop|recode|scale|metric|id) '[^']+' ?)+", sentence)
    return [shlex.split(offer) for offer in offers]


def in_rows(heads: Sequence[str], raters: Sequence[str], metrics: Sequence[str] = ()) -> Rows:
    """Return a table with a row a score: a text, who scored, on what, and the score."""
    names = heads[1:-1]
    return [
        dict(zip(heads, (text(EN, k), *((rater, metric) if metric else (rater,))[: len(names)], score), strict=True))
        for k in range(60)
        for at, rater in enumerate(raters)
        for metric in metrics or ("",)
        for score in [agreeing(k, (1, 2, 3), 9, at)]
    ]


def beside(**columns: int) -> Rows:
    """Return a table with a row a text, and columns of scores that differ in one of so many texts."""
    return [{"text": text(EN, k)} | {name: agreeing(k, (1, 2, 3), every, every) for name, every in columns.items()} for k in range(60)]


def pass_or_not(words: Sequence[str]) -> Rows:
    """Return a table of texts with one person's verdict."""
    return [{"text": text(EN, k), "human": said(k, words)} for k in range(60)]


@pytest.mark.parametrize(
    "rows",
    [
        beside(A=9, B=11),
        beside(A=9, B=11, C=13),
        beside(rater=9, falcon=11),
        beside(rater=9, falcon=11, hawk=13),
        beside(judge=9, falcon=11),
        beside(rater1=9, judge=11, falcon=13, hawk=15),
        in_rows(("κείμενο", "ποιος", "βαθμός"), ("Eleni", "falcon")),
        in_rows(("κείμενο", "αξιολογητής", "χ"), ("Eleni", "Nikos", "falcon")),
        in_rows(("κείμενο", "αξιολογητής", "χ"), ("llama-3", "gpt-4o")),
        in_rows(("text", "ποιος", "κριτήριο", "χ"), ("Eleni", "falcon"), ("ροή", "ύφος")),
        [row | {"judge": 10 * said(k, (3, 7, 9))} for k, row in enumerate(beside(human=9))],
        [row | {"judge": said(k, (1, 2, 3, 4, 5))} for k, row in enumerate(pass_or_not(("pass", "fail")))],
        [row | {"judge": said(k, ("strong", "weak"))} for k, row in enumerate(pass_or_not(("pass", "fail")))],
        [row | {"judge": said(k, ("pass", "fail"))} for k, row in enumerate(beside(human=9))],
        [{"text": text(EN, k // 2), "part": "xy"[k % 2], "human": said(k, "ab"), "judge": agreeing(k, "ab")} for k in range(60)],
    ],
    ids=[
        "two-of-nobody", "three-of-nobody", "one-beside-people", "two-beside-people", "one-beside-a-judge", "two-beside-both",
        "rows-of-foreign-names", "rows-of-annotators", "rows-of-models", "rows-of-metrics", "two-scales", "numbers-and-words",
        "words-and-words", "words-and-numbers", "texts-in-several-rows",
    ],
)  # fmt: skip
def test_flags_that_a_refusal_offers_lead_to_an_answer(cli: Any, rows: Rows) -> None:
    table = write("t.csv", rows)
    refused = cli("compare", table)
    assert refused.code == 2, refused.out
    pending, answers = [(refused.err, [])], 0
    for _ in range(20):
        if not pending:
            break
        sentence, flags = pending.pop()
        offers = suggested_flags(sentence)
        assert offers or (flags and "no other column was found to hold scores" in sentence), sentence
        for offer in offers:
            done = cli("compare", table, *flags, *offer)
            foretold = any(f"without {flag}" in sentence and flag not in offer for flag in ("--human", "--judge"))
            assert not done.code or foretold or (done.code == 2 and done.err != sentence), (offer, done.err)
            answers += not done.code
            if done.code and not foretold:
                pending.append((done.err, [*flags, *offer]))
    assert answers and not pending, pending


def test_a_name_of_a_rater_is_a_judge_where_that_is_said(cli: Any) -> None:
    table = write("t.csv", in_rows(("κείμενο", "ποιος", "βαθμός"), ("Eleni", "Nikos", "gpt-4o")))
    seen = read(cli, table)
    assert seen["roles"] == {"κείμενο": "text", "ποιος": "annotator", "βαθμός": "score"}
    assert {verdict["judge"] for verdict in seen["verdicts"]} == {"gpt-4o"}
    assert {verdict["judge"] for verdict in read(cli, table, "--judge", "Nikos", "--human", "gpt-4o")["verdicts"]} == {"Nikos"}
    unknown = cli("compare", table, "--judge", "Maria")
    assert unknown.code == 2 and "'Maria' is not a column of the table" in unknown.err


def test_the_side_that_is_missing_is_named(cli: Any) -> None:
    one = cli("compare", write("t.csv", [{"text": "abc"[k], "judge": (1, 2, 1)[k]} for k in range(3)]))
    assert one.code == 2 and "no column with people's scores was found (judges: judge)" in one.err
    none = cli("compare", write("t.csv", [{"text": text(EN, k), "topic": f"topic {k}"} for k in range(30)]))
    assert none.code == 2 and "no column with people's or a judge's scores was found" in none.err


def test_all_criteria_of_a_row_are_read(cli: Any) -> None:
    rows = in_rows(("text", "rater", "fluency_score"), ("Eleni", "gpt-4o"))
    for number, row in enumerate(rows):
        row["adequacy_score"] = said(number, (1, 2, 3))
    assert {verdict["metric"] for verdict in read(cli, write("t.csv", rows))["verdicts"]} == {"fluency_score", "adequacy_score"}


# What would give a wrong number is asked about or set aside by its structure


def test_a_last_row_without_a_text_is_no_score_in_any_language(cli: Any) -> None:
    rows: Rows = [{"номер": k, "ответ": text(EN, k), "эксперт": said(k, (1, 2, 3)), "модель": agreeing(k, (1, 2, 3))} for k in range(40)]
    rows.append({"номер": "Итого", "ответ": "", "эксперт": 2.1, "модель": 1.9})
    done = cli("compare", write("t.csv", rows))
    assert done.code == 3 and "t.csv:42: this row has scores and alone has no text" in done.err


def test_several_labels_in_a_cell_are_no_class(cli: Any) -> None:
    labels = ("rude", "toxic", "rude;toxic", "toxic;rude", "ok")
    rows: Rows = [{"text": text(EN, k), "human": said(k, labels), "judge": agreeing(k, labels)} for k in range(60)]
    done = cli("compare", write("t.csv", rows))
    assert done.code == 2 and "'human' holds several labels in a cell, such as 'rude;toxic'" in done.err
    named = [row | {"human": said(k, ("yes; late", "no")), "judge": agreeing(k, ("yes; late", "no"))} for k, row in enumerate(rows)]
    assert read(cli, write("t.csv", named))["verdicts"][0]["n_labelled"] == 60


@pytest.mark.parametrize("scale", [(1, 2, 3, 4, 5), (0, 1), (0.5, 1.25, 2.5, 4.75)])
def test_a_judge_whose_best_score_is_the_lowest_is_asked_about(cli: Any, scale: tuple[float, ...]) -> None:
    low, high = min(scale), max(scale)
    rows: Rows = [{"text": text(EN, k), "human": said(k, scale), "gpt": low + high - agreeing(k, scale)} for k in range(60)]
    refused = cli("compare", write("t.csv", rows))
    assert refused.code == 2 and "the scores of 'gpt' on 'rating' fall where people's rise" in refused.err
    turned, as_it_is = suggested_flags(refused.err)
    scores = {"turned": [agreeing(k, scale) for k in range(60)], "as it is": [row["gpt"] for row in rows]}
    for flags, judged in zip((turned, as_it_is), scores.values(), strict=True):
        [verdict] = read(cli, "t.csv", *flags)["verdicts"]
        expected = sum(said(k, scale) == score for k, score in enumerate(judged)) / 60
        assert verdict["right"] == pytest.approx(expected) or 1.25 in scale  # fractions are held against each other by distance
        assert (verdict["correlation"] or 1) > 0 or flags is as_it_is


def test_a_mean_of_people_is_no_second_person(cli: Any) -> None:
    rows: Rows = [
        {"text": text(EN, k), "expert": said(k, (1, 2, 3)), "crowd_mean": agreeing(k, (1, 1.5, 2, 3)), "llm": agreeing(k, (1, 2, 3))}
        for k in range(60)
    ]
    refused = cli("compare", write("t.csv", rows))
    assert refused.code == 2 and "'crowd_mean' seems to be made of several people's scores" in refused.err
    assert [offer for offer in suggested_flags(refused.err) if cli("compare", "t.csv", *offer).code == 0] == suggested_flags(refused.err)
    assert read(cli, "t.csv", "--drop", "crowd_mean")["verdicts"][0]["right"] == pytest.approx(56 / 60)


def test_numbers_that_were_made_of_the_same_scores_are_not_several_people(cli: Any) -> None:
    rows: Rows = [
        {"text": text(EN, k), "human_max": said(k, (2, 3, 4)), "human_mean": said(k, (1.5, 2.5, 3)), "llm": agreeing(k, (2, 3, 4))}
        for k in range(60)
    ]
    refused = cli("compare", write("t.csv", rows))
    assert refused.code == 2 and "'human_max', 'human_mean' seem to be made of several people's scores" in refused.err
    assert read(cli, "t.csv", "--drop", "human_max")["roles"]["human_mean"] == "human"
    rows = [{"text": text(EN, k), "tone_mean": said(k, (1.5, 2.5)), "tone_max": said(k, (2, 3)), "ease_mean": 2 + k % 2} for k in range(60)]
    refused = cli("start", write("people.csv", rows), "--yes")
    offer = "--wide-metrics 'tone_mean,ease_mean' --annotators aggregate --drop 'tone_max'"
    assert refused.code == 2 and f"no column has one person's: pass {offer}, or" in refused.err and not Path("people").exists()
    done = cli("start", "people.csv", "--yes", *shlex.split(offer))
    assert done.code == 0 and "120 labels by 1 annotator on 2 metrics imported" in done.err + done.out


@pytest.mark.parametrize("metrics", [("fluency", "tone"), ("fluency", "tone", "logic")])
def test_means_of_several_questions_are_metrics_where_the_judge_has_them_too(cli: Any, metrics: Sequence[str]) -> None:
    sides = {"human": said, "llm": agreeing}
    columns = {f"{side}_mean_{metric}": give for side, give in sides.items() for metric in metrics}
    rows: Rows = [{"text": text(EN, k), **{name: give(k, (1.5, 2.5, 3)) for name, give in columns.items()}} for k in range(60)]
    verdicts = read(cli, write("t.csv", rows))["verdicts"]
    assert {verdict["metric"] for verdict in verdicts} == {f"mean_{metric}" for metric in metrics}


def test_a_score_above_people_is_not_called_generous(cli: Any) -> None:
    rows: Rows = [{"text": text(EN, k), "human_errors": k % 3, "llm_errors": k % 3 + (k % 2)} for k in range(60)]
    answer = cli("compare", write("t.csv", rows)).out
    assert "0.5 above it on average" in answer


def test_ids_that_stand_in_several_rows_are_groups(cli: Any) -> None:
    rows: Rows = [{"id": k // 2, "text": text(EN, k), "human": said(k, "ab"), "judge": agreeing(k, "ab")} for k in range(120)]
    answer = read(cli, write("t.csv", rows))
    assert answer["roles"]["id"] == "group" and (answer["verdicts"][0]["n_labelled"], answer["verdicts"][0]["groups"]) == (120, 60)


def test_short_questions_are_texts_and_no_ids(cli: Any) -> None:
    rows: Rows = [
        {"inputs.question": f"q{k}", "outputs.answer": text(EN, k), "human": said(k, "ab"), "judge": agreeing(k, "ab")} for k in range(60)
    ]
    done = cli("compare", write("t.csv", rows))
    assert done.code == 0 and "text: outputs.answer (beside: inputs.question)" in done.err


def test_short_chinese_sentences_are_texts_in_chinese(cli: Any) -> None:
    sentences = ("第{}号列车清晨离开车站。", "食谱{}说面团要放置一个小时。", "图书馆{}星期一不开门。")
    rows: Rows = [{"句子": sentences[k % 3].format(k), "人工": said(k, "ab"), "模型": agreeing(k, "ab")} for k in range(90)]
    answer = read(cli, write("t.csv", rows))
    assert answer["roles"]["句子"] == "text" and [verdict["language"] for verdict in answer["verdicts"]] == ["zh"]


def test_scores_that_are_not_on_the_other_sides_scale_are_asked_about(cli: Any) -> None:
    rows: Rows = [{"text": text(EN, k), "human": bool(k % 3), "एआई": int(k % 3 > 0)} for k in range(60)]
    done = cli("compare", write("t.csv", rows))
    assert done.code == 2 and "'एआई' holds scores, and nothing says who gave them" in done.err
    assert cli("compare", "t.csv", "--judge", "एआई").code == 0
    rounds = cli(
        "compare", write("t.csv", [{"text": r["text"], "human_round1": said(k, "ab"), "gpt": said(k, "ab")} for k, r in enumerate(rows)])
    )
    assert rounds.code == 2 and "'human_round1' is set aside for its name; if it holds scores: --human 'human_round1'" in rounds.err
    assert cli("compare", "t.csv", "--human", "human_round1").code == 0


def test_a_person_who_scored_a_text_twice_is_named_with_the_place(cli: Any) -> None:
    rows = in_rows(("text", "rater", "score"), ("Ann", "Ann", "gpt-4o"))
    done = cli("compare", write("t.csv", rows))
    assert done.code == 3 and "harness: t.csv:2: one person scored '1' twice on 'rating' (also at t.csv:5," in done.err
    assert "--metric COLUMN names the column that says which" in done.err


def test_words_that_a_judge_uses_are_scores_of_somebody(cli: Any) -> None:
    rows: Rows = [{"text": text(EN, k), "label": said(k, ("ok", "ko")), "judge_v1": agreeing(k, ("ok", "ko"))} for k in range(60)]
    rows = [row | {"judge_v2": agreeing(k, ("ok", "ko"), 11)} for k, row in enumerate(rows)]
    done = cli("compare", write("t.csv", rows))
    assert done.code == 2 and "'label' holds scores, and nothing says who gave them" in done.err
    assert {verdict["n_labelled"] for verdict in read(cli, "t.csv", "--human", "label")["verdicts"]} == {60}


def test_the_page_of_one_person_a_text_names_the_bar_and_not_people(cli: Any) -> None:
    assert cli("compare", write("t.csv", pass_fail()), "--html", "t.html").code == 0
    page = Path("t.html").read_text("utf-8")
    assert "above the bar · 200 texts" in page and "as good as people · 200 texts" not in page
