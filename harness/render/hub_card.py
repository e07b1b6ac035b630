"""The card of a data set for a hub: YAML that the hub reads, and sections that people read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import langcodes
import msgspec

from harness.content.tags import both_names
from harness.data import Dataset
from harness.exchange.scores.exports import HubTable, split_name
from harness.model import BY_PEOPLE
from harness.render.markdown import escape, markdown_table
from harness.reports.tables.numbers import coefficient, counted, percent
from harness.reports.tables.text_table import Heading, TextTable
from harness.row_files import escape_controls

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_SOURCES = {
    "native": "people",
    "people": "people; whether they are native speakers is not stated",
    "constructed": "nobody: they were constructed with the texts, and no person gave them",
    "model": "a model, not people",
}
_ANNOTATORS = {
    "persistent": "An `annotator_id` is one person throughout.",
    "positional": "An `annotator_id` is a place in a list; different people may stand behind it.",
    "anonymous": "An `annotator_id` says nothing about who labelled.",
    "aggregate": "A label is an aggregate of several people.",
}
_OPEN = "**Not stated in the data. Write it here before you publish.**"


def hub_card(
    data: Dataset,
    tables: Sequence[HubTable],
    agreement: Sequence[Mapping[str, Any]],
    signatures: Mapping[str, str],
    licence: str,
    notes: Sequence[str],
) -> str:
    """Return the text of `README.md` for the published tables of a data set.

    `agreement` has the cells of a label check, `signatures` those of the judges that are known, `licence` is as the hub names it; all may
    be empty. `notes` are what readers must know of texts and labels.
    """
    title = data.about.title or data.id
    sections = (
        _contents(data, tables),
        ("## What to know", "", *(f"- {escape(note)}" for note in notes), "") if notes else (),
        _scales(data, tables),
        _people(data, tables),
        _agreement(agreement if data.about.source in BY_PEOPLE else ()),
        _judges(tables, signatures),
        _rights(data, licence),
        _use(data, tables),
    )
    lines = [*_front_matter(data, tables, title, licence), "", f"# {escape(title)}", ""]
    return "\n".join([*lines, *(line for section in sections for line in section)]).rstrip("\n") + "\n"


def _front_matter(data: Dataset, tables: Sequence[HubTable], title: str, licence: str) -> Iterator[str]:
    """YAML; every text that comes from the data is JSON, which is YAML too."""
    languages = sorted({item.language for item in data.items})
    people = data.about.source in BY_PEOPLE and len(tables) > 1 and tables[1].name == "labels"
    size = next((name for limit, name in _SIZES if len(data.items) < limit), "n>1M")
    tags = ["llm-as-a-judge", *(["human-annotations"] if people else [])]
    fields: dict[str, Any] = {
        "pretty_name": title,
        "language": sorted({langcodes.get(tag).language for tag in languages}),
        **({"language_bcp47": languages} if any("-" in tag for tag in languages) else {}),
        **({"license": licence} if licence else {}),
        **({} if people else {"annotations_creators": ["machine-generated"]}),
        "multilinguality": ["multilingual" if len(languages) > 1 else "monolingual"],
        "size_categories": [size],
        "task_categories": ["text-classification"],
        "tags": tags,
    }
    split = split_name(data)
    yield "---"
    for name, value in fields.items():
        text = escape_controls(msgspec.json.encode(value).decode()).replace("<", "\\u003c")
        yield f"{name}: {text}"
    yield "configs:"
    for table in tables:
        yield from (f"- config_name: {table.name}", "  data_files:", f"  - split: {split}", f"    path: {table.file}")
    yield "---"


def _contents(data: Dataset, tables: Sequence[HubTable]) -> Iterator[str]:
    yield from ("## What is in it", "")
    described = {"items": "the texts that were judged", "labels": "one row a label", "judgments": "one row a judge's score"}
    headings = (Heading("config", "config"), Heading("rows", "rows", number=True), Heading("holds", "holds"))
    rows = tuple((table.name, counted(len(table.rows)), described[table.name]) for table in tables)
    yield from (*markdown_table(TextTable(headings, rows)), "")
    by_language = Counter(item.language for item in data.items)
    yield from (f"- {escape(both_names(tag))}: {counted(count, 'item')}" for tag, count in sorted(by_language.items()))
    yield from ("", "`item_id` joins the tables. Labels and scores are never aggregated here.", "")


def _scales(data: Dataset, tables: Sequence[HubTable]) -> Iterator[str]:
    used = sorted({row["metric"] for table in tables[1:] for row in table.rows})
    yield from ("## Scales", "")
    headings = tuple(Heading(name, name) for name in ("metric", "kind", "scores", "best"))
    rows = []
    for name in used:
        scale = data.scales[name]
        best = "none" if scale.best is None else f"{scale.best:g}" if isinstance(scale.best, float) else str(scale.best)
        rows.append((name, scale.kind, scale.describe(), best))
    yield from (*markdown_table(TextTable(headings, tuple(rows))), "")


def _people(data: Dataset, tables: Sequence[HubTable]) -> Iterator[str]:
    yield from ("## Who labelled", "")
    if not len(data.labels):
        yield from ("There are no labels.", "")
        return
    labels, ids = counted(len(data.labels), "label"), counted(len(set(data.labels.annotator)), "annotator id")
    yield f"{labels} with {ids}. The labels come from {_SOURCES[data.about.source]}."
    if data.about.source not in BY_PEOPLE:
        yield ""
        return
    yield f"{_ANNOTATORS[data.about.annotators]} Items were drawn: {data.about.sampling}."
    if any(value is False for value in data.labels.blind):
        yield "Some labels were given in sight of a judge's score (`blind` is false): agreement with them is too high."
    yield from ("", f"How people were chosen, instructed and paid: {_OPEN}", "")


def _agreement(cells: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not cells:
        return
    yield from ("## How far people agree", "")
    keys, numbers = ("language", "task", "metric"), ("labelled items", "labels", "agreement", "alpha")
    headings = tuple(Heading(name, name, number=name in numbers) for name in (*keys, *numbers))
    rows = tuple(_agreement_row(cell) for cell in cells)
    yield from (*markdown_table(TextTable(headings, rows)), "")
    yield "agreement: mean share of pairs of people who gave one item the same label, with its 95 % interval. alpha: Krippendorff's,"
    yield from ("ordinal where the scores have an order. A dash stands where too few people labelled the same items.", "")


def _agreement_row(cell: Mapping[str, Any]) -> tuple[str, ...]:
    ordinal = cell.get("human_alpha_ordinal")
    alpha = next((cell[name] for name in ("human_alpha_ordinal", "human_alpha_nominal") if cell.get(name) is not None), None)
    interval = cell.get("human_alpha_ordinal_ci" if ordinal is not None else "human_alpha_nominal_ci")
    shares = percent(cell.get("human_pa"), cell.get("human_pa_ci"))
    counts = (counted(cell["labelled"]), counted(cell["labels"]))
    return (str(cell["language"]), str(cell["task"]), str(cell["metric"]), *counts, shares, coefficient(alpha, interval))


def _judges(tables: Sequence[HubTable], signatures: Mapping[str, str]) -> Iterator[str]:
    judgments = next((table for table in tables if table.name == "judgments"), None)
    if judgments is None:
        return
    yield from ("## Judges", "")
    counts = Counter(str(row["judge"]) for row in judgments.rows)
    failed = Counter(str(row["judge"]) for row in judgments.rows if row.get("score") is None)
    for judge, count in sorted(counts.items()):
        without = f", {counted(failed[judge])} of them without a score (`failure` says why)" if failed[judge] else ""
        yield f"- {escape(judge)}: {counted(count, 'row')}{without}"
        if signature := signatures.get(judge):
            yield f"  Signature: {escape(signature)}"
    yield ""


def _rights(data: Dataset, licence: str) -> Iterator[str]:
    yield from ("## Licence and personal data", "")
    yield f"Licence: {escape(licence)}" if licence else f"Licence: {_OPEN}"
    if data.about.licence:
        yield f"The data folder says of its labels: {escape(data.about.licence)}"
    yield f"Licence of the texts, if it is another one: {_OPEN}"
    yield from ("", "`annotator_id` stands as in the data folder. Check that no id and no text names a person.", "")
    if data.about.citation:
        yield from (f"Citation: {escape(data.about.citation)}", "")


def _use(data: Dataset, tables: Sequence[HubTable]) -> Iterator[str]:
    yield from ("## Use", "", "```python", "from datasets import load_dataset", "")
    yield f'{tables[-1].name} = load_dataset("OWNER/NAME", "{tables[-1].name}", split="{split_name(data)}")'
    yield from ("```", "", "The files are also a data folder of judge-harness: `harness compare` reads a downloaded copy.", "")
