"""Recordings by hand: labels and answers as small tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

from harness.content.specs import Asked
from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.measure.compare import Recording
from harness.model import Failure, Item, Judgment, Scale, Score
from tests.unit.made_judgments import made_judgment

World = Callable[..., tuple[Dataset, Judgments]]


@pytest.fixture(scope="session")
def judged() -> Callable[..., Judgment]:
    """One judge's answer about the metric `m` of an item, a score or a failure, unless told otherwise."""

    def make(item_id: str, answer: Score | Failure, **other: Any) -> Judgment:
        failed = isinstance(answer, Failure)
        own = {
            "language": "en",
            "task": "open_prompt",
            "metric": "m",
            "judge": "j",
            "variant": "single",
            "temperature": 0.0,
            "repeat": 0,
        } | other
        score, failure = (None, answer) if failed else (answer, None)
        return made_judgment(item_id=item_id, score=score, failure=failure, raw_choice=None, justification=None, call_id="c", **own)

    return make


@pytest.fixture(scope="session")
def make_recording(
    make_item: Callable[..., Item], make_data: Callable[..., Dataset], judged: Callable[..., Judgment]
) -> Callable[..., Recording]:
    """`{item: scores}` (or `{(item, metric): scores}`) and the judge's `{item: answer}`, or judgments, as a data folder would hold them.

    `places` has what is special about single items, such as `{"a": {"group": "g"}}`; further keywords hold for all items.
    """

    def make(
        labels: Mapping[Any, Any],
        answers: Mapping[str, Score | Failure] | Sequence[Judgment],
        *,
        scales: Mapping[str, Scale] | None = None,
        places: Mapping[str, Mapping[str, Any]] | None = None,
        more_items: Iterable[str] = (),
        name: str = "made",
        asked: Asked | None = Asked("all"),  # noqa: B008 (frozen)
        baseline: Mapping[tuple[str, str], Score] | None = None,
        **item: Any,
    ) -> Recording:
        given = [judged(name, answer) for name, answer in answers.items()] if isinstance(answers, Mapping) else list(answers)
        ids = [*(key[0] if isinstance(key, tuple) else key for key in labels), *(j.item_id for j in given), *more_items]
        items = [make_item(one, **(item | dict((places or {}).get(one, {})))) for one in dict.fromkeys(ids)]
        return Recording(name, make_data(items, labels, scales), Judgments.from_rows(given), asked=asked, baseline=baseline)

    return make


@pytest.fixture(scope="session")
def world(make_item: Callable[..., Item], make_data: Callable[..., Dataset], judged: Callable[..., Judgment]) -> World:
    """A data set with labels `{item: score}`, and a judge's answers to it; items of one letter share a group."""

    def make(
        labels: Mapping[str, Score], answers: Mapping[str, Score | Failure], *, dev: Sequence[Score] = (1,), **item: Any
    ) -> tuple[Dataset, Judgments]:
        items = [make_item(name, group=name[0] if len(name) > 1 else name, **item) for name in labels]
        learnt = [make_item(f"dev {number}", split="dev", **item) for number in range(len(dev))]
        data = make_data([*items, *learnt], dict(labels) | {i.item_id: score for i, score in zip(learnt, dev, strict=True)})
        judgments = [judged(name, answer, judge="openai/one", language=items[0].language) for name, answer in answers.items()]
        return data, Judgments.from_rows(judgments)

    return make
