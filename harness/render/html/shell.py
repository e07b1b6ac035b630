"""The shell of every page: one self-contained file with head, style, body, data and scripts.

The page's own policy forbids requests, and all scripts and styles except those whose hashes it names (`harness.pages`). Style and scripts
are the files of `assets/`; the body comes from templates, which escape everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from harness.pages import asset, embedded, policy
from harness.render.html.templates import render

_ASSETS = Path(__file__).parent / "assets"
STYLE = "style.css"


def shell(
    title: str,
    body: Markup,
    *,
    scripts: Sequence[str] = (),
    data: Mapping[str, Any] | None = None,
    description: str = "",
    width: str = "wide",
    share: Mapping[str, str] | None = None,
) -> str:
    """Return a whole page.

    Args:
        title: the title of the window; any text.
        body: the content, already escaped by `render`.
        scripts: files of `assets/`, in the order in which they run after the page has loaded. `tables.js` lets people sort every
            `<table data-sort>`.
        data: `{id: object}`, each as JSON in a `<script type="application/json">` of that id, for the scripts to read.
        description: one sentence for lists of pages.
        width: `wide`; `full` for tables of many columns, `narrow` for running text.
        share: what previews of links show, as `{property: content}` of Open Graph.
    """
    style = asset(_ASSETS / STYLE)
    programs = [asset(_ASSETS / name) for name in scripts]
    return render(
        "shell.html",
        title=title,
        description=description,
        width=width,
        share=share or {},
        policy=policy([style], programs),
        style=Markup(style),
        body=body,
        data={name: embedded(value) for name, value in (data or {}).items()},
        scripts=[Markup(program) for program in programs],
    )
