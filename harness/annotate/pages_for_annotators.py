"""Makes the pages of all annotators from a data set, and the record of their keys: which items are labelled, by whom, and in which order.

A list of items may name them: `harness labels plan` writes one with the draw of each, and a file with one id a line works too. Assignment
and order follow from the seed.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.annotate.blind_pairs import METRIC, READERS, blind_pairs, blind_shares, most_alike
from harness.annotate.labelling_options import PageOptions
from harness.annotate.page_content import AnnotatorWords, PageContent, document, output_fields
from harness.annotate.page_results import (
    RECORD,
    Drawn,
    LabellingPage,
    PageItem,
    PageRecord,
    ReviewedScore,
    read_record,
    version_of,
)
from harness.annotate.reviews import Reviewed, refuse_other_scales
from harness.content import Library
from harness.content.problems import duplicates
from harness.content.specs import ExitQuestion, ExitQuestions, read_spec
from harness.content.tags import choose_from, english_name, suggest
from harness.data.dataset import Dataset
from harness.errors import ContentError, UsageError, refuse_pipe, unreadable
from harness.exchange.labels.labelling_tasks import Selection, TaskSection, make_sections, selected_items
from harness.model import Item, Scale, Score
from harness.offensive_texts import refuse_in_repository
from harness.perturb import apply, parse_perturbation
from harness.row_files import read_rows, to_json, write_together

PRACTICE = 3
_DAMAGE = "shuffle-words:1"


def practice_items(
    data: Dataset, language: str, metrics: Mapping[str, Sequence[str]], most: int = PRACTICE
) -> list[tuple[Item, dict[str, Score]]]:
    """Development items with their expected scores, chosen so that they show as many different scores as possible.

    At most `most` pairs, each of another group; none without development items. `metrics` are those of the page by task: a practice item
    has the scores of those on which one score is the commonest.
    """
    # `{(item_id, metric): score}` where one score is the commonest.
    votes: dict[tuple[str, str], Counter[Score]] = {}
    dev = {item.item_id for item in data.items if item.split == "dev"}
    for label in data.labels.for_items(dev) if dev else ():
        votes.setdefault((label.item_id, label.metric), Counter())[label.score] += 1
    ranked = {key: counts.most_common(2) for key, counts in votes.items()}
    expected = {key: top[0][0] for key, top in ranked.items() if len(top) == 1 or top[0][1] > top[1][1]}
    practised = []
    for item in data.items:
        if item.split == "dev" and item.language == language:
            scores = {metric: expected[item.item_id, metric] for metric in metrics.get(item.task, ()) if (item.item_id, metric) in expected}
            if scores:
                practised.append((item, scores))
    chosen: list[tuple[Item, dict[str, Score]]] = []
    classes_shown: set[tuple[str, Score]] = set()
    while practised and len(chosen) < most:
        best = max(practised, key=lambda pair: len(set(pair[1].items()) - classes_shown))
        chosen.append(best)
        classes_shown |= set(best[1].items())
        practised = [pair for pair in practised if pair[0].group != best[0].group]
    return chosen


def damaged_items(
    pool: Sequence[Item], outputs: Mapping[str, Sequence[str]], count: int, seed: int, taken: Collection[str] = ()
) -> list[Item]:
    """Items whose words are all in another order, of as many groups as there are; their ids are those of the original items.

    `outputs` are the texts to damage by task; groups in `taken`, whose items the annotator reads too, come last. `seed` is that of the
    choice and of the damage. Raises UsageError if fewer than `count` items of the `pool` can be damaged.
    """
    shuffled = sorted(pool, key=lambda item: item.item_id)
    random.Random(f"{seed} checks").shuffle(shuffled)
    shuffled.sort(key=lambda item: item.group in taken)
    [damage] = parse_perturbation(_DAMAGE)
    damaged: dict[str, Item] = {}
    for item in shuffled:
        if len(damaged) == count:
            break
        changed = apply(damage, item, (), seed, outputs.get(item.task, ("output",))[-1:])
        if changed.applied:
            damaged.setdefault(item.group, changed.item)
    if len(damaged) < count:
        raise UsageError(f"--checks {count}: only {len(damaged)} texts can be damaged, each of another group; ask for fewer checks")
    return list(damaged.values())


_CODE = re.compile(r"[\w.-]{1,40}")
_LONG_TEXT = 50_000  # letters; reading it takes about an hour


class PagesSummary(NamedTuple):
    """The written pages and their record; the numbers of items in all and for each annotator; and what their maker should know."""

    files: tuple[Path, ...]
    record: Path
    items: int
    items_each: dict[str, int]
    notes: tuple[str, ...]


class _Reading(NamedTuple):
    """The content of one page: its entries, and the items behind their keys."""

    annotator: str
    part: tuple[int, int]
    entries: list[PageItem]
    items: dict[str, Item]


def make_pages(data: Dataset, source: str, to: Path, library: Library, options: PageOptions = PageOptions()) -> PagesSummary:
    """Write one page for each annotator, and the record, into the folder `to`.

    The labels of development items explain the practice; no other label of `data` is read. `source` is the data folder as the user named
    it, or `bundled`; the import writes there.
    Raises UsageError for a language, metric or item that the data do not have, and for a folder that has pages already; ContentError for a
    list of items that cannot be read.
    """
    refuse_in_repository(to, data.about)
    if options.blind_pairs:
        data, options = blind_pairs(data, library), _blind_options(options)
    options = _review_options(data, options)
    language = _language(data, options.language)
    readers = READERS if options.blind_pairs else 3
    annotators = _annotators(readers if options.annotators is None else options.annotators, language)
    before = _record_to_replace(to, options.replace)
    drawn = read_sample(options.items, data) if options.items else {}
    selection = Selection([language], options.tasks, options.metrics, options.fields, options.seed)
    items = _items(data, selected_items(data, selection), language, options, drawn)
    sections = {task_section.task: task_section for task_section in make_sections(data, items, library, selection)}
    scales = _scales(data, sections)
    fields = {task: tuple(section.fields) for task, section in sections.items()}
    interface = library.interface_in(options.interface) if options.interface else library.interface(language)
    instructions = library.instructions(language) if language in library.instruction_files else None
    content = PageContent(
        interface=interface,
        words=AnnotatorWords(library, instructions, interface.strings, data.about.questions),
        language=language,
        sections=sections,
        scales=scales,
        about=_read_about(options.about),
        mark_errors=options.mark_errors,
        offensive=data.about.offensive,
        exit_questions=_exit_questions(sections, library, options),
        highlight_changes=options.highlight_changes,
        reviewed=options.review[1] if options.review else {},
    )
    version = version_of(items, fields)
    shares = blind_shares(items, annotators) if options.blind_pairs else assign(items, annotators, options.overlap, options.seed)
    readings = [task_section for who in annotators for task_section in _readings(data, who, shares[who], library, content, options)]
    pages: list[LabellingPage] = []
    files: dict[Path, str] = {}
    for reading in readings:
        page_words = content.page(reading.annotator, reading.entries, reading.items, version, reading.part)
        number, part_count = reading.part
        file = f"{reading.annotator}.html" if part_count == 1 else f"{reading.annotator}-part{number}of{part_count}.html"
        pages.append(LabellingPage(page_words["page"], file, reading.annotator, tuple(reading.entries)))
        files[to / file] = document(page_words, interface_language=interface.tag)
    record = PageRecord(
        source=source,
        language=language,
        version=version,
        fields=fields,
        metrics={task: tuple(section.metrics) for task, section in sections.items()},
        scales=scales,
        drawn=_with_overlap(drawn, items, shares),
        pages=tuple(pages),
        replaced=(*before.replaced, *(page.page for page in before.pages)) if before else (),
        review=options.review[0] if options.review else None,
        reviewed=_shown_reviews(options.review[1], items, sections) if options.review else {},
        pack=options.pack,
        blind_pairs=options.blind_pairs,
        exit_questions=content.exit_questions,
        blocks=options.blocks,
    )
    notes = tuple(_notes(content, readings, interface.tag, options))
    earlier_record = {to / f"pages-{before.pages[0].page}.json": to_json(before)} if before else {}
    write_together(earlier_record | files | {to / RECORD: to_json(record)}, private=True)
    return PagesSummary(tuple(files), to / RECORD, len(items), {who: len(share) for who, share in shares.items()}, notes)


def _read_about(path: Path | None) -> str:
    """Return the text of the first screen. Raises ContentError for a file that cannot be it."""
    if path is None:
        return ""
    try:
        refuse_pipe(path)
        text = path.read_text("utf-8")
    except OSError as err:
        raise unreadable(err, path) from None
    except UnicodeDecodeError:
        raise ContentError("not UTF-8; save the file as UTF-8", path) from None
    if not text.strip():
        raise ContentError("is empty; write who asks, what is kept and what to expect, or leave --about out", path)
    return text


def _with_overlap(drawn: Mapping[str, Drawn], items: Sequence[Item], shares: Mapping[str, Sequence[Item]]) -> dict[str, Drawn]:
    """Return how the items were drawn. The share of groups that everybody reads multiplies the probability to be labelled by all."""
    readers = Counter((item.language, item.group) for share in shares.values() for item in {item.group: item for item in share}.values())
    common = sum(count == len(shares) for count in readers.values()) / max(len(readers), 1)
    overlap = {item.item_id: drawn[item.item_id] for item in items if item.item_id in drawn}
    if common == 1:
        return overlap
    return {
        name: msgspec.structs.replace(how, overlap_probability=how.inclusion_probability * common) if how.inclusion_probability else how
        for name, how in overlap.items()
    }


def _review_options(data: Dataset, options: PageOptions) -> PageOptions:
    """Return the options of pages about a judge's reasons: its metrics, and nothing that needs scores of people."""
    if options.review is None:
        return options
    for name, flag_value in (("--checks", options.checks), ("--mark-errors", options.mark_errors), ("--second", options.second)):
        if flag_value:
            raise UsageError(f"{name} asks for people's own scores, and --review asks about a judge's; leave one of them out")
    _, reviewed = options.review
    refuse_other_scales(reviewed, data.scales)
    metrics = tuple(dict.fromkeys(metric for scores_by_metric in reviewed.values() for metric in scores_by_metric))
    for name in options.metrics or ():
        if name not in metrics:
            raise UsageError(f"the judge gave no reasons on '{name}'.{choose_from(metrics, name)}")
    return replace(options, metrics=options.metrics or metrics, practice=0)


