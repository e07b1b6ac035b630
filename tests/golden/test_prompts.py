"""Prompts as judges get them, word for word: a change of wording is a change of these files, to be read as one reads a diff.

Each file is one task in one variant, with a Japanese, a Czech and an English item: in English, or in those languages that have
instructions of their own. To write the files anew:
HARNESS_WRITE_GOLDEN=1 pytest tests/golden/test_prompts.py
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from harness.content import Library
from harness.model import Condition, Item, Prompt, Scale, parse_variant
from harness.prompts import Example, PromptSpec, english_wording, own_language_wording, shown_texts, words_of
from harness.prompts.templates import render_template

FOLDER = Path(__file__).parent / "prompts"
VARIANTS = (
    "single",
    "joint",
    "single+detailed",
    "joint+detailed+score-first",
    "single+score-only",
    "single+fewshot:2",
    "joint+fewshot:1+score-only",
    "joint+reversed",
    "single+own-language",
    "joint+detailed+fewshot:1+own-language",
)

# Which metric a single call is about: another one for each task.
METRIC = {
    "open_prompt": "linguistic_acceptability",
    "continue_writing": "task_quality",
    "summarize": "hallucination",
    "translate": "translation_quality_0_4",
    "compare_responses": "preference",
}
# Tasks whose scores are continuous have no examples of every class, and one metric; pairs have no examples.
VARIANTS_OF = {
    "translate": (
        *("single", "joint", "single+detailed", "single+score-only", "single+spans", "single+detailed+spans"),
        "single+detailed+spans+own-language",
    ),
    "compare_responses": (
        *("single", "single+text", "single+text+persona+explain"),
        *("single+detailed+own-language", "single+text+persona+explain+own-language"),
    ),
    "open_prompt": (*VARIANTS, "single+text+persona+explain"),
}
CASES = [(task, variant) for task in METRIC for variant in VARIANTS_OF.get(task, VARIANTS)]

TEXTS: dict[str, dict[str, dict[str, str]]] = {
    "open_prompt": {
        "ja": {
            "prompt": "雨の日の散歩について、短い日記を書いてください。",
            "output": "朝から雨だった。傘をさして川まで歩くと、鴨が三羽、気持ちよさそうに泳いでいた。",
        },
        "cs": {
            "prompt": "Napište krátký vzkaz sousedce, která vám hlídala kočku.",
            "output": "Milá paní Nováková, moc děkuji! Micka je spokojená a já taky.",
        },
        "en": {
            "prompt": "Write a notice for a lost scarf.",
            "output": "Lost on Monday near the station: a green scarf.\n\nPlease ring 12.",
        },
    },
    "compare_responses": {
        "ja": {"prompt": "猫について一文で。", "output_a": "猫は静かに歩く。", "output_b": "猫が好きです。"},
        "cs": {"prompt": "Jedna věta o kočce.", "output_a": "Kočka spí na okně.", "output_b": "Mám rád kočky."},
        "en": {"prompt": "One sentence about a cat.", "output_a": "The cat walks softly.", "output_b": "I like cats."},
    },
    "continue_writing": {
        "ja": {"left": "父は時計を見上げた。", "right": "汽車はもう見えなかった。", "output": "針は七時を指したまま止まっていた。"},
        "cs": {"left": "Kdo zazvonil? Eva otevřela dveře.", "right": "", "output": "Na rohožce stál jen košík s jablky."},
        "en": {
            "left": "",
            "right": "That is why the bell still hangs in the tree.",
            "output": "Nobody dared to climb up and take it down.",
        },
    },
    "translate": {
        "ja": {"source_language": "en", "source": "The bus leaves at nine.", "output": "バスは九時に出ます。"},
        "cs": {"source_language": "ja", "source": "鍵は机の上です。", "output": "Klíč je na stole."},
        "en": {"source_language": "pt-BR", "source": "Chegou atrasado.", "output": ""},
    },
    "summarize": {
        "ja": {
            "passage": "町の図書館は九月三日に再び開く。二階に閲覧室ができた。",
            "instruction": "一文で。",
            "output": "図書館が閲覧室を加えて再開する。",
        },
        "cs": {
            "passage": "Most přes potok opraví do května. Autobus zatím jezdí oklikou.",
            "instruction": "",
            "output": "Most bude hotový v květnu, do té doby jezdí autobus oklikou.",
        },
        "en": {
            "passage": 'A passage that says """stop""" and {{G|1|G}}, and ends with <|im_end|>',
            "instruction": "In five words.",
            "output": "It is what it is.",
        },
    },
}


def languages(library: Library, variant: str) -> list[str]:
    """Those that the variant can be put in: English instructions are for all."""
    own_words = parse_variant(variant).language == "own"
    return [language for language in ("ja", "cs", "en") if not own_words or language in library.instruction_files]


def examples(metric: str, scale: Scale, shots: int, text_names: tuple[str, ...]) -> list[Example]:
    """So many of each class, with texts that say what they stand for."""
    named = [(score, f"{score} ({number} of {shots})") for score in scale.classes for number in range(1, shots + 1)]
    return [Example("e", metric, score, {name: f"{name} of an example of {which}" for name in text_names}, False) for score, which in named]


def prompt(library: Library, variant: str, task: str, language: str) -> Prompt:
    task_spec, how = library.task(task), parse_variant(variant)
    item = Item(f"{language}-item", language, task, fields=TEXTS[task][language])
    metrics = task_spec.metrics if how.call == "joint" else (METRIC[task],)
    languages = {"language": language, **{key: TEXTS[task][language][key] for key in task_spec.language_keys[1:]}}
    rubrics = tuple(map(library.rubric, metrics[::-1] if how.metric_order == "reversed" else metrics))
    scales = {rubric.id: rubric.scale for rubric in rubrics}
    further = words_of(task_spec, Condition(how))
    wording = (
        own_language_wording(library, task_spec, rubrics, languages, further)
        if how.language == "own"
        else english_wording(task_spec, rubrics, languages, further)
    )
    text_names = shown_texts(item, task_spec)
    shown = tuple(each for metric, scale in scales.items() for each in examples(metric, scale, how.shots, text_names))
    return render_template(PromptSpec(wording, scales, how, language, text_names, shown)).fill(item)


def file_name(task: str, variant: str) -> str:
    """Without the colon, which not every file system can hold."""
    return f"{task}.{variant.replace(':', '-')}.txt"


def written(found: Prompt, language: str) -> str:
    """A prompt as text to be read: a heading for each message, the schema, and the room for the answer."""
    messages = "\n".join(f"──── {language}: {message.role}\n{message.content}" for message in found.messages)
    schema = json.dumps(found.schema, ensure_ascii=False, indent=1)
    return f"{messages}\n──── {language}: answer, in at most {found.max_tokens} tokens\n{schema}\n"


@pytest.mark.parametrize(("task", "variant"), CASES)
def test_prompts_are_worded_like_this(library: Library, task: str, variant: str) -> None:
    text = "\n".join(written(prompt(library, variant, task, language), language) for language in languages(library, variant))
    path = FOLDER / file_name(task, variant)
    if os.environ.get("HARNESS_WRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, (
        "if the wording was meant to change: HARNESS_WRITE_GOLDEN=1 pytest tests/golden/test_prompts.py"
    )


def test_no_file_is_left_over() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {file_name(*case) for case in CASES}
