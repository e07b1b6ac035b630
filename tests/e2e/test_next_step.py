"""The next step of `harness compare TABLE`, from the command that the answer prints to the answer after it, with a person in a browser."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.annotate.page_results import read_record
from tests.e2e.labelling import label, open_page, practise, save, visitor
from tests.e2e.pages import chromium
from tests.e2e.test_one_table import EN, Rows, agreeing, said, text, write

WORDS = ("pass", "fail")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def half_labelled(rows: int, labelled: int) -> Rows:
    """A sheet whose first rows a person has labelled; a judge differs in one of 25."""
    return [
        {"id": f"t{k}", "answer": text(EN, k), "human": said(k, WORDS) if k < labelled else "", "judge": agreeing(k, WORDS, 25, 3)}
        for k in range(rows)
    ]


def step_of(out: str) -> list[str]:
    """Return the command of the answer's next step."""
    [command] = re.findall(r"^ *(harness labels page .*)$", out, re.MULTILINE)
    return shlex.split(command)[1:]


@pytest.mark.slow
@pytest.mark.needs("chromium")
def test_the_command_of_the_next_step_leads_to_the_answer(cli: Any, browser: Any, tmp_path: Path) -> None:
    table = write("answers.csv", half_labelled(170, 30))
    first = cli("compare", table)
    shown = " ".join(first.out.split())
    assert first.code == 0 and "English: it is unknown" in first.out
    assert re.search(r"label about \d+ more texts for rating in English \(until about \d+ more are 'pass'\)", shown)
    made = cli(*step_of(first.out))
    assert made.code == 0, made.err
    assert "harness labels import RESULTS.json --pages pages, then harness compare answers" in made.err
    record = read_record(Path("pages/pages.json"))
    [page_file] = record.pages
    ids = [entry.item_id for entry in page_file.items]
    numbers = {entry.key: int(entry.item_id[1:]) for entry in page_file.items}
    assert len(ids) > 40 and all(number >= 30 for number in numbers.values())
    with visitor(browser) as context:
        page = open_page(context, (tmp_path / "pages" / page_file.file).as_uri())
        practise(page)
        label(page, lambda item, metric: str(1 + ("fail", "pass").index(said(numbers[item["key"]], WORDS))), len(ids))
        saved = save(page, tmp_path / "results")
    imported = cli("labels", "import", str(saved.relative_to(tmp_path)), "--pages", "pages")
    assert imported.code == 0, imported.err
    [verdict] = json.loads(cli("compare", "answers", "--json").out)["verdicts"]
    assert verdict["n_labelled"] == 30 + len(ids) and verdict["basis"] == "bar"
    assert verdict["verdict"] == "use", verdict["sentence"]


def test_texts_are_drawn_at_random_or_by_what_they_say_of_themselves(cli: Any) -> None:
    rows = [row | {"model": ("alpha", "beta")[k % 2]} for k, row in enumerate(half_labelled(120, 40))]
    table = write("t.csv", rows)

    def ids(*flags: str) -> list[int]:
        done = cli("labels", "page", table, "--annotators", "1", "--out", "pages", "--replace", *flags)
        assert done.code == 0, done.err
        return sorted(int(entry.item_id[1:]) for page in read_record(Path("pages/pages.json")).pages for entry in page.items)

    assert ids("--next", "20") == list(range(40, 60))
    drawn = ids("--next", "20", "--random")
    assert len(drawn) == 20 and min(drawn) >= 40 and max(drawn) > 70 and drawn == ids("--next", "20", "--random")
    assert drawn != ids("--next", "20", "--random", "--seed", "1")
    assert {number % 2 for number in ids("--next", "20", "--random", "--where", "system=beta")} == {1}


@pytest.mark.parametrize("name", ["class", "judge", "rating"])
def test_texts_are_not_chosen_by_a_score(cli: Any, name: str) -> None:
    table = write("t.csv", half_labelled(90, 40))
    done = cli("labels", "page", table, "--next", "10", "--where", f"{name}=fail", "--out", "pages")
    assert done.code == 2 and "cannot be chosen by a score" in done.err and "--random" in done.err
    assert not Path("pages").exists()


def test_a_folder_of_other_texts_is_not_taken_for_the_table(cli: Any) -> None:
    table = write("t.csv", half_labelled(60, 20))
    assert cli("labels", "page", table, "--next", "5", "--out", "pages").code == 0
    again = cli("labels", "page", table, "--next", "5", "--out", "pages2")
    assert again.code == 0 and "kept as the data folder t already" in again.err
    write("t.csv", half_labelled(70, 20))
    done = cli("labels", "page", table, "--next", "5", "--out", "pages3")
    assert done.code == 2 and "has other texts than t.csv" in done.err and not Path("pages3").exists()
