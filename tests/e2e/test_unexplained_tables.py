"""`start --yes` takes no table that it cannot explain: each would else give wrong numbers in silence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TEXTS = ("The clerk explains how to reset the meter.", "Please keep the receipt for the warranty.", "The shop is closed on Sundays.")
SCORES = [(1 + k * 7 % 5, 1 + (k * k + 1) % 5) for k in range(24)]


def _table(header: str, cells: Callable[[int, int, int], str]) -> str:
    rows = (f"q{k},{TEXTS[k % 3]} Case {k}.,{cells(k, *SCORES[k])}" for k in range(24))
    return "\n".join([f"id,answer,{header}", *rows]) + "\n"


TABLES = {
    "a judge": (
        _table("jana,petr,gpt-4o", lambda k, a, b: f"{a},{b},{a}"),
        "'jana', 'petr' hold scores, and nothing says who gave them: pass --human",
    ),
    "a person by name beside somebody": (
        _table("rater1,rater2,falcon", lambda k, a, b: f"{a},{b},{a}"),
        "'falcon' holds scores, and nothing says who gave them: pass --human 'falcon'",
    ),
    "scores or numbers of blocks": (_table("jana,petr,eva", lambda k, a, b: f"{a},{b},{1 + k // 5}"), "what are 'eva'?"),
    "a topic": (_table("jana,petr,topic", lambda k, a, b: f"{a},{b},{1 + k * k % 5}"), "what are 'topic'?"),
    "a highest score": (_table("max,jana,petr", lambda k, a, b: f"5,{a},{b}"), "what are 'max'?"),
    "a level in Czech": (_table("jana,Úroveň,petr", lambda k, a, b: f"{a},{1 + k * k % 5},{b}"), "what are 'Úroveň'?"),
    "a code": (_table("jana,petr", lambda k, a, b: f"{a},{99 if k == 3 else b}"), "99 may mean that there is no answer"),
    "a zero": (_table("jana,petr", lambda k, a, b: f"{a},{0 if k == 3 else b}"), "0 may mean that there is no answer"),
    "ranks": (_table("r1,r2,r3", lambda k, a, b: ("1,2,3", "3,1,2", "2,3,1")[k * k % 3]), "hold ranks"),
    "people with questions": (
        _table("jana: warm,jana: kind,petr: warm,petr: kind", lambda k, a, b: f"{a},{b},{b},{a}"),
        "nothing says which are people",
    ),
    "questions with facts": (
        _table("fluency_week,fluency_day,tone_week,tone_day", lambda k, a, b: f"{a},{b},{b},{a}"),
        "nothing says which are people",
    ),
    "totals": (_table("jana,petr", lambda k, a, b: f"{a},{b}") + "Average,,3,3\n", "a row of totals or means"),
    "lists": (_table("jana,petr,more", lambda k, a, b: f'{a},{b},"[{{""x"": {a}}}]"'), "'more' hold lists or objects"),
}


@pytest.mark.parametrize(("table", "words"), TABLES.values(), ids=TABLES)
def test_what_is_not_explained_is_named_and_nothing_is_written(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(table, encoding="utf-8")
    done = cli("start", "t.csv", "--yes", "--metric", "quality", "--language", "en")
    assert done.code == 2 and words in done.err and not Path("t").exists()


def test_remarks_of_raters_are_no_texts(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = _table("jana,petr,comment", lambda k, a, b: f"{a},{b},This is remark number {k} of the rater on it")
    Path("t.csv").write_text(table, encoding="utf-8")
    done = cli("start", "t.csv", "--yes", "--metric", "quality", "--language", "en")
    assert done.code == 0 and "comment" not in Path("t/items.jsonl").read_text("utf-8") + Path("t/ask-quality.toml").read_text("utf-8")


@pytest.mark.parametrize(
    ("header", "cells", "people", "said"),
    [
        ("jana,petr,Gold", lambda k, a, b: f"{a},{b},{a}", 2, "'Gold' is made of other people's scores, and no person"),
        (
            "age,jana,petr",
            lambda k, a, b: f"{30 + a},{a},{b}",
            2,
            "not read, as facts about the people or the task, or made of other columns: 'age'",
        ),
        ("jana,eva,petr", lambda k, a, b: f"{a},5,{b}", 3, "scores: the columns 'jana', 'eva', 'petr'"),
        ("jana,petr,eva", lambda k, a, b: f"{a},{b},5", 3, "scores: the columns 'jana', 'petr', 'eva'"),
        (
            "jana,petr,eva",
            lambda k, a, b: ",".join("yes" if score > 2 else "no" for score in (a, b, 5)),
            3,
            "scores: the columns 'jana', 'petr', 'eva'",
        ),
        ("eva,jana,petr", lambda k, a, b: f"3,{a},{b}", 3, "scores: the columns 'eva', 'jana', 'petr'"),
        ("jana,petr,eva", lambda k, a, b: f"{10 * a},{10 * b},{15 + 35 * k % 55 // 5 * 5}", 3, "scores: the columns 'jana', 'petr', 'eva'"),
        ("jana,petr", lambda k, a, b: ",".join("Good" if score > 2 else "bad" for score in (a, b)), 2, "bad, Good, from the scores seen"),
    ],
    ids=[
        "gold",
        "metadata",
        "a constant rater between two",
        "a constant rater behind",
        "a constant word",
        "a constant rater before",
        "a slider",
        "words",
    ],
)
def test_what_the_table_shows_is_explained_by_its_structure(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: str, cells: Callable[[int, int, int], str], people: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(_table(header, cells), encoding="utf-8")
    done = cli("start", "t.csv", "--yes", "--metric", "quality", "--language", "en")
    assert done.code == 0 and said in done.err, done.err
    assert f"{24 * people} labels by {people} annotators on 1 metric imported" in done.err


@pytest.mark.parametrize(
    ("header", "people"),
    [
        ("fluency_jana,fluency_petr,adequacy_jana,adequacy_petr", 2),
        ("R1_fluency,R1_adequacy,R2_fluency,R2_adequacy", 2),
        ("toxicity.jana,toxicity.petr,toxicity.eva,kindness.jana", 3),
        ("rater1 warm,rater1 kind,rater2 warm,rater2 kind", 2),
    ],
)
def test_columns_of_a_person_on_a_metric_are_read_as_both(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: str, people: int
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(_table(header, lambda k, a, b: f"{a},{b},{b},{a}"), encoding="utf-8")
    done = cli("start", "t.csv", "--yes", "--language", "en")
    assert done.code == 0 and f"96 labels by {people} annotators on 2 metrics imported" in done.err, done.err
    labels = [json.loads(line) for line in Path("t/labels.jsonl").read_text("utf-8").splitlines()]
    assert len({(label["item_id"], label["annotator_id"], label["metric"]) for label in labels}) == 96


def test_a_table_that_is_sorted_by_a_rater_keeps_this_rater(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    header, *rows = _table("jana,petr,eva", lambda k, a, b: f"{a},{b},{1 + k * 3 % 5}").splitlines()
    Path("t.csv").write_text("\n".join([header, *sorted(rows, key=lambda row: row[-1])]) + "\n", encoding="utf-8")
    done = cli("start", "t.csv", "--yes", "--metric", "quality", "--language", "en")
    assert done.code == 0 and "72 labels by 3 annotators on 1 metric imported" in done.err, done.err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("e-mail", lambda k: f"p{k % 3}@example.org"),
        ("link", lambda k: f"https://example.org/{k % 4}"),
        ("when", lambda k: str(1764000000 + k % 4)),
        ("moment", lambda k: f"2026-05-0{1 + k % 4}T10:00:00"),
        ("session", lambda k: f"5f0c7a52-1111-4222-8333-0123456789a{k % 5}"),
        ("digest", lambda k: f"9b74c9897bac770ffc029102a200c5d{k % 5}"),
    ],
)
def test_addresses_moments_and_ids_are_no_scores(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: Callable[[int], str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(_table(f"{name},fluency", lambda k, a, b: f"{value(k)},{a}"), encoding="utf-8")
    done = cli("start", "t.csv", "--yes", "--metric", "quality", "--language", "en")
    assert f"scale of '{name}'" not in done.err and f"'{name}', 'fluency'" not in done.err
    assert done.code == 2 or len(Path("t/labels.jsonl").read_text("utf-8").splitlines()) == 24
    if name == "e-mail":  # people's addresses enter nothing
        assert done.code == 0 and not any("example.org" in file.read_text("utf-8") for file in Path("t").iterdir())


def test_what_an_import_does_not_know_stands_in_lines(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(_table("ann,bob", lambda k, a, b: f"{a},{b}").replace("id,", "case,", 1), encoding="utf-8")
    done = cli("labels", "import", "t.csv", "--to", "d")
    lines = [line.strip() for line in done.err.splitlines()]
    assert done.code == 3 and lines[0].endswith("things are missing; the columns are: case, answer, ann, bob")
    assert "the metric of the scores is unknown; give --metric NAME or --column metric=COLUMN" in lines
    assert "if 'ann', 'bob' have one person's scores each: --wide-annotators ann,bob" in lines


def test_turns_beside_people_alone_are_no_scores_and_remarks_in_any_language_reach_no_judge(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        f"c{k // 3},{k % 3 + 1},{TEXTS[k % 3]} Talk {k // 3}.,{SCORES[k % 24][0]},{SCORES[k % 24][1]},потаємне слово {k}" for k in range(45)
    ]
    Path("t.csv").write_text("\n".join(["conversation,turn,utterance,rater1,rater2,коментар", *rows]) + "\n", encoding="utf-8")
    done = cli("start", "t.csv", "--yes", "--metric", "q", "--language", "en")
    assert done.code == 0 and "90 labels by 2 annotators on 1 metric imported" in done.err
    assert "'turn' numbers the texts of each 'conversation'" in done.err and '"group":"c0"' in Path("t/items.jsonl").read_text("utf-8")
    assert not any("потаємне" in file.read_text("utf-8") for file in Path("t").iterdir())
