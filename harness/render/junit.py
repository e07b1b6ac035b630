"""JUnit XML, which pipelines read: suites of cases that pass, fail, or are skipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple
from xml.etree import ElementTree

from harness.text import without_controls


class JunitCase(NamedTuple):
    """One case. `kind` is the type of a failure."""

    name: str
    outcome: Literal["pass", "failure", "skipped"]
    message: str = ""
    kind: str = ""


def junit_xml(name: str, suites: Mapping[str, Sequence[JunitCase]]) -> str:
    """Return the file: `name` of the command, and the cases of each suite."""
    root = ElementTree.Element("testsuites", _counts([case for cases in suites.values() for case in cases]) | {"name": name})
    for title, cases in suites.items():
        suite = ElementTree.SubElement(root, "testsuite", _counts(cases) | {"name": without_controls(title)})
        for case in cases:
            element = ElementTree.SubElement(suite, "testcase", {"classname": without_controls(title), "name": without_controls(case.name)})
            if case.outcome != "pass":
                kind = {"type": case.kind} if case.outcome == "failure" and case.kind else {}
                ElementTree.SubElement(element, case.outcome, {"message": without_controls(case.message)} | kind)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _counts(cases: Sequence[JunitCase]) -> dict[str, str]:
    outcomes = [case.outcome for case in cases]
    return {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count("failure")),
        "errors": "0",
        "skipped": str(outcomes.count("skipped")),
    }
