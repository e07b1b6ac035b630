"""What a comparison of translated texts costs, by the number of languages: `make bench`.

A made-up set with the shape of RTP-LX: 1,045 texts in each of up to 28 languages, eight metrics, three annotators, one judge. The whole
comparison runs, with the section on the same texts in several languages. Prints CPU seconds and memory, and never asserts.
"""

from __future__ import annotations

import resource
import time

import numpy as np

from harness.content.specs import DatasetCard
from harness.data import Dataset
from harness.data.columns import CodedColumn
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.model import Item, Scale
from harness.reports.comparison import compare

LANGUAGES = (
    *("ar", "cs", "da", "de", "es", "fi", "fr", "he", "hi", "hu", "id", "it", "ja", "ko"),
    *("nb", "nl", "pl", "pt-BR", "pt-PT", "ru", "sr-Latn", "sv", "sw", "th", "tr", "uk", "zh-Hans", "zh-Hant"),
)
METRICS = tuple(f"metric_{number}" for number in range(8))
TEXTS, RATERS, CLASSES = 1045, 3, (1, 2, 3)
LIMIT, LIMIT_MB = 25.0, 1000


def recording(languages: tuple[str, ...]) -> Recording:
    """The same texts in all languages; a text has one quality, people and judge read it with an error."""
    rng = np.random.default_rng(0)
    items = tuple(Item(f"{tag}-{text}", tag, "toxicity", parallel_id=str(text)) for tag in languages for text in range(TEXTS))
    ids, count = tuple(item.item_id for item in items), len(items)
    quality = np.tile(rng.normal(size=(len(METRICS), TEXTS)), len(languages))

    def read(people: int) -> np.ndarray:
        return np.digitize(quality + rng.normal(0, 0.7, (people, *quality.shape)), (0.3, 1.2))

    item, metric = np.tile(np.arange(count), len(METRICS)), np.repeat(np.arange(len(METRICS)), count)
    labels = Labels(
        CodedColumn(ids, np.tile(item, RATERS)),
        CodedColumn(tuple(f"a{who}" for who in range(RATERS)), np.repeat(np.arange(RATERS), len(item))),
        CodedColumn(METRICS, np.tile(metric, RATERS)),
        CodedColumn(CLASSES, read(RATERS).ravel()),
        CodedColumn.constant("native", RATERS * len(item)),
    )
    judgments = Judgments(
        item=CodedColumn(ids, item),
        metric=CodedColumn(METRICS, metric),
        judge=CodedColumn.constant("one", len(item)),
        variant=CodedColumn.constant("v", len(item)),
        temperature=CodedColumn.constant(0.0, len(item)),
        repeat=CodedColumn.constant(0, len(item)),
        score=CodedColumn(CLASSES, read(1).ravel()),
    )
    scale = Scale(kind="ordinal", classes=CLASSES, best=1)
    about = DatasetCard(id="made", annotators="positional")
    return Recording("made", Dataset("made", items, labels, dict.fromkeys(METRICS, scale), about=about), judgments)


def main() -> None:
    compare([recording(LANGUAGES[:2])], MeasureOptions())  # what is imported late
    for number in (7, 14, 28):
        made = recording(LANGUAGES[:number])
        begin = time.process_time()
        found = compare([made], MeasureOptions())
        seconds, megabytes = time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        limit = f"   limit {LIMIT:g} s, {LIMIT_MB:,} MB" if number == len(LANGUAGES) else ""
        cells = len(found.cells)
        print(
            f"  {number:2} languages {len(made.judgments):>8,} judgments {cells:>4} cells {seconds:7.2f} s CPU "
            f"{1000 * seconds / cells:6.1f} ms a cell {megabytes:6.0f} MB{limit}",
            flush=True,
        )


if __name__ == "__main__":
    main()
