"""The questions that candidates are compared on, each with its reference, and which candidates answered them as people do."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from harness.correction.cell_results import UnreadCells
from harness.data.dataset import Dataset
from harness.data.judgments import NO_VARIANT, Judgments
from harness.data.same_texts import text_key
from harness.errors import ContentError, JudgeError, UsageError, refuse_pipe
from harness.measure.compare import Recording, align, refuse_median_of_names
from harness.measure.item_table import item_tables
from harness.measure.judged_table import JudgedTable
from harness.measure.label_counts import LabelCounts, count_labels
from harness.measure.options import MeasureOptions, annotators_needed
from harness.model import SAMPLING, JudgeCondition, Score
from harness.row_files import PRIVATE_FILE, json_rows, write_together
from harness.stats.core.arrays import Floats, Ints


class LabelledQuestion(NamedTuple):
    """A text, in its language, on one metric."""

    language: str
    metric: str
    item_id: str


@dataclass(frozen=True, eq=False)
class LabelledQuestions:
    """The labels of the judged table with a row for each question, whoever was asked.

    Attributes:
        data, labels: the items, and their labels as counts, by metric.
        questions: one a row.
        item: (questions,) positions among the items of the data.
    """

    data: Dataset
    labels: Mapping[str, LabelCounts]
    questions: tuple[LabelledQuestion, ...]
    item: Ints

    @classmethod
    def of(cls, data: Dataset, labels: Mapping[str, LabelCounts]) -> LabelledQuestions:
        """Return every question that answers are compared with, in the order of language, metric and text; none with continuous scores."""
        rows = sorted(
            (LabelledQuestion(data.items[item].language, metric, data.items[item].item_id), item)
            for metric, counts in labels.items()
            if not counts.classes.continuous
            for item in np.flatnonzero(counts.compared).tolist()
        )
        return cls(data, labels, tuple(question for question, _ in rows), np.array([item for _, item in rows], np.int64))

    def __len__(self) -> int:
        return len(self.questions)

    @cached_property
    def label(self) -> Ints:
        """(questions,) codes of the references; negative without a commonest label (under `strict`), with which no answer agrees."""
        references = zip(self.questions, self.item.tolist(), strict=True)
        return np.array([self.labels[question.metric].reference[item] for question, item in references], np.int64)

    @cached_property
    def group(self) -> Ints:
        """(questions,) codes of what texts share, of all languages alike."""
        return self.data.clusters.codes[self.item].astype(np.int64)

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(sorted({question.language for question in self.questions}))

    @property
    def language(self) -> Ints:
        """(questions,) codes of `languages`."""
        code = {tag: index for index, tag in enumerate(self.languages)}
        return np.array([code[question.language] for question in self.questions], np.int64)

    @property
    def items(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(question.item_id for question in self.questions))

    @property
    def groups(self) -> int:
        return len(np.unique(self.group))

    def take(self, rows: NDArray[np.bool_] | Ints) -> LabelledQuestions:
        """Return the questions of some rows: a mask, or row numbers in their order."""
        chosen = np.flatnonzero(rows) if rows.dtype == bool else rows
        return replace(self, questions=tuple(self.questions[row] for row in chosen.tolist()), item=self.item[chosen])

    def concatenate(self, other: LabelledQuestions) -> LabelledQuestions:
        """Return these questions and then others, of the same data."""
        return replace(self, questions=(*self.questions, *other.questions), item=np.concatenate([self.item, other.item]))


def readable_questions(questions: LabelledQuestions, unread: Iterable[UnreadCells]) -> NDArray[np.bool_]:
    """Return (questions,) True where a question is in none of the languages and metrics that were left out.

    Raises JudgeError where none is left.
    """
    cells = {(left_out.key.get("language"), left_out.key.get("metric")): left_out for left_out in unread}
    readable = np.array([(question.language, question.metric) not in cells for question in questions.questions], bool)
    if cells and not readable.any():
        raise JudgeError(f"{next(iter(cells.values())).sentence()} No other question has labels to compare candidates with")
    return readable


def labelled_questions(data: Dataset, compare: MeasureOptions) -> LabelledQuestions:
    """Return the questions of data that no judge was asked about yet. Raises UsageError as `count_labels`, and for a median of names."""
    needed = annotators_needed(compare, data.most_annotators)
    labels = count_labels(data, Judgments.from_rows(()), needed, compare.majority)
    refuse_median_of_names(labels, compare)
    return LabelledQuestions.of(data, labels)


def commonest_labels(data: Dataset, compare: MeasureOptions) -> dict[LabelledQuestion, Score]:
    """Return the reference of every question that has one. Raises as `labelled_questions`."""
    questions = labelled_questions(data, compare)
    codes = zip(questions.questions, questions.label.tolist(), strict=True)
    return {question: questions.labels[question.metric].classes.scores[code] for question, code in codes if code >= 0}


class CandidateSet(Protocol):
    """Candidates whose judgments are recorded, or asked for when they are needed: all that choosing and confirming read."""

    @property
    def candidates(self) -> tuple[JudgeCondition, ...]: ...

    @property
    def labels_sha256(self) -> str:
        """The hash of all items and labels."""

    def right(self, candidates: Sequence[int], questions: LabelledQuestions) -> Floats:
        """Return (questions, candidates) 1 where a candidate gave the commonest label, else 0: an answer that cannot be read is wrong."""

    def recording(self, candidates: Sequence[int], questions: LabelledQuestions) -> Recording:
        """Return the judgments of these candidates on the texts of these questions, and perhaps further ones."""

    def flags(self, candidate: int) -> dict[str, Any]:
        """Return the flags of `harness run` that ask a candidate, as a specification file names them."""


class RecordedCandidates:
    """Candidates with their answers to all questions, as a run or a data folder has them."""

    def __init__(
        self, source: Recording, candidates: tuple[JudgeCondition, ...], right: Mapping[LabelledQuestion, Mapping[JudgeCondition, float]]
    ):
        self.candidates = candidates
        self.labels_sha256 = source.data.sha256
        self._source = source
        self._right = right

    def right(self, candidates: Sequence[int], questions: LabelledQuestions) -> Floats:
        chosen = [self.candidates[index] for index in candidates]
        return np.array([[self._right[question][candidate] for candidate in chosen] for question in questions.questions])

    def recording(self, candidates: Sequence[int], questions: LabelledQuestions) -> Recording:
        return self._source

    def flags(self, candidate: int) -> dict[str, Any]:
        judge, variant, *sampling = self.candidates[candidate]
        defined = {name: value for name, value in zip(SAMPLING, sampling, strict=True) if value is not None}
        return {"judge": [judge], **({} if variant == NO_VARIANT else {"variant": [variant]}), **defined}


def recorded_candidates(source: Recording, compare: MeasureOptions, least: int = 2) -> tuple[LabelledQuestions, RecordedCandidates]:
    """Return the questions of a recording that every judge and condition was asked, and the answers; baselines are no candidates.

    Raises UsageError with fewer candidates than `least`, where no question was put to all of them, and as `measure.align` does.
    """
    judged = align([source], compare).tables[0]
    right = right_by_question(judged)
    candidates = tuple(dict.fromkeys(candidate for answers in right.values() for candidate in answers))
    if len(candidates) < least:
        if not candidates:
            raise UsageError(
                f"there is nothing to choose from: {source.name} has no judge whose scores are classes of the labels' scale, and a "
                f"candidate is right where it gives the commonest label. 'harness compare {source.name}' compares numbers; "
                "--judge openai/MODEL asks for classes"
            )
        raise UsageError(
            f"there is nothing to choose between: {source.name} has one judge under one condition ({candidates[0]}). Ask under several "
            "(harness run --variant A --variant B), ask several judges, or let this command ask: --judge openai/MODEL"
        )
    questions = LabelledQuestions.of(judged.data, judged.labels)
    questions = questions.take(np.array([len(right.get(question, ())) == len(candidates) for question in questions.questions], bool))
    if not len(questions):
        raise UsageError("no text was put to all candidates on one metric; choose candidates with --judge or --where variant=NAMES")
    return questions, RecordedCandidates(source, candidates, right)


def right_by_question(judged: JudgedTable) -> dict[LabelledQuestion, dict[JudgeCondition, float]]:
    """Return 1 for each judge but baselines that gave a question's reference, 0 for each other one that was asked."""
    right: dict[LabelledQuestion, dict[JudgeCondition, float]] = {}
    for cell in item_tables(judged):
        if not cell.is_baseline and not cell.classes.continuous:
            for item, is_compared, is_right in zip(cell.item_ids, cell.compared.tolist(), cell.right.tolist(), strict=True):
                if is_compared:
                    right.setdefault(LabelledQuestion(*cell.language_and_metric, item), {})[cell.condition] = float(is_right)
    return right


