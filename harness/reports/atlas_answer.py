"""The answer of the atlas about a language or a judge in words, and its matrix of languages and qualities; pages and pictures show them."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from harness.content.specs import Quality
from harness.judge_atlas.atlas import (
    AGAINST,
    ALPHA,
    CORRECTED,
    NO_VERDICT,
    OPEN,
    USE,
    Atlas,
    AtlasRow,
    AtlasSet,
    MetricAnswer,
    QualityAnswer,
    answers_by_quality,
    wrong_uses,
)
from harness.reports.answer.parts import (
    COPIED,
    ONE_PERSON,
    SIGNS,
    UNREADABLE,
    Answer,
    Card,
    NextStep,
    against_words,
    deciding,
    joined,
    unknown_cause,
)
from harness.reports.tables.numbers import counted, difference, percent, points, probability_counts, whole_points

QUALITIES: tuple[str, ...] = get_args(Quality)
OTHER = "other questions"
STYLES = {USE: "good", CORRECTED: "good", AGAINST: "bad", OPEN: "open"}
ATLAS_SIGNS = {"good": SIGNS["good"], "gone": "(✓)", "bad": SIGNS["bad"], "open": SIGNS["open"], "none": "·"}
"""Signs of the styles of squares and cards. `gone`: only judges that are no longer served may be used; `none`: labels wait for a judge."""
_PEOPLE = {"native": "native speakers", "people": "people"}
_CONDITIONS = {"released": "as released"}  # a release that does not say how its judge was asked
_SURE = "Each judge is tested by itself: a wrong 'use' has about a 5 % chance over all its tests in one set."
_MODEL = "PROVIDER/MODEL"
_NAMED = 8  # metrics that a card names; of more, the number
_NAMED_IN_LEAD = 2


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
    """One quality in one language. `note` says what it rests on.

    `styles` has `(style, number of metrics)` of each of its answers: `good`, `gone`, `bad` and `open`, or `none` where people's labels wait
    for a judge. `words` name the judge that may be used, if there is one.
    """

    styles: tuple[tuple[str, int], ...]
    words: str
    note: str

    @property
    def style(self) -> str:
        """The style of all metrics; `split` where they differ."""
        return self.styles[0][0] if len(self.styles) == 1 else "split"

    @property
    def signs(self) -> tuple[tuple[str, str], ...]:
        """`(style, text)`: the sign of the style; of a split square, a sign with a number for each of its answers."""
        if self.style != "split":
            return ((self.style, ATLAS_SIGNS[self.style]),)
        return tuple((style, f"{ATLAS_SIGNS[style]} {count}") for style, count in self.styles)

    @property
    def last_use(self) -> str:
        """The style behind whose sign the judge stands: that of the last use, if there is one."""
        return next((style for style, _ in reversed(self.styles) if style in ("good", "gone")), "")

    @property
    def sign(self) -> str:
        """The signs in one text: `✓ 1 ✗ 7`."""
        return " ".join(text for _, text in self.signs)


@dataclass(frozen=True)
class LanguageRow:
    """A language with a square for each quality that it has labels of: `QUALITIES` in their order, then other questions by name."""

    tag: str
    name: str
    squares: Mapping[str, QualitySquare]

    @property
    def uses(self) -> set[str]:
        """`good` if a judge that is served may be used for some metric, and `gone` if one that is no longer served may be."""
        return {style for square in self.squares.values() for style, _ in square.styles} & {"good", "gone"}

    @property
    def best_first(self) -> list[tuple[str, QualitySquare]]:
        """Return the squares with their qualities: those with a judge that may be used first, those that wait for a judge last."""
        order = [*ATLAS_SIGNS]
        return sorted(self.squares.items(), key=lambda square: order.index(square[1].styles[0][0]))

    @property
    def other_questions(self) -> tuple[tuple[str, str, int], ...]:
        """`(style, sign, number of metrics)` of the questions that are not among `QUALITIES`."""
        styles = Counter[str]()
        for quality, square in self.squares.items():
            if quality not in QUALITIES:
                styles.update(dict(square.styles))
        return tuple((style, sign, styles[style]) for style, sign in ATLAS_SIGNS.items() if styles[style])


def gone_judges(atlas: Atlas, today: datetime.date) -> frozenset[str]:
    """Return the names of the judges that are no longer served on a day."""
    return frozenset(name for name, judge in atlas.judges.items() if judge.is_gone(today))


def language_answer(atlas: Atlas, tag: str, rows: Sequence[AtlasRow], today: datetime.date) -> AtlasAnswer:
    """Return the answer about a language from its rows, or from some of them; next steps are given for all of them only.

    `today` decides which judges are served no more.
    """
    qualities, name = answers_by_quality(rows, gone_judges(atlas, today)), atlas.languages[tag]
    complete = len(rows) == sum(row.language == tag for row in atlas.rows)
    cards = [card for quality in qualities for card in _quality_cards(atlas, quality)]
    cards.sort(key=lambda card: list(ATLAS_SIGNS).index(card.style))
    steps = tuple(_next_steps(atlas, tag, qualities)) if complete else ()
    answer = Answer(f"{name}: which judge for what", tuple(cards), _SURE if qualities else "", steps)
    return AtlasAnswer(
        _lead_sentence(atlas, tag, qualities), answer, _age_sentence(atlas, rows, today), tuple(_spread_sentences(atlas, rows))
    )


def judge_answer(atlas: Atlas, judge: str, rows: Sequence[AtlasRow], today: datetime.date) -> AtlasAnswer:
    """Return the answer about a judge from its rows: of each quality, the metrics with the languages in which they have an answer."""
    gone, tags = atlas.judge(judge).is_gone(today), {row.language for row in rows}
    cells: dict[tuple[str, str], dict[str, list[str]]] = {}
    answers: list[str] = []
    for tag in sorted(tags, key=lambda tag: atlas.languages[tag]):
        for quality in answers_by_quality(row for row in rows if row.language == tag):
            for metric in quality.metrics:
                by_metric = cells.setdefault((STYLES[metric.answer], quality.quality), {})
                by_metric.setdefault(metric_words(metric.metric), []).append(atlas.languages[tag])
                answers.append(STYLES[metric.answer])
    heads = {"good": "use it for", "bad": "do not use it for", "open": "unknown for"}
    cards = [
        Card(
            "gone" if gone and style == "good" else style,
            metric_words(quality),
            f"{heads[style]} {_with_languages(by_metric, len(tags))}.".replace(f" for {metric_words(quality)} in", " in"),
        )
        for (style, quality), by_metric in cells.items()
    ]
    cards.sort(key=lambda card: (list(ATLAS_SIGNS).index(card.style), card.heading))
    uses, against, unknown = map(answers.count, ("good", "bad", "open"))
    questions = counted(len(answers), "question")
    opened = f"; {unknown} {'is' if unknown == 1 else 'are'} unknown" if unknown else ""
    subject = "it " if gone else f"{judge} "
    if uses:
        title = f"{subject}may be used for {uses} of {questions}{f', not for {against}' if against else ''}{opened}"
    elif against:
        title = f"do not use {subject}for {against} of {questions}{opened}"
    else:
        title = f"it is unknown whether {subject}may be used"
    title = f"{judge} is no longer served; {title}" if gone else title if uses else f"{title[0].upper()}{title[1:]}"
    lead = f"A question is a metric in a language; it has verdicts in {counted(len(tags), 'language')}."
    reasons: dict[str, list[float]] = {}  # what decided against it, how often, and by how much at most
    for row in rows:
        if row.verdict == AGAINST and row.obstacles:
            words, number, _ = deciding({"obstacles": row.obstacles.split(), "gap": row.gap, "base_diff": row.over_constant})
            reasons.setdefault(words, []).append(-(number or 0.0))
    clauses = [
        f"{words} in {len(numbers)}{f' (up to {points(max(numbers))})' if max(numbers) else ''}"
        for words, numbers in sorted(reasons.items(), key=lambda reason: -len(reason[1]))
    ]
    lead += f" What decided against it: {joined(clauses)}." if clauses else ""
    lead += " It is a toy: its verdicts show what a measurement looks like." if atlas.judge(judge).toy else ""
    lead += probability_words(rows)
    answer = Answer(title, tuple(cards), _SURE, ())
    return AtlasAnswer(lead, answer, _age_sentence(atlas, rows, today), tuple(_spread_sentences(atlas, rows, with_language=True)))


def probability_words(rows: Sequence[AtlasRow]) -> str:
    """Return in how many places the probabilities of a judge hold, with a blank before it; empty where it gave none."""
    counts = Counter(row.probabilities for row in rows if row.probabilities)
    where = "languages" if len({row.metric for row in rows if row.probabilities}) == 1 else "questions"
    return f" Its probabilities {probability_counts(counts, where)}." if counts else ""


def _with_languages(by_metric: Mapping[str, Sequence[str]], languages: int) -> str:
    """Return `insult in Danish and Thai; bias in 12 of 28 languages`, the metrics with the most languages first."""
    parts = []
    for metric, names in sorted(by_metric.items(), key=lambda metric: -len(set(metric[1]))):
        names = list(dict.fromkeys(names))
        parts.append(f"{metric} in {joined(names) if len(names) <= _NAMED else f'{len(names)} of {languages} languages'}")
    return "; ".join(parts)


def atlas_matrix(atlas: Atlas, today: datetime.date, tags: Sequence[str] | None = None) -> list[LanguageRow]:
    """Return a row for each language, by name; or for some, in their order."""
    order = sorted(atlas.languages, key=lambda tag: atlas.languages[tag]) if tags is None else tags
    gone = gone_judges(atlas, today)
    rows = []
    for tag in order:
        qualities = answers_by_quality((row for row in atlas.rows if row.language == tag), gone)
        squares = {quality.quality: quality_square(quality) for quality in qualities}
        labelled = {quality for about in atlas.sets.values() if tag in about.languages for quality in about.qualities}
        squares |= {quality: QualitySquare((("none", 1),), "no judge yet", "people's labels") for quality in labelled - squares.keys()}
        names = [*(quality for quality in QUALITIES if quality in squares), *sorted(squares.keys() - {*QUALITIES})]
        rows.append(LanguageRow(tag, atlas.languages[tag], {quality: squares[quality] for quality in names}))
    return rows


def first_finding(rows: Iterable[LanguageRow], judged: Collection[str]) -> tuple[str, str]:
    """Return in how many languages of rows a judge may be used today, and in how many only one that is no longer served; else empty."""
    uses = [row.uses for row in rows if row.tag in judged]
    served, gone = sum("good" in styles for styles in uses), sum(styles == {"gone"} for styles in uses)
    finding = f"In none of {counted(len(uses), 'language')} may a judge be used that is served today."
    if served:
        finding = f"In {served} of {counted(len(uses), 'language')} a judge served today may be used for one metric or more."
    return finding, f"In {gone} more, only judges that are no longer served may be." if gone else ""


def style_of(metric: MetricAnswer) -> str:
    """Return `good`, `gone`, `bad` or `open`: how the answer about a metric is shown."""
    return "gone" if metric.gone else STYLES[metric.answer]


def quality_square(quality: QualityAnswer) -> QualitySquare:
    """Return the answers about a quality in one square."""
    styles = Counter(map(style_of, quality.metrics))
    counts = tuple((style, styles[style]) for style in ATLAS_SIGNS if styles[style])
    uses = quality.with_answers(USE, CORRECTED)
    judges, n = list(dict.fromkeys(metric.best.judge for metric in uses)), len({row.judge for row in quality.rows})
    if uses:
        words = judges[0] if len(judges) == 1 else f"{len(judges)} judges"
    else:
        words = {AGAINST: "use no judge", OPEN: "unknown"}.get(quality.answer, "")
    sets = f" in {len(quality.sets)} sets" if len(quality.sets) > 1 else ""
    return QualitySquare(counts, words, f"{counted(len(quality.metrics), 'metric')}, {counted(n, 'judge')}{sets}")


def full_sentence(card: Card) -> str:
    """Return a card in one sentence, with its evidence."""
    return f"{card.sentence.removesuffix('.')} ({card.note})." if card.note else card.sentence


def _quality_cards(atlas: Atlas, quality: QualityAnswer) -> Iterator[Card]:
    """Yield a card for each judge that may be used, one for all metrics for which no judge may be, and one for those that are unknown."""
    uses: dict[tuple[str, str], list[MetricAnswer]] = {}
    for metric in quality.with_answers(USE, CORRECTED):
        uses.setdefault((metric.best.judge, metric.answer), []).append(metric)
    for (judge, answer), metrics in uses.items():
        how = " with corrected means only" if answer == CORRECTED else ""
        gone = ", which is no longer served" if metrics[0].gone else ""
        best = max((metric.best for metric in metrics), key=lambda row: row.texts)
        yield _card(quality, metrics, style_of(metrics[0]), f"use {judge}{how}", f"{gone}.", _evidence(atlas, best))
    judges = {row.judge for row in quality.rows}
    if against := quality.with_answers(AGAINST):
        closest = "" if len(judges) == 1 else "even the closest judge: "
        reasons = [f"{metric_words(metric.metric)} {reason_words(metric.best)}" for metric in against[:3]]
        more = f"; {len(against) - 3} more" if len(against) > 3 else ""
        head = f"do not use {against[0].best.judge}" if len(judges) == 1 else "use no judge"
        yield _card(quality, against, "bad", head, ".", f"{closest}{'; '.join(reasons)}{more}")
    if unknown := quality.with_answers(OPEN):
        by_cause: dict[str, list[str]] = {}
        for metric in unknown:
            by_cause.setdefault(cause_words(metric.best), []).append(metric_words(metric.metric))
        causes = [cause if len(by_cause) == 1 else f"{joined(metrics)}: {cause}" for cause, metrics in by_cause.items()]
        unfit = max(unknown, key=lambda metric: metric.unfit)
        n_judges = len({row.judge for row in unfit.rows})
        unfit_judges = f"; do not use {unfit.unfit} of {counted(n_judges, 'judge')}" if unfit.unfit else ""
        head = f"unknown whether {unknown[0].best.judge} may be used" if len(judges) == 1 else "unknown"
        yield _card(quality, unknown, "open", head, f"{unfit_judges}.", "; ".join(causes))


def _card(quality: QualityAnswer, metrics: Sequence[MetricAnswer], style: str, head: str, end: str, note: str) -> Card:
    """Return the card of some metrics of a quality, which names them where they are not all."""
    heading = metric_words(quality.quality)
    if len(metrics) == len(quality.metrics):
        return Card(style, heading, f"{head}{end}", note)
    return Card(style, f"{heading}, {len(metrics)} of {len(quality.metrics)} metrics", f"{head} for {_name(quality, metrics)}{end}", note)


def _name(quality: QualityAnswer, metrics: Sequence[MetricAnswer], most: int = _NAMED) -> str:
    """Return the names of metrics, with their sets where the quality has several; of more than `most`, the first ones and the number."""
    names = [metric_words(metric.metric) + (f" ({metric.set})" if len(quality.sets) > 1 else "") for metric in metrics]
    return joined(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most} more"


def reason_words(row: AtlasRow, number: Callable[[float], str] = points) -> str:
    """Return what is shown against a judge, with the number that decided, as `number` writes it."""
    return joined(against_words(row.obstacles.split(), row.gap, row.over_constant, number) or [AGAINST])


def cause_words(row: AtlasRow) -> str:
    """Return why it is unknown whether a judge may be used, with what would tell it."""
    if row.needed:
        return f"label {row.needed:,} more"
    if row.verdict == NO_VERDICT:
        causes = {"unread": UNREADABLE, "copied": COPIED}
        return next((causes[name] for name in row.obstacles.split() if name in causes), ONE_PERSON)
    return unknown_cause(row.verdict, row.obstacles.split(), needed=row.verdict == "too few labels", settled=False)


def metric_words(metric: str) -> str:
    """Return a metric or quality inside a sentence: its name without underscores."""
    return metric.replace("_", " ")


def condition_words(row: AtlasRow, rows: Iterable[AtlasRow] = ()) -> str:
    """Return a judge, and how it was asked; of `rows`, which hold the row, the judge alone where it was asked in one way about the set."""
    conditions = {other.condition for other in rows if (other.judge, other.set) == (row.judge, row.set)} or {row.condition, ""}
    return f"{row.judge}, {_CONDITIONS.get(row.condition, row.condition)}" if row.condition and len(conditions) > 1 else row.judge


def independent(row: AtlasRow) -> str:
    """Return the effective number of independent texts of a row; a dash where people are not compared with."""
    if row.agreement is None:
        return "–"
    return f"{min(row.effective_groups or row.groups, row.groups):,.0f}"


def evidence(atlas: Atlas, rows: Sequence[AtlasRow], today: datetime.date) -> list[dict[str, str]]:
    """Return a line of text for each row, by column; the columns stand in the order in which pages show them."""
    gone = gone_judges(atlas, today)
    return [
        {
            "language": atlas.languages[row.language],
            "quality": metric_words(row.quality),
            "metric": metric_words(row.metric),
            "judge": condition_words(row, rows),
            "verdict": (row.verdict if STYLES.get(row.verdict) else "unknown") + (" (bar)" if row.basis == "bar" else ""),
            "because": reason_words(row, lambda share: str(whole_points(share)))
            if row.verdict == AGAINST
            else ("no longer served" if row.judge in gone else "")
            if STYLES.get(row.verdict)
            else cause_words(row),
            "judge agrees": percent(row.agreement),
            "people agree": percent(row.people),
            "difference": difference(row.gap),
            "at worst": difference(row.bound),
            "over a constant": difference(row.over_constant),
            "probabilities": row.probabilities,
            "texts": f"{row.texts:,}",
            "count as": independent(row),
            "annotators": atlas.sets[row.set].annotators,
            "labels": atlas.sets[row.set].labels,
            "released": released_words(atlas, row.judge, today),
            "set": f"{row.set}, board {row.board}" if row.board else row.set,
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
        f"{uses} of {counted(len(rows), 'verdict')} {'is' if uses == 1 else 'are'} 'use'. There are {families:,} comparisons of one judge "
        f"with one set that could say 'use'. Each has about a {percent(ALPHA)} chance of a wrong 'use', so about {round(expected, 2):g} of "
        f"them {'is' if expected == 1 else 'are'} expected to have one."
    )


def language_counts(atlas: Atlas) -> str:
    """Return in how many languages there is a verdict, and which others have people's labels alone."""
    judged = {row.language for row in atlas.rows}
    others = [name for tag, name in sorted(atlas.languages.items(), key=lambda pair: pair[1]) if tag not in judged]
    without = f"; {counted(len(others), 'further language')} with people's labels and no judge yet ({joined(others)})" if others else ""
    return f"{counted(len(judged), 'language')} with a verdict{without}"


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
        "count as: texts of one source say less, so they count as fewer independent texts. A verdict speaks for texts like these.",
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
    groups = f", which count as {stand_for:,.0f} independent ones" if round(stand_for) < row.texts else ""
    return f"{metric_words(row.metric)} in {row.set}: {agrees}; {counted(row.texts, 'text')}{groups}"


