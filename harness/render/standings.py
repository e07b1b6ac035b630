"""Standings as tables: rows for the registry of columns, and the words that the terminal, TABLE.md and the site share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.text import Text

from harness.boards.probes import Finding
from harness.boards.standings import Contender, Standings
from harness.content.tags import both_names, english_name
from harness.decide.verdicts import Verdict
from harness.measure.board_ranking_by_scores import MIN_TEXTS, RANKED_BY_ORDER, RankedJudge, Ranking
from harness.measure.options import POOLED
from harness.render.fitted_table import PIPE_WIDTH, FittedTable, gap_between
from harness.render.terminal import print_whole, styled_answer, table_heading
from harness.render.verdict_text import column_widths, lines_of
from harness.reports.answer.parts import AGAINST, CORRECTED, FAILS, PASSES, SIGNS, STYLES, UNKNOWN, USE, joined
from harness.reports.board_answer import (
    board_answer,
    board_facts,
    compared_judges,
    deciding_verdicts,
    is_toy,
    language_answer,
    partial_words,
)
from harness.reports.tables.columns import COEFFICIENT, COLUMNS, TEXT, Column, Row, TableName, columns_in, metric_words
from harness.reports.tables.numbers import UNDEFINED, counted, probability_counts
from harness.reports.tables.text_table import Heading, TextTable, tabulate
from harness.text import absent_words, terminal_safe

NOT_BEATING = "does not beat a constant answer"
BELOW_BASELINE = "worse than a constant answer"
BASELINE = "baseline"
TOO_FEW = "too few texts to tell"
UNREAD = "most answers cannot be read"
PEOPLE = "people, leave-one-out"
VERDICT_LEGEND = "Verdicts follow the rule of 'harness compare' (docs/decisions.md), each submission by itself; unknown: nothing is shown."
_MOST_JUDGES = 3  # that a cell of verdicts names
_FAILED_WRONG = "answers that could not be read count as wrong"
_RANKED_BY = {
    "pa_failed_wrong": f"the share of all questions answered as the label says; {_FAILED_WRONG}",
    "pa_pairwise": f"the mean share of the annotators that a judge agrees with; {_FAILED_WRONG}",
    "judge_loo": f"agreement with the remaining annotators when one is left out at a time; {_FAILED_WRONG}",
    "kendall_tau_within": "rank correlation with people's scores over the outputs for one source text (Kendall's tau-b), the mean over "
    "source texts; an output without a readable score is tied with all others, and one score for all outputs has 0",
}
_ABOVE_CHANCE = "in how many languages the interval of the correlation lies above 0 (chance), of those that have one"
_NO_AGREEMENT = ("vs_baseline_diff", "judge_loo", "human_loo", "loo_gap")  # columns that boards of continuous scores do not have
_OPTIONAL = ("cohen_kappa", "alpha_ordinal", "leniency_of_scale")  # statistics that a table has where its board names them
_STATISTICS = {"leniency": "leniency_of_scale"} | dict.fromkeys(("alpha_ordinal", "alpha_interval", "alpha_nominal"), "alpha_ordinal")


def heading(standings: Standings) -> str:
    """Return the board's title. It says when labels are constructed, whatever the board calls itself."""
    says_so = not standings.constructed or "constructed" in standings.title.lower()
    return standings.title if says_so else f"{standings.title} (constructed labels)"


def metric_name(metric: str) -> str:
    return "all metrics" if metric == POOLED else metric_words(metric)


def ranking_table(standings: Standings, ranking: Ranking) -> TextTable:
    """One table of a language: judges in their ranks, and people where several native annotators labelled."""
    judges = [standings.judge(ranked.judge) for ranked in ranking.rows]
    pairs = zip(ranking.rows, judges, strict=True)
    rows = [_ranking_row(standings, ranking, ranked, judge) for ranked, judge in pairs]
    if ranking.people:
        rows.append({"judge": PEOPLE, "human_loo": ranking.people.value, "human_loo_ci": ranking.people.value_ci})
    faint = [*(judge.baseline for judge in judges), *([True] if ranking.people else [])]
    return tabulate(rows, ranking_columns(standings), faint=faint)


