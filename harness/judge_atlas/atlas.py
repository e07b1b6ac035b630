"""The atlas as a file: verdicts on judges by language, quality and published set. It holds numbers, no texts and no single labels."""

from __future__ import annotations

import datetime
import difflib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.errors import ContentError, UsageError
from harness.model import Basis
from harness.row_files import refuse_other_schema

FILE = "leaderboards/atlas.json"
SCHEMA_VERSION = 4
_ARROW_TYPES = {str: "string", Basis: "string", int: "int64", bool: "bool", float | None: "double", int | None: "int64"}
_FACTS = dict.fromkeys(("between_sets", "between_sets_lo", "between_sets_hi"), "double")
_FACTS |= dict.fromkeys(("labels", "annotators", "licence"), "string") | dict.fromkeys(("released", "served_until"), "date32")
_FACTS |= {"toy": "bool"}


class AtlasSet(msgspec.Struct, frozen=True, kw_only=True):
    """A published set with labels of people. Verdicts rest on those with recorded judgments; about the others a judge can be asked.

    Attributes:
        title, version, licence: of its card.
        labels: who labelled: `native`, or `people` where the release does not say that they are native speakers.
        annotators: how many people labelled a text, in words.
        languages, qualities: of its texts, and of its metrics.
        signature: of the comparison that the verdicts come from; it parses back. Empty where there is none.
        partial: whether the comparison had only a part of the set, because the origin lacked raw files.
        boards: what `harness run --board` takes to ask a judge about it, a board or a collection, with the languages.
    """

    title: str
    version: str
    licence: str
    labels: str
    annotators: str
    languages: tuple[str, ...]
    qualities: tuple[str, ...]
    signature: str
    partial: bool = False
    boards: dict[str, tuple[str, ...]] = {}


class AtlasJudge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The model behind a judge, as `catalog/judges.toml` has it. None where a date is not known.

    Attributes:
        released: the day of its release.
        served_until: the last day on which its provider served it.
        open_weights: whether anybody can run it, so that no provider can end it.
        source: who says so.
        toy: whether it only shows what a measurement looks like. Its rows decide no answer about a language.
    """

    released: datetime.date | None = None
    served_until: datetime.date | None = None
    open_weights: bool = False
    source: str = ""
    toy: bool = False

    def is_gone(self, today: datetime.date) -> bool:
        """Return True if its provider is known to serve the model no more. Open weights are never gone.

        >>> import datetime
        >>> judge = AtlasJudge(served_until=datetime.date(2024, 9, 13))
        >>> judge.is_gone(datetime.date(2024, 9, 13)), judge.is_gone(datetime.date(2024, 9, 14))
        (False, True)
        """
        return self.served_until is not None and not self.open_weights and self.served_until < today


class AtlasRow(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one judge in one language on one metric of one set. Shares are in [0, 1].

    It equals that of `harness compare SET`, or with a `board`, that of `harness board show BOARD`.

    Attributes:
        quality: what people ask about, from the card; empty where the card names none for the metric.
        condition: how the judge was asked, as the set records it.
        verdict, sentence: as `Verdict.answer` and `Verdict.sentence`. `no verdict`: the set has the score of one person a text, or one
            released score made from several people's, so that nobody can say how far people agree; or `obstacles` says why.
        agreement, people, gap, bound: of the judge with people, of people with each other, their difference and its lower bound; None
            where undefined.
        right, over_constant: agreement with the labels (closeness to them, where scores are numbers), and the same minus that of one
            constant answer.
        basis: what the verdict rests on: how far people agree, or a bar where one person labelled each text.
        gap_error: standard error of the difference, by groups.
        closeness: whether these are closeness of numbers and not shares of equal scores.
        texts, groups, effective_groups: labelled texts, independent groups of texts, and for how many equal groups they stand.
        obstacles: what stands against `use`, as `VerdictWords.obstacles` names it, with blanks between the names.
        needed: how many more labelled texts settle it, if the judge is as good as people; None where more labels would not help, where
            none are needed, and where the number is beyond all that is tried.
        board: on which the judge was asked; empty where its scores were published with the set.
        probabilities: the verdict on the judge's probabilities, as `harness probabilities` gives it; empty without any.
        confidence, confidence_gap: their mean, and the same minus the share that is right.
    """

    language: str
    quality: str
    metric: str
    judge: str
    condition: str
    set: str
    verdict: str
    sentence: str
    agreement: float | None
    people: float | None
    gap: float | None
    bound: float | None
    right: float | None
    over_constant: float | None
    closeness: bool
    texts: int
    groups: int
    effective_groups: float | None
    gap_error: float | None = None
    obstacles: str = ""
    needed: int | None = None
    basis: Basis = "people"
    board: str = ""
    probabilities: str = ""
    confidence: float | None = None
    confidence_gap: float | None = None

    @property
    def subject(self) -> str:
        """The quality; the metric where it has none."""
        return self.quality or self.metric


