"""The public API for notebooks: the commands as functions."""

from __future__ import annotations

import hashlib
import shlex
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from harness import gate
from harness.annotate.checks import labelcheck
from harness.annotate.checks.labelcheck import LabelCheck
from harness.content import Library
from harness.content.tags import canonical, suggest
from harness.correct.calibrate import Calibrated, CalibrateOptions
from harness.correct.calibrate import calibrate as calibrate_scores
from harness.correct.label_sets import SetOptions
from harness.data import Dataset, load_folder
from harness.data.named_folders import located
from harness.decide.options import DecisionOptions
from harness.decide.verdicts import Verdict
from harness.engines import Settings
from harness.errors import UsageError
from harness.improvement.asking import Asking, PlannedImprovement, planned
from harness.improvement.calibrated_answers import CalibratedAnswers
from harness.improvement.explain import Explained, ExplainOptions
from harness.improvement.explain import explain as explain_errors
from harness.improvement.improve import Improved, ImproveOptions, divided, starting_point
from harness.improvement.improve import improve as choose_and_confirm
from harness.improvement.recorded_answers import recorded_answers
from harness.judges import Panel
from harness.judges.panel import is_panel_file, split_panels
from harness.measure import options, panels, recorded_run
from harness.measure.cells import Cell
from harness.measure.compare import Recording
from harness.measure.options import Annotators, CompareOptions
from harness.model import CellKey, JudgeIdentity
from harness.offensive import refuse_in_repository
from harness.reports import comparison, run_report
from harness.reports.comparison import DecidedComparison
from harness.reports.run_report import Report
from harness.runs import (
    SELF_PREFERENCE,
    CostEstimate,
    Generated,
    GenerateSpec,
    RunResult,
    RunSpec,
    Watcher,
    generate_outputs,
    keep_report,
    kept_report,
    refused_controls,
    reopen,
    run_place,
)
from harness.runs import run as run_spec
from harness.tables import sha256_of
from harness.text import as_names

if TYPE_CHECKING:  # read on use
    import pandas as pd

    from harness.judge_atlas.atlas_file import Atlas
    from harness.runs import LiveRows
    from harness.watch.watch_check import WatchCheck

CONSTRUCTED = "The labels are constructed with the texts, not given by native speakers."


class Quiet:
    """Follows a run and shows only warnings. Refuses to send a data folder's texts to an endpoint unless `may_send` is true."""

    def __init__(self, *, may_send: bool = False) -> None:
        self._may_send = may_send

    def consent(self, host: str, texts: int) -> None:
        if not self._may_send:
            raise UsageError(f"{texts} texts of your data folder would be sent to {host}; pass may_send=True to allow this")

    def planned(self, identity: JudgeIdentity, estimate: CostEstimate, stored: int, /) -> None:
        """Shows nothing."""

    def note(self, text: str) -> None:
        warnings.warn(text, stacklevel=2)

    def progress(self, identities: Sequence[JudgeIdentity]) -> Callable[[JudgeIdentity, Any], None]:
        return lambda identity, state: None

    def finished(self) -> None:
        """Shows nothing."""

    def follow(self, rows: LiveRows) -> bool:
        """Shows nothing."""
        return False

    def first_language(self, part: RunResult) -> None:
        """Shows nothing."""


class NotebookReport(Report, frozen=True):
    """A report that a notebook shows as tables."""

    def _repr_html_(self) -> str:
        from harness.render.notebook import report_html  # importing tables takes time

        return report_html(self)


