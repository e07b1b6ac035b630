"""Standings as tables: what every column says, in words that the terminal, TABLE.md and the site share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from harness.analyse import POOLED, Matched, Placed, Ranking
from harness.boards.probes import Finding
from harness.boards.standings import Contender, Overall, Standings
from harness.content.tags import autonym, english_name
from harness.render.comparison import coefficient
from harness.render.terminal import difference, percent

GAP = "–"
NOT_BEATING = "does not beat the baseline"
BASELINE = "baseline"
UNTOLD = "too few texts to tell"
PEOPLE = "people, one left out"
BLANK_MEAN = "a judge without a number in one language has no mean"
_KNOWN = {"cohen_kappa": "κ", "leniency": "leniency"}
_ALPHAS = ("alpha_ordinal", "alpha_interval", "alpha_nominal")


class Shown(NamedTuple):
    """One cell: its text, and what it is sorted by (None: as its text)."""

    text: str
    key: float | None = None


class Column(NamedTuple):
    """One column of a table; `number`: set to the right."""

    heading: str
    show: Callable[[Placed, Contender], Shown]
    number: bool = False


class ShownTable(NamedTuple):
    """A table ready to be set: headings, which of them are of numbers, and rows of cells; `faint` says which rows are no judges."""

    headings: tuple[str, ...]
    numbers: tuple[bool, ...]
    rows: tuple[tuple[Shown, ...], ...]
    faint: tuple[bool, ...]


def heading(found: Standings) -> str:
    """The board's title; that labels are constructed is in it, whatever the board calls itself."""
    says_so = not found.constructed or "constructed" in found.title.lower()
    return found.title if says_so else f"{found.title} (constructed labels)"


def language_name(tag: str) -> str:
    return f"{english_name(tag)} · {autonym(tag)} ({tag})"


def metric_name(metric: str) -> str:
    return "all metrics" if metric == POOLED else metric.replace("_", " ")


def shown_table(found: Standings, table: Ranking) -> ShownTable:
    """One table of a language: judges in their ranks, and people where several native annotators labelled."""
    columns = _columns(found, table)
    rows, faint = [], []
    for placed in table.rows:
        judge = found.judge(placed.judge)
        rows.append(tuple(column.show(placed, judge) for column in columns))
        faint.append(judge.baseline)
    if table.people:
        people = {
            "judge": Shown(PEOPLE),
            "people": Shown(percent(table.people.value, table.people.value_ci), table.people.value),
        }
        rows.append(tuple(people.get(column.heading, Shown(GAP)) for column in columns))
        faint.append(True)
    return ShownTable(tuple(c.heading for c in columns), tuple(c.number for c in columns), tuple(rows), tuple(faint))


def _columns(found: Standings, table: Ranking) -> list[Column]:
    columns = [
        Column("rank", _rank, True),
        Column("group", lambda p, j: Shown(p.group or GAP)),
        Column("judge", lambda p, j: Shown(name_of(j))),
        Column(agreement_name(found), lambda p, j: Shown(percent(p.value, p.value_ci), p.value)),
        Column("note", lambda p, j: Shown(BASELINE if j.baseline else verdict(p))),
        Column("− baseline", lambda p, j: Shown(difference(p.baseline_diff, p.baseline_ci), p.baseline_diff)),
    ]
    if table.people:
        columns += [
            Column("judge, others left", _matched(lambda m: Shown(percent(m.judge), m.judge))),
            Column("people", _matched(lambda m: Shown(percent(m.people), m.people))),
            Column("judge − people", _matched(lambda m: Shown(difference(m.gap, m.gap_ci), m.gap))),
        ]
    return [
        *columns,
        *_statistics(found),
        Column("read", lambda p, j: Shown(percent(p.coverage), p.coverage), True),
        Column("failures", lambda p, j: Shown(_failures(p), float(p.n_ref - p.n))),
        Column("same answer", lambda p, j: Shown(percent(p.consistency), p.consistency), True),
        Column("$ / 1,000", lambda p, j: _dollars(j, table.language), True),
        Column("s / 1,000", lambda p, j: _seconds(j, table.language), True),
        Column("status", lambda p, j: Shown(j.status)),
        Column("open weights", lambda p, j: Shown(j.open_weights)),
        Column("exposure", lambda p, j: Shown(j.exposure)),
    ]


def _matched(show: Callable[[Matched], Shown]) -> Callable[[Placed, Contender], Shown]:
    return lambda placed, judge: show(placed.matched) if placed.matched else Shown(GAP)


def _statistics(found: Standings) -> Iterator[Column]:
    """The board's columns; of the alphas the one that the scale has most of, of leniency parts of the scale in points."""
    for name in found.statistics:
        if name in _ALPHAS or name == found.rank_by:
            continue
        if name == "leniency":
            yield Column(_KNOWN[name], lambda p, j: Shown(difference(p.statistics["leniency"], None), p.statistics["leniency"]), True)
        else:
            yield Column(_KNOWN.get(name, name.replace("_", " ")), _coefficient((name,)), True)
    alphas = tuple(name for name in _ALPHAS if name in found.statistics)
    if alphas:
        yield Column("α", _coefficient(alphas), True)


def _coefficient(names: Sequence[str]) -> Callable[[Placed, Contender], Shown]:
    def show(placed: Placed, judge: Contender) -> Shown:
        value = next((placed.statistics[name] for name in names if placed.statistics.get(name) is not None), None)
        return Shown(coefficient(value), value)

    return show


