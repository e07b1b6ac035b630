"""The first screen of a page: the question, the answer in words, the next steps, and a plot of all languages and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.judges import traits_of
from harness.measure.options import POOLED
from harness.render.forest import ForestMark, forest
from harness.render.html.marks import difference_track, gap_track
from harness.render.html.verdict_matrix import VerdictMatrix, sides_are, verdict_matrix
from harness.render.sides import SIDE_KEYS, Side
from harness.render.verdicts import SIGNS, short_names, side_of_verdict, sides_of_verdicts, style_of
from harness.reports.tables.numbers import coefficient, counted, difference, percent
from harness.reports.tables.titles import metric_title, metric_words
from harness.reports.tables.verdict_columns import labels_needed_text

_GROUPS = {
    "use": "Use it in",
    "use corrected": "Use it with corrected means only in",
    "do not use": "Do not use it in",
    "passes the controls": "It passes the controls in",
    "fails the controls": "It fails the controls in",
}
_MANY = {
    "use": "may be used",
    "use corrected": "may be used with corrected means only",
    "do not use": "must not be used",
    "passes the controls": "pass the controls",
    "fails the controls": "fail the controls",
}
_AGAINST = {"base_worse": "below the baseline", "constant": "one class for all", "failures": "unreadable"}
_EXPORT = "harness labels export"
_MOST_STEPS = 3
_FEW_METRICS = 2  # of a language that are named in a sentence
_FEW_NAMES = 3  # of judges and conditions that have a sentence each
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
class NextStep:
    """One thing to do: a sentence, and its command, or the judgments that a click on it shows."""

    text: str
    command: str = ""
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
    """The question that a page answers, the answer, and the facts that it rests on.

    One judge under one condition has one answer. Of several there is an overview: sentences and steps for all of them, and their
    verdicts by language; then `answers` are folded beneath.
    """

    question: str
    sentences: tuple[tuple[str, str], ...]
    steps: tuple[NextStep, ...]
    overview: VerdictMatrix | None
    answers: tuple[JudgeAnswer, ...]
    facts: str


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
    question, facts = _question(sides), _facts(sides[0], annotators, date)
    names = short_names(sides) if len(sides) > 1 else [""]
    answers = tuple(_answer(own, name, _of_side(pairs, own[0])) for own, name in zip(sides, names, strict=True))
    beside = (("open", two_people),) if two_people else ()
    if len(sides) == 1:
        return FirstScreen(question, (*answers[0].sentences, *beside), answers[0].steps, None, answers, facts)
    named = {side_of_verdict(own[0]): name for name, own in zip(names, sides, strict=True)}
    steps = tuple(_steps([verdict for own in sides for verdict in own], named))[:_MOST_STEPS]
    return FirstScreen(question, (*_overview(sides, names), *beside), steps, verdict_matrix(sides, names), answers, facts)


def _question(sides: Sequence[Sequence[Verdict]]) -> str:
    judges = list(dict.fromkeys(str(own[0]["judge"]) for own in sides))
    who = judges[0] if len(judges) == 1 else f"{len(judges)} judges"
    if sides[0][0].controls:
        return f"Can {who} pass the controls?"
    return f"Can {who} score like {_annotators([verdict for own in sides for verdict in own])}?"


def _annotators(verdicts: Sequence[Verdict]) -> str:
    """Who gave the labels: native speakers only where all of the labels are theirs."""
    return "native speakers" if all(verdict.labels == "native" for verdict in verdicts) else "people"


def _facts(verdicts: Sequence[Verdict], annotators: int, date: str) -> str:
    kind = "constructed labels" if verdicts[0].controls else f"labels of {_annotators(verdicts)}"
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
    return {(row["language"], row["metric"]): row for row in pairs if tuple(row.get(name) for name in SIDE_KEYS) == side}


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
    if _nobody_to_compare(verdicts):
        yield "open", "It cannot be compared with people: no text has a second annotator."
    elif len(left) == len(verdicts):
        yield "open", f"In no language is it shown {_goal(verdicts[0])}, and in none to be worse."
    elif left:
        yield "open", f"Nothing is shown {_unclear_places(left, verdicts)}."


def _overview(sides: Sequence[Sequence[Verdict]], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Sentences about several judges or conditions: each by its name, or their number where they are many."""
    every = [verdict for own in sides for verdict in own]
    for answer, words in _GROUPS.items():
        found = [(name, [verdict for verdict in own if verdict.answer == answer], own) for name, own in zip(names, sides, strict=True)]
        found = [each for each in found if each[1]]
        if len(found) > _FEW_NAMES:
            style = style_of(found[0][1][0])
            yield style, f"{len(found)} of {len(sides)} {sides_are(sides)}s {_MANY[answer]} in one language or more."
        else:
            for name, own, whole in found:
                yield style_of(own[0]), f"{name}: {words[:1].lower()}{words[1:]} {_places(own, whole)}."
    if _nobody_to_compare(every):
        yield "open", f"None of these {sides_are(sides)}s can be compared with people: no text has a second annotator."
    elif all(verdict.answer not in _GROUPS for verdict in every):
        yield "open", f"In no language is any of them shown {_goal(every[0])}, and in none to be worse."
    elif any(verdict.answer not in _GROUPS for verdict in every):
        yield "open", "Nothing else is shown."


