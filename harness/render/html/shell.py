"""The templates of `templates/`, and the shell of every page: one self-contained file with head, style, body, data and scripts.

Templates are jinja2 with escaping and visible hidden characters; a missing name is an error. The page's own policy forbids requests, and
all scripts and styles except those whose hashes it names (`harness.html_pages`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from harness.content.tags import autonym, english_name
from harness.html_pages import asset, embedded, environment, policy

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
    """Return a whole page; `body` is already escaped by `render`, `title` and `description` (a sentence for lists of pages) are any text.

    `scripts` of `assets/` run in this order after the page has loaded; `tables.js` lets people sort every `<table data-sort>`. They read
    `data`, `{id: object}`, each as JSON in a `<script>` of that id. `width` is `wide`, `full` for tables of many columns, or `narrow` for
    running text. `share` is what previews of links show, as `{property: content}` of Open Graph.
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


_FOLDER = Path(__file__).parent / "templates"


def render(template: str, /, **context: Any) -> Markup:
    """Return a template filled in. Every text is escaped, and its control characters are made visible."""
    return Markup(_environment().get_template(template).render(context))


@cache
def _environment() -> Environment:
    filters: dict[str, Callable[..., Any]] = {
        "name": spaced_name,
        "english": english_name,
        "autonym": autonym,
        "number": grouped_digits,
        "unbroken": unbroken_percents,
    }
    return environment(_FOLDER, filters)


def spaced_name(name: Any) -> str:
    """Return a metric or task without underscores; `all` where it is pooled."""
    return "all" if name == "*" else str(name).replace("_", " ")


def grouped_digits(value: int) -> str:
    """A count with its thousands apart, as everywhere.

    >>> grouped_digits(20000)
    '20,000'
    """
    return f"{value:,}"


def unbroken_percents(text: str) -> str:
    """Text in which no line break separates a number from its percent sign."""
    return text.replace(" %", "\u00a0%")
