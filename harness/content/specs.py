"""The structs of content files, one for each kind of file. A file that does not fit its struct is refused."""

from __future__ import annotations

import math
import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec

from harness.content.problems import key_line, wrong_key
from harness.errors import ContentError, refuse_pipe, unreadable
from harness.model import AnnotatorKind, Scale, Score, Source
from harness.options import AltScoring

Text = Annotated[str, msgspec.Meta(min_length=1)]
Points = Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]
Version = Annotated[str, msgspec.Meta(pattern=r"^\d+\.\d+\.\d+$")]


class _Spec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class TextField(_Spec, frozen=True):
    """One text of an item: the heading above it, its role, whether it may be empty, and which key of the item names its language.

    With `turns` it is a conversation: data have a list of messages, each with a role and a content (`harness/conversations.py`).
    """

    title: Text
    role: Literal["input", "output"]
    optional: bool = False
    language: Annotated[str, msgspec.Meta(pattern=r"^[a-z_]+$")] = "language"  # `language` is the item's own
    turns: bool = False


class Task(_Spec, frozen=True):
    """`tasks/<id>/task.toml`: the texts of an item of the task, in the order in which a judge reads them."""

    id: Text
    version: Version
    title: Text
    source: Text
    instruction: Text
    outputs: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=2)]
    metrics: tuple[str, ...]
    fields: dict[str, TextField]
    at_least_one: tuple[str, ...] = ()
    shown: dict[str, tuple[str, ...]] = {}  # metric -> the texts that its question shows; metrics that are not named show all
    pairs_of: str = ""  # the task whose outputs `harness pairs` puts side by side in items of this task

    @property
    def is_pair(self) -> bool:
        """Return True if an item has two outputs, which judges compare."""
        return len(self.outputs) == 2

    @property
    def language_keys(self) -> tuple[str, ...]:
        """Return the keys of an item that name languages.

        An instruction may hold them in braces; a prompt has the languages' names there.
        """
        return tuple(dict.fromkeys(("language", *(field.language for field in self.fields.values()))))


class Criteria(_Spec, frozen=True):
    """The signs by which a reader knows a text that earns one score."""

    score: int | float | str
    points: Points


class SimpleInstruction(_Spec, frozen=True):
    instruction: Text


class DetailedInstruction(_Spec, frozen=True):
    description: Text
    criteria: Annotated[tuple[Criteria, ...], msgspec.Meta(min_length=1)]


class Rubric(_Spec, frozen=True):
    """`rubrics/<id>.toml`: the scale of a metric and its instructions for judges."""

    id: Text
    version: Version
    title: Text
    source: Text
    scale: Scale
    simple: SimpleInstruction
    detailed: DetailedInstruction
    compared_with: str = ""  # a metric on another scale that people labelled, with whose labels scores are compared by their order only

    @property
    def class_words(self) -> dict[str, str]:
        """Return what the simple instruction says of each class, by the class as text; empty where it does not name every one."""
        lines = (line.partition(": ") for line in self.simple.instruction.splitlines())
        words = {name.strip(): text.strip() for name, _, text in lines if text}
        return {str(score): words[str(score)] for score in self.scale.classes} if {*map(str, self.scale.classes)} <= words.keys() else {}


class Review(_Spec, frozen=True):
    """A native reader's review of a pack."""

    who: Text
    when: Text
    read: Text


class Pack(_Spec, frozen=True):
    """`languages/<tag>/pack.toml`. The names of languages come from `langcodes`."""

    tag: Text
    version: Version
    script: Annotated[str, msgspec.Meta(pattern=r"^[A-Z][a-z]{3}$")]
    resource_class: Annotated[int, msgspec.Meta(ge=0, le=5)]
    segmenter: Literal["icu"]
    reviewed_by: tuple[Review, ...]


class ReadingEase(_Spec, frozen=True):
    """`[reading_ease]` of a lexicon: base - words_factor * words per sentence - syllables_factor * syllables per word."""

    base: float
    words_factor: float
    syllables_factor: float
    hyphenation: Text  # the name of the patterns that count syllables
    source: Text  # the publication of the constants


