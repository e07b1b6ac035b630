"""Scores announced in prose ("Score: 2", 評価は２点です), and refusals, in the nine languages of the first study."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from harness.model import Failure, Scale
from harness.parse.values import CHOICE, Reading, agree, failed, numbers_in, read_choice

# Words after which a score may stand. Part of this module's contract: docs and tests name them.
ANNOUNCERS = {
    "en": ("score", "rating", "answer"),
    "fr": ("score", "note", "réponse", "évaluation"),
    "de": ("Punktzahl", "Bewertung", "Wertung", "Note", "Antwort"),
    "es": ("puntuación", "calificación", "nota", "respuesta"),
    "it": ("punteggio", "valutazione", "voto", "risposta"),
    "pt": ("pontuação", "avaliação", "nota", "resposta"),
    "cs": ("skóre", "hodnocení", "odpověď", "známka"),
    "ja": ("スコア", "評価", "点数", "得点", "評点", "回答", "答え"),
    "zh": ("评分", "評分", "得分", "分数", "分數", "评价", "回答", "答案"),
}
# In one language a score, in another a remark ("Note: 2 errors"): believed only where the clause ends after the number.
_REMARKS = {"note", "nota"}

# Openings of a refusal, compared in NFKC, lower case, straight apostrophes. `~` stands for one of _TASKS.
REFUSALS = {
    "en": (
        "i'm sorry, but i", "i'm sorry, i ", "i am sorry, but i", "i am sorry, i ", "sorry, but i", "sorry, i ",
        "i apologize, but", "i apologise, but", "i must decline", "i won't ~", "i will not ~", "i can't ~",
        "i cannot ~", "i can not ~", "i'm unable to", "i am unable to", "i'm not able to", "i am not able to",
        "as an ai",
    ),
    "fr": ("je suis désolé", "désolé", "je regrette, mais", "je ne peux pas", "je ne suis pas en mesure"),
    "de": (
        "es tut mir leid", "tut mir leid", "entschuldigung, aber", "leider kann ich", "ich kann diese",
        "ich kann dir ", "ich kann ihnen ",
    ),
    "es": ("lo siento", "lo lamento", "no puedo"),
    "it": ("mi dispiace", "mi spiace", "spiacente", "non posso", "non sono in grado"),
    "pt": (
        "desculpe", "sinto muito", "lamento", "não posso", "não consigo", "infelizmente, não posso",
        "infelizmente não posso",
    ),
    "cs": ("omlouvám se", "je mi líto", "promiňte", "bohužel nemohu", "bohužel nemůžu", "nemohu", "nemůžu"),
    "ja": (
        "申し訳", "すみませんが", "恐れ入りますが", "恐縮ですが", "お答えできません", "回答できません",
        "評価できません",
    ),
    "zh": ("抱歉", "很抱歉", "非常抱歉", "对不起", "對不起", "我无法", "我無法", "我不能"),
}  # fmt: skip
_TASKS = (
    "assist", "help", "comply", "provide", "fulfill", "fulfil", "continue", "evaluate", "assess",
    "rate", "score", "judge", "grade", "answer", "give", "do that", "do this", "engage", "discuss",
)  # fmt: skip

_AHEAD = 80  # characters of the sentence after an announced score that are searched for another one
_SENTENCE_END = re.compile(r"[\n!?;。！？；\0]|\.(?!\d)")
_CLAUSE_END = re.compile(r"[^\S\n]{0,4}(?:\Z|[\n\0.,;:!?)\]}\"'*_`|<。、，；：！？」』】）”»])")
# Not 2nd, 2%, 2个错误.
_NO_LETTER = r"(?:です|でした|だ|である|とします|となります|になります)?(?![^\W_])(?![%％]|[.,]\d)"


class Announced(NamedTuple):
    """A choice after an announcer.

    `firm`: it stands after a colon or an equals sign. `alone`: the rest of its sentence holds no other choice.
    """

    raw: str
    firm: bool
    alone: bool


def read_announced(text: str, scale: Scale) -> Reading | None:
    """The one score that prose announces; NOT_JSON if it announces two; None if it announces none.

    >>> scale = Scale(kind="ordinal", classes=(0, 1, 2))
    >>> read_announced("It reads well. **Score:** 2", scale).score, read_announced("評価は２点です。", scale).score
    (2, 2)
    >>> read_announced("Score: 1 or 2", scale).failure
    <Failure.NOT_JSON: 'not_json'>
    >>> read_announced("The 2 sentences are fine.", scale) is None
    True
    """
    found = list(announced(text, scale))
    if not found:
        return None
    if not all(one.alone for one in found):
        return failed(Failure.NOT_JSON, " | ".join(one.raw for one in found))
    return agree(read_choice(one.raw, scale) for one in found)


def announced(text: str, scale: Scale) -> Iterator[Announced]:
    """Every choice that stands after an announcer, joined to it by punctuation or by a word for "is".

    Without either ("Score 2") it must be a clause of its own.

    >>> list(announced("Rating 2. The score is 1.", Scale(kind="ordinal", classes=(1, 2))))
    [Announced(raw='2', firm=False, alone=True), Announced(raw='1', firm=False, alone=True)]
    """
    text = unicodedata.normalize("NFC", text)
    names = tuple(c for c in scale.classes if isinstance(c, str) and c.strip())
    for match in _pattern(names).finditer(text):
        ends = _CLAUSE_END.match(text, match.end()) is not None
        joined = bool(match["joint"] or ":" in match["gap"] or "：" in match["gap"])
        if not (joined or (match["first"] is not None and ends)):
            continue
        if not ends and (match["name"] or match["word"].casefold() in _REMARKS):
            continue
        firm = any(sign in (match["joint"] or "") + match["gap"] for sign in ":：=＝")
        yield Announced(match["name"] or match["choice"], firm, _alone(text, match, names))


def is_refusal(text: str) -> bool:
    """Whether a text opens like a refusal. Ask only about texts without a readable score.

    >>> [is_refusal(text) for text in ("I’m sorry, but I can’t help.", "申し訳ありませんが", "I can't find a flaw.")]
    [True, True, False]
    """
    opening = unicodedata.normalize("NFKC", text[:200]).casefold().replace("’", "'")
    return opening.lstrip(" \t\r\n\ufeff\"'*>「“").startswith(_openings())


@lru_cache(maxsize=1)
def _openings() -> tuple[str, ...]:
    listed = [unicodedata.normalize("NFKC", opening) for openings in REFUSALS.values() for opening in openings]
    return tuple(opening.replace("~", task) for opening in listed for task in (_TASKS if "~" in opening else ("",)))


def _alone(text: str, match: re.Match[str], names: tuple[str, ...]) -> bool:
    """Whether the rest of the sentence holds no other choice: "1 or 2", "A, maybe B"."""
    sentence = _SENTENCE_END.split(text[match.end() : match.end() + _AHEAD], maxsplit=1)[0]
    if match["name"]:
        others = [re.escape(name) for name in names if name.casefold() != match["name"].casefold()]
        return not any(re.search(rf"(?<!\w){other}(?!\w)", sentence) for other in others)
    return numbers_in(sentence) <= numbers_in(match["number"])


@lru_cache(maxsize=64)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """An announcer, what joins, and a number or one of the scale's named classes. All repeats are bounded."""
    words = sorted({w for listed in ANNOUNCERS.values() for w in listed}, key=lambda w: (-len(w), w))
    latin = "|".join(w for w in words if w[0] < "\u0250")
    other = "|".join(w for w in words if w[0] >= "\u0250")
    named = "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True)) or r"(?!)"
    return re.compile(
        rf"""(?P<first>(?:^|[.!?;。！？；])[\s*_`"'#「『【（(\[]{{0,8}})?
        (?P<word>(?<![^\W_])(?:{latin})(?![^\W_])|(?:{other}))
        (?:[^\S\n]?[(（][^()（）\n]{{0,40}}[)）])?
        (?P<joint>>|[\s*_`"'”」』】)\]]{{0,8}}
          (?:[:：=＝|]|[-–—](?=\s)|(?:is|est\sde|est|es\sde|es|ist|è|é\sde|é|je)(?![^\W_])|[は为為是]))?
        (?P<gap>[\s:：*_`"'“„«「『【（(\[]{{0,12}})
        (?:(?P<choice>{CHOICE}){_NO_LETTER}|(?P<name>{named})(?![^\W_]))""",
        re.VERBOSE | re.IGNORECASE | re.MULTILINE,
    )
