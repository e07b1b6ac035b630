"""TextDetox 2024: toxic sentences in nine languages rewritten by 20 systems, rated by panels and by recorded judges. The sources offend."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from harness.published.raw import RawFiles, RawRow, Row, Tables, judgment, label, nfc, rounded

PEOPLE, JUDGES = "textdetox/textdetox_clef_2024", "textdetox/eval-of-detox-eval"
RATED = "human_evaluation_results/{}/{}.tsv"  # system and language
JUDGED = "vizualize/models_to_plot/textdetoxeval/{}.csv"
LANGUAGES = {  # tag -> its name in the release
    "am": "Amharic",
    "ar": "Arabic",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "hi": "Hindi",
    "ru": "Russian",
    "uk": "Ukrainian",
    "zh": "Chinese",
}
RECORDED = (  # file, judge, variant
    ("gpt-4.1-mini", "gpt-4.1-mini", "released"),
    ("gpt-4.1-mini_fewshot", "gpt-4.1-mini", "few-shot"),
    ("gpt-4.1-nano", "gpt-4.1-nano", "released"),
    ("judgelm_llama_31_8b_ckpt_ep2_merged", "judgelm_llama_31_8b_ckpt_ep2_merged", "fine-tuned"),
    ("llama_31_8b_tuned", "llama_31_8b_tuned", "fine-tuned"),
)
METRICS = {"content_preserved": ("content_score", 1), "less_toxic": ("toxic_pairwise_score", 1), "fluency": ("neutral_fluency", 2)}
"""Metric -> its column in the release, and how many times as high our scale is."""
NUMBERING = "SomethingAwful"  # the system whose numbers of the source texts are those of all others but one
_DIGITS = 6

Pair = tuple[str, str, str]
"""Language, source and output of an item, in Unicode's composed form."""


def convert(raw: RawFiles) -> Tables:
    """Return one item a pair of texts that judges were asked about: several systems wrote the same one, and panels rated it each time."""
    judged = {
        (judge, variant): raw.table(JUDGED.format(file), JUDGES)
        for file, judge, variant in RECORDED
        if raw.has(JUDGED.format(file), JUDGES)
    }
    rated: dict[str, dict[str, list[RawRow]]] = {}  # language -> system, sorted as text -> rows
    for tag, name in LANGUAGES.items():
        paths = {path.split("/")[1]: path for path in raw.paths(RATED.format("*", name), PEOPLE)}
        rated[tag] = {system: raw.table(paths[system], PEOPLE, delimiter="\t") for system in sorted(paths)}
    # Language, system and number of the rows that were judged. Some files put the language behind the number of a row's `id`.
    wanted = {
        (row["lang"], row["id"].removesuffix(f"_{row['lang']}").removesuffix(f"_{row['index']}"), row["index"])
        for rows in judged.values()
        for row in rows
    }
    items = {pair: item for tag, systems in rated.items() if NUMBERING in systems for pair, item in _items(tag, systems, wanted).items()}
    return {"items": items.values(), "labels": _labels(rated, items), "judgments": _judgments(judged, items)}


def _pair(row: RawRow) -> Pair:
    return row["lang"], nfc(row["toxic_sentence"]), nfc(row["neutral_sentence"])


def _items(tag: str, systems: Mapping[str, list[RawRow]], wanted: set[tuple[str, str, str]]) -> dict[Pair, Row]:
    numbers = {nfc(row["toxic_sentence"]): row["Unnamed: 0"] for row in systems[NUMBERING]}
    items: dict[Pair, Row] = {}
    for system, rows in systems.items():
        for row in rows:
            pair, index = _pair(row), row["Unnamed: 0"]
            if (tag, system, index) in wanted and pair not in items:
                items[pair] = {
                    "item_id": f"{tag}-{index}-{system}",
                    "language": tag,
                    "task": "detoxification",
                    "source_id": f"{tag}-{numbers[pair[1]]}",
                    "system": system,
                    "source": pair[1],
                    "output": pair[2],
                }
    return items


def _scores(row: RawRow) -> Iterator[tuple[str, float | None]]:
    """Yield metric and score; None where the cell is empty. A judge's file may lack a column: it was not asked then."""
    for metric, (column, factor) in METRICS.items():
        if column in row:
            yield metric, rounded(factor * float(row[column]), _DIGITS) if row[column] else None


def _labels(rated: Mapping[str, Mapping[str, list[RawRow]]], items: Mapping[Pair, Row]) -> Iterator[Row]:
    panels: dict[Pair, list[tuple[str, RawRow]]] = defaultdict(list)
    for systems in rated.values():
        for system, rows in systems.items():
            for row in rows:
                panels[_pair(row)].append((system, row))
    for pair, item in items.items():
        for number, (system, row) in enumerate(panels[pair], start=1):
            for metric, score in _scores(row):
                yield label(item["item_id"], f"panel{number}", metric, score, submission=system)


def _judgments(judged: Mapping[tuple[str, str], list[RawRow]], items: Mapping[Pair, Row]) -> Iterator[Row]:
    for (judge, variant), rows in judged.items():
        first: dict[Pair, RawRow] = {}
        for row in rows:
            first.setdefault(_pair(row), row)
        for pair, row in first.items():
            if pair in items:
                for metric, score in _scores(row):
                    failure = {"failure": "missing"} if score is None else {}
                    yield judgment(items[pair]["item_id"], judge, variant, metric, score, **failure)
