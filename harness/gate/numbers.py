"""The numbers of one source for a policy's limits, by cell, with those of the earlier run beside them where two runs are comparable."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec
import numpy as np

from harness.content.tags import suggest
from harness.data.columns import CodedColumn, combination_ids, first_rows
from harness.decide.cell_tests import CellTests
from harness.decide.gate_measurements import LimitedNumber, agreement_by_item, drop, is_evenly_asked, items_of_cells, unread_shares
from harness.decide.verdicts import Verdict, tests_of_tables, verdicts_of_tests
from harness.gate.policy import AGREEMENT, ANY, NEEDS_BASELINE, Names, Policy
from harness.measure.cells import Cell
from harness.measure.compare import JudgedTables, Recording, align, compare_tables, of_metrics, only_where
from harness.measure.judged_table import JudgedTable, ShownToJudges, item_key
from harness.measure.options import BY_METRIC, MeasureOptions
from harness.model import CONDITION, CellKey, JudgeCondition
from harness.runs import RunResult

_OF_EACH_RUN = ("judge", "data", "langs", "harness", "judgments", "judges", "ci")
"""Parts of a signature that two comparable runs may differ in: data are compared language by language, both are computed now."""


class BaselineProblem(Exception):
    """A limit cannot be held against anything; the message says why."""


class GatedSource(msgspec.Struct, frozen=True):
    """A run or data folder for a gate.

    `signatures` has the signature of each judge as text; with the key `""`, that of every judge. `unanswered` are the cells of a run in
    which calls have no answer (`unanswered_calls`).
    """

    recording: Recording
    options: MeasureOptions
    signatures: Mapping[str, str]
    unanswered: Mapping[CellKey, Unanswered] = {}

    def parts(self, judge: str) -> dict[str, str]:
        """Return the parts of a judge's signature by name."""
        text = self.signatures.get(judge, self.signatures.get("", ""))
        return {name: unquote(value) for name, _, value in (part.partition(":") for part in text.split("|") if part)}


def other_parts(parts: Mapping[str, str], required: Mapping[str, str], whose: str, may_differ: Collection[str] | None = None) -> str:
    """Return the first part of a signature that differs from `required`, as a clause; empty if none does.

    `whose` ends the clause, such as "in the policy". Without `may_differ`, exactly the parts of `required` are compared; else all parts
    but those and the ones of each run.
    """
    names: Sequence[str] = list(required) if may_differ is None else list(dict.fromkeys((*parts, *required)))
    skipped = () if may_differ is None else (*_OF_EACH_RUN, *may_differ)
    for name in names:
        if name not in skipped and parts.get(name, "") != required.get(name, ""):
            return f"{name} is '{parts.get(name, '')}' here and '{required.get(name, '')}' {whose}"
    return ""


def partner_key(key: CellKey, earlier: Collection[CellKey]) -> CellKey:
    """Return the baseline's cell to compare with: of the same judge and condition, else the only one of its language and metric.

    Raises BaselineProblem if there is none, or more than one.
    """
    if key in earlier:
        return key
    candidates = [other for other in earlier if other[:2] == key[:2]]
    if not candidates:
        raise BaselineProblem("the baseline has no numbers for this language and metric")
    if len(candidates) > 1:
        judges = ", ".join(dict.fromkeys(str(other.condition.judge) for other in candidates))
        raise BaselineProblem(f"the baseline has several judges or conditions and none is this one: {judges}")
    return candidates[0]


def same_texts_and_labels(first: Recording, second: Recording, language: str, metric: str) -> bool:
    """Return True if two recordings have the same items and labels in a language and metric."""
    parts = (of_metrics(only_where(source.data, {"language": [language]}), [metric]) for source in (first, second))
    first_hash, second_hash = (data.only(item for item in data.items if item.item_id in data.labelled_metrics).sha256 for data in parts)
    return first_hash == second_hash


class NoNumber(Exception):
    """There is no number to hold a limit against; the message says why."""


