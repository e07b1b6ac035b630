"""What keeping 100,000 attempts and a million costs: `make bench`, or `python benchmarks/store.py N` for another number.

Prompts of about 2 KB in Japanese and English, each asked twice, and replies of about 200 bytes, handed over 16 at a time as the engine
does. Prints microseconds a row by the clock of this machine's disk, and peak memory; asserts nothing.
"""

from __future__ import annotations

import hashlib
import random
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from harness.model import Call, Condition, Item, JudgeIdentity, Message, Prompt, Query, Reply, Usage, Variant
from harness.prompts.templates import prompt_hash
from harness.store import Attempt, Store
from harness.store.maintenance import check

SIZES = (100_000, 1_000_000)
TOGETHER = 16
JUDGE = JudgeIdentity("openai", "any")
SCHEMA = {
    "type": "object",
    "properties": {"justification": {"type": "string", "maxLength": 120}, "score": {"enum": [0, 1, 2]}},
    "required": ["justification", "score"],
    "additionalProperties": False,
}
SENTENCES = (
    "町の図書館は九月三日に再び開き、二階に閲覧室ができた。子どもたちは絵本を借り、先生は新聞を読む。",
    "The library opens again in May, with a reading room upstairs and a new lift for those who cannot climb. ",
)


def call(number: int) -> Call:
    """One of the calls; two that follow each other share a prompt."""
    prompt, repeat = divmod(number, 2)
    chance = random.Random(prompt)
    words = [chance.choice(SENTENCES).replace("e", chance.choice("aeiou")) for _ in range(14)]
    item = Item(f"i{prompt // 5}", "en", "summarize", fields={"output": ""})
    messages = (Message("system", "You judge texts written in English." * 6), Message("user", f"{prompt} {''.join(words)}"))
    asked = Prompt(prompt_hash(messages, SCHEMA), messages, SCHEMA, 100)
    return Call(call_id(number), asked, Query(item, ("task_quality",), Condition(Variant()), repeat), repeat)


def call_id(number: int) -> str:
    return hashlib.sha256(f"call {number}".encode()).hexdigest()


def reply(number: int) -> Reply:
    text = f'{{"justification": "The text {number} says where, when and what, and leaves nothing out.", "score": 2}}'
    return Reply(text, "any-2024-01-01", "json_schema", "stop", usage=Usage(700, 0, 30), seconds=0.25)


def call_ids(size: int) -> Iterator[str]:
    return map(call_id, range(size))


def peak_megabytes() -> float:
    """The kernel's figure for this process."""
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def write(store: Store, size: int) -> float:
    """Seconds in the store, without those that making calls takes."""
    spent = 0.0
    attempts = (Attempt(call(number), reply(number), None) for number in range(size))
    while together := list(islice(attempts, TOGETHER)):
        begin = time.perf_counter()
        store.put_attempts(together, JUDGE)
        spent += time.perf_counter() - begin
    return spent


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def measure(size: int, folder: Path) -> None:
    print(f"{size:,} attempts")
    with Store.writing(folder) as store:
        _line("written", write(store, size), size)
    opening = seconds(lambda: Store.reading(folder).close())
    with Store.reading(folder) as store:
        hashing = seconds(lambda: deque(call_ids(size), maxlen=0))
        before = peak_megabytes()
        _line("ids looked up", seconds(lambda: deque(store.last_attempts(call_ids(size)), maxlen=0)) - hashing, size)
        _line("replies read", seconds(lambda: deque(store.replies(call_ids(size)), maxlen=0)) - hashing, size)
        print(f"  {'memory that looking up and reading took':<42}{peak_megabytes() - before:9.1f} MB")
    _line("checked", seconds(lambda: check(folder)), size)
    print(f"  {'opened in':<42}{opening * 1e3:9.1f} ms")
    print(f"  {'bytes an attempt on disk':<42}{(folder / 'store.sqlite').stat().st_size / size:9.0f}", flush=True)


def _line(what: str, took: float, size: int) -> None:
    print(f"  {what:<42}{took / size * 1e6:9.1f} µs", flush=True)


def main() -> None:
    for size in tuple(map(int, sys.argv[1:])) or SIZES:
        with tempfile.TemporaryDirectory() as folder:
            measure(size, Path(folder))


if __name__ == "__main__":
    main()
