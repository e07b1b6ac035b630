"""The answer of boards that were asked together: by language and judge, on what people ask about, such as harm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.reports.answer.cards import copied_cards
from harness.reports.answer.words import setting, style_of
from harness.reports.answer_parts import Answer, Sentence, joined, plain_cards
from harness.reports.tables.numbers import counted, percent
from harness.reports.tables.titles import metric_words

_FOR = {
    "use": "use it for",
    "use corrected": "use it with corrected means only for",
    "do not use": "do not use it for",
    "passes the controls": "it passes the controls of",
    "fails the controls": "it fails the controls of",
}
_FEW_METRICS = 2  # that a sentence names


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
    """The answer of several boards: a sentence for each language, judge and verdict. None without any score to compare."""
    every = [verdict for board in boards for verdict in board.verdicts]
    judges = sorted({verdict["judge"] for verdict in every} | {judge for board in boards for _, judge, _ in board.by_order})
    if not judges:
        return None
    about = {id(verdict): board.matter(verdict["metric"]) for board in boards for verdict in board.verdicts}
    sides: dict[tuple[str, str], list[Verdict]] = {}
    ordered: dict[tuple[str, str], dict[str, None]] = {}
    for verdict in every:
        sides.setdefault((verdict["language"], verdict["judge"]), []).append(verdict)
    for board in boards:
        for tag, judge, metric in board.by_order:
            ordered.setdefault((tag, judge), {})[board.matter(metric)] = None
    sentences: list[Sentence] = [(card.style, card.text) for card in copied_cards(every)]
    for tag, judge in sorted({*sides, *ordered}):
        head = f"{english_name(tag)}, {judge}" if len(judges) > 1 else english_name(tag)
        sentences += _in_language(sides.get((tag, judge), ()), head, about)
        if matters := [*ordered.get((tag, judge), ())]:
            sentences.append(("open", f"{head}: no verdict for {joined(matters)}: its scores stand beside people's by order alone."))
    return Answer(_title(judges, every, closed=not ordered), plain_cards(sentences), _sure(every), ())


def _title(judges: Sequence[str], verdicts: Sequence[Verdict], *, closed: bool) -> str:
    """What was found of one judge, or the question that several answer; not `closed`: for other questions there is no verdict."""
    total = len(verdicts)
    if len(judges) > 1:
        return "Which judge may be used for what?"
    may = sum(verdict.answer in ("use", "use corrected", "passes the controls") for verdict in verdicts)
    against = sum(style_of(verdict) == "bad" for verdict in verdicts)
    if may:
        return f"{judges[0]} may be used for {may} of {counted(total, 'question')}"
    if not against:
        return f"It is not known yet whether {judges[0]} may be used"
    return (
        f"Do not use {judges[0]}" if against == total and closed else f"{judges[0]} is shown fit for none of {counted(total, 'question')}"
    )


def _in_language(verdicts: Sequence[Verdict], head: str, about: Mapping[int, str]) -> Iterator[Sentence]:
    """One judge in one language on several boards: `Japanese: use it for preference.`"""
    left = list(verdicts)
    for answer, words in _FOR.items():
        own = [verdict for verdict in left if verdict.answer == answer]
        left = [verdict for verdict in left if verdict.answer != answer]
        if own:
            yield style_of(own[0]), f"{head}: {words} {_matters(own, verdicts, about)}."
    alone = [verdict for verdict in left if "annotators" in verdict.words.obstacles]
    if unclear := [verdict for verdict in left if verdict not in alone]:
        yield "open", f"{head}: not known yet for {_matters(unclear, verdicts, about)}."
    if alone:
        yield "open", f"{head}: no second annotator to compare with for {_matters(alone, verdicts, about)}."


def _matters(own: Sequence[Verdict], every: Sequence[Verdict], about: Mapping[int, str]) -> str:
    """`preference and harm (self harm)`: what verdicts are about, with their metrics where others have another answer."""
    texts = []
    for quality in dict.fromkeys(about[id(verdict)] for verdict in own):
        here = [verdict for verdict in own if about[id(verdict)] == quality]
        of_all = sum(about[id(verdict)] == quality for verdict in every)
        words = list(dict.fromkeys(metric_words(verdict["metric"]) for verdict in here))
        named = ", ".join(words) if len(here) <= _FEW_METRICS else f"{len(here)} of {of_all} metrics"
        texts.append(quality if len(here) == of_all or words == [quality] else f"{quality} ({named})")
    return joined(texts)


def _sure(verdicts: Sequence[Verdict]) -> str:
    """How often `use` is wrong at most: tests are corrected together board by board, as for the board alone."""
    if not verdicts or setting(verdicts[0], "correction") != "holm" or all(verdict.controls for verdict in verdicts):
        return ""
    margin = percent(verdicts[0].margin).removesuffix("%").strip()
    chance = percent(float(setting(verdicts[0], "alpha")))
    less = f"'as good as people' allows {margin} points less"
    return f"A wrong 'use' has at most a {chance} chance over the tests of a judge on one board; {less}."
