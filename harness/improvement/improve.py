"""Choose the judge or setting that agrees best with people on some labels, and confirm it once on the others, language by language."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from harness.content.tags import choose_from
from harness.correction.cell_results import UnreadCells, judge_words, refuse_unread
from harness.data.dataset import Dataset
from harness.data.labels import Labels, checked_labels, read_label_rows
from harness.decide.options import DecisionOptions
from harness.decide.verdict_sentences import unread_sentence
from harness.decide.verdicts import Verdict, verdicts_of_tables
from harness.errors import JudgeError, UsageError
from harness.improvement.candidates import CalibratedCandidates, CalibrationSteps, is_calibrated
from harness.improvement.improvement_options import ImproveOptions
from harness.improvement.questions import (
    ChooseHalf,
    ConfirmedUse,
    ConfirmHalf,
    LabelledQuestions,
    commonest_labels,
    digests,
    earlier_uses,
    halves,
    readable_questions,
    recorded_candidates,
    refuse_second_use,
    remember,
)
from harness.measure.compare import Recording, align, judged_tables
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.options import MeasureOptions
from harness.model import JudgeCondition, Score, plainness
from harness.offensive_texts import HIDDEN
from harness.row_files import find_table
from harness.stats.core.arrays import Floats
from harness.stats.estimation.choose_and_confirm import ConfirmedGain, Halving, confirm, halve, level_of_use, texts_to_confirm

DISCORDANT = (0.13, 0.28)
"""Shares of texts on which exactly one of two settings is right, between which real settings mostly lie; for how many texts are needed."""
GAINS = (0.05, 0.08)

_SHOWN = 5
_CHARACTERS = 300


class ImprovedLanguage(msgspec.Struct, frozen=True, kw_only=True):
    """One language (`*`: all of them).

    Attributes:
        agreement_start, agreement_chosen, agreement_constant: on the confirming texts; the last of the best rule that reads no judge.
        gain: chosen less start, with its interval and tests.
        p: of the gain, corrected over languages; None where it is undefined.
        shown: whether the gain is shown.
        setting: `chosen` where the language is shown not to lose more than the margin, and a gain is shown in any language or in all
            together, else `start`.
    """

    language: str
    agreement_start: float
    agreement_chosen: float
    agreement_constant: float
    gain: ConfirmedGain
    p: float | None
    shown: bool
    setting: str


class Improved(msgspec.Struct, frozen=True, kw_only=True):
    """The choice, its confirmation, and what is needed to make them again.

    Attributes:
        source: name of the data.
        candidates: all, the start first.
        start, chosen: two of them.
        halving: the rounds of the choice; None where the start itself is the only one left to confirm.
        choose_texts, confirm_texts: questions in each half; `confirm_groups` independent texts.
        languages: the confirmation by language; `together` of all.
        level: of the test; `uses` how often labels among these confirmed before.
        before, after: verdicts of the start and of the choice on the confirming texts.
        remaining: where the choice still differs from people.
        flags: of `harness run`, that ask the start (`start`) and the choice (`chosen`), as a specification file names them.
        calibration: what becomes of scores, where the choice is calibrated; else empty.
        options: with which it was made; `signature` holds all that moves a number.
        unread: what was left out, because most answers cannot be read: candidates that were not chosen from, and languages and metrics of
            the start or the choice, whose questions confirm nothing.
    """

    source: str
    candidates: tuple[JudgeCondition, ...]
    start: JudgeCondition
    chosen: JudgeCondition
    halving: Halving
    choose_texts: int
    confirm_texts: int
    confirm_groups: int
    languages: tuple[ImprovedLanguage, ...]
    together: ImprovedLanguage
    level: float
    uses: int
    before: tuple[Verdict, ...]
    after: tuple[Verdict, ...]
    remaining: tuple[Remaining, ...]
    flags: dict[str, dict[str, Any]]
    calibration: tuple[CalibrationSteps, ...]
    options: ImproveOptions
    signature: str
    unread: tuple[UnreadCells, ...] = ()
    schema_version: int = 1

    @property
    def agreement_used(self) -> float:
        """The agreement on the confirming texts, with the setting that each language gets."""
        rows = self.languages
        shares = [row.agreement_chosen if row.setting == "chosen" else row.agreement_start for row in rows]
        return float(np.average(shares, weights=[row.gain.texts for row in rows]))

    def as_json(self) -> dict[str, Any]:
        """Return one object for programs; candidates are objects with judge, variant, temperature and top-p."""
        verdicts = {
            name: [{**verdict.key, "verdict": verdict.decision.verdict} for verdict in getattr(self, name)] for name in ("before", "after")
        }
        fields: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(self, before=(), after=()))
        fields["options"] = self.options.as_json()
        for name in ("start", "chosen"):
            fields[name] = getattr(self, name)._asdict()
        fields["candidates"] = [candidate._asdict() for candidate in self.candidates]
        for index, language in enumerate((*self.languages, self.together)):
            row = fields["languages"][index] if index < len(self.languages) else fields["together"]
            row["gain"] = {key: None if math.isnan(value) else value for key, value in language.gain._asdict().items()}
        fields["unread"] = [cells.flat() for cells in self.unread]
        fields["halving"] = {"rounds": [halving_round._asdict() for halving_round in self.halving.rounds], "asked": self.halving.asked}
        return fields | verdicts


class Division(NamedTuple):
    """The questions, divided before anything is chosen, and how often labels of the confirming half were used."""

    choosing: ChooseHalf
    confirming: ConfirmHalf
    uses: int

    def describe(self, candidates: int) -> str:
        """Return lines on the size of the halves and of the gain that the confirming half can show."""
        sizes = (
            f"{candidates} candidates; {len(self.choosing.texts):,} questions choose and {len(self.confirming.texts):,} confirm "
            f"({self.confirming.texts.groups:,} independent texts)."
        )
        needed = (
            f"  a gain of {gain * 100:.0f} points takes {texts_to_confirm(gain, DISCORDANT[0])} to {texts_to_confirm(gain, DISCORDANT[1])}"
            " independent texts"
            for gain in GAINS
        )
        return "\n".join((sizes, "To show a gain in one language, with a power of 80 %:", *needed))


def divided(texts: LabelledQuestions, options: ImproveOptions, folder: Path | None) -> Division:
    """Divide the labelled questions; `folder` is the data folder that remembers uses. Raises as `halves`."""
    choosing, confirming = halves(texts, options.share, options.seed)
    return Division(choosing, confirming, earlier_uses(folder, confirming.texts.questions, texts.data))


def improve(
    division: Division,
    answers: CalibratedCandidates,
    compare: MeasureOptions,
    options: ImproveOptions,
    decision: DecisionOptions,
    folder: Path | None,
    today: date,
) -> Improved:
    """Choose by successive halving on one half of the labels, then test the choice once on the other half.

    Args:
        division: the two halves, from `divided`.
        answers: judges under conditions, and what they answer; they are asked for no more than a step needs.
        compare, decision, options: how judgments are compared, the thresholds of verdicts, and how to choose and to confirm.
        folder: the data folder, which remembers on this day that its labels were used; None: nothing remembers.

    Raises UsageError for an unknown start, and for labels that confirmed before; JudgeError where most answers of the start, or of all
    others, cannot be read. No label is spent then.
    """
    refuse_second_use(division.uses, options.reuse)
    names, confirming = answers.candidates, division.confirming.texts
    start = starting_point(names, options.start)
    order = (start, *(index for index in range(len(names)) if index != start))
    halving, unread = _choose_candidate(division.choosing, answers, order)
    chosen = order[halving.chosen]
    level = options.alpha if not division.uses else level_of_use(options.alpha, division.uses + 1)
    right = answers.right((start, chosen), confirming)
    _refuse_unread(answers.unread((start, chosen), confirming), names, (start, chosen))
    without_judge = _constant_answers(division.choosing, division.confirming), answers.constant(chosen, confirming)
    constants = np.column_stack([constant for constant in without_judge if constant is not None])
    left_out = answers.unread_cells((start, chosen), confirming)
    readable = readable_questions(confirming, left_out)
    confirming, right, constants = confirming.take(readable), right[readable], constants[readable]
    languages, together = _confirm_by_language(confirming, right, constants, level, options.keep_within)
    source = answers.recording((start, chosen), confirming)
    verdicts = verdicts_on(source, set(confirming.items), compare, decision)
    if folder is not None:  # last, so that labels are not spent where something above fails; and nothing is shown if this fails
        any_shown, candidates = any(language.shown for language in languages), tuple(str(names[index]) for index in order)
        texts = digests(confirming.questions, confirming.data)
        use = ConfirmedUse(today.isoformat(), answers.labels_sha256, candidates, str(names[chosen]), any_shown, texts)
        remember(folder, use, division.uses)
    hashed = hashlib.sha256("\0".join(map(str, names)).encode()).hexdigest()[:12]
    return Improved(
        source=source.name,
        candidates=tuple(names[index] for index in order),
        start=names[start],
        chosen=names[chosen],
        halving=halving,
        choose_texts=len(division.choosing.texts),
        confirm_texts=len(confirming),
        confirm_groups=confirming.groups,
        languages=languages,
        together=together,
        level=level,
        uses=division.uses,
        before=tuple(verdict for verdict in verdicts if JudgeCondition.of(verdict.key) == names[start]),
        after=tuple(verdict for verdict in verdicts if JudgeCondition.of(verdict.key) == names[chosen]),
        remaining=disagreements(source, compare, names[chosen], confirming),
        flags={"start": answers.flags(start), "chosen": answers.flags(chosen)},
        calibration=answers.steps(chosen, confirming),
        options=options,
        signature=f"{align([source], compare).signature}|improve:{options.signed(level)} candidates={hashed}",
        unread=(*unread, *left_out),
    )


def starting_point(candidates: Sequence[JudgeCondition], name: str | None) -> int:
    """Return the position of the candidate to beat. Raises UsageError for a name that none has, or several."""
    settings = [index for index, candidate in enumerate(candidates) if not is_calibrated(candidate)]
    if name is None:
        first = candidates[0].judge
        of_first_judge = [index for index in settings if candidates[index].judge == first]
        return min(
            of_first_judge,
            key=lambda index: (plainness(candidates[index].variant), tuple(sampling or 0.0 for sampling in candidates[index][2:])),
        )
    words = {index: candidate_words(candidates[index]) for index in settings}
    matching = [index for index, text in words.items() if name in (text, candidates[index].judge, candidates[index].variant)]
    if len(matching) != 1:
        count = "no candidate" if not matching else f"{len(matching)} candidates"
        raise UsageError(f"--start {name}: {count} of this name.{choose_from(list(words.values()), name)}")
    return matching[0]


def candidate_words(candidate: JudgeCondition) -> str:
    """Return a candidate's name as tables show it."""
    return f"{candidate.judge}: {candidate.words()}"


