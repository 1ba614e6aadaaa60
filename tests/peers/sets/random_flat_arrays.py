"""Rules of random TensorFlow Lite graphs: operators that move, choose and reduce elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sets.random_flat import Graph, Shape, Value

ANY = "f32 qi8 qu8 qi16 i32 i64 bool"
NUMBERS = "f32 qi8 qu8 qi16 i32 i64"


def _moved(
    g: Graph,
    kind: str,
    inputs: list[Value | None],
    x: Value,
    shape: Any,
    options: str = "",
    **fields: Any,
) -> Value:
    """An operator whose result has the kind and the parameters of an input."""
    return g.add(kind, inputs, [g.output(x.kind, shape, x.quant)], options, **fields)


def _reshape(g: Graph) -> None:
    x = g.find(f"{ANY} i8 u32", (0, 1, 2, 3, 4, 5))
    size, shape = int(np.prod(x.shape)), list[int]()
    while size > 1 and len(shape) < 5:
        factors = [n for n in range(2, size + 1) if size % n == 0]
        shape.append(g.pick(factors))
        size //= shape[-1]
    shape.append(size)
    written = list(shape)
    if g.chance(0.5):
        written[g.integer(0, len(shape))] = -1
    inputs: list[Value | None] = [x, g.constant(written)] if g.chance(0.7) else [x]
    _moved(g, "RESHAPE", inputs, x, shape, "Reshape", newShape=written)


def _transpose(g: Graph) -> None:
    x = g.find(ANY, (1, 2, 3, 4, 5, 6))
    order = [int(k) for k in g.random.permutation(x.rank)]
    shape = [x.shape[k] for k in order]
    _moved(g, "TRANSPOSE", [x, g.constant(order)], x, shape, "Transpose")


def _squeeze(g: Graph) -> None:
    x = g.find(ANY, (1, 2, 3, 4))
    axis = g.integer(0, x.rank + 1)
    shape = (*x.shape[:axis], 1, *x.shape[axis:])
    written = axis if g.chance(0.5) else axis - x.rank - 1
    y = _moved(g, "EXPAND_DIMS", [x, g.constant(written)], x, shape, "ExpandDims")
    if g.chance(0.5):
        axes = [k for k, n in enumerate(shape) if n == 1]
        axes = [] if g.chance(0.3) else [g.pick(axes)]
        kept = [n for k, n in enumerate(shape) if n != 1 or (axes and k not in axes)]
        _moved(g, "SQUEEZE", [y], y, kept, "Squeeze", squeezeDims=axes)


def _pack(g: Graph) -> None:
    x = g.find(NUMBERS, (0, 1, 2, 3))
    if g.chance(0.5) and x.rank:
        axis = g.integer(0, x.rank)
        shape = x.shape[:axis] + x.shape[axis + 1 :]
        outputs = [g.output(x.kind, shape, x.quant) for _ in range(x.shape[axis])]
        if x.kind != "i64":
            g.add("UNPACK", [x], outputs, "Unpack", num=x.shape[axis], axis=axis)
            return
        g.add("SPLIT", [g.constant(axis), x], outputs, "Split", numSplits=len(outputs))
        return
    same = [x] + [v for v in g.values if v != x and _alike(v, x)][:2]
    axis = g.integer(-x.rank - 1, x.rank + 1)
    place = axis + x.rank + 1 if axis < 0 else axis
    shape = (*x.shape[:place], len(same), *x.shape[place:])
    _moved(g, "PACK", list(same), x, shape, "Pack", valuesCount=len(same), axis=axis)


def _alike(a: Value, b: Value) -> bool:
    return (a.kind, a.quant, a.shape) == (b.kind, b.quant, b.shape)


def _concat(g: Graph) -> None:
    x = g.find(f"{ANY} u32 i8", (1, 2, 3, 4))
    axis = g.integer(0, x.rank)
    same: list[Value | None] = [x]
    for _ in range(g.integer(1, 4)):
        size = (*x.shape[:axis], g.integer(1, 4), *x.shape[axis + 1 :])
        free = x.kind == "qu8" and g.chance(0.3)
        same.append(g.add_input(x.kind, size, None if free else x.quant))
    total = sum(v.shape[axis] for v in same if v)
    shape = (*x.shape[:axis], total, *x.shape[axis + 1 :])
    axis -= x.rank * g.integer(0, 2)
    _moved(g, "CONCATENATION", same, x, shape, "Concatenation", axis=axis)


def _split(g: Graph) -> None:
    x = g.find(NUMBERS, (1, 2, 3, 4))
    axis = g.integer(0, x.rank)
    n = x.shape[axis]
    place = g.constant(axis - x.rank * g.integer(0, 2))

    def outputs(sizes: list[int]) -> list[Value]:
        shapes = [(*x.shape[:axis], m, *x.shape[axis + 1 :]) for m in sizes]
        return [g.output(x.kind, shape, x.quant) for shape in shapes]

    if g.chance(0.5):
        count = g.pick([k for k in range(1, n + 1) if n % k == 0])
        g.add("SPLIT", [place, x], outputs([n // count] * count), "Split", numSplits=count)
    elif n > 1:
        first = g.integer(1, n)
        sizes = [first, n - first]
        written = [first, -1] if g.chance(0.3) else sizes
        g.add("SPLIT_V", [x, g.constant(written), place], outputs(sizes), "SplitV", numSplits=2)


def _slice(g: Graph) -> None:
    x = g.find(ANY, (1, 2, 3, 4, 5))
    begin = [g.integer(0, n) for n in x.shape]
    size = [g.integer(1, n - b + 1) for n, b in zip(x.shape, begin, strict=True)]
    written = [-1 if b + s == n else s for n, b, s in zip(x.shape, begin, size, strict=True)]
    kind = g.pick("i32 i64")
    inputs: list[Value | None] = [x, g.constant(begin, kind), g.constant(written, kind)]
    _moved(g, "SLICE", inputs, x, size, "Slice")


def _strided(g: Graph) -> None:
    x = g.find(ANY, (1, 2, 3, 4, 5))
    masks = dict.fromkeys(("beginMask", "endMask", "shrinkAxisMask"), 0)
    begin, end, strides, index = [], [], [], list[Any]()
    for k, n in enumerate(x.shape[: g.integer(1, x.rank + 1)]):
        step = g.pick((1, 1, 2, -1, -2, 3))
        first, last = g.integer(-n, n), g.integer(-n - 2, n + 3)
        if g.chance(0.2):
            begin.append(first)
            end.append(first + 1)
            strides.append(1)
            masks["shrinkAxisMask"] |= 1 << k
            index.append(first)
            continue
        open_begin, open_end = g.chance(0.4), g.chance(0.4)
        masks["beginMask"] |= open_begin << k
        masks["endMask"] |= open_end << k
        part = slice(None if open_begin else first, None if open_end else last, step)
        if not range(n)[part]:
            part, last = slice(None, None, step), n
            masks["beginMask"] |= 1 << k
            masks["endMask"] |= 1 << k
        begin.append(first)
        end.append(last)
        strides.append(step)
        index.append(part)
    shape = np.empty(x.shape, np.bool_)[tuple(index)].shape
    fields = {**masks, "ellipsisMask": 0, "newAxisMask": 0}
    inputs: list[Value | None] = [x, g.constant(begin), g.constant(end), g.constant(strides)]
    _moved(g, "STRIDED_SLICE", inputs, x, shape, "StridedSlice", **fields)


def _gather(g: Graph) -> None:
    x = g.find(ANY, (1, 2, 3, 4))
    axis = g.integer(0, x.rank)
    batch = g.integer(0, axis + 1) if g.chance(0.3) else 0
    rows = tuple(g.integer(1, 4) for _ in range(g.integer(0 if not batch else 1, 3)))
    kind = g.pick("i32 i32 i64")
    index = g.constant(g.random.integers(0, x.shape[axis], x.shape[:batch] + rows), kind)
    shape = (*x.shape[:axis], *rows, *x.shape[axis + 1 :])
    fields = {"axis": axis - x.rank * g.integer(0, 2), "batchDims": batch}
    _moved(g, "GATHER", [x, index], x, shape, "Gather", **fields)


def _gather_nd(g: Graph) -> None:
    x = g.find(ANY, (1, 2, 3, 4))
    depth, rows = g.integer(1, x.rank + 1), (g.integer(1, 4), g.integer(1, 3))[: g.integer(1, 3)]
    index = g.random.integers(0, x.shape[:depth], (*rows, depth))
    shape = (*rows, *x.shape[depth:])
    _moved(g, "GATHER_ND", [x, g.constant(index, g.pick("i32 i64"))], x, shape, "GatherNd")


def _scatter(g: Graph) -> None:
    kind = g.pick("f32 i32 i64 qi8 qu8 bool")
    shape = tuple(g.integer(1, 5) for _ in range(g.integer(1, 4)))
    depth, rows = g.integer(1, len(shape) + 1), g.integer(1, 5)
    cells = int(np.prod(shape[:depth]))
    chosen = g.random.permutation(cells)[:rows]
    if kind in ("f32", "i32", "i64") and g.chance(0.3):
        chosen = g.random.integers(0, cells, rows)  # repeated indices add
    index = np.stack(np.unravel_index(chosen, shape[:depth]), axis=-1)
    updates = g.add_input(kind, (len(index), *shape[depth:]))
    inputs: list[Value | None] = [g.constant(index), updates, g.constant(shape)]
    _moved(g, "SCATTER_ND", inputs, updates, shape, "ScatterNd")


def _pad(g: Graph) -> None:
    x = g.find("f32 qi8 qu8 qi16 i32 i64", (1, 2, 3, 4, 5))
    way = g.pick(("PAD", "PADV2", "MIRROR_PAD"))
    symmetric = g.integer(0, 2)
    pads = np.stack([g.random.integers(0, min(3, n + symmetric), 2) for n in x.shape])
    shape = np.array(x.shape) + pads.sum(axis=1)
    written = g.constant(pads, g.pick("i32 i64"))
    if way == "MIRROR_PAD":
        _moved(g, way, [x, written], x, shape, "MirrorPad", mode=symmetric)
    elif way == "PADV2":
        value = g.constant(g.array(x.kind, ()), x.kind, x.quant)
        _moved(g, way, [x, written, value], x, shape, "PadV2")
    else:
        _moved(g, way, [x, written], x, shape, "Pad")


def _tile(g: Graph) -> None:
    x = g.find(ANY, (1, 2, 3, 4))
    kind = g.pick("i32 i64")
    if g.chance(0.5):
        repeats = [g.integer(1, 3) for _ in x.shape]
        shape = np.array(x.shape) * repeats
        _moved(g, "TILE", [x, g.constant(repeats, kind)], x, shape, "Tile")
    else:
        wide = [n if n > 1 else g.integer(1, 4) for n in x.shape]
        sizes = [g.integer(1, 3)] * g.integer(0, 3) + wide
        _moved(g, "BROADCAST_TO", [x, g.constant(sizes, kind)], x, sizes, "BroadcastTo")


def _fill(g: Graph) -> None:
    x = g.find("f32 i32 i64 bool qi8 qi16", (0,))
    shape = tuple(g.integer(1, 5) for _ in range(g.integer(0, 4)))
    _moved(g, "FILL", [g.constant(shape, g.pick("i32 i64")), x], x, shape, "Fill")


def _shape(g: Graph) -> None:
    x = g.find(ANY, (0, 1, 2, 3, 4))
    if g.chance(0.5):
        g.add("RANK", [x], [g.output("i32", ())], "Rank")
        return
    kind = g.pick("i32 i64")
    code = {"i32": 2, "i64": 4}[kind]
    g.add("SHAPE", [x], [g.output(kind, (x.rank,))], "Shape", outType=code)


def _reverse(g: Graph) -> None:
    x = g.find(ANY, (1, 2, 3, 4))
    if g.chance(0.6) or x.rank == 1 or x.kind in ("bool", "qi8"):
        axes = g.constant([g.integer(0, x.rank) - x.rank * g.integer(0, 2)])
        _moved(g, "REVERSE_V2", [x, axes], x, x.shape, "ReverseV2")
        return
    along, batch = (int(k) for k in g.random.permutation(x.rank)[:2])
    counts = g.random.integers(1, x.shape[along] + 1, x.shape[batch])
    lengths = g.constant(counts, g.pick("i32 i64"))
    fields = {"seqDim": along, "batchDim": batch}
    _moved(g, "REVERSE_SEQUENCE", [x, lengths], x, x.shape, "ReverseSequence", **fields)


def _blocks(g: Graph) -> None:
    """SPACE_TO_DEPTH, DEPTH_TO_SPACE, and the batch of them."""
    kind, b = g.pick("f32 qi8 qu8 i32 i64"), g.integer(1, 4)
    n, h, w, c = (g.integer(1, 4) for _ in range(4))
    way = g.integer(0, 4)
    if way == 0:
        x = g.add_input(kind, (n, h * b, w * b, c))
        shape: Shape = (n, h, w, c * b * b)
        _moved(g, "SPACE_TO_DEPTH", [x], x, shape, "SpaceToDepth", blockSize=b)
    elif way == 1:
        x = g.add_input(kind, (n, h, w, c * b * b))
        _moved(g, "DEPTH_TO_SPACE", [x], x, (n, h * b, w * b, c), "DepthToSpace", blockSize=b)
    elif way == 2:
        block = [b, g.integer(1, 3)][: g.integer(1, 3)]
        pads = [[g.integer(0, 2), g.integer(0, 2)] for _ in block]
        sizes = [m * k - sum(p) for m, k, p in zip((h + 1, w + 1), block, pads, strict=False)]
        x = g.add_input(kind, (n, *(max(m, 1) for m in sizes), c))
        out = [(m + sum(p)) // k for m, k, p in zip(x.shape[1:-1], block, pads, strict=True)]
        if any((m + sum(p)) % k for m, k, p in zip(x.shape[1:-1], block, pads, strict=True)):
            return
        shape = (n * int(np.prod(block)), *out, c)
        inputs: list[Value | None] = [x, g.constant(block), g.constant(pads)]
        _moved(g, "SPACE_TO_BATCH_ND", inputs, x, shape, "SpaceToBatchND")
    else:
        block = [b, g.integer(1, 3)][: g.integer(1, 3)]
        x = g.add_input(kind, (n * int(np.prod(block)), *((h + 1, w + 1)[: len(block)]), c))
        crops = [[g.integer(0, 2), 0] for _ in block]
        out = [m * k - sum(p) for m, k, p in zip(x.shape[1:-1], block, crops, strict=True)]
        inputs = [x, g.constant(block), g.constant(crops)]
        _moved(g, "BATCH_TO_SPACE_ND", inputs, x, (n, *out, c), "BatchToSpaceND")


def _one_hot(g: Graph) -> None:
    depth, shape = g.integer(1, 5), tuple(g.integer(1, 4) for _ in range(g.integer(0, 3)))
    index = g.constant(g.random.integers(-1, depth + 1, shape), g.pick("i32 i64"))
    kind = g.pick("f32 i32 i64 bool")
    on, off = (g.add_input(kind, ()) for _ in range(2))
    axis = g.integer(-1, len(shape) + 1)
    place = axis if axis >= 0 else len(shape)
    out = (*shape[:place], depth, *shape[place:])
    inputs: list[Value | None] = [index, g.constant(depth), on, off]
    _moved(g, "ONE_HOT", inputs, on, out, "OneHot", axis=axis)


def _where(g: Graph) -> None:
    if g.chance(0.6):
        x = g.find("bool i32 f32", (1, 2, 3))
        g.add("WHERE", [x], [g.output("i64", (-1, x.rank))], "Where")
        return
    x = g.find("f32 i32 i64", (1,)) if not g.special else g.find("i32 i64", (1,))
    kind = g.pick("i32 i64")
    outputs = [g.output(x.kind, (-1,)), g.output(kind, x.shape)]
    g.add("UNIQUE", [x], outputs, "Unique", idxOutType={"i32": 2, "i64": 4}[kind])


def _top(g: Graph) -> None:
    x = g.find("f32 qi8 qu8 i32 i64" if not g.special else "qi8 qu8 i32 i64")
    if g.chance(0.5) or x.kind == "i64":
        k = g.integer(1, x.shape[-1] + 1)
        shape = (*x.shape[:-1], k)
        outputs = [g.output(x.kind, shape, x.quant), g.output("i32", shape)]
        g.add("TOPK_V2", [x, g.constant(k)], outputs, "TopKV2")
        return
    way, axis, kind = g.pick("Max Min"), g.integer(0, x.rank), g.pick("i32 i64")
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    inputs: list[Value | None] = [x, g.constant(axis - x.rank * g.integer(0, 2))]
    fields = {"outputType": {"i32": 2, "i64": 4}[kind]}
    g.add(f"ARG_{way.upper()}", inputs, [g.output(kind, shape)], f"Arg{way}", **fields)


def _reduce(g: Graph) -> None:
    kinds = "SUM MEAN MEAN REDUCE_PROD REDUCE_ANY REDUCE_ALL"
    if not g.special:  # DISAGREEMENTS.md, maxima
        kinds += " REDUCE_MAX REDUCE_MIN"
    kind = g.pick(kinds)
    kinds = "f32 f32 qi8 qu8 qi16 i32 i64" if kind != "REDUCE_PROD" else "f32 i32 i64 qi8 qi16"
    if kind == "SUM":  # of 8 and 16 bits: DISAGREEMENTS.md
        kinds = "f32 qu8 i32 i64"
    x = g.find("bool" if kind in ("REDUCE_ANY", "REDUCE_ALL") else kinds, (1, 2, 3, 4))
    axes = [k for k in range(x.rank) if g.chance(0.5)] or [x.rank - 1]
    keep = g.chance(0.5)
    shape = [1 if k in axes else n for k, n in enumerate(x.shape) if keep or k not in axes]
    written = [k - x.rank if g.chance(0.4) else k for k in axes]
    quant = g.quant(x.kind) if kind in ("SUM", "MEAN", "REDUCE_PROD") else x.quant
    index = g.constant(written[0] if len(axes) == 1 and g.chance(0.3) else written)
    y = g.output(x.kind, shape, quant)
    g.add(kind, [x, index], [y], "Reducer", keepDims=keep)


def _cumulate(g: Graph) -> None:
    x = g.find("f32 i32 i64")
    axis = g.constant(g.integer(-x.rank, x.rank))
    fields = {"exclusive": g.chance(0.5), "reverse": g.chance(0.5)}
    _moved(g, "CUMSUM", [x, axis], x, x.shape, "Cumsum", **fields)


def _segment(g: Graph) -> None:
    x, n = g.find("f32 i32"), g.integer(1, 5)
    if g.chance(0.4):
        rows = np.cumsum(g.random.integers(0, 2, x.shape[0])) * (n > 1)
        rows -= rows[0]
        shape = (int(rows[-1]) + 1, *x.shape[1:])
        _moved(g, "SEGMENT_SUM", [x, g.constant(rows)], x, shape, "SegmentSum")
        return
    way = g.pick("Sum Prod Min Max")
    depth = g.integer(1, x.rank + 1)
    rows = g.random.integers(-1, n, x.shape[:depth])
    rows.flat[0] = n - 1
    inputs: list[Value | None] = [x, g.constant(rows), g.constant(n)]
    name = f"UNSORTED_SEGMENT_{way.upper()}"
    _moved(g, name, inputs, x, (n, *x.shape[depth:]), f"UnsortedSegment{way}")


def _cast(g: Graph) -> None:
    kinds = "f32 i32 i64 bool u8 i8 i16 u32"
    x = g.find(kinds if not g.special else "i32 i64 bool u8 i8 i16 u32", (0, 1, 2, 3, 4))
    # Numbers out of the range of an integer type are not defined.
    kind = g.pick(kinds if x.kind != "f32" else "f32 i32 i64 bool")
    codes = {"f32": 0, "i32": 2, "u8": 3, "i64": 4, "bool": 6, "i16": 7, "i8": 9, "u32": 15}
    fields = {"inDataType": codes[x.kind], "outDataType": codes[kind]}
    g.add("CAST", [x], [g.output(kind, x.shape)], "Cast", **fields)


def _matrix(g: Graph) -> None:
    x = g.find("f32 i32 i64", (1, 2, 3))
    if g.chance(0.5):
        _moved(g, "MATRIX_DIAG", [x], x, (*x.shape, x.shape[-1]), "MatrixDiag")
    elif x.rank > 1:
        diagonal = g.add_input(x.kind, (*x.shape[:-2], min(x.shape[-2:])))
        _moved(g, "MATRIX_SET_DIAG", [x, diagonal], x, x.shape, "MatrixSetDiag")


def _sparse(g: Graph) -> None:
    kind = g.pick("f32 i32 i64 qi8 qu8")
    shape = tuple(g.integer(1, 5) for _ in range(g.integer(1, 4)))
    cells = np.sort(g.random.permutation(int(np.prod(shape)))[:3])
    index = np.stack(np.unravel_index(cells, shape), axis=-1)
    values = g.add_input(kind, (len(cells),))
    default = g.constant(g.array(kind, ()), kind, values.quant)
    inputs: list[Value | None] = [g.constant(index), g.constant(shape), values, default]
    _moved(g, "SPARSE_TO_DENSE", inputs, values, shape, "SparseToDense", validateIndices=True)


def _bits(g: Graph) -> None:
    x = g.find("f32 i32 u32", (0, 1, 2, 3))
    kind = g.pick([k for k in ("f32", "i32", "u32") if k != x.kind])
    g.add("BITCAST", [x], [g.output(kind, x.shape)], "Bitcast")


def _bucketize(g: Graph) -> None:
    x = g.find("f32 i32 i64" if not g.special else "i32 i64")
    bounds = np.sort(g.random.normal(size=g.integer(1, 5)) * 2).tolist()
    g.add("BUCKETIZE", [x], [g.output("i32", x.shape)], "Bucketize", boundaries=bounds)


def _update(g: Graph) -> None:
    x = g.find(ANY, (1, 2, 3, 4))
    update = g.add_input(x.kind, tuple(g.integer(1, n + 1) for n in x.shape), x.quant)
    start = g.constant([g.integer(-1, n + 1) for n in x.shape], g.pick("i32 i64"))
    _moved(g, "DYNAMIC_UPDATE_SLICE", [x, update, start], x, x.shape, "DynamicUpdateSlice")


def _dilate(g: Graph) -> None:
    x = g.find("f32 i32 i64 i8 i16 u8", (1, 2, 3))
    steps = [g.integer(1, 4) for _ in x.shape]
    value = g.constant(g.array(x.kind, ()), x.kind)
    shape = [(n - 1) * k + 1 for n, k in zip(x.shape, steps, strict=True)]
    _moved(g, "DILATE", [x, g.constant(steps), value], x, shape, "Dilate")


def _range(g: Graph) -> None:
    kind = g.pick("f32 i32")
    start, count, step = g.integer(-3, 4), g.integer(1, 6), g.pick((1, 2, -1))
    ends = (start, start + count * step, step)
    y = g.output(kind, (count,))
    g.add("RANGE", [g.constant(n, kind) for n in ends], [y], "Range")


def _embed(g: Graph) -> None:
    rows, width = g.integer(1, 6), g.integer(1, 5)
    ids = g.random.integers(0, rows, g.integer(1, 5)).astype(np.int32)
    index = g.add_input("i32", ids.shape, data=ids)
    if g.chance(0.5):
        table = g.constant(g.random.normal(size=(rows, width)), "f32")
    else:
        data = g.random.integers(-127, 128, (rows, width))
        scales = 10 ** g.random.uniform(-3, -1, rows)
        quant = (scales, [0] * rows, 0) if g.chance(0.5) else (float(scales[0]), 0)
        table = g.constant(data, "qi8", quant)
    g.add("EMBEDDING_LOOKUP", [index, table], [g.output("f32", (*index.shape, width))])


def _suppress(g: Graph) -> None:
    n, top = g.integer(1, 7), g.integer(1, 5)
    corners = g.random.random((n, 2, 2)) * 4
    boxes = g.constant(np.concatenate([corners.min(1), corners.max(1)], axis=1), "f32")
    scores = g.constant(g.random.permutation(n) / n + 0.05, "f32")
    limits: list[Value | None] = [g.constant(0.3, "f32"), g.constant(0.2, "f32")]
    outputs = [g.output("i32", (top,)), g.output("i32", ())]
    inputs = [boxes, scores, g.constant(top), *limits]
    g.add("NON_MAX_SUPPRESSION_V4", inputs, outputs, "NonMaxSuppressionV4")


RULES: tuple[Callable[[Graph], None], ...] = (
    *(_reshape,) * 2,
    *(_transpose,) * 2,
    _squeeze,
    *(_pack,) * 2,
    *(_concat,) * 2,
    *(_split,) * 2,
    _slice,
    *(_strided,) * 3,
    *(_gather,) * 2,
    _gather_nd,
    _scatter,
    *(_pad,) * 3,
    *(_tile,) * 2,
    _fill,
    _shape,
    *(_reverse,) * 2,
    *(_blocks,) * 2,
    _one_hot,
    _where,
    *(_top,) * 2,
    *(_reduce,) * 4,
    _cumulate,
    *(_segment,) * 2,
    *(_cast,) * 2,
    _matrix,
    _sparse,
    _bits,
    _bucketize,
    _update,
    _dilate,
    _range,
    _embed,
    _suppress,
)
