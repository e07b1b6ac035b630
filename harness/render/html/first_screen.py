"""The first screen of a page: the question, the answer in words, what to do next, and a plot of all languages and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from harness.analyse import POOLED
from harness.content.tags import english_name
from harness.decide import Verdict
from harness.judges import traits_of
from harness.render.forest import ForestMark, forest
from harness.render.html.marks import difference_track, gap_track
from harness.render.numbers import coefficient, counted, difference, percent
from harness.render.titles import metric_title, metric_words
from harness.render.verdict_columns import labels_needed_text
from harness.render.verdicts import side_text, sides_of_verdicts, style_of

_GROUPS = {
    "use": "Use it in",
    "use corrected": "Use it with corrected means only in",
    "do not use": "Do not use it in",
    "passes the controls": "It passes the controls in",
    "fails the controls": "It fails the controls in",
}
_AGAINST = {"base_worse": "below the baseline", "constant": "one class for all", "failures": "unreadable"}
_MOST_STEPS = 3
_SIDE = ("judge", "variant", "temperature", "top_p")
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
    """One language and metric: the figure, the number, the verdict in words, and what a click shows."""

    drawn: Markup
    number: str
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
class NextStep:
    """One thing to do: a sentence, and the judgments that a click on it shows, if any."""

    text: str
    show: dict[str, Any] | None = None


@dataclass(frozen=True)
class JudgeAnswer:
    """One judge under one condition: its name where there are several, `(style, sentence)`, what to do next, and the plot."""

    name: str
    sentences: tuple[tuple[str, str], ...]
    steps: tuple[NextStep, ...]
    plot: ForestPlot


@dataclass(frozen=True)
class FirstScreen:
    """The question that a page answers, the answers judge by judge, and the facts that they rest on."""

    question: str
    answers: tuple[JudgeAnswer, ...]
    facts: str


def first_screen(verdicts: Sequence[Verdict], annotators: int = 0, date: str = "", pairs: Sequence[PairRow] = ()) -> FirstScreen | None:
    """The first screen of a page with these verdicts; None where there are none on any judge but baselines.

    `annotators` is the highest number of people who labelled one text on one metric (0: unknown), `date` that of the run, `pairs`
    are the rows of its minimal pairs.
    """
    sides = [own for own in sides_of_verdicts(verdicts) if not traits_of(str(own[0]["judge"])).is_baseline]
    if not sides:
        return None
    answers = tuple(_answer(own, side_text(own[0]) if len(sides) > 1 else "", _of_side(pairs, own[0])) for own in sides)
    return FirstScreen(_question(sides), answers, _facts(sides[0], annotators, date))


def _question(sides: Sequence[Sequence[Verdict]]) -> str:
    judges = list(dict.fromkeys(str(own[0]["judge"]) for own in sides))
    who = judges[0] if len(judges) == 1 else f"{len(judges)} judges"
    return f"Can {who} pass the controls?" if sides[0][0].controls else f"Can {who} score like native speakers?"


def _facts(verdicts: Sequence[Verdict], annotators: int, date: str) -> str:
    kind = "constructed labels" if verdicts[0].controls else "native speakers' labels"
    languages = len({verdict["language"] for verdict in verdicts})
    metrics = len({verdict["metric"] for verdict in verdicts})
    counts = sorted(verdict.n_labelled for verdict in verdicts)
    texts = f"{counts[0]:,} to {counts[-1]:,}" if counts[0] < counts[-1] else f"{counts[0]:,}"
    facts = [kind, f"{_counted(languages, 'language')} × {_counted(metrics, 'metric')}", f"{texts} texts each"]
    if annotators and not verdicts[0].controls:
        facts.append(f"{'one annotator' if annotators == 1 else f'up to {annotators} annotators'} a text")
    return " · ".join([*facts, *([f"asked on {date}"] if date else [])])


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _of_side(pairs: Sequence[PairRow], verdict: Verdict) -> dict[tuple[str, str], PairRow]:
    """The minimal pairs of a verdict's judge and condition, by language and metric (`*` where they pool)."""
    side = [verdict.key.get(name) for name in _SIDE]
    return {(row["language"], row["metric"]): row for row in pairs if [row[name] for name in _SIDE] == side}


def _answer(verdicts: Sequence[Verdict], name: str, pairs: Mapping[tuple[str, str], PairRow]) -> JudgeAnswer:
    pooled = pairs.get((POOLED, POOLED))
    sentences = (*_sentences(verdicts), *([_pair_sentence(pooled)] if pooled and pooled["n"] else []))
    return JudgeAnswer(name, sentences, tuple(_steps(verdicts))[:_MOST_STEPS], _plot(verdicts, pairs))


def _pair_sentence(row: PairRow) -> tuple[str, str]:
    """What is seen of all minimal pairs, and whether the judge is shown to find flaws."""
    interval = row["sensitivity_ci"]
    style = "open" if not interval or interval[0] <= 0.5 <= interval[1] else "good" if interval[0] > 0.5 else "bad"
    scored = f"higher in {percent(row['higher'])}, equal in {percent(row['equal'])}, lower in {percent(row['lower'])}"
    alarms = "" if row["false_alarms"] is None else f" It finds a flaw in {percent(row['false_alarms'])} of the flawless texts."
    return style, f"It scores the flawless text of a minimal pair {scored} of {counted(row['n'], 'pair')}.{alarms}"


