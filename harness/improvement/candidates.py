"""Calibrated scores as candidates: a map of `harness calibrate`, learnt on the half that chooses, and the class that it finds likeliest.

While candidates are compared with each other, the map of a text has not seen its group; what confirms is read by the map of the whole half.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.content.specs import read_spec
from harness.correction.cell_results import UnreadCells, split_unread
from harness.correction.score_maps import Curve, MapInput, cross_fitted, learn, map_inputs, score_of
from harness.data.columns import CodedColumn
from harness.data.judgments import Judgments
from harness.errors import ContentError, UsageError
from harness.improvement.questions import CandidateSet, ChooseHalf, LabelledQuestion, LabelledQuestions
from harness.judges import traits_of
from harness.judges.panel import is_panel_file, panel_file_in, split_panels
from harness.measure.compare import Recording, align
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.options import MeasureOptions
from harness.model import Failure, JudgeCondition, Score, parse_variant
from harness.prompts import is_english, load_own_prompt, load_own_rubric
from harness.runs import Prepared, RunSpec
from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.calibration import group_folds

_SUFFIX = "+calibrated"
_FOLDS = 5
_GRID = 400
"""Steps of a map are found to this part of the scale."""
Steps = tuple[tuple[Score, Score], ...]


def calibrated(condition: JudgeCondition) -> JudgeCondition:
    """Return the candidate of a judge's calibrated scores.

    >>> calibrated(JudgeCondition("openai/one", "single")).variant
    'single+calibrated'
    """
    return condition._replace(variant=condition.variant + _SUFFIX)


def is_calibrated(condition: JudgeCondition) -> bool:
    """Return True for a candidate of calibrated scores."""
    return condition.variant.endswith(_SUFFIX)


class CalibrationSteps(msgspec.Struct, frozen=True):
    """The steps by which a judge's scores in one language and metric become classes.

    `steps` are pairs of a score and a class: of ordered classes, scores from there on become this class; of named ones, this answer does.
    Empty where scores stay as they are.
    """

    language: str
    metric: str
    steps: Steps

    def __str__(self) -> str:
        """
        >>> str(CalibrationSteps("cs", "tone", ((0, 1), (1.5, 2))))
        'cs tone: 0 → 1, 1.5 → 2'
        """
        changes = ", ".join(f"{score if isinstance(score, str) else format(score, 'g')} → {new}" for score, new in self.steps)
        return f"{self.language} {self.metric}: {changes or 'as it is'}"


class _MappedCell(NamedTuple):
    """A cell with the ids of its items and class codes: of calibrated scores, and of the same map without the score; -1: none."""

    cell: ItemTable
    items: tuple[str, ...]
    code: Ints
    constant: Ints
    steps: CalibrationSteps


class CalibratedCandidates:
    """The candidates of `answers`, and after them those at the positions `calibrate` with calibrated scores.

    Maps are learnt on the half that chooses; `seed` is that of their folds.
    """

    def __init__(
        self, answers: CandidateSet, calibrate: Sequence[int], choosing: ChooseHalf, compare: MeasureOptions, seed: int = 0
    ) -> None:
        self.candidates = (*answers.candidates, *(calibrated(answers.candidates[index]) for index in calibrate))
        self.labels_sha256 = answers.labels_sha256
        self._answers = answers
        self._base = (*range(len(answers.candidates)), *calibrate)
        self._choosing = choosing
        self._compare = compare
        self._seed = seed
        self._mapped: dict[tuple[int, tuple[str, ...]], list[_MappedCell]] = {}

    def right(self, candidates: Sequence[int], questions: LabelledQuestions) -> Floats:
        base = list(dict.fromkeys(self._base[candidate] for candidate in candidates))
        right = self._answers.right(base, questions)
        return np.column_stack(
            [
                _is_right(((mapped, mapped.code) for mapped in self._cached_maps(candidate, questions)), questions)
                if self._is_mapped(candidate)
                else right[:, base.index(candidate)]
                for candidate in candidates
            ]
        )

    def unread(self, candidates: Sequence[int], questions: LabelledQuestions) -> dict[int, UnreadCells]:
        """Return the candidates most of whose answers cannot be read, with the cells."""
        return {index: cells for index, cells in self._unread_by_candidate(candidates, questions) if cells.of_all}

    def unread_cells(self, candidates: Sequence[int], questions: LabelledQuestions) -> tuple[UnreadCells, ...]:
        """Return the languages and metrics in which most answers of one of these candidates cannot be read."""
        unread = self._unread_by_candidate(candidates, questions)
        return tuple({id(cells): cells for _, cells in unread if not cells.of_all}.values())

    def _unread_by_candidate(self, candidates: Sequence[int], questions: LabelledQuestions) -> Iterator[tuple[int, UnreadCells]]:
        judged = align([self._record_answers(candidates, questions)], self._compare).tables[0]
        for cells in split_unread(item_tables(judged))[1]:
            for index in candidates:
                if self.candidates[self._base[index]] == JudgeCondition.of(cells.key):
                    yield index, cells

    def constant(self, candidate: int, questions: LabelledQuestions) -> Floats | None:
        """Return (questions,) 1 where the map without the judge's score gives the commonest label; None for candidates without a map."""
        if not self._is_mapped(candidate):
            return None
        return _is_right(((mapped, mapped.constant) for mapped in self._cached_maps(candidate, questions)), questions)

    def recording(self, candidates: Sequence[int], questions: LabelledQuestions) -> Recording:
        """Return the judgments of these candidates. Calibrated scores are judgments like others, of texts that no map is learnt on."""
        recording, learnt_on = self._record_answers(candidates, questions), set(self._choosing.texts.items)
        cells = [
            (self.candidates[candidate], mapped)
            for candidate in candidates
            if self._is_mapped(candidate)
            for mapped in self._cached_maps(candidate, questions)
        ]
        parts = [_calibrated_judgments(mapped, name, learnt_on) for name, mapped in cells]
        return msgspec.structs.replace(recording, judgments=Judgments.concatenate([recording.judgments, *parts]))

    def steps(self, candidate: int, questions: LabelledQuestions) -> tuple[CalibrationSteps, ...]:
        """Return the steps of a candidate's map, learnt on the whole choosing half; empty for candidates without a map."""
        return tuple(mapped.steps for mapped in self._cached_maps(candidate, questions)) if self._is_mapped(candidate) else ()

    def reads(self, candidate: int) -> int:
        """Return the position of the candidate whose answers it reads: its own, except for calibrated scores, which ask for none."""
        return int(self._base[candidate])

    def flags(self, candidate: int) -> dict[str, Any]:
        """Return the flags that ask for the scores: a map is no setting of a run."""
        return self._answers.flags(self._base[candidate])

    def _is_mapped(self, candidate: int) -> bool:
        return candidate >= len(self._answers.candidates)

    def _is_of_choosing_half(self, questions: LabelledQuestions) -> bool:
        return set(questions.items) <= set(self._choosing.texts.items)

    def _record_answers(self, candidates: Sequence[int], questions: LabelledQuestions) -> Recording:
        """Return the uncalibrated answers of these candidates to these questions and to those that their maps are learnt on."""
        if any(map(self._is_mapped, candidates)) and not self._is_of_choosing_half(questions):
            questions = questions.concatenate(self._choosing.texts)
        return self._answers.recording(list(dict.fromkeys(self._base[index] for index in candidates)), questions)

    def _cached_maps(self, candidate: int, questions: LabelledQuestions) -> list[_MappedCell]:
        """Return every cell with classes of a candidate of calibrated scores."""
        key = candidate, questions.items
        if key in self._mapped:
            return self._mapped[key]
        self._mapped[key] = mapped_cells = list[_MappedCell]()
        condition, chooses = self.candidates[self._base[candidate]], self._is_of_choosing_half(questions)
        judged = align([self._record_answers([candidate], questions)], self._compare).tables[0]
        cells = [cell for cell in item_tables(judged) if JudgeCondition.of(cell.key) == condition and not cell.classes.continuous]
        learnt_on = set((questions if chooses else self._choosing.texts).questions)
        ids = [item.item_id for item in judged.data.items]
        for map_input in map_inputs(cells):
            language_and_item = zip(map_input.language.tolist(), map_input.item.tolist(), strict=True)
            metric = str(map_input.key["metric"])
            rows = np.array(
                [LabelledQuestion(map_input.languages[code], metric, ids[index]) in learnt_on for code, index in language_and_item], bool
            )
            for code, (likeliest, constant, steps) in enumerate(_likeliest_of_cells(map_input.take(rows), chooses, self._seed)):
                cell = map_input.cells[code]
                items = tuple(ids[index] for index in cell.item.tolist())
                step_words = CalibrationSteps(map_input.languages[code], metric, steps)
                mapped_cells.append(_MappedCell(cell, items, likeliest, constant, step_words))
        return mapped_cells


