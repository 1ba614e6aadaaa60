"""Random PyTorch networks of nnsmith, exported to ONNX by its materializer (TorchScript exporter).

nnsmith chooses operators, types and shapes with an SMT solver, and inputs that avoid NaN and
infinities. Its first start tries each operator and keeps the result in the user's cache.
"""

from __future__ import annotations

import functools
import os
import random as python_random
from pathlib import Path

import numpy as np
import onnx
import torch
from nnsmith.abstract.extension import activate_ext
from nnsmith.graph_gen import model_gen
from nnsmith.materialize import Model
from nnsmith.narrow_spec import auto_opset

from peers.samples import Made, Recipe

COUNT = int(os.environ.get("PEERS_NNSMITH", "400"))
SIZES = (3, 6, 10, 16)

# nnsmith 0.1 expects that the TorchScript exporter is the default.
torch.onnx.export = functools.partial(torch.onnx.export, dynamo=False)


@functools.cache
def _kind() -> type[Model]:
    kind: type[Model] = Model.init("onnx", backend_target="cpu")
    activate_ext(opset=_operators(kind), factory=None)
    return kind


@functools.cache
def _operators(kind: type[Model]) -> list[type]:
    found: list[type] = auto_opset(kind)
    return found


def _recipe(number: int) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        kind, seed = _kind(), int(random.integers(1 << 31))
        python_random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)
        generator = model_gen(
            opset=_operators(kind),
            method="symbolic-cinit",
            seed=seed,
            max_elem_per_tensor=1 << 12,
            max_nodes=SIZES[number % len(SIZES)],
            timeout_ms=20000,
        )
        model = kind.from_gir(generator.make_concrete())
        model.refine_weights()
        oracle = model.make_oracle()
        onnx.save(model.native_model, str(folder / "model.onnx"))
        names = [port.name for port in model.native_model.graph.input]
        outputs = [port.name for port in model.native_model.graph.output]
        return Made(
            "model.onnx",
            {name: oracle.input[name] for name in names},
            ["random"],
            [oracle.output[name] for name in outputs],
        )

    return Recipe(f"n{number:04}", make)


def recipes() -> list[Recipe]:
    return [_recipe(number) for number in range(COUNT)]
