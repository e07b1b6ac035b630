"""What the atlas answers about a language or a judge, in words, made once for the terminal, the pages and the pictures."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.judge_atlas.atlas_file import Atlas, AtlasRow, AtlasSet
from harness.judge_atlas.quality_answers import (
    AGAINST,
    ALPHA,
    CORRECTED,
    NO_VERDICT,
    OPEN,
    USE,
    QualityAnswer,
    answers_by_quality,
    wrong_uses,
)
from harness.reports.answer_parts import Answer, Card, NextStep, joined
from harness.reports.tables.numbers import counted, difference, percent, points, whole_points

STYLES = {USE: "good", CORRECTED: "good", AGAINST: "bad", OPEN: "open"}
_PEOPLE = {"native": "native speakers", "people": "people"}
_SURE = "Each judge is tested by itself: a wrong 'use' has at most a 5 % chance over all its tests in one set."
_MODEL = "PROVIDER/MODEL"
_FEW_METRICS = 2  # that are named where a judge may be used for some metrics of a quality only


@dataclass(frozen=True)
class AtlasAnswer:
    """The answer about one language or one judge: in one sentence, quality by quality, and what is known of the age of the judges.

    `across` says how judges vary between sets, where three or more have a quality.
    """

    lead: str
    answer: Answer
    age: str
    across: tuple[str, ...] = ()


def language_answer(atlas: Atlas, tag: str, rows: Sequence[AtlasRow], today: datetime.date) -> AtlasAnswer:
    """The answer about a language from its rows, or from some of them: what would find out more is said of all of them alone.

    `today` decides which judges are served no more.
    """
    qualities, name = answers_by_quality(rows), atlas.languages[tag]
    complete = len(rows) == sum(row.language == tag for row in atlas.rows)
    cards = tuple(_quality_card(atlas, quality, today) for quality in qualities)
    steps = tuple(_next_steps(atlas, tag, qualities, today)) if complete else ()
    answer = Answer(f"{name}: which judge for what", cards, _SURE if qualities else "", steps)
    return AtlasAnswer(
        _lead_sentence(atlas, tag, qualities, today), answer, _age_sentence(atlas, rows, today), tuple(_spread_sentences(atlas, rows))
    )


def judge_answer(atlas: Atlas, judge: str, rows: Sequence[AtlasRow], today: datetime.date) -> AtlasAnswer:
    """The answer about a judge from its rows, language by language. That it is no longer served is said once, not in every sentence."""
    by_language = {
        tag: answers_by_quality(row for row in rows if row.language == tag) for tag in dict.fromkeys(row.language for row in rows)
    }
    cards = tuple(
        _quality_card(atlas, quality, datetime.date.min, f"{atlas.languages[tag]}, ")
        for tag, qualities in by_language.items()
        for quality in qualities
    )
    allowed_in = [atlas.languages[tag] for tag, qualities in by_language.items() if any(quality.allowed for quality in qualities)]
    many = "" if len(allowed_in) <= 6 else f"{len(allowed_in)} of {len(by_language)} languages"
    lead = (
        f"{judge} may be used in {many or joined(allowed_in)}, for some qualities."
        if allowed_in
        else f"{judge} is shown fit for nothing yet."
    )
    lead += " Its provider serves it no longer." if atlas.judge(judge).is_gone(today) else ""
    answer = Answer(f"{judge}: where it may be used", cards, _SURE, ())
    return AtlasAnswer(lead, answer, _age_sentence(atlas, rows, today), tuple(_spread_sentences(atlas, rows, with_language=True)))


def full_sentence(card: Card) -> str:
    """A card in one sentence, with its evidence."""
    return f"{card.sentence.removesuffix('.')} ({card.note})."


def _quality_card(atlas: Atlas, quality: QualityAnswer, today: datetime.date, prefix: str = "") -> Card:
    """The answer about one quality; its note is the evidence and what it rests on."""
    text, note = _words_and_evidence(atlas, quality, today)
    return Card(STYLES[quality.answer], f"{prefix}{metric_words(quality.quality)}", f"{text}.", note)


def _words_and_evidence(atlas: Atlas, quality: QualityAnswer, today: datetime.date) -> tuple[str, str]:
    gone = ", no longer served" if atlas.judge(quality.best.judge).is_gone(today) else ""
    judge, names = f"{quality.best.judge}{gone}", {row.judge for row in quality.rows}
    judges = quality.best.judge if len(names) == 1 else counted(len(names), "judge")
    if all(row.verdict == NO_VERDICT for row in quality.rows):
        return f"not known of {judges}, because nobody can say how far people agree", _without_people(quality.best)
    evidence = _evidence(atlas, quality.best)
    if quality.allowed:
        part = f" for {joined(list(map(metric_words, quality.allowed)))} only" if len(quality.allowed) < quality.metrics else ""
        how = " with corrected means only" if quality.answer == CORRECTED else ""
        differ = ", but sets differ" if quality.differ else ""
        return f"use {quality.best.judge}{part}{how}{gone}{differ}", evidence
    alone = len(names) == 1
    closest = f"the closest: {evidence}" if alone else f"the closest: {judge}; {evidence}"
    if quality.answer == AGAINST:
        return (f"do not use {judge}", evidence) if alone else (f"use no judge; every verdict on {judges} is against it", closest)
    against = against_words(quality)
    return f"not known yet of {judge if alone else judges}{f'; {against}' if against else ''}", closest


def against_words(quality: QualityAnswer) -> str:
    """How many verdicts speak against the judges; empty if none does."""
    against, count = sum(row.verdict == AGAINST for row in quality.rows), len(quality.rows)
    return f"{against} of {counted(count, 'verdict')} {'is' if against == 1 else 'are'} against use" if against else ""


def metric_words(metric: str) -> str:
    """A metric or quality inside a sentence: its name without underscores."""
    return metric.replace("_", " ")


def condition_words(row: AtlasRow) -> str:
    """A judge, and how it was asked."""
    return f"{row.judge}, {row.condition}" if row.condition else row.judge


def independent(row: AtlasRow) -> str:
    """For how many independent texts those of a row stand; a dash where nobody is compared with."""
    if row.agreement is None:
        return "–"
    return f"{min(row.effective_groups or row.groups, row.groups):,.0f}"


def evidence(atlas: Atlas, rows: Iterable[AtlasRow], today: datetime.date) -> list[dict[str, str]]:
    """A line of text for each row, by column; the columns stand in the order in which pages show them."""
    return [
        {
            "language": atlas.languages[row.language],
            "quality": metric_words(row.quality),
            "metric": metric_words(row.metric),
            "judge": condition_words(row),
            "verdict": row.verdict,
            "judge agrees": percent(row.agreement),
            "people agree": percent(row.people),
            "difference": difference(row.gap),
            "at worst": difference(row.bound),
            "over a constant": difference(row.over_constant),
            "texts": f"{row.texts:,}",
            "as if": independent(row),
            "annotators": atlas.sets[row.set].annotators,
            "labels": atlas.sets[row.set].labels,
            "released": released_words(atlas, row.judge, today),
            "set": row.set,
        }
        for row in rows
    ]


def wrong_use_words(rows: Sequence[AtlasRow]) -> str:
    """How many verdicts are *use*, and how many wrong ones to expect among all families of tests; empty where no row could be *use*."""
    families, expected = wrong_uses(rows)
    if not families:
        return ""
    uses = sum(row.verdict == USE for row in rows)
    return (
        f"{uses} of {counted(len(rows), 'verdict')} {'is' if uses == 1 else 'are'} 'use'. Families of tests that could say so: "
        f"{families:,}, each of one judge, asked in one way, in one set. In each, the chance of a wrong 'use' is at most "
        f"{percent(ALPHA)}; so at most {round(expected, 2):g} of them {'is' if expected == 1 else 'are'} expected to have one."
    )


def verdict_style(verdict: str) -> str:
    """`good`, `bad` or `open`: how a verdict of a row is coloured."""
    return STYLES.get(verdict, "open")


def legend() -> tuple[str, ...]:
    """What the columns of the evidence say."""
    return (
        "judge agrees, people agree: the share of equal scores of the judge with people, and of people with each other.",
        "Where scores are numbers, it is their closeness.",
        "difference: the first minus the second, in percentage points. At worst: its lower bound; 'use' needs it above −10.",
        "over a constant: agreement with the labels minus that of one answer given to everything, in points.",
        "as if: for how many independent texts they stand; texts of one source say less. A verdict speaks for texts like these.",
    )


def set_words(atlas: Atlas, name: str) -> str:
    """What a set is, and who labelled it."""
    about = atlas.sets[name]
    part = "; only a part of it was compared, because its origin was out of reach" if about.partial else ""
    return f"{name}: {about.title} (labels: {who(about)}, {about.annotators} a text{part})"


def who(about: AtlasSet) -> str:
    """Who gave the labels of a set; native speakers only where the release says so."""
    return "native speakers" if about.labels == "native" else "people; the release does not say that they are native speakers"


def released_words(atlas: Atlas, judge: str, today: datetime.date) -> str:
    """When the model behind a judge was released, and whether its provider has ended it; `unknown` where nobody says."""
    judge_card = atlas.judge(judge)
    when = judge_card.released.isoformat() if judge_card.released else "unknown"
    return f"{when}, served until {judge_card.served_until}" if judge_card.is_gone(today) else when


def _evidence(atlas: Atlas, row: AtlasRow) -> str:
    people = _PEOPLE[atlas.sets[row.set].labels]
    kind = "closeness to" if row.closeness else "agreement with"
    agrees = f"{kind} {people} {percent(row.agreement)}, of {people} with each other {percent(row.people)}"
    stand_for = min(row.effective_groups or row.groups, row.groups)
    groups = f", as if {stand_for:,.0f} independent ones" if round(stand_for) < row.texts else ""
    return f"{metric_words(row.metric)} in {row.set}: {agrees}; {counted(row.texts, 'text')}{groups}"


def _without_people(row: AtlasRow) -> str:
    kind = "closeness to" if row.closeness else "agreement with"
    constant = f"{difference(row.over_constant)} points beside one constant answer"
    labels = f"{kind} the labels {percent(row.right)}, {constant}"
    return f"{metric_words(row.metric)} in {row.set}: one score a text; {condition_words(row)}: {labels}; {counted(row.texts, 'text')}"


def _lead_sentence(atlas: Atlas, tag: str, qualities: Sequence[QualityAnswer], today: datetime.date) -> str:
    language = atlas.languages[tag]
    if not qualities:
        sets = [name for name, about in atlas.sets.items() if tag in about.languages]
        return f"Nothing is known of judges in {language} yet; {joined(sets)} {'has' if len(sets) == 1 else 'have'} labels of people."
    uses: dict[str, list[str]] = {}
    for quality in qualities:
        if quality.allowed:
            few = f"only {joined(list(map(metric_words, quality.allowed)))}, " if len(quality.allowed) <= _FEW_METRICS else ""
            part = f" ({few}{len(quality.allowed)} of {quality.metrics} metrics)" if len(quality.allowed) < quality.metrics else ""
            gone = " (no longer served)" if atlas.judge(quality.best.judge).is_gone(today) else ""
            uses.setdefault(f"{quality.best.judge}{gone}", []).append(f"{metric_words(quality.quality)}{part}")
    clauses = [f"use {judge} for {joined(for_what)}" for judge, for_what in sorted(uses.items(), key=lambda use: -len(use[1]))]
    for answer, words in ((AGAINST, "use no judge for {}"), (OPEN, "it is not known yet which judge may be used for {}")):
        if matching := [metric_words(quality.quality) for quality in qualities if quality.answer == answer]:
            clauses.append(words.format(joined(matching)))
    return f"In {language}, {'; '.join(clauses)}."


def _next_steps(atlas: Atlas, tag: str, qualities: Sequence[QualityAnswer], today: datetime.date) -> Iterator[NextStep]:
    """What would find out more: a judge asked about labels that there are, or labels of one's own texts.

    Nothing is left to find out of a quality only where a judge that is still served may be used for all of its metrics.
    """
    settled = (quality for quality in qualities if quality.allowed and len(quality.allowed) == quality.metrics)
    answered = {quality.quality for quality in settled if not atlas.judge(quality.best.judge).is_gone(today)}
    labelled = {name: about for name, about in atlas.sets.items() if tag in about.languages}
    single = {row.set for quality in qualities for row in quality.rows if row.verdict == NO_VERDICT}
    open_ones: dict[str, list[str]] = {}
    for name, about in labelled.items():
        asks = next((board for board, tags in about.boards.items() if tag in tags), "")
        if name in single:
            if asks:
                text = f"each text of {name} has one score: let a second person score 30 of them, whose ids stand in FILE"
                yield NextStep(text, f"harness labels page {name} --lang {tag} --items FILE --out pages")
        elif open_qualities := sorted({*about.qualities} - answered):
            open_ones.setdefault(asks, []).append(f"{joined(list(map(metric_words, open_qualities)))} ({name})")
    for asks, labels in sorted(open_ones.items(), reverse=True):
        labels_text = f"people's labels of {', '.join(labels)}"
        if asks:
            yield NextStep(f"ask a judge about {labels_text}", f"harness run --board {asks} --langs {tag} --judge {_MODEL}")
        else:
            yield NextStep(f"{labels_text} are in the catalog", f"harness data list --lang {tag}")
    missing = sorted(
        {row.quality for row in atlas.rows if row.quality} - {quality for about in labelled.values() for quality in about.qualities}
    )
    if missing:
        text = f"nobody has labels of {joined(missing)} in {atlas.languages[tag]}: let people label your own texts"
        yield NextStep(text, f"harness labels page DATA --lang {tag} --out pages")


def _spread_sentences(atlas: Atlas, rows: Sequence[AtlasRow], *, with_language: bool = False) -> Iterator[str]:
    """A sentence for each judge and quality with three sets or more: how far they differ beyond chance. Sets are never averaged."""
    for spread in atlas.across_sets(rows):
        where = f"{atlas.languages[spread.language]}, " if with_language else ""
        kind = "closeness" if spread.closeness else "agreement"
        interval = f"95 % interval {whole_points(spread.lo)} to {points(spread.hi)}"
        yield (
            f"{where}{metric_words(spread.quality)}, {spread.judge}: its {kind} beside people's varies between {joined(spread.sets)} by "
            f"{points(spread.sd)} (standard deviation; {interval}), beyond what the few texts of each set explain."
        )


def _age_sentence(atlas: Atlas, rows: Sequence[AtlasRow], today: datetime.date) -> str:
    """How old the newest judge is, and of how many that is unknown."""
    if not rows:
        return ""
    newest = atlas.newest_judge(rows)
    if not newest.name:
        return f"When {'the judge' if newest.unknown == 1 else f'these {newest.unknown} judges'} came out is not known."
    judge = atlas.judge(newest.name)
    until = f"; its provider served it until {judge.served_until}" if judge.is_gone(today) else ""
    unknown = f" Of {counted(newest.unknown, 'judge')} the age is not known." if newest.unknown else ""
    age = _in_years(newest.released, today)
    return f"The newest judge here is {newest.name}, released on {newest.released}, {age} ago{until}.{unknown}"


def _in_years(earlier: datetime.date, later: datetime.date) -> str:
    """`23 months` or `2 years` from one day to another.

    >>> _in_years(datetime.date(2024, 5, 13), datetime.date(2026, 5, 12)), _in_years(datetime.date(2024, 5, 13), datetime.date(2026, 5, 13))
    ('23 months', '2 years')
    """
    months = max(12 * (later.year - earlier.year) + later.month - earlier.month - (later.day < earlier.day), 0)
    return counted(months, "month") if months < 24 else f"{months // 12} years"
