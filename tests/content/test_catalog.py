"""Every dataset card: complete, at its place, and, where the data are at hand, fitting them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from harness.content.library import Library, bundled_root
from harness.content.specs import DatasetCard
from harness.data.dataset import Dataset, load_folder
from harness.row_files import find_table
from tests.golden.test_published_sets import NEW

LIBRARY = Library()
NAMES = sorted(path.parent.name for path in (bundled_root() / "catalog").glob("*/dataset.toml"))
CONVERTED = {*NEW, "metal", "wmt25_esa"}  # their files are read in place of a folder of shared data
AT_HAND = [name for name in NAMES if name not in CONVERTED]
WITHOUT_CARD: set[str] = set()  # data sets that have no card yet, with the reason
SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"  # as conftest.py has it


@cache
def shared(name: str) -> Dataset:
    return load_folder(SHARED_DATA / name, LIBRARY, with_judgments=True)


def metrics() -> list[tuple[str, str]]:
    return [(name, metric) for name in NAMES for metric in LIBRARY.dataset_card(name).metrics]


def test_every_folder_is_a_dataset_card() -> None:
    assert NAMES and list(LIBRARY.dataset_card_files) == NAMES
    assert {path.parent.name for path in (bundled_root() / "catalog").glob("*/*")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_dataset_card_is_complete_and_calls_itself_what_its_folder_is_called(name: str) -> None:
    card = LIBRARY.dataset_card(name)
    assert card.id == name and card.version != DatasetCard(id="x").version
    for field in ("title", "licence", "citation", "get"):
        assert len(getattr(card, field)) >= 3, field
    assert card.notes and card.metrics and card.sampling != "unknown"


@pytest.mark.parametrize("name", NAMES)
def test_a_dataset_card_brings_no_data(name: str) -> None:
    folder = LIBRARY.dataset_card_files[name].parent
    assert {path.suffix for path in folder.rglob("*") if path.is_file()} <= {".toml", ".md"}


@pytest.mark.parametrize(("name", "metric"), metrics(), ids=lambda value: value)
def test_a_scale_has_its_classes_and_its_best_is_one_of_them(name: str, metric: str) -> None:
    scale = LIBRARY.dataset_card(name).metrics[metric]
    if scale.kind == "interval":
        assert scale.min is not None and scale.max is not None and scale.min < scale.max and not scale.classes
    else:
        assert len(scale.classes) >= 2 and len(set(scale.classes)) == len(scale.classes) and scale.min is scale.max is None
    assert scale.best is None or scale.holds(scale.best)
    assert set(scale.swap) | set(scale.swap.values()) <= set(scale.classes)


@pytest.mark.needs("shared data")
@pytest.mark.parametrize("name", AT_HAND)
def test_a_dataset_card_reads_its_data(name: str) -> None:
    """Labels are on their scales, or they would not be read; nothing in the data is without a scale."""
    data, folder = shared(name), SHARED_DATA / name
    assert data.about == LIBRARY.dataset_card(name) and data.id == name and data.items
    assert bool(len(data.labels)) == bool(find_table(folder, "labels"))
    assert (data.judgments is not None) == bool(find_table(folder, "judgments"))
    used = {*data.labels.metric.used, *(data.judgments.metric.used if data.judgments else ())}
    assert used == set(data.about.metrics)
    for label in data.labels:
        assert data.scales[label.metric].holds(label.score)


@pytest.mark.needs("shared data")
@pytest.mark.parametrize("name", AT_HAND)
def test_every_class_is_used_by_people_or_judges(name: str) -> None:
    """A class that nobody ever chose would be a slip in the dataset card."""
    data = shared(name)
    tables = [of for of in (data.labels, data.judgments) if of is not None]
    used = {(metric, score) for of in tables for metric, score in zip(of.metric, of.score, strict=True)}
    for metric, scale in data.about.metrics.items():
        assert all((metric, score) in used for score in scale.classes), metric


@pytest.mark.needs("shared data")
@pytest.mark.parametrize("name", AT_HAND)
def test_items_share_what_the_dataset_card_says(name: str) -> None:
    data = shared(name)
    key = data.about.group
    if key != "group":
        assert all(item.group == item.fields.get(key, item.item_id) for item in data.items)
        assert len({item.group for item in data.items}) < len(data.items)


@pytest.mark.needs("shared data")
@pytest.mark.parametrize("name", [name for name in AT_HAND if LIBRARY.dataset_card(name).segment])
def test_a_source_text_has_outputs_of_several_systems(name: str) -> None:
    data = shared(name)
    systems: dict[tuple[str, object], set[str | None]] = {}
    for item in data.items:
        systems.setdefault((item.language, item.fields[data.about.segment]), set()).add(item.system)
    assert min(map(len, systems.values())) >= 2


@pytest.mark.needs("shared data")
def test_all_shared_data_have_a_dataset_card() -> None:
    data_sets = {path.name for path in SHARED_DATA.iterdir() if path.is_dir() and find_table(path, "items")}
    assert data_sets - set(NAMES) <= WITHOUT_CARD
    assert not WITHOUT_CARD & set(NAMES), "a data set that has its card is no longer listed"