def _choose_candidate(half: ChooseHalf, answers: CalibratedCandidates, order: Sequence[int]) -> tuple[Halving, list[UnreadCells]]:
    """Choose among the candidates whose answers can be read; the others are the second result."""
    broken: dict[int, UnreadCells] = {}

    def first(columns: Sequence[int], questions: int) -> Floats:
        candidates, texts = [order[column] for column in columns], half.first(questions)
        right = answers.right(candidates, texts)
        unread = answers.unread(candidates, texts)
        _refuse_unread(unread, answers.candidates, order[:1])
        broken.update({answers.reads(index): cells for index, cells in unread.items()})
        right[:, [index in unread for index in candidates]] = 0.0  # no candidate is chosen for the answers that could be read
        if all(index in unread for index in candidates[1:]):
            _refuse_unread(unread, answers.candidates, candidates[1:])
        if questions == len(half.texts) and not right.any():
            raise UsageError(
                f"no answer is people's commonest label on any of the {questions} questions that choose; look at the answers, which may be "
                "off the scale or about another question. Nothing was confirmed, and no label is spent"
            )
        return right

    halving = halve(first, len(half.texts), len(order) - 1, reads=lambda column: order.index(answers.reads(order[column])))
    return halving, list(broken.values())


def _refuse_unread(unread: Mapping[int, UnreadCells], names: Sequence[JudgeCondition], candidates: Sequence[int]) -> None:
    """Raise JudgeError where one of the candidates, on which a choice would rest, is among the unread ones."""
    if broken := [index for index in candidates if index in unread]:
        judge = judge_words(names[broken[0]]._asdict())
        more = "; --start names another one to begin with" if len(names) > 2 else ""
        raise JudgeError(unread_sentence(unread[broken[0]].answers, f"nothing is chosen beside {judge}, and no label is spent{more}"))


