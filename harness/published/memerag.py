"""MEMERAG: answers from passages in five languages, sentence by sentence: are they faithful to the passages, are they relevant?"""

from __future__ import annotations

from itertools import product

from harness.published.raw import RawFiles, Row, Tables, label, nfc

LANGUAGES = ("de", "en", "es", "fr", "hi")
PARTS = {"base": "memerag", "ext": "memerag_ext"}  # part -> its folder; base has one annotator a sentence, ext five
METRICS = ("factuality", "relevance")


def convert(raw: RawFiles) -> Tables:
    """Return one item a sentence, one document an answer. The annotators' free comments are left out."""
    items: list[Row] = []
    labels: list[Row] = []
    documents: list[Row] = []
    for tag, (part, folder) in product(LANGUAGES, PARTS.items()):
        path = f"data/{folder}/{tag}.jsonl"
        for content in raw.json_lines(path) if raw.has(path) else []:
            doc_id = f"{tag}-{part}-{content['query_id']}"
            document = {
                "doc_id": doc_id,
                "language": tag,
                "query_id": str(content["query_id"]),
                "query": nfc(content["query"]),
                "context": nfc("\n\n".join(passage["text"] for passage in content["context"])),
            }
            documents.append(document)
            for sentence in content["answer"]:
                item = {
                    "item_id": f"{doc_id}-{sentence['sentence_id']}",
                    "language": tag,
                    "task": "rag_answer_sentence",
                    "part": part,
                    "doc_id": doc_id,
                    "query_id": f"{tag}-{content['query_id']}",
                    "sentence_id": sentence["sentence_id"],
                    "output": nfc(sentence["sentence"]),
                }
                items.append(item)
                # Positions in the lists of five are not people.
                scores = [(sentence[metric],) if part == "base" else sentence[metric] for metric in METRICS]
                for number, by_metric in enumerate(zip(*scores, strict=True), start=1):
                    annotator = f"{tag}-single" if part == "base" else f"{tag}-pos{number}"
                    labels += [label(item["item_id"], annotator, *scored) for scored in zip(METRICS, by_metric, strict=True)]
    return {"items": items, "labels": labels, "documents": documents}