def _lead_sentence(atlas: Atlas, tag: str, qualities: Sequence[QualityAnswer]) -> str:
    language = atlas.languages[tag]
    if not qualities:
        sets = [name for name, about in atlas.sets.items() if tag in about.languages]
        return f"Nothing is known of judges in {language} yet; {joined(sets)} {'has' if len(sets) == 1 else 'have'} labels of people."
    clauses: dict[str, list[str]] = {}
    for quality in qualities:
        by_head: dict[str, list[MetricAnswer]] = {}
        for metric in quality.metrics:
            gone = " (no longer served)" if metric.gone else ""
            head = {AGAINST: "use no judge for {}", OPEN: "unknown: {}"}.get(metric.answer, f"use {metric.best.judge}{gone} for {{}}")
            by_head.setdefault(head, []).append(metric)
        for head, metrics in by_head.items():
            what = metric_words(quality.quality)
            if len(metrics) < len(quality.metrics):
                metric_names = f" ({_name(quality, metrics)})" if len(metrics) <= _NAMED_IN_LEAD else ""
                what = f"{len(metrics)} of {len(quality.metrics)} metrics of {what}{metric_names}"
            clauses.setdefault(head, []).append(what)
    order = sorted(clauses, key=lambda head: (head.startswith("unknown"), head.startswith("use no judge"), -len(clauses[head])))
    return f"In {language}, {'; '.join(head.format(joined(clauses[head])) for head in order)}."


