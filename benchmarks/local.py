"""What the shared prefix is worth on the embedded model: `make bench`.

Five metrics of one Japanese item beside one metric, score only, each time with a cold cache: calls that share an item come after each
other, so that the model reads it once. Prints seconds in the calls and their ratio; asserts nothing. Needs idle cores to mean anything.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

import harness
from harness.store import Store

METRICS = ("linguistic_acceptability", "output_content_quality", "task_quality", "problematic_content", "hallucination")
ROUNDS = 3


def make_folder(folder: Path) -> None:
    """A data folder of one item of the Japanese pack, labelled on all five metrics."""
    library = harness.Library()
    with library.item_files("ja")["summarize"].open(encoding="utf-8") as lines:
        item = json.loads(next(line for line in lines if '"split":"test"' in line.replace(" ", "")))
    (folder / "items.jsonl").write_text(json.dumps(item, ensure_ascii=False) + "\n", "utf-8")
    labels = [{"item_id": item["item_id"], "annotator_id": "a", "metric": metric, "score": 1} for metric in METRICS]
    (folder / "labels.jsonl").write_text("".join(json.dumps(label) + "\n" for label in labels), "utf-8")


def seconds(data: Path, metrics: tuple[str, ...]) -> float:
    """Time in the calls of one run with a model that was just loaded."""
    with tempfile.TemporaryDirectory() as out:
        result = harness.run(harness.RunSpec(data=data, metrics=metrics, variants=("single+score-only",)), out)
        with Store.reading(Path(out)) as store:
            replies = store.replies(set(pq.read_table(result.folder / "judgments.parquet", columns=["call_id"])["call_id"].to_pylist()))
            return sum(reply.seconds for reply in replies if reply is not None)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        make_folder(Path(name))
        one = min(seconds(Path(name), METRICS[:1]) for _ in range(ROUNDS))
        five = min(seconds(Path(name), METRICS) for _ in range(ROUNDS))
    print("local/smollm2-135m, one Japanese item, score only, cold cache")
    print(f"  {'one metric':<42}{one:9.2f} s")
    print(f"  {'five metrics':<42}{five:9.2f} s    {five / one:9.2f} ×   limit 2.00 ×")


if __name__ == "__main__":
    main()
