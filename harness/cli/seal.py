"""`harness board seal`, `open`, `rotate`: labels that only those see who hold a key."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from harness.boards.sealing import SealedNow, open_labels
from harness.boards.sealing import rotate as rotate_labels
from harness.boards.sealing import seal as seal_labels
from harness.content.canary import HOW_TO_MARK
from harness.tables import to_json
from harness.text import plain


def seal(arguments: argparse.Namespace) -> int:
    found = seal_labels(
        arguments.board,
        arguments.labels,
        arguments.recipient,
        content=arguments.content,
        data=arguments.data,
        canary=arguments.canary,
    )
    if arguments.json:
        sys.stdout.write(to_json(found))
        return 0
    for line in _said(found):
        print(plain(line))
    return 0


def _said(found: SealedNow) -> Iterator[str]:
    yield f"{found.labels:,} labels of {found.items:,} items are sealed in {found.file}; {found.unlabelled:,} items have none"
    yield f"commitment  {found.sealed.commitment}"
    yield f"canary      {found.sealed.canary}"
    for path in found.unmarked:
        yield f"without the canary: {path}; {HOW_TO_MARK}"
    yield "Raise the version of the board, run 'harness check', and keep the labels and the keys where they are not published."


def open_(arguments: argparse.Namespace) -> int:
    folder = open_labels(arguments.board, arguments.key, arguments.to, content=arguments.content)
    print(plain(f"labels.jsonl and salt.txt are in {folder}; 'cat salt.txt labels.jsonl | sha256sum' there gives the board's commitment"))
    return 0


def rotate(arguments: argparse.Namespace) -> int:
    path = rotate_labels(arguments.board, arguments.key, arguments.recipient, content=arguments.content)
    print(plain(f"{path} is encrypted to {len(arguments.recipient)} keys now; an earlier copy of it is opened by the keys of then"))
    return 0
