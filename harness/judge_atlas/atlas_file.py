"""The atlas as a file: verdicts on judges by language, quality and published set. It holds numbers, no texts and no single labels."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.errors import ContentError
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
    """The judge that agrees most with people in a language, as `harness.measure.rankings.by_language.BestJudge` has it."""

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