def _next_steps(atlas: Atlas, tag: str, qualities: Sequence[QualityAnswer]) -> Iterator[NextStep]:
    """Yield what would tell more: to ask a judge about existing labels, to let a second person score texts, to label texts of your own.

    First come questions with labels that no judge answers. Nothing is left to find out of a quality only where a judge that is still
    served may be used for all of its metrics.
    """
    answered = {quality.quality for quality in qualities if quality.is_settled}
    labelled = {name: about for name, about in atlas.sets.items() if tag in about.languages}
    single = {row.set for quality in qualities for row in quality.rows if row.verdict == NO_VERDICT}
    open_ones: dict[str, list[str]] = {}
    for name, about in labelled.items():
        asks = next((board for board, tags in about.boards.items() if tag in tags), "")
        if name not in single and (open_qualities := sorted({*about.qualities} - answered)):
            quality_words = [metric_words(quality) if quality in QUALITIES else f"“{metric_words(quality)}”" for quality in open_qualities]
            open_ones.setdefault(asks, []).append(f"{joined(quality_words)} ({name})")
    for asks, labels in sorted(open_ones.items(), reverse=True):
        labels_text = f"people's labels of {', '.join(labels)}"
        if asks:
            yield NextStep(f"ask a judge about {labels_text}", f"harness run --board {asks} --langs {tag} --judge {_MODEL}")
        else:
            yield NextStep(f"{labels_text} are in the catalog", f"harness data list --lang {tag}")
    for name in sorted(single & {*labelled}):
        if any(tag in tags for tags in labelled[name].boards.values()):
            text = f"let a second person score 30 texts of {name}, as each has one score; the comparison ends in the command for the pages"
            yield NextStep(text, f"harness compare {name} --langs {tag}")
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
    age = in_years(newest.released, today)
    return f"The newest judge here is {newest.name}, released on {newest.released}, {age} ago{until}.{unknown}"


