"""Opens runs, data folders and data sets, and compares their judgments with labels: the steps that notebooks and commands share."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from harness.content import Library
from harness.content.tags import suggest
from harness.data.dataset import Dataset, load_folder
from harness.data.folders import located
from harness.decide.options import CompareOptions, DecisionOptions
from harness.errors import UsageError
from harness.exchange.labels.choose_reader import KIND_BY_SUFFIX
from harness.exchange.labels.table_options import Role, TableOptions
from harness.exchange.one_table.read_table import OneTable, is_table_file, read_one_table
from harness.judges.panel import Panel, is_panel_file, split_panels
from harness.measure import options
from harness.measure.compare import Recording
from harness.measure.options import JudgeSelection, MeasureOptions
from harness.options import part_of
from harness.reports import comparison
from harness.reports.comparison import DecidedComparison
from harness.text import as_names

if TYPE_CHECKING:  # and late: a comparison of a table or a data folder needs no runs
    from harness.gate.numbers import GatedSource
    from harness.runs import RunResult

Selection = TypeVar("Selection", bound=JudgeSelection)
CONSTRUCTED = "The labels are constructed with the texts, not given by native speakers."


def load(folder: Path | str, *, card: str | None = None) -> Dataset:
    """Open the items, labels and recorded judgments of a data folder.

    Args:
        folder: holds `items`, `labels` and optionally `judgments` as `.jsonl`, `.jsonl.gz` or `.parquet`, and a `data.toml`; or the name of
            published data that `harness data get` has fetched, such as `pariksha`. A folder of that name here comes first.
        card: the dataset card of published data (`harness data list`), used instead of data.toml.

    Raises:
        UsageError: if the folder does not exist, or the published data are not on this machine; the message has the command.
        ContentError: for an error in a file, with `file:line`.
    """
    return load_folder(Path(folder), Library(), card=card, with_judgments=True)


class OpenedSource(msgspec.Struct, frozen=True):
    """One source of a comparison. `run` is set if it is a run: only runs keep raw replies."""

    recording: Recording
    run: RunResult | None = None


Source: TypeAlias = "Dataset | RunResult | OpenedSource | Path | str"
"""What is compared: in memory, by the path of a folder or a table, or by the name of a run or of published data."""


def opened_table(tables: Sequence[Any], options: TableOptions | None = None, ask: Callable[[str], Role] | None = None) -> OpenedTable:
    """Open a table with people's and judges' scores, or two that an id joins. Raises as `read_one_table`."""
    table = read_one_table(tables, options, ask)
    name = str(tables[0]) if isinstance(tables[0], (str, Path)) else table.data.id
    return OpenedTable(OpenedSource(_recorded(table.data, name)), table)


def with_table(
    sources: Sequence[Any], options: Selection, table: TableOptions | None = None, ask: Callable[[str], Role] | None = None
) -> tuple[OpenedTable | None, Selection]:
    """Return the table that all sources are, or the two that an id joins; None without one. The judges of the options name its columns."""
    if not all(map(is_table_file, sources)):
        return None, options
    columns = replace(table or TableOptions(), judge=options.judges or (table or TableOptions()).judge)
    return opened_table(sources, columns, ask), replace(options, judges=None)


class OpenedTable(msgspec.Struct, frozen=True):
    """A table as one source of a comparison, and how it was read."""

    source: OpenedSource
    table: OneTable


def open_sources(sources: Sequence[Source], card: str | None, out: Path) -> list[OpenedSource]:
    """Read the sources of a comparison. Raises as `api.compare`."""
    opened = [_open_source(source, card, out) for source in sources]
    names = [opened_source.recording.name for opened_source in opened]
    if len(set(names)) == len(names):
        return opened
    return [  # two runs of one name, such as the same questions asked again later, are named as they were given
        msgspec.structs.replace(opened_source, recording=msgspec.structs.replace(opened_source.recording, name=str(source)))
        if isinstance(source, (str, Path)) and names.count(opened_source.recording.name) > 1
        else opened_source
        for source, opened_source in zip(sources, opened, strict=True)
    ]


def _open_source(source: Source, card: str | None, out: Path) -> OpenedSource:
    if isinstance(source, OpenedSource):
        return source
    if is_table_file(source):
        return OpenedSource(_recorded(read_one_table([source]).data, str(source)))
    if isinstance(source, Dataset):
        return OpenedSource(_recorded(source, source.id))
    if not isinstance(source, (str, Path)):
        from harness.measure import recordings

        source.refuse_unanswered()
        recording = recordings.recording(
            source.judgments, source.prepared.data, source.prepared.training, source.name, source.protocol.judges.panels
        )
        return OpenedSource(msgspec.structs.replace(recording, notes=tuple(_notes(source))), source)
    written, source = str(source), located(Path(source), Library())  # the name of a published set means its folder
    if is_data_folder(source):
        return OpenedSource(_recorded(load(source, card=card), source.resolve().name, written))
    from harness.runs import reopen, run_place

    name, results = run_place(source, out)
    if not (results / "store.sqlite").is_file():
        if Path(source).suffix.lower() in KIND_BY_SUFFIX:
            raise UsageError(f"{source} does not exist, or is no table")
        near = suggest(str(source), Library().dataset_card_files)
        message = f"{source} is not a data folder or a run's folder, and {out} is no results folder with a run of that name"
        raise UsageError(f"{message}.{near}" if near else message)
    return _open_source(reopen(name, results), None, results)


def is_data_folder(source: Path | str) -> bool:
    """Return True if a path, or the name of a published set, means a folder that is not the folder of a run."""
    folder = located(Path(source), Library())
    return folder.is_dir() and not (folder / "run.json").is_file()


def refuse_table(source: Path | str) -> None:
    """Raise UsageError for a table where a data folder is needed that remembers which of its labels have confirmed a choice."""
    if is_table_file(source):
        folder = shlex.quote(str(Path(Path(source).stem)))
        raise UsageError(
            f"{source} is a table, which cannot remember which labels have confirmed a choice; make a data folder of it once:\n"
            f"  harness compare {shlex.quote(str(source))} --to {folder}\n  harness improve {folder}"
        )


def recorded_judges(source: Path | str, card: str | None = None) -> tuple[str, ...]:
    """Return the judges whose answers a data folder holds. Raises as `load`."""
    recorded = load(source, card=card).judgments
    return () if recorded is None else tuple(sorted(recorded.judge.used))


def _recorded(data: Dataset, name: str, folder: str = "DIR") -> Recording:
    if data.judgments is None:
        raise UsageError(
            f"{name} has no judgments to compare. Ask a judge: harness run --data {shlex.quote(folder)} --judge "
            f"PROVIDER/MODEL. What labels show without one: harness labels check {shlex.quote(folder)}"
        )
    notes = (CONSTRUCTED,) if data.about.source == "constructed" else ()
    return Recording(name, data, data.judgments, data.about.asked, notes=(*notes, *data.about.notes))


def _notes(result: RunResult) -> Iterator[str]:
    """Return notes for readers of a run's numbers."""
    protocol = result.protocol
    if protocol.texts.constructed:
        yield CONSTRUCTED
    if languages := unreviewed(result):
        yield f"No native reader has reviewed the texts in {', '.join(languages)}."
    if languages := unreviewed_instructions(result):
        yield f"No native reader has reviewed the own-language instructions in {', '.join(languages)}."
    if missing := [f"{count:,} of {judge}" for judge, count in result.answers.missing.items() if count]:
        yield f"Calls without an answer, not counted: {', '.join(missing)}."
    if protocol.texts.data:
        yield from result.prepared.data.about.notes


