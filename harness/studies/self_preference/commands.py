"""`harness study self-preference` and `harness study export-finetuning`."""

from __future__ import annotations

from harness import sources
from harness.cli.output import print_result
from harness.render.terminal import working
from harness.reports.tables.numbers import counted
from harness.studies.self_preference.analysis import self_preference_of
from harness.studies.self_preference.fine_tuning import FineTuningSpec, fine_tuning_set, write_fine_tuning_set
from harness.studies.self_preference.flags import StudyExportFinetuning, StudySelfPreference
from harness.studies.self_preference.terminal import render_self_preference


def self_preference(arguments: StudySelfPreference) -> int:
    """Analyse the recorded comparisons of a data folder."""
    with working("comparing own outputs"):
        data = sources.load(arguments.data, card=arguments.card)
        preference = self_preference_of(arguments.data, data, judges=arguments.judge or (), seed=arguments.seed)
    return print_result(preference, render_self_preference, as_json=arguments.json)


def export_fine_tuning(arguments: StudyExportFinetuning) -> int:
    """Write the fine-tuning set of a question about pairs."""
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
    chats = fine_tuning_set(spec)
    write_fine_tuning_set(arguments.out, chats)
    texts = chats.manifest["source_texts"]
    print(f"{arguments.out}/train.jsonl: {counted(len(chats.train), 'example')} of {counted(len(texts['train']), 'source text')}")
    print(f"{arguments.out}/test.jsonl: {counted(len(chats.test), 'example')} of {counted(len(texts['test']), 'other source text')}")
    if spec.examples is not None and len(chats.train) < spec.examples:
        print(f"the pairs have only {len(chats.train)} of the {spec.examples} examples that --examples asks for")
    if chats.skipped:
        print(f"left out: {chats.skipped} questions without an answer (texts that are equal in it, or not of the system)")
    return 0
