"""In which language is a text? Asked of judges' justifications, and of items' own texts."""

from __future__ import annotations

import re
import tempfile
from contextlib import suppress
from functools import cache
from threading import Lock
from typing import Any

from harness.errors import StoreError

MIN_LETTERS = 20  # of a shorter text nobody can tell the language
UNDETERMINED = "und"
_loading = Lock()  # or two threads would load it
_LONGEST = 2000  # characters that are looked at: a longer text is not surer
_JSON = re.compile(r"```\w*|\{[^{}]*\}|\[[^\[\]]*\]|\"\w+\"\s*:\s*")
_QUOTED = re.compile(
    r"“[^”]*”|„[^“”]*[“”]|«[^»]*»|»[^«]*«|「[^」]*」|『[^』]*』|《[^》]*》|\"[^\"]*\"|‘[^’]*’(?!\w)|(?<!\w)'[^\n]+?'(?!\w)"
)


def language_of(text: str) -> str:
    """The base tag of a justification's own language, without JSON and quotations; `und` if too little is left to tell."""
    own = without_quotations(text[:_LONGEST])
    return identify(own)[0] if sum(map(str.isalpha, own)) >= MIN_LETTERS else UNDETERMINED


def without_quotations(text: str) -> str:
    """The text without fragments of JSON and without what stands between quotation marks, which may be in any language.

    >>> without_quotations('The text says 「流暢です」, which isn\\'t "natural". {"score": 2}').split()
    ['The', 'text', 'says', ',', 'which', "isn't", '.']
    """
    return _QUOTED.sub(" ", _JSON.sub(" ", text))


def load() -> None:
    """Load the identifier's model, which takes half a second; what goes wrong is heard by who needs it."""
    with suppress(StoreError):
        _identifier()


def is_loaded() -> bool:
    """Whether a text's language can be told without waiting."""
    return _model.cache_info().currsize > 0


def _identifier() -> Any:
    with _loading:
        return _model()


@cache
def _model() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as err:  # it is unpacked into a temporary file
        raise StoreError(
            f"the model that tells languages cannot be unpacked in {tempfile.gettempdir()} ({err.strerror or err}); make room there"
        ) from None


def known_languages() -> frozenset[str]:
    """The languages that the identifier can tell, by their base tags."""
    return frozenset(map(str, _identifier().labels))


def identify(text: str) -> tuple[str, float]:
    """The base tag of the language that a text looks like, and how sure that is (0 to 1)."""
    language, probability = _identifier().classify(text)
    return str(language), float(probability)
