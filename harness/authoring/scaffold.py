"""Skeletons for a new language pack, task or rubric, with all fields and a comment on each.

A skeleton is valid, and a draft: its version is below 1.0.0. A new language pack is true as it stands: it holds nothing yet. In a task or
a rubric, `PLACEHOLDER` marks what the author has to write, and `harness check` names every line that contains it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from harness.content import tags
from harness.content.library import bundled_root
from harness.errors import UsageError
from harness.model import Scale
from harness.tables import to_toml, write_together

PLACEHOLDER = "(to be written)"
NO_ITEMS = "Holds no items yet"
"""What the card of a new language pack says, until there are items."""
FIRST_VERSION = "0.1.0"

_PACK = """\
tag = "{tag}"
version = "{version}"           # below 1.0.0 it is a draft; publish it as 1.0.0, and raise it from then on whenever items or labels change
script = "{script}"             # ISO 15924, as the tag implies
resource_class = 0          # 0 to 5 by Joshi et al. 2020, "The State and Fate of Linguistic Diversity"
segmenter = "icu"           # how texts are split into words
reviewed_by = []            # native readers: [{{ who = "...", when = "2025-03-02", read = "..." }}]; empty = shown as unreviewed everywhere
"""

_LEXICON = """\
# Words of the language, for reading judges' replies and perturbing texts. Every list may stay empty; its words are then not
# recognised in this language. CONTRIBUTING.md ("Write a lexicon") explains each key.
tag = "{tag}"
version = "{version}"           # below 1.0.0 it is a draft; publish it as 1.0.0, and raise it from then on whenever a word changes
reviewed_by = []            # native readers: [{{ who = "...", when = "2025-03-02", read = "..." }}]

announcers = []             # words after which a score may stand: "score" in "Score: 2"
remarks = []                # words that open a remark: "note" in "Note: 2 errors"
linking_words = []          # words for "is" between an announcer and its score: "is" in "The score is 2"
units = []                  # words for points after a score: "points" in "2 points"
out_of = []                 # words before the highest possible score: "out of" in "2 out of 5"
endings = []                # what may follow a score without a space, as in Japanese
scale_phrases = []          # phrases with the ends of a scale: "out of {{max}}", "{{min}} to {{max}}"
numbered = []               # words that a number follows which is no score: "story" in "story 2"
refusals = []               # how a refusal begins: "i'm sorry, but i"; `~` stands for each of refused_actions
refused_actions = []        # what a judge refuses to do: "evaluate" in "I cannot evaluate"
quotation_marks = []        # pairs of an opening and a closing mark: "“”", "«»"
keyboard = []               # rows of letter keys from the top: "qwertyuiop", "asdfghjkl", "zxcvbnm"
injection = ""              # a sentence that asks the judge to give the top score
synonyms = []               # groups of words that may stand for each other in the same form, such as ["big", "large"]
vowels = ""                 # the vowel letters, in lower case; empty where words are not written with them
"""

_PACK_CARD = """\
# {name} (`{tag}`)

**Holds no items yet.** Say here what they are once there are some: tasks, topics, kinds of text, how many, how long.
**Readers.** No native reader has reviewed it yet. `reviewed_by` in `pack.toml` names those who have, and nobody else.

## What is in it

Items are in `items/<task>.jsonl`, their labels in `labels/<task>.jsonl`, one JSON object a line; a pack may start without any.
An item needs `item_id` (unique over all packs), `language` ("{tag}"), `task`, `split` (test or dev), `group` (what items share, such as
their base text; never in both splits) and the texts that `tasks/<task>/task.toml` names. A label needs `item_id`, `annotator_id`,
`metric`, `score` and `source`: "native" for labels by people, "constructed" if the label follows from how the text was made.

Control items can be derived instead: write base texts and a version with each defect to `texts/<task>.toml`, as in `languages/en/texts/`,
and run `python languages/derive.py {tag}`, which writes both folders. Only authors and `derive.py` use `texts/`.

## How it was made

`harness new language` wrote the files. With the first items, say who or what wrote the texts, who labelled them and how, and what was done
by a program.

## Limits

Without items it shows nothing about a judge. With the first items, say what they cannot show.

**Licence**: CC BY 4.0 for all texts, as in the other packs; name another one here if a text comes from elsewhere.

## Changelog

