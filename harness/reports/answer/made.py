"""The answer that verdicts give, made once for every page and screen: a title, cards, how sure they are, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from harness.content.tags import english_name
from harness.decide.sentences import unread_words
from harness.decide.verdicts import Verdict
from harness.measure.answer_counts import total_answers
from harness.reports.answer.cards import cards_of_one, cards_of_several, copied_cards
from harness.reports.answer.matrix import verdict_matrices
from harness.reports.answer.steps import LabelPages, next_steps
from harness.reports.answer.words import Sides, judge_of, nobody_to_compare, setting, side_names, style_of
from harness.reports.answer_parts import Answer
from harness.reports.tables.numbers import counted, percent

_MAY = {"use": "may be used", "use corrected": "may be used with corrected means only", "passes the controls": "passes the controls"}
_MOST_STEPS = 3
_HOWEVER = ", however it is asked"


def answer_of(sides: Sides, pages: LabelPages = LabelPages()) -> Answer:
    """The answer of verdicts by judge and condition, baselines left out; `pages` says how people label more of the data.

    Raises ValueError without any verdict.
    """
    every = [verdict for own in sides for verdict in own]
    if not every:
        raise ValueError("an answer needs at least one verdict")
    several = len({judge_of(verdict) for verdict in every}) > 1
    if len(sides) == 1:
        steps = tuple(next_steps(every, {}, pages))[:_MOST_STEPS]
        return Answer(_finding(sides), (*copied_cards(every), *cards_of_one(every)), _sure(sides), steps)
    names = side_names(sides)
    named = {id(verdict): name for name, own in zip(names, sides, strict=True) for verdict in own}
    judges = named if several else {place: f"{every[0]['judge']} ({name})" for place, name in named.items()}
    steps = tuple(next_steps(every, named, pages))[:_MOST_STEPS]
    title = _which(every) if several else _finding(sides)
    broken = [words for own in sides if (words := unread_title(own))]
    if several and 0 < len(broken) < len(sides):
        title = ". ".join((*broken, title))
    return Answer(title, (*copied_cards(every), *cards_of_several(sides, judges)), _sure(sides), steps, tuple(verdict_matrices(sides)))


def _finding(sides: Sides) -> str:
    """The title of one judge: in how many questions it may be used, or that nothing is known yet; of several conditions, under any."""
    verdicts = [verdict for own in sides for verdict in own]
    judge, asked = verdicts[0]["judge"], len(sides) > 1
    by_place: dict[object, list[Verdict]] = {}
    for verdict in verdicts:
        by_place.setdefault((verdict["language"], verdict["metric"]) if asked else id(verdict), []).append(verdict)
    total = len(by_place)
    if unread := unread_title(verdicts):
        return unread
    if nobody_to_compare(verdicts):
        return f"Nobody can know yet whether {judge} may be used"
    against = sum(all(style_of(verdict) == "bad" for verdict in own) for own in by_place.values())
    questions = "the only question" if total == 1 else f"all {total} questions"
    for answer, words in _MAY.items():
        if count := sum(any(verdict.answer == answer for verdict in own) for own in by_place.values()):
            but = f", not for {against}" if against and count < total else ""
            condition = " under one condition or more" if asked else ""
            return f"{judge} {words} for {questions if count == total else f'{count} of {total} questions'}{condition}{but}"
    however = _HOWEVER if asked else ""
    if not against:
        return f"It is not known yet whether {judge} {'passes the controls' if verdicts[0].controls else 'may be used'}{however}"
    if verdicts[0].controls:
        return f"{judge} fails the controls for {questions if against == total else f'{against} of {total} questions'}{however}"
    no_use = f"{judge} is shown fit for none of {counted(total, 'question')}"
    return f"{f'Do not use {judge}' if against == total else no_use}{however}"


def _which(verdicts: Sequence[Verdict]) -> str:
    """The title of several judges: the question that the cards answer, and where no judge has a good verdict, that there is none."""
    tags = list(dict.fromkeys(verdict["language"] for verdict in verdicts))
    where = f"{english_name(tags[0])} texts" if len(tags) == 1 else "texts, in which language"
    names = {verdict["judge"] for verdict in verdicts}
    if unread := unread_title(verdicts):
        return unread
    which = "Which judge" if len(names) > 1 else f"Which recording of {names.pop()}"
    if verdicts[0].controls:
        return f"{which} passes the controls?{_none(verdicts)}"
    return f"{which} may score {where}?{' Nobody can know yet' if nobody_to_compare(verdicts) else _none(verdicts)}"


def unread_title(verdicts: Sequence[Verdict]) -> str:
    """Return the title where no verdict rests on answers that could be read, with an answer as it was written; else an empty text."""
    if not all("unread" in verdict.words.obstacles for verdict in verdicts):
        return ""
    answers = total_answers(verdict.answers for verdict in verdicts)
    words = unread_words(answers)
    judges = list(dict.fromkeys(verdict["judge"] for verdict in verdicts))
    return f"{words[0].upper()}{words[1:]}: nothing is known of {judges[0] if len(judges) == 1 else counted(len(judges), 'judge')}"


def _none(verdicts: Sequence[Verdict]) -> str:
    """That no judge may be used, or that none is known yet; empty where a judge may be."""
    styles = {style_of(verdict) for verdict in verdicts}
    if "good" in styles or any(verdict.answer in _MAY for verdict in verdicts):
        return ""
    return " None" if styles == {"bad"} else " None yet"


def _sure(sides: Sides) -> str:
    """How often `use` is wrong at most, over the tests that are corrected together, and what "as good as people" means."""
    verdicts = [verdict for own in sides for verdict in own]
    if all(verdict.controls for verdict in verdicts) or nobody_to_compare(verdicts) or unread_title(verdicts):
        return ""
    tests = max(verdict.corrected.family for verdict in verdicts)
    margin = percent(verdicts[0].margin).removesuffix("%").strip()
    means = f"'As good as people' means: at most {margin} points less agreement with people than they have with each other."
    if setting(verdicts[0], "correction") != "holm" or not tests:
        return means
    chance = percent(float(setting(verdicts[0], "alpha")))
    return f"A wrong 'use' has at most a {chance} chance {_over(sides, tests)}. {means}"


def _over(sides: Sides, tests: int) -> str:
    """`over the 30 tests of each judge`: what is corrected together, and how much of it is shown."""
    every = [verdict for own in sides for verdict in own]
    if setting(every[0], "family") == "all":
        return f"over the {tests} tests of all judges"
    shown = max(map(len, sides))
    part = f" in all languages, of which {shown} are shown" if shown < tests else ""
    if len(sides) == 1:
        return "in this test" if tests == 1 else f"over {'all' if part else 'these'} {tests} tests{part}"
    each = "each judge" if len({judge_of(verdict) for verdict in every}) == len(sides) else "each judge and condition"
    return f"in the test of {each}" if tests == 1 else f"over the {tests} tests of {each}{part}"
