"""The rows of a report: the facts of the manifest, and the record of each model."""
import dataclasses
from typing import Any, Iterator, Optional

from nnzoo.manifest import Model

Json = dict[str, Any]

# From the worst to the best.
STATUSES = ("failure", "defect", "invalid", "refused", "ok")
# Outcomes and comparisons that show a defect of the programs.
DEFECTS = ("crash", "refuted", "differ")


@dataclasses.dataclass(frozen=True)
class Step:
    """What one program says about a model."""
    name: str  # "inspect", "validate", "run", "to NNAPI"
    outcome: str  # "ok", or why not
    reason: str  # ""

    @property
    def is_ok(self) -> bool:
        return self.outcome == "ok"


def steps_of(row: Json) -> Iterator[Step]:
    """The steps of a row in their order; one for a failure."""
    if "failure" in row:
        yield Step("stage", "failure", row["failure"])
        return
    for name in ("inspect", "validate", "run"):
        if name in row:
            yield Step(name, row[name]["outcome"], row[name].get("reason", ""))
    if "expected" in row:
        yield Step("digest", row["expected"], "" if row["expected"] == "ok" else
                   "the digest of the outputs is not that of the manifest")
    for target, conversion in row.get("targets", {}).items():
        yield _conversion_step(f"to {target}", conversion)


def _conversion_step(name: str, conversion: Json) -> Step:
    if conversion["outcome"] != "converted":
        reasons = [f"{u['operator']}: {u['reason']}" for u in conversion.get("unsupported", [])]
        return Step(name, conversion["outcome"], conversion.get("reason") or "; ".join(reasons))
    if conversion["digests"] == "differ":
        return Step(name, "differ", "the outputs of both models on the same inputs differ, but "
                    "they agree in the verification")
    run = conversion["run"]
    if run["outcome"] == "crash":
        return Step(name, "crash", f"the converted model: {run['reason']}")
    return Step(name, "ok", "")


def status_of(row: Json) -> str:
    """failure: of a machine or a source; defect: of the programs; invalid: the file breaks rules or
    cannot be read; refused: the programs lack something, for any of the steps; ok."""
    if "failure" in row:
        return "failure"
    steps = list(steps_of(row))
    if any(step.outcome in DEFECTS for step in steps):
        return "defect"
    if any(step.name in ("inspect", "validate") and step.outcome in ("failed", "error")
           for step in steps):
        return "invalid"
    return "ok" if all(step.is_ok for step in steps) else "refused"


def row_of(model: Model, key: str, record: Optional[Json], failure: str) -> Json:
    """A row, which depends on neither the place of the files nor the course of the run."""
    row: Json = {
        "name": model.name,
        "sha256": model.files[0].sha256,
        "license": model.license,
        "key": key,
    }
    if model.shapes:
        row["shapes"] = {name: list(shape) for name, shape in model.shapes}
    if model.batch is not None:
        row["batch"] = model.batch
    if record is None:
        row["failure"] = failure
    else:
        row.update(record)
        if model.digest and record.get("run", {}).get("outcome") == "ok":
            row["expected"] = "ok" if record["run"]["digest"] == model.digest else "differ"
    row["status"] = status_of(row)
    return row
