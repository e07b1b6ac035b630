"""One form for scores that were made elsewhere: scorer, item, metric, score, and the unreadable ones; their values, read on a scale.

Other programs write JSON that strict readers refuse as a whole (bare NaN and Infinity, halves of characters); it is read here. Our own
scores in their files carry metadata, for a later import and a comparison of signatures.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.errors import ContentError, UsageError
from harness.exchange.labels.cell_scores import LARGEST_SCORE, UnreadableScore, is_blank
from harness.exchange.labels.program_layouts import ITEM_ID, with_ids
from harness.exchange.labels.records import refuse_large
from harness.exchange.labels.source_table import Record, SourceTable
from harness.exchange.labels.table_columns import read_score
from harness.model import Failure, Item, Judgment, Order, Scale, Score, column_reader
from harness.parse import AnswerRule
from harness.row_files import open_bytes
from harness.signature import QuestionSignature
from harness.text import quoted

MOST_REPEATS = 100_000
# What tells texts, or those who scored them, apart: records of one item that differ in it are no repeats.
_TELLING = frozenset(
    ("annotator", "annotatorid", "coder", "evaluator", "generator", "grader", "judge", "judgemodel", "model", "modelid", "modelname")
) | frozenset(("rater", "raterid", "reviewer", "system", "systemid", "turn", "worker", "workerid"))


class ExternalScore(msgspec.Struct, frozen=True, kw_only=True):
    """One score as another program kept it, before its scale is known.

    Attributes:
        place: where it stands, as `file:line` or `file:record 3`.
        item: the id of what was scored, if the format has one; options may name another field.
        fields: everything that is known of the item, nested keys joined by dots.
        metric: the name of the metric; None where only the user knows it.
        value: the number, text or truth value that the program kept; None where there is none.
        passed: whether the program let the text pass, where it says so beside the value.
        failure: why there is no value. The value is then ignored: programs keep a 0 there.
        decision: the answer of a decision model as it came, or the probability of each class under `probs`; it stands for the value.
        reply: the judge's reply, verbatim, if the format keeps it; it is read by our own parser.
        finish_reason, refusal: what the provider said of the reply.
        justification: the judge's words.
        who: the judge, or the person.
        human: whether a person gave it, so that it is a label.
        blind: False if the person saw a judge's score; None if nothing is known.
        variant, temperature: how the judge was asked, if that is known.
        order: of the two texts of a pair, as the judge saw them; the value is in the order of the pair itself.
        task: the task of the item, if the score states it.
        texts: the texts of the item by the names that its task has; empty where only `fields` hold them.
        repeat: from 0, as the program wrote it; None where equal questions are counted in the order of the file.
        rule: how the other program reads `reply`; None where our own parser does.
        unlabelled: whether nobody scored the item; nothing else is then said than what the item is.
    """

    place: str
    item: Any = None
    fields: Mapping[str, Any] = {}
    metric: str | None = None
    value: Any = None
    passed: bool | None = None
    failure: Failure | None = None
    decision: Mapping[str, Any] | None = None
    reply: str | None = None
    finish_reason: str | None = None
    refusal: str | None = None
    justification: str | None = None
    who: str | None = None
    human: bool = False
    blind: bool | None = None
    variant: str | None = None
    temperature: Any = None
    order: Order | None = None
    task: str | None = None
    texts: Mapping[str, str] = {}
    repeat: Any = None
    rule: AnswerRule | None = None
    unlabelled: bool = False


class ExternalScores(msgspec.Struct, frozen=True):
    """All scores of a file. `notes` say what was left out and why; `texts` are the usual texts of items: name of ours to field.

    `group` is the field with the group of an item, where the format has one.
    """

    kind: str
    scores: Sequence[ExternalScore]
    notes: Sequence[str] = ()
    texts: Mapping[str, str] = {}
    group: str | None = None


Rows = Sequence[tuple[Path, int, dict[str, Any]]]
"""Lines of JSONL files: the file, the number of the line, and its object."""


class ReadOptions(msgspec.Struct, frozen=True):
    """Options of readers: a filter of lm-eval, field names of score records, columns that hold the scores of one metric, and
    whether the user names the fields of the item's id."""

    filter: str | None = None
    preset: str | None = None
    names: Mapping[str, Any] = {}
    label_from: str | None = None
    wide_metrics: tuple[str, ...] = ()
    item_from: bool = False


LinesReader = Callable[[Rows, ReadOptions], ExternalScores]


def _recognise_none(_: Any) -> bool:
    return False


class Reader(NamedTuple):
    """Recognise and read the files of one kind; None: the program writes no such file.

    Attributes:
        is_json: whether the content of a JSON file is of this kind.
        read_json: reads the content of a JSON file.
        is_line: whether a line of a JSONL file, an object, is of this kind.
        read_lines: reads the lines of a file, or of all files with `joins_files`.
        joins_files: several files are parts of one, as the input and the output of a batch are.
        read_archive: reads a ZIP archive.
        read_table: reads a CSV, Excel or Parquet table.
        persistent: people have a name or an account in the program.
    """

    is_json: Callable[[Any], bool] = _recognise_none
    read_json: Callable[[Path, Any, ReadOptions], ExternalScores] | None = None
    is_line: Callable[[Any], bool] = _recognise_none
    read_lines: LinesReader | None = None
    joins_files: bool = False
    read_archive: Callable[[Path], ExternalScores] | None = None
    read_table: Callable[[Path, SourceTable, ReadOptions], ExternalScores] | None = None
    persistent: bool = False