def _blind_options(options: PageOptions) -> PageOptions:
    """Return the options of pages of minimal pairs: one question, and marks that say where the flaw is."""
    flags = {"--metrics": options.metrics, "--checks": options.checks, "--next": options.next_items, "--review": options.review}
    flags |= {"--overlap": options.overlap != 1, "--task": options.tasks, "--second": options.second}
    for name in (name for name, value in flags.items() if value):
        raise UsageError(f"{name} is for texts that are scored one by one, and --blind-pairs shows all pairs; leave one of them out")
    return replace(options, metrics=(METRIC,), practice=0, mark_errors=True)


def _shown_reviews(reviewed: Reviewed, items: Sequence[Item], sections: Mapping[str, TaskSection]) -> dict[str, dict[str, ReviewedScore]]:
    return {
        item.item_id: {metric: review for metric, review in reviewed[item.item_id].items() if metric in sections[item.task].metrics}
        for item in items
    }


def _language(data: Dataset, wanted: str | None) -> str:
    languages = list(dict.fromkeys(item.language for item in data.items))
    if wanted is None and len(languages) == 1:
        return languages[0]
    if wanted is None:
        raise UsageError(f"a page has texts of one language; name it with --lang.{choose_from(languages)}")
    if wanted not in languages:
        raise UsageError(f"there is no item in '{wanted}'.{choose_from(languages, wanted)}")
    return wanted


