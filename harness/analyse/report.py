"""A run's report: cells by metric and by task, and one verdict a language in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import msgspec

from harness.analyse.ablations import ablations
from harness.analyse.cells import Cell, bounds, number
from harness.analyse.compare import CI_METHOD, Recording, compare
from harness.analyse.covered import Covered, covered
from harness.analyse.options import CompareOptions, of_rule
from harness.analyse.pooled import OVERALL, pooled_differences
from harness.content.tags import english_name
from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.judges import traits_of
from harness.judges.baseline import TrainingCounts, majority
from harness.model import JudgeIdentity, RealisedPerturbation, Score
from harness.runs import RunProtocol
from harness.signature import Signature
from harness.stats import Difference
from harness.text import segmenter_version

SCHEMA_VERSION = 2
BY_METRIC = CompareOptions(by=("language", "metric", "judge", "variant", "temperature"))


class Verdict(msgspec.Struct, frozen=True):
    """One judge in one language, in words: on which metrics it is shown to beat the majority baseline, and whether over all together.

    `diff` is the judge less the baseline over all metrics together, with its interval `ci` and its `p`, None where they are undefined.
    """

    language: str
    judge: str
    variant: str
    temperature: float
    n_ref: int
    n: int
    pa_failed_wrong: float
    baseline: float
    beats: tuple[str, ...]
    below: tuple[str, ...]
    open: tuple[str, ...]
    usable: bool
    sentence: str
    top_p: float | None = None
    diff: float | None = None
    ci: tuple[float, float] | None = None
    p: float | None = None


class Report(msgspec.Struct, frozen=True):
    """Everything that a report shows. Deterministic: no clock, no host, no cost."""

    schema_version: int
    run: str
    title: str
    constructed_labels: bool
    unreviewed: tuple[str, ...]  # languages whose texts no native reader has read
    signatures: dict[str, str]
    ci_method: str
    verdicts: tuple[Verdict, ...]
    by_metric: tuple[Cell, ...]
    cells: tuple[Cell, ...]
    missing: dict[str, int]
    answered_by: dict[str, dict[str, int]] = {}  # judge -> model name as the provider gave it -> calls
    unreviewed_instructions: tuple[str, ...] = ()  # languages whose own instructions were used and no native reader has read
    left_out: dict[str, dict[str, int]] = {}  # judge -> parameter that it does not take -> calls
    few_shot: dict[str, Any] = {}  # what examples were shown, and which classes have none
    ablations: dict[str, Any] = {}  # a section for each that the run contains
    sealed: tuple[Covered, ...] = ()  # of a run on a board whose labels are sealed: all that can be said of it

    def as_json(self) -> dict[str, Any]:
        """One object for programs, its cells flat."""
        flat = {name: [cell.flat() for cell in getattr(self, name)] for name in ("by_metric", "cells")}
        return msgspec.structs.asdict(self) | flat

    @property
    def moved_aliases(self) -> dict[str, list[str]]:
        """`{judge: other names that answered}`: a name that is answered by another one may be answered by a third tomorrow."""
        named = {judge: [name for name in names if name and judge.partition("/")[2] != name] for judge, names in self.answered_by.items()}
        return {judge: names for judge, names in named.items() if traits_of(judge).is_named_by_provider and names}


def recording(judgments: Judgments, data: Dataset, training: Dataset, name: str = "run") -> Recording:
    """A run's judgments beside the labels of what was asked, and what the majority baseline has learnt from `training`."""
    learnt = TrainingCounts(training)
    guesses: dict[tuple[str, str], Score | None] = {}
    for item_id, metric in judgments.asked if learnt.has_development else ():
        if learnt.development(data.by_id[item_id], metric):
            guesses[item_id, metric] = majority(data.by_id[item_id], metric, data.scales[metric], learnt, "")
    return Recording(name, data, judgments, baseline=guesses)


def verdicts(by_metric: Sequence[Cell], constructed: bool, pooled: Mapping[tuple[Any, ...], Difference] = {}) -> tuple[Verdict, ...]:
    """One verdict a language, judge and condition, from the cells that pool tasks and the differences that pool metrics."""
    found = []
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in by_metric:
        groups.setdefault(tuple(cell.key.get(name) for name in OVERALL), []).append(cell)
    for key, cells in groups.items():
        language, judge, variant, temperature, top_p = key
        overall = pooled.get(key)
        ci = bounds(overall.interval) if overall else None
        beats = tuple(_metric(c) for c in cells if c.vs_baseline["ci"] and c.vs_baseline["ci"][0] > 0)
        below = tuple(_metric(c) for c in cells if c.vs_baseline["ci"] and c.vs_baseline["ci"][1] < 0)
        n_ref = sum(cell.n_ref for cell in cells)
        found.append(
            Verdict(
                language=language,
                judge=judge,
                variant=variant,
                temperature=temperature,
                n_ref=n_ref,
                n=sum(cell.n for cell in cells),
                pa_failed_wrong=_pooled(cells, n_ref, lambda cell: cell["pa_failed_wrong"]),
                baseline=_pooled(cells, n_ref, lambda cell: cell.vs_baseline["pa"]),
                beats=beats,
                below=below,
                open=tuple(_metric(c) for c in cells if _metric(c) not in beats + below),
                usable=bool(beats) or _above(ci),
                sentence=_sentence(language, judge, beats, cells, constructed, ci),
                top_p=top_p,
                diff=number(overall.diff) if overall else None,
                ci=ci,
                p=number(overall.p) if overall else None,
            )
        )
    return tuple(found)


def _above(ci: tuple[float, float] | None) -> bool:
    return ci is not None and ci[0] > 0


