"""The public API for notebooks: the same things that the commands do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from harness import analyse
from harness.asking import Estimate, Watcher
from harness.content import Dataset, Library, load_folder
from harness.engines import Settings
from harness.errors import UsageError
from harness.model import JudgeIdentity
from harness.protocol import RunSpec
from harness.runner import RunResult, reopen
from harness.runner import run as run_spec

CONSTRUCTED = "The labels are constructed with the texts, not given by native speakers."


class Quiet:
    """Watches a run without showing anything. Refuses to send a data folder's texts away unless told that it may."""

    def __init__(self, *, may_send: bool = False) -> None:
        self._may_send = may_send

    def consent(self, host: str, texts: int) -> None:
        if not self._may_send:
            raise UsageError(f"{texts} texts of your data folder would be sent to {host}; pass may_send=True if they may be")

    def planned(self, identity: JudgeIdentity, wanted: Estimate, stored: int) -> None:
        """Shows nothing."""

    def progress(self, identities: Sequence[JudgeIdentity]) -> Callable[[JudgeIdentity, Any], None]:
        return lambda identity, state: None

    def finished(self) -> None:
        """Shows nothing."""


def run(
    spec: RunSpec,
    out: Path | str = "results",
    *,
    watcher: Watcher | None = None,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    may_send: bool = False,
) -> RunResult:
    """Ask what is not yet answered and read the run from the store: what `harness run` does.

    Args:
        spec: what to judge, by whom, how.
        out: the results folder; the same spec in the same folder is the same run.
        watcher: told about plan and progress; by default nobody.
        settings: calls in flight, limits, budgets: how fast and how far it is asked, not what.
        may_send: whether texts of a data folder may go to an endpoint that is not on this machine.

    Raises:
        UsageError, ContentError, JudgeError, StoreError; IncompleteRun (with `result`) when calls are left without an answer.
    """
    return run_spec(spec, Path(out), watcher or Quiet(may_send=may_send), settings)


def report(result: RunResult) -> analyse.Report:
    """The numbers of a run: verdicts, cells that pool tasks, cells by task. Asks nobody; equal stores give equal reports."""
    protocol = result.protocol
    return analyse.report(
        result.name,
        protocol,
        result.judgments,
        result.prepared.data,
        result.prepared.training,
        unreviewed=_unreviewed(result),
        unreviewed_instructions=_unreviewed_instructions(result),
        missing=result.answers.missing,
        answered_by=result.answers.answered_by,
        left_out=result.answers.left_out,
        realised=result.realised,
        absent=result.absent,
    )


def write_page(result: RunResult, path: Path | str | None = None) -> Path:
    """Write the run's page, one HTML file with everything in it: what `harness report RUN --html` does.

    Args:
        result: a run.
        path: the file to write; by default `report.html` in the run's folder.

    Raises:
        StoreError: when it cannot be written.
    """
    from harness.render.html import report_page  # late: templates take time
    from harness.tables import write_atomic

    written = Path(path) if path is not None else result.folder / "report.html"
    write_atomic(written, report_page(result, report(result)))
    return written


def load(folder: Path | str, *, recipe: str | None = None) -> Dataset:
    """Items, labels and recorded judgments of a data folder.

    Args:
        folder: holds `items`, `labels` and maybe `judgments` as `.jsonl`, `.jsonl.gz` or `.parquet`, and a `data.toml`.
        recipe: the published data set that it is (`harness list datasets`), instead of its data.toml.

    Raises:
        UsageError: when it is none.  ContentError: with `file:line`, for what is wrong in it.
    """
    return load_folder(Path(folder), Library(), recipe=recipe, with_judgments=True)


def compare(
    *sources: Dataset | RunResult | Path | str,
    judges: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    annotators: str | None = None,
    majority: Literal["drop", "median", "strict"] = "drop",
    level: Literal["item", "system"] = "item",
    where: Mapping[str, Sequence[str]] | None = None,
    versus: tuple[str, str] | None = None,
    recipe: str | None = None,
    out: Path | str = "results",
    seed: int = 0,
) -> analyse.Comparison:
    """Compare recorded judgments with labels: what `harness compare` does.

    Args:
        sources: data sets (`load`, `from_frames`), runs, or paths of data folders and names of runs.
        judges: only these.
        by: what cells are told apart by; default language, task, metric, judge, variant (and temperature, which runs have).
        annotators: which items count: `"3"` exactly three, `"2+"` two or more (the default, if any item has two).
        majority: how annotators become one reference; `median` needs scales with an order.
        level: `item`, or `system`: correlations of the means of systems.
        where: `{name: values}`: only items, metrics, judges or variants that have one of these values.
        versus: `("judge", name)`, or variant, temperature, source: adds to every cell its paired difference from that one.
        recipe, out: of data folders and of names of runs.
        seed: of the bootstrap.

    Raises:
        UsageError: for names that are not there, and sources without labels or judgments.  ContentError, StoreError: in reading them.
    """
    options = compare_options(judges, by, annotators, majority, level, where, versus, seed)
    return analyse.compare([opened.recording for opened in open_sources(sources, recipe, Path(out))], options)


