"""The first screen of a page: its title, the answer in words, the next steps, and a plot of all languages and metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from harness.decide.verdicts import Verdict
from harness.judges import traits_of
from harness.measure.options import POOLED
from harness.model import SIDE
from harness.render.forest import ForestMark, forest
from harness.render.html.marks import difference_track, gap_track
from harness.render.html.verdict_matrix import VerdictMatrix, verdict_matrix
from harness.render.verdicts import short_names, side_of_verdict, sides_of_verdicts
from harness.reports.answer import annotators_of, answer_of, place_of, style_of, texts_of
from harness.reports.answer_parts import SIGNS, NextStep
from harness.reports.tables.numbers import coefficient, counted, difference, percent
from harness.reports.tables.titles import metric_title

_AGAINST = {"base_worse": "below the baseline", "constant": "one class for all", "failures": "unreadable"}
PairRow = Mapping[str, Any]
"""A row of the section of minimal pairs."""


@dataclass(frozen=True)
class PlottedPairs:
    """The minimal pairs of one language and metric: the figure, the number, its counts in few and in all words, and what a click shows."""

    drawn: Markup
    number: str
    words: str
    title: str
    show: dict[str, Any]


@dataclass(frozen=True)
class PlottedVerdict:
    """One language and metric: the figure, the number, the verdict as a sign and in words, and what a click shows."""

    drawn: Markup
    number: str
    sign: str
    words: str
    style: str
    show: dict[str, Any]
    pairs: PlottedPairs | None = None


@dataclass(frozen=True)
class ForestPlot:
    """Judge minus people (or minus a constant answer) by language and metric; languages from the best to the worst.

    `limits` says whether any mark has the tick of too few texts, `pairs` whether any has minimal pairs below it.
    """

    axis: str
    reach: str
    limits: bool
    pairs: bool
    metrics: tuple[str, ...]
    rows: tuple[tuple[str, tuple[PlottedVerdict | None, ...]], ...]


@dataclass(frozen=True)
class JudgeAnswer:
    """One judge under one condition: its name where there are several, `(style, sentence)`, what to do next, and the plot."""

    name: str
    sentences: tuple[tuple[str, str], ...]
    steps: tuple[NextStep, ...]
    plot: ForestPlot


@dataclass(frozen=True)
class FirstScreen:
    """The title of a page (what was found, or the question that its sentences answer), the answer, and the facts that it rests on.

    One judge under one condition has one answer. Of several there is an overview: sentences and steps for all of them, and their
    verdicts by language; then `answers` are folded beneath.
    """

    title: str
    sentences: tuple[tuple[str, str], ...]
    steps: tuple[NextStep, ...]
    overview: VerdictMatrix | None
    answers: tuple[JudgeAnswer, ...]
    facts: str
    sure: str = ""


def first_screen(
    verdicts: Sequence[Verdict], annotators: int = 0, date: str = "", pairs: Sequence[PairRow] = (), two_people: str = ""
) -> FirstScreen | None:
    """The first screen of a page with these verdicts; None where there are none on any judge but baselines.

    `annotators` is the highest number of people who labelled one text on one metric (0: unknown), `date` that of the run, `pairs`
    are the rows of the minimal pairs, `two_people` says how far two people agree, where second ratings show it.
    """
    sides = [own for own in sides_of_verdicts(verdicts) if not traits_of(str(own[0]["judge"])).is_baseline]
    if not sides:
        return None
    names = short_names(sides) if len(sides) > 1 else [""]
    answer = answer_of(sides, names)
    facts = _facts(sides[0], annotators, date)
    answers = tuple(_answer(own, name, _of_side(pairs, own[0])) for own, name in zip(sides, names, strict=True))
    beside = (("open", two_people),) if two_people else ()
    if len(sides) == 1:
        return FirstScreen(answer.title, (*answers[0].sentences, *beside), answers[0].steps, None, answers, facts, answer.sure)
    return FirstScreen(answer.title, (*answer.sentences, *beside), answer.steps, verdict_matrix(sides, names), answers, facts, answer.sure)


def _facts(verdicts: Sequence[Verdict], annotators: int, date: str) -> str:
    kind = "constructed labels" if verdicts[0].controls else f"labels of {annotators_of(verdicts)}"
    languages = len({verdict["language"] for verdict in verdicts})
    metrics = len({verdict["metric"] for verdict in verdicts})
    counts = sorted(verdict.n_labelled for verdict in verdicts)
    texts = f"{counts[0]:,} to {counts[-1]:,} texts" if counts[0] < counts[-1] else counted(counts[0], "text")
    facts = [kind, f"{counted(languages, 'language')} × {counted(metrics, 'metric')}", f"{texts} each"]
    if annotators and not verdicts[0].controls:
        facts.append(f"{'one annotator' if annotators == 1 else f'up to {annotators} annotators'} a text")
    return " · ".join([*facts, *([f"asked on {date}"] if date else [])])


def _of_side(pairs: Sequence[PairRow], verdict: Verdict) -> dict[tuple[str, str], PairRow]:
    """The minimal pairs of a verdict's judge and condition, by language and metric (`*` where they pool)."""
    side = side_of_verdict(verdict)
    return {(row["language"], row["metric"]): row for row in pairs if tuple(row.get(name) for name in SIDE) == side}