- {version}: a draft.
"""

_TASK = """\
id = "{name}"
version = "{version}"            # below 1.0.0 it is a draft; publish it as 1.0.0, and raise it when a judge could answer differently
title = "{title}"
source = "Describe here where the task comes from: author, year, paper. (to be written)"
outputs = ["output"]         # the fields that are judged: one, or two that are compared
metrics = [                  # the rubrics that are asked about an item; each is a file in rubrics/
  "linguistic_acceptability",
  "output_content_quality",
  "task_quality",
  "problematic_content",
  "hallucination",
]
at_least_one = []            # optional inputs; an item needs at least one of them
instruction = \"\"\"
Describe here, to a judge, what the writer was given and asked to do. (to be written)\"\"\"

# The texts of an item in the order in which a judge reads them, inputs first.
[fields.input]
title = "Text that the writer was given"   # (to be written) the heading that a judge sees above it
role = "input"
optional = false                           # whether an item may leave it empty

[fields.output]
title = "Text to be judged"                # (to be written)
role = "output"
optional = false
"""

_TASK_CARD = """\
# {title}

**Measures**: Describe here what agreement on this task says about a judge. (to be written)

**From**: Describe here whose task it is, and what is this project's own. (to be written)

| field | role | what it holds |
| --- | --- | --- |
| `input` | input | Describe it here. (to be written) |
| `output` | output | Describe it here. (to be written) |

**Metrics**: see `rubrics/CARD.md`.

## Known traps

Describe here where labels or judges go wrong. (to be written)

**Licence**: Describe here under which licence the task's texts are. (to be written)

## Changelog

- {version}: a draft.
"""

_RUBRIC = """\
id = "{name}"
version = "{version}"            # below 1.0.0 it is a draft; publish it as 1.0.0, and raise it when a judge could answer differently
title = "{title}"
source = "Describe here where scale and wording come from. (to be written)"

[scale]                      # (to be written) nominal and ordinal scales list classes, interval scales have min and max
kind = "ordinal"             # nominal: no order; ordinal: from low to high; interval: any number from min to max
classes = [0, 1, 2]
best = 2                     # the most desirable score; leave it out if there is none (nominal scales only)
# swap = {{ A = "B", B = "A" }}   # what each class becomes when two compared texts change places

# Short enough for small models: the question, what to ignore, and one line for each score.
[simple]
instruction = \"\"\"
Describe here the question that a judge answers about the text to be judged. (to be written)
0: describe here, observably, what earns a 0.
1: describe here, observably, what earns a 1.
2: describe here, observably, what earns a 2.\"\"\"

# Complete in itself: judges do not see the simple instruction beside it.
[detailed]
description = \"\"\"
Describe here what the metric is, what counts and what does not. (to be written)\"\"\"

# One list for each class of the scale.
[[detailed.criteria]]
score = 0
points = [
  "Describe here something that a reader can see in a text that earns a 0. (to be written)",
]

[[detailed.criteria]]
score = 1
points = [
  "Describe here something that a reader can see in a text that earns a 1. (to be written)",
]

[[detailed.criteria]]
score = 2
points = [
  "Describe here something that a reader can see in a text that earns a 2. (to be written)",
]
"""

_RUBRICS_CARD = """\
# Rubrics

| metric | question | scale (best) |
| --- | --- | --- |
| `{name}` | Describe the question here. (to be written) | 0, 1, 2 (2) |

**Source.** Describe here whose scales and whose wording these are. (to be written)
**Readers.** Describe here who has tried the wording on annotators. (to be written)

## Known traps

Describe here where readers of the rubric disagree. (to be written)

**Licence**: Describe here under which licence the wording is. (to be written)

## Changelog

- {version} (`{name}`): a draft.
"""


_PROMPT = """\
# A prompt of your own: harness run --data DIR --prompt {name}.toml
# Two prompts (--prompt a.toml --prompt b.toml) are asked about the same items, and the report has their paired difference.
metric = "task_quality"      # (to be written) the metric whose labels the scores are compared with
read = "json:score"          # how the score is read: json:<key>, or a pattern with one group such as 'regex:GRADE: ([CPI])'
max_tokens = 512             # the longest answer

# [map]                      # scores for words, if the answer is a word
# C = 2
# P = 1
# I = 0

# Every text of an item is a variable; {{{{language}}}} is the English name of its language.
[[message]]
role = "system"
text = "You are a careful evaluator. (to be written)"

[[message]]
role = "user"
text = \"\"\"
(to be written) Rate the following {{{{language}}}} text with 0, 1 or 2.

{{{{output}}}}

Answer as JSON: {{"justification": "...", "score": ...}}\"\"\"
"""


_QUESTION = """
Score this {{{{language}}}} text for: {named}. The score is {scale}.

{texts}