class NotebookComparison(DecidedComparison, frozen=True, kw_only=True):
    """A comparison that a notebook shows as its answer and tables."""

    def _repr_html_(self) -> str:
        from harness.render.notebook import comparison_html  # importing tables takes time

        return comparison_html(self)

    def frame(self, full: bool = False) -> pd.DataFrame:
        """The cells as a pandas frame, one row each, with the columns that people use, or with `full` every number.

        Columns: the keys; `verdict` in words, `judge_minus_people` and `at_least` where the cell has a verdict; `texts`, `agreement`
        (answers that cannot be read count as wrong) with its interval, `minus_baseline` and its `q`, `people`, `tau`. With `full` the
        names of `as_json`; what is nested there has dotted names.
        """
        import pandas  # late: half a second

        if full:
            return super().frame()
        decided: dict[CellKey | None, Verdict] = {CellKey.of(verdict.key): verdict for verdict in self.verdicts}
        return pandas.DataFrame([{**cell.key, **_shown(cell, decided.get(_cell_key(cell)))} for cell in self.cells])

    def markdown(self) -> str:
        """The answer and all tables as Markdown, like `harness compare --md`."""
        from harness.render.markdown import comparison_markdown

        return comparison_markdown(self)

    def latex(self) -> str:
        """The cells as a LaTeX table, like `harness compare --latex`."""
        from harness.render.latex import to_latex

        return to_latex(self)

    def figure(self) -> DrawnFigure:
        """The answer as a picture that a notebook shows, like `harness compare --figure`. Raises UsageError without a verdict."""
        from harness.render.figures import FigureOptions, draw_answer

        drawn = draw_answer(self.verdicts, self.signature, FigureOptions(forms=("svg",)))
        if drawn is None:
            raise UsageError("there is no verdict on a judge to draw")
        return DrawnFigure(drawn["svg"].decode())


class DrawnFigure(msgspec.Struct, frozen=True):
    """A drawing as SVG, which a notebook shows; `svg` is the file's text."""

    svg: str

    def __repr__(self) -> str:
        return f"<DrawnFigure: {len(self.svg):,} characters of SVG>"

    def _repr_svg_(self) -> str:
        return self.svg


def _cell_key(cell: Cell) -> CellKey | None:
    """The key of a cell that names a language and a metric; None of others."""
    return CellKey.of(cell.key) if {"language", "metric"} <= cell.key.keys() else None


def _shown(cell: Cell, verdict: Verdict | None) -> dict[str, Any]:
    """The numbers of a row of a notebook's frame."""
    numbers = cell.flat()
    beside = numbers.get("vs_baseline") or {}
    return {
        "verdict": verdict and verdict.answer,
        "judge_minus_people": verdict and verdict.agreement.gap,
        "at_least": verdict and verdict.bounds.gap,
        "texts": numbers.get("n_ref", numbers.get("n")),
        "agreement": numbers.get("pa_failed_wrong"),
        "agreement_ci": numbers.get("pa_failed_wrong_ci"),
        "minus_baseline": beside.get("diff"),
        "q": beside.get("q"),
        "people": numbers.get("human_pa"),
        "tau": numbers.get("kendall_tau"),
    }


def run(
    spec: RunSpec,
    out: Path | str = "results",
    *,
    watcher: Watcher | None = None,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
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
    settings: Settings = Settings(),  # noqa: B008 (frozen)
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
        made_of = _report_inputs(result, decision)
    except OSError:  # the run's folder is gone, but its numbers are in memory
        return _compute_report(result, decision)
    kept = kept_report(result.derived, made_of)
    if kept is not None:
        with suppress(msgspec.MsgspecError):
            return msgspec.json.decode(kept, type=NotebookReport)
    computed = _compute_report(result, decision)
    keep_report(result.derived, made_of, msgspec.json.encode(computed))
    return computed


def _report_inputs(result: RunResult, decision: DecisionOptions) -> str:
    """The hash of everything that a report is computed from, the code included."""
    digest = hashlib.sha256(_code_hash().encode())
    data, training = result.prepared.data, result.prepared.training
    inputs = (
        (result.name, result.protocol, data.sha256, data.sealed, training.sha256, training.id),
        (sha256_of(result.derived / "judgments.parquet"), result.answers, result.realised, sorted(result.absent.items())),
        (_unreviewed(result), _unreviewed_instructions(result), str(decision), _refused_controls(result)),
    )
    digest.update(msgspec.json.encode(inputs, order="sorted"))
    return digest.hexdigest()


@cache
def _code_hash() -> str:
    """The hash of this program's code and of the versions of the libraries that numbers and names come from."""
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
        unreviewed=_unreviewed(result),
        unreviewed_instructions=_unreviewed_instructions(result),
        realised=result.realised,
        absent=result.absent,
        native_data=prepared.library.native_data(result.protocol.texts.languages),
        refused_controls=_refused_controls(result),
    )
    computed = run_report.report(result.name, result.protocol, result.judgments, prepared.data, prepared.training, about, decision)
    return NotebookReport(**msgspec.structs.asdict(computed))


