"""Reports and comparisons as one self-contained page each: no network, and no markup from elsewhere."""

from harness.render.html.compared_page import comparison_page
from harness.render.html.report import report_page
from harness.render.html.shell import render, shell

__all__ = ["comparison_page", "render", "report_page", "shell"]
