"""Labels by people who have nothing but a browser: pages to label on, and a small local server for them."""

from harness.labelling.page import PageOptions, PagesSummary, make_pages

__all__ = ["PageOptions", "PagesSummary", "make_pages"]