LEAST_GROUPS = 10
"""Independent texts that each half needs at least."""


@dataclass(frozen=True, eq=False)
class ChooseHalf:
    """The questions that candidates are chosen by, in the order in which they are taken. Few-shot examples come from them alone."""

    texts: LabelledQuestions

    def first(self, questions: int) -> LabelledQuestions:
        """Return the questions that are taken first."""
        return self.texts.take(np.arange(questions))


@dataclass(frozen=True, eq=False)
class ConfirmHalf:
    """The questions that the chosen candidate is confirmed by."""

    texts: LabelledQuestions


def halves(texts: LabelledQuestions, share: float, seed: int) -> tuple[ChooseHalf, ConfirmHalf]:
    """Divide the questions by what their texts share, language by language.

    `share`, in (0, 1), of the independent texts of each language choose. Raises UsageError where a half has fewer than `LEAST_GROUPS`.
    """
    rng = np.random.default_rng(seed)
    chooses = np.zeros(int(texts.group.max(initial=-1)) + 1, bool)
    drawn = np.zeros(len(chooses), bool)
    for code in range(len(texts.languages)):  # a group of several languages belongs to the half of the first
        groups = np.unique(texts.group[texts.language == code])
        groups = rng.permutation(groups[~drawn[groups]])
        chooses[groups[: round(share * len(groups))]] = True
        drawn[groups] = True
    first = chooses[texts.group]
    for name, rows in (("choose", first), ("confirm", ~first)):
        if (count := len(np.unique(texts.group[rows]))) < LEAST_GROUPS:
            raise UsageError(f"the half to {name} would have {count} independent texts, and {LEAST_GROUPS} are needed; label more texts")
    choosing = texts.take(first)
    # A random order of the texts, so that a part of the questions asks about few texts on all their metrics.
    of_text: dict[str, list[int]] = {}
    for row, question in enumerate(choosing.questions):
        of_text.setdefault(question.item_id, []).append(row)
    rows_by_text = list(of_text.values())
    in_order = list(chain.from_iterable(rows_by_text[index] for index in rng.permutation(len(rows_by_text))))
    return ChooseHalf(choosing.take(np.array(in_order, np.int64))), ConfirmHalf(texts.take(~first))


