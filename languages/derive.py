"""Derives the control items of every pack and their labels from its base texts: `python languages/derive.py`.

A writer fills `languages/<tag>/texts/<task>.toml` with base texts and with versions of each that have one defect. This script adds the
mechanical versions (shuffled words, the text of another group, repeated sentences) and the labels: each construction determines some
metrics, and only these are labelled. It writes `items/<task>.jsonl` and `labels/<task>.jsonl`; never edit them by hand. The hard tier, in
`packs/hard/`, has minimal pairs: flawless texts and their twins with one flaw, as planned in `hard.toml`. `packs/parallel/` has pairs that
are the same in every language, `packs/models/` errors that models make, at two strengths, as planned in `models.toml`.
"""

from __future__ import annotations

import random
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from harness.content.tags import choose_from
from harness.errors import ContentError
from harness.row_files import to_jsonl, write_atomic
from harness.segmentation import is_word, sentences, words

_TIERS = "languages/hard.toml and languages/models.toml"
LANGUAGES = Path(__file__).resolve().parent
TAGS = sorted(path.parent.name for path in LANGUAGES.glob("*/pack.toml"))
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
    while not _ends_sentence(parts[half - 1]):
        half += 1
    return "".join(parts[:half] * 2 + parts[half:])


def _ends_sentence(part: str) -> bool:
    """Whether a text may be cut after a part: ICU leaves empty lines alone, and an opening quotation mark with the sentence before it."""
    return part.strip() != "" and part.rstrip()[-1] not in "「『“„‘(（"


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


def _is_arguable(construction: str, metric: str, inputs: dict[str, str]) -> bool:
    """Whether readers may disagree about a label: a text that drifts off has not missed its end where nothing is given after the gap."""
    return construction == "partly-on-task" and metric == "task_quality" and "right" in inputs and not inputs["right"]


def _label(item_id: str, metric: str, score: int) -> dict[str, Any]:
    return {"item_id": item_id, "annotator_id": "construction", "metric": metric, "score": score, "source": "constructed"}


