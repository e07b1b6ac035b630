"""The answer that verdicts give, made once for every page and screen: a title, sentences, how sure they are, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.reports.answer_parts import Answer, NextStep, Sentence
from harness.reports.tables.numbers import counted, percent
from harness.reports.tables.titles import metric_words
from harness.reports.tables.verdict_columns import labels_needed_text

GROUPS = {
    "use": "Use it",
    "use corrected": "Use it with corrected means only",
    "do not use": "Do not use it",
    "passes the controls": "It passes the controls",
    "fails the controls": "It fails the controls",
}
_MAY = {"use": "may be used", "use corrected": "may be used with corrected means only", "passes the controls": "passes the controls"}
_BEST = {"use": "Use {}", "use corrected": "Use {} with corrected means only", "passes the controls": "{} passes the controls"}
_NONE = {"do not use": "Use no judge", "fails the controls": "No judge passes the controls"}
_PAGE = "harness labels page DATA --lang"
_MOST_STEPS = 3
_FEW_METRICS = 2  # of a language that are named in a sentence about several languages
_FEW_JUDGES = 3  # that have a sentence each


def answer_of(sides: Sequence[Sequence[Verdict]], names: Sequence[str]) -> Answer:
    """The answer of verdicts by judge and condition, baselines left out; `names` tells the judges and conditions apart.

    Raises ValueError without any verdict.
    """
    every = [verdict for own in sides for verdict in own]
    if not every:
        raise ValueError("an answer needs at least one verdict")
    if len(sides) == 1:
        return Answer(_finding(every), tuple(_sentences(every)), _sure(every), tuple(_steps(every, {}))[:_MOST_STEPS])
    named = {id(verdict): name for name, own in zip(names, sides, strict=True) for verdict in own}
    return Answer(_which(every), tuple(_best(sides, named)), _sure(every), tuple(_steps(every, named))[:_MOST_STEPS])


def style_of(verdict: Verdict | Mapping[str, Any]) -> str:
    """`good`, `bad` or `open`: how a verdict, or its flat object in JSON, is coloured; words say the same."""
    if verdict["verdict"] == "use" or verdict["controls"] == "passes":
        return "good"
    return "bad" if verdict["verdict"] == "do not use" or verdict["controls"] == "fails" else "open"


def place_of(verdict: Verdict) -> str:
    """The language and metric of a verdict in words: `Czech (task quality)`."""
    return f"{english_name(verdict['language'])} ({metric_words(verdict['metric'])})"


def texts_of(verdict: Verdict) -> dict[str, Any]:
    """The filters that show the texts of a verdict: those with two annotators, or those with a label where it is about controls."""
    texts = {"compared": True} if verdict.controls else {"annotators": "two or more"}
    return {name: value for name, value in verdict.key.items() if value is not None} | texts


def annotators_of(verdicts: Sequence[Verdict]) -> str:
    """Who gave the labels, in words: native speakers only where all of the labels are theirs."""
    return "native speakers" if all(verdict.labels == "native" for verdict in verdicts) else "people"


def _finding(verdicts: Sequence[Verdict]) -> str:
    """The title of one judge: in how many questions it may be used, or that nothing is known yet."""
    judge, total = verdicts[0]["judge"], len(verdicts)
    questions = "the only question" if total == 1 else f"all {total} questions"
    for answer, words in _MAY.items():
        if count := sum(verdict.answer == answer for verdict in verdicts):
            return f"{judge} {words} for {questions if count == total else f'{count} of {total} questions'}"
    against = sum(style_of(verdict) == "bad" for verdict in verdicts)
    if not against:
        return f"It is not known yet whether {judge} may be used"
    if verdicts[0].controls:
        return f"{judge} fails the controls for {questions if against == total else f'{against} of {total} questions'}"
    return f"Do not use {judge}" if against == total else f"{judge} is shown fit for none of {total} questions"


def _which(verdicts: Sequence[Verdict]) -> str:
    """The title of several judges or conditions: the question that the sentences answer."""
    tags = list(dict.fromkeys(verdict["language"] for verdict in verdicts))
    which = "Which judge" if len({verdict["judge"] for verdict in verdicts}) > 1 else f"How asked may {verdicts[0]['judge']}"
    if verdicts[0].controls:
        return "Which judge passes the controls?" if which == "Which judge" else f"{which} pass the controls?"
    may = " may" if which == "Which judge" else ""
    return f"{which}{may} score {english_name(tags[0])} texts?" if len(tags) == 1 else f"{which}{may} score texts, in which language?"


def _sure(verdicts: Sequence[Verdict]) -> str:
    """How often `use` is wrong at most, over the tests that are corrected together."""
    if all(verdict.controls for verdict in verdicts):
        return ""
    settings = dict(word.split("=") for word in verdicts[0].settings.split())
    tests = max(verdict.family for verdict in verdicts)
    if settings.get("correction") != "holm" or not tests:
        return ""
    whole = f"over the {tests} tests of {'all judges' if settings.get('family') == 'all' else 'a judge'}"
    over = "in this test" if tests == 1 else whole
    margin = percent(verdicts[0].margin).removesuffix("%").strip()
    chance = percent(float(settings["alpha"]))
    return f"A wrong 'use' has at most a {chance} chance {over}; 'as good as people' allows {margin} points less."


def _sentences(verdicts: Sequence[Verdict]) -> Iterator[Sentence]:
    """One judge: where it may be used, where not, and where nothing is shown."""
    for answer, words in GROUPS.items():
        own = [verdict for verdict in verdicts if verdict.answer == answer]
        if own:
            yield style_of(own[0]), f"{words} {_places(own, verdicts)}."
    left = [verdict for verdict in verdicts if verdict.answer not in GROUPS]
    if _nobody_to_compare(verdicts):
        yield "open", "It cannot be compared with people: no text has a second annotator."
    elif len(left) == len(verdicts):
        yield "open", f"In no language is it shown {_goal(verdicts[0])}, and in none to be worse."
    elif left:
        yield "open", f"Nothing is shown {_unclear_places(left, verdicts)}."


def _best(sides: Sequence[Sequence[Verdict]], named: Mapping[int, str]) -> Iterator[Sentence]:
    """Several judges: for each question the one that may be used, then where none may, then what is not known.

    Of several that may be used for a question, the one that may be used for most questions is named, then the one with the best gap.
    """
    every = [verdict for own in sides for verdict in own]
    left: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in every:
        left.setdefault((verdict["language"], verdict["metric"]), []).append(verdict)
    whole = [own[0] for own in left.values()]
    for answer, words in _BEST.items():
        fit = {named[id(own[0])]: sum(verdict.answer == answer for verdict in own) for own in sides}
        chosen: dict[str, list[Verdict]] = {}
        for place, own in list(left.items()):
            if able := [verdict for verdict in own if verdict.answer == answer]:
                best = max(able, key=lambda verdict: (fit[named[id(verdict)]], verdict.gap or 0.0))
                chosen.setdefault(named[id(best)], []).append(best)
                del left[place]
        ranked = sorted(chosen.items(), key=lambda each: -len(each[1]))
        for name, own in ranked[:_FEW_JUDGES]:
            yield style_of(own[0]), f"{words.format(name)} {_places(own, whole)}."
        if others := [verdict for _, own in ranked[_FEW_JUDGES:] for verdict in own]:
            more = counted(len(ranked) - _FEW_JUDGES, "other judge")
            yield style_of(others[0]), f"{words.format(more)} {_places(others, whole)}."
    for answer, words in _NONE.items():
        failed = {place: own for place, own in left.items() if all(verdict.answer == answer for verdict in own)}
        left = {place: own for place, own in left.items() if place not in failed}
        if failed:
            judges = {len(own) for own in failed.values()}
            shown = "for every judge" if len(judges) > 1 or judges == {1} else "for both" if judges == {2} else f"for all {max(judges)}"
            yield "bad", f"{words} {_places([own[0] for own in failed.values()], whole)}: shown {shown}."
    if _nobody_to_compare(every):
        yield "open", "No judge can be compared with people: no text has a second annotator."
    elif left:
        yield "open", f"Not known yet {_places([own[0] for own in left.values()], whole)}."


def _nobody_to_compare(verdicts: Sequence[Verdict]) -> bool:
    return all("annotators" in verdict.obstacles for verdict in verdicts)


def _goal(verdict: Verdict) -> str:
    return "to pass the controls" if verdict.controls else "to be as good as people"


def _unclear_places(left: Sequence[Verdict], every: Sequence[Verdict]) -> str:
    """`in Odia and Tamil, nor on other metrics of the languages above`: by name where nothing at all is shown of a language."""
    above = {verdict["language"] for verdict in every if verdict.answer in GROUPS}
    tags = dict.fromkeys(verdict["language"] for verdict in left if verdict["language"] not in above)
    others = any(verdict["language"] in above for verdict in left)
    if not tags:
        return "on the other metrics of these languages"
    named = f"in {_joined([english_name(tag) for tag in tags])}"
    return f"{named}, nor on the other metrics of the languages above" if others else named


def _places(own: Sequence[Verdict], every: Sequence[Verdict]) -> str:
    """`in Telugu (hallucinations, task quality) and Hindi`: no metrics where all have the verdict, a number for many of one language.

    Where every verdict is in one language, its metrics are named: `for coherence and fluency`.
    """
    if len({verdict["language"] for verdict in every}) == 1 and len(own) < len(every):
        return f"for {_joined([metric_words(verdict['metric']) for verdict in own])}"
    texts = []
    for language in dict.fromkeys(verdict["language"] for verdict in own):
        here = [verdict for verdict in own if verdict["language"] == language]
        of_all = sum(verdict["language"] == language for verdict in every)
        few = len(here) <= _FEW_METRICS
        named = ", ".join(metric_words(verdict["metric"]) for verdict in here) if few else f"{len(here)} of {of_all} metrics"
        texts.append(english_name(language) + ("" if len(here) == of_all else f" ({named})"))
    return f"in {_joined(texts)}"


def _joined(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _steps(verdicts: Sequence[Verdict], named: Mapping[int, str]) -> Iterator[NextStep]:
    """What to do next; `named` has the names of judges where there are several."""
    if verdicts[0].controls:
        yield NextStep("compare with native speakers' labels", f"harness data list --lang {verdicts[0]['language']}")
    elif _nobody_to_compare(verdicts):
        yield NextStep("let a second person label some of the texts", f"{_PAGE} {verdicts[0]['language']} --annotators 2 --out pages")
    needed = [verdict for verdict in verdicts if verdict.k is not None and not verdict.more_than_k and verdict.verdict == "too few labels"]
    for verdict in sorted(needed, key=lambda verdict: verdict.k or 0)[:1]:
        more = f"label {labels_needed_text(verdict.flat())} more texts in {place_of(verdict)}, enough if the judge is as good as people"
        yield NextStep(more, f"{_PAGE} {verdict['language']} --metrics {verdict['metric']} --next {verdict.k} --out pages")
    bad = sorted((verdict for verdict in verdicts if style_of(verdict) == "bad"), key=_gap)
    for verdict in bad[:2]:
        name = named.get(id(verdict))
        read = f"read judgments of {place_of(verdict)} – {name}" if name else f"read its judgments of {place_of(verdict)}"
        yield NextStep(read, show=texts_of(verdict))


def _gap(verdict: Verdict) -> float:
    """Judge minus people, or minus a constant with constructed labels; 0 where it is undefined."""
    return (verdict.base_diff if verdict.controls else verdict.gap) or 0.0