def unreviewed(result: RunResult) -> list[str]:
    """Return the languages of bundled texts that no native reader has reviewed."""
    library, protocol = result.prepared.library, result.protocol
    return [] if protocol.texts.data else library.unreviewed(protocol.texts.board, protocol.texts.languages)


def unreviewed_instructions(result: RunResult) -> list[str]:
    """Return the languages whose instructions were used although no native reader has reviewed them."""
    return [tag for tag in result.protocol.wording.instructions if not result.prepared.library.instructions(tag).reviewed_by]


def gated_source(source: Source, card: str | None, out: Path) -> GatedSource:
    """Return a source with the signature and the rule that its numbers have. Raises as `api.check_gate`."""
    from harness.gate.numbers import GatedSource, unanswered_calls
    from harness.measure import recordings

    opened = _open_source(source, card, out)
    if opened.run is None:
        data = opened.recording.data
        answers = opened.recording.judgments.sha256[:12]
        signature = f"data:{data.about.id}@{data.about.version}+{data.sha256[:12]}|judgments:{answers}"
        return GatedSource(opened.recording, MeasureOptions(), {"": signature})
    protocol = opened.run.protocol
    signatures = {judge: str(signature) for judge, signature in recordings.signatures(protocol, opened.run.judgments).items()}
    rule = options.of_rule(protocol.rule.majority, protocol.rule.annotators)
    return GatedSource(opened.recording, rule, signatures, unanswered_calls(opened.run))


