"""Texts: names and ids in one form, values in place of their names, and what is safe in terminals."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

# C0 and C1 controls except tab and newline, and characters that reorder or hide text: bidi controls, the byte-order mark.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_LINE_BREAKS = re.compile(r"\s*[\n\r\u2028\u2029]\s*")
# GitHub reads a command where a line begins with `::`, after whatever white space, and where `##[` stands anywhere in a line.
INKLESS = r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]*"
_LOG_COMMAND = re.compile(rf"(?:^|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]){INKLESS}:(?=:)|##(?=\[)")
_WHOLE_NUMBER = re.compile(r"[+-]?\d+\.0+", re.ASCII)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")  # C0 and C1 but tab, line feed and carriage return


def as_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple; a text is one name, not its letters.

    >>> as_names("language"), as_names(["ja", "cs"])
    (('language',), ('ja', 'cs'))
    """
    return (names,) if isinstance(names, str) else tuple(names)


def quoted(names: Iterable[str]) -> str:
    """Join names for a sentence.

    >>> quoted(["ja", "cs"])
    "'ja', 'cs'"
    """
    return ", ".join(f"'{name}'" for name in names)


def short_repr(value: object, name: str, **counts: int) -> str:
    """Return what a notebook shows of an object that holds much: its kind, its name and how much it holds.

    >>> short_repr(object(), "pariksha", items=1200)
    "<object 'pariksha': 1,200 items>"
    """
    counted = ", ".join(f"{count:,} {what}" for what, count in counts.items())
    return f"<{type(value).__name__}{f' {name!r}' if name else ''}: {counted}>"


def without_controls(text: str) -> str:
    """Return text with U+FFFD in place of each control character, so that readers notice it."""
    return _CONTROLS.sub("\ufffd", text)


def in_nfc(value: Any) -> Any:
    """Return a text in Unicode's composed form, and any other value as it is.

    >>> in_nfc("e\u0301") == "\u00e9", in_nfc(7)
    (True, 7)
    """
    if not isinstance(value, str) or unicodedata.is_normalized("NFC", value):
        return value
    return unicodedata.normalize("NFC", value)


def normalised(text: str) -> str:
    """Return a name or a text in one form: composed letters (NFC), no invisible characters, single blanks, none at the ends.

    >>> normalised("Eva\\u200b  Nova\\u0301\\u00a0")
    'Eva Nová'
    """
    if text.isascii():  # nothing to compose, and no invisible character: texts in English are compared by the million
        return " ".join(text.split())
    invisible = [ord(c) for c in set(text) if unicodedata.category(c) == "Cf"]  # first: one may stand between a letter and its accent
    if invisible:
        text = text.translate(dict.fromkeys(invisible))
    return " ".join(unicodedata.normalize("NFC", text).split())


def normalised_id(text: str) -> str:
    """Return an id in one form, as `normalised`, and a whole number without the fraction that frames and spreadsheets write.

    >>> normalised_id(" 7.0"), normalised_id("1.5"), normalised_id("007")
    ('7', '1.5', '007')
    """
    name = normalised(text)
    return name.partition(".")[0] if _WHOLE_NUMBER.fullmatch(name) else name


def person_key(annotator_id: str) -> str:
    """Return what two spellings of one annotator's id have in common: the normalised id in lower case.

    >>> person_key("EVA  Nová") == person_key("Eva Nova\\u0301")
    True
    """
    return normalised_id(annotator_id).casefold()


def terminal_safe(text: str) -> str:
    """Return text without control characters, escape characters and bidi controls: safe in a terminal.

    >>> terminal_safe("a\\x1b[31mb\\u202ec")
    'a[31mbc'
    """
    return _UNSAFE.sub("", text)


def without_log_commands(text: str) -> str:
    """Return lines of a log with a space inside of what GitHub would carry out as a command of the workflow.

    >>> without_log_commands("::add-mask::x\\n  ::error::y\\na::b ##[endgroup]")
    ': :add-mask::x\\n  : :error::y\\na::b ## [endgroup]'
    """
    return _LOG_COMMAND.sub(r"\g<0> ", text)


def one_line(text: str) -> str:
    """Return text that is safe in a terminal, on one line: names of judges and texts are part of headings.

    >>> one_line("judge\\n## Use it\\u2028now")
    'judge ## Use it now'
    """
    return _LINE_BREAKS.sub(" ", terminal_safe(text))


def broken_command(command: str, width: int) -> list[str]:
    """Return a command in lines of at most `width` characters that a shell reads as one: all but the last end with a backslash.

    A part that is longer is not broken.

    >>> broken_command("harness labels page set --lang cs --out pages", 30)
    ['harness labels page set \\\\', '  --lang cs --out pages']
    """
    from rich.cells import cell_len

    lines = [""]
    for part in re.split(r" (?=--)", command):
        if lines[-1] and cell_len(f"{lines[-1]} {part} \\") > width:
            lines[-1] += " \\"
            lines.append(f"  {part}")
        else:
            lines[-1] = f"{lines[-1]} {part}" if lines[-1] else part
    return lines


_MOST_ABSENT = 8  # columns without room that are named


def absent_words(headings: Sequence[str]) -> str:
    """Return a line that names the columns without room in a terminal; empty if all have room."""
    if not headings:
        return ""
    more = f" and {len(headings) - _MOST_ABSENT} more" if len(headings) > _MOST_ABSENT else ""
    return f"Not in this width: {', '.join(headings[:_MOST_ABSENT])}{more}. A wider window has them, and so has --json."


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