class Lexicon(_Spec, frozen=True):
    """`languages/<tag>/lexicon.toml`: the words of a language for reading replies and perturbing texts.

    Every list may be empty or missing. A space inside a word matches any one white-space character. CONTRIBUTING.md ("Write a
    lexicon") explains each list with an example.
    """

    tag: Text
    version: Version
    reviewed_by: tuple[Review, ...]
    announcers: tuple[Text, ...] = ()  # words after which a score may stand
    remarks: tuple[Text, ...] = ()  # words that open a remark; some are announcers in other languages
    linking_words: tuple[Text, ...] = ()  # words for "is" between an announcer and its score
    units: tuple[Text, ...] = ()  # words for "points" after a score
    out_of: tuple[Text, ...] = ()  # words between a score and the highest possible one
    endings: tuple[Text, ...] = ()  # what may follow a score without a space
    scale_phrases: tuple[Text, ...] = ()  # phrases that name the ends of a scale and give no score, such as "{score} out of {max}"
    extremes: tuple[Text, ...] = ()  # words for the highest and the lowest score, such as "maximum"
    other_numbers: tuple[Text, ...] = ()  # words for numbers that are no score, such as "confidence" and "errors"
    counted: tuple[Text, ...] = ()  # words for what a number before them counts, such as "sentences" in "2 sentences"
    counted_kinds: tuple[Text, ...] = ()  # words between a number and what it counts, such as "grammatical" in "2 grammatical errors"
    minus: tuple[Text, ...] = ()  # words for a minus sign before a number
    denials: tuple[Text, ...] = ()  # words that deny a score after them in the same clause, such as "not" in "not a 4"
    conjunctions: tuple[Text, ...] = ()  # words that end what a denial denies, such as "but" in "not perfect but a 4"
    limits_before: tuple[Text, ...] = ()  # words right before a number which is then a bound or a comparison, such as "at least"
    limits_after: tuple[Text, ...] = ()  # words right after a number that make it a bound or deny it, such as "or more"
    inferior: tuple[Text, ...] = ()  # words that say that a text is the worse one of two, such as "worse" and "loses"
    written_maxima: tuple[Text, ...] = ()  # the highest scores of usual scales as words, such as "ten" in "3 out of ten"
    answer_keys: tuple[Text, ...] = ()  # keys of a JSON answer that hold its score, besides announcers, such as "value"
    reason_keys: tuple[Text, ...] = ()  # keys of a JSON answer that hold the reason, such as "explanation"
    numbered: tuple[Text, ...] = ()  # words that a number or letter follows which names a text, such as "story 2"
    refusals: tuple[Text, ...] = ()  # how a refusal begins; `~` stands for each of `refused_actions`
    refused_actions: tuple[Text, ...] = ()
    quotation_marks: tuple[Text, ...] = ()  # an opening and a closing mark each
    keyboard: tuple[Text, ...] = ()  # rows of letter keys from the top, each half a key to the right of the one above
    injection: str = ""  # an instruction to give the top score; empty: none
    synonyms: tuple[tuple[Text, ...], ...] = ()  # groups of words that may stand for each other in the same form
    vowels: str = ""  # the letters that are vowels, in lower case; empty where words are not written with vowel letters
    reading_ease: ReadingEase | None = None  # the published formula of reading ease; none: not known


class PromptWords(_Spec, frozen=True):
    """The words of a prompt besides the texts of tasks, rubrics and items; `PLACEHOLDERS` lists the names in braces."""

    system: Text
    meant_for: Text
    examples: Text
    example: Text
    given: Text
    now: Text
    heading: Text
    question: Text
    question_about: Text
    score: Text
    form_single: Text
    form_joint: Text
    justification_key: Text
    score_key: Text
    then: Text
    reminder: Text
    short_reason: Text
    the_score: Text
    system_pair: Text
    meant_for_pair: Text
    heading_from: Text
    persona: Text
    form_text: Text
    reminder_text: Text
    explain: Text
    errors_key: Text
    the_errors: Text


