"""Items that give no labels: practice items with an explained answer, and damaged texts as attention checks."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from harness.data import Dataset
from harness.errors import UsageError
from harness.model import Item, Score
from harness.perturb import apply, parse_perturbation

PRACTICE = 3
_DAMAGE = "shuffle-words:1"


def practice_items(
    data: Dataset, language: str, metrics: Mapping[str, Sequence[str]], most: int = PRACTICE
) -> list[tuple[Item, dict[str, Score]]]:
    """Development items with their expected scores, chosen so that they show as many different scores as possible.

    At most `most` pairs, each of another group; none without development items. `metrics` are those of the page by task: a practice item
    has the scores of those on which one score is the commonest.
    """
    expected = _expected_scores(data)
    known = []
    for item in data.items:
        if item.split == "dev" and item.language == language:
            scores = {metric: expected[item.item_id, metric] for metric in metrics.get(item.task, ()) if (item.item_id, metric) in expected}
            if scores:
                known.append((item, scores))
    chosen: list[tuple[Item, dict[str, Score]]] = []
    shown: set[tuple[str, Score]] = set()
    while known and len(chosen) < most:
        best = max(known, key=lambda pair: len(set(pair[1].items()) - shown))
        chosen.append(best)
        shown |= set(best[1].items())
        known = [pair for pair in known if pair[0].group != best[0].group]
    return chosen


def _expected_scores(data: Dataset) -> dict[tuple[str, str], Score]:
    """`{(item_id, metric): score}` where one score is the commonest."""
    votes: dict[tuple[str, str], Counter[Score]] = {}
    dev = {item.item_id for item in data.items if item.split == "dev"}
    for label in data.labels.for_items(dev) if dev else ():
        votes.setdefault((label.item_id, label.metric), Counter())[label.score] += 1
    ranked = {key: counts.most_common(2) for key, counts in votes.items()}
    return {key: top[0][0] for key, top in ranked.items() if len(top) == 1 or top[0][1] > top[1][1]}


def damaged_items(
    pool: Sequence[Item], outputs: Mapping[str, Sequence[str]], count: int, seed: int, taken: Collection[str] = ()
) -> list[Item]:
    """Items whose words are all in another order, of as many groups as there are; their ids are those of the original items.

    `outputs` are the texts to damage by task; groups in `taken`, whose items the annotator reads too, come last. `seed` is that of the
    choice and of the damage. Raises UsageError if fewer than `count` items of the `pool` can be damaged.
    """
    shuffled = sorted(pool, key=lambda item: item.item_id)
    random.Random(f"{seed} checks").shuffle(shuffled)
    shuffled.sort(key=lambda item: item.group in taken)
    [damage] = parse_perturbation(_DAMAGE)
    damaged: dict[str, Item] = {}
    for item in shuffled:
        if len(damaged) == count:
            break
        changed = apply(damage, item, (), seed, outputs.get(item.task, ("output",))[-1:])
        if changed.applied:
            damaged.setdefault(item.group, changed.item)
    if len(damaged) < count:
        raise UsageError(f"--checks {count}: only {len(damaged)} texts can be damaged, each of another group; ask for fewer checks")
    return list(damaged.values())
