"""`harness study`: the sections of published studies, from recorded answers."""

from __future__ import annotations

import argparse
import sys

from harness import api
from harness.analyse.self_preference import self_preference_of


def self_preference(arguments: argparse.Namespace) -> int:
    from harness.render.progress import working
    from harness.tables import to_json

    with working("comparing own outputs"):
        data = api.load(arguments.data, card=arguments.card)
        found = self_preference_of(arguments.data, data, judges=arguments.judge or (), seed=arguments.seed)
    if arguments.json:
        sys.stdout.write(to_json(found.as_json()))
    else:
        from harness.render.comparison import show
        from harness.render.self_preference import render_self_preference

        show(lambda width: render_self_preference(found), found.signature)
    return 0
