"""The report as JUnit XML: a suite for each model, a test for each step."""
import xml.sax.saxutils
from typing import Any

from nnzoo.rows import DEFECTS, steps_of

Json = dict[str, Any]

# How a step that is not ok is reported. Findings about a model are failures; what the programs lack
# is skipped.
SKIPPED = ("unsupported", "limit")


def _quoted(text: str) -> str:
    printable = "".join(c if c >= " " or c in "\t\n" else "?" for c in text)
    return xml.sax.saxutils.quoteattr(printable)


def _element(outcome: str) -> str:
    if outcome in SKIPPED:
        return "skipped"
    return "error" if outcome == "failure" or outcome in DEFECTS else "failure"


def _suite(row: Json) -> tuple[list[str], dict[str, int]]:
    steps = list(steps_of(row))
    numbers = {"tests": len(steps), "failures": 0, "errors": 0, "skipped": 0}
    cases = []
    for step in steps:
        head = f"    <testcase classname={_quoted(row['name'])} name={_quoted(step.name)}"
        if step.is_ok:
            cases.append(head + "/>")
            continue
        element = _element(step.outcome)
        numbers[element if element == "skipped" else element + "s"] += 1
        cases.append(f"{head}><{element} message={_quoted(step.outcome + ': ' + step.reason)}/>"
                     "</testcase>")
    attributes = " ".join(f'{name}="{value}"' for name, value in numbers.items())
    return ([f"  <testsuite name={_quoted(row['name'])} {attributes}>", *cases, "  </testsuite>"],
            numbers)


def junit(rows: list[Json]) -> str:
    """The contents of junit.xml."""
    lines: list[str] = []
    total = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for row in rows:
        suite, numbers = _suite(row)
        lines += suite
        for name, value in numbers.items():
            total[name] += value
    attributes = " ".join(f'{name}="{value}"' for name, value in total.items())
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>',
                      f'<testsuites name="nnzoo" {attributes}>', *lines, "</testsuites>", ""])
