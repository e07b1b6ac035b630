"""WMT23 English-German: five campaigns of error spans, two sets of released scores, and judgments of GPT-4 and three metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from harness.published.raw import RawFiles, Row, Tables, judgment, label, nfc, rounded, whole
from harness.published.wmt import Rating, latest, mqm_penalty, place, ratings, score_of_penalty, translation_item

CAMPAIGNS = "data/campaign-ruction-rc5"
WMT23 = "data/mt-metrics-eval-v2/wmt23"
REFERENCE = "refA"
SYSTEMS = (
    "AIRC",
    "GPT4-5shot",
    "Lan-BridgeMT",
    "NLLB_Greedy",
    "NLLB_MBR_BLEU",
    "ONLINE-A",
    "ONLINE-B",
    "ONLINE-G",
    "ONLINE-M",
    "ONLINE-W",
    "ONLINE-Y",
    "ZengHuiMT",
    REFERENCE,
)
MQM, QUALITY, ASSISTED, DA_SQM = "mqm", "translation_quality", "translation_quality_ai_assisted", "da_sqm"
DIGITS = 4


class Campaign(NamedTuple):
    """A campaign: its name in the data folder, its file and what people were asked."""

    name: str
    file: str
    metric: str


FIRST = (
    Campaign("ESA-1", "240315rc5ESA", QUALITY),
    Campaign("ESA-2", "240520rc6ESA", QUALITY),
    Campaign("ESAAI-1", "240315rc5GEMBA", ASSISTED),
    Campaign("ESAAI-2", "240520rc6GEMBA", ASSISTED),
    Campaign("MQM-1", "240315rc5MQM", MQM),
)
SECOND = (
    Campaign("ESA-IAA", "240521rc6ESA", QUALITY),
    Campaign("ESAAI-IAA", "240521rc6GEMBA", ASSISTED),
    Campaign("MQM-IAA", "240521rc6MQM", MQM),
)
# Labels that were released as scores only: annotator, metric, file, campaign.
RELEASED = (
    ("wmt23-mqm", MQM, "en-de.mqm.seg.score", "WMT23-MQM"),
    ("wmt23-da-sqm", DA_SQM, "en-de.da-sqm.seg.score", "WMT23-DA+SQM"),
)
GEMBA = (
    ("gemba-mqm-gpt4", f"{WMT23}/metric-scores/en-de/GEMBA-MQM-src.seg.score"),
    ("gemba-esaai-gpt4", f"{CAMPAIGNS}/en-de.LLM.seg.score"),
)
METRICS = (("xcomet-xxl", "XCOMET-XXL-refA", 100), ("comet-22", "COMET-refA", 100), ("chrf", "chrF-refA", 1))  # judge, file, factor

Output = tuple[int, str]  # segment (the number of the line, from 0) and system
Scores = Mapping[str, list[float | None]]  # system -> its scores by segment


def convert(raw: RawFiles) -> Tables:
    """Return all 13 systems' translations of the 511 segments that were in a campaign or have MQM scores of WMT23."""
    return _Release(raw).tables()


