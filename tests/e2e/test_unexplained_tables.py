"""`start --yes` takes no table that it cannot explain: each would else give wrong numbers in silence."""

from __future__ import annotations

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
    "a constant rater": (_table("jana,petr,eva", lambda k, a, b: f"{a},{b},5"), "what are 'eva'?"),
    "a sorted rater": (_table("jana,petr,eva", lambda k, a, b: f"{a},{b},{1 + k // 5}"), "what are 'eva'?"),
    "a code": (_table("jana,petr", lambda k, a, b: f"{a},{99 if k == 3 else b}"), "99 may mean that there is no answer"),
    "ranks": (_table("r1,r2,r3", lambda k, a, b: ("1,2,3", "3,1,2", "2,3,1")[k * k % 3]), "hold ranks"),
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
        ("jana,petr", lambda k, a, b: ",".join("Good" if score > 2 else "bad" for score in (a, b)), 2, "bad, Good, from the scores seen"),
    ],
    ids=["gold", "metadata", "a constant rater between two", "words"],
)
def test_what_the_table_shows_is_explained_by_its_structure(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: str, cells: Callable[[int, int, int], str], people: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(_table(header, cells), encoding="utf-8")
    done = cli("start", "t.csv", "--yes", "--metric", "quality", "--language", "en")
    assert done.code == 0 and said in done.err, done.err
    assert f"{24 * people} labels by {people} annotators on 1 metric imported" in done.err
