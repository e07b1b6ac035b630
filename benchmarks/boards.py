"""What checking a full board takes: `make bench`, or `python benchmarks/boards.py N` for another number of submissions.

A board of 10,000 calls in four languages and 100 submissions with replies of usual length, checked by the real command. Prints seconds
by the clock, CPU seconds of all its processes, and the most memory that they held at once. Then builds the site of 200 submissions of a
smaller board, and prints how large it is. Asserts nothing.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from cells import run
from memory import Memory

from harness.boards.board import whole_board
from harness.boards.card import JudgeCard, write_card
from harness.boards.expected_submission import ExpectedCalls, expected_calls
from harness.boards.submission_files import REPLIES, ReplyRow
from harness.content import Library
from harness.model import Reply, Usage
from harness.row_files import jsonl_lines

SUBMISSIONS = 100
LANGUAGES = {"nl": "Latn", "pl": "Latn", "ko": "Kore", "th": "Thai"}
METRICS = ("linguistic_acceptability", "output_content_quality", "task_quality", "problematic_content", "hallucination")
ITEMS = 500  # a language, each on all metrics
SECONDS, MEGABYTES = 60, 500  # on two cores
SITE_SUBMISSIONS, SITE_ITEMS, SITE_MEGABYTES = 200, 40, 15
WORDS = ("the text reads well and keeps to", "what was asked", "but one sentence", "is wrong", "and a word", "is missing", "in the middle")


def write_content(folder: Path, count: int = ITEMS) -> None:
    """A board, and the packs that it is of, with so many items a language."""
    for tag, script in LANGUAGES.items():
        pack = folder / "languages" / tag
        (pack / "items").mkdir(parents=True)
        (pack / "labels").mkdir()
        head = f'tag = "{tag}"\nversion = "1.0.0"\nscript = "{script}"\nresource_class = 4\nsegmenter = "icu"\nreviewed_by = []\n'
        (pack / "pack.toml").write_text(head, encoding="utf-8")
        with (pack / "items/open_prompt.jsonl").open("w") as items, (pack / "labels/open_prompt.jsonl").open("w") as labels:
            for n in range(count):
                texts = {"prompt": f"Question {n}? " * 8, "output": f"Answer {n} in {tag}. " * 20}
                row = {"item_id": f"{tag}-{n}", "language": tag, "task": "open_prompt", "group": f"{tag}-{n // 4}", **texts}
                items.write(json.dumps(row) + "\n")
                for metric in METRICS:
                    labels.write(json.dumps({"item_id": f"{tag}-{n}", "annotator_id": "a", "metric": metric, "score": n % 2}) + "\n")
    board = folder / "leaderboards" / "large" / "board.toml"
    board.parent.mkdir(parents=True)
    rubrics = "".join(f'{metric} = "{Library().rubric(metric).version}"\n' for metric in METRICS)
    packs = "".join(f'{tag} = "1.0.0"\n' for tag in LANGUAGES)
    board.write_text(
        'id = "large"\nversion = "1.0.0"\ntitle = "Large"\ndescription = "Large."\ndata = "bundled"\nvariants = ["single"]\n'
        'temperature = 0\nrepeats = 1\nmajority = "drop"\nannotators = ""\nstatistics = ["pa"]\nrank_by = "pa_failed_wrong"\n'
        f'[tasks]\nopen_prompt = "{Library().task("open_prompt").version}"\n[rubrics]\n{rubrics}[languages]\n{packs}',
        encoding="utf-8",
    )


def write_submission(folder: Path, number: int, expected: ExpectedCalls) -> int:
    """One submission, as its judge might have answered; returns its size in bytes."""
    rng = random.Random(number)
    folder.mkdir(parents=True)
    card = JudgeCard(
        name=f"openai/judge-{number}", provider="openai", model=f"judge-{number}", board=expected.board, replies_sha256="0" * 64
    )
    rows = []
    for call_id, (first, *_) in sorted(expected.queries_by_call(card.identity).items()):
        answer = {"justification": " ".join(rng.choices(WORDS, k=6)), "score": rng.randrange(2)}
        usage = Usage(prompt_tokens=rng.randrange(300, 500), completion_tokens=rng.randrange(20, 50))
        reply = Reply(json.dumps(answer), card.model, "json_schema", "stop", usage=usage, seconds=round(rng.random(), 6))
        rows.append(ReplyRow(call_id=call_id, judge=card.name, reply=reply, **msgspec.structs.asdict(expected.rows[first])))
    text = b"".join(jsonl_lines(rows))
    write_card(folder / "judge.toml", msgspec.structs.replace(card, replies_sha256=hashlib.sha256(text).hexdigest()))
    (folder / REPLIES).write_bytes(gzip.compress(text, 6))
    return len(text)


def building(count: int) -> None:
    """`board build --site` of many submissions of a small board: how large its pages are."""
    with tempfile.TemporaryDirectory() as name:
        content, site = Path(name) / "content", Path(name) / "site"
        write_content(content, SITE_ITEMS)
        expected = expected_calls(whole_board("large", [content]))
        for number in range(count):
            write_submission(content / "leaderboards" / "large" / "submissions" / f"judge-{number}", number, expected)
        used = run("board", "build", "large", "--content", str(content), "--site", str(site))
        size = sum(page.stat().st_size for page in site.iterdir())
    print(f"harness board build --site: {count} submissions of {len(expected.queries):,} replies, {len(LANGUAGES)} languages")
    print(f"  all pages         {size / 1e6:8.1f} MB   limit {SITE_MEGABYTES} MB")
    print(f"  CPU               {used.cpu:8.1f} s")
    print(f"  most memory       {used.memory:8.0f} MB")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else SUBMISSIONS
    with tempfile.TemporaryDirectory() as name:
        content = Path(name)
        write_content(content)
        expected = expected_calls(whole_board("large", [content]))
        place = content / "leaderboards" / "large" / "submissions"
        size = sum(write_submission(place / f"judge-{number}", number, expected) for number in range(count))
        packed = sum((folder / REPLIES).stat().st_size for folder in place.iterdir())
        command = [sys.executable, "-m", "harness", "board", "check", "large", "--content", name]
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        memory = Memory(process.pid)
        said, told = process.communicate()
        taken, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        assert process.returncode == 0, said + told
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"harness board check: {count} submissions of {len(expected.queries):,} replies, {size >> 20:,} MB ({packed >> 20} MB compressed)"
    )
    print(f"  by the clock      {taken:8.1f} s    limit {SECONDS} s on two cores")
    print(f"  CPU, all together {cpu:8.1f} s")
    print(f"  most memory       {memory.end():8.0f} MB   limit {MEGABYTES} MB", flush=True)
    building(SITE_SUBMISSIONS)


if __name__ == "__main__":
    main()