# Word -> the names in braces that it must contain, each once. All other words contain none.
PLACEHOLDERS: dict[str, tuple[str, ...]] = {
    "meant_for": ("language",),
    "example": ("number",),
    "given": ("title", "score"),
    "heading": ("title",),
    "question": ("title",),
    "question_about": ("metric", "title"),
    "score": ("score",),
    "form_single": ("keys",),
    "form_joint": ("keys",),
    "justification_key": ("characters",),
    "then": ("first", "second"),
    "reminder": ("keys",),
    "meant_for_pair": ("language",),
    "heading_from": ("title", "source"),
    "errors_key": ("count", "characters"),
}


class TaskWords(_Spec, frozen=True):
    """A task in another language: its instruction and the titles of its texts."""

    instruction: Text
    fields: dict[str, Text]


class RubricWords(_Spec, frozen=True):
    """A rubric in another language; `criteria` by score."""

    title: Text
    simple: Text
    description: Text
    criteria: dict[str, Points]

    @classmethod
    def of(cls, rubric: Rubric) -> RubricWords:
        """Return the words of a rubric itself, which are English."""
        criteria = {str(group.score): group.points for group in rubric.detailed.criteria}
        return cls(rubric.title, rubric.simple.instruction, rubric.detailed.description, criteria)


class WritingWords(_Spec, frozen=True):
    """The words of a request to write the output of a task."""

    system: Text
    instruction: Text
    meant_for: Text  # holds `{language}`
    reminder: Text
    lead_ins: tuple[Text, ...] = ()  # beginnings of sentences that announce an output and are no part of it


class Writing(_Spec, frozen=True):
    """`tasks/<task>/writing.toml`: how a model is asked to write an output of the task, in English."""

    task: Text
    version: Version
    source: Text
    max_characters: Annotated[int, msgspec.Meta(ge=1, le=20_000)]
    words: WritingWords
    inputs_of: str = ""  # another task, whose inputs of the same names are used where there are no items of this one


class ExitQuestion(_Spec, frozen=True):
    """A question after the last text of a labelling page: about the work, not about a text.

    Without words of its own it is put in those of the interface: `exit_<id>`, and `exit_<id>_low` and `exit_<id>_high` for the ends.
    """

    id: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    kind: Literal["text", "scale"]
    question: str = ""
    min: Annotated[int, msgspec.Meta(ge=0, le=9)] = 1
    max: Annotated[int, msgspec.Meta(ge=1, le=10)] = 5
    low: str = ""
    high: str = ""

    def __post_init__(self) -> None:
        if self.kind == "scale" and self.min >= self.max:
            raise ValueError(f"exit question '{self.id}' goes from {self.min} to {self.max}; min should be below max")
        if self.question and self.kind == "scale" and not (self.low and self.high):
            raise ValueError(f"exit question '{self.id}' is a scale with its own words; add 'low' and 'high', the words of both ends")


class ExitQuestions(_Spec, frozen=True):
    """`tasks/<task>/exit.toml`: what annotators are asked after the last text. Nobody has to answer."""

    task: Text
    version: Version
    source: Text
    questions: Annotated[tuple[ExitQuestion, ...], msgspec.Meta(min_length=1, max_length=10)]

    def __post_init__(self) -> None:
        if repeated := [question.id for question in self.questions if [other.id for other in self.questions].count(question.id) > 1]:
            raise ValueError(f"two exit questions are called '{repeated[0]}'; give each its own id")


class Instructions(_Spec, frozen=True):
    """`languages/<tag>/instructions.toml`: the instructions for judges, and for writers, in the pack's language."""

    tag: Text
    version: Version
    reviewed_by: tuple[Review, ...]
    words: PromptWords
    tasks: dict[str, TaskWords]
    rubrics: dict[str, RubricWords]
    writing: dict[str, WritingWords] = {}


class Interface(_Spec, frozen=True):
    """`languages/<tag>/interface.toml`: the words of the labelling page. The keys of `strings` are those of the English file."""

    tag: Text
    version: Version
    reviewed_by: tuple[Review, ...]
    strings: dict[str, Text]


