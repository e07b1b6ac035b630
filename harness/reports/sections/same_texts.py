"""The same texts in several languages: does a judge's score shift with the language?

Parallel items (one `parallel_id` in several languages) hold the text fixed, so that a difference between languages is the judge's, or the
translation's. Consistent scores are not right ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.data.columns import CodedColumn, combination_ids, rows_by_number
from harness.data.dataset import Dataset
from harness.decide.language_parts import FEW_TEXTS, LanguageParts, language_parts
from harness.decide.languages import LEAST_LANGUAGES
from harness.measure.cells import sort_key
from harness.measure.compare import Recording, judged_data
from harness.measure.condition_rows import Row, new_row, put_difference, put_number, section, with_q
from harness.measure.judged_table import JudgedTable, ordered_table
from harness.measure.options import CompareOptions
from harness.measure.parallel_texts import parallel_numbers, text_clusters
from harness.model import CONDITION
from harness.reports.sections.section import OVER_LANGUAGES, Found, Section, SectionTable, cells_at, q_value, tests_shown
from harness.reports.tables.column import COEFFICIENT, COUNT_OR_BLANK, PERCENT_OF_SCALE, PROBABILITY, SHARE, TEXT, Column
from harness.stats import meta_analysis, paired_difference
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.cluster_mean import cluster_mean
from harness.stats.intervals.intervals import MIN_GROUPS

_WORDS = dict(enumerate(("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 2))
LEVELS: tuple[tuple[str, ...], ...] = (("language", "metric"), ("language",))
NO_OTHER = "no readable score of the same text in another language"
_HETEROGENEITY = ("between_sd", "i2", "heterogeneity_p")
NOTE = (
    "Items with one parallel_id are the same text in several languages. shift: the score in this language less the mean of the scores in "
    "the others, text by text, as a share of the scale, + toward the best; intervals and p by text (translations of one text are one), "
    "q over the rows of one level. agreement: the share of pairs of languages in which a text has the same score; fleiss and randolph "
    "correct it for chance. between_sd, i2, heterogeneity_p: how far the mean scores of languages differ beyond chance (random effects; "
    "the languages share their texts, so that chance is overstated). rates_p: of the hypothesis that the judge is right equally often in "
    "all languages. dif_*: differential functioning. rates_p and dif_p are of score tests in which texts are the units. Consistent does "
    "not mean right, and a translation may be better than its original."
)


def same_texts(source: Recording, options: CompareOptions) -> Found | None:
    """The section of parallel texts of a run; None with fewer than eight independent texts that exist in two languages or more.

    `rows` are by language and metric, and by language (`*`); `metrics` has a row for each metric, judge and condition: consistency over
    languages, heterogeneity, and differential functioning, which needs labels of both kinds in every language.
    """
    items = _parallel_items(source.data)
    if not items.any():
        return None
    clusters = text_clusters(source.data)
    if len(np.unique(clusters[items])) < MIN_GROUPS:
        return None
    kept = source.data.only([source.data.items[place] for place in np.flatnonzero(items).tolist()])
    part = msgspec.structs.replace(source, data=kept, judgments=source.judgments.clean.for_items(kept.by_id))
    answers = ordered_table(part.data, part.judgments, options)
    shifts = _shifts(answers)
    rows = [_shift_row(answers, shifts, key, at) for key, at in cells_at(answers, LEVELS)]
    with_q(rows, "shift", lambda row: row["metric"] == "*")
    languages = len({row["language"] for row in rows})
    title = f"The same texts in {_WORDS.get(languages, str(languages))} languages"
    return section(title, rows, note=NOTE, metrics=list(_metrics(part, answers, options)))


def _parallel_items(data: Dataset) -> NDArray[np.bool_]:
    """(items,) whether an item exists in another language too, once in each."""
    number = parallel_numbers(data)
    language = CodedColumn.from_values(item.language for item in data.items).codes.astype(np.int64)
    known = np.flatnonzero(number >= 0)
    times = np.zeros((int(number.max(initial=-1)) + 1, int(language.max(initial=-1)) + 1), np.int64)
    np.add.at(times, (number[known], language[known]), 1)
    fine = ((times > 0).sum(axis=1) > 1) & (times <= 1).all(axis=1)
    return np.asarray((number >= 0) & fine[np.maximum(number, 0)]) if len(fine) else np.zeros(len(number), bool)


def _shifts(answers: JudgedTable) -> tuple[Floats, Floats, Ints]:
    """Of every answer its score and the mean score of the same text in the other languages, as shares of the scale; and its text."""
    parallel, cluster = parallel_numbers(answers.data), text_clusters(answers.data)
    items = np.asarray(answers.item)
    reach = np.array([answers.reach[answers.column("metric").at(row)] for row in range(len(answers))], np.float64)
    own = answers.points[:] / np.where(reach > 0, reach, np.nan)
    columns = [answers.column(name) for name in ("metric", *CONDITION, "order", "repeat")]
    question = combination_ids(columns, parallel[items])
    known = ~np.isnan(own)
    size = int(question.max(initial=-1)) + 1
    total = np.bincount(question, np.where(known, own, 0.0), size)
    count = np.bincount(question, known.astype(np.float64), size)
    left = count[question] - 1
    others = np.where(known & (left > 0), (total[question] - np.where(known, own, 0.0)) / np.maximum(left, 1), np.nan)
    return own, others, cluster[items]


def _shift_row(answers: JudgedTable, shifts: tuple[Floats, Floats, Ints], key: Mapping[str, Any], at: Ints) -> Row:
    own, others, cluster = (values[at] for values in shifts)
    row = new_row(key, n=int((~np.isnan(others)).sum()), unreadable=int((~answers.readable[at]).sum()))
    row["groups"] = len(np.unique(cluster[~np.isnan(others)]))
    found = paired_difference(own, others, cluster)
    put_difference(row, "shift", found, why=NO_OTHER if found.n == 0 else None)
    return row


def _metrics(part: Recording, answers: JudgedTable, options: CompareOptions) -> Iterator[Row]:
    """Consistency, heterogeneity and differential functioning of each metric, judge and condition."""
    judged = judged_data([part], msgspec.structs.replace(options, by=("language", "metric", "judge", "variant", "temperature")))
    cells = {_side(key): (key, at) for key, at in answers.cells(("metric",))}
    cluster = text_clusters(answers.data)[answers.item]
    found = ((dict(key), parts) for key, parts in language_parts(judged, False, ("rates", "dif", "consistency")))
    for own, parts in sorted(found, key=lambda one: sort_key(one[0])):
        key, at = cells.get(_side(own), (None, None))
        if key is not None and at is not None:
            row = new_row(key)
            _put_consistency(row, parts)
            _put_heterogeneity(row, answers, at, cluster[at])
            _put_rates_and_dif(row, parts)
            yield row


def _side(key: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(key.get(name) for name in ("metric", *CONDITION))


def _put_consistency(row: Row, parts: LanguageParts) -> None:
    found, why = parts.consistency, parts.reasons.get("consistency")
    row["n"] = found.items if found else 0
    for name in ("agreement", "fleiss", "randolph"):
        put_number(row, name, getattr(found, name, None), why=why or (found.reason if found else None))
    row["pairs"] = found.pairs if found else None


def _put_heterogeneity(row: Row, answers: JudgedTable, at: Ints, cluster: Ints) -> None:
    """Random-effects summary of the mean score of each language, as a share of the scale."""
    reach = answers.reach[row["metric"]]
    scores = answers.points[at] / reach if reach > 0 else answers.points[at] * np.nan
    known = np.flatnonzero(~np.isnan(scores))
    by_language = rows_by_number(answers.column("language").codes[at][known])
    means = [cluster_mean(scores[known[own]], cluster[known[own]]) for own in by_language if len(own)]
    varied = [mean for mean in means if mean.error > 0]
    found, why = None, f"fewer than {LEAST_LANGUAGES} languages in which the score varies between texts"
    if len(varied) >= LEAST_LANGUAGES:
        found = meta_analysis([mean.mean for mean in varied], [mean.error**2 for mean in varied])
    for name, value in zip(_HETEROGENEITY, (found.tau2**0.5, found.i2, found.q_p) if found else (None, None, None), strict=True):
        put_number(row, name, value, why=found.reason if found else why)


def _put_rates_and_dif(row: Row, parts: LanguageParts) -> None:
    rates, dif, reasons = parts.rates, parts.dif, parts.reasons
    put_number(row, "rates_p", rates.p_groups if rates else None, why=reasons.get("rates"))
    put_number(row, "dif_p", dif.uniform.p_groups if dif else None, why=reasons.get("dif", FEW_TEXTS))
    put_number(row, "dif_size", dif.uniform.delta_nagelkerke if dif else None, why=reasons.get("dif"))
    row["dif_effect"], row["dif_shift"] = (dif.effect, dif.shift) if dif else (None, None)


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
    lambda given: same_texts(given.recording, given.options),
    in_comparisons=True,
    apart=True,
)