def joined_ids(rows: Sequence[Mapping[str, Any]], fields: Sequence[str]) -> list[Any]:
    """Return the ids of records, made of the values of several fields as `labels import --id-from` makes them; None where one is empty."""
    id_cells = [{name: row.get(name) for name in fields} for row in rows]
    records = [Record(row, number, "") for number, row in enumerate(id_cells, start=1)]
    return [record.cells.get(ITEM_ID) for record in with_ids(SourceTable("records", fields, records), fields, "").records]


def plain_texts(scores: Iterable[ExternalScore], prefix: str = "") -> dict[str, str]:
    """The fields that hold texts, by their name without `prefix`: those below it, without ids and languages."""
    names = {name for score in scores for name, value in score.fields.items() if name.startswith(prefix) and isinstance(value, str)}
    texts = {name.removeprefix(prefix): name for name in sorted(names)}
    return {name: field for name, field in texts.items() if "." not in name and name not in _NO_TEXTS}


_NO_TEXTS = ("item_id", "id", "language", "lang", "task", "group", "split", "system", "parallel_id")


def question_names(questions: Any) -> tuple[str, ...]:
    """Return the names of the questions of a request, in order; questions without a name are numbered from 1."""
    if isinstance(questions, Mapping):
        return tuple(map(str, questions))
    listed = questions if isinstance(questions, list) else []
    return tuple(str((isinstance(question, Mapping) and question.get("name")) or number) for number, question in enumerate(listed, start=1))


