"""The first screen of a page: its title, the answer in cards, the next steps, and all verdicts, for all languages and for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import msgspec
from markupsafe import Markup

from harness.content.tags import english_name
from harness.decide.verdict_sentences import unread_words
from harness.decide.verdicts import Verdict
from harness.measure.options import POOLED
from harness.render.html.marks import Mark, difference_track, gap_track, state_bar, track
from harness.reports.answer.build_answer import build_answer
from harness.reports.answer.judged_sides import judged_sides, side_of
from harness.reports.answer.matrix import axis_reach, beside_people, groups_of
from harness.reports.answer.next_steps import LabelPages
from harness.reports.answer.parts import (
    SIGNS,
    STYLES,
    Card,
    NextStep,
    VerdictMatrix,
    against_words,
    cause_words,
    count_questions,
    deciding,
    state_of,
    state_words,
)
from harness.reports.answer.verdict_words import (
    annotators_of,
    difference_words,
    place_of,
    shown_value,
    side_names,
    style_of,
    texts_of,
)
from harness.reports.sections.section_registry import all_sections
from harness.reports.tables.columns import metric_title, metric_words
from harness.reports.tables.numbers import coefficient, counted, difference, percent

PairRow = Mapping[str, Any]
"""A row of the section of minimal pairs."""
PairRows = Mapping[tuple[str, str], PairRow]
"""The same by language and metric (`*` where they pool)."""


@dataclass(frozen=True)
class DrawnVerdict:
    """One language and metric: its name, the figure, the number, all in words, and what a click shows; of its minimal pairs the same.

    `note` says why it has its verdict, `compared` which numbers are compared.
    """

    name: str
    drawn: Markup | None
    number: str
    title: str
    show: dict[str, Any]
    note: str = ""
    compared: str = ""
    pairs: DrawnVerdict | None = None


@dataclass(frozen=True)
class DrawnGroup:
    """Rows with one kind of verdict; `folded` where they say little."""

    heading: str
    style: str
    sign: str
    rows: tuple[DrawnVerdict, ...]
    folded: bool


@dataclass(frozen=True)
class VerdictList:
    """The groups of one judge, and what they are drawn on: `reach` to both sides of 0, `limits` and `pairs` whether any row has them."""

    axis: str
    less: str
    more: str
    reach: str
    margin: str
    limits: bool
    pairs: bool
    groups: tuple[DrawnGroup, ...]


def verdict_list(verdicts: Sequence[Verdict], pairs: PairRows = MappingProxyType({})) -> VerdictList:
    """Return the verdicts on one judge under one condition, with its minimal pairs, if there are any."""
    people = beside_people(verdicts)
    values = [value for verdict in verdicts if (value := shown_value(verdict, people)) is not None]
    reach = axis_reach(values)
    alone = len({verdict["metric"] for verdict in verdicts}) > 1 and len({verdict["language"] for verdict in verdicts}) == 1

    def drawn(verdict: Verdict) -> DrawnVerdict:
        cell_name = f"{english_name(verdict['language'])} · {metric_title(verdict['metric'])}"
        name = metric_words(verdict["metric"]) if alone else cell_name
        value, style = shown_value(verdict, people), style_of(verdict)
        texts = counted(verdict.texts.labelled, "text")
        unread = "unread" in verdict.words.obstacles
        words = f"{place_of(verdict)}: {state_words(verdict)}{'' if unread else f', {difference(value)}'}"
        track = None
        if value is not None and (verdict.agreement.gap if people else verdict.baseline.diff) is not None:
            perfect = verdict.bounds.perfect  # the bound of a judge that agrees just as people do
            shows_nothing = people and perfect is not None and perfect <= -verdict.margin and style == "open"
            tick = perfect if shows_nothing else None
            words += "; with so few texts not even a judge that agrees just as people do would be shown" if tick is not None else ""
            limits = (verdict.bounds.gap, verdict.bounds.gap_upper) if people else (verdict.bounds.base, verdict.bounds.base_upper)
            words += f"; limits {difference(limits[0])} and {difference(limits[1])}" if None not in limits else ""
            decides = style != "bad" or deciding(verdict).number == value
            track = gap_track(value, limits, verdict.margin if people else None, reach, style, words, tick, decides)
        row = pairs.get((verdict["language"], verdict["metric"]))
        below = _drawn_pairs(verdict, row) if row and row["sensitivity"] is not None else None
        agreed = verdict.agreement
        compared = agreed.judge is not None and agreed.people is not None and not verdict.controls and not unread
        shares = f"judge {percent(agreed.judge)} · people {percent(agreed.people)}" if compared else ""
        used = "above the bar" if verdict.basis == "bar" and agreed.people is None else "as good as people"
        reason = used if verdict.answer == "use" else cause_words(verdict) or state_of(verdict)
        if style == "bad" and not verdict.controls:
            against = against_words(verdict.words.obstacles, verdict.agreement.gap, verdict.baseline.diff)
            reason = against[0] if against else state_of(verdict)
        if unread:
            reason = unread_words(msgspec.structs.replace(verdict.answers, example=None))
        return DrawnVerdict(name, track, difference(value), words, texts_of(verdict), f"{reason} · {texts}", shares, below)

    grouped = list(groups_of(verdicts, people))
    groups = tuple(
        DrawnGroup(
            group.heading, group.style, SIGNS[group.style], tuple(map(drawn, group.verdicts)), group.says_little and len(grouped) > 1
        )
        for group in grouped
    )
    rows = [row for group in groups for row in group.rows]
    closeness = any(verdict.texts.closeness for verdict in verdicts)
    than = "people" if people else "a constant"
    return VerdictList(
        difference_words(people),
        f"the judge {'is less close than' if closeness else 'agrees less than'} {than}",
        "closer" if closeness else "more",
        difference(reach),
        percent(verdicts[0].margin).removesuffix("%").strip() if people else "",
        any(row.drawn is not None and 'class="limit"' in row.drawn for row in rows),
        any(row.pairs for row in rows),
        groups,
    )


def _drawn_pairs(verdict: Verdict, row: PairRow) -> DrawnVerdict:
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
    return DrawnVerdict(f"pairs: {higher}/{row['n']} found{alarms}", drawn, coefficient(value), title, texts_of(verdict))


_ALL = "all"
Sides = Sequence[Sequence[Verdict]]
Sentence = tuple[str, str]


@dataclass(frozen=True)
class JudgeAnswer:
    """One judge under one condition: its name where there are several, its cards, what else is seen, and its verdicts."""

    name: str
    cards: tuple[Card, ...]
    sentences: tuple[Sentence, ...]
    list: VerdictList


@dataclass(frozen=True)
class ScreenView:
    """The answer in all languages, or in one. `tag` is that of the language, or `all`.

    `state_bar` draws how many questions have each state, and `states` has them as `(style, state, number)`.

    One judge under one condition has its verdicts as a list. Of several there are matrices, one for each condition that can be chosen;
    then `answers` are folded beneath: one for each judge or condition, as `sides_are` says.
    """

    tag: str
    name: str
    title: str
    facts: str
    cards: tuple[Card, ...]
    sure: str
    steps: tuple[NextStep, ...]
    matrices: tuple[VerdictMatrix, ...]
    seen: tuple[str, ...]
    answers: tuple[JudgeAnswer, ...]
    sides_are: str
    state_bar: Markup
    states: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True)
class FirstScreen:
    """The title of a page, which says what was found, and its views: all languages, then each of several.

    `chart` has the numbers of a study, each with its name and its text, on one `scale`, and `measure` says what they are. `lead` has the
    study's cards. Its views are folded under a `heading` and what they show in a sentence. `sentences` stand beneath, in all languages.
    """

    title: str
    facts: str
    views: tuple[ScreenView, ...]
    sentences: tuple[Sentence, ...] = ()
    lead: tuple[Card, ...] = ()
    chart: tuple[tuple[str, Markup, str], ...] = ()
    scale: tuple[str, str, str] = ("", "", "")
    measure: str = ""
    heading: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Known:
    """Facts of a page beside its verdicts.

    `annotators` is the highest number of people who labelled one text on one metric (0: unknown), `date` that of the run, `pairs` are
    the rows of the minimal pairs, `two_people` says how far two people agree where second ratings show it, `pages` how people label more.
    """

    annotators: int = 0
    date: str = ""
    pairs: Sequence[PairRow] = ()
    two_people: str = ""
    pages: LabelPages = field(default_factory=LabelPages)


def first_screen(verdicts: Sequence[Verdict], facts: Known = Known()) -> FirstScreen | None:
    """Return the first screen of a page with these verdicts; None where there are none on any judge but baselines."""
    sides = judged_sides(verdicts)
    if not sides:
        return None
    tags = list(dict.fromkeys(verdict["language"] for verdict_side in sides for verdict in verdict_side))
    views = [_view(_ALL, sides, facts)]
    if len(tags) > 1:
        verdict_side = ([[verdict for verdict in side if verdict["language"] == tag] for side in sides] for tag in tags)
        views += [
            _view(tag, [side for side in language_sides if side], facts) for tag, language_sides in zip(tags, verdict_side, strict=True)
        ]
    sentences = (("open", facts.two_people),) if facts.two_people else ()
    return FirstScreen(views[0].title, views[0].facts, tuple(views), sentences)


def _view(tag: str, sides: Sides, facts: Known) -> ScreenView:
    answer = build_answer(sides, facts.pages)
    names = side_names(sides) if len(sides) > 1 else [""]
    verdicts = sides[0]
    judges = len({side[0]["judge"] for side in sides})
    several = judges > 1
    judge_count = [counted(judges, "judge") if several else counted(len(sides), "condition")] if len(sides) > 1 else []
    tags = {verdict["language"] for verdict in verdicts}
    languages = english_name(*tags) if len(tags) == 1 else counted(len(tags), "language")
    metrics = len({verdict["metric"] for verdict in verdicts})
    labelled = sorted(verdict.texts.labelled for verdict in verdicts)
    texts = f"{labelled[0]:,} to {labelled[-1]:,} texts" if labelled[0] < labelled[-1] else counted(labelled[0], "text")
    described = ["constructed labels" if verdicts[0].controls else f"labels of {annotators_of(verdicts)}"]
    described += [" × ".join([*judge_count, languages, counted(metrics, "metric")]), f"{texts} each"]
    if facts.annotators and not verdicts[0].controls:
        described.append(f"{'one annotator' if facts.annotators == 1 else f'up to {facts.annotators} annotators'} a text")
    described += [f"asked on {facts.date}"] if facts.date else []
    counts = count_questions(verdict for side in sides for verdict in side)
    return ScreenView(
        tag,
        "All" if tag == _ALL else english_name(tag),
        answer.title,
        " · ".join(described),
        answer.cards,
        answer.sure,
        answer.steps,
        answer.matrices,
        answer.seen,
        tuple(_answer(side, name, facts.pairs, POOLED if tag == _ALL else tag) for side, name in zip(sides, names, strict=True)),
        "judge" if several else "condition",
        state_bar(counts),
        tuple((STYLES[state], state, count) for state, count in counts.items()),
    )


def _answer(verdicts: Sequence[Verdict], name: str, pairs: Sequence[PairRow], language: str) -> JudgeAnswer:
    pairs_by_cell = {(row["language"], row["metric"]): row for row in pairs if side_of(row) == side_of(verdicts[0].key)}
    pooled = pairs_by_cell.get((language, POOLED))
    sentences: list[Sentence] = []
    if pooled and pooled["n"]:  # what is seen of all minimal pairs, and whether the judge is shown to find flaws
        interval = pooled["sensitivity_ci"]
        style = "open" if not interval or interval[0] <= 0.5 <= interval[1] else "good" if interval[0] > 0.5 else "bad"
        scored = f"higher in {percent(pooled['higher'])}, equal in {percent(pooled['equal'])}, lower in {percent(pooled['lower'])}"
        text = f"It scores the flawless text of a minimal pair {scored} of {counted(pooled['n'], 'pair')}."
        if pooled["false_alarms"] is not None:
            text += f" It finds a flaw in {percent(pooled['false_alarms'])} of the flawless texts."
        sentences.append((style, text))
    return JudgeAnswer(name, build_answer([verdicts]).cards, tuple(sentences), verdict_list(verdicts, pairs_by_cell))


def study_screen(screen: FirstScreen | None, sections: Mapping[str, Mapping[str, Any]]) -> FirstScreen | None:
    """Return the first screen with the answer of a report's section that has one; else `screen` as it is."""
    for section in all_sections():
        if section.opening and (opening := section.opening(sections.get(section.name, {}))):
            title, facts, lead, below, numbers, measure = opening
            chart = []
            for number in numbers:  # each on its scale
                low, high = number.ends
                value, *ends = ((end - low) / (high - low) for end in (number.value, *(number.interval or ())))
                mark = Mark("judge", value, (ends[0], ends[1]) if ends else None)
                chart.append((number.name, track([mark], f"{number.name}: {number.text}"), number.text))
            scale = numbers[0].scale if numbers else ("", "", "")
            own = FirstScreen(title, facts, (), lead=lead, chart=tuple(chart), scale=scale, measure=measure)
            if screen is None:
                return own
            views = tuple(replace(view, title=title, facts=facts) for view in screen.views)
            return replace(own, views=views, sentences=screen.sentences, heading=(below, screen.title))
    return screen