OLD = 24  # months after which the newest judge of a language is old evidence


def wanted_languages(atlas: Atlas, today: datetime.date) -> list[tuple[str, str]]:
    """Return `(tag, why)` of the languages in which labels of native speakers are wanted most, by name: nobody asked a judge there, or the
    newest judge is old, or its age is unknown.
    """
    wanted = []
    for tag in sorted(atlas.languages, key=lambda tag: atlas.languages[tag]):
        rows = [row for row in atlas.rows if row.language == tag]
        newest = atlas.newest_judge(rows)
        if not rows:
            wanted.append((tag, "people's labels, and no judge was asked yet"))
        elif not newest.name:
            wanted.append((tag, "how old the judges are is not known"))
        elif 12 * (today.year - newest.released.year) + today.month - newest.released.month >= OLD:
            wanted.append((tag, f"the newest judge is of {newest.released}, {in_years(newest.released, today)} ago"))
    return wanted


def in_years(earlier: datetime.date, later: datetime.date) -> str:
    """Return `23 months` or `2 years` from one day to another.

    >>> in_years(datetime.date(2024, 5, 13), datetime.date(2026, 5, 12)), in_years(datetime.date(2024, 5, 13), datetime.date(2026, 5, 13))
    ('23 months', '2 years')
    """
    months = max(12 * (later.year - earlier.year) + later.month - earlier.month - (later.day < earlier.day), 0)
    return counted(months, "month") if months < 24 else f"{months // 12} years"