def _likeliest_of_cells(learning: MapInput, chooses: bool, seed: int) -> Iterator[tuple[Ints, Ints, Steps]]:
    """Yield, for each cell of a metric, class codes by a map learnt on `learning`, by the map without the judge's score, and the steps.

    `chooses`: by cross-fitting, of the texts of `learning` alone, and the codes only. The judge's answers stay where texts are few,
    where scores are numbers, and where a map falls.
    """
    if learning.kind == "numbers" or len(np.unique(learning.group)) < _FOLDS:
        yield from ((cell.answer, np.full(len(cell), -1), ()) for cell in learning.cells)
    elif chooses:
        predicted, learnt = cross_fitted(learning, group_folds(learning.group, _FOLDS, seed=seed))
        for code, cell in enumerate(learning.cells):
            rows, codes = learning.language == code, np.full(len(cell), -1)
            codes[np.searchsorted(cell.item, learning.item[rows])] = _likeliest_class(predicted[rows])
            yield cell.answer if code in learnt.falls else codes, np.full(len(cell), -1), ()
    else:
        learnt = learn(learning)
        without = learn(learning, with_score=False, near=learnt)
        for code, cell in enumerate(learning.cells):
            curve = learnt.curve(code)
            constant = _likeliest_class(without.curve(code).predict(np.zeros(len(cell))))
            if code in learnt.falls:
                yield cell.answer, constant, ()
            else:
                yield (
                    _likeliest_class(curve.predict(score_of(cell, learning.kind, learning.read))),
                    constant,
                    _map_steps(curve, cell, learning.values),
                )


