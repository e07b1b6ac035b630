"""MEMERAG: answers from passages in five languages, sentence by sentence: are they faithful to the passages, are they relevant?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from harness.published.raw import RawFiles, Row, Tables, label, nfc

LANGUAGES = ("de", "en", "es", "fr", "hi")
PARTS = {"base": "memerag", "ext": "memerag_ext"}  # part -> its folder; base has one annotator a sentence, ext five
METRICS = ("factuality", "relevance")


class JudgedAnswer(NamedTuple):
    """A line of a file: an answer with its question and its passages."""

    tag: str
    part: str
    content: dict[str, Any]

    @property
    def doc_id(self) -> str:
        return f"{self.tag}-{self.part}-{self.content['query_id']}"

    def item_id(self, sentence: dict[str, Any]) -> str:
        return f"{self.doc_id}-{sentence['sentence_id']}"


def convert(raw: RawFiles) -> Tables:
    """Return one item a sentence, one document an answer. The annotators' free comments are left out."""
    answers = list(_answers(raw))
    return {
        "items": (item for answer in answers for item in _items(answer)),
        "labels": (label for answer in answers for label in _labels(answer)),
        "documents": map(_document, answers),
    }


def _answers(raw: RawFiles) -> Iterator[JudgedAnswer]:
    for tag in LANGUAGES:
        for part, folder in PARTS.items():
            path = f"data/{folder}/{tag}.jsonl"
            for content in raw.json_lines(path) if raw.has(path) else []:
                yield JudgedAnswer(tag, part, content)


def _document(answer: JudgedAnswer) -> Row:
    content = answer.content
    return {
        "doc_id": answer.doc_id,
        "language": answer.tag,
        "query_id": str(content["query_id"]),
        "query": nfc(content["query"]),
        "context": nfc("\n\n".join(passage["text"] for passage in content["context"])),
    }


def _items(answer: JudgedAnswer) -> Iterator[Row]:
    for sentence in answer.content["answer"]:
        yield {
            "item_id": answer.item_id(sentence),
            "language": answer.tag,
            "task": "rag_answer_sentence",
            "part": answer.part,
            "doc_id": answer.doc_id,
            "query_id": f"{answer.tag}-{answer.content['query_id']}",
            "sentence_id": sentence["sentence_id"],
            "output": nfc(sentence["sentence"]),
        }


def _labels(answer: JudgedAnswer) -> Iterator[Row]:
    for sentence in answer.content["answer"]:
        for annotator, scores in _scores(answer, sentence):
            for metric, score in scores.items():
                yield label(answer.item_id(sentence), annotator, metric, score)


def _scores(answer: JudgedAnswer, sentence: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each annotator's scores of a sentence; places in the lists of five are not people."""
    if answer.part == "base":
        yield f"{answer.tag}-single", {metric: sentence[metric] for metric in METRICS}
        return
    for number, scores in enumerate(zip(*(sentence[metric] for metric in METRICS), strict=True), start=1):
        yield f"{answer.tag}-pos{number}", dict(zip(METRICS, scores, strict=True))
