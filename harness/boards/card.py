"""The card of a submission (`judge.toml`): the judge, its known facts, and the hash of its replies."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from langcodes import tag_is_valid

from harness.content.problems import Problem, key_pattern, line_of, problem_from_error
from harness.content.specs import read_spec
from harness.content.tags import english_name
from harness.csv_formulas import looks_like_formula
from harness.errors import ContentError
from harness.model import JudgeIdentity
from harness.row_files import to_toml, write_atomic
from harness.text import without_log_commands

CARD = "judge.toml"
MAX_NAME = 120  # characters of a name, title, family or setting
MAX_TEXT = 500  # characters of contact and notes
_NAME_LENGTHS = {"name": MAX_NAME, "title": MAX_NAME, "provider": 40, "model": MAX_NAME, "board": MAX_NAME}
_LONG_TEXTS = ("contact", "exposure_note", "origin")
_MARKUP = re.compile(r"[<>&`|\[\]{}*\\\"]|://")
_TAG = re.compile(r"<[a-z/!?][^@>]*>|<[a-z/!?][^>]*$|&(#\d+|#x[0-9a-f]+|[a-z]{2,}\d*);|\]\s*\(|`", re.IGNORECASE)  # not <name@example.org>
_CODE = re.compile(r"(?<![a-z])(javascript|vbscript|data|file)\s*:", re.IGNORECASE)  # addresses that run or open something
# Characters without a visible shape: a joiner, Hangul fillers, two Khmer vowels, the Braille blank, variation selectors.
_SELECTORS = (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0" + "".join(map(chr, _SELECTORS)))
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_SLUG = re.compile(r"[a-z0-9]([a-z0-9._-]{0,78}[a-z0-9])?")

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]


class VerificationRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result of asking some calls again, twice each.

    `agreement` says how often a fresh score equals the submitted one, `retest` how often the two fresh scores are equal.
    """

    date: Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\d$")]
    calls: Count
    agreement: Share
    retest: Share
    seed: Count = 0


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The part of its board that a submission covers: some languages (empty: all), and of each language and task the first `limit`
    texts.
    """

    languages: tuple[Annotated[str, msgspec.Meta(max_length=35)], ...] = ()
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None

    @property
    def words(self) -> str:
        """For readers, such as `Japanese only, first 5 texts of each language and task`."""
        texts = f"first {self.limit} texts of each language and task" if self.limit else ""
        names = ", ".join(english_name(tag) if tag_is_valid(tag) else tag for tag in self.languages)  # a card may say anything
        return ", ".join(filter(None, (f"{names} only" if names else "", texts)))


class JudgeCard(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One judge on one board. `provider`, `model` and `settings` are its identity and decide the ids of its calls.

    `families` are the model families that it shares with the systems whose texts it judges. `exposure` says whether it may have been
    trained on the board's data. `replies_sha256` is the hash of the uncompressed replies. A card of recorded scores has `scores_sha256`
    instead, and `origin`: where they come from, and under which licence. `part` is what it covers, where that is not the whole board.
    `token_probabilities` says that the probabilities of the answers' tokens were requested beside the answers: the prompts are the board's.
    """

    name: str
    title: str = ""
    provider: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    model: Annotated[str, msgspec.Meta(min_length=1)]
    settings: dict[str, str | int | float | bool] = {}
    open_weights: Literal["yes", "no", "unknown"] = "unknown"
    contact: str = ""
    exposure: Literal["none", "possible", "trained", "unknown"] = "unknown"
    exposure_note: str = ""
    families: tuple[str, ...] = ()
    board: Annotated[str, msgspec.Meta(pattern=r"^[\w.-]+@\d+\.\d+\.\d+$")]
    replies_sha256: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?$")] = ""
    scores_sha256: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?$")] = ""
    origin: str = ""
    status: Literal["submitted", "verified", "recorded"] = "submitted"
    verified: VerificationRecord | None = None
    part: Part | None = None
    token_probabilities: bool = False

    @property
    def ranked(self) -> bool:
        """Return whether it has an answer to every question of its languages; without, it has verdicts and no rank."""
        return self.part is None or self.part.limit is None

    @property
    def identity(self) -> JudgeIdentity:
        return JudgeIdentity(self.provider, self.model, dict(self.settings))

    @property
    def recorded(self) -> bool:
        """Return whether the submission holds recorded scores instead of raw replies."""
        return bool(self.scores_sha256)

    @property
    def content_sha256(self) -> str:
        """The hash of what the submission holds."""
        return self.scores_sha256 or self.replies_sha256

    @property
    def names(self) -> tuple[str, ...]:
        """All names by which a reader may know the judge."""
        return (self.title, self.name, self.model, self.model.rpartition("/")[2])


