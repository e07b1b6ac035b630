"""Judgments as columns: those of a run, or those of a data folder's `judgments.jsonl`.

`judgments.parquet` holds those of a run on disk. It is written while replies are parsed and read back as columns, so that a million
judgments are never in memory as objects.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.data.columns import NO_VALUE, CodedColumn, ColumnBuilder, Columns, arrow_codes, combination_ids, from_arrow, read_columns
from harness.data.labels import checked_errors, long_names, pairs_of, scale_point, unknown_items, unknown_metrics
from harness.errors import ContentError, StoreError, refuse_faults
from harness.model import CONDITION, MOST_SCORE, SAMPLING, Failure, Judgment, Order, Sampling, Scale, Score, ShownSource, column_reader
from harness.row_files import arrow, arrow_array, make_folder, parquet_file, replace_file
from harness.text import short_repr

NO_VARIANT = "default"
_MOST_REPEATS = 1_000_000
UNCHANGED = {"perturbation": "", "order": "forward", "shown_source": "none"}
"""What a condition changes in an item, and how "nothing" is written there; columns have no value instead."""


class JudgmentRow(Sampling, frozen=True, kw_only=True):
    """The keys of a row of a judgment file; other keys are ignored. `scores` holds one score per repeat."""

    item_id: str
    judge: str
    metric: str
    variant: str = NO_VARIANT
    score: int | float | str | None = None
    scores: list[int | float | str | None] | None = None
    failure: Failure | None = None
    raw_choice: str | None = None  # what stood where the score should be
    perturbation: str | None = None
    order: Order | None = None
    shown_source: ShownSource | None = None
    expected: Annotated[float, msgspec.Meta(ge=-MOST_SCORE, le=MOST_SCORE)] | None = None
    entropy: float | None = None
    repeat: Annotated[int, msgspec.Meta(ge=0, le=_MOST_REPEATS)] | None = None
    language: str | None = None
    probs: dict[str, float | None] | str | None = None  # of the scale's classes; a text holds the same as JSON
    spans: msgspec.Raw = msgspec.Raw(b"")  # the errors that were marked, see `checked_errors`


# The hash is in signatures, so it keeps the names that columns had before.
_HASHED_AS = {"detected_language": "told_language"}


class Judgments:
    """Judgments in the order of their file or run, as columns (rows,). Scores of pairs are in the item's own order."""

    COLUMNS = ("item", "metric", *CONDITION, "perturbation", "repeat", "score", "failure")
    OPTIONAL: tuple[str, ...]
    """The columns below that are not among `COLUMNS`, in their order."""

    item: CodedColumn
    metric: CodedColumn
    judge: CodedColumn
    variant: CodedColumn  # as all of `CONDITION`: no value if unknown
    temperature: CodedColumn
    perturbation: CodedColumn  # no value for the original text
    repeat: CodedColumn
    score: CodedColumn  # no value after a failure
    failure: CodedColumn  # why there is no score; `off_scale` if it is off its scale
    order: CodedColumn  # of the texts of a pair; no value: forward
    shown_source: CodedColumn  # no value: none
    expected: CodedColumn  # from token probabilities, as entropy and confidence
    entropy: CodedColumn
    confidence: CodedColumn  # the probability of the score that was given
    share_a: CodedColumn  # the share of the probability of a pair's first text
    probs: CodedColumn  # of the scale's classes, as JSON: `{"0":0.1,"1":0.9}`
    justification: CodedColumn
    asked_language: CodedColumn  # of the justification, as detected_language
    detected_language: CodedColumn
    further_numbers: CodedColumn  # of a text; only in runs
    raw_choice: CodedColumn  # what stood where the score should be; of recorded judges only where it is no score
    excerpt: CodedColumn  # how a reply begins in which nothing stands where the score should be; only in runs
    spans: CodedColumn  # the errors that recorded judges marked, a tuple; those of a run stay in its file

    def __init__(self, **columns: CodedColumn) -> None:
        rows = len(columns["item"])
        for name in (*self.COLUMNS, *self.OPTIONAL):
            setattr(self, name, columns[name] if name in columns else CodedColumn.empty(rows))

    @classmethod
    def from_rows(cls, judgments: Sequence[Judgment]) -> Judgments:
        names = [name for name in (*cls.COLUMNS[1:], *cls.OPTIONAL) if name not in (*UNCHANGED, "confidence", "probs")]
        columns = {name: CodedColumn.from_values(map(column_reader(name), judgments)) for name in names}
        changes = {name: CodedColumn.from_values(map(column_reader(name), judgments)).without(value) for name, value in UNCHANGED.items()}
        confidence = CodedColumn.from_values(confidence_of(j.probs, j.score) for j in judgments)
        probs = CodedColumn.from_values(probabilities_text(j.probs) for j in judgments)
        return cls(item=CodedColumn.from_values(j.item_id for j in judgments), confidence=confidence, probs=probs, **changes, **columns)

    @classmethod
    def concatenate(cls, parts: Sequence[Judgments]) -> Judgments:
        """Return judgments one after the other."""
        if len(parts) == 1:
            return parts[0]
        return cls(**{name: CodedColumn.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns})

    @property
    def columns(self) -> dict[str, CodedColumn]:
        return {name: getattr(self, name) for name in (*self.COLUMNS, *self.OPTIONAL)}

    def __len__(self) -> int:
        return len(self.item)

    def __repr__(self) -> str:
        return short_repr(self, "", rows=len(self), judges=len(self.judge.values))

    def take(self, rows: NDArray[Any]) -> Judgments:
        """Return the judgments of some rows (a mask or row numbers)."""
        return Judgments(**{name: column.take(rows) for name, column in self.columns.items()})

    @property
    def asked(self) -> list[tuple[str, str]]:
        """Return the distinct (item, metric) pairs that were judged."""
        pairs, _ = pairs_of(self.item, self.metric)
        return [(item, str(metric)) for item, metric in pairs]

    @property
    def clean(self) -> Judgments:
        """Return the judgments of what people labelled: of original texts, without the names of systems.

        Labels say nothing about others.
        """
        return self if not self.perturbation.values and not self.shown_source.values else self.take(self.is_clean)

    @property
    def is_clean(self) -> NDArray[np.bool_]:
        """Mask of the `clean` judgments."""
        return np.asarray((self.perturbation.codes == NO_VALUE) & (self.shown_source.codes == NO_VALUE))

    @property
    def sha256(self) -> str:
        """Hash of all columns."""
        digest = hashlib.sha256()
        for name, column in self.columns.items():
            if column.values and name not in ("spans", "raw_choice", "excerpt"):  # they move no number
                digest.update(msgspec.json.encode([_HASHED_AS.get(name, name), column.values]))
                digest.update(column.codes.astype(np.int32).tobytes())
        return digest.hexdigest()

    def for_items(self, ids: Iterable[str]) -> Judgments:
        """Return the judgments of some items."""
        rows = self.item.among(ids)
        return self if rows.all() else self.take(rows)


