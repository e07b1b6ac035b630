"""The app: every command with what it is for, its help, and the sentences about arguments that cannot be read.

A command is a frozen dataclass of `harness.cli.commands`, which is imported when it is called; its fields are its flags.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from cyclopts import App, Argument, ArgumentCollection, CycloptsError, Group, Parameter
from cyclopts.exceptions import (
    CoercionError,
    MissingArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
    ValidationError,
)

from harness.cli.commands.shared import FIRST, Command

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "find out": {
        "atlas": ("find_out:ShowAtlas", "what is known of judges by language: which one may be used for what, on people's labels"),
        "start": ("find_out:Start", "begin with a spreadsheet: find its texts and scores, import them, and say what to do next"),
        "run": ("find_out:Run", "ask judges and report how well they agree with the labels"),
        "compare": ("find_out:Compare", "compare recorded judgments with labels, without asking a judge"),
        "report": ("find_out:ShowReport", "rebuild a run's report from the store, without asking a judge"),
        "runs": ("find_out:Runs", "list the runs of a results folder"),
    },
    "use a judge's scores": {
        "improve": ("use_scores:Improve", "choose the judge or setting that agrees best with people, confirm it on other labels"),
        "explain": ("use_scores:Explain", "show what a judge's errors follow: the length, language or system of texts"),
        "correct": ("use_scores:Correct", "estimate means, class shares and differences of systems from a judge's scores and some labels"),
        "accept": ("use_scores:Accept", "find from which confidence on a judge's answers can be accepted without a person"),
        "calibrate": (
            "use_scores:Calibrate",
            "learn what people say of a text with a judge's score, by language: scores before and after, and sets with a guarantee",
        ),
        "certify": (
            "use_scores:Certify",
            "write a judge's certificate for other programs, check whether one holds, or extend it to other texts",
        ),
        "prompt-hash": (
            "use_scores:PromptHash",
            "print the hashes of a run's prompts and rubrics, which a program passes to a certificate",
        ),
        "gate": ("use_scores:Gate", "hold the limits of a policy against a run's numbers: pass (0), fail (1), inconclusive (7)"),
        "watch": ("", "keep a certificate only as long as it holds: say when the judge or the texts have changed"),
        "watch init": (
            "use_scores:WatchInit",
            "begin a watch: draw anchors among the labelled texts, ask the judge about each, fix reference levels",
        ),
        "watch add": ("use_scores:WatchAdd", "add a day: ask the judge about anchors again, and take in new scores"),
        "watch check": (
            "use_scores:WatchCheck",
            "say whether judge or texts changed: nothing shown (exit code 0), a change or an expired certificate (1), not yet known (7)",
        ),
        "watch draw": (
            "use_scores:WatchDraw",
            "print the anchors of a day, with the number of times to ask each, for a judge that you ask yourself",
        ),
    },
    "people's labels and published data": {
        "labels": ("", "import, export and check label sets, and plan how many labels are needed"),
        "labels import": (
            "labels_and_data:LabelsImport",
            "convert a table, a filled sheet or an export of an annotation tool to a data folder",
        ),
        "labels export": ("labels_and_data:LabelsExport", "write labels as a table, or items as a sheet or a project for people to score"),
        "labels check": ("labels_and_data:LabelsCheck", "show how well annotators agree, and which labels and texts look wrong"),
        "labels needed": (
            "labels_and_data:LabelsNeeded",
            "show how many more texts have to be labelled, for an interval and for a verdict",
        ),
        "labels plan": ("labels_and_data:LabelsPlan", "draw the texts to label next, by a judge's scores, with the probability of each"),
        "labels reviews": (
            "labels_and_data:LabelsReviews",
            "show how far people agree with a judge's reasons, after 'labels page --review'",
        ),
        "labels page": ("labels_and_data:LabelsPage", "write pages on which people label in their browser, one self-contained file each"),
        "labels serve": ("labels_and_data:LabelsServe", "serve labelling pages to people in one room, and keep their answers as they come"),
        "data": ("", "list, fetch, check and remove published data with people's labels"),
        "data list": (
            "labels_and_data:DataList",
            "list published data: languages, texts, annotators, judges, licence, and whether they are here",
        ),
        "data get": ("labels_and_data:DataGet", "fetch published data from their authors, check and convert them"),
        "data check": ("labels_and_data:DataCheck", "read fetched data again and hold them against the hashes of their card"),
        "data remove": ("labels_and_data:DataRemove", "remove fetched data and their raw files"),
        "data path": ("labels_and_data:DataPath", "print the folder of fetched data"),
    },
    "other programs": {
        "import": ("other_programs:ImportScores", "convert scores that another program made, judges' and people's, to a data folder"),
        "export": ("", "write a judge, its scores or a data set in the form of another program"),
        "export promptfoo-judge": (
            "other_programs:ExportPromptfooJudge",
            "write python assertions with which promptfoo asks a judge as 'run' does",
        ),
        "export inspect-scores": (
            "other_programs:ExportInspectScores",
            "write a judge's scores as a file for Inspect's precomputed_scores",
        ),
        "export hub": (
            "other_programs:ExportHub",
            "write items, labels and judgments as a data set for a hub, with its card; uploads nothing",
        ),
    },
    "leaderboards": {
        "board": ("", "show, build, check, verify and seal leaderboards"),
        "board show": ("leaderboards:BoardShow", "print a board's standings, recomputed from the raw replies, and the findings of probes"),
        "board build": ("leaderboards:BoardBuild", "write TABLE.md of each board, and a static site"),
        "board check": ("leaderboards:BoardCheck", "read every reply of the submissions again, and list all problems"),
        "board record": (
            "leaderboards:BoardRecord",
            "write the judgments in a board's data folder as submissions of recorded scores, without raw replies",
        ),
        "board verify": (
            "leaderboards:BoardVerify",
            "ask a sample of a submission's calls again, twice each, and mark it as verified if the answers match",
        ),
        "board seal": ("leaderboards:BoardSeal", "encrypt a board's labels, and publish a commitment (salted hash) to them"),
        "board open": ("leaderboards:BoardOpen", "decrypt the sealed labels of a board into a new folder"),
        "board rotate": ("leaderboards:BoardRotate", "encrypt a board's sealed labels for other keys; the labels do not change"),
        "submit": ("leaderboards:Submit", "write a run's replies to a board's folder, so that they can be proposed; sends nothing"),
    },
    "studies and large jobs": {
        "batch": ("", "manage the batches that 'harness run --engine batch' submitted"),
        "batch status": ("studies_and_jobs:BatchStatus", "show the batches of a results folder and their progress at the provider"),
        "batch collect": (
            "studies_and_jobs:BatchCollect",
            "fetch a run's finished batches and print the report once nothing is missing; submits nothing",
        ),
        "batch forget": ("studies_and_jobs:BatchForget", "give up a batch that cannot be fetched; its calls are asked and paid for again"),
        "generate": ("studies_and_jobs:Generate", "let models write the outputs of a task, as a data folder to be judged"),
        "pairs": ("studies_and_jobs:Pairs", "make pairs of outputs from a data folder with outputs of several systems"),
        "study": ("", "the section of a published study from recorded answers, and texts for one"),
        "study self-preference": (
            "studies_and_jobs:StudySelfPreference",
            "show whether judges recognise and prefer their own outputs (Panickssery et al. 2024)",
        ),
        "study chiang-lee": (
            "studies_and_jobs:StudyChiangLee",
            "compare samples of a judge's ratings with people's, by text and by system (Chiang & Lee 2023)",
        ),
        "study alter-texts": (
            "studies_and_jobs:StudyAlterTexts",
            "make altered texts from the control items, for the task rate_altered_text",
        ),
        "study export-finetuning": (
            "studies_and_jobs:StudyExportFinetuning",
            "write chats for fine-tuning a judge on a question about pairs, with answers",
        ),
        "store": ("", "check, export, clean or merge the replies of results folders"),
        "store check": ("studies_and_jobs:StoreCheck", "check the store: its file, and the relations and checksums of its rows"),
        "store export": ("studies_and_jobs:StoreExport", "export the replies of a results folder, for replay/<file>"),
        "store gc": ("studies_and_jobs:StoreGc", "delete unreferenced rows, never answers, and reclaim disk space"),
        "store merge": ("studies_and_jobs:StoreMerge", "merge the results folders of several machines into one"),
    },
    "content and this installation": {
        "list": ("content_and_installation:List", "list languages, tasks, rubrics, published data sets, boards or judges"),
        "check": ("content_and_installation:Check", "check all content: fields, scales, ids and versions"),
        "new": ("content_and_installation:New", "create the files of a new language pack, task, rubric or prompt, or a gate's policy"),
        "models": ("content_and_installation:Models", "list or download local models"),
        "doctor": ("content_and_installation:Doctor", "show installed packages, and which models, keys and folders are available"),
    },
}
"""The commands, by what they are for: the class of each (none for a group of commands), and its help."""

_FIRST_STEPS = """\
What do you want to do?

  which judge may be used in a language   harness atlas --lang ja
  begin with a spreadsheet of scores      harness start ratings.xlsx
  try a judge on the control items        harness run --langs ja,cs
  compare published judges with people    harness data list

