"""The templates of `templates/`: jinja2 that escapes everything, shows hidden characters, and fails when a name is missing."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.content.tags import autonym, english_name

_FOLDER = Path(__file__).parent / "templates"
# What has no sign of its own or moves what stands beside it: C0 and C1 controls but tab and newline, bidi overrides, embeddings and
# isolates, the byte-order mark, line separators of scripts, tags, lone surrogates. Marks that Arabic and Hebrew texts need (U+200E, U+200F,
# U+061C) and joiners stay: an element of its own keeps them from reaching further.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def render(template: str, /, **context: Any) -> Markup:
    """A template filled in. Every text is escaped, and its control characters are made visible."""
    return Markup(_environment().get_template(template).render(context))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters |= {
        "name": spaced_name,
        "english": english_name,
        "autonym": autonym,
        "number": grouped_digits,
        "unbroken": unbroken_percents,
    }
    return environment


def _finalized(value: Any) -> Any:
    """What goes into a page: markup as it is, and of any other text one without hidden characters."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else visible(value)


def spaced_name(name: Any) -> str:
    """A metric or task without underscores; `all` where it is pooled."""
    return "all" if name == "*" else str(name).replace("_", " ")


def grouped_digits(value: int) -> str:
    """A count with its thousands apart, by a space that does not break.

    >>> grouped_digits(20000)
    '20\\u202f000'
    """
    return f"{value:,}".replace(",", "\u202f")


def unbroken_percents(text: str) -> str:
    """Text in which no line break separates a number from its percent sign."""
    return text.replace(" %", "\u00a0%")


def visible(text: str) -> str:
    """Text of others, with signs for its control characters: `␀` and its like for those of ASCII, `⟨U+202E⟩` for others.

    >>> visible("a\\x00b\\u202ec\\r\\n")
    'a␀b⟨U+202E⟩c\\n'
    """
    return _HIDDEN.sub(_sign, text.replace("\r\n", "\n")) if _HIDDEN.search(text) else text


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"
