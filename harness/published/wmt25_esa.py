"""WMT25 error span annotation: translations from Czech and English, scored from 0 to 100 by one person or two.

The converter follows the description in the release. Nobody has run it on the released file yet: whatever differs from the description is
an error that says so.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from harness.errors import ContentError
from harness.published.raw import RawFiles, RawRow, Row, Tables, label, whole
from harness.published.wmt import PENALTIES, place, translation_item

FILE = "data/wmt25-genmt-humeval.jsonl"
METRIC = "translation_quality"
LANGUAGES = {  # the target of a pair -> tag
    "ar_EG": "ar",
    "bho_IN": "bho",
    "cs_CZ": "cs",
    "de_DE": "de",
    "et_EE": "et",
    "is_IS": "is",
    "it_IT": "it",
    "ja_JP": "ja",
    "mas_KE": "mas",
    "ru_RU": "ru",
    "sr_Cyrl_RS": "sr-Cyrl",
    "uk_UA": "uk",
    "zh_CN": "zh",
}
SOURCES = ("cs", "en")
MQM = ("en-ko_KR", "ja-zh_CN")
ROUNDS = (1, 2)


class Place(NamedTuple):
    """The position of a segment: languages, domain, document, and its number in the document."""

    source: str
    tag: str
    domain: str
    document: str
    segment: int

    def item_id(self, number: int, system: str) -> str:
        return f"{self.source}-{self.tag}-{number:05d}-{system}"


def convert(raw: RawFiles) -> Tables:
    """Return one item for each translation that somebody scored, in the order of the file.

    Raises ContentError that says what differs from the description.
    """
    items: list[Row] = []
    labels: list[Row] = []
    numbers: Counter[tuple[str, str]] = Counter()  # of segments, by pair of languages
    for line in raw.json_lines(FILE):
        if (where := _place(line)) is None:
            continue
        pair = where.source, where.tag
        for system, scored in line["scores"].items():
            if system not in line["tgt_text"]:
                raise _differs(line, f"system '{system}' has scores and no translation", "a translation of each system")
            output, item = line["tgt_text"][system], where.item_id(numbers[pair], system)
            source = {**translation_item(item, where.tag, (where.domain, where.document), where.segment, system, line["src_text"], output)}
            items.append({**source, "source_language": where.source})
            # The labels of one translation. Its first round of scores is there, its second one may be missing.
            rows: dict[str, Row] = {}
            for number in ROUNDS:
                if f"human{number}" not in scored and number > 1:
                    continue
                score, who, errors = scored[f"human{number}"], scored[f"annotator{number}"], scored[f"errors{number}"]
                if not isinstance(score, int | float) or isinstance(score, bool) or not 0 <= score <= 100:
                    raise _differs(line, f"'{who}' gave {item} the score {score!r}", "scores from 0 to 100")
                if strange := sorted({str(error["severity"]) for error in errors} - PENALTIES.keys()):
                    raise _differs(line, f"an error in {item} is '{strange[0]}'", " or ".join(PENALTIES))
                if who in rows:
                    raise _differs(line, f"'{who}' scored {item} in both rounds", "two people")
                spans = [{"severity": error["severity"], **place(error, output)} for error in errors]
                rows[who] = label(item, who, METRIC, whole(float(score)), spans=spans)
            labels += list(rows.values())
        numbers[pair] += 1
    return {"items": items, "labels": labels}


def _place(line: RawRow) -> Place | None:
    """Return where a segment stands; None for a pair that was scored by MQM."""
    pair, *rest = line["doc_id"].split("_#_")
    if pair in MQM:
        return None
    source, _, target = pair.partition("-")
    if source not in SOURCES or target not in LANGUAGES:
        raise _differs(line, f"a segment is of the pair '{pair}'", f"pairs from {' and '.join(SOURCES)} into {', '.join(LANGUAGES)}")
    if len(rest) != 3 or not rest[2].isdecimal():
        raise _differs(line, f"doc_id is '{line['doc_id']}'", "pair, domain, document and number of the segment, joined by _#_")
    return Place(source, LANGUAGES[target], rest[0], rest[1], int(rest[2]))


def _differs(line: RawRow, actual: str, described: str) -> ContentError:
    message = f"{actual}; the release describes {described}. Please report this: nobody has converted this file before"
    return ContentError(message, line.file, line.line)
