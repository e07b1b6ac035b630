"""The text of another language in the place of the item's own."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from harness.model import Item
from harness.perturb.chance import Chance
from harness.perturb.kind import Change, Kind
from harness.perturb.segments import Words

NEAREST = 8  # so many texts of like length a partner is drawn from

_Likeness = tuple[str, str]


class _Candidate(NamedTuple):
    size: int  # UTF-8 bytes: across scripts nearer to equal content than a count of characters
    item_id: str
    language: str
    likeness: _Likeness
    text: str


class _Index:
    """The texts of a pool, by what a partner is looked for."""

    def __init__(self, pool: Iterable[Item], field: str) -> None:
        self.parallel: dict[tuple[str, str, str], list[_Candidate]] = defaultdict(list)
        self.alike: dict[tuple[str, _Likeness | None], dict[str, list[_Candidate]]] = defaultdict(lambda: defaultdict(list))
        for item in pool:
            text = item.fields.get(field)
            if isinstance(text, str) and text.strip():
                self._add(item, _Candidate(len(text.encode(errors="replace")), item.item_id, _language(item), _likeness(item), text))
        for languages in self.alike.values():
            for candidates in languages.values():
                candidates.sort()

    def _add(self, item: Item, candidate: _Candidate) -> None:
        for key in _parallels(item):
            self.parallel[key].append(candidate)
        for likeness in (candidate.likeness, None):
            self.alike[item.task, likeness][candidate.language].append(candidate)

    def parallels(self, item: Item, text: str) -> list[_Candidate]:
        """Texts on the same source in other languages: those made alike, where there are any."""
        for key in _parallels(item):
            found = sorted({c for c in self.parallel.get(key, ()) if c.language != _language(item) and c.text != text})
            if found:
                return [c for c in found if c.likeness == _likeness(item)] or found
        return []

    def of_like_length(self, item: Item, text: str) -> list[_Candidate]:
        """The texts in other languages that are nearest in length, on the same task: those made alike, where there are any."""
        for likeness in (_likeness(item), None):
            near = self._near(self.alike.get((item.task, likeness), {}), _language(item), text)
            if near:
                return near
        return []

    def _near(self, languages: dict[str, list[_Candidate]], own: str, text: str) -> list[_Candidate]:
        size = len(text.encode())
        near: list[_Candidate] = []
        for language, candidates in languages.items():
            if language != own:
                middle = bisect_left(candidates, (size,))
                near += [c for c in candidates[max(0, middle - NEAREST) : middle + NEAREST] if c.text != text]
        return sorted(near, key=lambda c: (abs(math.log(c.size / size)), c))[:NEAREST]


def _language(item: Item) -> str:
    """The language without script and region: Brazilian is no other language than European Portuguese."""
    return item.language.partition("-")[0].lower()


def _likeness(item: Item) -> _Likeness:
    """Which system wrote the text, and with which defect: a partner should differ in its language and in nothing else."""
    return item.system or "", str(item.fields.get("construction", ""))


def _parallels(item: Item) -> list[tuple[str, str, str]]:
    """Keys of the texts with the same source, the best first."""
    named = [("parallel", item.parallel_id), ("group", item.group)]
    return [(item.task, kind, name) for kind, name in named if name]


# The index of the pool that was used last, by field: a plan asks for many items of one pool. Only tuples cannot change meanwhile.
_last: dict[str, tuple[Sequence[Item], _Index]] = {}


def _index(pool: Sequence[Item], field: str) -> _Index:
    if not isinstance(pool, tuple):
        return _Index(pool, field)
    if field not in _last or _last[field][0] is not pool:
        _last[field] = pool, _Index(pool, field)
    return _last[field][1]


def swap_language(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """The output of an item in another language: one with the same parallel id or group, else one of the same task and like length.

    The order of the pool does not matter. Realised: `parallel`, 1 where the partner has the same source, else 0; `length`, its UTF-8
    bytes as a ratio to those of the text.
    """
    index = _index(pool, words.field)
    parallel = index.parallels(item, words.text)
    candidates = parallel or index.of_like_length(item, words.text)
    if not candidates:
        return None
    partner = Chance(seed).pick(candidates)
    return Change(partner.text, {"parallel": float(bool(parallel)), "length": partner.size / len(words.text.encode())})


SWAP_LANGUAGE = Kind(
    name="swap-language",
    summary="the text of an item in another language",
    doses=None,
    heeds_segmenter=False,
    moves={"linguistic_acceptability": -1},
    perturb=swap_language,
)
