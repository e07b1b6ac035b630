"""How fast texts are cut into words and shuffled, in MB/s of UTF-8: `make bench`. `--profile` shows where the time goes.

Prints CPU time of the fastest round, and never asserts. Texts are the packs' own, several put together to some kilobytes each;
every text differs from those before it, so that none is found cut already.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
import time
from collections.abc import Callable

from harness.content import Library
from harness.data import load_bundled
from harness.model import Item
from harness.perturb import Perturbation, Words, apply

ROUNDS, COPIES = 5, 4
LIMIT = 5.0  # MB/s: the least that segmenting and shuffling Japanese should do


def texts(language: str, together: int = 6) -> list[Item]:
    """Items of which each holds the outputs of some of a pack's items, in an order of its own."""
    outputs = [item.fields["output"] for item in load_bundled(Library(), [language]).items if item.language == language]
    made = []
    for copy in range(COPIES):
        mixed = outputs[copy:] + outputs[:copy]
        parts = ["\n".join(mixed[at : at + together]) for at in range(0, len(mixed) - together, 2)]
        made += [Item(f"{copy}-{number}", language, "open_prompt", fields={"output": part}) for number, part in enumerate(parts)]
    return made


def seconds(run: Callable[[Item], object], items: list[Item]) -> float:
    """CPU time of all items in the fastest round, after one to warm up."""
    taken = []
    for _ in range(ROUNDS + 1):
        begin = time.process_time()
        for item in items:
            run(item)
        taken.append(time.process_time() - begin)
    return min(taken[1:])


def shuffled(dose: float, segmenter: str) -> Callable[[Item], object]:
    perturbation = Perturbation("shuffle-words", dose, segmenter)
    return lambda item: apply(perturbation, item, (), 0)


def cut(segmenter: str) -> Callable[[Item], object]:
    return lambda item: len(Words(item.fields["output"], item.language, segmenter))


WAYS: dict[str, Callable[[Item], object]] = {
    f"{what}, {segmenter}": run
    for segmenter in ("icu", "whitespace")
    for what, run in (
        ("words", cut(segmenter)),
        ("words and shuffle-words:0.1", shuffled(0.1, segmenter)),
        ("words and shuffle-words:1", shuffled(1.0, segmenter)),
    )
}


def main() -> None:
    for language in ("ja", "cs"):
        items = texts(language)
        size = sum(len(item.fields["output"].encode()) for item in items)
        print(f"{language}: {len(items)} texts of {size / len(items) / 1000:.1f} kB on average")
        for name, run in WAYS.items():
            limit = f"   limit {LIMIT:.0f} MB/s" if language == "ja" and name.endswith("icu") else ""
            print(f"  {name:<40}{size / seconds(run, items) / 1e6:9.1f} MB/s{limit}", flush=True)
    if "--profile" in sys.argv:
        profile = cProfile.Profile()
        profile.runcall(seconds, shuffled(0.1, "icu"), texts("ja"))
        pstats.Stats(profile).sort_stats("tottime").print_stats(12)


if __name__ == "__main__":
    main()