def _refused_controls(result: RunResult) -> dict[str, dict[str, str]]:
    """The control questions of a study that the languages of a run do not have."""
    texts, questions = result.protocol.texts, result.protocol.questions
    return refused_controls(texts.languages, questions.metrics, result.prepared.library) if texts.study == SELF_PREFERENCE else {}


def write_page(result: RunResult, path: Path | str | None = None) -> Path:
    """Write the run's page, one self-contained HTML file, like `harness report RUN --html`.

    Args:
        result: a run.
        path: the file to write; by default `report.html` in the run's folder.

    Raises:
        StoreError: if it cannot be written.  UsageError: for offensive texts in a repository.
    """
    from harness.render.html import report_page  # importing templates takes time
    from harness.tables import write_atomic

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


def load(folder: Path | str, *, card: str | None = None, recipe: str | None = None) -> Dataset:
    """Items, labels and recorded judgments of a data folder.

    Args:
        folder: holds `items`, `labels` and optionally `judgments` as `.jsonl`, `.jsonl.gz` or `.parquet`, and a `data.toml`; or the name of
            published data that `harness data get` has fetched, such as `pariksha`. A folder of that name here comes first.
        card: the dataset card of published data (`harness data list`), used instead of data.toml.
        recipe: the former name of `card`.

    Raises:
        UsageError: if the folder does not exist, or the published data are not on this machine; the message has the command.
        ContentError: for an error in a file, with `file:line`.
    """
    return load_folder(Path(folder), Library(), card=_card(card, recipe), with_judgments=True)


def atlas() -> pd.DataFrame:
    """What is known of judges by language and quality: a row for each verdict of the atlas, as `harness atlas --json` prints them."""
    import pandas as pd

    from harness.content.library import bundled_root
    from harness.judge_atlas.atlas_file import FILE, read_atlas

    return pd.DataFrame(list(read_atlas(bundled_root() / FILE).flat()))


def build_atlas(kept: Atlas | None = None, watch: Callable[[str], object] = lambda name: None) -> tuple[Atlas, list[str]]:
    """The atlas of the published sets with recorded judgments that are on this machine, and the names of those that are not.

    Args:
        kept: an earlier atlas; its rows of sets that are not here stay.
        watch: is told the name of each set before it is compared.

    Raises:
        ContentError: if a set or the file of judges cannot be read.
    """
    from harness.content.library import bundled_root
    from harness.judge_atlas.atlas_rows import JUDGES, ComparedSet, joined, read_judges, rows_of_set
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
        made = compare_sources([Path(row["folder"])], CompareOptions(), sections=False).comparison
        compared[name] = ComparedSet(made.signature, rows_of_set(card, made.verdicts), row["state"] == "here in part")
    boards = [library.board(name) for name in library.board_files]
    collections = [library.collection(name) for name in library.collection_files]
    return joined(cards, compared, read_judges(bundled_root() / JUDGES), kept, boards, collections), absent


def _card(card: str | None, recipe: str | None) -> str | None:
    """The dataset card of two arguments, of which `recipe` is the former name."""
    if card and recipe and card != recipe:
        raise UsageError(f"card='{card}' and recipe='{recipe}' are two names of one argument; pass card only")
    return card or recipe


