"""Replies and what they say: a table of cases, then what must hold for any text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.content.library import bundled_lexicons
from harness.content.specs import Lexicon
from harness.model import Failure, Scale, Score
from harness.parse import Reading, bundled_vocabulary, read_reply, read_text
from harness.parse.json_repair import MAX_NESTING
from harness.parse.reply import MAX_REPLY_CHARACTERS
from tests.growth import assert_grows_linearly

THREE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
LIKERT = Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5)
TEN = Scale(kind="ordinal", classes=tuple(range(1, 11)), best=10)
YES_NO = Scale(kind="nominal", classes=("yes", "no"))
AB = Scale(kind="nominal", classes=("A", "B"), swap={"A": "B", "B": "A"})
UNIT = Scale(kind="interval", min=0, max=1)
WIDE = Scale(kind="interval", min=-1000, max=5000)

REFUSED, NOT_JSON, OFF_SCALE = Failure.REFUSED, Failure.NOT_JSON, Failure.OFF_SCALE
TRUNCATED, MISSING = Failure.TRUNCATED, Failure.MISSING

LA = "linguistic_acceptability"
TQ = "task_quality"


def read_one(text: str, scale: Scale = THREE, **how: Any) -> Reading:
    return read_reply(text, {LA: scale}, joint=False, **how)[LA]


def outcome(reading: Reading) -> Score | Failure | None:
    return reading.score if reading.failure is None else reading.failure


# id: (reply, scale, what it says)
TOLERATED: dict[str, tuple[str, Scale, Score]] = {
    "justification-first": ('{"justification": "Fine.", "score": 2}', THREE, 2),
    "score-first": ('{"score": 2, "justification": "Fine."}', THREE, 2),
    "no-justification": ('{"score": 0}', THREE, 0),
    "fence-with-tag": ('```json\n{"score": 2}\n```', THREE, 2),
    "fence-without-tag": ('```\n{"score": 2}\n```', THREE, 2),
    "fence-odd-tag": ('```JSON5 \n{"score": 2}```', THREE, 2),
    "fence-around-bare-score": ("```\n2\n```", THREE, 2),
    "prose-before": ('Here is my evaluation:\n{"score": 1}', THREE, 1),
    "prose-after": ('{"score": 1}\nLet me know if you need more!', THREE, 1),
    "prose-with-quotes-and-braces": ('He said "{hm} {a}, {"x", "y"}" so {"score": 1}', THREE, 1),
    "prose-restates-scale": ('Score 0 means bad, score 2 good. {"score": 1}', THREE, 1),
    "prose-discards-a-score": ('A score of 1 would be too low. {"score": 2}', THREE, 2),
    "prose-agrees": ('{"score": 1}\nScore: 1', THREE, 1),
    "bom": ('\ufeff{"score": 2}', THREE, 2),
    "bom-bare": ("\ufeff2\n", THREE, 2),
    "double-braces": ('{{"score": 2}}', THREE, 2),
    "list-of-one": ('[{"score": 2}]', THREE, 2),
    "trailing-comma": ('{"score": 2,}', THREE, 2),
    "trailing-comma-nested": ('{"justification": {"errors": ["a", "b", ],}, "score": 2 , }', THREE, 2),
    "missing-comma-after-number": ('{"score": 2 "justification": "Fine."}', THREE, 2),
    "full-width-colon-and-comma": ('{"justification"："好"，"score"：2}', THREE, 2),
    "raw-newline-in-string": ('{"justification": "One.\nTwo.", "score": 2}', THREE, 2),
    "stray-backslash-in-string": (r'{"justification": "costs \$5, \alpha, C:\users", "score": 2}', THREE, 2),
    "wrapper": ('{"result": {"justification": "Fine.", "score": 2}}', THREE, 2),
    "encoded-twice": ('"{\\"justification\\": \\"Fine.\\", \\"score\\": 2}"', THREE, 2),
    "wrapper-twice": ('{"output": {"result": {"score": 2}}}', THREE, 2),
    "own-name": ('{"linguistic_acceptability": {"score": 2}}', THREE, 2),
    "own-name-flat": ('{"linguistic_acceptability": 2}', THREE, 2),
    "key-in-other-case": ('{"Score": 2}', THREE, 2),
    "key-in-capitals": ('{"SCORE": 2}', THREE, 2),
    "own-name-as-title": ('{"Linguistic Acceptability": 2}', THREE, 2),
    "other-keys": ('{"text_id": 1, "score": 2, "max": 5}', THREE, 2),
    "inner-score-is-not-the-score": ('{"justification": {"score": 1}, "score": 2}', THREE, 2),
    "string": ('{"score": "2"}', THREE, 2),
    "string-with-spaces": ('{"score": " 2 "}', THREE, 2),
    "float": ('{"score": 2.0}', THREE, 2),
    "exponent": ('{"score": 2e0}', THREE, 2),
    "plus": ('{"score": +2}', THREE, 2),
    "full-width-digit": ('{"score": "２"}', THREE, 2),
    "full-width-digit-unquoted": ('{"score": ２}', THREE, 2),
    "arabic-indic-digit": ('{"score": "٢"}', THREE, 2),
    "extended-arabic-indic-digit": ('{"score": "۲"}', THREE, 2),
    "devanagari-digit": ('{"score": "२"}', THREE, 2),
    "points-ja": ('{"score": "2点"}', THREE, 2),
    "points-ja-bracketed": ("「２点」", THREE, 2),
    "points-zh": ("2分", THREE, 2),
    "points-de": ("2 Punkte", THREE, 2),
    "out-of-maximum": ('{"score": "2/2"}', THREE, 2),
    "out-of-maximum-bare": ("1 / 2", THREE, 1),
    "out-of-maximum-in-words": ("2 out of 2", THREE, 2),
    "out-of-maximum-interval": ("0.5/1", UNIT, 0.5),
    "out-of-maximum-announced": ("Rating: 4 (out of 5)", LIKERT, 4),
    "out-of-maximum-announced-cs": ("Hodnocení: 4 z 5", LIKERT, 4),
    "out-of-maximum-announced-de": ("Bewertung: 4 von 5.", LIKERT, 4),
    "out-of-maximum-announced-es": ("Puntuación: 4 de 5", LIKERT, 4),
    "out-of-maximum-announced-fr": ("Note : 4 sur 5", LIKERT, 4),
    "out-of-maximum-in-string-cs": ('{"score": "4 z 5"}', LIKERT, 4),
    "announced-in-string": ('{"score": "Score: 2"}', THREE, 2),
    "announced-before-maximum": ("Score: 1 (max 2)", THREE, 1),
    "announced-before-maximum-mid-sentence": ("So the score is 1 (max 5).", LIKERT, 1),
    "announced-before-maximum-comma": ("Score: 4, maximum: 5", LIKERT, 4),
    "announced-before-maximum-ja": ("点数：4（最高5）", LIKERT, 4),
    "announced-before-maximum-ko": ("점수: 4 (최대 5)", LIKERT, 4),
    "announced-before-maximum-cs": ("Hodnocení: 1 (max. 5)", LIKERT, 1),
    "announced-before-count": ("Score is 4 because of 3 errors", LIKERT, 4),
    "announced-arrow": ("score→4", LIKERT, 4),
    "announced-arrow-of-signs": ("score => 4", LIKERT, 4),
    "beside-maximum-de": ("Punkte: 4 von 5", LIKERT, 4),
    "beside-maximum-tr": ("5 üzerinden 4", LIKERT, 4),
    "beside-maximum-hi": ("5 में से 4", LIKERT, 4),
    "beside-maximum-hu": ("5-ből 4", LIKERT, 4),
    "beside-maximum-ja": ("5点満点で3点", LIKERT, 3),
    "beside-maximum-ko": ("2점 중에서 0점", THREE, 0),
    "beside-maximum-zh": ("满分5分，给4分", LIKERT, 4),
    "beside-maximum-zh-after": ("4分（满分5分）", LIKERT, 4),
    "beside-maximum-en": ("Out of a possible 2, this gets a 1.", THREE, 1),
    "beside-range-en": ("On a scale of 1 to 5, I'd say 4", LIKERT, 4),
    "beside-range-cs": ("Na stupnici od 1 do 5 dávám 3.", LIKERT, 3),
    "keys-without-quotes": ("{score: 4}", LIKERT, 4),
    "keys-without-quotes-beside-text": ('{justification: "It says, well, "fine".", score: 4}', LIKERT, 4),
    "object-of-the-score": ('{"score": {"value": 4, "max": 5}}', LIKERT, 4),
    "stars": ("★★★☆☆", LIKERT, 3),
    "stars-announced": ("Rating: ⭐⭐⭐⭐☆ (4/5)", LIKERT, 4),
    "stars-filled": ("⭐️⭐️⭐️⭐️", LIKERT, 4),
    "stars-in-string": ('{"score": "★★☆☆☆"}', LIKERT, 2),
    "stars-in-words": ("4 stars", LIKERT, 4),
    "stars-in-words-zh": ("4颗星", LIKERT, 4),
    "bare": ("2", THREE, 2),
    "bare-full-width": ("２", THREE, 2),
    "bare-bold": ("**2**", THREE, 2),
    "bare-full-stop": ("2.", THREE, 2),
    "bare-quoted": ('"2"', THREE, 2),
    "bare-bracketed": ("[2]", THREE, 2),
    "decimal-comma": ('{"score": "0,5"}', UNIT, 0.5),
    "decimal-comma-bare": ("0,5", UNIT, 0.5),
    "decimal-comma-three-digits-but-no-thousand": ('{"score": "0,125"}', UNIT, 0.125),
    "decimal-arabic": ('{"score": "٠٫٥"}', UNIT, 0.5),
    "decimal-full-width": ("０．５", UNIT, 0.5),
    "no-leading-zero": ('{"score": ".5"}', UNIT, 0.5),
    "negative": ('{"score": -2.5}', WIDE, -2.5),
    "negative-other-minus": ("−2", WIDE, -2.0),
    "negative-announced": ("Score: -2", WIDE, -2.0),
    "interval-integer": ('{"score": 1}', UNIT, 1.0),
    "interval-bound-is-in": ('{"score": 0}', UNIT, 0.0),
    "class-named": ('{"score": "yes"}', YES_NO, "yes"),
    "class-other-case": ('{"score": "YES"}', YES_NO, "yes"),
    "class-unquoted": ('{"score": yes}', YES_NO, "yes"),
    "class-bare": ("No.", YES_NO, "no"),
    "class-announced": ("The texts differ. Answer: B", AB, "B"),
    "class-announced-then-clause": ("Answer: A, because it is clearer.", AB, "A"),
    "class-bracketed": ("(a)", Scale(kind="nominal", classes=("(a)", "(b)")), "(a)"),
    "class-empty": ('{"score": ""}', Scale(kind="nominal", classes=("", "x")), ""),
    "class-like-a-number": ('{"score": 2}', Scale(kind="nominal", classes=("1", "2")), "2"),
    "class-number-and-string-as-number": ('{"score": 1}', Scale(kind="nominal", classes=("1", 1)), 1),
    "class-number-and-string-as-string": ('{"score": "1"}', Scale(kind="nominal", classes=(1, "1")), "1"),
    "class-other-case-not-unique-but-exact": ('{"score": "a"}', Scale(kind="nominal", classes=("A", "a")), "a"),
    "announced": ("Score: 2", THREE, 2),
    "announced-no-colon": ("Score 2", THREE, 2),
    "announced-no-colon-last-sentence": ("It reads well. Score 2.", THREE, 2),
    "announced-is": ("The score is 2 because it reads well.", THREE, 2),
    "announced-bold": ("It reads well.\n\n**Score:** 2", THREE, 2),
    "announced-heading": ("## Rating\n\n2", THREE, 2),
    "announced-with-range": ("Score (0-2): 1", THREE, 1),
    "announced-dash": ("Score - 2", THREE, 2),
    "announced-tag": ("<score>2</score>", THREE, 2),
    "announced-twice-alike": ("Score: 2\n...\nFinal rating: 2", THREE, 2),
    "announced-other-numbers-elsewhere": ("The 3 sentences are fine. Score: 2. One of 5 words is rare.", THREE, 2),
    "announced-fr": ("La note est de 2.", THREE, 2),
    "announced-fr-colon": ("Note : 2", THREE, 2),
    "announced-de": ("Punktzahl: 2 Punkte", THREE, 2),
    "announced-es": ("Puntuación: 2", THREE, 2),
    "announced-es-decomposed": ("Puntuacio\u0301n: 2", THREE, 2),
    "announced-it": ("Il punteggio è 2.", THREE, 2),
    "announced-pt": ("A pontuação é 2.", THREE, 2),
    "announced-cs": ("Hodnocení: 2 body", THREE, 2),
    "announced-cs-is": ("Skóre je 2.", THREE, 2),
    "announced-ja": ("評価：２点", THREE, 2),
    "announced-ja-is": ("スコアは2です。", THREE, 2),
    "announced-ja-will-be": ("評価は２点となります。", THREE, 2),
    "announced-zh": ("得分为2分。", THREE, 2),
    "announced-zh-traditional": ("評分：2", THREE, 2),
    "two-objects-agree": ('{"score": 2} {"score": "2.0"}', THREE, 2),
    "second-object-without-score": ('{"note": "see below"} {"score": 2}', THREE, 2),
    "duplicate-keys-alike": ('{"score": 2, "score": 2}', THREE, 2),
    "single-quotes": ("{'score': 2}", THREE, 2),
    "single-quotes-and-apostrophe": ("{'justification': 'It's fine', 'score': 2}", THREE, 2),
    "single-quotes-and-typewriter-quotes": ("{'justification': \"It's fine\", 'score': 2}", THREE, 2),
    "curly-quotes": ("{“justification”: “fine”, “score”: 2}", THREE, 2),
    "angle-quotes": ("{«justification»: «bon», «score»: 2}", THREE, 2),
    "inner-quotes-he": ('{"justification": "סה"כ טקסט תקין", "score": 2}', THREE, 2),
    "inner-quotes-de": ('{"justification": "Es steht „gut" statt „gute", sonst klar.", "score": 2}', THREE, 2),
    "inner-quotes-en": ('{"justification": "It says "good" twice.", "score": 2}', THREE, 2),
    "inner-quotes-score-first": ('{"score": 2, "justification": "Stojí tam „dobrý" místo „dobře"."}', THREE, 2),
    "inner-quotes-cut": ('{"score": 2, "justification": "Stojí tam „dobrý" místo „do', THREE, 2),
    "inner-quotes-in-list": ('{"notes": ["the "a" word", "b"], "score": 2}', THREE, 2),
    "described-dash": ('{"score": "1 - some errors"}', THREE, 1),
    "described-brackets": ('{"score": "1 (fair)"}', THREE, 1),
    "described-colon": ('{"score": "1: ruim"}', THREE, 1),
    "described-before": ('{"score": "fair (1)"}', THREE, 1),
    "described-class": ('{"score": "yes - no doubt", "justification": ""}', Scale(kind="nominal", classes=("yes", "maybe")), "yes"),
    "key-ja": ('{"スコア": 1, "理由": "よい"}', THREE, 1),
    "key-zh": ('{"得分": 1, "理由": "好"}', THREE, 1),
    "key-es": ('{"puntuación": 1, "justificación": "bien"}', THREE, 1),
    "key-rating": ('{"rating": 1, "reason": "ok"}', THREE, 1),
    "key-rating-beside-a-number": ('{"overall_rating": 1, "errors_seen": 2}', THREE, 1),
    "key-of-no-language": ('{"ximtili": 1, "sabab": "2 xato"}', THREE, 1),
    "key-with-a-class": ('{"結果": "yes", "理由": "..."}', YES_NO, "yes"),
    "schema-echoed": ('{"type": "object", "properties": {"justification": "ok", "score": 1}}', THREE, 1),
    "function-call": ('{"name": "answer", "arguments": {"justification": "ok", "score": 1}}', THREE, 1),
    "function-call-as-text": ('{"name": "answer", "arguments": "{\\"score\\": 1}"}', THREE, 1),
    "function-calls": ('{"tool_calls": [{"function": {"name": "f", "arguments": "{\\"score\\": 1}"}}]}', THREE, 1),
    "invisible-rlm": ('{"score": "\u200f1"}', THREE, 1),
    "invisible-isolates": ('{"score": "\u20681\u2069"}', THREE, 1),
    "invisible-alm": ('{"score": "\u061c١"}', THREE, 1),
    "invisible-no-break-space": ('{"score": "1\u00a0"}', THREE, 1),
    "invisible-keycap": ('{"score": "1\ufe0f\u20e3"}', THREE, 1),
    "invisible-before-number": ('{"score": \u200f1}', THREE, 1),
    "invisible-in-key": ('{"\u200fsco\u200bre": 1}', THREE, 1),
    "invisible-before-key": ('{\u200b"score": 1}', THREE, 1),
    "invisible-in-prose": ("\u200fScore\u200e:\u200f ١", THREE, 1),
    "class-decomposed": ('{"score": "u\u0308berzeugend"}', Scale(kind="nominal", classes=("überzeugend", "schwach")), "überzeugend"),
    "class-of-scale-decomposed": ("tốt", Scale(kind="nominal", classes=("to\u0302\u0301t", "kém")), "to\u0302\u0301t"),
    "class-turkish-capitals": ('{"score": "İYİ"}', Scale(kind="nominal", classes=("İyi", "Kötü")), "İyi"),
    "class-turkish-dotless": ('{"score": "ZAYIF"}', Scale(kind="nominal", classes=("zayıf", "iyi")), "zayıf"),
    "class-full-width": ('{"score": "Ａ"}', AB, "A"),
    "announced-grade": ("It is fine.\n\nGRADE: 1", THREE, 1),
    "announced-result": ("**Reasoning:** fine\n\n**Result:** 1", THREE, 1),
    "announced-verdict": ("Verdict: 1", THREE, 1),
    "announced-in-brackets": ("Feedback: It is fine. [RESULT] 1", THREE, 1),
    "announced-in-a-box": ("So the score is \\boxed{1}", THREE, 1),
    "announced-in-a-box-of-text": ("$\\boxed{\\text{B}}$", AB, "B"),
    "announced-in-double-brackets": ("A is weaker. My verdict is: [[B]]", AB, "B"),
    "announced-hi": ("स्कोर: 1", THREE, 1),
    "announced-ko": ("점수: 1점", THREE, 1),
    "announced-ar": ("النتيجة: ١", THREE, 1),
    "announced-tr": ("Puan: 1", THREE, 1),
    "announced-ru": ("Оценка: 1 балл", THREE, 1),
    "announced-he": ("ציון: 1", THREE, 1),
    "key-ko": ('{"점수": 1, "이유": "2개의 오류"}', THREE, 1),
    "errors-before-a-sentence-about-the-score": ("The text has no errors, so the score is 2.", THREE, 2),
    "final-score-after-a-number": ("It has 1 flaw.\nFinal score: 2", THREE, 2),
    "maximum-beside-json": ('The maximum score is 2. {"score": 1}', THREE, 1),
    "maximum-in-brackets": ("Score (max 2): 1", THREE, 1),
    "maximum-before-the-score": ("The maximum score is 2.\nScore: 1", THREE, 1),
    "server-mark-after": ("2<|im_end|>", THREE, 2),
}

# id: (reply, scale, failure)
NEVER_GUESSED: dict[str, tuple[str, Scale, Failure]] = {
    "inner-quotes-around-another-score": ('{"justification": "It says "a", "score": 1}, but", "score": 2}', THREE, NOT_JSON),
    "value-with-a-count": ('{"score": "errors: 1"}', THREE, OFF_SCALE),
    "value-with-a-count-de": ('{"score": "Fehler: 1"}', THREE, OFF_SCALE),
    "value-with-a-count-th": ('{"score": "ข้อผิดพลาด: 1"}', THREE, OFF_SCALE),
    "value-negated": ('{"score": "not (1)"}', THREE, OFF_SCALE),
    "value-maximum": ('{"score": "maximum: 2"}', THREE, OFF_SCALE),
    "two-boxes": ("\\boxed{1} or \\boxed{2}", THREE, NOT_JSON),
    "result-of-a-count": ("Result: 1 error found", THREE, NOT_JSON),
    "described-or-more": ('{"score": "1 or more"}', THREE, OFF_SCALE),
    "described-two-numbers": ('{"score": "1 - 2"}', THREE, NOT_JSON),
    "two-other-keys": ('{"fluency": 1, "style": 2}', THREE, MISSING),
    "two-announcing-keys": ('{"rating": 1, "answer": 2}', THREE, NOT_JSON),
    "score-null-beside-a-number": ('{"score": null, "n": 2}', THREE, MISSING),
    "two-objects-disagree": ('{"score": 1}\n{"score": 2}', THREE, NOT_JSON),
    "two-objects-one-null": ('{"score": null}\n{"score": 2}', THREE, NOT_JSON),
    "two-objects-one-off-scale": ('{"score": 7}\n{"score": 2}', THREE, NOT_JSON),
    "prose-contradicts": ('Score: 1\n{"score": 2}', THREE, NOT_JSON),
    "duplicate-keys": ('{"score": 1, "score": 2}', THREE, NOT_JSON),
    "duplicate-keys-other-case": ('{"score": 1, "Score": 2}', THREE, NOT_JSON),
    "duplicate-keys-own-name": ('{"score": 1, "linguistic_acceptability": 2}', THREE, NOT_JSON),
    "duplicate-justifications": ('{"justification": "a", "justification": "b", "score": 2}', THREE, NOT_JSON),
    "bare-or": ("1 or 2", THREE, NOT_JSON),
    "bare-between": ("between 1 and 2", THREE, NOT_JSON),
    "bare-range": ("1-2", THREE, NOT_JSON),
    "bare-two-lines": ("1\n2", THREE, NOT_JSON),
    "bare-list": ("[1, 2]", THREE, NOT_JSON),
    "string-or": ('{"score": "1 or 2"}', THREE, NOT_JSON),
    "string-between": ('{"score": "between 1 and 2"}', THREE, NOT_JSON),
    "unquoted-or": ('{"score": 1 or 2}', THREE, NOT_JSON),
    "announced-or": ("Score: 1 or 2", THREE, NOT_JSON),
    "announced-range": ("Score: 1-2", THREE, NOT_JSON),
    "announced-range-ja": ("評価：1〜2点", THREE, NOT_JSON),
    "announced-maybe": ("Score: 1, maybe 2", THREE, NOT_JSON),
    "announced-between": ("Score: between 1 and 2", THREE, NOT_JSON),
    "announced-twice": ("Score: 1. Rating: 2", THREE, NOT_JSON),
    "announced-about": ("Score: ~2", THREE, NOT_JSON),
    "announced-at-least": ("Score: >1", THREE, NOT_JSON),
    "announced-negated": ("The score is not 2.", THREE, NOT_JSON),
    "announced-percent": ("Score: 2%", THREE, NOT_JSON),
    "announced-ordinal-number": ("Answer: 2nd", THREE, NOT_JSON),
    "announced-half": ("Score: 1½", THREE, NOT_JSON),
    "announced-class-or": ("Answer: A or B", AB, NOT_JSON),
    "announced-class-maybe": ("Answer: A, maybe B", AB, NOT_JSON),
    "announced-class-is-an-article": ("The answer is a tie.", AB, NOT_JSON),
    "remark-not-score": ("Note: 2 errors were found.", THREE, NOT_JSON),
    "number-in-prose": ("The text has 2 sentences.", THREE, NOT_JSON),
    "scale-restated": ("Score 0 means bad and score 2 means good", THREE, NOT_JSON),
    "prose": ("It reads well.", THREE, NOT_JSON),
    "digit-above-the-line": ("²", THREE, NOT_JSON),
    "unescaped-quotes": ('{"justification": "he wrote "score": 1, twice", "score": 2}', THREE, NOT_JSON),
    "unclosed-quote": ('{"justification": "Fine, "score": 2}', THREE, NOT_JSON),
    "brackets-do-not-match": ('{"score": 2]', THREE, NOT_JSON),
    "fraction-unquoted-comma": ('{"score": 0,5}', UNIT, NOT_JSON),
    "malformed-beside-good": ('{"score": 2} {"score": oops oops}', THREE, NOT_JSON),
    "off-scale": ('{"score": 3}', THREE, OFF_SCALE),
    "off-scale-negative": ('{"score": -1}', THREE, OFF_SCALE),
    "off-scale-bare": ("7", THREE, OFF_SCALE),
    "off-scale-announced": ("Score: 7", THREE, OFF_SCALE),
    "off-scale-announced-negative": ("Score: -1", THREE, OFF_SCALE),
    "off-scale-class": ('{"score": "maybe"}', YES_NO, OFF_SCALE),
    "off-scale-interval": ('{"score": 1.01}', UNIT, OFF_SCALE),
    "between-classes": ('{"score": 1.5}', THREE, OFF_SCALE),
    "between-classes-string": ('{"score": "1.5"}', THREE, OFF_SCALE),
    "decimal-comma-on-classes": ('{"score": "0,5"}', THREE, OFF_SCALE),
    "comma-on-classes-may-be-a-list": ('{"score": "2,0"}', THREE, OFF_SCALE),
    "thousands-or-decimals": ('{"score": "1,000"}', WIDE, OFF_SCALE),
    "out-of-other-maximum": ('{"score": "2/5"}', THREE, OFF_SCALE),
    "out-of-other-maximum-in-words": ("2 out of 10", THREE, OFF_SCALE),
    "out-of-no-maximum": ("2/2", Scale(kind="interval"), OFF_SCALE),
    "true": ('{"score": true}', THREE, OFF_SCALE),
    "false": ('{"score": false}', THREE, OFF_SCALE),
    "true-bare": ("true", THREE, OFF_SCALE),
    "true-where-a-class-is-named-so": ('{"score": true}', Scale(kind="nominal", classes=("true", "x")), OFF_SCALE),
    "true-on-interval": ('{"score": true}', UNIT, OFF_SCALE),
    "nan": ('{"score": NaN}', UNIT, OFF_SCALE),
    "infinity": ('{"score": Infinity}', Scale(kind="interval"), OFF_SCALE),
    "minus-infinity": ('{"score": -Infinity}', Scale(kind="interval"), OFF_SCALE),
    "overflow": ('{"score": 1e999}', Scale(kind="interval"), OFF_SCALE),
    "five-thousand-digits": ('{"score": ' + "9" * 5000 + "}", Scale(kind="interval"), OFF_SCALE),
    "one-off-two-to-the-sixty": (
        '{"score": 1152921504606846977}',
        Scale(kind="ordinal", classes=(2**60, 0)),
        OFF_SCALE,
    ),
    "list": ('{"score": [2]}', THREE, OFF_SCALE),
    "object": ('{"score": {"opening": 2, "ending": 1}}', THREE, OFF_SCALE),
    "object-of-the-maximum": ('{"score": {"max": 2}}', THREE, OFF_SCALE),
    "keys-without-quotes-twice": ("{score: 2, score: 1}", THREE, NOT_JSON),
    "grade-with-minus": ("Score: 5-", LIKERT, OFF_SCALE),
    "grade-with-plus": ("**Rating: 4+**", LIKERT, OFF_SCALE),
    "grade-with-plus-bare": ("4+", LIKERT, OFF_SCALE),
    "grade-with-plus-in-string": ('{"score": "4+"}', LIKERT, OFF_SCALE),
    "announced-beside-a-range": ("Score: 1-2", LIKERT, NOT_JSON),
    "announced-with-another-maximum": ("Score: 4 (max 10)", LIKERT, NOT_JSON),
    "announced-or-the-maximum": ("Score: 4 or max 5", LIKERT, NOT_JSON),
    "sentences-out-of-five": ("4 out of 5 sentences are fine.", LIKERT, NOT_JSON),
    "out-of-five-sentences": ("Out of 5 sentences, 4 are fine.", LIKERT, NOT_JSON),
    "out-of-five-criteria": ("Out of 5 criteria, 4 are met.", LIKERT, NOT_JSON),
    "scale-elsewhere": ("The scale has 1 to 5. The text has 3 parts.", LIKERT, NOT_JSON),
    "stars-of-another-scale": ("★★★☆☆☆", LIKERT, NOT_JSON),
    "stars-on-a-scale-to-ten": ("Rating: ★★★★", TEN, NOT_JSON),
    "stars-that-decorate": ("★★★ Result: see above ★★★", LIKERT, NOT_JSON),
    "other-case-not-unique": ('{"score": "Aa"}', Scale(kind="nominal", classes=("AA", "aa")), OFF_SCALE),
    "percent": ('{"score": "50%"}', UNIT, OFF_SCALE),
    "null": ('{"score": null}', THREE, MISSING),
    "null-bare": ("null", THREE, MISSING),
    "blank-string": ('{"score": " "}', THREE, MISSING),
    "no-score": ('{"justification": "Fine."}', THREE, MISSING),
    "no-score-at-the-top": ('{"a": {"score": 2}, "b": {"score": 2}}', THREE, MISSING),
    "score-only-in-prose-beside-object": ('Score: 2 {"justification": "Fine."}', THREE, MISSING),
    "empty-object": ("{}", THREE, MISSING),
    "empty": ("", THREE, MISSING),
    "empty-where-a-class-is-empty": ("", Scale(kind="nominal", classes=("", "x")), MISSING),
    "decoration-where-a-class-is-empty": ("**", Scale(kind="nominal", classes=("", "x")), NOT_JSON),
    "blank": (" \n\ufeff\t", THREE, MISSING),
}


@pytest.mark.parametrize(("text", "scale", "score"), TOLERATED.values(), ids=TOLERATED)
def test_tolerant_about_form(text: str, scale: Scale, score: Score) -> None:
    reading = read_one(text, scale)
    assert (reading.score, reading.failure) == (score, None)
    assert type(reading.score) is type(score)
    assert reading.raw_choice is not None


@pytest.mark.parametrize(("text", "scale", "failure"), NEVER_GUESSED.values(), ids=NEVER_GUESSED)
def test_never_a_guess(text: str, scale: Scale, failure: Failure) -> None:
    reading = read_one(text, scale)
    assert (reading.score, reading.failure) == (None, failure)


OTHER_KEYS = [
    "confidence", "points_possible", "severity", "आत्मविश्वास", "የራስ_መተማመን",
    "text_id", "textId", "id", "ID", "index", "probability", "max", "scale_max", "errors", "errorCount", "count", "max_score",
    "maxScore", "highest-score", "confidence_score", "number_of_errors", "seed", "Konfidenz", "Höchstpunktzahl", "confianza",
    "puntuación_máxima", "note_maximale", "punteggio_massimo", "confiança", "chyby", "最高スコア", "信頼度", "最高得分", "错误数",
    "오류", "최대 점수", "الثقة", "الدرجة القصوى", "ביטחון", "ציון מקסימלי", "güven", "en yüksek puan", "số lỗi", "điểm tối đa",
    "luottamus", "suurin_pistemäärä", "hibák", "maximális pontszám", "अधिकतम_अंक", "गलतियाँ", "คะแนนสูงสุด", "ความมั่นใจ", "ከፍተኛ_ነጥብ", "ስህተቶች",
]  # fmt: skip


@pytest.mark.parametrize("key", OTHER_KEYS)
@pytest.mark.parametrize("number", ["1", '"1"'])
def test_a_lone_number_under_the_name_of_another_number_is_no_score(key: str, number: str) -> None:
    assert outcome(read_one(f'{{"{key}": {number}}}')) is MISSING


INNER = [
    '{"score": 1}',
    '{"score": "1", "label": "good"}',
    '{"justification": "Sure.", "rating": 1}',
    '[{"score": 1}]',
    '"{\\"score\\": 1}"',
]


@pytest.mark.parametrize("key", OTHER_KEYS)
@pytest.mark.parametrize("inner", INNER)
def test_a_score_under_the_name_of_another_number_is_no_score(key: str, inner: str) -> None:
    assert outcome(read_one(f'{{"{key}": {inner}}}')) is MISSING
    assert outcome(read_one(f'{{"result": {{"{key}": {inner}}}}}')) is MISSING
    assert outcome(read_one(f'{{"{key}": {inner}, "verdict": {{"score": 2}}}}')) == 2


AROUND = [
    "item_1",
    "item",
    "Item",
    "row",
    "line",
    "page",
    "text",
    "položka",
    "項目",
    "result",
    "text_id_7",
    "answer 2",
    "evaluation",
    "结果",
    "نتیجه",
]


@pytest.mark.parametrize("key", AROUND)
def test_an_object_around_the_score_is_opened(key: str) -> None:
    assert outcome(read_one(f'{{"{key}": {{"score": 1}}}}')) == 1
    assert outcome(read_one(f'{{"{key}": [{{"justification": "Fine.", "score": "1"}}]}}')) == 1
    assert outcome(read_one(f'{{"{key}": {{"confidence": {{"score": 1}}}}}}')) is MISSING
    assert outcome(read_one(f'{{"{key}": {{"score": 1}}, "max_score": 2}}')) == 1


@pytest.mark.parametrize("key", ["item", "row", "line", "page"])
def test_the_number_of_an_item_is_no_score(key: str) -> None:
    assert outcome(read_one(f'{{"{key}": 1}}')) is MISSING
    assert outcome(read_one(f'{{"{key}": 1, "rating": 2}}')) == 2


MAXIMUM_NAMED = [
    "The maximum score is 2. I give 1.", "I give 1. The maximum score is 2.", "Maximum score: 2. I give 1.",
    "The top score is 2. This one is 1.",
    "Score: 2 is the maximum. I give 1.", "Full marks: 2. I award 1.", "The maximum score is 2.", "The confidence score is 1.",
    "Number of errors in the answer: 1", "Die höchste Punktzahl ist 2. Ich gebe 1.", "La meilleure note est 2. Je donne 1.",
    "La puntuación máxima es 2. Doy 1.", "Il massimo punteggio è 2. Do 1.", "A melhor nota é 2. Dou 1.", "Maximální skóre je 2. Dávám 1.",
    "最高スコアは2です。1とします。", "最高得分为2。我给1。", "최고 점수는 2입니다. 저는 1을 줍니다.", "أعلى درجة هي 2. أعطيه 1.",
    "מקסימום ציון: 2. אני נותן 1.", "अधिकतम स्कोर: 2. मैं 1 देता हूँ", "En yüksek puan: 2. Ben 1 veriyorum.", "Tối đa điểm: 2. Tôi cho 1.",
    "A maximális pontszám: 2. Én 1-et adok.", "Suurin pistemäärä: 2. Annan 1.", "คะแนนสูงสุดคือ 2 ฉันให้ 1", "ከፍተኛ ነጥብ: 2. እኔ 1 እሰጣለሁ",
    "Score (max): 2. I give 1.", "Possible score: 2. I give 1.", "Eng katta ball: 2. Men 1 beraman.",
]  # fmt: skip


@pytest.mark.parametrize("text", MAXIMUM_NAMED)
def test_a_number_that_is_said_to_be_another_is_no_score(text: str) -> None:
    assert outcome(read_one(text)) is NOT_JSON
    assert read_text(text, THREE, bundled_vocabulary()).failure is NOT_JSON


# id: (reply, how the call ended, outcome)
LENGTH: dict[str, Any] = {"finish_reason": "length"}
ENDED: dict[str, tuple[str, dict[str, Any], Score | Failure]] = {
    "cut-after-comma": ('{"score": 2,', LENGTH, 2),
    "cut-in-justification": ('{"score": 2, "justification": "It rea', LENGTH, 2),
    "cut-in-justification-not-told": ('{"score": 2, "justification": "It rea', {}, 2),
    "cut-in-escape": ('{"score": 2, "justification": "It \\', LENGTH, 2),
    "cut-in-key": ('{"score": 2, "justif', LENGTH, 2),
    "cut-after-key": ('{"score": 2, "justification"', LENGTH, 2),
    "cut-after-colon": ('{"score": 2, "justification":', LENGTH, 2),
    "cut-missing-comma": ('{"score": 2 "justif', LENGTH, 2),
    "cut-after-string-score": ('{"score": "2"', LENGTH, 2),
    "cut-in-own-name": ('{"linguistic_acceptability": {"score": 2, "just', LENGTH, 2),
    "cut-in-fence": ('```json\n{"score": 2, "just', LENGTH, 2),
    "cut-at-score": ('{"score": 1', LENGTH, TRUNCATED),
    "cut-at-score-and-space": ('{"score": 1 ', LENGTH, TRUNCATED),
    "cut-at-score-not-told": ('{"justification": "Fine.", "score": 1', {}, TRUNCATED),
    "cut-before-score": ('{"justification": "Fine.", "score":', LENGTH, TRUNCATED),
    "cut-in-string-score": ('{"score": "1', LENGTH, TRUNCATED),
    "cut-in-word": ('{"score": tru', LENGTH, TRUNCATED),
    "cut-in-justification-first": ('{"justification": "Score: 1 would be', LENGTH, TRUNCATED),
    "cut-in-list": ('{"justification": ["a", "b', LENGTH, TRUNCATED),
    "cut-in-wrapper-may-have-siblings": ('{"result": {"score": 2}, "oth', LENGTH, TRUNCATED),
    "cut-at-brace": ("Here: {", {}, TRUNCATED),
    "cut-off-scale-was-seen": ('{"score": 7, "justification": "It', LENGTH, OFF_SCALE),
    "cut-null-was-seen": ('{"score": null, "justification": "It', LENGTH, MISSING),
    "cut-two-were-seen": ('{"score": 1, "score": 2, "justif', LENGTH, NOT_JSON),
    "cut-empty": ("", LENGTH, TRUNCATED),
    "cut-prose": ("The text reads well and", LENGTH, TRUNCATED),
    "cut-bare": ("1", LENGTH, TRUNCATED),
    "cut-announced-at-the-end": ("Score: 1", LENGTH, TRUNCATED),
    "cut-announced-in-last-line": ("Score: 1 or", LENGTH, TRUNCATED),
    "cut-announced-in-whole-line": ("Score: 1\nThe text rea", LENGTH, 1),
    "complete-then-cut": ('{"score": 2}\nI chose this beca', LENGTH, 2),
    "stopped": ('{"score": 2}', {"finish_reason": "stop"}, 2),
    "refusal": ("", {"refusal": "I can't help with that."}, REFUSED),
    "refusal-with-text": ("No.", {"refusal": "I can't help with that."}, REFUSED),
    "refusal-but-score": ('{"score": 2}', {"refusal": "I can't help with that."}, 2),
    "content-filter": ('{"justification": "The te', {"finish_reason": "content_filter"}, REFUSED),
    "content-filter-empty": ("", {"finish_reason": "content_filter"}, REFUSED),
    "content-filter-but-score": ('{"score": 1, "justification": "The', {"finish_reason": "content_filter"}, 1),
    "refusal-opening": ("I’m sorry, but I can’t assist with that.", {}, REFUSED),
    "refusal-opening-quoted": ('"I cannot rate this text."', {}, REFUSED),
    "refusal-opening-cut": ("I'm sorry, but I", LENGTH, REFUSED),
    "refusal-opening-fr": ("Je suis désolé, mais je ne peux pas évaluer ce texte.", {}, REFUSED),
    "refusal-opening-de": ("Es tut mir leid, dabei kann ich nicht helfen.", {}, REFUSED),
    "refusal-opening-es": ("Lo siento, no puedo ayudar con eso.", {}, REFUSED),
    "refusal-opening-zh": ("抱歉，我无法评价这段文字。", {}, REFUSED),
    "refusal-opening-ja": ("申し訳ありませんが、お手伝いできません。", {}, REFUSED),
    "refusal-opening-it": ("Mi dispiace, ma non posso aiutarti.", {}, REFUSED),
    "refusal-opening-pt": ("Desculpe, não posso ajudar com isso.", {}, REFUSED),
    "refusal-opening-cs": ("Omlouvám se, ale s tím nemohu pomoci.", {}, REFUSED),
    "refusal-opening-but-score": ('Sorry, but I must be strict. {"score": 0}', {}, 0),
    "refusal-opening-but-announced": ("I'm sorry, but I find it poor. Score: 0", {}, 0),
    "refusal-opening-and-null": ('Sorry, but I will not. {"score": null}', {}, REFUSED),
    "refusal-later-is-prose": ("The text says: I'm sorry, but I can't.", {}, NOT_JSON),
    "no-flaw-is-no-refusal": ("I can't find a flaw.", {}, NOT_JSON),
    "apology-is-no-refusal": ("Sorry to say, it reads badly.", {}, NOT_JSON),
}


@pytest.mark.parametrize(("text", "how", "expected"), ENDED.values(), ids=ENDED)
def test_how_the_reply_ended(text: str, how: dict[str, Any], expected: Score | Failure) -> None:
    assert outcome(read_one(text, **how)) == expected


# id: (reply, how the call ended, outcome of LA, outcome of TQ)
Outcome = Score | Failure
JOINT: dict[str, tuple[str, dict[str, Any], Outcome, Outcome]] = {
    "objects": (
        '{"linguistic_acceptability": {"justification": "a", "score": 2}, "task_quality": {"score": 0}}',
        {}, 2, 0,
    ),
    "flat": ('{"linguistic_acceptability": 2, "task_quality": "1"}', {}, 2, 1),
    "mixed": ('{"linguistic_acceptability": {"score": 2}, "task_quality": 1}', {}, 2, 1),
    "other-case": ('{"Linguistic Acceptability": 2, "TASK-QUALITY": 1}', {}, 2, 1),
    "fenced-in-prose": ('Sure!\n```json\n{"linguistic_acceptability": 2, "task_quality": 1,}\n```\nDone.', {}, 2, 1),
    "wrapper": ('{"scores": {"linguistic_acceptability": 2, "task_quality": 1}}', {}, 2, 1),
    "one-object-each": ('{"linguistic_acceptability": 2}\n{"task_quality": 1}', {}, 2, 1),
    "one-missing": ('{"linguistic_acceptability": 2}', {}, 2, MISSING),
    "one-null": ('{"linguistic_acceptability": null, "task_quality": 1}', {}, MISSING, 1),
    "one-without-score": ('{"linguistic_acceptability": {"justification": "a"}, "task_quality": 1}', {}, MISSING, 1),
    "one-off-scale": ('{"linguistic_acceptability": 2, "task_quality": 1.5}', {}, 2, OFF_SCALE),
    "one-twice": ('{"linguistic_acceptability": 2, "task_quality": 1, "task_quality": 0}', {}, 2, NOT_JSON),
    "objects-disagree-on-one": (
        '{"linguistic_acceptability": 2, "task_quality": 1} {"task_quality": 0}',
        {}, 2, NOT_JSON,
    ),
    "metric-not-asked": ('{"linguistic_acceptability": 2, "task_quality": 1, "hallucination": 0}', {}, 2, 1),
    "cut-in-second": (
        '{"linguistic_acceptability": {"score": 2}, "task_quality": {"justification": "Th',
        LENGTH, 2, TRUNCATED,
    ),
    "cut-after-second-score": (
        '{"linguistic_acceptability": {"score": 2}, "task_quality": {"score": 1, "ju',
        LENGTH, 2, 1,
    ),
    "cut-at-second-score": ('{"linguistic_acceptability": 2, "task_quality": 1', LENGTH, 2, TRUNCATED),
    "complete-but-told-cut": ('{"linguistic_acceptability": 2}', LENGTH, 2, TRUNCATED),
    "single-form": ('{"justification": "a", "score": 2}', {}, MISSING, MISSING),
    "bare": ("2", {}, NOT_JSON, NOT_JSON),
    "announced": ("Score: 2", {}, NOT_JSON, NOT_JSON),
    "prose": ("Both are fine.", {}, NOT_JSON, NOT_JSON),
    "empty": ("", {}, MISSING, MISSING),
    "refusal-opening": ("I'm sorry, but I can't help.", {}, REFUSED, REFUSED),
    "refusal": ("", {"refusal": "no"}, REFUSED, REFUSED),
    "refusal-opening-but-one-score": ('Sorry, but I rate one only. {"task_quality": 1}', {}, MISSING, 1),
    "content-filter-but-one-score": (
        '{"linguistic_acceptability": 2, "task_quality": {"jus',
        {"finish_reason": "content_filter"}, 2, TRUNCATED,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "how", "la", "tq"), JOINT.values(), ids=JOINT)
def test_joint(text: str, how: dict[str, Any], la: Outcome, tq: Outcome) -> None:
    readings = read_reply(text, {LA: THREE, TQ: THREE}, joint=True, **how)
    assert {metric: outcome(reading) for metric, reading in readings.items()} == {LA: la, TQ: tq}


RAW_CHOICES = {
    "number": ('{"score": 2.0}', "2.0"),
    "string": ('{"score": "２点"}', "２点"),
    "off-scale": ('{"score": 7}', "7"),
    "off-scale-object": ('{"score": {"max": 2}}', '{"max": 2}'),
    "boolean": ('{"score": true}', "true"),
    "null": ('{"score": null}', "null"),
    "nan": ('{"score": NaN}', "NaN"),
    "announced": ("評価は２点です。", "２点"),
    "bare": ("「２点」", "２点"),
    "two": ('{"score": 1} {"score": 2}', "1 | 2"),
    "long-is-cut": ('{"score": ' + "9" * 5000 + "}", "9" * 200),
    "nothing-seen": ('{"justification": "x"}', None),
}


@pytest.mark.parametrize(("text", "raw"), RAW_CHOICES.values(), ids=RAW_CHOICES)
def test_raw_choice_is_what_was_written(text: str, raw: str | None) -> None:
    assert read_one(text).raw_choice == raw


JUSTIFICATIONS = {
    "verbatim": (r'{"justification": " 「良い」\n\tq\" ", "score": 2}', ' 「良い」\n\tq" '),
    "control-characters": (r'{"justification": "a\u0000\u001b[31mb\r\n\u0085c", "score": 2}', "a[31mb\nc"),
    "joiners-stay": (r'{"justification": "می\u200cخواهم", "score": 2}', "می\u200cخواهم"),
    "lone-surrogate": (r'{"justification": "a\ud800b", "score": 2}', "a\ufffdb"),
    "surrogate-pair": (r'{"justification": "\ud83d\ude00", "score": 2}', "😀"),
    "bad-escape": (r'{"justification": "\alpha \u12", "score": 2}', r"\alpha \u12"),
    "object": ('{"justification": {"a": [1.50, true, null]}, "score": 2}', '{"a": [1.50, true, null]}'),
    "number": ('{"justification": 1e3, "score": 2}', "1e3"),
    "null": ('{"justification": null, "score": 2}', None),
    "absent": ('{"score": 2}', None),
    "cut": ('{"score": 2, "justification": "It re', None),
    "kept-with-failure": ('{"justification": "Unclear.", "score": 7}', "Unclear."),
    "kept-without-score": ('{"justification": "Unclear."}', "Unclear."),
    "other-case": ('{"Justification": "Fine.", "Score": 2}', "Fine."),
}


@pytest.mark.parametrize(("text", "justification"), JUSTIFICATIONS.values(), ids=JUSTIFICATIONS)
def test_justification(text: str, justification: str | None) -> None:
    assert read_one(text).justification == justification


def test_scale_with_ten_classes_is_not_cut_short() -> None:
    assert read_one("Score: 10", TEN).score == 10
    assert read_one('{"score": 1', TEN, **LENGTH).failure is TRUNCATED


def test_metrics_that_differ_in_case_only_are_told_apart() -> None:
    readings = read_reply('{"pc": 1, "PC": 2}', {"pc": THREE, "PC": THREE}, joint=True)
    assert {metric: reading.score for metric, reading in readings.items()} == {"pc": 1, "PC": 2}


@pytest.mark.parametrize("scales", [{}, {LA: THREE, TQ: THREE}], ids=["none", "two"])
def test_single_call_asks_for_one_metric(scales: dict[str, Scale]) -> None:
    with pytest.raises(ValueError, match="exactly one metric"):
        read_reply('{"score": 2}', scales, joint=False)


def test_joint_call_without_metrics_reads_nothing() -> None:
    assert read_reply('{"score": 2}', {}, joint=True) == {}


LEXICONS = bundled_lexicons()


@pytest.mark.parametrize(("language", "lexicon"), LEXICONS.items(), ids=LEXICONS)
def test_every_announcer_announces(language: str, lexicon: Lexicon) -> None:
    for word in lexicon.announcers:
        assert read_one(f"{word}: 2").score == 2, (language, word)
        assert read_one(f"{word.capitalize()}：２").score == 2, (language, word)


@pytest.mark.parametrize(("language", "lexicon"), LEXICONS.items(), ids=LEXICONS)
def test_every_refusal_opening_refuses(language: str, lexicon: Lexicon) -> None:
    for opening in lexicon.refusals:
        text = opening.replace("~", "evaluate").capitalize() + " ..."
        assert read_one(text).failure is REFUSED, (language, text)


# Each is repeated to a bit under MAX_REPLY_CHARACTERS, which is read, and to ten million, which is not.
HOSTILE = {
    "open-braces": "{",
    "open-brackets": "[",
    "digits": "9",
    "nested-objects": '{"a":',
    "nested-lists": '{"a":[',
    "keys-without-values": '{"',
    "spaced-braces": '{ "a',
    "escaped-quotes": '{"\\"',
    "backslashes": "\\",
    "quotes": '"',
    "braces-and-blanks": "{  ",
    "blanks": " ",
    "newlines": "\n",
    "announcers": "score:1 ",
    "announcers-on-lines": "score:\n",
    "announcers-open": "score (",
    "announcers-with-decoration": "score **",
    "sentence-ends": ".",
    "decoration": "*",
    "members": '{"score":1,',
    "objects": '{"score":1}',
    "wide-objects": '{"score":1}score:1.',
    "commas": '{"a":1,,',
    "signs": "-",
    "points": "1.",
    "exponents": "1e",
}


@pytest.mark.slow
@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
def test_the_time_grows_with_a_hostile_reply(unit: str) -> None:
    for before, after in (("", ""), ('{"justification": "', '", "score": 2}'), ('{"score": ', "}")):

        def read_both(size: int, before: str = before, after: str = after) -> None:
            text = before + unit * (size // len(unit)) + after
            read_one(text)
            read_reply(text, {LA: THREE, TQ: YES_NO}, joint=True)

        assert_grows_linearly(read_both, MAX_REPLY_CHARACTERS - 100)
        assert_grows_linearly(read_both, 10_000_000)  # what is longer than the limit is cut first


def test_nesting_has_a_limit() -> None:
    def nested(depth: int) -> str:
        return '{"score": 2, "justification": ' + "[" * depth + "]" * depth + "}"

    assert read_one(nested(MAX_NESTING - 1)).score == 2
    assert read_one(nested(MAX_NESTING)).failure is NOT_JSON
    assert read_one(nested(100_000)).failure is NOT_JSON


def test_longer_than_any_judge_may_write_is_not_read() -> None:
    assert read_one('{"score": 2}' + " " * (MAX_REPLY_CHARACTERS - 12)).score == 2
    assert read_one('{"score": 2}' + " " * MAX_REPLY_CHARACTERS).failure is NOT_JSON


# What must hold for any text, any scale.

PIECES = st.sampled_from([
    '{"', '"}', "{", "}", "[", "]", ":", ",", '"score"', '"justification"', '"linguistic_acceptability"',
    "null", "true", "NaN", "\\", '"', "Score: ", "評価は", "1", "2", "２", "٢", "½", "1e9", "-", ".", "/", " or ",
    "\n", "```json\n", "yes", "I'm sorry, but I ",
])  # fmt: skip
TEXTS = st.text() | st.lists(PIECES | st.text(max_size=3), max_size=25).map("".join)
BOUNDS = st.floats(allow_nan=False, allow_infinity=False)
CLASSED = st.builds(
    Scale,
    kind=st.sampled_from(["nominal", "ordinal"]),
    classes=st.lists(st.integers() | st.text(), min_size=1, max_size=6, unique=True).map(tuple),
)
INTERVAL = st.tuples(BOUNDS, BOUNDS).map(lambda b: Scale(kind="interval", min=min(b), max=max(b)))
SCALES = CLASSED | INTERVAL
METRICS = st.from_regex(r"[a-z][a-z_]{0,15}", fullmatch=True).filter(lambda name: name != "justification")
ENDS = st.sampled_from([None, "stop", "length", "content_filter"])


@given(
    text=TEXTS,
    scales=st.dictionaries(METRICS, SCALES, min_size=1, max_size=3),
    finish_reason=ENDS,
    refusal=st.none() | st.text(),
)
def test_any_text_has_a_reading_for_exactly_the_metrics(
    text: str, scales: Mapping[str, Scale], finish_reason: str | None, refusal: str | None
) -> None:
    for joint in {True, len(scales) > 1}:
        readings = read_reply(text, scales, joint=joint, finish_reason=finish_reason, refusal=refusal)
        assert list(readings) == list(scales)
        for metric, reading in readings.items():
            assert (reading.score is None) != (reading.failure is None)
            assert reading.score is None or scales[metric].holds(reading.score)
            for kept in (reading.raw_choice, reading.justification):
                (kept or "").encode()  # can be stored
            if reading.failure is TRUNCATED:
                assert finish_reason == "length" or "{" in text
            if reading.failure is REFUSED:
                assert all(other.score is None for other in readings.values())


def scores_on(scale: Scale) -> st.SearchStrategy[Score]:
    if scale.kind == "interval":
        return st.floats(min_value=scale.min, max_value=scale.max)
    return st.sampled_from(scale.classes)


SCORED = SCALES.flatmap(lambda scale: st.tuples(st.just(scale), scores_on(scale)))
PLAIN = st.text(st.characters(exclude_categories=["Cc", "Cs"]))


@given(scored=SCORED, justification=PLAIN, first=st.booleans(), ascii_only=st.booleans(), fence=st.booleans())
def test_well_formed_single_reply_round_trips(
    scored: tuple[Scale, Score], justification: str, first: bool, ascii_only: bool, fence: bool
) -> None:
    scale, score = scored
    members = [("score", score), ("justification", justification)]
    text = json.dumps(dict(members if first else members[::-1]), ensure_ascii=ascii_only)
    reading = read_one(f"```json\n{text}\n```" if fence else text, scale)
    assert (reading.score, reading.failure, reading.justification) == (score, None, justification)


@given(
    scored=st.dictionaries(METRICS, st.tuples(SCORED, PLAIN), min_size=1, max_size=4),
    flat=st.booleans(),
    indent=st.none() | st.integers(0, 4),
)
def test_well_formed_joint_reply_round_trips(scored: dict[str, tuple[tuple[Scale, Score], str]], flat: bool, indent: int | None) -> None:
    reply = {m: score if flat else {"justification": j, "score": score} for m, ((_, score), j) in scored.items()}
    readings = read_reply(json.dumps(reply, indent=indent), {m: s for m, ((s, _), _) in scored.items()}, joint=True)
    assert {m: (r.score, r.failure) for m, r in readings.items()} == {m: (v, None) for m, ((_, v), _) in scored.items()}
    assert flat or [r.justification for r in readings.values()] == [j for _, j in scored.values()]


@given(scored=SCORED, justification=PLAIN, data=st.data())
def test_no_cut_changes_a_score(scored: tuple[Scale, Score], justification: str, data: st.DataObject) -> None:
    scale, score = scored
    text = json.dumps({"score": score, "justification": justification})
    cut = data.draw(st.integers(0, len(text)))
    reading = read_one(text[:cut], scale, finish_reason="length")
    assert reading.failure is TRUNCATED or reading.score == score


@given(one=st.sampled_from(THREE.classes), other=st.sampled_from(THREE.classes), between=PLAIN)
def test_two_answers_are_one_only_if_they_agree(one: int, other: int, between: str) -> None:
    reading = read_one(f'{{"score": {one}}}\n{between}\n{{"score": {other}}}')
    if one != other:
        assert reading.score is None
