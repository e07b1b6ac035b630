"""Languages beside each other: does the ranking of judges change with the language, and does a score shift with it when the text stays?

Parallel items (one `parallel_id` in several languages) hold the text fixed, so that a difference between languages is the judge's, or the
translation's. Consistent scores are not right ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from harness.content.tags import english_name
from harness.data.columns import CodedColumn, combination_ids, rows_by_number
from harness.decide.language_comparisons import FEW_TEXTS, LEAST_LANGUAGES, language_parts
from harness.measure.cells import sort_key
from harness.measure.compare import Recording, judged_tables
from harness.measure.condition_rows import Row, new_row, parallel_numbers, put_difference, put_number, section, text_clusters, with_q
from harness.measure.judged_table import KEYS, JudgedTable, ordered_table
from harness.measure.language_rankings import language_rankings
from harness.measure.options import POOLED, MeasureOptions
from harness.model import CONDITION
from harness.reports.sections.section import (
    OVER_LANGUAGES,
    Section,
    SectionNumbers,
    SectionTable,
    cells_at,
    of_answers,
    q_value,
    tests_shown,
)
from harness.reports.tables.columns import (
    COEFFICIENT,
    COUNT,
    COUNT_OR_BLANK,
    PERCENT_OF_SCALE,
    PROBABILITY,
    SHARE,
    TEXT,
    Column,
    metric_words,
)
from harness.reports.tables.columns import Row as ReadRow
from harness.reports.tables.numbers import coefficient, counted, percent
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.shrinkage import meta_analysis
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.intervals.intervals import MIN_GROUPS
from harness.stats.intervals.paired import paired_difference

RANKINGS_NOTE = (
    "agreement: the mean share of a text's annotators who gave the judge's score, of numbers the closeness to their mean; unread answers "
    "agree with nobody. Each judge with its plainest variant, on texts that all judges were asked about. probability: the share of "
    "resamples of independent texts in which the judge is the best. tau: Kendall's tau of two languages' rankings, the mean over pairs of "
    "languages, with percentiles of resamples; few texts make it smaller. reversed: pairs of judges of which one is shown better in one "
    "language and the other in another (Student's t over groups, Holm over all pairs and languages)"
)


def rank_by_language(answers: JudgedTable) -> SectionNumbers | None:
    """Return the best judge of each language and metric, and of each metric how alike the rankings are; None without two languages."""
    key = dict.fromkeys(KEYS, POOLED)
    rows, alike = [], []
    for ranking in language_rankings(answers.clean, answers.drawing["seed"]):
        rows += [
            new_row(
                {**key, "language": best.language, "metric": ranking.metric},
                value=best.value,
                probability=best.probability,
                texts=best.texts,
                best=best.judge,
            )
            for best in ranking.best
        ]
        row = new_row(
            {**key, "metric": ranking.metric},
            judges=len(ranking.judges),
            languages=len(ranking.best),
            best_judges=len({best.judge for best in ranking.best}),
            tau=ranking.tau,
            tau_ci=ranking.tau_ci,
            tau_by_pair=ranking.tau_by_pair,
            reversed=ranking.reversed,
        )
        row["undefined"] = {"tau": "two judges have one order"} if ranking.tau is None else {}
        alike.append(row)
    return section("Does the ranking of judges change with the language?", rows, note=RANKINGS_NOTE, alike=alike)


def ranking_sentence(row: ReadRow) -> str:
    """Return what the rankings of one metric say: how alike they are, and which order is reversed."""
    metric, reversals = metric_words(row["metric"]), row["reversed"]
    parts = []
    if row["tau"] is not None:
        ends = f" [{coefficient(row['tau_ci'][0])} to {coefficient(row['tau_ci'][1])}]"
        parts.append(f"rankings of two languages have τ {coefficient(row['tau'])} on average{ends}")
    if reversals:
        judge, other, better_in, worse_in = reversals[0]
        more = f", and so do {len(reversals) - 1} more pairs" if len(reversals) > 1 else ""
        where = f"in {english_name(better_in)} and worse in {english_name(worse_in)}"
        parts.append(f"{judge} is shown better than {other} {where}{more}: the ranking changes")
    else:
        parts.append("no two judges are shown to change places")
    return f"{metric}: {'; '.join(parts)}."


def best_words(rows: Sequence[ReadRow]) -> str:
    """Return in how many languages each judge is best: `gpt-4 in 5 of 6 languages (probability 40 % to 97 %)`."""
    counts = Counter(row["best"] for row in rows)
    parts = []
    for judge, count in counts.most_common(3):
        chances = [row["probability"] for row in rows if row["best"] == judge]
        span = " to ".join(dict.fromkeys((percent(min(chances)), percent(max(chances)))))
        parts.append(f"{judge} in {count} of {counted(len(rows), 'language')} (probability {span})")
    return f"Best: {', '.join(parts)}." if parts else ""


def _describe_rankings(numbers: SectionNumbers) -> str:
    sentences = []
    for row in numbers["alike"]:
        of_metric = [best for best in numbers["rows"] if best["metric"] == row["metric"]]
        sentences.append(f"{ranking_sentence(row)} {best_words(of_metric)}")
    return " ".join(sentences[:3]) + (f" {len(sentences) - 3} more metrics in the table." if len(sentences) > 3 else "")


LANGUAGE_RANKINGS = Section(
    "language_rankings",
    "Is the best judge of one language the best of another?",
    _describe_rankings,
    (
        SectionTable(
            (
                Column("best", "best judge", TEXT, "the judge that agrees most with people, of those that were asked in all languages"),
                Column("value", "agreement", SHARE, "its mean agreement with a text's annotators, or closeness to their mean"),
                Column("probability", "probability", SHARE, "share of resamples of the texts in which it is the best"),
                Column("texts", "texts", COUNT, "that all judges were asked about"),
            ),
            levels=(("language", "metric"),),
        ),
        SectionTable(
            (
                Column("judges", "judges", COUNT, "that were asked in all of the languages"),
                Column("languages", "languages", COUNT, "with 8 independent texts or more"),
                Column("best_judges", "best judges", COUNT, "how many different judges are the best of a language"),
                Column("tau", "τ between languages", COEFFICIENT, "Kendall's tau of two languages' rankings, the mean over pairs"),
                Column(
                    "reversed",
                    "reversed",
                    TEXT,
                    "pairs of judges that are shown to change places",
                    text=lambda row: str(len(row["reversed"])),
                ),
            ),
            part="alike",
            levels=(("metric",),),
            title="how alike the rankings are",
        ),
    ),
    of_answers(rank_by_language),
    in_comparisons=True,
)


_WORDS = dict(enumerate(("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 2))
LEVELS: tuple[tuple[str, ...], ...] = (("language", "metric"), ("language",))
NO_OTHER = "no readable score of the same text in another language"
_HETEROGENEITY = ("between_sd", "i2", "heterogeneity_p")
SAME_TEXTS_NOTE = (
    "Items with one parallel_id are the same text in several languages. shift: the score in this language less the mean of the scores in "
    "the others, text by text, as a share of the scale, + toward the best; intervals and p by text (translations of one text are one), "
    "q over the rows of one level. agreement: the share of pairs of languages in which a text has the same score; fleiss and randolph "
    "correct it for chance. between_sd, i2, heterogeneity_p: how far the mean scores of languages differ beyond chance (random effects; "
    "the languages share their texts, so that chance is overstated). rates_p: of the hypothesis that the judge is right equally often in "
    "all languages. dif_*: differential functioning. rates_p and dif_p are of score tests in which texts are the units. Consistent does "
    "not mean right, and a translation may be better than its original."
)


def compare_same_texts(source: Recording, options: MeasureOptions) -> SectionNumbers | None:
    """Return the section of parallel texts of a run; None with fewer than eight independent texts that exist in two languages or more.

    `rows` are by language and metric, and by language (`*`); `metrics` has a row for each metric, judge and condition: consistency over
    languages, heterogeneity, and differential functioning, which needs labels of both kinds in every language.
    """
    # A mask (items,) of the items that exist in another language too, once in each.
    number = parallel_numbers(source.data)
    language = CodedColumn.from_values(item.language for item in source.data.items).codes.astype(np.int64)
    numbered = np.flatnonzero(number >= 0)
    times = np.zeros((int(number.max(initial=-1)) + 1, int(language.max(initial=-1)) + 1), np.int64)
    np.add.at(times, (number[numbered], language[numbered]), 1)
    fine = ((times > 0).sum(axis=1) > 1) & (times <= 1).all(axis=1)
    items = np.asarray((number >= 0) & fine[np.maximum(number, 0)]) if len(fine) else np.zeros(len(number), bool)
    if not items.any():
        return None
    clusters = text_clusters(source.data)
    if len(np.unique(clusters[items])) < MIN_GROUPS:
        return None
    parallel = source.data.only([source.data.items[position] for position in np.flatnonzero(items).tolist()])
    part = msgspec.structs.replace(source, data=parallel, judgments=source.judgments.clean.for_items(parallel.by_id))
    answers = ordered_table(part.data, part.judgments, options)
    shifts = _score_shifts(answers)
    rows = []
    for key, cell in cells_at(answers, LEVELS):
        score, mean_of_others, cluster = (values[cell] for values in shifts)
        compared = ~np.isnan(mean_of_others)
        row = new_row(key, n=int(compared.sum()), unreadable=int((~answers.readable[cell]).sum()))
        row["groups"] = len(np.unique(cluster[compared]))
        difference = paired_difference(score, mean_of_others, cluster)
        put_difference(row, "shift", difference, why=NO_OTHER if difference.n == 0 else None)
        rows.append(row)
    with_q(rows, "shift", lambda row: row["metric"] == "*")
    languages = len({row["language"] for row in rows})
    title = f"The same texts in {_WORDS.get(languages, str(languages))} languages"
    return section(title, rows, note=SAME_TEXTS_NOTE, metrics=list(_metric_rows(part, answers, options)))


def _score_shifts(answers: JudgedTable) -> tuple[Floats, Floats, Ints]:
    """Return, for every answer, its score and the mean score of the same text in other languages, as shares of the scale; and its text."""
    parallel, cluster = parallel_numbers(answers.data), text_clusters(answers.data)
    items = np.asarray(answers.item)
    reach = np.array([answers.reach[answers.column("metric").at(row)] for row in range(len(answers))], np.float64)
    score = answers.points[:] / np.where(reach > 0, reach, np.nan)
    columns = [answers.column(name) for name in ("metric", *CONDITION, "order", "repeat")]
    question = combination_ids(columns, parallel[items])
    scored = ~np.isnan(score)
    size = int(question.max(initial=-1)) + 1
    total = np.bincount(question, np.where(scored, score, 0.0), size)
    count = np.bincount(question, scored.astype(np.float64), size)
    other_count = count[question] - 1
    mean_of_others = np.where(
        scored & (other_count > 0), (total[question] - np.where(scored, score, 0.0)) / np.maximum(other_count, 1), np.nan
    )
    return score, mean_of_others, cluster[items]


def _metric_rows(part: Recording, answers: JudgedTable, options: MeasureOptions) -> Iterator[Row]:
    """Yield consistency, heterogeneity and differential functioning of each metric, judge and condition."""
    judged = judged_tables([part], replace(options, by=("language", "metric", "judge", "variant", "temperature")))
    cells = {_condition_key(key): (key, cell) for key, cell in answers.cells(("metric",))}
    cluster = text_clusters(answers.data)[answers.item]
    parts_of_cells = ((dict(key), parts) for key, parts in language_parts(judged, False, ("rates", "dif", "consistency")))
    for cell_key, parts in sorted(parts_of_cells, key=lambda entry: sort_key(entry[0])):
        key, cell = cells.get(_condition_key(cell_key), (None, None))
        if key is not None and cell is not None:
            row = new_row(key)
            agreement, reasons = parts.consistency, parts.reasons
            row["n"] = agreement.items if agreement else 0
            for name in ("agreement", "fleiss", "randolph"):
                why = reasons.get("consistency") or (agreement.reason if agreement else None)
                put_number(row, name, getattr(agreement, name, None), why=why)
            row["pairs"] = agreement.pairs if agreement else None
            # the random-effects summary of the mean score of each language, as a share of the scale
            reach = answers.reach[row["metric"]]
            scores = answers.points[cell] / reach if reach > 0 else answers.points[cell] * np.nan
            scored = np.flatnonzero(~np.isnan(scores))
            by_language = rows_by_number(answers.column("language").codes[cell][scored])
            means = [cluster_mean(scores[scored[rows]], cluster[cell][scored[rows]]) for rows in by_language if len(rows)]
            varied = [mean for mean in means if mean.error > 0]
            summary, why = None, f"fewer than {LEAST_LANGUAGES} languages in which the score varies between texts"
            if len(varied) >= LEAST_LANGUAGES:
                summary = meta_analysis([mean.mean for mean in varied], [mean.error**2 for mean in varied])
            values = (summary.tau2**0.5, summary.i2, summary.q_p) if summary else (None, None, None)
            for name, value in zip(_HETEROGENEITY, values, strict=True):
                put_number(row, name, value, why=summary.reason if summary else why)
            rates, dif = parts.rates, parts.dif
            put_number(row, "rates_p", rates.p_groups if rates else None, why=reasons.get("rates"))
            put_number(row, "dif_p", dif.uniform.p_groups if dif else None, why=reasons.get("dif", FEW_TEXTS))
            put_number(row, "dif_size", dif.uniform.delta_nagelkerke if dif else None, why=reasons.get("dif"))
            row["dif_effect"], row["dif_shift"] = (dif.effect, dif.shift) if dif else (None, None)
            yield row


def _condition_key(key: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(key.get(name) for name in ("metric", *CONDITION))


_TEXTS = Column("n", "texts", COUNT_OR_BLANK, "answers about texts that exist in several languages, with a readable score there")
_SHIFTS = (
    _TEXTS,
    Column("unreadable", "unread", COUNT_OR_BLANK, "answers without a readable score"),
    Column(
        "shift",
        "shift",
        PERCENT_OF_SCALE,
        "the score in this language minus the mean of the scores in the others, text by text; + is toward the best",
    ),
    q_value("shift_q", "the shift"),
)
_METRICS = (
    _TEXTS,
    Column("agreement", "same score", SHARE, "the share of pairs of languages in which a text has the same score"),
    Column("fleiss", "Fleiss' κ", COEFFICIENT, "the same beyond chance, languages as raters"),
    Column("randolph", "Randolph's κ", COEFFICIENT, "the same beyond chance, all classes equally likely"),
    Column(
        "between_sd",
        "spread of languages",
        SHARE,
        "the standard deviation between the languages' mean scores beyond chance, as a share of the scale",
    ),
    Column("i2", "I²", SHARE, "the share of the variation between languages that is not chance"),
    Column("rates_p", "p of equal agreement", PROBABILITY, "of the hypothesis that the judge is right equally often in all languages"),
    Column("dif_p", "p of no DIF", PROBABILITY, "of no differential functioning of the languages"),
    Column("dif_effect", "DIF", TEXT, "its size by Nagelkerke's R²: negligible, moderate or large"),
)

SAME_TEXTS = Section(
    "same_texts",
    "Does the score shift with the language when the text stays the same? The second table has the consistency over languages by "
    "metric. Consistent does not mean right.",
    tests_shown("shift", "kinder", "harsher"),
    (SectionTable(_SHIFTS), SectionTable(_METRICS, "metrics", levels=OVER_LANGUAGES)),
    lambda inputs: compare_same_texts(inputs.recording, inputs.options),
    in_comparisons=True,
    standalone=True,
)
