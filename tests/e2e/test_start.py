"""From a spreadsheet to a verdict and a certificate: a Czech table as an office has it, with a title above, in cp1250, partly labelled."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from harness.annotate.page_content import data_of

Cli = Callable[..., Any]
COLUMNS = ["Č. dotazu", "Systém", "Odpověď", "Jana", "Petr", "Eva"]
TEXTS = (
    "Hlavním městem České republiky je Praha, která leží na řece Vltavě.",
    "Děkujeme za váš dotaz. Vyřízení žádosti trvá přibližně tři pracovní dny.",
    "Knihu můžete vrátit do čtrnácti dnů bez udání důvodu, stačí vyplnit formulář.",
)


def _rows(questions: int = 60) -> list[list[Any]]:
    """Two systems' answers: Jana and Petr score all of them nearly alike, Eva those to the first half of the questions."""
    rows: list[list[Any]] = []
    for q in range(1, questions + 1):
        for at, system in enumerate(("Alfa", "Beta")):
            score = 1 + (7 * q + 3 * at + q * q) % 5
            near = max(1, min(5, score + (q % 6 == 0)))
            rows.append(
                [q, system, f"{TEXTS[(q + at) % 3]} Kvalita {score}, dotaz {q}.", score, near, score if q <= questions // 2 else None]
            )
    return rows


@pytest.fixture
def spreadsheet(tmp_path: Path) -> Path:
    path = tmp_path / "hodnocení.csv"
    lines = ["Hodnocení odpovědí zákaznické podpory;;;;;", "", ";".join(COLUMNS)]
    lines += [";".join("" if cell is None else str(cell) for cell in row) for row in _rows()]
    path.write_bytes("\r\n".join(lines).encode("cp1250"))
    return path


JUDGE = """
import re


def score(item):
    score = int(re.search(r"Kvalita (\\d)", item["odpoved"])[1])
    return max(1, score - 1) if "dotaz 1." in item["odpoved"] else score  # scores that equal a person's in every text are no evidence
"""


def test_a_spreadsheet_leads_to_a_verdict_and_a_certificate(
    spreadsheet: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "readable.py").write_text(JUDGE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))

    started = cli("start", spreadsheet, "--metric", "helpfulness", "--sampling", "random", "--yes")
    assert started.code == 0, started.err
    assert "read as cp1250" in started.err and "row 3 was read as the column names" in started.err
    assert "300 labels by 3 annotators on 1 metric imported; 60 empty cells" in started.err and "data.toml, if" not in started.err
    items = [json.loads(line) for line in (tmp_path / "hodnocení" / "items.jsonl").read_text("utf-8").splitlines()]
    assert items[0] | {"odpoved": ""} == {
        **{"item_id": "1-Alfa", "language": "cs", "task": "texts", "group": "1", "system": "Alfa", "odpoved": ""}
    }

    [asking] = [line.strip().partition("   #")[0] for line in started.err.splitlines() if line.strip().startswith("harness run")]
    ran = cli(*shlex.split(asking.replace("openai/MODEL", "python:readable:score"))[1:])
    assert ran.code == 0, ran.err
    run = next((tmp_path / "results" / "runs").iterdir()).name

    compared = cli("compare", run, "--json")
    assert compared.code == 0 and '"verdict": "use"' in compared.out
    certified = cli("certify", run, "--to", "cert.json")
    assert certified.code == 0, certified.err
    early = cli("gate", run)
    assert early.code == 2 and f"'harness new gate {run}' writes a first one" in early.err
    assert cli("new", "gate", run).code == 0
    assert cli("gate", run).code == 0


