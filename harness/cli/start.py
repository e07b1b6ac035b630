"""`harness start`: from a spreadsheet to a data folder, with the commands that come next."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from harness.cli.arguments import ask_role, show_table
from harness.cli.commands.find_out import Start
from harness.cli.flags import read_flags
from harness.cli.output import ended, facts_of, print_summary
from harness.cli.streams import in_lines, known_width
from harness.content import Library
from harness.content.specs import LabelMapping
from harness.content.tags import choose_from
from harness.data.dataset import load_folder, rubric_scales
from harness.errors import UsageError
from harness.exchange.labels.choose_reader import read_source
from harness.exchange.labels.columns_of_source import with_people_apart
from harness.exchange.labels.label_import import ImportSummary, import_labels
from harness.exchange.labels.mapping import mapping_of, parse_pairs, parse_scales
from harness.exchange.labels.program_layouts import one_record_per_item, with_ids, with_plain_names
from harness.exchange.labels.source_table import SourceTable
from harness.exchange.labels.spreadsheets import likely_encoding
from harness.exchange.labels.table_options import ImportOptions, TableOptions
from harness.exchange.one_table.read_table import OneTable, read_judged_table
from harness.exchange.one_table.suggested_mapping import SuggestedMapping, suggest_mapping
from harness.options import part_of
from harness.reports.tables.numbers import counted
from harness.row_files import find_table, to_toml, write_atomic
from harness.text import broken_command, one_line, terminal_safe

_EXAMPLE_JUDGE = "openai/MODEL"


def start(arguments: Start) -> int:
    library = Library(*arguments.content)
    to = arguments.to or folder_of(arguments.file)
    if not arguments.plan and to.is_dir() and find_table(to, "labels"):
        raise UsageError(f"{to} already holds labels; name another folder with --to, or add to them with 'harness labels import --append'")
    mapping = mapping_of(arguments.columns)
    if not arguments.plan and (judging := _read_table_options(mapping, arguments)):
        ask = None if arguments.yes or not sys.stdin.isatty() else ask_role
        if judged := read_judged_table(arguments.file, judging, ask):
            return _answer(judged, to, mapping, arguments)
    options = part_of(arguments.reading, ImportOptions)
    options, table = _read_table(arguments.file, options, arguments.columns.id_from)
    look = _settle_mapping(table, library, mapping, sure=bool(arguments.yes or arguments.plan))
    options = replace(options, unlabelled=not look.scored, partly=True)  # what is not explained was refused above
    if arguments.plan:
        values, defaults = msgspec.to_builtins(look.mapping), msgspec.to_builtins(LabelMapping())
        stated = {name: _drop_defaults(value) for name, value in values.items() if value != defaults[name]}
        write_atomic(arguments.plan, to_toml(stated).encode())
        source, plan = shlex.quote(str(arguments.file)), shlex.quote(str(arguments.plan))
        _say(f"correct the mapping and pass it: harness start {source} --map {plan}")
        print(arguments.plan)
        return 0
    metrics = (look.mapping.metric,) if look.mapping.metric else ()
    questions = _read_questions(arguments, library, look.mapping.metrics or metrics)
    imported = import_labels(arguments.file, to, look.mapping, options, library)
    print_summary(imported)
    if imported.written:
        _state_questions(imported.folder, questions)
    prompts = _write_prompts(imported, look.mapping, library, questions) if imported.written else []
    steps = list(_list_next_steps(imported, prompts, look.mapping, arguments.columns.sampling))
    commands = [f"{command}   # {words}" for words, command in steps]
    code = ended(imported, (lambda: {**facts_of(imported), "next": commands}) if arguments.json else None)
    if imported.written and not arguments.json:
        width = known_width(sys.stderr)
        lines = ["", "Next:"]
        for words, command in steps:
            lines += in_lines(one_line(f"{words}:"), width)
            lines += [f"  {part}" for part in broken_command(one_line(command), (width or sys.maxsize) - 2)]
        print("\n".join(map(terminal_safe, lines)), file=sys.stderr)
    return code


def _read_table_options(mapping: LabelMapping, arguments: Start) -> TableOptions | None:
    """Return what the flags say of a table with a judge; None where they say what only an importer of labels reads."""
    shared = ("id", "title", "language", "task", "metric", "sampling", "source", "columns", "texts", "group", "system", "drop", "metrics")
    empty = LabelMapping()
    importers = msgspec.structs.replace(mapping, **{name: getattr(empty, name) for name in (*shared, "human", "wide_annotators")})
    columns = {str(role): name for role, name in mapping.columns.items()}
    key_columns = {name: columns.pop(role, None) for role, name in (("item_id", "id"), ("group", "group"), ("system", "system"))}
    language, metric = (columns.pop(role, None) or mapping.constant(role) for role in ("language", "metric"))
    if columns or importers != empty:
        return None
    return TableOptions(
        human=(*mapping.human, *mapping.wide_annotators),
        judge=tuple(arguments.judge or ()),
        text=tuple(mapping.texts.values()),
        language=language,
        metric=metric,
        id=key_columns["id"],
        group=key_columns["group"] or mapping.group,
        system=key_columns["system"] or mapping.system,
        drop=mapping.drop,
        scale=arguments.columns.scale,
        recode=arguments.recode,
        sampling=mapping.sampling,
        source=mapping.source if mapping.source in ("native", "constructed") else "people",
    )


def _read_questions(arguments: Start, library: Library, metrics: Collection[str]) -> dict[str, str]:
    """Return the questions that are stated, by metric: a line for the question and one for each class that has words.

    Raises UsageError for a metric without scores, and for one that has a rubric, whose words pages and prompts share already.
    """
    stated = parse_pairs(arguments.question, "--question", form="METRIC=WORDS")
    for metric in stated:
        if metric not in metrics:
            raise UsageError(f"--question {metric}: there are no scores of that name.{choose_from(sorted(metrics), metric)}")
        if metric in library.rubric_files:
            raise UsageError(
                f"--question {metric}: this metric has a rubric, whose words pages and prompts share; give the column another metric's name"
            )
    return {metric: "\n".join(part.strip() for part in words.split("|") if part.strip()) for metric, words in stated.items()}


def _state_questions(folder: Path, questions: Mapping[str, str]) -> None:
    """Write the questions into the folder's data.toml, where labelling pages read them."""
    if questions:
        path = folder / "data.toml"
        write_atomic(path, path.read_bytes() + b"\n" + to_toml({"questions": dict(questions)}, multiline=True).encode(), private=True)