def derive(tag: str, task: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Items and labels of one task of one pack, in the order of the base texts."""
    path = LANGUAGES / tag / "texts" / f"{task}.toml"
    if task not in INPUTS:
        raise ContentError(f"'{task}' is not a task with control texts; choose from: {', '.join(INPUTS)}", path)
    texts = read_texts(path, ("group", "split", "output", *INPUTS[task], *WRITTEN), {name: ("output",) for name in WRITTEN})
    items, labels = [], []
    for split in ("test", "dev"):
        of_split = [text for text in texts if text["split"] == split]
        for text, another in zip(of_split, of_split[1:] + of_split[:1], strict=True):
            for construction, note, output in versions(text, another, tag):
                item_id = f"{text['group']}-{construction}"
                subject = {"same_subject": text["same_subject"]} if "same_subject" in text else {}
                inputs = {name: text[name] for name in INPUTS[task]}
                items.append(
                    {"item_id": item_id, "language": tag, "task": task, "split": split, "group": text["group"], **subject}
                    | {"construction": construction, "note": note, **inputs, "output": output}
                )
                labels += [
                    _label(item_id, metric, score)
                    for metric, score in LABELS[construction].items()
                    if not _is_arguable(construction, metric, inputs)
                ]
    return items, labels


def read_texts(path: Path, needed: Sequence[str], of_parts: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """The base texts of a file. `needed` are the keys of each, `of_parts` those of its tables, by the table's name.

    Raises ContentError with `file:line` for a file that is not TOML, and for a missing key.
    """
    source = path.read_text("utf-8")
    try:
        texts: list[dict[str, Any]] = tomllib.loads(source).get("text", [])
    except tomllib.TOMLDecodeError as err:
        raise ContentError(f"not TOML: {err}", path) from None
    starts = [number for number, line in enumerate(source.splitlines(), start=1) if line.startswith("[[text]]")]
    if not texts or len(texts) != len(starts):
        raise ContentError("no base texts; each begins with a line [[text]]", path)
    for line, text in zip(starts, texts, strict=True):
        for missing in _missing_keys(text, needed, of_parts):
            raise ContentError(f"the text '{text.get('group', '?')}' has no {missing}", path, line)
    return texts


def _missing_keys(text: Mapping[str, Any], needed: Sequence[str], of_parts: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield from (f"'{key}'" for key in needed if key not in text)
    for name, keys in of_parts.items():
        for part in text[name] if isinstance(text[name], list) else [text[name]]:
            which = f"'{name}' ({part['construction']})" if "construction" in part else f"'{name}'"
            yield from (f"'{key}' in {which}" for key in keys if key not in part)
            if "note" not in part and "language" not in part:
                yield f"'note' in {which}"


# ---- minimal pairs: the hard tier, the texts that every language has, and the errors that models make


@cache
def tier_of(pack: str) -> dict[str, Any]:
    """The genres, the constructions and the plan of a tier: `hard` or `models`."""
    with open(LANGUAGES / f"{pack}.toml", "rb") as file:
        return tomllib.load(file)


@cache
def constructions() -> dict[str, dict[str, Any]]:
    """What every construction determines, by its name. A kind of error that models make is one construction at each strength."""
    models = tier_of("models")
    at_strengths = {f"{name}-{strength}": kind for name, kind in models["kinds"].items() for strength in models["strengths"]}
    found: dict[str, dict[str, Any]] = tier_of("hard")["constructions"] | models["constructions"] | at_strengths
    return found


def planned_kinds(tag: str, genre: str) -> tuple[list[str], bool]:
    """The two kinds of flaws of the text of a genre in a language, and whether it is a long text."""
    tier = tier_of("models")
    place = (tier["genres"].index(genre) + tier["step"] * TAGS.index(tag)) % len(tier["genres"])
    own, others = tier["languages"][tag], tier["others"]["kinds"]
    both = [own[place], others[place % len(others)]] if place < len(own) else own[2 * (place - len(own)) :][:2]
    return both, place in tier["long"]


def planned_constructions(tag: str, genre: str) -> list[str]:
    """The twins of the text of a genre in a language, one a list of the plan."""
    tier = tier_of("hard")
    place, language = tier["genres"].index(genre), TAGS.index(tag)
    return [plan["constructions"][(place + plan["step"] * language) % len(plan["constructions"])] for plan in tier["plan"]]


def twin(text: Mapping[str, Any], version: Mapping[str, Any]) -> str:
    """The flawless output with the version's replacements. Every text to be replaced stands there exactly once."""
    output: str = text["output"]
    for old, new in version["replace"]:
        if output.count(old) != 1:
            raise ValueError(
                f"{text['group']}, {version['construction']}: {old!r} stands {output.count(old)} times in the output, not once"
            )
        output = output.replace(old, new)
    return output


def paired_items(text: dict[str, Any], tag: str) -> Iterator[tuple[dict[str, Any], dict[str, int]]]:
    """The items of one base text with their labels.

    The flawless one is labelled on the metrics of its twins and of what it `tempts` to; a parallel one on all metrics of its task, because
    its scores are compared over languages. Each version of a parallel text has a `parallel_id` of its own. A twin is labelled on its flaw;
    where the same flaw comes at two strengths, also on the other metrics of its text, so that good and bad labels are about equally many.
    """
    inputs = {name: text[name] for name in INPUTS[text["task"]]}
    shared = {"language": tag, "task": text["task"], "split": "test", "group": text["group"], "genre": text["genre"]}
    tempts = {name: constructions()[name]["metric"] for name in text.get("tempts", [])}
    first = f"{text['group']}-flawless"
    suspicious = {"suspicious": text["suspicious"]} if "suspicious" in text else {}
    about = {**({"tempts": tempts} if tempts else {}), **suspicious, "construction": "flawless", "note": "the base text as written"}
    item = {"item_id": first} | shared | _parallel(text, "flawless") | about | inputs
    yield item | {"output": text["output"]}, _flawless_scores(text)
    for version in text["version"]:
        name = version["construction"]
        kind = {"kind": version["kind"]} if "kind" in version else {}
        about = {"construction": name, "twin": first, **kind, "note": version["note"]}
        made = constructions()[name]
        others = _flawless_scores(text) if name.endswith(tuple(tier_of("models")["strengths"])) else {}
        item = {"item_id": f"{text['group']}-{name}"} | shared | _parallel(text, name) | about | inputs
        yield item | {"output": twin(text, version)}, others | {made["metric"]: made["score"]}


def _parallel(text: dict[str, Any], construction: str) -> dict[str, str]:
    return {"parallel_id": f"{text['parallel_id']}-{construction}"} if "parallel_id" in text else {}


def _flawless_scores(text: dict[str, Any]) -> dict[str, int]:
    """The labels of a flawless text. Only a summary has a given text that it may add to."""
    scales = LABELS["fluent"]
    if "parallel_id" in text:
        return {metric: score for metric, score in scales.items() if metric != "hallucination" or text["task"] == "summarize"}
    named = [version["construction"] for version in text["version"]] + text.get("tempts", [])
    return {metric: scales[metric] for metric in (constructions()[name]["metric"] for name in named)}


def refuse_underivable(path: Path, texts: Sequence[Mapping[str, Any]]) -> None:
    """Raise ContentError with `file:line` for the first text or version of a file that cannot be derived."""
    lines = path.read_text("utf-8").splitlines()
    starts = [number for number, line in enumerate(lines, start=1) if line.startswith("[[text]]")]
    versions = iter([number for number, line in enumerate(lines, start=1) if re.match(r"\s*construction\s*=", line)])
    for start, text in zip(starts, texts, strict=True):
        for problem in _problems_of_text(text):
            raise ContentError(f"the text '{text['group']}' {problem}", path, start)
        for version in text["version"]:
            line = next(versions, start)
            for problem in _problems_of_version(text, version):
                raise ContentError(f"the text '{text['group']}' {problem}", path, line)


def _problems_of_text(text: Mapping[str, Any]) -> Iterator[str]:
    """What of a text, apart from its versions, cannot be derived."""
    if text["task"] not in INPUTS:
        yield f"has the task '{text['task']}', which has no control texts.{choose_from(INPUTS, text['task'])}"
    yield from (f"has no '{name}', which its task '{text['task']}' shows" for name in INPUTS.get(text["task"], ()) if name not in text)
    for name in text.get("tempts", []):
        if name not in constructions():
            yield f"tempts to '{name}', which is no construction of {_TIERS}.{choose_from(constructions(), name)}"


def _problems_of_version(text: Mapping[str, Any], version: Mapping[str, Any]) -> Iterator[str]:
    name = version["construction"]
    if name not in constructions():
        yield f"has a version '{name}', which is no construction of {_TIERS}.{choose_from(constructions(), name)}"
    pairs = version["replace"]
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 and all(map(_is_text, pair)) for pair in pairs):
        yield f"has a version '{name}' whose 'replace' is no list of pairs of texts: [['old', 'new']]"
        return
    try:
        twin(text, version)
    except ValueError as err:
        yield f"has a version that cannot be made: {err}"


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def paired_files(tag: str, name: str) -> Iterator[tuple[Path, bytes]]:
    """The derived files of a language's pack of minimal pairs (`hard`, `parallel` or `models`), with their content."""
    pack = LANGUAGES / tag / "packs" / name
    of_versions = {"version": ("construction", "replace")}
    texts = read_texts(pack / "texts.toml", ("group", "task", "genre", "output", "version"), of_versions)
    refuse_underivable(pack / "texts.toml", texts)
    for task in sorted({text["task"] for text in texts}):
        made = [each for text in texts if text["task"] == task for each in paired_items(text, tag)]
        labels = [_label(item["item_id"], metric, score) for item, scores in made for metric, score in scores.items()]
        yield pack / "items" / f"{task}.jsonl", to_jsonl([item for item, _ in made])
        yield pack / "labels" / f"{task}.jsonl", to_jsonl(labels)


