"""A run as a recording that can be compared, and the signature of its numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib.metadata import version

import msgspec
import numpy as np

from harness.content.tags import choose_from
from harness.data.columns import NO_VALUE, CodedColumn, combination_ids
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.errors import UsageError
from harness.judges import Panel
from harness.judges.baselines import TrainingCounts, majority
from harness.judges.panel import Vote, refuse_unfit_panels
from harness.measure.compare import CI_SIGNED, Recording
from harness.measure.judged_table import JudgedTable, item_key
from harness.measure.label_counts import count_labels
from harness.measure.options import Annotators
from harness.model import CONDITION, Failure, JudgeIdentity, Scale, Score
from harness.runs import RunProtocol
from harness.segmentation import segmenter_version
from harness.signature import Signature, judge_text
from harness.stats.core.arrays import Ints


def recording(judgments: Judgments, data: Dataset, training: Dataset, name: str = "run", panels: Mapping[str, Panel] = {}) -> Recording:
    """Return a run's judgments beside the labels of what was asked, and what the majority baseline has learnt from `training`."""
    learnt = TrainingCounts(training)
    guesses: dict[tuple[str, str], Score | None] = {}
    for item_id, metric in judgments.asked if learnt.has_development else ():
        if learnt.development(data.by_id[item_id], metric):
            guesses[item_id, metric] = majority(data.by_id[item_id], metric, data.label_scale(metric), learnt, "")
    return Recording(name, data, judgments, baseline=guesses, panels=panels)


def signatures(protocol: RunProtocol, judgments: Judgments) -> dict[str, Signature]:
    """Return the signature of each judge's numbers in a run, by its name."""
    answers = judgments.sha256[:12]
    return {identity.name: _signature(protocol, identity, answers) for identity in protocol.judges.all}


def _signature(protocol: RunProtocol, identity: JudgeIdentity, answers: str) -> Signature:
    texts, questions, wording = protocol.texts, protocol.questions, protocol.wording
    return Signature(
        judge=judge_text(identity),
        data=f"{texts.source}+{texts.data_sha256[:12]}" + (f"+first{texts.limit}" if texts.limit else ""),
        judgments=answers,
        tasks=tuple(f"{name}@{number}" for name, number in wording.tasks.items()),
        rubrics=tuple(f"{name}@{number}" for name, number in wording.rubrics.items()),
        langs=texts.languages,
        conditions=tuple(map(str, questions.conditions)),
        repeats=questions.repeats,
        seed=questions.seed,
        prompts=wording.prompts_of(identity),
        instructions=tuple(f"{tag}@{number}" for tag, number in wording.instructions.items()),
        examples=wording.examples or "none",
        segmenter=segmenter_version() if any(condition.perturbation for condition in questions.conditions) else "none",
        majority=protocol.rule.majority,
        annotators=protocol.rule.annotators,
        ci=CI_SIGNED,
        harness=version("judge-harness"),
        reask="refused" if questions.reask else "none",
    )


_QUESTION = ("metric", *CONDITION[1:], "perturbation", "repeat", "order", "shown_source")


def with_panel(
    judgments: Judgments, name: str, panel: Panel, scales: Mapping[str, Scale], metrics: Collection[str] | None = None
) -> Judgments:
    """Return the judgments and those of a panel of recorded judges, on some metrics or on all. It was asked where most of its members were.

    Raises UsageError for a member without judgments, a judge that has the panel's name, and a rule that a scale does not allow.
    """
    judges = judgments.judge.used
    if name in judges:
        raise UsageError(f"the judgments have a judge '{name}' already; rename the panel's file")
    for member in panel.members:
        if member not in judges:
            raise UsageError(f"{name} has the member '{member}', which judged nothing here.{choose_from(sorted(map(str, judges)), member)}")
    code = judgments.judge.recode({member: number for number, member in enumerate(panel.members)}).astype(np.int64)
    if metrics is not None:
        code = np.where(judgments.metric.among(metrics), code, NO_VALUE)
    votes = judgments.take(code >= 0)
    refuse_unfit_panels({name: panel}, {str(metric): scales[metric] for metric in votes.metric.used})
    return Judgments.concatenate([judgments, _panel_rows(votes, code[code >= 0], name, panel, scales)])


