"""The words of the labelling page: the required strings of a language, with English for missing ones."""

from __future__ import annotations

import re
from collections import Counter

import msgspec

from harness.content import tags
from harness.content.problems import Complaints, key_pattern
from harness.content.specs import Interface

FALLBACK = "en"  # the language of the program; its file says which strings there are
_IN_BRACES = re.compile(r"\{[^{}\n]*\}")


def interface_complaints(interface: Interface, english: Interface) -> Complaints:
    """Strings that the English does not have, and strings that lack or invent a name in braces; each with a pattern for its line."""
    for key, text in interface.strings.items():
        if key not in english.strings:
            yield f"'{key}' is not a string of the labelling page.{tags.suggest(key, english.strings)} Remove it", key_pattern(key)
            continue
        names, expected = _IN_BRACES.findall(text), _IN_BRACES.findall(english.strings[key])
        if Counter(names) != Counter(expected):
            yield f"'{key}' contains {_listed(names)}, but should contain {_listed(expected)}, each once", key_pattern(key)
        if not text.strip():
            yield f"'{key}' is blank; translate it", key_pattern(key)


def missing_strings(interface: Interface, english: Interface) -> Complaints:
    """Strings of the English that are not translated. The page shows them in English, so that an older translation still works."""
    for key in (key for key in english.strings if key not in interface.strings):
        yield f"'{key}' is missing; translate it (the English is: {english.strings[key]})", r"^\[strings\]"


def completed(interface: Interface, english: Interface) -> Interface:
    """Return the interface with the strings that it lacks, in English."""
    return msgspec.structs.replace(interface, strings={**english.strings, **interface.strings})


def _listed(marks: list[str]) -> str:
    return ", ".join(marks) or "nothing in braces"
