"""The flags of the commands for labelling: plan, page, serve."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from harness.cli.arguments import card_flag, command, content_flag, json_flag, names, out_flag, positive_integer, seed, share


def labels_page(sub: Any) -> None:
    """`labels page`."""
    p = command(sub, "page", "labelling:page", "write pages on which people label in their browser, one self-contained file each")
    _what_pages_show(p)
    p.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="the folder for the pages and their record")
    p.add_argument("--replace", action="store_true", help="replace the pages in the folder; answers on the old ones are then refused")
    json_flag(p)


def _what_pages_show(p: Any) -> None:
    p.add_argument("data", metavar="DATA", help="a data folder, or 'bundled'")
    what = p.add_argument_group("what is labelled")
    what.add_argument("--lang", metavar="TAG", help="the language of the items (default: the only one)")
    what.add_argument("--task", type=names, metavar="NAMES", help="only these tasks")
    what.add_argument("--metrics", type=names, metavar="NAMES", help="only these metrics, in this order")
    what.add_argument("--items", type=Path, metavar="FILE", help="only these items: the file of 'labels plan', or one id a line (.txt)")
    what.add_argument(
        "--next",
        type=positive_integer,
        metavar="N",
        help="only the next N items without a native label, or with --review without a review, in the order of --items or the data",
    )
    what.add_argument(
        "--fields", type=names, metavar="NAMES", help="the texts that the page shows, for items of a task that tasks/ does not describe"
    )
    what.add_argument("--mark-errors", action="store_true", help="errors are marked in the texts, each minor or major")
    what.add_argument("--pack", metavar="NAME", help="of 'bundled': the packs of this name, such as models or hard, not the languages' own")
    what.add_argument(
        "--blind-pairs",
        action="store_true",
        help="minimal pairs: readers who do not know which text is flawed say which is better, and mark where the flaw is",
    )
    review = p.add_argument_group("people's answer to a judge's reasons, instead of scores")
    review.add_argument(
        "--review",
        metavar="RUN",
        help="ask whether people agree with the scores and reasons of a judge in this run (a run's folder, or its name in 'results')",
    )
    review.add_argument("--judge", metavar="NAME", help="the judge (default: the only one of the run)")
    who = p.add_argument_group("who labels")
    who.add_argument(
        "--annotators",
        type=_annotators,
        metavar="N|CODES",
        help="how many annotators, or their codes, e.g. hana,taro (default: 3; of blind pairs 5)",
    )
    who.add_argument(
        "--overlap",
        type=share,
        default=1.0,
        metavar="SHARE",
        help="share of the texts that everybody labels; the rest is divided (default: 1)",
    )
    who.add_argument("--practice", type=int, default=3, metavar="N", help="development items with an explained answer first (default: 3)")
    who.add_argument("--checks", type=int, default=0, metavar="N", help="damaged texts among the others of each annotator (default: 0)")
    who.add_argument("--about", type=Path, metavar="FILE", help="text of the first screen: who asks, what is kept, what to expect, consent")
    who.add_argument("--seed", type=seed, default=0, metavar="N", help="seed for the shares and the orders (default: 0)")
    content_flag(p)


def labels_plan(sub: Any) -> None:
    """`labels plan`."""
    p = command(sub, "plan", "labelling:plan", "draw the texts to label next, by a judge's scores, with the probability of each")
    p.add_argument("source", metavar="DIR_OR_RUN", help="a data folder, a run's folder, or the name of a run in --out")
    p.add_argument("--to", type=Path, required=True, metavar="FILE", help="the list of items to write (.jsonl), for 'labels page --items'")
    p.add_argument("--budget", type=positive_integer, metavar="N", help="how many texts (default: what 'labels needed' says is missing)")
    p.add_argument("--lang", metavar="TAG", help="the language of the texts (default: the only one)")
    p.add_argument("--judge", metavar="NAME", help="whose scores make the strata (default: the only judge)")
    p.add_argument("--metric", metavar="NAME", help="on which metric (default: the only one)")
    p.add_argument(
        "--allocation",
        choices=("proportional", "neyman"),
        default="proportional",
        help="neyman: more texts where the judge is less certain; loses where its certainty says nothing (default: proportional)",
    )
    p.add_argument("--least", type=positive_integer, default=2, metavar="N", help="fewest texts of a stratum (default: 2)")
    p.add_argument(
        "--least-per-class",
        type=positive_integer,
        default=0,
        metavar="N",
        help="fewest texts of each class of the judge's scores, for rare classes",
    )
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the draw (default: 0)")
    card_flag(p)
    out_flag(p)
    json_flag(p)


def labels_reviews(sub: Any) -> None:
    """`labels reviews`."""
    p = command(sub, "reviews", "labelling:reviews", "show how far people agree with a judge's reasons, after 'labels page --review'")
    p.add_argument("data", type=Path, metavar="DIR", help="the data folder with the imported answers")
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed for the bootstrap (default: 0)")
    form = p.add_mutually_exclusive_group()
    json_flag(form)
    form.add_argument("--html", metavar="FILE", help="write one self-contained page, with what people said")
    content_flag(p)


def labels_serve(sub: Any) -> None:
    """`labels serve`."""
    p = command(sub, "serve", "labelling:serve", "serve labelling pages to people in one room, and keep their answers as they come")
    p.add_argument("folder", type=Path, metavar="FOLDER", help="the folder that 'labels page' wrote")
    p.add_argument("--port", type=_port, default=8765, metavar="N", help="the port; 0: any that is free (default: 8765)")
    p.add_argument(
        "--host", metavar="ADDRESS", help="the address to listen on, e.g. 0.0.0.0 for all of this machine's (default: this machine only)"
    )


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535; got '{text}'")
    return int(text)


def _annotators(text: str) -> int | tuple[str, ...]:
    return int(text) if text.isdecimal() else names(text)
