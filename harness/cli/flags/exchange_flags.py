"""The flags of the commands that exchange judgments and judges with other programs: import and export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.arguments import (
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
    p.add_argument("--to", type=Path, required=True, metavar="DIR", help="the data folder to write or to add to")
    p.add_argument("--append", action="store_true", help="add to a folder that already has judgments")
    allow_refused_flag(p)
    reading = p.add_argument_group("how to read them")
    reading.add_argument(
        "--from",
        dest="kind",
        choices=SCORE_KINDS,
        metavar="KIND",
        help=f"the kind of file, if it cannot be detected: {', '.join(SCORE_KINDS)}",
    )
    reading.add_argument(
        "--preset",
        metavar="NAME",
        help="field names of score records: mlflow, deepeval, langfuse, langfuse-traces, langsmith, phoenix, table",
    )
    reading.add_argument("--wide-metrics", type=names, metavar="COLUMNS", help="columns of a table with the scores on one metric each")
    reading.add_argument("--filter", metavar="NAME", help="lm-eval: the filter whose samples are read")
    reading.add_argument("--label-from", metavar="FIELD", help="lm-eval: the field of a document that holds people's label, e.g. doc.label")
    reading.add_argument(
        "--take-values", action="store_true", help="take the program's own scores, also where the file keeps the judge's raw reply"
    )
    content_flag(reading)  # type: ignore[arg-type]
    naming = p.add_argument_group("what was scored, and by whom (--map FILE.toml can hold all of this)")
    naming.add_argument("--item-from", metavar="FIELD", help="the field that holds the item's id, e.g. vars.item_id")
    naming.add_argument(
        "--id-pattern", metavar="REGEX", help="parts of the id: (?P<item>.+):(?P<metric>.+); also language, judge and repeat"
    )
    naming.add_argument("--language-from", metavar="FIELD", help="the field that holds the language, e.g. metadata.language")
    naming.add_argument("--language", metavar="TAG", help="the language of all items")
    naming.add_argument("--task", metavar="NAME", help="the task of all items (default: imported)")
    naming.add_argument("--metric", metavar="NAME", help="the metric of scores that name none")
    naming.add_argument("--judge", metavar="NAME", help="the judge's name, if the file has none or another one is wanted")
    naming.add_argument("--text", action="append", default=[], metavar="NAME=FIELD", help="a field that becomes a text of the items")
    naming.add_argument("--group", metavar="FIELD", help="the field that names what items share")
    naming.add_argument("--system", metavar="FIELD", help="the field that names the system that wrote the texts")
    naming.add_argument("--items", metavar="FILE|DIR|bundled", help="where the items are (default: in the files, or in --to)")
    meaning = p.add_argument_group("what the scores mean; a scale is never guessed")
    meaning.add_argument(
        "--scale", action="append", default=[], metavar="METRIC=SCALE", help="e.g. fluency=0,1,2:best=2 or fluency=0..1:best=1"
    )
    meaning.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="[METRIC:]PAIRS|FILE",
        help="scores for words, such as C=1,P=0.5,I=0; or a mapping in TOML; flags take precedence",
    )
    meaning.add_argument("--rename", action="append", default=[], metavar="OLD=NEW", help="another name for a metric")
    meaning.add_argument("--drop", action="append", default=[], metavar="METRIC", help="leave a metric out")
    people = p.add_argument_group("people and folder")
    people.add_argument("--keep-annotators", action="store_true", help="keep people's ids instead of pseudonyms")
    people.add_argument("--salt-file", type=Path, metavar="FILE", help="the salt of the pseudonyms (default: in the user's settings)")
    people.add_argument("--id", metavar="NAME", help="name of the data (default: the folder's name)")
    people.add_argument("--title", metavar="TEXT", help="title of the data")
    json_flag(p)


def export_flags(commands: Any) -> None:
    """`export`."""
    sub = group(commands, "export", "write a judge, its scores or a data set in the form of another program")
    _export_promptfoo_judge(sub)
    _export_inspect_scores(sub)
    _export_hub(sub)


def _export_promptfoo_judge(sub: Any) -> None:
    p = command(sub, "promptfoo-judge", "export:promptfoo_judge", "write python assertions with which promptfoo asks a judge as 'run' does")
    p.add_argument("--judge", required=True, metavar="NAME", help="the judge that is asked: openai/<model> or any other that is a model")
    p.add_argument("--to", type=Path, required=True, metavar="DIR", help="the folder of promptfooconfig.yaml")
    what = p.add_argument_group("what is asked")
    what.add_argument("--metric", dest="metrics", type=names, metavar="NAMES", help="metrics with a rubric, an assertion for each")
    what.add_argument("--task", metavar="NAME", help="the task that the texts belong to; needed if several tasks have the metric")
    what.add_argument("--prompt", type=Path, metavar="FILE", help="a prompt of your own (TOML) instead of metric and task")
    what.add_argument("--variant", default="single", metavar="NAME", help="single, detailed, score-only, ... (default: single)")
    what.add_argument("--temperature", type=single_temperature, default=0.0, metavar="T", help="sampling temperature (default: 0)")
    what.add_argument("--allow-unreviewed", action="store_true", help="allow instructions that no native reader has reviewed")
    what.add_argument(
        "--language", default="vars.language", metavar="TAG|FIELD", help="of the outputs, or where it stands (default: vars.language)"
    )
    what.add_argument("--base-url", metavar="URL", help="the endpoint of an openai/ judge (default: from the environment)")
    content_flag(what)  # type: ignore[arg-type]


def _export_inspect_scores(sub: Any) -> None:
    p = command(sub, "inspect-scores", "export:inspect_scores", "write a judge's scores as a file for Inspect's precomputed_scores")
    p.add_argument("source", metavar="RUN_OR_DIR", help="a data folder with judgments, a run's folder, or the name of a run in --out")
    p.add_argument("--to", type=Path, required=True, metavar="FILE.jsonl", help="the file to write; item ids are Inspect's sample ids")
    p.add_argument("--judge", metavar="NAME", help="the judge, if there are several")
    p.add_argument("--metric", metavar="NAME", help="the metric, if there are several")
    p.add_argument("--variant", metavar="NAME", help="the variant, if there are several")
    p.add_argument("--temperature", type=single_temperature, metavar="T", help="the temperature, if there are several")
    p.add_argument("--top-p", type=single_top_p, metavar="P", help="the top-p, if there are several")
    card_flag(p)
    out_flag(p)


def _export_hub(sub: Any) -> None:
    p = command(sub, "hub", "export:hub", "write items, labels and judgments as a data set for a hub, with its card; uploads nothing")
    p.add_argument("source", metavar="RUN_OR_DIR", help="a data folder, a run's folder, or the name of a run in --out")
    p.add_argument("--to", type=Path, required=True, metavar="DIR", help="the folder to write; it must not exist")
    p.add_argument("--license", metavar="NAME", help="the licence of the data set as the hub names it, e.g. cc-by-4.0")
    card_flag(p)
    out_flag(p)
