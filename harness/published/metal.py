"""METAL: summaries in ten languages, rated by three native speakers and by three judges on five metrics.

The converter follows the description in the release. Nobody has run it on the released file yet: whatever differs from the description is
an error that says so.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import ContentError
from harness.published.raw import RawFiles, Row, Tables, judgment, label, whole

FILE = "data/METAL_dataset.json"
LANGUAGES = {
    "english": "en",
    "french": "fr",
    "chinese": "zh",
    "chinese (simplified)": "zh",
    "chinese_simplified": "zh",
    "hindi": "hi",
    "arabic": "ar",
    "bengali": "bn",
    "russian": "ru",
    "turkish": "tr",
    "japanese": "ja",
    "swahili": "sw",
}
SUMMARIES_A_LANGUAGE = 100
# Metric -> its classes. In hallucinations and problematic_content, 0 means that one is present, as in the study that METAL follows:
# `_check_directions` holds this against the labels.
CLASSES = {
    "linguistic_acceptability": (0, 1, 2),
    "output_content_quality": (0, 1, 2),
    "task_quality": (0, 1, 2),
    "hallucinations": (0, 1),
    "problematic_content": (0, 1),
}
ANNOTATORS = ("A1", "A2", "A3")
JUDGES = ("gpt-35-turbo", "gpt-4", "PaLM2")
VARIANTS = {"LLM_Scores_Simple": "single", "LLM_Scores_Detailed": "single+detailed"}
TYPES = ("Good", "Bad")
KEYS = {"XLSum_ID", "Index", "Type", "Language", "Generated_Summary", "Human_Scores", *VARIANTS}


class Instance(NamedTuple):
    """A summary: its key in the file, its language and what the file has of it."""

    key: str
    tag: str
    content: dict[str, Any]


def convert(raw: RawFiles) -> Tables:
    """Return one item a summary, in the order of the file; the articles are not in it. Empty scores give no row.

    Raises ContentError that says what differs from the description.
    """
    released = raw.json(FILE)
    if not isinstance(released, dict):
        raise _differs(f"it is a {type(released).__name__}", "one JSON object, of which each key names a summary")
    instances = [_instance(key, content) for key, content in released.items()]
    counts = Counter(instance.tag for instance in instances)
    if wrong := {tag: counts[tag] for tag in sorted({*LANGUAGES.values()}) if counts[tag] != SUMMARIES_A_LANGUAGE}:
        wrong_counts = ", ".join(f"{tag} {count}" for tag, count in wrong.items())
        raise _differs(f"summaries by language: {wrong_counts}", f"{SUMMARIES_A_LANGUAGE} in each of ten languages")
    labels = [label for instance in instances for label in _labels(instance)]
    # Good summaries must not have lower scores than bad ones: if they had, the highest class would not be the best one.
    kinds = {instance.key: instance.content["Type"] for instance in instances}
    for metric in CLASSES:
        scores = {kind: [row["score"] for row in labels if row["metric"] == metric and kinds[row["item_id"]] == kind] for kind in TYPES}
        good, bad = (sum(scores[kind]) / len(scores[kind]) if scores[kind] else math.nan for kind in TYPES)
        if good < bad:
            raise _differs(f"{metric}: good summaries score {good:.3f} on average, bad ones {bad:.3f}", "the highest score as the best one")
    return {
        "items": (
            {
                "item_id": instance.key,
                "language": instance.tag,
                "task": "summarize",
                "group": str(instance.content["XLSum_ID"]),
                "system": f"gpt-4/{instance.content['Type'].lower()}",
                "output": instance.content["Generated_Summary"],
            }
            for instance in instances
        ),
        "labels": labels,
        "judgments": (judgment for instance in instances for judgment in _judgments(instance)),
    }


def _differs(actual: str, described: str) -> ContentError:
    return ContentError(
        f"{actual}; the release describes {described}. Please report this: nobody has converted this file before", Path(FILE)
    )


def _instance(key: str, content: Any) -> Instance:
    if not isinstance(content, dict) or (absent := KEYS - content.keys()):
        raise _differs(f"summary {key} lacks {', '.join(sorted(absent)) if isinstance(content, dict) else 'its keys'}", "it")
    name = str(content["Language"])
    tag = LANGUAGES.get(name.lower(), name.lower())
    if tag not in LANGUAGES.values():
        raise _differs(f"summary {key} is in '{name}'", "ten languages: " + ", ".join(sorted({*LANGUAGES.values()})))
    if content["Type"] not in TYPES:
        raise _differs(f"summary {key} is of type '{content['Type']}'", "Good and Bad")
    article = f"{content['XLSum_ID']}/{content['Index']}"
    if key not in {hashlib.sha256(f"Summ/{spelling}/{article}".encode()).hexdigest() for spelling in (name, name.lower(), tag)}:
        raise _differs(f"the key {key} is not the SHA-256 of Summ/{tag}/{article}", "such keys")
    _check_metrics(key, "Human_Scores", content["Human_Scores"], ANNOTATORS)
    for part in VARIANTS:
        _check_metrics(key, part, {metric: judged.get("scores", {}) for metric, judged in content[part].items()}, JUDGES)
    return Instance(key, tag, content)


def _check_metrics(key: str, part: str, scores: dict[str, dict[str, Any]], who: tuple[str, ...]) -> None:
    if set(scores) != set(CLASSES):
        raise _differs(f"{part} of summary {key} has the metrics {', '.join(sorted(scores))}", ", ".join(sorted(CLASSES)))
    for metric, metric_scores in scores.items():
        if set(metric_scores) != set(who):
            raise _differs(
                f"{metric} in {part} of summary {key} has scores of {', '.join(sorted(metric_scores)) or 'nobody'}", ", ".join(who)
            )


def _labels(instance: Instance) -> Iterator[Row]:
    for metric, classes in CLASSES.items():
        for who in ANNOTATORS:
            score = _score(instance.content["Human_Scores"][metric][who], instance.key, metric, who)
            if score is not None:
                if score not in classes:
                    raise _differs(f"{who} gave summary {instance.key} {score} in {metric}", f"scores from {classes[0]} to {classes[-1]}")
                yield label(instance.key, who, metric, score)


def _judgments(instance: Instance) -> Iterator[Row]:
    for part, variant in VARIANTS.items():
        for metric in CLASSES:
            judged = instance.content[part][metric]
            for judge in JUDGES:
                score = _score(judged["scores"][judge], instance.key, metric, judge)
                if score is not None:
                    comment = judged.get("comments", {}).get(judge)
                    yield judgment(instance.key, judge, variant, metric, score, **({"justification": comment} if comment else {}))


def _score(value: Any, key: str, metric: str, who: str) -> int | float | None:
    """Return a score as a number; None where it is empty."""
    if value is None or value == "":
        return None
    try:
        return whole(float(value))
    except (TypeError, ValueError):
        raise _differs(f"{who} gave summary {key} '{value}' in {metric}", "numbers") from None