class GatedNumbers:
    """The numbers of a source, by the key of the cell: the cells that it has, and those that it should have."""

    def __init__(self, source: GatedSource, policy: Policy, baseline: GatedSource | None) -> None:
        self.source, self.policy, self.baseline = source, policy, baseline
        aligned, options = _align_source(source)
        compared = compare_tables(aligned, options)
        self.notes, self.warnings = compared.notes, compared.warnings
        self.cells: dict[CellKey, Cell] = {CellKey.of(cell.key): cell for cell in compared.cells}
        tests = tests_of_tables(aligned, policy.thresholds)
        self.tests: dict[CellKey, CellTests] = {CellKey.of(test.key): test for test in tests}
        self.verdicts: dict[CellKey, Verdict] = {
            CellKey.of(verdict.key): verdict for verdict in verdicts_of_tests(tests, policy.thresholds)
        }
        self.items = items_of_cells(aligned)
        self.unread = unread_shares(self.items)
        self.unanswered = _unanswered(source, aligned)
        earlier = _align_source(baseline) if baseline else None
        self.earlier = items_of_cells(earlier[0]) if earlier else {}
        self._earlier_unanswered = _unanswered(baseline, earlier[0]) if baseline and earlier else {}
        self._weighted = any(judged.design for judged in aligned.tables)
        self._every = list(dict.fromkeys((*self.cells, *self.unanswered)))

    def keys(self, language: str, metric: str) -> list[CellKey]:
        """Return the cells of a language and metric that the policy means."""
        wanted = (self.policy.judge, self.policy.variant)
        keys = (key for key in self._every if key[:2] == (language, metric))
        return [key for key in keys if all(name in (None, value) for name, value in zip(wanted, key.condition, strict=False))]

    def pairs(self, languages: Names, metrics: Names) -> Iterator[tuple[str, str]]:
        """Yield the languages with metrics that two names mean, without pairs that `*` makes and that the data do not have at all."""
        for language in self._named(languages, "language"):
            for metric in self._named(metrics, "metric"):
                both_exist = language in self._values("language") and metric in self._values("metric")
                exists_together = any(key[:2] == (language, metric) for key in self._every)
                if exists_together or not both_exist or ANY not in (languages, metrics):
                    yield language, metric

    def _named(self, names: Names, what: str) -> tuple[str, ...]:
        return self._values(what) if names == ANY else (names,) if isinstance(names, str) else names

    def _values(self, what: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(getattr(key, what) for key in self._every))

    def missing(self, language: str, metric: str) -> str:
        """Return why a language and metric have no cell, as a clause."""
        for what, name in (("language", language), ("metric", metric)):
            if name not in self._values(what):
                return f"no numbers for the {what} '{name}'.{suggest(name, self._values(what))}".rstrip(".")
        if any(key[:2] == (language, metric) for key in self._every):
            wanted = [f"{what} '{name}'" for what, name in (("judge", self.policy.judge), ("variant", self.policy.variant)) if name]
            return f"no numbers of {' and '.join(wanted)}"
        return "no numbers for this language and metric together"

    def other_signature(self, judge: str) -> str:
        """Return why the policy is not about the judge's numbers; empty if it is."""
        difference = other_parts(self.source.parts(judge), self.policy.signature, "in the policy")
        return f"another signature: {difference}" if difference else ""

    def why_open(self, key: CellKey, limit: str) -> str:
        """Return why a limit that the numbers hold may not pass: questions without an answer, here or in the baseline. Empty if it may."""
        if key in self.unanswered:
            return str(self.unanswered[key])
        if limit == NEEDS_BASELINE and self.baseline is not None:
            partner = partner_key(key, self.earlier)
            return f"in the baseline {self._earlier_unanswered[partner]}" if partner in self._earlier_unanswered else ""
        return ""

    def statistic(self, key: CellKey, name: str) -> LimitedNumber:
        """Return a statistic of a cell in which every item weighs the same however often it was asked. Raises NoNumber without one."""
        cell, items = self.cells[key], self.items.get(key)
        if name not in cell.values:
            raise NoNumber(f"no statistic '{name}'.{suggest(name, list(cell.values))}".rstrip("."))
        if items is not None and not is_evenly_asked(items):
            if name != AGREEMENT or self._weighted:
                raise NoNumber("some items have more repeats than others, which would weigh more; record the same number for each")
            return agreement_by_item(items)
        value, ends = cell.values[name], cell.intervals.get(name)
        reason = cell.undefined.get(name) or cell.undefined.get(f"{name}_ci") or ""
        lower, upper = ends or (math.nan, math.nan)
        return LimitedNumber(math.nan if value is None else value, lower, upper, cell.n_asked, cell.groups, reason)

    def drop(self, key: CellKey) -> LimitedNumber:
        """Return the loss of agreement of a cell. Raises BaselineProblem if there is nothing to compare it with."""
        if self.baseline is None:
            raise BaselineProblem("max_drop needs an earlier run; pass --baseline RUN")
        partner = partner_key(key, self.earlier)
        parts, baseline_parts = self.source.parts(key.condition.judge), self.baseline.parts(partner.condition.judge)
        difference = other_parts(parts, baseline_parts, "there", self.policy.may_differ)
        if difference:
            raise BaselineProblem(f"the baseline has another signature: {difference}")
        if not same_texts_and_labels(self.source.recording, self.baseline.recording, key.language, key.metric):
            raise BaselineProblem("the baseline has other items or labels")
        return drop(self.items[key], self.earlier[partner])


