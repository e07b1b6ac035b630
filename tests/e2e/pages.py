"""Opens pages in the system's Chromium, headless, and keeps what goes wrong."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_PATIENCE = 300_000  # milliseconds for a page to open on a busy machine; it says nothing about speed


@dataclass
class Opened:
    """An open page: `said` is what it complained of, `asked` every address that it wanted."""

    page: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def elsewhere(self) -> list[str]:
        """What was asked for and is not in the file itself."""
        return [address for address in self.asked if not address.startswith("data:")][1:]

    def choose(self, **facets: str) -> None:
        """Choose in the browser's controls, by the beginning of the words that stand there."""
        for name, words in facets.items():
            values = self.page.eval_on_selector_all(f"select[name={name}] option", "all => all.map(o => [o.textContent, o.value])")
            [value] = [value for text, value in values if text.startswith(words)]
            self.page.select_option(f"select[name={name}]", value)

    def wait_for(self, judgments: int) -> None:
        """Return once so many judgments are shown."""
        self.page.wait_for_selector(f'#browser[data-judgments="{judgments}"]')

    @property
    def found(self) -> tuple[int, int]:
        """How many judgments and cases the browser shows."""
        judgments, cases = self.page.eval_on_selector("#browser", "b => [b.dataset.judgments, b.dataset.cases]")
        return int(judgments), int(cases)

    def serious(self, axe_core: str) -> list[str]:
        """What axe finds serious or critical, with everything unfolded."""
        return self.violations(axe_core, ("serious", "critical"))

    def violations(self, axe_core: str, impacts: Collection[str] = ("minor", "moderate", "serious", "critical")) -> list[str]:
        """What axe finds, with everything unfolded."""
        self.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        if self.page.query_selector(".opener") and not self.page.query_selector(".opened:not([hidden])"):
            self.page.locator(".opener").first.evaluate("opener => opener.click()")
            self.page.wait_for_selector(".opened:not([hidden]) :is(.card, .veil)")
        self.page.evaluate(axe_core)
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found if v["impact"] in impacts]


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser. Pages are opened from files: it needs no network, and gets none."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--proxy-server=127.0.0.1:9"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Any, path: Path, *, width: int = 1024, height: int = 900, scheme: str = "light", scripts: bool = True
) -> Iterator[Opened]:
    """A page of a file, once its browser of items is ready, if it has one and may run `scripts`."""
    window = {"width": width, "height": height}
    context = browser.new_context(viewport=window, color_scheme=scheme, reduced_motion="reduce", java_script_enabled=scripts)
    shown = Opened(context.new_page())
    shown.page.on("console", lambda message: shown.said.append(message.text))
    shown.page.on("pageerror", lambda error: shown.said.append(str(error)))
    shown.page.on("request", lambda request: shown.asked.append(request.url))
    try:
        shown.page.goto(path.resolve().as_uri(), timeout=_PATIENCE)
        if scripts and shown.page.query_selector("#browser"):
            shown.page.wait_for_selector("#browser[data-ready]")
        yield shown
    finally:
        context.close()