def _answer(table: OneTable, to: Path, mapping: LabelMapping, arguments: Start) -> int:
    """Keep a table with a judge as a data folder, and show the answer: who has one needs no judge to be asked."""
    from harness.cli import function_of

    show_table(table)
    questions = _read_questions(arguments, Library(*arguments.content), table.data.scales)
    stated = {name: value for name in ("id", "title") if (value := getattr(mapping, name)) is not None}
    msgspec.structs.replace(table.data, about=msgspec.structs.replace(table.data.about, **stated)).save(to)
    _state_questions(to, questions)
    _say(f"kept as the data folder {to}")
    compared = read_flags("compare", [str(to), *(["--json"] if arguments.json else [])])
    return function_of(compared)(compared)


def texts_of_table(source: Path, mapping: LabelMapping, library: Library) -> tuple[Path, dict[str, str]]:
    """The data folder of a table of texts: the one of its name that is here, else imported as `harness start --yes` would.

    Beside it stand the table's columns of texts by their names in the folder; none where no judge has scored them, or they were imported
    before. Raises UsageError if the folder that is here has other texts.
    """
    to = folder_of(source)
    judged = read_judged_table(source)
    if find_table(to, "items"):
        folder_items = load_folder(to, library).by_id
        if judged and any(
            item.item_id not in folder_items or item.fields != folder_items[item.item_id].fields for item in judged.data.items
        ):
            raise UsageError(
                f"the data folder {to} is here and has other texts than {source}; name the folder itself, or move it away and repeat "
                "the command"
            )
        _say(f"{source} is kept as the data folder {to} already")
    elif judged:
        show_table(judged)
        judged.data.save(to)
        _say(f"kept as the data folder {to}")
    else:
        options, table = _read_table(source, ImportOptions())
        look = _settle_mapping(table, library, mapping, sure=True)
        imported = import_labels(source, to, look.mapping, replace(options, unlabelled=not look.scored, partly=True), library)
        print_summary(imported)
        if not imported.written:
            raise UsageError(f"the texts of {source} were not imported")
        return to, {name: name for name in look.mapping.texts}
    return to, judged.roles.texts if judged else {}


def _read_table(source: Path, options: ImportOptions, id_from: Sequence[str] | None = None) -> tuple[ImportOptions, SourceTable]:
    """The table as it stands, with ids from the columns that the user named, and the options with its encoding."""
    text_file = source.suffix.lower() in (".csv", ".tsv", ".txt", ".tab") and source.is_file()
    if not options.encoding and text_file:  # one that is not UTF-8 is read in the encoding that its bytes suggest, which is said
        if encoding := likely_encoding(source):
            _say(f"{source} is not UTF-8; it is read as {encoding} (--encoding NAME, if letters look wrong)")
        options = replace(options, encoding=encoding)
    table = with_plain_names(read_source(str(source), options))
    return options, with_ids(table, id_from, str(source)) if id_from else table