def _align_source(source: GatedSource) -> tuple[JudgedTables, MeasureOptions]:
    options = replace(source.options, by=BY_METRIC.by)
    return align([source.recording], options), options


def _unanswered(source: GatedSource, aligned: JudgedTables) -> Mapping[CellKey, Unanswered]:
    if source.recording.asked is None:
        return source.unanswered
    return {key: unanswered for judged in aligned.tables for key, unanswered in unanswered_rows(source.recording, judged).items()}


class Unanswered(NamedTuple):
    """The number of questions of a cell `without` an answer, of how many, and advice."""

    without: int
    questions: int
    advice: str

    def __str__(self) -> str:
        return f"{self.without:,} of {self.questions:,} questions have no answer; {self.advice}"


_NO_CALL = "run the same command again"
_NO_ROW = 'add their rows, or name in data.toml what the judge was shown ([asked] with rule = "column")'
_FEWER_ROWS = "some texts were asked more often than others; record the same number of repeats for each"


def unanswered_calls(result: RunResult) -> dict[CellKey, Unanswered]:
    """Return the cells of a run in which a labelled question has no answer: calls that were lost, or are still to be made.

    Repeats are questions of their own. The questions are those of the run's plan, so a cell without any answer is among them.
    """
    if not any(result.answers.missing.values()):
        return {}
    labelled, protocol = result.prepared.data.labelled_metrics, result.protocol
    planned: Counter[CellKey] = Counter()
    for query in result.prepared.plan(None).queries():
        condition = query.condition
        if condition.perturbation or condition.shown_source != "none":
            continue
        for metric in labelled.get(query.item.item_id, frozenset()) & set(query.metrics):
            planned[CellKey(query.item.language, metric, condition.of_judge(""))] += 1
    # The number of judgments of labelled questions, by cell.
    judgments, data = result.judgments.clean, result.prepared.data
    pairs = zip(judgments.item, judgments.metric, strict=True)
    labelled_rows = judgments.take(np.fromiter((metric in labelled.get(item, ()) for item, metric in pairs), bool, len(judgments)))
    language = item_key(data, "language").take(labelled_rows.item.recode(data.positions))
    columns = [language, labelled_rows.metric, *(getattr(labelled_rows, name) for name in CONDITION)]
    code = combination_ids(columns, np.zeros(len(labelled_rows), np.int8))
    counts = np.bincount(code).tolist()
    rows = (tuple(_value(column, row) for column in columns) for row in first_rows(code).tolist())
    keys = (CellKey(language, metric, JudgeCondition(*condition)) for language, metric, *condition in rows)
    answered = Counter(dict(zip(keys, counts, strict=True)))
    unanswered = {}
    for judge in protocol.judges.all:
        for of_any, questions in planned.items():
            key = of_any._replace(condition=of_any.condition._replace(judge=judge.name))
            if without := questions - answered[key]:
                unanswered[key] = Unanswered(without, questions, _NO_CALL)
    return unanswered


def unanswered_rows(recording: Recording, judged: JudgedTable) -> dict[CellKey, Unanswered]:
    """Return the cells of recorded judgments in which a labelled text has no row or fewer than others: they were deleted, or never there.

    Every judge and condition of the recording counts as asked about every labelled text, unless `[asked]` names by a column what it was
    shown; so a language whose rows are all gone is found too. It counts as asked about each text of a cell as often as about any other.
    """
    if recording.asked is None:
        return {}
    data = judged.data
    shown_items = ShownToJudges(recording.asked, data, recording.judgments.clean)
    language = item_key(data, "language")
    conditions = combination_ids([getattr(judged.judgments, name) for name in CONDITION], np.zeros(len(judged), np.int8))
    unanswered = {}
    for number, row in enumerate(first_rows(conditions).tolist()):
        condition = JudgeCondition(*(_value(judged.judgments.columns[name], row) for name in CONDITION))
        was_shown = shown_items.under(condition) if recording.asked.rule == "column" else np.ones(len(data.items), bool)
        for metric, votes in judged.labels.items():
            askable = (votes.counts.sum(axis=1) > 0) & was_shown
            cell_rows = (conditions == number) & judged.judgments.metric.equals(metric)
            times = np.bincount(judged.item[cell_rows], minlength=len(data.items))
            for code in np.unique(language.codes[askable]).tolist():
                in_language = times[askable & (language.codes == code)]
                wanted = max(int(in_language.max()), 1) * len(in_language)  # every text is asked as often as the one most often asked
                if missing := wanted - int(in_language.sum()):
                    reason = _FEWER_ROWS if in_language.min() else _NO_ROW
                    unanswered[CellKey(language.values[code], metric, condition)] = Unanswered(missing, wanted, reason)
    return unanswered


def _value(column: CodedColumn, row: int) -> Any:
    code = column.codes[row]
    return column.values[code] if code >= 0 else None
