"""judgments × labels → cells: the numbers that every report, comparison and board shares.

A cell is one language, task, metric, judge, variant and temperature. Fractions are fractions; what is undefined is null and says why.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import msgspec
import numpy as np

from harness.content import Dataset
from harness.content.tags import english_name
from harness.judges.baseline import Learnt, majority
from harness.model import Item, JudgeIdentity, Judgment, Label, Scale, Score
from harness.protocol import RunProtocol
from harness.signature import Signature
from harness.stats.intervals import Interval, mean_interval, proportion_interval

SCHEMA_VERSION = 1
ALL_TASKS = "*"  # the `task` of cells that pool all tasks
RARE = 15  # a class expected fewer times than this makes its cell's interval too narrow
MAJORITY_RULE = "drop"
CI_METHOD = "95%: Wilson where every text is independent, else cluster bootstrap over groups; none below 8 groups"


class Row(msgspec.Struct, frozen=True):
    """One judgment beside its reference and the baseline's score."""

    judgment: Judgment
    group: str
    reference: Score
    baseline: Score | None

    @property
    def hit(self) -> bool:
        return self.judgment.score == self.reference


class Cell(msgspec.Struct, frozen=True):
    """The numbers of one cell; `task` is `*` where tasks are pooled. `undefined` gives the reason for every null."""

    language: str
    task: str
    metric: str
    judge: str
    variant: str
    temperature: float
    n_ref: int
    n: int
    coverage: float | None
    failures: dict[str, int]
    groups: int
    pa: float | None
    pa_ci: tuple[float, float] | None
    pa_failed_wrong: float
    pa_failed_wrong_ci: tuple[float, float] | None
    design_effect: float | None
    few_rare_cases: bool
    distribution_labels: dict[str, int]
    distribution_judge: dict[str, int]
    vs_baseline: dict[str, Any]
    undefined: dict[str, str]


class Verdict(msgspec.Struct, frozen=True):
    """One judge in one language, in words: on which metrics it is shown to beat the majority baseline."""

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

    @property
    def moved_aliases(self) -> dict[str, list[str]]:
        """`{judge: other names that answered}`: a name that is answered by another one may be answered by a third tomorrow."""
        named = {judge: [name for name in names if name and judge != f"openai/{name}"] for judge, names in self.answered_by.items()}
        return {judge: names for judge, names in named.items() if judge.startswith("openai/") and names}


def references(labels: Iterable[Label]) -> dict[tuple[str, str], Score]:
    """`{(item, metric): the annotators' aggregate}` under the rule `drop`: the unique mode; two who differ, or 2-2, have none."""
    scores: dict[tuple[str, str], Counter[Score]] = {}
    for label in labels:
        scores.setdefault((label.item_id, label.metric), Counter())[label.score] += 1
    found = {}
    for key, counts in scores.items():
        [(score, most), *others] = counts.most_common(2)
        if not others or others[0][1] < most:
            found[key] = score
    return found


def join(judgments: Iterable[Judgment], data: Dataset, training: Dataset) -> list[Row]:
    """Judgments of items that have a reference, each with it and with what the majority baseline says."""
    reference = references(data.labels)
    learnt = Learnt(training)
    guesses: dict[tuple[str, str], Score | None] = {}

    def guess(item: Item, metric: str) -> Score | None:
        key = (item.item_id, metric)
        if key not in guesses:
            guesses[key] = majority(item, metric, data.scales[metric], learnt, "")
        return guesses[key]

    rows = []
    for judgment in judgments:
        item = data.by_id[judgment.item_id]
        score = reference.get((judgment.item_id, judgment.metric))
        if score is not None:
            rows.append(Row(judgment, item.group, score, guess(item, judgment.metric)))
    return rows


def make_cells(rows: Sequence[Row], scales: Mapping[str, Scale], *, pool_tasks: bool = False) -> tuple[Cell, ...]:
    """Cells of `rows`, sorted by language, task, metric, judge, variant and temperature."""
    return tuple(_cell(key, members, scales[key[2]]) for key, members in sorted(_grouped(rows, lambda row: _key(row, pool_tasks)).items()))


def _key(row: Row, pool_tasks: bool) -> tuple[str, str, str, str, str, float]:
    j = row.judgment
    return (j.language, ALL_TASKS if pool_tasks else j.task, j.metric, j.judge, j.variant, j.temperature)


