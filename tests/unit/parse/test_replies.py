"""Replies in many languages and forms, with the score that a person reads in them: a wrong number is never given for one of them.

Texts under `None` name no score. They hold a number that is denied, a bound, of something else or one of several.
"""

from __future__ import annotations

import pytest

from harness.model import Scale, Score
from harness.parse import bundled_vocabulary, read_reply, read_text

FIVE = Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5)
THREE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
CHOICE = Scale(kind="nominal", classes=("A", "B", "tie"), swap={"A": "B", "B": "A"})
METRIC = "linguistic_acceptability"
WORDS = bundled_vocabulary()

TEXTS_OF_FIVE: dict[Score | None, list[str]] = {
    2: [
        "Mi puntuación es 2.", "It has more than 2 flaws. Score: 2",
    ],
    3: [
        "**Score: 3**\n\nThe story is coherent, but the ending is rushed.",
        "<think>Is it 2 or 3? It is at least 2, maybe higher than 3.</think>\nScore: 3", "Score: 3 - not a 4 because of errors",
        "Punktzahl: 3\nDie Geschichte hat 2 Fehler.", "Ma note est 3.", "Dou nota 3 de 5.", "スコア：３", "得分：3分",
        "평점은 3점입니다.", "النتيجة: 3", "Оценка — 3 балла.", "Skor: 3", "Ich vergebe 3 Punkte.", "Le pongo un 3.", "Dal bych 3.",
        "Less engaging than it could be. Rating: 3",
    ],
    4: [
        "Rating: 4", "I'd give this a 4 out of 5.",
        "### Evaluation\n\n| Criterion | Score |\n|---|---|\n| Grammar | 4 |\n\n**Overall score: 4**", "$\\boxed{4}$",
        "The answer is $\\boxed{\\text{4}}$.", "⭐⭐⭐⭐", "★★★★☆", "Rating: 4 👍", "4️⃣", "\\[\n\\text{Score} = 4\n\\]",
        "Sure! Here's my rating:\n\n4", "4\n\nThe text has 2 sentences and 3 small errors.",
        "My verdict: 4/5 — well written, with more than 2 nice images.", "I would rate it 4, since it has at least 3 strong scenes.",
        "Rating: 4. It is better than a 3.", "Rating: 4 (higher than 3, as the plot holds).",
        "Score: 4. It is not a 5, because the end is rushed.", "Bewertung: 4", "Ich gebe der Geschichte 4 von 5 Punkten.",
        "Je donne une note de 4 sur 5.", "Note : 4/5", "Puntuación: 4", "Le doy un 4 de 5.", "Punteggio: 4",
        "Assegno un voto di 4 su 5.", "Nota: 4", "Minha nota é 4.", "Hodnocení: 4", "Dávám 4 z 5.", "評価：4", "評価は4点です。",
        "5点満点中4点です。", "评分：4", "我给这个故事4分（满分5分）。", "점수: 4", "5점 만점에 4점입니다.", "स्कोर: 4",
        "5 में से 4 अंक", "التقييم: ٤", "٤ من ٥", "Оценка: 4", "Я ставлю 4 из 5.", "Puan: 4", "5 üzerinden 4 veriyorum.", "Điểm: 4",
        "Ocena: 4", "Beoordeling: 4", "คะแนน: 4", "ציון: 4", "امتیاز: ۴", "Betyg: 4 av 5", "I give it a solid 4.", "4 stars",
        "It deserves a 4.", "A 4.", "My score is 4 because the plot is strong.", "Ich würde eine 4 vergeben.", "Je lui mets 4.",
        "Gli do 4.", "Eu daria 4.", "4点。物語は自然です。", "给4分。", "4점을 주겠습니다.", "मैं इसे 4 दूँगा।", "Я бы поставил 4.",
        "أعطيه 4.", "4 veririm.", "The text is not perfect, so I give it a 4.",
        "I would not call it perfect, but it is good. Score: 4", "Rating: 4 - better than most stories",
        "Above all it is fluent. 4/5", "Nicht perfekt, aber gut: 4", "Mehr als solide. Bewertung: 4",
        "Ce n'est pas parfait. Note : 4", "Between 3 and 4, I settle on 4. Final score: 4",
        "It is at least a 3; I rate it 4. Score: 4",
    ],
    5: [
        "It does not have errors. Rating: 5", "Rating: 5, not a single error.", "I can't find errors. 5", "No errors. 5",
        "Keine Fehler. 5", "No tiene errores. Puntuación: 5", "Non ci sono errori. Voto: 5", "Não há erros. Nota: 5",
        "Nejsou tu chyby. Hodnocení: 5", "誤りはない。評価：5", "没有错误。评分：5", "오류가 없습니다. 점수: 5",
        "कोई गलती नहीं। स्कोर: 5", "لا توجد أخطاء. التقييم: 5", "Ошибок нет. Оценка: 5", "Hata yok. Puan: 5",
    ],
    None: [
        "Rating: 4-5", "Score: 3–4", "3-4", "Between 2 and 4.", "I'd say between 3 and 4.", "Somewhere from 2 to 3.", "3 to 4",
        "3 or 4", "At least 3.", "I'd give it at least a 3.", "Less than 3.", "less than a 3", "Higher than 3",
        "It is higher than a 3.", "It should score higher than 3.", "More than 3.", "Below 3.", "Above 3", "No more than 3",
        "At most 3.", "Under 4", "Over 3", "3 or more", "3 or higher", "3+", ">3", "≥ 3", "< 3", "Score > 3", "Score: >3",
        "Score: <3", "Score ≥ 4", "Score: at least 3", "Rating: less than 3", "Rating: 3 or above", "Rating: not 4", "Not a 4.",
        "It is not a 4.", "This is no 5.", "I would not give it a 4.", "I wouldn't rate it 5.", "I can't give it a 4.",
        "The score is not 4.", "It doesn't deserve a 5.", "It never reaches 4.", "The rating is lower than 4.", "better than 2",
        "worse than 3", "It's closer to 4 than to 3.", "Score: not applicable. Previous score: 4", "Previous score: 4",
        "Last rating: 4", "Old score: 3", "The previous reviewer's score was 4.", "The average score is 3.", "Confidence: 5",
        "confidence: 5", "My confidence is 4.", "Error count: 3", "Number of errors: 3", "Score range: 1", "Score range: 1-5",
        "Minimum score: 1", "Max score: 5", "Passing score: 3", "Threshold: 3", "Target score: 5", "3 out of ten", "3 out of 10",
        "3/10", "Rating: 3/10", "Score: 3 out of ten", "4 out of seven", "Text length: 5", "Version: 3", "Step 3",
        "Chapter 4 is good.", "Question 3", "Paragraph 2 drags.", "The story has 3 characters.", "There are 4 problems here.",
        "It took 5 minutes.", "In 3 words: bad.", "Word count: 5", "I read it 3 times.", "Total errors: 4",
        "It has 2 main characters.", "Only 2 typos.", "The 3 children run home.", "On day 4 they arrive.", "Temperature: 1",
        "Keine 4.", "Das ist keine 4.", "Nicht 4.", "Ich würde keine 5 vergeben.", "Ich würde nicht 4 vergeben.", "Mindestens 3.",
        "Höchstens 3.", "Weniger als 3.", "Mehr als 3.", "Höher als 3.", "Besser als 3", "Schlechter als 3.", "Zwischen 2 und 4.",
        "Unter 3.", "Über 3", "3 bis 4", "3 oder 4", "Vertrauen: 5", "Konfidenz: 4", "Vorherige Bewertung: 4", "Fehleranzahl: 3",
        "Bewertung: nicht 4", "Bewertung: mindestens 3", "Pas un 4.", "Ce n'est pas un 4.", "Je ne donnerais pas 4.", "Au moins 3.",
        "Moins de 3.", "Plus de 3.", "Plus élevé que 3.", "Entre 2 et 4.", "Au plus 3", "Confiance : 5", "Nombre d'erreurs : 3",
        "Note précédente : 4", "Mieux que 3.", "3 ou plus", "No es un 4.", "No le daría un 4.", "Al menos 3.", "Menos de 3.",
        "Más de 3.", "Mayor que 3.", "Entre 2 y 4.", "Como máximo 3", "Por lo menos 3", "Confianza: 5", "Número de errores: 3",
        "Puntuación anterior: 4", "Mejor que 3", "Inferior a 3", "Non è un 4.", "Non gli darei 4.", "Almeno 3.", "Meno di 3.",
        "Più di 3.", "Superiore a 3.", "Tra 2 e 4.", "Al massimo 3", "Fiducia: 5", "Numero di errori: 3", "Punteggio precedente: 4",
        "Não é um 4.", "Eu não daria 4.", "Pelo menos 3.", "Menos de 3", "Mais de 3.", "Maior que 3.", "Entre 2 e 4.", "No máximo 3",
        "Confiança: 5", "Nota anterior: 4", "Není to 4.", "Nedal bych 4.", "Alespoň 3.", "Méně než 3.", "Více než 3.",
        "Vyšší než 3.", "Mezi 2 a 4.", "Nejvýše 3", "Jistota: 5", "Počet chyb: 3", "Předchozí hodnocení: 4", "Aspoň 3",
        "4ではない。", "4点ではありません。", "3以上です。", "3点以上", "3以下", "3未満", "3より高い。", "2から4の間です。", "3〜4",
        "少なくとも3", "信頼度：5", "誤りの数：3", "前回の評価：4", "評価は4ではない。", "不是4分。", "不到3分。", "至少3分。",
        "3分以上", "3分以下", "高于3分", "低于3", "超过3", "2到4之间", "3-4分", "最多3分。", "置信度：5", "错误数：3", "上次评分：4",
        "评分：不是4", "4점이 아닙니다.", "3점 이상", "3 이하", "3점 미만", "3점보다 높습니다.", "2에서 4 사이", "최소 3점",
        "적어도 3점", "3점 초과", "신뢰도: 5", "이전 점수: 4", "4 नहीं।", "यह 4 नहीं है।", "कम से कम 3", "3 से अधिक", "3 से कम",
        "2 और 4 के बीच", "आत्मविश्वास: 5", "पिछला स्कोर: 4", "ليس 4.", "ليست 4", "على الأقل 3", "أقل من 3", "أكثر من 3", "أعلى من 3",
        "بين 2 و 4", "الثقة: 5", "النتيجة السابقة: 4", "Не 4.", "Это не 4.", "Я бы не поставил 4.", "Не менее 3", "Не меньше 3",
        "Менее 3", "Больше 3", "Выше 3", "Меньше чем 3", "От 2 до 4", "Между 2 и 4", "Минимум 3", "Уверенность: 5",
        "Предыдущая оценка: 4", "Количество ошибок: 3", "4 değil.", "En az 3", "3'ten fazla", "3'ten az", "2 ile 4 arasında",
        "Güven: 5", "Önceki puan: 4", "Không phải 4.", "Ít nhất 3", "Nhiều hơn 3", "Nie 4.", "Co najmniej 3", "Mniej niż 3",
        "Więcej niż 3", "Bukan 4.", "Setidaknya 3", "Lebih dari 3", "Minstens 3", "Geen 4.", "Niet 4.", "Inte 4.", "Minst 3",
        "Ei 4.", "Vähintään 3", "Nem 4.", "Legalább 3", "לא 4.", "לפחות 3", "نه 4", "حداقل 3", "ไม่ใช่ 4", "อย่างน้อย 3", "Όχι 4.",
        "Τουλάχιστον 3",
    ],
}  # fmt: skip
TEXTS_OF_THREE: dict[Score | None, list[str]] = {
    0: [
        "0", "Score: 0",
    ],
    1: [
        "(0 = bad, 2 = good) 1", "2点中1点です。", "1 (fair)", "- 1", "Score - 1", "Score: 1, not 2",
        "Score: 1; a 2 would need no errors", "GRADE: 1", "Result: 1", "1 out of 2, because it has 2 mistakes.",
        "score 2 requires no errors; score: 1", "A score of 2 means perfect. Score: 1", "Result: \\(1\\)", "> Score: 1",
    ],
    2: [
        "Zero errors, so 2.", "Score = 2",
    ],
    None: [
        "Score: 1-2", "1-2", "-1", "−1", "Score: −1", "not 0", "more than 0", "greater than 1", "0 or 1",
    ],
}  # fmt: skip
TEXTS_OF_CHOICE: dict[Score | None, list[str]] = {
    'A': [
        "Answer: A", "Text A is better.", "A", "Winner: A",
    ],
    'B': [
        "A closer look favours B.", "I prefer B.", "[[B]]", "The better text is B.", "**Verdict: B**", "Ich bevorzuge B.",
        "Je préfère B.", "我选择B。", "Bの方が良い。", "Response B wins.", "A careful reading favours B.", "\\boxed{B}",
        "Clearly B.",
    ],
    'tie': [
        "It's a tie.",
    ],
    None: [
        "Not A.", "It is not A.", "I do not prefer B.", "I would not choose A.", "Ich bevorzuge nicht A.", "Ni A ni B.",
        "Neither A nor B.", "Je ne préfère pas B.", "不是A。", "Aではない。", "Either A or B.", "B is worse.",
        "The worse text is A.", "Loser: A", "Not a tie.",
    ],
}  # fmt: skip
JSON_OF_FIVE: dict[Score | None, list[str]] = {
    2: [
        "{\"confidence\": 0.9, \"score\": 2}",
    ],
    3: [
        "{\"hodnocení\": 3}",
    ],
    4: [
        "{\"justification\": \"Fluent.\", \"score\": 4}", "```json\n{\"score\": \"4\"}\n```", "{\"rating\": 4}", "{\"スコア\": 4}",
        "{\"得分\": 4, \"理由\": \"好\"}", "{\"puntuación\": 4}", "{\"linguistic_acceptability\": 4}",
        "{\"linguistic acceptability\": {\"score\": 4}}", "{\"score\": \"4/5\"}", "{\"score\": \"4 out of 5\"}", "{\"score\": 4.0}",
        "{\"final_score\": 4}", "{\"answer\": 4}", "{\"grade\": 4}", "{\"result\": {\"score\": 4}}",
        "{\"name\": \"answer\", \"arguments\": {\"justification\": \"ok\", \"score\": 4}}",
        "<tool_call>\n{\"name\": \"answer\", \"arguments\": {\"score\": 4}}\n</tool_call>",
        "Here is the JSON:\n{\"score\": 4, \"justification\": \"It has at least 2 errors\"}", "{\"score\": 4, \"confidence\": 5}",
        "<think>score 3?</think>{\"score\": 4}", "{\"score\": \"４\"}", "{\"score\": \"٤\"}", "{\"점수\": 4}", "{\"स्कोर\": 4}",
        "{\"оценка\": 4}", "{\"nota\": 4}", "{\"Bewertung\": 4}", "{\"punteggio\": 4}", "{\"puan\": 4}", "{\"التقييم\": 4}",
        "Score: 4", "4", "**4**", "{\"score\": \"4 - not perfect\"}", "{\"score\": \"4 (better than most)\"}",
        "{\"score\": \"4, good\"}", "{\"score\": 4} Previous score: 3", "{\"score\": 4}\n\nScore: 4",
    ],
    None: [
        "{\"sentence\": 2}", "{\"total\": 5}", "{\"confidence\": 5}", "{\"error_count\": 3}", "{\"errors\": 3}",
        "{\"score_range\": 1}", "{\"previous_score\": 4}", "{\"max_score\": 5}", "{\"min_score\": 1}", "{\"total_errors\": 3}",
        "{\"paragraphs\": 2}", "{\"id\": 3}", "{\"fluency\": 4}", "{\"coherence\": 4}", "{\"old_score\": 3}",
        "{\"average_score\": 3}", "{\"threshold\": 3}", "{\"weight\": 1}", "{\"time\": 2}", "{\"number_of_sentences\": 2}",
        "{\"word_count\": 4}", "{\"page\": 3}", "{\"length\": 5}", "{\"duration\": 3}", "{\"attempts\": 2}", "{\"severity\": 2}",
        "{\"reference_score\": 4}", "{\"baseline_score\": 4}", "{\"human_score\": 4}", "{\"items\": 3}", "{\"priority\": 1}",
        "{\"sum\": 5}", "{\"count\": 3}", "{\"usage\": 5}", "{\"tokens\": 5}", "{\"mean\": 3}", "{\"score\": \"not 4\"}",
        "{\"score\": \"at least 3\"}", "{\"score\": \">3\"}", "{\"score\": \"3-4\"}", "{\"score\": \"3+\"}",
        "{\"score\": \"less than 3\"}", "{\"score\": \"between 2 and 4\"}", "{\"score\": \"higher than 3\"}",
        "{\"score\": \"no more than 3\"}", "{\"score\": \"3 out of ten\"}", "{\"score\": \"3/10\"}", "{\"score\": \"keine 4\"}",
        "{\"score\": \"mindestens 3\"}", "{\"score\": \"3以上\"}", "{\"score\": \"不是4\"}", "{\"score\": \"3점 이상\"}",
        "{\"score\": \"не 4\"}", "{\"score\": \"confidence: 5\"}", "{\"score\": \"errors: 3\"}", "{\"score\": true}",
        "{\"score\": null}", "{\"score\": 6}", "{\"score\": -1}", "Confidence: 5", "Previous score: 4", "Error count: 3",
        "Score range: 1", "at least 3", "not 4", "3-4", "higher than 3", "3 out of ten", "Score: at least 3",
        "The score is higher than 3.", "The score is not 4.", "Score: between 2 and 4", "Puntuación: al menos 3", "评分：不低于3",
        "Score: 3 or more", "Score: 3+", "{\"a\": 1, \"b\": 2}", "{\"scores\": {\"fluency\": 4}}",
        "{\"evaluation\": {\"errors\": 3}}", "{\"analysis\": {\"sentence\": 2}}", "{\"details\": {\"total\": 5}}",
    ],
}  # fmt: skip


def _cases(replies: dict[Score | None, list[str]], scale: Scale) -> list[tuple[str, Scale, Score | None]]:
    return [(text, scale, score) for score, texts in replies.items() for text in texts]


@pytest.mark.parametrize(
    ("text", "scale", "score"), [*_cases(TEXTS_OF_FIVE, FIVE), *_cases(TEXTS_OF_THREE, THREE), *_cases(TEXTS_OF_CHOICE, CHOICE)]
)
def test_a_free_text_gives_the_score_that_it_names_or_a_failure(text: str, scale: Scale, score: Score | None) -> None:
    assert read_text(text, scale, WORDS).score == score


@pytest.mark.parametrize(("text", "scale", "score"), _cases(JSON_OF_FIVE, FIVE))
def test_an_answer_to_a_question_for_json_gives_its_score_or_a_failure(text: str, scale: Scale, score: Score | None) -> None:
    assert read_reply(text, {METRIC: scale}, joint=False, vocabulary=WORDS)[METRIC].score == score