Judgments.OPTIONAL = tuple(name for name in Judgments.__annotations__ if name not in (*Judgments.COLUMNS, "OPTIONAL"))


def confidence_of(probs: Mapping[str, float] | None, score: Score | None) -> float | None:
    """Return the probability of the score that was given; None without probabilities or score.

    >>> confidence_of({"1": 0.25, "2": 0.75}, 2)
    0.75
    """
    return None if probs is None or score is None else probs.get(str(score), 0.0)


def probabilities_text(probs: Mapping[str, float] | None) -> str | None:
    """Return probabilities by class as files and columns hold them; None without any.

    >>> probabilities_text({"1": 0.25, "2": 0.75}), probabilities_text({})
    ('{"1":0.25,"2":0.75}', None)
    """
    return msgspec.json.encode(probs).decode() if probs else None


def first_share(probs: Mapping[str, float], scale: Scale) -> float | None:
    """Return how much of the probability goes to the first of two texts, ties counting half; None on a scale without `swap`."""
    return sum(share * probs.get(str(score), 0.0) for score, share in scale.share_of_first.items()) if scale.swap else None


def read_judgment_rows(path: Path) -> Columns:
    """Return the rows of a judgment file, one per score: a list of `scores` becomes repeats.

    Raises ContentError for a row that is not a judgment.
    """
    return one_row_per_score(read_columns(path, JudgmentRow, "a judgment"))


