"""The answer of boards that were asked together: by language and judge, on what people ask about, such as harm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.reports.answer.cards import copied_cards, note_cards
from harness.reports.answer.states import cause_words
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
        """Return what a metric is about; the metric itself where nothing says so."""
        return self.qualities.get(metric) or metric_words(metric)


def answer_of_boards(boards: Sequence[BoardVerdicts]) -> Answer | None:
    """Return the answer of several boards: a sentence for each language, judge and verdict. None without any score to compare."""
    verdicts = [verdict for board in boards for verdict in board.verdicts]
    judges = sorted({verdict["judge"] for verdict in verdicts} | {judge for board in boards for _, judge, _ in board.by_order})
    if not judges:
        return None
    about = {id(verdict): board.matter(verdict["metric"]) for board in boards for verdict in board.verdicts}
    sides: dict[tuple[str, str], list[Verdict]] = {}
    ordered: dict[tuple[str, str], dict[str, None]] = {}
    for verdict in verdicts:
        sides.setdefault((verdict["language"], verdict["judge"]), []).append(verdict)
    for board in boards:
        for tag, judge, metric in board.by_order:
            ordered.setdefault((tag, judge), {})[board.matter(metric)] = None
    sentences: list[Sentence] = [(card.style, card.text) for card in copied_cards(verdicts)]
    for tag, judge in sorted({*sides, *ordered}):
        head = f"{english_name(tag)}, {judge}" if len(judges) > 1 else english_name(tag)
        sentences += _language_sentences(sides.get((tag, judge), ()), head, about)
        if matters := [*ordered.get((tag, judge), ())]:
            sentences.append(("open", f"{head}: no verdict for {joined(matters)}: its scores stand beside people's by order alone."))
    sentences += [(card.style, card.text) for card in note_cards(map(str, judges))]
    return Answer(_write_title(judges, verdicts, closed=not ordered), plain_cards(sentences), _describe_error_rate(verdicts), ())


def _write_title(judges: Sequence[str], verdicts: Sequence[Verdict], *, closed: bool) -> str:
    """Return what was found of one judge, or the question that several answer; not `closed`: for other questions there is no verdict."""
    total = len(verdicts)
    if len(judges) > 1:
        return "Which judge may be used for what?"
    may = sum(verdict.answer in ("use", "use corrected", "passes the controls") for verdict in verdicts)
    against = sum(style_of(verdict) == "bad" for verdict in verdicts)
    if may:
        return f"{judges[0]} may be used for {may} of {counted(total, 'question')}"
    if not against:
        return f"It is unknown whether {judges[0]} may be used"
    return f"Do not use {judges[0]}" + ("" if against == total and closed else f" for {against} of {counted(total, 'question')}")


def _language_sentences(verdicts: Sequence[Verdict], head: str, about: Mapping[int, str]) -> Iterator[Sentence]:
    """Yield the sentences about one judge in one language on several boards: `Japanese: use it for preference.`"""
    remaining = list(verdicts)
    for answer, words in _FOR.items():
        matching = [verdict for verdict in remaining if verdict.answer == answer]
        remaining = [verdict for verdict in remaining if verdict.answer != answer]
        if matching:
            yield style_of(matching[0]), f"{head}: {words} {_name_qualities(matching, verdicts, about)}."
    by_cause: dict[str, list[Verdict]] = {}
    for verdict in remaining:
        by_cause.setdefault(cause_words(verdict), []).append(verdict)
    for cause, unknown in by_cause.items():
        yield "open", f"{head}: unknown for {_name_qualities(unknown, verdicts, about)} ({cause})."


def _name_qualities(chosen: Sequence[Verdict], verdicts: Sequence[Verdict], about: Mapping[int, str]) -> str:
    """Return `preference and harm (self harm)`: what verdicts are about, with their metrics where others have another answer."""
    texts = []
    for quality in dict.fromkeys(about[id(verdict)] for verdict in chosen):
        on_quality = [verdict for verdict in chosen if about[id(verdict)] == quality]
        of_all = sum(about[id(verdict)] == quality for verdict in verdicts)
        words = list(dict.fromkeys(metric_words(verdict["metric"]) for verdict in on_quality))
        metrics = ", ".join(words) if len(on_quality) <= _FEW_METRICS else f"{len(on_quality)} of {of_all} metrics"
        texts.append(quality if len(on_quality) == of_all or words == [quality] else f"{quality} ({metrics})")
    return joined(texts)


def _describe_error_rate(verdicts: Sequence[Verdict]) -> str:
    """Return how often `use` is wrong at most: tests are corrected together board by board, as for the board alone."""
    if not verdicts or setting(verdicts[0], "correction") != "holm" or all(verdict.controls for verdict in verdicts):
        return ""
    margin = percent(verdicts[0].margin).removesuffix("%").strip()
    chance = percent(float(setting(verdicts[0], "alpha")))
    less = f"'as good as people' allows {margin} points less"
    return f"A wrong 'use' has about a {chance} chance over the tests of a judge on one board; {less}."
