"""The templates of `templates/`, and the shell of every page: one self-contained file with head, style, body, data and scripts.

Templates are jinja2 with escaping and visible hidden characters; a missing name is an error. The page's own policy forbids requests, and
all scripts and styles except those whose hashes it names (`harness.html_pages`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from harness.annotate.reviews import ReasonReview, ReviewSummary
from harness.content.tags import autonym, english_name
from harness.html_pages import asset, embedded, environment, policy, visible
from harness.render.terminal import review_table
from harness.reports.tables.columns import metric_title

_ASSETS = Path(__file__).parent / "assets"
STYLE = "style.css"


@dataclass(frozen=True)
class SiteFrame:
    """The header and the footer of the pages of a site.

    `parts` has the words and addresses of its parts, of which `here` is the one of this page; `home` is the page of the languages, if
    there is one, and `cite` the page that says how to cite.
    """

    parts: tuple[tuple[str, str], ...]
    here: str
    home: str
    cite: str
    version: str


_PARTS = ("Atlas", "Boards", "Docs")  # their order in the header
_CITE = "Cite"  # the name of the page that the footer links to


def site_frame(here: str, index: str, other_pages: Mapping[str, str], up: str = "") -> SiteFrame:
    """Return the frame of a page of the part `here`, whose index is `index`; both lie `up` from the page.

    `other_pages` are the parts beside it, by the words of the link: relative to the index, or whole addresses.
    """
    pages = {here: index} | dict(other_pages)
    pages = {words: page if "://" in page else f"{up}{page}" for words, page in pages.items()}
    cite = pages.pop(_CITE, "")
    order = sorted(pages, key=lambda words: _PARTS.index(words) if words in _PARTS else len(_PARTS))
    return SiteFrame(tuple((words, pages[words]) for words in order), here, pages.get(_PARTS[0], ""), cite, version("judge-harness"))


def shell(
    title: str,
    body: Markup,
    *,
    scripts: Sequence[str] = (),
    data: Mapping[str, Any] | None = None,
    description: str = "",
    width: str = "wide",
    share: Mapping[str, str] | None = None,
    site: SiteFrame | None = None,
) -> str:
    """Return a whole page; `body` is already escaped by `render`, `title` and `description` (a sentence for lists of pages) are any text.

    `scripts` of `assets/` run in this order after the page has loaded; `tables.js` lets people sort every `<table data-sort>`. They read
    `data`, `{id: object}`, each as JSON in a `<script>` of that id. `width` is `wide`, `full` for tables of many columns, or `narrow` for
    running text. `share` is what previews of links show, as `{property: content}` of Open Graph. `site` is the frame of a page of a site.
    """
    style = asset(_ASSETS / STYLE)
    programs = [asset(_ASSETS / name) for name in scripts]
    return render(
        "shell.html",
        title=title,
        description=description,
        width=width,
        share=share or {},
        site=site,
        policy=policy([style], programs),
        style=Markup(style),
        body=body,
        data={name: embedded(value) for name, value in (data or {}).items()},
        scripts=[Markup(program) for program in programs],
    )


_FOLDER = Path(__file__).parent / "templates"


def render(template: str, /, **context: Any) -> Markup:
    """Return a template filled in. Every text is escaped, and its control characters are made visible."""
    return Markup(_environment().get_template(template).render(context))


@cache
def _environment() -> Environment:
    filters: dict[str, Callable[..., Any]] = {
        "name": spaced_name,
        "english": english_name,
        "autonym": autonym,
        "number": grouped_digits,
        "unbroken": unbroken_percents,
    }
    return environment(_FOLDER, filters)


def spaced_name(name: Any) -> str:
    """Return a metric or task without underscores; `all` where it is pooled."""
    return "all" if name == "*" else str(name).replace("_", " ")


def grouped_digits(value: int) -> str:
    """A count with its thousands apart, as everywhere.

    >>> grouped_digits(20000)
    '20,000'
    """
    return f"{value:,}"


def unbroken_percents(text: str) -> str:
    """Text in which no line break separates a number from its percent sign."""
    return text.replace(" %", "\u00a0%")


_AGREEMENT = {"agree": "agrees", "partly": "partly agrees", "disagree": "disagrees"}
_MOST = 500  # answers that are quoted in one language


def reviews_page(summary: ReviewSummary, name: str, command: str, warning: str = "") -> str:
    """One self-contained page of the reviews of a data set, made by `command`; a `warning` stands before quotations behind a click."""
    title = f"{name}: do people agree with the judge's reasons?"
    quoted = {language: [*_quotes(rows)] for language, rows in groupby(summary.reviews, key=lambda row: row[1])}
    body = render(
        "reviews.html",
        title=title,
        reviews=len(summary.reviews),
        table=review_table(summary),
        quoted={language: rows[:_MOST] for language, rows in quoted.items() if rows},
        left={language: len(rows) - _MOST for language, rows in quoted.items() if len(rows) > _MOST},
        command=command,
        warning=warning,
        signature=summary.signature,
    )
    return shell(title, body, scripts=("tables.js",))


def _quotes(rows: Iterable[tuple[ReasonReview, str, str]]) -> Iterator[dict[str, str]]:
    """Yield the answers that do not simply agree. All texts are untrusted: the template escapes them, and control characters are made
    visible.
    """
    for review, _, people in rows:
        if review.agreement != "agree" or review.words:
            yield {
                "metric": metric_title(review.metric),
                "agreement": _AGREEMENT[review.agreement],
                "reasons": ", ".join(reason.replace("_", " ") for reason in review.reasons),
                "judge": visible(review.judge),
                "score": visible(str(review.score)),
                "item": visible(review.item_id),
                "people": people,
                "justification": visible(review.justification),
                "annotator": visible(review.annotator_id),
                "words": visible(review.words),
            }
