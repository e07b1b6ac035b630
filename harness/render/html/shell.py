"""The shell of every page: one self-contained file with head, style, body, data and scripts.

The page's own policy forbids requests, and all scripts and styles except those whose hashes it names. Style and scripts are the files
of `assets/`; the body comes from templates, which escape everything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import Markup

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
    """
    style = asset(STYLE)
    programs = [asset(name) for name in scripts]
    return render(
        "shell.html",
        title=title,
        description=description,
        width=width,
        policy=policy([style], programs),
        style=Markup(style),
        body=body,
        data={name: embedded(value) for name, value in (data or {}).items()},
        scripts=[Markup(program) for program in programs],
    )


@cache
def asset(name: str) -> str:
    """A style sheet or script of `assets/`. Raises ValueError if a part of it could end its element."""
    text = (_ASSETS / name).read_text("utf-8")
    if "</" in text:
        raise ValueError(f"{name} holds '</', which could end its element")
    return text


def policy(styles: Sequence[str], programs: Sequence[str]) -> str:
    """The Content-Security-Policy of a page with these style sheets and scripts.

    >>> policy(["a"], []).split("; ")[:3]
    ["default-src 'none'", "style-src 'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='", "script-src 'none'"]
    """
    own = f"style-src {_hashes(styles)}; script-src {_hashes(programs)}"
    return f"default-src 'none'; {own}; img-src data:; base-uri 'none'; form-action 'none'"


def _hashes(parts: Sequence[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in parts)
    return " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"


def embedded(value: Any) -> Markup:
    """JSON that cannot end its element: `<`, `>` and `&` are written as escapes.

    >>> embedded({"a": "</script>"})
    Markup('{"a":"\\\\u003c/script\\\\u003e"}')
    """
    text = msgspec.json.encode(value).decode()
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)
