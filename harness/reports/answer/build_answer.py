"""The answer that verdicts give, made once for every page and screen: a title, cards, how sure they are, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness.content.tags import english_name
from harness.decide.class_shares import words_of_bar
from harness.decide.sentences import unread_words
from harness.decide.verdicts import Verdict
from harness.measure.answer_counts import total_answers
from harness.reports.answer.cards import cards_of_one, cards_of_several, copied_cards, missing_cards, note_cards
from harness.reports.answer.matrix import verdict_matrices
from harness.reports.answer.steps import LabelPages, next_steps
from harness.reports.answer.words import (
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
from harness.reports.answer_parts import Answer, Card
from harness.reports.tables.numbers import counted, percent

_MAY = {"use": "may be used", "use corrected": "may be used with corrected means only", "passes the controls": "passes the controls"}
_MOST_STEPS = 3
_HOWEVER = ", however it is asked"


def _with_missing(verdicts: Sequence[Verdict], cards: Iterable[Card]) -> tuple[Card, ...]:
    """Return the cards with what agreement does not show: copied labels, and classes that are missed, in the card of what not to use."""
    listed, missing = list(cards), list(missing_cards(verdicts))
    notes = note_cards(str(verdict["judge"]) for verdict in verdicts)
    position = next((number for number, card in enumerate(listed) if card.style == "bad"), None)
    if position is None or len(missing) != 1:
        return (*copied_cards(verdicts), *listed, *missing, *notes)
    [missed] = missing
    card = listed[position]
    note = card.note if len(verdicts) == 1 and verdicts[0].basis == "bar" else f"{card.note} {missed.note}".strip()  # which has the shares
    listed[position] = replace(card, text=f"{card.text} {missed.text}", note=note)
    return (*copied_cards(verdicts), *listed, *notes)


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
        copied = any(verdict.copied for verdict in verdicts)  # agreement with what was copied shows nothing
        seen = () if copied else tuple(seen_agreement(verdicts))
        return Answer(_title_of_one_judge(sides), cards, _describe_error_rate(sides), steps, seen=seen)
    names = side_names(sides)
    names_by_id = {id(verdict): name for name, side in zip(names, sides, strict=True) for verdict in side}
    judges = names_by_id if several else {identity: f"{verdicts[0]['judge']} ({name})" for identity, name in names_by_id.items()}
    steps = tuple(next_steps(verdicts, names_by_id, pages))[:_MOST_STEPS]
    title = _title_of_several_judges(verdicts) if several else _title_of_one_judge(sides)
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
    questions = "the only question" if total == 1 else f"all {total} questions"
    for answer, words in _MAY.items():
        if count := sum(any(verdict.answer == answer for verdict in question_verdicts) for question_verdicts in by_question.values()):
            but = f", not for {against}" if against and count < total else ""
            left = total - count - against
            unknown = f"{';' if but else ','} {left} {'is' if left == 1 else 'are'} unknown" if left and len(sides) == 1 else ""
            condition = " under one condition or more" if several_conditions else ""
            return f"{judge} {words} for {questions if count == total else f'{count} of {total} questions'}{condition}{but}{unknown}"
    however = _HOWEVER if several_conditions else ""
    if not against:
        return f"It is unknown whether {judge} {'passes the controls' if verdicts[0].controls else 'may be used'}{however}"
    if verdicts[0].controls:
        return f"{judge} fails the controls for {questions if against == total else f'{against} of {total} questions'}{however}"
    some = f" for {against} of {total} questions; {total - against} {'is' if total - against == 1 else 'are'} unknown"
    return f"Do not use {judge}{'' if against == total else some}{however}"


def _title_of_several_judges(verdicts: Sequence[Verdict]) -> str:
    """Return the title of several judges: the question that the cards answer, and where no judge has a good verdict, that there is none."""
    tags = list(dict.fromkeys(verdict["language"] for verdict in verdicts))
    where = f"{english_name(tags[0])} texts" if len(tags) == 1 else "texts, in which language"
    names = {verdict["judge"] for verdict in verdicts}
    if unread := unread_title(verdicts):
        return unread
    which = "Which judge" if len(names) > 1 else f"Which recording of {names.pop()}"
    if verdicts[0].controls:
        return f"{which} passes the controls?{_none_words(verdicts)}"
    return f"{which} may score {where}?{' Unknown: each text has one score' if nobody_to_compare(verdicts) else _none_words(verdicts)}"


def unread_title(verdicts: Sequence[Verdict]) -> str:
    """Return the title where no verdict rests on answers that could be read, with an answer as it was written; else an empty text."""
    if not all("unread" in verdict.words.obstacles for verdict in verdicts):
        return ""
    answers = total_answers(verdict.answers for verdict in verdicts)
    words = unread_words(answers)
    judges = list(dict.fromkeys(verdict["judge"] for verdict in verdicts))
    return f"{words[0].upper()}{words[1:]}: nothing is known of {judges[0] if len(judges) == 1 else counted(len(judges), 'judge')}"


def _none_words(verdicts: Sequence[Verdict]) -> str:
    """Return ` None` where no judge may be used, ` None yet` where none is known; an empty text where a judge may be used."""
    styles = {style_of(verdict) for verdict in verdicts}
    if "good" in styles or any(verdict.answer in _MAY for verdict in verdicts):
        return ""
    return " None" if styles == {"bad"} else " None yet"


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
        means = _as_good_as_people(margin)
        if barred := next((verdict for verdict in verdicts if any(share.bar is not None for share in verdict.shares)), None):
            means += f" --bar asks in addition that the judge finds {words_of_bar(barred.shares)}."
    if setting(verdicts[0], "correction") != "holm" or not tests:
        return means
    chance = percent(float(setting(verdicts[0], "alpha")))
    groups = any(verdict.basis == "bar" and verdict.texts.groups < verdict.texts.labelled for verdict in verdicts)
    more = " (more with few large groups of texts: docs/error-rates.md)" if groups else ""
    return f"A wrong 'use' has about a {chance} chance {_describe_family(sides, tests)}{more}. {means}"


def _as_good_as_people(margin: str) -> str:
    return f"'As good as people' means: at most {margin} points less agreement with people than they have with each other."


def _describe_family(sides: Sides, tests: int) -> str:
    """Return `over the 30 tests of each judge`: what is corrected together, and how much of it is shown."""
    verdicts = [verdict for side in sides for verdict in side]
    if setting(verdicts[0], "family") == "all":
        return f"over the {tests} tests of all judges"
    visible = max(map(len, sides))
    part = f" in all languages, of which {visible} are shown" if visible < tests else ""
    if len(sides) == 1:
        return "in this test" if tests == 1 else f"over {'all' if part else 'these'} {tests} tests{part}"
    unit = "each judge" if len({judge_of(verdict) for verdict in verdicts}) == len(sides) else "each judge and condition"
    return f"in the test of {unit}" if tests == 1 else f"over the {tests} tests of {unit}{part}"
