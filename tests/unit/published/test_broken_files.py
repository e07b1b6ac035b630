"""Raw files that are not as released: every converter says in one sentence which file is wrong, and never ends with another error.

The invented releases of the converters' own tests are broken in every way that the sweep knows: each column or key is removed in turn, and
set to null, and each file is cut in the middle.
"""

from __future__ import annotations

import csv
import inspect
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.content.library import Library
from harness.errors import ContentError
from harness.published.fetch import tables_of
from harness.published.metal import FILE
from harness.published.raw import RawFiles
from tests.unit.published.releases import Release
from tests.unit.published.test_registration import BUNDLED

MOST_KEYS = 24  # of a file: the commonest of JSON, evenly chosen columns of a table
CARDS = Library()
NO_HEADER = (
    "mlqe_catastrophic",
    "wmt23_esa_de",
    "wmt24_esa",
    "truthfulqa_multi",
)  # their tables are read by place: a removed column moves the others


class Break(NamedTuple):
    """A changed file: what was done to which key of it, and its new text."""

    path: Path
    key: str | None
    what: str
    text: str


class Converted(Exception):
    """Ends a converter's own test when its release is written."""


class Recording(Release):
    """Stops where a test converts."""

    def convert(self, name: str) -> Any:
        raise Converted(name)


def written(name: str, folder: Path) -> list[Recording]:
    """The releases that the tests of a converter write."""
    module = import_module(f"tests.unit.published.test_{name}")
    tests = [test for key, test in vars(module).items() if key.startswith("test_") and [*inspect.signature(test).parameters] == ["release"]]
    releases = [Recording(folder / str(number)) for number in range(len(tests))]
    for release, test in zip(releases, tests, strict=True):
        with pytest.raises(Converted):
            test(release)
    return releases


def breaks(files: dict[Path, str], name: str) -> Iterator[Break]:
    for path, text in files.items():
        yield Break(path, None, "cut", text[: len(text) // 2])
        yield Break(path, None, "empty", "")
        if path.suffix in (".json", ".jsonl"):
            yield from _json_breaks(path, text)
        elif name not in NO_HEADER:
            yield from _table_breaks(path, text, "\t" if path.suffix == ".tsv" else ",")


def _table_breaks(path: Path, text: str, delimiter: str) -> Iterator[Break]:
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    for column in _some(range(len(rows[0]))):
        for what, changed in (
            ("removed", [row[:column] + row[column + 1 :] for row in rows]),
            ("null", [rows[0], *([*row[:column], "?", *row[column + 1 :]] for row in rows[1:])]),
        ):
            out = io.StringIO()
            csv.writer(out, delimiter=delimiter).writerows(changed)
            yield Break(path, rows[0][column], what, out.getvalue())


def _json_breaks(path: Path, text: str) -> Iterator[Break]:
    try:
        trees, lines = [json.loads(text)], False
    except ValueError:
        trees, lines = [json.loads(line) for line in text.splitlines()], True
    for key, _ in Counter(key for tree in trees for key in _keys(tree)).most_common(MOST_KEYS):
        for what in ("removed", "null"):
            changed = [_without(tree, key, what) for tree in trees]
            yield Break(path, key, what, "\n".join(map(json.dumps, changed)) if lines else json.dumps(changed[0]))


def _keys(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        yield from tree
    for child in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _keys(child)


def _without(tree: Any, key: str, what: str) -> Any:
    if isinstance(tree, list):
        return [_without(child, key, what) for child in tree]
    if not isinstance(tree, dict):
        return tree
    kept = {name: _without(child, key, what) for name, child in tree.items() if name != key}
    return kept | ({key: None} if what == "null" and key in tree else {})


def _some(keys: Any) -> Any:
    return [keys[number * len(keys) // MOST_KEYS] for number in range(MOST_KEYS)] if len(keys) > MOST_KEYS else keys


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] if name == "metal" else []) for name in BUNDLED])
def test_a_broken_release_is_one_sentence(name: str, tmp_path: Path) -> None:
    convert, tables, refused = import_module(f"harness.published.{name}").convert, set(), []
    for release in written(name, tmp_path)[: 1 if name == "metal" else None]:
        files, raw = release.files(), release.raw()
        with suppress(ContentError):  # a test may write a release that is refused
            tables |= {table for table, rows in tables_of(name, convert, raw).items() if [*rows]}
        for broken in breaks(files, name):
            broken.path.write_text(broken.text, "utf-8", newline="")
            if message := _refusal(name, convert, raw):
                refused.append((broken, message))
            broken.path.write_text(files[broken.path], "utf-8", newline="")
    assert tables >= set(CARDS.dataset_card(name).converted)
    for broken, message in refused:
        assert "Error" not in message and "\n" not in message, (broken[:3], message)
        assert str(tmp_path) in message or FILE in message, (broken[:3], message)
    removed = [(broken.key, message) for broken, message in refused if broken.what == "removed"]
    assert removed or name in (*NO_HEADER, "alttest")  # whose keys are ids
    assert refused
    unnamed = [message for key, message in removed if f"'{key}'" not in message and f"lacks {key}" not in message]
    assert len(unnamed) <= len(removed) // 2 or name == "metal", unnamed  # it says what it should be instead


def _refusal(name: str, convert: Callable[[RawFiles], Any], raw: RawFiles) -> str | None:
    """What is said of the release; None where it converts all the same. Any other error than ContentError ends the test."""
    try:
        for rows in tables_of(name, convert, raw).values():
            for _ in rows:
                pass
    except ContentError as err:
        return str(err)
    return None
