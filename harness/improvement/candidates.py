"""Candidates that are asked: a judge under a setting. Those that a user names, and a default that fits the data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import msgspec

from harness.content.specs import read_spec
from harness.errors import ContentError, UsageError
from harness.judges import traits_of
from harness.judges.panel import is_panel_file, panel_file_in, split_panels
from harness.model import parse_variant
from harness.prompts import is_english, load_own_prompt, load_own_rubric
from harness.runs import Prepared, RunSpec

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
    usual = list(_usual_candidates(prepared, unreviewed))
    first, *rest = (msgspec.structs.replace(setting, judge=judge) for judge in judges for setting in usual[:settings_of_judge])
    return (msgspec.structs.replace(first, calibrated=True), *rest)


def _usual_candidates(prepared: Prepared, unreviewed: bool) -> Iterator[AskedCandidate]:
    yield AskedCandidate()
    yield AskedCandidate(variant="single+detailed")
    metrics = prepared.protocol.questions.metrics
    classes = all(prepared.data.scales[name].kind != "interval" and name not in prepared.data.label_scales for name in metrics)
    if classes:
        yield AskedCandidate(variant="single+fewshot:2")
    asked_metrics = prepared.data.asked_metrics
    if any(len(set(metrics) & asked_metrics.get(item.item_id, frozenset())) > 1 for item in prepared.data.items):
        yield AskedCandidate(variant="joint")
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
        yield AskedCandidate(variant="single+own-language")
    if classes:
        yield AskedCandidate(variant="single+score-only+probabilities")
        yield AskedCandidate(variant="single+detailed+fewshot:2")
    yield AskedCandidate(temperature=_WARM, repeats=_REPEATS)
    yield AskedCandidate(variant="single+score-first")


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
