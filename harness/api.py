"""The public API for notebooks: the commands as functions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from harness.annotate import label_check
from harness.annotate.label_check import LabelCheck
from harness.annotate.labelling_options import LabelCheckOptions
from harness.asking_options import Settings
from harness.content import Library
from harness.correction.acceptance import Acceptances
from harness.correction.acceptance import accept as accept_answers
from harness.correction.calibrate import Calibrated
from harness.correction.calibrate import calibrate as calibrate_scores
from harness.correction.certificate import Certificate
from harness.correction.certify import JudgedRun, certify_by_options
from harness.correction.correct import Corrected
from harness.correction.correct import correct as correct_numbers
from harness.correction.correction_options import AcceptOptions, CalibrateOptions, CertifyOptions, CorrectOptions, ProbabilityOptions
from harness.correction.probabilities import Probabilities
from harness.correction.probabilities import probabilities as believed_probabilities
from harness.data.dataset import Dataset, load_folder
from harness.data.folders import located
from harness.decide.options import CompareOptions, DecisionOptions
from harness.errors import MissingData, UsageError
from harness.exchange.labels.table_options import TableOptions
from harness.gate.check import GateResult, gate
from harness.gate.policy import GateOptions, Policy, load_policy
from harness.improvement.ask_candidates import Asking, PlannedImprovement, planned
from harness.improvement.candidates import CalibratedCandidates
from harness.improvement.explain import Explained
from harness.improvement.explain import explain as explain_errors
from harness.improvement.improve import Improved, divided, starting_point
from harness.improvement.improve import improve as choose_and_confirm
from harness.improvement.improvement_options import ExplainOptions, ImproveOptions
from harness.improvement.questions import recorded_candidates
from harness.measure.options import MeasureOptions
from harness.notebook import NotebookComparison, NotebookReport, Quiet
from harness.offensive_texts import refuse_in_repository
from harness.options import part_of
from harness.reports import run_report
from harness.row_files import sha256_of, to_json, write_atomic
from harness.runs import (
    Generated,
    GenerateSpec,
    RunResult,
    RunSpec,
    Watcher,
    generate_outputs,
    keep_report,
    kept_report,
    study_named,
)
from harness.runs import run as run_spec
from harness.sources import (
    OpenedSource,
    Source,
    compare_sources,
    gated_source,
    open_sources,
    refuse_table,
    unreviewed,
    unreviewed_instructions,
    with_table,
)
from harness.text import as_names

if TYPE_CHECKING:  # read on use
    import pandas as pd

    from harness.judge_atlas.atlas import Atlas
    from harness.watch.watch_check import WatchCheck


def run(
    spec: RunSpec,
    out: Path | str = "results",
    *,
    watcher: Watcher | None = None,
    settings: Settings = Settings(),
    may_send: bool = False,
) -> RunResult:
    """Ask the calls that have no reply yet, and read the run from the store, like `harness run`.

    Args:
        spec: what to judge, by which judges, and how.
        out: the results folder; the same spec in the same folder is the same run.
        watcher: receives the plan and the progress; by default only warnings are shown.
        settings: calls in flight, limits and budgets; they change no number.
        may_send: whether texts of a data folder may be sent to an endpoint that is not on this machine.

    Raises:
        UsageError, ContentError, JudgeError, StoreError; IncompleteRun (with `result`) if calls have no answer.
    """
    return run_spec(spec, Path(out), watcher or Quiet(may_send=may_send), settings)


def generate(
    spec: GenerateSpec,
    out: Path | str,
    *,
    watcher: Watcher | None = None,
    settings: Settings = Settings(),
    may_send: bool = False,
) -> Generated:
    """Let models write the outputs of a task into a data folder, like `harness generate`.

    Args:
        spec: the task, the writers, and how they are asked.
        out: the data folder. It keeps every reply: the same spec goes on where it stopped, and other writers add their texts.
        watcher, settings, may_send: as `run` takes them; `may_send` is about the inputs of a data folder.

    Returns:
        The folder, how many texts it has, and for each writer and language what was written, removed and spent.

    Raises:
        UsageError, ContentError, JudgeError, StoreError; IncompleteRun (with `result`) if calls have no answer.
    """
    return generate_outputs(spec, Path(out), watcher or Quiet(may_send=may_send), settings)


def report(result: RunResult, decision: DecisionOptions | None = None) -> NotebookReport:
    """Return the numbers of a run: verdicts, cells that pool tasks, cells by task. Asks no judge; equal stores give equal reports.

    `decision` has the thresholds of the verdicts; without it they have their defaults.

    The report is kept in the run's folder and read from there as long as everything that it was computed from is the same.
    """
    decision = decision or DecisionOptions()
    try:
        # The hash of everything that a report is computed from, the code included.
        digest = hashlib.sha256(_code_hash().encode())
        data, training = result.prepared.data, result.prepared.training
        inputs = (
            (result.name, result.protocol, data.sha256, data.sealed, training.sha256, training.id),
            (sha256_of(result.derived / "judgments.parquet"), result.answers, result.realised, sorted(result.absent.items())),
            (unreviewed(result), unreviewed_instructions(result), str(decision), _study_facts(result)),
        )
        digest.update(msgspec.json.encode(inputs, order="sorted"))
        made_of = digest.hexdigest()
    except OSError:  # the run's folder is gone, but its numbers are in memory
        return _compute_report(result, decision)
    stored = kept_report(result.derived, made_of)
    if stored is not None:
        with suppress(msgspec.MsgspecError):
            return msgspec.json.decode(stored, type=NotebookReport)
    computed = _compute_report(result, decision)
    keep_report(result.derived, made_of, msgspec.json.encode(computed))
    return computed


@cache
def _code_hash() -> str:
    """Return the hash of this program's code and of the versions of the libraries that numbers and names come from."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    for package in ("judge-harness", "numpy", "scipy", "langcodes", "language_data"):
        digest.update(version(package).encode())
    return digest.hexdigest()


