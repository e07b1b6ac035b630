"""The site of the boards: an index, a page for each board that opens with its answer, and a page for each of its languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from harness.boards.board_standings import Standings
from harness.boards.probes import Finding
from harness.content.tags import english_name
from harness.measure.options import POOLED
from harness.measure.rankings.ranked import RankedJudge, Ranking
from harness.render.board_answer import board_answer, board_facts, competitors, language_answer, titled
from harness.render.html.answer import ABOVE, BELOW, UNKNOWN, WITHIN, DrawnTable, FigureColumn
from harness.render.html.board_marks import PricedJudge, cost_plot, rank_track
from harness.render.html.heat_map import Square
from harness.render.html.marks import LEGEND_MARKS, Mark, track
from harness.render.html.shell import render, shell
from harness.render.standings import (
    by_order,
    findings_of,
    groups_in_words,
    heading,
    name_of,
    overall_table,
    ranking_table,
    standings_notes,
    table_title,
    value_text,
    verdict_table,
)
from harness.reports.tables.numbers import difference, percent
from harness.reports.tables.text_table import TextTable

SCRIPTS = ("tables.js",)
INDEX = "index.html"
_REFERENCES = {"base": ("baseline", "majority baseline"), "people": ("people", "people, leave-one-out")}  # in plots and in tables
_SIGNS = {"below": BELOW, "not shown": WITHIN, "above": ABOVE, "too few texts": UNKNOWN}


@dataclass(frozen=True)
class MatrixRow:
    """One judge, or a reference line, in every language: squares, and its mean over the languages."""

    name: str
    mean: str
    squares: tuple[Square | None, ...]
    reference: bool = False


@dataclass(frozen=True)
class TitledTable:
    """One table of a language, with its title and what its groups say."""

    title: str
    groups: str
    drawn: DrawnTable


def board_pages(boards: Sequence[tuple[Standings, Sequence[Finding]]], beside: Mapping[str, str] = {}) -> dict[str, str]:
    """`{file name: page}`: the index, and for each board its page and one for each language. Equal standings give equal bytes.

    `beside`: pages beside these that the index links to, by the words of the link; relative to the index.
    """
    rows = [_index_row(standings, findings) for standings, findings in boards]
    pages = {INDEX: shell("Leaderboards", render("boards.html", boards=rows, beside=beside), scripts=SCRIPTS)}
    for standings, findings in boards:
        pages[_file_name(standings)] = _board_page(standings, findings)
        pages |= {_file_name(standings, tag): _language_page(standings, tag) for tag in standings.languages}
    return pages


def _file_name(standings: Standings, tag: str = "") -> str:
    """A board's id names a folder of this project, and a language is a tag, so both are safe in the name of a file."""
    return f"{standings.board.partition('@')[0]}{f'-{tag}' if tag else ''}.html"


def _index_row(standings: Standings, findings: Sequence[Finding]) -> dict[str, Any]:
    return _about(standings) | {
        "file": _file_name(standings),
        "answer": board_answer(standings),
        "flagged": len({finding.judge for finding in findings if finding.flagged}),
        "matrix": judge_matrix(standings, standings.variants[0]),
    }


def _about(standings: Standings) -> dict[str, Any]:
    """What the index and the pages of a board have in common."""
    return {
        "title": heading(standings),
        "board": standings.board,
        "id": standings.board.partition("@")[0],
        "description": standings.description,
        "facts": board_facts(standings),
        "languages": [(tag, _file_name(standings, tag)) for tag in standings.languages],
        "index": INDEX,
    }


def _board_page(standings: Standings, findings: Sequence[Finding]) -> str:
    several = len(standings.variants) > 1
    overall = [(variant if several else "", DrawnTable(overall_table(standings, variant))) for variant in standings.variants]
    judges = [judge for judge in standings.judges if findings_of(findings, judge.id)]
    verdicts = verdict_table(standings)
    body = render(
        "board.html",
        **_about(standings),
        answer=titled(board_answer(standings), heading(standings)),
        empty=not standings.judges,
        matrices=[(variant if several else "", judge_matrix(standings, variant)) for variant in standings.variants],
        ranks=_rank_rows(standings),
        cost=_cost(standings),
        overall=overall,
        verdicts=verdicts,
        probes=[(name_of(judge), findings_of(findings, judge.id)) for judge in judges],
        notes=standings_notes(standings, [*([verdicts] if verdicts else []), *(drawn.table for _, drawn in overall)]),
        unreviewed=standings.unreviewed,
    )
    return shell(f"{heading(standings)} – standings", body, scripts=SCRIPTS, description=standings.description, width="full")


def judge_matrix(standings: Standings, variant: str) -> list[MatrixRow]:
    """Judges × languages, the best mean first; then the majority baseline and people, which are no competitors."""
    means = {each.judge: each.mean for each in standings.overall if each.variant == variant}
    order = [each.judge for each in standings.overall if each.variant == variant]
    judges = sorted(competitors(standings), key=lambda judge: order.index(judge.id) if judge.id in order else len(order))
    tables = [standings.table(tag, variant) for tag in standings.languages]
    rows = []
    for judge in judges:
        squares = tuple(_square(standings, table, _row_of(table, judge.id)) for table in tables)
        rows.append(MatrixRow(judge.display_name, value_text(standings, means.get(judge.id)), squares))
    if by_order(standings):
        return rows
    for kind, values in _references(tables) if judges else ():
        name = _REFERENCES[kind][1]
        squares = tuple(None if value is None else Square(percent(value), title=f"{name}: {percent(value)}") for value in values)
        rows.append(MatrixRow(name, percent(_mean(values)), squares, reference=True))
    return rows


