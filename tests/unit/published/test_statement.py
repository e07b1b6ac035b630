"""Who labelled a set is said as far as its authors say it, in lists and on pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.content import Library
from harness.content.specs import DatasetCard
from harness.data import load_folder
from harness.errors import ContentError
from harness.published.listing import statement_of
from tests.translation_folder import CARD, write_translations

STATEMENT = """
[statement]
labelled_by = "Two translators, asked by mail."
first_languages = "Czech"
pay = "20 euros an hour"
when = "spring 2026"
instructions = "docs/guide.pdf <b>page 2</b>"
"""


def test_a_data_folder_states_who_labelled_and_a_page_shows_it(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    folder = write_translations(tmp_path / "data", card=CARD + STATEMENT)
    stated = dict(statement_of(load_folder(folder, Library()).about))
    assert stated["pay"] == "20 euros an hour" and stated["when"] == "spring 2026"
    run = ("run", "--data", folder, "--judge", "baseline/constant-best", "--out", tmp_path / "out")
    assert cli(*run).code == 0
    assert cli("report", "--out", tmp_path / "out", "--html", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert 'id="people"' in page and "Two translators, asked by mail." in page and "guide.pdf &lt;b&gt;page 2&lt;/b&gt;" in page


def test_what_is_not_stated_is_called_that(cli: Callable[..., Any]) -> None:
    out = " ".join(cli("data", "show", "korean_square").out.split())
    assert "labelled by 222 crowd workers in Korea" in out and "first languages not stated" in out and "pay not stated" in out
    assert "first languages that of the texts" in " ".join(cli("data", "show", "hanna").out.split()), "its authors say native speakers"
    people = DatasetCard(id="made", source="people", annotators_a_text="2 or 3")
    assert dict(statement_of(people))["labelled by"] == "people; whether they are native speakers is not stated; 2 or 3 a text"


def test_the_full_list_states_who_labelled_each_set(cli: Callable[..., Any]) -> None:
    done = cli("data", "list", "--lang", "cs", "--full")
    assert done.code == 0, done.err
    out = " ".join(done.out.split())
    for name in ("rtp_lx", "wmt24_esa", "mlqe_catastrophic"):
        facts = " ".join(out.split(f"name {name} ")[1].split("size ")[0].split())
        for heading in ("labelled by", "first languages", "pay", "when", "instructions"):
            assert f" {heading} " in facts, (name, heading)
        assert Library().dataset_card(name).statement.labelled_by in facts
    assert "name hanna" not in out  # it has no Czech


def test_every_set_of_people_says_who_labelled_it() -> None:
    cards = (card for name in Library().dataset_card_files if (card := Library().dataset_card(name)).source in ("native", "people"))
    assert [card.id for card in cards if not card.statement.labelled_by] == []


def test_an_unknown_statement_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="wage"):
        load_folder(write_translations(tmp_path, card=f'{CARD}[statement]\nwage = "much"\n'), Library())


def test_show_says_which_files_of_the_release_a_set_is_made_of(cli: Callable[..., Any]) -> None:
    shown = " ".join(cli("data", "show", "wmt_qe_2023").out.split())
    assert "made of" in shown and "the train files are left out" in shown