class AcrossSets(msgspec.Struct, frozen=True, kw_only=True):
    """The variation of a judge's difference from people between three sets or more, on one quality in one language; no mean is taken.

    Attributes:
        quality: what people ask about, or the metric where a row has no quality.
        closeness: whether the differences are of closeness of numbers and not of shares of equal scores.
        sets: the sets with a difference, sorted.
        sd, lo, hi: the standard deviation between sets, beyond what few texts explain, with its 95 % interval. A share, as `gap`.
    """

    language: str
    quality: str
    judge: str
    closeness: bool
    sets: tuple[str, ...]
    sd: float
    lo: float
    hi: float


class BestOfLanguage(msgspec.Struct, frozen=True):
    """The judge that agrees most with people in a language, as `harness.measure.language_rankings.BestJudge` has it."""

    language: str
    judge: str
    value: float
    probability: float
    texts: int


class SetRanking(msgspec.Struct, frozen=True, kw_only=True):
    """The ranking of judges on one metric of one set in several languages, as the section `language_rankings` of `harness compare SET`.

    Attributes:
        judges: that were asked in all of the languages, each with its plainest condition.
        best: the best judge of each language.
        tau, tau_ci: mean of Kendall's tau over pairs of languages, with its interval; None with two judges.
        reversed: `(judge, other, language, other language)`: shown better in the first language and worse in the other.
    """

    set: str
    quality: str
    metric: str
    judges: tuple[str, ...]
    best: tuple[BestOfLanguage, ...]
    tau: float | None = None
    tau_ci: tuple[float, float] | None = None
    reversed: tuple[tuple[str, str, str, str], ...] = ()


class NewestJudge(NamedTuple):
    """The judge that was released last among some, and how many judges have no known date. `name` is empty where none has one."""

    name: str
    released: datetime.date
    unknown: int


class Atlas(msgspec.Struct, frozen=True, kw_only=True):
    """All rows, sorted by language, quality, metric, set, judge and condition.

    `sets` are by id, `judges` by name, English names of `languages` by tag. Languages without a row are those in which sets have labels
    of people and no recorded judge. `across` has an entry for each judge, quality and language with rows of three sets or more.
    `rankings` say whether the ranking of judges changes with the language. `toy_rows` are those of judges that are toys, `edition` is the
    day on which anything in the file changed last.
    """

    sets: dict[str, AtlasSet]
    judges: dict[str, AtlasJudge]
    languages: dict[str, str]
    rows: tuple[AtlasRow, ...]
    across: tuple[AcrossSets, ...] = ()
    toy_rows: tuple[AtlasRow, ...] = ()
    rankings: tuple[SetRanking, ...] = ()
    edition: datetime.date = datetime.date.min
    schema_version: int = SCHEMA_VERSION

    @property
    def all_rows(self) -> tuple[AtlasRow, ...]:
        """Return the rows, those of toys last."""
        return (*self.rows, *self.toy_rows)

    def judge(self, name: str) -> AtlasJudge:
        """Return the dates and source of the model behind a judge, as far as they are known."""
        return self.judges.get(name, AtlasJudge())

    def newest_judge(self, rows: Iterable[AtlasRow]) -> NewestJudge:
        """Return the newest of the judges of these rows whose release is known; of equal dates the first by name."""
        names = sorted({row.judge for row in rows})
        dated = {name: released for name in names if (released := self.judge(name).released)}
        newest = max(dated, key=lambda name: dated[name], default="")
        return NewestJudge(newest, dated.get(newest, datetime.date.min), len(names) - len(dated))

    def across_sets(self, rows: Iterable[AtlasRow]) -> list[AcrossSets]:
        """Return the variation of the judges of these rows between the sets of their language and quality."""
        wanted = {(row.language, row.subject, row.judge, row.closeness) for row in rows}
        return [spread for spread in self.across if (spread.language, spread.quality, spread.judge, spread.closeness) in wanted]

    def flat(self, rows: Iterable[AtlasRow] | None = None) -> Iterator[dict[str, Any]]:
        """Yield each row, of all or of some, as one object for programs, with its set's labels and its judge's dates."""
        for row in self.all_rows if rows is None else rows:
            about, judge = self.sets[row.set], self.judge(row.judge)
            between = next(iter(self.across_sets([row])), None)
            spread = {f"between_sets{end}": getattr(between, name, None) for end, name in (("", "sd"), ("_lo", "lo"), ("_hi", "hi"))}
            facts = {"labels": about.labels, "annotators": about.annotators, "licence": about.licence}
            dates = {"released": judge.released, "served_until": judge.served_until}
            yield msgspec.structs.asdict(row) | spread | facts | dates | {"toy": judge.toy}