def agreement_name(found: Standings) -> str:
    return "agreement [95 %]" if found.rank_by == "pa_failed_wrong" else f"{found.rank_by.replace('_', ' ')} [95 %]"


def name_of(judge: Contender) -> str:
    """What a row is called: the title, with the name behind it where both say something."""
    number = judge.id.removeprefix(judge.name)
    return f"{judge.title} ({judge.name}{number})" if judge.title and judge.title != judge.name else f"{judge.name}{number}"


def verdict(placed: Placed) -> str:
    """What a row has to say about the baseline; nothing where the judge is shown to beat it."""
    return UNTOLD if placed.beats_baseline is None else "" if placed.beats_baseline else NOT_BEATING


def _rank(placed: Placed, judge: Contender) -> Shown:
    between = f" [{placed.rank_ci[0]}–{placed.rank_ci[1]}]" if placed.rank_ci else ""
    return Shown(f"{placed.rank}{between}", float(placed.rank))


def _failures(placed: Placed) -> str:
    return ", ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in placed.failures.items()) or "none"


def _dollars(judge: Contender, language: str) -> Shown:
    spent = judge.spending.get(language)
    if spent is None or spent.dollars is None:
        return Shown("price unknown" if spent is None or spent.prices is None else "not counted")
    return Shown("free" if spent.prices == "always" else f"{spent.dollars:.2f}" if spent.dollars >= 0.005 else "< 0.01", spent.dollars)


def _seconds(judge: Contender, language: str) -> Shown:
    spent = judge.spending.get(language)
    return Shown(GAP) if spent is None else Shown(f"{spent.seconds:.0f}" if spent.seconds >= 0.5 else "< 1", spent.seconds)


def shown_overall(found: Standings, variant: str) -> ShownTable:
    """All judges over the languages: a mean stands beside the worst language only, and a mean with blanks is blank."""
    headings = ("judge", "mean", "worst language", "beats the baseline in", *found.languages)
    rows, faint = [], []
    for each in found.overall:
        if each.variant == variant:
            judge = found.judge(each.judge)
            by_language = (Shown(percent(each.by_language[tag]), each.by_language[tag]) for tag in found.languages)
            rows.append((Shown(name_of(judge)), Shown(percent(each.mean), each.mean), _worst(each), _beaten(each), *by_language))
            faint.append(judge.baseline)
    return ShownTable(headings, (False, True, False, False, *(True for _ in found.languages)), tuple(rows), tuple(faint))


def _worst(each: Overall) -> Shown:
    if each.worst is None or each.worst_language is None:
        return Shown(GAP)
    return Shown(f"{percent(each.worst)} {each.worst_language}", each.worst)


def _beaten(each: Overall) -> Shown:
    return Shown(f"{each.beats_baseline} of {each.tested}" if each.tested else GAP, float(each.beats_baseline))


def table_title(found: Standings, table: Ranking) -> str:
    """What a table is of, in one line."""
    variant = f" · {table.variant}" if len(found.variants) > 1 else ""
    return f"{metric_name(table.metric)}{variant} · {table.questions} questions on {table.texts} independent texts"


def groups_in_words(table: Ranking) -> str:
    """Which places cannot be told apart, or why that is not said."""
    if table.reason:
        return f"No rank intervals and no groups: {table.reason} ({table.texts}; 8 are needed)."
    together = [f"{first}–{last}" for first, last in table.groups if last > first]
    return f"Not told apart: places {', '.join(together)}." if together else "All places are told apart." if len(table.rows) > 1 else ""


def notes(found: Standings) -> list[str]:
    """What a reader of the tables has to know."""
    what = {
        "pa_failed_wrong": "agreement: share of all questions answered as the label says, unreadable answers counted as wrong",
        "pa_pairwise": "pa pairwise: mean share of the annotators that a judge agrees with, unreadable answers counted as wrong",
        "judge_loo": "judge loo: agreement with the remaining annotators, one left out at a time, unreadable answers counted as wrong",
    }[found.rank_by]
    lines = [
        f"{what}; all tasks and metrics pooled where none is named. Intervals are at 95 % and respect that questions share texts.",
        "rank [a–b]: its interval; the true rank lies in it in 95 of 100 such samples. group: judges without a common letter are told "
        "apart (paired differences, corrected for all pairs by Holm).",
        "− baseline: less the majority baseline (the commonest label of development items, else of the language and metric), in percentage "
        f"points, on the same questions; '{NOT_BEATING}' where the interval does not lie above 0.",
        "κ, α, leniency of all metrics: means over the metrics, blank if one has none; leniency in points of 100 of the scale's length, "
        "+ toward its best.",
        "$ / 1,000 and s / 1,000: of 1,000 judgments in the language, by the tokens that replies report and dated list prices; seconds of "
        "waiting for replies, added up.",
        f"mean: over the languages, always beside the worst one; {BLANK_MEAN}.",
    ]
    if found.constructed:
        lines.append("The labels are constructed with the texts, not given by native speakers: passing is necessary, not sufficient.")
    if any(table.people for table in found.tables):
        lines.append("people: each annotator against the others of the item, one left out; 'judge, others left' is against the same.")
    if found.unreviewed:
        lines.append(f"No native reader has reviewed the texts in {', '.join(found.unreviewed)}.")
    priced = sorted({spent.prices for judge in found.judges for spent in judge.spending.values() if spent.prices not in (None, "always")})
    if priced:
        lines.append(f"Prices of {', '.join(map(str, priced))}.")
    return lines


def findings_of(findings: Sequence[Finding], judge: str) -> list[Finding]:
    return [finding for finding in findings if finding.judge == judge]
