"""Derived files of a run: judgments read from the stored replies, and the report. They are made again after a change of inputs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from operator import add
from pathlib import Path

import msgspec
from msgspec.structs import astuple

from harness.data.judgments import JudgmentWriter
from harness.errors import StoreError
from harness.judges.panel import Vote
from harness.model import Failure, JudgeIdentity, Judgment, Query, Reply, Scale, Usage
from harness.parse.reasoning import reasoning_end
from harness.parse.reply import count_spans
from harness.row_files import sha256_of, write_atomic
from harness.runs.judgments_from_replies import derive_judgments
from harness.runs.plan import Plan
from harness.runs.preparation import Prepared
from harness.runs.protocol import RunProtocol
from harness.store import Store

_NOTE = "answers.json"


class Spent(msgspec.Struct):
    """The usage of one judge in one language: calls, tokens (and the part of them in batches) and seconds; and its failures by name.

    `tokens_per_character` is how many prompt tokens a further character of the judged texts takes, by least squares among the calls that
    ask the same; None where no tokens are reported, or no two texts differ in length. `replaced` counts the replies that a later one took
    the place of, as their call was asked again; their tokens are in `replaced_usage`, and nowhere else.
    """

    calls: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0
    failures: dict[str, int] = {}
    batched: Usage = Usage()
    tokens_per_character: float | None = None
    replaced: int = 0
    replaced_usage: Usage = Usage()
    replaced_batched: Usage = Usage()

    def add_replaced(self, reply: Reply) -> None:
        self.replaced += 1
        self.replaced_usage = added_usage(self.replaced_usage, reply.usage)
        if reply.batched:
            self.replaced_batched = added_usage(self.replaced_batched, reply.usage)

    def add(self, reply: Reply) -> None:
        self.calls += 1
        self.usage = added_usage(self.usage, reply.usage)
        if reply.batched:
            self.batched = added_usage(self.batched, reply.usage)
        self.seconds = round(self.seconds + reply.seconds, 6)


class ReplyForms:
    """Oddities of one judge's replies that a reader of its numbers should know, counted while they are read."""

    def __init__(self) -> None:
        self._text_fields: Counter[str] = Counter()
        self._stored_cut = 0
        self._lengths: dict[str, dict[int, list[int]]] = {}  # language -> prompt tokens as reported -> characters of the texts
        self._sums: dict[
            str, dict[tuple[object, ...], list[int]]
        ] = {}  # language -> question -> n, Σx, Σy, Σx², Σxy; x characters, y tokens

    def add(self, query: Query, reply: Reply) -> None:
        """Count a reply."""
        if reply.text_field:
            self._text_fields[reply.text_field] += 1
        self._stored_cut += reply.whole_length > 0
        if reply.usage.prompt_tokens:
            length = sum(len(value) for value in query.item.fields.values() if isinstance(value, str))
            self._lengths.setdefault(query.item.language, {}).setdefault(reply.usage.prompt_tokens, []).append(length)
            question, x, y = (query.item.task, query.metrics, query.condition), length, reply.usage.prompt_tokens
            sums = self._sums.setdefault(query.item.language, {}).setdefault(question, [0] * 5)
            sums[:] = map(add, sums, (1, x, y, x * x, x * y))

    def tokens_per_character(self, language: str) -> float | None:
        """Return the slope of prompt tokens on characters of the texts, within questions; see `Spent`."""
        sums = self._sums.get(language, {}).values()
        spread = sum(xx - x * x / n for n, x, _, xx, _ in sums)
        return round(sum(xy - x * y / n for n, x, y, _, xy in sums) / spread, 4) if spread > 1e-9 else None

    def warnings(self, judge: str) -> Iterator[str]:
        """Return what was counted, a sentence each."""
        for name, count in self._text_fields.items():
            yield f"{judge}: {count:,} answers stood in '{name}', as the content was empty. They were read there."
        if self._stored_cut:
            yield f"{judge}: {self._stored_cut:,} replies are longer than any answer. They are stored cut and count as truncated."
        for language, by_tokens in self._lengths.items():
            tokens, lengths = max(by_tokens.items())
            impossible = sum(length > _MOST_CHARACTERS * tokens for tokens, reply_lengths in by_tokens.items() for length in reply_lengths)
            same = len(by_tokens) > 1 and len(lengths) >= _FEWEST_ALIKE and max(lengths) > min(lengths) * _ALIKE + _ALIKE_CHARACTERS
            if same or impossible:
                reported = f"the same {tokens:,} prompt tokens for texts of {min(lengths):,} to {max(lengths):,} characters"
                about = reported if same else "fewer prompt tokens than their texts can have"
                yield (
                    f"{judge} ({language}): {len(lengths) if same else impossible:,} replies report {about}. "
                    "The endpoint seems to cut long prompts without an error: these scores are of a part of the text. "
                    "Give the model a longer context, then use --fresh."
                )


