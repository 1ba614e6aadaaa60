"""What the programs say about one model: its record, which depends on nothing but the files, the
options and the version of the programs."""
import collections
import dataclasses
import pathlib
from typing import Any, Optional

from nnzoo.manifest import Model
from nnzoo.programs import Programs, Result
from nnzoo.store import digest_of

RECORD_VERSION = 1
INPUTS = "inputs.npz"  # of the run of the model

Json = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Target:
    """A format to convert to."""
    option: str  # of --to
    name: str  # in reports
    extension: str


TARGETS = (Target("onnx", "ONNX", ".onnx"), Target("tflite", "TensorFlow Lite", ".tflite"),
           Target("coreml", "Core ML", ".mlmodel"), Target("nnapi", "NNAPI", ".nnapi"))


@dataclasses.dataclass(frozen=True)
class Options:
    """Of all models of a run."""
    targets: tuple[str, ...] = tuple(target.option for target in TARGETS)
    memory_mib: int = 4096
    work: float = 1e12
    threads: int = 1  # no record depends on it

    def limits(self) -> list[str]:
        return [f"--max-memory={self.memory_mib}mb", f"--max-work={self.work:g}"]


def key_of(model: Model, options: Options, version: str) -> str:
    """The key of a model's record: equal keys, equal records."""
    return digest_of({
        "record": RECORD_VERSION,
        "version": version,
        "files": [[file.name, file.sha256] for file in model.files],
        "arguments": model.arguments(),
        "targets": options.targets,
        "limits": options.limits(),
    })


def _unsupported(report: Json) -> list[Json]:
    """Unsupported operators by their type in the source file and the reason."""
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    for node in report.get("unsupported", []):
        counts[node["source"] or node["operator"], node["reason"]] += 1
    return [{"operator": operator, "reason": reason, "count": count}
            for (operator, reason), count in sorted(counts.items())]


def _same_ports(report: Json, kind: str) -> bool:
    """Whether both models have the same inputs or outputs, except for their names."""
    if any(port["kind"] + "s" == kind for port in report.get("transposed", [])):
        return False
    source, converted = ([{k: v for k, v in port.items() if k != "name"} for port in ports[kind]]
                         for ports in (report["interface"][m] for m in ("source", "converted")))
    return source == converted


def _verification(report: Json) -> Json:
    verification = report.get("verification")
    if not verification:
        return {"verification": "none"}
    outputs = verification["outputs"]
    if all(output["identical"] for output in outputs):
        return {"verification": "identical"}
    relative = [output.get("max_relative") for output in outputs]
    known = [value for value in relative if value is not None]
    return {"verification": "tolerance", "max_relative": max(known, default=None)}


def _run_record(result: Result) -> Json:
    if result.outcome != "ok" or result.report is None:
        return {"outcome": result.outcome, "reason": result.reason}
    return {"outcome": "ok", "digest": result.report["digest"],
            "outputs": [output["value_digest"] for output in result.report["outputs"]]}


