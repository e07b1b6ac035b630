"""The development part of data without development items: texts that few-shot examples are taken from, and that are never scored.

It consists of texts of groups that are never judged. Where every group is judged, a fifth of the groups is set aside: nobody is asked
about them, under any variant of the run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from typing import NamedTuple

import msgspec

from harness.content.specs import Board
from harness.data import Dataset
from harness.errors import UsageError
from harness.model import Item, parse_variant
from harness.runs.specification import ChosenWordings

ONE_GROUP_IN = 5  # is set aside
OTHER_GROUPS = "other-groups"
SET_ASIDE = "set-aside"


class DevelopmentPart(NamedTuple):
    """Development items with their labels, and the ids of those among them that would otherwise be judged."""

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
        aside.update(sorted(groups, key=_rank)[: -(-len(groups) // ONE_GROUP_IN)])
    set_aside = frozenset(item for item in judged_ids if group[item] in aside)
    part = data.only(
        msgspec.structs.replace(item, split="dev") for item in (*free, *(item for item in usable if item.item_id in set_aside))
    )
    return DevelopmentPart(part, set_aside)


def _rank(group: str) -> str:
    return hashlib.sha256(f"development\x1f{group}".encode()).hexdigest()
