"""Language identification, for the justifications of judges and for the texts of items."""

from __future__ import annotations

import io
import re
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any

from harness.content import tags
from harness.errors import StoreError
from harness.parse.vocabulary import Vocabulary, bundled_vocabulary
from harness.row_files import cache_home, write_together

MIN_LETTERS = 20  # nobody can tell the language of a shorter text
UNDETERMINED = "und"
_TEXTS_OF_A_LANGUAGE = 40  # are looked at, to tell it from another one
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
    """Load the model of the identifier, which takes half a second the first time. Errors are raised later, when the identifier is used."""
    with suppress(StoreError):
        _load_identifier()


def is_identifier_loaded() -> bool:
    """Return True if a language can be identified without waiting for the model."""
    return _load_model.cache_info().currsize > 0


def _load_identifier() -> Any:
    with _LOADING:
        return _load_model()


@cache
def _load_model() -> Any:
    from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier

    packed = MODEL_DIR / MODEL_FILE
    try:
        state = packed.stat()
        folder = cache_home() / "identifier" / f"{state.st_size}-{state.st_mtime_ns}"  # of this release of the library
        weights, prior, languages, moves, rows, outputs = _load_unpacked(folder) or _unpack(packed, folder)
    except OSError as err:  # the library unpacks the model into a temporary file
        raise StoreError(
            f"the model that identifies languages cannot be unpacked in {tempfile.gettempdir()} ({err.strerror or err}); "
            "free some disk space there"
        ) from None
    return LanguageIdentifier(weights, prior, languages, moves, outputs, norm_probs=True, tk_row=rows)


def _load_unpacked(folder: Path) -> tuple[Any, ...] | None:
    """Return the parts of the model as an earlier command unpacked them: the large ones are read as texts need them. None without them."""
    import numpy as np

    try:
        weights, moves = (np.load(folder / name, mmap_mode="r") for name in _LARGE_PARTS)
        prior, languages, rows, outputs = (np.load(folder / name) for name in _SMALL_PARTS)
    except (OSError, ValueError, EOFError):  # not there, or half a file
        return None
    return weights, prior, languages.tolist(), memoryview(moves), rows.tolist(), outputs.tolist()


def _unpack(packed: Path, folder: Path) -> tuple[Any, ...]:
    """Return the parts of the model, unpacked, and keep them for the next command: 68 MB that take half a second."""
    import numpy as np
    from py3langid.modelio import load_model

    parts: tuple[Any, ...] = load_model(packed)
    weights, prior, languages, moves, rows, outputs = parts
    files = {}
    arrays = (weights, np.asarray(moves), prior, np.array(languages), np.asarray(rows), np.asarray(outputs, dtype=np.int32))
    for name, array in zip((*_LARGE_PARTS, *_SMALL_PARTS), arrays, strict=True):
        written = io.BytesIO()
        np.save(written, array, allow_pickle=False)
        files[folder / name] = written.getvalue()
    with suppress(StoreError):  # without a cache, each command unpacks it again
        write_together(files)
    return parts


_LARGE_PARTS, _SMALL_PARTS = ("weights.npy", "moves.npy"), ("prior.npy", "languages.npy", "rows.npy", "outputs.npy")


@cache
def known_languages() -> frozenset[str]:
    """Return the base tags of the languages that the identifier knows."""
    return frozenset(map(str, _load_identifier().labels))


@cache
def _load_near_languages() -> list[dict[str, str]]:
    near: list[dict[str, str]] = tomllib.loads(Path(__file__).with_name("near_languages.toml").read_text("utf-8"))["near"]
    return near


def identify_language(text: str) -> tuple[str, float]:
    """Return the base tag of the likeliest language of a text, and its probability."""
    language, probability = _load_identifier().classify(text)
    for near in _load_near_languages():
        if language == near["language"] and not re.search(near["unless"], text):
            return near["is"], float(probability)
    return str(language), float(probability)


def other_language_of(tag: str, texts: Iterable[str]) -> str:
    """Return a sentence if `tag` is also the code of a country and the texts look like the language of that country; else an empty text.

    At least half of the texts look like it then, and hardly any like the language of the tag.

    >>> other_language_of("se", ["Varan kan lämnas tillbaka inom fjorton dagar på vilket postkontor som helst"])
    "'se' is the tag of Northern Sami and the code of a country, and 1 of 1 texts look like Swedish: write 'sv'"
    """
    language = tags.language_of_country(tag)
    if language is None:
        return ""
    long = list(islice((text for text in texts if sum(letter.isalpha() for letter in text) >= MIN_LETTERS), _TEXTS_OF_A_LANGUAGE))
    seen = Counter(identify_language(text)[0] for text in long)
    if not long or seen[language] < len(long) / 2 or seen[tag] > len(long) / 10:
        return ""
    code, country = tags.english_name(tag), tags.english_name(language)
    return (
        f"'{tag}' is the tag of {code} and the code of a country, and {seen[language]} of {len(long)} texts look like {country}: "
        f"write '{language}'"
    )
