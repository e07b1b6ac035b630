"""The atlas from comparisons, and the file of judges."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from harness.content.library import Library, bundled_root
from harness.content.specs import DatasetCard, Scale
from harness.errors import ContentError
from harness.judge_atlas.atlas import AtlasJudge
from harness.judge_atlas.atlas_rows import JUDGES, ComparedSet, joined, read_judges
from tests.unit.judge_atlas.atlases import row

SCALE = Scale(kind="nominal", classes=("no", "yes"))


def card(name: str, *languages: str) -> DatasetCard:
    return DatasetCard(id=name, languages=languages, metrics={"insult": SCALE, "tone": SCALE}, qualities={"insult": "harm"})


def test_sets_without_judges_are_there_for_their_languages_and_qualities() -> None:
    made = joined({"one": card("one", "ja"), "two": card("two", "ca")}, {"one": ComparedSet("data:one", (row(),), True)}, {})
    assert list(made.languages) == ["ca", "ja"] and made.sets["two"].qualities == ("harm", "tone")
    assert (made.sets["one"].signature, made.sets["one"].partial, made.sets["two"].signature) == ("data:one", True, "")


def test_boards_stand_beside_the_set_that_they_ask_about_by_their_collection() -> None:
    library = Library()
    boards, people = [library.board("wmt24-esa"), library.board("controls")], library.collection("people")
    cards = {"wmt24_esa": card("wmt24_esa", "ja"), "two": card("two", "ja")}
    alone, together = joined(cards, {}, {}, boards=boards), joined(cards, {}, {}, boards=boards, collections=[people])
    assert alone.sets["wmt24_esa"].boards == {"wmt24-esa": ("cs", "ja")} and alone.sets["two"].boards == {}
    assert together.sets["wmt24_esa"].boards == {"people": ("cs", "ja")}


def test_rows_of_sets_that_were_not_compared_stay_and_others_are_replaced() -> None:
    cards = {"one": card("one", "ja"), "two": card("two", "ja")}
    judges = {"gpt": AtlasJudge(released=datetime.date(2024, 1, 1)), "unused": AtlasJudge()}
    first = joined(cards, {"one": ComparedSet("data:one", (row(),)), "two": ComparedSet("data:two", (row(set="two"),))}, judges)
    again = joined(cards, {"two": ComparedSet("data:new", (row(set="two", verdict="do not use"),))}, judges, first)
    assert [(each.set, each.verdict) for each in again.rows] == [("one", "use"), ("two", "do not use")]
    assert again.sets["one"].signature == "data:one" and again.sets["two"].signature == "data:new"
    assert list(again.judges) == ["gpt"], "only judges with rows"


def test_every_judge_of_the_file_is_recorded_somewhere_and_its_dates_are_in_order() -> None:
    library = Library()
    recorded = {judge for name in library.dataset_card_files for judge in library.dataset_card(name).judges}
    judges = read_judges(bundled_root() / JUDGES)
    assert {name for name in judges if "/" not in name} <= recorded and judges, "names with a slash are of judges that were asked"
    for name, about in judges.items():
        assert about.source and (about.released or about.toy), name
        assert about.served_until is None or (about.released and about.served_until > about.released)


def test_rows_of_boards_stand_beside_those_of_sets_and_toys_stand_apart() -> None:
    cards, judges = {"one": card("one", "ja")}, {"toy": AtlasJudge(toy=True)}
    asked = (row(judge="new", board="b", verdict="do not use"), row(judge="toy", board="b", probabilities="hold", confidence=0.9))
    first = joined(cards, {"one": ComparedSet("data:one", (row(),))}, judges, from_boards={"b": asked})
    assert [(each.judge, each.board) for each in first.rows] == [("gpt", ""), ("new", "b")]
    assert [each.judge for each in first.toy_rows] == ["toy"] and len(first.all_rows) == 3
    again = joined(cards, {}, judges, first)
    assert again.rows == first.rows and again.toy_rows == first.toy_rows, "neither the set nor the board is here"
    assert joined(cards, {}, judges, first, from_boards={"b": ()}).rows == (row(),)
    assert [line["toy"] for line in first.flat()] == [False, False, True]


def test_a_wrong_file_of_judges_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "judges.toml"
    path.write_text('[judges."gpt"]\nrelaesed = 2024-01-01\n', "utf-8")
    with pytest.raises(ContentError, match=r"judges\.toml:2.*relaesed"):
        read_judges(path)
