"""`harness labels needed`."""

from __future__ import annotations

import argparse
import sys

from harness import api
from harness.cli.arguments import decision_options
from harness.cli.compare import restrictions
from harness.correct import labels_budget


def needed(arguments: argparse.Namespace) -> int:
    from harness.render.progress import working
    from harness.tables import to_json

    options = api.compare_options(
        arguments.judge, None, arguments.annotators, "drop", "item", restrictions(arguments.where, arguments.langs), None, 0
    )
    decision = decision_options(arguments)
    with working("planning"):
        sources = api.open_sources([arguments.source], arguments.card, arguments.out)
        recordings = [source.recording for source in sources]
        budget = labels_budget.label_budget(
            recordings, options, decision, half_width=arguments.half_width, borrow=arguments.borrow == "languages"
        )
    if arguments.json:
        sys.stdout.write(to_json(budget.as_json()))
    else:
        from harness.render.comparison import show
        from harness.render.decisions import render_budget

        show(lambda narrow: render_budget(budget), budget.signature)
    return 0