def _compute_report(result: RunResult, decision: DecisionOptions) -> NotebookReport:
    prepared = result.prepared
    about = run_report.AboutRun(
        answers=result.answers,
        unreviewed=unreviewed(result),
        unreviewed_instructions=unreviewed_instructions(result),
        realised=result.realised,
        absent=result.absent,
        examples=prepared.examples,
        native_data=prepared.library.native_data(result.protocol.texts.languages),
        study_facts=_study_facts(result),
    )
    computed = run_report.report(result.name, result.protocol, result.judgments, prepared.data, prepared.training, about, decision)
    return NotebookReport(**msgspec.structs.asdict(computed))


def _study_facts(result: RunResult) -> Mapping[str, Any]:
    """Return what the sections of a run's study need besides its judgments."""
    return study_named(result.protocol.texts.study).facts(result.protocol, result.prepared.library)


def write_page(result: RunResult, path: Path | str | None = None) -> Path:
    """Write the run's page, one self-contained HTML file, like `harness report RUN --html`.

    Args:
        result: a run.
        path: the file to write; by default `report.html` in the run's folder.

    Raises:
        StoreError: if it cannot be written.  UsageError: for offensive texts in a repository.
    """
    from harness.render.html.report import report_page  # importing templates takes time

    written = Path(path) if path is not None else result.folder / "report.html"
    refuse_in_repository(written, result.prepared.data.about)
    write_atomic(written, report_page(result, report(result)), private=True)
    return written


