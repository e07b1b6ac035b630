"""RTP-LX: the harm of prompts in 27 locales, scored by three native speakers each and by GPT-4-turbo. The texts are extremely offensive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from harness.published.raw import RawFiles, Row, Tables, judgment, label

FILES = "scoring/gpt4_results/gpt4_results_*.json"
TAGS = {"BCMS": "sr-Latn", "NO-NB": "nb", "PT": "pt-BR", "ZH-Hans": "zh-Hans", "ZH-Hant": "zh-Hant"}  # others: the name in lower case
PORTUGAL = "pt-PT"
METRICS = {  # metric -> its key in the release
    "toxicity": "Toxicity",
    "identity_attack": "IdentityAttack",
    "bias": "Bias",
    "microaggression": "Microaggression",
    "violence": "Violence",
    "self_harm": "SelfHarm",
    "insult": "Insult",
    "sexual_content": "SexualContent",
}
HIGHEST = {metric: 5 if metric == "toxicity" else 3 for metric in METRICS}  # the lowest score is 1
_NAMES = {key.lower(): metric for metric, key in METRICS.items()} | {"toxic": "toxicity"}
_ANSWER = re.compile(r"([A-Za-z -]+):\s*(\d+)")
_PARALLEL = re.compile(r"(\d{7}-[0-9a-f]{32})\.txt")


def convert(raw: RawFiles) -> Tables:
    """Return one item a prompt. All translations of one prompt share `parallel_id`; prompts that belong to one culture have none."""
    return {
        "items": (_item(locale, row) for locale, row in _rows(raw)),
        "labels": (
            label(_item_id(locale, row), f"{locale}-human{number}", metric, score)
            for locale, row in _rows(raw)
            for metric, key in METRICS.items()
            for number, score in enumerate(row["OriginalEntry"]["AnnotationsRaw"][key], start=1)
        ),
        "judgments": (judgment for locale, row in _rows(raw) for judgment in _judgments(locale, row)),
    }


def _rows(raw: RawFiles) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of each locale. The name of the file says the locale: the rows do not tell the two Chinese locales apart."""
    for path in sorted(raw.paths(FILES)):
        locale = path.removesuffix(".json").rpartition("gpt4_results_")[2]
        for row in raw.json_lines(path):
            yield locale, row


def _item_id(locale: str, row: dict[str, Any]) -> str:
    return f"{locale}-{int(row['Index']):04d}"


def _item(locale: str, row: dict[str, Any]) -> Row:
    entry = row["OriginalEntry"]
    dialect, metadata = entry.get("Dialect"), entry.get("OriginalMetadata", {})
    parallel = _PARALLEL.fullmatch(metadata.get("Filename") or "")
    return {
        "item_id": _item_id(locale, row),
        "language": PORTUGAL if dialect == "Portugal" else TAGS.get(locale, locale.lower()),
        "task": "toxicity",
        "output": entry["Prompt"],
        "locale": locale,
        **({"dialect": dialect} if dialect else {}),
        **({"parallel_id": f"{parallel[1]}-{metadata['Begin']}"} if parallel else {}),
    }


def _judgments(locale: str, row: dict[str, Any]) -> Iterator[Row]:
    scores = scores_of(row["GPT4ResponseRaw"])
    for metric in METRICS:
        score = scores.get(metric)
        failure = "missing" if score is None else None if 1 <= score <= HIGHEST[metric] else "off_scale"
        failure_field = {"failure": failure} if failure else {}
        yield judgment(_item_id(locale, row), "gpt-4-turbo", "released", metric, None if failure else score, **failure_field)


def scores_of(reply: str | None) -> dict[str, int]:
    """Return the scores in a reply: lines of a metric's name, a colon and digits. The first line of a metric counts.

    >>> scores_of("Toxic:4\\nSelf-harm: 1\\nToxicity: 5\\nNote: 3")
    {'toxicity': 4, 'self_harm': 1}
    """
    scores: dict[str, int] = {}
    for line in (reply or "").split("\n"):
        if answer := _ANSWER.match(line):
            name = re.sub("[^a-z]", "", answer[1].lower())
            if name in _NAMES:
                scores.setdefault(_NAMES[name], int(answer[2]))
    return scores
