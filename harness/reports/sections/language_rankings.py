"""Does the ranking of judges change with the language? The best judge of each language, and how alike the rankings are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from harness.content.tags import english_name
from harness.measure.condition_rows import new_row, section
from harness.measure.judged_table import KEYS, JudgedTable
from harness.measure.options import POOLED
from harness.measure.rankings.by_language import LanguageRanking, language_rankings
from harness.reports.sections.section import Section, SectionNumbers, SectionTable, of_answers
from harness.reports.tables.column import COEFFICIENT, COUNT, SHARE, TEXT, Column, Row
from harness.reports.tables.numbers import coefficient, counted, percent
from harness.reports.tables.titles import metric_words

NOTE = (
    "agreement: the mean share of a text's annotators who gave the judge's score, of numbers the closeness to their mean; unread answers "
    "agree with nobody. Each judge with its plainest variant, on texts that all judges were asked about. probability: the share of "
    "resamples of independent texts in which the judge is the best. tau: Kendall's tau of two languages' rankings, the mean over pairs of "
    "languages, with percentiles of resamples; few texts make it smaller. reversed: pairs of judges of which one is shown better in one "
    "language and the other in another (Student's t over groups, Holm over all pairs and languages)"
)


def rank_by_language(answers: JudgedTable) -> SectionNumbers | None:
    """Return the best judge of each language and metric, and of each metric how alike the rankings are; None without two languages."""
    rankings = list(language_rankings(answers.clean, answers.drawing["seed"]))
    key = dict.fromkeys(KEYS, POOLED)
    rows = [
        new_row({**key, "language": best.language, "metric": ranking.metric}, **fields)
        for ranking in rankings
        for best in ranking.best
        for fields in [{name: value for name, value in msgspec.structs.asdict(best).items() if name != "language"} | {"best": best.judge}]
    ]
    for row in rows:
        row["judge"] = POOLED
    alike = [
        new_row(
            {**key, "metric": ranking.metric},
            judges=len(ranking.judges),
            languages=len(ranking.best),
            best_judges=len({best.judge for best in ranking.best}),
            tau=ranking.tau,
            tau_ci=ranking.tau_ci,
            tau_by_pair=ranking.tau_by_pair,
            reversed=ranking.reversed,
        )
        for ranking in rankings
    ]
    for row in alike:
        row["undefined"] = {"tau": "two judges have one order"} if row["tau"] is None else {}
    return section("Does the ranking of judges change with the language?", rows, note=NOTE, alike=alike)


def ranking_sentence(ranking: LanguageRanking | Row) -> str:
    """Return what the rankings of one metric say: who is best where, how alike they are, and which order is reversed."""
    row = msgspec.structs.asdict(ranking) if isinstance(ranking, LanguageRanking) else ranking
    metric, reversals = metric_words(row["metric"]), row["reversed"]
    parts = []
    if row["tau"] is not None:
        ends = f" [{coefficient(row['tau_ci'][0])} to {coefficient(row['tau_ci'][1])}]"
        parts.append(f"rankings of two languages have τ {coefficient(row['tau'])} on average{ends}")
    if reversals:
        one, other, here, there = reversals[0]
        more = f", and so do {len(reversals) - 1} more pairs" if len(reversals) > 1 else ""
        parts.append(
            f"{one} is shown better than {other} in {english_name(here)} and worse in {english_name(there)}{more}: the ranking changes"
        )
    else:
        parts.append("no two judges are shown to change places")
    return f"{metric}: {'; '.join(parts)}."


def best_words(rows: Sequence[Row]) -> str:
    """Return in how many languages each judge is best: `gpt-4 in 5 of 6 languages (probability 40 % to 97 %)`."""
    counts = Counter(row["best"] for row in rows)
    parts = []
    for judge, count in counts.most_common(3):
        chances = [row["probability"] for row in rows if row["best"] == judge]
        ends = dict.fromkeys((percent(min(chances)), percent(max(chances))))
        span = " to ".join(ends)
        parts.append(f"{judge} in {count} of {counted(len(rows), 'language')} (probability {span})")
    return f"Best: {', '.join(parts)}." if parts else ""


def _finding(numbers: SectionNumbers) -> str:
    sentences = []
    for row in numbers["alike"]:
        best = [one for one in numbers["rows"] if one["metric"] == row["metric"]]
        sentences.append(f"{ranking_sentence(row)} {best_words(best)}")
    return " ".join(sentences[:3]) + (f" {len(sentences) - 3} more metrics in the table." if len(sentences) > 3 else "")


LANGUAGE_RANKINGS = Section(
    "language_rankings",
    "Is the best judge of one language the best of another?",
    _finding,
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
