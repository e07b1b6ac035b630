"""Titles that look like another judge's: readers cannot tell rows of a table apart if their titles look the same.

Detected: titles that equal another judge's title, name or model when case, width, accents, punctuation, spaces and common look-alike
letters are ignored (Cyrillic and Greek beside Latin, 0 and O, 1, I and l), and words that mix such alphabets. Not detected: titles with
added words ("GPT-4o new"), rarer look-alikes, and names of models that are not on the board.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_LOOK_ALIKES = str.maketrans(
    "АВЕКМНОРСТУХІЈЅԚԜӀавекмнорстухіјѕԛԝһԁӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυχ01iI",
    "abekmhopctyxljsqwlabekmhopctyxljsqwhdlabezhlkmnoptyxalkvopuxolll",
)
_ALPHABETS = {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"}  # alphabets that share look-alike letters
_POINT = "\ufffc"  # replaces a point between digits, which belongs to the number
_RESERVED = ("people", "people, leave-one-out")  # rows of tables that are not judges


def skeleton(text: str) -> str:
    """A form of a text that is equal for texts that look alike. Points between digits count.

    >>> skeleton("GPT-4o") == skeleton("ｇｐｔ 4О") == skeleton("G.P.T. 40")
    True
    >>> skeleton("gpt-4.1") == skeleton("gpt-41")
    False
    """
    marked = re.sub(r"(?<=\d)\.(?=\d)", _POINT, unicodedata.normalize("NFKD", text))
    plain = marked.translate(_LOOK_ALIKES).casefold().translate(_LOOK_ALIKES)
    return "".join(c for c in plain if c == _POINT or unicodedata.category(c)[0] in "LN").replace("rn", "m")


def title_complaints(title: str) -> Iterator[str]:
    """List the problems of a title: nothing to read in it, look-alike letters of several alphabets, or a name that tables use."""
    if title and not skeleton(title):
        yield "the title has no letter and no digit; leave it out, then tables show the judge's name"
    for word in re.findall(r"[^\W\d_]+", title):
        alphabets = sorted({unicodedata.name(letter, "").split(" ")[0] for letter in word} & _ALPHABETS)
        if len(alphabets) > 1:
            yield f"the word '{word}' mixes {' and '.join(map(str.capitalize, alphabets))} letters, which look alike; use one alphabet"
    if skeleton(title) in map(skeleton, _RESERVED):
        yield f"tables have another row called '{title}'; choose another title"
