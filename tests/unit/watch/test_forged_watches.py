"""Whatever is edited in the files of a watch: each field removed, null, changed or doubled is refused when the watch is checked."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from harness import sources
from harness.correction.certify import certify
from harness.errors import HarnessError
from harness.measure.options import MeasureOptions
from harness.watch.watch_folder import NewScores, WatchStart, add_day, begin, check
from harness.watch.watch_options import WatchOptions
from harness.watch.watch_plan import read_anchors, read_plan
from tests.judged_folder import judged_folder

BEGAN = date(2026, 1, 1)
TODAY = BEGAN + timedelta(10)
REMOVED = object()


@pytest.fixture(scope="module")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A watch with two days in its log."""
    home = tmp_path_factory.mktemp("forged")
    folders = [judged_folder(home / "certified", prompts=100)]
    folders += [judged_folder(home / f"day{day}", prompts=20, labelled=0, seed=day, fields=_named(day)) for day in (1, 2)]
    certified, *days = (sources.open_sources([folder], None, home)[0].recording for folder in folders)
    held = certify(certified, MeasureOptions())
    begin(home / "w", WatchStart(held, certified, None), WatchOptions(anchors=20), BEGAN, None)
    for number, source in enumerate(days, start=1):
        add_day(home / "w", BEGAN + timedelta(number), NewScores(source), TODAY)
    assert opened(home / "w") is None
    return home / "w"


def _named(day: int) -> Any:
    return lambda number, system, rng: {"output": f"日 {day} {system}{number}。", "group": f"d{day}-{number}"}


def opened(folder: Path) -> str | None:
    """Why the watch is refused; None if it is taken."""
    try:
        check(folder, TODAY)
        read_anchors(folder, read_plan(folder))
    except HarnessError as err:
        return str(err)
    return None


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for name, part in value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ():
        yield (*path, name)
        yield from places(part, (*path, name))


def edits(value: Any) -> list[Any]:
    """Removed, null, and other values of the same kind."""
    if isinstance(value, bool) or value is None:
        return [REMOVED, 1 if value is None else not value]
    if isinstance(value, int | float):
        return [REMOVED, None, value + 1, -value - 1]
    if isinstance(value, str):
        return [REMOVED, None, f"{value}x", ""]
    return [REMOVED, None, [*value, *value[:1]] if isinstance(value, list) else {**value, "further": 1}]


def edited(content: Any, path: tuple[Any, ...], value: Any) -> Any:
    found = copy.deepcopy(content)
    holder = found
    for name in path[:-1]:
        holder = holder[name]
    if value is REMOVED:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return found


@pytest.mark.parametrize("name", ["watch.json", "anchors.jsonl", "head.json", "log.jsonl"])
def test_no_edit_of_a_field_is_taken(watch: Path, name: str) -> None:
    path = watch / name
    text, taken, seen = path.read_text("utf-8"), list[Any](), 0
    rows = [json.loads(line) for line in text.splitlines()] if name.endswith("l") else [json.loads(text)]
    try:
        for place in places(rows[0]):
            value = rows[0]
            for part in place:
                value = value[part]
            for edit in edits(value):
                forged = edited(rows[0], place, edit)
                if forged == rows[0]:
                    continue
                lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in (forged, *rows[1:])]
                path.write_text("\n".join(lines) + "\n", "utf-8")
                seen += 1
                if opened(watch) is None:
                    taken.append((place, "removed" if edit is REMOVED else edit))
    finally:
        path.write_text(text, "utf-8")
    assert opened(watch) is None and seen >= 5
    assert not taken


@pytest.mark.parametrize("name", ["watch.json", "anchors.jsonl", "head.json", "log.jsonl"])
def test_no_field_stands_twice(watch: Path, name: str) -> None:
    path = watch / name
    text = path.read_text("utf-8")
    first, *others = text.splitlines() if name.endswith("l") else [text]
    row, taken = json.loads(first), list[str]()
    try:
        for field, value in row.items():
            doubled = "{" + f"{json.dumps(field)}:{json.dumps(value)}," + first.lstrip()[1:]
            path.write_text("\n".join([doubled, *others]) + "\n", "utf-8")
            if opened(watch) is None:
                taken.append(field)
    finally:
        path.write_text(text, "utf-8")
    assert not taken and opened(watch) is None
