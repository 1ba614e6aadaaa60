"""A generator of random TensorFlow Lite graphs, whose every value is an output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

# Kinds of values: a "q" precedes quantized integers.
TYPES: dict[str, Any] = {
    "f32": np.float32,
    "f16": np.float16,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u32": np.uint32,
    "bool": np.bool_,
    "c64": np.complex64,
    "qi8": np.int8,
    "qu8": np.uint8,
    "qi16": np.int16,
}
CODES: dict[Any, str] = {
    np.float32: "FLOAT32",
    np.float16: "FLOAT16",
    np.int8: "INT8",
    np.int16: "INT16",
    np.int32: "INT32",
    np.int64: "INT64",
    np.uint8: "UINT8",
    np.uint32: "UINT32",
    np.bool_: "BOOL",
    np.complex64: "COMPLEX64",
}
SPECIAL = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-42, -1e-40, 1e15, 1.5, -2.5, 0.5], np.float32
)
# The newest version of each operator in LiteRT's reference kernels, if it is not 1.
VERSIONS = {
    **dict.fromkeys(("ARG_MAX", "ARG_MIN", "LOG_SOFTMAX", "DIV", "GREATER", "LESS_EQUAL"), 2),
    **dict.fromkeys(("EXP", "LOG", "SQRT", "SUM", "REDUCE_PROD", "FAKE_QUANT", "FLOOR_MOD"), 2),
    **dict.fromkeys(("LEAKY_RELU", "SQUARED_DIFFERENCE", "WHERE", "SIGN", "GELU", "TILE"), 2),
    **dict.fromkeys(("SELECT_V2", "L2_NORMALIZATION", "SPACE_TO_DEPTH"), 2),
    **dict.fromkeys(("ABS", "RELU", "RELU6", "TANH", "LOGISTIC", "SOFTMAX", "MEAN"), 3),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D", "SPLIT_V", "TOPK_V2", "LESS"), 3),
    **dict.fromkeys(("GREATER_EQUAL", "REDUCE_MAX", "REDUCE_MIN", "SPARSE_TO_DENSE"), 3),
    **dict.fromkeys(("FLOOR_DIV", "MIRROR_PAD", "RSQRT"), 3),
    **dict.fromkeys(("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND", "BROADCAST_TO", "MAXIMUM"), 4),
    **dict.fromkeys(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "MINIMUM", "SELECT"), 4),
    **dict.fromkeys(("NOT_EQUAL", "REVERSE_V2", "BATCH_MATMUL", "STRIDED_SLICE"), 4),
    **dict.fromkeys(("ADD", "SUB", "SPLIT", "TRANSPOSE_CONV", "EQUAL", "PACK", "FILL"), 5),
    **dict.fromkeys(("EMBEDDING_LOOKUP",), 5),
    **dict.fromkeys(("DEPTHWISE_CONV_2D", "PAD", "PADV2", "QUANTIZE", "UNPACK"), 6),
    **dict.fromkeys(("GATHER_ND", "DYNAMIC_UPDATE_SLICE"), 6),
    **dict.fromkeys(("CONCATENATION", "MUL"), 7),
    **dict.fromkeys(("CONV_2D", "GATHER", "TRANSPOSE", "SLICE"), 8),
    **dict.fromkeys(("CAST", "DEQUANTIZE"), 9),
    "FULLY_CONNECTED": 12,
}
Shape = tuple[int, ...]
Quant = tuple[float, int]


@dataclass(frozen=True)
class Value:
    """A tensor of the graph; quantized values have one scale and zero point."""

    index: int
    kind: str
    shape: Shape
    quant: Quant | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)


class Graph:
    """Collects tensors and operators. `special` inputs hold NaN, infinities and limits."""

    def __init__(self, random: np.random.Generator, special: bool) -> None:
        self.random, self.special = random, special
        self.values: list[Value] = []
        self.inputs: dict[str, np.ndarray] = {}
        self._inputs: list[int] = []
        self._outputs: list[int] = []
        self._tensors: list[Any] = []
        self._buffers: list[Any] = [schema.BufferT()]
        self.operators: list[Any] = []
        self._codes: dict[str, int] = {}

    def integer(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high))

    def pick(self, choices: Sequence[Any] | str) -> Any:
        """One of the choices, or of the words."""
        chosen = choices.split() if isinstance(choices, str) else choices
        return chosen[self.integer(0, len(chosen))]

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def quant(self, kind: str) -> Quant | None:
        """Random parameters: zero points also at the limits; 16-bit values have 0."""
        if not kind.startswith("q"):
            return None
        scale = float(np.float32(10 ** self.random.uniform(-2.5, -0.5)))
        if kind == "qi16":
            return scale / 256, 0
        limits = np.iinfo(TYPES[kind])
        zeros = (limits.min, limits.max, 0, *self.random.integers(limits.min, limits.max, 5))
        return scale, int(self.pick(zeros))

    def array(self, kind: str, shape: Sequence[int]) -> np.ndarray:
        dtype = TYPES[kind]
        if kind in ("f32", "f16"):
            array = self.random.normal(size=shape).astype(np.float32)
            if self.special:
                chosen = self.random.random(shape) < 0.2
                array = np.where(chosen, self.random.choice(SPECIAL, shape), array)
            return array.astype(dtype)
        if kind == "bool":
            return self.random.random(shape) < 0.5
        limits = np.iinfo(dtype)
        if kind.startswith("q"):
            return self.random.integers(limits.min, limits.max + 1, shape).astype(dtype)
        array = self.random.integers(max(-9, limits.min), 10, shape).astype(dtype)
        if self.special and array.size:
            array.flat[0], array.flat[-1] = limits.max, limits.min
        return array

    def tensor(
        self, kind: str, shape: Sequence[int], quant: Any = None, data: np.ndarray | None = None
    ) -> Value:
        """Adds a tensor; `quant` is (scale, zero point), or (scales, zero points, axis)."""
        tensor = schema.TensorT()
        tensor.name = f"t{len(self._tensors)}".encode()
        tensor.type = getattr(schema.TensorType, CODES[TYPES[kind]])
        tensor.shape, tensor.hasRank = [1 if n < 0 else int(n) for n in shape], True
        if min(shape, default=0) < 0:
            tensor.shapeSignature = list(shape)
        if quant is not None:
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale = np.atleast_1d(np.array(quant[0], np.float32))
            tensor.quantization.zeroPoint = np.atleast_1d(np.array(quant[1], np.int64))
            tensor.quantization.quantizedDimension = quant[2] if len(quant) > 2 else 0
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            tensor.buffer = len(self._buffers)
            self._buffers.append(buffer)
        self._tensors.append(tensor)
        return Value(len(self._tensors) - 1, kind, tuple(int(n) for n in shape), quant)

    def constant(self, array: Any, kind: str = "i32", quant: Any = None) -> Value:
        data = np.asarray(array, TYPES[kind])
        return self.tensor(kind, data.shape, quant, data)

    def add_input(
        self,
        kind: str,
        shape: Shape,
        quant: Quant | None = None,
        data: np.ndarray | None = None,
        *,
        constant: float = 0.0,
    ) -> Value:
        """A new input, or with this probability a constant.

        Operators have an operand that is not constant: what LiteRT computes when it prepares a
        model is not seen by its delegates.
        """
        quant = quant or self.quant(kind)
        data = self.array(kind, shape) if data is None else data
        if self._inputs and self.chance(constant):
            return self.tensor(kind, shape, quant, data)
        value = self.tensor(kind, shape, quant)
        self._inputs.append(value.index)
        self.inputs[f"t{value.index}"] = data
        self.values.append(value)
        return value

    def find(
        self, kinds: str = "f32", ranks: Sequence[int] = (1, 2, 3, 4), shape: Shape | None = None
    ) -> Value:
        """A value of one of the kinds and ranks, a new input if there is none.

        Special values are new: LiteRT makes finite numbers of infinities (DISAGREEMENTS.md),
        which a second operator would turn into anything.
        """
        kind = self.pick(kinds)
        found = [
            v
            for v in self.values
            if v.kind == kind
            and v.rank in ranks
            and 0 < np.prod(v.shape) < 3000
            and (shape is None or v.shape == shape)
        ]
        if found and not self.special and self.chance(0.8):
            return found[-1 - min(int(self.random.exponential(2)), len(found) - 1)]
        if shape is None:
            shape = tuple(self.integer(1, 6) for _ in range(self.pick(ranks)))
        return self.add_input(kind, shape)

    def partner(self, value: Value, quant: Quant | None = None) -> Value:
        """A value that broadcasts with another one, with its parameters if they are given."""
        found = [
            v
            for v in self.values
            if v.kind == value.kind
            and _broadcasts(v, value)
            and (quant is None or v.quant == quant)
        ]
        if found and not self.special and self.chance(0.5):
            chosen: Value = self.pick(found)
            return chosen
        shape = value.shape[self.integer(0, value.rank + 1) :]
        return self.add_input(
            value.kind, tuple(1 if self.chance(0.2) else n for n in shape), quant, constant=0.4
        )

    @property
    def integers(self) -> bool:
        """Whether a value is quantized, so that integer kernels compute it."""
        return any(t.quantization is not None for t in self._tensors)

    def code(self, operator: str) -> int:
        return self._codes.setdefault(operator, len(self._codes))

    def output(self, kind: str, shape: Sequence[int], quant: Any = None) -> Value:
        value = self.tensor(kind, shape, quant)
        self._outputs.append(value.index)
        if -1 not in value.shape and not (quant and len(quant) > 2):
            self.values.append(value)
        return value

    def add(
        self,
        operator: str,
        inputs: Sequence[Value | None],
        outputs: Sequence[Value],
        options: str = "",
        **fields: Any,
    ) -> Value:
        """Adds an operator; `options` names the table of its options, `fields` sets them."""
        entry = schema.OperatorT()
        entry.opcodeIndex = self.code(operator)
        entry.inputs = [-1 if v is None else v.index for v in inputs]
        entry.outputs = [v.index for v in outputs]
        if options:
            table = getattr(schema, f"{options}OptionsT")()
            for name, value in fields.items():
                assert hasattr(table, name), name
                setattr(table, name, value)
            kind = getattr(schema.BuiltinOptions, f"{options}Options", None)
            if kind is None:
                entry.builtinOptions2 = table
                entry.builtinOptions2Type = getattr(schema.BuiltinOptions2, f"{options}Options")
            else:
                entry.builtinOptions, entry.builtinOptionsType = table, kind
        self.operators.append(entry)
        return outputs[0]

    def pack(self) -> bytes:
        """The file, with a minimal runtime version and without signatures."""
        graph = schema.SubGraphT()
        graph.name = b"main"
        graph.tensors, graph.operators = self._tensors, self.operators
        graph.inputs, graph.outputs = self._inputs, self._outputs
        model = schema.ModelT()
        model.version, model.description = 3, b"random"
        model.subgraphs, model.buffers = [graph], self._buffers
        model.operatorCodes = []
        for operator in self._codes:
            code = schema.OperatorCodeT()
            code.builtinCode = getattr(schema.BuiltinOperator, operator)
            code.deprecatedBuiltinCode = min(code.builtinCode, 127)
            code.version = VERSIONS.get(operator, 1)
            model.operatorCodes.append(code)
        builder = flatbuffers.Builder(4096)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def _broadcasts(a: Value, b: Value) -> bool:
    return all(x == y or 1 in (x, y) for x, y in zip(a.shape[::-1], b.shape[::-1], strict=False))
