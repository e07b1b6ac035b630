"""What the conversion of the largest published set costs: `make bench`.

Writes invented raw files in the format and the size of `rtp_lx` (28 files, 29,264 texts, 702,336 labels, 234,112 judgments), fetches them
from a folder, and converts them in a process of its own. Prints wall-clock seconds, CPU seconds, and the peak of memory, and ends with 1
where a limit is passed: 60 s, 1 GB.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from harness.published.rtp_lx import METRICS

SECONDS, MEGABYTES = 60, 1000
FILES, ROWS = 28, 29_264
REPOSITORY, COMMIT, FOLDER = "people/labels", "0a1b", "scoring/gpt4_results"

_CONVERT = """
import sys
from pathlib import Path
import msgspec
from harness.content.library import Library
from harness.content.specs import RawFile, RawSource
from harness.published.fetch import get, read_record
mirror, home = map(Path, sys.argv[1:])
place = mirror / "people/labels/0a1b"
files = tuple(RawFile(str(path.relative_to(place)), path.stat().st_size, "") for path in sorted(place.rglob("*.json")))
card = msgspec.structs.replace(Library().dataset_card("rtp_lx"), converted={}, sources=(RawSource("github:people/labels@0a1b", files),))
tables = read_record(get(card, home)).tables
print(", ".join(f"{table.rows:,} {name}" for name, table in tables.items()))
"""


def row(index: int, draw: random.Random) -> dict[str, Any]:
    """A row as the release has them, with an invented text."""
    scores = {key: [draw.randint(1, 3) for _ in range(3)] for key in METRICS.values()}
    return {
        "Index": index,
        "GPT4ResponseRaw": "\n".join(f"{key}: {draw.randint(1, 3)}" for key in METRICS.values()),
        "OriginalEntry": {
            "Prompt": " ".join(draw.choice(("some", "harmless", "words", "of", "an", "invented", "text")) for _ in range(20)),
            "Dialect": "",
            "AnnotationsRaw": scores,
            "Annotations": {key: sum(values) / 3 for key, values in scores.items()},
            "OriginalMetadata": {"Filename": f"{index:07d}-{'0a' * 16}.txt", "Begin": "0"},
        },
    }


def make_release(mirror: Path) -> float:
    """Write the raw files; their megabytes."""
    draw, folder = random.Random(0), mirror / REPOSITORY / COMMIT / FOLDER
    folder.mkdir(parents=True)
    size = 0
    for number in range(FILES):
        rows = range(ROWS * number // FILES, ROWS * (number + 1) // FILES)
        text = "".join(json.dumps(row(index, draw)) + "\n" for index in rows)
        size += (folder / f"gpt4_results_{number:02d}.json").write_text(text)
    return size / 1e6


def main() -> int:
    with tempfile.TemporaryDirectory() as temporary:
        mirror, home = Path(temporary, "mirror"), Path(temporary, "home")
        megabytes = make_release(mirror)
        environment = {**os.environ, "HARNESS_DATA_MIRROR": str(mirror)}
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", _CONVERT, mirror, home], env=environment, capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    print(f"{megabytes:.1f} MB of raw files -> {done.stdout.strip()}")
    print(f"converted in {seconds:.1f} s ({cpu:.1f} s of CPU), at most {peak:.0f} MB; limits: {SECONDS} s, {MEGABYTES} MB")
    return int(seconds > SECONDS or peak > MEGABYTES)


if __name__ == "__main__":
    raise SystemExit(main())
