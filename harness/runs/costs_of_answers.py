"""The costs of a run's answers by judge, and what people would take for the same."""

from __future__ import annotations

import statistics
from collections import Counter
from pathlib import Path

import msgspec

from harness.content import Library
from harness.data.folders import located
from harness.data.further_tables import reading_seconds
from harness.errors import UsageError
from harness.runs.prices import ALWAYS
from harness.runs.results import RunResult, date_asked, run_record


class JudgeCost(msgspec.Struct, frozen=True):
    """The calls of one judge in one language.

    `texts` counts the texts that were asked about. `dollars` is the cost in US dollars; None if no price is known.
    `tokens_per_character` as in `Spent`. `replaced` and `replaced_dollars` are for replies whose call was asked again, beside the others.
    """

    judge: str
    language: str
    calls: int
    texts: int
    dollars: float | None
    tokens_per_character: float | None
    replaced: int = 0
    replaced_dollars: float | None = None

    @property
    def per_thousand(self) -> float | None:
        """US dollars for 1,000 texts, asked as this run asked them; None without a price or a text."""
        return None if self.dollars is None or not self.texts else 1000 * self.dollars / self.texts


class PeopleCost(msgspec.Struct, frozen=True):
    """The time that people took in one language: `readings` of `texts` by `annotators` in `seconds`; `wage` is US dollars for an hour."""

    language: str
    annotators: int
    texts: int
    readings: int
    seconds: float
    median_seconds: float
    wage: float

    @property
    def per_thousand(self) -> float:
        """The wage of one person who labels 1,000 texts, by the mean time of a text."""
        return 1000 * self.seconds / self.readings / 3600 * self.wage


class RunCosts(msgspec.Struct, frozen=True):
    """The costs of a run: `judges` by judge and language; `people` by language, where a wage was named.

    `priced_on` are the days of the prices, `asked_on` is the day of the first calls (UTC); empty where no record says.
    """

    judges: tuple[JudgeCost, ...]
    people: tuple[PeopleCost, ...]
    priced_on: tuple[str, ...]
    asked_on: str


def run_costs(result: RunResult, wage: float | None = None) -> RunCosts:
    """Return the costs of a run. Money comes from its run.json, which has the prices; `wage` is what people earn in an hour.

    Raises UsageError for a wage where no labelling page recorded how long people took.
    """
    record = run_record(result.folder.parent.parent, result.folder.name) or {}
    prices = (price["as_of"] for price in record.get("prices", {}).values() if price)
    people: tuple[PeopleCost, ...] = ()
    if wage is not None:
        rows_of: dict[str, list[tuple[str, str, float]]] = {}
        for item, annotator, seconds in people_times(result.protocol.texts.data, result.prepared.library):
            if item in result.prepared.data.by_id:
                rows_of.setdefault(result.prepared.data.by_id[item].language, []).append((item, annotator, seconds))
        people = tuple(
            PeopleCost(
                language,
                annotators=len({annotator for _, annotator, _ in rows}),
                texts=len({item for item, _, _ in rows}),
                readings=len(rows),
                seconds=sum(seconds for _, _, seconds in rows),
                median_seconds=statistics.median(seconds for _, _, seconds in rows),
                wage=wage,
            )
            for language, rows in sorted(rows_of.items())
        )
    spent_on_record = record.get("spent", {})
    items, judgments = result.prepared.data.by_id, result.judgments
    costs = []
    for judge, by_language in result.answers.spent.items():
        texts = Counter(items[name].language for name in judgments.item.take(judgments.judge.equals(judge)).used)
        for language, spent in by_language.items():
            recorded = spent_on_record.get(judge, {}).get(language, {})
            of_answers = (spent.calls, texts[language], recorded.get("cost"), spent.tokens_per_character)
            costs.append(JudgeCost(judge, language, *of_answers, spent.replaced, recorded.get("replaced_cost")))
    return RunCosts(tuple(costs), people, tuple(sorted(set(prices) - {ALWAYS})), date_asked(record))


def people_times(folder: Path | str | None, library: Library) -> list[tuple[str, str, float]]:
    """Return the times that `reading_seconds` reads. Raises UsageError where there are none, so that nobody pays for calls first."""
    readings = reading_seconds(located(Path(folder), library)) if folder else []
    if not readings:
        raise UsageError(
            f"--wage needs the time that people took, and {f'{folder} has none' if folder else 'a board has none'}: labelling pages "
            "record it, and 'harness labels import' keeps it in seen.jsonl of the data folder"
        )
    return readings
