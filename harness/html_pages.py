"""Self-contained pages: templates that escape everything, a policy that forbids every request, and JSON that cannot end its element."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2 import Environment  # late: most commands write no page

# What has no sign of its own or moves what stands beside it: C0 and C1 controls but tab and newline, bidi overrides, embeddings and
# isolates, the byte-order mark, line separators of scripts, tags, lone surrogates. Marks that Arabic and Hebrew texts need (U+200E, U+200F,
# U+061C) and joiners stay: an element of its own keeps them from reaching further.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def environment(folder: Path, filters: Mapping[str, Callable[..., Any]] | None = None) -> Environment:
    """Return the templates of a folder. They escape every text, show its control characters, and fail when a name is missing."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    templates.filters |= filters or {}
    return templates


def _finalized(value: Any) -> Any:
    """Return what goes into a page: markup as it is, and of any other text one without hidden characters."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else visible(value)


def visible(text: str) -> str:
    """Return text of others, with signs for its control characters: `␀` and its like for those of ASCII, `⟨U+202E⟩` for others.

    >>> visible("a\\x00b\\u202ec\\r\\n")
    'a␀b⟨U+202E⟩c\\n'
    """
    return _HIDDEN.sub(_sign, text.replace("\r\n", "\n")) if _HIDDEN.search(text) else text


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


@cache
def asset(path: Path) -> str:
    """Return a style sheet or script that a page holds. Raises ValueError if a part of it could end its element."""
    text = path.read_text("utf-8")
    if "</" in text:
        raise ValueError(f"{path.name} holds '</', which could end its element")
    return text


def policy(styles: Sequence[str], programs: Sequence[str], *, connect: str = "") -> str:
    """Return the Content-Security-Policy of a page with these style sheets and scripts; `connect` names the one place that it may ask.

    >>> policy(["a"], []).split("; ")[:3]
    ["default-src 'none'", "style-src 'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='", "script-src 'none'"]
    """
    sources = f"style-src {_hashes(styles)}; script-src {_hashes(programs)}"
    connections = f"; connect-src {connect}" if connect else ""
    return f"default-src 'none'; {sources}{connections}; img-src data:; base-uri 'none'; form-action 'none'"


def _hashes(parts: Sequence[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in parts)
    return " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"


def embedded(value: Any) -> Markup:
    """Return JSON that cannot end its element: `<`, `>` and `&` are written as escapes.

    >>> embedded({"a": "</script>"})
    Markup('{"a":"\\\\u003c/script\\\\u003e"}')
    """
    text = msgspec.json.encode(value).decode()
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)
