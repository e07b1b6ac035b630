"""Large jobs: `harness batch`, `generate`, `pairs` and `store`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from harness.asking_options import Settings
from harness.cli.commands.studies_and_jobs import (
    BatchCollect,
    BatchForget,
    BatchStatus,
    Generate,
    Pairs,
    StoreCheck,
    StoreExport,
    StoreGc,
    StoreMerge,
)
from harness.cli.dry_run import spending
from harness.cli.streams import print_json
from harness.content import Library
from harness.data.dataset import card_of_folder, load_folder
from harness.data.folders import located
from harness.engines.batch_engine import states_of
from harness.engines.batch_submission import is_file, is_open
from harness.errors import HarnessError, IncompleteRun, JudgeError, UsageError
from harness.exchange.labels.pairs_of_outputs import EqualScores, make_pairs, write_pairs
from harness.judges import JudgeOptions, opening_name
from harness.judges.batches import Batching, ProviderBatch
from harness.model import JudgeIdentity
from harness.offensive_texts import hides_texts, refuse_in_repository
from harness.offensive_texts import shown as shown_text
from harness.reports.tables.numbers import counted
from harness.row_files import jsonl_lines, to_json, write_atomic
from harness.runs import (
    Generated,
    RunProtocol,
    WriterSummary,
    collect_batches,
    generate_outputs,
    of_judge,
    planned_writing,
    reopen_judge,
)
from harness.store import Store, StoredBatch
from harness.store.maintenance import check as check_store
from harness.store.maintenance import collect as collect_garbage
from harness.store.maintenance import merge as merge_stores
from harness.text import terminal_safe

_UPLOADED = "a file was uploaded; the run's command will check what happened to it"


def status(arguments: BatchStatus) -> int:
    with Store.reading(arguments.out) as store:
        open_batches = [(identity, batch) for identity, batch in _list_batches(store) if is_open(batch) or not is_file(batch)]
    # open batches as their providers describe them, or the reason why that is unknown
    at_provider: dict[str, ProviderBatch | str] = dict.fromkeys((batch.batch_id for _, batch in open_batches if is_file(batch)), _UPLOADED)
    identities = {identity.name: identity for identity, batch in open_batches if is_open(batch) and not is_file(batch)}
    names = [opening_name(identity) for identity in identities.values()]
    for identity, opening in zip(identities.values(), names, strict=True):
        ids = [batch.batch_id for owner, batch in open_batches if owner.name == identity.name and is_open(batch) and not is_file(batch)]
        try:
            options = JudgeOptions(
                arguments.addresses.address_of(opening), os.environ, headers=of_judge(arguments.addresses.headers, opening, names)
            )
            judge = reopen_judge(identity, options)
            assert isinstance(judge, Batching)
            at_provider |= states_of(judge, ids)
        except HarnessError as err:
            at_provider |= dict.fromkeys(ids, str(err))
    rows = [_make_row(batch, at_provider.get(batch.batch_id)) for _, batch in open_batches]
    if arguments.json:
        sys.stdout.write(to_json(rows))
    elif rows:
        from harness.render.runs import print_batches

        print_batches(rows)
    else:
        print(f"no batches in {arguments.out}", file=sys.stderr)
    unknown = next((row["note"] for row in rows if row["note"] not in (None, _UPLOADED)), None)
    if unknown:
        raise JudgeError(f"the state of some batches is unknown: {unknown}")
    return 0


def _list_batches(store: Store) -> Iterator[tuple[JudgeIdentity, StoredBatch]]:
    for run, spec in store.runs().items():
        for identity in RunProtocol.read(spec).judges.identities:
            for batch in store.batches(run, identity.name):
                yield identity, batch


def _make_row(batch: StoredBatch, at_provider: ProviderBatch | str | None) -> dict[str, Any]:
    provider = None
    if isinstance(at_provider, ProviderBatch):
        provider = {"status": at_provider.status, **msgspec.structs.asdict(at_provider.counts)}
    return {
        "batch": batch.batch_id,
        "run": batch.run,
        "judge": batch.judge,
        "submitted": batch.submitted,
        "calls": len(batch.calls),
        "state": batch.state,
        "provider": provider,
        "note": at_provider if isinstance(at_provider, str) else None,
    }


def collect_batch(arguments: BatchCollect) -> int:
    from harness.cli.output import RunOutput, show_run
    from harness.render.progress import TerminalWatcher

    name = arguments.run
    if name is None:  # the latest run with open batches; without any, the latest run with batches
        with Store.reading(arguments.out) as store:
            batches = [batch for _, batch in _list_batches(store)]
        runs = [batch.run for batch in batches if is_open(batch)] or [batch.run for batch in batches]
        if not runs:
            raise UsageError(f"no batches in {arguments.out}; 'harness run --engine batch' submits some")
        name = runs[-1]
    settings = Settings(prices=arguments.pricing.prices)
    watcher = TerminalWatcher(assume_yes=True)
    show_run(collect_batches(name, arguments.out, watcher, settings, arguments.addresses), RunOutput(arguments.json))
    return 0


def forget(arguments: BatchForget) -> int:
    with Store.writing(arguments.out) as store:
        batches = [batch for _, batch in _list_batches(store) if batch.batch_id == arguments.batch]
        if not any(map(is_open, batches)):
            problem = f"{arguments.batch} has ended ({batches[0].state})" if batches else f"no batch '{arguments.batch}' in {arguments.out}"
            raise UsageError(f"{problem}; 'harness batch status' lists the batches")
        store.settle_batch(arguments.batch, "forgotten")
    print(
        f"{terminal_safe(arguments.batch)} is given up; the run's command will ask its {len(batches[0].calls)} calls again", file=sys.stderr
    )
    return 0


def generate_texts(arguments: Generate) -> int:
    spec, settings = arguments.request, arguments.asking
    if arguments.dry_run:
        estimates, plan = planned_writing(spec, settings)
        library = Library(*spec.content)
        hidden = spec.data is not None and hides_texts([card_of_folder(located(spec.data, library), library)], arguments.show_texts)
        seen: set[str] = set()
        for query in plan.queries():  # the first request of each language
            if query.item.language not in seen:
                seen.add(query.item.language)
                print(terminal_safe(f"── {query.item.language} {query.item.task}"))
                for message in plan.call(query, "").prompt.messages:
                    print(f"[{message.role}]\n{terminal_safe(shown_text(message.content, hidden))}")
        for name, estimate in estimates:
            print(spending({"judge": name, **msgspec.structs.asdict(estimate)}))
        return 0
    from harness.render.progress import TerminalWatcher

    try:
        generated = generate_outputs(spec, arguments.out, TerminalWatcher(assume_yes=arguments.yes), settings)
    except IncompleteRun as err:
        if isinstance(err.result, Generated):  # show the texts first, then the error with what is missing
            _show_generated(err.result, arguments)
        raise
    _show_generated(generated, arguments)
    return 0


def _show_generated(generated: Generated, arguments: Generate) -> None:
    if arguments.json:
        sys.stdout.write(
            to_json({"folder": str(generated.folder), "items": generated.rows, "kept": generated.kept, "written": generated.summaries})
        )
        return
    for summary in generated.summaries:
        print(terminal_safe(f"{summary.system}, {summary.language}: {'; '.join(_describe_writer(summary))}"))
    counts = [counted(generated.rows, "text")]
    counts += [f"{generated.kept} of them are outputs of the data"] if generated.kept else []
    counts += [f"{generated.earlier} are from earlier commands"] if generated.earlier else []
    print(terminal_safe(f"{generated.folder}: {'; '.join(counts)}"))
    folder = shlex.quote(str(generated.folder))
    content = "".join(f" --content {shlex.quote(str(path))}" for path in arguments.request.content)
    print(f"judge them with: harness run{content} --data {folder} --unlabelled --judge NAME")
    print(f"compare them with: harness pairs {folder}{content} --out PAIRS")


def _describe_writer(summary: WriterSummary) -> Iterator[str]:
    """Say what a writer did in one language, and what to look at."""
    yield counted(summary.texts, "text")
    for name, count in summary.failures.items():
        yield f"{count} {name}"
    if summary.missing:
        yield f"{summary.missing} without an answer"
    if summary.cut:
        yield f"{summary.cut} {'ends' if summary.cut == 1 else 'end'} at the limit of tokens"
    if summary.other_language:
        yield f"{summary.other_language} {'is' if summary.other_language == 1 else 'are'} in another language"
    if summary.removed:
        yield "removed: " + ", ".join(f"{kind} {counted(count, 'time')}" for kind, count in summary.removed.items())


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


_TABLE_NAMES = {"frames": "prompt templates"}  # tables of the store whose names are not the words of the documentation


def check(arguments: StoreCheck) -> int:
    result = check_store(arguments.out)
    if arguments.json:
        sys.stdout.write(to_json(result))
    else:
        for problem in result.problems:
            print(terminal_safe(problem))
        counts = {_TABLE_NAMES.get(name, name): "?" if count is None else f"{count:,}" for name, count in result.counts.items()}
        print(", ".join(f"{name} {count}" for name, count in counts.items()))
        print("something is wrong" if result.problems else "nothing is wrong")
    return 1 if result.problems else 0


def export(arguments: StoreExport) -> int:
    with Store.reading(arguments.out) as opened:
        _refuse_texts_in_repository(opened, arguments.to)
        rows = opened.export(arguments.judge)
        first = next(rows, None)
        if first is None:
            raise UsageError(f"no replies{f' of {arguments.judge!r}' if arguments.judge else ''} in {arguments.out}")
        lines = _CountedLines(jsonl_lines(chain((first,), rows)))
        write_atomic(arguments.to, lines, private=True)
    print(f"{lines.count} replies written to {arguments.to}", file=sys.stderr)
    return 0


def _refuse_texts_in_repository(store: Store, to: Path) -> None:
    """Raise UsageError where prompts and replies of a run on offensive data would come into a repository."""
    for spec in store.runs().values():
        texts = RunProtocol.read(spec).texts
        folder = Path(texts.data or texts.source.partition("@")[0])  # where the folder is gone, the published card of its name holds
        refuse_in_repository(to, card_of_folder(folder, Library()))


class _CountedLines:
    """Lines that are counted while they are read."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self.count = 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self._lines:
            self.count += 1
            yield line


def gc(arguments: StoreGc) -> int:
    removed = collect_garbage(arguments.out, dry_run=arguments.dry_run)
    if arguments.json:
        return print_json(removed)
    print(
        f"{'would remove' if arguments.dry_run else 'removed'} {removed.frames} prompt templates of other versions, "
        f"{removed.attempts} lost attempts of calls that have an answer now, {removed.calls} calls without attempts, "
        f"{removed.prompts} prompts without calls"
    )
    if not arguments.dry_run:
        shrunk = removed.bytes_before - removed.bytes_after
        print(f"the file shrank by {shrunk:,} bytes to {removed.bytes_after:,}")
    return 0


def merge(arguments: StoreMerge) -> int:
    for source in arguments.sources:
        with Store.reading(source) as opened:
            _refuse_texts_in_repository(opened, arguments.out)
    merged = merge_stores(arguments.sources, arguments.out)
    if arguments.json:
        return print_json(merged)
    counts = {_TABLE_NAMES.get(table, table): count for table, count in msgspec.structs.asdict(merged).items()}
    print(f"{arguments.out} has gained {', '.join(f'{count:,} {name}' for name, count in counts.items())}")
    return 0
