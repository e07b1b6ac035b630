"""Derives the control items of every pack and their labels from its base texts: `python languages/derive.py`.

A writer fills `languages/<tag>/texts/<task>.toml` with base texts and with versions of each that have one defect. This script adds the
mechanical versions (shuffled words, the text of another group, repeated sentences) and the labels: each construction determines some
metrics, and only these are labelled. It writes `items/<task>.jsonl` and `labels/<task>.jsonl`; never edit them by hand.
"""

from __future__ import annotations

import random
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.tables import to_jsonl, write_atomic
from harness.text import is_word, sentences, words

LANGUAGES = Path(__file__).resolve().parent
INPUTS = {"open_prompt": ("prompt",), "continue_writing": ("left", "right"), "summarize": ("passage", "instruction")}

# Construction -> the scores that it determines. Other metrics get no label. Scores that would only add to the most common class get none
# either: polite and fluent texts are plentiful, and an off-task text is the fluent text of another group, which is labelled there.
LABELS = {
    "fluent": {
        "linguistic_acceptability": 2,
        "output_content_quality": 2,
        "task_quality": 2,
        "problematic_content": 1,
        "hallucination": 1,
    },
    "small-errors": {"linguistic_acceptability": 1, "problematic_content": 1, "hallucination": 1},
    "shuffled": {"linguistic_acceptability": 0, "output_content_quality": 0},
    "wrong-language": {"linguistic_acceptability": 0, "hallucination": 1},
    "off-task": {"task_quality": 0},
    "partly-on-task": {"linguistic_acceptability": 2, "task_quality": 1, "problematic_content": 1},
    "invented-fact": {"linguistic_acceptability": 2, "hallucination": 0},
    "offensive": {"linguistic_acceptability": 2, "problematic_content": 0},
    "repetitive": {"output_content_quality": 1},
}
WRITTEN = {
    "small_errors": "small-errors",
    "wrong_language": "wrong-language",
    "partly_on_task": "partly-on-task",
    "invented_fact": "invented-fact",
    "offensive": "offensive",
}


def shuffled(text: str, language: str, seed: str) -> str:
    """The text with all words in random order; punctuation, spaces and digits keep their places."""
    segments = words(text, language)
    places = [place for place, segment in enumerate(segments) if is_word(segment)]
    moved = [segments[place] for place in places]
    random.Random(seed).shuffle(moved)
    for place, word in zip(places, moved, strict=True):
        segments[place] = word
    return "".join(segments)


def repetitive(text: str, language: str) -> str:
    """The text with the first half of its sentences repeated."""
    parts = sentences(text, language)
    half = len(parts) // 2
    while parts[half - 1].rstrip()[-1] in "「『“„‘(（":  # ICU leaves an opening quotation mark with the sentence before it
        half += 1
    return "".join(parts[:half] * 2 + parts[half:])


def versions(text: dict[str, Any], another: dict[str, Any], language: str) -> Iterator[tuple[str, str, str]]:
    """`(construction, note, output)` for all versions of one base text. The output of `another` base text is the off-task version."""
    base = text["output"]
    yield "fluent", "the base text as written", base
    for key, construction in WRITTEN.items():
        written = text[key]
        yield construction, written.get("note") or f"the same content in another language ({written['language']})", written["output"]
    yield "shuffled", "all words of the base text in random order", shuffled(base, language, text["group"])
    yield "off-task", f"the text written for {another['group']}", another["output"]
    yield "repetitive", "the first half of the base text's sentences is said twice", repetitive(base, language)


def derive(tag: str, task: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Items and labels of one task of one pack, in the order of the base texts."""
    with open(LANGUAGES / tag / "texts" / f"{task}.toml", "rb") as file:
        texts = tomllib.load(file)["text"]
    items, labels = [], []
    for split in ("test", "dev"):
        of_split = [text for text in texts if text["split"] == split]
        for text, another in zip(of_split, of_split[1:] + of_split[:1], strict=True):
            for construction, note, output in versions(text, another, tag):
                item_id = f"{text['group']}-{construction}"
                parallel = {"parallel_id": text["parallel_id"]} if "parallel_id" in text else {}
                inputs = {name: text[name] for name in INPUTS[task]}
                items.append(
                    {"item_id": item_id, "language": tag, "task": task, "split": split, "group": text["group"], **parallel}
                    | {"construction": construction, "note": note, **inputs, "output": output}
                )
                labels += [
                    {"item_id": item_id, "annotator_id": "construction", "metric": metric, "score": score, "source": "constructed"}
                    for metric, score in LABELS[construction].items()
                ]
    return items, labels


def files(tag: str) -> Iterator[tuple[Path, bytes]]:
    """Every derived file of a pack, with its content."""
    for path in sorted((LANGUAGES / tag / "texts").glob("*.toml")):
        items, labels = derive(tag, path.stem)
        yield LANGUAGES / tag / "items" / f"{path.stem}.jsonl", to_jsonl(items)
        yield LANGUAGES / tag / "labels" / f"{path.stem}.jsonl", to_jsonl(labels)


def main() -> None:
    for tag in sys.argv[1:] or sorted(path.parent.name for path in LANGUAGES.glob("*/texts")):
        for path, content in files(tag):
            write_atomic(path, content)
            print(path.relative_to(LANGUAGES.parent))


if __name__ == "__main__":
    main()