class BoardData(_Spec, frozen=True):
    """Data outside the packs: a data folder of the user with a known content hash, or a data folder on the hub at a commit."""

    card: Text  # the name of the dataset card
    sha256: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?$")] = ""
    hub: Annotated[str, msgspec.Meta(pattern=r"^([\w.-]+/[\w.-]+)?$")] = ""
    revision: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{40})?$")] = ""
    tasks: dict[str, Text] = {}  # the data's tasks -> ours, where the names differ
    where: dict[str, tuple[str | int, ...]] = {}  # the items, by any of their keys
    # What `sha256` covers: all data, or the listed items with their labels alone, and then nothing else is read. So a board can stand on
    # data that are in reach in part.
    hashed: Literal["all", "listed"] = "all"


class Sealed(_Spec, frozen=True):
    """Sealed labels, encrypted in `labels.age` beside the board: who can open them, and what was published about them in advance."""

    recipients: Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]
    commitment: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]  # SHA-256 of the plaintext: a random salt and the labels
    # In every data file of the board; printable ASCII, the same in JSON and TOML.
    canary: Annotated[str, msgspec.Meta(pattern=r"^[ !#-\[\]-~]{30,300}$")]
    source: Source = "native"


class Board(_Spec, frozen=True):
    """`leaderboards/<id>/board.toml`: a frozen protocol."""

    id: Text
    version: Version
    title: Text
    description: Text
    data: Literal["bundled"] | BoardData
    tasks: dict[str, Version]
    rubrics: dict[str, Version]
    languages: dict[str, Version] | tuple[Text, ...]  # packs at their versions, or only tags for data outside the packs
    variants: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    temperature: Annotated[float, msgspec.Meta(ge=0)]
    repeats: Annotated[int, msgspec.Meta(ge=1)]
    majority: Literal["drop", "median", "strict"]  # the rule for the reference
    # How many annotators an item needs (`3`, `2+`); empty: two or more, or one if no item has two.
    annotators: Annotated[str, msgspec.Meta(pattern=r"^([1-9]\d{0,3}\+?)?$")]
    statistics: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]  # the columns of the table
    rank_by: Text
    items: dict[str, tuple[str, ...]] = {}  # the judged items by language; without it, all test items are judged
    # Packs of further items (`languages/<tag>/packs/<pack>/`); empty: the items are those of the languages' own packs.
    pack: Annotated[str, msgspec.Meta(pattern=r"^([a-z][a-z-]*)?$")] = ""
    sealed: Sealed | None = None

    @property
    def packs(self) -> dict[str, str]:
        """Return `{tag: version}` of the language packs that the board is frozen on; empty for data outside the packs."""
        return self.languages if isinstance(self.languages, dict) else {}


class BoardCollection(_Spec, frozen=True):
    """`leaderboards/<id>/collection.toml`: boards that are asked together, with one plan, one price and one answer.

    Each board keeps its own protocol, run and submissions; they are asked in the order of `boards`.
    """

    id: Text
    version: Version
    title: Text
    description: Text
    boards: Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]


class Shared(_Spec, frozen=True):
    """Texts that several items share. They are in a separate table; `key` names the common key of items and texts."""

    table: Annotated[str, msgspec.Meta(pattern=r"^[a-z_]+$")]
    key: Text
    texts: Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]


class Asked(_Spec, frozen=True):
    """`[asked]` of a dataset card: which labelled items a judge was shown, beyond those with a row in the judgments.

    - `rows`: none. Everything that the judge was asked has a row, if only one without a score.
    - `any-row`: items with a row on any metric, under the same condition.
    - `all`: every item.
    - `column`: items whose key `column` is true or lists the judge.

    All rules are limited to the languages, tasks and metrics that the judge has any row of.
    """

    rule: Literal["rows", "any-row", "all", "column"] = "rows"
    column: str = ""

    def __post_init__(self) -> None:
        if (self.rule == "column") != bool(self.column):
            raise ValueError('rule = "column" and column = "NAME OF A KEY OF THE ITEMS" go together; write both or neither')

    def __str__(self) -> str:
        """Return the rule as signatures print it: `any-row`, `column=shown_to`."""
        return f"column={self.column}" if self.column else self.rule