class Examination:
    """The steps for one model, whose files are in a folder of their own."""

    def __init__(self, model: Model, options: Options, programs: Programs,
                 folder: pathlib.Path) -> None:
        self.model = model
        self.options = options
        self.programs = programs
        self.folder = folder
        self.file = model.files[0].name
        self.seconds: dict[str, float] = collections.defaultdict(float)

    def record(self) -> Json:
        inspect = self._run("nninspect", [self.file, "--format=json", *self.model.arguments()])
        record: Json = {
            "bytes": sum((self.folder / file.name).stat().st_size for file in self.model.files),
            "inspect": {"outcome": inspect.outcome},
            "validate": self._validate(),
        }
        if inspect.outcome != "ok" or inspect.report is None:
            record["inspect"]["reason"] = inspect.reason
            return record
        facts = inspect.report
        record["model"] = {
            "format": facts["format"],
            "format_version": facts["format_version"],
            "producer": facts["producer"],
            "parameters": facts["parameters"]["count"],
            "multiply_adds": facts["multiply_adds"]["count"]
                             if facts["multiply_adds"]["complete"] else None,
            "operators": {o["operator"]: o["count"] for o in facts["operators"]["histogram"]},
        }
        record["unsupported"] = facts["unsupported"]
        record["run"] = _run_record(self._nnrun(
            self.file, ["--seed=0", f"--save-inputs={INPUTS}", *self.model.arguments()]))
        record["targets"] = {
            target.name: self._convert(target, record["run"]) for target in TARGETS
            if target.option in self.options.targets and target.name != facts["format"]
        }
        return record

    def _run(self, program: str, arguments: list[str]) -> Result:
        result = self.programs.run(program, arguments, self.folder)
        self.seconds[program] += result.seconds
        return result

    def _nnrun(self, file: str, arguments: list[str]) -> Result:
        return self._run("nnrun", [file, "--digest", "--format=json",
                                   f"--threads={self.options.threads}", *self.options.limits(),
                                   *arguments])

    def _validate(self) -> Json:
        result = self._run("nnvalidate", [self.file, "--format=json", "--no-config", "--jobs=1"])
        if result.outcome not in ("ok", "failed") or result.report is None:
            return {"outcome": result.outcome, "reason": result.reason}
        findings = [f for file in result.report["files"] for f in file["findings"]]
        first = next((f for f in findings if f["severity"] == "error"), None)
        record = {"outcome": result.outcome,
                  "rules": dict(sorted(collections.Counter(f["rule"] for f in findings).items()))}
        if first is not None:
            record["reason"] = f"{first['message']} [{first['rule']}]"
        return record

    def _convert(self, target: Target, source_run: Json) -> Json:
        file = "converted" + target.extension
        result = self._run("nnconvert", [self.file, file, f"--to={target.option}", "--format=json",
                                         "--quiet", f"--threads={self.options.threads}",
                                         *self.options.limits(), *self.model.arguments()])
        report = result.report or {}
        record: Json = {"outcome": "converted" if result.outcome == "ok" else result.outcome}
        if result.outcome == "unsupported" and report.get("unsupported"):
            record["unsupported"] = _unsupported(report)
            if report.get("remedy"):
                record["remedy"] = report["remedy"]
        elif result.outcome == "failed" and report.get("result") == "refuted":
            record["outcome"] = "refuted"
            record["reason"] = _refutation(report)
        elif result.outcome != "ok":
            record["reason"] = result.reason
        if result.outcome != "ok":
            return record
        record["bytes"] = report["output"]["bytes"]
        record["files"] = [f["digest"] for f in report["output"].get("files", [])]
        record.update(_verification(report))
        same = source_run["outcome"] == "ok" and _same_ports(report, "inputs")
        inputs = f"--inputs={INPUTS}" if same else "--seed=0"
        record["run"] = _run_record(self._nnrun(file, [inputs]))
        record["digests"] = _comparison(report, source_run, record["run"])
        for path in self.folder.glob("converted.*"):
            path.unlink()
        return record


def _refutation(report: Json) -> str:
    """Of the first output that differs."""
    for output in (report.get("verification") or {}).get("outputs", []):
        if not output["agrees"]:
            return f"output \"{output['name']}\": {output.get('mismatch') or output.get('where')}"
    return "outputs differ"


def _comparison(report: Json, source: Json, converted: Json) -> str:
    """The digests of the outputs of both models on the same inputs.

    equal; tolerance: they differ, as the verification says; interface: the models have other inputs
    or outputs; random: the models draw random numbers; not run: one of them cannot be
    run on these inputs; differ: none of these.
    """
    if source["outcome"] != "ok" or converted["outcome"] != "ok":
        return "not run"
    if source["outputs"] == converted["outputs"]:
        return "equal"
    if not _same_ports(report, "inputs") or not _same_ports(report, "outputs"):
        return "interface"
    if report.get("random_nodes"):
        return "random"
    return "tolerance" if _verification(report)["verification"] == "tolerance" else "differ"