def ranking_columns(standings: Standings) -> list[Column]:
    """Return the columns of a board: those of the registry, with what it ranks by in their midst, and every statistic that it names."""
    ranked_by = _ranked_by(standings)
    asked_for = {_STATISTICS.get(name, name): None for name in standings.statistics}
    columns: list[Column] = []
    for column in columns_in(TableName.STANDINGS):
        if column.name == "pa_failed_wrong":
            columns.append(replace(ranked_by, legend=_RANKED_BY[standings.rank_by], signs=True, same_as=""))
        elif column.name != standings.rank_by and (column.name not in _OPTIONAL or column.name in asked_for):
            columns.append(column)
    if by_order(standings):
        columns = [column for column in columns if column.name not in _NO_AGREEMENT]
    names = {column.name for column in columns}
    return [*columns, *(_statistic(name) for name in asked_for if name not in names)]


@dataclass(frozen=True)
class PageTables:
    """A table of a language on a page, which fits into a window: the ranks, and behind them tables with all other numbers, by title."""

    ranks: TextTable
    more: tuple[tuple[str, TextTable], ...]


_BESIDE = {"above": "▲ better", "below": "▼ worse", "not shown": "○ unknown", "too few texts": f"· {TOO_FEW}", "unread": f"· {UNREAD}"}
_SHORT = {"pa_failed_wrong": "agreement", "kendall_tau_within": "order of texts (τ)", "vs_baseline_diff": "judge − constant"}
_FIRST = ("rank", "judge", "vs_baseline_diff")
_ASKED = ("coverage", "failures", "consistency", "dollars", "seconds")
_CARD = ("status", "open_weights", "exposure")
_WITHOUT_METRIC = ("dollars", "seconds", *_CARD)  # what is the same in the tables of all metrics


def page_tables(standings: Standings, ranking: Ranking) -> PageTables:
    """Return what `ranking_table` has in one row, as several tables beside each other: a page is not as wide as a file.

    What a judge costs and what its card says stands beside all metrics only, as it is the same for each.
    """
    judges = [standings.judge(ranked.judge) for ranked in ranking.rows]
    rows = [
        {
            **_ranking_row(standings, ranking, ranked, judge),
            "judge": judge.display_name,
            "beside": BASELINE if judge.baseline else _BESIDE[ranked.beside_baseline],
        }
        for ranked, judge in zip(ranking.rows, judges, strict=True)
    ]
    yardstick = "chance" if by_order(standings) else "a constant answer"
    beside = Column("beside", f"beside {yardstick}", TEXT, f"what is shown of the judge beside {yardstick}, at 95 %", frozenset())
    columns = [replace(column, heading=_SHORT.get(column.name, column.heading)) for column in ranking_columns(standings)]
    columns = [column for column in columns if column.name != "note"]
    faint = [judge.baseline for judge in judges]
    [name] = [column for column in columns if column.name == "judge"]
    first = [column for column in columns if column.name in (*_FIRST, standings.rank_by)]
    remaining = [column for column in columns if column not in first and (ranking.metric == POOLED or column.name not in _WITHOUT_METRIC)]
    parts = {
        "Beside people, and other statistics": [column for column in remaining if column.name not in (*_ASKED, *_CARD)],
        "How judges answered": [column for column in remaining if column.name in (*_ASKED, *_CARD)],
    }
    more = [(title, tabulate(rows, [name, *part], faint=faint)) for title, part in parts.items()]
    return PageTables(
        tabulate(rows, [*first, beside], faint=faint), tuple((title, table) for title, table in more if len(table.headings) > 1)
    )


def _ranked_by(standings: Standings) -> Column:
    """Return the registry's column of the statistic that ranks."""
    return next(column for column in COLUMNS if column.name == standings.rank_by)


def value_text(standings: Standings, value: float | None, interval: tuple[float, float] | None = None) -> str:
    """Return a value of the statistic that ranks, as its tables write it: a share in percent, or a correlation."""
    return _ranked_by(standings).format.text(value, interval)


def by_order(standings: Standings) -> bool:
    """Return True if a board ranks by a correlation, because its scores are continuous."""
    return standings.rank_by in RANKED_BY_ORDER


def _statistic(name: str) -> Column:
    """Return the column of a statistic that standings do not have by themselves."""
    same_name = (column for column in COLUMNS if column.name == name)
    column = next(iter(sorted(same_name, key=lambda column: column.tables == {TableName.SYSTEMS})), None)  # not of means of systems
    column = column or Column(name, name.replace("_", " "), COEFFICIENT, "see docs/statistics.md", frozenset())
    return replace(column, interval=False, signs=False, same_as="")


