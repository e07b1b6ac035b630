"""The command's lists of kinds, formats and roles are those of the package, which the parser does not import."""

from __future__ import annotations

from harness.cli import parser
from harness.cli.flags import labels_flags
from harness.content.specs import ROLES
from harness.exchange.labels.export import FORMATS
from harness.exchange.labels.read import KINDS


def test_the_parser_knows_the_same_names() -> None:
    assert (labels_flags.IMPORTED, labels_flags.EXPORTED, labels_flags.ROLES) == (KINDS, FORMATS, ROLES)


def test_subcommands_have_help_and_explain_every_flag() -> None:
    [commands] = [
        action for action in parser.build_parser()._actions if hasattr(action, "choices") and action.choices and "labels" in action.choices
    ]
    [sub] = [action for action in commands.choices["labels"]._actions if action.choices]  # type: ignore[index]
    assert list(sub.choices) == ["import", "export", "check", "needed", "plan", "reviews", "page", "serve"]
    for name, command in sub.choices.items():
        assert command.description
        assert all(action.help or action.choices for action in command._actions), name
