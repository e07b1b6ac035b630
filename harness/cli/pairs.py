"""`harness pairs`: pairs of outputs of a data folder with outputs of several systems."""

from __future__ import annotations

import argparse
import shlex

from harness.content import Library
from harness.data import load_folder
from harness.exchange.labels.pairs_of_outputs import EqualScores, make_pairs, write_pairs


def pairs(arguments: argparse.Namespace) -> int:
    library = Library(*arguments.content)
    equal = EqualScores.parse(arguments.equal) if arguments.equal else None
    data = load_folder(arguments.data, library, card=arguments.card)
    made = make_pairs(data, library, arguments.against, equal, arguments.control)
    write_pairs(arguments.out, made, data, library)
    counts = ", ".join(f"{count:,} in {language}" for language, count in sorted(made.by_language.items()))
    print(f"{arguments.out}: {len(made.rows):,} pairs, {counts}")
    if made.identical:
        print(f"{made.identical:,} of them have the same text twice; they stay as a sanity check")
    if made.not_equal or made.not_scored:
        print(f"left out: {made.not_equal:,} pairs that people scored differently, {made.not_scored:,} without a score of both")
    if arguments.control:
        print(f"computed answers to control questions: {len(made.labels):,} of {len(made.rows) * len(arguments.control):,}")
    content = "".join(f" --content {shlex.quote(str(folder))}" for folder in arguments.content)
    print(f"judge them with: harness run{content} --data {shlex.quote(str(arguments.out))} --unlabelled --order both --judge NAME")
    return 0
