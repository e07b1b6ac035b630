"""`harness --install-completion`: what a shell completes afterwards. zsh and fish may be absent."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from harness.cli import main
from harness.cli.command import class_of, fields_of
from harness.cli.commands import leaves

Homes = Callable[[str], tuple[Path, str]]

COMPLETE = """
complete -p harness
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_harness
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ZSH", "ZSH_CUSTOM", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, str]]:
    """Return the home folder in which the completion of a shell is installed, and what was said; each is installed once."""

    @cache
    def of_shell(shell: str) -> tuple[Path, str]:
        folder, said = tmp_path_factory.mktemp(shell), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(said):
            patch.setenv("HOME", str(folder))
            for name in ("ZSH", "ZSH_CUSTOM", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "ZDOTDIR"):
                patch.delenv(name, raising=False)
            assert install("--shell", shell) == 0
        return folder, said.getvalue()

    return of_shell


def script_in(home: Path) -> Path:
    [script] = [path for path in home.rglob("*") if path.is_file() and "harness" in path.name and path.parent.name != "bin"]
    return script


def install(*words: str) -> int | str | None:
    with pytest.raises(SystemExit) as caught:
        main(["--install-completion", *words])
    return caught.value.code


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash here")
@pytest.mark.parametrize(
    ("words", "completed", "absent"),
    [
        ("harness ''", ["run", "compare", "labels"], ["--json"]),
        ("harness comp", ["compare"], ["run"]),
        ("harness labels ''", ["import", "export", "check", "needed"], ["run"]),
        ("harness compare x --fig", ["--figure", "--figure-width", "--figure-kind"], ["--json"]),
        ("harness compare x --level ''", ["item", "system"], ["none"]),
        ("harness labels import --from ''", ["csv", "xlsx", "argilla"], []),
    ],
)
def test_bash_completes_commands_flags_and_values(homes: Homes, words: str, completed: list[str], absent: list[str]) -> None:
    home, _ = homes("bash")
    done = subprocess.run(
        ["bash", "--rcfile", str(home / ".bashrc"), "-i", "-c", COMPLETE.format(words=words)],
        env={"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    first, *replies = done.stdout.splitlines()
    assert first.startswith("complete ") and first.endswith("_harness harness")
    assert set(completed) <= set(replies) and not set(absent) & set(replies)


IN_ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT=; source $HOME/.zshrc; autoload -Uz compinit; compinit -u -d $HOME/dump; bindkey '^I' list-choices; print REA''DY"
while zpty -r shell line; do [[ $line == *READY* ]] && break; done
zpty -w -n shell "$1"$'\t'
seen=""
repeat 200 { while zpty -r -t shell part; do seen+=$part; done; [[ $seen == *"$2"* ]] && break; sleep .05 }
print -r -- "$seen"
zpty -d shell
"""
"""A shell on a pseudo-terminal lists the choices for the words `$1`, until one of them is `$2`, ten seconds at most."""


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("zsh") and shutil.which("fish")), reason="no zsh or no fish here")
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_zsh_and_fish_complete_commands_flags_and_values(homes: Homes, shell: str) -> None:
    home, _ = homes(shell)
    (home / "bin").mkdir()
    (home / "bin" / "harness").symlink_to(Path(sys.executable).with_name("harness"))  # fish completes commands that it can find
    environment = {"HOME": str(home), "PATH": f"{home / 'bin'}:{os.environ['PATH']}", "TERM": "dumb"}
    for words, completed, absent in (
        ("harness comp", "compare", "run "),
        ("harness labels ", "needed", "compare"),
        ("harness compare x --fig", "--figure-kind", "--json"),
        ("harness compare x --level ", "system", "none"),
    ):
        call = ["zsh", "-f", "-c", IN_ZSH, "zsh", words, completed] if shell == "zsh" else ["fish", "-c", f"complete -C '{words}'"]
        done = subprocess.run(call, env=environment, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert completed in done.stdout and absent not in done.stdout.replace(words, ""), (words, done.stdout, done.stderr)


@pytest.mark.parametrize(("shell", "start"), [("zsh", "#compdef harness"), ("fish", "#"), ("bash", "#")])
def test_a_script_is_written_that_has_every_command_and_flag(homes: Homes, shell: str, start: str) -> None:
    home, said = homes(shell)
    assert ("add to .zshrc: autoload -Uz compinit && compinit" in said) == (shell == "zsh")  # which has no completion here yet
    script = script_in(home)
    text = script.read_text("utf-8")
    assert text.startswith(start)
    for name in leaves():
        assert all(word in text for word in name.split())
        flags = [field.names[0] for field in fields_of(class_of(name)) if not field.positional]
        assert [flag for flag in flags if flag.lstrip("-") not in text] == []


@pytest.mark.parametrize(("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_a_script_is_one_that_its_shell_reads(homes: Homes, shell: str, check: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    script = script_in(homes(shell)[0])
    assert subprocess.run([shell, check, str(script)], capture_output=True, text=True).stderr == ""


@pytest.mark.parametrize("words", [("--shell", "tcsh"), ("--shell=",), ("tcsh",)])
def test_a_shell_that_is_not_possible_is_refused(
    home: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cyclopts.completion.detect.detect_shell", lambda: "tcsh")
    assert install(*words) == 2
    assert (
        "argument --shell: should be bash, zsh or fish; for example: harness --install-completion --shell bash" in capsys.readouterr().err
    )
    assert list(home.iterdir()) == []
