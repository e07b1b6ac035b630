"""Text of others goes through every field of every output and is never more than text there."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.render.html.report import SCRIPTS
from tests.e2e.conftest import MODEL, Endpoint
from tests.e2e.pages import chromium, opened

# What would act, if it were let: one text that goes into every field.
NASTY = (
    "</style></script></title><script>window.ran=1</script><img src=x onerror=ran=2>\"'`<svg/onload=ran=3>"
    " [x](javascript:ran=4) <javascript:alert(1)> [bold red]loud[/] ![i](http://e.example/i.png) | a || b <!-- ${1} {{1+1}} {%x%}"
    " \\input{secret} 50% \x1b[31mred\x1b]0;t\x07 \u202eesrever\u2066 \u2028 \x00nul \x9b31m =1+1"
)
FORMULAS = ("=HYPERLINK(1)", "+1", "-1", "@x", "\t=1", "\r=1")
UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
# What a browser would run or fetch, written as markup.
ACTS = re.compile(r"<script>window|<img|<svg/onload|</style></script>", re.IGNORECASE)


def nasty(where: str) -> str:
    return f"{where} {NASTY}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with the text in every field of items, labels, judgments and their description; some begin like formulas."""
    data = tmp_path / "nasty"
    data.mkdir()
    items, labels, judgments = [], [], []
    for n in range(8):
        item_id = f"{FORMULAS[n % len(FORMULAS)]} {nasty(f'item{n}')}"
        items.append(
            {
                "item_id": item_id,
                "language": ("ar", "cs")[n % 2],
                "task": "open_prompt",
                "group": nasty(f"group{n}"),
                "system": nasty(f"=system{n % 2}"),
                "prompt": nasty("prompt"),
                "output": nasty("output"),
                nasty("field"): nasty("value"),
            }
        )
        for who in "abc":
            labels.append({"item_id": item_id, "annotator_id": nasty(f"=annotator {who}"), "metric": "task_quality", "score": n % 3})
        judgments.append(
            {
                "item_id": item_id,
                "judge": nasty("=judge"),
                "metric": "task_quality",
                "score": (n + 1) % 3,
                "variant": nasty("@variant"),
            }
        )
    for name, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
        (data / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    about = {"id": "nasty", "title": nasty("title"), "annotators": "persistent", "source": "native", "notes": [nasty("note")]}
    lines = [f"{key} = {json.dumps(value)}" for key, value in about.items()]
    (data / "data.toml").write_text("\n".join(lines).replace("\\u007f", "\\u007F") + "\n", encoding="utf-8")
    return data


@pytest.fixture
def run(folder: Path, endpoint: Endpoint, cli: Callable[..., Any], out: Path) -> Path:
    """A run on these data by a model that answers with the text in every field, and is called by it."""
    endpoint.script = lambda request: endpoint.saying(
        {"justification": nasty("reason"), "score": int(request.key, 16) % 3} if int(request.key, 16) % 3 else nasty("no json"),
        model=nasty("=model"),
    )
    (folder / "judgments.jsonl").rename(folder / "kept.jsonl")
    done = cli(
        "run",
        "--data",
        folder,
        "--judge",
        f"openai/{MODEL}<script>window.ran=5</script>",
        "--base-url",
        endpoint.url,
        "--out",
        out,
        "--yes",
    )
    (folder / "kept.jsonl").rename(folder / "judgments.jsonl")
    assert done.code == 0, done.err
    return out


class Tags(HTMLParser):
    """The elements and attributes of a page as a browser reads them."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src", "action", "data", "xlink:href")]
        self.scripts += tag == "script"


def check_page(path: Path) -> None:
    text = path.read_text("utf-8")
    assert not UNSAFE.search(text) and not ACTS.search(text)
    tags = Tags()
    tags.feed(text)
    assert not tags.names & {"img", "iframe", "object", "embed", "base", "form", "b2"}
    assert not [name for name in tags.attributes if name.startswith("on") or name == "style"]
    assert all(address.startswith(("#", "data:,")) for address in tags.addresses)
    assert tags.scripts == 1 + len(SCRIPTS)  # data, and the page's own


def check_text(text: str) -> None:
    """For terminals: no escape sequence, no control or bidi character but line ends."""
    assert not UNSAFE.search(text) and "\r" not in text.replace("\r\n", "\n")


def test_pages(run: Path, folder: Path, cli: Callable[..., Any], tmp_path: Path) -> None:
    assert cli("report", "--out", run, "--html", tmp_path / "report.html").code == 0
    check_page(tmp_path / "report.html")
    assert cli("compare", folder, "--html", tmp_path / "compare.html").code == 0
    check_page(tmp_path / "compare.html")


@pytest.mark.slow
@pytest.mark.needs("chromium")
def test_pages_in_a_browser(run: Path, folder: Path, cli: Callable[..., Any], tmp_path: Path) -> None:
    assert cli("report", "--out", run, "--html", tmp_path / "report.html").code == 0
    assert cli("compare", folder, "--html", tmp_path / "compare.html").code == 0
    with chromium() as browser:
        for name in ("report", "compare"):
            with opened(browser, tmp_path / f"{name}.html") as shown:
                shown.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
                shown.page.locator(".opener").evaluate_all("all => all.forEach(each => each.click())")
                shown.page.wait_for_selector(".card")
                shown.page.evaluate("document.querySelectorAll('.card details').forEach(d => { d.open = true })")
                if name == "report":
                    shown.page.wait_for_selector(".card pre")
                assert shown.page.evaluate("window.ran") is None and shown.said == [] and shown.elsewhere == []
                assert "<script>window.ran=1</script>" in shown.page.inner_text(".case .text"), "it is shown as it is"
                assert not shown.page.query_selector("main img, main script, main svg[onload]")
                assert shown.page.evaluate("document.documentElement.scrollWidth") <= 1024
                for button in shown.page.locator("figure[data-figure] > button.save:visible").all()[:6]:
                    check_saved_figure(shown, button)


def check_saved_figure(shown: Any, button: Any) -> None:
    """A figure that the page writes to a file: a drawing of texts and shapes, under a name that is no path."""
    with shown.page.expect_download() as waiting:
        button.click()
    assert re.fullmatch(r"[a-z0-9-]{1,80}\.svg", waiting.value.suggested_filename)
    text = Path(waiting.value.path()).read_text("utf-8")
    elements = list(ElementTree.fromstring(text).iter())
    assert not UNSAFE.search(text) and not ACTS.search(text)
    assert not {element.tag.rpartition("}")[2] for element in elements} & {"script", "image", "foreignObject", "style"}
    assert not [name for element in elements for name in element.attrib if name.startswith("on") or name.endswith("href")]


def test_markdown(run: Path, cli: Callable[..., Any]) -> None:
    text = cli("report", "--out", run, "--md").out
    check_text(text)
    outside = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    bare = re.sub(r"\\.", "", outside)
    assert not re.search(r"[<>`\[\]]", bare) and "://" not in outside
    blocks = [block.splitlines() for block in outside.split("\n\n") if block.startswith("|")]
    assert blocks and all(len({len(re.sub(r"\\.", "", line).split("|")) for line in block}) == 1 for block in blocks)


def test_csv(run: Path, folder: Path, cli: Callable[..., Any]) -> None:
    for text in (cli("report", "--out", run, "--csv").out, cli("compare", folder, "--csv").out):
        check_text(text)
        for row in csv.DictReader(io.StringIO(text, newline="")):
            for value in row.values():
                number = re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", value)
                assert number or not value.startswith(("=", "+", "-", "@", "\t", "\r")), value


def test_latex(run: Path, folder: Path, cli: Callable[..., Any]) -> None:
    for text in (cli("report", "--out", run, "--latex").out, cli("compare", folder, "--latex").out):
        check_text(text)
        body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
        assert r"\input{" not in body and r"\begin{tabular}" in body
        first, second, *_ = body.splitlines()
        assert first == r"{\footnotesize\setlength{\tabcolsep}{3pt}", "no comment goes on in the next line"
        assert second.startswith(r"\begin{tabular}")


@pytest.mark.slow
def test_figures(run: Path, cli: Callable[..., Any]) -> None:
    assert cli("report", "--out", run, "--figures").code == 0
    drawn = list(run.glob("runs/*/figures/*.svg"))
    assert drawn
    for path in drawn:
        text = path.read_text("utf-8")
        assert not UNSAFE.search(text) and not ACTS.search(text)
        names = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text).iter()}
        assert not names & {"script", "image", "foreignObject", "a"}


def test_json_and_the_terminal(run: Path, folder: Path, cli: Callable[..., Any]) -> None:
    assert json.loads(cli("report", "--out", run, "--json").out)["verdicts"]
    assert json.loads(cli("compare", folder, "--json").out)["cells"]
    for shown in every_terminal(run, folder, cli):
        assert shown.code == 0
        check_text(shown.out)
        check_text(shown.err)


def every_terminal(run: Path, folder: Path, cli: Callable[..., Any]) -> Iterator[Any]:
    yield cli("report", "--out", run)
    yield cli("runs", "--out", run)
    yield cli("compare", folder, "--distributions")
    yield cli("labels", "check", folder)


@pytest.mark.parametrize("name", ["report.txt", "page", "report.html.exe"])
def test_a_page_has_the_name_of_a_page(run: Path, folder: Path, cli: Callable[..., Any], refused: Callable[..., None], name: str) -> None:
    refused(cli("report", "--out", run, "--html", name), 2, name, ".html")
    refused(cli("compare", folder, "--html", name), 2, name, ".html")
