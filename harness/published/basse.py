"""BASSE: summaries in Basque and Spanish, scored by people and by judges on five criteria."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from typing import Any, NamedTuple

from harness.published.raw import RawFiles, Row, Tables, judgment, label, whole

LANGUAGES = ("eu", "es")
JUDGES = ("Qwen2.5-7B-Instruct", "gpt-4o-mini", "gpt-4o", "prometheus-8-7b", "prometheus", "selene")
CRITERIA = ("5W1H", "Coherence", "Consistency", "Fluency", "Relevance")
LAST_ROUND = 3  # it has one annotation a summary


class Document(NamedTuple):
    """A line of a file: its language, its place in the file, and what it holds."""

    tag: str
    number: int
    content: dict[str, Any]

    def item_id(self, system: str) -> str:
        return f"{self.tag}-r{self.content['round']}-{self.number:02d}-{system}"


def convert(raw: RawFiles) -> Tables:
    """Return one item a summary.

    The judges' files name no document: the k-th row of a system is about the k-th document of the main file.
    """
    main = {tag: _read(raw, tag, f"data/{tag}/BASSE.{tag}.jsonl") for tag in LANGUAGES}
    round_0 = {tag: _read(raw, tag, f"data/{tag}/BASSE.{tag}.round_0.jsonl") for tag in LANGUAGES}
    items: list[Row] = []
    labels: list[Row] = []
    for document in (document for tag in LANGUAGES for document in (*main[tag], *round_0[tag])):
        content = document.content
        for system, summary in content["model_summaries"].items():
            by_people = system == "subhead" or system.startswith("human-")
            generator, _, style = system.partition("-")
            item = {
                "item_id": document.item_id(system),
                "language": document.tag,
                "task": "summarization",
                "doc_id": content["idx"],
                "round": content["round"],
                "output": summary["summ"],
                "system": system,
                "generator": system if by_people else generator,
                "prompt_style": None if by_people else style,
            }
            items.append(item)
            for metric, scores in summary["anns"].items():
                for position, score in enumerate(scores, start=1):
                    if score is not None and not math.isnan(score):
                        annotator = "single" if content["round"] == LAST_ROUND else f"pos{position}"
                        labels.append(label(document.item_id(system), f"{document.tag}-{annotator}", metric, whole(score)))
    documents = [
        {
            "doc_id": document.content["idx"],
            "language": document.tag,
            "round": document.content["round"],
            "source": document.content["original_document"],
            "reference_summaries": document.content["reference_summaries"],
        }
        for tag in LANGUAGES
        for document in main[tag]
    ]
    judgments: list[Row] = []
    for tag, judge, metric in product(LANGUAGES, JUDGES, CRITERIA):
        path = f"pred/judges/{tag}/{judge}/{metric}.csv"
        seen: Counter[str] = Counter()
        for row in raw.table(path) if raw.has(path) else []:
            item_id = main[tag][seen[row["model"]]].item_id(row["model"])
            seen[row["model"]] += 1
            judged_score = whole(float(row["score"])) if row["score"] else None
            judgments.append(judgment(item_id, judge, "rubric-1-5", metric, judged_score, justification=row["feedback"]))
    return {"items": items, "labels": labels, "judgments": judgments, "documents": documents}


def _read(raw: RawFiles, tag: str, path: str) -> list[Document]:
    return [Document(tag, number, content) for number, content in enumerate(raw.json_lines(path))] if raw.has(path) else []
