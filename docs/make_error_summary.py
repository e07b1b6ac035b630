"""Writes the summary of docs/error-rates.md from the tables below it: `python docs/make_error_summary.py`.

Each table with the columns `old worlds`, `new worlds` and `limit` is one row: the largest rates in it, its limit, and how many lines hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).with_name("error-rates.md")
PART = re.compile(r"(<!-- python docs/make_error_summary\.py -->\n).*?(<!-- end -->)", re.DOTALL)
HEAD = "| promise | old worlds, % | new worlds, % | limit, % |"


def promises(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the name of each table of promises and its rows: the last bold words before it."""
    name = ""
    lines = iter(text.splitlines())
    for line in lines:
        if bold := re.match(r"\*\*(.+?)\.?\*\*", line):
            name = bold[1].rstrip(".:")
        if line.startswith(HEAD):
            next(lines)
            rows = []
            for row in lines:
                if not row.startswith("|"):
                    break
                rows.append([cell.strip() for cell in row.strip("|").split("|")])
            yield name, rows


def table(text: str) -> str:
    """Return the summary of a page's tables, one row for each promise: rates that stay below a limit, or shares that stay above one."""
    joined: dict[tuple[str, bool], list[list[str]]] = {}
    for name, rows in promises(PART.sub("", text)):
        for row in rows:
            joined.setdefault((name, float(row[3]) >= 50), []).append(row)
    lines = [
        "| promise | limit | worst, worlds of the tables above | worst, other worlds | lines that hold |",
        "| --- | --- | --- | --- | --- |",
    ]
    for (name, at_least), rows in joined.items():
        limits = sorted({float(row[3]) for row in rows})
        limit = " to ".join(f"{limit:g} %" for limit in dict.fromkeys((limits[0], limits[-1])))
        stated = [row for row in rows if _is_number(row[2]) or _is_number(row[1])]
        holds = f"{sum(row[-1] == 'holds' for row in stated)} of {len(stated)}"
        silent = f"; {len(rows) - len(stated)} state nothing" if len(stated) < len(rows) else ""
        words = "at least" if at_least else "at most"
        lines.append(f"| {name} | {words} {limit} | {_worst(rows, 1, at_least)} | {_worst(rows, 2, at_least)} | {holds}{silent} |")
    return "\n".join(lines) + "\n"


def _worst(rows: list[list[str]], place: int, at_least: bool) -> str:
    values = [float(row[place]) for row in rows if _is_number(row[place])]
    return f"{(min if at_least else max)(values):g} %" if values else "–"


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)?", text) is not None


if __name__ == "__main__":
    page = PAGE.read_text("utf-8")
    PAGE.write_text(PART.sub(lambda part: f"{part[1]}{table(page)}{part[2]}", page), "utf-8")
