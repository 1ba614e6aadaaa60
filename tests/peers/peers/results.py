"""Results, one JSON line each, and the table and comparison made of them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

OUTCOMES = ("ok", "refused", "failed", "owner")


@dataclass(frozen=True)
class Result:
    """One step of one model.

    ok: as it should be. refused: exit code 3, which names the reason. owner: the owner does not
    load or run what its specification allows (see DISAGREEMENTS.md). failed: a fault of the suite.
    """

    set: str
    model: str
    step: str
    outcome: str
    detail: str = ""
    seconds: float = 0.0


def append(path: Path, result: Result) -> None:
    with path.open("a") as out:
        out.write(json.dumps(asdict(result)) + "\n")


def read(path: Path) -> list[Result]:
    return [Result(**json.loads(line)) for line in path.read_text().splitlines()]


def _share(results: Iterable[Result]) -> str:
    counts: dict[str, int] = defaultdict(int)
    for result in results:
        counts[result.outcome] += 1
    tried = sum(counts.values())
    if not tried:
        return "-"
    rest = [f"{counts[name]} {name}" for name in OUTCOMES[1:] if counts[name]]
    return f"{counts['ok']}/{tried}" + (f" ({', '.join(rest)})" if rest else "")


def table(results: list[Result]) -> str:
    """Markdown: a row for each set, with all of its steps."""
    lines = [
        "| set | models | valid | run equal | converted | loaded and equal in the owner's runtime "
        "| edits |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    names = sorted({result.set for result in results})
    for name in [*names, "all"]:
        own = [result for result in results if name in (result.set, "all")]
        cells = [
            _share(r for r in own if r.step.split(":")[0] == step)
            for step in ("validate", "run", "convert", "load", "edit")
        ]
        models = len({(result.set, result.model) for result in own})
        lines.append(f"| {name} | {models} | {' | '.join(cells)} |")
    return "\n".join(lines)


def failures(results: list[Result]) -> str:
    return "\n".join(
        f"{r.set}/{r.model} {r.step}: {r.detail}" for r in results if r.outcome == "failed"
    )


def compare(before: list[Result], after: list[Result]) -> str:
    """What changed between two runs, and how the time of the common steps did."""
    old = {(r.set, r.model, r.step): r for r in before}
    new = {(r.set, r.model, r.step): r for r in after}
    common = old.keys() & new.keys()
    lines = [
        f"{'/'.join(key)}: {old[key].outcome} -> {new[key].outcome} {new[key].detail}"
        for key in sorted(common)
        if old[key].outcome != new[key].outcome
    ]
    lines += [f"{'/'.join(key)}: only before" for key in sorted(old.keys() - new.keys())]
    lines += [f"{'/'.join(key)}: only after" for key in sorted(new.keys() - old.keys())]
    times = [sum(results[key].seconds for key in common) for results in (old, new)]
    lines.append(f"{len(common)} common steps: {times[0]:.1f} s before, {times[1]:.1f} s after")
    return "\n".join(lines)
