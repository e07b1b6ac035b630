"""A run's report: cells by metric and by task, and the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import msgspec

from harness.content.specs import DatasetCard
from harness.data.dataset import Dataset
from harness.data.folders import how_to_get
from harness.data.judgments import Judgments
from harness.decide.options import DecisionOptions
from harness.decide.verdicts import Verdict, verdicts
from harness.errors import UsageError
from harness.judges import traits_of
from harness.measure.cells import Cell
from harness.measure.compare import CI_METHOD, compare
from harness.measure.options import BY_METRIC, of_rule
from harness.measure.recordings import recording, signatures
from harness.measure.summaries import LanguageSummary, pooled_differences, summaries
from harness.model import CONDITION, ConditionRow, Failure, RealisedPerturbation, Score
from harness.reports.answer.next_steps import LabelPages, label_pages
from harness.reports.sections.section import SectionInput
from harness.reports.sections.section_registry import run_sections
from harness.runs import SET_ASIDE, RunAnswers, RunProtocol
from harness.text import short_repr

SCHEMA_VERSION = 3


class RunCoverage(ConditionRow, frozen=True, kw_only=True):
    """With sealed labels, one judge in one language under one condition: the judgments `asked`, those with a score, and the `failures`."""

    language: str
    asked: int
    read: int
    failures: dict[str, int]

    @property
    def coverage(self) -> float:
        """The share of judgments with a score."""
        return self.read / self.asked


class Report(msgspec.Struct, frozen=True):
    """Everything that a report shows. Deterministic: no clock, no host, no cost."""

    schema_version: int
    run: str
    title: str
    constructed_labels: bool
    unreviewed: tuple[str, ...]  # languages whose texts no native reader has read
    signatures: dict[str, str]
    ci_method: str
    summaries: tuple[LanguageSummary, ...]
    verdicts: tuple[Verdict, ...]
    by_metric: tuple[Cell, ...]
    cells: tuple[Cell, ...]
    missing: dict[str, int]
    answered_by: dict[str, dict[str, int]] = {}  # judge -> model name as the provider gave it -> calls
    unreviewed_instructions: tuple[str, ...] = ()  # languages whose own instructions were used and no native reader has read
    left_out: dict[str, dict[str, int]] = {}  # judge -> parameter that it does not take -> calls
    few_shot: dict[str, Any] = {}  # what examples were shown, and which classes have none
    ablations: dict[str, Any] = {}  # a section for each that the run contains
    unlabelled: bool = False  # the data have no labels, and no board seals any
    sealed: tuple[RunCoverage, ...] = ()  # of a run on a board whose labels are sealed: all that can be said of it
    spans: dict[str, dict[str, int]] = {}  # judge -> errors that it marked, and how many of them have no place in the text
    reasoning: dict[str, dict[str, int]] = {}  # judge -> replies in which it marks reasoning, and its characters
    notes: tuple[str, ...] = ()  # of replies that are not as usual, and of continuous scores
    warnings: tuple[str, ...] = ()  # those notes that a reader has to know, whatever else is shown
    failures: tuple[dict[str, Any], ...] = ()  # judgments of each judge and condition, and how many of them could not be read, by kind
    native_data: dict[str, tuple[str, ...]] = {}  # with constructed labels: dataset cards with native ones, by language
    get_native_data: dict[str, str] = {}  # for each of these cards the command that fetches it, with its size and licence
    pages: LabelPages = LabelPages()  # how people label more of the data folder

    def __repr__(self) -> str:
        return short_repr(self, self.run, cells=len(self.cells), verdicts=len(self.verdicts))

    def as_json(self) -> dict[str, Any]:
        """Return one object for programs, its cells flat."""
        flat = {name: [cell.flat() for cell in getattr(self, name)] for name in ("by_metric", "cells", "verdicts")}
        return msgspec.structs.asdict(self) | flat

    @property
    def moved_aliases(self) -> dict[str, list[str]]:
        """`{judge: other names that answered}`: a name that is answered by another one may be answered by a third tomorrow."""
        aliases = {judge: [name for name in names if name and judge.partition("/")[2] != name] for judge, names in self.answered_by.items()}
        return {judge: names for judge, names in aliases.items() if traits_of(judge).is_named_by_provider and names}


class AboutRun(msgspec.Struct, frozen=True):
    """Facts about a run that a report shows beside its judgments.

    Attributes:
        answers: what the replies say, by judge.
        unreviewed, unreviewed_instructions: languages whose texts, or own instructions, no native reader has read.
        realised: the results of perturbations.
        absent: the classes without an example, by language, task and metric.
        examples: the development items that examples were taken from; None: those of the data.
        native_data: the dataset cards with native labels, by language.
        study_facts: what the study of the run states beside judgments and protocol (`Study.facts`).
    """

    answers: RunAnswers = msgspec.field(default_factory=RunAnswers)
    unreviewed: Sequence[str] = ()
    unreviewed_instructions: Sequence[str] = ()
    realised: Sequence[RealisedPerturbation] = ()
    absent: Mapping[tuple[str, str, str], Sequence[Score]] = {}
    examples: Dataset | None = None
    native_data: Mapping[str, Sequence[DatasetCard]] = {}
    study_facts: Mapping[str, Any] = {}


def report(
    name: str,
    protocol: RunProtocol,
    judgments: Judgments,
    data: Dataset,
    training: Dataset,
    about: AboutRun = AboutRun(),
    decision: DecisionOptions = DecisionOptions(),
) -> Report:
    """Return the whole report of a run. `decision` are the thresholds of its verdicts."""
    answers = about.answers
    source = recording(judgments, data, training, name, protocol.judges.panels)
    native = about.native_data if protocol.texts.constructed else {}
    comparable = len(judgments) and not data.sealed
    rule = of_rule(protocol.rule.majority, protocol.rule.annotators)
    by_metric = tuple(compare([source], replace(rule, by=BY_METRIC.by)).cells) if comparable else ()
    by_task = compare([source], rule) if comparable else None
    pooled = pooled_differences(source, rule) if comparable else {}
    verdicts_of_run = verdicts([source], rule, decision) if comparable else ()
    signed = decision.with_bar() if any(verdict.basis == "bar" for verdict in verdicts_of_run) else decision
    decided = signed.signed([data.about]) if comparable else ""
    return Report(
        schema_version=SCHEMA_VERSION,
        run=name,
        title=protocol.texts.title,
        constructed_labels=protocol.texts.constructed,
        unreviewed=tuple(about.unreviewed),
        signatures={
            judge: str(msgspec.structs.replace(signature, decide=decided, left_out=tuple(sorted(answers.left_out.get(judge, {})))))
            for judge, signature in signatures(protocol, judgments).items()
        },
        ci_method=CI_METHOD,
        summaries=summaries(by_metric, pooled),
        verdicts=verdicts_of_run,
        by_metric=by_metric,
        cells=tuple(by_task.cells) if by_task else (),
        missing=dict(answers.missing),
        answered_by=dict(answers.answered_by),
        unreviewed_instructions=tuple(about.unreviewed_instructions),
        left_out={judge: dict(calls) for judge, calls in answers.left_out.items() if calls},
        spans=dict(answers.spans),
        reasoning=dict(answers.reasoning),
        few_shot=_describe_examples(protocol, about.examples or training, about.absent),
        ablations=run_sections(
            SectionInput(source, rule, about.realised, protocol.questions.metrics, protocol, about.study_facts),
            labelled=bool(comparable),
        ),
        unlabelled=data.sealed and protocol.texts.board is None,
        sealed=run_coverage(judgments, data) if data.sealed else (),
        notes=(
            *_origin_of_examples(protocol, about.examples),
            *answers.warnings,
            *(by_task.notes if by_task else ()),
            *(data.about.notes if protocol.texts.data else ()),
        ),
        warnings=(*_origin_of_examples(protocol, about.examples), *answers.warnings, *(by_task.warnings if by_task else ())),
        failures=failures_by_condition(judgments),
        native_data={tag: tuple(card.id for card in cards) for tag, cards in native.items()},
        pages=label_pages(PurePath(protocol.texts.data).name, data) if protocol.texts.data else LabelPages(),
        get_native_data={card.id: how_to_get(card) for cards in native.values() for card in cards},
    )


def only_languages(report: Report, tags: Sequence[str]) -> Report:
    """Return the rows of some languages; their verdicts stay corrected for all tests of the run. Raises UsageError without any row."""

    def select_rows(rows: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(row for row in rows if (row.language if isinstance(row, LanguageSummary) else row["language"]) in tags)

    selected = msgspec.structs.replace(
        report, **{name: select_rows(getattr(report, name)) for name in ("summaries", "verdicts", "by_metric", "cells")}
    )
    if not selected.summaries:
        languages = ", ".join(dict.fromkeys(summary.language for summary in report.summaries))
        raise UsageError(f"run {report.run} has nothing in {', '.join(tags)}; its languages: {languages}")
    return selected


def _describe_examples(protocol: RunProtocol, training: Dataset, absent: Mapping[tuple[str, str, str], Sequence[Score]]) -> dict[str, Any]:
    """Return whether the scores of a run's examples were constructed with the texts, and which classes have no example; else nothing."""
    if not any(condition.variant.shots for condition in protocol.questions.conditions):
        return {}
    dev = {item.item_id for item in training.items if item.split == "dev"}
    constructed = any(label.source == "constructed" for label in training.labels if label.item_id in dev)
    without = [
        {"language": lang, "task": task, "metric": metric, "classes": list(scores)} for (lang, task, metric), scores in absent.items()
    ]
    return {"constructed": constructed, "classes_without_example": without}


