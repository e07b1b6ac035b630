"""Names in braces in the texts of content files, and their values."""

from __future__ import annotations


def fill_placeholders(template: str, **values: str) -> str:
    """Return the template with each `{name}` replaced by its value. Other braces of content files stay: this is not `str.format`.

    >>> fill_placeholders("{first}, then {second}", first="a {second}", second="b")
    'a {second}, then b'
    """
    pieces = template.split("{")
    parts = [pieces[0]]
    for piece in pieces[1:]:
        name, brace, rest = piece.partition("}")
        parts.append(values[name] + rest if brace and name in values else "{" + piece)
    return "".join(parts)
