"""The next texts to label: a random sample in strata of the judge's scores and confidence, with the probability of each text.

Estimates that weight each label by 1 / probability are unbiased whatever the strata; good strata make them more precise.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from harness.content.tags import choose_from
from harness.correction.labels_budget import label_budget
from harness.correction.options import LabelBudgetOptions, SampleOptions
from harness.data.judgments import Judgments
from harness.decide.sentences import unread_sentence
from harness.errors import UsageError
from harness.measure.answer_counts import count_all_answers
from harness.measure.compare import Recording
from harness.model import Item, Scale
from harness.stats.estimation.sampling_plan import neyman_allocation, proportional_allocation, stratified_variance, whole_labels

NO_SCORE = "no score"


class SampledItem(msgspec.Struct, frozen=True):
    """One drawn text. The keys are those that `harness correct` reads from items."""

    item_id: str
    inclusion_probability: float
    stratum: str


class SampleStratum(msgspec.Struct, frozen=True):
    """One stratum: its texts and how many of them were drawn, and the spread of right and wrong answers that the judge expects."""

    name: str
    texts: int
    drawn: int
    sd: float | None


class LabelSample(msgspec.Struct, frozen=True):
    """The drawn texts in random order, the number of texts that they were drawn from, and the strata."""

    items: tuple[SampledItem, ...]
    texts: int
    strata: tuple[SampleStratum, ...]
    notes: tuple[str, ...]


class _Text(msgspec.Struct, frozen=True):
    item: Item
    score: str
    stratum: str
    confidence: float


def draw_label_sample(recording: Recording, options: SampleOptions) -> LabelSample:
    """Draw texts without a native label (or with one), stratified by a judge's scores.

    Their order is random, so that the first n are a sample too.

    Without a budget, as many as `label_budget` says are missing: for a verdict, or where it cannot say, for the interval; the most of all
    cells.

    Raises UsageError for a language, judge or metric that is not there or has to be named, and for a budget that is too small for the
    strata, larger than what is there, or unknown.
    """
    if options.budget is None:
        where = {name: (value,) for name, value in (("language", options.language), ("metric", options.metric)) if value}
        cells = label_budget([recording], LabelBudgetOptions(judges=(options.judge,) if options.judge else None, where=where)).cells
        missing = [cell.more_for_verdict if cell.more_for_verdict is not None else cell.more_for_half_width for cell in cells]
        if not (needed := [number for number in missing if number]):
            raise UsageError(
                "'labels needed' has no number here (no judgments beside native labels); name the number of texts with --budget"
            )
        budget = max(needed)
    else:
        budget = options.budget
    items = _available_items(recording, options)
    judge, metric = _choose_judge_and_metric(recording, options)
    answers = recording.judgments.take(np.flatnonzero(recording.judgments.judge.equals(judge) & recording.judgments.metric.equals(metric)))
    counts_of_judge = count_all_answers(answers)
    unread = unread_sentence(counts_of_judge, f"the scores of {judge} on {metric} make no strata") if counts_of_judge.mostly_unread else ""
    texts = _assign_strata(items, *(({}, {}) if unread else _scores_and_confidences(answers)), recording.data.scales.get(metric))
    strata = {name: [text for text in texts if text.stratum == name] for name in sorted({text.stratum for text in texts})}
    counts = _allocate(strata, len(items), budget, options)
    chosen: dict[str, SampledItem] = {}
    for name, in_stratum in strata.items():
        for item in _spread_over_groups(in_stratum, counts[name], f"{options.seed} {name}"):
            chosen[item.item_id] = SampledItem(item.item_id, counts[name] / len(in_stratum), name)
    described = tuple(SampleStratum(name, len(in_stratum), counts[name], _expected_sd(in_stratum)) for name, in_stratum in strata.items())
    drawn = [chosen[item.item_id] for item in items if item.item_id in chosen]
    random.Random(f"{options.seed} order").shuffle(drawn)
    notes = [unread] if unread else _sample_notes(described, judge, metric)
    return LabelSample(tuple(drawn), len(items), described, tuple(notes))


def _available_items(recording: Recording, options: SampleOptions) -> list[Item]:
    languages = list(dict.fromkeys(item.language for item in recording.data.items))
    language = options.language or (languages[0] if len(languages) == 1 else None)
    if language is None:
        raise UsageError(f"texts of one language are drawn together; name it with --lang.{choose_from(languages)}")
    if language not in languages:
        raise UsageError(f"there is no item in '{language}'.{choose_from(languages, language)}")
    native = recording.data.labels.native_items(None if options.metric is None else [options.metric])
    of_language = [item for item in recording.data.items if item.language == language and item.split == "test"]
    texts = [item for item in of_language if (item.item_id in native) == options.labelled]
    if not texts and options.labelled:
        raise UsageError(f"no text in '{language}' has a native label; there is nothing to draw from")
    if not texts:
        raise UsageError(f"every text in '{language}' has a native label already; there is nothing to draw from")
    return texts


def _choose_judge_and_metric(recording: Recording, options: SampleOptions) -> tuple[str, str]:
    chosen = []
    for what, wanted, names in (
        ("judge", options.judge, recording.judgments.judge.used),
        ("metric", options.metric, recording.judgments.metric.used),
    ):
        if wanted is not None and wanted not in names:
            raise UsageError(f"no judgment is by the {what} '{wanted}'.{choose_from(sorted(names), wanted)}")
        if wanted is None and len(names) > 1:
            raise UsageError(f"strata come from the scores of one {what}; name it with --{what}.{choose_from(sorted(names))}")
        chosen.append(wanted or (names[0] if names else ""))
    return chosen[0], chosen[1]


def _scores_and_confidences(answers: Judgments) -> tuple[dict[str, list[object]], dict[str, list[float]]]:
    """Return `{item_id: scores}` and `{item_id: probabilities of the scores}`."""
    scores: dict[str, list[object]] = {}
    confidences: dict[str, list[float]] = {}
    for item, score, confidence in zip(answers.item, answers.score, answers.confidence, strict=True):
        if score is not None:
            scores.setdefault(item, []).append(score)
            if confidence is not None:
                confidences.setdefault(item, []).append(float(confidence))
    return scores, confidences


def _assign_strata(
    items: Sequence[Item], scores: Mapping[str, list[object]], confidences: Mapping[str, list[float]], scale: Scale | None
) -> list[_Text]:
    """Return the texts with their strata: the class nearest to the mean score, and whether the mean confidence is above the median."""
    confidence = {item.item_id: _mean(confidences.get(item.item_id, ())) for item in items}
    confidences_known = [value for value in confidence.values() if not math.isnan(value)]
    median = float(np.median(confidences_known)) if confidences_known and np.ptp(confidences_known) > 0 else math.nan
    texts = []
    for item in items:
        score = stratum = _score_stratum(scores.get(item.item_id, ()), scale) if scores else "all"
        if not math.isnan(median) and not math.isnan(confidence[item.item_id]):
            stratum += ", sure" if confidence[item.item_id] >= median else ", unsure"
        texts.append(_Text(item, score, stratum, confidence[item.item_id]))
    return texts


def _spread_over_groups(texts: Sequence[_Text], count: int, seed: str) -> list[Item]:
    """Draw `count` texts, each with the probability count / texts: every k-th of a random order that keeps groups together.

    Systematic sampling takes texts of as many groups as there are, so that few labels are spent on versions of one text.
    """
    chance = random.Random(seed)
    group_order = {group: chance.random() for group in dict.fromkeys(text.item.group for text in texts)}
    ordered = sorted(texts, key=lambda text: (group_order[text.item.group], chance.random()))
    step, start = len(texts) / max(count, 1), chance.random()
    return [ordered[min(len(texts) - 1, int((start + number) * step))].item for number in range(count)]


def _score_stratum(scores: Sequence[object], scale: Scale | None) -> str:
    if not scores or scale is None:
        return NO_SCORE
    if scale.kind == "interval":
        assert scale.min is not None and scale.max is not None
        fifth = min(4, int(5 * (float(np.mean([float(str(score)) for score in scores])) - scale.min) / (scale.max - scale.min)))
        return f"fifth {fifth + 1}"
    positions = [scale.classes.index(score) for score in scores if score in scale.classes]
    return f"score {scale.classes[round(_mean(positions))]}" if positions else NO_SCORE


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def _allocate(strata: Mapping[str, Sequence[_Text]], available: int, budget: int, options: SampleOptions) -> dict[str, int]:
    if not 0 < budget <= available:
        raise UsageError(f"--budget {budget}: {available} texts without a native label are there; name a number from 1 to that")
    sizes = [len(in_stratum) for in_stratum in strata.values()]
    least = _least_per_stratum(strata, options)
    if budget < sum(least):
        flags = f"--least {options.least}" + (f", --least-per-class {options.least_per_class}" if options.least_per_class else "")
        raise UsageError(f"--budget {budget}: {len(sizes)} strata need {sum(least)} texts ({flags}); draw more, or lower these")
    if options.allocation == "proportional":
        return dict(zip(strata, map(int, whole_labels(proportional_allocation(sizes, budget, floor=least))), strict=True))
    sds = [_expected_sd(in_stratum) for in_stratum in strata.values()]
    if any(sd is None for sd in sds):
        raise UsageError("--allocation neyman needs the judge's token probabilities, and some texts have none; leave it out")
    drawn = whole_labels(neyman_allocation(sizes, np.array(sds, float), budget, floor=least))
    return dict(zip(strata, map(int, drawn), strict=True))


def _least_per_stratum(strata: Mapping[str, Sequence[_Text]], options: SampleOptions) -> list[int]:
    """Return fewest texts of each stratum, such that every class of scores has its own number too: shared by its strata in proportion."""
    least = {name: min(options.least, len(in_stratum)) for name, in_stratum in strata.items()}
    if not options.least_per_class:
        return list(least.values())
    classes: dict[str, list[str]] = {}
    for name, in_stratum in strata.items():
        classes.setdefault(in_stratum[0].score, []).append(name)
    for names in classes.values():
        sizes, floor = [len(strata[name]) for name in names], [least[name] for name in names]
        wanted = min(sum(sizes), max(options.least_per_class, sum(floor)))
        shared = whole_labels(proportional_allocation(sizes, wanted, floor=floor))
        least |= dict(zip(names, map(int, shared), strict=True))
    return list(least.values())


def _expected_sd(texts: Sequence[_Text]) -> float | None:
    """Return sqrt(p (1 - p)) of the mean confidence p: how much right and wrong answers are expected to vary. None without confidences."""
    p = _mean([text.confidence for text in texts])
    return None if math.isnan(p) else math.sqrt(p * (1 - p))


def _sample_notes(strata: Sequence[SampleStratum], judge: str, metric: str) -> list[str]:
    if not judge:
        return ["there are no judgments, so every text had the same probability; with a judge's scores, strata make estimates more precise"]
    notes = [f"strata: scores of {judge} on {metric}"]
    sds = [stratum.sd for stratum in strata]
    if all(sd is not None and sd > 0 for sd in sds):
        sizes, drawn = [s.texts for s in strata], [s.drawn for s in strata]
        overall = math.sqrt(sum(n * float(sd or 0) ** 2 for n, sd in zip(sizes, sds, strict=True)) / sum(sizes))
        proportional = stratified_variance(sizes, [overall] * len(sizes), proportional_allocation(sizes, sum(drawn)))
        as_drawn = stratified_variance(sizes, np.array(sds, float), drawn)
        if as_drawn > 0:
            notes.append(
                f"expected variance of a mean, at the judge's own confidence: {as_drawn / proportional:.2f} of a proportional sample's"
            )
    return notes
