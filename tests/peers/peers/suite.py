"""The steps of one model: validate, run, convert, load in the owner's runtime, edit."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from peers.edits import NEGATED, OTHER, Context, Edit, edits_of
from peers.owners import OwnerError, Owners
from peers.programs import REFUSED, Programs, Run
from peers.results import Result
from peers.samples import Arrays, Sample, load_arrays, save_arrays
from peers.tolerances import (
    FLOAT,
    HALF,
    INTEGER,
    OWNERS_STEPS,
    STEP,
    Tolerance,
    difference,
    largest_errors,
)

EXTENSIONS = {
    "onnx": ".onnx",
    "tflite": ".tflite",
    "coreml": ".mlmodel",
    "program": ".mlpackage",
    "nnapi": ".nnapi",
}
NOT_IMPLEMENTED = (
    "NOT_IMPLEMENTED",
    "NotImplemented",
    "Could not find an implementation",
    "is under development",
    "data type is not supported with ScatterElements",
    "Unsupported model IR version",
)
# Exit code 2: the option does not apply to such a model, and the message says what does.
USAGE = (
    "the model is quantized; --dequantize",
    "the edit leaves no operator",
    "the model has no float32 ",
    " has no effect: ",
)
LARGEST = float(np.finfo(np.float32).max)
EQUAL = {
    "optimized": "LiteRT's optimized kernels are equal",
    "plain": "ONNX Runtime is equal without optimizations",
}
SPREAD = "LiteRT's kernels differ as much from each other"
VARIANTS = {"onnx": ("",), "tflite": ("reference", "xnnpack"), "coreml": (), "program": ()}


def _finite_count(outputs: Arrays) -> int:
    """How many outputs precede the first one with a NaN or an infinity, by accident."""
    finite = [
        not np.issubdtype(a.dtype, np.floating) or bool(np.isfinite(a).all()) for a in outputs
    ]
    return [*finite, False].index(False)


def _as_litert(sample: Sample, outputs: Arrays) -> Arrays:
    """LiteRT's fused operators have the largest float instead of an infinity (DISAGREEMENTS.md)."""
    if sample.format != "tflite" or "special" not in sample.traits:
        return outputs
    return [
        np.clip(a, -LARGEST, LARGEST) if np.issubdtype(a.dtype, np.floating) else a
        for a in outputs
    ]


