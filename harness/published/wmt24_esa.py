"""WMT24 error span annotation: translations into Czech and Japanese, scored by professionals; error spans of judges on 525 of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from harness.published.raw import RawFiles, Row, Tables, judgment, label, nfc, whole
from harness.published.wmt import PENALTIES, Rating, latest, nfc_place, place, ratings, score_of_penalty, translation_item

WMT = "wmt-conference/wmt24-news-systems"
SPANS = "llm-span-annotators/span-annotation"
LANGUAGES = {"ces": "cs", "jpn": "ja"}  # the target language of a rating -> tag
WAVES = (2, 3)
REFERENCE = "refA"
METRIC = "translation_quality"
SECOND_RATINGS = ("dup", "incomplete")
SEVERITIES = {0: "major", 1: "minor"}
JUDGES = (  # judge, variant, folder of its annotations
    ("claude-3-7-sonnet-20250219", "spans-zero-shot", "zeroshot/claude-3-7-sonnet"),
    ("deepseek-r1:70b", "spans-chain-of-thought", "cot/deepseek-r1"),
    ("gemini-2.0-flash-thinking-exp-01-21", "spans-zero-shot", "zeroshot/gemini-2-0-flash-thinking"),
    ("gpt-4o-2024-11-20", "spans-zero-shot", "zeroshot/gpt4o"),
    ("llama3.3:70b", "spans-chain-of-thought", "cot/llama3-3"),
    ("llama3.3:70b", "spans-zero-shot", "zeroshot/llama3-3"),
    ("o3-mini-2025-01-31", "spans-zero-shot", "zeroshot/o3-mini"),
)


class RatedTranslation(NamedTuple):
    """A translation: its language, its segment (the number of the line, from 0) and its system."""

    tag: str
    segment: int
    system: str

    @property
    def item_id(self) -> str:
        return f"{self.tag}-{self.segment:04d}-{self.system}"


class Texts(NamedTuple):
    """The lines of a language's files."""

    documents: list[list[str]]  # domain and document of each segment
    sources: list[str]
    outputs: dict[str, list[str]]  # by system

    def text(self, output: RatedTranslation) -> str:
        return self.outputs[output.system][output.segment]


def convert(raw: RawFiles) -> Tables:
    """Return one item for each rated translation. Ratings of documents that were shown again, or left incomplete, are second ratings."""
    texts = {tag: _texts(raw, tag) for tag in LANGUAGES.values() if raw.has(f"txt/sources/en-{tag}.txt", WMT)}
    rated = []
    for wave in WAVES:
        for rating in ratings(raw.lists(f"humeval/esa_generalMT2024_wave{wave}.csv", WMT, least=len(Rating._fields))):
            if rating.kind != "BAD" and (tag := LANGUAGES.get(rating.target_language, "")) in texts:
                rated.append((RatedTranslation(tag, int(rating.item), rating.system), rating))
    first = latest((output, rating) for output, rating in rated if _again(rating) is None)
    second = [(output, rating) for output, rating in rated if _again(rating) is not None]
    people = {account: who for who, accounts in raw.json("humeval/annotator_mapping.json", WMT).items() for account in accounts}
    outputs = sorted(first)
    annotated = _Annotated(raw, outputs, texts)
    items = []
    for output in outputs:
        of_language, segment = texts[output.tag], output.segment
        document, source = of_language.documents[segment], of_language.sources[segment]
        items.append(translation_item(output.item_id, output.tag, document, segment, output.system, source, of_language.text(output)))
    return {
        "items": items,
        "labels": (_label(output, first[output], texts[output.tag], people) for output in outputs),
        "judgments": (
            judgment(item, judge, variant, METRIC, score_of_penalty(penalty), penalty=penalty, spans=spans)
            for judge, variant, folder in JUDGES
            if raw.has(path := f"annotations/model/mt-eval/{folder}/annotations.jsonl", SPANS)
            for item, spans, penalty in annotated.spans(raw.json_lines(path, SPANS))
        ),
        "second_ratings": (
            {**_label(output, rating, texts[output.tag], people), "kind": _again(rating)}
            for output, rating in sorted(second, key=lambda row: (row[0], row[1].end_time))
        ),
        "second_spans": _second_spans(raw, annotated),
    }


