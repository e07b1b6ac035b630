"""Draws the texts of a board on published data and writes their ids: `python leaderboards/freeze.py BOARD --groups 30 --each 1`.

In each language some source texts (groups) are drawn with equal chances, and of each the same number of segments, or of texts where the
data have no segments or with `--texts`. All texts of a drawn segment are judged. So a text's chance is (groups drawn / groups) x
(segments drawn / segments of its group), which the comment above the ids says. Only texts with a label on a metric of the board can be
drawn. The same data and seed give the same ids. The ids go to the end of board.toml, which needs everything else already.
"""

from __future__ import annotations

import argparse
import random
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from harness.content import Library
from harness.errors import UsageError
from harness.model import Item
from harness.row_files import write_atomic
from harness.runs.board_data import load_board

_BEGIN = "\n# Drawn by leaderboards/freeze.py"
Groups = Mapping[str, Mapping[str, Sequence[str]]]
"""`{group: {segment: ids of its texts}}`."""


def draw(groups: Groups, most: int, each: int, seed: str) -> list[str]:
    """The ids of the texts of `each` segments of `most` groups, sorted; all groups or segments where there are fewer.

    >>> draw({"g": {"s": ["a", "b"], "t": ["c"]}, "h": {"u": ["d"]}}, most=2, each=2, seed="1")
    ['a', 'b', 'c', 'd']
    """
    chance = random.Random(seed)
    chosen = chance.sample(sorted(groups), min(most, len(groups)))
    segments = [groups[name][s] for name in chosen for s in chance.sample(sorted(groups[name]), min(each, len(groups[name])))]
    return sorted(text for segment in segments for text in segment)


def grouped(items: Iterable[Item], segment: str) -> dict[str, dict[str, list[str]]]:
    """The items by group and by their key `segment`; without one, each item is a segment."""
    groups: dict[str, dict[str, list[str]]] = {}
    for item in items:
        own = str(item.fields[segment]) if segment else item.item_id
        groups.setdefault(item.group, {}).setdefault(own, []).append(item.item_id)
    return groups


def frozen(library: Library, name: str, data: Path | None, most: int, each: int, seed: int, *, texts: bool = False) -> str:
    """The end of board.toml: how the texts were drawn, and their ids by language. Raises UsageError for data of the packs."""
    board = msgspec.structs.replace(library.board(name), items={})
    if isinstance(board.data, str):
        raise UsageError(f"the board '{name}' judges texts of the packs; name one on published data")
    card = board.data.card
    if board.data.hashed == "listed":  # there is no list yet
        board = msgspec.structs.replace(board, data=msgspec.structs.replace(board.data, hashed="all", sha256=""))
    source = load_board(board, library, tuple(board.languages), data)
    labelled = source.everything.labelled_metrics
    items = [item for item in source.items if set(labelled.get(item.item_id, ())) & set(board.rubrics)]
    segment = "" if texts else library.dataset_card(card).segment
    lines = [f"{_BEGIN} --groups {most} --each {each} --seed {seed}{' --texts' if texts else ''}", "[items]"]
    for tag in sorted(board.languages):
        groups = grouped((item for item in items if item.language == tag), segment)
        ids = draw(groups, most, each, f"{seed} {tag}")
        what = "segments" if segment else "texts"
        lines.append(f"# {min(most, len(groups))} of {len(groups)} groups, and of each {each} {what} or all: {len(ids)} texts")
        quoted = ", ".join(msgspec.json.encode(one).decode() for one in ids)
        lines += [
            f"{tag} = [",
            textwrap.indent(textwrap.fill(quoted, 150, break_on_hyphens=False, break_long_words=False), "  ") + ",",
            "]",
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("board")
    parser.add_argument("--data", type=Path, help="the data folder (default: the fetched one)")
    parser.add_argument("--groups", type=int, required=True, help="most groups of a language")
    parser.add_argument("--each", type=int, required=True, help="most segments of a group")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--texts", action="store_true", help="draw single texts, also where the data have segments")
    given = parser.parse_args()
    library = Library()
    end = frozen(library, given.board, given.data, given.groups, given.each, given.seed, texts=given.texts)
    path = library.board_file(given.board)
    write_atomic(path, path.read_text("utf-8").partition(_BEGIN)[0] + end)


if __name__ == "__main__":
    main()
