"""The groups of an answer: what to use, what not to use, and what is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.content.tags import english_name
from harness.decide.class_shares import ClassShare, mostly_missed, words_of_share
from harness.decide.verdicts import Verdict
from harness.judges import note_of
from harness.reports.answer.parts import CAUSES, UNKNOWN, Card, cause_of, cause_words, count_causes, deciding, joined, state_of
from harness.reports.answer.verdict_words import (
    Sides,
    bar_words,
    easiest,
    judge_of,
    maybe_copies,
    nobody_to_compare,
    place_of,
    second_person_texts,
    setting,
    shares_words,
    style_of,
)
from harness.reports.tables.columns import class_title, metric_words
from harness.reports.tables.numbers import counted, percent, points, whole_points

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
_FEW_METRICS = 2  # of a language that are named in a sentence about several languages
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
        note = f"Of {words_of_share(share)} it finds {percent(share.share)}, at most {percent(share.upper)}."
        classes = [class_share.score for class_share in first.shares if class_share.score is not None]
        missed_class = class_title(first["metric"], share.score, classes) if share.score is not None else ""
        yield Card("bad", "", f"{judge} misses most of class {missed_class} in {place_of(first)}{more}.", note)


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