def compare(
    *sources: Dataset | RunResult | Path | str,
    judges: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    annotators: str | None = None,
    majority: Literal["drop", "median", "strict"] = "drop",
    level: Literal["item", "system"] = "item",
    where: Mapping[str, str | Sequence[str]] | None = None,
    langs: str | Sequence[str] | None = None,
    versus: tuple[str, str] | None = None,
    card: str | None = None,
    recipe: str | None = None,
    out: Path | str = "results",
    seed: int = 0,
    decision: DecisionOptions | None = None,
    full: bool = False,
    standardise: Literal["none", "annotator"] = "none",
) -> NotebookComparison:
    """Compare recorded judgments with labels, like `harness compare`.

    Args:
        sources: data sets (`load`, `from_frames`), runs, paths of data folders, or names of runs.
        judges: compare only this judge, or these. `panel/<file.toml>` adds a panel, computed from its members' judgments; members are
            compared too.
        by: the key to group by, or several; by default language, task, metric, judge, variant and temperature.
        annotators: which items count: `"3"` exactly three annotators, `"2+"` two or more (the default, if any item has two).
        majority: how the labels of several annotators become one reference; `median` needs ordered scales.
        level: `item`, or `system` for correlations of the means of systems.
        where: `{name: values}`; keep only items, metrics, judges or variants with this value, or one of these.
        langs: compare only items in this language, or in these; the same as `where={"language": ...}`.
        versus: `("judge", name)`, or variant, temperature or source; adds to each cell its paired difference from that one.
        card: the dataset card of data folders that are given as paths; `recipe` is its former name.
        out: the results folder of runs that are given as names.
        seed: for the bootstrap.
        decision: the thresholds of the verdicts; without it they have their defaults.
        full: whether to add the calibration of confidences, and the comparisons of languages that take longer.
        standardise: `annotator` takes out how strict each person is: correlations on interval scales then use people's scores less the
            person's own mean, divided by the person's standard deviation.

    Raises:
        UsageError: for unknown names, for sources without labels or judgments, and if scores cannot be standardised.
        ContentError, StoreError: if a source cannot be read.
    """
    counted = compare_options(judges, annotators, restricted(where, langs), by=by, majority=majority, seed=seed)
    asked = msgspec.structs.replace(counted, level=level, versus=versus, standardise=standardise)
    compared = compare_sources(sources, asked, decision, card=_card(card, recipe), out=Path(out), full=full).comparison
    return NotebookComparison(**msgspec.structs.asdict(compared))


def calibrate(
    source: Dataset | RunResult | Path | str,
    *,
    judge: str | Sequence[str] | None = None,
    annotators: str | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    langs: str | Sequence[str] | None = None,
    card: str | None = None,
    out: Path | str = "results",
    level: float = 0.9,
    per: Literal["group", "text"] = "group",
    this_draw: float | None = None,
    numbers: Literal["linear", "isotonic"] = "linear",
    with_length: bool = False,
    seed: int = 0,
) -> Calibrated:
    """Learn what people say of a text with a judge's score, language by language, like `harness calibrate`.

    Args:
        source: a data set, a run, the path of a data folder, or the name of a run.
        judge: the judge, where there are several.
        annotators, where, langs, card, out: as `compare` takes them; by default items with one annotator or more count.
        level: the share of new texts whose label set holds a person's score.
        per: `group`, for a random text of a new random group; `text`, for a random text, whose sets are larger.
        this_draw: the probability with which the level holds for this draw of labels; without it, on average over draws.
        numbers: the map of scores that are numbers.
        with_length: whether the map of ordered classes reads the length of the text too.
        seed: of the folds.

    Returns:
        `metrics`, each with its `cells` by language: before, after, gains, advice and label sets; `as_json` has all of it for programs.

    Raises:
        UsageError: for several judges or conditions, with what to choose, and where there is nothing to learn from.
        ContentError, StoreError: if the source cannot be read.
    """
    compare = compare_options(judge, annotators, restricted(where, langs), seed=seed)
    [opened] = open_sources([source], card, Path(out))
    sets = SetOptions(level, per, this_draw, seed)
    options = CalibrateOptions(sets=sets, rule=numbers, length=with_length, seed=seed)
    return calibrate_scores(opened.recording, compare, options)


