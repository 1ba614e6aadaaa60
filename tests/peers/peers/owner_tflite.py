"""TensorFlow Lite models: LiteRT's interpreter with reference kernels, and with XNNPACK."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from peers.samples import Arrays

RESOLVERS = {
    "": OpResolverType.BUILTIN_REF,
    "reference": OpResolverType.BUILTIN_REF,
    "optimized": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    "xnnpack": OpResolverType.AUTO,
}


def _open(model: Path, variant: str) -> Interpreter:
    """An interpreter; the optimized kernels where LiteRT has no reference kernel (ELU, ROUND)."""
    try:
        return Interpreter(
            model_path=str(model), num_threads=1, experimental_op_resolver_type=RESOLVERS[variant]
        )
    except ValueError as error:
        if "Didn't find op" not in str(error) or variant == "optimized":
            raise
        return _open(model, "optimized")


def check(model: Path, contrib: bool = False) -> None:
    """Raises if the reference kernels refuse the model's types, shapes or options."""
    del contrib
    _open(model, "reference").allocate_tensors()


def run(model: Path, arrays: Arrays, variant: str) -> Arrays:
    """The outputs in the order of the primary subgraph."""
    interpreter = _open(model, variant)
    ports = interpreter.get_input_details()
    if len(ports) != len(arrays):
        raise ValueError(f"{len(ports)} inputs, not {len(arrays)}")
    for port, array in zip(ports, arrays, strict=False):
        if tuple(port["shape"]) != array.shape:
            interpreter.resize_tensor_input(port["index"], array.shape)
    interpreter.allocate_tensors()
    for port, array in zip(ports, arrays, strict=False):
        interpreter.set_tensor(port["index"], array.astype(port["dtype"], copy=False))
    interpreter.invoke()
    return [
        np.array(interpreter.get_tensor(port["index"])) for port in interpreter.get_output_details()
    ]