def _panel_rows(members: Judgments, member: Ints, name: str, panel: Panel, scales: Mapping[str, Scale]) -> Judgments:
    """Return the rows of a panel, in the order of the first row of each question. Equal votes on one metric are counted once."""
    key = combination_ids([getattr(members, column) for column in _QUESTION], members.item.codes.astype(np.int64))
    _, first, question = np.unique(key, return_index=True, return_inverse=True)
    votes = np.full((len(first), len(panel.members)), NO_VALUE, np.int64)
    scores, failures = members.score.values, [Failure(str(failure)) for failure in members.failure.values]
    failure = members.failure.codes.astype(np.int64)
    votes[question, member] = np.where(members.score.codes != NO_VALUE, members.score.codes, len(scores) + failure)
    answered = np.flatnonzero(2 * (votes != NO_VALUE).sum(axis=1) > len(panel.members))
    answered = answered[np.argsort(first[answered], kind="stable")]
    metric = members.metric.codes[first[answered]]
    ballots, which = np.unique(np.column_stack([metric, votes[answered]]), axis=0, return_inverse=True)
    answers: tuple[Vote, ...] = (*scores, *failures)
    results = [
        panel.score([answers[code] for code in codes if code != NO_VALUE], scales[members.metric.values[row]])
        for row, *codes in ballots.tolist()
    ]
    failed = [isinstance(result, Failure) for result in results]
    rows = members.take(first[answered])
    columns = {column: getattr(rows, column) for column in ("item", *_QUESTION)}
    return Judgments(
        **columns,
        judge=CodedColumn.constant(name, len(rows)),
        score=CodedColumn.from_values(None if fails else result for result, fails in zip(results, failed, strict=True)).take(which.ravel()),
        failure=CodedColumn.from_values(result if fails else None for result, fails in zip(results, failed, strict=True)).take(
            which.ravel()
        ),
    )


def with_further_people(judged: JudgedTable, least: int) -> JudgedTable:
    """Return the table with the ratings of further people among its labels, in each language and on each metric where `least` judged
    texts have one.
    """
    data, further = judged.data, judged.data.further_people
    counts = np.zeros(len(further), bool)
    for metric in judged.labels:
        # The ratings on a metric count in the languages where enough judged texts with a label of the first round have one.
        first_round = judged.labels[metric]
        first = first_round.raters if first_round.scores is None else first_round.scores.n
        position = further.item.recode(judged.data.positions)
        is_judged = np.zeros(len(judged.data.items), bool)
        is_judged[judged.item[judged.rows_by_metric.get(metric, np.zeros(0, np.int64))]] = True
        rows = further.metric.equals(metric) & (position >= 0)
        rows[rows] = (is_judged & (first > 0))[position[rows]]
        language = item_key(judged.data, "language").codes[position]
        enough = [code for code in np.unique(language[rows]) if len(np.unique(position[rows & (language == code)])) >= least]
        counts |= np.asarray(rows & np.isin(language, enough))
    if not counts.any():
        return judged
    labels = Labels.concatenate([data.labels, further.take(counts)])
    counted = dict(judged.labels)
    for metric in further.take(counts).metric.used:
        earlier, of_metric = judged.labels[metric], labels.take(labels.metric.equals(metric))
        continuous = frozenset([metric] if earlier.classes.continuous else [])
        alone = msgspec.structs.replace(data, labels=of_metric)
        counted |= count_labels(alone, judged.judgments, Annotators(1), earlier.majority, continuous=continuous)
    return replace(judged, data=msgspec.structs.replace(data, labels=labels), labels=counted)
