"""What a change of one kind touches: it is made in a copy of the package, and the command then does what is new."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import harness


class Change(NamedTuple):
    """The files of the package that change, each with what is written: a whole file, or `(before, after)` in a file that there is."""

    most: int
    files: dict[str, str | tuple[str, str]]
    given: tuple[str, str]  # a file of the user, and what is in it
    command: str
    printed: str


RUN = """
import sys
sys.path.insert(0, sys.argv.pop(1))  # before the package under test, however that is installed
import harness.cli
sys.exit(harness.cli.main(sys.argv[1:]))
"""

IMPORTER = """
from harness.exchange.scores.external_scores import ExternalScore, ExternalScores, Reader


def is_rating(row):
    return {"rated", "stars"} <= row.keys()


def read(rows, options):
    scores = [
        ExternalScore(place=f"{path}:{line}", item=row["rated"], fields=row, metric="stars", value=row["stars"], who="judge")
        for path, line, row in rows
    ]
    return ExternalScores("stars", scores, texts={"text": "text"})


READERS = {"stars": Reader(is_line=is_rating, read_lines=read)}
"""

COMMAND_FLAGS = """
from pathlib import Path

from harness.cli.arguments import command


def count_flags(commands):
    p = command(commands, "count", "count:count", "count the lines of a file")
    p.add_argument("file", type=Path, help="the file")
"""

CHANGES = {
    "a command": Change(
        most=4,
        files={
            "cli/flags/count_flags.py": COMMAND_FLAGS.lstrip(),
            "cli/count.py": 'def count(arguments):\n    print(len(arguments.file.read_text().splitlines()), "lines")\n    return 0\n',
            "cli/parser.py": (
                "\nCOMMANDS = (\n",
                "from harness.cli.flags.count_flags import count_flags\n\nCOMMANDS = (\n    count_flags,\n",
            ),
        },
        given=("three.txt", "one\ntwo\nthree\n"),
        command="count three.txt",
        printed="3 lines",
    ),
    "an importer": Change(
        most=2,
        files={
            "exchange/scores/star_ratings.py": IMPORTER.lstrip(),
            "exchange/scores/formats.py": ('    "records": ', '    "stars": "star_ratings",\n    "records": '),
        },
        given=("stars.jsonl", '{"rated": "a", "text": "Dobrý den", "stars": 4}\n{"rated": "b", "text": "Ahoj", "stars": 2}\n'),
        command="import stars.jsonl --to folder --scale stars=1..5:best=5 --task answer --language cs",
        printed="2 judgments",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_small(name: str, tmp_path: Path) -> None:
    change = CHANGES[name]
    copy = tmp_path / "copy" / "harness"
    shutil.copytree(Path(harness.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for path, text in change.files.items():
        file = copy / path
        assert file.exists() is not isinstance(text, str), "a new file is whole, an old one is changed"
        if not isinstance(text, str):
            assert file.read_text("utf-8").count(text[0]) == 1
            text = file.read_text("utf-8").replace(*text)
        file.write_text(text, "utf-8")
    assert len(change.files) <= change.most
    (tmp_path / change.given[0]).write_text(change.given[1], "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(copy.parent), *change.command.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert change.printed in done.stdout + done.stderr
