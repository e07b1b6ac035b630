"""Runs the commands shown in the pages of docs again and writes what they print: `python docs/make_blocks.py DATA [PAGE …]`.

DATA is a folder that holds the published data sets, each in a folder with the name of its dataset card. Only blocks that begin with a
command that asks no judge are run (`COMMANDS`). Figures go into docs/figures. A set that DATA lacks is fetched as the first line of its
block says. Without PAGE, all pages with such blocks are written. A line `…` in a block stands for lines that are left out.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from make_production import write_stars

DOCS = Path(__file__).parent
SIMULATED = ("ten-minutes.md", "improve.md")  # their data are made elsewhere; so are those of parts of pages between two marks
PART = re.compile(r"<!-- python docs/make_\w+\.py -->\n.*?<!-- end -->", re.DOTALL)
COMMANDS = "compare|labels check|labels needed|correct|accept|calibrate|certify|study"
BLOCK = re.compile(rf"```console\n((?:\$ harness data get .+\n)?)\$ harness ((?:{COMMANDS}) .+)\n((?:.*\n)*?)```")


def printed(get: str, command: str, data: Path) -> str:
    """What a command prints in a folder where the data sets lie, without blanks at line ends."""
    with tempfile.TemporaryDirectory() as folder:
        for path in data.resolve().iterdir():
            (Path(folder) / path.name).symlink_to(path)
        if "stars" in shlex.split(command):  # the folder of docs/production.md
            write_stars(Path(folder) / "stars", data / "alttest")
        if get and not (data / get.split()[4]).exists():  # "$ harness data get NAME …": from the authors, or the mirror in the environment
            subprocess.run([sys.executable, "-m", *shlex.split(get)[1:]], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        done = subprocess.run(
            [sys.executable, "-m", "harness", *shlex.split(command)],
            cwd=folder,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "88"},
            capture_output=True,
            text=True,
            check=True,
        )
        for figure in Path(folder).glob("*.svg"):
            (DOCS / "figures" / figure.name).write_bytes(figure.read_bytes())
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.strip("\n").splitlines())


def as_long(whole: str, shown: str) -> str:
    """A new output as far as the page shows it: a line `…` stands for lines up to the one that follows it on the page, or up to the end.

    >>> as_long("a\\nb\\nc\\nd\\ne\\n", "A\\n…\\nc\\nD\\n…\\n")
    'a\\n…\\nc\\nd\\n…\\n'
    """
    lines, parts = whole.splitlines(keepends=True), re.split("^…\n", shown, flags=re.MULTILINE)
    if len(parts) == 1:
        return whole
    at, kept = 0, []
    for part in map(str.splitlines, parts):
        at = _place_of(part[0], lines, at) if part and at else at
        kept.append("".join(lines[at : at + len(part)]))
        at += len(part)
    return "…\n".join(kept)


def _place_of(shown: str, lines: list[str], start: int) -> int:
    """Return the place of a line from `start` on, or else of the next one with its first word: a table may have got other columns."""
    if f"{shown}\n" in lines[start:]:
        return lines.index(f"{shown}\n", start)
    for place in range(start, len(lines)):
        if shown.split() and lines[place].split()[:1] == shown.split()[:1]:
            return place
    raise SystemExit(f"no line of the new output begins like {shown!r}; choose other lines for the page")


def pages() -> list[Path]:
    """The pages that have blocks, but for those whose data another script simulates."""
    return [
        page for page in sorted(DOCS.glob("*.md")) if page.name not in SIMULATED and BLOCK.search(PART.sub("", page.read_text("utf-8")))
    ]


def _again(block: re.Match[str], data: Path) -> str:
    """A block with what its command prints now."""
    return f"```console\n{block[1]}$ harness {block[2]}\n{as_long(printed(block[1], block[2], data), block[3])}```"


def main() -> None:
    data = Path(sys.argv[1])
    for page in map(Path, sys.argv[2:]) if sys.argv[2:] else pages():
        own_and_made = re.split(f"({PART.pattern})", page.read_text("utf-8"), flags=re.DOTALL)  # in turn
        own_and_made[::2] = [BLOCK.sub(lambda block: _again(block, data), own) for own in own_and_made[::2]]
        page.write_text("".join(own_and_made), "utf-8")


if __name__ == "__main__":
    main()
