"""A board's answer in words: the judges that beat a constant answer, and the languages in which they may be used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import msgspec

from harness.boards.probes import Finding
from harness.boards.standings import Contender, Standings
from harness.content.library import bundled_root
from harness.content.tags import english_name
from harness.decide.verdict_sentences import unread_words
from harness.decide.verdicts import Verdict
from harness.judge_atlas.atlas import FILE, Atlas, read_atlas
from harness.measure.board_ranking_by_scores import RANKED_BY_ORDER, RankedJudge, Ranking
from harness.measure.options import POOLED
from harness.reports.answer.build_answer import build_answer
from harness.reports.answer.judged_sides import sides_of_verdicts
from harness.reports.answer.next_steps import LabelPages
from harness.reports.answer.parts import Answer, Sentence, joined, plain_cards
from harness.reports.tables.numbers import counted

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_MOST_NAMES = 6  # languages that a sentence names
_MOST_JUDGES = 4  # that it names; more are counted


def board_answer(standings: Standings) -> Answer:
    """Return the answer of a board: the verdicts beside people, if it has any, then which judges beat the baseline and where."""
    judges = competitors(standings)
    if not judges:
        return _answer(standings, None, [("open", "No judge has been submitted yet.")] if standings.judges else [])
    return _answer(standings, None, _beside_baseline(standings, compared_judges(standings)))


def language_answer(standings: Standings, tag: str) -> Answer:
    """Return the answer of a board in one language."""
    return _answer(standings, tag, _in_language(standings, tag))


def titled(answer: Answer, name: str) -> Answer:
    """Return the answer with a title for the top of a page: its own, else its first sentence, else the name of the board."""
    if answer.title or not answer.cards:
        return replace(answer, title=answer.title or name)
    first, *other_cards = answer.cards
    return replace(answer, title=first.sentence.removesuffix("."), cards=tuple(other_cards))


def _answer(standings: Standings, tag: str | None, sentences: Iterable[Sentence]) -> Answer:
    """Return the sentences about the baseline as cards, behind those of verdicts; none where labels are constructed: nobody may be used
    then.
    """
    names = {judge.id: judge.display_name for judge in competitors(standings)}
    verdicts = [] if standings.constructed else [v for v in deciding_verdicts(standings) if tag in (None, v["language"])]
    if not verdicts:
        return Answer("", plain_cards(sentences), "", ())
    renamed = [msgspec.structs.replace(verdict, key=verdict.key | {"judge": names[verdict["judge"]]}) for verdict in verdicts]
    answer = build_answer(sides_of_verdicts(renamed), LabelPages(""))
    sure = f"{answer.sure} {_TWO_YARDSTICKS}".strip() if standings.rank_by in RANKED_BY_ORDER else answer.sure
    return replace(answer, cards=(*answer.cards, *plain_cards(sentences)), sure=sure, steps=())


_TWO_YARDSTICKS = (
    "'Better than chance' looks at the order of texts alone; 'use' and 'do not use' look at the scores themselves, beside people and "
    "beside one constant answer: a judge can order texts better than chance and still be unfit for use."
)


class _Yardstick(NamedTuple):
    """The yardstick of judges on a board, as words behind "shown to"."""

    better: str
    worse: str


_CONSTANT = _Yardstick("beat a constant answer", "be worse than a constant answer")
_CHANCE = _Yardstick("order texts better than chance", "order texts worse than chance")


def _yardstick(standings: Standings) -> _Yardstick:
    """Return the baseline, or an order by chance where a board ranks by order: one answer for all texts orders none."""
    return _CHANCE if standings.rank_by in RANKED_BY_ORDER else _CONSTANT


def _in_language(standings: Standings, tag: str) -> list[Sentence]:
    rows, yardstick = _rows(standings, tag), _yardstick(standings)
    names = {judge.id: judge.display_name for judge in competitors(standings)}
    judged_rows = [row for row in rows if row.judge in names]
    if not judged_rows:
        return []
    ahead = [names[row.judge] for row in judged_rows if row.beats_baseline]
    if ahead:
        return [("good", f"{_who(ahead)} shown to {yardstick.better} in {english_name(tag)}.")]
    if all(row.unread for row in judged_rows):
        return [("open", f"In {english_name(tag)}, most answers of every judge cannot be read.")]
    if all(row.beats_baseline is None for row in judged_rows):
        return [("open", f"In {english_name(tag)} there are too few independent texts to show a judge to {yardstick.better}.")]
    below = [names[row.judge] for row in judged_rows if row.beside_baseline == "below"]
    behind = f" {_who(below)} shown to {yardstick.worse}." if below else ""
    return [("bad" if below else "open", f"No judge is shown to {yardstick.better} in {english_name(tag)}.{behind}")]


def board_facts(standings: Standings) -> str:
    """Return a line about a board: its successor, judges, baselines, languages, questions and the source of its labels."""
    tables = [table for table in standings.tables if table.metric == POOLED and table.variant == standings.variants[0]]
    partial = len(partial_judges(standings))
    parts = [
        counted(len(competitors(standings)) - partial, "judge"),
        *([counted(partial, "partial submission")] if partial else []),
        *([counted(baselines, "baseline")] if (baselines := len(standings.judges) - len(competitors(standings))) else []),
        counted(len(standings.languages), "language"),
    ]
    if tables:
        texts = _span([table.texts for table in tables])
        if of_set := _texts_of_set(standings):
            texts += f" of {'up to ' if len(set(of_set.values())) > 1 else ''}{max(of_set.values()):,}"
        parts.append(f"{_span([table.questions for table in tables])} questions on {texts} independent texts each")
    natives = "native speakers' labels" if standings.native else "people's labels"  # only where every label is said to be theirs
    parts.append("constructed labels" if standings.constructed else natives)
    return " · ".join(parts)


def _texts_of_set(standings: Standings) -> dict[str, int]:
    """Return how many independent texts its set has by language, where a board has a part of them: the atlas compares all."""
    if not standings.dataset:
        return {}
    tables = {table.language: table.texts for table in standings.tables if table.metric == POOLED}
    of_set: dict[str, int] = {}
    for row in _packaged_atlas().rows:
        if row.set == standings.dataset and row.language in tables:
            of_set[row.language] = max(of_set.get(row.language, 0), row.groups)
    return of_set if any(texts > tables[tag] for tag, texts in of_set.items()) else {}


@cache
def _packaged_atlas() -> Atlas:
    return read_atlas(bundled_root() / FILE)


def deciding_verdicts(standings: Standings) -> list[Verdict]:
    """Return the verdicts that answer a board's questions: those of judges, without toys where another judge has some."""
    verdicts = [verdict for verdict in standings.verdicts if not standings.judge(verdict["judge"]).baseline]
    return [verdict for verdict in verdicts if not is_toy(standings.judge(verdict["judge"]))] or verdicts