class ComparedSources(msgspec.Struct, frozen=True):
    """Everything that `compare_sources` opened, the options with which it was compared, and the comparison."""

    sources: list[OpenedSource]
    options: MeasureOptions
    comparison: DecidedComparison


def compare_sources(
    sources: Sequence[Source], requested: CompareOptions, *, out: Path = Path("results"), sections: bool = True
) -> ComparedSources:
    """Go through the steps of a comparison, for notebooks and for the command: open the sources, add panels, compare, and decide.

    Args:
        sources, out: as in `api.compare`.
        requested: the options by the names that the user gave; panels among the judges, and a source to compare with, get their own names.
        sections: whether to compute the sections.
    """
    all_sources = with_versus_source(sources, requested.versus)
    opened, judges = with_panels(open_sources(all_sources, requested.card, out), requested.judges, requested.restrictions.get("metric"))
    options = replace(requested, judges=as_names(judges) if judges else None, versus=named_versus(requested.versus, all_sources, opened))
    recordings = [source.recording for source in opened]
    measured, decision = part_of(options, MeasureOptions), part_of(options, DecisionOptions)
    compared = comparison.compare(recordings, measured, decision, full=options.decide == "full", sections=sections)
    return ComparedSources(opened, measured, compared)


def with_panels(
    opened: Sequence[OpenedSource], judges: Sequence[str] | None, metrics: Collection[str] | None = None
) -> tuple[list[OpenedSource], list[str] | None]:
    """Return the sources with the panels whose files `judges` names, and the judges that are compared: the panels and their members too.

    `metrics` are those that are compared; by default all. A source without the members of a panel goes without it. Raises UsageError as
    `with_panel` if every source does, and ContentError for a file that is no panel.
    """
    files = [name for name in judges or () if is_panel_file(name)]
    if not files:
        return list(opened), None if judges is None else list(judges)
    members, panels = split_panels(files)
    panel_names = [name for name in judges or () if name not in files]
    for name, panel in panels.items():
        opened = _with_panel(opened, name, panel, metrics)
    return list(opened), list(dict.fromkeys((*panel_names, *members, *panels)))


def _with_panel(opened: Sequence[OpenedSource], name: str, panel: Panel, metrics: Collection[str] | None) -> list[OpenedSource]:
    from harness.measure import recordings

    sources_with_panel, errors = [], []
    for source in opened:
        recording = source.recording
        try:
            judgments = recordings.with_panel(recording.judgments, name, panel, recording.data.scales, metrics)
        except UsageError as err:
            errors.append(err)
            sources_with_panel.append(source)
            continue
        added = msgspec.structs.replace(recording, judgments=judgments, panels={**recording.panels, name: panel})
        sources_with_panel.append(msgspec.structs.replace(source, recording=added))
    if len(errors) == len(sources_with_panel):
        raise errors[0]
    return sources_with_panel


def with_versus_source(sources: Sequence[Source], versus: tuple[str, str] | None) -> Sequence[Source]:
    """Return the sources, and the one that `versus` names by its path if it is not among them."""
    if versus is None or versus[0] != "source" or versus[1] in map(str, sources) or not Path(versus[1]).is_dir():
        return sources
    return [*sources, versus[1]]


def named_versus(versus: tuple[str, str] | None, sources: Sequence[Source], opened: Sequence[OpenedSource]) -> tuple[str, str] | None:
    """Return `versus` with the name of a source in place of its path."""
    if versus is None or versus[0] != "source":
        return versus
    names = {
        str(source): opened_source.recording.name
        for source, opened_source in zip(sources, opened, strict=True)
        if isinstance(source, (str, Path))
    }
    return ("source", names.get(versus[1], versus[1]))
