"""What planning a million queries costs: `make bench`.

20,000 items of 1 to 2 KB in Japanese and English, five metrics, ten conditions (two variants, four temperatures, and one perturbation of
each variant at temperature 0): every prompt is made and hashed. Prints CPU seconds and peak memory, and how long guidance alone would
take to render as many; asserts nothing.
"""

from __future__ import annotations

import random
import time

from harness.content import Library
from harness.data import Dataset
from harness.data.dataset import rubric_scales
from harness.data.labels import Labels
from harness.model import Condition, Item, JudgeIdentity, Label, parse_variant
from harness.prompts import PromptSpec, PromptTemplates, english_wording
from harness.prompts.templates import render_template
from harness.runs.plan import make_plan
from harness.runs.protocol import AskedQuestions

ITEMS = 20_000
METRICS = ("linguistic_acceptability", "output_content_quality", "task_quality", "problematic_content", "hallucination")
VARIANTS = ("single+score-only", "single+detailed")
RENDERS = 200


def conditions() -> tuple[Condition, ...]:
    found = []
    for text in VARIANTS:
        variant = parse_variant(text)
        found += [Condition(variant, temperature) for temperature in (0.0, 0.3, 0.7, 1.0)]
        found.append(Condition(variant, perturbation="shuffle-words:0.1"))
    return tuple(found)


def made_data(library: Library) -> Dataset:
    rng = random.Random(0)
    sentences = {
        "ja": "町の図書館は九月三日に再び開き、二階に閲覧室ができた。",
        "en": "The library opens again in May, with a reading room upstairs. ",
    }
    items, labels = [], []
    for n in range(ITEMS):
        tag = ("ja", "en")[n % 2]
        passage, output = (f"{n} " + sentences[tag] * rng.randrange(low, high) for low, high in ((8, 16), (3, 6)))
        items.append(Item(f"{tag}{n}", tag, "summarize", group=f"g{n // 3}", fields={"passage": passage, "output": output}))
        labels += [Label(f"{tag}{n}", "a", metric, 1) for metric in METRICS]
    return Dataset("million", tuple(items), Labels.from_rows(labels), rubric_scales(library))


def peak_megabytes() -> float:
    """The kernel's figure for this process."""
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    library = Library()
    data = made_data(library)
    before = peak_megabytes()
    begin = time.process_time()
    plan = make_plan(data, library, AskedQuestions(tuple(METRICS), tuple(conditions())), PromptTemplates())
    planned = time.process_time() - begin
    calls = plan.calls(JudgeIdentity("openai", "any"))
    took = time.process_time() - begin
    task, rubric = library.task("summarize"), library.rubric(METRICS[0])
    spec = PromptSpec(
        english_wording(task, (rubric,), "ja"), {METRICS[0]: rubric.scale}, parse_variant("single"), "ja", ("passage", "output")
    )
    begin = time.process_time()
    for _ in range(RENDERS):
        render_template(spec)
    rendering = (time.process_time() - begin) / RENDERS * len(plan)
    print(f"planning {len(plan):,} queries, {len(calls):,} calls")
    print(f"  {'prompts made and hashed':<42}{planned:9.1f} s CPU")
    print(f"  {'with call ids of one judge':<42}{took:9.1f} s CPU    1.0 ×   limit 90 s")
    print(f"  {'guidance rendering each (extrapolated)':<42}{rendering:9.1f} s CPU{rendering / took:8.1f} ×")
    print(f"  {'peak memory':<42}{peak_megabytes():9.0f} MB   limit 1000 MB (the items alone {before:.0f} MB)")


if __name__ == "__main__":
    main()