def _texts(raw: RawFiles, tag: str) -> Texts:
    pair = f"en-{tag}"
    documents = [line.split("\t") for line in _lines(raw, f"txt/documents/{pair}.docs")]
    outputs = {REFERENCE: _lines(raw, f"txt/references/{pair}.{REFERENCE}.txt")}
    for path in raw.paths(f"txt/system-outputs/{pair}/*.txt", WMT):
        outputs[path.rpartition("/")[2].removesuffix(".txt")] = _lines(raw, path)
    return Texts(documents, _lines(raw, f"txt/sources/{pair}.txt"), outputs)


def _lines(raw: RawFiles, path: str) -> list[str]:
    return raw.lines(path, WMT)


def _again(rating: Rating) -> str | None:
    """Return why the rated document was not rated for the first time as a whole, if so."""
    return next((kind for kind in SECOND_RATINGS if rating.document.endswith(f"#{kind}")), None)


def _label(output: RatedTranslation, rating: Rating, texts: Texts, people: dict[str, str]) -> Row:
    spans = [{"severity": span["severity"], **place(span, texts.text(output))} for span in rating.marked]
    return label(output.item_id, people[rating.login], METRIC, whole(float(rating.score)), spans=spans, account=rating.login)


class _Annotated:
    """Return the translation that a row of span annotations is about."""

    def __init__(self, raw: RawFiles, outputs: Iterable[RatedTranslation], texts: dict[str, Texts]) -> None:
        self._texts = texts
        self._outputs = {(output.tag, output.segment, _plain(output.system)): output for output in outputs}
        self._segments: dict[tuple[str, str, int], int] = {}
        for tag in LANGUAGES.values():
            for path in raw.paths(f"outputs/mt-eval/*/en-{tag}.jsonl", SPANS):
                for row in raw.json_lines(path, SPANS):
                    segment = int(row["metadata"]["output_idx"].partition("|")[0])
                    self._segments[row["dataset"], row["split"], row["orig_example_idx"]] = segment

    def spans(self, annotations: Iterable[dict[str, Any]]) -> Iterator[tuple[str, list[Row], int]]:
        """Item, spans and penalty of the rows whose translation is an item, by the item's id."""
        marked = []
        for row in annotations:
            segment = self._segments.get((row["dataset"], row["split"], row["orig_example_idx"]))
            if segment is None:
                continue
            rated = self._outputs.get((row["split"].removeprefix("en-"), segment, _plain(row["setup_id"])))
            if rated is not None:
                marked.append((rated, row))
        for output, row in sorted(marked, key=lambda pair: pair[0].item_id):
            spans = [_span(span, self._texts[output.tag].text(output)) for span in row["annotations"]]
            yield output.item_id, spans, sum(PENALTIES[span["severity"]] for span in spans)


def _plain(system: str) -> str:
    """Return a system's name in the spelling of the span annotations."""
    return system.lower().replace(".", "-")


def _second_spans(raw: RawFiles, annotated: _Annotated) -> Iterator[Row]:
    people = raw.json_lines("annotations/human/mt-eval/annotations.jsonl", SPANS)
    for item, spans, penalty in annotated.spans(row for row in people if row["annotator_group"] == 0):
        yield {"item_id": item, "annotator_id": "another-person", "spans": spans, "penalty": penalty}


def _span(span: dict[str, Any], text: str) -> Row:
    start, marked = span["start"], span["text"]
    stands = text[start : start + len(marked)] == marked
    ends = {"start": nfc_place(text, start), "end": nfc_place(text, start + len(marked))}
    return {
        "severity": SEVERITIES[span["type"]],
        "text": nfc(marked),
        **(ends if stands else {"unplaced": True}),
        **({"reason": span["reason"]} if "reason" in span else {}),
    }
