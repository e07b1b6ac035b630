"""How Sphinx makes a site of the pages in this folder: `make docs`. The pages stay plain Markdown that reads well on its own."""

from pathlib import Path

from sphinx.application import Sphinx

project = "harness"
author = "The contributors of harness"
extensions = ["myst_parser"]
root_doc = "docs/index"
# The source folder is the whole repository, so that links between pages are the same here and in a browser of the code.
include_patterns = ["docs/*.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "leaderboards/*/TABLE.md", "leaderboards/*/CARD.md"]
exclude_patterns = [".*", "results", "site", "dist", "build", "harness", "tests", "languages", "benchmarks", "leaderboards/*/submissions"]
html_theme = "furo"
html_title = "harness"
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["titles.css"]
# Furo's own parts, and below the search the other halves of the site, which `make site` builds around these pages.
_SIDEBAR = ["sidebar/brand.html", "sidebar/search.html", "beside.html", "sidebar/scroll-start.html", "sidebar/navigation.html"]
html_sidebars = {"**": [*_SIDEBAR, "sidebar/scroll-end.html"]}
html_context = {"beside_atlas": tags.has("beside_atlas")}  # noqa: F821 - Sphinx puts `tags` here
html_show_sourcelink = False
html_copy_source = False
myst_heading_anchors = 4
# Pages of boards are reached from the index of boards, not from the contents.
suppress_warnings = ["toc.not_included"]
nitpicky = True


def setup(app: Sphinx) -> None:
    """Pages are made reachable for keys and screen readers once they are written."""
    app.connect("build-finished", _reachable)


_REACHABLE = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    "<pre>": '<pre tabindex="0">',  # it may scroll sideways
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
}


def _reachable(app: Sphinx, error: Exception | None) -> None:
    for page in Path(app.outdir).rglob("*.html") if error is None else ():
        text = old = page.read_text("utf-8")
        for plain, reachable in _REACHABLE.items():
            text = text.replace(plain, reachable)
        if text != old:
            page.write_text(text, "utf-8")
