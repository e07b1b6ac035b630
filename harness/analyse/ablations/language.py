"""Does a judge justify itself in the language it was asked to?"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

from harness.analyse.ablations.answers import CONDITION, Answers
from harness.analyse.ablations.rows import new_row, put_share, section
from harness.analyse.texts import MIN_LETTERS, identify, known_languages
from harness.columns import NO_VALUE

NOTE = (
    "Languages as py3langid tells them, of justifications without their JSON and quotations; those with fewer than 20 letters left are "
    "not counted (too_short). It knows languages, not their varieties: pt-BR and pt-PT are one to it."
)
_LONGEST = 2000  # characters that are looked at: a longer text is not surer
_JSON = re.compile(r"```\w*|\{[^{}]*\}|\[[^\[\]]*\]|\"\w+\"\s*:\s*")
_QUOTED = re.compile(
    r"“[^”]*”|„[^“”]*[“”]|«[^»]*»|»[^«]*«|「[^」]*」|『[^』]*』|《[^》]*》|\"[^\"]*\"|‘[^’]*’(?!\w)|(?<!\w)'[^\n]+?'(?!\w)"
)


def justification_language(answers: Answers) -> dict[str, Any] | None:
    """Share of justifications in the language asked, by language, judge and condition; none where no justification is long enough."""
    clean = answers.clean
    clean = clean.take((clean.columns["justification"].codes != NO_VALUE) & (clean.columns["asked_language"].codes != NO_VALUE))
    if not len(clean):
        return None
    column = clean.columns["justification"]
    found = np.array([language_of(text) for text in column.values], object)[column.codes]
    rows = []
    for key, at in clean.cells(("language",), (*CONDITION, "asked_language")):
        told = found[at]
        long = np.array([language is not None for language in told])
        asked = key["asked_language"].partition("-")[0]
        row = new_row(key, n=int(long.sum()), too_short=int((~long).sum()))
        known = asked in known_languages()
        right = np.where(long & known, told == asked, np.nan)
        why = "no justification of 20 letters" if known else f"the identifier does not know '{asked}'"
        put_share(row, "in_asked_language", right, clean.group[at], clean.drawing, why)
        others = Counter(language for language in told.tolist() if language not in (None, asked))
        row["other_languages"] = dict(sorted(others.items(), key=lambda pair: (-pair[1], pair[0]))[:3])
        rows.append(row)
    return section("Language of the justifications", rows, note=NOTE) if any(row["n"] for row in rows) else None


def language_of(text: str) -> str | None:
    """The base tag of a justification's own language, without JSON and quotations; None if too little is left to tell."""
    own = without_quotations(text[:_LONGEST])
    return identify(own)[0] if sum(letter.isalpha() for letter in own) >= MIN_LETTERS else None


def without_quotations(text: str) -> str:
    """The text without fragments of JSON and without what stands between quotation marks, which may be in any language.

    >>> without_quotations('The text says 「流暢です」, which isn\\'t "natural". {"score": 2}').split()
    ['The', 'text', 'says', ',', 'which', "isn't", '.']
    """
    return _QUOTED.sub(" ", _JSON.sub(" ", text))
