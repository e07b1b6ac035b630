"""The data of a board, from the language packs, a data folder of the user or one on the hub; and the development part of data.

Data outside the packs are identified by a hash of their content or by a commit, so that a board means the same everywhere.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from harness.content import Board, Library
from harness.content.specs import BoardData
from harness.data.asked_data import comparable_rubrics, with_compared_labels, with_our_names
from harness.data.dataset import Dataset, load_bundled, load_folder, text_problems
from harness.data.folders import fetched_folder, how_to_get, say_which_is_used
from harness.errors import ContentError, MissingData, UsageError
from harness.exchange.labels.records import fetch_folder
from harness.model import Item, parse_variant
from harness.published.fetch import partial_words
from harness.row_files import find_table
from harness.runs.specification import ChosenWordings


class BoardSource(msgspec.Struct, frozen=True):
    """A board's data, and those of its items that are judged. `folder` holds the data, unless they are in the packs.

    `ever_judged` are the judged items of all languages of the data that are loaded, also of those that this run leaves out.
    """

    everything: Dataset
    items: tuple[Item, ...]
    ever_judged: tuple[Item, ...]
    folder: Path | None = None


def load_board(board: Board, library: Library, languages: Sequence[str], folder: Path | None = None) -> BoardSource:
    """A board's data in some of its languages; `folder` is the data folder that the user names.

    Sealed labels are left out, even if the data hold them.

    Raises:
        MissingData: without its data; the message says how to get them.
        ContentError: for data that differ from those that the board is frozen on.
        UsageError: for a data folder that the board does not use.
    """
    if isinstance(board.data, BoardData):
        source = _from_folder(board, board.data, library, folder)
    elif folder is not None:
        raise UsageError(f"--data and --board exclude each other: the board '{board.id}' judges the items of the language packs")
    else:
        everything = load_bundled(library, languages, board)
        items = tuple(item for item in everything.items if item.task in board.tasks)
        source = BoardSource(everything, items, items)
    listed = {tag: frozenset(ids) for tag, ids in board.items.items()}
    ever_judged = tuple(
        item for item in source.items if (item.item_id in listed.get(item.language, ()) if listed else item.split == "test")
    )
    items = tuple(item for item in ever_judged if item.language in languages)
    everything = source.everything
    if board.sealed is None:
        # The items with as many annotators on a metric as the board requires. Other items could not count, so they are not judged.
        if board.annotators:
            counts = annotators_by_item(everything.only(items))
            least, more = int(board.annotators.rstrip("+")), board.annotators.endswith("+")
            selected = tuple(item for item in items if (n := counts.get(item.item_id, 0)) == least or (more and n > least))
            if items and not selected:
                raise UsageError(f"no item has {least}{' or more' if more else ''} annotators, which the board '{board.id}' requires")
            items = selected
    else:
        asks = {task: frozenset(library.task(task).metrics) & frozenset(board.rubrics) for task in board.tasks}
        everything = msgspec.structs.replace(without_labels(everything, items), asks=asks)
    if source.folder is not None:
        asked_metrics = everything.only(items).asked_metrics
        for item in items:
            for problem in text_problems(item, library.task(item.task)) if asked_metrics.get(item.item_id) else ():
                raise ContentError(problem, source.folder)
    return BoardSource(everything, items, ever_judged, source.folder)


def first_items(items: Iterable[Item], limit: int | None, key: Callable[[Item], object] = attrgetter("language", "task")) -> list[Item]:
    """The first `limit` items of each language and task, or of each `key`; all without a limit."""
    taken: Counter[object] = Counter()
    chosen = []
    for item in items:
        taken[key(item)] += 1
        if limit is None or taken[key(item)] <= limit:
            chosen.append(item)
    return chosen


# ---- data that are not in the packs


def _from_folder(board: Board, data: BoardData, library: Library, data_folder: Path | None) -> BoardSource:
    if data.hub:
        # The folder of the data from the hub, which are downloaded first. The user's own copy is used if the board names its hash.
        if data_folder is not None and data.sha256:
            folder: Path = data_folder
        else:
            folder = fetch_folder(data.hub, data.revision)
            if data_folder is not None and data_folder.resolve() != folder.resolve():
                raise UsageError(f"the board '{board.id}' takes its data from the hub ({data.hub} at {data.revision}); remove --data")
    else:
        usual = data_folder or usual_folder(data.card)
        if usual is None:
            raise MissingData(
                f"the board '{board.id}' judges data that are not part of this program: pass --data DIR, or put them into {data.card}/ "
                f"or data/{data.card}/ in this folder (content hash {data.sha256})\n         {_how_to_get(data, library)}"
            )
        if data_folder is None and usual != fetched_folder(data.card):
            say_which_is_used(data.card, usual.absolute())
        folder = usual
    loaded = load_folder(folder, library, card=data.card)
    if data.hashed == "listed":
        loaded = loaded.only(item for item in loaded.items if item.item_id in board.items.get(item.language, ()))
    if board.sealed is not None:
        # The hash must be the same for those who hold the sealed labels.
        loaded = without_labels(loaded, [item for item in loaded.items if _is_judged(item, data)])
    if data.sha256 and loaded.sha256 != data.sha256:
        if folder == fetched_folder(data.card) and (part := partial_words(folder)):
            raise MissingData(f"the board '{board.id}' needs all of '{data.card}', and only a part of it is here: {part}")
        raise ContentError(
            f"these are not the data of the board '{board.id}': their content hash should be {data.sha256}, but is {loaded.sha256}; "
            f"{_how_to_get(data, library)}",
            folder,
        )
    loaded = with_our_names(loaded, library)
    comparable = comparable_rubrics(loaded, library)
    loaded = with_compared_labels(loaded, [comparable[name] for name in board.rubrics if name in comparable])
    # Refuse rubrics and data with different scales: a judge answers on the rubric's and is compared on the data's.
    for metric in board.rubrics:
        expected, folder_scale = library.rubric(metric).scale, loaded.scales.get(metric)
        if folder_scale != expected:
            data_scale = f"{folder_scale.kind} {folder_scale.describe()}, best {folder_scale.best}" if folder_scale else "none"
            rubric_scale = f"{expected.kind} {expected.describe()}, best {expected.best}"
            message = f"the scale of '{metric}' is {rubric_scale} in its rubric, but {data_scale} in '{data.card}'; they must be the same"
            raise ContentError(message, library.board_files[board.id])
    items = tuple(msgspec.structs.replace(item, task=data.tasks.get(item.task, item.task)) for item in loaded.items)
    everything = msgspec.structs.replace(loaded, items=items, private=False)  # published texts need no consent
    judged = tuple(item for item in items if item.task in board.tasks and _is_judged(item, data))
    return BoardSource(everything, judged, judged, folder)


def without_labels(data: Dataset, items: Sequence[Item]) -> Dataset:
    """The same data without the labels of some items."""
    ids = {item.item_id for item in items}
    return msgspec.structs.replace(data, labels=data.labels.for_items(item.item_id for item in data.items if item.item_id not in ids))


def _is_judged(item: Item, data: BoardData) -> bool:
    return all(str(item.fields.get(key, getattr(item, key, ""))) in map(str, values) for key, values in data.where.items())


def usual_folder(card: str) -> Path | None:
    """The folder with the name of a dataset card, in the working directory or in its `data/`, else the one that was fetched."""
    folders = (folder for folder in (Path(card), Path("data", card)) if folder.is_dir() and find_table(folder, "items"))
    return next(folders, None) or fetched_folder(card)


def _how_to_get(data: BoardData, library: Library) -> str:
    return how_to_get(library.dataset_card(data.card))


# ---- items with too few annotators


def annotators_by_item(data: Dataset) -> Mapping[str, int]:
    """`{item_id: number of labels on the metric with the most labels}`."""
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


ONE_GROUP_IN = 5  # is set aside
OTHER_GROUPS = "other-groups"
SET_ASIDE = "set-aside"


class DevelopmentPart(NamedTuple):
    """Development items with their labels, which few-shot examples are taken from, for data without development items.

    They are of groups that are never judged. Where every group is judged, a fifth of the groups is set aside: nobody is asked about them,
    under any variant of the run. `set_aside` are the ids of those that would otherwise be judged.
    """

    data: Dataset
    set_aside: frozenset[str]

    @property
    def origin(self) -> str:
        """Return the name of the part in the signature, with a hash of its items and labels."""
        return f"{SET_ASIDE if self.set_aside else OTHER_GROUPS}+{self.data.sha256[:12]}"


def needs_development_part(wording: ChosenWordings, board: Board | None, data: Dataset) -> bool:
    """Return True if a variant shows examples, and neither a folder of examples nor development items with labels are at hand."""
    texts = wording.variants or (board.variants if board else ())
    try:
        shows = any(parse_variant(text).shots for text in texts)
    except ValueError:
        return False  # the variant itself is refused later
    if not shows or wording.examples is not None:
        return False
    return not any(item.split == "dev" and item.item_id in data.labelled_metrics for item in data.items)


def development_part(data: Dataset, judged: Iterable[Item], metrics: Collection[str]) -> DevelopmentPart:
    """Return the development part of data of which `judged` are all items that are ever judged, whatever this run asks about.

    Texts with the same wording count as one group. In each language and task, groups that are not judged serve. Where there are none, one
    group in five (at least one), first by a hash of its name, is set aside in all languages.

    Raises UsageError if the items of a language and task that have labels are of one group alone.
    """
    group = dict(zip((item.item_id for item in data.items), data.clusters, strict=True))
    labelled = data.labelled_metrics
    usable = [item for item in data.items if not labelled.get(item.item_id, frozenset()).isdisjoint(metrics)]
    judged_ids = {item.item_id for item in judged}
    judged_groups = {group[item] for item in judged_ids}
    free = [item for item in usable if group[item.item_id] not in judged_groups]
    served = {(item.language, item.task) for item in free}
    aside: set[str] = set()
    groups_of: dict[tuple[str, str], set[str]] = {}
    for item in usable:
        if item.item_id in judged_ids and (item.language, item.task) not in served:
            groups_of.setdefault((item.language, item.task), set()).add(group[item.item_id])
    for (language, task), groups in groups_of.items():
        if len(groups) == 1:
            raise UsageError(
                f"few-shot shows scored texts that are not judged, and the labelled texts of {language}/{task} are all of one group; "
                "--examples DIR takes the labelled items of another data folder"
            )
        in_drawn_order = sorted(groups, key=lambda name: hashlib.sha256(f"development\x1f{name}".encode()).hexdigest())
        aside.update(in_drawn_order[: -(-len(groups) // ONE_GROUP_IN)])
    set_aside = frozenset(item for item in judged_ids if group[item] in aside)
    part = data.only(
        msgspec.structs.replace(item, split="dev") for item in (*free, *(item for item in usable if item.item_id in set_aside))
    )
    return DevelopmentPart(part, set_aside)
