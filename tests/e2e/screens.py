"""Screenshots of every kind of page at three widths, to be looked at: `make screens`, or `python tests/e2e/screens.py SCREENS [PAGE …]`.

Five pages show published data, which `harness data get` must have fetched; two runs and two studies ask an endpoint on this machine, whose
answers are made up from the questions; boards, atlas and documents are those of the site, as `make site` builds it in the folder that the
variable SITE names. The first screen and the whole page are in light, the first screen in dark too, and each page is printed. For each
page and width it says what axe finds (where it is installed) in light and dark, how many screens of 900 pixels the page is high, and
whether anything is wider than the window.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.conftest import AXE, write_rows  # noqa: E402 (this file is a command)
from tests.e2e.conftest import Endpoint, Request  # noqa: E402
from tests.e2e.pages import chromium, opened  # noqa: E402

WIDTHS = (390, 820, 1440)
HEIGHT = 900
Page = Callable[[Path], Path]


def harness(*arguments: object) -> None:
    """The real command; what it says is shown where it fails."""
    done = subprocess.run([sys.executable, "-m", "harness", *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 4):  # 4: a condition of which no answer can be read is shown too
        raise SystemExit(f"harness {' '.join(map(str, arguments))}\n{done.stderr}")


def compared(*arguments: str) -> Page:
    def page(folder: Path) -> Path:
        harness("compare", *arguments, "--html", folder / "page.html")
        return folder / "page.html"

    return page


@contextmanager
def judge(script: Callable[[Endpoint, Request], Any]) -> Iterator[str]:
    """The address of an endpoint that answers as `script` says."""
    served = Endpoint()
    served.script = lambda request: script(served, request)
    try:
        yield served.url
    finally:
        served.close()


def scored(served: Endpoint, request: Request) -> Any:
    """A score that depends on the question alone; one answer of nine cannot be read."""
    number = int(request.key, 16)
    text = "No idea." if number % 9 == 0 else {"justification": "It reads well." if number % 2 else "An error.", "score": number % 2}
    return served.saying(text, model=request.body["model"])


def unreadable(served: Endpoint, request: Request) -> Any:
    """A score that is off every scale."""
    return served.saying({"justification": "It is supported.", "score": 7}, model=request.body["model"])


def rated(served: Endpoint, request: Request) -> Any:
    return served.saying(f"{int(request.key, 16) % 5 + 1}. It reads well.", model=request.body["model"])


def partial_to_itself(served: Endpoint, request: Request) -> Any:
    """Finds and prefers its own text; of one text alone it says yes, or 4."""
    question = request.body["messages"][-1]["content"]
    own, other = (question.find(f"mark-of-{name}") for name in ("m-1", "m-2"))
    score: Any = ("A" if own < other else "B") if min(own, other) >= 0 else 4 if "Overall quality" in question else "Yes"
    return served.saying({"score": score}, model=request.body["model"])


def run(script: Callable[[Endpoint, Request], Any], *arguments: object) -> Page:
    def page(folder: Path) -> Path:
        with judge(script) as url:
            asked = ("--judge", "openai/m-1", "--base-url", url, "--out", folder / "results", "--yes")
            harness("run", *(text.replace("DATA", str(folder)) if isinstance(text, str) else text for text in arguments), *asked)
        [found] = (folder / "results" / "runs").iterdir()
        harness("report", found.name, "--out", folder / "results", "--html")
        return found / "report.html"

    return page


def rated_texts(folder: Path) -> Path:
    harness("study", "alter-texts", "--langs", "cs,ja", "--limit", "6", "--out", folder / "altered")
    return run(rated, "--study", "chiang-lee", "--data", "DATA/altered")(folder)


def own_texts(folder: Path) -> Path:
    """Pairs of summaries by two models in three languages."""
    rows = [
        {"item_id": f"{tag}{n}|{model}", "language": tag, "task": "summarize", "group": f"{tag}{n}", "system": f"openai/{model}"}
        | {"passage": f"Passage {n}.", "output": f"mark-of-{model} {n} {'and more' if model == 'm-1' else ''}"}
        for tag in ("en", "cs", "ja")
        for n in range(6)
        for model in ("m-1", "m-2")
    ]
    write_rows(folder / "single" / "items.jsonl", rows)
    harness("pairs", folder / "single", "--out", folder / "pairs")
    return run(partial_to_itself, "--study", "self-preference", "--data", "DATA/pairs")(folder)


def labelling(*arguments: str) -> Page:
    """The page of the first annotator."""

    def page(folder: Path) -> Path:
        harness("labels", "page", *arguments, "--out", folder / "pages", "--annotators", "1")
        return next((folder / "pages").glob("*.html"))

    return page


def figures(folder: Path) -> Path:
    """Figures for print of one judge, of several judges, and of class shares, below each other."""
    images = []
    for number, arguments in enumerate((("pariksha",), ("alttest",), ("pariksha", "--figure-kind", "shares"))):
        harness("compare", *arguments, "--figure", folder / f"{number}.svg")
        images.append(f'<p><img src="{number}.svg" alt="{" ".join(arguments)}" style="width:100%"></p>')
    page = f'<!doctype html><html lang="en"><title>Figures</title><main><h1>Figures</h1>{"".join(images)}</main></html>'
    (folder / "page.html").write_text(page, encoding="utf-8")
    return folder / "page.html"


def board(folder: Path) -> Path:
    harness("board", "build", "controls", "--site", folder / "site")
    return folder / "site" / "controls.html"


def atlas(folder: Path) -> Path:
    harness("atlas", "--html", folder / "site")
    return folder / "site" / "index.html"


def of_site(name: str) -> Page:
    def page(folder: Path) -> Path:
        return Path(os.environ.get("SITE", "site")) / name

    return page


PAGES: dict[str, Page] = {
    "alttest": compared("alttest"),
    "hanna": compared("hanna"),
    "pariksha": compared("pariksha"),
    "wmt24_esa": compared("wmt24_esa"),
    "rtp_lx": compared("rtp_lx", "--langs", "ja"),
    "two-baselines": run(scored, "--langs", "cs,ja", "--judge", "baseline/majority", "--judge", "baseline/length"),
    "six-conditions": run(scored, "--langs", "cs,ja", "--variant", "single", "--variant", "joint", "--temperature", "0,0.3,0.7"),
    "chiang-lee": rated_texts,
    "self-preference": own_texts,
    "board": board,
    "atlas": atlas,
}
OTHER_PAGES: dict[str, Page] = {  # which need fetched sets, or have no answer above their texts
    "unreadable": run(unreadable, "--board", "memerag", "--langs", "de", "--limit", "20"),
    "labels-ja": labelling("bundled", "--lang", "ja", "--next", "3"),
    "labels-cs": labelling("bundled", "--lang", "cs", "--next", "3"),
    "labels-wmt24": labelling("wmt24_esa", "--lang", "ja", "--fields", "source,output", "--second", "--next", "3"),
    "figures": figures,
}
SITE_PAGES: dict[str, Page] = {
    "boards": of_site("boards/index.html"),
    "board-hanna": of_site("boards/hanna.html"),
    "board-rtp-lx": of_site("boards/rtp-lx.html"),
    "board-language": of_site("boards/pariksha-hi.html"),
    "front": of_site("index.html"),
    "atlas-language": of_site("he/index.html"),
    "atlas-judge": of_site("judges/gpt-4-turbo/index.html"),
    "docs": of_site("docs/docs/index.html"),
    "docs-guide": of_site("docs/docs/ten-minutes.html"),
    "docs-commands": of_site("docs/docs/cli.html"),
    "docs-command": of_site("docs/docs/cli/compare.html"),
}


def shot(browser: Any, page: Path, name: str, to: Path, axe: str | None) -> None:
    """The first screen and the whole page at every width."""
    for width in WIDTHS:
        with opened(browser, page, width=width, height=HEIGHT) as shown:
            shown.page.screenshot(path=to / f"{name}-{width}.png")
            shown.page.screenshot(path=to / f"{name}-{width}-whole.png", full_page=True)
            high, wide = shown.page.evaluate("[document.documentElement.scrollHeight, document.documentElement.scrollWidth]")
        found = []
        for scheme in ("light", "dark"):
            with opened(browser, page, width=width, height=HEIGHT, scheme=scheme) as shown:
                if scheme == "dark":
                    shown.page.screenshot(path=to / f"{name}-{width}-dark.png")
                found += [f"{scheme}: {line}" for line in shown.violations(axe)] if axe else []
        if width == WIDTHS[-1]:
            with opened(browser, page, width=width, height=HEIGHT) as shown:
                shown.page.pdf(path=to / f"{name}.pdf", format="A4", prefer_css_page_size=True)
                shown.page.emulate_media(media="print")
                shown.page.screenshot(path=to / f"{name}-print.png")
        said = f"axe {len(found)}" if axe else "axe is not installed"
        print(f"{name:16} {width:5}  {high / HEIGHT:5.1f} screens  {'too wide' if wide > width else 'fits':8}  {said}", flush=True)
        print(*(f"    {line}\n" for line in found), sep="", end="")


def main(to: Path, names: list[str]) -> None:
    to.mkdir(parents=True, exist_ok=True)
    axe = AXE.read_text("utf-8") if AXE.is_file() else None
    with tempfile.TemporaryDirectory() as folder:
        pages = {}
        for name in names:
            (Path(folder) / name).mkdir()
            pages[name] = (PAGES | OTHER_PAGES | SITE_PAGES)[name](Path(folder) / name)
        with chromium() as browser:
            for name, page in pages.items():
                shot(browser, page, name, to, axe)


if __name__ == "__main__":
    everything = list(PAGES | OTHER_PAGES | SITE_PAGES)
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(everything):
        raise SystemExit(f"python tests/e2e/screens.py FOLDER [{' '.join(everything)}]")
    main(Path(sys.argv[1]), sys.argv[2:] or everything)