def _sentences(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, str]]:
    for answer, words in _GROUPS.items():
        own = [verdict for verdict in verdicts if verdict.answer == answer]
        if own:
            yield style_of(own[0]), f"{words} {_places(own, verdicts)}."
    left = [verdict for verdict in verdicts if verdict.answer not in _GROUPS]
    if all("annotators" in verdict.obstacles for verdict in verdicts):
        yield "open", "It cannot be compared with people: no text has a second annotator."
    elif len(left) == len(verdicts):
        shown = "to pass the controls" if verdicts[0].controls else "to be as good as people"
        yield "open", f"In no language is it shown {shown}, and in none to be worse."
    elif left:
        yield "open", f"Elsewhere nothing is shown: {len(left)} of {len(verdicts)} language–metric pairs."


def _places(own: Sequence[Verdict], every: Sequence[Verdict]) -> str:
    """`Telugu (hallucinations, task quality) and Hindi`: a language alone where all its metrics have the verdict."""
    texts = []
    for language in dict.fromkeys(verdict["language"] for verdict in own):
        here = [verdict for verdict in own if verdict["language"] == language]
        whole = len(here) == sum(verdict["language"] == language for verdict in every)
        metrics = "" if whole else f" ({', '.join(metric_words(verdict['metric']) for verdict in here)})"
        texts.append(f"{english_name(language)}{metrics}")
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _steps(verdicts: Sequence[Verdict]) -> Iterator[NextStep]:
    if verdicts[0].controls:
        yield NextStep("compare it with native speakers' labels: harness list datasets, harness labels import")
    elif all("annotators" in verdict.obstacles for verdict in verdicts):
        yield NextStep("let a second person label some of the texts: harness labels export")
    needed = [verdict for verdict in verdicts if verdict.k is not None and not verdict.more_than_k and verdict.verdict == "too few labels"]
    for verdict in sorted(needed, key=lambda verdict: verdict.k or 0)[:1]:
        yield NextStep(f"label {labels_needed_text(verdict.flat())} more texts in {_place(verdict)}: harness labels export")
    bad = sorted((verdict for verdict in verdicts if style_of(verdict) == "bad"), key=_gap)
    for verdict in bad[:2]:
        yield NextStep(f"read its judgments of {_place(verdict)}", _show(verdict))


def _place(verdict: Verdict) -> str:
    return f"{english_name(verdict['language'])} ({metric_words(verdict['metric'])})"


def _show(verdict: Verdict) -> dict[str, Any]:
    """The filters that show the texts of a verdict: those with two annotators, or those with a label where it is about controls."""
    texts = {"compared": True} if verdict.controls else {"annotators": "two or more"}
    return {name: value for name, value in verdict.key.items() if value is not None} | texts


def _gap(verdict: Verdict) -> float:
    """Judge minus people, or minus a constant with constructed labels; 0 where it is undefined."""
    return (verdict.base_diff if verdict.controls else verdict.gap) or 0.0


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
    words = f"{_place(verdict)}: {verdict.answer}, {difference(mark.value)}"
    tick = None if mark.margin is None else _limit(verdict)
    if tick is not None:
        words += "; with so few texts not even a judge that agrees just as people do would be shown"
    drawn = gap_track(mark.value, mark.bound, mark.margin, reach, mark.style, words, tick)
    below = _plotted_pairs(verdict, pairs) if pairs and pairs["sensitivity"] is not None else None
    return PlottedVerdict(drawn, difference(mark.value), _reason(verdict), mark.style, _show(verdict), below)


def _plotted_pairs(verdict: Verdict, row: PairRow) -> PlottedPairs:
    """Sensitivity on a line from 0 to 1 with ½ in its middle."""
    value, interval = row["sensitivity"], row["sensitivity_ci"]
    higher, equal, lower = (round(row[name] * row["n"]) for name in ("higher", "equal", "lower"))
    alarms = "" if row["false_alarms"] is None else f"; {round(row['false_alarms'] * row['n_flawless'])}/{row['n_flawless']} false alarms"
    title = (
        f"{_place(verdict)}: minimal pairs, sensitivity {coefficient(value, interval)}; the flawless text is scored higher in {higher}, "
        f"equal in {equal}, lower in {lower} of {row['n']}{alarms}"
    )
    from_middle = interval and (interval[0] - 0.5, interval[1] - 0.5)
    drawn = difference_track(value - 0.5, from_middle, 0.5, title)
    return PlottedPairs(drawn, coefficient(value), f"pairs: {higher}/{row['n']} found{alarms}", title, _show(verdict))


def _limit(verdict: Verdict) -> float | None:
    """The bound of a judge that agrees just as people do, where it lies below the margin: so few texts show nothing."""
    bound = verdict.perfect_bound
    return bound if bound is not None and bound <= -verdict.margin and style_of(verdict) == "open" else None


def _reason(verdict: Verdict) -> str:
    """The verdict, and why a judge must not be used although it is not worse than people."""
    why = next((words for name, words in _AGAINST.items() if name in verdict.obstacles), "") if style_of(verdict) == "bad" else ""
    return f"{verdict.answer}: {why}" if why and "worse" not in verdict.obstacles else verdict.answer
