"""How Sphinx makes a site of the pages in this folder: `make docs`. The pages stay plain Markdown that reads well on its own."""

project = "harness"
author = "The contributors of harness"
extensions = ["myst_parser"]
root_doc = "docs/index"
# The source folder is the whole repository, so that links between pages are the same here and in a browser of the code.
include_patterns = ["docs/*.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "leaderboards/*/TABLE.md", "leaderboards/*/CARD.md"]
exclude_patterns = [".*", "results", "site", "dist", "build", "harness", "tests", "languages", "benchmarks", "leaderboards/*/submissions"]
html_theme = "furo"
html_title = "harness"
html_show_sourcelink = False
html_copy_source = False
myst_heading_anchors = 4
# Pages of boards are reached from the index of boards, not from the contents.
suppress_warnings = ["toc.not_included"]
nitpicky = True