def one_row_per_score(rows: Columns) -> Columns:
    """Return rows with a list of `scores` split into one row per score. Rows without a variant get the default one."""
    if (rows["variant"].codes == NO_VALUE).any():
        values = tuple(dict.fromkeys((*rows["variant"].values, NO_VARIANT)))
        codes = rows["variant"].codes.astype(np.int32)
        rows["variant"] = CodedColumn(values, np.where(codes == NO_VALUE, values.index(NO_VARIANT), codes))
    lists = rows.pop("scores")
    if not lists.values:
        return rows
    scores = [listed if listed is not None else (single,) for listed, single in zip(lists, rows["score"], strict=True)]
    source_rows = np.repeat(np.arange(len(scores)), [len(listed_scores) for listed_scores in scores])
    split = Columns({name: column.take(source_rows) for name, column in rows.items()}, rows.lines[source_rows])
    split["score"] = CodedColumn.from_values(score for listed_scores in scores for score in listed_scores)
    if not rows["repeat"].values:
        split["repeat"] = CodedColumn.from_values(number for listed_scores in scores for number in range(len(listed_scores)))
    return split


def checked_judgments(
    rows: Columns, path: Path, scales: Mapping[str, Scale], items: Mapping[str, Any], *, number_rows: bool = False
) -> Judgments:
    """Return the judgments in a file's rows. With `number_rows`, the rows of one judge for one item are its repeats, in their order.

    Raises ContentError with `file:line` for a name that is too long, an item that is not in `items`, a metric without a scale, and a
    second row of one judge for the same item, metric, variant, temperature and repeat.
    """
    long = long_names(rows, {"judge": "a judge", "metric": "a metric"})
    refuse_faults(chain(long, unknown_items(rows, items, "judgment"), unknown_metrics(rows, scales)), path)
    for name, unchanged in UNCHANGED.items():
        rows[name] = rows[name].without(unchanged)
    repeat = _repeats(rows, path, number_rows)
    # What stood where each score should be: the stated raw choice, else the stated score as text.
    if rows["raw_choice"].values:
        raw_choice: CodedColumn = rows["raw_choice"]
    else:
        scores = rows["score"]
        raw_choice = CodedColumn(tuple(map(str, scores.values)), scores.codes)
    # The scores that are on their scale, and the failures of all other rows.
    pairs, which = pairs_of(rows["metric"], rows["score"])
    values: dict[Score, int] = {}
    points = [scale_point(score, scales[metric]) for metric, score in pairs]
    point_codes = [NO_VALUE if score is None else values.setdefault(score, len(values)) for score in points]
    codes = np.array([*point_codes, NO_VALUE], np.int32)[which]
    stated_failures = rows["failure"]
    failure_names = tuple(dict.fromkeys((*stated_failures.values, Failure.OFF_SCALE, Failure.MISSING)))
    derived = np.where(which == NO_VALUE, failure_names.index(Failure.MISSING), failure_names.index(Failure.OFF_SCALE))
    failure_codes = np.where(stated_failures.codes == NO_VALUE, derived, stated_failures.codes)
    score = CodedColumn(tuple(values), codes)
    failure = CodedColumn(failure_names, np.where(codes == NO_VALUE, failure_codes, NO_VALUE).astype(np.int32))
    raw_choice = CodedColumn(raw_choice.values, np.where(score.codes == NO_VALUE, raw_choice.codes, NO_VALUE).astype(np.int32))
    names = ("metric", *CONDITION, *UNCHANGED, "expected", "entropy")
    stated = {name: rows[name] for name in names}
    spans = checked_errors(rows, path)
    confidence, share_a, probs = _confidences(rows, score, scales, path)
    return Judgments(
        item=rows["item_id"],
        repeat=repeat,
        score=score,
        failure=failure,
        confidence=confidence,
        share_a=share_a,
        probs=probs,
        raw_choice=raw_choice,
        spans=spans,
        **stated,
    )


def _confidences(
    rows: Columns, scores: CodedColumn, scales: Mapping[str, Scale], path: Path
) -> tuple[CodedColumn, CodedColumn, CodedColumn]:
    """Return the probability of each score, the share of the first of two texts, and the probabilities of all classes.

    Raises ContentError for probabilities that are none.
    """
    probs = rows["probs"]
    if not probs.values:
        return probs, probs, probs
    decoded: list[dict[str, float] | None] = []
    for code, stated in enumerate(probs.values):
        try:
            # Probabilities by class. Classes without a number are left out: a column of structs has one for every class of the file.
            pairs = msgspec.json.decode(stated, type=dict[str, float | None]) if isinstance(stated, str) else dict(stated)
            by_class = {str(name): float(value) for name, value in pairs.items() if value is not None}
            if not all(0 <= value <= 1 for value in by_class.values()):
                raise ValueError("no probabilities")
            decoded.append(by_class or None)
        except (msgspec.MsgspecError, ValueError):
            message = '\'probs\' should hold a probability from 0 to 1 for each class, such as {"0": 0.1, "1": 0.9}'
            raise ContentError(message, path, int(rows.lines[int(np.argmax(probs.codes == code))])) from None
    by_code = [*decoded, None]  # no probabilities have the code -1
    by_row = [by_code[code] for code in probs.codes.tolist()]
    shares = (
        None if probabilities is None else first_share(probabilities, scales[metric])
        for probabilities, metric in zip(by_row, rows["metric"], strict=True)
    )
    texts = CodedColumn.from_values(map(probabilities_text, by_row))
    return CodedColumn.from_values(map(confidence_of, by_row, scores)), CodedColumn.from_values(shares), texts


