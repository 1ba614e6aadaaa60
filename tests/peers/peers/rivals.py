"""Other tools on the same files: python -m peers.rivals DATA OUTPUT --bin DIR SET...

Three tasks, each of which nnconvert does, too: ONNX is simplified (onnxsim, onnxslim), ONNX becomes
TensorFlow Lite (onnx2tf), and TensorFlow Lite becomes ONNX (tf2onnx). Each tool is a process of its
own, as users start it; its time is that of the processor. A line for each has whether it wrote a
file, whether the owner of the written format has the outputs of the owner of the source, seconds,
peak memory and bytes. --sample chooses as many models of each set, by --seed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import permutations
from pathlib import Path

import numpy as np

from peers.owners import OwnerError, Owners
from peers.programs import Programs
from peers.samples import Arrays, Sample, load_arrays, read_samples, save_arrays
from peers.tolerances import FLOAT, INTEGER, OWNERS_STEPS, STEP, Tolerance, difference

SECONDS = 300


@dataclass(frozen=True)
class Try:
    """A tool's command for a task; `written` is the file or pattern that it writes."""

    tool: str
    task: str
    command: list[object]
    written: str


@dataclass(frozen=True)
class Row:
    """What a tool did with a model."""

    task: str
    tool: str
    set: str
    model: str
    written: bool
    equal: bool
    seconds: float
    peak: float
    bytes: int
    detail: str = ""


class Tools:
    """The commands of the tools that are installed."""

    def __init__(self, programs: Path, onnx2tf: Path | None) -> None:
        self._nnconvert = programs / "nnconvert"
        self._folder = Path(sys.executable).parent
        self._onnx2tf = onnx2tf or self._folder / "onnx2tf"

    def tries(self, sample: Sample, source: Path, out: Path) -> Iterator[Try]:
        shapes = self._shapes(sample) if "dynamic" in sample.traits else []
        if sample.format == "onnx":
            task = "ONNX, simplified"
            own = [self._nnconvert, "--simplify", source, out / "own.onnx"]
            yield Try("nnconvert", task, own, "own.onnx")
            for tool in ("onnxsim", "onnxslim"):
                command = [self._folder / tool, source, out / f"{tool}.onnx"]
                yield Try(tool, task, command, f"{tool}.onnx")
            task = "ONNX to TFLite"
            yield from self._own(source, out / "own.tflite", task, self._options(shapes))
            if self._onnx2tf.exists():
                command = [self._onnx2tf, "-i", source, "-o", out / "folder", "-n"]
                command += ["-kat", *sample.input_names]
                command += ["-ois", *shapes] if shapes else []
                yield Try("onnx2tf", task, command, "folder/*_float32.tflite")
        if sample.format == "tflite":
            task = "TFLite to ONNX"
            yield from self._own(source, out / "own.onnx", task, self._options(shapes))
            command = [sys.executable, "-m", "tf2onnx.convert", "--opset", 18]
            command += ["--tflite", source, "--output", out / "tf2onnx.onnx"]
            yield Try("tf2onnx", task, command, "tf2onnx.onnx")

    def _own(self, source: Path, out: Path, task: str, options: list[object]) -> Iterator[Try]:
        command = [self._nnconvert, source, out, "--threads", 1, *options]
        yield Try("nnconvert", task, command, out.name)
        yield Try("nnconvert --no-verify", task, [*command, "--no-verify"], out.name)

    @staticmethod
    def _options(shapes: list[str]) -> list[object]:
        return [option for shape in shapes for option in ("--input-shape", shape)]

    @staticmethod
    def _shapes(sample: Sample) -> list[str]:
        pairs = zip(sample.input_names, load_arrays(sample.inputs), strict=False)
        return [f"{name}:{','.join(map(str, a.shape))}" for name, a in pairs if a.ndim]


def _measure(command: list[object], errors: Path) -> tuple[int, float, float]:
    """Exit code, seconds of the processor and peak memory (MB) of a process."""
    child = os.fork()
    if child == 0:
        out = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        signal.alarm(SECONDS)
        os.execv(str(command[0]), [str(part) for part in command])
    _, status, usage = os.wait4(child, 0)
    seconds = usage.ru_utime + usage.ru_stime
    return os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss / 1024


def _allowed(sample: Sample, written: Path) -> Tolerance:
    same = written.suffix == sample.model.suffix
    if "integer" in sample.traits:
        return STEP if same else OWNERS_STEPS
    if "quantized" in sample.traits and not same:
        return OWNERS_STEPS
    return Tolerance(sample.rtol) if sample.rtol else FLOAT


def _same(got: np.ndarray, want: np.ndarray, allowed: Tolerance) -> bool:
    """Equal, perhaps with other axes: onnx2tf leaves outputs with the channels last."""
    if difference([got], [want], allowed) is None:
        return True
    if got.ndim != want.ndim or got.ndim > 5:
        return False
    return any(
        difference([got.transpose(axes)], [want], allowed) is None
        for axes in permutations(range(got.ndim))
        if got.transpose(axes).shape == want.shape
    )


