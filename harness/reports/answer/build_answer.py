"""The answer that verdicts give, made once for every page and screen: a title, cards, how sure they are, and what to do next.

Boards that were asked together have one answer: by language and judge, on what people ask about, such as harm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.content.tags import english_name
from harness.decide.class_shares import words_of_bar
from harness.decide.verdict_sentences import unread_words
from harness.decide.verdicts import Verdict
from harness.measure.item_table import total_answers
from harness.reports.answer.cards import best_judges, cards_of_one, cards_of_several, copied_cards, missing_cards, note_cards
from harness.reports.answer.matrix import verdict_matrices
from harness.reports.answer.next_steps import LabelPages, next_steps
from harness.reports.answer.parts import Answer, Card, Sentence, cause_words, joined, plain_cards
from harness.reports.answer.verdict_words import (
    Sides,
    bar_words,
    judge_of,
    maybe_copies,
    nobody_to_compare,
    seen_agreement,
    setting,
    side_names,
    style_of,
)
from harness.reports.tables.columns import metric_words
from harness.reports.tables.numbers import counted, percent

ONLY_BASELINES = "Only baselines were asked; an answer needs a judge"
_MAY = {"use": "may be used", "use corrected": "may be used with corrected means only", "passes the controls": "passes the controls"}
_OPENINGS = ("Do not use ", "It is unknown ", "No judge ", "One of ", "Use no judge ")  # of titles that begin with no judge's name
_MOST_STEPS = 3
_MOST_NAMES = 2  # of judges that a title names
_HOWEVER = ", however it is asked"


def _with_missing(verdicts: Sequence[Verdict], cards: Iterable[Card]) -> tuple[Card, ...]:
    """Return the cards with what agreement does not show: copied labels, and classes that are missed, in the card of what not to use."""
    listed, missing = list(cards), list(missing_cards(verdicts))
    notes = note_cards(str(verdict["judge"]) for verdict in verdicts)
    position = next((number for number, card in enumerate(listed) if card.style == "bad"), None)
    if position is None or len(missing) != 1:
        return (*listed, *missing, *copied_cards(verdicts), *notes)
    [missed] = missing
    card = listed[position]
    note = card.note if len(verdicts) == 1 and verdicts[0].basis == "bar" else f"{card.note} {missed.note}".strip()  # which has the shares
    listed[position] = replace(card, text=f"{card.text} {missed.text}", note=note)
    return (*listed, *copied_cards(verdicts), *notes)


def build_answer(sides: Sides, pages: LabelPages = LabelPages()) -> Answer:
    """Return the answer of verdicts by judge and condition, baselines left out; `pages` says how people label more of the data.

    Raises ValueError without any verdict.
    """
    verdicts = [verdict for side in sides for verdict in side]
    if not verdicts:
        raise ValueError("an answer needs at least one verdict")
    several = len({judge_of(verdict) for verdict in verdicts}) > 1
    if len(sides) == 1:
        steps = tuple(next_steps(verdicts, {}, pages))[:_MOST_STEPS]
        cards = _with_missing(verdicts, cards_of_one(verdicts))
        copied = any(verdict.copied and not verdict.copied.nearly for verdict in verdicts)  # agreement with what was copied shows nothing
        seen = () if copied else tuple(seen_agreement(verdicts))
        return Answer(_with_language(_title_of_one_judge(sides), verdicts), cards, _describe_error_rate(sides), steps, seen=seen)
    names = side_names(sides)
    names_by_id = {id(verdict): name for name, side in zip(names, sides, strict=True) for verdict in side}
    judges = names_by_id if several else {identity: f"{verdicts[0]['judge']} ({name})" for identity, name in names_by_id.items()}
    steps = tuple(next_steps(verdicts, names_by_id, pages))[:_MOST_STEPS]
    title = _with_language(_title_of_several_judges(sides) if several else _title_of_one_judge(sides), verdicts)
    broken = [words for side in sides if (words := unread_title(side))]
    if several and 0 < len(broken) < len(sides):
        title = ". ".join((*broken, title))
    return Answer(
        title,
        _with_missing(verdicts, cards_of_several(sides, judges)),
        _describe_error_rate(sides),
        steps,
        tuple(verdict_matrices(sides)),
    )


def _title_of_one_judge(sides: Sides) -> str:
    """Return the title of one judge: for how many questions it may be used (under any condition), or that nothing is known."""
    verdicts = [verdict for side in sides for verdict in side]
    judge, several_conditions = verdicts[0]["judge"], len(sides) > 1
    by_question: dict[object, list[Verdict]] = {}
    for verdict in verdicts:
        by_question.setdefault((verdict["language"], verdict["metric"]) if several_conditions else id(verdict), []).append(verdict)
    total = len(by_question)
    if unread := unread_title(verdicts):
        return unread
    if maybe_copies(verdicts):
        return f"It is unknown whether {judge} may be used: its scores may be copies of the labels"
    if nobody_to_compare(verdicts):
        return f"It is unknown whether {judge} may be used: each text has one score"
    against = sum(all(style_of(verdict) == "bad" for verdict in question_verdicts) for question_verdicts in by_question.values())
    for answer, words in _MAY.items():
        if count := sum(any(verdict.answer == answer for verdict in question_verdicts) for question_verdicts in by_question.values()):
            but = f", not for {against}" if against and count < total else ""
            open_count = total - count - against
            unknown = (
                f"{';' if but else ','} {open_count} {'is' if open_count == 1 else 'are'} unknown" if open_count and len(sides) == 1 else ""
            )
            condition = " under one condition or more" if several_conditions else ""
            return f"{judge} {words} for {_question_words(count, total)}{condition}{but}{unknown}"
    however = _HOWEVER if several_conditions else ""
    if not against:
        return f"It is unknown whether {judge} {'passes the controls' if verdicts[0].controls else 'may be used'}{however}"
    if verdicts[0].controls:
        return f"{judge} fails the controls for {_question_words(against, total)}{however}"
    some = f" for {against} of {total} questions; {total - against} {'is' if total - against == 1 else 'are'} unknown"
    return f"Do not use {judge}{'' if against == total else some}{however}"


def _title_of_several_judges(sides: Sides) -> str:
    """Return the title of several judges: for how many questions which of them may be used, for how many none may, or that none may yet."""
    verdicts = [verdict for side in sides for verdict in side]
    if unread := unread_title(verdicts):
        return unread
    if nobody_to_compare(verdicts):
        return "It is unknown which judge may be used: each text has one score"
    by_question: dict[object, list[Verdict]] = {}
    for verdict in verdicts:
        by_question.setdefault((verdict["language"], verdict["metric"]), []).append(verdict)
    return _describe_questions(
        list(by_question.values()), lambda answer: [verdict["judge"] for verdict in best_judges(answer, sides).values()]
    )


def _describe_questions(questions: Sequence[Sequence[Verdict]], judges_with: Callable[[str], Iterable[object]]) -> str:
    """Return for how many questions some judge may be used, named by `judges_with` of an answer, and for how many none may."""
    total = len(questions)
    against = sum(all(style_of(verdict) == "bad" for verdict in question) for question in questions)
    for answer, words in _MAY.items():
        if count := sum(any(verdict.answer == answer for verdict in question) for question in questions):
            names = list(dict.fromkeys(map(str, judges_with(answer))))
            who = f"One of {len(names)} judges" if len(names) > _MOST_NAMES else " or ".join(names)
            open_count = total - count - against
            none = f", no judge for {against}" if against else ""
            unknown = f"; {open_count} {'is' if open_count == 1 else 'are'} unknown" if open_count else ""
            return f"{who} {words} for {_question_words(count, total)}{none}{unknown}"
    verb = "passes the controls" if questions[0][0].controls else "may be used"
    if against == total:
        return f"No judge {verb}"
    if not against:
        return f"It is unknown whether a judge {verb}"
    open_count = total - against
    none = "No judge passes the controls" if questions[0][0].controls else "Use no judge"
    return f"{none} for {against} of {total} questions; {open_count} {'is' if open_count == 1 else 'are'} unknown"


def _question_words(count: int, total: int) -> str:
    if count < total:
        return f"{count} of {total} questions"
    return "the only question" if total == 1 else f"all {total} questions"


def _with_language(title: str, verdicts: Sequence[Verdict]) -> str:
    """Return a title that begins with the language where all verdicts are in one: `Japanese: do not use gpt-4o`."""
    tags = {verdict["language"] for verdict in verdicts}
    if len(tags) > 1 or unread_title(verdicts):
        return title
    first = title[0].lower() if title.startswith(_OPENINGS) else title[0]  # the name of a judge stays as it is written
    return f"{english_name(tags.pop())}: {first}{title[1:]}"


def unread_title(verdicts: Sequence[Verdict]) -> str:
    """Return the title where no verdict rests on answers that could be read, with an answer as it was written; else an empty text."""
    if not all("unread" in verdict.words.obstacles for verdict in verdicts):
        return ""
    answers = total_answers(verdict.answers for verdict in verdicts)
    words = unread_words(answers)
    judges = list(dict.fromkeys(verdict["judge"] for verdict in verdicts))
    return f"{words[0].upper()}{words[1:]}: nothing is known of {judges[0] if len(judges) == 1 else counted(len(judges), 'judge')}"


def _describe_error_rate(sides: Sides) -> str:
    """Return how often `use` is wrong at most, over the tests that are corrected together, and what "as good as people" means."""
    verdicts = [verdict for side in sides for verdict in side]
    if all(verdict.controls for verdict in verdicts) or nobody_to_compare(verdicts) or unread_title(verdicts) or maybe_copies(verdicts):
        return ""
    tests = max(verdict.corrected.family for verdict in verdicts)
    margin = percent(verdicts[0].margin).removesuffix("%").strip()
    if all(verdict.basis == "bar" for verdict in verdicts):
        means = (
            f"The bar ({bar_words(verdicts)}; --bar N sets another one) stands for people's agreement, which one person a text cannot show."
        )
    elif any(verdict.basis == "bar" for verdict in verdicts):
        means = f"The bar where one person labelled each text: {bar_words(verdicts)}."
    else:
        means = f"'As good as people' means: at most {margin} points less agreement with people than they have with each other."
        if barred := next((verdict for verdict in verdicts if any(share.bar is not None for share in verdict.shares)), None):
            means += f" --bar asks in addition that the judge finds {words_of_bar(barred.shares)}."
    if setting(verdicts[0], "correction") != "holm" or not tests:
        return means
    chance = percent(float(setting(verdicts[0], "alpha")))
    groups = any(verdict.basis == "bar" and verdict.texts.groups < verdict.texts.labelled for verdict in verdicts)
    more = " (more with few large groups of texts: docs/error-rates.md)" if groups else ""
    # what is corrected together, and how much of it is shown
    visible, unit = max(map(len, sides)), "each judge"
    if len({judge_of(verdict) for verdict in verdicts}) < len(sides):
        unit = "each judge and condition"
    part = f" in all languages, of which {visible} are shown" if visible < tests else ""
    if setting(verdicts[0], "family") == "all":
        family = f"over the {tests} tests of all judges"
    elif len(sides) == 1:
        family = "in this test" if tests == 1 else f"over {'all' if part else 'these'} {tests} tests{part}"
    else:
        family = f"in the test of {unit}" if tests == 1 else f"over the {tests} tests of {unit}{part}"
    return f"A wrong 'use' has about a {chance} chance {family}{more}. {means}"


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
    `only_baselines`: nobody else was asked.
    """

    verdicts: tuple[Verdict, ...]
    qualities: Mapping[str, str]
    by_order: tuple[tuple[str, str, str], ...] = ()
    only_baselines: bool = False

    def matter(self, metric: str) -> str:
        """Return what a metric is about; the metric itself where nothing says so."""
        return self.qualities.get(metric) or metric_words(metric)


