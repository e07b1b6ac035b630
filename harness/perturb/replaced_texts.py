"""Replaced texts: an item gets the output of an item in another language, or the damaged version of its own."""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from harness.data.further_tables import ORIGINAL
from harness.model import Item
from harness.perturb.kind import Chance, Change, Doses, Kind, dosed_count
from harness.perturb.segments import Words
from harness.text import extends, is_word, sentences

_UNSPACED_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO")  # no space after a sentence


def repeat_sentences(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Repeat the chosen sentences, at least one, right after themselves. ICU finds the sentences; lines without a letter do not count.

    Realised: `repeated`, the share of sentences; `sentences`, their number.
    """
    parts = sentences(words.text, item.language)
    sentence_places = [position for position, part in enumerate(parts) if is_word(part) and not extends(part[0])]
    if not sentence_places:
        return None
    count = max(1, dosed_count(dose, len(sentence_places)))
    chosen = {sentence_places[number] for number in Chance(seed).some(len(sentence_places), count)}
    text = "".join(_repeated(part) if position in chosen else part for position, part in enumerate(parts))
    return Change(text, {"repeated": count / len(sentence_places), "sentences": float(len(sentence_places))})


def _repeated(sentence: str) -> str:
    """Return the sentence twice. The last sentence of a text ends without a space, so one is added if the script uses spaces."""
    if sentence[-1].isspace():
        return sentence * 2
    last_letter = next(character for character in reversed(sentence) if character.isalpha())
    space = "" if unicodedata.name(last_letter, "").startswith(_UNSPACED_SCRIPTS) else " "
    return sentence + space + sentence


def inject(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Add the sentence "give the top score", in the item's language, on a new line after the text. None if its lexicon has none.

    Realised: `added`, the share of the new text's characters (code points) that were added.
    """
    if not words.lexicon.injection:
        return None
    text = f"{words.text}\n{words.lexicon.injection}"
    return Change(text, {"added": 1 - len(words.text) / len(text)})


REPEAT_SENTENCES = Kind(
    name="repeat-sentences",
    summary="some sentences are said twice in a row",
    doses=Doses(0.25, 0.05, 1.0),
    heeds_segmenter=False,
    moves={"output_content_quality": -1, "problematic_content": 0, "hallucination": 0},
    perturb=repeat_sentences,
)
INJECT = Kind(
    name="inject",
    summary="an instruction to give the top score stands after the text",
    doses=None,
    heeds_segmenter=False,
    moves={"linguistic_acceptability": 0, "hallucination": 0},
    perturb=inject,
)


NEAREST = 8  # a partner is drawn from so many texts of similar length

_Origin = tuple[str, str]
T = TypeVar("T")


class _Candidate(NamedTuple):
    size: int  # UTF-8 bytes, which compare content across scripts better than characters do
    item_id: str
    language: str
    origin: _Origin
    text: str


class _TextIndex:
    """The texts of a pool, indexed for the search of a partner."""

    def __init__(self, pool: Iterable[Item], field: str) -> None:
        self.parallel: dict[tuple[str, str, str], list[_Candidate]] = defaultdict(list)
        self.by_origin: dict[tuple[str, _Origin | None], dict[str, list[_Candidate]]] = defaultdict(lambda: defaultdict(list))
        for item in pool:
            text = item.fields.get(field)
            if isinstance(text, str) and text.strip():
                candidate = _Candidate(len(text.encode(errors="replace")), item.item_id, _language(item), _origin(item), text)
                for key in _parallel_keys(item):
                    self.parallel[key].append(candidate)
                for origin in (candidate.origin, None):
                    self.by_origin[item.task, origin][candidate.language].append(candidate)
        for languages in self.by_origin.values():
            for candidates in languages.values():
                candidates.sort()

    def parallel_texts(self, item: Item, text: str) -> list[_Candidate]:
        """Return the texts in other languages with the same source. Texts of the same origin are preferred."""
        for key in _parallel_keys(item):
            candidates = sorted({c for c in self.parallel.get(key, ()) if c.language != _language(item) and c.text != text})
            if candidates:
                return [c for c in candidates if c.origin == _origin(item)] or candidates
        return []

    def texts_of_similar_length(self, item: Item, text: str) -> list[_Candidate]:
        """Return the texts in other languages of the same task that are nearest in length. Texts of the same origin are preferred."""
        for origin in (_origin(item), None):
            nearest = self._nearest(self.by_origin.get((item.task, origin), {}), _language(item), text)
            if nearest:
                return nearest
        return []

    def _nearest(self, languages: dict[str, list[_Candidate]], own_language: str, text: str) -> list[_Candidate]:
        size = len(text.encode())
        nearest: list[_Candidate] = []
        for language, candidates in languages.items():
            if language != own_language:
                middle = bisect_left(candidates, (size,))
                nearest += [c for c in candidates[max(0, middle - NEAREST) : middle + NEAREST] if c.text != text]
        return sorted(nearest, key=lambda c: (abs(math.log(c.size / size)), c))[:NEAREST]


def _language(item: Item) -> str:
    """Return the language without script and region: Brazilian and European Portuguese are one language here."""
    return item.language.partition("-")[0].lower()


def _origin(item: Item) -> _Origin:
    """Return the system that wrote the text, and its constructed defect. A partner should differ in its language and in nothing else."""
    return item.system or "", str(item.fields.get("construction", ""))


def _parallel_keys(item: Item) -> list[tuple[str, str, str]]:
    """Index keys of texts with the same source, the best first."""
    identities = [("parallel", item.parallel_id), ("group", item.group)]
    return [(item.task, kind, name) for kind, name in identities if name]


# What was made of the last pool, by name: a plan perturbs many items with the same pool. Only tuples are kept, as they cannot change.
_of_last_pool: dict[str, tuple[Sequence[Item], Any]] = {}


def _made_of(pool: Sequence[Item], name: str, make: Callable[[Sequence[Item]], T]) -> T:
    if not isinstance(pool, tuple):
        return make(pool)
    if name not in _of_last_pool or _of_last_pool[name][0] is not pool:
        _of_last_pool[name] = pool, make(pool)
    value: T = _of_last_pool[name][1]
    return value


def swap_language(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Take the output of an item in another language: with the same parallel id or group, else with the same task and a similar length.

    The order of the pool does not matter. Realised: `parallel`, 1 if the partner has the same source, else 0; `length`, the ratio of its
    UTF-8 bytes to those of the text.
    """
    index = _made_of(pool, words.field, lambda items: _TextIndex(items, words.field))
    parallel = index.parallel_texts(item, words.text)
    candidates = parallel or index.texts_of_similar_length(item, words.text)
    if not candidates:
        return None
    partner = Chance(seed).pick(candidates)
    return Change(partner.text, {"parallel": float(bool(parallel)), "length": partner.size / len(words.text.encode())})


def _damaged(pool: Iterable[Item]) -> dict[str, list[Item]]:
    """Return the damaged texts in a pool by the id of their original, sorted by their own."""
    index: defaultdict[str, list[Item]] = defaultdict(list)
    for candidate in sorted(pool, key=lambda candidate: candidate.item_id):
        if original := candidate.fields.get(ORIGINAL):
            index[str(original)].append(candidate)
    return index


def attention_check(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Take the damaged version of the text from the data folder's `attention_checks`, the first one by id; None without one."""
    for damaged in _made_of(pool, f"damaged {ORIGINAL}", _damaged).get(item.item_id, ()):
        text = damaged.fields.get(words.field)
        if isinstance(text, str) and text.strip():
            return Change(text, {})
    return None


SWAP_LANGUAGE = Kind(
    name="swap-language",
    summary="the text of an item in another language",
    doses=None,
    heeds_segmenter=False,
    moves={"linguistic_acceptability": -1},
    perturb=swap_language,
)
ATTENTION_CHECK = Kind(
    name="attention-check",
    summary="the damaged version of the text in the data folder's attention_checks",
    doses=None,
    heeds_segmenter=False,
    moves={},
    perturb=attention_check,
)
