"""`harness pairs`: pairs of outputs of a data folder with outputs of several systems."""

from __future__ import annotations

import shlex

from harness.cli.commands.studies_and_jobs import Pairs
from harness.content import Library
from harness.data import load_folder
from harness.exchange.labels.pairs_of_outputs import EqualScores, make_pairs, write_pairs


def pairs(arguments: Pairs) -> int:
    library = Library(*arguments.content)
    equal = EqualScores.parse(arguments.equal) if arguments.equal else None
    data = load_folder(arguments.data, library, card=arguments.card)
    new_pairs = make_pairs(data, library, arguments.against, equal, arguments.control, one_style=arguments.one_style)
    write_pairs(arguments.out, new_pairs, data, library)
    counts = ", ".join(f"{count:,} in {language}" for language, count in sorted(new_pairs.by_language.items()))
    print(f"{arguments.out}: {len(new_pairs.rows):,} pairs, {counts}")
    if new_pairs.identical:
        print(f"{new_pairs.identical:,} of them have the same text twice; they stay as a sanity check")
    if new_pairs.not_equal or new_pairs.not_scored:
        print(f"left out: {new_pairs.not_equal:,} pairs that people scored differently, {new_pairs.not_scored:,} without a score of both")
    if arguments.one_style:
        print(new_pairs.notes[-1])
    if arguments.control:
        print(f"computed answers to control questions: {len(new_pairs.labels):,} of {len(new_pairs.rows) * len(arguments.control):,}")
    content = "".join(f" --content {shlex.quote(str(folder))}" for folder in arguments.content)
    print(f"judge them with: harness run{content} --data {shlex.quote(str(arguments.out))} --unlabelled --order both --judge NAME")
    return 0