def _confirm_by_language(
    texts: LabelledQuestions, right: Floats, constants: Floats, level: float, margin: float
) -> tuple[tuple[ImprovedLanguage, ...], ImprovedLanguage]:
    start, chosen = right.T
    confirmed = confirm(start, chosen, constants, texts.language, texts.group, margin)

    def row(language: str, gain: ConfirmedGain, p: float, rows: Any) -> ImprovedLanguage:
        return ImprovedLanguage(
            language=language,
            agreement_start=float(start[rows].mean()),
            agreement_chosen=float(chosen[rows].mean()),
            agreement_constant=float(constants[rows].mean(axis=0).max()),
            gain=gain,
            p=None if math.isnan(p) else p,
            shown=bool(p <= level),
            setting="chosen" if gain.p_within <= level else "start",
        )

    together = row("*", confirmed.together, confirmed.together.p_shown, slice(None))
    languages = tuple(
        row(tag, gain, float(p), texts.language == code)
        for code, (tag, gain, p) in enumerate(zip(texts.languages, confirmed.by_language, confirmed.corrected, strict=True))
    )
    if not any(result.shown for result in (*languages, together)):
        languages = tuple(msgspec.structs.replace(language, setting="start") for language in languages)
    return languages, together


def _constant_answers(choosing: ChooseHalf, confirming: ConfirmHalf) -> Floats:
    """Return (questions,) 1 where a confirming question has the choosing half's commonest label of its language and metric, else 0."""
    counts: dict[tuple[str, str], Counter[int]] = {}
    for question, label in zip(choosing.texts.questions, choosing.texts.label.tolist(), strict=True):
        if label >= 0:
            counts.setdefault((question.language, question.metric), Counter())[label] += 1
    best = {key: count.most_common(1)[0][0] for key, count in counts.items()}
    texts = zip(confirming.texts.questions, confirming.texts.label.tolist(), strict=True)
    return np.array([best.get((question.language, question.metric)) == label for question, label in texts], float)


