"""Writes docs/api.md, the Python API, from signatures and docstrings: `python docs/make_api.py`. A test holds the two equal."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

import harness
from harness.decide.verdicts import Verdict
from harness.notebook import DrawnFigure, NotebookComparison, NotebookReport
from harness.options import Options, field_texts, flag_hints, flag_name

PAGE = Path(__file__).with_name("api.md")
# The order of the page: what newcomers need first. Every public name is here once.
ORDER = (
    *(
        "run",
        "RunSpec",
        "Settings",
        "RunResult",
        "report",
        "write_page",
        "compare",
        "CompareOptions",
        "TableOptions",
        "datasets",
        "load",
        "atlas",
    ),
    *("from_frames", "frame_of", "Dataset"),
    *(
        "generate",
        "GenerateSpec",
        "labels_check",
        "LabelCheckOptions",
        "check_gate",
        "GateOptions",
        "check_watch",
        "correct",
        "CorrectOptions",
        "accept",
        "AcceptOptions",
        "calibrate",
        "CalibrateOptions",
        "probabilities",
        "ProbabilityOptions",
        "certify",
        "CertifyOptions",
        "explain",
        "ExplainOptions",
        "improve",
        "ImproveOptions",
        "Asking",
        "AskedCandidate",
        "certificate",
        "cascade_certificate",
        "DecisionOptions",
        "Library",
        "HarnessError",
    ),
)
RETURNED = (NotebookReport, NotebookComparison, DrawnFigure, Verdict)
_MEMBERS = {
    "Dataset": ("save",),
    "Library": (),
    "HarnessError": (),
    "NotebookReport": ("as_json",),
    "Verdict": ("answer",),
}  # elsewhere all public methods are shown
_NO_DEFAULT = (msgspec.NODEFAULT, dataclasses.MISSING)
_PARTS = ("Args:", "Attributes:", "Raises:", "Returns:")


def page() -> str:
    """The whole page as Markdown."""
    titles = (*ORDER, *(kind.__name__ for kind in RETURNED))
    contents = "Contents: " + " · ".join(f"[{title}](#{title.lower()})" for title in titles)
    intro = "Generated from docstrings; do not edit. `import harness` costs nothing: each name is loaded on first use."
    parts = ["# The Python API", "", contents, "", intro]
    for name in ORDER:
        parts += ["", f"## {name}", "", *_entry(f"harness.{name}", getattr(harness, name))]
    for kind in RETURNED:
        parts += ["", f"## {kind.__name__}", "", *_entry(kind.__name__, kind)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def _entry(name: str, thing: Any) -> Iterator[str]:
    if isinstance(thing, types.ModuleType):
        yield from _documented(thing)
        kind = "CascadeCertificate" if name.endswith(".cascade_certificate") else "Certificate"
        for public in ("load", kind):
            yield from ("", *_member(f"{name}.{public}", getattr(thing, public)))
        yield from ("", *_member(f"{kind}.apply", getattr(thing, kind).apply))
        return
    yield from _member(name, thing)
    if inspect.isclass(thing):
        for member in _methods(thing):
            yield from ("", *_member(f"{name.rpartition('.')[2]}.{member}", inspect.getattr_static(thing, member)))


def _methods(kind: type) -> list[str]:
    """The public methods and properties of a class and of its own bases that have a docstring."""
    chosen = _MEMBERS.get(kind.__name__)
    if chosen is not None or issubclass(kind, Options):
        return list(chosen or ())
    found: dict[str, None] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("harness"):
            members = (name for name, value in vars(base).items() if callable(value) or isinstance(value, property))
            found |= dict.fromkeys(name for name in members if not name.startswith("_"))
    return [name for name in found if inspect.getdoc(getattr(kind, name))]


def _member(name: str, thing: Any) -> Iterator[str]:
    """One function, class, method or property: how it is called, and what its docstring says."""
    if isinstance(thing, property) or not callable(thing):
        yield f"**`{name}`**"
    else:
        yield from ("```python", _signature(name, thing), "```")
    yield from ("", *_documented(thing))
    if _has_fields(thing):
        yield from _fields(thing)


def _signature(name: str, thing: Any) -> str:
    """How a thing is called, a line for each parameter where there are several."""
    if _has_fields(thing):
        return f"{name}(...)"
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return name
    signature = inspect.signature(thing)
    parameters = list(_parameters(value for value in signature.parameters.values() if value.name != "self"))
    returned = "" if inspect.isclass(thing) else f" -> {_annotation(signature.return_annotation)}"
    inside = ", ".join(parameters) if len(parameters) < 4 else "".join(f"\n    {parameter}," for parameter in parameters) + "\n"
    return f"{name}({inside}){returned}"


def _parameters(parameters: Iterable[inspect.Parameter]) -> Iterator[str]:
    """The parameters as the source has them."""
    starred = False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            yield "*"
        starred = starred or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f" = {_shown(parameter.default)}"
        yield f"{stars}{parameter.name}: {_annotation(parameter.annotation)}{default}"


def _annotation(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _shown(default: Any) -> str:
    return f"{type(default).__name__}()" if _has_fields(type(default)) else "..." if callable(default) else repr(default)


def _has_fields(thing: Any) -> bool:
    return inspect.isclass(thing) and (issubclass(thing, msgspec.Struct) or dataclasses.is_dataclass(thing))


def _fields(kind: type) -> Iterator[str]:
    """The fields of a struct or dataclass that its docstring does not explain."""
    annotations = {name: text for base in reversed(kind.__mro__) for name, text in getattr(base, "__annotations__", {}).items()}
    explained = inspect.getdoc(kind) or ""
    defaults = {field.name: field for field in (dataclasses.fields if dataclasses.is_dataclass(kind) else msgspec.structs.fields)(kind)}
    rest = [name for name in defaults if not re.search(rf"^ +[\w, ]*\b{name}\b[\w, ]*:", explained, re.MULTILINE)]
    if rest:
        yield from ("", "Fields:", "")
        comments = _comments(kind) | {name: f": {_plain(text)}" for name, text in field_texts(kind).items()}
        flags = {name: f" (`{flag_name(kind, name)}`)" for name in flag_hints(kind)}
        for name in rest:
            kind_of_value = _plain_type(annotations[name])
            yield f"- `{name}: {kind_of_value}{_default(defaults[name])}`{flags.get(name, '')}{comments.get(name, '')}"


def _plain_type(annotation: str) -> str:
    """An annotation without what makes a flag of it."""
    inner = ast.parse(annotation, mode="eval").body
    if isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Tuple) and annotation.startswith("Annotated["):
        return ast.unparse(inner.slice.elts[0])
    return annotation


def _comments(kind: type) -> dict[str, str]:
    """What the source says beside a field."""
    bases = [base for base in reversed(kind.__mro__) if base.__module__.startswith("harness")]
    lines = (line for base in bases for line in inspect.getsource(base).splitlines())
    found = (re.match(r"    (\w+): .*?  # (.+)$", line) for line in lines)
    return {match[1]: f": {_plain(match[2])}" for match in found if match}


def _default(field: Any) -> str:
    if field.default in _NO_DEFAULT:
        return "" if field.default_factory in _NO_DEFAULT else " = …"
    shown = _shown(field.default)
    return f" = {shown}" if len(shown) < 60 else " = …"


def _documented(thing: Any) -> Iterator[str]:
    """A docstring as Markdown: examples as code, arguments as lists."""
    part = ""
    code = False
    for line in (inspect.getdoc(thing) or "").splitlines():
        text = line.strip()
        if text.startswith(">>>") != code and (text.startswith(">>>") or not text):
            code = not code
            yield "```python" if code else "```"
        if text in _PARTS:
            part = text
            yield from ("", text, "")
        elif code or not part or not text:
            yield line if code else _plain(text)
        else:
            yield _listed(line, part)
    if code:
        yield "```"


def _listed(line: str, part: str) -> str:
    """A line of a list of arguments; deeper lines continue the one above."""
    name, colon, text = line.strip().partition(": ")
    if line.startswith("     ") or not colon or part == "Returns:":
        return f"  {_plain(line.strip())}" if line.startswith("     ") else f"- {_plain(line.strip())}"
    return f"- `{name}`: {_plain(text)}"


def _plain(text: str) -> str:
    """Text that is no markup, but for what is between backticks."""
    pieces = text.split("`")
    return "`".join(piece if number % 2 else re.sub(r"([<>*_|])", r"\\\1", piece) for number, piece in enumerate(pieces))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