class _Release:
    def __init__(self, raw: RawFiles) -> None:
        self._raw = raw
        self._documents = [line.split("\t") for line in raw.lines(f"{WMT23}/documents/en-de.docs")]
        self._sources = raw.lines(f"{WMT23}/sources/en-de.txt")
        self._texts = {system: raw.lines(f"{WMT23}/system-outputs/en-de/{system}.txt") for system in SYSTEMS}
        self._batches = _Batches(raw.json(f"{CAMPAIGNS}/data/batches_wmt23_en-de_esa.json"))
        mapping = raw.table(f"{CAMPAIGNS}/Annotators_mapping.csv")
        self._people = {row["login"]: f"ann-{row['AnnotatorID']}" for row in mapping}
        self._campaigns = {campaign: self._last_ratings(campaign) for campaign in (*FIRST, *SECOND)}
        self._esa = {segment for segment, _ in self._campaigns[FIRST[0]]}
        mqm = self._scores(f"{WMT23}/human-scores/{RELEASED[0][2]}")
        with_mqm = {segment for scores in mqm.values() for segment, score in enumerate(scores) if score is not None}
        self._outputs = [(segment, system) for segment in sorted(self._esa | with_mqm) for system in SYSTEMS]

    def tables(self) -> Tables:
        return {
            "items": map(self._item, self._outputs),
            "labels": self._labels(),
            "judgments": self._judgments(),
            "second_ratings": self._ratings(SECOND, lambda login: f"login-{login}"),
            "attention_checks": (check for campaign in FIRST[:2] for check in self._attention_checks(campaign)),
        }

    def _scores(self, path: str) -> Scores:
        scores: dict[str, list[float | None]] = {}
        for line in self._raw.lines(path):
            system, score = line.split("\t")
            scores.setdefault(system, []).append(None if score == "None" else float(score))
        return scores

    def _file(self, campaign: Campaign) -> list[Rating]:
        rows = ratings(self._raw.lists(f"{CAMPAIGNS}/{campaign.file}.scores.csv", least=len(Rating._fields)))
        return [rating for rating in rows if "#duplicate" not in rating.document]

    def _last_ratings(self, campaign: Campaign) -> dict[Output, Rating]:
        rows = (rating for rating in self._file(campaign) if rating.kind == "TGT")
        by_login = latest(((rating.login, self._batches.output(rating)), rating) for rating in rows)
        return {output: rating for (_, output), rating in by_login.items()}

    def _item(self, output: Output) -> Row:
        segment, system = output
        text = self._texts[system][segment]
        return translation_item(_item_id(output), "de", self._documents[segment], segment, system, self._sources[segment], text)

    def _labels(self) -> Iterator[Row]:
        yield from self._ratings(FIRST, self._people.__getitem__)
        for annotator, metric, file, campaign in RELEASED:
            scores = self._scores(f"{WMT23}/human-scores/{file}")
            for segment, system in self._outputs:
                if (score := scores[system][segment]) is not None:
                    yield label(_item_id((segment, system)), annotator, metric, rounded(score, DIGITS), campaign=campaign)

    def _ratings(self, campaigns: tuple[Campaign, ...], who: Callable[[str], str]) -> Iterator[Row]:
        for campaign in campaigns:
            in_order = sorted(self._campaigns[campaign].items(), key=lambda row: (row[0][0], SYSTEMS.index(row[0][1])))
            for output, rating in in_order:
                text, is_mqm = self._texts[output[1]][output[0]], campaign.metric == MQM
                spans, penalty = [], 0.0
                for span in rating.marked:
                    kinds = (span["error_type"] or ()) if is_mqm else ()  # spans of the other campaigns have no type
                    typed = {"type": "/".join(kinds)} if is_mqm and kinds else {}
                    spans.append({"severity": span["severity"], **typed, **place(span, text)})
                    penalty += mqm_penalty(span["severity"], punctuation="Punctuation" in kinds) if is_mqm else 0.0
                score = rounded(-penalty if is_mqm else float(rating.score), DIGITS)
                yield label(_item_id(output), who(rating.login), campaign.metric, score, spans=spans, campaign=campaign.name)

    def _attention_checks(self, campaign: Campaign) -> Iterator[Row]:
        damaged = sorted((rating for rating in self._file(campaign) if rating.kind == "BAD"), key=lambda rating: rating.end_time)
        originals = {(rating.login, rating.document, rating.item): rating for rating in damaged}
        for rating in originals.values():
            output = self._batches.output(rating)
            yield {
                "item_id": f"{_item_id(output)}-bad",
                "original_item_id": _item_id(output),
                "language": "de",
                "output": nfc(self._batches.text(rating)),
                "campaign": campaign.name,
                "annotator_id": self._people[rating.login],
                "score": whole(float(rating.score)),
                "score_of_original": whole(float(self._campaigns[campaign][output].score)),
            }

    def _judgments(self) -> Iterator[Row]:
        for judge, path in GEMBA:
            scores = self._scores(path)
            for segment, system in self._outputs:
                if (mqm := scores[system][segment]) is not None:
                    quality = score_of_penalty(-mqm)
                    yield from self._judged((segment, system), judge, "no-reference", {MQM: mqm, QUALITY: quality, ASSISTED: quality})
        for judge, file, factor in METRICS:
            scores = self._scores(f"{WMT23}/metric-scores/en-de/{file}.seg.score")
            for segment, system in self._outputs:
                if system != REFERENCE and (score := scores[system][segment]) is not None:
                    quality = factor * score
                    yield from self._judged((segment, system), judge, "reference-A", {QUALITY: quality, ASSISTED: quality})

    def _judged(self, output: Output, judge: str, variant: str, scores: dict[str, float]) -> Iterator[Row]:
        for metric, score in scores.items():
            if metric != ASSISTED or output[0] in self._esa:
                yield judgment(_item_id(output), judge, variant, metric, rounded(score, DIGITS))


class _Batches:
    """The segments and texts that people saw: item and document -> segment and text. One document is there twice."""

    TWICE, LOGINS, MEANT = "elitr_minuting-19#GPT4-5shot", "07", {"90": "398", "91": "399"}

    def __init__(self, batches: list[dict[str, Any]]) -> None:
        self._shown: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for batch in batches:
            for item in batch["items"]:
                if "_item" in item:  # not in the tutorial
                    self._shown.setdefault((str(item["itemID"]), item["documentID"]), []).append(item)

    def output(self, rating: Rating) -> Output:
        system, segment, _ = self._item(rating)["_item"].split(" | ")
        return int(segment), system

    def text(self, rating: Rating) -> str:
        text: str = self._item(rating)["targetText"]
        return text

    def _item(self, rating: Rating) -> dict[str, Any]:
        shown_text = self._shown[rating.item, rating.document]
        if len(shown_text) == 1:
            return shown_text[0]
        meant = rating.login.endswith(self.LOGINS)  # these logins saw the segments that are named here, all others the other ones
        return next(item for item in shown_text if (item["_item"].split(" | ")[1] == self.MEANT[rating.item]) == meant)


def _item_id(output: Output) -> str:
    return f"de-{output[0]:03d}-{output[1]}"
