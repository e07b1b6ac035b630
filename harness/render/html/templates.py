"""The templates of `templates/`: jinja2 that escapes everything, and says so when a name is missing."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.content.tags import autonym, english_name
from harness.render.html.visible import visible

_FOLDER = Path(__file__).parent / "templates"


def render(template: str, /, **context: Any) -> Markup:
    """A template filled in. Every text is escaped, and its control characters are made visible."""
    return Markup(_environment().get_template(template).render(context))


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    made.filters |= {"name": spaced, "english": english_name, "autonym": autonym, "number": counted, "tight": tight}
    return made


def _shown(value: Any) -> Any:
    """What is put into a page: markup as it is, of everything else a text in which nothing hides."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else visible(value)


def spaced(name: Any) -> str:
    """A metric or task as people write it: without underscores; `*` pools all."""
    return "all" if name == "*" else str(name).replace("_", " ")


def counted(value: int) -> str:
    """A count with its thousands told apart, by a space that does not break.

    >>> counted(20000)
    '20\\u202f000'
    """
    return f"{value:,}".replace(",", "\u202f")


def tight(text: str) -> str:
    """Numbers that stay with their percent signs."""
    return text.replace(" %", "\u00a0%")