def is_toy(judge: Contender) -> bool:
    """Return True of a judge that only shows what a measurement looks like."""
    return _packaged_atlas().judge(judge.name).toy


def competitors(standings: Standings) -> list[Contender]:
    """Return the judges of a board without its baselines."""
    return [judge for judge in standings.judges if not judge.baseline]


def compared_judges(standings: Standings) -> list[Contender]:
    """Return the judges that tables compare: without those that cover too little for a number, unless there are no others."""
    judges, partial = competitors(standings), partial_judges(standings)
    return [judge for judge in judges if judge not in partial] or judges


def partial_judges(standings: Standings) -> list[Contender]:
    """Return the judges that cover a part of the board and have no number in any language."""
    ranked = {row.judge for table in standings.tables for row in table.rows}
    return [judge for judge in competitors(standings) if judge.part and judge.id not in ranked]


def partial_words(standings: Standings) -> str:
    """Return which submissions are partial and have no rank, and what they cover; empty where there are none."""
    by_part: dict[str, list[str]] = {}
    for judge in partial_judges(standings):
        by_part.setdefault(judge.part, []).append(judge.title or judge.name)
    listed = "; ".join(f"{joined(names)} ({part})" for part, names in by_part.items())
    return f"Partial submissions have no rank: {listed}." if listed else ""


