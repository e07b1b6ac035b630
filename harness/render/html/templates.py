"""The templates of `templates/`: jinja2 with escaping and visible hidden characters. A missing name is an error."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from harness.content.tags import autonym, english_name
from harness.pages import environment

_FOLDER = Path(__file__).parent / "templates"


def render(template: str, /, **context: Any) -> Markup:
    """A template filled in. Every text is escaped, and its control characters are made visible."""
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
    """A metric or task without underscores; `all` where it is pooled."""
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
