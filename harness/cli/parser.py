"""The parser: every command, flag and exit code. A command's module is imported only for its own run."""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any, NoReturn

from harness.cli.flags import content_and_here, finding_out, labels_and_data, leaderboards, other_programs, studies_and_jobs, using_scores
from harness.cli.listing import add_commands, first_words
from harness.plugins import load, registered

GROUP = "harness.commands"
LISTINGS = {
    "find out": finding_out.COMMANDS,
    "use a judge's scores": using_scores.COMMANDS,
    "people's labels and published data": labels_and_data.COMMANDS,
    "other programs": other_programs.COMMANDS,
    "leaderboards": leaderboards.COMMANDS,
    "studies and large jobs": studies_and_jobs.COMMANDS,
    "content and this installation": content_and_here.COMMANDS,
}
"""The commands, by what they are for, in the order of the help."""

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
  4    a judge cannot be reached, used or trusted, or most of its answers cannot be read: the first line shows one of them, and no
       verdict, number, certificate or rank rests on them
  5    the results folder is in use, full, read-only, damaged or of a newer version; the system refuses a file or a folder (its
       rights, a name that is too long, no locks, no current folder); or standard output cannot be written
  6    the run ended, but some calls have no answer; the same command continues it. 'harness board check': a board's data are not here;
       'harness data check': a set that its card cannot confirm
  7    the evidence does not suffice yet: for a limit of 'harness gate', an extension by 'harness certify', or
       'harness watch check'
  130  interrupted (Ctrl-C); the same command continues
"""


OPEN_GROUP = "study"
"""The group of commands that holds those of entry points."""


@cache
def build_parser(*, plugins: bool = True) -> argparse.ArgumentParser:
    """Return the whole command line; made once, as a run reads its flags a second time to keep them.

    Without `plugins`, the commands of entry points are not there: to look for them takes longer than most commands take to begin.
    """
    parser = _Parser(
        prog="harness",
        description="Does a language model score texts like native speakers do, in each language? Asks judges, keeps every reply, and "
        "compares every score with people's labels.",
        epilog=_EXIT_CODES,
        formatter_class=_Grouped,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    parser.set_defaults(command=_first_steps, verbose=False)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for listing in LISTINGS.values():
        add_commands(commands, listing)
    for point in registered(GROUP, "command").values() if plugins else ():
        add_commands(commands, load(point, str, "command"))
    return parser


def _first_steps(_: argparse.Namespace) -> int:
    print(_FIRST_STEPS)
    return 0


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


class _Parser(argparse.ArgumentParser):
    """Refuses in one sentence, on which argparse puts all flags of the command, and shows an example of what is missing."""

    def error(self, message: str) -> NoReturn:
        names = message.partition("the following arguments are required: ")[2].split(", ")
        missing = [f"{name} ({_explained(action)})" for action in self._needed() if (name := _name(action)) in names]
        if missing:
            message = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; for example: {self._example()}"
        self.exit(2, f"{self.prog}: {message}\n")

    def _needed(self) -> list[argparse.Action]:
        return [action for action in self._actions if action.required and action.nargs != "*"]

    def _example(self) -> str:
        words = [self.prog]
        for action in self._needed():
            if isinstance(action, argparse._SubParsersAction):
                first: _Parser = next(iter(action.choices.values()))
                return first._example()
            flag = action.option_strings[-1:]
            usage = " ".join([*flag, str(action.metavar or action.dest)])
            words += [*flag, _EXAMPLES.get(usage, next(iter(action.choices or ()), usage.split()[-1].lower()))]
        return " ".join(words)


def _name(action: argparse.Action) -> str:
    """What argparse calls it in messages."""
    return "/".join(action.option_strings) or str(action.metavar or action.dest)


def _explained(action: argparse.Action) -> str:
    return f"one of {', '.join(action.choices)}" if action.choices else str(action.help)


class _Grouped(argparse.RawDescriptionHelpFormatter):
    """Lists the commands by what they are for."""

    def _format_action(self, action: argparse.Action) -> str:
        if not isinstance(action, argparse._SubParsersAction):
            return super()._format_action(action)
        by_name = {each.dest: each for each in action._get_subactions()}
        parts = []
        for title, listing in LISTINGS.items():
            shown = (super(_Grouped, self)._format_action(by_name[name]) for name in first_words(listing))
            parts.append(f"\n  {title}:\n{''.join(shown)}")
        return "".join(parts)


def command_parser(parser: argparse.ArgumentParser, *words: str) -> argparse.ArgumentParser:
    """The parser of the command, or of the command of a group, that `words` begin with; `parser` itself if they name none."""
    for word in words[:2]:
        commands = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        if not commands or word not in commands[0]:
            break
        parser = commands[0][word]
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"harness {version('judge-harness')}")
        parser.exit()