class RawFile(_Spec, frozen=True):
    """A file as its authors released it. Size 0 and an empty hash: nobody has fetched it yet; only cards with `tried = false` have such."""

    path: Text
    bytes: int = 0
    sha256: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")] = ""


class RawSource(_Spec, frozen=True):
    """The files of one repository at one commit.

    `origin` is `github:OWNER/REPO@COMMIT` for files of a repository, `lfs:OWNER/REPO@COMMIT` for those that it keeps in Git LFS,
    `release:OWNER/REPO@TAG` for assets of a release, and `hub:OWNER/REPO@REVISION` for a data set hub.
    """

    origin: Annotated[str, msgspec.Meta(pattern="^(github|lfs|release|hub):[^/@:]+/[^/@:]+@[0-9A-Za-z][0-9A-Za-z._-]*$")]
    files: tuple[RawFile, ...]

    @property
    def repository(self) -> str:
        """`OWNER/REPO`."""
        return self.origin.partition(":")[2].partition("@")[0]

    @property
    def commit(self) -> str:
        return self.origin.partition("@")[2]


class ConvertedTable(_Spec, frozen=True):
    """A table of a converted data folder as it must be: its number of rows and the SHA-256 of its JSON lines, uncompressed."""

    rows: int
    # empty where nobody has converted the whole set yet
    sha256: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")] = ""


Role = Literal["item_id", "annotator_id", "metric", "score", "source", "language", "task", "split", "group", "system", "parallel_id"]
ROLES: tuple[str, ...] = get_args(Role)


class ScoreColumn(_Spec, frozen=True):
    """One column of scores. A missing annotator or metric comes from the row or from a constant."""

    column: Text
    annotator: str | None = None
    metric: str | None = None
    votes_for: Score | None = None  # the column holds votes: how many people, whose names are unknown, gave this score


Sampling = Literal["random", "convenience", "unknown"]


class LabelMapping(_Spec, frozen=True):
    """The roles of columns, constants for all rows, and changes of metrics and scores. If it is empty, columns are guessed."""

    id: str | None = None
    title: str | None = None
    language: str | None = None
    task: str | None = None
    metric: str | None = None
    annotator: str | None = None
    id_from: tuple[str, ...] = ()  # columns whose values together are an item's id, or "#": the number of its row
    item_prefix: str = ""  # what stands before the ids of items in the column
    annotator_from_file: str | None = None  # a pattern for the name of the source's file
    source: Source | None = None
    annotators: AnnotatorKind | None = None
    sampling: Sampling | None = None
    columns: dict[Role, Text] = {}
    group: str | None = None  # short for columns.group
    system: str | None = None  # short for columns.system
    texts: dict[str, Text] = {}  # field of the item: column
    empty_texts: bool = False  # whether an empty cell of `texts` is an empty text; else the item has no such text
    wide: tuple[ScoreColumn, ...] = ()
    wide_annotators: tuple[str, ...] = ()
    wide_metrics: tuple[str, ...] = ()
    human: tuple[str, ...] = ()  # columns and annotators that are people, though their names look like a judge's
    wide_items: str | None = None  # a pattern for columns with the scores of one item each
    drop: tuple[str, ...] = ()
    no_answer: tuple[str, ...] = ()  # what cells hold that mean no answer, in any case
    rename: dict[str, str] = {}
    flip: tuple[str, ...] = ()
    categories: dict[str, dict[str, Score]] = {}
    metrics: dict[str, Scale] = {}

    @property
    def named_columns(self) -> dict[str, str]:
        """Return `{role: column}` for all named columns."""
        short = {name: value for name, value in (("group", self.group), ("system", self.system)) if value is not None}
        return {**{str(role): column for role, column in self.columns.items()}, **short}

    def constant(self, role: str) -> str | None:
        """Return the value of a role in all rows, if the mapping has one."""
        return {"language": self.language, "task": self.task, "metric": self.metric, "annotator_id": self.annotator}.get(role)

    @property
    def scored_columns(self) -> tuple[ScoreColumn, ...]:
        """Return the score columns of a wide source; a long source has none."""
        return (
            self.wide
            + tuple(ScoreColumn(column=name, annotator=name) for name in self.wide_annotators)
            + tuple(ScoreColumn(column=name, metric=name) for name in self.wide_metrics)
        )


