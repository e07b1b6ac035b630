"""What a page of 20,000 judgments takes to be written and to be used: `make bench`.

2,000 texts of nine languages with five metrics and three annotators each are judged in two variants by a loopback endpoint that gives
reasons; `harness report --html` writes the page. Prints the seconds of the whole command and of the page alone (its report is computed
first), CPU seconds and MB, and, where the system has Chromium, the milliseconds until the page is first painted, until its browser of
items is ready, and that each filter takes. Then the same filters of 90,000 recorded judgments with long reasons, as many as a page
holds, on a processor of a quarter of the speed: from the choice until it is painted. `python benchmarks/page.py filters` prints these
alone. Asserts nothing.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from loopback import endpoint

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = ("en", "fr", "de", "es", "zh", "ja", "it", "pt-BR", "cs")
METRICS = {"linguistic_acceptability": 3, "output_content_quality": 3, "task_quality": 3, "problematic_content": 2, "hallucination": 2}
ITEMS = 2_000
LIMITS = "limits: 5 s to write, 15 MB; first paint 500 ms, filters 100 ms"
FULL_LIMITS = "limits: 12 MB; first paint 500 ms, filters 300 ms"
JUDGED, SLOWER, TIMES = 9_000, 4, 7  # texts of a full page, how much slower the processor is, and how often each filter is chosen
PAINTED = """([name, value]) => new Promise(done => {
    const control = document.forms[0].elements[name], begin = performance.now();
    control.value = value;
    control.dispatchEvent(new Event("change", {bubbles: true}));
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));
})"""


def make_folder(folder: Path) -> None:
    """A data folder of summaries, about 900 characters each with what was summarised, fewer in Chinese and Japanese."""
    rng = random.Random(0)
    words = {tag: (ROOT / f"languages/{tag}/texts/summarize.toml").read_text("utf-8").replace('"', "").split() for tag in LANGUAGES}
    folder.mkdir()
    with (folder / "items.jsonl").open("w", encoding="utf-8") as items, (folder / "labels.jsonl").open("w", encoding="utf-8") as labels:
        for n in range(ITEMS):
            tag = LANGUAGES[n % len(LANGUAGES)]
            passage, output = (" ".join(rng.choices(words[tag], k=many))[:size] for many, size in ((100, 700), (30, 200)))
            row = {
                "item_id": f"{tag}-{n}",
                "language": tag,
                "task": "summarize",
                "group": f"g{n // 3}",
                "passage": passage,
                "output": output,
            }
            items.write(json.dumps(row, ensure_ascii=False) + "\n")
            for metric, classes in METRICS.items():
                for who in "abc":
                    label = {"item_id": row["item_id"], "annotator_id": who, "metric": metric, "score": rng.randrange(classes)}
                    labels.write(json.dumps(label) + "\n")


def command(*arguments: str) -> tuple[float, float]:
    """Wall and CPU seconds of the real command."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "harness", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def page_alone(out: Path) -> float:
    """Seconds that the page takes once its report is there."""
    import harness
    from harness.render.html.report import report_page
    from harness.runs import reopen

    result = reopen("", out)
    found = harness.report(result)
    begin = time.perf_counter()
    report_page(result, found)
    return time.perf_counter() - begin


