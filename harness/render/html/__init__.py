"""Reports and comparisons as one self-contained page each: no network, no markup but ours."""

from harness.render.html.report import report_page
from harness.render.html.shell import shell
from harness.render.html.templates import render

__all__ = ["render", "report_page", "shell"]
