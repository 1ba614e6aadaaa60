"""Other tools on the same models: python -m peers.rivals DATA OUTPUT --bin DIR [--only PATTERN].

onnxsim and onnxslim beside `nnconvert --simplify`, on the ONNX models of a set. Each tool is a
process of its own, as users start it. A line for each has its seconds, peak memory, operators and
bytes, and whether ONNX Runtime has the source's outputs.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import onnx

from peers.owners import OwnerError, Owners
from peers.samples import Sample, read_samples
from peers.tolerances import difference

Command = list[str]


def _commands(programs: Path, source: Path, out: Path) -> dict[str, Command]:
    folder = Path(sys.executable).parent
    return {
        "nnconvert": [str(programs / "nnconvert"), "--simplify", str(source), str(out)],
        "onnxsim": [str(folder / "onnxsim"), str(source), str(out)],
        "onnxslim": [str(folder / "onnxslim"), str(source), str(out)],
    }


def _measure(command: Command) -> tuple[int, float, float]:
    """Exit code, seconds and peak memory (MB) of a process."""
    begin = time.monotonic()
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execv(command[0], command)
    _, status, usage = os.wait4(child, 0)
    seconds = time.monotonic() - begin
    return os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss / 1024


def _equal(owners: Owners, sample: Sample, out: Path) -> bool:
    try:
        want = owners["onnx"].run(sample.model, sample.inputs)
        owners["onnx"].check(out)
        return difference(owners["onnx"].run(out, sample.inputs), want) is None
    except OwnerError:
        return False


def _report(rows: list[dict[str, object]]) -> str:
    tools: dict[str, list[dict[str, object]]] = defaultdict(list)
    for row in rows:
        tools[str(row["tool"])].append(row)
    lines = [
        "| tool | models | written | equal | operators | bytes | seconds | peak MB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for tool, own in tools.items():
        sums = {
            key: sum(float(str(row[key])) for row in own)
            for key in ("written", "equal", "operators", "bytes", "seconds")
        }
        peak = max(float(str(row["peak"])) for row in own)
        lines.append(
            f"| {tool} | {len(own)} | {sums['written']:.0f} | {sums['equal']:.0f} "
            f"| {sums['operators']:.0f} | {sums['bytes']:.0f} | {sums['seconds']:.1f} "
            f"| {peak:.0f} |"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--only", default="*")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    options.output.write_text("")
    with tempfile.TemporaryDirectory() as folder, Owners(Path(folder)) as owners:
        for sample in read_samples(options.data):
            if sample.format != "onnx" or not fnmatch.fnmatch(sample.name, options.only):
                continue
            out = Path(folder) / "out.onnx"
            for tool, command in _commands(options.bin, sample.model, out).items():
                out.unlink(missing_ok=True)
                _, seconds, peak = _measure(command)
                written = out.exists()
                kept = onnx.load(str(out if written else sample.model))
                rows.append(
                    {
                        "tool": tool,
                        "model": sample.name,
                        "written": int(written),
                        "equal": int(written and _equal(owners, sample, out)),
                        "operators": len(kept.graph.node),
                        "seconds": round(seconds, 2),
                        "bytes": (out if written else sample.model).stat().st_size,
                        "peak": round(peak, 1),
                    }
                )
                with options.output.open("a") as output:
                    output.write(json.dumps(rows[-1]) + "\n")
    print(_report(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