def _references(tables: Sequence[Ranking | None]) -> Iterator[tuple[str, list[float | None]]]:
    """The majority baseline in each table, and people if they are in any."""
    yield "base", [table.baseline if table else None for table in tables]
    if any(table and table.people for table in tables):
        yield "people", [table.people.value if table and table.people else None for table in tables]


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean; None where a value is missing, or all are."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _row_of(table: Ranking | None, judge: str) -> RankedJudge | None:
    return next((row for row in table.rows if row.judge == judge), None) if table else None


def _square(standings: Standings, table: Ranking | None, row: RankedJudge | None) -> Square | None:
    if table is None or row is None:
        return None
    title = value_text(standings, row.value, row.value_ci)
    if not by_order(standings):
        title += f"; baseline {percent(table.baseline)}, difference {difference(row.baseline_diff, row.baseline_ci)} points"
    word = row.beside_baseline
    return Square(value_text(standings, row.value), _SIGNS[word], word, title)


def _rank_rows(standings: Standings) -> list[tuple[str, tuple[Markup | None, ...]]]:
    """The interval of the rank of each judge in each language; nothing where there are fewer than two judges."""
    judges = competitors(standings)
    if len(judges) < 2:
        return []
    tables = [standings.table(tag) for tag in standings.languages]
    return [(judge.display_name, tuple(_rank_figure(table, judge.id) for table in tables)) for judge in judges]


def _rank_figure(table: Ranking | None, judge: str) -> Markup | None:
    row = _row_of(table, judge)
    if table is None or row is None or row.rank is None:
        return None
    count = sum(each.rank is not None for each in table.rows)
    between = f", between {row.rank_ci[0]} and {row.rank_ci[1]}" if row.rank_ci else ", no interval: too few independent texts"
    below = "; shown to be below the baseline" if row.beside_baseline == "below" else ""
    return rank_track(row.rank, row.rank_ci, count, f"place {row.rank} of {count} in {english_name(table.language)}{between}{below}")


def _cost(standings: Standings) -> dict[str, Any]:
    """The plot of mean cost over the languages against mean agreement, None where no judge has both, and the judges that are not in it.

    Cost is in dollars where two judges have a price, else in seconds.
    """
    judges = () if by_order(standings) else competitors(standings)
    dollars = [_mean([spent.dollars for spent in judge.spending.values()]) for judge in judges]
    unit, name = ("$", "dollars") if sum(map(bool, dollars)) > 1 else ("s", "seconds")
    means = {each.judge: each.mean for each in standings.overall if each.variant == standings.variants[0]}
    priced, absent = [], []
    for judge in judges:
        cost, mean = _mean([getattr(spent, name) for spent in judge.spending.values()]), means.get(judge.id)
        if cost and mean is not None:
            priced.append(PricedJudge(judge.display_name, cost, mean))
        else:
            absent.append(f"{judge.display_name}: {'no mean over all languages' if mean is None else 'no cost is known'}")
    references = _references([standings.table(tag) for tag in standings.languages])
    lines = [(kind, _REFERENCES[kind][0], mean) for kind, values in references if (mean := _mean(values)) is not None]
    title = f"{'US dollars' if unit == '$' else 'Seconds'} for 1,000 judgments and agreement, means over the languages"
    return {"plot": cost_plot(priced, lines, unit, title) if priced else None, "absent": absent}


def _language_page(standings: Standings, tag: str) -> str:
    rankings = [ranking for ranking in standings.tables if ranking.language == tag]
    pooled = [_titled_table(standings, ranking) for ranking in rankings if ranking.metric == POOLED]
    metrics = [_titled_table(standings, ranking) for ranking in rankings if ranking.metric != POOLED]
    tables: list[TextTable] = [each.drawn.table for each in (*pooled, *metrics)]
    title = f"{english_name(tag)}: {heading(standings)}"
    body = render(
        "board_language.html",
        **_about(standings),
        tag=tag,
        file=_file_name(standings),
        answer=titled(language_answer(standings, tag), english_name(tag)),
        verdicts=verdict_table(standings, tag),
        unreviewed=tag in standings.unreviewed,
        pooled=pooled,
        metrics=metrics,
        marks=LEGEND_MARKS,
        people=any(ranking.people for ranking in rankings),
        notes=standings_notes(standings, tables),
    )
    return shell(title, body, scripts=SCRIPTS, description=standings.description, width="full")


def _titled_table(standings: Standings, ranking: Ranking) -> TitledTable:
    """A table with two figures in each row: the interval of the rank, and the value beside the baseline and people."""
    people = ranking.people
    reference = [Mark("base", ranking.baseline), *([Mark("people", people.value)] if people else [])]
    beside = f"the baseline {percent(ranking.baseline)}{f', people {percent(people.value)}' if people else ''}"
    values = []
    for row in ranking.rows:
        values.append(track([*reference, Mark("judge", row.value, row.value_ci)], f"{percent(row.value, row.value_ci)}; {beside}"))
    ranks = [_rank_figure(ranking, row.judge) for row in ranking.rows]
    if people:
        values.append(track([Mark("people", people.value, people.value_ci)], f"people {percent(people.value, people.value_ci)}"))
        ranks.append(None)
    figures = {} if by_order(standings) else {standings.rank_by: FigureColumn("agreement", tuple(values))}
    if sum(row.rank is not None for row in ranking.rows) > 1:
        figures["rank"] = FigureColumn("", tuple(ranks))
    return TitledTable(table_title(standings, ranking), groups_in_words(ranking), DrawnTable(ranking_table(standings, ranking), figures))
