"""Replaced texts: an item gets the output of an item in another language, or the damaged version of its own."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from harness.data.further_tables import ORIGINAL
from harness.model import Item
from harness.perturb.kind import Chance, Change, Kind
from harness.perturb.segments import Words

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
                self._add(item, _Candidate(len(text.encode(errors="replace")), item.item_id, _language(item), _origin(item), text))
        for languages in self.by_origin.values():
            for candidates in languages.values():
                candidates.sort()

    def _add(self, item: Item, candidate: _Candidate) -> None:
        for key in _parallel_keys(item):
            self.parallel[key].append(candidate)
        for origin in (candidate.origin, None):
            self.by_origin[item.task, origin][candidate.language].append(candidate)

    def parallel_texts(self, item: Item, text: str) -> list[_Candidate]:
        """The texts in other languages with the same source. Texts of the same origin are preferred."""
        for key in _parallel_keys(item):
            candidates = sorted({c for c in self.parallel.get(key, ()) if c.language != _language(item) and c.text != text})
            if candidates:
                return [c for c in candidates if c.origin == _origin(item)] or candidates
        return []

    def texts_of_similar_length(self, item: Item, text: str) -> list[_Candidate]:
        """The texts in other languages of the same task that are nearest in length. Texts of the same origin are preferred."""
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
    """The language without script and region: Brazilian and European Portuguese are one language here."""
    return item.language.partition("-")[0].lower()


def _origin(item: Item) -> _Origin:
    """The system that wrote the text, and its constructed defect. A partner should differ in its language and in nothing else."""
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
    made: T = _of_last_pool[name][1]
    return made


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
    """The damaged texts in a pool by the id of their original, sorted by their own."""
    index: defaultdict[str, list[Item]] = defaultdict(list)
    for each in sorted(pool, key=lambda each: each.item_id):
        if original := each.fields.get(ORIGINAL):
            index[str(original)].append(each)
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
