"""Language identification, for the justifications of judges and for the texts of items."""

from __future__ import annotations

import re
import tempfile
from contextlib import suppress
from functools import cache
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any

from harness.errors import StoreError
from harness.parse.vocabulary import Vocabulary, bundled_vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

MIN_LETTERS = 20  # nobody can tell the language of a shorter text
UNDETERMINED = "und"
_MAX_CHARACTERS = 2000  # the identifier reads no more: longer texts do not make it surer
_LOADING = Lock()  # two threads would otherwise both load the model
_JSON = re.compile(r"```\w*|\{[^{}]*\}|\[[^\[\]]*\]|\"\w+\"\s*:\s*")


def detect_language(text: str, vocabulary: Vocabulary | None = None) -> str:
    """Return the base tag of the language in which a justification is written, without its JSON and quotations.

    The result is `und` where too few letters are left.
    """
    own_words = without_quotations(text[:_MAX_CHARACTERS], vocabulary)
    letters = list(islice((character for character in own_words if character.isalpha()), MIN_LETTERS))
    return identify_language(own_words)[0] if len(letters) == MIN_LETTERS else UNDETERMINED


def without_quotations(text: str, vocabulary: Vocabulary | None = None) -> str:
    """Remove fragments of JSON and everything in quotation marks: quotations may be in any language.

    `vocabulary` supplies the quotation marks of its languages; the default is that of the bundled packs.

    >>> without_quotations('The text says 「流暢」, which isn\\'t "natural". {"score": 2}').split()
    ['The', 'text', 'says', ',', 'which', "isn't", '.']
    """
    quotations = (bundled_vocabulary() if vocabulary is None else vocabulary).quotations
    return quotations.sub(" ", _JSON.sub(" ", text))


def load_identifier() -> None:
    """Load the model of the identifier, which takes half a second. Errors are raised later, when the identifier is used."""
    with suppress(StoreError):
        _identifier()


def is_identifier_loaded() -> bool:
    """Return True if a language can be identified without waiting for the model."""
    return _model.cache_info().currsize > 0


def _identifier() -> Any:
    with _LOADING:
        return _model()


@cache
def _model() -> Any:
    import numpy as np
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    class Identifier(LanguageIdentifier):  # type: ignore[misc]
        """Keeps the model's half-precision numbers in single precision: results are the same, without a conversion for each text."""

        def __init__(self, weights: NDArray[np.float16], *arguments: Any, **options: Any) -> None:
            super().__init__(weights.astype(np.float32), *arguments, **options)

    try:
        return Identifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as err:  # the library unpacks the model into a temporary file
        raise StoreError(
            f"the model that identifies languages cannot be unpacked in {tempfile.gettempdir()} ({err.strerror or err}); "
            "free some disk space there"
        ) from None


@cache
def known_languages() -> frozenset[str]:
    """Return the base tags of the languages that the identifier knows."""
    return frozenset(map(str, _identifier().labels))


def identify_language(text: str) -> tuple[str, float]:
    """Return the base tag of the likeliest language of a text, and its probability."""
    language, probability = _identifier().classify(text)
    return str(language), float(probability)
