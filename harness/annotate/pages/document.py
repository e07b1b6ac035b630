"""The page itself: one file with its style, scripts and data. Its own policy forbids all requests but those to a local server."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from harness.exchange.labels.sheet import right_to_left
from harness.html_pages import asset, embedded, environment, policy

_FOLDER = Path(__file__).parent
_templates = cache(environment)
_STYLE = "page.css"
# Each has one idea; a later one may use the earlier ones. The first stands before the data: the browser opens its storage meanwhile.
SCRIPTS = (
    *("storage.js", "lock.js", "dom.js", "answers.js", "files.js"),
    "marks.js",
    "questions.js",
    "texts.js",
    "clock.js",
    "screens.js",
    "session.js",
)
SERVED = "server.js"
_EMBEDDED = '<script type="application/json" id="{}">(.*?)</script>'


def document(data: Mapping[str, Any], *, interface_language: str, token: str = "") -> str:
    """Return a whole page, from the JSON of `page_data`; its own words are in `interface_language`.

    `token` is that of the annotator on a local server, to which the page then sends answers; empty for a page that is sent as a file.
    """
    style = asset(_FOLDER / "assets" / _STYLE)
    items = [{name: value for name, value in item.items() if name != "texts"} for item in data["items"]]
    names = (*SCRIPTS[:-1], SERVED, SCRIPTS[-1]) if token else SCRIPTS
    scripts = [asset(_FOLDER / "assets" / name) for name in names]
    return (
        _templates(_FOLDER / "templates")
        .get_template("page.html")
        .render(
            language=interface_language,
            direction="rtl" if right_to_left(interface_language) else "ltr",
            policy=policy([style], scripts, connect="'self'" if token else ""),
            strings=data["strings"],
            style=Markup(style),
            data=embedded({**data, "items": items, "token": token}),
            texts=embedded([item["texts"] for item in data["items"]]),
            scripts=[Markup(script) for script in scripts],
        )
    )


def data_of(page: str) -> dict[str, Any] | None:
    """Return the JSON that `document` made a page of; None if it is no such page."""
    first, last = (re.search(_EMBEDDED.format(name), page, re.DOTALL) for name in ("page", "texts"))
    if first is None or last is None:
        return None
    data: dict[str, Any] = json.loads(first[1])
    for item, texts in zip(data["items"], json.loads(last[1]), strict=True):
        item["texts"] = texts
    return data
