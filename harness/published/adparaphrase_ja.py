"""AdParaphrase: pairs of Japanese advertising texts; the released counts of votes become one label a vote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.published.raw import RawFiles, Row, Tables

FILE = "data/adparaphrase.csv"
# Metric -> its answers with their columns, in the order in which the votes are numbered.
VOTES = {
    "is_paraphrase": {"yes": "count.paraphrase", "no": "count.nonparaphrase"},
    "preference": {"A": "count.preference_ad1", "B": "count.preference_ad2", "skip": "count.preference_skip"},
}


def convert(raw: RawFiles) -> Tables:
    """One item a pair, in file order. anon-1 to anon-n number the votes of one item and mean nothing across items."""
    pairs = raw.table(FILE)
    return {"items": (_item(pair) for pair in pairs), "labels": (label for pair in pairs for label in _labels(pair))}


def _item_id(pair: Mapping[str, str]) -> str:
    return f"adp1-{pair['index']}"


def _item(pair: Mapping[str, str]) -> Row:
    return {
        "item_id": _item_id(pair),
        "language": "ja",
        "task": "ad_text_paraphrase_preference",
        "output_a": pair["ad1"],
        "output_b": pair["ad2"],
        "system_a": pair["source_ad1"],
        "system_b": pair["source_ad2"],
    }


def _labels(pair: Mapping[str, str]) -> Iterator[Row]:
    for metric, columns in VOTES.items():
        votes = [answer for answer, column in columns.items() for _ in range(int(pair[column]))]
        for number, answer in enumerate(votes, start=1):
            yield {"item_id": _item_id(pair), "annotator_id": f"anon-{number}", "metric": metric, "score": answer}
