"""Rules of random TensorFlow Lite graphs: arithmetic, layers and the idioms of converters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sets.random_flat import TYPES, Graph, Quant, Shape, Value

QUANTIZED = "qi8 qu8 qi16"
# Operator: kinds, and the table of its options.
UNARY = {
    "ABS": ("f32 qi8 qi16 i32", "Abs"),
    "CEIL": ("f32", ""),
    "COS": ("f32", "Cos"),
    "SIN": ("f32", ""),
    "ELU": ("f32 qi8", ""),
    "EXP": ("f32 qi8 qi16", "Exp"),
    "FLOOR": ("f32", ""),
    "GELU": ("f32 qi8 qu8 qi16", "Gelu"),
    "HARD_SWISH": ("f32 qi8 qu8", "HardSwish"),
    "LEAKY_RELU": ("f32 qi8 qu8 qi16", "LeakyRelu"),
    "LOG": ("f32 qi8 qi16", ""),
    "NEG": ("f32 i32 i64", "Neg"),
    "RELU": ("f32 qi8 qu8 qi16", ""),
    "RELU6": ("f32 qi8 qu8 qi16", ""),
    "RELU_N1_TO_1": ("f32 qi8 qu8", ""),
    "RELU_0_TO_1": ("f32 qi8 qu8", ""),
    "ROUND": ("f32", ""),
    "RSQRT": ("f32 qi8 qi16", ""),
    "SQRT": ("f32 qi8 qi16", ""),
    "SQUARE": ("f32", "Square"),
    "SIGN": ("f32 i32", "Sign"),
    "ZEROS_LIKE": ("f32 i32 i64", "ZerosLike"),
}
# The scale and zero point that a quantized result has, by kind.
UNIT = {"qi8": (1 / 256, -128), "qu8": (1 / 256, 0), "qi16": (1 / 32768, 0)}
SIGNED = {"qi8": (1 / 128, 0), "qu8": (1 / 128, 128), "qi16": (1 / 32768, 0)}
LOGARITHM = {"qi8": (1 / 16, 127), "qu8": (1 / 16, 255)}
FIXED: dict[str, Any] = {
    "LOGISTIC": ("f32 qi8 qu8 qi16", UNIT, "", (0, 1, 2, 3, 4)),
    "TANH": ("f32 qi8 qu8 qi16", SIGNED, "", (0, 1, 2, 3, 4)),
    "SOFTMAX": ("f32 qi8 qu8 qi16", UNIT, "Softmax", (1, 2, 3, 4)),
    "LOG_SOFTMAX": ("f32 qi8 qu8", LOGARITHM, "LogSoftmax", (1, 2, 3, 4)),
    "L2_NORMALIZATION": ("f32 qi8 qu8", SIGNED, "L2Norm", (1, 2, 3, 4)),
}
ARITHMETIC = {
    "ADD": "f32 qi8 qu8 qi16 i16 i32 i64",
    "SUB": "f32 qi8 qu8 qi16 i32 i64",
    "MUL": "f32 qi8 qu8 qi16 i16 i32 i64",
    "DIV": "f32 qu8 qi8 qi16 i32",
}
BINARY = {
    "MAXIMUM": ("f32 qi8 qu8 qi16 i32 i64", "MaximumMinimum"),
    "MINIMUM": ("f32 qi8 qu8 qi16 i32 i64", "MaximumMinimum"),
    "FLOOR_DIV": ("f32 i8 i16 i32", "FloorDiv"),
    "FLOOR_MOD": ("f32 i8 i16 i32 i64", "FloorMod"),
    "POW": ("f32 i32", "Pow"),
    "ATAN2": ("f32", "ATan2"),
    "SQUARED_DIFFERENCE": ("f32 qi8 i32", "SquaredDifference"),
    "BITWISE_XOR": ("i8 i16 i32 u8 u32", "BitwiseXor"),
    "RIGHT_SHIFT": ("i8 i16 i32 u8 u32", "RightShift"),
}
COMPARE = {
    "EQUAL": ("f32 qi8 qu8 i16 i32 i64 bool", "Equal"),
    "NOT_EQUAL": ("f32 qi8 qu8 i16 i32 i64 bool", "NotEqual"),
    "LESS": ("f32 qi8 qu8 i16 i32 i64", "Less"),
    "LESS_EQUAL": ("f32 qi8 qu8 i32 i64", "LessEqual"),
    "GREATER": ("f32 qi8 qu8 i32 i64", "Greater"),
    "GREATER_EQUAL": ("f32 qi8 qu8 i16 i32 i64", "GreaterEqual"),
}
ACTIVATIONS = (0, 0, 0, 1, 2, 3)  # NONE, RELU, RELU_N1_TO_1, RELU6


def _unary(g: Graph) -> None:
    kind = g.pick(list(UNARY))
    kinds, options = UNARY[kind]
    if kind == "GELU" and g.special:  # DISAGREEMENTS.md
        kinds = "qi8 qu8 qi16"
    x = g.find(kinds, (0, 1, 2, 3, 4, 5))
    if kind in ("RSQRT", "SQRT") and x.quant:
        zero = 0 if x.kind == "qi16" else int(np.iinfo(TYPES[x.kind]).min)
        data = np.maximum(g.array(x.kind, x.shape), zero + 1)
        x = g.add_input(x.kind, x.shape, (x.quant[0], zero), data)
    fields: dict[str, Any] = {}
    if kind == "GELU":
        fields["approximate"] = g.chance(0.5)
    if kind == "LEAKY_RELU":
        fields["alpha"] = g.pick((0.2, 0.01, 1.5, -0.3))
    quant = x.quant if kind.startswith("RELU") and g.chance(0.5) else g.quant(x.kind)
    g.add(kind, [x], [g.output(x.kind, x.shape, quant)], options, **fields)


def _fixed(g: Graph) -> None:
    kind = g.pick(list(FIXED))
    kinds, quants, options, ranks = FIXED[kind]
    x = g.find(kinds, ranks)
    fields = {"beta": g.pick((1.0, 1.0, 0.5, 2.0))} if kind == "SOFTMAX" else {}
    y = g.output(x.kind, x.shape, quants.get(x.kind))
    g.add(kind, [x], [y], options, **fields)


def _arithmetic(g: Graph) -> None:
    kind = g.pick(list(ARITHMETIC))
    x = g.find(ARITHMETIC[kind], (0, 1, 2, 3, 4, 5))
    y = g.partner(x)
    quant = g.quant(x.kind)
    if kind == "DIV" and x.kind != "f32":
        y = _divisor(g, x.kind, y.shape, y.quant)
        if x.quant and y.quant:  # small quotients: DISAGREEMENTS.md
            step = float(np.float32(x.quant[0] / y.quant[0] * g.pick((0.05, 0.2))))
            quant = step, quant[1] if quant else 0
            x = _divisor(g, x.kind, x.shape, x.quant, 8)
    shape = np.broadcast_shapes(x.shape, y.shape)
    if kind != "DIV" and g.chance(0.3):
        x, y = y, x
    options = kind.capitalize()
    active = g.pick(ACTIVATIONS) if x.kind not in ("i64",) else 0
    z = g.output(x.kind, shape, quant)
    g.add(kind, [x, y], [z], options, fusedActivationFunction=active)


def _divisor(
    g: Graph, kind: str, shape: Shape, quant: Quant | None = None, least: int = 1
) -> Value:
    """Integers whose distance from the zero point is at least `least`."""
    limits, zero = np.iinfo(TYPES[kind]), quant[1] if quant else 0
    data = np.clip(g.random.integers(zero - 60, zero + 60, shape), limits.min, limits.max)
    other = zero + (least if zero + least <= limits.max else -least)
    data = np.where(np.abs(data - zero) < least, other, data)
    return g.add_input(kind, shape, quant, data.astype(TYPES[kind]), constant=0.4)


def _binary(g: Graph) -> None:
    kind = g.pick(list(BINARY))
    kinds, options = BINARY[kind]
    x = g.find(kinds, (0, 1, 2, 3, 4, 5) if kind in ("MAXIMUM", "MINIMUM") else (0, 1, 2, 3, 4))
    if kind in ("MAXIMUM", "MINIMUM"):
        y = g.partner(x, x.quant)
        quant = x.quant
    else:
        y, quant = g.partner(x), g.quant(x.kind)
    if x.kind != "f32" and kind in ("FLOOR_DIV", "FLOOR_MOD"):
        y = _divisor(g, x.kind, y.shape)
    if x.kind == "i32" and kind == "POW":  # without the limits, whose powers are not integers
        data = g.random.integers(-9, 10, x.shape).astype(np.int32)
        x = g.add_input("i32", x.shape, data=data)
        y = g.constant(g.random.integers(0, 5, y.shape))
    if kind == "RIGHT_SHIFT":
        y = g.constant(g.random.integers(0, 8, y.shape), x.kind)
    if kind == "ATAN2":
        y = g.find("f32", shape=x.shape)
    shape = np.broadcast_shapes(x.shape, y.shape)
    g.add(kind, [x, y], [g.output(x.kind, shape, quant)], options)


def _compare(g: Graph) -> None:
    kind = g.pick(list(COMPARE))
    kinds, options = COMPARE[kind]
    x = g.find(kinds, (0, 1, 2, 3, 4))
    y = g.partner(x)
    shape = np.broadcast_shapes(x.shape, y.shape)
    g.add(kind, [x, y], [g.output("bool", shape)], options)


def _logic(g: Graph) -> None:
    x = g.find("bool")
    if g.chance(0.3):
        g.add("LOGICAL_NOT", [x], [g.output("bool", x.shape)], "LogicalNot")
        return
    y = g.partner(x)
    kind = g.pick(("And", "Or"))
    z = g.output("bool", np.broadcast_shapes(x.shape, y.shape))
    g.add(f"LOGICAL_{kind.upper()}", [x, y], [z], f"Logical{kind}")


def _select(g: Graph) -> None:
    x = g.find("f32 qi8 qu8 qi16 i32 i64 bool", (0, 1, 2, 3, 4))
    if g.chance(0.5):
        y, rows = g.find(x.kind, shape=x.shape), x.shape
        if y.quant != x.quant:
            y = g.add_input(x.kind, x.shape, x.quant)
        if x.rank > 0 and g.chance(0.3):
            rows = x.shape[:1]
        condition = g.find("bool", shape=rows)
        g.add("SELECT", [condition, x, y], [g.output(x.kind, x.shape, x.quant)], "Select")
        return
    y = g.partner(x, x.quant)
    shape = np.broadcast_shapes(x.shape, y.shape)
    condition = g.add_input("bool", shape[g.integer(0, len(shape) + 1) :])
    g.add("SELECT_V2", [condition, x, y], [g.output(x.kind, shape, x.quant)], "SelectV2")


def _prelu(g: Graph) -> None:
    x = g.find("f32 qi8 qu8", (2, 3, 4))
    ones = () if g.chance(0.5) else (1,) * (x.rank - 1)
    alpha = g.add_input(x.kind, (*ones, x.shape[-1]), constant=0.8)
    g.add("PRELU", [x, alpha], [g.output(x.kind, x.shape, g.quant(x.kind))])


def _add_n(g: Graph) -> None:
    x = g.find("f32 i32" if not g.special else "i32")
    more = [g.find(x.kind, shape=x.shape) for _ in range(g.integer(1, 4))]
    g.add("ADD_N", [x, *more], [g.output(x.kind, x.shape)], "AddN")


def _weights(g: Graph, x: Value, shape: Shape, channel: int) -> tuple[Value, Any]:
    """Weights of a layer and their scales: by channel, by tensor, hybrid or halves."""
    if x.kind == "f32" and (g.special or g.chance(0.7)):
        data = g.array("f32", shape) if not g.special else g.random.normal(size=shape)
        if g.chance(0.3):
            half = g.constant(data, "f16")
            value = g.tensor("f32", shape)
            g.add("DEQUANTIZE", [half], [value], "Dequantize")
            return value, None
        return g.constant(data, "f32"), None
    if x.kind == "qu8":
        quant: Any = g.quant("qu8")
        return g.constant(g.random.integers(0, 256, shape), "qu8", quant), quant[0]
    data = g.random.integers(-127, 128, shape)
    if g.chance(0.6) or (x.kind == "f32" and len(shape) == 4):
        scales = 10 ** g.random.uniform(-3, -1, shape[channel])
        return g.constant(data, "qi8", (scales, [0] * len(scales), channel)), scales
    scale = float(10 ** g.random.uniform(-3, -1))
    return g.constant(data, "qi8", (scale, 0)), scale


def _bias(g: Graph, x: Value, scales: Any, count: int, *, depthwise: bool = False) -> Value:
    if x.kind == "f32":
        return g.constant(g.random.normal(size=count), "f32")
    assert x.quant is not None
    scales = np.asarray(np.float32(x.quant[0]) * np.asarray(scales, np.float32))
    kind = ("i64" if depthwise else g.pick("i64 i64 i32")) if x.kind == "qi16" else "i32"
    return g.constant(
        g.random.integers(-3000, 3000, count), kind, (scales, np.zeros(scales.shape, int), 0)
    )


def _bias_type(bias: Value | None) -> int:
    """The option without which LiteRT reads the bias of a 16-bit layer as int64."""
    return {"i32": 2, "i64": 4}.get(bias.kind, 0) if bias else 0


def _result(g: Graph, x: Value, scales: Any, terms: int) -> Quant | None:
    """Parameters so that most results are in the range."""
    if x.quant is None:
        return None
    spread = x.quant[0] * float(np.mean(scales)) * 5000 * np.sqrt(terms)
    if x.kind == "qi16":
        return float(np.float32(spread / 100)), 0
    quant = g.quant(x.kind)
    assert quant is not None
    return float(np.float32(spread / 60)), quant[1]


def _window(g: Graph, sizes: Sequence[int], *, dilate: bool) -> tuple[list[int], ...]:
    """Kernel, stride, dilation and output sizes of SAME (0) or VALID (1) padding."""
    padding = g.integer(0, 2)
    kernel, stride, dilation, out = [], [], [], []
    for n in sizes:
        k = g.integer(1, 4)
        d = g.integer(1, 3) if dilate and g.chance(0.3) else 1
        if padding and (k - 1) * d + 1 > n:
            k, d = g.integer(1, n + 1), 1
        s = g.integer(1, 4) if d == 1 else 1
        kernel.append(k)
        stride.append(s)
        dilation.append(d)
        out.append((n - (k - 1) * d - 1) // s + 1 if padding else -(-n // s))
    return [padding], kernel, stride, dilation, out


def _convolve(g: Graph) -> None:
    x = g.find(f"f32 f32 {QUANTIZED}", (4,))
    depthwise = g.chance(0.5)
    c = x.shape[3]
    (padding,), kernel, stride, dilation, out = _window(g, x.shape[1:3], dilate=True)
    fields = {
        "padding": padding,
        "strideH": stride[0],
        "strideW": stride[1],
        "dilationHFactor": dilation[0],
        "dilationWFactor": dilation[1],
        "fusedActivationFunction": g.pick(ACTIVATIONS),
    }
    if depthwise:
        fields["depthMultiplier"] = g.integer(1, 4)
        n = c * fields["depthMultiplier"]
        shape: Shape = (1, *kernel, n)
        if x.kind != "f32" and stride[0] != stride[1]:
            stride[1] = fields["strideW"] = stride[0]
            out[1] = _size(x.shape[2], kernel[1], stride[1], dilation[1], padding)
    else:
        groups = c if c > 1 and g.chance(0.2) else 1
        n = groups * g.integer(1, 5)
        shape = (n, *kernel, c // groups)
    weights, scales = _weights(g, x, shape, 3 if depthwise else 0)
    bias = _bias(g, x, scales, n, depthwise=depthwise)
    if x.kind == "qi16" and not depthwise:
        fields["quantizedBiasType"] = _bias_type(bias)
    y = g.output(
        x.kind, (x.shape[0], *out, n), _result(g, x, scales, int(np.prod(shape)) // n)
    )
    name = "DepthwiseConv2D" if depthwise else "Conv2D"
    g.add("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D", [x, weights, bias], [y], name, **fields)


def _size(n: int, k: int, s: int, d: int, padding: int) -> int:
    return (n - (k - 1) * d - 1) // s + 1 if padding else -(-n // s)


def _deconvolve(g: Graph) -> None:
    x = g.find(f"f32 {QUANTIZED}", (4,))
    padding, n = g.integer(0, 2), g.integer(1, 4)
    kernel, stride = [g.integer(1, 4), g.integer(1, 4)], [g.integer(1, 3), g.integer(1, 3)]
    sizes = [
        (m - 1) * s + max(k, s) if padding else m * s
        for m, k, s in zip(x.shape[1:3], kernel, stride, strict=True)
    ]
    if padding:
        sizes = [(m - 1) * s + k for m, k, s in zip(x.shape[1:3], kernel, stride, strict=True)]
    shape = (x.shape[0], *sizes, n)
    weights, scales = _weights(g, x, (n, *kernel, x.shape[3]), 0)
    inputs: list[Value | None] = [g.constant(shape), weights, x]
    if g.chance(0.5):
        inputs.append(_bias(g, x, scales, n))
    y = g.output(x.kind, shape, _result(g, x, scales, kernel[0] * kernel[1] * x.shape[3]))
    g.add(
        "TRANSPOSE_CONV",
        inputs,
        [y],
        "TransposeConv",
        padding=padding,
        strideH=stride[0],
        strideW=stride[1],
        fusedActivationFunction=g.pick(ACTIVATIONS),
        quantizedBiasType=_bias_type(inputs[-1]) if x.kind == "qi16" and len(inputs) > 3 else 0,
    )


def _dense(g: Graph) -> None:
    x = g.find(f"f32 f32 {QUANTIZED}", (1, 2, 3, 4))
    n, keep = g.integer(1, 6), g.chance(0.5)
    weights, scales = _weights(g, x, (n, x.shape[-1]), 0)
    shape = (*x.shape[:-1], n) if keep else (int(np.prod(x.shape[:-1])), n)
    inputs: list[Value | None] = [x, weights]
    if g.chance(0.7):
        inputs.append(_bias(g, x, scales, n))
    elif g.chance(0.5):
        inputs.append(None)
    y = g.output(x.kind, shape, _result(g, x, scales, x.shape[-1]))
    fields = {"keepNumDims": keep, "fusedActivationFunction": g.pick(ACTIVATIONS)}
    if x.kind == "qi16" and len(inputs) > 2:
        fields["quantizedBiasType"] = _bias_type(inputs[2])
    if x.kind == "f32" and weights.kind == "qi8":
        fields["asymmetricQuantizeInputs"] = g.chance(0.5)
    g.add("FULLY_CONNECTED", inputs, [y], "FullyConnected", **fields)


def _matmul(g: Graph) -> None:
    x = g.find("f32 qi8 qi16", (2, 3, 4))
    adjoint_x, adjoint_y = g.chance(0.4), g.chance(0.4)
    rows, depth = x.shape[-2:] if not adjoint_x else x.shape[:-3:-1]
    n = g.integer(1, 6)
    batch = x.shape[:-2][g.integer(0, x.rank - 1) :]
    batch = tuple(1 if g.chance(0.2) else m for m in batch)
    shape = (*batch, n, depth) if adjoint_y else (*batch, depth, n)
    # LiteRT takes the scales of other rows for two axes of batches (DISAGREEMENTS.md).
    hybrid = x.kind == "f32" and not g.special and x.rank < 4 and g.chance(0.2)
    if hybrid:
        quant = (float(10 ** g.random.uniform(-3, -1)), 0)
        y = g.constant(g.random.integers(-127, 128, shape), "qi8", quant)
    else:
        y = g.add_input(x.kind, shape, constant=0.5)
    scale = y.quant[0] if y.quant else 1.0
    out = (*np.broadcast_shapes(x.shape[:-2], batch), rows, n)
    z = g.output(x.kind, out, _result(g, x, scale, depth))
    fields = {"adjX": adjoint_x, "adjY": adjoint_y}
    if hybrid:
        fields["asymmetricQuantizeInputs"] = g.chance(0.5)
    g.add("BATCH_MATMUL", [x, y], [z], "BatchMatMul", **fields)


def _volume(g: Graph) -> None:
    x = g.add_input("f32", tuple(g.integer(1, 5) for _ in range(5)))
    n = g.integer(1, 4)
    (padding,), kernel, stride, dilation, out = _window(g, x.shape[1:4], dilate=True)
    fields = {
        "padding": padding,
        "fusedActivationFunction": g.pick(ACTIVATIONS),
        **{f"stride{k}": s for k, s in zip("DHW", stride, strict=True)},
        **{f"dilation{k}Factor": d for k, d in zip("DHW", dilation, strict=True)},
    }
    if g.chance(0.6):
        weights = g.constant(g.random.normal(size=(*kernel, x.shape[4], n)), "f32")
        inputs: list[Value | None] = [x, weights]
        shape: Shape = (x.shape[0], *out, n)
        kind = "CONV_3D"
    else:
        weights = g.constant(g.random.normal(size=(*kernel, n, x.shape[4])), "f32")
        sizes = [
            (m - 1) * s + (k - 1) * d + 1 if padding else m * s
            for m, s, k, d in zip(x.shape[1:4], stride, kernel, dilation, strict=True)
        ]
        shape = (x.shape[0], *sizes, n)
        inputs, kind = [g.constant(shape), weights, x], "CONV_3D_TRANSPOSE"
    if g.chance(0.5):
        inputs.append(g.constant(g.random.normal(size=n), "f32"))
    g.add(kind, inputs, [g.output("f32", shape)], "Conv3D", **fields)


def _pool(g: Graph) -> None:
    kind = g.pick(("AVERAGE_POOL_2D", "MAX_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D")[3 * g.special :])
    x = g.find("f32" if kind[0] == "L" else f"f32 {QUANTIZED}", (4,))
    (padding,), kernel, stride, _, out = _window(g, x.shape[1:3], dilate=False)
    y = g.output(x.kind, (x.shape[0], *out, x.shape[3]), x.quant)
    g.add(
        kind,
        [x],
        [y],
        "Pool2D",
        padding=padding,
        filterHeight=kernel[0],
        filterWidth=kernel[1],
        strideH=stride[0],
        strideW=stride[1],
        fusedActivationFunction=g.pick(ACTIVATIONS),
    )


def _resize(g: Graph) -> None:
    if g.special:
        return
    x = g.find(f"f32 {QUANTIZED}", (4,))
    sizes = [g.integer(1, 9), g.integer(1, 9)]
    align = g.chance(0.3)
    kind = g.pick(("ResizeBilinear", "ResizeNearestNeighbor"))
    y = g.output(x.kind, (x.shape[0], *sizes, x.shape[3]), x.quant)
    name = {"ResizeBilinear": "RESIZE_BILINEAR"}.get(kind, "RESIZE_NEAREST_NEIGHBOR")
    half = not align and g.chance(0.5)
    g.add(name, [x, g.constant(sizes)], [y], kind, alignCorners=align, halfPixelCenters=half)


def _quantize(g: Graph) -> None:
    """Chains of QUANTIZE and DEQUANTIZE, also from one kind of integers to another."""
    x = g.find(f"f32 f32 {QUANTIZED}", (0, 1, 2, 3, 4))
    if x.kind == "f32" and g.special:
        data = g.random.normal(size=x.shape).astype(np.float32)  # NaN has no integer
        x = g.add_input("f32", x.shape, data=data)
    if x.quant is not None and g.chance(0.6):
        g.add("DEQUANTIZE", [x], [g.output("f32", x.shape)], "Dequantize")
        return
    kind = g.pick(QUANTIZED if x.kind != "qi16" else "qi8 qi16")
    y = g.output(kind, x.shape, g.quant(kind))
    g.add("QUANTIZE", [x], [y], "Quantize")
    if g.chance(0.4):
        g.add("DEQUANTIZE", [y], [g.output("f32", x.shape)], "Dequantize")


def _fake(g: Graph) -> None:
    x = g.find()
    low = g.pick((-1.0, -6.0, 0.0, 0.3))
    fields = {"min": low, "max": low + g.pick((1.0, 6.0)), "numBits": g.pick((8, 4, 16))}
    g.add("FAKE_QUANT", [x], [g.output("f32", x.shape)], "FakeQuant", **fields)


def _idiom(g: Graph) -> None:
    """SiLU, layer normalization and hard sigmoid as converters write them."""
    x = g.find("f32", (2, 3))
    way = g.integer(0, 3)
    if way == 0:
        y = g.add("LOGISTIC", [x], [g.output("f32", x.shape)])
        g.add("MUL", [x, y], [g.output("f32", x.shape)], "Mul")
    elif way == 1:
        axis, thin = g.constant([x.rank - 1]), (*x.shape[:-1], 1)
        mean = g.add("MEAN", [x, axis], [g.output("f32", thin)], "Reducer", keepDims=True)
        square = [g.output("f32", x.shape)]
        difference = g.add("SQUARED_DIFFERENCE", [x, mean], square, "SquaredDifference")
        inputs = [difference, axis]
        variance = g.add("MEAN", inputs, [g.output("f32", thin)], "Reducer", keepDims=True)
        inputs = [variance, g.constant(1e-3, "f32")]
        moved = g.add("ADD", inputs, [g.output("f32", thin)], "Add")
        factor = g.add("RSQRT", [moved], [g.output("f32", thin)])
        g.add("MUL", [x, factor], [g.output("f32", x.shape)], "Mul")
    else:
        y = g.add("ADD", [x, g.constant(3, "f32")], [g.output("f32", x.shape)], "Add")
        y = g.add("RELU6", [y], [g.output("f32", x.shape)])
        inputs = [y, g.constant(1 / 6, "f32")]
        g.add("MUL", inputs, [g.output("f32", x.shape)], "Mul")


RULES: tuple[Callable[[Graph], None], ...] = (
    *(_unary,) * 5,
    *(_fixed,) * 3,
    *(_arithmetic,) * 4,
    *(_binary,) * 2,
    _compare,
    _logic,
    _select,
    _prelu,
    _add_n,
    *(_convolve,) * 5,
    _deconvolve,
    *(_dense,) * 4,
    *(_matmul,) * 2,
    _volume,
    *(_pool,) * 2,
    *(_resize,) * 2,
    *(_quantize,) * 3,
    _fake,
    _idiom,
)
