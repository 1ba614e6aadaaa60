"""Coverage: how many models have an operator, in how many it can be converted, and why not."""
import collections
import re
from typing import Any, Iterable

from nnzoo.rows import STATUSES, steps_of

Json = dict[str, Any]


def general(reason: str) -> str:
    """A reason without the names and shapes of one model."""
    reason = re.sub(r'"[^"]*"', '"..."', reason)
    reason = re.sub(r"\(operator \d+ \((\w+)\)\)", r"(\1)", reason)
    return re.sub(r"\[[^\[\]]*\]", "[...]", reason)


class _Operator:
    """Numbers of one operator of one format."""

    def __init__(self) -> None:
        self.models = 0
        self.nodes = 0
        self.run = 0  # models that can be run
        self.targets: dict[str, collections.Counter[str]] = collections.defaultdict(
            collections.Counter)

    def add(self, operator: str, count: int, row: Json) -> None:
        self.models += 1
        self.nodes += count
        self.run += row["run"]["outcome"] == "ok"
        for target, conversion in row["targets"].items():
            numbers = self.targets[target]
            numbers["models"] += 1
            numbers["converted"] += conversion["outcome"] == "converted"
            refused = sum(u["count"] for u in conversion.get("unsupported", [])
                          if u["operator"] == operator)
            numbers["refused_models"] += refused > 0
            numbers["refused_nodes"] += refused


def _operators(rows: list[Json]) -> list[Json]:
    table: dict[tuple[str, str], _Operator] = collections.defaultdict(_Operator)
    for row in rows:
        for operator, count in row.get("model", {}).get("operators", {}).items():
            table[row["model"]["format"], operator].add(operator, count, row)
    return [{"format": key[0], "operator": key[1], "models": o.models, "nodes": o.nodes,
             "run": o.run,
             "targets": {target: dict(numbers) for target, numbers in sorted(o.targets.items())}}
            for key, o in sorted(table.items())]


def reasons_of(row: Json) -> Iterable[tuple[str, str, str, int]]:
    """Step, outcome, reason in general, and number of nodes of everything that is not ok."""
    for step in steps_of(row):
        if step.is_ok:
            continue
        conversion = row.get("targets", {}).get(step.name.removeprefix("to "), {})
        unsupported = conversion.get("unsupported")
        if not unsupported:
            yield step.name, step.outcome, general(step.reason), 1
            continue
        for u in unsupported:
            yield step.name, step.outcome, f"{u['operator']}: {general(u['reason'])}", u["count"]


def _reasons(rows: list[Json]) -> list[Json]:
    models: dict[tuple[str, str, str], set[str]] = collections.defaultdict(set)
    nodes: collections.Counter[tuple[str, str, str]] = collections.Counter()
    for row in rows:
        for step, outcome, reason, count in reasons_of(row):
            models[step, outcome, reason].add(row["name"])
            nodes[step, outcome, reason] += count
    keys = sorted(models, key=lambda key: (-len(models[key]), key))
    return [{"step": key[0], "outcome": key[1], "reason": key[2], "models": len(models[key]),
             "nodes": nodes[key]} for key in keys]


def _steps(rows: list[Json]) -> Json:
    steps: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    digests: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for row in rows:
        for step in steps_of(row):
            steps[step.name][step.outcome] += 1
        for target, conversion in row.get("targets", {}).items():
            if "digests" in conversion:
                digests[target][conversion["digests"]] += 1
    return {"steps": {name: dict(sorted(numbers.items())) for name, numbers in steps.items()},
            "digests": {name: dict(sorted(numbers.items())) for name, numbers in digests.items()}}


def coverage_of(rows: list[Json]) -> Json:
    """The contents of coverage.json."""
    statuses = collections.Counter(row["status"] for row in rows)
    return {"models": len(rows), "statuses": {s: statuses[s] for s in STATUSES if statuses[s]},
            **_steps(rows), "operators": _operators(rows), "reasons": _reasons(rows)}