def used(page: Path) -> None:
    """Opens the page in Chromium and prints what a reader waits for."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        shown: Any = browser.new_page()
        begin = time.perf_counter()
        shown.goto(page.as_uri())
        shown.wait_for_selector("#browser[data-ready]")
        ready = 1000 * (time.perf_counter() - begin)
        paint = shown.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        print(f"  first paint {paint:.0f} ms, items ready {ready:.0f} ms")
        for facet in ("language", "metric", "agreement", "outcome", "variant"):
            shown.select_option(f"select[name={facet}]", index=1)
            print(f"  filter by {facet:<12}{float(shown.get_attribute('#browser', 'data-taken')):8.1f} ms")
        shown.click("button[type=reset]")
        for order in ("wrong", "long"):
            shown.select_option("select[name=order]", order)
            print(f"  order {order:<16}{float(shown.get_attribute('#browser', 'data-taken')):8.1f} ms")
        for text in ("a", "japonsko"):
            before = shown.get_attribute("#browser", "data-taken")
            shown.fill("input[type=search]", text)
            shown.wait_for_selector(f'#browser:not([data-taken="{before}"])')
            print(f"  search '{text}'{'' if text != 'a' else ' (first)':<10}{float(shown.get_attribute('#browser', 'data-taken')):8.1f} ms")
        browser.close()


def make_full(folder: Path) -> None:
    """90,000 recorded judgments: two judges on five metrics of 9,000 texts; one of ten has a long reason of its own."""
    rng = random.Random(1)
    words = (ROOT / "languages/cs/texts/summarize.toml").read_text("utf-8").replace('"', "").split()
    rows: dict[str, list[dict[str, Any]]] = {"items": [], "labels": [], "judgments": []}
    for n in range(JUDGED):
        about = {"item_id": f"text-{n}", "language": LANGUAGES[n % len(LANGUAGES)], "task": "summarize"}
        rows["items"].append(about | {"passage": " ".join(rng.choices(words, k=90)), "output": " ".join(rng.choices(words, k=30))})
        for metric, classes in METRICS.items():
            at = {"item_id": about["item_id"], "metric": metric}
            rows["labels"] += [at | {"annotator_id": who, "score": rng.randrange(classes)} for who in "ab"]
            for judge in ("one", "other"):
                reason = {"justification": " ".join(rng.choices(words, k=120))} if rng.random() < 0.1 else {}
                rows["judgments"].append(at | {"judge": judge, "score": rng.randrange(classes)} | reason)
    folder.mkdir()
    for name, table in rows.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table), "utf-8")


def full() -> None:
    """Writes a full page and prints its size and, at a quarter of the speed, what a reader waits for."""
    with tempfile.TemporaryDirectory() as name:
        folder, page = Path(name) / "data", Path(name) / "page.html"
        make_full(folder)
        command("compare", str(folder), "--html", str(page))
        print(f"{JUDGED * len(METRICS) * 2:,} judgments: {page.stat().st_size / 1e6:.1f} MB")
        if shutil.which("chromium") and find_spec("playwright"):
            _filtered(page)
        print(FULL_LIMITS)


def _filtered(page: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        shown: Any = browser.new_page()
        shown.set_default_timeout(120_000)
        shown.context.new_cdp_session(shown).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        shown.goto(page.as_uri())
        shown.wait_for_selector("#browser[data-ready]")
        paint = shown.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        print(f"  first paint {paint:.0f} ms, at 1/{SLOWER} of the speed as all that follows")
        every = []
        for facet in ("language", "metric", "judge", "outcome", "agreement", "distance"):
            [_, first, *_] = shown.eval_on_selector_all(f"select[name={facet}] option", "all => all.map(o => o.value)")
            taken = []
            for _ in range(TIMES):
                taken.append(shown.evaluate(PAINTED, [facet, first]))
                every.append(shown.evaluate(PAINTED, [facet, ""]))
            every += taken
            print(f"  filter by {facet:<12}{statistics.median(taken):8.1f} ms, at best {min(taken):.1f}")
        print(f"  filters, also back to all: median {statistics.median(every):.0f} ms, at best {min(every):.0f}")
        browser.close()


def main() -> None:
    if sys.argv[1:] == ["filters"]:
        return full()
    with tempfile.TemporaryDirectory() as name:
        folder, out, page = Path(name) / "data", Path(name) / "results", Path(name) / "page.html"
        make_folder(folder)
        with endpoint(0.001) as url:
            asked = (
                "--data",
                str(folder),
                "--judge",
                "openai/tester",
                "--base-url",
                url,
                "--variant",
                "single",
                "--variant",
                "single+detailed",
            )
            command("run", *asked, "--concurrency", "64", "--yes", "--out", str(out))
        written = ("report", "--out", str(out), "--html", str(page))
        wall, cpu = min(command(*written) for _ in range(3))
        alone = page_alone(out)
        size = page.stat().st_size / 1e6
        print(f"{ITEMS * len(METRICS) * 2:,} judgments: the whole command {wall:.2f} s ({cpu:.2f} s CPU)")
        print(f"the page alone {alone:.2f} s, {size:.1f} MB")
        if shutil.which("chromium") and find_spec("playwright"):
            used(page)
        print(LIMITS)
    full()


if __name__ == "__main__":
    main()
