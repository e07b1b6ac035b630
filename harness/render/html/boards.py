"""The site of the boards: an index, a page for each board that opens with its answer, and a page for each of its languages."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from harness.boards.probes import Finding
from harness.boards.recorded_scores import RECORDED
from harness.boards.standings import Standings
from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.html_pages import visible
from harness.measure.board_ranking_by_scores import RankedJudge, Ranking
from harness.measure.options import POOLED
from harness.render.html.answer import ABOVE, BELOW, UNKNOWN, WITHIN, DrawnTable, FigureColumn
from harness.render.html.marks import JUDGE_DOT, LEGEND_MARKS, Mark, line, placed, state_bar, svg, track
from harness.render.html.pictures import Square
from harness.render.html.shell import SiteFrame, render, shell, site_frame
from harness.render.standings import (
    LANGUAGE_COLUMN,
    by_order,
    findings_of,
    groups_in_words,
    heading,
    name_of,
    overall_table,
    page_tables,
    standings_notes,
    table_title,
    value_text,
    verdict_table,
)
from harness.reports.answer.parts import SIGNS, STYLES, cause_words, count_questions, deciding, state_of, state_words
from harness.reports.answer.verdict_words import shown_value, style_of
from harness.reports.board_answer import (
    board_answer,
    board_facts,
    compared_judges,
    competitors,
    deciding_verdicts,
    language_answer,
    partial_words,
    titled,
)
from harness.reports.tables.columns import metric_words
from harness.reports.tables.numbers import difference, percent, two_digits
from harness.reports.tables.text_table import Heading, TextTable

_INSET = 6.0  # percent of a track's width left free at each end
_WIDTH, _HEIGHT = 720, 300  # of the plot, in its own units
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 270, 16, 46  # margins of the plot; names stand in the right one
_LETTERS = 34  # of a name in the plot
_LINE = 15  # the least distance of two names
_MOST_TICKS = 20  # places of a track of ranks that all have a tick: 200 ticks on each of 200 tracks would be most of a page
_FEW_RANKS = 2  # judges whose ranks need no picture
_MOST_ROWS = 8  # of a metric's table that is not folded
_FEW_TICKS = 10  # steps between the ticks of more places


def rank_track(rank: int, ends: tuple[int, int] | None, judges: int, words: str) -> Markup:
    """Return a rank from 1 (left) to the number of judges, with its interval; `words` say the same. Of many places only round ones have a
    tick.
    """
    ticks = [_place(step, judges) for step in _ticks(judges)]
    rules = [line("rule", ticks[0], ticks[-1]), *(line("rule", tick, tick, "32%", "68%") for tick in ticks)]
    reach = [line("judge reach", *(_place(end, judges) for end in ends))] if ends else []
    return svg("track", words, (*rules, *reach, placed(_place(rank, judges), JUDGE_DOT)))


def _ticks(judges: int) -> list[int]:
    """Return the places that have a tick: all, or the first, the last and the round ones between.

    >>> _ticks(5), _ticks(100)
    ([1, 2, 3, 4, 5], [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
    """
    if judges <= _MOST_TICKS:
        return [*range(1, judges + 1)]
    steps = (first * 10**power for power in itertools.count() for first in (2, 5, 10))
    step = next(step for step in steps if judges <= _FEW_TICKS * step)
    return [1, *range(step, judges, step), judges]


def _place(rank: int, judges: int) -> str:
    return f"{_INSET + (100 - 2 * _INSET) * ((rank - 1) / (judges - 1) if judges > 1 else 0.5):.2f}%"


@dataclass(frozen=True)
class PricedJudge:
    """A judge in the plot of cost and agreement: `cost` of 1,000 judgments above 0, `value` from 0 to 1."""

    name: str
    cost: float
    value: float


def cost_plot(judges: Sequence[PricedJudge], lines: Sequence[tuple[str, str, float]], unit: str, title: str) -> Markup:
    """Agreement (up) of at least one judge against cost (to the right, on a logarithmic axis) in a unit, `$` or `s`.

    `lines` are reference lines, `(kind, name, value)`; kind is `base` or `people`.
    """
    decades = [math.log10(judge.cost) for judge in judges]
    low, high = math.floor(min(decades)), max(math.ceil(max(decades)), math.floor(min(decades)) + 1)
    tenths = [10 * value for value in (*(judge.value for judge in judges), *(value for _, _, value in lines))]
    y_low = math.floor(min(tenths)) / 10
    y_high = max(math.ceil(max(tenths)) / 10, y_low + 0.1)
    bottom = _HEIGHT - _BOTTOM
    parts = [Markup('<line class="rule" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>').format(_LEFT, _WIDTH - _RIGHT, bottom)]
    for exponent in range(low, high + 1):
        x, text = _along(10.0**exponent, low, high), f"{10.0**exponent:,.{max(0, -exponent)}f}"
        parts.append(Markup('<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(x, bottom + 18, text))
    for tenth in range(round(10 * y_low), round(10 * y_high) + 1):
        y = _up(tenth / 10, y_low, y_high)
        parts.append(Markup('<line class="rule" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>').format(_LEFT, _WIDTH - _RIGHT, y))
        tick = '<text class="tick" x="{}" y="{:.1f}" text-anchor="end">{}</text>'
        parts.append(Markup(tick).format(_LEFT - 6, y + 4, percent(tenth / 10)))
    label = Markup('<text class="tick" x="{}" y="{}">{} for 1,000 judgments</text>')
    parts.append(label.format(_LEFT, _HEIGHT - 6, {"$": "US dollars", "s": "seconds"}[unit]))
    names: list[tuple[float, str, str]] = []
    for kind, name, value in lines:
        y = _up(value, y_low, y_high)
        reference = '<line class="{0} reference" x1="{1}" x2="{2}" y1="{3:.1f}" y2="{3:.1f}"/>'
        parts.append(Markup(reference).format(kind, _LEFT, _WIDTH - _RIGHT, y))
        names.append((y, f"{percent(value)} {name}", kind))
    for judge in judges:
        x, y = _along(judge.cost, low, high), _up(judge.value, y_low, y_high)
        words = f"{judge.name}: {percent(judge.value)}, {two_digits(judge.cost)} {unit} for 1,000 judgments"
        dot = '<circle class="judge" cx="{:.1f}" cy="{:.1f}" r="5"><title>{}</title></circle>'
        parts.append(Markup(dot).format(x, y, visible(words)))
        parts.append(Markup('<line class="rule" x1="{:.1f}" x2="{}" y1="{y:.1f}" y2="{y:.1f}"/>').format(x + 7, _WIDTH - _RIGHT, y=y))
        short = judge.name if len(judge.name) <= _LETTERS else f"{judge.name[: _LETTERS - 1]}…"
        names.append((y, f"{percent(judge.value)} {short}", "name"))
    below = -math.inf  # names stand to the right, at the height of their values, moved apart where they would cover each other
    for y, name, kind in sorted(names):
        below = max(y + 4, below + _LINE)
        written = Markup('<text class="{}-name" x="{}" y="{:.1f}">{}</text>')
        parts.append(written.format(kind, _WIDTH - _RIGHT + 8, below, visible(name)))
    said = [f"{judge.name} {percent(judge.value)} at {two_digits(judge.cost)} {unit}" for judge in judges]
    words = "; ".join((*said, *(f"{name} {percent(value)}" for _, name, value in lines)))
    frame = '<svg class="plot" role="img" viewBox="0 0 {} {}"><title>{}</title><desc>{}</desc>{}</svg>'
    return Markup(frame).format(_WIDTH, _HEIGHT, visible(title), visible(words), Markup("").join(parts))


def _along(cost: float, low: int, high: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (math.log10(cost) - low) / (high - low)


def _up(value: float, low: float, high: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (value - low) / (high - low)


SCRIPTS = ("tables.js",)
INDEX = "index.html"
_REFERENCES = {"base": ("constant answer", "constant answer"), "people": ("people", "people, leave-one-out")}  # in plots and in tables
_SIGNS = {"below": BELOW, "not shown": WITHIN, "above": ABOVE, "too few texts": UNKNOWN, "unread": UNKNOWN}
_WORDS = {"below": "worse", "not shown": "unknown", "above": "better", "too few texts": "too few texts", "unread": "not read"}


@dataclass(frozen=True)
class MatrixRow:
    """One judge, or a reference line, in every language: squares, and its mean over the languages."""

    name: str
    mean: str
    squares: tuple[Square | None, ...]
    reference: bool = False


@dataclass(frozen=True)
class VerdictCell:
    """The verdicts on one metric in one language: `style` of all of them, else `split`; `(style, text)` of its parts, words and a title."""

    style: str
    parts: tuple[tuple[str, str], ...]
    words: str
    title: str


@dataclass(frozen=True)
class TitledTable:
    """One table of a language, with its title, what its groups say, and the tables of all other numbers, by title."""

    title: str
    groups: str
    drawn: DrawnTable
    more: tuple[tuple[str, TextTable], ...]


def board_pages(boards: Sequence[tuple[Standings, Sequence[Finding]]], other_pages: Mapping[str, str] = {}) -> dict[str, str]:
    """`{file name: page}`: the index, and for each board its page and one for each language. Equal standings give equal bytes.

    `other_pages`: the other parts of the site, by the words of the link; relative to the index, or whole addresses. The index shows boards
    on people's labels first, then those on constructed labels as sanity checks; of boards without a submission it has the names.
    """
    frame = site_frame("Boards", INDEX, other_pages)
    rows = [
        _about(standings) | {"file": _file_name(standings), "answer": board_answer(standings), **_state_counts(standings)}
        for standings, _ in boards
    ]
    filled = [(row, standings) for row, (standings, _) in zip(rows, boards, strict=True) if competitors(standings)]
    groups = {
        "On people's labels": [row for row, standings in filled if not standings.constructed],
        "Sanity checks": [row for row, standings in filled if standings.constructed],
    }
    empty = [row for row, (standings, _) in zip(rows, boards, strict=True) if not competitors(standings)]
    languages = {tag for standings, _ in boards for tag in standings.languages}
    judges = sum(len(competitors(standings)) for standings, _ in boards)
    recorded = sum(judge.status == RECORDED for standings, _ in boards for judge in competitors(standings))
    body = render("boards.html", groups=groups, empty=empty, languages=len(languages), judges=judges, recorded=recorded, boards=len(filled))
    pages = {INDEX: shell("Leaderboards", body, scripts=SCRIPTS, site=frame)}
    for standings, findings in boards:
        pages[_file_name(standings)] = _board_page(standings, findings, frame)
        pages |= {_file_name(standings, tag): _language_page(standings, tag, frame) for tag in standings.languages}
    return pages


def _state_counts(standings: Standings) -> dict[str, Any]:
    """Return how many questions have each state, as a bar and as `(style, state, count)`; none where no judge has a verdict of people."""
    counts = count_questions(deciding_verdicts(standings)) if not standings.constructed else {}
    drawn = state_bar(counts) if counts else None
    return {"state_bar": drawn, "states": [(STYLES[state], state, count) for state, count in counts.items()]}


def verdict_grid(standings: Standings) -> list[tuple[str, list[VerdictCell | None]]]:
    """Return the verdicts on all judges: a row for each language, a cell for each metric; nothing where labels are constructed."""
    cells: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in () if standings.constructed else deciding_verdicts(standings):
        cells.setdefault((verdict["language"], verdict["metric"]), []).append(verdict)
    metrics = list(dict.fromkeys(metric for _, metric in cells))
    return [
        (tag, [_verdict_cell(cells[tag, metric], standings) if (tag, metric) in cells else None for metric in metrics])
        for tag in dict.fromkeys(tag for tag, _ in cells)
    ]


def verdict_metrics(standings: Standings) -> list[str]:
    """Return the metrics that are the columns of `verdict_grid`, in words."""
    return [metric_words(name) for name in dict.fromkeys(verdict["metric"] for verdict in deciding_verdicts(standings))]


def _verdict_cell(verdicts: Sequence[Verdict], standings: Standings) -> VerdictCell:
    """Return the sign of one verdict with its number and its reason or cause; of several, how many have each state."""
    styles = [style_of(verdict) for verdict in verdicts]
    title = "; ".join(f"{standings.judge(verdict['judge']).display_name}: {state_words(verdict)}" for verdict in verdicts)
    if len(verdicts) > 1:
        parts = tuple((style, f"{sign} {styles.count(style)}") for style, sign in SIGNS.items() if style in styles)
        uses = [standings.judge(verdict["judge"]).display_name for verdict in verdicts if style_of(verdict) == "good"]
        return VerdictCell(styles[0] if len(set(styles)) == 1 else "split", parts, uses[0] if len(uses) == 1 else "", title)
    [verdict] = verdicts
    words, value = deciding(verdict)[:2] if styles[0] == "bad" else (cause_words(verdict) or state_of(verdict), shown_value(verdict, True))
    number = "" if value is None else f" {difference(value)}"
    return VerdictCell(styles[0], ((styles[0], f"{SIGNS[styles[0]]}{number}"),), words, title)


def _file_name(standings: Standings, tag: str = "") -> str:
    """Return a board's id names a folder of this project, and a language is a tag, so both are safe in the name of a file."""
    return f"{standings.board.partition('@')[0]}{f'-{tag}' if tag else ''}.html"


def _about(standings: Standings) -> dict[str, Any]:
    """Return what the index and the pages of a board have in common."""
    return {
        "title": heading(standings),
        "board": standings.board,
        "id": standings.board.partition("@")[0],
        "description": standings.description,
        "facts": board_facts(standings),
        "by_order": by_order(standings),
        "languages": [(tag, _file_name(standings, tag)) for tag in standings.languages],
        "index": INDEX,
    }


def _board_page(standings: Standings, findings: Sequence[Finding], frame: SiteFrame) -> str:
    several = len(standings.variants) > 1
    overall = [(variant if several else "", languages_apart(overall_table(standings, variant))) for variant in standings.variants]
    judges = [judge for judge in standings.judges if findings_of(findings, judge.id)]
    verdicts = verdict_table(standings)
    ranks = []  # the interval of the rank of each judge in each language
    if len(compared_judges(standings)) > 1:
        tables = [standings.table(tag) for tag in standings.languages]
        ranks = [(judge.display_name, tuple(_rank_figure(table, judge.id) for table in tables)) for judge in compared_judges(standings)]
    # mean cost over the languages against mean agreement: in dollars where two judges have a price, else in seconds
    with_mean = () if by_order(standings) else compared_judges(standings)
    dollars = [_mean([spent.dollars for spent in judge.spending.values()]) for judge in with_mean]
    unit, name = ("$", "dollars") if sum(map(bool, dollars)) > 1 else ("s", "seconds")
    means = {row.judge: row.mean for row in standings.overall if row.variant == standings.variants[0]}
    priced, absent = [], []
    for judge in with_mean:
        cost, mean = _mean([getattr(spent, name) for spent in judge.spending.values()]), means.get(judge.id)
        if cost and mean is not None:
            priced.append(PricedJudge(judge.display_name, cost, mean))
        else:
            absent.append(f"{judge.display_name}: {'no mean over all languages' if mean is None else 'no cost is known'}")
    references = _references([standings.table(tag) for tag in standings.languages])
    lines = [(kind, _REFERENCES[kind][0], mean) for kind, values in references if (mean := _mean(values)) is not None]
    title = f"{'US dollars' if unit == '$' else 'Seconds'} for 1,000 judgments and agreement, means over the languages"
    body = render(
        "board.html",
        **_about(standings),
        answer=titled(board_answer(standings), heading(standings)),
        empty=not standings.judges,
        matrices=[(variant if several else "", judge_matrix(standings, variant)) for variant in standings.variants],
        ranks=ranks,
        partial=partial_words(standings),
        cost={"plot": cost_plot(priced, lines, unit, title) if priced else None, "absent": absent},
        overall=overall,
        **_state_counts(standings),
        verdicts=verdict_grid(standings),
        metrics=verdict_metrics(standings),
        deciding=len({verdict["judge"] for verdict in deciding_verdicts(standings)}),
        flagged=len({finding.judge for finding in findings if finding.flagged}),
        probes=[(name_of(judge), findings_of(findings, judge.id)) for judge in judges],
        notes=standings_notes(standings, [*([verdicts] if verdicts else []), *(table for _, tables in overall for table in tables)]),
        unreviewed=standings.unreviewed,
    )
    return shell(f"{heading(standings)} – standings", body, scripts=SCRIPTS, description=standings.description, site=frame)


def languages_apart(table: TextTable) -> list[TextTable]:
    """Return the table of all languages; with more languages than judges in two: their columns would be wider than a window as rows are."""
    languages = [number for number, heading in enumerate(table.headings) if heading.name.startswith(LANGUAGE_COLUMN)]
    if len(languages) <= len(table.rows):
        return [table]
    other_columns = [number for number in range(len(table.headings)) if number not in languages]
    first = replace(
        table,
        headings=tuple(table.headings[number] for number in other_columns),
        rows=tuple(tuple(row[number] for number in other_columns) for row in table.rows),
        sort_keys=tuple(tuple(keys[number] for number in other_columns) for keys in table.sort_keys),
    )
    judges = (Heading(row[0], row[0], number=True) for row in table.rows)
    second = TextTable(
        (Heading("language", "language", key=True), *judges),
        tuple(
            (english_name(table.headings[number].name.removeprefix(LANGUAGE_COLUMN)), *(row[number] for row in table.rows))
            for number in languages
        ),
        tuple((None, *(keys[number] for keys in table.sort_keys)) for number in languages),
    )
    return [first, second]


def judge_matrix(standings: Standings, variant: str) -> list[MatrixRow]:
    """Judges × languages, the best mean first; then the majority baseline and people, which are no competitors."""
    means = {row.judge: row.mean for row in standings.overall if row.variant == variant}
    order = [row.judge for row in standings.overall if row.variant == variant]
    judges = sorted(compared_judges(standings), key=lambda judge: order.index(judge.id) if judge.id in order else len(order))
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
    """Yield the majority baseline in each table, and people if they are in any."""
    yield "base", [table.baseline if table else None for table in tables]
    if any(table and table.people for table in tables):
        yield "people", [table.people.value if table and table.people else None for table in tables]


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean; None where a value is missing, or all are."""
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers and len(numbers) == len(values) else None


def _row_of(table: Ranking | None, judge: str) -> RankedJudge | None:
    return next((row for row in table.rows if row.judge == judge), None) if table else None


def _square(standings: Standings, table: Ranking | None, row: RankedJudge | None) -> Square | None:
    if table is None or row is None:
        return None
    title = value_text(standings, row.value, row.value_ci)
    if not by_order(standings):
        title += f"; constant answer {percent(table.baseline)}, difference {difference(row.baseline_diff, row.baseline_ci)} points"
    side = row.beside_baseline
    return Square(value_text(standings, row.value), _SIGNS[side], _WORDS[side], title)


def _rank_figure(table: Ranking | None, judge: str) -> Markup | None:
    row = _row_of(table, judge)
    if table is None or row is None or row.rank is None:
        return None
    count = sum(ranked.rank is not None for ranked in table.rows)
    between = f", between {row.rank_ci[0]} and {row.rank_ci[1]}" if row.rank_ci else ", no interval: too few independent texts"
    below = "; shown to be worse than a constant answer" if row.beside_baseline == "below" else ""
    return rank_track(row.rank, row.rank_ci, count, f"place {row.rank} of {count} in {english_name(table.language)}{between}{below}")


def _language_page(standings: Standings, tag: str, frame: SiteFrame) -> str:
    rankings = [ranking for ranking in standings.tables if ranking.language == tag]
    pooled = [_titled_table(standings, ranking) for ranking in rankings if ranking.metric == POOLED]
    metrics = [_titled_table(standings, ranking) for ranking in rankings if ranking.metric != POOLED]
    tables: list[TextTable] = [
        table for titled in (*pooled, *metrics) for table in (titled.drawn.table, *(table for _, table in titled.more))
    ]
    title = f"{english_name(tag)}: {heading(standings)}"
    body = render(
        "board_language.html",
        **_about(standings),
        tag=tag,
        file=_file_name(standings),
        answer=titled(language_answer(standings, tag), english_name(tag)),
        verdicts=[row for row in verdict_grid(standings) if row[0] == tag],
        metric_names=verdict_metrics(standings),
        deciding=len({verdict["judge"] for verdict in deciding_verdicts(standings)}),
        unreviewed=tag in standings.unreviewed,
        pooled=pooled,
        metrics=metrics,
        most_rows=_MOST_ROWS,
        marks=LEGEND_MARKS,
        people=any(ranking.people for ranking in rankings),
        notes=standings_notes(standings, tables),
    )
    return shell(title, body, scripts=SCRIPTS, description=standings.description, site=frame)


def _titled_table(standings: Standings, ranking: Ranking) -> TitledTable:
    """Return a table with two figures in each row: the interval of the rank, and the value beside a constant answer and people."""
    people, words = ranking.people, []
    if not by_order(standings):
        words.append(f"A constant answer agrees in {percent(ranking.baseline)}{f', people in {percent(people.value)}' if people else ''}.")
    if groups := groups_in_words(ranking):
        words.append(groups)
    reference = [Mark("base", ranking.baseline), *([Mark("people", people.value)] if people else [])]
    compared_with = f"a constant answer {percent(ranking.baseline)}{f', people {percent(people.value)}' if people else ''}"
    values = []
    for row in ranking.rows:
        values.append(track([*reference, Mark("judge", row.value, row.value_ci)], f"{percent(row.value, row.value_ci)}; {compared_with}"))
    ranks = [_rank_figure(ranking, row.judge) for row in ranking.rows]
    figures = {} if by_order(standings) else {standings.rank_by: FigureColumn("", tuple(values))}
    if sum(row.rank is not None for row in ranking.rows) > _FEW_RANKS:
        figures["rank"] = FigureColumn("", tuple(ranks), ())
    tables = page_tables(standings, ranking)
    return TitledTable(table_title(standings, ranking), " ".join(words), DrawnTable(tables.ranks, figures), tables.more)
