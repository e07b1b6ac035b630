"""`harness board seal`, `open`, `rotate`: labels that only the holders of a key can read."""

from __future__ import annotations

from collections.abc import Iterator

from harness.boards.sealed import SealingReport, open_labels
from harness.boards.sealed import rotate as rotate_labels
from harness.boards.sealed import seal as seal_labels
from harness.cli.commands.leaderboards import BoardOpen, BoardRotate, BoardSeal
from harness.cli.streams import print_json
from harness.content.canary import HOW_TO_MARK
from harness.text import terminal_safe


def seal(arguments: BoardSeal) -> int:
    sealed = seal_labels(
        arguments.board, arguments.labels, arguments.recipient, content=arguments.content, data=arguments.data, canary=arguments.canary
    )
    if arguments.json:
        return print_json(sealed)
    for line in _summarise_sealing(sealed):
        print(terminal_safe(line))
    return 0


def _summarise_sealing(result: SealingReport) -> Iterator[str]:
    yield f"{result.labels:,} labels of {result.items:,} items are sealed in {result.file}; {result.unlabelled:,} items have none"
    yield f"commitment  {result.sealed.commitment}"
    yield f"canary      {result.sealed.canary}"
    for path in result.unmarked:
        yield f"no canary in {path}; {HOW_TO_MARK}"
    yield "Raise the version of the board and run 'harness check'. Keep the labels and the keys in a place that is not published."


def open_(arguments: BoardOpen) -> int:
    folder = open_labels(arguments.board, arguments.key, arguments.to, content=arguments.content)
    print(
        terminal_safe(
            f"labels.jsonl and salt.txt are in {folder}; 'cat salt.txt labels.jsonl | sha256sum' there gives the board's commitment"
        )
    )
    return 0


def rotate(arguments: BoardRotate) -> int:
    path = rotate_labels(arguments.board, arguments.key, arguments.recipient, content=arguments.content)
    print(
        terminal_safe(f"{path} is now encrypted for {len(arguments.recipient)} keys; earlier copies of it still open with the earlier keys")
    )
    return 0
