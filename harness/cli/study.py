"""`harness study` and `harness pairs`: the sections of published studies, from recorded answers, and texts for one."""

from __future__ import annotations

import argparse
import shlex

import msgspec
import numpy as np

from harness import sources
from harness.cli.endings import print_result
from harness.cli.streams import print_json
from harness.content import Library
from harness.content.tags import choose_from
from harness.data import Dataset, load_folder
from harness.errors import UsageError
from harness.exchange.labels.pairs_of_outputs import EqualScores, make_pairs, write_pairs
from harness.measure.options import CompareOptions
from harness.reports.sections.chiang_lee import chiang_lee
from harness.reports.sections.self_preference import self_preference_of
from harness.reports.tables.numbers import counted
from harness.runs import DEFAULT_CHANGES, FineTuningSpec, fine_tuning_set, write_altered_texts, write_fine_tuning_set
from harness.runs import alter_texts as alter


def self_preference(arguments: argparse.Namespace) -> int:
    from harness.render.progress import working

    with working("comparing own outputs"):
        data = sources.load(arguments.data, card=arguments.card)
        found = self_preference_of(arguments.data, data, judges=arguments.judge or (), seed=arguments.seed)
    from harness.render.sections import render_self_preference

    return print_result(found, render_self_preference, as_json=arguments.json)


def chiang_lee_section(arguments: argparse.Namespace) -> int:
    """The section of Chiang & Lee (2023) from recorded scores."""
    from harness.render.progress import working
    from harness.render.sections import print_sections

    with working("comparing ratings"):
        data = _chosen(sources.load(arguments.data, card=arguments.card), arguments)
        assert data.judgments is not None
        found = chiang_lee(data, data.judgments, CompareOptions(seed=arguments.seed))
    if found is None:
        raise UsageError(f"{arguments.data} has no scores that are numbers, so there are no means to compare")
    if arguments.json:
        return print_json({"schema_version": 1, "study": "chiang-lee", **found})
    print_sections({"chiang_lee": found})
    return 0


def _chosen(data: Dataset, arguments: argparse.Namespace) -> Dataset:
    """The data with the judgments of the chosen judges, variants and metrics. Raises UsageError without judgments, or for unknown names."""
    judgments = data.judgments
    if judgments is None:
        raise UsageError(f"{arguments.data} has no judgments")
    for name in ("judge", "variant", "metric"):
        wanted = getattr(arguments, name) or ()
        column = getattr(judgments, name)
        for value in wanted:
            if value not in column.used:
                raise UsageError(f"no judgment has the {name} '{value}'.{choose_from([str(one) for one in column.used], value)}")
        if wanted:
            judgments = judgments.take(np.flatnonzero(column.recode(dict.fromkeys(wanted, 0)) == 0))
    return msgspec.structs.replace(data, judgments=judgments)


def alter_texts(arguments: argparse.Namespace) -> int:
    """Altered control texts as a data folder."""
    made = alter(Library(*arguments.content), arguments.langs, arguments.perturb or DEFAULT_CHANGES, arguments.limit, arguments.seed)
    write_altered_texts(arguments.out, made)
    for (language, change), count in sorted(made.not_changed.items()):
        print(f"{change} could change none of the words of {count} texts in {language}; they are left out")
    print(f"{arguments.out}: {len(made.rows)} texts")
    print(f"judge them with: harness run --study chiang-lee --data {shlex.quote(str(arguments.out))} --judge NAME")
    return 0


def export_fine_tuning(arguments: argparse.Namespace) -> int:
    """A fine-tuning set of a question about pairs."""
    spec = FineTuningSpec(
        arguments.data,
        arguments.question,
        arguments.system or "",
        arguments.examples,
        arguments.split,
        arguments.langs,
        tuple(arguments.content),
        arguments.seed,
    )
    made = fine_tuning_set(spec)
    write_fine_tuning_set(arguments.out, made)
    texts = made.manifest["source_texts"]
    print(f"{arguments.out}/train.jsonl: {counted(len(made.train), 'example')} of {counted(len(texts['train']), 'source text')}")
    print(f"{arguments.out}/test.jsonl: {counted(len(made.test), 'example')} of {counted(len(texts['test']), 'other source text')}")
    if spec.examples is not None and len(made.train) < spec.examples:
        print(f"the pairs have only {len(made.train)} of the {spec.examples} examples that --examples asks for")
    if made.skipped:
        print(f"left out: {made.skipped} questions without an answer (texts that are equal in it, or not of the system)")
    return 0


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
