"""The plan of a run: batches of models, each a job. A batch is a file, whose name is a digest of
its contents, so that Snakemake repeats no batch that is finished."""
# Design: docs/design/061-model-collections.md.
import dataclasses
import json
import pathlib
import re
from typing import Any, Iterable, Optional

from nnzoo.errors import UsageError
from nnzoo.examine import Options, key_of
from nnzoo.manifest import File, Model
from nnzoo.store import canonical, digest_of, write_file

# The expected work of a model, as measured on a core of a busy machine: programs to start, and
# bytes to read, write and compute with.
MODEL_SECONDS = 0.3
BYTE_SECONDS = 1e-7


@dataclasses.dataclass(frozen=True)
class Item:
    """A model and its key."""
    key: str
    model: Model

    @property
    def seconds(self) -> float:
        return MODEL_SECONDS + BYTE_SECONDS * self.model.bytes


@dataclasses.dataclass(frozen=True)
class Batch:
    """The models of a job, and what they are examined with."""
    items: tuple[Item, ...]
    options: Options
    version: str

    def to_json(self) -> dict[str, Any]:
        return {"version": self.version, "options": dataclasses.asdict(self.options),
                "models": [{"key": item.key, **dataclasses.asdict(item.model)}
                           for item in self.items]}

    @staticmethod
    def from_json(value: dict[str, Any]) -> "Batch":
        options = dict(value["options"], targets=tuple(value["options"]["targets"]))
        return Batch(tuple(Item(m["key"], _model(m)) for m in value["models"]), Options(**options),
                     value["version"])


def _model(value: dict[str, Any]) -> Model:
    members = {k: v for k, v in value.items() if k != "key"}
    members["files"] = tuple(File(**file) for file in members["files"])
    members["shapes"] = tuple((name, tuple(shape)) for name, shape in members["shapes"])
    return Model(**members)


@dataclasses.dataclass(frozen=True)
class Shard:
    """Part `index` of `count`, from 1."""
    index: int = 1
    count: int = 1

    @staticmethod
    def parse(text: str) -> "Shard":
        match = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
        if not match or int(match[1]) > int(match[2]):
            raise UsageError(f'--shard: "{text}" is not I/N with 1 <= I <= N')
        return Shard(int(match[1]), int(match[2]))

    def holds(self, model: Model) -> bool:
        """Depends on the digest of the model alone, so each file is examined by one shard."""
        return int(model.files[0].sha256[:8], 16) % self.count == self.index - 1


def batches_of(items: Iterable[Item], options: Options, version: str,
               seconds: float) -> list[Batch]:
    """Batches of at most that many seconds of work, or one model."""
    batches: list[Batch] = []
    current: list[Item] = []
    work = 0.0
    for item in sorted(items, key=lambda i: (-i.seconds, i.model.name)):
        if current and work + item.seconds > seconds:
            batches.append(Batch(tuple(current), options, version))
            current, work = [], 0.0
        current.append(item)
        work += item.seconds
    if current:
        batches.append(Batch(tuple(current), options, version))
    return batches


class Folder:
    """The folder of a run."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.plan = path / "plan.json"
        self.report = path / "report"

    def batch(self, name: str) -> pathlib.Path:
        return self.path / "plan" / f"{name}.json"

    def result(self, name: str) -> pathlib.Path:
        return self.path / "batches" / f"{name}.jsonl"

    def write(self, models: list[Model], shard: Shard, options: Options, version: str,
              seconds: float) -> list[str]:
        """Writes the plan, and returns the names of its batches."""
        items = [Item(key_of(model, options, version), model) for model in models
                 if shard.holds(model)]
        for folder in ("batches", "logs"):  # of the scheduler, too
            (self.path / folder).mkdir(parents=True, exist_ok=True)
        names = []
        for batch in batches_of(items, options, version, seconds):
            text = canonical(batch.to_json())
            name = digest_of(batch.to_json())[:16]
            if not self.batch(name).exists():
                write_file(self.batch(name), text + "\n")
            names.append(name)
        manifest = digest_of([dataclasses.asdict(model) for model in models])
        plan = {"version": version, "manifest": manifest, "models": len(items),
                "shard": dataclasses.asdict(shard), "targets": options.targets, "batches": names}
        write_file(self.plan, canonical(plan) + "\n")
        return names

    def read_plan(self) -> dict[str, Any]:
        plan: dict[str, Any] = json.loads(self.plan.read_text(encoding="utf-8"))
        return plan

    def read_batch(self, name: str) -> Batch:
        return Batch.from_json(json.loads(self.batch(name).read_text(encoding="utf-8")))

    def read_results(self, name: str) -> Optional[list[dict[str, Any]]]:
        """The results of a batch, or None if it is not finished."""
        try:
            text = self.result(name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        return [json.loads(line) for line in text.splitlines()]