def _ranking_row(standings: Standings, ranking: Ranking, ranked: RankedJudge, judge: Contender) -> Row:
    """One judge as a flat row, under the names of the registry."""
    rank_by, columns = standings.rank_by, {"judge": judge.id, "variant": ranking.variant, "language": ranking.language}
    columns |= {} if ranking.metric == POOLED else {"metric": ranking.metric}
    believed = Counter[str](cell.verdict for cell in standings.probabilities if columns.items() <= cell.key.items())
    statistics = {name: value for name, value in ranked.statistics.items() if name != rank_by}
    spent = judge.spending.get(ranking.language)
    if spent is None:
        spending: Row = {"dollars_text": "price unknown"}
    else:
        seconds = f"{spent.seconds:.0f}" if spent.seconds >= 0.5 else "< 1"
        if spent.dollars is None:
            dollars = "price unknown" if spent.prices is None else "not counted"
        elif spent.prices == "always":
            dollars = "free"
        else:
            dollars = f"{spent.dollars:.2f}" if spent.dollars >= 0.005 else "< 0.01"
        spending = {"dollars": spent.dollars, "dollars_text": dollars, "seconds": spent.seconds, "seconds_text": seconds}
    row: dict[str, Any] = statistics | {
        "rank": ranked.rank,
        "rank_ci": ranked.rank_ci,
        "below_baseline": ranked.beside_baseline == "below",
        "group": ranked.group or UNDEFINED,
        "judge": name_of(judge),
        rank_by: ranked.value,
        f"{rank_by}_ci": ranked.value_ci,
        "note": BASELINE if judge.baseline else baseline_note(ranked),
        "vs_baseline_diff": ranked.baseline_diff,
        "vs_baseline_diff_ci": ranked.baseline_ci,
        "leniency_of_scale": ranked.statistics.get("leniency"),
        "coverage": ranked.coverage,
        "failures": ranked.failures,
        "consistency": ranked.consistency,
        "status": judge.status,
        "open_weights": judge.open_weights,
        "exposure": judge.exposure,
        "probabilities": believed["hold"] if believed else None,
        "probabilities_text": probability_counts(believed) if ranking.metric == POOLED else "".join(believed),
        **spending,
    }
    if ranked.matched:
        matched = ranked.matched
        pair = {"judge_loo": matched.judge} if rank_by != "judge_loo" else {}
        row |= {**pair, "human_loo": matched.people, "loo_gap": matched.gap, "loo_gap_ci": matched.gap_ci}
    return row


def name_of(judge: Contender) -> str:
    """Return what a row is called: the title, followed by the name where both say something."""
    number = judge.id.removeprefix(judge.name)
    name = f"{judge.title} ({judge.name}{number})" if judge.title and judge.title != judge.name else f"{judge.short_name}{number}"
    return f"{name}, a part: {judge.part}" if judge.part else name


def baseline_note(ranked: RankedJudge) -> str:
    """Return what a row says of the judge beside a constant answer; nothing where the judge is shown to beat it."""
    notes = {"above": "", "below": BELOW_BASELINE, "not shown": NOT_BEATING, "too few texts": TOO_FEW, "unread": UNREAD}
    return notes[ranked.beside_baseline]


LANGUAGE_COLUMN = "in_"
"""What the names of columns begin with that have the number of a language."""


def overall_table(standings: Standings, variant: str) -> TextTable:
    """Return all judges over the languages, baselines last. A mean always has the worst language beside it, and a mean with blanks is
    blank.
    """
    shown = {judge.id for judge in compared_judges(standings)} | {judge.id for judge in standings.judges if judge.baseline}
    overall_rows = [row for row in standings.overall if row.variant == variant and row.judge in shown]
    overall_rows.sort(key=lambda row: standings.judge(row.judge).baseline)
    judges = [standings.judge(row.judge) for row in overall_rows]
    written = _ranked_by(standings).format
    languages = [
        Column(f"{LANGUAGE_COLUMN}{tag}", tag, written, f"the number in {english_name(tag)}", frozenset()) for tag in standings.languages
    ]
    rows: list[Row] = []
    for overall, judge in zip(overall_rows, judges, strict=True):
        worst = f"{written.text(overall.worst, None)} {overall.worst_language}"
        row: dict[str, Any] = {
            "judge": name_of(judge),
            "mean": overall.mean,
            "worst": overall.worst,
            "worst_text": UNDEFINED if overall.worst is None or overall.worst_language is None else worst,
            "beats_baseline": overall.beats_baseline,
            "beats_baseline_text": f"{overall.beats_baseline} of {overall.tested}" if overall.tested else UNDEFINED,
            "verdicts": None if judge.baseline else _by_state(overall.verdicts),
            "probabilities": overall.probabilities.get("hold", 0) if overall.probabilities else None,
            "probabilities_text": probability_counts(overall.probabilities),
        }
        rows.append(row | {f"{LANGUAGE_COLUMN}{tag}": value for tag, value in overall.by_language.items()})
    statistics = []
    for column in columns_in(TableName.OVERALL):
        if column.name == "mean":
            column = replace(column, format=written)
        elif column.name == "beats_baseline" and by_order(standings):
            column = replace(column, heading="better than chance in", legend=_ABOVE_CHANCE)
        statistics.append(column)
    table = tabulate(rows, [*statistics, *languages], faint=[judge.baseline for judge in judges])
    return replace(table, legend=tuple(line for line in table.legend if line not in {column.legend_line for column in languages}))