class Suite:
    """Runs the steps of models; `emit` receives each result."""

    def __init__(
        self,
        programs: Programs,
        owners: Owners,
        scratch: Path,
        name: str,
        emit: Callable[[Result], None],
        edits: int = 0,
        converts: bool = True,
    ) -> None:
        self._programs, self._owners, self._scratch = programs, owners, scratch
        self._converts = converts
        self._set, self._emit, self._edits = name, emit, edits
        self._refuses_source = False

    def examine(self, sample: Sample) -> None:
        """All steps of a model. A file that its owner does not run is no model."""
        reference = self._reference(sample)
        if reference is None:
            return
        self._validate(sample)
        self._run(sample, reference)
        if not self._converts:
            return
        for target in EXTENSIONS:
            if self._applies(sample, target):
                self._convert(sample, target, reference)
        if "random" in sample.traits:
            return
        for edit in edits_of(sample, self._edits):
            self._edit(sample, edit, reference)

    @staticmethod
    def _applies(sample: Sample, target: str) -> bool:
        """Random graphs: the formats with owners, and one of them if its inputs are special,

        because LiteRT's kernels have no infinities.
        """
        if "special" in sample.traits:
            return target == sample.format
        return "random" not in sample.traits or target in ("onnx", "tflite")

    def _put(
        self, sample: Sample, step: str, outcome: str, detail: str = "", seconds: float = 0.0
    ) -> None:
        self._emit(Result(self._set, sample.name, step, outcome, detail, round(seconds, 3)))

    def _validate(self, sample: Sample) -> None:
        done = self._programs("nnvalidate", sample.model)
        if done.code == 0:
            self._put(sample, "validate", "ok", "", done.seconds)
            return
        try:
            self._owners[sample.format].check(sample.model, contrib="contrib" in sample.traits)
        except OwnerError as error:
            self._put(sample, "validate", "ok", f"the owner says so, too: {error}")
        else:
            self._put(sample, "validate", "failed", done.message, done.seconds)

    def _reference(self, sample: Sample) -> Arrays | None:
        """The owner's outputs, or those of the framework, if the owner lacks a kernel.

        Core ML's runtime is on macOS only. Without outputs of the framework, what nnrun computes
        is what the owners of the formats that the model is converted to must compute, too.
        """
        self._refuses_source = False
        if sample.format == "coreml":
            if sample.want:
                return load_arrays(sample.want)
            return self._programs.run(sample.model, sample.inputs, self._scratch / "run.npz")[1]
        try:
            variant = "xnnpack" if "xnnpack" in sample.traits else ""
            return self._owners[sample.format].run(sample.model, sample.inputs, variant)
        except OwnerError as error:
            self._refuses_source = True
            self._put(sample, "owner", "owner", str(error))
            lacks = any(text in str(error) for text in NOT_IMPLEMENTED)
            return load_arrays(sample.want) if sample.want and lacks else None

    def _allowed(self, sample: Sample) -> Tolerance:
        if "integer" in sample.traits:
            return INTEGER if sample.format == "tflite" else STEP
        return Tolerance(sample.rtol) if sample.rtol else FLOAT

    def _run(self, sample: Sample, reference: Arrays) -> None:
        done, got = self._programs.run(sample.model, sample.inputs, self._scratch / "run.npz")
        if done.code != 0:
            outcome = "refused" if done.code == REFUSED else "failed"
            self._put(sample, "run", outcome, done.message, done.seconds)
            return
        if "random" in sample.traits and "special" not in sample.traits:
            count = _finite_count(reference)
            got, reference = got[:count], reference[:count]
        got, reference = _as_litert(sample, got), _as_litert(sample, reference)
        reason = difference(got, reference, self._allowed(sample)) if reference else None
        if reason and sample.want:
            framework = difference(got, load_arrays(sample.want), self._allowed(sample))
            if framework is None:
                self._put(sample, "run", "owner", f"equal to the framework; owner: {reason}")
                return
            owner = difference(reference, load_arrays(sample.want), self._allowed(sample))
            if owner is not None:  # such as the order of detections with equal scores
                self._put(sample, "run", "owner", f"{reason}; from the framework, {owner}")
                return
        if reason and self._in_spread(sample, sample.model, sample.inputs, got):
            self._put(sample, "run", "owner", f"{SPREAD}: {reason}", done.seconds)
            return
        self._put(sample, "run", "failed" if reason else "ok", reason or "", done.seconds)

    def _shapes(self, sample: Sample) -> list[object]:
        """Options that fix open sizes to those of the sample's inputs."""
        arrays = load_arrays(sample.inputs)
        return [
            option
            for name, array in zip(sample.input_names, arrays, strict=False)
            if array.ndim
            for option in ("--input-shape", f"{name}:{','.join(map(str, array.shape))}")
        ]

    def _nnconvert(self, sample: Sample, written: Path, options: list[object]) -> Run:
        """nnconvert; follows the remedies of verifications.

        Generated inputs may not fit: traced models do not run with other sizes, although their
        files leave them open. Of tolerances, no larger one is followed than that of the owners.
        """
        command: list[object] = [sample.model, written, "--threads", 1, *options]
        done = self._programs("nnconvert", *command)
        names_remedy = "--verify-shape" in done.text or "--verify-inputs" in done.text
        if done.code not in (0, REFUSED) and names_remedy:
            done = self._programs("nnconvert", *command, "--verify-inputs", sample.inputs)
        accepting = re.search(r"--rtol (\S+) would accept it", done.text)
        if done.code and accepting and float(accepting[1]) <= FLOAT.rtol:
            done = self._programs("nnconvert", *command, "--rtol", accepting[1])
        return done

    def _convert(self, sample: Sample, target: str, reference: Arrays | None) -> None:
        written = self._scratch / f"written{EXTENSIONS[target]}"
        if written.is_dir():
            shutil.rmtree(written)
        written.unlink(missing_ok=True)
        options: list[object] = ["--rewrite"] if target == sample.format else []
        done = self._nnconvert(sample, written, options)
        if done.code == REFUSED and "dynamic" in sample.traits:
            done = self._nnconvert(sample, written, options + self._shapes(sample))
        self._finish(sample, f"convert:{target}", done)
        if done.code == 0 and target != "nnapi":
            inputs = self._with_states(sample, done)
            self._load(sample, f"load:{target}", target, written, reference, inputs)

    def _finish(self, sample: Sample, step: str, done: Run) -> None:
        outcome = {0: "ok", REFUSED: "refused"}.get(done.code, "failed")
        if any(text in done.text for text in USAGE):
            outcome = "refused"
        detail = done.message if done.code else ""
        self._put(sample, step, outcome, detail, done.seconds)

    def _with_states(self, sample: Sample, done: Run) -> Path:
        """The inputs, and the numbers that states begin with, which follow them."""
        first = re.findall(r"is kept by the application: .*; it begins with (\S+)$", done.text, re.M)
        if not first:
            return sample.inputs
        path = self._scratch / "states.npz"
        states = [np.array(0 if text == "zeros" else float(text)) for text in first]
        save_arrays(path, [*load_arrays(sample.inputs), *states], "in")
        return path

    def _load(
        self,
        sample: Sample,
        step: str,
        target: str,
        written: Path,
        reference: Arrays | None,
        inputs: Path,
    ) -> None:
        """The owner loads what was written, runs it, and has the source's outputs."""
        try:
            self._owners[target].check(written, contrib="contrib" in sample.traits)
        except OwnerError as error:
            self._put(sample, step, "failed", self._keep(sample, step, written, str(error)))
            return
        if not VARIANTS[target]:
            self._put(sample, step, "ok", "loaded")
            return
        for variant in self._variants(sample, target):
            if variant == "xnnpack" and self._xnnpack_refuses(sample):
                continue
            reason = self._owner_differs(sample, target, written, variant, reference, inputs)
            if reason is None:
                continue
            blame = self._blame(sample, target, reason)
            other = {"reference": "optimized", "": "plain"}.get(variant)
            if other and not self._owner_differs(
                sample, target, written, other, reference, inputs
            ):
                blame, reason = "owner", f"{EQUAL[other]}: {reason}"
            elif self._in_spread(sample, sample.model, sample.inputs, self._ran):
                blame, reason = "owner", f"{SPREAD}: {reason}"
            kept = self._keep(sample, step, written, reason)
            self._put(sample, f"{step}:{variant}".rstrip(":"), blame, kept)
            return
        self._put(sample, step, "ok")

    def _xnnpack_refuses(self, sample: Sample) -> bool:
        if sample.format != "tflite":
            return False
        try:
            self._owners["tflite"].run(sample.model, sample.inputs, "xnnpack")
        except OwnerError:
            return True
        return False

    @staticmethod
    def _variants(sample: Sample, target: str) -> tuple[str, ...]:
        """XNNPACK has its own results of special values."""
        if target == "tflite" and "special" in sample.traits:
            return ("reference",)
        if target == sample.format == "tflite" and "xnnpack" in sample.traits:
            return ("xnnpack",)
        return VARIANTS[target]

    def _in_spread(self, sample: Sample, model: Path, inputs: Path, got: Arrays) -> bool:
        """Whether LiteRT's own kernels differ as much among themselves, output by output."""
        if sample.format != "tflite" or "special" in sample.traits or not got:
            return False
        runs: list[Arrays] = []
        for variant in ("reference", "optimized", "xnnpack"):
            try:
                runs.append(self._owners["tflite"].run(model, inputs, variant))
            except OwnerError:
                continue
        for k, output in enumerate(got[: len(runs[0])]):
            reals, steps = zip(*(largest_errors(run[k], runs[0][k]) for run in runs), strict=True)
            spread = Tolerance(max(*reals, FLOAT.rtol), steps=max(steps))
            if difference([output], [runs[0][k]], spread):
                return False
        return True

    def _owner_differs(
        self,
        sample: Sample,
        target: str,
        written: Path,
        variant: str,
        reference: Arrays | None,
        inputs: Path,
    ) -> str | None:
        allowed = self._allowed(sample)
        self._ran: Arrays = []
        if "quantized" in sample.traits and target != sample.format:
            allowed = OWNERS_STEPS
        if "integer" in sample.traits:
            same = target == sample.format == "tflite" and variant != "xnnpack"
            allowed = STEP if same else OWNERS_STEPS
        try:
            got = self._ran = self._owners[target].run(written, inputs, variant)
            same_kernels = variant == "xnnpack" and "xnnpack" not in sample.traits
            if target == sample.format == "tflite" and (
                same_kernels or "random" in sample.traits
            ):
                # The rounding of one operator reaches the next ones.
                reference = self._owners[target].run(sample.model, sample.inputs, variant)
                allowed = INTEGER if "integer" in sample.traits else FLOAT
        except OwnerError as error:
            return str(error)
        if "random" in sample.traits and "special" not in sample.traits and reference:
            count = _finite_count(reference)
            got, reference = got[:count], reference[:count]
        if not reference:
            return None
        return difference(_as_litert(sample, got), _as_litert(sample, reference), allowed)

    def _blame(self, sample: Sample, target: str, reason: str) -> str:
        """ "owner" if it lacks a kernel, or does not run the source either."""
        lacks = any(text in reason for text in NOT_IMPLEMENTED)
        return "owner" if lacks or (self._refuses_source and target == sample.format) else "failed"

    def _keep(self, sample: Sample, step: str, written: Path, reason: str) -> str:
        """Keeps a written file that the owner refuses, and says where."""
        kept = self._scratch / "kept"
        kept.mkdir(exist_ok=True)
        name = f"{sample.name}-{step.replace(':', '-')}{written.suffix}"
        shutil.copyfile(written, kept / name)
        return f"{reason} [kept/{name}]"

    def _edit(self, sample: Sample, edit: Edit, reference: Arrays | None) -> None:
        step = f"edit:{edit.name}"
        options = edit.options(Context(sample, self._programs, self._owners, self._scratch))
        if options is None:
            return
        written = self._scratch / f"edited{sample.model.suffix}"
        written.unlink(missing_ok=True)
        done = self._nnconvert(sample, written, list(options))
        if done.code != 0:
            self._finish(sample, step, done)
            return
        reason = self._edited_differs(sample, edit, written, reference)
        if reason is None:
            self._put(sample, step, "ok", "", done.seconds)
        else:
            self._put(
                sample,
                step,
                self._blame(sample, sample.format, reason),
                self._keep(sample, step, written, reason),
            )

    def _edited_differs(
        self, sample: Sample, edit: Edit, written: Path, reference: Arrays | None
    ) -> str | None:
        target = sample.format
        inputs = self._inputs_of(sample, written)
        try:
            self._owners[target].check(written, contrib="contrib" in sample.traits)
            if not VARIANTS[target]:
                return None
            variant = "xnnpack" if "xnnpack" in sample.traits else ""
            got = self._owners[target].run(written, inputs, variant)
            if edit.relation == OTHER and target == "onnx":
                # Its optimizations multiply quantized weights in 8 bits.
                got = self._owners[target].run(written, inputs, "plain")
        except OwnerError as error:
            return str(error)
        if edit.relation == OTHER:
            done, own = self._programs.run(written, inputs, self._scratch / "edit.npz")
            if done.code != 0:
                return f"nnrun: {done.message}"
            reason = difference(got, own, self._between(sample, edit, own))
            return None if reason and self._in_spread(sample, written, inputs, own) else reason
        if not reference:
            return None
        if edit.relation == NEGATED:
            reference = [-reference[0], *reference[1:]]
            got = [got[-1], *got[:-1]] if len(got) == len(reference) else got
        allowed = self._allowed(sample) if edit.allowed is FLOAT else edit.allowed
        reason = difference(got, reference, allowed)
        if reason is None and edit.name == "set-batch":
            return self._doubled_differs(sample, written, reference, allowed)
        return reason

    def _between(self, sample: Sample, edit: Edit, outputs: Arrays) -> Tolerance:
        if any(array.dtype == np.float16 for array in outputs):
            return HALF
        return self._allowed(sample) if edit.between is FLOAT else edit.between

    def _inputs_of(self, sample: Sample, written: Path) -> Path:
        """The arrays of the inputs that an edited model still has."""
        found = self._programs("nninspect", "--format", "json", written)
        ports = json.loads(found.text[found.text.index("{") :])["inputs"] if not found.code else []
        names = [port["name"] for port in ports]
        if len(names) == len(sample.input_names) or not set(names) <= set(sample.input_names):
            return sample.inputs
        arrays = dict(zip(sample.input_names, load_arrays(sample.inputs), strict=True))
        some = self._scratch / "some.npz"
        save_arrays(some, [arrays[name] for name in names], "in")
        return some

    def _doubled_differs(
        self, sample: Sample, written: Path, reference: Arrays, allowed: Tolerance
    ) -> str | None:
        """With an open batch, twice the samples give twice the outputs."""
        twice = self._scratch / "twice.npz"
        arrays = load_arrays(sample.inputs)
        save_arrays(twice, [np.concatenate([array, array]) for array in arrays], "in")
        try:
            got = self._owners[sample.format].run(written, twice, "")
        except OwnerError as error:
            return f"twice the batch: {error}"
        want = [np.concatenate([array, array]) for array in reference]
        reason = difference(got, want, allowed)
        return f"twice the batch: {reason}" if reason else None
