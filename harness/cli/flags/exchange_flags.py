"""The flags of the commands that exchange judgments and judges with other programs: import and export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    add_flag,
    allow_refused_flag,
    card_flag,
    command,
    content_flag,
    group,
    json_flag,
    names,
    out_flag,
    single_temperature,
    single_top_p,
)
from harness.exchange.scores.formats import SCORE_KINDS


def import_flags(commands: Any) -> None:
    """`import`."""
    p = command(
        commands,
        "import",
        "import_scores:import_",
        "convert scores that another program made, judges' and people's, to a data folder",
    )
    p.add_argument("files", nargs="+", type=Path, metavar="FILE", help="files of one kind, such as a batch's output and input")
    add_flag(p, "--to DIR", "the data folder to write or to add to", Path, required=True)
    add_flag(p, "--append", "add to a folder that already has judgments")
    allow_refused_flag(p)
    reading = p.add_argument_group("how to read them")
    add_flag(
        reading, "--from KIND", f"the kind of file, if it cannot be detected: {', '.join(SCORE_KINDS)}", dest="kind", choices=SCORE_KINDS
    )
    add_flag(
        reading, "--preset NAME", "field names of score records: mlflow, deepeval, langfuse, langfuse-traces, langsmith, phoenix, table"
    )
    add_flag(reading, "--wide-metrics COLUMNS", "columns of a table with the scores on one metric each", names)
    add_flag(reading, "--filter NAME", "lm-eval: the filter whose samples are read")
    add_flag(reading, "--label-from FIELD", "lm-eval: the field of a document that holds people's label, e.g. doc.label")
    add_flag(reading, "--take-values", "take the program's own scores, also where the file keeps the judge's raw reply")
    content_flag(reading)  # type: ignore[arg-type]
    naming = p.add_argument_group("what was scored, and by whom (--map FILE.toml can hold all of this)")
    add_flag(naming, "--item-from FIELD", "the field that holds the item's id, e.g. vars.item_id")
    add_flag(naming, "--id-pattern REGEX", "parts of the id: (?P<item>.+):(?P<metric>.+); also language, judge and repeat")
    add_flag(naming, "--language-from FIELD", "the field that holds the language, e.g. metadata.language")
    add_flag(naming, "--language TAG", "the language of all items")
    add_flag(naming, "--task NAME", "the task of all items (default: imported)")
    add_flag(naming, "--metric NAME", "the metric of scores that name none")
    add_flag(naming, "--judge NAME", "the judge's name, if the file has none or another one is wanted")
    add_flag(naming, "--text NAME=FIELD ...", "a field that becomes a text of the items", default=[])
    add_flag(naming, "--group FIELD", "the field that names what items share")
    add_flag(naming, "--system FIELD", "the field that names the system that wrote the texts")
    add_flag(naming, "--items FILE|DIR|bundled", "where the items are (default: in the files, or in --to)")
    meaning = p.add_argument_group("what the scores mean; a scale is never guessed")
    add_flag(meaning, "--scale METRIC=SCALE ...", "e.g. fluency=0,1,2:best=2 or fluency=0..1:best=1", default=[])
    add_flag(
        meaning,
        "--map [METRIC:]PAIRS|FILE ...",
        "scores for words, such as C=1,P=0.5,I=0; or a mapping in TOML; flags take precedence",
        default=[],
    )
    add_flag(meaning, "--rename OLD=NEW ...", "another name for a metric", default=[])
    add_flag(meaning, "--drop METRIC ...", "leave a metric out", default=[])
    people = p.add_argument_group("people and folder")
    add_flag(people, "--keep-annotators", "keep people's ids instead of pseudonyms")
    add_flag(people, "--salt-file FILE", "the salt of the pseudonyms (default: in the user's settings)", Path)
    add_flag(people, "--id NAME", "name of the data (default: the folder's name)")
    add_flag(people, "--title TEXT", "title of the data")
    json_flag(p)


def export_flags(commands: Any) -> None:
    """`export`."""
    sub = group(commands, "export", "write a judge, its scores or a data set in the form of another program")
    _export_promptfoo_judge(sub)
    _export_inspect_scores(sub)
    _export_hub(sub)


def _export_promptfoo_judge(sub: Any) -> None:
    p = command(sub, "promptfoo-judge", "export:promptfoo_judge", "write python assertions with which promptfoo asks a judge as 'run' does")
    add_flag(p, "--judge NAME", "the judge that is asked: openai/<model> or any other that is a model", required=True)
    add_flag(p, "--to DIR", "the folder of promptfooconfig.yaml", Path, required=True)
    what = p.add_argument_group("what is asked")
    add_flag(what, "--metric NAMES", "metrics with a rubric, an assertion for each", names, dest="metrics")
    add_flag(what, "--task NAME", "the task that the texts belong to; needed if several tasks have the metric")
    add_flag(what, "--prompt FILE", "a prompt of your own (TOML) instead of metric and task", Path)
    add_flag(what, "--variant NAME", "single, detailed, score-only, ... (default: single)", default="single")
    add_flag(what, "--temperature T", "sampling temperature (default: 0)", single_temperature, default=0.0)
    add_flag(what, "--allow-unreviewed", "allow instructions that no native reader has reviewed")
    add_flag(what, "--language TAG|FIELD", "of the outputs, or where it stands (default: vars.language)", default="vars.language")
    add_flag(what, "--base-url URL", "the endpoint of an openai/ judge (default: from the environment)")
    content_flag(what)  # type: ignore[arg-type]


def _export_inspect_scores(sub: Any) -> None:
    p = command(sub, "inspect-scores", "export:inspect_scores", "write a judge's scores as a file for Inspect's precomputed_scores")
    p.add_argument("source", metavar="RUN_OR_DIR", help="a data folder with judgments, a run's folder, or the name of a run in --out")
    add_flag(p, "--to FILE.jsonl", "the file to write; item ids are Inspect's sample ids", Path, required=True)
    add_flag(p, "--judge NAME", "the judge, if there are several")
    add_flag(p, "--metric NAME", "the metric, if there are several")
    add_flag(p, "--variant NAME", "the variant, if there are several")
    add_flag(p, "--temperature T", "the temperature, if there are several", single_temperature)
    add_flag(p, "--top-p P", "the top-p, if there are several", single_top_p)
    card_flag(p)
    out_flag(p)


def _export_hub(sub: Any) -> None:
    p = command(sub, "hub", "export:hub", "write items, labels and judgments as a data set for a hub, with its card; uploads nothing")
    p.add_argument("source", metavar="RUN_OR_DIR", help="a data folder, a run's folder, or the name of a run in --out")
    add_flag(p, "--to DIR", "the folder to write; it must not exist", Path, required=True)
    add_flag(p, "--license NAME", "the licence of the data set as the hub names it, e.g. cc-by-4.0")
    card_flag(p)
    out_flag(p)