def _paired(got: Arrays, want: Arrays, allowed: Tolerance) -> bool:
    """Each wanted output is one of those that a tool has left; their order is the tool's own."""
    rest = list(got)
    for array in want:
        found = [k for k, other in enumerate(rest) if _same(other, array, allowed)]
        if not found:
            return False
        rest.pop(found[0])
    return not rest


class Race:
    """Runs the tools on samples."""

    def __init__(self, tools: Tools, programs: Programs, owners: Owners, folder: Path) -> None:
        self._tools, self._programs, self._owners = tools, programs, owners
        self._folder = folder

    def rows(self, name: str, sample: Sample) -> Iterator[Row]:
        try:
            want = self._owners[sample.format].run(sample.model, sample.inputs)
        except OwnerError:
            return
        out, copies = self._folder / "out", self._folder / "source"
        for attempt in self._tools.tries(sample, copies / sample.model.name, out):
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            # onnx2tf writes its own form of the model over it.
            shutil.rmtree(copies, ignore_errors=True)
            shutil.copytree(sample.model.parent, copies)
            log = self._folder / "log.txt"
            code, seconds, peak = _measure(attempt.command, log)
            found = sorted(out.glob(attempt.written)) if code == 0 else []
            detail = "" if found else " ".join(log.read_text(errors="replace").split())[-300:]
            if found:
                detail = self._differs(sample, found[0], want)
            yield Row(
                attempt.task,
                attempt.tool,
                name,
                sample.name,
                bool(found),
                bool(found) and not detail,
                round(seconds, 3),
                round(peak, 1),
                found[0].stat().st_size if found else 0,
                detail,
            )

    def _differs(self, sample: Sample, written: Path, want: Arrays) -> str:
        kind = "onnx" if written.suffix == ".onnx" else "tflite"
        try:
            inputs = self._ordered(sample, written)
            got = self._owners[kind].run(written, inputs, "" if kind == "onnx" else "optimized")
        except OwnerError as error:
            return str(error)[:300]
        allowed = _allowed(sample, written)
        reason = difference(got, want, allowed)
        return "" if reason is None or _paired(got, want, allowed) else reason

    def _ordered(self, sample: Sample, written: Path) -> Path:
        """The arrays in the order of the inputs of the written file, by name."""
        found = self._programs("nninspect", "--format", "json", written)
        if found.code:
            return sample.inputs
        ports = json.loads(found.text[found.text.index("{") :])["inputs"]
        known = {_plain(n): k for k, n in enumerate(sample.input_names)}
        names = [_plain(port["name"]) for port in ports]
        if not set(names) <= set(known):
            return sample.inputs
        arrays = load_arrays(sample.inputs)
        ordered = self._folder / "ordered.npz"
        save_arrays(ordered, [arrays[known[name]] for name in names], "in")
        return ordered


def _plain(name: str) -> str:
    """TensorFlow adds a prefix and an index to names, and replaces characters."""
    name = name.removeprefix("serving_default_").split(":")[0]
    return "".join(c if c.isalnum() else "_" for c in name)


def report(rows: list[Row]) -> str:
    """Medians and sizes are of the files that all tools of the task have written."""
    lines = [
        "| task | tool | models | written | equal | median seconds | median peak MB | MB in common |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for task in dict.fromkeys(row.task for row in rows):
        own = [row for row in rows if row.task == task]
        tools = list(dict.fromkeys(row.tool for row in own))
        keys = [{(r.set, r.model) for r in own if r.tool == t and r.written} for t in tools]
        common = set.intersection(*keys)
        for tool in tools:
            tried = [row for row in own if row.tool == tool]
            both = [row for row in tried if (row.set, row.model) in common]
            cells = [len(tried), sum(r.written for r in tried), sum(r.equal for r in tried)]
            if both:
                cells += [
                    f"{statistics.median(r.seconds for r in both):.2f}",
                    f"{statistics.median(r.peak for r in both):.0f}",
                    f"{sum(r.bytes for r in both) / 1e6:.2f} ({len(both)})",
                ]
            lines.append(f"| {task} | {tool} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _chosen(data: Path, sets: list[str], count: int, seed: int) -> list[tuple[str, Sample]]:
    chosen = []
    for name in sets:
        samples = list(read_samples(data / name))
        if 0 < count < len(samples):
            samples = random.Random(f"{name}{seed}").sample(samples, count)
        chosen += [(name, sample) for sample in samples]
    return chosen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--bin", type=Path, help="folder of the programs")
    parser.add_argument("--sample", type=int, default=0, help="models of each set; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--onnx2tf", type=Path, help="onnx2tf of another environment")
    parser.add_argument("--table", action="store_true", help="only print the table of OUTPUT")
    options = parser.parse_args()
    if not options.table:
        options.output.write_text("")
        with tempfile.TemporaryDirectory() as folder, Owners(Path(folder)) as owners:
            tools = Tools(options.bin, options.onnx2tf)
            race = Race(tools, Programs(options.bin), owners, Path(folder))
            for name, sample in _chosen(options.data, options.sets, options.sample, options.seed):
                for row in race.rows(name, sample):
                    with options.output.open("a") as output:
                        output.write(json.dumps(asdict(row)) + "\n")
    rows = [Row(**json.loads(line)) for line in options.output.read_text().splitlines()]
    print(report(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
