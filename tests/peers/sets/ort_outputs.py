"""What ONNX Runtime writes: quantized, float16 and optimized forms of small models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization
from onnxruntime.quantization import matmul_nbits_quantizer
from onnxruntime.transformers import float16

from peers.samples import Made, Recipe

Weights = list[onnx.TensorProto]
QUANT = quantization.QuantType


class _Graph:
    """Collects nodes and weights."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random, self.nodes, self.weights = random, list[onnx.NodeProto](), Weights()

    def weight(self, *shape: int) -> str:
        name = f"w{len(self.weights)}"
        array = self.random.normal(size=shape).astype(np.float32) / max(np.sqrt(shape[-1]), 1)
        self.weights.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def integers(self, *values: int) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(kind, inputs, [name], name=f"{kind}_{name}", **attributes)
        )
        return name

    def save(self, path: Path, output: str, shape: list[Any], opset: int = 17) -> None:
        self.nodes[-1].output[0] = "y"
        del output
        graph = helper.make_graph(
            self.nodes,
            "graph",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            self.weights,
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8
        )
        onnx.save(onnx.shape_inference.infer_shapes(model), str(path))


def _cnn(g: _Graph) -> tuple[str, list[Any]]:
    a = g.add("Relu", g.add("Conv", "x", g.weight(8, 3, 3, 3), g.weight(8), pads=[1] * 4))
    b = g.add("Clip", g.add("Conv", a, g.weight(8, 1, 3, 3), g.weight(8), pads=[1] * 4, group=8))
    c = g.add("MaxPool", g.add("Add", a, b), kernel_shape=[2, 2], strides=[2, 2])
    d = g.add("Sigmoid", g.add("Conv", c, g.weight(6, 8, 1, 1), g.weight(6)))
    e = g.add("GlobalAveragePool", g.add("Concat", c, d, axis=1))
    f = g.add("Gemm", g.add("Flatten", e), g.weight(14, 5), g.weight(5))
    return g.add("Softmax", f), ["N", 3, 16, 16]


def _mlp(g: _Graph) -> tuple[str, list[Any]]:
    a = g.add("Relu", g.add("Add", g.add("MatMul", "x", g.weight(32, 64)), g.weight(64)))
    return g.add("Add", g.add("MatMul", a, g.weight(64, 32)), g.weight(32)), ["N", 32]


def _leaky(g: _Graph) -> tuple[str, list[Any]]:
    a = g.add("LeakyRelu", g.add("Conv", "x", g.weight(4, 3, 3, 3), strides=[2, 2]), alpha=0.2)
    b = g.add("AveragePool", a, kernel_shape=[3, 3], strides=[2, 2])
    c = g.add(
        "Transpose",
        g.add("ConvTranspose", b, g.weight(4, 4, 2, 2), strides=[2, 2]),
        perm=[0, 2, 3, 1],
    )
    return g.add("ReduceMean", g.add("Mul", c, c), axes=[1, 2]), [2, 3, 16, 16]


def _transformer(g: _Graph) -> tuple[str, list[Any]]:
    def norm(x: str) -> str:
        return g.add("LayerNormalization", x, g.weight(32), g.weight(32), axis=-1)

    def heads(x: str, perm: list[int]) -> str:
        flat = g.add("Add", g.add("MatMul", x, g.weight(32, 32)), g.weight(32))
        return g.add("Transpose", g.add("Reshape", flat, g.integers(0, 0, 4, 8)), perm=perm)

    x = g.add("Add", "x", g.weight(32))
    for _ in range(2):
        n = norm(x)
        q, k, v = heads(n, [0, 2, 1, 3]), heads(n, [0, 2, 3, 1]), heads(n, [0, 2, 1, 3])
        scale = g.weight(1)
        scores = g.add("Softmax", g.add("Mul", g.add("MatMul", q, k), scale), axis=-1)
        mixed = g.add("Transpose", g.add("MatMul", scores, v), perm=[0, 2, 1, 3])
        flat = g.add("MatMul", g.add("Reshape", mixed, g.integers(0, 0, 32)), g.weight(32, 32))
        x = g.add("Add", x, g.add("Add", flat, g.weight(32)))
        h = g.add("Add", g.add("MatMul", norm(x), g.weight(32, 64)), g.weight(64))
        two = g.weight(1)
        gate = g.add("Mul", h, g.add("Sigmoid", g.add("Mul", h, two)))
        x = g.add("Add", x, g.add("Add", g.add("MatMul", gate, g.weight(64, 32)), g.weight(32)))
    return norm(x), ["N", "T", 32]


SOURCES: dict[str, Callable[[_Graph], tuple[str, list[Any]]]] = {
    "cnn": _cnn,
    "mlp": _mlp,
    "leaky": _leaky,
    "transformer": _transformer,
}


class _Samples(quantization.CalibrationDataReader):
    def __init__(self, arrays: list[np.ndarray]) -> None:
        self._next = iter([{"x": array} for array in arrays])

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self._next, None)