def explain(
    source: Dataset | RunResult | Path | str,
    by: str | Sequence[str] | None = None,
    *,
    judge: str | Sequence[str] | None = None,
    annotators: str | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    card: str | None = None,
    out: Path | str = "results",
) -> Explained:
    """Show what a judge's errors follow, like `harness explain`: its scores minus people's mean, regressed on covariates of the texts.

    Args:
        source: a data set, a run, the path of a data folder, or the name of a run.
        by: `length`, `language`, `system`, `script`, or keys of the items; without it the first three, as far as the data have them.
        judge, annotators, where, card, out: as `compare` takes them; by default items with one annotator or more count.

    Returns:
        `metrics`, one for each judge, condition and metric, each with its `effects`; `as_json` has all of it for programs.

    Raises:
        UsageError: for unknown covariates, and where no metric has scores that are numbers.
        ContentError, StoreError: if the source cannot be read.
    """
    [opened] = open_sources([source], card, Path(out))
    return explain_errors(opened.recording, compare_options(judge, annotators, where), ExplainOptions(as_names(by) if by else None))


def improve(
    source: Dataset | RunResult | Path | str,
    options: ImproveOptions | None = None,
    *,
    judge: str | Sequence[str] | None = None,
    annotators: str | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    card: str | None = None,
    out: Path | str = "results",
    decision: DecisionOptions | None = None,
    asking: Asking | None = None,
    watcher: Watcher | None = None,
    may_send: bool = False,
) -> Improved:
    """Choose the judge or setting that agrees best with people on some labels and confirm it on the others, like `harness improve`.

    Args:
        source: a data set, a run, the path of a data folder, or the name of a run, with judgments under several conditions or of several
            judges; with `asking`, the path of a data folder. The folder remembers that its labels confirmed; a data set in memory
            remembers nothing.
        options: how to choose and to confirm.
        judge, annotators, where, card, out: as `compare` takes them.
        decision: thresholds of the verdicts before and after.
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
    today, given, thresholds = datetime.now(UTC).date(), options or ImproveOptions(), decision or DecisionOptions()
    compare = compare_options(judge, annotators, where)
    if asking is not None:
        plan = _planned_improvement(source, asking, given, compare, card)
        return plan.run(Path(out), watcher or Quiet(may_send=may_send), thresholds, today)
    [opened] = open_sources([source], card, Path(out))
    questions, recorded = recorded_answers(opened.recording, compare, least=1)
    folder = _data_folder(source, opened)
    division = divided(questions, given, folder)
    start = starting_point(recorded.candidates, given.start)
    answers = CalibratedAnswers(recorded, (start,), division.choosing, compare, given.seed)
    if watcher is not None:
        watcher.note(division.sentence(len(answers.candidates)))
    return choose_and_confirm(division, answers, compare, given, thresholds, folder, today)


def improvable(
    source: Dataset | RunResult | Path | str,
    options: ImproveOptions,
    counted: CompareOptions,
    *,
    card: str | None = None,
    out: Path | str = "results",
    asking: Asking | None = None,
) -> str:
    """What `improve` could show and what asking would cost, in sentences; no label is used.

    `counted` says which judgments and labels count (`compare_options`); other arguments and errors as of `improve`.
    """
    if asking is not None:
        plan = _planned_improvement(source, asking, options, counted, card)
        return f"{plan.sentence}\n{plan.price(Path(out)).text()}"
    [opened] = open_sources([source], card, Path(out))
    questions, recorded = recorded_answers(opened.recording, counted, least=1)
    return divided(questions, options, _data_folder(source, opened)).sentence(len(recorded.candidates) + 1)


def _planned_improvement(
    source: Dataset | RunResult | Path | str, asking: Asking, options: ImproveOptions, counted: CompareOptions, card: str | None
) -> PlannedImprovement:
    if not isinstance(source, (str, Path)):
        raise UsageError("candidates are asked about a data folder; pass its path")
    if card is not None:
        raise UsageError("--card describes recorded answers; candidates are asked about a folder with its own data.toml")
    spec = replace(asking.spec, data=Path(source))
    return planned(msgspec.structs.replace(asking, spec=spec), msgspec.structs.replace(counted, judges=None), options)


def recorded_judges(source: Path | str, card: str | None = None) -> tuple[str, ...]:
    """The judges whose answers a data folder holds. Raises as `load`."""
    recorded = load(source, card=card).judgments
    return () if recorded is None else tuple(sorted(recorded.judge.used))


def _data_folder(source: Dataset | RunResult | Path | str, opened: OpenedSource) -> Path | None:
    """The folder of the labels that are compared with; None of data in memory and of bundled content."""
    if opened.run is not None:
        folder = opened.run.protocol.texts.data
        return Path(folder) if folder else None
    return located(Path(source), Library()) if isinstance(source, (str, Path)) else None


class ComparedSources(msgspec.Struct, frozen=True):
    """What `compare_sources` opened, the options with which it was compared, and the comparison."""

    sources: list[OpenedSource]
    options: CompareOptions
    comparison: DecidedComparison


def compare_sources(
    sources: Sequence[Dataset | RunResult | Path | str],
    asked: CompareOptions,
    decision: DecisionOptions | None = None,
    *,
    card: str | None = None,
    out: Path = Path("results"),
    full: bool = False,
    sections: bool = True,
) -> ComparedSources:
    """The steps of a comparison, for notebooks and for the command: open the sources, add panels, compare, and decide.

    Args:
        sources, decision, card, out, full: as in `compare`.
        asked: the options by the names that the user gave; panels among the judges, and a source to compare with, get their own names.
        sections: whether to compute the sections.
    """
    given = with_versus_source(sources, asked.versus)
    opened, judges = with_panels(open_sources(given, card, out), asked.judges, asked.where.get("metric"))
    options = msgspec.structs.replace(asked, judges=as_names(judges) if judges else None, versus=named_versus(asked.versus, given, opened))
    recordings = [source.recording for source in opened]
    compared = comparison.compare(recordings, options, decision or DecisionOptions(), full=full, sections=sections)
    return ComparedSources(opened, options, compared)


def restricted(where: Mapping[str, str | Sequence[str]] | None, langs: str | Sequence[str] | None = None) -> dict[str, tuple[str, ...]]:
    """The values of `where` by name, with those of `langs` as languages, in canonical form. Raises UsageError if both name languages."""
    values = {name: as_names(given) for name, given in (where or {}).items()}
    if langs is not None and "language" in values:
        raise UsageError("the languages are named twice, by --langs and by --where language=...; name them once")
    languages = as_names(langs) if langs is not None else values.pop("language", None)
    return values if languages is None else {"language": tuple(map(canonical, languages)), **values}


def compare_options(
    judges: str | Sequence[str] | None,
    annotators: str | None,
    where: Mapping[str, str | Sequence[str]] | None,
    *,
    by: str | Sequence[str] | None = None,
    majority: Literal["drop", "median", "strict"] = "drop",
    seed: int = 0,
) -> CompareOptions:
    """The options of the analysis from the words that users give: which judgments and labels count, and the keys of a cell."""
    return CompareOptions(
        by=as_names(by) if by is not None else CompareOptions().by,
        annotators=Annotators.parse(annotators) if annotators else None,
        majority=majority,
        where=restricted(where),
        judges=as_names(judges) if judges else None,
        seed=seed,
    )


class OpenedSource(msgspec.Struct, frozen=True):
    """One source of a comparison. `run` is set if it is a run: only runs keep raw replies."""

    recording: Recording
    run: RunResult | None = None


def open_sources(sources: Sequence[Dataset | RunResult | Path | str], card: str | None, out: Path) -> list[OpenedSource]:
    """Read the sources of a comparison. Raises as `compare`."""
    opened = [_open_source(source, card, out) for source in sources]
    names = [each.recording.name for each in opened]
    if len(set(names)) == len(names):
        return opened
    return [  # two runs of one name, such as the same questions asked again later, are named as they were given
        msgspec.structs.replace(each, recording=msgspec.structs.replace(each.recording, name=str(source)))
        if isinstance(source, (str, Path)) and names.count(each.recording.name) > 1
        else each
        for source, each in zip(sources, opened, strict=True)
    ]


def with_panels(
    opened: Sequence[OpenedSource], judges: Sequence[str] | None, metrics: Collection[str] | None = None
) -> tuple[list[OpenedSource], list[str] | None]:
    """The sources with the panels whose files `judges` names, and the judges that are compared: the panels and their members too.

    `metrics` are those that are compared; by default all. A source without the members of a panel goes without it. Raises UsageError as
    `with_panel` if every source does, and ContentError for a file that is no panel.
    """
    files = [name for name in judges or () if is_panel_file(name)]
    if not files:
        return list(opened), None if judges is None else list(judges)
    members, panels = split_panels(files)
    named = [name for name in judges or () if name not in files]
    for name, panel in panels.items():
        opened = _with_panel(opened, name, panel, metrics)
    return list(opened), list(dict.fromkeys((*named, *members, *panels)))


def _with_panel(opened: Sequence[OpenedSource], name: str, panel: Panel, metrics: Collection[str] | None) -> list[OpenedSource]:
    found, errors = [], []
    for source in opened:
        recording = source.recording
        try:
            judgments = panels.with_panel(recording.judgments, name, panel, recording.data.scales, metrics)
        except UsageError as err:
            errors.append(err)
            found.append(source)
            continue
        added = msgspec.structs.replace(recording, judgments=judgments, panels={**recording.panels, name: panel})
        found.append(msgspec.structs.replace(source, recording=added))
    if len(errors) == len(found):
        raise errors[0]
    return found


def with_versus_source(
    sources: Sequence[Dataset | RunResult | Path | str], versus: tuple[str, str] | None
) -> Sequence[Dataset | RunResult | Path | str]:
    """The sources, and the one that `versus` names by its path if it is not among them."""
    if versus is None or versus[0] != "source" or versus[1] in map(str, sources) or not Path(versus[1]).is_dir():
        return sources
    return [*sources, versus[1]]


def named_versus(
    versus: tuple[str, str] | None, sources: Sequence[Dataset | RunResult | Path | str], opened: Sequence[OpenedSource]
) -> tuple[str, str] | None:
    """`versus` with the name of a source in place of its path."""
    if versus is None or versus[0] != "source":
        return versus
    names = {str(source): each.recording.name for source, each in zip(sources, opened, strict=True) if isinstance(source, (str, Path))}
    return ("source", names.get(versus[1], versus[1]))


def _open_source(source: Dataset | RunResult | Path | str, card: str | None, out: Path) -> OpenedSource:
    if isinstance(source, Dataset):
        return OpenedSource(_recorded(source, source.id))
    if isinstance(source, RunResult):
        recording = recorded_run.recording(
            source.judgments, source.prepared.data, source.prepared.training, source.name, source.protocol.judges.panels
        )
        return OpenedSource(msgspec.structs.replace(recording, notes=tuple(_notes(source))), source)
    given, source = str(source), located(Path(source), Library())  # the name of a published set means its folder
    if is_data_folder(source):
        return OpenedSource(_recorded(load(source, card=card), source.resolve().name, given))
    name, results = run_place(source, out)
    if not (results / "store.sqlite").is_file():
        near = suggest(str(source), Library().dataset_card_files)
        message = f"{source} is not a data folder or a run's folder, and {out} is no results folder with a run of that name"
        raise UsageError(f"{message}.{near}" if near else message)
    return _open_source(reopen(name, results), None, results)


def is_data_folder(source: Path | str) -> bool:
    """Whether a path, or the name of a published set, means a folder that is not the folder of a run."""
    folder = located(Path(source), Library())
    return folder.is_dir() and not (folder / "run.json").is_file()


def _notes(result: RunResult) -> Iterator[str]:
    """Notes for readers of a run's numbers."""
    protocol = result.protocol
    if protocol.texts.constructed:
        yield CONSTRUCTED
    if languages := _unreviewed(result):
        yield f"No native reader has reviewed the texts in {', '.join(languages)}."
    if languages := _unreviewed_instructions(result):
        yield f"No native reader has reviewed the own-language instructions in {', '.join(languages)}."
    if missing := [f"{count:,} of {judge}" for judge, count in result.answers.missing.items() if count]:
        yield f"Calls without an answer, not counted: {', '.join(missing)}."