def read_atlas(path: Path) -> Atlas:
    """Read the atlas of a file. Raises ContentError for a file that is absent, of another schema, or no atlas."""
    try:
        text = path.read_bytes()
        refuse_other_schema(text, SCHEMA_VERSION, path, "build it again with 'harness atlas build'")
        return msgspec.json.decode(text, type=Atlas)
    except FileNotFoundError:
        raise ContentError("there is no atlas here; 'harness atlas build' writes it", path) from None
    except msgspec.DecodeError as err:
        raise ContentError(f"this is no atlas: {err}", path) from None


def atlas_bytes(atlas: Atlas) -> bytes:
    """Return the file of an atlas: a row a line, so that changes can be read."""
    head = msgspec.structs.asdict(atlas)
    rows = {name: head.pop(name) for name in ("rows", "toy_rows")}
    text = msgspec.json.format(msgspec.json.encode(head), indent=1)[:-2]
    for name, part in rows.items():
        lines = b",\n".join(b"  " + msgspec.json.encode(row) for row in part)
        text += b',\n "' + name.encode() + b'": [\n' + lines + b"\n ]"
    return text + b"\n}\n"


def parquet_bytes(atlas: Atlas) -> bytes:
    """Return the rows of `Atlas.flat` as a Parquet file, for programs: `harness atlas` reads only the JSON. Days are Arrow's `date32`."""
    from harness.row_files import to_parquet  # late: an answer needs no Arrow

    types = {field.name: _ARROW_TYPES[field.type] for field in msgspec.structs.fields(AtlasRow)}
    return to_parquet(list(atlas.flat()), types | _FACTS)


USE, CORRECTED, AGAINST, OPEN = "use", "use corrected", "do not use", "not known yet"
NO_VERDICT = "no verdict"  # nobody can say how far people agree
ORDER = (USE, CORRECTED, AGAINST, OPEN)
# the defaults of DecisionOptions, by which every verdict of an atlas was given; not imported, because an answer needs no numpy
ALPHA, LEAST_TEXTS, LEAST_GROUPS = 0.05, 30, 20
_NEAR = 30  # CLDR's distance of two languages; 20 for Galician and Spanish, or Belarusian and Russian


@dataclass(frozen=True)
class MetricAnswer:
    """The answer about one metric of one set in one language: `use`, `use corrected`, `do not use` or `not known yet`.

    It is `use` if some judge may be used, and `do not use` only if every verdict on every judge is.

    Attributes:
        metric, set: of the rows.
        best: the row of the judge that the answer names: of a use, a judge that is still served where there is one; else the judge whose
            agreement with people comes closest to theirs, of an unknown metric among those that are not shown unfit.
        gone: whether the judge of a use is no longer served.
        rows: all rows of the metric.
    """

    metric: str
    set: str
    answer: str
    best: AtlasRow
    gone: bool
    rows: tuple[AtlasRow, ...]

    @property
    def unfit(self) -> int:
        """The number of judges that are shown unfit, whatever way they were asked."""
        return len({row.judge for row in self.rows} - {row.judge for row in self.rows if row.verdict != AGAINST})


