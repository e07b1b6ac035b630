"""Does the ranking of judges change with the language? The best judge of each language, and how alike the rankings are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.content.tags import english_name
from harness.measure.condition_rows import new_row, section
from harness.measure.judged_table import KEYS, JudgedTable
from harness.measure.options import POOLED
from harness.measure.rankings.by_language import language_rankings
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
    return section("Does the ranking of judges change with the language?", rows, note=NOTE, alike=alike)


def ranking_sentence(row: Row) -> str:
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


def best_words(rows: Sequence[Row]) -> str:
    """Return in how many languages each judge is best: `gpt-4 in 5 of 6 languages (probability 40 % to 97 %)`."""
    counts = Counter(row["best"] for row in rows)
    parts = []
    for judge, count in counts.most_common(3):
        chances = [row["probability"] for row in rows if row["best"] == judge]
        span = " to ".join(dict.fromkeys((percent(min(chances)), percent(max(chances)))))
        parts.append(f"{judge} in {count} of {counted(len(rows), 'language')} (probability {span})")
    return f"Best: {', '.join(parts)}." if parts else ""


def _finding(numbers: SectionNumbers) -> str:
    sentences = []
    for row in numbers["alike"]:
        of_metric = [best for best in numbers["rows"] if best["metric"] == row["metric"]]
        sentences.append(f"{ranking_sentence(row)} {best_words(of_metric)}")
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