_STATES = {"use": USE, "use corrected": CORRECTED, "do not use": AGAINST, "passes the controls": PASSES, "fails the controls": FAILS}


def _by_state(verdicts: Mapping[str, int]) -> dict[str, int]:
    """Return how many verdicts have each state, of their counts by code."""
    counts = Counter[str]()
    for code, count in verdicts.items():
        counts[_STATES.get(code, UNKNOWN)] += count
    return {state: counts[state] for state in STYLES if counts[state]}


def verdict_table(standings: Standings, language: str | None = None) -> TextTable | None:
    """Return what the judges may be used for: a row for each language, a column for each metric. `language`: only this one.

    None where no judge has a verdict, and where labels are constructed: nobody may be used then.
    """
    verdicts = [verdict for verdict in deciding_verdicts(standings) if language in (None, verdict["language"])]
    if standings.constructed or not verdicts:
        return None
    cells: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        cells.setdefault((verdict["language"], verdict["metric"]), []).append(verdict)
    metrics = list(dict.fromkeys(metric for _, metric in cells))
    headings = (Heading("language", "language", key=True), *(Heading(metric, metric_words(metric)) for metric in metrics))
    rows = (
        (english_name(tag), *(_verdicts_in_short(cells.get((tag, metric), []), standings) for metric in metrics))
        for tag in dict.fromkeys(tag for tag, _ in cells)
    )
    return TextTable(headings, tuple(rows), legend=(VERDICT_LEGEND,))


def _verdicts_in_short(verdicts: Sequence[Verdict], standings: Standings) -> str:
    """`use: one, two` where a judge may be used, else `do not use` if every verdict says so, else how many do."""
    if not verdicts:
        return UNDEFINED
    for answer in ("use", "use corrected"):
        names = [standings.judge(verdict["judge"]).display_name for verdict in verdicts if verdict.answer == answer]
        if names:
            judge_names = ", ".join(names) if len(names) <= _MOST_JUDGES else f"{len(names)} judges"
            return answer if len(verdicts) == 1 else f"{answer}: {judge_names}"
    against = sum(verdict.answer == "do not use" for verdict in verdicts)
    if against == len(verdicts):
        return "do not use" if against == 1 else f"do not use: all {against}"
    return f"unknown; do not use: {against} of {len(verdicts)}" if against else "unknown"


def table_title(standings: Standings, ranking: Ranking) -> str:
    """Return what a table is about, in one line."""
    variant = f" · {ranking.variant}" if len(standings.variants) > 1 else ""
    return f"{metric_name(ranking.metric)}{variant} · {ranking.questions:,} questions on {ranking.texts:,} independent texts"


def groups_in_words(ranking: Ranking) -> str:
    """Return which places are not shown to differ, or why nothing is said about that."""
    if ranking.reason:
        if ranking.texts_needed == MIN_TEXTS:
            return f"No ranks: {ranking.reason} ({ranking.texts}; {ranking.texts_needed} are needed). The rows are sorted by value."
        return f"No rank intervals and no groups: {ranking.reason} ({ranking.texts}; 8 are needed)."
    together = [f"{first}–{last}" for first, last in ranking.groups if last > first]
    if together:
        return f"Not shown to differ: places {', '.join(together)}."
    return "All places are shown to differ." if sum(row.rank is not None for row in ranking.rows) > 1 else ""


def standings_notes(standings: Standings, tables: Iterable[TextTable] = ()) -> list[str]:
    """Return what a reader of the tables has to know: what their headings mean, then the rest."""
    lines = list(dict.fromkeys(line for table in tables for line in table.legend))
    lines += [
        "All tasks and metrics are pooled where none is named. Intervals are at 95 % and respect that questions share texts.",
        "Statistics of all metrics are means over the metrics, and blank if one metric has none.",
    ]
    if by_order(standings):
        lines.append(
            "People's scores are standardised within annotator where annotators can be followed from item to item, because people differ "
            "in severity. A constant answer is one score for all outputs for a source text: it has 0."
        )
    return lines + cautions(standings)