def _answer(verdicts: Sequence[Verdict], name: str, pairs: Mapping[tuple[str, str], PairRow]) -> JudgeAnswer:
    pooled = pairs.get((POOLED, POOLED))
    answer = answer_of([verdicts], [name])
    sentences = (*answer.sentences, *([_pair_sentence(pooled)] if pooled and pooled["n"] else []))
    return JudgeAnswer(name, sentences, answer.steps, _plot(verdicts, pairs))


def _pair_sentence(row: PairRow) -> tuple[str, str]:
    """What is seen of all minimal pairs, and whether the judge is shown to find flaws."""
    interval = row["sensitivity_ci"]
    style = "open" if not interval or interval[0] <= 0.5 <= interval[1] else "good" if interval[0] > 0.5 else "bad"
    scored = f"higher in {percent(row['higher'])}, equal in {percent(row['equal'])}, lower in {percent(row['lower'])}"
    alarms = "" if row["false_alarms"] is None else f" It finds a flaw in {percent(row['false_alarms'])} of the flawless texts."
    return style, f"It scores the flawless text of a minimal pair {scored} of {counted(row['n'], 'pair')}.{alarms}"


def _plot(verdicts: Sequence[Verdict], pairs: Mapping[tuple[str, str], PairRow]) -> ForestPlot:
    plot = forest(verdicts)
    by_place = {(verdict["language"], verdict["metric"]): verdict for verdict in verdicts}
    rows = tuple(
        (
            tag,
            tuple(
                _plotted(by_place[tag, metric], mark, plot.reach, pairs.get((tag, metric))) if mark else None
                for metric, mark in zip(plot.metrics, marks, strict=True)
            ),
        )
        for tag, marks in plot.rows
    )
    limits = any(mark and 'class="limit"' in mark.drawn for _, marks in rows for mark in marks)
    below = any(mark and mark.pairs for _, marks in rows for mark in marks)
    return ForestPlot(plot.axis, difference(plot.reach), limits, below, tuple(map(metric_title, plot.metrics)), rows)


def _plotted(verdict: Verdict, mark: ForestMark, reach: float, pairs: PairRow | None) -> PlottedVerdict:
    words = f"{place_of(verdict)}: {verdict.answer}, {difference(mark.value)}"
    tick = None if mark.margin is None else _limit(verdict)
    if tick is not None:
        words += "; with so few texts not even a judge that agrees just as people do would be shown"
    drawn = gap_track(mark.value, mark.bound, mark.margin, reach, mark.style, words, tick)
    below = _plotted_pairs(verdict, pairs) if pairs and pairs["sensitivity"] is not None else None
    return PlottedVerdict(drawn, difference(mark.value), SIGNS[mark.style], _reason(verdict), mark.style, texts_of(verdict), below)


def _plotted_pairs(verdict: Verdict, row: PairRow) -> PlottedPairs:
    """Sensitivity on a line from 0 to 1 with ½ in its middle."""
    value, interval = row["sensitivity"], row["sensitivity_ci"]
    higher, equal, lower = (round(row[name] * row["n"]) for name in ("higher", "equal", "lower"))
    alarms = "" if row["false_alarms"] is None else f"; {round(row['false_alarms'] * row['n_flawless'])}/{row['n_flawless']} false alarms"
    title = (
        f"{place_of(verdict)}: minimal pairs, sensitivity {coefficient(value, interval)}; the flawless text is scored higher in {higher}, "
        f"equal in {equal}, lower in {lower} of {row['n']}{alarms}"
    )
    from_middle = interval and (interval[0] - 0.5, interval[1] - 0.5)
    drawn = difference_track(value - 0.5, from_middle, 0.5, title)
    return PlottedPairs(drawn, coefficient(value), f"pairs: {higher}/{row['n']} found{alarms}", title, texts_of(verdict))


def _limit(verdict: Verdict) -> float | None:
    """The bound of a judge that agrees just as people do, where it lies below the margin: so few texts show nothing."""
    bound = verdict.perfect_bound
    return bound if bound is not None and bound <= -verdict.margin and style_of(verdict) == "open" else None


def _reason(verdict: Verdict) -> str:
    """The verdict, and why a judge must not be used although it is not worse than people."""
    why = next((words for name, words in _AGAINST.items() if name in verdict.obstacles), "") if style_of(verdict) == "bad" else ""
    return f"{verdict.answer}: {why}" if why and "worse" not in verdict.obstacles else verdict.answer