def compare_options(
    judges: Sequence[str] | None,
    by: Sequence[str] | None,
    annotators: str | None,
    majority: Literal["drop", "median", "strict"],
    level: Literal["item", "system"],
    where: Mapping[str, Sequence[str]] | None,
    versus: tuple[str, str] | None,
    seed: int,
) -> analyse.Options:
    """The arguments of `compare` as the analysis takes them."""
    return analyse.Options(
        by=tuple(by) if by is not None else analyse.Options().by,
        annotators=analyse.Annotators.parse(annotators) if annotators else None,
        majority=majority,
        level=level,
        where={name: tuple(values) for name, values in (where or {}).items()},
        judges=tuple(judges) if judges else None,
        versus=versus,
        seed=seed,
    )


class Opened(msgspec.Struct, frozen=True):
    """One source of a comparison; `run` where it is one, as only runs keep what judges said."""

    recording: analyse.Recording
    run: RunResult | None = None


def open_sources(sources: Sequence[Dataset | RunResult | Path | str], recipe: str | None, out: Path) -> list[Opened]:
    """The sources of a comparison, read. Raises as `compare`."""
    return [_opened(source, recipe, out) for source in sources]


def _opened(source: Dataset | RunResult | Path | str, recipe: str | None, out: Path) -> Opened:
    if isinstance(source, Dataset):
        return Opened(_recorded(source, source.id))
    if isinstance(source, RunResult):
        found = analyse.recording(source.judgments, source.prepared.data, source.prepared.training, source.name)
        return Opened(msgspec.structs.replace(found, notes=tuple(_notes(source))), source)
    path = Path(source)
    if path.is_dir() and not (path / "run.json").is_file():
        return Opened(_recorded(load(path, recipe=recipe), path.resolve().name))
    if path.is_dir():
        return _opened(reopen(path.resolve().name, path.resolve().parent.parent), None, out)
    if not (out / "store.sqlite").is_file():
        raise UsageError(f"{source} is no data folder, and there is no results folder {out} that could hold a run of that name")
    return _opened(reopen(str(source), out), None, out)


def _notes(result: RunResult) -> Iterator[str]:
    """What a reader of a run's numbers has to know."""
    protocol = result.protocol
    if protocol.constructed:
        yield CONSTRUCTED
    if unread := _unreviewed(result):
        yield f"No native reader has reviewed the texts in {', '.join(unread)}."
    if unread := _unreviewed_instructions(result):
        yield f"No native reader has reviewed the own-language instructions in {', '.join(unread)}."


def _unreviewed(result: RunResult) -> list[str]:
    """Languages of bundled texts that no native reader has read."""
    library, protocol = result.prepared.library, result.protocol
    return [tag for tag in protocol.languages if not protocol.data and tag in library.pack_files and not library.pack(tag).reviewed_by]


def _unreviewed_instructions(result: RunResult) -> list[str]:
    """Languages whose own instructions were used though no native reader has read them."""
    return [tag for tag in result.protocol.instructions if not result.prepared.library.instructions(tag).reviewed_by]


def _recorded(data: Dataset, name: str) -> analyse.Recording:
    if data.judgments is None:
        raise UsageError(f"{name} has no judgments.jsonl to compare; 'harness run --data' asks a judge, 'harness labels check' needs none")
    made = (CONSTRUCTED,) if data.about.source == "constructed" else ()
    return analyse.Recording(name, data, data.judgments, notes=(*made, *data.about.notes))


def check_labels(
    source: Dataset | Path | str,
    *,
    by: Sequence[str] | None = None,
    annotators: str | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
    recipe: str | None = None,
    seed: int = 0,
    watch: Callable[[], object] = lambda: None,
) -> analyse.LabelCheck:
    """What a label set is worth before any judge is looked at: what `harness labels check` does. Arguments and errors as `compare`."""
    data = source if isinstance(source, Dataset) else load_folder(Path(source), Library(), recipe=recipe)
    options = analyse.Options(
        by=tuple(by) if by is not None else analyse.LABELS_BY,
        annotators=analyse.Annotators.parse(annotators) if annotators else None,
        where={name: tuple(values) for name, values in (where or {}).items()},
        seed=seed,
    )
    return analyse.check_labels(data, options, watch)