def _map_steps(curve: Curve, cell: ItemTable, values: Floats | None) -> Steps:
    scores = cell.classes.scores
    if values is None:
        return tuple(
            (scores[code], scores[new]) for code, new in enumerate(_likeliest_class(curve.predict(np.arange(len(scores)))).tolist())
        )
    grid = np.linspace(values.min(), values.max(), _GRID + 1)
    codes = _likeliest_class(curve.predict(grid))
    return tuple((round(float(grid[index]), 4), scores[codes[index]]) for index in np.flatnonzero(np.diff(codes, prepend=-1)).tolist())


def _likeliest_class(shares: NDArray[Any]) -> Ints:
    """Return (n,) the class with the largest share, of equal ones the first; -1 where shares are unknown."""
    return np.where(np.isnan(shares).any(axis=1), -1, np.nan_to_num(shares).argmax(axis=1))


def _is_right(mapped: Iterable[tuple[_MappedCell, Ints]], questions: LabelledQuestions) -> Floats:
    """Return (questions,) 1 where the class code of a question's text is its reference, else 0."""
    right: dict[LabelledQuestion, float] = {}
    for cell, code in mapped:
        values = ((code >= 0) & (code == cell.cell.reference)).astype(float).tolist()
        right |= {LabelledQuestion(*cell.cell.language_and_metric, item): value for item, value in zip(cell.items, values, strict=True)}
    return np.array([right.get(question, 0.0) for question in questions.questions])


def _calibrated_judgments(mapped: _MappedCell, name: JudgeCondition, learnt_on: set[str]) -> Judgments:
    """Return a cell's calibrated scores as judgments of the candidate `name`."""
    rows = [(item, code) for item, code in zip(mapped.items, mapped.code.tolist(), strict=True) if item not in learnt_on]
    scores = [mapped.cell.classes.scores[code] if code >= 0 else None for _, code in rows]
    stated = {key: value for key, value in name._asdict().items() if value is not None}
    constant = {"metric": str(mapped.cell.key["metric"]), "repeat": 0, **stated}
    columns = dict.fromkeys(Judgments.COLUMNS, CodedColumn.empty(len(rows)))
    columns |= {key: CodedColumn.constant(value, len(rows)) for key, value in constant.items()}
    columns["item"] = CodedColumn.from_values(item for item, _ in rows)
    columns["score"] = CodedColumn.from_values(scores)
    columns["failure"] = CodedColumn.from_values(Failure.MISSING if score is None else None for score in scores)
    return Judgments(**columns)


