"""A run's report: cells by metric and by task, and one verdict a language in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import msgspec

from harness.analyse.cells import Cell
from harness.analyse.compare import CI_METHOD, Recording, compare
from harness.analyse.options import Options
from harness.content import Dataset
from harness.content.recorded import Judgments
from harness.content.tags import english_name
from harness.judges.baseline import Learnt, majority
from harness.model import JudgeIdentity, Judgment, Score
from harness.protocol import RunProtocol
from harness.signature import Signature

SCHEMA_VERSION = 2
BY_TASK = Options()
BY_METRIC = Options(by=("language", "metric", "judge", "variant", "temperature"))
OVERALL = ("language", "judge", "variant", "temperature")


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

    def as_json(self) -> dict[str, Any]:
        """One object for programs, its cells flat."""
        flat = {name: [cell.flat() for cell in getattr(self, name)] for name in ("by_metric", "cells")}
        return msgspec.structs.asdict(self) | flat

    @property
    def moved_aliases(self) -> dict[str, list[str]]:
        """`{judge: other names that answered}`: a name that is answered by another one may be answered by a third tomorrow."""
        named = {judge: [name for name in names if name and judge != f"openai/{name}"] for judge, names in self.answered_by.items()}
        return {judge: names for judge, names in named.items() if judge.startswith("openai/") and names}


def recording(judgments: Sequence[Judgment], data: Dataset, training: Dataset, name: str = "run") -> Recording:
    """A run's judgments beside the labels of what was asked, and what the majority baseline has learnt from `training`."""
    learnt = Learnt(training)
    guesses: dict[tuple[str, str], Score | None] = {}
    for item_id, metric in dict.fromkeys((j.item_id, j.metric) for j in judgments):
        if learnt.development(data.by_id[item_id], metric):
            guesses[item_id, metric] = majority(data.by_id[item_id], metric, data.scales[metric], learnt, "")
    return Recording(name, data, Judgments.of(judgments), complete=False, baseline=guesses)


def verdicts(by_metric: Sequence[Cell], constructed: bool) -> tuple[Verdict, ...]:
    """One verdict a language, judge and condition, from the cells that pool tasks."""
    found = []
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in by_metric:
        groups.setdefault(tuple(cell.key[name] for name in OVERALL), []).append(cell)
    for (language, judge, variant, temperature), cells in groups.items():
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
                usable=bool(beats),
                sentence=_sentence(language, judge, beats, cells, constructed),
            )
        )
    return tuple(found)


def _metric(cell: Cell) -> str:
    return str(cell.key["metric"])


def _pooled(cells: Sequence[Cell], n_ref: int, share: Callable[[Cell], float | None]) -> float:
    """A share over all of the cells' references."""
    return sum((share(cell) or 0.0) * cell.n_ref for cell in cells) / n_ref if n_ref else 0.0


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
        majority=BY_TASK.majority,
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
    source = recording(judgments, data, training, name)
    by_metric = compare([source], BY_METRIC).cells if judgments else ()
    return Report(
        schema_version=SCHEMA_VERSION,
        run=name,
        title=protocol.title,
        constructed_labels=protocol.constructed,
        unreviewed=tuple(unreviewed),
        signatures={identity.name: str(signature(protocol, identity)) for identity in protocol.identities},
        ci_method=CI_METHOD,
        verdicts=verdicts(by_metric, protocol.constructed),
        by_metric=by_metric,
        cells=compare([source], BY_TASK).cells if judgments else (),
        missing=dict(missing),
        answered_by=dict(answered_by or {}),
    )