def _annotators(wanted: int | Sequence[str], language: str) -> list[str]:
    names = [f"{language}-A{number}" for number in range(1, wanted + 1)] if isinstance(wanted, int) else list(wanted)
    if not names:
        raise UsageError("there are no annotators; pass --annotators with a number or with codes, such as --annotators hana,taro")
    for name in names:
        if not _CODE.fullmatch(name):
            raise UsageError(
                f"'{name}' cannot be the code of an annotator: use up to 40 letters, digits, '.', '_' and '-', as it names a file"
            )
    if repeated := duplicates(name.casefold() for name in names):
        raise UsageError(f"two annotators are called '{repeated[0]}'; give each a code of their own, as answers are told apart by it")
    return names


def _record_to_replace(to: Path, replace: bool) -> PageRecord | None:
    """Return the record of the pages that are already in the folder. Raises UsageError if they are not to be replaced."""
    if not (to / RECORD).is_file():
        return None
    if not replace:
        raise UsageError(f"{to} has pages already, and answers may be on their way; choose another --out, or pass --replace")
    return read_record(to / RECORD)


def _items(data: Dataset, items: Sequence[Item], language: str, options: PageOptions, drawn: Mapping[str, Any]) -> list[Item]:
    items = [item for item in items if item.item_id in drawn] if options.items else [item for item in items if item.split == "test"]
    which = f" of {options.items}" if options.items else ""
    if options.where:
        # The items that have the values. What items do not say of themselves, such as a score, is refused.
        attributes = [name for name in ("task", "group", "system", "parallel_id") if any(getattr(item, name) is not None for item in items)]
        names = list(dict.fromkeys((*attributes, *(field for item in items for field in item.fields))))
        for name in options.where:
            if name in ("class", "score", "label", "judge", "human") or name in data.scales:
                raise UsageError(
                    f"--where {name}=: texts to label cannot be chosen by a score. What people will say is not known before they read, and "
                    "texts chosen by what a judge said make it look as if it found more of that class. Label texts at random (--random) "
                    "until there are enough"
                )
            if name not in names:
                raise UsageError(f"--where {name}=: the items say nothing of '{name}'.{choose_from(names, name)}")
        values = [{**item.fields, **{name: getattr(item, name) for name in attributes}} for item in items]
        items = [
            item
            for item, item_values in zip(items, values, strict=True)
            if all(str(item_values.get(name)) in options.where[name] for name in options.where)
        ]
        which += " with " + ", ".join(f"{name}={','.join(values)}" for name, values in options.where.items())
    if options.review:
        reviewed, metrics = options.review[1], options.metrics or ()
        if not (reviewable := [item for item in items if not reviewed.get(item.item_id, {}).keys().isdisjoint(metrics)]):
            raise UsageError(f"the judge gave no reasons about any item{which} in '{language}'; name the data that the run judged")
        return reviewable[: options.next_items]
    if not items:
        raise UsageError(f"no item{which} is in '{language}' and of these tasks; there is nothing to label")
    if options.second:
        # The items that one person has labelled: one of each group, then a second one of each.
        once = data.labels.items_of_one_person(options.metrics)
        waiting = [item for item in items if item.item_id in once]
        if not waiting:
            raise UsageError(f"--second: no item{which} has the labels of exactly one person; leave it out to label items anew")
        seen: Counter[str] = Counter()
        rank = {item.item_id: seen.update([item.group]) or seen[item.group] for item in waiting}
        return sorted(waiting, key=lambda item: rank[item.item_id])[: options.next_items]
    if options.next_items is None:
        return items
    if not (waiting := unlabelled(data, items, list(drawn), options.metrics)):
        raise UsageError(f"--next: every item{which} has a person's label already; there is nothing to label")
    if options.random:
        waiting = random.Random(options.seed).sample(waiting, len(waiting))
    return waiting[: options.next_items]


