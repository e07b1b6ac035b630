"""The answer that verdicts give, made once for every page and screen: a title, cards, how sure they are, and what to do next.

Boards that were asked together have one answer: by language and judge, on what people ask about, such as harm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from harness.content.tags import english_name
from harness.decide.class_shares import ClassShare, mostly_missed, words_of_bar, words_of_share
from harness.decide.verdict_sentences import REPAIR, unread_words
from harness.decide.verdicts import Verdict
from harness.judges import note_of
from harness.measure.item_table import total_answers
from harness.reports.answer.matrix import verdict_matrices
from harness.reports.answer.next_steps import LabelPages, next_steps
from harness.reports.answer.parts import (
    CAUSES,
    UNKNOWN,
    Answer,
    Card,
    Sentence,
    cause_of,
    cause_words,
    count_causes,
    deciding,
    joined,
    plain_cards,
    state_of,
)
from harness.reports.answer.verdict_words import (
    Sides,
    bar_words,
    easiest,
    judge_of,
    maybe_copies,
    nobody_to_compare,
    place_of,
    second_person_texts,
    seen_agreement,
    setting,
    shares_words,
    side_names,
    style_of,
)
from harness.reports.tables.columns import class_words, metric_words
from harness.reports.tables.numbers import counted, percent, points, whole_points

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


GROUPS = {
    "use": "Use it",
    "use corrected": "Use it with corrected means only",
    "do not use": "Do not use it",
    "passes the controls": "It passes the controls",
    "fails the controls": "It fails the controls",
}
_BEST = {"use": "Use {}", "use corrected": "Use {} with corrected means only", "passes the controls": "{} passes the controls"}
_NONE = {"do not use": "Use no judge", "fails the controls": "No judge passes the controls"}
_NONE_OF_ONE = {"do not use": "Do not use {}", "fails the controls": "{} fails the controls"}
_MOST_LANGUAGES = 8  # that a sentence names
_FEW_JUDGES = 3  # that have a card each
_FEW_UNKNOWN = 3  # questions that the card of what is unknown names
_LEVEL = 0.05  # of a scale's points: less is no difference in level
_MOST = 0.5  # of judges: with more of them not to be used, an open question says so


def cards_of_one(verdicts: Sequence[Verdict]) -> Iterator[Card]:
    """Yield the cards of one judge: where it may be used, where not, and where nothing is shown."""
    for answer, words in GROUPS.items():
        if matching := [verdict for verdict in verdicts if verdict.answer == answer]:
            yield Card(style_of(matching[0]), words, f"{_name_places(matching, verdicts)}.", _describe_certainty(matching))
    unknown = [verdict for verdict in verdicts if state_of(verdict) == UNKNOWN]
    if nobody_to_compare(verdicts):
        yield from _cards_without_people([verdicts], [""])
    elif all("unread" in verdict.words.obstacles for verdict in verdicts):
        yield Card("open", "What to do", f"{REPAIR}.", "No verdict rests on answers that cannot be read.")  # the title has their number
    elif unknown:
        note = _describe_certainty(unknown) if len(verdicts) == 1 and verdicts[0].basis == "bar" else ""
        yield _unknown_card(unknown, len(verdicts), note)


def _unknown_card(unknown: Sequence[Verdict], total: int, note: str = "") -> Card:
    """Return the card of what is unknown: the questions where they are few, else their number, and how many have each cause."""
    causes = count_causes(unknown)
    if len(unknown) == total == 1:
        text = f"{place_of(unknown[0])}: {cause_words(unknown[0])}."
        return Card("open", "Unknown", text, note)
    if len(unknown) <= _FEW_UNKNOWN:
        by_cause: dict[str, list[str]] = {}
        for verdict in unknown:
            by_cause.setdefault(cause_words(verdict), []).append(place_of(verdict))
        text = "; ".join(f"{joined(questions)}: {cause}" for cause, questions in by_cause.items())
        return Card("open", "Unknown", f"{text}.", note)
    number = f"all {total} questions" if len(unknown) == total else f"{len(unknown)} of {total} questions"
    counted_causes = "; ".join(f"{cause}: {count}" for cause, count in causes.items())
    return Card("open", "Unknown", f"{number}.", f"{counted_causes[0].upper()}{counted_causes[1:]}. {note}".strip())


def missing_cards(verdicts: Sequence[Verdict]) -> Iterator[Card]:
    """Yield a card for each judge of which more than half of a class is shown to be missed, whatever its verdict is."""
    by_judge: dict[tuple[object, object], list[tuple[Verdict, ClassShare]]] = {}
    for verdict in verdicts:
        if share := mostly_missed(verdict.shares):
            by_judge.setdefault(judge_of(verdict), []).append((verdict, share))
    for missed in by_judge.values():
        (first, share), judge = missed[0], missed[0][0]["judge"] if len({judge_of(verdict) for verdict in verdicts}) > 1 else "It"
        more = f" and {len(missed) - 1} more" if len(missed) > 1 else ""
        classes = [class_share.score for class_share in first.shares if class_share.score is not None]
        if share.score is not None:
            share = msgspec.structs.replace(share, score=class_words(first["metric"], share.score, classes))
        missed_class = words_of_share(share, "the person" if first.basis == "bar" else "people")
        note = f"Of {missed_class} it finds {percent(share.share)}, at most {percent(share.upper)}."
        yield Card("bad", "", f"{judge} misses most of {missed_class} in {place_of(first)}{more}.", note)


def copied_cards(verdicts: Sequence[Verdict]) -> Iterator[Card]:
    """Yield a card for each judge whose score is a person's in every text or nearly so, with the question that has the most texts."""
    by_judge: dict[tuple[object, object], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.copied:
            by_judge.setdefault(judge_of(verdict), []).append(verdict)
    for copies in by_judge.values():
        first = max(copies, key=lambda verdict: (not verdict.copied.nearly, verdict.copied.texts) if verdict.copied else (False, 0))
        assert first.copied
        more = f", and so in {counted(len(copies) - 1, 'more question')}" if len(copies) > 1 else ""
        equal = f"In {place_of(first)} {first.copied.words}{more}"
        if first.copied.nearly:
            what_then, note = "Copied scores of which some were changed look so; no verdict changes", ""
        elif maybe_copies([first]):
            what_then = "Agreement with what was copied shows nothing, so no verdict rests on it"
            note = "If you know that the judge gave these scores itself: --set equal_scores=own."
        else:
            what_then, note = "Agreement with what was copied shows nothing; --set equal_scores=own says that they are its own", ""
        yield Card("open", "", f"Is {first['judge']} a copy of the labels? {equal}. {what_then}.", note)


def note_cards(judges: Iterable[str]) -> Iterator[Card]:
    """Yield a card for each judge of which a reader should know more than its verdicts: a toy, or a model of one language."""
    for judge in dict.fromkeys(judges):
        if note := note_of(judge):
            yield Card("open", "", f"{judge} {note}.")


def cards_of_several(sides: Sides, names: Mapping[int, str]) -> Iterator[Card]:
    """Yield the cards of several judges or conditions: which one may be used for a question, where none may, and what is unknown.

    Of several that may be used for a question, the one that may be used for most questions is named, then the one with the best gap.
    """
    verdicts = [verdict for side in sides for verdict in side]
    if nobody_to_compare(verdicts):
        yield from _cards_without_people(sides, [names[id(side[0])] for side in sides])
        return
    remaining: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        remaining.setdefault((verdict["language"], verdict["metric"]), []).append(verdict)
    questions = [group[0] for group in remaining.values()]
    for answer, words in _BEST.items():
        yield from _best_judge_cards(answer, words, sides, remaining, names)
    judges = {judge_of(verdict) for verdict in verdicts}
    for answer, words in (_NONE if len(judges) > 1 else _NONE_OF_ONE).items():
        failed = {question: group for question, group in remaining.items() if all(verdict.answer == answer for verdict in group)}
        remaining = {question: group for question, group in remaining.items() if question not in failed}
        if failed:
            why = _join_reasons([verdict for group in failed.values() for verdict in group])
            failed_questions = _name_places([group[0] for group in failed.values()], questions)
            text = f"{failed_questions}: {f'{why}, ' if why else ''}{_describe_extent(list(failed.values()))}."
            yield Card("bad", words.format(verdicts[0]["judge"]), text)
    if remaining:
        if len(judges) > 1:
            note = ""  # the open question for which most judges must not be used
            for group in remaining.values():
                unfit = sum(style_of(verdict) == "bad" for verdict in group)
                if not note and unfit > _MOST * len(group) and len({judge_of(verdict) for verdict in group}) == len(group):
                    note = f"{place_of(group[0])}: do not use {unfit} of {len(group)} judges."
        else:  # the condition that must not be used for most questions
            bad, worst = max(((sum(style_of(verdict) == "bad" for verdict in side), side) for side in sides), key=lambda count: count[0])
            fails = f"{names[id(worst[0])]} fails" if verdicts[0].controls else f"Do not use {names[id(worst[0])]} for"
            note = f"{fails} {bad} of {counted(len(questions), 'question')}." if bad else ""
        yield _unknown_card([_most_open(group) for group in remaining.values()], len(questions), note)


def best_judges(answer: str, sides: Sides) -> dict[tuple[str, str], Verdict]:
    """Return the verdict of the judge that is named for each (language, metric) for which some verdict has an answer.

    Of several judges it is the one with this answer to most questions, then the one with the best gap.
    """
    able = [(sum(verdict.answer == answer for verdict in side), verdict) for side in sides for verdict in side if verdict.answer == answer]
    best: dict[tuple[str, str], tuple[int, Verdict]] = {}
    for fit, verdict in able:
        question = verdict["language"], verdict["metric"]
        if question not in best or (fit, verdict.agreement.gap or 0.0) > (best[question][0], best[question][1].agreement.gap or 0.0):
            best[question] = fit, verdict
    return {question: verdict for question, (_, verdict) in best.items()}


def _best_judge_cards(
    answer: str, words: str, sides: Sides, remaining: dict[tuple[str, str], list[Verdict]], names: Mapping[int, str]
) -> Iterator[Card]:
    """Yield a card for each judge that is the best with an answer, and take the questions that it answers out of `remaining`."""
    all_verdicts = [verdict for side in sides for verdict in side]
    questions = list({(verdict["language"], verdict["metric"]): verdict for verdict in all_verdicts}.values())
    fit = {names[id(side[0])]: sum(verdict.answer == answer for verdict in side) for side in sides}
    best = best_judges(answer, sides)
    chosen: dict[str, list[Verdict]] = {}
    for question in [question for question in remaining if question in best]:
        chosen.setdefault(names[id(best[question])], []).append(best[question])
        del remaining[question]
    ranked = sorted(chosen.items(), key=lambda choice: -len(choice[1]))
    runners_up = sorted((name for name in fit if name not in chosen and fit[name]), key=lambda name: -fit[name])
    next_best = (
        f" Next best: {runners_up[0]}, {fit[runners_up[0]]} of {len(questions)} questions." if runners_up and len(ranked) == 1 else ""
    )
    for name, fit_verdicts in ranked[:_FEW_JUDGES]:
        yield Card(
            style_of(fit_verdicts[0]),
            words.format(name),
            f"{_name_places(fit_verdicts, questions)}.",
            _describe_certainty(fit_verdicts) + next_best,
        )
    if rest := [verdict for _, fit_verdicts in ranked[_FEW_JUDGES:] for verdict in fit_verdicts]:
        more = counted(len(ranked) - _FEW_JUDGES, "other judge")
        yield Card(style_of(rest[0]), words.format(more), f"{_name_places(rest, questions)}.")


def _describe_certainty(verdicts: Sequence[Verdict]) -> str:
    """Return how sure a card is: how far below people the judge may be at worst, its agreement and people's, and on how many texts."""
    if verdicts[0].controls:
        return "Passing is necessary, not sufficient." if style_of(verdicts[0]) == "good" else ""
    if verdicts[0].answer == "use corrected":
        gains = [verdict.gain for verdict in verdicts if verdict.gain is not None]
        return f"Each label counts as {_range_words([f'{gain:.2f}' for gain in sorted(gains)])} labels." if gains else ""
    if len(verdicts) == 1 and verdicts[0].shares and verdicts[0].basis == "bar":
        alone = "Each text has one label, so how often two people agree is not known."
        texts = counted(verdicts[0].texts.labelled, "text")
        return f"Against a bar of {bar_words(verdicts)} it finds {shares_words(verdicts[0])}; {texts}. {alone}"
    counts = sorted(verdict.texts.labelled for verdict in verdicts)
    texts = f"{_range_words([f'{count:,}' for count in counts])} texts each" if len(counts) > 1 else counted(counts[0], "text")
    bounds = [verdict.bounds.gap for verdict in verdicts if verdict.bounds.gap is not None]
    if style_of(verdicts[0]) != "good" or not bounds:
        why = _join_reasons(verdicts)
        return f"{why[0].upper()}{why[1:]}; {texts}." if why else ""
    worst = min(bounds)
    behind = f"{points(-worst)} less than people" if whole_points(worst) < 0 else "as good as people"
    agreement = ""
    if len(verdicts) == 1 and (share := verdicts[0].agreement.judge) is not None:
        kind = "closeness" if verdicts[0].texts.closeness else "agreement"
        agreement = f" ({percent(share)} {kind}, people {percent(verdicts[0].agreement.people)})"
    return f"{'At worst' if whole_points(worst) < 0 else 'Even at worst'} {behind}{agreement}; {texts}."


def _range_words(texts: Sequence[str]) -> str:
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"


def _join_reasons(verdicts: Sequence[Verdict]) -> str:
    """Return what is shown against judges: `up to 75 points below people, or 12 points below a constant answer`; empty where labels are
    constructed.

    A judge that is not behind people by much may have another reason, without which its number would contradict the verdict.
    """
    compared = [verdict for verdict in verdicts if verdict.agreement.gap is not None and not verdict.controls]
    worst = min((verdict.agreement.gap for verdict in compared if verdict.agreement.gap is not None), default=0.0)
    reasons = {"below people": -worst} if whole_points(worst) < 0 else {}
    for verdict in compared:
        if style_of(verdict) == "bad" and "worse" not in verdict.words.obstacles:
            words, number, _ = deciding(verdict)
            reasons[words] = max(reasons.get(words, 0.0), -(number or 0.0))
    several = len(compared) > 1
    return ", or ".join(f"{'up to ' if several else ''}{points(number)} {words}" if number else words for words, number in reasons.items())


def _describe_extent(by_question: Sequence[Sequence[Verdict]]) -> str:
    """Return `shown for all 6`: of how many judges, and under how many conditions, all questions have the same verdict."""
    judges = {len({judge_of(verdict) for verdict in group}) for group in by_question}
    conditions = max(len(group) for group in by_question) // max(judges)
    if max(judges) == 1:
        return f"shown under all {conditions} conditions" if conditions > 1 else "shown"
    extent = "shown for every judge" if len(judges) > 1 else "shown for both" if judges == {2} else f"shown for all {max(judges)}"
    return f"{extent}, however they are asked" if conditions > 1 else extent


def _most_open(group: Sequence[Verdict]) -> Verdict:
    """Return the unknown verdict of a question that the fewest labels would settle; of several judges the first."""
    unknown = [verdict for verdict in group if state_of(verdict) == UNKNOWN] or list(group)
    return min(unknown, key=lambda verdict: (CAUSES.index(cause_of(verdict) or CAUSES[-1]), verdict.settled_by or 0))


def _cards_without_people(sides: Sides, names: Sequence[str]) -> Iterator[Card]:
    """Yield the cards of labels without a second annotator: why there is no answer, what is known all the same, and what to do."""
    first = sides[0][0]
    who = "No judge" if len(sides) > 1 else "It"
    why = f"{who} {'can' if len(sides) > 1 else 'cannot'} be held against how far people agree, as no text has the scores of two people"
    yield Card("open", "Why no answer", f"{why}.")
    seen = ((verdict.baseline.diff, name) for side, name in zip(sides, names, strict=True) for verdict in side)
    differences = [(diff, name) for diff, name in seen if diff is not None]
    if differences and len(sides) == 1 and len(sides[0]) <= _FEW_METRICS:
        parts = []
        for verdict in sides[0]:
            right, diff, lenient = verdict.baseline.right, verdict.baseline.diff, verdict.leniency or 0.0
            kind = f"closeness {percent(right)} in" if verdict.texts.closeness else f"the person's score in {percent(right)} of"
            constant = "" if right is None or diff is None else f" (one constant answer: {percent(right - diff)})"
            # Not "too generous": a high score is not the better one on every scale.
            level = f", {abs(lenient):.2g} {'above' if lenient > 0 else 'below'} it on average" if abs(lenient) >= _LEVEL else ""
            parts.append(f"{place_of(verdict)}: {kind} {counted(verdict.texts.labelled, 'text')}{constant}{level}")
        yield Card("open", "What is known", f"{'; '.join(parts)}. These are observations, not tests.")
    elif differences:
        (best, best_judge), (worst, worst_judge) = max(differences), min(differences)
        compared = _compare_with_constant(best, first.texts.interval)
        if worst == best:
            compared = f"{best_judge or 'the judge'} is {compared}"
        elif best_judge != worst_judge:
            last = _compare_with_constant(worst, first.texts.interval)
            compared = f"the best judge ({best_judge}) is {compared}; the worst ({worst_judge}) is {last}"
        else:
            last = _compare_with_constant(worst, first.texts.interval)
            compared = f"{best_judge or 'the judge'} is {compared} for its best question, {last} for its worst"
        yield Card("open", "What is known", f"Compared with always giving the same score, {compared}. These are observations, not tests.")
    groups, verdict = setting(first, "groups") or "20", easiest([verdict for side in sides for verdict in side])
    needed, labelled = second_person_texts(verdict), verdict.texts.labelled
    enough = ""
    if verdict.settled_by == needed:
        few = f" ({labelled} are here)" if labelled < needed else ""
        enough = f". So many{few} can show that a judge is as good as people in {place_of(verdict)}, if people agree as often as it does"
    who = "Ask a second person to score"
    yield Card("next", "What to do", f"{who} {needed} or more of these texts, from at least {groups} different sources{enough}.")


def _compare_with_constant(value: float, interval: bool) -> str:
    """Return `2 points farther from the labels`: of numbers the closeness to the labels, of classes how often they are equal."""
    if not whole_points(value):
        return f"as {'close' if interval else 'often equal'} to the labels"
    words = ("farther from", "closer to") if interval else ("less often equal to", "more often equal to")
    return f"{points(abs(value))} {words[value >= 0]} the labels"


def _name_places(chosen: Sequence[Verdict], verdicts: Sequence[Verdict]) -> str:
    """Return `in Telugu (hallucinations, task quality) and Hindi`: no metrics where all have the verdict, their number where they are many.

    Where every verdict is in one language, its metrics are named: `for coherence and fluency`.
    """
    if len({verdict["language"] for verdict in verdicts}) == 1 and len(chosen) < len(verdicts):
        return f"for {joined([metric_words(verdict['metric']) for verdict in chosen])}"
    texts = []
    languages = list(dict.fromkeys(verdict["language"] for verdict in chosen))
    if len(languages) > _MOST_LANGUAGES:
        return f"in {len(languages)} languages ({counted(len(chosen), 'question')})"
    for language in languages:
        in_language = [verdict for verdict in chosen if verdict["language"] == language]
        of_all = sum(verdict["language"] == language for verdict in verdicts)
        few = len(in_language) <= _FEW_METRICS
        metrics = (
            ", ".join(metric_words(verdict["metric"]) for verdict in in_language) if few else f"{len(in_language)} of {of_all} metrics"
        )
        texts.append(english_name(language) + ("" if len(in_language) == of_all else f" ({metrics})"))
    return f"in {joined(texts)}"