'harness --help' lists all commands, 'harness COMMAND --help' the flags of one."""

_EXIT_CODES = """exit codes:
  0    done
  1    'harness check', 'harness store check' or 'harness board check' found problems; 'harness labels import' refused rows;
       'harness certify --check' found a stale certificate; a certificate allows nothing, or may not be extended;
       'harness gate' found a broken limit; 'harness watch check' found a change
  2    a flag or a name is wrong, or flags exclude each other
  3    a content or data file is wrong (the message gives file:line)
  4    a judge cannot be reached, used or trusted
  5    the results folder is in use, full, read-only, damaged or of a newer version; the system refuses a file or a folder (its
       rights, a name that is too long, no locks, no current folder); or standard output cannot be written
  6    the run ended, but some calls have no answer; the same command continues it. 'harness board check': a board's data are not here;
       'harness data check': a set that its card cannot confirm
  7    the evidence does not suffice yet: for a limit of 'harness gate', an extension by 'harness certify', or
       'harness watch check'
  130  interrupted (Ctrl-C); the same command continues
"""


@cache
def build_app() -> App:
    """Return the whole command line."""
    app = App(
        name="harness",
        help="Does a language model score texts like native speakers do, in each language? Asks judges, keeps every reply, and "
        "compares every score with people's labels.",
        help_format="plaintext",
        help_formatter=_print_panel,
        version=_version,
        default_parameter=Parameter(negative="", show_default=_shown_default, allow_repeating=True),
        group_parameters=FIRST,
        group_arguments=Group("arguments", sort_key=-1),
    )
    app.default(_first_steps)
    app.register_install_completion_command(group="this program", help="install completion of commands and flags for bash, zsh or fish")
    groups = {"": app}
    for order, (title, commands) in enumerate(COMMANDS.items()):
        purpose = Group(title, sort_key=order)
        for words, (target, text) in commands.items():
            group, _, name = words.rpartition(" ")
            settings: dict[str, Any] = {} if group else {"group": purpose}
            about = {"help": f"{text[0].upper()}{text[1:]}.", **settings}
            if target:
                groups[group].command(f"harness.cli.commands.{target}", name=name, **about)
            else:
                groups[words] = App(name=name, **about)
                app.command(groups[words])
    return app


def _first_steps() -> None:
    print(_FIRST_STEPS)


def _version() -> str:
    from importlib.metadata import version

    return f"harness {version('judge-harness')}"


def _shown_default(value: Any) -> str | None:
    """Return the default of a flag as the help shows it; None for a flag that does nothing without a value."""
    if value is None or value is False or value in ((), ""):
        return None
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def arguments_of(*words: str) -> ArgumentCollection:
    """Return the flags of a command."""
    _, apps, _ = build_app().parse_commands(list(words))
    return apps[-1].assemble_argument_collection().filter_by(parse=True)


def leaves() -> dict[str, str]:
    """Return the commands that can be run, with the class of each."""
    return {words: target for commands in COMMANDS.values() for words, (target, _) in commands.items() if target}


def read(words: Sequence[str]) -> Command:
    """Return the command that the words of a command line are. Raises SystemExit after a help, and for what cannot be read."""
    app = build_app()
    chain, apps, rest = app.parse_commands(list(words))
    if len(chain) == 1 and apps[-1].default_command is None and not rest:
        below = [leaf.split()[1] for leaf in leaves() if leaf.startswith(f"{chain[0]} ")]
        _refuse(chain, f"COMMAND (one of {', '.join(below)}) is missing; for example: {_example([chain[0], below[0]])}")
    try:
        call, bound, _ = app.parse_args(list(words), exit_on_error=False, print_error=False)
    except CycloptsError as err:
        _refuse(chain, _sentence(err, chain, words))
    result = call(*bound.args, **bound.kwargs)
    if isinstance(result, Command):
        return replace(result, argv=tuple(words))
    if call == app.help_print and not chain:
        print(_EXIT_CODES)
    raise SystemExit(0)  # after a help, the version, or the first steps


# ---- what cannot be read


def _refuse(chain: Sequence[str], message: str) -> NoReturn:
    print(f"{' '.join(['harness', *chain])}: {message}", file=sys.stderr)
    raise SystemExit(2)


def _sentence(err: CycloptsError, chain: Sequence[str], words: Sequence[str]) -> str:
    from harness.content.tags import suggest

    program = " ".join(["harness", *chain])
    match err:
        case _ if isinstance(err, UnknownCommandError) or (not chain and isinstance(err, UnusedCliTokensError)):
            names = [leaf.split()[len(chain)] for leaf in leaves() if leaf.split()[: len(chain)] == list(chain)]
            word = words[len(chain)]
            return f"argument COMMAND: invalid choice: '{word}' (choose from {', '.join(dict.fromkeys(names))}).{suggest(word, names)}"
        case UnknownOptionError():
            name = (err.token.keyword or err.token.value).partition("=")[0]
            at = next(index for index, word in enumerate(words) if word.partition("=")[0] == name or word.startswith(name))
            flags = [option for argument in arguments_of(*chain) for option in argument.names] if chain else ["--help", "--version"]
            value = words[at + 1 : at + 2] if words[at + 1 : at + 2] and not words[at + 1].startswith("-") else []
            rest = " ".join([words[at], *value])
            return f"unrecognized arguments: {rest}.{suggest(name, flags)} '{program} --help' lists all flags"
        case UnusedCliTokensError():
            return f"unrecognized arguments: {' '.join(err.unused_tokens or ())}. '{program} --help' lists all flags"
        case MissingArgumentError() if err.argument is not None:
            if err.keyword or err.argument.tokens:
                return f"argument {err.keyword or err.argument.name}: expected one argument"
            return _missing(err.argument, chain, words)
        case CoercionError() if err.argument is not None:
            value = err.token.value if err.token else ""
            name = (err.token and err.token.keyword) or err.argument.name
            if err.msg is not None:
                return f"argument {name}: {err.msg}"
            choices = err.argument.get_choices()
            if choices:
                return f"argument {name}: invalid choice: '{value}' (choose from {', '.join(choices)}).{suggest(value, choices)}"
            return f"argument {name}: invalid {getattr(err.target_type, '__name__', err.target_type)} value: '{value}'"
        case ValidationError():
            return err.exception_message
    return str(err)


def _missing(first: Argument, chain: Sequence[str], words: Sequence[str]) -> str:
    """Return what is missing, with an example. A positional argument is read before flags: where a flag is missing first, none is."""
    needed = [argument for argument in arguments_of(*chain) if argument.required]
    after = needed[[argument.name for argument in needed].index(first.name) :]
    missing = [one for one in after if not any(word.partition("=")[0] in one.names for word in words if word.startswith("-"))]
    texts = []
    for argument in missing:
        choices = argument.get_choices()
        about = f"one of {', '.join(choices)}" if choices else str(argument.parameter.help)
        texts.append(f"{argument.name.removeprefix('--') if argument.field_info.is_positional_only else argument.name} ({about})")
    return f"{' and '.join(texts)} {'is' if len(texts) == 1 else 'are'} missing; for example: {_example(chain)}"


_EXAMPLES = {
    "DIR": "folder",
    "DIR_OR_RUN": "pariksha",
    "RUN_OR_DIR": "pariksha",
    "FILE": "ratings.xlsx",
    "SOURCE": "ratings.xlsx",
    "DATA": "bundled",
    "BOARD": "controls",
    "NAME": "pariksha",
    "name": "ko",
    "--data DIR": "folder",
    "--out DIR": "made",
    "--to DIR": "made",
    "--to FILE": "made.jsonl",
    "--certificate FILE": "certificate.json",
    "--labels FILE": "labels.jsonl",
    "--key FILE": "key.txt",
    "--judge NAME": "openai/gpt-4o",
    "--by JUDGE": "openai/gpt-4o",
    "--task NAME": "summarize",
    "--board NAME": "controls",
    "--question NAME": "longer",
}
"""What an example of a command says where its usage has a placeholder; a placeholder that is not here stays, in small letters."""


def _example(chain: Sequence[str]) -> str:
    """Return a call of a command with all that it needs."""
    words = ["harness", *chain]
    for argument in arguments_of(*chain):
        if argument.required:
            flag = [] if argument.field_info.is_positional_only else [argument.name]
            usage = " ".join([*flag, str(argument.parameter.metavar or argument.name)])
            words += [*flag, _EXAMPLES.get(usage, next(iter(argument.get_choices() or ()), usage.split()[-1].lower()))]
    return " ".join(words)


# ---- the help


def help_of(*words: str, width: int = 110) -> str:
    """Return the help of a command, or of the whole command line, in lines of a width."""
    import io

    from rich.console import Console

    app = build_app()
    text = io.StringIO()
    app.help_print([*words], console=Console(file=text, width=width, color_system=None))
    return (text.getvalue() + ("" if words else _EXIT_CODES)).rstrip()


def _print_panel(console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
    """Print a part of the help in two columns, without frames or colours: it is read in pipes and documents too."""
    import textwrap

    if not panel.entries:
        return
    print_line = console.file.write
    width = max(options.max_width, 40)
    column = min(24, width // 3)
    print_line(f"{panel.title}:\n")
    for entry in panel.entries:
        usage, text = _usage(entry), _about(entry)
        lines = textwrap.wrap(text, width - column - 2, break_on_hyphens=False) or [""]
        if len(usage) > column - 2:
            print_line(f"  {usage}\n")
            usage = ""
        print_line(f"  {usage:<{column - 2}}  {lines[0]}".rstrip() + "\n")
        for line in lines[1:]:
            print_line(f"{'':{column + 2}}{line}\n")
    print_line("\n")


def _usage(entry: HelpEntry) -> str:
    return ", ".join(entry.display_labels_with_metavar)


def _about(entry: HelpEntry) -> str:
    parts = [getattr(entry.description, "primary_renderable", entry.description or "")]
    parts = [str(part) for part in parts]
    if entry.choices:
        parts.append(f"{{{','.join(entry.choices)}}}")
    if entry.default:
        parts.append(f"(default: {entry.default})")
    return " ".join(part for part in parts if part)
