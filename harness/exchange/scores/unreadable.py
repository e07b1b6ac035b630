"""Judges most of whose values cannot be read: an import says so first, for no verdict may rest on a broken set-up."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness.exchange.labels.table import is_blank
from harness.exchange.labels.target_folder import without_paths
from harness.exchange.scores.external_scores import ExternalScore
from harness.model import Failure, Scale
from harness.parse import Reading

_MOST_WORDS = 4  # shown of values that have no score
_MOST_CHARACTERS = 120  # of a raw value


class UnreadableJudge(msgspec.Struct, frozen=True):
    """A judge of whose values on a metric more than half cannot be read, with one of them and the likely cause.

    `misfit`: the values are there, but not on the scale, so what the user said of them is likely wrong.
    """

    judge: str
    metric: str
    failures: int
    values: int
    example: str
    place: str
    cause: str
    misfit: bool

    def __str__(self) -> str:
        example = f', such as "{self.example}"' if self.example else ""
        return (
            f"{self.failures:,} of {self.values:,} values of {self.judge} on '{self.metric}' cannot be read{example} ({self.place}): "
            f"{self.cause}"
        )


class ReadingCounts:
    """Count how the values of each judge on each metric were read."""

    def __init__(self) -> None:
        self._values: Counter[tuple[str, str]] = Counter()
        self._failed: defaultdict[tuple[str, str], list[tuple[ExternalScore, Reading, Reading]]] = defaultdict(list)

    def add(self, score: ExternalScore, reading: Reading, stored: Reading) -> None:
        """Count the reading of one value; `stored` is what the other program made of it."""
        key = str(score.who), str(score.metric)
        self._values[key] += 1
        if reading.score is None:
            self._failed[key].append((score, reading, stored))

    def unreadable(self, scales: Mapping[str, Scale], paths: Iterable[Path]) -> tuple[UnreadableJudge, ...]:
        """Return the judges and metrics of which more than half of the values cannot be read, as `harness import` says them."""
        unreadable_judges = []
        for (judge, metric), failed in self._failed.items():
            values = self._values[judge, metric]
            if 2 * len(failed) <= values:
                continue
            misfits = [score for score, reading, stored in failed if Failure.OFF_SCALE in (reading.failure, stored.failure)]
            misfit = 2 * len(misfits) > values
            kind, _ = Counter(reading.failure for _, reading, _ in failed).most_common(1)[0]
            example = misfits[0] if misfit else next((score for score, reading, _ in failed if reading.failure is kind), failed[0][0])
            # The reply as the judge wrote it, else the value that the other program kept; where that only stands for a failure, the
            # reason.
            texts = (example.justification, example.value) if example.failure else (example.value, example.justification)
            text = next((str(part) for part in (example.reply, *texts) if not is_blank(part)), "")
            text = " ".join(text.split())
            excerpt = text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"
            unreadable_judges.append(
                UnreadableJudge(
                    judge=judge,
                    metric=metric,
                    failures=len(failed),
                    values=values,
                    example=excerpt,
                    place=without_paths(example.place, paths),
                    cause=_explain_misfit(misfits, scales[metric]) if misfit else _CAUSES[kind or Failure.MISSING],
                    misfit=misfit,
                )
            )
        return tuple(unreadable_judges)


def _explain_misfit(misfits: Iterable[ExternalScore], scale: Scale) -> str:
    values: list[Any] = [score.value if not is_blank(score.value) else score.reply for score in misfits]
    numbers = [number for value in values if (number := _number(value)) is not None]
    if 2 * len(numbers) > len(values):
        return (
            f"its values reach from {min(numbers):g} to {max(numbers):g}, and the scale is {scale.describe()}; give the scale that the "
            "judge used (--scale METRIC=SCALE)"
        )
    words = list(dict.fromkeys(str(value)[:40] for value in values))[:_MOST_WORDS]
    return (
        f"the scale is {scale.describe()}, and nothing says which score a word stands for; map the words "
        f"(--map {','.join(f'{word}=SCORE' for word in words if len(word.split()) == 1) or 'WORD=SCORE'}) or give another --scale"
    )


def _number(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


_CAUSES = {
    Failure.REFUSED: "the judge, or its provider, refused most texts",
    Failure.TRUNCATED: "most replies break off; the judge needs more room for its answers",
    Failure.MISSING: "the other program has no value: most calls of the judge failed, or nothing was asked",
    Failure.NOT_JSON: "most replies name no score, or the other program could not read them; read a few, and see which score they give "
    "(--take-values takes the values that the other program kept)",
    Failure.TIED: "the judge gives several classes the same probability in most texts",
    Failure.BAD_PROBABILITIES: "most answers lack an option's probability, or their probabilities do not sum to 1",
    Failure.SLOW_PATTERN: "the pattern that reads the replies does not end on most of them",
    Failure.OFF_SCALE: "most replies name a score that is not on the scale (--scale METRIC=SCALE)",
}