def _repeats(rows: Columns, path: Path, number_rows: bool) -> CodedColumn:
    """Return the repeat of each row: the stated one, else 0. With `number_rows`: the number of the row among otherwise equal rows."""
    stated = rows["repeat"]
    stated_numbers = np.array([*(int(value) for value in stated.values), 0])[stated.codes]
    names = ("item_id", "metric", *CONDITION, *UNCHANGED)
    key = combination_ids((rows[name] for name in names), np.zeros_like(stated_numbers) if number_rows else stated_numbers)
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    number_among_equal = np.empty(len(key), np.int64)
    number_among_equal[order] = np.arange(len(key)) - np.repeat(starts, np.diff(np.append(starts, len(key))))
    if number_rows:
        return CodedColumn.from_values(number_among_equal.tolist())
    if len(repeated := np.flatnonzero(number_among_equal)):
        second = int(repeated[0])
        judge, metric, item = (rows[name].values[rows[name].codes[second]] for name in ("judge", "metric", "item_id"))
        raise ContentError(
            f"'{judge}' has already judged '{metric}' of '{item}' in line {rows.lines[int(np.argmax(key == key[repeated[0]]))]}; give "
            "repeats a 'repeat' number, or write repeats = \"rows\" in data.toml",
            path,
            int(rows.lines[second]),
        )
    return CodedColumn.from_values(stated_numbers.tolist())


COLUMNS = {
    "item_id": "string",
    "language": "string",
    "task": "string",
    "metric": "string",
    "judge": "string",
    "variant": "string",
    "temperature": "double",
    "repeat": "int64",
    "score": "string",
    "failure": "string",
    "raw_choice": "string",
    "excerpt": "string",
    "justification": "string",
    "call_id": "string",
    **dict.fromkeys(SAMPLING[1:], "double"),
    "perturbation": "string",
    "order": "string",
    "shown_source": "string",
    "probs": "string",
    "expected": "double",
    "entropy": "double",
    "share_a": "double",
    "asked_language": "string",
    "detected_language": "string",
    "further_numbers": "string",
    "spans": "string",
}
_BATCH_ROWS = 1 << 13  # rows in memory as objects