def read_card(path: Path) -> JudgeCard:
    """Read the card of a submission. Raises ContentError with `file:line` for the first problem."""
    card, problems = examine_card(path)
    for problem in problems:
        raise ContentError(problem.message, problem.path, problem.line)
    assert card is not None
    return card


def examine_card(path: Path) -> tuple[JudgeCard | None, list[Problem]]:
    """Read a card and list its problems. The card is None if it cannot be read at all."""
    try:
        card = read_spec(path, JudgeCard)
    except ContentError as err:
        return None, [problem_from_error(err)]
    return card, [Problem(path, line_of(path, key_pattern(key)), message) for key, message in card_complaints(card)]


def card_complaints(card: JudgeCard) -> Iterator[tuple[str, str]]:
    """The problems of a card, as (key, message)."""
    if card.name != card.identity.name:
        yield "name", f"'{quote(card.name)}' should be provider and model: '{quote(card.identity.name)}'"
    for key, limit in _NAME_LENGTHS.items():
        yield from ((key, message) for message in name_complaints(getattr(card, key), limit))
    if not any(name_complaints(card.title)):
        yield from (("title", message) for message in (*title_complaints(card.title), *active_complaints(card.title)))
    for key in ("provider", "model"):
        if not any(name_complaints(getattr(card, key), _NAME_LENGTHS[key])):
            yield from ((key, message) for message in active_complaints(getattr(card, key)))
    for key in _LONG_TEXTS:
        yield from ((key, message) for message in active_complaints(getattr(card, key)))
    for key in _LONG_TEXTS:
        yield from ((key, message) for message in text_complaints(getattr(card, key), MAX_TEXT))
    for family in card.families:
        yield from (("families", message) for message in (list(name_complaints(family)) or active_complaints(family)))
    for key, value in card.settings.items():
        for text in (key, *(_texts_of_json(str(value)) if key == "body" else (str(value),))):
            yield from (("settings", message) for message in name_complaints(text))
    if bool(card.replies_sha256) == bool(card.scores_sha256):
        yield "replies_sha256", "a card has replies_sha256 or, for recorded scores, scores_sha256; write one of the two"
    if (card.status == "recorded") != card.recorded:
        yield "status", "status should be 'recorded' exactly if the submission holds recorded scores (scores_sha256)"
    if card.recorded and not card.origin:
        yield "origin", "recorded scores need an origin: where they come from, and under which licence"
    if (card.status == "verified") != (card.verified is not None):
        yield "status", "status should be 'verified' exactly if the card has a table [verified], which 'harness board verify' writes"


def _texts_of_json(text: str) -> Iterator[str]:
    """Yield each name and value of JSON, which further fields of requests are written in; any other text whole."""
    try:
        waiting = [msgspec.json.decode(text)]
    except (msgspec.DecodeError, RecursionError):
        waiting = [text]
    while waiting:
        match waiting.pop():
            case dict() as members:
                waiting += [*members, *members.values()]
            case list() as values:
                waiting += values
            case value:
                yield str(value)


def name_complaints(text: str, limit: int = MAX_NAME) -> Iterator[str]:
    """List the reasons why tables cannot show a text as a name: the complaints of `text_complaints`, and markup.

    >>> list(name_complaints("<b>best</b>"))
    ["'b best /b' contains '<', which is markup; names are plain text"]
    """
    yield from text_complaints(text, limit)
    if markup := _MARKUP.search(text):
        yield f"'{quote(text)}' contains '{markup[0]}', which is markup; names are plain text"


