"""What to do next: the labels that would settle most for least, and the judgments to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.reports.answer.label_pages import LabelPages
from harness.reports.answer.verdict_words import nobody_to_compare, place_of, setting, style_of, texts_of
from harness.reports.answer_parts import NextStep
from harness.reports.tables.titles import metric_words


def next_steps(verdicts: Sequence[Verdict], named: Mapping[int, str], pages: LabelPages) -> Iterator[NextStep]:
    """What to do next; `named` has the names of judges where there are several."""
    first = verdicts[0]
    if first.controls:
        yield NextStep("compare with native speakers' labels", f"harness data list --lang {first['language']}")
    elif nobody_to_compare(verdicts):
        texts = int(setting(first, "items") or 30)
        what = "make the pages for a second person"
        yield _labelling(what, pages, first["language"], f"--second --next {texts} --annotators 1", texts, f"{texts} texts")
    needed = [(k, verdict) for verdict in verdicts if (k := verdict.settled_by)]
    for k, verdict in sorted(needed, key=lambda each: each[0])[:1]:
        judge = named.get(id(verdict), "the judge")
        place = f"{metric_words(verdict['metric'])} in {english_name(verdict['language'])}"
        more = f"label {verdict.needed} more texts for {place}; they settle it if {judge} is as good as people"
        waiting = pages.unlabelled.get(verdict["language"], {}).get(verdict["metric"], k)
        if pages.command and not waiting:
            yield NextStep(f"{more} (every text of the set is labelled: add new ones to it)")
            continue
        left = "" if waiting >= k else f"; {waiting:,} of the set have no label"
        yield _labelling(f"{more}{left}", pages, verdict["language"], f"--metrics {verdict['metric']} --next {min(k, waiting)}", k)
    bad = sorted((verdict for verdict in verdicts if style_of(verdict) == "bad"), key=_gap)
    for verdict in bad[:2]:
        name = named.get(id(verdict))
        read = f"read judgments of {place_of(verdict)} – {name}" if name else f"read its judgments of {place_of(verdict)}"
        yield NextStep(read, show=texts_of(verdict))


def _labelling(text: str, pages: LabelPages, language: str, flags: str, texts: int, whom: str = "each person") -> NextStep:
    """A step with the command that makes labelling pages, and about how long it takes `whom`; or why there is no command."""
    if not pages.command:
        return NextStep(f"{text} (the set itself has no texts to make pages of)")
    time = pages.time(language, texts)
    return NextStep(f"{text} ({time} for {whom})" if time else text, f"{pages.command} --lang {language} {flags} --out pages")


def _gap(verdict: Verdict) -> float:
    """Judge minus people, or minus a constant with constructed labels; 0 where it is undefined."""
    return (verdict.baseline.diff if verdict.controls else verdict.agreement.gap) or 0.0
