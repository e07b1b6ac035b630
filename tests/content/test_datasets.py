"""Every recipe of a published data set: complete, at its place, and, where the data are at hand, fitting them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from harness.content.dataset import Dataset, load_folder
from harness.content.library import Library, bundled_root
from harness.content.specs import DataFolder
from harness.tables import find_table

LIBRARY = Library()
NAMES = sorted(path.parent.name for path in (bundled_root() / "datasets").glob("*/data.toml"))
SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"  # as conftest.py has it


@cache
def shared(name: str) -> Dataset:
    return load_folder(SHARED_DATA / name, LIBRARY, with_judgments=True)


def metrics() -> list[tuple[str, str]]:
    return [(name, metric) for name in NAMES for metric in LIBRARY.recipe(name).metrics]


def test_every_folder_is_a_recipe() -> None:
    assert NAMES and list(LIBRARY.recipe_files) == NAMES
    assert {path.parent.name for path in (bundled_root() / "datasets").glob("*/*")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_is_complete_and_calls_itself_what_its_folder_is_called(name: str) -> None:
    recipe = LIBRARY.recipe(name)
    assert recipe.id == name and recipe.version != DataFolder(id="x").version
    for field in ("title", "licence", "citation", "get"):
        assert len(getattr(recipe, field)) >= 3, field
    assert recipe.notes and recipe.metrics and recipe.sampling != "unknown"


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_brings_no_data(name: str) -> None:
    folder = LIBRARY.recipe_files[name].parent
    assert {path.suffix for path in folder.rglob("*") if path.is_file()} <= {".toml", ".md"}


@pytest.mark.parametrize(("name", "metric"), metrics(), ids=lambda value: value)
def test_a_scale_has_its_classes_and_its_best_is_one_of_them(name: str, metric: str) -> None:
    scale = LIBRARY.recipe(name).metrics[metric]
    if scale.kind == "interval":
        assert scale.min is not None and scale.max is not None and scale.min < scale.max and not scale.classes
    else:
        assert len(scale.classes) >= 2 and len(set(scale.classes)) == len(scale.classes) and scale.min is scale.max is None
    assert scale.best is None or scale.holds(scale.best)
    assert set(scale.swap) | set(scale.swap.values()) <= set(scale.classes)


@pytest.mark.needs("shared data")
@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_reads_its_data(name: str) -> None:
    """Labels are on their scales, or they would not be read; nothing in the data is without a scale."""
    data, folder = shared(name), SHARED_DATA / name
    assert data.about == LIBRARY.recipe(name) and data.id == name and data.items
    assert bool(len(data.labels)) == bool(find_table(folder, "labels"))
    assert (data.judgments is not None) == bool(find_table(folder, "judgments"))
    used = {*data.labels.metric.used, *(data.judgments.metric.used if data.judgments else ())}
    assert used == set(data.about.metrics)
    for label in data.labels:
        assert data.scales[label.metric].holds(label.score)


@pytest.mark.needs("shared data")
@pytest.mark.parametrize("name", NAMES)
def test_every_class_is_used_by_people_or_judges(name: str) -> None:
    """A class that nobody ever chose would be a slip in the recipe."""
    data = shared(name)
    tables = [of for of in (data.labels, data.judgments) if of is not None]
    used = {(metric, score) for of in tables for metric, score in zip(of.metric, of.score, strict=True)}
    for metric, scale in data.about.metrics.items():
        assert all((metric, score) in used for score in scale.classes), metric


@pytest.mark.needs("shared data")
@pytest.mark.parametrize("name", NAMES)
def test_items_share_what_the_recipe_says(name: str) -> None:
    data = shared(name)
    key = data.about.group
    if key != "group":
        assert all(item.group == item.fields.get(key, item.item_id) for item in data.items)
        assert len({item.group for item in data.items}) < len(data.items)


@pytest.mark.needs("shared data")
def test_all_shared_data_have_a_recipe() -> None:
    assert {path.name for path in SHARED_DATA.iterdir() if path.is_dir()} <= set(NAMES)