def test_texts_without_a_score_are_asked_about_too_and_correction_pays(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spreadsheet: Path
) -> None:
    """Of 200 answers, people scored 60: the command that `start` prints asks about all, so that `correct` has something to correct."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "readable_too.py").write_text(JUDGE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    rows = [[*row[:3], *(row[3:] if row[0] <= 30 else [None] * 3)] for row in _rows(100)]
    lines = [";".join(COLUMNS), *(";".join("" if cell is None else str(cell) for cell in row) for row in rows)]
    spreadsheet.write_text("\n".join(lines), "utf-8")
    started = cli("start", spreadsheet, "--sampling", "random", "--yes")
    [asking] = [line.strip() for line in started.err.splitlines() if line.strip().startswith("harness run")]
    assert "Ask a judge, also about the 140 texts without a score" in started.err
    ran = cli(*shlex.split(asking.partition("   #")[0].replace("openai/MODEL", "python:readable_too:score"))[1:])
    assert ran.code == 0, ran.err
    corrected = json.loads(cli("correct", next((tmp_path / "results" / "runs").iterdir()).name, "--json").out)
    assert [(one["n"], one["unlabelled"], one["labels_saved"] > 0) for one in corrected["numbers"]] == [(30, 70, True)] * 2


def test_items_with_the_same_text_are_asked_for_their_source(cli: Cli, tmp_path: Path) -> None:
    """Two answers to a question are not independent: the import says so, and not where a group is named."""
    lines = [f"{n},Kdy mi vrátíte knihu číslo {n // 2}?,Odpověď je číslo {n} a dobře se čte.,{n % 3},{n % 2}" for n in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["id,question,answer,Jana,Petr", *lines]), "utf-8")
    told = cli("start", tmp_path / "t.csv", "--to", tmp_path / "a", "--yes").err
    assert "40 of 40 items have the same 'question' as another one" in told and "--group 'question'" in told
    assert "as another one" not in cli("start", tmp_path / "t.csv", "--to", tmp_path / "b", "--yes", "--group", "question").err


def test_copies_of_a_text_are_not_said_to_be_independent(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,text,q\n" + "".join(f"{n},The same  answer {n % 4}.,{n % 3}\n" for n in range(40)), "utf-8")
    words = ("labels", "import", tmp_path / "t.csv", "--to", tmp_path / "d", "--language", "en", "--task", "texts", "--text", "output=text")
    done = cli(*words, "--scale", "q=0..2", "--annotator", "eva")
    assert done.code == 0 and "independent" not in done.err + done.out


def test_unasked_guesses_are_not_taken(spreadsheet: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = cli("start", spreadsheet)
    assert done.code == 2 and "pass --yes" in done.err and not (tmp_path / "hodnocení").exists()


def test_a_second_start_and_a_run_without_a_prompt_name_the_next_step(
    spreadsheet: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("start", spreadsheet, "--metric", "helpfulness", "--yes").code == 0
    again = cli("start", spreadsheet, "--yes")
    assert again.code == 2 and "name another folder with --to, or add to them with 'harness labels import --append'" in again.err
    asked = cli("run", "--data", "hodnocení", "--judge", "baseline/random")
    assert asked.code == 2 and "ask with a prompt of your own: --prompt hodnocení/ask-helpfulness.toml" in asked.err.replace("'", "")
    (tmp_path / "hodnocení" / "ask-helpfulness.toml").unlink()
    assert "'harness new prompt ask' writes one" in cli("run", "--data", "hodnocení", "--judge", "baseline/random").err


def test_the_plan_can_be_corrected_and_is_read_back(spreadsheet: Path, cli: Cli, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    assert cli("start", spreadsheet, "--plan", plan).code == 0
    text = plan.read_text("utf-8")
    assert 'wide_annotators = [\n    "Jana",' in text
    plan.write_text(
        text.replace('metric = "rating"', 'metric = "ochota"').replace("[metrics.rating]", "[metrics.ochota]"), encoding="utf-8"
    )
    done = cli("start", spreadsheet, "--map", plan, "--to", tmp_path / "data", "--yes")
    assert done.code == 0, done.err
    labels = (tmp_path / "data" / "labels.jsonl").read_text("utf-8")
    assert labels.count('"metric":"ochota"') == 300


def test_a_workbook_with_a_merged_title_gives_the_same_labels(spreadsheet: Path, cli: Cli, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Hodnocení odpovědí zákaznické podpory"])
    sheet.merge_cells("A1:F1")
    sheet.append([])
    sheet.append(COLUMNS)
    for row in _rows():
        sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    salt = ("--salt-file", tmp_path / "salt")
    started = cli("start", tmp_path / "a.xlsx", "--to", tmp_path / "one", "--yes", *salt)
    assert started.code == 0 and 'needs sampling = "random" at the top of' in started.err
    assert cli("start", spreadsheet, "--to", tmp_path / "two", "--yes", *salt).code == 0
    for name in ("items.jsonl", "labels.jsonl"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_table_of_texts_can_be_judged_and_labelled(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.csv").write_text("answer\n" + "\n".join(f'"{text} {n}"' for n, text in enumerate(TEXTS * 3)), encoding="utf-8")
    done = cli("start", "texts.csv", "--metric", "tone", "--scale", "tone=0,1,2:best=2", "--yes")
    assert done.code == 0, done.err
    assert "no scores" in done.err and "harness labels page texts" in done.err
    [asking] = [line.strip() for line in done.err.splitlines() if line.strip().startswith("harness run")]
    ran = cli(*asking.replace("openai/MODEL", "baseline/random").split()[1:], "--yes")
    assert ran.code == 0 and "nothing to ask" not in ran.err, ran.err
    [paging] = [line.strip().partition("   #")[0] for line in done.err.splitlines() if line.strip().startswith("harness labels page")]
    page = cli(*paging.split()[1:])
    assert page.code == 0, page.err


def test_texts_without_a_metric_lead_to_a_page_and_a_judge(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands that `start` prints run as they are, though nobody said what is asked."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.csv").write_text("id,answer\n" + "\n".join(f'{n},"{TEXTS[n % 3]} {n}"' for n in range(30)), encoding="utf-8")
    told = cli("start", "texts.csv", "--yes")
    assert "scale of 'rating': 1 to 5, as nobody has scored yet" in told.err and "30 texts imported, none with a label" in told.err
    for line in [line.strip().partition("   #")[0] for line in told.err.splitlines() if line.startswith("  harness ")]:
        done = cli(*line.replace("openai/MODEL", "baseline/random").split()[1:])
        assert done.code == 0, f"{line}\n{done.err}"
    ask = (tmp_path / "texts" / "ask-rating.toml").read_text("utf-8")
    (tmp_path / "warm.toml").write_text(ask.replace('metric = "rating"', 'metric = "warmth"'), "utf-8")
    asked = ("run", "--data", "texts", "--unlabelled", "--prompt", "warm.toml", "--judge", "baseline/random")
    for command in (asked, (*asked, "--dry-run")):
        refused = cli(*command)
        assert refused.code == 2 and "[metrics.warmth]" in refused.err, refused.err
    with (tmp_path / "texts" / "data.toml").open("a", encoding="utf-8") as card:
        card.write('\n[metrics.warmth]\nkind = "ordinal"\nclasses = [1, 2, 3, 4, 5]\nbest = 5\n')
    assert "30" in cli(*asked, "--dry-run").out and cli(*asked).code == 0


def test_a_page_is_made_of_a_table_of_texts(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.csv").write_text("id,answer\n" + "\n".join(f'{n},"{TEXTS[n % 3]} {n}"' for n in range(9)), encoding="utf-8")
    for out in ("first", "second"):  # the second time its data are here
        made = cli("labels", "page", "texts.csv", "--text", "answer", "--metrics", "tone", "--out", out)
        assert made.code == 0 and "9 items for 3 annotators" in made.err and (tmp_path / out / "cs-A1.html").is_file(), made.err
    assert "[metrics.tone]" in (tmp_path / "texts" / "data.toml").read_text("utf-8")


@pytest.mark.parametrize("table", ["answers.csv", "hodnoceni.csv"])
def test_everything_fits_into_80_columns_with_commands_that_a_shell_reads_as_they_stand(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = cli("start", Path(__file__).parents[2] / "docs" / "start" / table, "--yes", "--to", tmp_path / "data")
    assert code == 0
    said, _, following = err.replace(str(tmp_path), "").partition("\nNext:\n")
    for line in (out.replace(str(tmp_path), "") + said + following).splitlines():
        assert len(line) <= 80 or " " not in line.strip(), line
    commands = re.findall(r"^  (harness .*(?:(?<=\\)\n.*)*)", following, re.M)
    assert bool(commands) == (table == "hodnoceni.csv")
    for command in commands:
        words = shlex.split(command.replace("\\\n", " "))
        assert words[:1] == ["harness"] and "\n" not in words, command


def test_answers_on_a_terminal_correct_the_guesses(spreadsheet: Path, tmp_path: Path) -> None:
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "start", str(spreadsheet), "--to", str(tmp_path / "data")],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.write(master, b"\nhelpfulness\n1..5:best=1\nyes\n")
    _, said = process.communicate(timeout=120)
    os.close(master)
    os.close(terminal)
    assert process.returncode == 0, said.decode()
    assert said.decode().count("] ") >= 4
    card = (tmp_path / "data" / "data.toml").read_text("utf-8")
    assert "[metrics.helpfulness]" in card and "best = 1" in card


@pytest.mark.parametrize(
    ("content", "flags", "words"),
    [
        ("", (), "the file is empty"),
        ("id;text\n", (), "no rows"),
        ("a;b\n1;2\n", ("--header-row", "9"), "--header-row 9: this row is empty or not there"),
        ("a;b\n1;2\n", ("--id-from", "c"), "--id-from: 'c' is not a column; the columns are: a, b"),
        ("a;b\n1;2\n", ("--encoding", "klingon"), "is not a known encoding"),
        ("nr;score\n1;2\n2;1\n3;2\n", ("--yes",), "no column of texts was found, and so no language"),
    ],
)
def test_bad_tables_are_refused_in_words_and_leave_nothing(
    content: str, flags: tuple[str, ...], words: str, cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(content, encoding="utf-8")
    done = cli("start", tmp_path / "t.csv", "--to", tmp_path / "data", *flags)
    assert done.code in (2, 3) and words in done.err, done.err
    assert not (tmp_path / "data").exists()


def test_a_question_of_my_own_has_the_same_words_on_the_page_and_in_the_prompt(cli: Callable[..., Any], tmp_path: Path) -> None:
    text = "The clerk answers the question of the customer and explains step by step what number {} means for the bill of this month."
    rows = "".join(f'"{text.format(n)}",{1 + n % 5},{1 + (n + n % 2) % 5}\n' for n in range(30))
    (tmp_path / "r.csv").write_text(f"text,ann,bob\n{rows}", "utf-8")
    command = ("start", tmp_path / "r.csv", "--to", tmp_path / "r", "--yes", "--metric", "tone", "--scale", "tone=1..5:best=5")
    wrong = cli(*command, "--question", "tome=How?")
    assert wrong.code == 2 and "Did you mean 'tone'?" in wrong.err and not (tmp_path / "r").exists()
    asked = cli(*command, "--question", "tone=How polite is the text? | 1: rude | 5: polite")
    assert asked.code == 0, asked.err
    assert "How polite is the text?\n1: rude\n5: polite\n" in (tmp_path / "r" / "ask-tone.toml").read_text("utf-8")
    pages = cli("labels", "page", tmp_path / "r", "--fields", "text", "--annotators", "1", "--out", tmp_path / "pages")
    assert pages.code == 0, pages.err
    page = data_of((tmp_path / "pages" / "en-A1.html").read_text("utf-8"))
    assert page is not None
    question = page["questions"]["tone"]
    assert question["text"] == "How polite is the text?"
    assert [one["hint"] for one in question["classes"]] == ["rude", "", "", "", "polite"]