def _origin_of_examples(protocol: RunProtocol, development: Dataset | None) -> Iterator[str]:
    """Yield the sentence on examples from a development part that was drawn for this run."""
    origin, plus, _ = protocol.wording.examples.partition("+")
    if development is None or not plus:
        return
    items, groups = len(development.items), len({item.group for item in development.items})
    aside = " Where every group would be judged, one in five is set aside for them: fewer texts are scored." if origin == SET_ASIDE else ""
    yield f"The examples of few-shot come from {items:,} labelled texts of {groups:,} groups that no judge is asked about.{aside}"


def run_coverage(judgments: Judgments, data: Dataset) -> tuple[RunCoverage, ...]:
    """Return the coverage by language, judge and condition, in that order; judgments of perturbed texts are left out."""
    clean = judgments.clean
    languages = (data.by_id[item].language for item in clean.item)
    failures = _count_failures(languages, *(getattr(clean, name) for name in CONDITION), clean.failure)
    return tuple(
        RunCoverage(
            **dict(zip(("language", *CONDITION), key, strict=True)),
            asked=counts.total(),
            read=counts.pop(None, 0),
            failures={str(kind): n for kind, n in sorted(counts.items())},
        )
        for key, counts in sorted(failures.items(), key=lambda pair: tuple(map(str, pair[0])))
    )


def failures_by_condition(judgments: Judgments) -> tuple[dict[str, Any], ...]:
    """Return a row for each judge and condition, in the order of the judgments: all its judgments, and the unreadable ones by kind.

    Perturbed texts count with their condition, as every answer does. Only kinds that occur have a count.
    """
    counts = _count_failures(*(judgments.columns[name] for name in CONDITION), judgments.failure)
    return tuple(
        {
            **dict(zip(CONDITION, side, strict=True)),
            "judgments": by_kind.total(),
            "failures": {str(kind): by_kind[kind] for kind in Failure if by_kind[kind]},
        }
        for side, by_kind in counts.items()
    )


def _count_failures(*columns: Iterable[Any]) -> dict[tuple[Any, ...], Counter[Any]]:
    """Count failures by all columns but the last one, which holds them (None: a score)."""
    failures: dict[tuple[Any, ...], Counter[Any]] = {}
    for (*side, failure), n in Counter(zip(*columns, strict=True)).items():
        failures.setdefault(tuple(side), Counter())[failure] += n
    return failures