_MOST_CHARACTERS = 20  # of a token, on average over a text
_FEWEST_ALIKE = 3  # replies with one and the same number of prompt tokens
_ALIKE, _ALIKE_CHARACTERS = 1.1, 200  # texts with equally many tokens differ in length by less


def added_usage(first: Usage, other: Usage) -> Usage:
    return Usage(*map(add, astuple(first), astuple(other)))


class RunAnswers(msgspec.Struct):
    """The content of a run's replies, by judge.

    `missing` counts calls without a reply; `answered_by` counts calls by the model name that the provider gave, `forms` by the answer
    format that was requested, `left_out` by the parameter that the endpoint refused. `spent` is what was used, by language.
    `spans` counts the errors that judges marked: `marked`, `unplaced` (quotations that are not in the text) and `unread`.
    `reasoning` counts the replies in which the model marks reasoning (`replies`), and its `characters`; no score is read there.
    `warnings` are sentences about prompts that were cut in silence, answers that stood beside the content, and replies that are stored cut.
    """

    missing: dict[str, int] = {}
    answered_by: dict[str, dict[str, int]] = {}
    forms: dict[str, dict[str, int]] = {}
    left_out: dict[str, dict[str, int]] = {}
    spent: dict[str, dict[str, Spent]] = {}
    spans: dict[str, dict[str, int]] = {}
    reasoning: dict[str, dict[str, int]] = {}
    warnings: list[str] = []


def update_judgments(prepared: Prepared, plan: Plan, store: Store, path: Path) -> RunAnswers:
    """Bring the file of judgments (`path`) up to date with the store, and count what each judge answered and used."""
    # The hash of everything that decides what the judgments are: what was asked, the last reply to each call, and how it is read.
    reading = _reading_code_hash() + prepared.vocabulary.digest
    digest = hashlib.sha256(msgspec.json.encode(prepared.protocol.flat(), order="sorted") + reading.encode())
    for identity in prepared.protocol.judges.identities:
        calls = plan.calls(identity)
        for call_id, number in zip(calls.ids(), store.last_attempts(calls.ids()), strict=True):
            digest.update(f"{call_id}{number};".encode())
    inputs = digest.hexdigest()
    note = _note_in(path.parent)
    with suppress(OSError):
        if note is not None and note.made_of == inputs and note.sha256 == sha256_of(path):
            return note.answers
    answers = RunAnswers()
    votes = PanelVotes(prepared.protocol)
    with JudgmentWriter(path) as writer:
        for identity in prepared.protocol.judges.identities:
            _read_judge(identity, prepared, plan, store, writer, answers, votes)
        for judgment in votes.judgments(plan, prepared.data.scales):
            writer.add(judgment)
    write_atomic(path.with_name(_NOTE), msgspec.json.encode(_DerivedNote(inputs, sha256_of(path), answers)), private=True)
    return answers


class _KeptReport(msgspec.Struct):
    """A run's report as JSON, and the hash of everything that it was computed from."""

    made_of: str
    sha256: str
    report: msgspec.Raw


class _DerivedNote(msgspec.Struct):
    """`answers.json`, beside the file of judgments: what that file was made of, what else the replies say, and the run's report."""

    made_of: str
    sha256: str
    answers: RunAnswers
    report: _KeptReport | None = None


def keep_report(folder: Path, made_of: str, report: bytes) -> None:
    """Keep a run's report (JSON) for the next command that asks for it. Where the folder cannot be written, nothing is kept."""
    note = _note_in(folder)
    if note is not None:
        note.report = _KeptReport(made_of, hashlib.sha256(report).hexdigest(), msgspec.Raw(report))
        with suppress(StoreError):
            write_atomic(folder / _NOTE, msgspec.json.encode(note), private=True)


def kept_report(folder: Path, made_of: str) -> bytes | None:
    """The report that was kept; None where there is none, or it was computed from something else."""
    note = _note_in(folder)
    if note is None or note.report is None or note.report.made_of != made_of:
        return None
    report = bytes(note.report.report)
    return report if hashlib.sha256(report).hexdigest() == note.report.sha256 else None


def _note_in(folder: Path) -> _DerivedNote | None:
    try:
        return msgspec.json.decode((folder / _NOTE).read_bytes(), type=_DerivedNote)
    except (OSError, msgspec.MsgspecError):
        return None  # the file is derived and will be written again


