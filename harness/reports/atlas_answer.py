"""The answer of the atlas about a language or a judge in words, and its matrix of languages and qualities; pages and pictures show them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from harness.content.specs import Quality
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
from harness.reports.answer_parts import SIGNS, Answer, Card, NextStep, joined
from harness.reports.tables.numbers import counted, difference, percent, points, whole_points

QUALITIES: tuple[str, ...] = get_args(Quality)
OTHER = "other questions"
WAITING = "·"  # people's labels wait for a judge
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


@dataclass(frozen=True)
class QualitySquare:
    """One quality in one language: `good`, `bad`, `open`, or `none` where people's labels wait for a judge; words and what they rest on.

    `part` is `1 of 8` where the judge may be used for some metrics only. `gone`: the judge that is named is no longer served.
    """

    style: str
    words: str
    note: str
    part: str = ""
    gone: bool = False

    @property
    def sign(self) -> str:
        return SIGNS.get(self.style, WAITING)


@dataclass(frozen=True)
class LanguageRow:
    """A language with a square for each of `QUALITIES`, None where there are no labels, and the other questions by sign and count."""

    tag: str
    name: str
    squares: tuple[QualitySquare | None, ...]
    other_questions: tuple[tuple[str, str, int], ...]


def language_answer(atlas: Atlas, tag: str, rows: Sequence[AtlasRow], today: datetime.date) -> AtlasAnswer:
    """Return the answer about a language from its rows, or from some of them; next steps are given for all of them only.

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
    """Return the answer about a judge from its rows, language by language; its lead alone says that it is no longer served."""
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


def atlas_matrix(atlas: Atlas, today: datetime.date, tags: Sequence[str] | None = None) -> list[LanguageRow]:
    """Return a row for each language, by name; or for some, in their order."""
    order = sorted(atlas.languages, key=lambda tag: atlas.languages[tag]) if tags is None else tags
    return [_language_row(atlas, tag, today) for tag in order]


def _language_row(atlas: Atlas, tag: str, today: datetime.date) -> LanguageRow:
    by_quality = {quality.quality: quality for quality in answers_by_quality(row for row in atlas.rows if row.language == tag)}
    labelled = {quality for about in atlas.sets.values() if tag in about.languages for quality in about.qualities}
    squares = tuple(
        _quality_square(atlas, by_quality[quality], today)
        if quality in by_quality
        else QualitySquare("none", "no judge yet", "people's labels")
        if quality in labelled
        else None
        for quality in QUALITIES
    )
    other_styles = [STYLES[quality.answer] for quality in by_quality.values() if quality.quality not in QUALITIES]
    other_styles += ["none"] * len(labelled - by_quality.keys() - {*QUALITIES})
    counts = tuple((style, sign, other_styles.count(style)) for style, sign in (*SIGNS.items(), ("none", WAITING)) if style in other_styles)
    return LanguageRow(tag, atlas.languages[tag], squares, counts)


def _quality_square(atlas: Atlas, quality: QualityAnswer, today: datetime.date) -> QualitySquare:
    style, sets = STYLES[quality.answer], counted(quality.sets, "set")
    say = sets if quality.agreeing == quality.sets else f"{quality.agreeing} of {sets}"
    if quality.allowed:
        part = f"{len(quality.allowed)} of {quality.metrics}" if len(quality.allowed) < quality.metrics else ""
        note = f"{part} metrics · {say}" if part else say
        return QualitySquare(style, quality.best.judge, note, part, atlas.judge(quality.best.judge).is_gone(today))
    judges = counted(len({row.judge for row in quality.rows}), "judge")
    if quality.answer == AGAINST:
        return QualitySquare(style, "use no judge", f"{judges} · {say}")
    against = sum(row.verdict == AGAINST for row in quality.rows)
    most = f"{against} of {len(quality.rows)} against · " if against else ""
    return QualitySquare(style, "not known", f"{most}{judges} · {say}")


def full_sentence(card: Card) -> str:
    """Return a card in one sentence, with its evidence."""
    return f"{card.sentence.removesuffix('.')} ({card.note})."


def _quality_card(atlas: Atlas, quality: QualityAnswer, today: datetime.date, prefix: str = "") -> Card:
    """Return the answer about one quality; its note is the evidence and what it rests on."""
    gone = ", no longer served" if atlas.judge(quality.best.judge).is_gone(today) else ""
    judge, names = f"{quality.best.judge}{gone}", {row.judge for row in quality.rows}
    judges = quality.best.judge if len(names) == 1 else counted(len(names), "judge")
    note = _evidence(atlas, quality.best)
    closest = f"the closest: {note}" if len(names) == 1 else f"the closest: {judge}; {note}"
    if all(row.verdict == NO_VERDICT for row in quality.rows):
        text = f"not known of {judges}, because nobody can say how far people agree"
    elif quality.allowed:
        part = f" for {joined(list(map(metric_words, quality.allowed)))} only" if len(quality.allowed) < quality.metrics else ""
        how = " with corrected means only" if quality.answer == CORRECTED else ""
        text = f"use {quality.best.judge}{part}{how}{gone}{', but sets differ' if quality.differ else ''}"
    elif quality.answer == AGAINST and len(names) == 1:
        text = f"do not use {judge}"
    elif quality.answer == AGAINST:
        text, note = f"use no judge; every verdict on {judges} is against it", closest
    else:
        against = against_words(quality)
        text, note = f"not known yet of {judge if len(names) == 1 else judges}{f'; {against}' if against else ''}", closest
    return Card(STYLES[quality.answer], f"{prefix}{metric_words(quality.quality)}", f"{text}.", note)


