"""More operators of random graphs, whose types onnx infers: windows, recurrent layers, integers,
indices, control flow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from sets.random_graph import FLOAT, INTS, Graph, Value


def _weights(g: Graph, *shape: int) -> str:
    return g.constant(g.random.normal(size=shape) * 0.5, FLOAT)


def _window(g: Graph, spatial: int) -> dict[str, Any]:
    """Strides and dilations, with pads or a way of padding."""
    found: dict[str, Any] = {
        "strides": [g.integer(1, 3) for _ in range(spatial)],
        "dilations": [g.integer(1, 3) for _ in range(spatial)],
    }
    way = g.pick(("", "", "VALID", "SAME_UPPER", "SAME_LOWER"))
    if not way:
        found["pads"] = [g.integer(0, 2) for _ in range(2 * spatial)]
    else:
        found["auto_pad"] = way
    if way.startswith("SAME"):  # DISAGREEMENTS.md: refused with dilations
        found["dilations"] = [1] * spatial
    return found


def _convolve(g: Graph) -> None:
    x = g.find(ranks=(3, 4, 5))
    spatial = x.rank - 2
    w = _weights(g, g.integer(1, 5), x.shape[1], *(g.integer(1, 4) for _ in range(spatial)))
    g.add_inferred("Conv", [x, w], **_window(g, spatial))


def _deconvolve(g: Graph) -> None:
    x = g.find(ranks=(3, 4))
    spatial, groups = x.rank - 2, g.pick((1, x.shape[1]))
    strides = [g.integer(1, 4) for _ in range(spatial)]
    g.add_inferred(
        "ConvTranspose",
        [x, _weights(g, x.shape[1], g.integer(1, 3), *(g.integer(2, 4) for _ in range(spatial)))],
        group=groups,
        strides=strides,
        dilations=[g.integer(1, 3) for _ in range(spatial)],
        pads=[g.integer(0, 2) for _ in range(2 * spatial)],
        output_padding=[g.integer(0, s) for s in strides],
    )


def _pool(g: Graph) -> None:
    x = g.find(ranks=(3, 4, 5))
    kind = g.pick(("MaxPool", "AveragePool", "LpPool"))
    window = _window(g, x.rank - 2)
    if g.opset < {"AveragePool": 19, "LpPool": 18}.get(kind, 0):
        del window["dilations"]
    if kind == "AveragePool":
        window["count_include_pad"] = g.integer(0, 2)
    if kind == "MaxPool" and g.opset >= 22 or kind == "AveragePool" and g.opset >= 19:
        window["ceil_mode"] = g.integer(0, 2)  # DISAGREEMENTS.md: onnx infers another size
    kernel = [g.integer(2, 4) for _ in range(x.rank - 2)]
    steps = window.get("dilations", [1] * len(kernel))
    if any((k - 1) * d >= n for k, d, n in zip(kernel, steps, x.shape[2:], strict=True)):
        return
    g.add_inferred(kind, [x], kernel_shape=kernel, **window)


def _whole_pool(g: Graph) -> None:
    x = g.find(ranks=(3, 4, 5))
    kinds = ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
    g.add_inferred(g.pick(kinds if g.opset < 22 else kinds[:2]), [x])


def _normalize(g: Graph) -> None:
    x = g.find(ranks=(4,))
    kinds = ("LRN", "MeanVarianceNormalization", "LpNormalization", "GroupNormalization")
    kind = g.pick(kinds if g.opset >= 21 else kinds[:3])
    if kind == "LRN":
        g.add_inferred(kind, [x], size=g.pick((1, 3, 5)), alpha=0.3, beta=0.6, bias=1.5)
    elif kind == "MeanVarianceNormalization":
        g.add_inferred(kind, [x], axes=[0, *range(2, x.rank)])
    elif kind == "LpNormalization":
        g.add_inferred(kind, [x], axis=g.integer(-x.rank, x.rank), p=g.integer(1, 3))
    else:
        c = x.shape[1]
        groups = g.pick([n for n in range(1, c + 1) if c % n == 0])
        g.add_inferred(kind, [x, _weights(g, c), _weights(g, c)], num_groups=groups)


def _recurrent(g: Graph) -> None:
    x = g.find(ranks=(3,))
    kind = g.pick(("LSTM", "GRU", "RNN"))
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    way = g.pick(("forward", "reverse", "bidirectional"))
    ways, hidden = 1 + (way == "bidirectional"), g.integer(1, 5)
    inputs: list[Value | str] = [
        x,
        _weights(g, ways, gates * hidden, x.shape[2]),
        _weights(g, ways, gates * hidden, hidden),
    ]
    if g.random.random() < 0.5:
        inputs.append(_weights(g, ways, 2 * gates * hidden))
    if len(inputs) == 4 and g.random.random() < 0.5:
        inputs.append(g.constant(g.random.integers(1, x.shape[0] + 1, x.shape[1]), np.int32))
        inputs.append(_weights(g, ways, x.shape[1], hidden))
    more: dict[str, Any] = {}
    if kind == "GRU":
        more["linear_before_reset"] = g.integer(0, 2)
    if kind != "LSTM" and g.random.random() < 0.2:  # DISAGREEMENTS.md
        more["clip"] = 0.7
    count = 3 if kind == "LSTM" else 2
    g.add_inferred(kind, inputs, count, direction=way, hidden_size=hidden, **more)


def _einsum(g: Graph) -> None:
    x = g.find(ranks=(2, 3))
    n = g.integer(1, 5)
    if x.rank == 2:
        text, shape = g.pick(
            (("ij,jk->ik", (x.shape[1], n)), ("ij,ij->i", x.shape), ("ij,k->kji", (n,)))
        )
    else:
        text, shape = g.pick(
            (
                ("bij,bjk->bik", (x.shape[0], x.shape[2], n)),
                ("bij,kj->bki", (n, x.shape[2])),
                ("...i,i->...", (x.shape[2],)),
            )
        )
    g.add_inferred("Einsum", [x, _weights(g, *shape)], equation=text)


def _nd_indices(g: Graph) -> None:
    x = g.find(ranks=(2, 3))
    depth, count = g.integer(1, x.rank + 1), g.integer(1, 4)
    rows = [g.random.integers(-n, n, count) for n in x.shape[:depth]]
    if g.random.random() < 0.5:
        g.add_inferred("GatherND", [x, g.constant(np.stack(rows, -1))])
        return
    known = 5 if g.opset >= 18 else 3 if g.opset >= 16 else 1
    way = g.pick(("none", "add", "mul", "max", "min")[:known])
    if way == "none":  # the order of equal indices is not specified
        rows, count = [row[:1] for row in rows], 1
    updates = g.add_input(FLOAT, (count, *x.shape[depth:]))
    more = {"reduction": way} if g.opset >= 16 else {}
    g.add_inferred("ScatterND", [x, g.constant(np.stack(rows, -1)), updates], **more)


def _scatter_sum(g: Graph) -> None:
    if g.opset < 16:
        return
    x = g.find(ranks=(1, 2, 3))
    axis = g.integer(0, x.rank)
    way = g.pick(("add", "mul", "max", "min")[: 4 if g.opset >= 18 else 2])
    shape = tuple(g.integer(1, n + 1) for n in x.shape)
    rows = g.constant(g.random.integers(-x.shape[axis], x.shape[axis], shape))
    updates = g.add_input(FLOAT, shape)
    g.add_inferred("ScatterElements", [x, rows, updates], axis=axis, reduction=way)


def _open_sizes(g: Graph) -> None:
    x = g.find(np.int64)  # a float may differ from 0 by rounding
    kinds = ("NonZero", "Compress", "Unique")
    kind = g.pick(kinds[:2] if g.special else kinds)  # the order of NaN is not specified
    if kind == "NonZero":
        g.add_inferred(kind, [x])
    elif kind == "Compress":
        axis = g.integer(0, x.rank)
        chosen = g.constant(g.random.random(x.shape[axis]) < 0.6, np.bool_)
        g.add_inferred(kind, [x, chosen], axis=axis)
    else:
        g.add_inferred(kind, [x], 4, sorted=1)


def _reverse(g: Graph) -> None:
    x = g.find(ranks=(2, 3))
    lengths = g.constant(g.random.integers(1, x.shape[0] + 1, x.shape[1]))
    g.add_inferred("ReverseSequence", [x, lengths], batch_axis=1, time_axis=0)


def _bits(g: Graph) -> None:
    x = g.find(g.pick(INTS))
    y = g.partner(x)
    if g.opset >= 18:
        if g.random.random() < 0.2:
            g.add_inferred("BitwiseNot", [x])
        else:
            g.add_inferred(g.pick(("BitwiseAnd", "BitwiseOr", "BitwiseXor")), [x, y])
        return
    u = g.add_input(np.uint32, x.shape)
    shift = g.constant(g.random.integers(0, 9, x.shape), np.uint32)
    g.add_inferred("BitShift", [u, shift], direction=g.pick(("LEFT", "RIGHT")))


def _unary(g: Graph) -> None:
    x = g.find()
    kinds = ("Shrink", "IsNaN", "IsInf", "Cosh", "Asin", "Acosh", "Atanh", "Gelu")
    # Gelu has its limit at -infinity (DISAGREEMENTS.md).
    kind = g.pick(kinds if g.opset >= 20 and not g.special else kinds[:-1])
    more: dict[str, Any] = {"lambd": 0.4, "bias": 0.1} if kind == "Shrink" else {}
    if kind == "Gelu":
        more["approximate"] = g.pick(("none", "tanh"))
    g.add_inferred(kind, [x], **more)


def _integer_unary(g: Graph) -> None:
    x = g.find(g.pick(INTS))
    g.add_inferred(g.pick(("Abs", "Neg", "Sign")), [x])


def _integer_reduce(g: Graph) -> None:
    x = g.find(g.pick(INTS))
    axis, keep = g.integer(0, x.rank), g.integer(0, 2)
    kinds = ("ReduceMax", "ReduceMin", "ArgMax", "ArgMin", "ReduceSum")
    kind = g.pick(kinds[:4] if g.special else kinds)  # DISAGREEMENTS.md: sums beyond the limits
    if kind.startswith("Arg"):
        g.add_inferred(kind, [x], axis=axis, keepdims=keep)
    elif kind == "ReduceSum" or g.opset >= 18:
        g.add_inferred(kind, [x, g.constant([axis])], keepdims=keep)
    else:
        g.add_inferred(kind, [x], axes=[axis], keepdims=keep)


def _quantized(g: Graph) -> None:
    x = g.find(ranks=(2, 3, 4))
    kind = g.pick((np.uint8, np.int8))
    scale, zero = g.constant(0.03, FLOAT), g.constant(g.integer(0, 60), kind)
    g.add_inferred("QuantizeLinear", [x, scale, zero])
    g.quantized = True
    q, n = g.values[-1], g.integer(1, 5)
    if q.rank == 4:
        w = g.constant(g.random.integers(-99, 99, (n, q.shape[1], 1, 2)), np.int8)
        none = g.constant(0, np.int8)
        if q.dtype != np.uint8 or g.random.random() < 0.5:
            scales = g.constant(g.random.random(n) * 0.02 + 0.001, FLOAT)
            zeros = g.constant(np.zeros(n), np.int8)
            parts = [q, scale, zero, w, scales, zeros, g.constant(0.05, FLOAT), zero]
            g.add_inferred("QLinearConv", parts)
        else:
            g.add_inferred("ConvInteger", [q, w, zero, none])
        return
    w = g.constant(g.random.integers(-99, 99, (q.shape[-1], n)), np.int8)
    none = g.constant(g.integer(-5, 5), np.int8)
    if g.random.random() < 0.5 and q.dtype == np.uint8:
        g.add_inferred("MatMulInteger", [q, w, zero, none])
    else:
        parts = [q, scale, zero, w, g.constant(0.01, FLOAT), none, g.constant(0.05, FLOAT), zero]
        g.add_inferred("QLinearMatMul", parts)


def _dynamic_quantize(g: Graph) -> None:
    g.quantized = True
    g.add_inferred("DynamicQuantizeLinear", [g.find()], 3)


def _casts(g: Graph) -> None:
    x = g.find(g.pick((FLOAT, *INTS)))
    kinds = (TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BOOL)
    more = () if x.dtype == FLOAT else (TensorProto.UINT8, TensorProto.INT8, TensorProto.INT16)
    g.add_inferred("Cast", [x], to=g.pick(kinds + more))


def _doubles(g: Graph) -> None:
    x = g.find(np.float64)
    g.add_inferred(g.pick(("Exp", "Sqrt", "Sin", "Neg", "Floor", "Relu", "Sigmoid")), [x])
    g.add_inferred(g.pick(("Add", "Mul", "Sub", "Div")), [x, g.partner(x)])


def _shapes(g: Graph) -> None:
    x = g.find()
    kind = g.pick(("Shape", "Size", "ConstantOfShape", "Range", "EyeLike"))
    if kind in ("Shape", "Size"):
        g.add_inferred(kind, [x])
    elif kind == "ConstantOfShape":
        g.add_inferred(kind, [g.constant(x.shape)])
    elif kind == "Range":
        ends = (g.integer(-9, 0), g.integer(1, 9), g.integer(1, 4))
        g.add_inferred(kind, [g.constant(n) for n in ends])
    elif x.rank == 2:
        g.add_inferred(kind, [x], k=g.integer(-2, 3))


def _branch(name: str, kind: str, x: Value) -> Any:
    node = helper.make_node(kind, [x.name], [f"{name}_y"])
    port = helper.make_tensor_value_info(f"{name}_y", TensorProto.FLOAT, x.shape)
    return helper.make_graph([node], name, [], [port])


def _choose(g: Graph) -> None:
    x = g.find()
    name = f"b{len(g.nodes)}"
    yes, no = _branch(f"{name}t", "Neg", x), _branch(f"{name}e", "Exp", x)
    g.add_inferred("If", [g.add_input(np.bool_, ())], then_branch=yes, else_branch=no)


def _loop(g: Graph) -> None:
    x = g.find()
    name = f"l{len(g.nodes)}"
    half = g.constant(0.5, FLOAT)
    ports = [
        helper.make_tensor_value_info(f"{name}{k}", t, shape)
        for k, t, shape in (
            ("i", TensorProto.INT64, ()),
            ("go", TensorProto.BOOL, ()),
            ("v", TensorProto.FLOAT, x.shape),
            ("again", TensorProto.BOOL, ()),
            ("w", TensorProto.FLOAT, x.shape),
        )
    ]
    nodes = [
        helper.make_node("Mul", [f"{name}v", half], [f"{name}h"]),
        helper.make_node("Add", [f"{name}h", x.name], [f"{name}w"]),
        helper.make_node("Identity", [f"{name}go"], [f"{name}again"]),
    ]
    body = helper.make_graph(nodes, name, ports[:3], ports[3:])
    g.add_inferred("Loop", [g.constant(g.integer(0, 5)), "", x], body=body)


def _sample(g: Graph) -> None:
    if g.opset < 16:
        return
    x = g.find(ranks=(4,))
    grid = g.constant(g.random.random((x.shape[0], 3, 4, 2)) * 2.4 - 1.2, FLOAT)
    modes = ("linear", "nearest", "cubic") if g.opset >= 20 else ("bilinear", "nearest", "bicubic")
    g.add_inferred(
        "GridSample",
        [x, grid],
        mode=g.pick(modes),
        padding_mode=g.pick(("zeros", "border", "reflection")),
        align_corners=g.integer(0, 2),
    )


def _scale(g: Graph) -> None:
    x = g.find(ranks=(4,))
    mode = g.pick(("nearest", "linear", "cubic"))
    way = g.pick(("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"))
    # DISAGREEMENTS.md: the corners of sizes that are rounded.
    factors = (1, 2, 3) if way == "align_corners" else (0.5, 0.75, 1, 1.5, 2, 2.25)
    scales = [1, 1, *(g.pick(factors) for _ in range(2))]
    more: dict[str, Any] = {}
    if g.opset >= 18 and mode != "nearest" and g.random.random() < 0.5:
        more["antialias"] = 1
    g.add_inferred(
        "Resize",
        [x, "", g.constant(scales, FLOAT)],
        mode=mode,
        coordinate_transformation_mode=way,
        **more,
    )


def _crop(g: Graph) -> None:
    if g.opset < 18:
        return
    x = g.find(ranks=(2, 3))
    sizes = [g.integer(1, n + 3) for n in x.shape]
    g.add_inferred("CenterCropPad", [x, g.constant(sizes)])


def _signal(g: Graph) -> None:
    if g.opset < 17:
        return
    if g.random.random() < 0.5:
        kind = g.pick(("HannWindow", "HammingWindow", "BlackmanWindow"))
        g.add_inferred(kind, [g.constant(g.integer(2, 9))], periodic=g.integer(0, 2))
        return
    x = g.add_input(FLOAT, (g.integer(1, 3), g.integer(2, 9), 1))
    if g.opset >= 20:
        g.add_inferred("DFT", [x, "", g.constant(1)], onesided=g.integer(0, 2))
    else:
        g.add_inferred("DFT", [x], axis=1, onesided=g.integer(0, 2))


def _loss(g: Graph) -> None:
    x = g.find(ranks=(2, 3))
    classes = g.constant(g.random.integers(0, x.shape[1], (x.shape[0], *x.shape[2:])))
    kind = g.pick(("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"))
    g.add_inferred(kind, [x, classes], reduction=g.pick(("none", "sum", "mean")))


def _regions(g: Graph) -> None:
    if g.opset >= 22:
        return
    x = g.find(ranks=(4,))
    count = g.integer(1, 4)
    corners = g.random.random((count, 4)) * 3
    corners[:, 2:] += corners[:, :2] + 0.5
    boxes = g.constant(corners, FLOAT)
    rows = g.constant(g.random.integers(0, x.shape[0], count))
    more = {"coordinate_transformation_mode": "half_pixel"} if g.opset >= 16 else {}
    g.add_inferred(
        "RoiAlign",
        [x, boxes, rows],
        output_height=g.integer(1, 4),
        output_width=g.integer(1, 4),
        sampling_ratio=g.integer(0, 3),
        mode="avg",
        **more,
    )


def _suppress(g: Graph) -> None:
    count = g.integer(1, 8)
    corners = g.random.random((1, count, 4))
    corners[..., 2:] += corners[..., :2]
    scores = g.add_input(FLOAT, (1, g.integer(1, 3), count))
    limits = [g.constant(g.integer(1, 4)), g.constant(0.4, FLOAT), g.constant(-0.5, FLOAT)]
    g.add_inferred("NonMaxSuppression", [g.constant(corners, FLOAT), scores, *limits])


FINITE_RULES: tuple[Callable[[Graph], None], ...] = (
    _convolve,
    _convolve,
    _deconvolve,
    _pool,
    _pool,
    _whole_pool,
    _normalize,
    _recurrent,
    _recurrent,
    _einsum,
    _nd_indices,
    _scatter_sum,
    _quantized,
    _quantized,
    _dynamic_quantize,
    _doubles,
    _sample,
    _scale,
    _signal,
    _loss,
    _regions,
    _suppress,
)
"""Rules for graphs without NaN and infinities, whose sums have no specified order."""

RULES: tuple[Callable[[Graph], None], ...] = (
    _open_sizes,
    _reverse,
    _bits,
    _unary,
    _integer_unary,
    _integer_reduce,
    _casts,
    _shapes,
    _choose,
    _loop,
    _crop,
)