FILE, HEAD, _LOCK = "confirmed.jsonl", "confirmed.head.json", ".confirmed.lock"


class ConfirmedUse(msgspec.Struct, frozen=True):
    """One use of labels to confirm, on a day (UTC), of a folder whose items and labels have the hash `labels`.

    `candidates` have the start first; `shown` says whether a gain was shown in any language. `texts` are the `digests` of the questions.
    """

    date: str
    labels: str
    candidates: tuple[str, ...]
    chosen: str
    shown: bool
    texts: tuple[str, ...]


class UsesHead(msgspec.Struct, frozen=True):
    """The number of uses in the file, and its SHA-256."""

    uses: int
    sha256: str


def digests(questions: Iterable[LabelledQuestion], data: Dataset | None = None) -> tuple[str, ...]:
    """Return digests of the questions, which say nothing about the texts: by the item's id and, from `data`, by its text.

    So a text that gets another id is known again.
    """
    keys = set(questions)
    if data is not None:
        items = [(question, data.by_id[question.item_id]) for question in keys]
        texts = [(question, text_key(item, data.outputs_of(item))) for question, item in items]
        keys |= {question._replace(item_id=f"text {key}") for question, key in texts if key is not None}
    return tuple(sorted(hashlib.sha256("\0".join(key).encode()).hexdigest()[:16] for key in keys))


def earlier_uses(folder: Path | None, questions: Sequence[LabelledQuestion], data: Dataset | None = None) -> int:
    """Return how many confirmations used some of these questions before, by their ids or their texts; 0 without a folder.

    Raises ContentError where uses were removed or changed, as far as one of the two files is still there.
    """
    return 0 if folder is None else _count_uses(folder, digests(questions, data))


def _count_uses(folder: Path, texts: Iterable[str]) -> int:
    path, now = folder / FILE, set(texts)
    _refuse_changed_file(folder)
    uses = json_rows(path, ConfirmedUse, "a use of labels to confirm") if path.is_file() else ()
    return sum(not now.isdisjoint(use.texts) for _, use in uses)


def _refuse_changed_file(folder: Path) -> None:
    path, head = folder / FILE, folder / HEAD
    for of_uses in (path, head):
        refuse_pipe(of_uses)
    if not path.is_file() and not head.is_file():
        return
    if not path.is_file():
        raise ContentError(f"this file is gone, which says what labels confirmed ({HEAD} has its hash); restore it", path)
    try:
        recorded_head = msgspec.json.decode(head.read_bytes(), type=UsesHead)
    except FileNotFoundError:
        raise ContentError(f"this file is gone, which has the hash of {FILE}; restore it", head) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise ContentError(f"not the hash of {FILE}: {err}; restore it", head) from None
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != recorded_head.sha256:
        lines = content.count(b"\n")
        raise ContentError(
            f"this file has {lines:,} uses of labels and was changed after it was written with {recorded_head.uses:,}; restore it", path
        )


def refuse_second_use(uses: int, reuse: bool) -> None:
    """Raise UsageError where labels confirmed before and nobody said that they may again."""
    if uses and not reuse:
        times = "once" if uses == 1 else f"{uses} times"
        raise UsageError(
            f"these labels have confirmed a choice {times} ({FILE} in the data folder). A choice that is tried again on the same labels "
            "looks better than it is: label other texts, or pass --reuse to test at a stricter level"
        )


def remember(folder: Path, use: ConfirmedUse, before: int) -> None:
    """Add a use to the folder's file; `before` uses of these labels were known when the confirmation began.

    Raises UsageError where another process has confirmed by them meanwhile, StoreError where the file cannot be written.
    """
    with FileLock(folder / _LOCK, mode=PRIVATE_FILE):
        if _count_uses(folder, use.texts) != before:
            raise UsageError("another 'harness improve' has confirmed by these labels meanwhile, so nothing is shown; see --reuse")
        path = folder / FILE
        content = (path.read_bytes() if path.is_file() else b"") + msgspec.json.encode(use) + b"\n"
        head = UsesHead(content.count(b"\n"), hashlib.sha256(content).hexdigest())
        write_together({path: content, folder / HEAD: msgspec.json.encode(head) + b"\n"})
