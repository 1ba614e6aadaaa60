"""Trained models that wheels on PyPI ship. The wheels are downloaded without their dependencies."""

from __future__ import annotations

import fnmatch
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnxruntime

from peers.samples import Made, Recipe

WHEELS = {
    "silero-vad==6.2.3": "*.onnx",
    "magika==1.0.3": "*.onnx",
    "openwakeword==0.6.0": "*.onnx",
    "rapidocr-onnxruntime==1.4.4": "*.onnx",
}
LARGEST = 16 << 20
TYPES = {
    "tensor(float)": np.float32,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
}
# Sizes and values that the packages feed; other open sizes are 1.
SHAPES: dict[str, dict[str, list[int]]] = {
    "silero": {"input": [1, 576], "state": [2, 1, 128]},
    "magika": {"bytes": [1, 2048]},
    "rapidocr": {"x": [1, 3, 64, 96]},
    "openwakeword": {"input": [1, 12400]},
}
RATE = 16000


def download(wheels: dict[str, str], folder: Path, largest: int = LARGEST) -> dict[str, bytes]:
    """The models of wheels by name."""
    found = {}
    for requirement, pattern in wheels.items():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            done = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "pip",
                    "download",
                    "--quiet",
                    "--no-deps",
                    "--only-binary",
                    ":all:",
                    "--dest",
                    scratch,
                    requirement,
                ],
                check=False,
            )
            if done.returncode != 0:
                continue
            for wheel in Path(scratch).glob("*.whl"):
                with zipfile.ZipFile(wheel) as archive:
                    for entry in archive.infolist():
                        if fnmatch.fnmatch(entry.filename, pattern) and entry.file_size < largest:
                            name = f"{wheel.name.split('-')[0]}-{Path(entry.filename).stem}"
                            found[name] = archive.read(entry)
    return found


def _inputs(name: str, model: bytes, random: np.random.Generator) -> dict[str, np.ndarray]:
    ports = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).get_inputs()
    known = next((s for key, s in SHAPES.items() if name.startswith(key)), {})
    found = {}
    for port in ports:
        shape = [n if isinstance(n, int) and n > 0 else 1 for n in port.shape]
        fits = len(known.get(port.name, [])) == len(shape)
        shape = (
            known[port.name]
            if fits and not all(isinstance(n, int) and n > 0 for n in port.shape)
            else shape
        )
        kind = TYPES[port.type]
        if port.name == "sr":
            found[port.name] = np.array(RATE, kind).reshape(shape)
        elif kind is np.float32:
            found[port.name] = (random.normal(size=shape) * 0.1).astype(kind)
        else:
            found[port.name] = random.integers(0, 200, shape).astype(kind)
    return found


def recipes() -> list[Recipe]:
    def recipe(name: str, data: bytes) -> Recipe:
        def make(folder: Path, random: np.random.Generator) -> Made:
            (folder / "model.onnx").write_bytes(data)
            return Made("model.onnx", _inputs(name, data, random), ["dynamic"])

        return Recipe(name, make)

    found = download(WHEELS, Path(tempfile.gettempdir()))
    return [recipe(name, data) for name, data in found.items()]
