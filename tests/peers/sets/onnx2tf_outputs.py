"""What onnx2tf makes of ONNX models of another set: float32, float16 and dynamic range.

`PEERS_ONNX` is the folder of that set's samples, and `PEERS_ONNX2TF` the program, which needs an
environment of its own. A seeded choice of `PEERS_COUNT` models (16).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter

from peers.samples import Made, Recipe, Sample, read_samples

FORMS = ("float32", "float16", "dynamic_range_quant")


def _inputs(data: bytes, random: np.random.Generator) -> dict[str, np.ndarray]:
    found = {}
    for port in Interpreter(model_content=data).get_input_details():
        kind = np.dtype(port["dtype"])
        if kind.kind == "f":
            found[port["name"]] = random.normal(size=port["shape"]).astype(kind)
        else:
            found[port["name"]] = random.integers(0, 2, port["shape"]).astype(kind)
    return found


def _recipe(sample: Sample, form: str) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        written = folder / "written"
        # It writes its own form of the model over it.
        copy = shutil.copy(sample.model, folder)
        command = [os.environ["PEERS_ONNX2TF"], "-i", str(copy), "-o", str(written), "-n"]
        if form == FORMS[2]:
            command.append("-oiqt")
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        subprocess.run(command, check=True, capture_output=True, env=environment, timeout=170)
        (file,) = written.glob(f"*_{form}.tflite")
        data = file.read_bytes()
        (folder / "model.tflite").write_bytes(data)
        traits = ["integer"] if form == FORMS[2] else []
        return Made("model.tflite", _inputs(data, random), traits)

    return Recipe(f"{sample.name}-{form}", make)


def recipes() -> list[Recipe]:
    known = [
        s
        for s in read_samples(Path(os.environ["PEERS_ONNX"]))
        if s.format == "onnx" and s.model.stat().st_size < 8 << 20
    ]
    order = np.random.default_rng(7).permutation(len(known))
    chosen = [known[k] for k in order[: int(os.environ.get("PEERS_COUNT", "16"))]]
    return [_recipe(s, FORMS[k % len(FORMS)]) for k, s in enumerate(chosen)]