def probes_in_short(standings: Standings, findings: Sequence[Finding]) -> list[str]:
    """Return a line for the judges of which probes found the same, or one line that says that they found nothing."""
    titles = {judge.id: judge.display_name for judge in standings.judges}
    flagged: dict[str, list[str]] = {}
    for finding in findings:
        if finding.flagged:
            flagged.setdefault(titles.get(finding.judge, finding.judge), []).append(finding.sentence)
    by_sentences: dict[str, list[str]] = {}
    for judge, sentences in flagged.items():
        by_sentences.setdefault(" ".join(sentences), []).append(judge)
    lines = [f"{joined(judges)}: look closer. {sentences}" for sentences, judges in by_sentences.items()]
    return lines or ["No probe says that a reader should look closer at a judge."]


def in_words(count: int) -> str:
    """Small numbers as words: `nine`, `13`."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def _beside_baseline(standings: Standings, judges: Sequence[Contender]) -> Iterator[Sentence]:
    unread = [judge for judge in judges if judge.unread]
    for judge in unread:
        words = unread_words(msgspec.structs.replace(judge.answers, example=None))
        yield "open", f"{judge.display_name} has no rank: {words}."
    if not (judges := [judge for judge in judges if judge not in unread]):
        return
    ahead = {judge.id: _languages(standings, judge, "above") for judge in judges}
    tested = [tag for tag in standings.languages if any(row.beats_baseline is not None for row in _rows(standings, tag))]
    better = _yardstick(standings).better
    if not tested:
        yield "open", f"There are too few independent texts to show a judge to {better}{_in_any(standings)}."
        return
    if not any(ahead.values()):
        yield "open", f"No judge is shown to {better}{_in_any(standings)}."
        for judge in judges:  # those that are shown to be worse than a constant answer in some language
            if tags := _languages(standings, judge, "below"):
                yield "bad", f"{judge.display_name} is shown to {_yardstick(standings).worse} in {_in_some(standings, tags)}."
        return
    together: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for judge in sorted(judges, key=lambda judge: -len(ahead[judge.id])):
        behind = _languages(standings, judge, "below")
        together.setdefault((tuple(ahead[judge.id]), tuple(behind)), []).append(judge.display_name)
    worse = _yardstick(standings).worse
    for (above, below), names in together.items():
        behind_words = f", and shown to {worse} in {_in_some(standings, below)}" if below else ""
        if above:
            yield "open" if below else "good", f"{_who(names)} shown to {better} in {_in_some(standings, above)}{behind_words}."
        else:
            yield "bad" if below else "open", f"{_who(names)} not shown to {better}{_in_any(standings)}{behind_words}."


def _in_any(standings: Standings) -> str:
    if len(standings.languages) == 1:
        return f" in {english_name(standings.languages[0])}"
    return f" in any of {in_words(len(standings.languages))} languages"


def _in_some(standings: Standings, tags: Sequence[str]) -> str:
    if len(standings.languages) == 1:
        return english_name(standings.languages[0])
    few = len(tags) < len(standings.languages) and len(tags) <= _MOST_NAMES
    named = f" ({_listed(map(english_name, tags))})" if few else ""
    return f"{in_words(len(tags))} of {in_words(len(standings.languages))} languages{named}"


def _languages(standings: Standings, judge: Contender, side: str) -> list[str]:
    """Return the languages in which a judge is shown to be on a side of the baseline."""
    on_side = {tag: [row.judge for row in _rows(standings, tag) if row.beside_baseline == side] for tag in standings.languages}
    return [tag for tag, judges in on_side.items() if judge.id in judges]


def _who(names: Sequence[str]) -> str:
    """`one and two are`, `20 judges are`."""
    subject = _listed(names) if len(names) <= _MOST_JUDGES else f"{len(names)} judges"
    return f"{subject} {'is' if len(names) == 1 else 'are'}"


def _rows(standings: Standings, tag: str) -> tuple[RankedJudge, ...]:
    table: Ranking | None = standings.table(tag)
    return table.rows if table else ()


def _listed(names: Iterator[str] | Sequence[str]) -> str:
    items = list(names)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
