"""Runs by hand: items with labels, what judges said of them, and the row that a test is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.measure.options import MeasureOptions
from harness.model import Failure, Item, Judgment, RealisedPerturbation, Scale, Score
from harness.parse.language import detect_language
from tests.unit.made_judgments import made_judgment
from tests.unit.reports.sections.section_runs import ablations


@pytest.fixture(scope="session")
def said() -> Callable[..., Judgment]:
    """One judge's answer about the metric `m` of an item, a score or a failure, unless told otherwise."""

    def make(item_id: str, answer: Score | Failure, **other: Any) -> Judgment:
        failed = isinstance(answer, Failure)
        own = {
            "item_id": item_id,
            "language": "en",
            "task": "open_prompt",
            "metric": "m",
            "judge": "j",
            "variant": "single",
            "temperature": 0.0,
            "repeat": 0,
            "score": None if failed else answer,
            "failure": answer if failed else None,
            "raw_choice": None,
            "justification": None,
            "call_id": "c",
        }
        words = other.get("justification")
        return made_judgment(**(own | {"detected_language": detect_language(words) if words else None} | other))

    return make


@pytest.fixture(scope="session")
def find(make_item: Callable[..., Item], make_data: Callable[..., Dataset]) -> Callable[..., dict[str, Any]]:
    """The ablations of judgments about items with `labels`; `places` has what is special about single items."""

    def run(
        judgments: Sequence[Judgment],
        labels: Mapping[Any, Any] | None = None,
        perturbed: Sequence[RealisedPerturbation] = (),
        *,
        scales: Mapping[str, Scale] | None = None,
        places: Mapping[str, Mapping[str, Any]] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        ids = dict.fromkeys([*(key[0] if isinstance(key, tuple) else key for key in labels or {}), *(j.item_id for j in judgments)])
        items = [make_item(one, **dict((places or {}).get(one, {}))) for one in ids]
        data = make_data(items, labels or {}, scales)
        metrics = options.pop("metrics", None)
        return ablations(data, Judgments.from_rows(judgments), MeasureOptions(**({"resamples": 200} | options)), perturbed, metrics=metrics)

    return run


@pytest.fixture(scope="session")
def the_row() -> Callable[..., dict[str, Any]]:
    """The one row that has these values; language `en`, every task and the metric `m` unless told otherwise."""

    def pick(rows: Sequence[dict[str, Any]], **wanted: Any) -> dict[str, Any]:
        wanted = {"language": "en", "task": "*", "metric": "m"} | wanted
        [row] = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
        return row

    return pick


@pytest.fixture(scope="session")
def make_parallel(make_data: Callable[..., Dataset], said: Callable[..., Judgment]) -> Callable[..., tuple[Dataset, Judgments]]:
    """The same items in two languages, parallel to each other, and what a judge said of them: `answer(name)`, as the name was given."""

    def make(
        places: Mapping[str, Mapping[str, Any]], labels: Mapping[str, Score], answer: Callable[[str], Score]
    ) -> tuple[Dataset, Judgments]:
        items, scores, given = [], {}, []
        for tag in ("cs", "ja"):
            for name, place in places.items():
                fields = {"prompt": "p", "output": f"o {name}"} | {key: value for key, value in place.items() if key != "group"}
                fields |= {"twin": f"{tag}-{place['twin']}"} if "twin" in place else {}
                items.append(Item(f"{tag}-{name}", tag, "open_prompt", group=f"{tag}-{place['group']}", parallel_id=name, fields=fields))
                scores[f"{tag}-{name}"] = labels[name]
                given.append(said(f"{tag}-{name}", answer(name), language=tag))
        return make_data(items, scores), Judgments.from_rows(given)

    return make
