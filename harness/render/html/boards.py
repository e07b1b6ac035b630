"""The site of the boards: an index, and a page for each board with its tables by language, which people can sort."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.analyse import POOLED, Ranking
from harness.boards.probes import Finding
from harness.boards.standings import Standings
from harness.render.html.cells import DrawnTable, FigureColumn
from harness.render.html.marks import Mark, legend_mark, track
from harness.render.html.shell import shell
from harness.render.html.templates import render
from harness.render.numbers import percent
from harness.render.standings import (
    findings_of,
    groups_in_words,
    heading,
    name_of,
    overall_table,
    ranking_table,
    standings_notes,
    table_title,
)

SCRIPTS = ("tables.js",)
INDEX = "index.html"


@dataclass(frozen=True)
class _TitledTable:
    """One table of a language, with its title and what its groups say."""

    title: str
    groups: str
    drawn: DrawnTable


def board_pages(boards: Sequence[tuple[Standings, Sequence[Finding]]]) -> dict[str, str]:
    """`{file name: page}`: the index, and one page for each board. Deterministic: equal standings give equal bytes."""
    pages = {_file_name(standings): _board_page(standings, findings) for standings, findings in boards}
    rows = [_index_row(standings, findings) for standings, findings in boards]
    return {INDEX: shell("Leaderboards", render("boards.html", boards=rows), scripts=SCRIPTS, width="narrow"), **pages}


def _file_name(standings: Standings) -> str:
    """A board's id names a folder of this project, so it is safe as the name of a file."""
    return f"{standings.board.partition('@')[0]}.html"


def _index_row(standings: Standings, findings: Sequence[Finding]) -> dict[str, Any]:
    return {
        "file": _file_name(standings),
        "board": standings.board,
        "title": heading(standings),
        "description": standings.description,
        "languages": len(standings.languages),
        "judges": sum(not judge.baseline for judge in standings.judges),
        "baselines": sum(judge.baseline for judge in standings.judges),
        "flagged": len({finding.judge for finding in findings if finding.flagged}),
    }


def _board_page(standings: Standings, findings: Sequence[Finding]) -> str:
    overall = [(variant, DrawnTable(overall_table(standings, variant))) for variant in standings.variants]
    languages = [_language(standings, tag) for tag in standings.languages]
    tables = [
        *(drawn.table for _, drawn in overall),
        *(each.drawn.table for language in languages for each in (*language["pooled"], *language["metrics"])),
    ]
    judges = [judge for judge in standings.judges if findings_of(findings, judge.id)]
    body = render(
        "board.html",
        title=heading(standings),
        board=standings.board,
        description=standings.description,
        index=INDEX,
        empty=not standings.judges,
        overall=[(variant if len(standings.variants) > 1 else "", drawn) for variant, drawn in overall],
        languages=languages,
        probes=[(name_of(judge), findings_of(findings, judge.id)) for judge in judges],
        notes=standings_notes(standings, tables),
        marks={kind: legend_mark(kind) for kind in ("judge", "people", "base")},
        people=any(ranking.people for ranking in standings.tables),
    )
    return shell(f"{heading(standings)} – standings", body, scripts=SCRIPTS, description=standings.description, width="full")


def _language(standings: Standings, tag: str) -> dict[str, Any]:
    rankings = [ranking for ranking in standings.tables if ranking.language == tag]
    return {
        "tag": tag,
        "pooled": [_titled_table(standings, ranking) for ranking in rankings if ranking.metric == POOLED],
        "metrics": [_titled_table(standings, ranking) for ranking in rankings if ranking.metric != POOLED],
        "unreviewed": tag in standings.unreviewed,
    }


def _titled_table(standings: Standings, ranking: Ranking) -> _TitledTable:
    """A table with a figure in each row: the value that judges are ranked by, its interval and the baseline."""
    figures = [
        track(
            [Mark("base", ranking.baseline), Mark("judge", row.value, row.value_ci)],
            f"{percent(row.value, row.value_ci)}; the baseline {percent(ranking.baseline)}",
        )
        for row in ranking.rows
    ]
    if ranking.people:
        people = ranking.people
        figures.append(track([Mark("people", people.value, people.value_ci)], f"people {percent(people.value, people.value_ci)}"))
    drawn = DrawnTable(ranking_table(standings, ranking), {standings.rank_by: FigureColumn("agreement", tuple(figures))})
    return _TitledTable(table_title(standings, ranking), groups_in_words(ranking), drawn)
