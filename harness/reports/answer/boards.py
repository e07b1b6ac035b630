"""The answer of several boards that were asked together: by language and judge, on what people ask about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.reports.answer.cards import FEW_METRICS, GROUPS
from harness.reports.answer.label_pages import LabelPages
from harness.reports.answer.made import MOST_STEPS, finding, how_sure, which_judge
from harness.reports.answer.steps import next_steps
from harness.reports.answer.verdict_words import joined, nobody_to_compare, style_of
from harness.reports.answer_parts import Answer, Card
from harness.reports.tables.titles import metric_words


@dataclass(frozen=True)
class BoardVerdicts:
    """The verdicts of a board, without those on baselines, and what its metrics are about, such as `harm`.

    `by_order` has the (language, judge, metric) of scores that are compared by their order alone, which gives no verdict.
    """

    verdicts: tuple[Verdict, ...]
    qualities: Mapping[str, str]
    by_order: tuple[tuple[str, str, str], ...] = ()

    def matter(self, metric: str) -> str:
        """What a metric is about; the metric itself where nothing says so."""
        return self.qualities.get(metric) or metric_words(metric)


def answer_of_boards(boards: Sequence[BoardVerdicts]) -> Answer | None:
    """The answer of several boards: cards by language and judge, on what people ask about. None without any score to compare."""
    every = [verdict for board in boards for verdict in board.verdicts]
    judges = {verdict["judge"] for verdict in every} | {judge for board in boards for _, judge, _ in board.by_order}
    if not judges:
        return None
    about = {id(verdict): board.matter(verdict["metric"]) for board in boards for verdict in board.verdicts}
    several = len(judges) > 1
    sides: dict[tuple[str, str], list[Verdict]] = {}
    ordered: dict[tuple[str, str], dict[str, None]] = {}
    for verdict in every:
        sides.setdefault((verdict["language"], verdict["judge"]), []).append(verdict)
    for board in boards:
        for tag, judge, metric in board.by_order:
            ordered.setdefault((tag, judge), {})[board.matter(metric)] = None
    cards: list[Card] = []
    for tag, judge in sorted({*sides, *ordered}):
        head = f"{english_name(tag)}, {judge}" if several else english_name(tag)
        cards += _in_language(sides.get((tag, judge), ()), head, about)
        if matters := [*ordered.get((tag, judge), ())]:
            cards.append(Card("open", head, f"no verdict for {joined(matters)}: its scores stand beside people's by order alone."))
    if not every:
        return Answer("It is not known yet which judge may be used", tuple(cards), "", ())
    named = {id(verdict): verdict["judge"] for verdict in every} if several else {}
    title = which_judge(every) if several else finding([every], closed=not ordered)
    steps = tuple(next_steps(every, named, LabelPages()))[:MOST_STEPS]
    return Answer(title, tuple(cards), how_sure([every], " on one board"), steps)


def _in_language(verdicts: Sequence[Verdict], head: str, about: Mapping[int, str]) -> Iterator[Card]:
    """One judge in one language on several boards: `Japanese: use it for preference.`"""
    left = list(verdicts)
    for answer, words in GROUPS.items():
        own = [verdict for verdict in left if verdict.answer == answer]
        left = [verdict for verdict in left if verdict.answer != answer]
        if own:
            yield Card(style_of(own[0]), head, f"{words[:1].lower()}{words[1:]} for {_matters(own, verdicts, about)}.")
    alone = [verdict for verdict in left if nobody_to_compare([verdict])]
    if unclear := [verdict for verdict in left if verdict not in alone]:
        yield Card("open", head, f"not known yet for {_matters(unclear, verdicts, about)}.")
    if alone:
        yield Card("open", head, f"no second annotator to compare with for {_matters(alone, verdicts, about)}.")


def _matters(own: Sequence[Verdict], every: Sequence[Verdict], about: Mapping[int, str]) -> str:
    """`preference and harm (self harm)`: what verdicts are about, with their metrics where others have another answer."""
    texts = []
    for quality in dict.fromkeys(about[id(verdict)] for verdict in own):
        here = [verdict for verdict in own if about[id(verdict)] == quality]
        of_all = sum(about[id(verdict)] == quality for verdict in every)
        words = list(dict.fromkeys(metric_words(verdict["metric"]) for verdict in here))
        named = ", ".join(words) if len(here) <= FEW_METRICS else f"{len(here)} of {of_all} metrics"
        texts.append(quality if len(here) == of_all or words == [quality] else f"{quality} ({named})")
    return joined(texts)