class Disagreement(msgspec.Struct, frozen=True):
    """A text, its reference, and the judge's commonest answer; None: there is none, or several are as common."""

    item_id: str
    people: Score | None
    judge: Score | None
    text: str


class Remaining(msgspec.Struct, frozen=True):
    """Disagreements in one language and metric: `wrong` of `n`, and the widest of them."""

    language: str
    metric: str
    wrong: int
    n: int
    examples: tuple[Disagreement, ...]


def disagreements(
    source: Recording, compare: MeasureOptions, candidate: JudgeCondition, questions: LabelledQuestions
) -> tuple[Remaining, ...]:
    """Return a candidate's disagreements with people's reference on these questions, the largest share first."""
    wanted = set(questions.questions)
    [judged] = judged_tables([source], compare)
    rows = [
        _disagreements_of_cell(
            cell, judged.data, {question.item_id for question in wanted if (question.language, question.metric) == cell.language_and_metric}
        )
        for cell in item_tables(judged)
        if cell.condition == candidate and not cell.classes.continuous
    ]
    return tuple(sorted((row for row in rows if row.wrong), key=lambda row: (-row.wrong / row.n, row.language, row.metric)))


def _disagreements_of_cell(cell: ItemTable, data: Dataset, items: set[str]) -> Remaining:
    label, answer = cell.reference, cell.answer
    counted = np.array([data.items[index].item_id in items for index in cell.item.tolist()], bool) & cell.compared
    wrong = np.flatnonzero(counted & ~cell.right)
    widest = wrong[np.argsort(-np.abs(answer - label)[wrong], kind="stable")] if cell.values is not None else wrong
    scores, examples = cell.classes.scores, []
    for index in widest[:_SHOWN].tolist():
        item, answer_code = data.items[int(cell.item[index])], int(answer[index])
        people, judge = (scores[code] if code >= 0 else None for code in (int(label[index]), answer_code))
        if data.about.offensive:
            text = HIDDEN
        else:
            texts = (" ".join(str(item.fields.get(name, "")).split()) for name in data.outputs_of(item))
            text = " | ".join(text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}…" for text in texts if text)
        examples.append(Disagreement(item.item_id, people, judge, text))
    return Remaining(*cell.language_and_metric, len(wrong), int(counted.sum()), tuple(examples))


def verdicts_on(source: Recording, items: Collection[str], compare: MeasureOptions, decision: DecisionOptions) -> tuple[Verdict, ...]:
    """Return the verdicts of all judges and conditions on the texts with these ids."""
    data = source.data.only(item for item in source.data.items if item.item_id in items)
    part = msgspec.structs.replace(source, data=data, judgments=source.judgments.for_items(data.by_id))
    return verdicts_of_tables(align([part], compare), compare, decision)


_EXAMPLES = 10


class LabelRound(NamedTuple):
    """The labels of one round, from the file or folder `name`."""

    name: str
    labels: Labels