def cautions(standings: Standings) -> list[str]:
    """Return what the standings do not show, and the dates of prices."""
    lines = [words] if (words := partial_words(standings)) else []
    if any(row.unread for table in standings.tables for row in table.rows):
        lines.append("A judge has no rank where most of its answers cannot be read: a set-up that does not work says nothing of a judge.")
    if any(judge.asked_elsewhere for judge in standings.judges):
        lines.append("Recorded judges were asked elsewhere, in their own way. Their scores have no replies that could be read again.")
    if names := [judge.display_name for judge in standings.judges if judge.status == "recorded" and not judge.asked_elsewhere]:
        lines.append(f"Only the scores of {joined(names)} are here: the replies may quote offensive texts, and cannot be read again.")
    toys = [judge.display_name for judge in standings.judges if is_toy(judge)]
    if toys and len(deciding_verdicts(standings)) < len(standings.verdicts):
        shows = "shows" if len(toys) == 1 else "show"
        lines.append(f"{joined(toys)} only {shows} what a measurement looks like: no answer here rests on that.")
    if standings.constructed:
        lines.append("The labels are constructed with the texts, not given by native speakers: passing is necessary, not sufficient.")
    if standings.unreviewed:
        lines.append(f"No native reader has reviewed the texts in {', '.join(map(english_name, standings.unreviewed))}.")
    prices = {spent.prices for judge in standings.judges for spent in judge.spending.values()} - {None, "always"}
    if prices:
        lines.append(f"Prices of {', '.join(sorted(map(str, prices)))}.")
    return lines


def findings_of(findings: Sequence[Finding], judge: str) -> list[Finding]:
    return [finding for finding in findings if finding.judge == judge]


_NAME = "judge"
_NAME_WIDTHS = 16, 40  # at least, at most
_GAP = 2  # between columns
_SIGN_OF = {
    "unknown; do not use:": SIGNS["bad"],
    "do not use:": SIGNS["bad"],
    "do not use": SIGNS["bad"],
    "use corrected:": f"{SIGNS['good']} corrected:",
    "use corrected": f"{SIGNS['good']} corrected",
    "use:": SIGNS["good"],
    "use": SIGNS["good"],
    "unknown": SIGNS["open"],
}
_VERDICTS = "verdicts"
_SIGN_LEGEND = "✓ use; ✗ do not use, with the number of judges; ○ unknown."


def print_standings(
    standings: Standings,
    findings: Sequence[Finding] = (),
    language: str | None = None,
    console: Console | None = None,
    *,
    all_tables: bool = False,
) -> None:
    """Print to stdout; a pipe gets a generous width instead of cut columns."""
    print_whole(lambda width: render_standings(standings, findings, language, width, all_tables=all_tables), console=console)


