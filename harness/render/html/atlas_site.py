"""The site of the atlas: an index with the matrix and a search by any name of a language, a page a language, and a page a judge."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from markupsafe import Markup

from harness.content.tags import name_in
from harness.errors import UsageError
from harness.judge_atlas.atlas import Atlas, AtlasRow, answers_by_quality, neighbours
from harness.render.html.boards import VerdictCell
from harness.render.html.marks import state_bar
from harness.render.html.shell import SiteFrame, render, shell, site_frame
from harness.reports.answer.parts import AGAINST, GONE, STYLES, UNKNOWN, USE, Card, deciding
from harness.reports.atlas_answer import (
    ATLAS_SIGNS,
    AtlasAnswer,
    LanguageRow,
    atlas_matrix,
    cause_words,
    condition_words,
    evidence,
    first_finding,
    gone_judges,
    judge_answer,
    language_answer,
    legend,
    metric_words,
    released_words,
    set_words,
    style_of,
    verdict_style,
    wanted_languages,
    wrong_use_words,
)
from harness.reports.sections.languages import RANKINGS_NOTE, best_words, ranking_sentence
from harness.reports.tables.numbers import counted, difference, probability_counts

INDEX = "index.html"
STATES = {"good": USE, "gone": GONE, "bad": AGAINST, "open": UNKNOWN}
"""The states of pages, by the style of an answer."""
SHARE = "share.png"
RANKINGS, WANTED = "rankings", "wanted"
_GROUPS = (("good", "Use", ("good", "gone")), ("bad", "Do not use", ("bad",)), ("open", "Unknown", ("open",)))
_WORDS = {"good": "use", "gone": "use, no longer served", "bad": "do not use", "open": "unknown", "none": "no judge yet"}
_NUMBERS = ("judge agrees", "people agree", "difference", "at worst", "over a constant", "texts", "count as")
_EVIDENCE: tuple[tuple[str, Callable[[LanguageRow, bool], bool]], ...] = (
    ("A judge that is served today may be used", lambda row, _: "good" in row.uses),
    ("Only judges that are no longer served may be used", lambda row, _: row.uses == {"gone"}),
    ("No judge is shown fit", lambda row, judged: judged and not row.uses),
    ("People's labels wait for a judge", lambda _, judged: not judged),
)
_ABOUT = "Which AI judge may score texts in which language: verdicts on published judges, on labels that people gave."


def atlas_site(atlas: Atlas, today: datetime.date, url: str = "", other_pages: Mapping[str, str] = {}) -> dict[str, str | bytes]:
    """`{file name: page or picture}`. Equal atlases give equal bytes on one day; `today` decides how old judges are.

    `url` is the address where the site will be: without one pictures in previews of links have no address, and no page names one. Without
    the extra `figures` there are no pictures. `other_pages`: the other parts of the site, by the words of the link; relative to the
    index, or whole addresses.
    """
    pages: dict[str, str | bytes] = {INDEX: _index(atlas, today, other_pages)}
    for tag in atlas.languages:
        rows = [row for row in atlas.rows if row.language == tag]
        answer = language_answer(atlas, tag, rows, today)
        picture = _share_picture(answer)
        share = _share(answer.answer.title, answer.lead, f"{url.rstrip('/')}/{tag}/{SHARE}" if url and picture else "")
        near = [(neighbour, atlas.languages[neighbour], f"../{neighbour}/{INDEX}") for neighbour in neighbours(atlas, tag)]
        body = render("atlas_language.html", tag=tag, near=near, wanted=f"../{WANTED}/{INDEX}", **_common(atlas, rows, answer, today))
        pages[f"{tag}/{INDEX}"] = _page(answer.answer.title, body, answer, share, site_frame("Atlas", INDEX, other_pages, "../"))
        if picture:
            pages[f"{tag}/{SHARE}"] = picture
    frame = site_frame("Atlas", INDEX, other_pages, "../")
    # The page for native speakers of languages with no or old evidence: what to do, for how long, and how it comes back.
    wanted = [(tag, atlas.languages[tag], why, f"../{tag}/{INDEX}") for tag, why in wanted_languages(atlas, today)]
    lead = f"In {len(wanted)} of {counted(len(atlas.languages), 'language')} nobody asked a judge, or the newest judge is old."
    body = render("atlas_wanted.html", lead=lead, wanted=wanted, index=f"../{INDEX}")
    wanted_share = _share("Languages wanted", lead, "")
    pages[f"{WANTED}/{INDEX}"] = shell("Languages wanted", body, scripts=("tables.js",), description=lead, share=wanted_share, site=frame)
    pages[f"{RANKINGS}/{INDEX}"] = _rankings(atlas, frame)
    for judge, slug in _slugs(atlas).items():
        rows = [row for row in atlas.all_rows if row.judge == judge]
        answer = judge_answer(atlas, judge, rows, today)
        columns, grid = judge_grid(atlas, rows, today)
        body = render(
            "atlas_judge.html",
            known=atlas.judge(judge),
            gone=judge in gone_judges(atlas, today),
            columns=columns,
            grid=grid,
            **_common(atlas, rows, answer, today, "../../"),
        )
        frame = site_frame("Atlas", INDEX, other_pages, "../../")
        pages[f"judges/{slug}/{INDEX}"] = _page(answer.answer.title, body, answer, _share(judge, answer.lead, ""), frame)
    return pages


def _rankings(atlas: Atlas, frame: SiteFrame) -> str:
    """Return the page on whether the ranking of judges changes with the language: by set and metric, and the best judges."""
    parts = []
    for ranking in atlas.rankings:
        best = [msgspec.structs.asdict(best) | {"best": best.judge} for best in ranking.best]
        lines = [(atlas.languages.get(best.language, best.language), best) for best in ranking.best]
        sentence = ranking_sentence(msgspec.structs.asdict(ranking))
        parts.append({"set": ranking.set, "quality": ranking.quality, "sentence": sentence, "best": best_words(best), "lines": lines})
    changes = sum(bool(ranking.reversed) for ranking in atlas.rankings)
    lead = (
        f"In {changes} of {counted(len(atlas.rankings), 'ranking')} of judges on the same sets, two judges are shown to change places "
        "between languages."
    )
    title = "Does the ranking of judges change with the language?"
    body = render("atlas_rankings.html", title=title, lead=lead, parts_of_sets=parts, note=RANKINGS_NOTE, index=f"../{INDEX}")
    return shell(title, body, scripts=("tables.js",), description=lead, share=_share(title, lead, ""), site=frame)


def _page(title: str, body: Markup, answer: AtlasAnswer, share: Mapping[str, str], site: SiteFrame) -> str:
    return shell(title, body, scripts=("tables.js",), description=answer.lead, share=share, site=site)


def _index(atlas: Atlas, today: datetime.date, other_pages: Mapping[str, str]) -> str:
    rows, judged = atlas_matrix(atlas, today), {row.language for row in atlas.rows}
    judges = [_judge_line(atlas, judge, slug, today) for judge, slug in _slugs(atlas).items()]
    body = render(
        "atlas.html",
        groups=[(title, group) for title, belongs in _EVIDENCE if (group := [row for row in rows if belongs(row, row.tag in judged)])],
        judges=judges,
        judges_without_toys=len({row.judge for row in atlas.rows}),
        sets=[set_words(atlas, name) for name in atlas.sets],
        finding=" ".join(first_finding(rows, judged)).strip(),
        verdicts=len(atlas.rows),
        wrong_use=wrong_use_words(atlas.rows),
        languages=len(judged),
        languages_without_judges=len(atlas.languages.keys() - judged),
        edition=atlas.edition,
        rankings=f"{RANKINGS}/{INDEX}",
        wanted=f"{WANTED}/{INDEX}",
        words_of_style=_WORDS,
    )
    names = {tag: names_of(atlas, tag) for tag in atlas.languages}
    return shell(
        "Atlas of judges",
        body,
        scripts=("tables.js", "atlas_search.js"),
        data={"language-names": names},
        description=_ABOUT,
        share=_share("Atlas of judges", _ABOUT, ""),
        site=site_frame("Atlas", INDEX, other_pages),
    )


def names_of(atlas: Atlas, tag: str) -> list[str]:
    """Return the names of a language in all languages that have one for it, in lower case, each once: what the search looks at."""
    from language_data.name_data import LANGUAGES_WITH_NAME_DATA

    names = [tag, atlas.languages[tag], name_in(tag, tag)]
    return list(dict.fromkeys(name.casefold() for name in (*names, *(name_in(tag, other) for other in sorted(LANGUAGES_WITH_NAME_DATA)))))


def _judge_line(atlas: Atlas, judge: str, slug: str, today: datetime.date) -> dict[str, Any]:
    judge_rows = [row for row in atlas.all_rows if row.judge == judge]
    return {
        "name": f"{judge} (a toy)" if atlas.judge(judge).toy else judge,
        "page": f"judges/{slug}/{INDEX}",
        "released": released_words(atlas, judge, today),
        "languages": len({row.language for row in judge_rows}),
        "counts": {verdict: sum(row.verdict == verdict for row in judge_rows) for verdict in ("use", "do not use")},
        "verdicts": len(judge_rows),
        "probabilities": probability_counts(Counter(row.probabilities for row in judge_rows if row.probabilities)),
    }


def _common(atlas: Atlas, rows: Sequence[AtlasRow], answer: AtlasAnswer, today: datetime.date, up: str = "../") -> dict[str, Any]:
    """Return what the pages of languages and of judges have in common."""
    slugs, lines = _slugs(atlas), evidence(atlas, rows, today)
    counted_rows = {name: len({getattr(row, name) for row in rows}) for name in ("language", "set", "quality")}
    left_out = {"annotators", "labels", "released", *(name for name, count in counted_rows.items() if count < 2)}
    left_out |= set() if any(row.probabilities for row in rows) else {"probabilities"}
    lines = [{name: text for name, text in line.items() if name not in left_out} for line in lines]
    gone = gone_judges(atlas, today)
    counts = Counter(style for quality in answers_by_quality(rows, gone) for style in map(style_of, quality.metrics))
    if counted_rows["language"] > 1:  # the page of a judge: its verdicts
        counts = Counter(_style_of_row(row, gone) for row in rows)
    states = {STATES[style]: counts[style] for style in STATES if counts[style]}
    return {
        "state_bar": state_bar(states) if states else None,
        "states": [(STYLES[state], state, count) for state, count in states.items()],
        "atlas_answer": answer,
        "groups": groups_of(answer.answer.cards),
        "index": f"{up}{INDEX}",
        "lines": [(_style_of_row(row, gone), line) for row, line in zip(rows, lines, strict=True)],
        "numbers": _NUMBERS,
        "judges": [(judge, f"{up}judges/{slugs[judge]}/{INDEX}") for judge in sorted({row.judge for row in rows})],
        "languages_named": [(atlas.languages[tag], f"{up}{tag}/{INDEX}") for tag in sorted({row.language for row in rows})],
        "sets": [
            (set_words(atlas, name), atlas.sets[name].licence, atlas.sets[name].signature) for name in sorted({row.set for row in rows})
        ],
        "legend": legend(rows),
    }


def judge_grid(
    atlas: Atlas, rows: Sequence[AtlasRow], today: datetime.date
) -> tuple[list[str], list[tuple[str, str, list[VerdictCell | None]]]]:
    """Return the metrics, and a row for each language with its tag, its name and a cell for each metric: what a judge may be used for."""
    gone = gone_judges(atlas, today)
    cells: dict[tuple[str, str], list[AtlasRow]] = {}
    for row in rows:
        cells.setdefault((row.language, row.metric), []).append(row)
    metrics = sorted({row.metric for row in rows})
    tags = sorted({row.language for row in rows}, key=lambda tag: atlas.languages[tag])
    grid = [
        (tag, atlas.languages[tag], [_grid_cell(cells[tag, metric], gone) if (tag, metric) in cells else None for metric in metrics])
        for tag in tags
    ]
    return [metric_words(metric) for metric in metrics], grid


def _style_of_row(row: AtlasRow, gone: Collection[str]) -> str:
    style = verdict_style(row.verdict)
    return "gone" if style == "good" and row.judge in gone else style


def _grid_cell(rows: Sequence[AtlasRow], gone: Collection[str]) -> VerdictCell:
    """Return the sign of one verdict with its number and its reason or cause; of several sets or conditions, how many have each state."""
    styles = [_style_of_row(row, gone) for row in rows]
    title = "; ".join(f"{condition_words(row)}, {row.set}" for row in rows)
    if len(rows) > 1:
        parts = tuple((style, f"{ATLAS_SIGNS[style]} {styles.count(style)}") for style in STATES if style in styles)
        return VerdictCell(styles[0] if len(set(styles)) == 1 else "split", parts, "", title)
    [row] = rows
    words, number = "use", row.gap
    if styles[0] == "bad":
        words, number, _ = deciding({"obstacles": row.obstacles.split(), "gap": row.gap, "base_diff": row.over_constant})
    elif styles[0] == "open":
        words = cause_words(row)
    text = ATLAS_SIGNS[styles[0]] + ("" if number is None else f" {difference(number)}")
    return VerdictCell(styles[0], ((styles[0], text),), words, title)


def groups_of(cards: Sequence[Card]) -> list[tuple[str, str, list[Card]]]:
    """Return `(style, title, cards)` of the three groups: use, do not use, unknown. The first one says if only judges that are no longer
    served are in it.
    """
    groups = []
    for style, title, styles in _GROUPS:
        listed = [card for card in cards if card.style in styles]
        only_gone = bool(listed) and all(card.style == "gone" for card in listed)
        groups.append(("gone", "Use, no longer served", listed) if only_gone else (style, title, listed))
    return groups


def _slugs(atlas: Atlas) -> dict[str, str]:
    """Return a folder name for each judge, no two equal. Names come from releases of others: only letters, digits, dots and dashes stay."""
    slugs: dict[str, str] = {}
    for judge in sorted({row.judge for row in atlas.all_rows}):
        slug = re.sub(r"[^a-z0-9.]+", "-", judge.lower()).strip("-.") or "judge"
        while slug in slugs.values():
            slug += "-2"
        slugs[judge] = slug
    return slugs


def _share(title: str, words: str, picture: str) -> dict[str, str]:
    """Return what previews of links show, as `{property: content}`."""
    about = {"og:type": "website", "og:title": title, "og:description": words}
    return about | ({"og:image": picture, "twitter:card": "summary_large_image"} if picture else {})


def _share_picture(answer: AtlasAnswer) -> bytes:
    """Return the picture for previews; empty without the extra `figures`."""
    from harness.render.figures.verdict_figures import draw_share

    with suppress(UsageError):
        return draw_share(answer.answer.title, answer.lead, answer.answer.sentences)
    return b""
