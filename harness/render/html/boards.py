"""The site of the boards: an index, and a page for each board with its tables by language, that people can sort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from harness.analyse import POOLED, Ranking
from harness.boards.probes import Finding
from harness.boards.standings import Standings
from harness.render.html.marks import Mark, legend_mark, track
from harness.render.html.shell import shell
from harness.render.html.templates import render
from harness.render.standings import (
    GAP,
    ShownTable,
    findings_of,
    groups_in_words,
    heading,
    name_of,
    notes,
    shown_overall,
    shown_table,
    table_title,
)
from harness.render.terminal import percent

SCRIPTS = ("tables.js",)
INDEX = "index.html"
_DRAWN_AFTER = 4  # columns: rank, group, judge, agreement, then the line that shows it


def board_pages(boards: Sequence[tuple[Standings, Sequence[Finding]]]) -> dict[str, str]:
    """`{file name: page}`: the index and one page a board. Deterministic: equal standings give equal bytes."""
    pages = {_file(found): _board(found, findings) for found, findings in boards}
    rows = [_row(found, findings) for found, findings in boards]
    return {INDEX: shell("Leaderboards", render("boards.html", boards=rows), scripts=SCRIPTS, width="narrow"), **pages}


def _file(found: Standings) -> str:
    """A board's id names a folder of ours, so that it is a file's name too."""
    return f"{found.board.partition('@')[0]}.html"


def _row(found: Standings, findings: Sequence[Finding]) -> dict[str, Any]:
    return {
        "file": _file(found),
        "board": found.board,
        "title": heading(found),
        "description": found.description,
        "languages": len(found.languages),
        "judges": sum(not judge.baseline for judge in found.judges),
        "baselines": sum(judge.baseline for judge in found.judges),
        "flagged": len({finding.judge for finding in findings if finding.flagged}),
    }


def _board(found: Standings, findings: Sequence[Finding]) -> str:
    several = len(found.variants) > 1
    languages = [
        {
            "tag": tag,
            "pooled": [_table(found, table) for table in found.tables if (table.language, table.metric) == (tag, POOLED)],
            "metrics": [_table(found, table) for table in found.tables if table.language == tag and table.metric != POOLED],
            "unreviewed": tag in found.unreviewed,
        }
        for tag in found.languages
    ]
    body = render(
        "board.html",
        title=heading(found),
        board=found.board,
        description=found.description,
        index=INDEX,
        empty=not found.judges,
        overall=[{"variant": variant if several else "", "table": _plain(shown_overall(found, variant))} for variant in found.variants],
        languages=languages,
        probes=[
            (name_of(judge), findings_of(findings, judge.id)) for judge in found.judges if any(each.judge == judge.id for each in findings)
        ],
        notes=notes(found),
        marks={kind: legend_mark(kind) for kind in ("judge", "people", "base")},
        people=any(table.people for table in found.tables),
    )
    return shell(f"{heading(found)} – standings", body, scripts=SCRIPTS, description=found.description, width="full")


def _table(found: Standings, table: Ranking) -> dict[str, Any]:
    """A table of a language with a line a row that shows the value, its interval and the baseline."""
    lines = [
        track(
            [Mark("base", table.baseline), Mark("judge", row.value, row.value_ci)],
            f"{percent(row.value, row.value_ci)}; the baseline {percent(table.baseline)}",
        )
        for row in table.rows
    ]
    if table.people:
        people = table.people
        lines.append(track([Mark("people", people.value, people.value_ci)], f"people {percent(people.value, people.value_ci)}"))
    return _plain(shown_table(found, table), lines) | {"title": table_title(found, table), "groups": groups_in_words(table)}


def _plain(shown: ShownTable, lines: Sequence[Markup] = ()) -> dict[str, Any]:
    """A table as the template wants it, without columns that say nothing in any row."""
    kept = [place for place, _ in enumerate(shown.headings) if any(row[place].text not in ("", GAP) for row in shown.rows)]
    after = [place for place in kept if place < _DRAWN_AFTER]
    heads = [{"name": shown.headings[place], "number": shown.numbers[place], "key": shown.headings[place] == "judge"} for place in kept]
    rows = [{"cells": [row[place] for place in kept], "faint": faint} for row, faint in zip(shown.rows, shown.faint, strict=True)]
    return {"heads": heads, "rows": rows, "lines": list(lines), "after": len(after), "groups": ""}
