"""A run's rows while its judges are asked: answers by judge, language and metric, and how far they agree with the labels so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from harness.model import JudgeIdentity, Query, Reply, Score
from harness.runs.derivation import ReadingRules, derive_judgments
from harness.runs.plan import PlannedCalls
from harness.runs.preparation import Prepared

_MOST_CALLS = 2_000  # of a run: to read more replies twice would delay them


class LiveRow(msgspec.Struct):
    """What is known of one metric in one language and one judge.

    `total`: answers that this command asks for. `done`: those that came, `unreadable` ones too. `agreement`: sum over the answers with
    labels, `labelled`, of the share of labels that have the same score. `verdict`: in words, once the language is answered.
    """

    judge: str
    language: str
    metric: str
    total: int = 0
    done: int = 0
    unreadable: int = 0
    labelled: int = 0
    agreement: float = 0.0
    verdict: str = ""


class LiveRows:
    """Rows in the order of asking. Agreement is counted where scores are classes; numbers are compared at the end."""

    def __init__(self, prepared: Prepared, rules: ReadingRules) -> None:
        self._prepared, self._rules = prepared, rules
        self._rows: dict[tuple[str, str, str], LiveRow] = {}
        self._people: dict[tuple[str, str], Counter[Score]] = {}

    def __iter__(self) -> Iterator[LiveRow]:
        return iter(list(self._rows.values()))

    def expect(self, identity: JudgeIdentity, calls: PlannedCalls) -> None:
        """Count the calls to a judge. Of a run with more than 2,000, there are no rows."""
        if len(calls) > _MOST_CALLS:
            return
        queries = [call.query for call in calls]
        for query in queries:
            for metric in query.metrics:
                key = (identity.name, query.item.language, metric)
                self._rows.setdefault(key, LiveRow(*key)).total += 1
        labels = self._prepared.data.labels.for_items(query.item.item_id for query in queries)
        for item, metric, score in zip(labels.item, labels.metric, labels.score, strict=True):
            self._people.setdefault((item, metric), Counter())[score] += 1

    def add(self, identity: JudgeIdentity, query: Query, reply: Reply) -> None:
        """Count what a reply says about each metric of its query. A reply to a call without a row is not read."""
        if (identity.name, query.item.language, query.metrics[0]) not in self._rows:
            return
        for judgment in derive_judgments(query, reply, "", identity, self._rules, detect_language=False):
            row = self._rows[identity.name, judgment.language, judgment.metric]
            row.done += 1
            row.unreadable += judgment.score is None
            people = self._people.get((judgment.item_id, judgment.metric))
            if judgment.score is not None and people and self._has_classes(judgment.metric):
                row.labelled += 1
                row.agreement += people[judgment.score] / people.total()

    def _has_classes(self, metric: str) -> bool:
        data = self._prepared.data
        return data.scales[metric].kind != "interval" and metric not in data.label_scales

    def decide(self, verdicts: Iterable[Any]) -> None:
        """Write verdicts, as a report has them, into their rows."""
        for verdict in verdicts:
            if row := self._rows.get((verdict["judge"], verdict["language"], verdict["metric"])):
                row.verdict = verdict["answer"]
