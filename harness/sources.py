"""Where a board's data come from: the language packs, a data folder that the user has, or a data folder on the hub.

Data that are not in the packs are known by a hash of their content or by a commit, so that a board means the same everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from harness.content import Board, Dataset, Library, load_bundled, load_folder
from harness.content.dataset import text_problems
from harness.content.specs import BoardData
from harness.errors import ContentError, MissingData, UsageError
from harness.labels.hub import fetch_folder
from harness.model import Item
from harness.tables import find_table


class BoardSource(msgspec.Struct, frozen=True):
    """What a board's data hold, and the items of them that it judges. `folder`: where they lie, if not in the packs."""

    everything: Dataset
    items: tuple[Item, ...]
    folder: Path | None = None


def load_board(board: Board, library: Library, languages: Sequence[str], given: Path | None = None) -> BoardSource:
    """A board's data in some of its languages; `given` is where the user says that they are.

    Without its data a MissingData says how to get them; ContentError for data that are not those that the board is frozen on. Sealed
    labels, if they should lie there, are left out.
    """
    if isinstance(board.data, BoardData):
        source = _from_folder(board, board.data, library, given)
    elif given is not None:
        raise UsageError(f"--data and --board exclude each other: the board '{board.id}' judges items of the language packs")
    else:
        everything = load_bundled(library, languages)
        source = BoardSource(everything, tuple(item for item in everything.items if item.task in board.tasks))
    listed = {tag: frozenset(ids) for tag, ids in board.items.items()}
    items = tuple(
        item
        for item in source.items
        if item.language in languages and (item.item_id in listed.get(item.language, ()) if listed else item.split == "test")
    )
    everything = source.everything
    if board.sealed is None:
        items = _with_annotators(items, everything, board)
    else:
        asks = {task: frozenset(library.task(task).metrics) & frozenset(board.rubrics) for task in board.tasks}
        everything = msgspec.structs.replace(without_labels(everything, items), asks=asks)
    if source.folder is not None:
        _refuse_gaps([item for item in items if everything.asked_metrics.get(item.item_id)], library, source.folder)
    return BoardSource(everything, items, source.folder)


# ---- data that are not in the packs


def _from_folder(board: Board, data: BoardData, library: Library, given: Path | None) -> BoardSource:
    folder = _fetched(board, data, given) if data.hub else given or _beside(board, data, library)
    found = load_folder(folder, library, recipe=data.recipe)
    if board.sealed is not None:
        found = without_labels(found, [item for item in found.items if _wanted(item, data)])  # or who holds them would have another hash
    if data.sha256 and found.sha256 != data.sha256:
        raise ContentError(
            f"these are not the data of the board '{board.id}': their content hash should be {data.sha256}, and is {found.sha256}; "
            f"{_how_to_get(data, library)}",
            folder,
        )
    _refuse_other_scales(board, data, found, library)
    items = tuple(msgspec.structs.replace(item, task=data.tasks.get(item.task, item.task)) for item in found.items)
    everything = msgspec.structs.replace(found, items=items, private=False)  # published: nobody's own texts
    judged = tuple(item for item in items if item.task in board.tasks and _wanted(item, data))
    return BoardSource(everything, judged, folder)


def without_labels(data: Dataset, items: Sequence[Item]) -> Dataset:
    """The same data without the labels of some items."""
    ids = {item.item_id for item in items}
    return msgspec.structs.replace(data, labels=data.labels.of_items(item.item_id for item in data.items if item.item_id not in ids))


def _wanted(item: Item, data: BoardData) -> bool:
    return all(str(item.fields.get(key, getattr(item, key, ""))) in map(str, values) for key, values in data.where.items())


def _beside(board: Board, data: BoardData, library: Library) -> Path:
    """The folder of the recipe's name in the working directory, or in its `data/`."""
    for folder in (Path(data.recipe), Path("data", data.recipe)):
        if folder.is_dir() and find_table(folder, "items"):
            return folder
    raise MissingData(
        f"the board '{board.id}' judges data that are not part of this program: say --data DIR, or put them into a folder {data.recipe}/ "
        f"or data/{data.recipe}/ here (content hash {data.sha256})\n         {_how_to_get(data, library)}"
    )


def _fetched(board: Board, data: BoardData, given: Path | None) -> Path:
    """Where the hub's data are, once they are fetched; a copy of the user's own counts where the board says its hash too."""
    if given is not None and data.sha256:
        return given
    folder = fetch_folder(data.hub, data.revision)
    if given is not None and given.resolve() != folder.resolve():
        raise UsageError(f"the board '{board.id}' takes its data from the hub ({data.hub} at {data.revision}); leave --data away")
    return folder


def _how_to_get(data: BoardData, library: Library) -> str:
    return f"to get them: {library.recipe(data.recipe).get}"


def _refuse_other_scales(board: Board, data: BoardData, found: Dataset, library: Library) -> None:
    """A judge is asked on the rubric's scale and compared on the data's: they have to be one."""
    for metric in board.rubrics:
        ours, theirs = library.rubric(metric).scale, found.scales.get(metric)
        if theirs != ours:
            what = f"{theirs.kind} {theirs.describe()}, best {theirs.best}" if theirs else "none"
            scale = f"{ours.kind} {ours.describe()}, best {ours.best}"
            message = f"'{metric}' has the scale {scale} in its rubric, and in '{data.recipe}': {what}; they have to be one"
            raise ContentError(message, library.board_files[board.id])


def _refuse_gaps(items: Sequence[Item], library: Library, folder: Path) -> None:
    """Raises ContentError for an item without a text that its task needs: a judge would be asked about nothing."""
    tasks = {name: library.task(name) for name in {item.task for item in items}}
    for item in items:
        for problem in text_problems(item, tasks[item.task]):
            raise ContentError(problem, folder)


# ---- items that cannot count


def _with_annotators(items: tuple[Item, ...], data: Dataset, board: Board) -> tuple[Item, ...]:
    """Those that have as many annotators on a metric as the board wants: what cannot count is not asked about."""
    if not board.annotators:
        return items
    raters = most_raters(data)
    least, more = int(board.annotators.rstrip("+")), board.annotators.endswith("+")
    kept = tuple(item for item in items if (n := raters.get(item.item_id, 0)) == least or (more and n > least))
    if items and not kept:
        raise UsageError(f"no item has {least}{' or more' if more else ''} annotators, which the board '{board.id}' wants")
    return kept


def most_raters(data: Dataset) -> Mapping[str, int]:
    """`{item_id: labels on the metric on which it has most}`."""
    labels = data.labels
    if not len(labels):
        return {}
    width = len(labels.metric.values)
    pairs, counts = np.unique(labels.item.codes.astype(np.int64) * width + labels.metric.codes, return_counts=True)
    most: dict[str, int] = {}
    for item, count in zip((pairs // width).tolist(), counts.tolist(), strict=True):
        name = labels.item.values[item]
        most[name] = max(most.get(name, 0), count)
    return most