def against_words(quality: QualityAnswer) -> str:
    """Return how many verdicts speak against the judges; empty if none does."""
    against, count = sum(row.verdict == AGAINST for row in quality.rows), len(quality.rows)
    return f"{against} of {counted(count, 'verdict')} {'is' if against == 1 else 'are'} against use" if against else ""


def metric_words(metric: str) -> str:
    """Return a metric or quality inside a sentence: its name without underscores."""
    return metric.replace("_", " ")


def condition_words(row: AtlasRow) -> str:
    """Return a judge, and how it was asked."""
    return f"{row.judge}, {row.condition}" if row.condition else row.judge


def independent(row: AtlasRow) -> str:
    """Return the effective number of independent texts of a row; a dash where people are not compared with."""
    if row.agreement is None:
        return "–"
    return f"{min(row.effective_groups or row.groups, row.groups):,.0f}"


def evidence(atlas: Atlas, rows: Iterable[AtlasRow], today: datetime.date) -> list[dict[str, str]]:
    """Return a line of text for each row, by column; the columns stand in the order in which pages show them."""
    return [
        {
            "language": atlas.languages[row.language],
            "quality": metric_words(row.quality),
            "metric": metric_words(row.metric),
            "judge": condition_words(row),
            "verdict": f"{row.verdict} (bar)" if row.basis == "bar" else row.verdict,
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
    """Return how many verdicts are *use*, and how many of them to expect wrong; empty where no row could be *use*."""
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
    """Return `good`, `bad` or `open`: how a verdict of a row is coloured."""
    return STYLES.get(verdict, "open")


def legend(rows: Sequence[AtlasRow]) -> tuple[str, ...]:
    """Return the meaning of the columns of the evidence of some rows, in lines."""
    bar = "(bar): one person labelled each text, so the judge was held against a bar for each class and not against people's agreement."
    return (
        "judge agrees, people agree: the share of equal scores of the judge with people, and of people with each other.",
        "Where scores are numbers, it is their closeness.",
        "difference: the first minus the second, in percentage points. At worst: its lower bound; 'use' needs it above −10.",
        "over a constant: agreement with the labels minus that of one answer given to everything, in points.",
        *([bar] if any(row.basis == "bar" for row in rows) else []),
        "as if: for how many independent texts they stand; texts of one source say less. A verdict speaks for texts like these.",
    )


def set_words(atlas: Atlas, name: str) -> str:
    """Return the title of a set, and who labelled it."""
    about = atlas.sets[name]
    part = "; only a part of it was compared, because its origin was out of reach" if about.partial else ""
    return f"{name}: {about.title} (labels: {who(about)}, {about.annotators} a text{part})"


def who(about: AtlasSet) -> str:
    """Return who gave the labels of a set; native speakers only where the release says so."""
    return "native speakers" if about.labels == "native" else "people; the release does not say that they are native speakers"


def released_words(atlas: Atlas, judge: str, today: datetime.date) -> str:
    """Return when the model behind a judge was released, and whether its provider has ended it; `unknown` where nobody says."""
    judge_card = atlas.judge(judge)
    when = judge_card.released.isoformat() if judge_card.released else "unknown"
    return f"{when}, served until {judge_card.served_until}" if judge_card.is_gone(today) else when


def _evidence(atlas: Atlas, row: AtlasRow) -> str:
    kind = "closeness to" if row.closeness else "agreement with"
    if row.verdict == NO_VERDICT:
        labels = f"{kind} the labels {percent(row.right)}, {difference(row.over_constant)} points beside one constant answer"
        return f"{metric_words(row.metric)} in {row.set}: one score a text; {condition_words(row)}: {labels}; {counted(row.texts, 'text')}"
    if row.basis == "bar":
        agrees = f"agreement with one person's labels {percent(row.right)}, against a bar for each class"
        return f"{metric_words(row.metric)} in {row.set}: {agrees}; {counted(row.texts, 'text')}"
    people = _PEOPLE[atlas.sets[row.set].labels]
    agrees = f"{kind} {people} {percent(row.agreement)}, of {people} with each other {percent(row.people)}"
    stand_for = min(row.effective_groups or row.groups, row.groups)
    groups = f", as if {stand_for:,.0f} independent ones" if round(stand_for) < row.texts else ""
    return f"{metric_words(row.metric)} in {row.set}: {agrees}; {counted(row.texts, 'text')}{groups}"


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
    """Yield what would tell more: to ask a judge about existing labels, or to label texts of your own.

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
    """Yield a sentence for each judge and quality with three sets or more: how far they differ beyond chance. Sets are never averaged."""
    for spread in atlas.across_sets(rows):
        where = f"{atlas.languages[spread.language]}, " if with_language else ""
        kind = "closeness" if spread.closeness else "agreement"
        interval = f"95 % interval {whole_points(spread.lo)} to {points(spread.hi)}"
        yield (
            f"{where}{metric_words(spread.quality)}, {spread.judge}: its {kind} beside people's varies between {joined(spread.sets)} by "
            f"{points(spread.sd)} (standard deviation; {interval}), beyond what the few texts of each set explain."
        )


def _age_sentence(atlas: Atlas, rows: Sequence[AtlasRow], today: datetime.date) -> str:
    """Return the age of the newest judge, and the number of judges whose age is unknown."""
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
    """Return `23 months` or `2 years` from one day to another.

    >>> _in_years(datetime.date(2024, 5, 13), datetime.date(2026, 5, 12)), _in_years(datetime.date(2024, 5, 13), datetime.date(2026, 5, 13))
    ('23 months', '2 years')
    """
    months = max(12 * (later.year - earlier.year) + later.month - earlier.month - (later.day < earlier.day), 0)
    return counted(months, "month") if months < 24 else f"{months // 12} years"