def answers_by_name(answers: Any, names: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return the answers by the name of their question. Those of a list without names are in the order of the questions."""
    if isinstance(answers, Mapping):
        return {str(name): answer for name, answer in answers.items() if isinstance(answer, Mapping)}
    objects = [answer for answer in answers if isinstance(answer, Mapping)] if isinstance(answers, list) else []
    if any(answer.get("name") for answer in objects):
        return {str(answer["name"]): answer for answer in objects if answer.get("name")}
    return dict(zip(names, objects, strict=True)) if len(objects) == len(names) else {}


def choose_one(flag: str, stated: str | None, candidates: Iterable[str], what: str, why: str) -> str | None:
    """One of several names in a file. Raises UsageError if several are found and none is given, or another one is."""
    names = list(dict.fromkeys(candidates))
    if stated is not None and stated not in names:
        raise UsageError(f"{flag} {stated}: the file has no such {what}; choose from: {', '.join(names)}")
    if stated is None and len(names) > 1:
        raise UsageError(f"the file has several {what}s ({', '.join(names)}), and {why}; choose one with {flag}")
    return stated if stated is not None else names[0] if names else None


def read_value(value: Any, scale: Scale, categories: Mapping[str, Score]) -> Score:
    """Return a program's value as a point of the scale; true is 1 and false is 0 where the scale has no other ends.

    Raises UnreadableScore with the reason.

    >>> read_value(True, Scale(kind="ordinal", classes=(0, 1)), {}), read_value(-0.0, Scale(kind="interval", min=0, max=1), {})
    (1, 0.0)
    """
    if isinstance(value, bool) and not categories:
        if set(scale.classes) == {0, 1} or (scale.min, scale.max) == (0, 1):
            return int(value)
        raise UnreadableScore(f"the truth value {value} where a score should be; say what it means with --map {value}=SCORE")
    try:
        score = read_score(value, scale, categories)
    except UnreadableScore as error:
        raise UnreadableScore(re.sub("--category ('?)METRIC:", r"--map \1", str(error))) from None
    if isinstance(score, str):
        return score
    if abs(score) > LARGEST_SCORE:
        raise UnreadableScore(f"a score of {str(score)[:40]} is too large; scores reach from -{LARGEST_SCORE:g} to {LARGEST_SCORE:g}")
    return score + 0 if isinstance(score, int) else score + 0.0  # -0.0 becomes 0.0


def repeat_number(value: Any) -> int:
    """Return the number of a repeat. Raises UnreadableScore for what is no whole number from 0 on."""
    number = finite_number(value, "repeat")
    if number is None or not number.is_integer() or not 0 <= number < MOST_REPEATS:
        raise UnreadableScore(f"repeat '{str(value)[:40]}' is not a whole number from 0 to {MOST_REPEATS - 1:,}")
    return int(number)


def finite_number(value: Any, what: str) -> float | None:
    """Return a number; None for an empty cell. Raises UnreadableScore for another value."""
    if is_blank(value):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise UnreadableScore(f"{what} '{str(value)[:40]}' is not a number")
    return number


def refuse_records_of_several(scores: Iterable[ExternalScore]) -> None:
    """Raise UsageError if records that would count as repeats of one question differ in who wrote the text, or who scored it."""
    first_of: dict[tuple[Any, ...], ExternalScore] = {}
    for score in scores:
        if score.unlabelled or score.human or not is_blank(score.repeat):
            continue
        first = first_of.setdefault((str(score.item), score.who, score.metric, score.variant, str(score.temperature)), score)
        shared = [name for name in score.fields if name in first.fields and name.rpartition(".")[2].replace("_", "").casefold() in _TELLING]
        differing = [name for name in shared if score.fields[name] != first.fields[name]]
        if differing:
            raise UsageError(
                f"{first.place} and {score.place} would be repeats of one question: both are of item '{score.item}', '{score.metric}' and "
                f"judge {score.who}, but they differ in {quoted(differing)}. Where these are other texts, make ids of several fields "
                f"(--item-from ID,{differing[0]}); where they are people, name them in --map FILE.toml ([records] annotator = "
                f'["{differing[0]}"]); where they number the repeats, name them there too (repeat = "{differing[0]}")'
            )


_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


def load_json(path: Path) -> Any:
    """The content of a JSON file, gzipped or not. Raises ContentError with the line of the first mistake."""
    refuse_large(path)
    with open_bytes(path) as file:
        return decode_json(file.read(), path)


def decode_json(data: bytes, path: Path | str, line: int | None = None) -> Any:
    """Read one JSON value. `line` is its line in the file, for messages; without it the line of the mistake is named.

    Half of a character (a lone surrogate), as programs write that cut texts, becomes U+FFFD: no file can hold it.
    """
    try:
        content = json.loads(data.decode("utf-8-sig"))
        return _replace_half_characters(content) if _SURROGATE_ESCAPE.search(data) else content
    except UnicodeDecodeError as err:
        raise ContentError("not UTF-8; save the file as UTF-8", path, line or data[: err.start].count(b"\n") + 1) from None
    except RecursionError:
        raise ContentError("nested too deeply", path, line) from None
    except ValueError as err:  # JSONDecodeError; also integers of thousands of digits
        error_line = getattr(err, "lineno", 1)
        raise ContentError(f"not JSON ({getattr(err, 'msg', err)})", path, line or error_line) from None


def _replace_half_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_replace_half_characters(part) for part in value]
    return (
        {_replace_half_characters(key): _replace_half_characters(part) for key, part in value.items()} if isinstance(value, dict) else value
    )


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSONL file with their line numbers; empty lines are ignored. Raises ContentError for anything else."""
    refuse_large(path)
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            row = decode_json(line, path, number)
            if not isinstance(row, dict):
                raise ContentError("not a JSON object; one object a line is expected", path, number)
            yield number, row


METADATA_KEY = "harness"
"""The key of a score's metadata under which it stands."""
Reasons = Callable[[NDArray[np.int64]], list[str | None]]
"""Reads the judge's words for the judgments in some rows."""
_AS_IS = ("metric", "variant", "temperature", "justification")


def metadata_of_judgment(judgment: Judgment, signature: QuestionSignature, item: Item) -> dict[str, Any]:
    """The metadata of one judgment of an item, under our key."""
    columns = ("metric", "language", "judge", "variant", "temperature", "score", "failure", "justification", "call_id")
    about = {name: column_reader(name)(judgment) for name in columns}
    return {METADATA_KEY: about | metadata_of_item(item) | {"signature": str(signature)}}


def metadata_of_item(item: Item) -> dict[str, Any]:
    """The task and the texts of an item. The texts have our names, so that they fit the task again."""
    return {"language": item.language, "task": item.task, "texts": dict(item.fields)}


def read_our_metadata(metadata: Any) -> dict[str, Any]:
    """The fields of a `ExternalScore` that a score of ours states; empty if another judge made it. Its reply was read by our parser.

    Raises TypeError for a value of another type than ours have.
    """
    about = metadata.get(METADATA_KEY) if isinstance(metadata, Mapping) else None
    if not isinstance(about, Mapping) or not isinstance(about.get("metric"), str):
        return {}
    texts = [about.get(name) for name in ("judge", "variant", "justification", "failure")]
    own_texts = about.get("texts")
    if not isinstance(own_texts, Mapping) or not all(isinstance(text, str) for text in (about.get("task"), *own_texts.values())):
        raise TypeError("not a score of ours: without its task and texts")
    temperature = about.get("temperature")
    is_number = isinstance(temperature, (int, float)) and not isinstance(temperature, bool) and abs(temperature) < 1e6
    if not all(text is None or isinstance(text, str) for text in texts) or not (temperature is None or is_number):
        raise TypeError("not a score of ours")
    failure = about.get("failure")
    is_kind = failure in list(Failure)
    return {
        **{name: about.get(name) for name in _AS_IS},
        "who": about.get("judge"),
        "task": about["task"],
        "texts": dict(own_texts),
        "value": about.get("score"),
        "failure": Failure(str(failure)) if is_kind else Failure.MISSING if about.get("score") is None else None,
    }
