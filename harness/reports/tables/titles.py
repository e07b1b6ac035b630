"""Metrics by their titles, as the bundled rubrics have them."""

from __future__ import annotations

from functools import cache

from harness.content import Library


def metric_title(metric: str) -> str:
    """Return a metric's title; the name without underscores where no bundled rubric has it, and `all` where metrics are pooled.

    >>> metric_title("5W1H"), metric_title("my_metric")
    ('Who, what, when, where, why, how', 'my metric')
    """
    return "all" if metric == "*" else _titles().get(metric) or str(metric).replace("_", " ")


def metric_words(metric: str) -> str:
    """Return a metric's title inside a sentence.

    >>> metric_words("task_quality")
    'task quality'
    """
    title = metric_title(metric)
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


@cache
def _titles() -> dict[str, str]:
    library = Library()
    return {name: library.rubric(name).title for name in library.rubric_files}
