"""The first screen of a page: its title, the answer in cards, the next steps, and all verdicts, for all languages and for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.measure.options import POOLED
from harness.render.html.verdict_rows import PairRow, VerdictList, verdict_list
from harness.render.sides import side_of
from harness.render.verdicts import judged_sides
from harness.reports.answer import LabelPages, annotators_of, answer_of, side_names
from harness.reports.answer_parts import Card, NextStep, VerdictMatrix
from harness.reports.tables.numbers import counted, percent

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
    answers: tuple[JudgeAnswer, ...]
    sides_are: str
    heading: str = ""


@dataclass(frozen=True)
class FirstScreen:
    """The title of a page (what was found, or the question that its cards answer), and its views: all languages, then each of several.

    `lead` has the cards of a study, above the views, each of which then has a `heading`. `sentences` stand beneath, in all languages.
    """

    title: str
    facts: str
    views: tuple[ScreenView, ...]
    sentences: tuple[Sentence, ...] = ()
    lead: tuple[Card, ...] = ()


@dataclass(frozen=True)
class Known:
    """What a page knows beside its verdicts.

    `annotators` is the highest number of people who labelled one text on one metric (0: unknown), `date` that of the run, `pairs` are
    the rows of the minimal pairs, `two_people` says how far two people agree where second ratings show it, `pages` how people label more.
    """

    annotators: int = 0
    date: str = ""
    pairs: Sequence[PairRow] = ()
    two_people: str = ""
    pages: LabelPages = field(default_factory=LabelPages)


def first_screen(verdicts: Sequence[Verdict], known: Known = Known()) -> FirstScreen | None:
    """The first screen of a page with these verdicts; None where there are none on any judge but baselines."""
    sides = judged_sides(verdicts)
    if not sides:
        return None
    tags = list(dict.fromkeys(verdict["language"] for own in sides for verdict in own))
    views = [_view(_ALL, sides, known)]
    if len(tags) > 1:
        own = ([[verdict for verdict in side if verdict["language"] == tag] for side in sides] for tag in tags)
        views += [_view(tag, [side for side in here if side], known) for tag, here in zip(tags, own, strict=True)]
    sentences = (("open", known.two_people),) if known.two_people else ()
    return FirstScreen(views[0].title, views[0].facts, tuple(views), sentences)


def _view(tag: str, sides: Sides, known: Known) -> ScreenView:
    answer = answer_of(sides, known.pages)
    names = side_names(sides) if len(sides) > 1 else [""]
    several = len({own[0]["judge"] for own in sides}) > 1
    return ScreenView(
        tag,
        "All" if tag == _ALL else english_name(tag),
        answer.title if tag == _ALL or several else f"{english_name(tag)}: {answer.title}",
        _facts(sides, known),
        answer.cards,
        answer.sure,
        answer.steps,
        answer.matrices,
        tuple(_answer(own, name, known.pairs, POOLED if tag == _ALL else tag) for own, name in zip(sides, names, strict=True)),
        "judge" if several else "condition",
    )


def _facts(sides: Sides, known: Known) -> str:
    verdicts = sides[0]
    kind = "constructed labels" if verdicts[0].controls else f"labels of {annotators_of(verdicts)}"
    judges = len({own[0]["judge"] for own in sides})
    asked = [counted(judges, "judge") if judges > 1 else counted(len(sides), "condition")] if len(sides) > 1 else []
    tags = {verdict["language"] for verdict in verdicts}
    languages = english_name(*tags) if len(tags) == 1 else counted(len(tags), "language")
    metrics = len({verdict["metric"] for verdict in verdicts})
    counts = sorted(verdict.texts.labelled for verdict in verdicts)
    texts = f"{counts[0]:,} to {counts[-1]:,} texts" if counts[0] < counts[-1] else counted(counts[0], "text")
    facts = [kind, " × ".join([*asked, languages, counted(metrics, "metric")]), f"{texts} each"]
    if known.annotators and not verdicts[0].controls:
        facts.append(f"{'one annotator' if known.annotators == 1 else f'up to {known.annotators} annotators'} a text")
    return " · ".join([*facts, *([f"asked on {known.date}"] if known.date else [])])


def _answer(verdicts: Sequence[Verdict], name: str, pairs: Sequence[PairRow], language: str) -> JudgeAnswer:
    own = {(row["language"], row["metric"]): row for row in pairs if side_of(row) == side_of(verdicts[0].key)}
    pooled = own.get((language, POOLED))
    sentences = (_pair_sentence(pooled),) if pooled and pooled["n"] else ()
    return JudgeAnswer(name, answer_of([verdicts]).cards, sentences, verdict_list(verdicts, own))


def _pair_sentence(row: PairRow) -> Sentence:
    """What is seen of all minimal pairs, and whether the judge is shown to find flaws."""
    interval = row["sensitivity_ci"]
    style = "open" if not interval or interval[0] <= 0.5 <= interval[1] else "good" if interval[0] > 0.5 else "bad"
    scored = f"higher in {percent(row['higher'])}, equal in {percent(row['equal'])}, lower in {percent(row['lower'])}"
    alarms = "" if row["false_alarms"] is None else f" It finds a flaw in {percent(row['false_alarms'])} of the flawless texts."
    return style, f"It scores the flawless text of a minimal pair {scored} of {counted(row['n'], 'pair')}.{alarms}"
