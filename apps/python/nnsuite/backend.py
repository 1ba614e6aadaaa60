"""An onnx.backend for the tools that use one. Needs the package onnx.

    import nnsuite.backend as backend
    outputs = backend.run_model(onnx.load("m.onnx"), [array])
"""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

import numpy as np
import onnx
from onnx.backend.base import Backend as _Backend
from onnx.backend.base import BackendRep as _BackendRep

from ._errors import Error, UnsupportedError
from ._model import Model, Program


class Representation(_BackendRep):
    """A model that is compiled for the shapes of its inputs when it runs."""

    def __init__(self, model: Model, names: Sequence[str]) -> None:
        self._model = model
        self._names = list(names)
        self._programs: Dict[Tuple[Tuple[int, ...], ...], Program] = {}

    def run(self, inputs: Any, **kwargs: Any) -> Tuple[np.ndarray, ...]:
        """inputs: arrays in the order of the model's inputs, or by name."""
        if not isinstance(inputs, dict):
            values = [inputs] if isinstance(inputs, np.ndarray) else list(inputs)
            inputs = dict(zip(self._names, values))
        arrays = {name: np.asarray(value) for name, value in inputs.items()}
        key = tuple(a.shape for a in arrays.values())
        if key not in self._programs:
            shapes = {name: list(a.shape) for name, a in arrays.items()}
            self._programs[key] = self._model.compile(input_shape=shapes)
        return tuple(self._programs[key].run(arrays).values())


class Backend(_Backend):
    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether all operators of the model are supported."""
        return cls.supports_device(device) and not _open(model).inspect()["unsupported"]

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> Representation:
        if not cls.supports_device(device):
            raise UnsupportedError(f"there is no device {device}; models run on the CPU", "unsupported")
        initializers = {t.name for t in model.graph.initializer}
        names = [i.name for i in model.graph.input if i.name not in initializers]
        return Representation(_open(model), names)

    @classmethod
    def run_model(
        cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any
    ) -> Tuple[np.ndarray, ...]:
        return cls.prepare(model, device).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Any = None,
        **kwargs: Any,
    ) -> Tuple[np.ndarray, ...]:
        """Runs one operator. opset_version: of the default domain; the newest by default."""
        names = [n for n in node.input if n]
        arrays = [np.asarray(a) for a in inputs]
        infos = [
            onnx.helper.make_tensor_value_info(n, onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[a.dtype], a.shape)
            for n, a in zip(names, arrays)
        ]
        outputs: List[onnx.ValueInfoProto] = []
        for name in (n for n in node.output if n):
            outputs.append(onnx.ValueInfoProto())
            outputs[-1].name = name
        graph = onnx.helper.make_graph([node], "node", infos, outputs)
        opset = kwargs.get("opset_version", onnx.defs.onnx_opset_version())
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
        return cls.prepare(model, device).run(dict(zip(names, arrays)))

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device.split(":")[0] == "CPU"


def _open(model: onnx.ModelProto) -> Model:
    return Model.from_bytes(model.SerializeToString())


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device

__all__ = [
    "Backend",
    "Error",
    "Representation",
    "is_compatible",
    "prepare",
    "run_model",
    "run_node",
    "supports_device",
]