def _settle_mapping(table: SourceTable, library: Library, mapping: LabelMapping, *, sure: bool) -> SuggestedMapping:
    """The first look with what the user says to it: takes the guesses where the user is `sure` (`--yes`), else answers on a terminal.

    Raises UsageError where nobody can answer and `--yes` is missing.
    """
    scales = rubric_scales(library)
    mapping = mapping if mapping.task else msgspec.structs.replace(mapping, task="texts")
    table, mapping = with_people_apart(table, mapping)
    if mapping.wide_items is not None:
        table = one_record_per_item(table, mapping.wide_items, "the table")
    look = suggest_mapping(table, scales, mapping)
    _say("This is what the table seems to hold:")
    for guess in look.guesses:
        _say(f"  {guess}")
    if look.unused:
        _say(f"  not used: {', '.join(look.unused)}")
    if not look.scored:
        _say("  no scores: the texts are imported without labels")
    if not (look.mapping.texts or look.mapping.language or "language" in look.mapping.columns):
        raise UsageError(
            f"no column of texts was found, and so no language; name them: --text output=COLUMN, or --language TAG for scores alone "
            f"(the columns are: {', '.join(table.columns)})"
        )
    if sure:
        if look.doubts:
            raise UsageError("nothing was imported, as the table is not wholly explained:\n         " + "\n         ".join(look.doubts))
        return look
    if not sys.stdin.isatty():
        raise UsageError("pass --yes to take these guesses, correct them with flags, or write them down with --plan FILE.toml")
    # at most four questions; an empty answer takes the guess
    suggested = look.mapping
    changes: dict[str, Any] = {}
    if suggested.language and not mapping.language:
        changes["language"] = _ask("which language are the texts in?", suggested.language)
    if suggested.metric and not mapping.metric and look.scored:
        changes["metric"] = _ask("what did people score? one word, such as fluency", suggested.metric)
    metric = changes.get("metric", suggested.metric)
    scale = suggested.metrics.get(suggested.metric or "")
    if metric and scale and metric not in mapping.metrics:
        ends = scale.classes[:1] + scale.classes[-1:] if scale.classes else (scale.min, scale.max)
        answer = _ask("from which to which score, and which is the best?", f"{ends[0]}..{ends[1]}:best={scale.best}")
        changes["metrics"] = {**mapping.metrics, **parse_scales([f"{metric}={answer}"])}
    mapping = msgspec.structs.replace(mapping, **changes)
    look = suggest_mapping(table, scales, mapping)
    if _ask("import it like this? yes or no", "yes")[:1].casefold() not in ("y", "j"):
        raise UsageError("nothing was imported; flags correct a guess, and --plan FILE.toml writes all of them down")
    return look


def _ask(question: str, guess: str) -> str:
    print(terminal_safe(f"{question} [{guess}] "), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip() or guess


def _drop_defaults(value: Any) -> Any:
    return (
        {name: _drop_defaults(part) for name, part in value.items() if part not in (None, (), [], {})} if isinstance(value, dict) else value
    )


def folder_of(source: Path) -> Path:
    """The data folder of a table: of its name, here."""
    name = source.name
    for suffix in reversed(source.suffixes):
        name = name.removesuffix(suffix)
    return Path(name)


def _write_prompts(imported: ImportSummary, mapping: LabelMapping, library: Library, questions: Mapping[str, str]) -> list[Path]:
    """A prompt for each metric that has no rubric here, to be read and mended by hand. A file that is there stays."""
    from harness.authoring.scaffold import prompt_for

    metrics = imported.metrics or ((mapping.metric,) if mapping.metric else ())
    without_rubric = [name for name in metrics if name not in library.rubric_files or mapping.task not in library.task_files]
    paths = []
    for name in without_rubric:
        if scale := mapping.metrics.get(name) or rubric_scales(library).get(name):
            path = imported.folder / f"ask-{name}.toml".replace("/", "-")
            if not path.exists():
                write_atomic(path, prompt_for(name, scale, list(mapping.texts), questions.get(name, "")).encode())
            paths.append(path)
    return paths


def _list_next_steps(
    imported: ImportSummary, prompts: Sequence[Path], mapping: LabelMapping, sampling: str | None
) -> Iterator[tuple[str, str]]:
    """Yield what comes next and its command, with the names of this folder, and what the last of them still needs."""
    folder = shlex.quote(str(imported.folder))
    prompt_files = prompts if prompts or imported.labels else [Path("ask.toml")]
    asking = (
        f"harness run --data {folder}{''.join(f' --prompt {shlex.quote(str(path))}' for path in prompt_files)} --judge {_EXAMPLE_JUDGE}"
    )
    if imported.labels:
        flag, about = ("", "")
        if imported.unlabelled:
            flag, about = " --unlabelled", f", also about the {counted(imported.unlabelled, 'text')} without a score"
        yield f"Ask a judge{about}{_read_first(prompts)}", f"{asking}{flag}"
        yield "See whether the judge may be used (RUN is the name that the first command prints)", "harness compare RUN"
        drawn = f' (it needs sampling = "random" at the top of {folder}/data.toml, if the texts were drawn so)'
        needs = "" if sampling == "random" else drawn
        yield f"Get means of the scores, corrected by people's labels{needs}", "harness correct RUN"
        return
    fields = shlex.quote(",".join(mapping.texts))
    yield "Make a page on which people label the texts", f"harness labels page {folder} --fields {fields} --out pages"
    if not prompts:
        yield "Write what a judge is asked", "harness new prompt ask"
    yield f"Ask a judge{_read_first(prompts)}", f"{asking} --unlabelled"


def _read_first(prompts: Sequence[Path]) -> str:
    return f" (read {prompts[0]} first)" if prompts else ""


def _say(text: str) -> None:
    from harness.render.terminal import print_lines  # late: with rich

    print_lines(map(one_line, text.split("\n")), stderr=True)