Quality = Literal["harm", "language", "faithfulness", "relevance", "overall quality", "summary", "translation", "story", "preference"]


class DataStatement(_Spec, frozen=True, omit_defaults=True):
    """Who labelled a data set, and how: what its authors state, in a sentence or two each. Empty: they do not state it.

    After Bender & Friedman (2018), Data Statements for Natural Language Processing (doi.org/10.1162/tacl_a_00041).
    """

    labelled_by: str = ""  # how they were found, how many, what they know of the texts
    first_languages: str = ""
    pay: str = ""
    when: str = ""  # where the card's labelled_from and labelled_to are not known to the day
    instructions: str = ""  # what they were told, and where it can be read


class ErrorPenalty(_Spec, frozen=True):
    """A metric of a data set that is made of marked errors: the sum of the weights of a text's errors, at most the scale's `max`."""

    of: Text  # the metric whose labels and judgments hold the errors
    weights: dict[Text, Annotated[float, msgspec.Meta(ge=0)]]  # by severity


class DatasetCard(_Spec, frozen=True):
    """The meaning of a data set's labels, and where they come from.

    The card of a data folder is its `data.toml`. The cards of published data, which are not part of the project, are
    `catalog/<id>/dataset.toml`.
    """

    id: Text
    version: Text = "0"
    title: str = ""
    languages: tuple[Text, ...] = ()  # of the texts that people labelled, so that a run can name native labels of its languages
    licence: str = ""
    citation: str = ""
    get: str = ""  # how to get the data, in words
    notes: tuple[Text, ...] = ()  # what readers of its numbers must know
    source: Source = "native"
    annotators: AnnotatorKind = "anonymous"
    second_ratings_by: Literal["named", "unknown"] = "named"  # unknown: nobody knows whether they are a further person's or repeats
    annotators_a_text: str = ""  # how many people scored a text on a metric, such as "3" or "1 to 4"
    judges: tuple[Text, ...] = ()  # whose judgments were recorded
    judges_trained_on_it: tuple[Text, ...] = ()  # those of them that its authors trained on such labels: they have no row in the atlas
    sampling: Sampling = "unknown"  # how the texts were chosen
    labelled_from: date | None = None  # when people labelled them: the first day, and the last one
    labelled_to: date | None = None
    statement: DataStatement = DataStatement()  # who labelled, their first languages, their pay, their instructions
    questions: dict[str, Text] = {}  # what people are asked, by metric, with a line such as `1: rude` for classes: the words of pages
    epsilon: Annotated[float, msgspec.Meta(ge=0, lt=1)] | None = None  # the discount of the alternative annotator test for these people
    alt_scoring: AltScoring | None = None  # how that test scores on ordered scales (None: accuracy); on others it is always accuracy
    task: str = ""  # of labels and judgments whose item is missing, so that their row names the language
    group: Text = "group"  # the key of the items that holds their group
    segment: str = ""  # the key that names the source text; outputs of different systems for one source text are compared within it
    repeats: Literal["numbered", "rows"] = "numbered"  # "rows": a judge's rows for one item are its repeats, in order
    asked: Asked = Asked()
    shared: Shared | None = None
    tasks: dict[str, Text] = {}  # tasks of the data that are one of ours under another name: a judge is asked as that task says
    rubrics: dict[str, Text] = {}  # metrics of the data that one of our rubrics asks about under another name, on the same scale
    qualities: dict[str, Quality] = {}  # metric -> what people ask about, so that several sets stand side by side
    metrics: dict[str, Scale] = {}
    penalties: dict[str, ErrorPenalty] = {}  # metrics among these that are made of marked errors, of further people too
    sources: tuple[RawSource, ...] = ()  # the raw files that `harness data get` fetches
    converted: dict[str, ConvertedTable] = {}  # table -> what must come out of the conversion
    mapping: LabelMapping | None = None  # how plain raw tables are read; without it, a package's function converts the raw files
    forbids: tuple[Text, ...] = ()  # what the licence does not allow, such as "commercial use"
    asks: tuple[Text, ...] = ()  # what the authors ask of users, such as to keep the texts away from crawlers
    offensive: bool = False  # texts are shown only on demand
    tried: bool = True  # False: nobody has converted the real files yet

    def __post_init__(self) -> None:
        if self.labelled_from and self.labelled_to and self.labelled_from > self.labelled_to:
            raise ValueError(f"labelled_from is {self.labelled_from}, which is after labelled_to, {self.labelled_to}")
        if unknown := sorted(self.qualities.keys() - self.metrics.keys()):
            raise ValueError(f"qualities names '{unknown[0]}', which is no metric of this card; its metrics are {', '.join(self.metrics)}")
        for metric, rule in self.penalties.items():
            if missing := [name for name in (metric, rule.of) if name not in self.metrics]:
                raise ValueError(
                    f"penalties names '{missing[0]}', which is no metric of this card; its metrics are {', '.join(self.metrics)}"
                )
        if strangers := sorted(set(self.judges_trained_on_it) - set(self.judges)):
            raise ValueError(f"judges_trained_on_it names '{strangers[0]}', which is none of the judges: {', '.join(self.judges)}")

    def annotators_of(self, metric: str) -> AnnotatorKind:
        """Return how the annotators of a metric can be followed. Further people who marked errors are known by their place alone."""
        return "positional" if metric in self.penalties and self.annotators == "persistent" else self.annotators