def _source(name: str, folder: Path, random: np.random.Generator) -> tuple[Path, np.ndarray]:
    graph = _Graph(random)
    output, shape = SOURCES[name](graph)
    path = folder / "source.onnx"
    graph.save(path, output, shape)
    sizes = [{"N": 2, "T": 5}.get(size, size) for size in shape]
    return path, random.normal(size=sizes).astype(np.float32)


Change = Callable[[Path, Path, np.random.Generator, np.ndarray], None]


def _static(**settings: Any) -> Change:
    def change(source: Path, out: Path, random: np.random.Generator, x: np.ndarray) -> None:
        samples = [random.normal(size=x.shape).astype(np.float32) for _ in range(4)]
        quantization.quantize_static(str(source), str(out), _Samples(samples), **settings)

    return change


def _dynamic(**settings: Any) -> Change:
    def change(source: Path, out: Path, _random: np.random.Generator, _x: np.ndarray) -> None:
        quantization.quantize_dynamic(str(source), str(out), **settings)

    return change


def _nbits(bits: int, **settings: Any) -> Change:
    def change(source: Path, out: Path, _random: np.random.Generator, _x: np.ndarray) -> None:
        quantizer = matmul_nbits_quantizer.MatMulNBitsQuantizer(
            onnx.load(str(source)), bits=bits, block_size=16, **settings
        )
        quantizer.process()
        quantizer.model.save_model_to_file(str(out))

    return change


def _half(**settings: Any) -> Change:
    def change(source: Path, out: Path, _random: np.random.Generator, _x: np.ndarray) -> None:
        onnx.save(float16.convert_float_to_float16(onnx.load(str(source)), **settings), str(out))

    return change


def _optimized(level: str) -> Change:
    def change(source: Path, out: Path, _random: np.random.Generator, _x: np.ndarray) -> None:
        settings = onnxruntime.SessionOptions()
        settings.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
        settings.optimized_model_filepath = str(out)
        onnxruntime.InferenceSession(str(source), settings, providers=["CPUExecutionProvider"])

    return change


def _fused(source: Path, out: Path, _random: np.random.Generator, _x: np.ndarray) -> None:
    from onnxruntime.transformers import optimizer

    optimizer.optimize_model(str(source), "bert", num_heads=4, hidden_size=32).save_model_to_file(
        str(out)
    )


def _changes() -> dict[str, tuple[Change, str]]:
    qdq, qop = quantization.QuantFormat.QDQ, quantization.QuantFormat.QOperator
    return {
        "qdq_u8": (_static(quant_format=qdq), "integer"),
        "qdq_i8": (
            _static(quant_format=qdq, activation_type=QUANT.QInt8, per_channel=True),
            "integer",
        ),
        "qdq_i16": (_static(quant_format=qdq, activation_type=QUANT.QInt16), "integer"),
        "qdq_u16": (_static(quant_format=qdq, activation_type=QUANT.QUInt16), "integer"),
        "qdq_symmetric": (
            _static(
                quant_format=qdq,
                activation_type=QUANT.QInt8,
                extra_options={"ActivationSymmetric": True},
            ),
            "integer",
        ),
        "qop_u8": (_static(quant_format=qop), "integer"),
        "qop_i8": (_static(quant_format=qop, activation_type=QUANT.QInt8), "integer"),
        "qop_channel": (_static(quant_format=qop, per_channel=True), "integer"),
        "dynamic_u8": (_dynamic(weight_type=QUANT.QUInt8), "integer"),
        "dynamic_i8": (_dynamic(weight_type=QUANT.QInt8, per_channel=True), "integer"),
        "nbits_4": (_nbits(4), "contrib"),
        "nbits_8": (_nbits(8), "contrib"),
        "nbits_4_asymmetric": (_nbits(4, is_symmetric=False), "contrib"),
        "float16": (_half(), "half"),
        "float16_kept": (_half(keep_io_types=True), "half"),
        "basic": (_optimized("ORT_ENABLE_BASIC"), ""),
        "extended": (_optimized("ORT_ENABLE_EXTENDED"), "contrib"),
        "fused": (_fused, "contrib"),
    }


def _recipe(source: str, name: str, change: Change, trait: str) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        path, x = _source(source, folder, random)
        change(path, folder / "model.onnx", random, x)
        model = onnx.load(str(folder / "model.onnx"))
        domains = {node.domain for node in model.graph.node}
        path.unlink()
        if model.graph.input[0].type.tensor_type.elem_type == TensorProto.FLOAT16:
            x = x.astype(np.float16)
        traits = [trait] if trait in ("integer", "contrib") else []
        traits += ["dynamic", "batch"] if source != "leaky" else []
        traits += ["contrib"] if "com.microsoft" in domains and "contrib" not in traits else []
        return Made("model.onnx", {"x": x}, traits, rtol=5e-3 if trait == "half" else None)

    return Recipe(f"{source}-{name}", make)


def recipes() -> list[Recipe]:
    return [
        _recipe(source, name, change, trait)
        for source in SOURCES
        for name, (change, trait) in _changes().items()
    ]