def files(tag: str) -> Iterator[tuple[Path, bytes]]:
    """Every derived file of a pack, with its content."""
    for path in sorted((LANGUAGES / tag / "texts").glob("*.toml")):
        items, labels = derive(tag, path.stem)
        yield LANGUAGES / tag / "items" / f"{path.stem}.jsonl", to_jsonl(items)
        yield LANGUAGES / tag / "labels" / f"{path.stem}.jsonl", to_jsonl(labels)


def main() -> None:
    """Derive the packs that the arguments name, or all. Raises ContentError for texts that cannot be derived."""
    for tag in sys.argv[1:]:
        if tag not in TAGS:
            raise ContentError(f"there is no language pack '{tag}'.{choose_from(TAGS, tag)}", LANGUAGES)
    for tag in sys.argv[1:] or sorted(path.parent.name for path in LANGUAGES.glob("*/texts")):
        packs = sorted(path.parent.name for path in LANGUAGES.glob(f"{tag}/packs/*/texts.toml"))
        for path, content in (*files(tag), *(file for name in packs for file in paired_files(tag, name))):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, content)
            print(path.relative_to(LANGUAGES.parent))


if __name__ == "__main__":
    try:
        main()
    except ContentError as err:
        print(f"derive.py: {err}", file=sys.stderr)
        sys.exit(2)
