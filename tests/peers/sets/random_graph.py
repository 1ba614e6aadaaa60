"""A generator of random ONNX graphs, whose every value is an output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx.shape_inference
from onnx import helper, numpy_helper

FLOAT, INTS = np.float32, (np.int32, np.int64)
SPECIAL = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-42, -1e-40, 1e15, 1.5, -2.5, 0.5], np.float32
)


@dataclass(frozen=True)
class Value:
    """A value of the graph whose type and shape are known."""

    name: str
    dtype: Any
    shape: tuple[int, ...]

    @property
    def rank(self) -> int:
        return len(self.shape)


class Graph:
    """Collects values and nodes. `special` inputs hold NaN, infinities, denormals and limits."""

    def __init__(self, random: np.random.Generator, opset: int, special: bool) -> None:
        self.random, self.opset, self.special = random, opset, special
        self.values: list[Value] = []
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.inputs: dict[str, np.ndarray] = {}
        self.quantized = False
        self.open: list[onnx.ValueInfoProto] = []  # outputs whose sizes only the run knows

    def integer(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high))

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[self.integer(0, len(choices))]

    def array(self, dtype: Any, shape: Sequence[int]) -> np.ndarray:
        if dtype == FLOAT:
            array = self.random.normal(size=shape).astype(FLOAT)
            if self.special:
                chosen = self.random.random(shape) < 0.2
                array = np.where(chosen, self.random.choice(SPECIAL, shape), array)
            return array.astype(FLOAT)
        if dtype == np.bool_:
            return self.random.random(shape) < 0.5
        array = self.random.integers(-9, 10, shape).astype(dtype)
        if self.special and array.size:
            array.flat[0], array.flat[-1] = np.iinfo(dtype).max, np.iinfo(dtype).min
        return array

    def add_input(self, dtype: Any, shape: tuple[int, ...]) -> Value:
        name = f"x{len(self.inputs)}"
        self.inputs[name] = self.array(dtype, shape)
        self.values.append(Value(name, dtype, shape))
        return self.values[-1]

    def constant(self, array: Any, dtype: Any = np.int64) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array, dtype), name))
        return name

    def find(self, dtype: Any = FLOAT, ranks: Sequence[int] = (1, 2, 3, 4)) -> Value:
        """A value of the type and of one of the ranks, a new input if there is none."""
        found = [
            v
            for v in self.values
            if v.dtype == dtype and v.rank in ranks and 0 < np.prod(v.shape) < 3000
        ]
        if found and self.random.random() < 0.9:
            return found[-1 - min(int(self.random.exponential(3)), len(found) - 1)]
        return self.add_input(dtype, tuple(self.integer(1, 6) for _ in range(self.pick(ranks))))

    def partner(self, value: Value) -> Value:
        """A value that broadcasts with another one."""
        found = [v for v in self.values if v.dtype == value.dtype and _broadcasts(v, value)]
        if found and self.random.random() < 0.7:
            chosen: Value = self.pick(found)
            return chosen
        shape = value.shape[self.integer(0, value.rank + 1) :]
        return self.add_input(
            value.dtype, tuple(1 if self.random.random() < 0.3 else n for n in shape)
        )

    def add(
        self,
        kind: str,
        inputs: Sequence[Value | str],
        dtype: Any,
        *shapes: tuple[int, ...],
        **attributes: Any,
    ) -> None:
        names = [v if isinstance(v, str) else v.name for v in inputs]
        outputs = [f"v{len(self.nodes)}_{k}" for k in range(len(shapes))]
        self.nodes.append(helper.make_node(kind, names, outputs, **attributes))
        self.values += [
            Value(n, dtype, tuple(map(int, s))) for n, s in zip(outputs, shapes, strict=False)
        ]

    def add_inferred(
        self, kind: str, inputs: Sequence[Value | str], count: int = 1, **attributes: Any
    ) -> None:
        """Adds a node whose types are left to onnx; none if it refuses the node."""
        names = [v if isinstance(v, str) else v.name for v in inputs]
        outputs = [f"v{len(self.nodes)}_{k}" for k in range(count)]
        node = helper.make_node(kind, names, outputs, **attributes)
        seen = {name for part in (node, *_nodes_inside(node)) for name in part.input}
        graph = helper.make_graph(
            [node],
            "one",
            [_port(v) for v in self.values if v.name in seen],
            [onnx.ValueInfoProto(name=name) for name in outputs],
            [c for c in self.constants if c.name in seen],
        )
        opset = helper.make_opsetid("", self.opset)
        try:
            typed = onnx.shape_inference.infer_shapes(
                helper.make_model(graph, opset_imports=[opset]), strict_mode=True, data_prop=True
            )
        except onnx.shape_inference.InferenceError:
            return
        found = [port.type.tensor_type for port in typed.graph.output]
        if not all(t.elem_type and t.HasField("shape") for t in found):
            return
        if any(d.HasField("dim_value") and d.dim_value < 1 for t in found for d in t.shape.dim):
            return  # a window that does not fit
        self.nodes.append(node)
        for port, kinds in zip(typed.graph.output, found, strict=True):
            if all(d.HasField("dim_value") for d in kinds.shape.dim):
                dtype = helper.tensor_dtype_to_np_dtype(kinds.elem_type)
                shape = tuple(d.dim_value for d in kinds.shape.dim)
                self.values.append(Value(port.name, dtype.type, shape))
            else:
                self.open.append(port)

    def model(self) -> onnx.ModelProto:
        inputs = [_port(v) for v in self.values if v.name in self.inputs]
        outputs = [_port(v) for v in self.values if v.name not in self.inputs] + self.open
        graph = helper.make_graph(self.nodes, "random", inputs, outputs, self.constants)
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", self.opset)],
            ir_version=8 if self.opset < 19 else 10,
        )


def _port(value: Value) -> onnx.ValueInfoProto:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(value.dtype))
    return helper.make_tensor_value_info(value.name, kind, value.shape)


def _nodes_inside(node: onnx.NodeProto) -> list[onnx.NodeProto]:
    return [inner for attribute in node.attribute for inner in attribute.g.node]


def _broadcasts(a: Value, b: Value) -> bool:
    return all(x == y or 1 in (x, y) for x, y in zip(a.shape[::-1], b.shape[::-1], strict=False))