def _unreviewed(result: RunResult) -> list[str]:
    """Languages of bundled texts that no native reader has reviewed."""
    library, protocol = result.prepared.library, result.protocol
    return [] if protocol.texts.data else library.unreviewed(protocol.texts.board, protocol.texts.languages)


def _unreviewed_instructions(result: RunResult) -> list[str]:
    """Languages whose instructions were used although no native reader has reviewed them."""
    return [tag for tag in result.protocol.wording.instructions if not result.prepared.library.instructions(tag).reviewed_by]


def _recorded(data: Dataset, name: str, folder: str = "DIR") -> Recording:
    if data.judgments is None:
        raise UsageError(
            f"{name} has no judgments to compare. Ask a judge: harness run --data {shlex.quote(folder)} --judge "
            f"PROVIDER/MODEL. What labels show without one: harness labels check {shlex.quote(folder)}"
        )
    notes = (CONSTRUCTED,) if data.about.source == "constructed" else ()
    return Recording(name, data, data.judgments, data.about.asked, notes=(*notes, *data.about.notes))


def check_gate(
    source: Dataset | RunResult | Path | str,
    policy: gate.Policy | Path | str,
    *,
    baseline: Dataset | RunResult | Path | str | None = None,
    card: str | None = None,
    out: Path | str = "results",
) -> gate.GateResult:
    """Hold the limits of a policy against the numbers of a run or a data folder, like `harness gate`.

    Args:
        source: a data set (`load`, `from_frames`), a run, the path of a data folder, or the name of a run.
        policy: the policy, or the path of its file (docs/decisions.md).
        baseline: an earlier run or data folder with the same items and labels, for `max_drop`.
        card: the dataset card of data folders that are given as paths.
        out: the results folder of runs that are given as names.

    Raises:
        UsageError: for an unknown source, and for one without labels or judgments.
        ContentError: for an error in the policy, with `file:line`, or in a source.
        StoreError: if a run cannot be read.
    """
    limits = policy if isinstance(policy, gate.Policy) else gate.load_policy(Path(policy))
    sides = [None if side is None else gated_source(side, card, Path(out)) for side in (source, baseline)]
    assert sides[0] is not None
    return gate.gate(sides[0], limits, sides[1])


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
    from harness.watch import watching

    return watching.check(Path(folder), today or datetime.now(UTC).date())