@dataclass(frozen=True)
class QualityAnswer:
    """The answers about the metrics of one quality in one language, by metric and set.

    `metrics` stand in the order *use*, *use corrected*, *do not use*, *not known yet*. Rows without a verdict say nothing where others of
    the quality have one. But where a metric has one score a text, and some judges are shown worse than a constant, the others stay open.
    """

    quality: str
    metrics: tuple[MetricAnswer, ...]

    @property
    def answer(self) -> str:
        """The answer if it is the same for all metrics; else empty."""
        answers = {metric.answer for metric in self.metrics}
        return answers.pop() if len(answers) == 1 else ""

    @property
    def rows(self) -> tuple[AtlasRow, ...]:
        """The rows of all metrics."""
        return tuple(row for metric in self.metrics for row in metric.rows)

    @property
    def sets(self) -> tuple[str, ...]:
        """The names of the sets, sorted."""
        return tuple(sorted({metric.set for metric in self.metrics}))

    def with_answers(self, *answers: str) -> tuple[MetricAnswer, ...]:
        """Return the metrics that have one of these answers."""
        return tuple(metric for metric in self.metrics if metric.answer in answers)

    @property
    def is_settled(self) -> bool:
        """True if a judge that is still served may be used for every metric."""
        return all(metric.answer in (USE, CORRECTED) and not metric.gone for metric in self.metrics)


class WrongUses(NamedTuple):
    """The number of families of tests that could say *use*, and how many of them at most are expected to hold a wrong one."""

    families: int
    expected: float


def wrong_uses(rows: Iterable[AtlasRow]) -> WrongUses:
    """Return how many families of these rows are expected to hold a wrong *use*, at most: the level of one times their number.

    A family has the rows of one judge under one condition in one set, which were corrected together. It counts if one of its rows could
    say *use*: with labels by which people can be compared, and enough texts. This holds however the families depend on each other.
    """
    families = {
        (row.judge, row.condition, row.set)
        for row in rows
        if row.verdict != NO_VERDICT
        and (row.people is not None or row.basis == "bar")
        and row.texts >= LEAST_TEXTS
        and row.groups >= LEAST_GROUPS
    }
    return WrongUses(len(families), ALPHA * len(families))


def select(
    atlas: Atlas, language: str | None = None, judge: str | None = None, quality: str | None = None, *, toys: bool = False
) -> tuple[AtlasRow, ...]:
    """Return the rows of a language (tag or name), a judge and a quality; those of toys only where a judge is named, or with `toys`.

    Raises UsageError for one that no row has, with near names.
    """
    rows = atlas.all_rows if toys or judge is not None else atlas.rows
    if language is not None:
        tag = tag_of(atlas, language)
        rows = tuple(row for row in rows if row.language == tag)
        if not rows and (judge or quality):
            raise UsageError(
                f"no judge was recorded beside people's labels in {atlas.languages[tag]}; 'harness atlas --lang {tag}' says more"
            )
    if judge is not None:
        rows = _rows_with(rows, "judge", judge, lambda row: row.judge)
    if quality is not None:
        rows = _rows_with(rows, "quality", quality, lambda row: row.subject)
    return rows


def tag_of(atlas: Atlas, language: str) -> str:
    """Return the tag of a language of the atlas, by its tag or its name in any language, whatever the case.

    Raises UsageError for another language, with the answers of languages near it as a hint.
    """
    wanted = language.strip().replace("_", "-").casefold()
    for tag, name in atlas.languages.items():
        if wanted in (tag.casefold(), name.casefold()):
            return tag
    meant = _meant(language)
    if meant in atlas.languages:
        return meant
    names = [*atlas.languages.values(), *atlas.languages]
    near = difflib.get_close_matches(language, names, n=1)
    hint = _neighbour_hint(atlas, meant) if meant else f" Did you mean '{near[0]}'?" if near else ""
    raise UsageError(
        f"nothing is known of judges in '{language}': no published set in the atlas has people's labels in it.{hint}"
        " 'harness atlas' shows the languages that there are; 'harness labels page' makes a page on which people label your texts."
    )


def _meant(language: str) -> str:
    """Return the canonical tag that a tag or a name in any language means; empty for anything else."""
    import langcodes

    try:
        tag = langcodes.standardize_tag(language.strip())
    except ValueError:
        tag = ""
    if tag and langcodes.tag_is_valid(tag):
        return str(tag)
    try:
        return str(langcodes.find(language.strip()))
    except LookupError:
        return ""


def neighbours(atlas: Atlas, tag: str) -> list[str]:
    """Return the languages with verdicts that are near a language, the nearest first."""
    import langcodes

    judged = sorted({row.language for row in atlas.rows} - {tag})
    distances = {other: langcodes.tag_distance(tag, other) for other in judged}
    return sorted((other for other in judged if distances[other] < _NEAR), key=lambda other: distances[other])