def _nobody_to_compare(verdicts: Sequence[Verdict]) -> bool:
    return all("annotators" in verdict.obstacles for verdict in verdicts)


def _goal(verdict: Verdict) -> str:
    return "to pass the controls" if verdict.controls else "to be as good as people"


def _unclear_places(left: Sequence[Verdict], every: Sequence[Verdict]) -> str:
    """`in Odia and Tamil, nor on other metrics of the languages above`: by name where nothing at all is shown of a language."""
    above = {verdict["language"] for verdict in every if verdict.answer in _GROUPS}
    tags = dict.fromkeys(verdict["language"] for verdict in left if verdict["language"] not in above)
    others = any(verdict["language"] in above for verdict in left)
    if not tags:
        return "on the other metrics of these languages"
    named = f"in {_joined([english_name(tag) for tag in tags])}"
    return f"{named}, nor on the other metrics of the languages above" if others else named


def _places(own: Sequence[Verdict], every: Sequence[Verdict]) -> str:
    """`Telugu (hallucinations, task quality) and Hindi`: no metrics where all have the verdict, a number for many."""
    texts = []
    for language in dict.fromkeys(verdict["language"] for verdict in own):
        here = [verdict for verdict in own if verdict["language"] == language]
        of_all = sum(verdict["language"] == language for verdict in every)
        named = ", ".join(metric_words(verdict["metric"]) for verdict in here)
        metrics = "" if len(here) == of_all else f" ({named})" if len(here) <= _FEW_METRICS else f" ({len(here)} of {of_all} metrics)"
        texts.append(f"{english_name(language)}{metrics}")
    return _joined(texts)


def _joined(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _steps(verdicts: Sequence[Verdict], names: Mapping[Side, str] = {}) -> Iterator[NextStep]:
    """What to do next; `names` has those of the sides where there are several."""
    if verdicts[0].controls:
        yield NextStep("compare with native speakers' labels", "harness labels import --help")
    elif _nobody_to_compare(verdicts):
        yield NextStep("let a second person label some of the texts", _EXPORT)
    needed = [verdict for verdict in verdicts if verdict.k is not None and not verdict.more_than_k and verdict.verdict == "too few labels"]
    for verdict in sorted(needed, key=lambda verdict: verdict.k or 0)[:1]:
        yield NextStep(f"label {labels_needed_text(verdict.flat())} more texts in {_place(verdict)}", _EXPORT)
    bad = sorted((verdict for verdict in verdicts if style_of(verdict) == "bad"), key=_gap)
    for verdict in bad[:2]:
        name = names.get(side_of_verdict(verdict))
        read = f"read judgments of {_place(verdict)} – {name}" if name else f"read its judgments of {_place(verdict)}"
        yield NextStep(read, show=_show(verdict))


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
    return PlottedVerdict(drawn, difference(mark.value), SIGNS[mark.style], _reason(verdict), mark.style, _show(verdict), below)


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
