"""Models and programs."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NoReturn,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import numpy as np

from . import _core, _errors
from ._tensor import Tensor, tensors_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import (
        BenchOptions,
        CompareOutputsOptions,
        CompileForInputsOptions,
        CompileOptions,
        ConvertFolderOptions,
        ConvertOptions,
        DiffWithOptions,
        DrawDiffOptions,
        EditOptions,
        InspectOptions,
        OpenOptions,
        RunSequenceOptions,
        RunTestDataOptions,
        RunWithOptions,
        SaveStepValuesOptions,
        SearchDtypeOptions,
        ValidateOptions,
        WriteOptions,
    )

Path = Union[str, "os.PathLike[str]"]
Inputs = Union[Mapping[str, Any], Sequence[Any], np.ndarray, Tensor]


@dataclass(frozen=True)
class Finding:
    """A place where a model breaks a rule.

    rule: the id, "ONNX-OP-004"; nnvalidate --explain describes it.
    severity: "error", "warning" or "note".
    location: "element", the path to the field; "index" of the operator; "offset" in bytes.
    hint: how to fix it.
    """

    rule: str
    severity: str
    message: str
    location: Mapping[str, Any]
    hint: str = ""
    fingerprint: str = ""

    def __str__(self) -> str:
        place = self.location.get("element", "")
        return f"{place}{': ' if place else ''}{self.severity}: {self.message} [{self.rule}]"


class Findings(List[Finding]):
    """The findings about a model, without those that a baseline lists.

    failed: one has the severity of `fail_on` or above.
    known: the number of findings that the baseline lists.
    """

    def __init__(
        self,
        findings: Iterable[Finding] = (),
        failed: bool = False,
        report: Optional[Dict[str, Any]] = None,
    ) -> None:
        super().__init__(findings)
        self.failed = failed
        self.report: Dict[str, Any] = {} if report is None else report
        self.known: int = sum(f.get("known", 0) for f in self.report.get("files", ()))


@dataclass(frozen=True)
class Port:
    """An input or output of a program.

    type: as text, with the quantization: "u8[1, 10]{scale=0.5, zp=128}".
    shape: elements along each axis, None where a run decides; None for an unknown rank.
    """

    name: str
    type: str
    dtype: str
    shape: Optional[Tuple[Optional[int], ...]]


class Program:
    """A compiled model, which any number of threads may run. Model.compile() makes it.

    Outputs have the same bits on every processor and with any number of threads.
    """

    def __init__(self, program: _core.Program) -> None:
        self._program = program
        facts = json.loads(program.describe())
        self.inputs: Tuple[Port, ...] = _ports(facts["inputs"])
        self.outputs: Tuple[Port, ...] = _ports(facts["outputs"])
        #: Bytes of intermediate values of a run, and of packed weights, which all runs share.
        self.arena_bytes: int = facts["arena_bytes"]
        self.packed_bytes: int = facts["packed_bytes"]

    def run(self, inputs: Inputs, **options: Unpack[RunWithOptions]) -> Dict[str, np.ndarray]:
        """Runs the model; returns its outputs by name, as read-only arrays.

        inputs: by name, or a sequence in the order of `inputs`; of a model with one input, also its
            array. Arrays must have the types and shapes of `inputs`; lists are converted. Contiguous
            arrays, and tensors with __dlpack__, are not copied.

        options: progress, called with "steps", how many are done, and their number; its result
            False, or an exception, ends the run.

        The interpreter's lock is released. Strings are arrays of objects.
        """
        return {name: t.numpy() for name, t in self.run_tensors(inputs, **options).items()}

    def run_tensors(self, inputs: Inputs, **options: Unpack[RunWithOptions]) -> Dict[str, Tensor]:
        """The same, with outputs as tensors: for DLPack, and element types that NumPy lacks."""
        outputs = self._program.run(*self._tensors(inputs), dict(options))
        return {p.name: Tensor(t) for p, t in zip(self.outputs, outputs)}

    def bench(self, inputs: Inputs, **options: Unpack[BenchOptions]) -> Dict[str, Any]:
        """Measures the latency of runs, as nnrun --bench does.

        inputs: as for run(). options: runs (timed ones, default 10), warmup (default 3), step_times
            (the time of each step, as --profile), progress (as of run(), of "runs").

        Returns what nnrun --format json prints, without the version and the model: "latency_ms" has
        "median", "min", "mean" and "p90".
        """
        return json.loads(self._program.bench(*self._tensors(inputs), dict(options)))

    def explain_plan(self) -> Dict[str, Any]:
        """What nnrun --explain-plan --format json prints: steps, operands, memory and work.

        "plan" is None for the reference backend, and for programs with strings or with shapes that
        only a run knows.
        """
        return json.loads(self._program.explain_plan())

    def trace(self, inputs: Inputs) -> str:
        """Runs the model and records which thread did what, and when.

        inputs: as for run(). Returns the text that nnrun --trace writes, for chrome://tracing and
        Perfetto.
        """
        return self._program.trace(*self._tensors(inputs))

    def compare_outputs(
        self,
        outputs: Mapping[str, Any],
        expected: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CompareOutputsOptions],
    ) -> Dict[str, Any]:
        """Compares outputs with expected arrays, as nnrun --expect does.

        outputs: of a run. expected: by name; those without an array are not compared.
        options: expect (an .npz or .safetensors file with expected arrays), atol (default 1e-6),
            rtol (default 1e-5, of the largest magnitude in the array), limits of open().

        Returns what nnrun --format json prints as "expect"; "passed" is the result.
        """
        expected = expected or {}
        names = [p.name for p in self.outputs]
        for name in [*outputs, *expected]:
            if name not in names:
                raise _errors.make(2, "usage", f'no output is named "{name}"')
        types = {p.name: p.dtype for p in self.outputs}

        def tensor(arrays: Mapping[str, Any], name: str) -> _core.Tensor:
            return Tensor.of(arrays[name], _type_of(arrays[name], types[name]))._tensor

        got = [tensor(outputs, n) for n in names if n in outputs]
        want = [tensor(expected, n) if n in expected else None for n in names if n in outputs]
        return json.loads(self._program.compare_outputs(got, want, dict(options))[1])

    def given_inputs(self) -> Dict[str, np.ndarray]:
        """The inputs that Model.compile_for_inputs() was told, and random numbers for the others."""
        return self._arrays(self._program.given_inputs())

    def seeded_inputs(self, seed: int = 0) -> Dict[str, np.ndarray]:
        """Contents for all inputs, the same as those of nnrun --seed."""
        return self._arrays(self._program.seeded_inputs(seed))

    def _tensors(self, inputs: Inputs) -> Tuple[Optional[List[str]], List[_core.Tensor]]:
        """The names, None for inputs by position, and the tensors."""
        if isinstance(inputs, (np.ndarray, Tensor)) or hasattr(inputs, "__dlpack__"):
            inputs = [inputs]
        names: Optional[List[str]] = None
        if isinstance(inputs, Mapping):
            names = list(inputs)
            types = {p.name: p.dtype for p in self.inputs}
            tensors = [Tensor.of(inputs[n], _type_of(inputs[n], types.get(n))) for n in names]
        else:
            kinds = [p.dtype for p in self.inputs] + [None] * len(inputs)
            tensors = [Tensor.of(v, _type_of(v, kinds[i])) for i, v in enumerate(inputs)]
        return names, [t._tensor for t in tensors]

    def _arrays(self, inputs: Sequence[_core.Tensor]) -> Dict[str, np.ndarray]:
        return {p.name: Tensor(t).numpy() for p, t in zip(self.inputs, inputs)}

    def __repr__(self) -> str:
        ports = [", ".join(f"{p.name}: {p.type}" for p in side) for side in (self.inputs, self.outputs)]
        return f"<nnsuite.Program ({ports[0]}) -> ({ports[1]})>"


class Constants(Mapping[str, Tensor]):
    """The constant tensors of a model by name; contents are read when they are asked for.

    Those of subgraphs have the name of the subgraph and "/" before their own.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._entries: Dict[str, int] = {}
        for i, entry in enumerate(model.inspect(tensors=True)["tensors"]):
            scope = entry["scope"]
            self._entries.setdefault(f"{scope}/{entry['name']}" if scope else entry["name"], i)

    def __getitem__(self, name: str) -> Tensor:
        return Tensor(self._model._model.constant(self._entries[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class Model:
    """A model file of any format, in the terms of that format. Immutable; open() reads it.

    Options are keyword arguments with the names of the programs' options: --fold-batch-norm is
    fold_batch_norm=True, --input-shape x:1,3 is input_shape={"x": [1, 3]}, and an option that is
    repeatable takes a list. Unknown ones raise UsageError.
    """

    def __init__(self, model: _core.Model, report: Optional[Dict[str, Any]] = None) -> None:
        self._model = model
        #: Of the edit that made the model: operators, new and dropped inputs and outputs.
        self.edit_report = report

    @staticmethod
    def from_bytes(data: bytes, path: str = "", **limits: Unpack[OpenOptions]) -> Model:
        """Reads a model from memory, without a copy. External data is looked up beside `path`."""
        return Model(_core.Model.from_bytes(bytes(data), path, dict(limits)))

    @property
    def format(self) -> str:
        """ "onnx", "tflite", "coreml" or "nnapi"."""
        return self._model.format

    @property
    def path(self) -> str:
        return self._model.path

    @property
    def constants(self) -> Constants:
        return Constants(self)

    def inspect(self, **options: Unpack[InspectOptions]) -> Dict[str, Any]:
        """What nninspect --format json prints: inputs, outputs, operators, parameters, ...

        options: nodes, op, node, tensors, stats, histogram, values, tree, cost, hash add parts;
            input_shape, batch and length set shapes. Sizes of tensors are in elements along each axis,
            costs in multiply-adds and bytes.
        """
        return json.loads(self._model.inspect(dict(options))[1])

    def validate(self, **options: Unpack[ValidateOptions]) -> Findings:
        """Checks the model against the rules of its format.

        options: profile ("spec", "vendor", "strict", "safety"), enable and disable (lists of rule
            ids and patterns such as "ONNX-LINT-*"), fail_on ("error", "warning", "note"),
            max_per_rule, fingerprints, for_ (a list of formats to which the model must be
            convertible), assert_ops, assert_max_params, ... (requirements of a project),
            baseline (a file of known findings, which are counted in `known`), write_baseline (the
            file to write them to), attestation (a file that states what the model must be).
        """
        code, text = self._model.validate(dict(options))
        report = json.loads(text)
        found = (Finding(**f) for f in report["files"][0]["findings"])
        return Findings(found, code != 0, report)

    def check(self, **options: Unpack[ValidateOptions]) -> None:
        """validate(); raises CheckError, with the ids of the rules, if that failed."""
        findings = self.validate(**options)
        if not findings.failed:
            return
        rules = tuple(dict.fromkeys(f.rule for f in findings))
        message = "\n".join(str(f) for f in findings)
        raise _errors.make(1, "check", message, rules, findings.report)

    def convert(
        self,
        path: Path,
        samples: Optional[Sequence[Sequence[Any]]] = None,
        **options: Unpack[ConvertOptions],
    ) -> Dict[str, Any]:
        """Converts the model to another format and verifies the result by running both models.

        path: of the result; its extension determines the format, unless `to` does.
        samples: of all inputs, in their order, for quantize="int8".
        options: those of nnconvert (nnsuite._options.ConvertOptions): opset, fuse, simplify, fp16,
            quantize, dequantize, rename_input, dry_run, ... Edits of the graph: set_batch,
            preprocess, layout, merge, connect, and symbols in input_shape={"x": ["N", 3, 224, 224]}.
            verify_inputs: of all inputs, in their order, for each run of the verification.
            fix_input: contents by name, which become constants.
            attest: a file for the statement of nnconvert --attest.
            progress: called with "runs" (of the verification) or "bytes" (of the written model),
            how many are done, and their number; its result False, or an exception, ends the
            conversion.

        Returns the report of nnconvert --format json. Raises CheckError if outputs differ, and
        UnsupportedError for operators that the format cannot express; nothing is written then, and
        the report of the exception has the details.
        """
        values: Dict[str, Any] = dict(options)
        if samples is not None:
            values["samples"] = tensors_of(samples)
        if values.get("verify_inputs") is not None:
            values["verify_inputs"] = tensors_of(values["verify_inputs"])
        _make_tensors(values, "fix_input")
        code, text = self._model.convert(os.fspath(path), values)
        report = json.loads(text)
        if code != 0:
            _raise_conversion(code, report)
        return report

    def edit(self, **options: Unpack[EditOptions]) -> Model:
        """The model after an edit in its own format, which is verified by running both models.

        options: extract ("FROM..TO"), cut_before, cut_after, remove_output, add_output, rename,
            set_metadata (lists), strip, compose_json (the path of a patch), no_verify, seed,
            verify_runs, threads. progress: as of convert, of "runs".
        """
        code, text, edited = self._model.edit(dict(options))
        report = json.loads(text)
        if edited is None:
            raise _errors.make(code, "check", "the outputs of the edited model differ", (), report)
        return Model(edited, report)

    def diff(self, other: Model, **options: Unpack[DiffWithOptions]) -> Dict[str, Any]:
        """What nninspect --diff --format json prints; "equal" is the result.

        options: input_shape, batch and length, of the inputs of both models.
        """
        return json.loads(self._model.diff(other._model, dict(options))[1])

    def diff_html(self, other: Model, **options: Unpack[DrawDiffOptions]) -> str:
        """The differences as a page for a browser. options: those of diff."""
        return self._model.draw_diff(other._model, dict(options))[1]

    def compile(self, **options: Unpack[CompileOptions]) -> Program:
        """Plans runs for fixed shapes of the inputs.

        options: input_shape, batch, length, threads (default 1; 0: one per processor), backend ("simd", "reference"), no_fuse,
            max_memory (bytes), max_work (operations on elements), max_steps.
        """
        return Program(self._model.compile(dict(options)))

    def compile_for_inputs(self, **options: Unpack[CompileForInputsOptions]) -> Program:
        """Plans runs for inputs from files, images and literals, as nnrun does.

        Program.given_inputs() returns them. Their shapes are those of the program; small integers,
        where they decide about shapes, are constants of it.

        options: inputs (a file with all of them), input (a list of "NAME=VALUE" with files, images
            and literals), seed (for the others), cast_inputs, reshape_inputs; image_size,
            image_fit ("stretch", "crop"), image_color, image_layout, scale, mean, std,
            max_image_pixels; those of compile(), and limits of open() for the files.
            arrays: in memory, by name.
        """
        values: Dict[str, Any] = dict(options)
        _make_tensors(values, "arrays")
        return Program(self._model.compile_for_inputs(values))

    def run_sequence(
        self, **options: Unpack[RunSequenceOptions]
    ) -> Tuple[Dict[str, np.ndarray], Dict[str, np.ndarray]]:
        """Runs the model step by step, as nnrun --steps does, and passes its states on.

        options: steps; carry, a list of "OUT=IN": the input IN gets the value of the output OUT in
            the step before; state, a file that has the states before the first step, if it exists,
            and gets those after the last; those of compile_for_inputs(); progress, as of
            Program.run().

        Returns the outputs and the states after the last step. Outputs have a first axis of the
        steps, unless the shape changes from step to step: then it is the last value.
        """
        values: Dict[str, Any] = dict(options)
        _make_tensors(values, "arrays")
        outputs, states = self._model.run_sequence(values)
        return _arrays_of(outputs), _arrays_of(states)

    def save_step_values(
        self, folder: Path, **options: Unpack[SaveStepValuesOptions]
    ) -> None:
        """Runs the model and writes every value to a folder, as nnrun --save-steps does.

        options: those of compile_for_inputs(), progress (as of Program.run(), of "values").

        The folder gets .npy files, and index.json with names, types, shapes and operators.
        """
        values: Dict[str, Any] = dict(options)
        _make_tensors(values, "arrays")
        self._model.save_step_values(os.fspath(folder), values)

    def search_dtype(self, **options: Unpack[SearchDtypeOptions]) -> Dict[str, Any]:
        """Finds operators that must stay float32 if the others are narrower.

        options: dtype ("f16", "bf16"), rtol (must be given) and atol, which the outputs hold as for
            compare_outputs(); those of compile_for_inputs().

        Returns what nnrun --search-dtype --format json prints as "search_dtype".
        """
        values: Dict[str, Any] = dict(options)
        _make_tensors(values, "arrays")
        return json.loads(self._model.search_dtype(values))["search_dtype"]

    def run_test_data(
        self, folder: Path, **options: Unpack[RunTestDataOptions]
    ) -> List[Dict[str, Any]]:
        """Runs the model on test data of ONNX, as nnrun --test-data does.

        folder: has input_K.pb and output_K.pb, or folders test_data_set_* that have them.
        options: atol (default 1e-7), rtol (default 1e-3, of each expected value), those of
            compile(), progress (as of Program.run(), of "test sets").

        Returns what nnrun --format json prints as "test_data": each set has "passed".
        """
        return json.loads(self._model.run_test_data(os.fspath(folder), dict(options))[1])["test_data"]

    def run(self, inputs: Inputs, **options: Unpack[CompileOptions]) -> Dict[str, np.ndarray]:
        """compile() and Program.run(), for a single run."""
        return self.compile(**options).run(inputs)

    def write(self, path: Path, **options: Unpack[WriteOptions]) -> None:
        """Writes a copy in the same format. options: external_data, external_threshold, embed_data."""
        self._model.write(os.fspath(path), dict(options))

    def dump(self, weights: str = "base64") -> str:
        """The complete model as JSON text, which from_bytes() takes in place of the model."""
        return self._model.dump({"weights": weights})[1]

    def dump_file(self, path: Path, weights: str = "base64") -> None:
        """The same as a file, which open() takes in place of the model.

        weights: or the path of an .npz or .safetensors file, below the folder of the dump, for the
            tensors.
        """
        self._model.dump_file(os.fspath(path), {"weights": weights})

    def svg(self, expand: bool = False) -> str:
        """A picture of the operators. expand: draws all repetitions of repeated blocks."""
        return self._model.draw("svg", {"expand": expand})[1]

    def dot(self, expand: bool = False) -> str:
        """The operators as a graph for Graphviz."""
        return self._model.draw("dot", {"expand": expand})[1]

    def html(self, findings: Path = "", times: Path = "", errors: Path = "") -> str:
        """A page for a browser: the operators, their attributes and types, and the constants.

        findings, times, errors: files with JSON reports of nnvalidate, nnrun --bench --profile and
            nnrun --against, which the page shows.
        """
        files = {"findings": findings, "times": times, "errors": errors}
        return self._model.draw("html", {name: os.fspath(f) for name, f in files.items()})[1]

    def bill_of_materials(self) -> Dict[str, Any]:
        """The CycloneDX document that nninspect --format cyclonedx prints."""
        return json.loads(self._model.bill_of_materials())

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        facts = self.inspect()
        return (
            f"<nnsuite.Model {self.path!r}: {facts['format']}, {facts['format_version']}, "
            f"{facts['operators']['count']} operators, {facts['parameters']['count']} parameters>"
        )


def open(path: Path, **limits: Unpack[OpenOptions]) -> Model:
    """Reads a model file or folder of any format, or a dump.

    limits: max_file_bytes, max_piped_bytes, max_unpacked_bytes, max_depth, max_items.

    The file is mapped and must not change as long as the model, or a tensor of it, exists.
    """
    return Model(_core.Model.open(os.fspath(path), dict(limits)))


def convert_folder(
    path: Path, output: Path = "", **options: Unpack[ConvertFolderOptions]
) -> Dict[str, Any]:
    """Converts all models below a folder, or all that a pattern matches, as nnconvert does.

    output: the folder to write; may be omitted with dry_run.
    options: to, the format to write; jobs (models at the same time; 0: one per processor), force
        (also converts models that have not changed), those of Model.convert that do not refer to
        one model, and those of Model.edit for edits before each conversion. progress: called with
        "models", how many are done, and their number, by one thread at a time.

    Returns the report of nnconvert --format json: "conversions", each with a "result", and
    "summary". A model that fails does not stop the others and raises no exception.
    """
    return json.loads(_core.convert_folder(os.fspath(path), os.fspath(output), dict(options))[1])


def simd_targets() -> List[str]:
    """The SIMD targets that this processor supports, best first, as nnrun --list-targets."""
    return json.loads(_core.simd_targets())


def use_simd_target(name: str) -> None:
    """Restricts all runs of the process to a SIMD target; "" restores the choice by processor.

    No program may run meanwhile. Outputs have the same bits on every target.
    """
    _core.use_simd_target(name)


def _ports(facts: Sequence[Dict[str, Any]]) -> Tuple[Port, ...]:
    return tuple(
        Port(f["name"], f["type"], f["dtype"], None if f["shape"] is None else tuple(f["shape"]))
        for f in facts
    )


def _make_tensors(options: Dict[str, Any], name: str) -> None:
    """Replaces the arrays of an option, which has them by name, by tensors."""
    arrays = options.get(name)
    if arrays is not None:
        options[name] = dict(zip(arrays, tensors_of([list(arrays.values())])[0]))


def _arrays_of(tensors: Mapping[str, _core.Tensor]) -> Dict[str, np.ndarray]:
    return {name: Tensor(t).numpy() for name, t in tensors.items()}


def _type_of(value: Any, dtype: Optional[str]) -> Optional[str]:
    """The type that lists become; arrays keep theirs."""
    return None if isinstance(value, np.ndarray) else dtype


def _raise_conversion(code: int, report: Dict[str, Any]) -> NoReturn:
    nodes = report["unsupported"]
    if nodes:
        message = "; ".join(f"{n['node']}: {n['reason']}" for n in nodes)
        raise _errors.make(code, "unsupported", message, (), report)
    outputs = [o["name"] for o in (report["verification"] or {"outputs": []})["outputs"] if not o["agrees"]]
    raise _errors.make(code, "check", f"outputs differ: {', '.join(outputs)}", (), report)