def _neighbour_hint(atlas: Atlas, tag: str) -> str:
    near = neighbours(atlas, tag)
    if not near:
        return ""
    hints = []
    for neighbour in near[:2]:
        words = []
        for quality in answers_by_quality(row for row in atlas.rows if row.language == neighbour):
            judges = dict.fromkeys(f"use {metric.best.judge}" for metric in quality.with_answers(USE, CORRECTED))
            rest = dict.fromkeys(metric.answer for metric in quality.with_answers(AGAINST, OPEN))
            words.append(f"{quality.quality} {' or '.join([*judges, *rest])}")
        hints.append(f"{atlas.languages[neighbour]}: {', '.join(words)}")
    return f" A hint only, because no verdict speaks for another language: of languages near it, this is known. {'; '.join(hints)}."


def answers_by_quality(rows: Iterable[AtlasRow], gone: Collection[str] = ()) -> list[QualityAnswer]:
    """Return the answers about the qualities of one language's rows, those with a metric to be used first.

    `gone` names judges that are no longer served: where another judge may be used for a metric too, that one is named.
    """
    by_quality: dict[str, list[AtlasRow]] = {}
    uses = Counter[tuple[str, str, str, str]]()
    for row in rows:
        by_quality.setdefault(row.subject, []).append(row)
        uses[row.set, row.judge, row.condition, row.verdict] += 1
    answers = []
    for quality, quality_rows in by_quality.items():
        judged = {(row.metric, row.set) for row in quality_rows if row.verdict != NO_VERDICT}
        compared = {(row.metric, row.set) for row in quality_rows if row.people is not None or row.basis == "bar"}
        telling = [row for row in quality_rows if row.verdict != NO_VERDICT or (row.metric, row.set) in judged - compared]
        answers.append(_answer_of_quality(quality, telling or quality_rows, gone, uses))
    return sorted(answers, key=lambda answer: (ORDER.index(answer.metrics[0].answer), answer.quality))


def _answer_of_quality(
    quality: str, rows: Sequence[AtlasRow], gone: Collection[str], uses: Mapping[tuple[str, str, str, str], int]
) -> QualityAnswer:
    """Answer metric by metric. Of several judges that may be used, the one with most metrics of the set is named, then the closest one.

    So does the answer of the set alone. `uses` has how many verdicts there are, by (set, judge, condition, verdict).
    """
    by_metric: dict[tuple[str, str], list[AtlasRow]] = {}
    for row in rows:
        by_metric.setdefault((row.metric, row.set), []).append(row)

    def fitness(row: AtlasRow) -> tuple[bool, bool, int, float]:
        return row.judge not in gone, row.verdict == USE, uses[row.set, row.judge, row.condition, row.verdict], closeness(row)

    def closeness(row: AtlasRow) -> float:
        """Return how close a judge is to people; where people cannot be compared with, below all others, how close to their labels."""
        if row.gap is not None:
            return row.gap
        return -1.0 if row.right is None else row.right - 2.0

    metrics = []
    for (metric, name), metric_rows in by_metric.items():
        allowed = [row for row in metric_rows if row.verdict in (USE, CORRECTED)]
        if allowed:
            best = max(allowed, key=fitness)
            metrics.append(MetricAnswer(metric, name, best.verdict, best, best.judge in gone, tuple(metric_rows)))
            continue
        undecided = [row for row in metric_rows if row.verdict != AGAINST]
        best = max(undecided or metric_rows, key=closeness)
        metrics.append(MetricAnswer(metric, name, OPEN if undecided else AGAINST, best, False, tuple(metric_rows)))
    return QualityAnswer(quality, tuple(sorted(metrics, key=lambda metric: ORDER.index(metric.answer))))


def _rows_with(rows: Sequence[AtlasRow], what: str, wanted: str, value_of: Callable[[AtlasRow], str]) -> tuple[AtlasRow, ...]:
    matching = tuple(row for row in rows if value_of(row).casefold() == wanted.casefold())
    if not matching:
        names = sorted({value_of(row) for row in rows})
        near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.4)
        raise UsageError(f"no {what} '{wanted}' in these rows of the atlas; there are {', '.join(near or names[:12])}")
    return matching
