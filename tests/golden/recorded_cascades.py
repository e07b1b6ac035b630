"""How often the promise of a cascade is broken on recorded answers, where texts are drawn from all labelled ones.

`python -m tests.golden.recorded_cascades DIR` prints the rates, DIR with the folders `alttest` and `chiang_lee_closer_look`. Six judges
of alttest vote, in an order of prices that is set here. No folder has confidences of three judges beside people's labels, so three
prompts of one judge stand in: its confidence is the share of 20 sampled ratings, and people's label is their mean, rounded.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.stats.core.arrays import Floats, Ints
from harness.stats.estimation.acceptance import CascadePromise, Units, answered_by, split_cascade, votes_so_far

BY_PRICE = ("mistral-v03", "llama-31", "gemini_flash", "gpt-4o-mini", "gemini_pro", "gpt-4o")
PROMPTS = ("score-only", "rate-explain", "analyze-rate")
DELTA = 0.1
DRAWS = 100


class Recorded(NamedTuple):
    """(judges, texts) confidences and agreement with people, and the groups of texts."""

    sure: Floats
    right: Floats
    group: Ints


class Rates(NamedTuple):
    """Shares of draws: the promise is broken, anything is certified; and the mean share of texts that judges answer."""

    broken: float
    certified: float
    answered: float


def rates(recorded: Recorded, alpha: float, draws: int = DRAWS) -> Rates:
    """Certify on as many groups as there are, drawn with replacement; the true risk is that of all recorded texts."""
    rng = np.random.default_rng(1)
    members = [np.flatnonzero(recorded.group == code) for code in np.unique(recorded.group)]
    found = np.zeros(3)
    for _ in range(draws):
        drawn = [members[at] for at in rng.integers(len(members), size=len(members))]
        rows, group = np.concatenate(drawn), np.repeat(np.arange(len(drawn)), [len(each) for each in drawn])
        units: Units = "texts" if len(rows) == len(drawn) else "design_effect"
        given = list(recorded.sure[:, rows]), list(recorded.right[:, rows])
        chosen = split_cascade(*given, group, promise=CascadePromise(alpha, DELTA, units)).chosen
        if chosen is None:
            continue
        who = answered_by(recorded.sure, chosen.thresholds)
        taken = who >= 0
        wrong = recorded.right[who[taken], np.flatnonzero(taken)] < 1
        found += wrong.mean() > alpha if taken.any() else 0, 1, taken.mean()
    return Rates(*(found / draws))


def six_judges(folder: Path) -> Iterator[tuple[str, Recorded]]:
    """Each metric of alttest with 100 texts or more that have a commonest label."""
    votes: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in _rows(folder / "labels.jsonl.gz"):
        votes[row["metric"], row["item_id"]].append(row["score"])
    answers = {(row["metric"], row["item_id"], row["judge"]): row["score"] for row in _rows(folder / "judgments.jsonl.gz")}
    for metric in sorted({metric for metric, _ in votes}):
        labels = {item: _commonest(given) for (name, item), given in votes.items() if name == metric}
        known = {item: label for item, label in labels.items() if label is not None}
        codes: dict[Any, int] = {}
        answer = np.array([[codes.setdefault(answers[metric, item, judge], len(codes)) for item in known] for judge in BY_PRICE])
        label = np.array([codes.setdefault(each, len(codes)) for each in known.values()])
        if len(known) >= 100:
            sure = np.vstack([votes_so_far(answer[: place + 1]) for place in range(len(BY_PRICE))])
            yield metric, Recorded(sure, (answer == label).astype(float), np.arange(len(known)))


def three_prompts(folder: Path) -> Iterator[tuple[str, Recorded]]:
    """The metrics from 1 to 3 of Chiang and Lee."""
    group_of = {row["item_id"]: row["doc_group"] for row in _rows(folder / "items.jsonl")}
    people = {(row["metric"], row["item_id"]): round(row["score"]) for row in _rows(folder / "labels.jsonl")}
    sampled = {
        (row["variant"], row["metric"], row["item_id"]): Counter(each for each in row["scores"] if each is not None).most_common(1)
        for row in _rows(folder / "judgments.jsonl.gz")
    }
    for metric in ("coherence", "engagingness", "naturalness"):
        items = [item for item in group_of if all(sampled.get((prompt, metric, item)) for prompt in PROMPTS)]
        top = [[sampled[prompt, metric, item][0] for item in items] for prompt in PROMPTS]
        sure = np.array([[count / 20 for _, count in row] for row in top])
        right = np.array([[float(score == people[metric, item]) for item, (score, _) in zip(items, row, strict=True)] for row in top])
        yield metric, Recorded(sure, right, np.unique([group_of[item] for item in items], return_inverse=True)[1])


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _commonest(given: list[Any]) -> Any:
    first, *more = Counter(given).most_common(2)
    return None if more and more[0][1] == first[1] else first[0]


def table(data: Path) -> Iterator[str]:
    """Lines, each as soon as it is known; a risk at which nothing is certified has none."""
    yield "| recorded answers | texts | risk | promise broken | certified | texts answered |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    worlds = [("six judges", *each) for each in six_judges(data / "alttest")]
    worlds += [("three prompts", *each) for each in three_prompts(data / "chiang_lee_closer_look")]
    for who, metric, recorded in worlds:
        for alpha in (0.1, 0.3):
            found = rates(recorded, alpha)
            if found.certified:
                shares = " | ".join(f"{100 * share:.{digits}f} %" for share, digits in zip(found, (1, 0, 0), strict=True))
                yield f"| {who}, {metric} | {recorded.sure.shape[1]:,} | {100 * alpha:.0f} % | {shares} |"


if __name__ == "__main__":
    for line in table(Path(sys.argv[1])):
        print(line, flush=True)
