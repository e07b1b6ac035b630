"""`harness study self-preference`, which shows recorded comparisons as tables, and `harness study export-finetuning`.

A fine-tuning set holds chats about pairs with their right answers, split by source text (Panickssery et al. 2024).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from harness import sources
from harness.cli.output import print_result
from harness.content import Library
from harness.content.lexicons import lexicon_for
from harness.content.tags import choose_from
from harness.data.folders import located, write_folder
from harness.errors import UsageError
from harness.model import Item
from harness.prompts.templates import program_hash
from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines, legend_of, working
from harness.reports.tables.numbers import coefficient, counted
from harness.reports.tables.text_table import tabulate, varying_keys
from harness.row_files import to_json, to_jsonl
from harness.runs import SYSTEM_KEYS, Prepared, RunSpec, prepare
from harness.studies.self_preference.analysis import SelfPreference, pair_rows, self_preference_of
from harness.studies.self_preference.flags import StudyExportFinetuning, StudySelfPreference
from harness.studies.self_preference.section import MUTUAL_PREFERENCE, OWN_PAIRS, OWN_SCORES
from harness.text import terminal_safe
from harness.text_measures import control_answer

Part = Literal["train", "test"]
# Question -> the metric whose prompt is shown. The last two have the prompt of recognition with answers that say nothing about the texts.
QUESTIONS = {
    "recognition": "authorship",
    "longer": "longer",
    "vowels": "more_vowels",
    "readable": "more_readable",
    "always-1": "authorship",
    "random": "authorship",
}
_COMPUTED = ("longer", "vowels", "readable")


class FineTuningSpec(msgspec.Struct, frozen=True):
    """The specification of an export: a question about the pairs of a data folder.

    `system` is the one that the tuned model is (for `recognition`). `examples` limits the training examples, `held_out` is the share of
    source texts whose pairs are for tests only.
    """

    data: Path
    question: str
    system: str = ""
    examples: int | None = None
    held_out: float = 0.2
    languages: tuple[str, ...] | None = None
    content: tuple[Path, ...] = ()
    seed: int = 0


class FineTuningSet(msgspec.Struct, frozen=True):
    """The chats of each part, in their order, and the manifest. `skipped` counts pairs that are equal in what is asked."""

    train: tuple[dict[str, Any], ...]
    test: tuple[dict[str, Any], ...]
    manifest: dict[str, Any]
    skipped: int


def fine_tuning_set(spec: FineTuningSpec) -> FineTuningSet:
    """Make the set. Each pair is asked in both orders, so that no place is right more often; answers are those of a run with `score-only`.

    A source text is in one part only, whatever its pairs and languages. The order of source texts is drawn by a hash of the seed.

    Raises:
        UsageError: for an unknown question or system, a recognition without one, a language without an answer to the question, data without
            pairs, or too few source texts for two parts.
        ContentError: for wrong data.
    """
    if spec.question not in QUESTIONS:
        raise UsageError(f"no question '{spec.question}'.{choose_from(QUESTIONS, spec.question)}")
    if spec.system and spec.question != "recognition":
        raise UsageError(f"--system is for recognition; the answers to '{spec.question}' depend on no system")
    prepared = prepare(
        RunSpec(
            data=spec.data,
            content=spec.content,
            languages=spec.languages,
            metrics=(QUESTIONS[spec.question],),
            variants=("score-only",),
            orders=("forward", "swapped"),
            unlabelled=True,
            seed=spec.seed,
        )
    )
    if spec.question == "recognition":
        systems = sorted({str(item.fields[key]) for item in prepared.data.items for key in SYSTEM_KEYS if item.fields.get(key)})
        if spec.system not in systems:
            raise UsageError(f"recognition needs the system that the tuned model is, with --system.{choose_from(systems, spec.system)}")
    groups = {item.group for item in prepared.data.items}
    if len(groups) < 2:
        raise UsageError("all pairs are of one source text, so there is nothing to hold out; export pairs of two source texts or more")
    number = min(len(groups) - 1, max(1, round(spec.held_out * len(groups))))
    held_out = frozenset(sorted(groups, key=lambda group: _drawn(spec, group))[:number])
    chats: dict[Part, list[dict[str, Any]]] = {"train": [], "test": []}
    answers: Counter[str] = Counter()
    used: dict[Part, set[str]] = {"train": set(), "test": set()}
    skipped = 0
    for group, chat in _chats(spec, prepared):
        part: Part = "test" if group in held_out else "train"
        if chat is None:
            skipped += 1
        elif part == "test" or spec.examples is None or len(chats[part]) < spec.examples:
            chats[part].append(chat)
            used[part].add(group)
            answers[f"{part} {chat['messages'][-1]['content']}"] += 1
    if not chats["train"]:
        raise UsageError("no pair has an answer to this question")
    train, test = (tuple(chats[part]) for part in ("train", "test"))
    manifest = {
        "schema_version": 1,
        "question": spec.question,
        "metric": QUESTIONS[spec.question],
        "system": spec.system or None,
        "data_sha256": prepared.data.sha256,
        "prompts": program_hash(),
        "seed": spec.seed,
        "held_out": spec.held_out,
        "languages": prepared.protocol.texts.languages,
        "examples": {"train": len(train), "test": len(test)},
        "source_texts": {part: sorted(groups) for part, groups in used.items()},
        "answers": dict(sorted(answers.items())),
        "skipped": skipped,
    }
    return FineTuningSet(train, test, manifest, skipped)


def write_fine_tuning_set(folder: Path, fine_tuning: FineTuningSet) -> None:
    """Write `train.jsonl`, `test.jsonl` and `manifest.json` into a new folder. Raises UsageError if it exists, StoreError."""
    if folder.exists():
        raise UsageError(f"--out {folder} exists already; name a new folder")
    files = {
        "train.jsonl": to_jsonl(fine_tuning.train),
        "test.jsonl": to_jsonl(fine_tuning.test),
        "manifest.json": to_json(fine_tuning.manifest).encode(),
    }
    write_folder(folder, files)


def _drawn(spec: FineTuningSpec, name: str) -> bytes:
    return hashlib.sha256(f"{spec.seed}\x1f{name}".encode()).digest()


def _chats(spec: FineTuningSpec, prepared: Prepared) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield `(source text, chat)` of every pair in both orders; None for a pair without an answer. Source texts are in a drawn order."""
    plan = prepared.plan(None)
    queries = sorted(plan.queries(), key=lambda query: (_drawn(spec, query.item.group), query.item.item_id, query.condition.order))
    for query in queries:
        call = plan.call(query, "")
        answer = _answer(spec, call.query.item, prepared)
        if answer is None:
            yield query.item.group, None
        else:
            messages = [{"role": message.role, "content": message.content} for message in call.prompt.messages]
            reply = {"role": "assistant", "content": msgspec.json.encode({"score": answer}).decode()}
            yield query.item.group, {"messages": [*messages, reply]}