def answer_of_boards(boards: Sequence[BoardVerdicts]) -> Answer | None:
    """Return the answer of several boards: a sentence for each language, judge and verdict. None without any score to compare."""
    verdicts = [verdict for board in boards for verdict in board.verdicts]
    judges = sorted({verdict["judge"] for verdict in verdicts} | {judge for board in boards for _, judge, _ in board.by_order})
    if not judges:
        return Answer(ONLY_BASELINES, (), "", ()) if any(board.only_baselines for board in boards) else None
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
    total, may = len(verdicts), sum(verdict.answer in _MAY for verdict in verdicts)
    against = sum(style_of(verdict) == "bad" for verdict in verdicts)
    if len(judges) > 1 and verdicts:
        questions: dict[tuple[int, str, str], list[Verdict]] = {}
        for number, board in enumerate(boards):
            for verdict in board.verdicts:
                questions.setdefault((number, verdict["language"], verdict["metric"]), []).append(verdict)
        used = [Counter(verdict["judge"] for verdict in verdicts if verdict.answer == answer) for answer in _MAY]
        named = {answer: [judge for judge, _ in counts.most_common()] for answer, counts in zip(_MAY, used, strict=True)}
        title = _describe_questions(list(questions.values()), named.__getitem__)
    elif len(judges) > 1:
        title = "It is unknown whether a judge may be used"
    elif may:
        title = f"{judges[0]} may be used for {may} of {counted(total, 'question')}"
    elif not against:
        title = f"It is unknown whether {judges[0]} may be used"
    else:  # for questions of scores that are compared by their order there is no verdict
        title = f"Do not use {judges[0]}" + ("" if against == total and not ordered else f" for {against} of {counted(total, 'question')}")
    sure = ""  # tests are corrected together board by board, as for the board alone
    if verdicts and setting(verdicts[0], "correction") == "holm" and not all(verdict.controls for verdict in verdicts):
        margin = percent(verdicts[0].margin).removesuffix("%").strip()
        chance = percent(float(setting(verdicts[0], "alpha")))
        less = f"'as good as people' allows {margin} points less"
        sure = f"A wrong 'use' has about a {chance} chance over the tests of a judge on one board; {less}."
    return Answer(title, plain_cards(sentences), sure, ())


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
