"""How Sphinx makes a site of the pages in this folder: `make docs`. The pages stay plain Markdown that reads well on its own."""

import re
from pathlib import Path

from sphinx.application import Sphinx

project = "harness"
author = "The contributors of harness"
copyright = "the contributors of harness, licence Apache-2.0"
extensions = ["myst_parser"]
root_doc = "docs/index"
# The source folder is the whole repository, so that links between pages are the same here and in a browser of the code.
include_patterns = [
    "docs/*.md",
    "docs/cli/*.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "leaderboards/*/TABLE.md",
    "leaderboards/*/CARD.md",
]
exclude_patterns = [".*", "results", "site", "dist", "build", "harness", "tests", "languages", "benchmarks", "leaderboards/*/submissions"]
html_theme = "furo"
html_title = "harness"
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["site.css"]
# The type and the colours of the site: harness/render/html/assets/style.css.
_FONTS = {
    "font-stack": 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif',
    "font-stack--monospace": 'ui-monospace, "SFMono-Regular", Menlo, Consolas, "Noto Sans Mono", monospace',
}
_COLOURS = {
    "light": ("#ffffff", "#f5f7f9", "#1b2127", "#55606b", "#d3d9df", "#0b5aa8"),
    "dark": ("#10151a", "#182027", "#e4e9ee", "#a3afba", "#36414b", "#7cbcf5"),
}
_NAMES = ("background-primary", "background-secondary", "foreground-primary", "foreground-secondary", "background-border", "link")
html_theme_options = {
    f"{scheme}_css_variables": _FONTS
    | {f"color-{name}": colour for name, colour in zip(_NAMES, colours, strict=True)}
    | {f"color-{name}": colours[-1] for name in ("brand-primary", "brand-content", "link--hover", "link--visited", "brand-visited")}
    | {"color-code-background": colours[1], "color-foreground-muted": colours[3]}
    for scheme, colours in _COLOURS.items()
}
# Furo's own parts; the name and the other parts of the site stand in the header (templates/page.html).
_SIDEBAR = ["sidebar/search.html", "beside.html", "sidebar/scroll-start.html", "sidebar/navigation.html"]
html_sidebars = {"**": [*_SIDEBAR, "sidebar/scroll-end.html"]}
html_context = {"beside_atlas": tags.has("beside_atlas")}  # noqa: F821 - Sphinx puts `tags` here
html_show_sourcelink = False
html_copy_source = False
myst_heading_anchors = 4
highlight_language = "text"  # of a block that names none
# Pages of boards are reached from the index of boards, not from the contents.
suppress_warnings = ["toc.not_included"]
nitpicky = True


def setup(app: Sphinx) -> None:
    """Pages are made reachable for keys and screen readers once they are written."""
    app.connect("source-read", _leave_out_contents)
    app.connect("build-finished", _reachable)


def _leave_out_contents(app: Sphinx, name: str, source: list[str]) -> None:
    """Leave out a page's line of contents, which the side bar has."""
    source[0] = re.sub(r"^Contents: .*\n\n?", "", source[0], flags=re.MULTILINE)


_REACHABLE = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    "<pre>": '<pre tabindex="0">',  # it may scroll sideways
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    '<a class="skip-to-content muted-link" href="#furo-main-content">Skip to content</a>': "",  # templates/page.html has one, first of all
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="On this page">',
}


def _reachable(app: Sphinx, error: Exception | None) -> None:
    for page in Path(app.outdir).rglob("*.html") if error is None else ():
        text = old = page.read_text("utf-8")
        for plain, reachable in _REACHABLE.items():
            text = text.replace(plain, reachable)
        if text != old:
            page.write_text(text, "utf-8")
