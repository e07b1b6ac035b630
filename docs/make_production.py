"""The data folder of docs/production.md: published labels as a project in production would have them.

`write_stars(folder, alttest)` keeps the judge gpt-4o and the metric stars of the published set `alttest`, and the labels of a random half
of the texts; the others have a judge's score only. `python docs/make_production.py ALTTEST FOLDER` writes it, certifies the judge, and
says whether the certificate's promises hold for the labels that were left out.
"""

from __future__ import annotations

import random
import statistics
import sys
from pathlib import Path
from typing import Any

from harness.correction.certified_cell import CorrectedMean
from harness.correction.certify import certify
from harness.measure.options import MeasureOptions
from harness.row_files import find_table, read_rows, to_jsonl
from harness.sources import open_sources

METRIC, JUDGE = "stars", "gpt-4o"
CARD = f"""id = "stars"
annotators = "persistent"
sampling = "random"

[metrics.{METRIC}]
kind = "ordinal"
classes = [1, 2, 3, 4, 5]
best = 5
"""


def write_stars(folder: Path, alttest: Path) -> list[dict[str, Any]]:
    """Write the folder and return the labels that it leaves out."""
    tables = {name: find_table(alttest, name) for name in ("items", "labels", "judgments")}
    rows = {name: [row for _, row in read_rows(path)] for name, path in tables.items() if path}
    labels = [row for row in rows["labels"] if row["metric"] == METRIC]
    judgments = [row for row in rows["judgments"] if row["metric"] == METRIC and row["judge"] == JUDGE]
    texts = sorted({row["item_id"] for row in labels})
    chosen = set(random.Random(0).sample(texts, len(texts) // 2))
    written = {
        "items": [row for row in rows["items"] if row["item_id"] in set(texts)],
        "labels": [row for row in labels if row["item_id"] in chosen],
        "judgments": judgments,
    }
    folder.mkdir(parents=True)
    for name, kept in written.items():
        (folder / f"{name}.jsonl").write_bytes(to_jsonl(kept))
    (folder / "data.toml").write_text(CARD, "utf-8")
    return [row for row in labels if row["item_id"] not in chosen]


def kept_promises(folder: Path, left_out: list[dict[str, Any]]) -> str:
    """What the certificate said of the texts without a label, beside the labels that they have after all."""
    made = certify(open_sources([folder], None, folder)[0].recording, MeasureOptions())
    people = {name: [row["score"] for row in left_out if row["item_id"] == name] for name in {row["item_id"] for row in left_out}}
    scores = {row["item_id"]: row.get("score") for _, row in read_rows(folder / "judgments.jsonl") if row["item_id"] in people}
    found = made.apply(list(scores.values()), language="en", metric=METRIC, judge=JUDGE)
    assert isinstance(found, CorrectedMean) and found.texts and found.texts.sets is not None and found.interval and found.estimate
    held = [bool(inside[label - 1]) for name, inside in zip(scores, found.texts.sets, strict=True) for label in people[name]]
    mean = statistics.fmean(statistics.fmean(labels) for labels in people.values())
    return (
        f"{len(scores)} texts, {len(held):,} labels left out: {100 * statistics.fmean(held):.1f} % of the labels are in the set of their "
        "text; "
        f"people's mean is {mean:.2f}, the corrected mean {found.estimate:.2f} [{found.interval[0]:.2f} to {found.interval[1]:.2f}], "
        f"the judge alone {found.judge_only:.2f}"
    )


if __name__ == "__main__":
    print(kept_promises(Path(sys.argv[2]), write_stars(Path(sys.argv[2]), Path(sys.argv[1]))))