def _grouped(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def _cell(key: tuple[str, str, str, str, str, float], rows: Sequence[Row], scale: Scale) -> Cell:
    language, task, metric, judge, variant, temperature = key
    scored = [row for row in rows if row.judgment.score is not None]
    pa, pa_ci = _share(scored)
    wrong, wrong_ci = _share(rows)
    labels = _distribution([row.reference for row in rows], scale)
    return Cell(
        language=language,
        task=task,
        metric=metric,
        judge=judge,
        variant=variant,
        temperature=temperature,
        n_ref=len(rows),
        n=len(scored),
        coverage=len(scored) / len(rows),
        failures=dict(sorted(Counter(row.judgment.failure.value for row in rows if row.judgment.failure).items())),
        groups=len({row.group for row in rows}),
        pa=pa,
        pa_ci=_bounds(pa_ci),
        pa_failed_wrong=wrong or 0.0,
        pa_failed_wrong_ci=_bounds(wrong_ci),
        design_effect=wrong_ci.design_effect,
        few_rare_cases=scale.kind != "interval" and min(labels.values(), default=0) < RARE,
        distribution_labels=labels,
        distribution_judge=_distribution([row.judgment.score for row in scored if row.judgment.score is not None], scale),
        vs_baseline=_versus(rows),
        undefined=_undefined(pa, pa_ci, wrong_ci),
    )


def _undefined(pa: float | None, pa_ci: Interval, wrong_ci: Interval) -> dict[str, str]:
    reasons = {"pa": "no answer could be read" if pa is None else None, "pa_ci": pa_ci.reason, "pa_failed_wrong_ci": wrong_ci.reason}
    return {name: reason for name, reason in reasons.items() if reason}


def _share(rows: Sequence[Row]) -> tuple[float | None, Interval]:
    """Share of rows on which judge and reference agree, with its interval. A failure is no agreement."""
    hits = np.array([row.hit for row in rows], dtype=float)
    interval = proportion_interval(hits, np.array([row.group for row in rows]))
    return (float(hits.mean()) if len(rows) else None), interval


def _versus(rows: Sequence[Row]) -> dict[str, Any]:
    """The judge against the majority baseline on the same items: difference of `pa_failed_wrong`, with its interval."""
    differences = np.array([float(row.hit) - float(row.baseline == row.reference) for row in rows])
    interval = mean_interval(differences, np.array([row.group for row in rows]), bounds=(-1.0, 1.0))
    return {
        "baseline": "majority",
        "pa": float(np.mean([row.baseline == row.reference for row in rows])),
        "diff": float(differences.mean()),
        "ci": _bounds(interval),
        "reason": interval.reason,
    }


def _bounds(interval: Interval) -> tuple[float, float] | None:
    return None if math.isnan(interval.lo) else (interval.lo, interval.hi)


def _distribution(scores: Sequence[Score], scale: Scale) -> dict[str, int]:
    counts = Counter(scores)
    if scale.kind == "interval":
        shown: Counter[str] = Counter()
        for score in sorted(counts, key=float):
            shown[f"{score:g}"] += counts[score]  # scores that differ only past the sixth digit are shown as one
        return dict(shown)
    return {str(c): counts[c] for c in scale.classes}


def verdicts(by_metric: Sequence[Cell], rows: Sequence[Row], constructed: bool) -> tuple[Verdict, ...]:
    """One verdict a language, judge and condition, from the cells that pool tasks."""
    found = []
    for key, members in sorted(_grouped(rows, lambda row: (_key(row, True)[0], *_key(row, True)[3:])).items()):
        language, judge, variant, temperature = key
        cells = [c for c in by_metric if (c.language, c.judge, c.variant, c.temperature) == key]
        beats = tuple(c.metric for c in cells if c.vs_baseline["ci"] and c.vs_baseline["ci"][0] > 0)
        below = tuple(c.metric for c in cells if c.vs_baseline["ci"] and c.vs_baseline["ci"][1] < 0)
        undecided = tuple(c.metric for c in cells if c.metric not in beats + below)
        right = sum(row.hit for row in members) / len(members)
        base = sum(row.baseline == row.reference for row in members) / len(members)
        found.append(
            Verdict(
                language=language,
                judge=judge,
                variant=variant,
                temperature=temperature,
                n_ref=len(members),
                n=sum(row.judgment.score is not None for row in members),
                pa_failed_wrong=right,
                baseline=base,
                beats=beats,
                below=below,
                open=undecided,
                usable=bool(beats),
                sentence=_sentence(language, judge, beats, cells, constructed),
            )
        )
    return tuple(found)


def _sentence(language: str, judge: str, beats: Sequence[str], cells: Sequence[Cell], constructed: bool) -> str:
    name = english_name(language)
    if judge.startswith("baseline/"):
        return f"{judge} is a baseline: it reads no {name} and is here to be beaten."
    if all(cell.vs_baseline["ci"] is None for cell in cells):
        return f"Too few independent texts to tell whether {judge} judges {name}."
    if not beats:
        return f"{judge} is not usable for {name}: on none of {len(cells)} metrics is it shown to beat a baseline that reads nothing."
    scope = "all" if len(beats) == len(cells) else f"only {len(beats)}"
    caution = " That is necessary, not sufficient: the labels are constructed, not native." if constructed else ""
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
        majority=MAJORITY_RULE,
        ci="wilson/cluster-bootstrap",
        harness=version("judge-harness"),
    )


def _short(setting: object) -> str:
    """A judge's setting in a footnote: hashes by their first twelve digits, anything else whole."""
    text = str(setting)
    return text[:12] if re.fullmatch(r"[0-9a-f]{16,}", text) else text


def report(
    name: str,
    protocol: RunProtocol,
    judgments: Sequence[Judgment],
    data: Dataset,
    training: Dataset,
    unreviewed: Sequence[str],
    missing: Mapping[str, int],
    answered_by: Mapping[str, dict[str, int]] | None = None,
) -> Report:
    """The whole report of a run. `missing` and `answered_by` say by judge how many calls have no answer, and who gave the others."""
    rows = join(judgments, data, training)
    by_metric = make_cells(rows, data.scales, pool_tasks=True)
    return Report(
        schema_version=SCHEMA_VERSION,
        run=name,
        title=protocol.title,
        constructed_labels=protocol.constructed,
        unreviewed=tuple(unreviewed),
        signatures={identity.name: str(signature(protocol, identity)) for identity in protocol.identities},
        ci_method=CI_METHOD,
        verdicts=verdicts(by_metric, rows, protocol.constructed),
        by_metric=by_metric,
        cells=make_cells(rows, data.scales),
        missing=dict(missing),
        answered_by=dict(answered_by or {}),
    )