def _answer(spec: FineTuningSpec, item: Item, prepared: Prepared) -> str | None:
    """Return the right answer about a pair as it is shown; None if there is none."""
    if spec.question in _COMPUTED:
        lexicon = lexicon_for(item.language, prepared.library.lexicons)
        texts = str(item.fields["output_a"]), str(item.fields["output_b"])
        return control_answer(QUESTIONS[spec.question], *texts, item.language, lexicon)
    if spec.question == "always-1":
        return "A"
    if spec.question == "random":
        return "AB"[_drawn(spec, f"{item.item_id}\x1f{item.fields['system_a']}")[0] % 2]
    systems = [item.fields.get(key) for key in SYSTEM_KEYS]
    if systems.count(spec.system) != 1:
        return None
    return "AB"[systems.index(spec.system)]


_PART = ("language", "dataset")


def render_self_preference(preference: SelfPreference) -> RenderableType:
    """Pairs first (all sources, then each source), then single outputs, mutual preferences, the line and what the columns mean."""
    data = preference.as_json()
    parts: list[RenderableType] = []
    tables = []
    mutual = [{**row, "judges": " + ".join(row["judges"])} for row in data["mutual"]]
    for title, columns, keys, rows in (
        ("Its own output beside another one", OWN_PAIRS, ("judge", "source"), pair_rows(data)),
        ("Scores of single outputs", OWN_SCORES, ("judge", "metric", "source"), data["individual"]),
        ("Judges that prefer themselves", MUTUAL_PREFERENCE, ("judges",), mutual),
    ):
        if rows:
            tables.append(tabulate(rows, columns, (*varying_keys(rows, _PART), *keys)))
            parts += [Text(f"\n{title}", style="bold"), FittedTable(tables[-1])]
    notes, line = [], data["line"]
    if line is not None and line["slope"] is None:
        notes.append(f"The line of preference against recognition is undefined: {line['reason']}.")
    elif line is not None:
        slope = coefficient(line["slope"], line["slope_ci"])
        notes.append(
            f"Preference changes by {slope} for each 1 of recognition, over {line['points']} points (a judge in one part of the data; "
            "ordinary least squares; the interval is from resamples of source texts, as points share them)."
        )
    for row in (row for name in ("pairwise", "kendall_tau", "individual", "mutual") for row in data[name]):
        for number, why in row["undefined"].items():
            if not number.endswith("_ci"):  # intervals have no line of their own
                where = ", ".join(str(row[key]) for key in ("judge", *_PART, "source", "question") if row.get(key))
                notes.append(terminal_safe(f"– {number} of {where}: {why}."))
    return Group(*parts, dim_lines((*notes, *legend_of(tables))))


def self_preference(arguments: StudySelfPreference) -> int:
    """Analyse the recorded comparisons of a data folder."""
    with working("comparing own outputs"):
        data = sources.load(arguments.data, card=arguments.card)
        folder = located(arguments.data, Library())  # the name of a published set means its folder
        preference = self_preference_of(folder, data, judges=arguments.judge or (), seed=arguments.seed)
    return print_result(preference, render_self_preference, as_json=arguments.json)


def export_fine_tuning(arguments: StudyExportFinetuning) -> int:
    """Write the fine-tuning set of a question about pairs."""
    spec = FineTuningSpec(
        arguments.data,
        arguments.question,
        arguments.system or "",
        arguments.examples,
        arguments.split,
        arguments.langs,
        tuple(arguments.content),
        arguments.seed,
    )
    chats = fine_tuning_set(spec)
    write_fine_tuning_set(arguments.out, chats)
    texts = chats.manifest["source_texts"]
    print(f"{arguments.out}/train.jsonl: {counted(len(chats.train), 'example')} of {counted(len(texts['train']), 'source text')}")
    print(f"{arguments.out}/test.jsonl: {counted(len(chats.test), 'example')} of {counted(len(texts['test']), 'other source text')}")
    if spec.examples is not None and len(chats.train) < spec.examples:
        print(f"the pairs have only {len(chats.train)} of the {spec.examples} examples that --examples asks for")
    if chats.skipped:
        print(f"left out: {chats.skipped} questions without an answer (texts that are equal in it, or not of the system)")
    return 0
