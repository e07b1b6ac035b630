"""Metrics that are made of marked errors: the penalty of a text is the sum of the weights of its errors, at most the scale's highest score.

Errors that further people marked (`second_spans`) become labels of these people, and so do judges' errors judgments: where people gave
one score each, their errors are the labels by which a judge can be compared with several of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.content.specs import ErrorPenalty
from harness.data.columns import CodedColumn
from harness.data.further_tables import SecondSpans
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.model import ErrorSpan, Failure, Label, Scale, Source


def labels_of_errors(labels: Labels, second: SecondSpans | None, metric: str, rule: ErrorPenalty, scale: Scale, source: Source) -> Labels:
    """Return the labels on a metric that is made of the errors in `labels` on the metric `rule.of`, and in the second round.

    A label without a list of errors, or with one that has no severity, gives none.
    """
    first = labels.take(labels.metric.equals(rule.of))
    rows = [
        Label(str(item), str(person), metric, penalty, source)
        for marked in (first, second)
        if marked is not None
        for item, person, errors in zip(marked.item, marked.annotator, marked.spans, strict=True)
        if errors is not None and (penalty := penalty_of(errors, rule, scale)) is not None
    ]
    return Labels.from_rows(rows)


def judgments_of_errors(judgments: Judgments, metric: str, rule: ErrorPenalty, scale: Scale) -> Judgments:
    """Return the judgments on a metric that is made of the errors that judges marked; an error without a severity is `off_scale`."""
    marked = judgments.take(judgments.metric.equals(rule.of) & (judgments.spans.codes >= 0))
    penalties = [penalty_of(errors, rule, scale) for errors in marked.spans]
    scores = CodedColumn.from_values(penalties)
    failure = CodedColumn.from_values(None if score is not None else Failure.OFF_SCALE for score in penalties)
    names = CodedColumn.from_values([metric] * len(marked))
    columns = {name: column for name, column in marked.columns.items() if name in Judgments.COLUMNS or name == "spans"}
    return Judgments(**columns | {"metric": names, "score": scores, "failure": failure})


def penalty_of(errors: Sequence[ErrorSpan], rule: ErrorPenalty, scale: Scale) -> float | None:
    """Return the penalty of a text's errors; None where an error has no severity that the rule knows.

    >>> rule = ErrorPenalty(of="quality", weights={"minor": 1, "major": 5})
    >>> penalty_of([ErrorSpan("minor"), ErrorSpan("major")], rule, Scale(kind="interval", min=0, max=25, best=0))
    6
    >>> penalty_of([ErrorSpan("major")] * 6, rule, Scale(kind="interval", min=0, max=25, best=0))
    25
    """
    if any(error.severity not in rule.weights for error in errors):
        return None
    total = sum(rule.weights[str(error.severity)] for error in errors)
    return total if scale.max is None else min(total, scale.max)