def _metric(cell: Cell) -> str:
    return str(cell.key["metric"])


def _pooled(cells: Sequence[Cell], n_ref: int, share: Callable[[Cell], float | None]) -> float:
    """A share over all of the cells' references."""
    return sum((share(cell) or 0.0) * cell.n_ref for cell in cells) / n_ref if n_ref else 0.0


def _sentence(
    language: str, judge: str, beats: Sequence[str], cells: Sequence[Cell], constructed: bool, pooled: tuple[float, float] | None
) -> str:
    name = english_name(language)
    if traits_of(judge).is_baseline:
        return f"{judge} is a baseline: it reads no {name} and is here to be beaten."
    if pooled is None and all(cell.vs_baseline["ci"] is None for cell in cells):
        return f"Too few independent texts to tell whether {judge} judges {name}."
    caution = " That is necessary, not sufficient: the labels are constructed, not native." if constructed else ""
    if not beats and _above(pooled):
        return f"{judge} is shown to beat the majority baseline in {name} over all metrics together, on none of them alone.{caution}"
    if not beats:
        return f"{judge} is not usable for {name}: on none of {len(cells)} metrics is it shown to beat a baseline that reads nothing."
    scope = "all" if len(beats) == len(cells) else f"only {len(beats)}"
    return f"{judge} is shown to beat the majority baseline in {name} on {scope} of {len(cells)} metrics: {', '.join(beats)}.{caution}"


def signature(protocol: RunProtocol, identity: JudgeIdentity) -> Signature:
    """The signature of one judge's numbers in a run."""
    settings = ",".join(f"{name}={_short(value)}" for name, value in sorted(identity.settings.items()))
    return Signature(
        judge=identity.name + (f"@{settings}" if settings else ""),
        data=f"{protocol.source}+{protocol.data_sha256[:12]}" + (f"+first{protocol.limit}" if protocol.limit else ""),
        tasks=tuple(f"{name}@{number}" for name, number in protocol.tasks.items()),
        rubrics=tuple(f"{name}@{number}" for name, number in protocol.rubrics.items()),
        langs=protocol.languages,
        conditions=tuple(map(str, protocol.conditions)),
        repeats=protocol.repeats,
        seed=protocol.seed,
        prompts=protocol.prompts,
        instructions=tuple(f"{tag}@{number}" for tag, number in protocol.instructions.items()),
        examples=protocol.examples or "none",
        segmenter=segmenter_version() if any(condition.perturbation for condition in protocol.conditions) else "none",
        majority=protocol.majority,
        annotators=protocol.annotators,
        ci="wilson/hall/cluster-bootstrap",
        harness=version("judge-harness"),
        reask="refused" if protocol.reask else "none",
    )


def _short(setting: object) -> str:
    """A judge's setting in a footnote: hashes by their first twelve digits, anything else whole."""
    text = str(setting)
    return text[:12] if re.fullmatch(r"[0-9a-f]{16,}", text) else text


def report(
    name: str,
    protocol: RunProtocol,
    judgments: Judgments,
    data: Dataset,
    training: Dataset,
    *,
    unreviewed: Sequence[str] = (),
    unreviewed_instructions: Sequence[str] = (),
    missing: Mapping[str, int] | None = None,
    answered_by: Mapping[str, dict[str, int]] | None = None,
    left_out: Mapping[str, dict[str, int]] | None = None,
    realised: Sequence[RealisedPerturbation] = (),
    absent: Mapping[tuple[str, str, str], Sequence[Score]] | None = None,
) -> Report:
    """The whole report of a run.

    `missing`, `answered_by` and `left_out` say by judge how many calls have no answer, who gave the others, and which parameters it
    does not take; `realised` what perturbations achieved; `absent` which classes have no example.
    """
    source = recording(judgments, data, training, name)
    comparable = len(judgments) and not data.sealed
    rule = of_rule(protocol.majority, protocol.annotators)
    by_metric = compare([source], msgspec.structs.replace(rule, by=BY_METRIC.by)).cells if comparable else ()
    pooled = pooled_differences(source, rule) if comparable else {}
    return Report(
        schema_version=SCHEMA_VERSION,
        run=name,
        title=protocol.title,
        constructed_labels=protocol.constructed,
        unreviewed=tuple(unreviewed),
        signatures={identity.name: str(signature(protocol, identity)) for identity in protocol.identities},
        ci_method=CI_METHOD,
        verdicts=verdicts(by_metric, protocol.constructed, pooled),
        by_metric=by_metric,
        cells=compare([source], rule).cells if comparable else (),
        missing=dict(missing or {}),
        answered_by=dict(answered_by or {}),
        unreviewed_instructions=tuple(unreviewed_instructions),
        left_out={judge: dict(calls) for judge, calls in (left_out or {}).items() if calls},
        few_shot=_few_shot(protocol, training, absent or {}),
        ablations=ablations(data, source.judgments, rule, realised, metrics=protocol.metrics) if comparable else {},
        sealed=covered(judgments, data) if data.sealed else (),
    )


def _few_shot(protocol: RunProtocol, training: Dataset, absent: Mapping[tuple[str, str, str], Sequence[Score]]) -> dict[str, Any]:
    """Of a run with examples: whether their scores were constructed with the texts, and which classes have none."""
    if not any(condition.variant.shots for condition in protocol.conditions):
        return {}
    dev = {item.item_id for item in training.items if item.split == "dev"}
    made = any(label.source == "constructed" for label in training.labels if label.item_id in dev)
    without = [
        {"language": lang, "task": task, "metric": metric, "classes": list(scores)} for (lang, task, metric), scores in absent.items()
    ]
    return {"constructed": made, "classes_without_example": without}