def text_complaints(text: str, limit: int) -> Iterator[str]:
    """List the reasons why a text cannot be shown: its length, invisible characters or such that reorder others, commands to a workflow."""
    if len(text) > limit:
        yield f"{len(text)} characters; the limit is {limit}"
    if hidden := next((c for c in text if c in _INVISIBLE or unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")), None):
        yield f"'{quote(text)}' contains the invisible character U+{ord(hidden):04X}; remove it"
    if without_log_commands(text) != text:
        yield f"'{quote(text)}' would be a command to a workflow in the log of a check; write it without '::' at its beginning and '##['"


def active_complaints(text: str) -> Iterator[str]:
    """List what a program could run in a text for people: a formula of a spreadsheet, a tag or a link of a page, an address that is code.

    >>> list(active_complaints("Ana Li <ana@example.org>, https://example.org/a?b=1")), len(list(active_complaints("=1+1")))
    ([], 1)
    """
    if looks_like_formula(text):
        yield f"'{quote(text)}' begins like a formula of a spreadsheet; begin with a letter or a digit"
    if tag := _TAG.search(text[: 4 * MAX_TEXT]):
        yield f"'{quote(text)}' contains '{quote(tag[0], 20)}', which is markup; write plain text"
    if code := _CODE.search(text[: 4 * MAX_TEXT]):
        yield f"'{quote(text)}' contains '{code[0].lower()}', an address that runs or opens something; write an e-mail address or https://"


def quote(text: str, limit: int = 60) -> str:
    """A text from an untrusted file as messages may quote it: short, without markup and hidden characters."""
    printable = "".join(c if c.isprintable() else " " for c in text[:limit])
    return re.sub(r"\s+", " ", re.sub(r"[<>`]", " ", printable)).strip() + ("…" if len(text) > limit else "")


def slug(name: str) -> str:
    """A folder name made from a judge's name; empty if no valid one can be made.

    >>> slug("openai/gpt-4o-2024-08-06"), slug("local/山田"), slug("baseline/..")
    ('openai-gpt-4o-2024-08-06', '', 'baseline')
    """
    if not name.isascii():
        return ""
    folder = re.sub(r"[^a-z0-9._-]+|\.\.+", "-", name.lower())
    folder = re.sub(r"-{2,}", "-", folder)[:80].strip("._-")
    return "" if folder_complaint(folder) else folder


def folder_complaint(name: str) -> str:
    """Say why a name is not valid for a submission's folder; empty if it is valid."""
    if _SLUG.fullmatch(name) and ".." not in name and not _RESERVED.fullmatch(name):
        return ""
    return (
        f"'{quote(name)}' is not a valid folder name: use lower-case letters a to z, digits, '-', '_' and single '.' between them, "
        "at most 80 characters, and no name that an operating system reserves (such as con)"
    )


def write_card(path: Path, card: JudgeCard) -> None:
    """Write a card: the whole file or nothing. Raises StoreError."""
    write_atomic(path, card_text(card))


def card_text(card: JudgeCard) -> str:
    """The card as TOML: keys in the order of the fields, tables last."""
    fields = msgspec.to_builtins(card)
    for name in ("replies_sha256", "scores_sha256", "origin"):
        if not fields[name]:
            del fields[name]
    if not card.token_probabilities:
        del fields["token_probabilities"]
    return to_toml(fields)


_LOOK_ALIKES = str.maketrans(
    "АВЕКМНОРСТУХІЈЅԚԜӀавекмнорстухіјѕԛԝһԁӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυχ01iI",
    "abekmhopctyxljsqwlabekmhopctyxljsqwhdlabezhlkmnoptyxalkvopuxolll",
)
_ALPHABETS = {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"}  # alphabets that share look-alike letters
_POINT = "\ufffc"  # replaces a point between digits, which belongs to the number
_NAMES_OF_ROWS = ("people", "people, leave-one-out")  # rows of tables that are not judges


def skeleton(text: str) -> str:
    """A form of a text that is equal for texts that look alike. Points between digits count.

    >>> skeleton("GPT-4o") == skeleton("ｇｐｔ 4О") == skeleton("G.P.T. 40")
    True
    >>> skeleton("gpt-4.1") == skeleton("gpt-41")
    False
    """
    marked = re.sub(r"(?<=\d)\.(?=\d)", _POINT, unicodedata.normalize("NFKD", text))
    plain = marked.translate(_LOOK_ALIKES).casefold().translate(_LOOK_ALIKES)
    return "".join(c for c in plain if c == _POINT or unicodedata.category(c)[0] in "LN").replace("rn", "m")


def title_complaints(title: str) -> Iterator[str]:
    """List the problems of a title: nothing to read in it, look-alike letters of several alphabets, or a name that tables use."""
    if title and not skeleton(title):
        yield "the title has no letter and no digit; leave it out, then tables show the judge's name"
    for word in re.findall(r"[^\W\d_]+", title):
        alphabets = sorted({unicodedata.name(letter, "").split(" ")[0] for letter in word} & _ALPHABETS)
        if len(alphabets) > 1:
            yield f"the word '{word}' mixes {' and '.join(map(str.capitalize, alphabets))} letters, which look alike; use one alphabet"
    if skeleton(title) in map(skeleton, _NAMES_OF_ROWS):
        yield f"tables have another row called '{title}'; choose another title"
