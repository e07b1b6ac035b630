"""Writes the table of the control boards in docs/leaderboards.md from their TABLE.md files: `python docs/make_boards.py`.

`harness board build` writes those from the submissions; run it first when a submission is added.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
BOARDS = ("controls", "controls-hard", "controls-parallel")
BLOCK = re.compile(r"(<!-- python docs/make_boards\.py -->\n).*?(<!-- end -->)", re.DOTALL)
_HEADING = "## All languages\n"
_NONE = "–"


def means(board: str) -> dict[str, str]:
    """The mean over languages of every judge, from the first table of a board's TABLE.md."""
    table = (ROOT / "leaderboards" / board / "TABLE.md").read_text("utf-8").partition(_HEADING)[2].partition("\n## ")[0]
    rows = [re.split(r"(?<!\\)\|", line.strip().strip("|")) for line in table.splitlines() if line.startswith("|")][2:]
    return {judge.strip(): mean.strip() for judge, mean, *_ in rows}


def table() -> str:
    """A row for each judge, in the order of the boards; a dash where it was not submitted. Baselines stand last."""
    by_board = {board: means(board) for board in BOARDS}
    judges = dict.fromkeys(judge for found in by_board.values() for judge in found)
    lines = ["| judge | " + " | ".join(f"[{board}](../leaderboards/{board}/TABLE.md)" for board in BOARDS) + " |"]
    lines.append("| --- |" + " ---: |" * len(BOARDS))
    for judge in sorted(judges, key=lambda name: name.startswith("baseline/")):
        lines.append(f"| {judge} | " + " | ".join(by_board[board].get(judge, _NONE) for board in BOARDS) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    page = ROOT / "docs" / "leaderboards.md"
    page.write_text(BLOCK.sub(lambda block: f"{block[1]}{table()}{block[2]}", page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