def render_standings(
    standings: Standings,
    findings: Sequence[Finding] = (),
    language: str | None = None,
    width: int = PIPE_WIDTH,
    *,
    all_tables: bool = False,
) -> RenderableType:
    """Return all languages with metrics pooled; of one language, its metrics too.

    The tables of single languages, the findings of probes and the meanings of headings are there with `all_tables`, or of one language.
    """
    parts: list[RenderableType] = [Text(terminal_safe(f"{heading(standings)} · {standings.board}"), style="bold")]
    if not standings.judges:
        return Group(*parts, Text("No submissions yet: 'harness submit' makes one from a run."))
    answer = board_answer(standings) if language is None else language_answer(standings, language)
    parts += [Text(""), *styled_answer(lines_of(answer), width), Text(terminal_safe(board_facts(standings)), style="dim")]
    tables: list[TextTable] = []
    if verdicts := verdict_table(standings, language):
        tables.append(_with_signs(verdicts, width))
        parts += [table_heading("Verdicts"), FittedTable(tables[-1], unbroken=("language",), sentences=(_VERDICTS,))]
    if language is None:
        for variant in standings.variants:
            tables.append(overall_table(standings, variant))
            title = f"All languages{f' · {variant}' if len(standings.variants) > 1 else ''}"
            parts += [table_heading(title), *_fitted_table(tables[-1], width)]
    if language is None and not all_tables:
        signs = [line for table in tables for line in table.legend if line == _SIGN_LEGEND]
        flagged = len({finding.judge for finding in findings if finding.flagged})
        probes = f" what probes find ({counted(flagged, 'judge')} to look at closer)," if findings else ""
        more = f"--all adds a table for each language,{probes} and what the headings mean"
        notes = [*signs, *cautions(standings), f"{more}; --lang {standings.languages[0]} shows one language with its metrics."]
        return Group(*parts, Text("\n" + terminal_safe("\n".join(notes)), style="dim"))
    for tag in standings.languages if language is None else (language,):
        parts.append(table_heading(both_names(tag)))
        rankings = [
            ranking for ranking in standings.tables if ranking.language == tag and (language is not None or ranking.metric == POOLED)
        ]
        for ranking in rankings:
            tables.append(ranking_table(standings, ranking))
            parts += [Text(terminal_safe(table_title(standings, ranking)), style="italic"), *_fitted_table(tables[-1], width)]
            parts += [Text(groups_in_words(ranking), style="dim")]
        if not rankings:
            parts.append(Text("No numbers."))
    if findings:
        parts.append(table_heading("Probes"))
        for judge in dict.fromkeys(finding.judge for finding in findings):
            parts.append(Text(terminal_safe(judge), style="bold"))
            for finding in findings_of(findings, judge):
                words, look = ("look closer: ", "yellow") if finding.flagged else ("", "")
                parts.append(Text(terminal_safe(f"  {words}{finding.sentence}"), style=look))
    return Group(*parts, Text("\n" + terminal_safe("\n".join(standings_notes(standings, tables))), style="dim"))


def _with_signs(table: TextTable, width: int) -> TextTable:
    """Return a table of verdicts with signs in place of words; where a row has no room, all of its metrics stand in one cell, by sign."""

    def signed(text: str) -> str:  # `✗ 11 of 20` for `unknown; do not use: 11 of 20`
        return next((sign + text.removeprefix(words) for words, sign in _SIGN_OF.items() if text.startswith(words)), text)

    rows = tuple((row[0], *map(signed, row[1:])) for row in table.rows)
    table = replace(table, rows=rows, legend=(*table.legend, _SIGN_LEGEND))
    widths = _column_widths(table)
    if sum(widths) + gap_between(width) * (len(widths) - 1) <= width:
        return table
    by_sign = []
    for language, *cells in rows:
        metrics: dict[str, list[str]] = {}
        for heading, cell in zip(table.headings[1:], cells, strict=True):
            metrics.setdefault(cell, []).append(heading.text)
        in_order = [cell for sign in SIGNS.values() for cell in metrics if cell.startswith(sign)]  # ✓, ✗, ○, then nothing
        in_order += [cell for cell in metrics if cell not in in_order]
        by_sign.append((language, "; ".join(f"{cell} {', '.join(metrics[cell])}" for cell in in_order)))
    return replace(table, headings=(table.headings[0], Heading(_VERDICTS, "verdicts")), rows=tuple(by_sign))


def _fitted_table(table: TextTable, width: int) -> Iterator[RenderableType]:
    """Yield the columns that fit into the width, and the names of the others."""
    widths = _column_widths(table)
    fitting, taken = list[int](), 0
    for column, needed in enumerate(widths):
        taken += (_NAME_WIDTHS[0] if table.headings[column].name == _NAME else needed) + _GAP
        if taken > width and len(fitting) > 1:
            break
        fitting.append(column)
    room = width - sum(widths[column] + _GAP for column in fitting if table.headings[column].name != _NAME) - _GAP
    fitted = replace(
        table,
        headings=tuple(table.headings[column] for column in fitting),
        rows=tuple(tuple(terminal_safe(row[column]) for column in fitting) for row in table.rows),
    )
    column_width = {table.headings[column].name: widths[column] for column in fitting}
    if _NAME in column_width:
        column_width[_NAME] = min(column_width[_NAME], room, _NAME_WIDTHS[1])
    yield FittedTable(fitted, widths=column_width)
    if absent := [heading.text for column, heading in enumerate(table.headings) if column not in fitting]:
        yield Text(absent_words(absent), style="dim")


def _column_widths(table: TextTable) -> list[int]:
    """Return the widths in which no text of a column is broken; the sign of an interval in a heading stays whole too."""
    signs = ("[95 %]" if "[95" in heading.text else "" for heading in table.headings)
    return [max(width, cell_len(sign)) for width, sign in zip(column_widths(table), signs, strict=True)]