class DifferingLabel(msgspec.Struct, frozen=True):
    """A question whose commonest labels differ, with that of each round, in their order."""

    language: str
    metric: str
    item_id: str
    labels: tuple[Score | None, ...]


class RoundsCompared(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates under each round of labels, on the questions that choose and have a commonest label in every round.

    `agreement` (candidates, rounds) is the share of these questions on which a candidate gave the commonest label; of candidates that agree
    equally the earlier wins. Candidates most of whose answers cannot be read are `unread` and no candidates; a language and metric
    in which most answers of one cannot be read is left out for all. Of the `common` questions, `differing` have other labels; `examples`
    are some of them.
    """

    rounds: tuple[str, ...]
    candidates: tuple[JudgeCondition, ...]
    agreement: tuple[tuple[float, ...], ...]
    winners: tuple[JudgeCondition, ...]
    questions: int
    common: int
    differing: int
    examples: tuple[DifferingLabel, ...]
    signature: str
    unread: tuple[UnreadCells, ...] = ()
    schema_version: int = 1

    def as_json(self) -> dict[str, Any]:
        """Return one object for programs."""
        fields: dict[str, Any] = msgspec.structs.asdict(self)
        for name in ("candidates", "winners"):
            fields[name] = [condition._asdict() for condition in fields[name]]
        return fields | {"unread": [cells.flat() for cells in self.unread]}


def read_round(path: Path, data: Dataset) -> LabelRound:
    """Read the labels of a file, or of a data folder, on the items of `data`.

    Raises UsageError where there is none, ContentError with `file:line` for labels of other items or off their scale.
    """
    file = find_table(path, "labels") if path.is_dir() else path
    if file is None or not file.is_file():
        raise UsageError(f"--labels {path} is no label file (labels.jsonl) and no data folder with one")
    return LabelRound(str(path), checked_labels(read_label_rows(file), file, data.scales, data.by_id, source=data.about.source))


def compare_rounds(source: Recording, rounds: Sequence[LabelRound], compare: MeasureOptions, options: ImproveOptions) -> RoundsCompared:
    """Find the candidate that agrees best with each of two or more rounds of labels; the half that confirms is not used.

    Raises UsageError with fewer than two rounds or candidates, and without questions in common; JudgeError where most answers of all
    candidates cannot be read.
    """
    if len(rounds) < 2:
        raise UsageError("name two rounds of labels: --labels A --labels B")
    sources = [
        msgspec.structs.replace(source, data=msgspec.structs.replace(source.data, labels=label_round.labels)) for label_round in rounds
    ]
    answered = [recorded_candidates(recording, compare) for recording in sources]
    candidates = answered[0][1].candidates
    unread = refuse_unread(item_tables(align([source], compare).tables[0]), "no candidate is chosen by the answers")[1]
    broken = [JudgeCondition.of(cells.key) for cells in unread if cells.of_all]
    if any(answers.candidates != candidates for _, answers in answered):
        raise UsageError("the rounds have labels on other metrics, so that they are not about the same candidates; use --where metric=NAME")
    shared = set.intersection(*(set(questions.questions) for questions, _ in answered))
    if not shared:
        raise UsageError("no text has a commonest label in every round")
    first = answered[0][0]
    common = first.take(np.array([question in shared for question in first.questions], bool))
    common = common.take(readable_questions(common, (cells for cells in unread if not cells.of_all)))
    choosing = halves(common, options.share, options.seed)[0].texts
    readable = [index for index, candidate in enumerate(candidates) if candidate not in broken]
    agreement = np.array([answers.right(readable, choosing).mean(axis=0) for _, answers in answered]).T
    candidates = tuple(candidates[index] for index in readable)
    by_round = [commonest_labels(recording.data, compare) for recording in sources]
    round_labels = {question: tuple(labels.get(question) for labels in by_round) for question in common.questions}
    differing = [DifferingLabel(*question, labels) for question, labels in round_labels.items() if len(set(labels)) > 1]
    return RoundsCompared(
        rounds=tuple(label_round.name for label_round in rounds),
        candidates=candidates,
        agreement=tuple(tuple(row) for row in agreement.tolist()),
        winners=tuple(candidates[index] for index in agreement.argmax(axis=0).tolist()),
        questions=len(choosing),
        common=len(common),
        differing=len(differing),
        examples=tuple(differing[:_EXAMPLES]),
        signature="|".join(align([recording], compare).signature for recording in sources),
        unread=unread,
    )