def gated_source(source: Dataset | RunResult | Path | str, card: str | None, out: Path) -> gate.GatedSource:
    """A source with the signature and the rule that its numbers have. Raises as `check_gate`."""
    opened = _open_source(source, card, out)
    if opened.run is None:
        data = opened.recording.data
        signature = f"data:{data.about.id}@{data.about.version}+{data.sha256[:12]}"
        return gate.GatedSource(opened.recording, CompareOptions(), {"": signature})
    protocol = opened.run.protocol
    signatures = {identity.name: str(recorded_run.signature(protocol, identity)) for identity in protocol.judges.all}
    rule = options.of_rule(protocol.rule.majority, protocol.rule.annotators)
    return gate.GatedSource(opened.recording, rule, signatures, gate.unanswered_calls(opened.run))


def check_labels(
    source: Dataset | Path | str,
    *,
    by: str | Sequence[str] | None = None,
    annotators: str | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    langs: str | Sequence[str] | None = None,
    card: str | None = None,
    recipe: str | None = None,
    seed: int = 0,
    watch: Callable[[], object] = lambda: None,
) -> LabelCheck:
    """Check a label set before it is compared with a judge, like `harness labels check`. Arguments and errors as `compare`."""
    data = source if isinstance(source, Dataset) else load_folder(Path(source), Library(), card=_card(card, recipe))
    options = CompareOptions(
        by=as_names(by) if by is not None else labelcheck.BY,
        annotators=Annotators.parse(annotators) if annotators else None,
        where=restricted(where, langs),
        seed=seed,
    )
    return labelcheck.check_labels(data, options, watch)
