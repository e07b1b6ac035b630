"""The flags of `harness batch`."""

from __future__ import annotations

import argparse
from typing import Any

from harness.cli.arguments import add_flag, base_url, command, group, json_flag, out_flag, prices_flag


def batch_flags(commands: Any) -> None:
    sub = group(commands, "batch", "manage the batches that 'harness run --engine batch' submitted")
    p = command(sub, "status", "batch:status", "show the batches of a results folder and their progress at the provider")
    _batch_address(p)
    p = command(
        sub, "collect", "batch:collect", "fetch a run's finished batches and print the report once nothing is missing; submits nothing"
    )
    p.add_argument(
        "run", nargs="?", metavar="RUN", help="a run's name, the beginning of one, or its folder (default: the latest run with batches)"
    )
    prices_flag(p)
    _batch_address(p)
    p = command(sub, "forget", "batch:forget", "give up a batch that cannot be fetched; its calls are asked and paid for again")
    p.add_argument("batch", metavar="BATCH", help="the id that 'harness batch status' shows")
    out_flag(p)


def _batch_address(p: argparse.ArgumentParser) -> None:
    add_flag(
        p,
        "--base-url [JUDGE=]URL ...",
        "the endpoint that was asked (default: from the environment); repeatable for several judges",
        base_url,
    )
    out_flag(p)
    json_flag(p)