class JudgmentWriter:
    """Writes a file of judgments, whole or not at all: the file appears when the `with` block ends without an error."""

    def __init__(self, path: Path) -> None:
        pa = arrow()
        import pyarrow.parquet as pq

        self._path = path
        self._schema = pa.schema([pa.field(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])
        self._rows: list[Judgment] = []
        with _storage_errors(path), ExitStack() as stack:
            make_folder(path.parent, private=True)
            temporary = stack.enter_context(replace_file(path, private=True))
            self._writer = stack.enter_context(pq.ParquetWriter(temporary, self._schema, compression="zstd", compression_level=1))
            stack.push(self._flush_unless_failed)
            self._open_files = stack.pop_all()

    def add(self, judgment: Judgment) -> None:
        self._rows.append(judgment)
        if len(self._rows) >= _BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        pa = arrow()
        rows, self._rows = self._rows, []
        columns = [
            arrow_array([_cell(name, value) for value in map(column_reader(name), rows)], field.type)
            for name, field in zip(COLUMNS, self._schema, strict=True)
        ]
        self._writer.write_batch(pa.record_batch(columns, schema=self._schema))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with _storage_errors(self._path):
            self._open_files.__exit__(kind, error, trace)

    def _flush_unless_failed(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._flush()


def _cell(name: str, value: Any) -> Any:
    if name == "score":
        return None if value is None else str(value)  # classes may be words
    if name == "failure":
        return value and value.value
    if name == "spans":
        return None if value is None else msgspec.json.encode(value).decode()
    if name == "probs":
        return probabilities_text(value)
    return None if name in UNCHANGED and value == UNCHANGED[name] else value


@contextmanager
def _storage_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as err:
        raise StoreError(
            f"{path} cannot be written ({err.strerror or err}); make room or choose a folder that can be written with --out"
        ) from None


def read_judgments(path: Path, scales: Mapping[str, Scale]) -> Judgments:
    """Return the judgments as columns, with hashes in place of justifications, without errors.

    Raises ContentError if the file is unreadable.
    """
    names = {"item": "item_id", **{name: name for name in (*Judgments.COLUMNS[1:], *Judgments.OPTIONAL)}}
    with parquet_file(path) as file:
        columns = {
            name: CodedColumn.concatenate([*map(from_arrow, _batches(file, column))])
            for name, column in names.items()
            if name not in ("justification", "confidence", "spans")
        }
        columns["justification"] = _justification_hashes(file)
        # The probability of each score, from the probabilities of all classes.
        builder, decode = ColumnBuilder(), msgspec.json.Decoder(dict[str, float]).decode
        for batch in file.iter_batches(_BATCH_ROWS, columns=["score", "probs"], use_threads=False):
            scores, probs = batch.column("score"), batch.column("probs")
            if probs.null_count == len(probs):
                builder.add([None] * len(probs))
                continue
            scored = zip(scores.to_pylist(), probs.to_pylist(), strict=True)
            builder.add([None if text is None else confidence_of(decode(text), score) for score, text in scored])
        columns["confidence"] = CodedColumn(*builder.finish())
    # The scores as points of their scales: the text `2` is the class 2.
    pairs, which = pairs_of(columns["metric"], columns["score"])
    values: dict[Score, int] = {}
    try:
        codes = [values.setdefault(_point(str(text), scales[metric]), len(values)) for metric, text in pairs]
    except (msgspec.MsgspecError, KeyError):
        raise ContentError("a score is on no scale of this run; delete the file, it is written again", path) from None
    columns["score"] = CodedColumn(tuple(values), np.array([*codes, NO_VALUE], np.int32)[which])
    return Judgments(**columns)


def _batches(file: Any, column: str) -> Iterator[Any]:
    return (batch.column(0) for batch in file.iter_batches(_BATCH_ROWS, columns=[column], use_threads=False))


def read_columns_at(path: Path, names: Sequence[str], rows: NDArray[np.int64]) -> dict[str, CodedColumn]:
    """Text columns of the judgments in `rows` (ascending numbers). One batch of the file is in memory at a time. Raises ContentError."""
    builders, start = {name: ColumnBuilder() for name in names}, 0
    with parquet_file(path) as file:
        for batch in file.iter_batches(_BATCH_ROWS, columns=list(names)):
            first, last = np.searchsorted(rows, (start, start + batch.num_rows))
            selected = arrow_array((rows[first:last] - start).tolist(), arrow().int64())
            for name, builder in builders.items():
                builder.add(batch.column(name).take(selected).to_pylist())
            start += batch.num_rows
    return {name: CodedColumn(*builder.finish()) for name, builder in builders.items()}


def _point(text: str, scale: Scale) -> Score:
    """Return the point of the scale with this text form."""
    if scale.classes:
        return {str(score): score for score in scale.classes}[text]
    number: int | float = msgspec.json.decode(text, type=int | float)
    return number


def _justification_hashes(file: Any) -> CodedColumn:
    """Return a column of hashes of the justifications. The texts of a million judgments would fill the memory."""
    hashes = [np.empty(0, np.uint64)]
    for texts in _batches(file, "justification"):
        coded = texts.dictionary_encode()
        batch_hashes = np.array([*map(text_hash, coded.dictionary.to_pylist()), 0], np.uint64)
        hashes.append(batch_hashes[arrow_codes(coded.indices)])  # the code -1, "no text", is the last
    column = np.concatenate(hashes)
    if not column.any():
        return CodedColumn.empty(len(column))
    values, codes = np.unique(column, return_inverse=True)
    gaps = int(values[0] == 0)
    return CodedColumn(tuple(values[gaps:].tolist()), codes.astype(np.int32) - gaps)


def text_hash(text: str) -> int:
    """Return the hash that represents a justification in columns; never 0, which means no text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) or 1