Answer as JSON: {{"justification": "one sentence", "score": ...}}"""


def new_prompt(name: str, folder: Path) -> list[Path]:
    """Write the skeleton of the prompt `name` into `folder`; return the path of the new file.

    Raises UsageError for an invalid name and for an existing file; StoreError when `folder` cannot be written.
    """
    path = folder / f"{_checked_id(name)}.toml"
    if path.exists():
        raise UsageError(f"{path} exists; edit it or choose another name")
    return _write({path: _PROMPT}, {"name": name})


def prompt_for(metric: str, scale: Scale, texts: Sequence[str]) -> str:
    """The text of a prompt file that asks about one metric of items with these texts, on its scale. Its author should read and mend it.

    >>> "from 1 (worst) to 5 (best)" in prompt_for("tone", Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5), ["answer"])
    True
    """
    shown = "\n\n".join(f"{name}:\n{{{{{name}}}}}" for name in texts)
    question = _QUESTION.format(named=metric.replace("_", " "), scale=_asked_scale(scale), texts=shown)
    system = "You rate {{language}} texts as a careful native reader does."
    messages = [{"role": "system", "text": system}, {"role": "user", "text": question}]
    head = "# How a judge is asked. Read it before you use it: say what people were told, in the same words.\n"
    return head + to_toml({"metric": metric, "read": "json:score", "message": messages}, multiline=True)


def _asked_scale(scale: Scale) -> str:
    """A scale in the words of a question."""
    if any(isinstance(value, str) for value in scale.classes):
        return "one of " + ", ".join(f'"{value}"' for value in scale.classes)
    low, high = (scale.classes[0], scale.classes[-1]) if scale.classes else (scale.min, scale.max)
    ends = {scale.best: "best"} | ({high: "worst"} if scale.best == low else {low: "worst"} if scale.best == high else {})
    said = {end: f"{end:g} ({ends[end]})" if end in ends else f"{end:g}" for end in (low, high)}
    return f"{'a whole number' if scale.classes else 'a number'} from {said[low]} to {said[high]}"


def new_language(tag: str, folder: Path) -> list[Path]:
    """Write the skeleton of the language pack `tag` into the content folder `folder`; return the paths of the new files.

    Raises UsageError for a tag that is not canonical or not of a known language, and for an existing pack; StoreError when `folder`
    cannot be written.
    """
    tags.require_canonical(tag)
    path = _new_path(folder, Path("languages", tag), f"language pack '{tag}'")
    facts = {"tag": tag, "name": tags.english_name(tag), "script": tags.likely_script(tag)}
    return _write({path / "pack.toml": _PACK, path / "lexicon.toml": _LEXICON, path / "CARD.md": _PACK_CARD}, facts)


def new_task(name: str, folder: Path) -> list[Path]:
    """Write the skeleton of the task `name` into the content folder `folder`; return the paths of the new files.

    Raises UsageError for an invalid name and for an existing task; StoreError when `folder` cannot be written.
    """
    path = _new_path(folder, Path("tasks", _checked_id(name)), f"task '{name}'")
    return _write({path / "task.toml": _TASK, path / "CARD.md": _TASK_CARD}, {"name": name, "title": _title(name)})


def new_rubric(name: str, folder: Path) -> list[Path]:
    """Write the skeleton of the rubric `name` into the content folder `folder`; return the paths of the new files.

    All rubrics share one card. It is written with the first rubric; later the author adds a row to it.
    Raises UsageError for an invalid name and for an existing rubric; StoreError when `folder` cannot be written.
    """
    toml = _new_path(folder, Path("rubrics", f"{_checked_id(name)}.toml"), f"rubric '{name}'")
    card = toml.parent / "CARD.md"
    return _write({toml: _RUBRIC} | ({} if card.exists() else {card: _RUBRICS_CARD}), {"name": name, "title": _title(name)})


def _checked_id(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise UsageError(
            f"'{name}' is not a valid id; ids consist of lower-case letters, digits and '_' and begin with a letter, such as 'story_rating'"
        )
    return name


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _new_path(folder: Path, relative: Path, what: str) -> Path:
    """The path of new content. Bundled content of the same name is refused too, because a library loads each name once."""
    for root in (folder, bundled_root()):
        if (root / relative).exists():
            raise UsageError(f"the {what} already exists: {root / relative}; edit it or choose another name")
    return folder / relative


def _write(files: dict[Path, str], facts: dict[str, str]) -> list[Path]:
    write_together({path: template.format(**facts, version=FIRST_VERSION) for path, template in files.items()})
    return list(files)
