"""The bundled kinds of perturbations: changed numbers, words, characters and sentences, and texts that take the place of the item's."""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from harness.content.tags import likely_script
from harness.data.further_tables import ORIGINAL
from harness.model import Item
from harness.perturb.kind import Chance, Change, Doses, Kind, Words, dosed_count
from harness.segmentation import extends, graphemes, is_word, sentences

# Digits of any script, with marks inside as in 1,234.5 or 10:30 or 2024-05-01.
_NUMBER = re.compile(r"\d+(?:[.,:/٫٬’'-]\d+)*")

# Letters of scripts that write spaces around numbers, and the signs inside identifiers: the 19 of "COVID-19", the 5 of "x_5" and the 2.0
# of "v2.0" are not numbers. Japanese, Chinese, Thai and Korean letters may touch a number: 2023年.
_LETTER = r"A-Za-zªµº\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u052f\u1d00-\u1fff"
_IDENTIFIER = re.compile(rf"[{_LETTER}\d._@#/\\:&=+-]+")
_HAS_LETTER = re.compile(rf"[{_LETTER}_@#\\]")

# A digit and a mark may form one emoji (a keycap); any other mark after a digit belongs to it as well.
_MARKS = ("Mn", "Me", "Mc", "Cf")


def number_swap(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Change the chosen numbers, at least one, to others with as many digits, in the same script and with the same marks inside.

    A number without leading zeros gets none. Numerals that are words (three, 三) stay: 一 is a part of many words that are not numbers.
    Realised: `changed`, the share of numbers; `numbers`, their number.
    """
    # The (start, end) of every number that is not inside a word or identifier and not a part of an emoji.
    identifiers = [match.span() for match in _IDENTIFIER.finditer(words.text) if _HAS_LETTER.search(match[0])]
    spans: list[tuple[int, int]] = []
    next_identifier = 0
    for match in _NUMBER.finditer(words.text):
        while next_identifier < len(identifiers) and identifiers[next_identifier][1] <= match.start():
            next_identifier += 1
        in_identifier = next_identifier < len(identifiers) and identifiers[next_identifier][0] < match.end()
        marked = match.end() < len(words.text) and unicodedata.category(words.text[match.end()]) in _MARKS
        if not in_identifier and not marked:
            spans.append(match.span())
    if not spans:
        return None
    chance = Chance(seed)
    chosen = sorted(chance.some(len(spans), max(1, dosed_count(dose, len(spans)))))
    pieces: list[str] = []
    end = 0
    for number in chosen:
        start, stop = spans[number]
        old_number = words.text[start:stop]
        # A different number with as many digits. Leading zeros stay: 0.5 becomes 0.7, and 007 becomes 003.
        digits = [position for position, character in enumerate(old_number) if character.isdecimal()]
        zeros = next((n for n, position in enumerate(digits) if unicodedata.decimal(old_number[position])), len(digits) - 1)
        characters = list(old_number)
        for position in digits[zeros + 1 :]:
            characters[position] = _digit(old_number[position], chance.below(10))
        first = digits[zeros]  # always a different digit, and never 0
        old = unicodedata.decimal(old_number[first])
        characters[first] = _digit(old_number[first], chance.pick([digit for digit in range(1, 10) if digit != old]))
        pieces += [words.text[end:start], "".join(characters)]
        end = stop
    return Change("".join([*pieces, words.text[end:]]), {"changed": len(chosen) / len(spans), "numbers": float(len(spans))})


def _digit(like: str, value: int) -> str:
    """Return the digit `value` in the script of the digit `like`. Every script has its digits in a row, from 0 to 9."""
    return chr(ord(like) - unicodedata.decimal(like) + value)


NUMBER_SWAP = Kind(
    name="number-swap",
    summary="some numbers become others of as many digits",
    doses=Doses(0.5, 0.05, 1.0),
    heeds_segmenter=False,
    moves={"hallucination": -1, "linguistic_acceptability": 0, "problematic_content": 0},
    perturb=number_swap,
)


def shuffle_words(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Exchange the chosen words, at least two; everything else stays in its place.

    Every chosen place gets a different word if such an exchange exists. This needs that no word is more than half of the chosen ones;
    otherwise as many places as possible get a different word. Realised: `moved`, the share of words whose place now holds another word;
    `distance`, the mean distance of these moves in words; `words`, their number.
    """
    parts, word_positions = words.parts, words.places
    if len(word_positions) < 2:
        return None
    chance = Chance(seed)
    text_words = [parts[position] for position in word_positions]
    groups = _group_by_word(text_words, chance.some(len(text_words), max(2, dosed_count(dose, len(text_words)))))
    if len(groups) == 1:  # the chosen words are all the same: another word has to join, if the text has one
        [(only_word, chosen)] = groups.items()
        other_numbers = [number for number, word in enumerate(text_words) if word != only_word]
        if not other_numbers:
            return None
        groups = _group_by_word(text_words, [*chosen[:-1], chance.pick(other_numbers)])
    order = [number for group in groups.values() for number in group]
    step = max(map(len, groups.values()))  # equal words are neighbours in `order`, so this step leads out of every group
    changed = list(parts)
    distances = []
    for number, source in zip(order, order[step:] + order[:step], strict=True):
        if text_words[number] != text_words[source]:
            changed[word_positions[number]] = text_words[source]
            distances.append(abs(number - source))
    moved, distance = len(distances) / len(text_words), sum(distances) / len(distances)
    return Change("".join(changed), {"moved": moved, "distance": distance, "words": float(len(text_words))})


def _group_by_word(words: Sequence[str], chosen: Sequence[int]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for number in chosen:
        groups.setdefault(words[number], []).append(number)
    return groups


def drop_words(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Remove the chosen words, at least one and never all, each with one of the spaces around it.

    Realised: `dropped`, the share of words; `words`, their number.
    """
    count = len(words)
    if count < 2:
        return None
    dropped = Chance(seed).some(count, min(max(1, dosed_count(dose, count)), count - 1))
    word_positions = words.places
    text = _without(words.parts, {word_positions[number] for number in dropped}, set(word_positions))
    return Change(text, {"dropped": len(dropped) / count, "words": float(count)})


def _without(parts: Sequence[str], dropped: set[int], word_positions: set[int]) -> str:
    """Return the text without some words. The space before a word goes too, unless another word needs it; the first word takes the next
    space.
    """
    remaining: list[int] = []
    skipped = -1
    for position in range(len(parts)):
        if position == skipped:
            continue
        if position not in dropped:
            remaining.append(position)
            continue
        after = position + 1
        if remaining and _is_space(parts[remaining[-1]]) and after not in word_positions:
            remaining.pop()
        elif after < len(parts) and _is_space(parts[after]) and (not remaining or remaining[-1] not in word_positions):
            skipped = after
    return "".join(parts[position] for position in remaining)


def _is_space(part: str) -> bool:
    return part.isspace() and "\n" not in part and "\r" not in part


def truncate(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Cut off the last words, at least one and never all, with everything between and after them: the text ends with a word.

    Realised: `cut`, the share of words; `characters`, the share of characters (code points); `words`, the number of words.
    """
    count = len(words)
    if count < 2:
        return None
    cut = min(max(1, dosed_count(dose, count)), count - 1)
    text = "".join(words.parts[: words.places[count - cut - 1] + 1])
    return Change(text, {"cut": cut / count, "characters": 1 - len(text) / len(words.text), "words": float(count)})


def swap_synonyms(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Exchange the chosen words for others of their group in the lexicon, at least one. The dose counts words that have a group.

    Case is kept: of a first letter, and of a whole word. Realised: `exchanged`, the share of all words; `words`, their number.
    """
    groups = _group_of(words.lexicon.synonyms)
    parts = list(words.parts)
    replaceable = [position for position in words.places if parts[position].casefold() in groups]
    if not replaceable:
        return None
    chosen = Chance(seed).some(len(replaceable), max(1, dosed_count(dose, len(replaceable))))
    for number in chosen:  # each word has its own seed, so that a greater dose repeats a smaller one
        word = parts[replaceable[number]]
        synonyms = [other for other in groups[word.casefold()] if other.casefold() != word.casefold()]
        # The other word with the capitals of a word.
        other = Chance(seed + number).pick(synonyms)
        if len(word) > 1 and word.isupper():
            parts[replaceable[number]] = other.upper()
        else:
            parts[replaceable[number]] = other[:1].upper() + other[1:] if word[:1].isupper() else other
    return Change("".join(parts), {"exchanged": len(chosen) / len(words), "words": float(len(words))})


@lru_cache(maxsize=64)
def _group_of(groups: tuple[tuple[str, ...], ...]) -> Mapping[str, tuple[str, ...]]:
    return {word.casefold(): group for group in groups for word in group}


SHUFFLE_WORDS = Kind(
    name="shuffle-words",
    summary="some words exchange their places",
    doses=Doses(0.1, 0.05, 1.0),
    heeds_segmenter=True,
    moves={"linguistic_acceptability": -1, "output_content_quality": -1, "problematic_content": 0},
    perturb=shuffle_words,
)
DROP_WORDS = Kind(
    name="drop-words",
    summary="some words are left out",
    doses=Doses(0.1, 0.05, 1.0),
    heeds_segmenter=True,
    moves={"linguistic_acceptability": -1, "problematic_content": 0},
    perturb=drop_words,
)
TRUNCATE = Kind(
    name="truncate",
    summary="the end is cut off, at a word",
    doses=Doses(0.5, 0.05, 0.95),
    heeds_segmenter=True,
    moves={"task_quality": -1, "output_content_quality": -1, "problematic_content": 0, "hallucination": 0},
    perturb=truncate,
)
SWAP_SYNONYMS = Kind(
    name="swap-synonyms",
    summary="some words become others of nearly the same meaning, by the language's lexicon",
    doses=Doses(0.5, 0.05, 1.0),
    heeds_segmenter=True,
    moves={"problematic_content": 0, "hallucination": 0},
    perturb=swap_synonyms,
)


LATIN_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # for languages in Latin script whose lexicon has no keyboard
_CJK = ("CJK", "HIRAGANA", "KATAKANA")

AdjacentKeys = Mapping[str, str]
_Typo = Callable[[list[str], AdjacentKeys, Chance], "list[str] | None"]

# Scripts in which every mark may be removed: the letter under it is still a letter.
_SCRIPTS_WITH_ACCENTS = ("LATIN", "GREEK", "CYRILLIC")
# Scripts in which only these marks may be removed: vowels and signs of recitation. Hamza and madda (U+0653 to U+0655) are part of a letter.
_VOWEL_POINTS = {
    "ARABIC": re.compile("[\u0610-\u061a\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]"),
    "HEBREW": re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]"),
}


def strip_diacritics(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Remove the combining marks of Latin, Greek and Cyrillic letters, and the vowel points of Arabic and Hebrew ones.

    In other scripts, marks are letters or vowels of their own (が, ि, ำ), and stay. The result is in normal form C. Realised: `changed`,
    the share of letters that lost a mark; `letters`, their number.
    """
    characters: list[str] = []
    letters = stripped_letters = 0
    script, mark_removed = "", False
    for character in unicodedata.normalize("NFD", words.text):
        if not unicodedata.combining(character):
            script, mark_removed = _script(character), False
            letters += character.isalpha()
        elif script in _SCRIPTS_WITH_ACCENTS or (script in _VOWEL_POINTS and bool(_VOWEL_POINTS[script].match(character))):
            stripped_letters += not mark_removed
            mark_removed = True
            continue
        characters.append(character)
    if not stripped_letters:
        return None
    return Change(unicodedata.normalize("NFC", "".join(characters)), {"changed": stripped_letters / letters, "letters": float(letters)})


@lru_cache(maxsize=1 << 14)
def _script(character: str) -> str:
    """Return the script of a letter, which is the first word of its Unicode name; empty for other characters."""
    return unicodedata.name(character, "").partition(" ")[0] if character.isalpha() else ""


def typos(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Put a typo into each chosen word, at least one. If no typo fits a word, the next word gets it.

    Realised: `mistyped`, the share of words with a typo; `words`, their number.
    """
    count = len(words)
    wanted = max(1, dosed_count(dose, count))
    parts = list(words.parts)
    chance = Chance(seed)
    adjacent = adjacent_keys(item.language, words.lexicon.keyboard)
    mistyped = 0
    for number in chance.some(count, count):  # each word has its own seed, so that a greater dose repeats a smaller one
        if mistyped == wanted:
            break
        position = words.places[number]
        typed = add_typo(parts[position], adjacent, Chance(seed + number))
        if typed:
            parts[position] = typed
            mistyped += 1
    return Change("".join(parts), {"mistyped": mistyped / count, "words": float(count)}) if mistyped else None


def add_typo(word: str, keys: AdjacentKeys, chance: Chance) -> str | None:
    """Return the word with one typo, or None if no typo fits. No grapheme is split or merged by accident.

    A typo swaps two neighbours, drops or doubles a letter, or hits an adjacent key. `keys` maps each letter to the letters on adjacent
    keys. Words with Japanese or Chinese characters, which are not typed with one key each, are only swapped and doubled.
    """
    parts = graphemes(word)
    cjk = any(unicodedata.name(character, "").startswith(_CJK) for character in word)
    typos: list[_Typo] = [_swap, _double] if cjk else [_swap, _drop, _double, _hit_adjacent_key]
    for number in chance.some(len(typos), len(typos)):
        changed = typos[number](parts, keys, chance)
        if changed is not None:
            result = "".join(changed)
            if graphemes(result) == changed:
                return result
    return None


def _letter_places(parts: Sequence[str]) -> list[int]:
    return [position for position, part in enumerate(parts) if part[0].isalpha()]


def _swap(parts: list[str], keys: AdjacentKeys, chance: Chance) -> list[str] | None:
    """Swap two different neighbouring letters; a capital keeps its place."""
    letters = set(_letter_places(parts))
    pairs = [
        position
        for position in sorted(letters)
        if position + 1 in letters and parts[position] != parts[position + 1] and parts[position].isupper() == parts[position + 1].isupper()
    ]
    if not pairs:
        return None
    position = chance.pick(pairs)
    return [*parts[:position], parts[position + 1], parts[position], *parts[position + 2 :]]


def _drop(parts: list[str], keys: AdjacentKeys, chance: Chance) -> list[str] | None:
    """Drop a letter, but not the first one."""
    letters = _letter_places(parts)[1:]
    if not letters:
        return None
    position = chance.pick(letters)
    return parts[:position] + parts[position + 1 :]


def _double(parts: list[str], keys: AdjacentKeys, chance: Chance) -> list[str] | None:
    """Double a letter, but the first one only if there is no other."""
    letters = _letter_places(parts)
    if not letters:
        return None
    position = chance.pick(letters[1:] or letters)
    return [*parts[: position + 1], parts[position], *parts[position + 1 :]]


def _hit_adjacent_key(parts: list[str], keys: AdjacentKeys, chance: Chance) -> list[str] | None:
    """Replace a letter by one on an adjacent key."""
    letters = [position for position, part in enumerate(parts) if keys.get(part.lower())]
    if not letters:
        return None
    position = chance.pick(letters)
    changed = chance.pick(keys[parts[position].lower()])
    return [*parts[:position], changed.upper() if parts[position].isupper() else changed, *parts[position + 1 :]]


@lru_cache(maxsize=256)
def adjacent_keys(language: str, rows: tuple[str, ...]) -> AdjacentKeys:
    """Map each letter to the letters on adjacent keys, for the keyboard rows of a lexicon.

    Without rows, languages in Latin script have a QWERTY keyboard and other languages none.
    """
    if rows:
        return _neighbours(rows)
    try:
        return _neighbours(LATIN_KEYS) if likely_script(language) == "Latn" else {}
    except ValueError:  # not a language tag
        return {}


def _neighbours(rows: Sequence[str]) -> AdjacentKeys:
    """Map each letter to the letters beside, above and below it. Each row lies half a key to the right of the one above."""
    position = {key: (row, column) for row, keys in enumerate(rows) for column, key in enumerate(keys)}

    def is_adjacent(first: str, other: str) -> bool:
        (row, column), (other_row, other_place) = position[first], position[other]
        return other_place - column in {0: (-1, 1), 1: (-1, 0), -1: (0, 1)}.get(other_row - row, ())

    return {key: "".join(other for other in position if other != key and is_adjacent(key, other)) for key in position}


STRIP_DIACRITICS = Kind(
    name="strip-diacritics",
    summary="letters lose accents and vowel points",
    doses=None,
    heeds_segmenter=False,
    moves={"linguistic_acceptability": -1, "problematic_content": 0, "hallucination": 0},
    perturb=strip_diacritics,
)
TYPOS = Kind(
    name="typos",
    summary="some words get a typo: letters swapped, doubled, missing, or the key beside",
    doses=Doses(0.1, 0.05, 1.0),
    heeds_segmenter=True,
    moves={"linguistic_acceptability": -1, "problematic_content": 0, "hallucination": 0},
    perturb=typos,
)


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
            languages = self.by_origin.get((item.task, origin), {})
            own_language = _language(item)
            size = len(text.encode())
            nearest: list[_Candidate] = []
            for language, candidates in languages.items():
                if language != own_language:
                    middle = bisect_left(candidates, (size,))
                    nearest += [c for c in candidates[max(0, middle - NEAREST) : middle + NEAREST] if c.text != text]
            nearest = sorted(nearest, key=lambda c: (abs(math.log(c.size / size)), c))[:NEAREST]
            if nearest:
                return nearest
        return []


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
