"""The flags of the commands for labelling: plan, page, serve."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from harness.cli.arguments import add_flag, card_flag, command, content_flag, json_flag, names, out_flag, positive_integer, seed, share


def labels_page(sub: Any) -> None:
    """`labels page`."""
    p = command(sub, "page", "labelling:page", "write pages on which people label in their browser, one self-contained file each")
    _what_pages_show(p)
    add_flag(p, "--out FOLDER", "the folder for the pages and their record", Path, required=True)
    add_flag(p, "--replace", "replace the pages in the folder; answers on the old ones are then refused")
    json_flag(p)


def _what_pages_show(p: Any) -> None:
    p.add_argument("data", metavar="DATA", help="a data folder, a table of texts, or 'bundled'")
    what = p.add_argument_group("what is labelled")
    add_flag(what, "--lang TAG", "the language of the items (default: the only one)")
    add_flag(what, "--task NAMES", "only these tasks", names)
    add_flag(what, "--metrics NAMES", "only these metrics, in this order", names)
    add_flag(what, "--items FILE", "only these items: the file of 'labels plan', or one id a line (.txt)", Path)
    add_flag(
        what,
        "--next N",
        "only the next N items without a native label, or with --review without a review, in the order of --items or the data",
        positive_integer,
    )
    add_flag(what, "--second", "only items that one person has labelled, so that a second one scores them; different groups first")
    add_flag(what, "--fields NAMES", "the texts that the page shows, for items of a task that tasks/ does not describe", names)
    add_flag(what, "--text NAMES", "the same, in the words of 'labels import': columns of a table", names, dest="fields")
    add_flag(what, "--mark-errors", "errors are marked in the texts, each minor or major")
    add_flag(what, "--pack NAME", "of 'bundled': the packs of this name, such as models or hard, not the languages' own")
    add_flag(
        what, "--blind-pairs", "minimal pairs: readers who do not know which text is flawed say which is better, and mark where the flaw is"
    )
    review = p.add_argument_group("people's answer to a judge's reasons, instead of scores")
    add_flag(
        review,
        "--review RUN",
        "ask whether people agree with the scores and reasons of a judge in this run (a run's folder, or its name in 'results')",
    )
    add_flag(review, "--judge NAME", "the judge (default: the only one of the run)")
    who = p.add_argument_group("who labels")
    add_flag(who, "--annotators N|CODES", "how many annotators, or their codes, e.g. hana,taro (default: 3; of blind pairs 5)", _annotators)
    add_flag(who, "--overlap SHARE", "share of the texts that everybody labels; the rest is divided (default: 1)", share, default=1.0)
    add_flag(who, "--practice N", "development items with an explained answer first (default: 3)", int, default=3)
    add_flag(who, "--checks N", "damaged texts among the others of each annotator (default: 0)", int, default=0)
    add_flag(who, "--about FILE", "text of the first screen: who asks, what is kept, what to expect, consent", Path)
    add_flag(who, "--seed N", "seed for the shares and the orders (default: 0)", seed, default=0)
    content_flag(p)


def labels_plan(sub: Any) -> None:
    """`labels plan`."""
    p = command(sub, "plan", "labelling:plan", "draw the texts to label next, by a judge's scores, with the probability of each")
    p.add_argument("source", metavar="DIR_OR_RUN", help="a data folder, a run's folder, or the name of a run in --out")
    add_flag(p, "--to FILE", "the list of items to write (.jsonl), for 'labels page --items'", Path, required=True)
    add_flag(p, "--budget N", "how many texts (default: what 'labels needed' says is missing)", positive_integer)
    add_flag(p, "--lang TAG", "the language of the texts (default: the only one)")
    add_flag(p, "--judge NAME", "whose scores make the strata (default: the only judge)")
    add_flag(p, "--metric NAME", "on which metric (default: the only one)")
    add_flag(
        p,
        "--allocation",
        "neyman: more texts where the judge is less certain; loses where its certainty says nothing (default: proportional)",
        choices=("proportional", "neyman"),
        default="proportional",
    )
    add_flag(p, "--least N", "fewest texts of a stratum (default: 2)", positive_integer, default=2)
    add_flag(p, "--least-per-class N", "fewest texts of each class of the judge's scores, for rare classes", positive_integer, default=0)
    add_flag(p, "--seed N", "seed of the draw (default: 0)", seed, default=0)
    card_flag(p)
    out_flag(p)
    json_flag(p)


def labels_reviews(sub: Any) -> None:
    """`labels reviews`."""
    p = command(sub, "reviews", "labelling:reviews", "show how far people agree with a judge's reasons, after 'labels page --review'")
    p.add_argument("data", type=Path, metavar="DIR", help="the data folder with the imported answers")
    add_flag(p, "--seed N", "seed for the bootstrap (default: 0)", seed, default=0)
    form = p.add_mutually_exclusive_group()
    json_flag(form)
    add_flag(form, "--html FILE", "write one self-contained page, with what people said")
    content_flag(p)


def labels_serve(sub: Any) -> None:
    """`labels serve`."""
    p = command(sub, "serve", "labelling:serve", "serve labelling pages to people in one room, and keep their answers as they come")
    p.add_argument("folder", type=Path, metavar="FOLDER", help="the folder that 'labels page' wrote")
    add_flag(p, "--port N", "the port; 0: any that is free (default: 8765)", _port, default=8765)
    add_flag(p, "--host ADDRESS", "the address to listen on, e.g. 0.0.0.0 for all of this machine's (default: this machine only)")


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535; got '{text}'")
    return int(text)


def _annotators(text: str) -> int | tuple[str, ...]:
    return int(text) if text.isdecimal() else names(text)
