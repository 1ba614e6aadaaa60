"""The operators and exporters' idioms of random graphs: each rule adds one of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import helper

from sets import random_more
from sets.random_graph import FLOAT, INTS, Graph, Value


SMOOTH = ("Mish", "Softsign", "Selu", "Sin", "Cos", "Tan")
"""Not of special numbers (DISAGREEMENTS.md): infinities, denormals, and angles of 1e15."""


def _unary(g: Graph) -> None:
    x = g.find(ranks=(0, 1, 2, 3, 4))
    kinds = (
        "Relu",
        "Sigmoid",
        "Tanh",
        "Exp",
        "Neg",
        "Abs",
        "Sqrt",
        "Floor",
        "Ceil",
        "Round",
        "Sign",
        "Erf",
        "Softplus",
        "Softsign",
        "Elu",
        "Selu",
        "LeakyRelu",
        "HardSigmoid",
        "HardSwish",
        "Reciprocal",
        "Log",
        "Sin",
        "Cos",
        "Atan",
        "Asinh",
        "Identity",
        "Celu",
        "Tan",
        "Acos",
        "Sinh",
        "ThresholdedRelu",
        "Mish",
    )
    kind = g.pick(kinds[:-1] if g.opset < 18 else kinds)
    if g.special and kind in SMOOTH:
        kind = "Neg"
    g.add(kind, [x], FLOAT, x.shape)


def _binary(g: Graph) -> None:
    x = g.find()
    y = g.partner(x)
    shape = np.broadcast_shapes(x.shape, y.shape)
    kind = g.pick(("Add", "Sub", "Mul", "Div", "Min", "Max", "Pow", "PRelu", "Mod", "Mean", "Sum"))
    if kind == "PRelu" and shape != x.shape:
        kind = "Add"
    g.add(kind, [x, y], FLOAT, shape, **({"fmod": 1} if kind == "Mod" else {}))


def _integers(g: Graph) -> None:
    x = g.find(g.pick(INTS))
    y = g.partner(x)
    shape = np.broadcast_shapes(x.shape, y.shape)
    kind = g.pick(("Add", "Sub", "Mul", "Min", "Max", "Div", "Mod"))
    if kind in ("Div", "Mod"):
        positive = g.constant(g.random.integers(1, 6, y.shape), x.dtype)
        g.add(kind, [x, positive], x.dtype, shape)
    else:
        g.add(kind, [x, y], x.dtype, shape)


def _compare(g: Graph) -> None:
    x = g.find(g.pick((FLOAT, *INTS)))
    y = g.partner(x)
    kind = g.pick(("Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual"))
    g.add(kind, [x, y], np.bool_, np.broadcast_shapes(x.shape, y.shape))


def _logic(g: Graph) -> None:
    x = g.find(np.bool_)
    if g.random.random() < 0.3:
        g.add("Not", [x], np.bool_, x.shape)
        return
    y = g.partner(x)
    g.add(g.pick(("And", "Or", "Xor")), [x, y], np.bool_, np.broadcast_shapes(x.shape, y.shape))


def _where(g: Graph) -> None:
    x = g.find(g.pick((FLOAT, *INTS)))
    y = g.partner(x)
    shape = np.broadcast_shapes(x.shape, y.shape)
    g.add("Where", [g.add_input(np.bool_, shape), x, y], x.dtype, shape)


def _cast(g: Graph) -> None:
    x = g.find(g.pick((np.bool_, np.int32, np.int64)))
    target = g.pick((FLOAT, np.int32, np.int64))
    g.add("Cast", [x], target, x.shape, to=helper.np_dtype_to_tensor_dtype(np.dtype(target)))


def _reduce(g: Graph) -> None:
    x = g.find()
    axes = [k for k in range(x.rank) if g.random.random() < 0.5] or [x.rank - 1]
    keep = g.integer(0, 2)
    shape = [1 if k in axes else n for k, n in enumerate(x.shape) if keep or k not in axes]
    kinds = ("Sum", "Mean", "L1", "L2", "LogSumExp", "SumSquare", "LogSum", "Max", "Min", "Prod")
    kind = g.pick(kinds[:3] if g.special else kinds)  # DISAGREEMENTS.md, maxima and products
    written = [k - x.rank if g.random.random() < 0.5 else k for k in axes]
    if kind == "Sum" or g.opset >= 18:
        g.add(f"Reduce{kind}", [x, g.constant(written)], FLOAT, shape, keepdims=keep)
    else:
        g.add(f"Reduce{kind}", [x], FLOAT, shape, axes=written, keepdims=keep)


def _arg(g: Graph) -> None:
    x = g.find()
    axis, keep = g.integer(0, x.rank), g.integer(0, 2)
    shape = [1 if k == axis else n for k, n in enumerate(x.shape) if keep or k != axis]
    if g.special:  # the order of NaN is not specified
        return
    g.add(
        g.pick(("ArgMax", "ArgMin")),
        [x],
        np.int64,
        shape,
        axis=axis,
        keepdims=keep,
        select_last_index=g.integer(0, 2),
    )


def _softmax(g: Graph) -> None:
    x = g.find()
    kind = g.pick(
        ("Softmax", "LogSoftmax", "Hardmax") if not g.special else ("Softmax", "LogSoftmax")
    )
    g.add(kind, [x], FLOAT, x.shape, axis=g.integer(-x.rank, x.rank))


def _cumsum(g: Graph) -> None:
    x = g.find()
    axis = g.constant(g.integer(-x.rank, x.rank))
    g.add("CumSum", [x, axis], FLOAT, x.shape, exclusive=g.integer(0, 2), reverse=g.integer(0, 2))


def _transpose(g: Graph) -> None:
    x = g.find(g.pick((FLOAT, np.int64)))
    order = [int(k) for k in g.random.permutation(x.rank)]
    g.add("Transpose", [x], x.dtype, tuple(x.shape[k] for k in order), perm=order)


def _reshape(g: Graph) -> None:
    x = g.find(g.pick((FLOAT, np.int32)))
    size, shape = int(np.prod(x.shape)), list[int]()
    while size > 1 and len(shape) < 3:
        factors = [n for n in range(2, size + 1) if size % n == 0]
        shape.append(g.pick(factors))
        size //= shape[-1]
    shape.append(size)
    written = list(shape)
    if g.random.random() < 0.5:
        written[g.integer(0, len(shape))] = -1
    g.add("Reshape", [x, g.constant(written)], x.dtype, tuple(shape))


def _squeeze(g: Graph) -> None:
    x = g.find(ranks=(1, 2, 3))
    axis = g.integer(0, x.rank + 1)
    g.add("Unsqueeze", [x, g.constant([axis])], FLOAT, (*x.shape[:axis], 1, *x.shape[axis:]))


def _slice(g: Graph) -> None:
    x = g.find()
    axis, step = g.integer(0, x.rank), g.pick((1, 2, -1, -2, 3))
    n = x.shape[axis]
    start, end = (g.integer(0, n), 10**6) if step > 0 else (n + 5, -(10**6))
    size = len(range(n)[slice(start if step > 0 else None, None, step)])
    g.add(
        "Slice",
        [
            x,
            g.constant([start]),
            g.constant([end]),
            g.constant([axis - x.rank]),
            g.constant([step]),
        ],
        FLOAT,
        (*x.shape[:axis], size, *x.shape[axis + 1 :]),
    )


def _gather(g: Graph) -> None:
    x = g.find()
    axis = g.integer(0, x.rank)
    shape = tuple(g.integer(1, 4) for _ in range(g.integer(0, 3)))
    rows = g.random.integers(-x.shape[axis], x.shape[axis], shape)
    g.add(
        "Gather",
        [x, g.constant(rows, g.pick(INTS))],
        FLOAT,
        (*x.shape[:axis], *shape, *x.shape[axis + 1 :]),
        axis=axis,
    )


def _gather_elements(g: Graph) -> None:
    x = g.find()
    axis = g.integer(0, x.rank)
    rows = g.constant(g.random.integers(-x.shape[axis], x.shape[axis], x.shape))
    if g.random.random() < 0.5:
        g.add("GatherElements", [x, rows], FLOAT, x.shape, axis=axis)
        return
    order = np.argsort(g.random.random(x.shape), axis=axis)
    g.add(
        "ScatterElements",
        [x, g.constant(order), g.add_input(FLOAT, x.shape)],
        FLOAT,
        x.shape,
        axis=axis,
    )


def _concat(g: Graph) -> None:
    x = g.find(g.pick((FLOAT, np.int64)))
    axis = g.integer(0, x.rank)
    same = [
        v
        for v in g.values
        if v.dtype == x.dtype
        and v.rank == x.rank
        and all(k == axis or v.shape[k] == n for k, n in enumerate(x.shape))
    ][-3:]
    size = sum(v.shape[axis] for v in same)
    g.add("Concat", same, x.dtype, (*x.shape[:axis], size, *x.shape[axis + 1 :]), axis=axis)


def _split(g: Graph) -> None:
    x = g.find()
    axis = g.integer(0, x.rank)
    if x.shape[axis] < 2:
        return
    first = g.integer(1, x.shape[axis])
    sizes = [first, x.shape[axis] - first]
    g.add(
        "Split",
        [x, g.constant(sizes)],
        FLOAT,
        *[(*x.shape[:axis], n, *x.shape[axis + 1 :]) for n in sizes],
        axis=axis,
    )


def _expand(g: Graph) -> None:
    x = g.find(ranks=(1, 2, 3))
    shape = (g.integer(1, 3), *(n if n > 1 else g.integer(1, 4) for n in x.shape))
    if g.random.random() < 0.5:
        g.add("Expand", [x, g.constant(shape)], FLOAT, shape)
    else:
        repeats = [g.integer(1, 3) for _ in x.shape]
        g.add(
            "Tile",
            [x, g.constant(repeats)],
            FLOAT,
            tuple(n * k for n, k in zip(x.shape, repeats, strict=False)),
        )


def _pad(g: Graph) -> None:
    x = g.find(ranks=(2, 3, 4))
    mode = g.pick(("constant", "edge", "reflect"))
    pads = [[g.integer(0, n if mode == "reflect" else 3) for n in x.shape] for _ in range(2)]
    inputs: list[Value | str] = [x, g.constant(np.concatenate(pads))]
    if mode == "constant":
        inputs.append(g.constant(1.25, FLOAT))
    g.add(
        "Pad",
        inputs,
        FLOAT,
        tuple(n + a + b for n, a, b in zip(x.shape, *pads, strict=False)),
        mode=mode,
    )


def _matmul(g: Graph) -> None:
    x = g.find(ranks=(1, 2, 3))
    n = g.integer(1, 6)
    if x.rank == 2 and g.random.random() < 0.5:
        across = g.integer(0, 2)
        w = g.constant(g.random.normal(size=(n, x.shape[1]) if across else (x.shape[1], n)), FLOAT)
        g.add(
            "Gemm",
            [x, w, g.constant(g.random.normal(size=n), FLOAT)],
            FLOAT,
            (x.shape[0], n),
            transB=across,
            alpha=0.5,
            beta=2.0,
        )
        return
    g.add(
        "MatMul",
        [x, g.constant(g.random.normal(size=(x.shape[-1], n)), FLOAT)],
        FLOAT,
        (*x.shape[:-1], n),
    )


def _convolve(g: Graph) -> None:
    x = g.find(ranks=(3, 4))
    spatial, groups = x.rank - 2, g.pick((1, x.shape[1]))
    channels = groups * g.integer(1, 3)
    kernel = [g.integer(1, 4) for _ in range(spatial)]
    stride = [g.integer(1, 3) for _ in range(spatial)]
    pads = [[g.integer(0, k) + (k - 1) for k in kernel] for _ in range(2)]
    w = g.constant(g.random.normal(size=(channels, x.shape[1] // groups, *kernel)), FLOAT)
    sizes = [
        (n + a + b - k) // s + 1
        for n, a, b, k, s in zip(x.shape[2:], *pads, kernel, stride, strict=False)
    ]
    inputs: list[Value | str] = [x, w]
    if g.random.random() < 0.5:
        inputs.append(g.constant(g.random.normal(size=channels), FLOAT))
    g.add(
        "Conv",
        inputs,
        FLOAT,
        (x.shape[0], channels, *sizes),
        group=groups,
        strides=stride,
        pads=[*pads[0], *pads[1]],
    )


def _deconvolve(g: Graph) -> None:
    x = g.find(ranks=(4,))
    kernel, stride = [g.integer(1, 4), g.integer(1, 4)], [g.integer(1, 3), g.integer(1, 3)]
    w = g.constant(g.random.normal(size=(x.shape[1], 2, *kernel)), FLOAT)
    sizes = [(n - 1) * s + k for n, s, k in zip(x.shape[2:], stride, kernel, strict=False)]
    g.add("ConvTranspose", [x, w], FLOAT, (x.shape[0], 2, *sizes), strides=stride)


def _pool(g: Graph) -> None:
    x = g.find(ranks=(3, 4))
    kernel = [g.integer(1, 1 + min(3, n)) for n in x.shape[2:]]
    stride = [g.integer(1, 3) for _ in kernel]
    pads = [g.integer(0, k) for k in kernel]
    sizes = [
        (n + 2 * p - k) // s + 1
        for n, p, k, s in zip(x.shape[2:], pads, kernel, stride, strict=False)
    ]
    kind = g.pick(("MaxPool", "AveragePool")[g.special :])
    extra = {"count_include_pad": g.integer(0, 2)} if kind == "AveragePool" else {}
    g.add(
        kind,
        [x],
        FLOAT,
        (*x.shape[:2], *sizes),
        kernel_shape=kernel,
        strides=stride,
        pads=pads * 2,
        **extra,
    )


def _resize(g: Graph) -> None:
    if g.special:
        return
    x = g.find(ranks=(4,))
    sizes = (*x.shape[:2], g.integer(1, 9), g.integer(1, 9))
    mode = g.pick(("nearest", "linear", "cubic"))
    ways = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    extra = {"nearest_mode": g.pick(("floor", "ceil", "round_prefer_floor", "round_prefer_ceil"))}
    g.add(
        "Resize",
        [x, "", "", g.constant(sizes)],
        FLOAT,
        sizes,
        mode=mode,
        coordinate_transformation_mode=g.pick(ways),
        **(extra if mode == "nearest" else {}),
    )


def _normalize(g: Graph) -> None:
    x = g.find(ranks=(3, 4))
    c = x.shape[1]
    scale, bias = (g.constant(g.random.normal(size=c), FLOAT) for _ in range(2))
    kind = g.pick(("BatchNormalization", "InstanceNormalization", "LayerNormalization"))
    if kind == "BatchNormalization":
        variance = g.constant(np.abs(g.random.normal(size=c)) + 0.1, FLOAT)
        g.add(kind, [x, scale, bias, bias, variance], FLOAT, x.shape)
    elif kind == "InstanceNormalization" and not g.special:
        g.add(kind, [x, scale, bias], FLOAT, x.shape)
    elif kind == "LayerNormalization" and g.opset >= 17 and x.shape[-1] > 1:
        g.add(kind, [x, g.constant(g.random.normal(size=x.shape[-1]), FLOAT)], FLOAT, x.shape)


def _topk(g: Graph) -> None:
    if g.special:
        return
    x = g.find()
    axis = g.integer(0, x.rank)
    k = g.integer(1, x.shape[axis] + 1)
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    names = [x, g.constant([k])]
    g.add("TopK", names, FLOAT, shape, axis=axis, largest=g.integer(0, 2))
    g.nodes[-1].output.append(f"i{len(g.nodes)}")


def _clip(g: Graph) -> None:
    x = g.find(g.pick((FLOAT, np.int32)))
    bounds: list[Value | str] = [x, g.constant(-1, x.dtype), g.constant(2, x.dtype)]
    # With an infinity, ONNX Runtime's Clip has a bound where none is given (DISAGREEMENTS.md).
    count = 3 if g.special and x.dtype == FLOAT else g.integer(2, 4)
    g.add("Clip", bounds[:count], x.dtype, x.shape)


def _quantize(g: Graph) -> None:
    x = g.add_input(FLOAT, (2, g.integer(1, 30)))  # QuantizeLinear does not define NaN
    kind = g.pick((np.uint8, np.int8))
    scale, zero = g.constant(0.037, FLOAT), g.constant(g.integer(0, 100), kind)
    if not g.special:
        g.quantized = True
        name = f"q{len(g.nodes)}"
        g.nodes.append(helper.make_node("QuantizeLinear", [x.name, scale, zero], [name]))
        g.add("DequantizeLinear", [name, scale, zero], FLOAT, x.shape)


def _one_hot(g: Graph) -> None:
    depth = g.integer(2, 5)
    shape = (g.integer(1, 4),)
    rows = g.constant(g.random.integers(-depth, depth, shape))
    g.add(
        "OneHot", [rows, g.constant(depth), g.constant([0.5, 2.0], FLOAT)], FLOAT, (*shape, depth)
    )


def _depth(g: Graph) -> None:
    shape = (1, 8, 2, 4)
    x = g.add_input(FLOAT, shape)
    if g.random.random() < 0.5:
        g.add("DepthToSpace", [x], FLOAT, (1, 2, 4, 8), blocksize=2, mode=g.pick(("DCR", "CRD")))
    else:
        g.add("SpaceToDepth", [x], FLOAT, (1, 32, 1, 2), blocksize=2)


def _triangle(g: Graph) -> None:
    x = g.find(ranks=(2, 3))
    g.add("Trilu", [x, g.constant(g.integer(-2, 3))], FLOAT, x.shape, upper=g.integer(0, 2))


def _gelu(g: Graph) -> None:
    """What exporters write for GELU and SiLU."""
    x = g.find()
    if g.random.random() < 0.5:
        g.add("Sigmoid", [x], FLOAT, x.shape)
        g.add("Mul", [x, g.values[-1]], FLOAT, x.shape)
        return
    g.add("Div", [x, g.constant(np.sqrt(2), FLOAT)], FLOAT, x.shape)
    g.add("Erf", [g.values[-1]], FLOAT, x.shape)
    g.add("Add", [g.values[-1], g.constant(1, FLOAT)], FLOAT, x.shape)
    g.add("Mul", [x, g.values[-1]], FLOAT, x.shape)
    g.add("Mul", [g.values[-1], g.constant(0.5, FLOAT)], FLOAT, x.shape)


RULES: tuple[Callable[[Graph], None], ...] = (
    _unary,
    _unary,
    _unary,
    _binary,
    _binary,
    _integers,
    _compare,
    _logic,
    _where,
    _cast,
    _reduce,
    _reduce,
    _arg,
    _softmax,
    _cumsum,
    _transpose,
    _reshape,
    _squeeze,
    _slice,
    _gather,
    _gather_elements,
    _concat,
    _split,
    _expand,
    _pad,
    _matmul,
    _convolve,
    _deconvolve,
    _pool,
    _resize,
    _normalize,
    _topk,
    _clip,
    _quantize,
    _one_hot,
    _depth,
    _triangle,
    _gelu,
)


def make_graph(random: np.random.Generator, operators: int, special: bool) -> Graph:
    """A graph of at least this many operators in a random operator set."""
    graph = Graph(random, int(random.choice([14, 15, 16, 17, 18, 19, 20, 21, 22])), special)
    graph.add_input(FLOAT, (1, 3, 6, 5))
    rules = (*RULES, *random_more.RULES, *(() if special else random_more.FINITE_RULES))
    while len(graph.nodes) < operators:
        graph.pick(rules)(graph)
    return graph
