"""Commands in a window of 80 columns: a sentence first, nothing cut, nothing wider than the window, and messages that can be followed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.judged_folder import judged_folder

Cli = Callable[..., Any]
WIDTH = 80


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.chdir(tmp_path)
    judged_folder(tmp_path / "made", repeats=3)
    return Path("made")


@pytest.mark.parametrize(
    "command",
    [
        "labels needed made",
        "labels needed --judge-as-good --metric task_quality",
        "labels check made",
        "calibrate made",
        "explain made",
        "correct made",
        "accept made",
        "certify made --to certificate.json",
        "compare made",
        "list",
        "list boards",
        "list tasks",
        "list rubrics",
        "list judges",
        "list languages",
        "atlas",
        "atlas --lang ja",
        "board show controls",
        "data list",
        "doctor",
    ],
)
def test_a_screen_begins_with_words_and_cuts_nothing(cli: Cli, folder: Path, command: str) -> None:
    done = cli(*command.split())
    lines = done.out.splitlines()
    assert done.code in (0, 1), done.err  # 1: a certificate that allows nothing
    assert lines[0].strip(), "the first line is empty"
    assert not [line for line in (*lines, *done.err.splitlines()) if cell_len(line) > WIDTH]
    assert "…" not in done.out


def test_the_titles_of_boards_go_on_below_and_are_not_cut(cli: Cli, folder: Path) -> None:
    assert "AdParaphrase: which Japanese advertisement attracts more (native labels)" in " ".join(cli("list", "boards").out.split())


def test_labels_needed_says_first_how_many_questions_have_a_verdict(cli: Cli, folder: Path) -> None:
    first = cli("labels", "needed", folder).out.split("\n\n")[0]
    assert " of 2 questions have a verdict" in first and " more labels" in first


def test_a_table_has_no_memory_of_labels_that_confirmed(cli: Cli, folder: Path) -> None:
    """The message ends in the commands that make a data folder of it; before, the system said 'File exists'."""
    Path("scores.csv").write_text("text,human,judge\n" + "".join(f"text {n},{n % 2},{n % 2}\n" for n in range(60)), encoding="utf-8")
    done = cli("improve", "scores.csv")
    assert done.code == 2 and "File exists" not in done.err
    assert done.err.splitlines()[-2:] == ["  harness compare scores.csv --to scores", "  harness improve scores"]


def test_a_certificate_that_was_not_made_again_is_unknown_and_says_how_to_check_it(cli: Cli, folder: Path) -> None:
    cli("certify", folder, "--to", "certificate.json")
    assert cli("certify", "--check", "certificate.json", folder).out.startswith("The certificate of model/one, default, still holds: ")
    alone = cli("certify", "--check", "certificate.json")
    assert alone.code == 7 and alone.out.startswith("It is unknown whether the certificate of model/one")
    assert alone.out.splitlines()[-1] == "  harness certify --check certificate.json RUN_OR_DIR"
    extended = cli("certify", "--extend", "certificate.json", judged_folder(Path("other"), prompts=30, seed=1)).out
    assert extended.startswith(("The certificate of ", "Do not use the certificate of ", "It is unknown whether the certificate of "))
    assert not [line for line in extended.splitlines() if cell_len(line) > WIDTH]


def test_what_needs_a_random_sample_speaks_of_texts_and_flags(cli: Cli, folder: Path) -> None:
    about = folder / "data.toml"
    about.write_text(about.read_text(encoding="utf-8").replace('sampling = "random"', 'sampling = "convenience"'), encoding="utf-8")
    message = cli("accept", folder).err
    assert "--sampling random" in message and "harness labels plan" in message
    assert "from_frames" not in message and "…" not in message
