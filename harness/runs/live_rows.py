"""Live view of a run while its judges are asked: its rows with their agreement so far, and the first language that is answered."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import takewhile
from typing import Any

import msgspec

from harness.errors import HarnessError
from harness.model import JudgeIdentity, Query, Reply, Score
from harness.runs.derivation import ReadingRules, derive_judgments
from harness.runs.plan import Plan, PlannedCalls
from harness.runs.preparation import Prepared
from harness.store import Store

_MOST_CALLS = 2_000  # of a run: to read or look at more replies twice would delay them
_SECONDS = 5.0  # a run that is done sooner shows everything at once
_SECONDS_BETWEEN_LOOKS = 0.5


class LiveRow(msgspec.Struct):
    """The results so far of one metric in one language and one judge.

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


class FirstLanguage:
    """Looks, after each reply, whether the first language is answered, and gives its part of the run to `tell`, once.

    Its verdicts are then shown while the other languages are asked.
    """

    def __init__(self, prepared: Prepared, plan: Plan, store: Store, tell: Callable[[Prepared], None]) -> None:
        self._prepared, self._store, self._tell = prepared, store, tell
        self._language = prepared.protocol.texts.languages[0]
        self._next_look = time.monotonic() + _SECONDS
        small = len(plan) * len(prepared.protocol.judges.identities) <= _MOST_CALLS
        self._calls = self._own_calls(plan) if small and len(prepared.protocol.texts.languages) > 1 else []
        self._told = not self._calls or self._answered()

    def _own_calls(self, plan: Plan) -> list[str]:
        """The ids of its calls, to all judges. Queries of a language stand together, and those of the first language come first."""
        ids = []
        for identity in self._prepared.protocol.judges.identities:
            queries = zip(plan.queries(), plan.calls(identity).all_call_ids(), strict=True)
            ids += [call_id for _, call_id in takewhile(lambda query: query[0].item.language == self._language, queries)]
        return ids

    def _answered(self) -> bool:
        return all(number is not None for number in self._store.last_attempts(self._calls))

    def look(self) -> None:
        """Called after every reply. What cannot be told now is told with the whole run."""
        if self._told or time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + _SECONDS_BETWEEN_LOOKS
        if self._answered():
            self._told = True
            with suppress(HarnessError):
                language_data = self._prepared.data.only(item for item in self._prepared.data.items if item.language == self._language)
                protocol = self._prepared.protocol.with_fields(languages=(self._language,))
                self._tell(msgspec.structs.replace(self._prepared, data=language_data, protocol=protocol))