PLAIN = "single"
DEFAULT_CANDIDATES = 8
"""About how many candidates there are where the user names judges only."""
_WARM, _REPEATS = 0.7, 3


class AskedCandidate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A judge under a setting.

    Attributes:
        judge: as `harness run --judge` takes it, a panel too.
        variant: how the question is put; of no use with `prompt`.
        prompt: the path of a prompt of the user's own; empty: none.
        rubric: the path of a wording of the user's own of a metric's rubric; empty: the usual one.
        temperature, top_p: of the sampling.
        repeats: how often each question is asked; the commonest answer counts.
        calibrated: whether its calibrated scores are a candidate too.
    """

    judge: str = ""
    variant: str = PLAIN
    prompt: str = ""
    rubric: str = ""
    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] = 0.0
    top_p: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None
    repeats: Annotated[int, msgspec.Meta(ge=1, le=25)] = 1
    calibrated: bool = False

    def spec(self, base: RunSpec) -> RunSpec:
        """Return the specification of a run that asks this candidate."""
        members = split_panels((self.judge,))[0]
        return replace(
            base,
            judges=(self.judge,),
            base_url={judge: url for judge, url in base.base_url.items() if judge in ("", *members)},
            headers={name: value for name, value in base.headers.items() if name.rpartition("=")[0] in ("", *members)},
            variants=None if self.prompt else (self.variant,),
            prompts=(Path(self.prompt),) if self.prompt else (),
            rubrics=(Path(self.rubric),) if self.rubric else (),
            temperatures=(self.temperature,),
            top_ps=(self.top_p,),
            repeats=self.repeats,
        )

    @property
    def flags(self) -> dict[str, Any]:
        """The same as flags of `harness run`, by the names that a specification file has for them."""
        how = {"prompt": [self.prompt]} if self.prompt else {"variant": [self.variant]}
        optional = {"rubric": [self.rubric] if self.rubric else None, "top_p": self.top_p}
        flags = {"judge": [self.judge], **how, **optional, "temperature": self.temperature, "repeats": self.repeats}
        return {name: value for name, value in flags.items() if value is not None}


class _CandidateFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    candidate: Annotated[tuple[AskedCandidate, ...], msgspec.Meta(min_length=1)]


def read_candidates(path: Path, judges: Sequence[str]) -> tuple[AskedCandidate, ...]:
    """Read the candidates of a file: `[[candidate]]` with `judge`, `variant`, `prompt`, `rubric`, `temperature`,
    `top_p`, `repeats`, `calibrated`.

    A candidate that names no judge is asked of each of `judges`. Paths are relative to the file. Raises ContentError with the line.
    """
    candidates: list[AskedCandidate] = []
    for candidate in read_spec(path, _CandidateFile).candidate:
        try:
            parse_variant(candidate.variant)
        except ValueError as err:
            raise ContentError(str(err), path) from None
        if not (candidate.judge or judges):
            raise ContentError('a candidate names no judge; add judge = "openai/MODEL" to it, or pass --judge', path)
        files = {name: str(path.parent / file) for name in ("prompt", "rubric") if (file := getattr(candidate, name))}
        if is_panel_file(candidate.judge):
            files["judge"] = panel_file_in(path.parent, candidate.judge)
        resolved = msgspec.structs.replace(candidate, **files)
        candidates += [resolved] if candidate.judge else [msgspec.structs.replace(resolved, judge=judge) for judge in judges]
    return tuple(candidates)


def named_candidates(
    judges: Sequence[str], variants: Sequence[str], prompts: Sequence[Path], rubrics: Sequence[Path]
) -> tuple[AskedCandidate, ...]:
    """Return, for each judge, the plain setting and the variants, prompts and rubrics that the user names.

    Raises UsageError for a variant that cannot be.
    """
    try:
        settings = list(dict.fromkeys(str(parse_variant(text)) for text in (PLAIN, *variants)))
    except ValueError as err:
        raise UsageError(str(err)) from None
    candidates = [AskedCandidate(variant=text) for text in settings]
    read = ((text, parse_variant(text)) for text in settings)  # a rubric is about one metric, in the words of its file
    with_rubrics = [text for text, variant in read if variant.call == "single" and variant.language == "english"]
    candidates += [AskedCandidate(variant=text, rubric=str(path)) for path in rubrics for text in with_rubrics]
    candidates += [AskedCandidate(prompt=str(path)) for path in prompts]
    return tuple(msgspec.structs.replace(candidate, judge=judge) for judge in judges for candidate in candidates)


def default_candidates(judges: Sequence[str], prepared: Prepared, unreviewed: bool = False) -> tuple[AskedCandidate, ...]:
    """Return about eight candidates that fit the data: the plain setting, also calibrated, then those that help most often.

    Several judges are each asked under fewer settings. `prepared` are the data, as a run with the plain setting would ask about them;
    `unreviewed` instructions, which no native reader has reviewed, are used where they may be.
    """
    settings_of_judge = max(2, math.ceil(DEFAULT_CANDIDATES / len(judges)))
    usual = [AskedCandidate(), AskedCandidate(variant="single+detailed")]
    metrics = prepared.protocol.questions.metrics
    classes = all(prepared.data.scales[name].kind != "interval" and name not in prepared.data.label_scales for name in metrics)
    if classes:
        usual.append(AskedCandidate(variant="single+fewshot:2"))
    asked_metrics = prepared.data.asked_metrics
    if any(len(set(metrics) & asked_metrics.get(item.item_id, frozenset())) > 1 for item in prepared.data.items):
        usual.append(AskedCandidate(variant="joint"))
    # True if every language but English has instructions that may be used for these tasks and metrics.
    library, protocol = prepared.library, prepared.protocol
    foreign = [tag for tag in protocol.texts.languages if not is_english(tag)]
    has_instructions = bool(foreign) and all(
        tag in library.instruction_files
        and (library.instructions(tag).reviewed_by or unreviewed)
        and set(protocol.wording.tasks) <= library.instructions(tag).tasks.keys()
        and set(protocol.questions.metrics) <= library.instructions(tag).rubrics.keys()
        for tag in foreign
    )
    if has_instructions:
        usual.append(AskedCandidate(variant="single+own-language"))
    if classes:
        usual.append(AskedCandidate(variant="single+score-only+probabilities"))
        usual.append(AskedCandidate(variant="single+detailed+fewshot:2"))
    usual.append(AskedCandidate(temperature=_WARM, repeats=_REPEATS))
    usual.append(AskedCandidate(variant="single+score-first"))
    first, *rest = (msgspec.structs.replace(setting, judge=judge) for judge in judges for setting in usual[:settings_of_judge])
    return (msgspec.structs.replace(first, calibrated=True), *rest)


def named_metric(candidates: Sequence[AskedCandidate]) -> str | None:
    """Return the metric of the custom prompts and rubrics; None without any. Raises UsageError for several."""
    metrics = {load_own_prompt(Path(candidate.prompt))[1].metric for candidate in candidates if candidate.prompt}
    metrics |= {load_own_rubric(Path(candidate.rubric))[1].id for candidate in candidates if candidate.rubric}
    if len(metrics) > 1:
        raise UsageError(f"the prompts and rubrics are about {' and '.join(sorted(metrics))}; compare those of one metric at a time")
    return next(iter(metrics), None)


def refuse_unfit(candidates: Sequence[AskedCandidate]) -> None:
    """Raise UsageError for baselines, which learn from labels, and for fewer than two candidates."""
    for candidate in candidates:
        if traits_of(candidate.judge).is_baseline:
            raise UsageError(
                f"'{candidate.judge}' reads no text and is no candidate; every choice is tested against the best constant anyway"
            )
    if len(candidates) + sum(candidate.calibrated for candidate in candidates) < 2:
        raise UsageError("there is nothing to choose between: name a second candidate with --judge, --variant, --prompt or --rubric")