def _exit_questions(sections: Iterable[str], library: Library, options: PageOptions) -> tuple[ExitQuestion, ...]:
    """Return the questions after the last text: those of a file, else those of the tasks, each once. Reviews and blind pairs have none."""
    if str(options.exit_questions) == "none":
        return ()
    if options.exit_questions:
        return read_spec(options.exit_questions, ExitQuestions).questions
    sections_in_use = () if options.review or options.blind_pairs else sections
    questions = [question for task in sections_in_use if task in library.exit_files for question in library.exit_questions(task).questions]
    return tuple({question.id: question for question in questions}.values())


def _scales(data: Dataset, sections: Mapping[str, TaskSection]) -> dict[str, Scale]:
    metrics = dict.fromkeys(metric for section in sections.values() for metric in section.metrics)
    for name in metrics:
        if name not in data.scales:
            raise UsageError(f"metric '{name}' has no scale here; add [metrics.{name}] to data.toml.{choose_from(data.scales, name)}")
        scale = data.scales[name]
        if scale.kind == "interval" and (scale.min is None or scale.max is None):
            raise UsageError(f"the scale of '{name}' has no {'min' if scale.min is None else 'max'}, so that nobody could answer; add it")
    return {name: data.scales[name] for name in metrics}


def _readings(
    data: Dataset, annotator: str, items: Sequence[Item], library: Library, content: PageContent, options: PageOptions
) -> Iterable[_Reading]:
    """Yield the pages of one annotator: practice comes first on the first, checks are spread over all."""
    metrics = {task: section.metrics for task, section in content.sections.items()}
    labelled = {item.item_id for item in items}
    practised = [pair for pair in practice_items(data, content.language, metrics, options.practice) if pair[0].item_id not in labelled]
    outputs = {task: output_fields(library, section) for task, section in content.sections.items()}
    pool = [item for item in data.items if item.language == content.language and item.task in metrics]
    taken = {item.group for item in items} | {item.group for item, _ in practised}
    damaged = damaged_items(pool, outputs, options.checks, options.seed, taken) if options.checks else []
    ordered = parts(_in_blocks(items, options.blocks, f"{options.seed} {annotator}"))
    for number, share in enumerate(ordered, start=1):
        reading = _Reading(annotator, (number, len(ordered)), [], {})
        entries: list[tuple[Item, Any, dict[str, Score]]] = [(item, "practice", expected) for item, expected in practised if number == 1]
        # Damaged texts among the others, never first, and far from each other.
        mixed = [(item, "label") for item in share]
        checks = damaged[number - 1 :: len(ordered)]
        chance = random.Random(f"{options.seed} {annotator} {number}")
        for index, item in enumerate(checks):
            first, last = (len(share) * edge // len(checks) for edge in (index, index + 1))
            mixed.insert(index + chance.randint(max(1, first), max(1, last)), (item, "check"))
        for item, role, expected in (*entries, *((item, role, {}) for item, role in mixed)):
            key = hashlib.sha256(f"{options.seed}\0{annotator}\0{role}\0{item.item_id}".encode()).hexdigest()[:12]
            reading.entries.append(PageItem(key, item.item_id, role, expected))
            reading.items[key] = item
        yield reading


def _in_blocks(items: Sequence[Item], key: str, seed: str) -> list[Item]:
    """Return the reading order: all texts mixed, or with a key block by block, the blocks in random order.

    Raises UsageError for a key that no item has.
    """
    if not key:
        return reading_order(items, seed)
    values = [str(item.system if key == "system" else item.fields.get(key) or "") for item in items]
    if not any(values):
        keys = {name for item in items for name in item.fields} | ({"system"} if any(item.system for item in items) else set())
        raise UsageError(f"--blocks {key}: the items say nothing of '{key}'.{choose_from(sorted(keys), key)}")
    names = sorted(set(values))
    random.Random(f"{seed} blocks").shuffle(names)
    blocks = [[item for item, value in zip(items, values, strict=True) if value == name] for name in names]
    return [item for block in blocks for item in reading_order(block, seed)]


def _notes(content: PageContent, readings: Sequence[_Reading], interface_language: str, options: PageOptions) -> Iterable[str]:
    """Yield what the maker of the pages should know before they go out."""
    items_shown = {item.item_id: item for reading in readings for item in reading.items.values()}
    if interface_language != content.language:
        yield (
            f"there are no words of the page in '{content.language}': it is in {english_name(interface_language)}. "
            f"'harness new interface {content.language}' writes a file to translate, which --interface takes"
        )
    elif not content.interface.reviewed_by:
        yield f"no native reader has checked the words of the page in '{content.language}'; the page says so"
    if not content.words.instructions and interface_language != content.language:
        yield f"the questions are in English: there is no languages/{content.language}/instructions.toml"
    elif content.words.instructions and not content.words.instructions.reviewed_by:
        yield f"no native reader has checked the questions in '{content.language}'"
    if any(part[1] > 1 for _, part, _, _ in readings):
        yield f"more than {MOST_ON_A_PAGE} texts for one annotator: the pages are split into parts. Few people read so many; see --overlap"
    items = (content.item(entry, reading.items[entry.key]) for reading in readings for entry in reading.entries)
    if options.highlight_changes and not any("changed" in item for item in items):
        yield "--highlight-changes marks nothing: no judged text differs from a text that is shown before it"
    if options.practice and not any(entry.role == "practice" for reading in readings for entry in reading.entries):
        yield 'there is no practice: the data have no labelled development items (split = "dev") in this language'
    if options.blind_pairs and (often := max(most_alike(reading.items.values()) for reading in readings)) > 1:
        enough = READERS * most_alike(items_shown.values())
        yield f"a reader meets one flawless text up to {often} times and may recognise it; with --annotators {enough} nobody meets it twice"
    for item in items_shown.values():
        longest = max(len(str(item.fields.get(name) or "")) for name in content.sections[item.task].fields)
        if longest > _LONG_TEXT:
            yield f"item '{item.item_id}' has a text of {longest:,} letters, which takes a reader an hour or more"


MOST_ON_A_PAGE = 500
"""A page with more items is slow on a phone, and nobody reads them in one go. It is split into parts."""


def read_sample(path: Path, data: Dataset) -> dict[str, Drawn]:
    """`{item_id: how it was drawn}`, in the order of the file.

    Raises ContentError with `file:line` for a file that cannot be read, an item that is unknown or stands twice, and a probability that
    is none.
    """
    if path.suffix == ".txt":
        refuse_pipe(path)
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as err:
            raise ContentError(f"cannot be read: {err}", path) from None
        rows: list[tuple[int, dict[str, Any]]]
        rows = [(number, {"item_id": text.strip()}) for number, text in enumerate(lines, start=1) if text.strip()]
    else:
        rows = list(read_rows(path))
    drawn: dict[str, Drawn] = {}
    for line, row in rows:
        name = str(row.get("item_id", ""))
        if name not in data.by_id:
            raise ContentError(f"there is no item '{name}' in the data.{suggest(name, data.by_id)}", path, line)
        if name in drawn:
            raise ContentError(f"item '{name}' stands in the list twice", path, line)
        share, stratum = row.get("inclusion_probability"), row.get("stratum")
        if share is not None and (isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1):
            raise ContentError(f"inclusion_probability is {share!r}; it should be a number above 0 and at most 1", path, line)
        drawn[name] = Drawn(share, None if stratum is None else str(stratum))
    if not drawn:
        raise ContentError("lists no items; write one item id a line, or the file of 'harness labels plan'", path)
    return drawn


def unlabelled(data: Dataset, items: Sequence[Item], order: Sequence[str] = (), metrics: Sequence[str] | None = None) -> list[Item]:
    """Return the items that nobody labelled on any of the metrics (None: on any metric at all).

    They come in the `order` of ids that is given, and without one in their own.
    """
    labelled = data.labels.items_of_people(metrics)
    rank = {name: number for number, name in enumerate(order)}
    waiting = [item for item in items if item.item_id not in labelled]
    return sorted(waiting, key=lambda item: rank.get(item.item_id, len(rank)))


def assign(items: Sequence[Item], annotators: Sequence[str], overlap: float, seed: int) -> dict[str, list[Item]]:
    """`{annotator: items}` in the order of `items`: a share of all groups for everybody, and each other group for one of them.

    Groups stay whole, so that an annotator reads all versions of a text or none. `overlap` is the share of the groups that everybody reads,
    from 0 to 1; at least one group unless it is 0. The codes of `annotators` are all different.
    """
    groups = list(dict.fromkeys((item.language, item.group) for item in items))
    random.Random(f"{seed} overlap").shuffle(groups)
    common = max(1, round(overlap * len(groups))) if overlap > 0 else 0
    readers = {group: annotators[number % len(annotators)] for number, group in enumerate(groups[common:])}
    return {who: [item for item in items if readers.get((item.language, item.group), who) == who] for who in annotators}


def reading_order(items: Sequence[Item], seed: str) -> list[Item]:
    """Return a random order in which the items of a group are far apart: no two follow each other, if any such order exists.

    The k items of a group are spread over the whole length, each at a random place within its k-th part. Neighbours of one group that are
    left are then exchanged with others.
    """
    chance = random.Random(seed)
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.group, []).append(item)
    keyed: list[tuple[float, int, Item]] = []
    for group_items in groups.values():
        chance.shuffle(group_items)
        start = chance.random()
        keyed += [((start + number) / len(group_items), len(keyed) + number, item) for number, item in enumerate(group_items)]
    ordered = [item for _, _, item in sorted(keyed, key=lambda entry: entry[:2])]
    spread: list[Item] = []
    waiting: list[Item] = []
    for item in ordered:
        waiting.append(item)
        while (
            waiting
            and (chosen := next((n for n, other in enumerate(waiting) if not spread or spread[-1].group != other.group), None)) is not None
        ):
            spread.append(waiting.pop(chosen))
    for item in waiting:  # all of one group: insert them where they fit
        gaps = ((n, spread[max(n - 1, 0) : n + 1]) for n in range(len(spread) + 1))
        position = next((n for n, neighbours in gaps if all(other.group != item.group for other in neighbours)), len(spread))
        spread.insert(position, item)
    return spread


def parts(items: Sequence[Item], most: int = MOST_ON_A_PAGE) -> list[list[Item]]:
    """Return the items in as few parts of nearly equal size as hold at most `most` each.

    >>> [len(part) for part in parts([Item(str(n), "en", "t") for n in range(1100)])]
    [367, 367, 366]
    """
    count = max(1, -(-len(items) // most))
    size, larger = divmod(len(items), count)
    ends = [number * size + min(number, larger) for number in range(count + 1)]
    return [list(items[start:end]) for start, end in pairwise(ends)]