S = TypeVar("S", bound=msgspec.Struct)


def read_spec(path: Path, kind: type[S]) -> S:
    """Read one TOML file as `kind`. Raises ContentError with the line of the wrong key, and with its place if it stands elsewhere."""
    try:
        refuse_pipe(path)
        text = path.read_bytes().decode()
        content = tomllib.loads(text)
    except OSError as err:
        raise unreadable(err, path) from None
    except UnicodeDecodeError as err:
        raise ContentError("not UTF-8; save the file as UTF-8", path, err.object[: err.start].count(b"\n") + 1) from None
    except RecursionError:
        raise ContentError("nested too deeply", path) from None
    except ValueError as err:  # tomllib.TOMLDecodeError
        line = re.search(r"at line (\d+)", str(err))
        raise ContentError(f"not valid TOML: {err}", path, int(line[1]) if line else None) from None
    if (number := _NOT_FINITE.search(text)) and _holds_not_finite(content):
        raise ContentError(
            f"{number[1]} is no number that can be compared; write a finite one", path, text.count("\n", 0, number.start(1)) + 1
        )
    if wrong := wrong_key(content, kind):
        raise ContentError(wrong.message, path, key_line(text, wrong.trail))
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as err:
        raise ContentError(re.sub(r" - at `\$\.?(.*)`$", r" (key '\1')", str(err)), path, _line_of_key(text, str(err))) from None


_NOT_FINITE = re.compile(r"[=\[,]\s*([+-]?(?:nan|inf))\b")


def _holds_not_finite(value: Any) -> bool:
    """Return True if a value of TOML holds nan or inf, which TOML allows and no limit, scale or share may be."""
    if isinstance(value, dict):
        return any(map(_holds_not_finite, value.values()))
    if isinstance(value, list):
        return any(map(_holds_not_finite, value))
    return isinstance(value, float) and not math.isfinite(value)


def _line_of_key(text: str, message: str) -> int | None:
    """Return the line of the key that a validation message is about."""
    path = re.search(r"at `\$(.*)`$", message)
    keys = re.findall(r"[\w-]+", path[1]) if path else []
    for key in reversed([key for key in keys if not key.isdigit()]):
        for number, line in enumerate(text.splitlines(), start=1):
            if re.match(rf"\s*(\[+.*\b)?[\"']?{re.escape(key)}[\"']?\b", line):
                return number
    return None
