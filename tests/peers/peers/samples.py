"""A sample: one generated model, its inputs, and what the generator knows about it.

A sample is a folder with the model, `in.npz` (keys `in_0`, `in_1`, ... by position), `want.npz`
(outputs of the framework that made the model, if it ran it) and `sample.json`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Arrays = list[np.ndarray]


@dataclass
class Sample:
    """What the suite needs to know about a generated model."""

    name: str
    file: str
    input_names: list[str]
    traits: list[str] = field(default_factory=list)
    """`dynamic`: open sizes; `batch`: the first axis of all inputs and outputs is the batch;
    `integer`: outputs come from integer kernels; `picture`: one float input [N, C, H, W];
    `quantized`: some values are quantized, so other formats may round a step the other way;
    `random`: a random graph, which is not edited; `special`: inputs with NaN, infinities and
    the limits of integers; `contrib`: operators of com.microsoft, unknown to onnx.checker;
    `xnnpack`: of LiteRT's kernels, only those of XNNPACK compute the model."""
    rtol: float | None = None
    folder: Path = Path()

    @property
    def model(self) -> Path:
        return self.folder / self.file

    @property
    def inputs(self) -> Path:
        return self.folder / "in.npz"

    @property
    def want(self) -> Path | None:
        path = self.folder / "want.npz"
        return path if path.exists() else None

    @property
    def format(self) -> str:
        return {".onnx": "onnx", ".tflite": "tflite"}.get(self.model.suffix, "coreml")

    def write(self) -> None:
        data = {key: value for key, value in asdict(self).items() if key != "folder"}
        (self.folder / "sample.json").write_text(json.dumps(data))


def read_sample(folder: Path) -> Sample:
    return Sample(**json.loads((folder / "sample.json").read_text()), folder=folder)


def read_samples(folder: Path) -> Iterator[Sample]:
    """The samples of a set in order of their names."""
    for path in sorted(folder.glob("*/sample.json")):
        yield read_sample(path.parent)


def save_arrays(path: Path, arrays: Sequence[np.ndarray], prefix: str) -> None:
    np.savez(path, **{f"{prefix}_{k}": np.asarray(array) for k, array in enumerate(arrays)})


def load_arrays(path: Path) -> Arrays:
    """The arrays of an archive in its order."""
    with np.load(path) as archive:
        return [archive[key] for key in archive.files]


@dataclass(frozen=True)
class Recipe:
    """Makes one sample: `make` writes the model into the folder and returns its description."""

    name: str
    make: Callable[[Path, np.random.Generator], Made]


@dataclass
class Made:
    """What a recipe returns: the file it wrote, inputs and, if known, outputs by position."""

    file: str
    inputs: dict[str, np.ndarray]
    traits: Sequence[str] = ()
    want: Sequence[np.ndarray] | None = None
    rtol: float | None = None

    def store(self, name: str, folder: Path) -> Sample:
        save_arrays(folder / "in.npz", list(self.inputs.values()), "in")
        if self.want is not None:
            save_arrays(folder / "want.npz", self.want, "out")
        sample = Sample(name, self.file, list(self.inputs), list(self.traits), self.rtol, folder)
        sample.write()
        return sample


def flatten(value: Any) -> Arrays:
    """The tensors of nested outputs of a framework, in order."""
    if value is None:
        return []
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [array for element in value for array in flatten(element)]
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    return [np.asarray(value)] if isinstance(value, (np.ndarray, np.generic)) else []