def _read_judge(
    identity: JudgeIdentity,
    prepared: Prepared,
    plan: Plan,
    store: Store,
    writer: JudgmentWriter,
    answers: RunAnswers,
    votes: PanelVotes,
) -> None:
    name, rules = identity.name, prepared.reading
    calls = plan.calls(identity)
    counts: dict[str, Counter[str]] = {field: Counter() for field in ("answered_by", "forms", "left_out")}
    spent: dict[str, Spent] = {}
    answers.missing[name] = 0
    spans: Counter[str] = Counter()
    reasoning: Counter[str] = Counter()
    forms = ReplyForms()
    replaced: dict[str, list[Reply]] = {}
    for call_id, reply_before in store.earlier_replies(calls.ids()):
        replaced.setdefault(call_id, []).append(reply_before)
    replies = store.replies(calls.all_call_ids())
    for query, call_id, reply, first in zip(plan.queries(), calls.all_call_ids(), replies, calls.selected, strict=True):
        if reply is None:
            answers.missing[name] += int(first)
            votes.skip(name, query)
            continue
        if first:
            counts["answered_by"][reply.model] += 1
            counts["forms"][reply.form] += 1
            counts["left_out"].update(reply.left_out)
            of_language = spent.setdefault(query.item.language, Spent())
            of_language.add(reply)
            for reply_before in replaced.pop(call_id, ()):
                of_language.add_replaced(reply_before)
            forms.add(query, reply)
            if characters := reply.reasoning_characters + reasoning_end(reply.text):
                reasoning.update(replies=1, characters=characters)
        asked_language = plan.asked_language(query)
        for judgment in derive_judgments(query, reply, call_id, identity, rules, asked_language):
            writer.add(judgment)
            votes.add(judgment)
            if judgment.spans is not None and not judgment.condition.perturbation:
                spans.update(count_spans(judgment.spans))
            if judgment.failure:
                failures = spent[query.item.language].failures
                failures[judgment.failure.value] = failures.get(judgment.failure.value, 0) + 1
    for field, calls_by_value in counts.items():
        getattr(answers, field)[name] = dict(sorted(calls_by_value.items()))
    if spans:
        answers.spans[name] = dict(spans)
    if reasoning:
        answers.reasoning[name] = dict(reasoning)
    for language, costs in spent.items():
        costs.tokens_per_character = forms.tokens_per_character(language)
    answers.spent[name] = dict(sorted(spent.items()))
    answers.warnings += forms.warnings(name)


class PanelVotes:
    """The votes of the members of a run's panels, in the order of the run's questions; None where a call has no reply.

    The judgments of panels are computed from them, question by question. Nothing is asked twice.
    """

    def __init__(self, protocol: RunProtocol) -> None:
        self._panels = protocol.judges.panels
        self._votes: dict[str, list[Vote | None]] = {member: [] for panel in self._panels.values() for member in panel.members}

    def add(self, judgment: Judgment) -> None:
        if judgment.judge in self._votes:
            self._votes[judgment.judge].append(judgment.failure if judgment.score is None else judgment.score)

    def skip(self, judge: str, query: Query) -> None:
        """Note that a judge has no reply to a query."""
        if judge in self._votes:
            self._votes[judge] += [None] * len(query.metrics)

    def judgments(self, plan: Plan, scales: Mapping[str, Scale]) -> Iterator[Judgment]:
        """The judgments of every panel, in the order of the queries. A question that a member has not answered yet has none."""
        for name, panel in self._panels.items():
            rounds = zip(*(self._votes[member] for member in panel.members), strict=True)
            questions = ((query, metric) for query in plan.queries() for metric in query.metrics)
            for (query, metric), votes in zip(questions, rounds, strict=True):
                present = [vote for vote in votes if vote is not None]
                if len(present) == len(votes):
                    vote = panel.score(present, scales[metric])
                    score, failure = (None, vote) if isinstance(vote, Failure) else (vote, None)
                    yield Judgment(
                        item_id=query.item.item_id,
                        language=query.item.language,
                        task=query.item.task,
                        metric=metric,
                        judge=name,
                        condition=query.condition,
                        repeat=query.repeat,
                        score=score,
                        failure=failure,
                        raw_choice=None,
                        justification=None,
                        call_id="",
                    )


@cache
def _reading_code_hash() -> str:
    """Hash of the code that turns replies into judgments: when it changes, all replies are read again."""
    package = Path(__file__).parent.parent
    readers = [package / "runs" / "judgments_from_replies.py", package / "data" / "judgments.py", *sorted((package / "parse").glob("*.py"))]
    files = [Path(__file__), package / "timed_patterns.py", package / "judges" / "panel.py", *readers]
    code = b"".join(path.read_bytes() for path in files)
    return hashlib.sha256(code + version("py3langid").encode()).hexdigest()
