"""Runs every command of docs/ten-minutes.md again and writes what it prints: `python docs/make_start.py`.

The spreadsheet `docs/start/hodnoceni.csv` is made by this script: two systems' answers to 150 questions, as a help desk could have them.
Three made-up people scored those to 60 questions, one of them only a half. The judge `docs/start/helpful.py` is a function that counts
sentences. `docs/start/answers.csv`, with labels that are constructed too, is written by hand.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).with_name("ten-minutes.md")
EXAMPLE = Path(__file__).with_name("start")
TABLE, JUDGE, ANSWERS = EXAMPLE / "hodnoceni.csv", EXAMPLE / "helpful.py", EXAMPLE / "answers.csv"
BLOCK = re.compile(r"```console\n\$ (.+)\n((?:.*\n)*?)```")
PARTS = (
    "Dobrý den, děkujeme za zprávu číslo {}.",
    "Zboží můžete vrátit do čtrnácti dnů bez udání důvodu.",
    "Přiložte prosím kopii účtenky a číslo objednávky.",
    "Peníze vám pošleme na účet do pěti pracovních dnů.",
    "Kdyby cokoli nebylo jasné, ozvěte se nám znovu.",
)
PEOPLE = ("Jana", "Petr", "Eva")
QUESTIONS, SCORED, SYSTEMS = 150, 60, ("Alfa", "Beta")


def table() -> bytes:
    """The spreadsheet: a title, an empty row, column names, and a row an answer, in the encoding of a Czech office."""
    draw = random.Random(11)
    lines = ["Hodnocení odpovědí zákaznické podpory;;;;;", ";;;;;", ";".join(("Č. dotazu", "Systém", "Odpověď", *PEOPLE))]
    for question in range(1, QUESTIONS + 1):
        for system in SYSTEMS:
            quality = draw.choice((1, 2, 3, 4, 5, 5) if system == "Alfa" else (1, 2, 2, 3, 4, 5))
            scores = [str(min(5, max(1, quality + draw.choice((-1, 0, 0, 0, 0, 1))))) for _ in PEOPLE]
            scores[2] = scores[2] if question <= SCORED // 2 else ""
            scores = scores if question <= SCORED else [""] * len(PEOPLE)
            lines.append(";".join((str(question), system, " ".join(PARTS[:quality]).format(question), *scores)))
    return ("\r\n".join(lines) + "\r\n").encode("cp1250")


def printed(command: str, folder: Path) -> str:
    """What a line of shell prints in a folder, both streams, without blanks at line ends; and the exit code, where it is not 0."""
    programs = str(Path(sys.executable).parent)
    plain = {"NO_COLOR": "1", "COLUMNS": "88", "PYTHONUNBUFFERED": "1"}  # both streams in the order in which a terminal shows them
    environment = {**os.environ, **plain, "PYTHONPATH": str(folder), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", f"{command} 2>&1"], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    lines = [*done.stdout.strip("\n").splitlines(), *([f"exit code {done.returncode}"] if done.returncode else [])]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def prepare(folder: Path) -> None:
    """Put the spreadsheet and the judge into a folder."""
    for path in (TABLE, JUDGE, ANSWERS):
        shutil.copy(path, folder)


def main() -> None:
    TABLE.write_bytes(table())
    text = PAGE.read_text("utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        text = BLOCK.sub(lambda block: f"```console\n$ {block[1]}\n{printed(block[1], folder)}```", text)
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