def datasets(langs: str | Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Published label sets that can be named wherever a data folder is expected, like `harness data list --json`.

    Args:
        langs: only those with labels in this language, or in one of these.

    Returns:
        For each set its name, title, languages, metrics, licence, numbers of rows, size of the raw files in bytes, and `folder`: where it
        is on this machine, or None. `harness data get NAME` fetches one.

    Raises:
        UsageError: for a language that no set has.
    """
    from harness.published.listing import cards_in, listed

    return [listed(card) for card in cards_in(Library(), as_names(langs) if langs is not None else None)]


def atlas() -> pd.DataFrame:
    """Return what is known of judges by language and quality: a row for each verdict of the atlas, as in `harness atlas --json`."""
    import pandas as pd

    from harness.content.library import bundled_root
    from harness.judge_atlas.atlas import FILE, read_atlas

    return pd.DataFrame(list(read_atlas(bundled_root() / FILE).flat()))


def build_atlas(earlier: Atlas | None = None, watch: Callable[[str], object] = lambda name: None) -> tuple[Atlas, list[str]]:
    """Return the atlas of what is on this machine: published sets with recorded judgments, and boards on published sets with submissions.

    The edition is today's, or the earlier one's where nothing changed.

    Args:
        earlier: an earlier atlas; its rows of sets and boards that are not here stay.
        watch: is told the name of each set and board before it is compared.

    Returns:
        the atlas, and the names of the sets with recorded judgments that are not here.

    Raises:
        ContentError: if a set, a submission or the file of judges cannot be read.
    """
    from harness.boards.board import open_board, submissions_of
    from harness.content.library import bundled_root
    from harness.data.asked_data import quality_of
    from harness.judge_atlas.atlas import AtlasRow
    from harness.judge_atlas.atlas_rows import JUDGES, ComparedSet, joined, rankings_of_set, read_judges, rows_of_set
    from harness.measure.compare import align
    from harness.measure.language_rankings import language_rankings
    from harness.model import BY_PEOPLE
    from harness.published.listing import cards_in, listed

    library = Library()
    cards = {card.id: card for card in cards_in(library) if card.source in BY_PEOPLE and card.tried}
    compared, absent = dict[str, ComparedSet](), list[str]()
    for name, card in cards.items():
        if not card.judges:
            continue
        row = listed(card)
        if not row["folder"]:
            absent.append(name)
            continue
        watch(name)
        result = compare_sources([Path(row["folder"])], CompareOptions(), sections=False)
        with_probabilities = [source.recording for source in result.sources if source.recording.judgments.confidence.values]
        cells = believed_probabilities(with_probabilities, result.options).cells if with_probabilities else ()
        rows = rows_of_set(card, result.comparison.verdicts, cells)
        [judged] = align([source.recording for source in result.sources], result.options).tables
        untrained = judged.take(~judged.column("judge").among(card.judges_trained_on_it))
        rankings = rankings_of_set(card, language_rankings(untrained))
        compared[name] = ComparedSet(result.comparison.signature, rows, row["state"] == "here in part", rankings)
    boards = [library.board(name) for name in library.board_files]
    from_boards = dict[str, Sequence[AtlasRow]]()
    for board in boards:
        about = cards.get(board.data.card) if board.data != "bundled" else None
        if about is None or not submissions_of(library.board_files[board.id].parent):
            continue
        watch(board.id)
        try:
            ranked = open_board(library, board.id, probes=False).standings
        except MissingData:
            continue
        asked_here = {judge.id for judge in ranked.judges if not judge.asked_elsewhere}
        verdicts = [verdict for verdict in ranked.verdicts if verdict["judge"] in asked_here]
        qualities = partial(quality_of, card=about, library=library)
        from_boards[board.id] = rows_of_set(about, verdicts, ranked.probabilities, qualities, board.id)
    collections = [library.collection(name) for name in library.collection_files]
    atlas = joined(cards, compared, read_judges(bundled_root() / JUDGES), earlier, boards, collections, from_boards)
    if earlier is not None and msgspec.structs.replace(atlas, edition=earlier.edition) == earlier:
        return earlier, absent
    return msgspec.structs.replace(atlas, edition=date.today()), absent


def compare(
    source: Any, options: CompareOptions | None = None, *, table: TableOptions | None = None, out: Path | str = "results"
) -> NotebookComparison:
    """Compare judges with people, like `harness compare`.

    Args:
        source: a data set (`load`, `from_frames`), a run, the path of a data folder, or the name of a run; or a table with scores of people
            and judges: the path of a file, or a frame of pandas, Polars or PyArrow. A list of sources is compared together; two tables are
            joined by an id.
        options: which judges and labels count, what is computed, and the thresholds of the verdicts. Among the judges, `panel/<file.toml>`
            adds a panel, computed from its members' judgments; members are compared too. Of a table, the judges are columns.
        table: what the columns of a table are, where their names and cells do not show it.
        out: the results folder of runs that are given as names.

    Raises:
        UsageError: for unknown names, for sources without labels or judgments, for columns of a table that nothing explains, and if scores
            cannot be standardised.
        ContentError, StoreError: if a source cannot be read.
    """
    if not isinstance(options, CompareOptions | None):
        raise UsageError("the second argument of compare is CompareOptions; pass several sources as a list: compare([people, judge])")
    sources, requested = source if isinstance(source, (list, tuple)) else [source], options or CompareOptions()
    opened, requested = with_table(sources, requested, table)
    compared = compare_sources([opened.source] if opened else sources, requested, out=Path(out)).comparison
    return NotebookComparison(**msgspec.structs.asdict(compared))


def correct(source: Dataset | RunResult | Path | str, options: CorrectOptions | None = None, *, out: Path | str = "results") -> Corrected:
    """Estimate means, class shares and differences of systems from a judge's scores and labels of some texts, like `harness correct`.

    Args:
        source: a data set, a run, the path of a data folder, or the name of a run.
        options: which labels count, and what is estimated; by default the mean of each system.
        out: the results folder of runs that are given as names.

    Returns:
        `numbers`, each with the estimates of the judge alone, of the labels alone and corrected; `as_json` has all of it for programs.

    Raises:
        UsageError: unless the dataset card says that the labelled texts are a random sample, and for unknown names.
        ContentError, StoreError: if the source cannot be read.
    """
    options = options or CorrectOptions()
    [opened] = open_sources([source], options.card, Path(out))
    return correct_numbers([opened.recording], part_of(options, MeasureOptions), options)


def accept(source: Dataset | RunResult | Path | str, options: AcceptOptions | None = None, *, out: Path | str = "results") -> Acceptances:
    """Find the confidence above which a judge's answers need no person, per language and metric, like `harness accept`.

    Args:
        source, out: as `correct` takes them.
        options: which labels count, the tolerated errors, and what counts as confidence.

    Returns:
        `thresholds`, one for each cell, with their coverage and the guaranteed agreement; `as_json` has all of it for programs.

    Raises:
        UsageError: unless the labelled texts are a random sample, by the dataset card or by `options.sampling`.
        ContentError, StoreError: if the source cannot be read.
    """
    options = options or AcceptOptions()
    [opened] = open_sources([source], options.card, Path(out))
    return accept_answers([opened.recording], part_of(options, MeasureOptions), options)


def certify(
    source: Dataset | RunResult | Path | str,
    to: Path | str | None = None,
    options: CertifyOptions | None = None,
    *,
    out: Path | str = "results",
) -> Certificate:
    """Write what one judge may be used for, with all that is needed to correct and accept its scores, like `harness certify`.

    Args:
        source, out: as `correct` takes them.
        to: the file to write; without it nothing is written. `harness.certificate.load` reads it.
        options: which judge and labels count, the thresholds of the verdicts, the tolerated errors, and what label sets promise.

    Raises:
        UsageError: for several judges or conditions, with what to choose.
        ContentError, StoreError: if the source cannot be read, or the file cannot be written.
    """
    options = options or CertifyOptions()
    [opened] = open_sources([source], options.card, Path(out))
    judged_run = None if opened.run is None else JudgedRun(opened.run.protocol, opened.run.prepared.library)
    certificate = certify_by_options(opened.recording, options, judged_run)
    if to is not None:
        write_atomic(Path(to), to_json(certificate))
    return certificate


def calibrate(
    source: Dataset | RunResult | Path | str, options: CalibrateOptions | None = None, *, out: Path | str = "results"
) -> Calibrated:
    """Learn what people say of a text with a judge's score, language by language, like `harness calibrate`.

    Args:
        source, out: as `correct` takes them.
        options: which judge and labels count, how is learnt, and what label sets promise.

    Returns:
        `metrics`, each with its `cells` by language: before, after, gains, advice and label sets; `as_json` has all of it for programs.

    Raises:
        UsageError: for several judges or conditions, with what to choose, and where there is nothing to learn from.
        ContentError, StoreError: if the source cannot be read.
    """
    options = options or CalibrateOptions()
    [opened] = open_sources([source], options.card, Path(out))
    return calibrate_scores(opened.recording, part_of(options, MeasureOptions, seed=options.seed), options)


def probabilities(
    source: Dataset | RunResult | Path | str, options: ProbabilityOptions | None = None, *, out: Path | str = "results"
) -> Probabilities:
    """Say by language whether a judge's probabilities may be believed, like `harness probabilities`.

    Args:
        source: a data set, a run, the path of a data folder or a table, or the name of a run.
        options: which judges and labels count, and the margin and the level of the tests.
        out: the results folder of a run that is given as a name.

    Returns:
        `cells`, each with its verdict and the numbers behind it, `languages` side by side, and `cuts`, one for all languages; no cells
        where no probabilities are recorded. `as_json` has all of it for programs.

    Raises:
        UsageError: for unknown names, and for a source without labels or judgments.
        ContentError, StoreError: if the source cannot be read.
    """
    table, options = with_table([source], options or ProbabilityOptions())
    [opened] = open_sources([source], options.card, Path(out)) if table is None else [table.source]
    return believed_probabilities([opened.recording], part_of(options, MeasureOptions, seed=options.seed), options)


def explain(source: Dataset | RunResult | Path | str, options: ExplainOptions | None = None, *, out: Path | str = "results") -> Explained:
    """Show what a judge's errors follow, like `harness explain`: its scores minus people's mean, regressed on covariates of the texts.

    Args:
        source, out: as `correct` takes them.
        options: which judges and labels count, and what errors may follow.

    Returns:
        `metrics`, one for each judge, condition and metric, each with its `effects`; `as_json` has all of it for programs.

    Raises:
        UsageError: for unknown covariates, and where no metric has scores that are numbers.
        ContentError, StoreError: if the source cannot be read.
    """
    options = options or ExplainOptions()
    [opened] = open_sources([source], options.card, Path(out))
    return explain_errors(opened.recording, part_of(options, MeasureOptions), options)


def improve(
    source: Dataset | RunResult | Path | str,
    options: ImproveOptions | None = None,
    *,
    decision: DecisionOptions | None = None,
    out: Path | str = "results",
    asking: Asking | None = None,
    watcher: Watcher | None = None,
    may_send: bool = False,
) -> Improved:
    """Choose the judge or setting that agrees best with people on some labels and confirm it on the others, like `harness improve`.

    Args:
        source: a data set, a run, the path of a data folder, or the name of a run, with judgments under several conditions or of several
            judges; with `asking`, the path of a data folder. The folder remembers that its labels confirmed; a data set in memory
            remembers nothing.
        options: which judges and labels count, and how to choose and to confirm.
        decision: thresholds of the verdicts before and after.
        out: the results folder of runs that are given as names.
        asking: candidates that are asked, step by step, where answers are not recorded; `out` keeps their answers.
        watcher: is told how large a gain the confirming half can show, and follows what is asked; by default as `run`.
        may_send: as `run` takes it, for candidates that are asked.

    Returns:
        `chosen`, its gain by language with intervals, verdicts before and after, and where it still differs from people.

    Raises:
        UsageError: with fewer than two candidates, too few texts, and for labels that confirmed before.
        ContentError, StoreError: if the source cannot be read, or its folder cannot remember.
        IncompleteRun: if calls have no answer; the same call continues.
    """
    today, options, thresholds = datetime.now(UTC).date(), options or ImproveOptions(), decision or DecisionOptions()
    if asking is not None:
        plan = _planned_improvement(source, asking, options)
        return plan.run(Path(out), watcher or Quiet(may_send=may_send), thresholds, today)
    if isinstance(source, (str, Path)):
        refuse_table(source)
    [opened] = open_sources([source], options.card, Path(out))
    compare = part_of(options, MeasureOptions)
    questions, recorded = recorded_candidates(opened.recording, compare, least=1)
    folder = _data_folder(source, opened)
    division = divided(questions, options, folder)
    start = starting_point(recorded.candidates, options.start)
    answers = CalibratedCandidates(recorded, (start,), division.choosing, compare, options.seed)
    if watcher is not None:
        watcher.note(division.describe(len(answers.candidates)))
    return choose_and_confirm(division, answers, compare, options, thresholds, folder, today)


def improvable(source: Source, options: ImproveOptions, *, out: Path | str = "results", asking: Asking | None = None) -> str:
    """Return what `improve` could show and what asking would cost, in lines; no label is used. Arguments and errors as of `improve`."""
    if asking is not None:
        plan = _planned_improvement(source, asking, options)
        return f"{plan.description}\n{plan.price(Path(out)).text()}"
    [opened] = open_sources([source], options.card, Path(out))
    questions, recorded = recorded_candidates(opened.recording, part_of(options, MeasureOptions), least=1)
    return divided(questions, options, _data_folder(source, opened)).describe(len(recorded.candidates) + 1)


def _planned_improvement(source: Source, asking: Asking, options: ImproveOptions) -> PlannedImprovement:
    if not isinstance(source, (str, Path)):
        raise UsageError("candidates are asked about a data folder; pass its path")
    if options.card is not None:
        raise UsageError("--card describes recorded answers; candidates are asked about a folder with its own data.toml")
    spec = replace(asking.spec, data=Path(source))
    return planned(msgspec.structs.replace(asking, spec=spec), part_of(replace(options, judges=None), MeasureOptions), options)


def _data_folder(source: Source, opened: OpenedSource) -> Path | None:
    """Return the folder of the labels that are compared with; None of data in memory and of bundled content."""
    if opened.run is not None:
        folder = opened.run.protocol.texts.data
        return Path(folder) if folder else None
    return located(Path(source), Library()) if isinstance(source, (str, Path)) else None


def check_gate(
    source: Dataset | RunResult | Path | str,
    policy: Policy | Path | str,
    options: GateOptions | None = None,
    *,
    out: Path | str = "results",
) -> GateResult:
    """Hold the limits of a policy against the numbers of a run or a data folder, like `harness gate`.

    Args:
        source: a data set (`load`, `from_frames`), a run, the path of a data folder, or the name of a run.
        policy: the policy, or the path of its file (docs/gate.md).
        options: an earlier run or data folder with the same items and labels, for `max_drop`, and the dataset card of folders.
        out: the results folder of runs that are given as names.

    Raises:
        UsageError: for an unknown source, and for one without labels or judgments.
        ContentError: for an error in the policy, with `file:line`, or in a source.
        StoreError: if a run cannot be read.
    """
    limits = policy if isinstance(policy, Policy) else load_policy(Path(policy))
    options = options or GateOptions()
    sides = [None if side is None else gated_source(side, options.card, Path(out)) for side in (source, options.baseline)]
    assert sides[0] is not None
    return gate(sides[0], limits, sides[1])


def check_watch(folder: Path | str, today: date | None = None) -> WatchCheck:
    """Say whether the judge or the texts of a watch have changed, like `harness watch check`.

    Args:
        folder: of the watch (`harness watch init`). Its copy of the certificate is told what was found.
        today: the day on which the certificate has to hold; by default today (UTC).

    Returns:
        The answer (`nothing shown`, `not yet known`, `the texts changed`, `the judge changed` or `both`), the state of each cell with the
        e-values of all days, and why the certificate does not hold any more, if so.

    Raises:
        UsageError: for a folder without a watch.
        ContentError: for a log, anchors or a certificate that were changed, with `file:line`.
    """
    from harness.watch import watch_folder

    return watch_folder.check(Path(folder), today or datetime.now(UTC).date())


def labels_check(
    source: Dataset | Path | str, options: LabelCheckOptions | None = None, *, watch: Callable[[], object] = lambda: None
) -> LabelCheck:
    """Check a label set before it is compared with a judge, like `harness labels check`.

    Args:
        source: a data set, or the path of a data folder.
        options: which labels are checked, and the keys to group by.
        watch: is called after each text whose language was identified.

    Raises:
        UsageError: without labels, and for unknown names.  ContentError: if the folder cannot be read.
    """
    options = options or LabelCheckOptions()
    data = source if isinstance(source, Dataset) else load_folder(Path(source), Library(), card=options.card)
    return label_check.check_labels(data, part_of(options, MeasureOptions, by=options.by, seed=options.seed), watch)
