"""The report as a page for a browser: one file, without network."""
import json
import pathlib
from typing import Any

from nnzoo.coverage import reasons_of
from nnzoo.examine import TARGETS
from nnzoo.rows import steps_of

Json = dict[str, Any]

STEPS = ("stage", "inspect", "validate", "run", "digest",
         *(f"to {target.name}" for target in TARGETS))
TEMPLATE = pathlib.Path(__file__).with_name("page.html")


def _cells(row: Json) -> Json:
    """A row as the script of the page reads it."""
    model = row.get("model", {})
    return {
        "name": row["name"],
        "status": row["status"],
        "license": row["license"],
        "format": model.get("format", ""),
        "bytes": row.get("bytes", 0),
        "parameters": model.get("parameters", 0),
        "operators": sorted(model.get("operators", {})),
        "steps": {step.name: [step.outcome, step.reason] for step in steps_of(row)},
        "digests": {target: conversion["digests"] for target, conversion
                    in row.get("targets", {}).items() if "digests" in conversion},
        "reasons": sorted({f"{step}: {reason}" for step, _, reason, _ in reasons_of(row)}),
        "sha256": row["sha256"],
        "key": row["key"],
    }


def page(head: Json, rows: list[Json], coverage: Json) -> str:
    """The contents of index.html."""
    found = {step.name for row in rows for step in steps_of(row)}
    data = json.dumps({"version": head["version"], "shard": head["shard"],
                       "steps": [name for name in STEPS if name in found],
                       "models": [_cells(row) for row in rows],
                       "operators": coverage["operators"], "reasons": coverage["reasons"]},
                      separators=(",", ":"), sort_keys=True)
    # In a script, "<" may begin its end.
    return TEMPLATE.read_text(encoding="utf-8").replace("@DATA@", data.replace("<", "\\u003c"))
