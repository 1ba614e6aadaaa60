"""jax2onnx, ndonnx, Spox, onnxscript with functions, and graphs of onnx-graphsurgeon."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ndonnx as ndx
import numpy as np
import onnx
import onnx_graphsurgeon as surgeon
import spox.opset.ai.onnx.v18 as op
from flax import nnx
from jax2onnx import to_onnx
from onnxscript import FLOAT, INT64, opset18, script
from onnxscript.values import Opset
from spox import Tensor, argument, build

from peers.samples import Made, Recipe

Array = Any


def _softmax(x: Array) -> Array:
    return jax.nn.softmax(x @ x.T, axis=-1) @ jnp.tanh(x)


def _loop(x: Array) -> Array:
    return jax.lax.fori_loop(0, 5, lambda i, v: v * 0.9 + jnp.sin(v + i), x)


def _while(x: Array) -> Array:
    return jax.lax.while_loop(lambda v: jnp.sum(jnp.abs(v)) < 90.0, lambda v: v * 1.5 + 0.25, x)


def _scan(x: Array) -> Array:
    def step(carry: Array, row: Array) -> tuple[Array, Array]:
        carry = 0.5 * carry + row
        return carry, jnp.tanh(carry)

    return jax.lax.scan(step, jnp.zeros(x.shape[1]), x)


def _cond(x: Array) -> Array:
    return jax.lax.cond(jnp.mean(x) > 0, lambda v: v + 1, lambda v: jnp.sort(v, axis=-1), x)


def _indices(x: Array) -> Array:
    return x[::-1, 1:4], jnp.argsort(x, axis=1), jnp.take(x, jnp.array([2, 0, 1]), axis=1)


def _update(x: Array) -> Array:
    return x.at[1:3, 2].set(7.0), x.at[0].add(1.0), jnp.cumsum(x, axis=0)


def _conv(x: Array) -> Array:
    y = x.reshape(1, 2, 4, 3)
    k = jnp.linspace(-1, 1, 2 * 2 * 3 * 4).reshape(2, 2, 3, 4)
    z = jax.lax.conv_general_dilated(
        y, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return jax.lax.reduce_window(z, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "VALID")


def _numbers(x: Array) -> Array:
    parts = jnp.where(x > 0, jnp.log1p(jnp.abs(x)), jnp.expm1(x))
    return parts, jnp.floor(x), jnp.logaddexp(x, 1.0)


def _linear(x: Array) -> Array:
    return jnp.einsum("ij,kj->ik", x, x), jnp.linalg.norm(x, axis=1), jnp.clip(x, -0.5, 0.5)


JAX: dict[str, Callable[[Array], Array]] = {
    "softmax": _softmax,
    "fori": _loop,
    "while": _while,
    "scan": _scan,
    "cond": _cond,
    "indices": _indices,
    "update": _update,
    "conv": _conv,
    "numbers": _numbers,
    "linear": _linear,
    "vmap": lambda x: jax.vmap(lambda row: jnp.convolve(row, jnp.ones(3), mode="same"))(x),
    "gelu": lambda x: jax.nn.gelu(x) + jax.nn.silu(x) + jax.nn.softplus(x),
    "mod": lambda x: (jnp.round(x * 4).astype(jnp.int32) % 3, jnp.sign(x), jnp.arctan2(x, x + 1)),
}


def _named(path: Path, *arrays: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays with the names of the inputs of a file."""
    return dict(zip((port.name for port in onnx.load(path).graph.input), arrays, strict=True))


def _jax(name: str) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        x = random.normal(size=(4, 6)).astype(np.float32)
        to_onnx(
            JAX[name],
            [jax.ShapeDtypeStruct((4, 6), jnp.float32)],
            return_mode="file",
            output_path=str(folder / "model.onnx"),
        )
        want = [np.asarray(y) for y in jax.tree.leaves(JAX[name](jnp.asarray(x)))]
        return Made("model.onnx", _named(folder / "model.onnx", x), [], want)

    return Recipe(f"jax-{name}", make)


class _Block(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.attention = nnx.MultiHeadAttention(2, 8, rngs=rngs, decode=False)
        self.norm = nnx.LayerNorm(8, rngs=rngs)
        self.inner, self.outer = nnx.Linear(8, 16, rngs=rngs), nnx.Linear(16, 8, rngs=rngs)

    def __call__(self, x: Array) -> Array:
        x = x + self.attention(self.norm(x))
        return x + self.outer(nnx.gelu(self.inner(x)))


class _Cnn(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.conv = nnx.Conv(3, 4, (3, 3), strides=2, rngs=rngs)
        self.norm = nnx.BatchNorm(4, use_running_average=True, rngs=rngs)
        self.up = nnx.ConvTranspose(4, 2, (2, 2), strides=(2, 2), rngs=rngs)

    def __call__(self, x: Array) -> Array:
        x = nnx.avg_pool(nnx.relu(self.norm(self.conv(x))), (2, 2), strides=(2, 2))
        return self.up(x)


FLAX: dict[str, tuple[type, tuple[Any, ...]]] = {
    "block": (_Block, ("B", 5, 8)),
    "cnn": (_Cnn, ("B", 16, 16, 3)),
}


def _flax(name: str) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        kind, shape = FLAX[name]
        net = kind(nnx.Rngs(0))
        x = random.normal(size=(2, *shape[1:])).astype(np.float32)
        to_onnx(net, [shape], return_mode="file", output_path=str(folder / "model.onnx"))
        want = [np.asarray(net(x))]
        return Made("model.onnx", _named(folder / "model.onnx", x), ["dynamic"], want)

    return Recipe(f"flax-{name}", make)


def _statistics(x: Any) -> Any:
    return (x - ndx.mean(x, axis=0)) / ndx.sqrt(ndx.var(x, axis=0) + 0.5)


NDONNX: dict[str, Callable[[Any], Any]] = {
    "statistics": _statistics,
    "where": lambda x: ndx.where(x > 0, ndx.exp(-x), ndx.astype(x // 1, ndx.float32)),
    "sort": lambda x: ndx.sort(x, axis=1, descending=True),
    "index": lambda x: x[::2, -1] + ndx.sum(x, axis=1)[::2],
    "nonzero": lambda x: ndx.cumulative_sum(x[x > 0]),
    "unique": lambda x: ndx.unique_values(ndx.astype(ndx.round(x * 2), ndx.int64)),
    "bits": lambda x: (ndx.astype(ndx.round(x * 9), ndx.int32) << 2) ^ 5,
    "nullable": lambda x: ndx.astype(x > 0, ndx.int8) + ndx.astype(x < -1, ndx.int8),
}


def _ndonnx(name: str) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        value = random.normal(size=(4, 6)).astype(np.float32)
        x = ndx.argument(shape=("N", 6), dtype=ndx.float32)
        onnx.save(ndx.build({"x": x}, {"y": NDONNX[name](x)}), str(folder / "model.onnx"))
        return Made("model.onnx", {"x": value}, ["dynamic"])

    return Recipe(f"ndonnx-{name}", make)


def _spox_loop(x: Any) -> Any:
    def body(i: Any, go: Any, v: Any) -> Sequence[Any]:
        total = op.reduce_sum(op.abs(v), keepdims=0)
        more = op.and_(go, op.less(total, op.const(np.float32(60))))
        return [more, op.mul(v, op.const(np.float32(1.25))), op.cast(i, to=np.float32)]

    # Without a first condition, that of the body is ignored (DISAGREEMENTS.md).
    return op.loop(op.const(9), op.const(True), [x], body=body)


def _spox_sequence(x: Any) -> Any:
    parts = op.split_to_sequence(x, axis=0, keepdims=0)
    mapped = op.sequence_map(parts, body=lambda v: [op.softmax(v, axis=-1)])
    return [op.concat_from_sequence(mapped[0], axis=0)]


def _spox_if(x: Any) -> Any:
    positive = op.greater(op.reduce_mean(x, keepdims=0), op.const(np.float32(0)))
    return op.if_(
        positive,
        then_branch=lambda: [op.relu(x)],
        else_branch=lambda: [op.top_k(x, op.const([2]))[0]],
    )


SPOX = {"loop": _spox_loop, "sequence": _spox_sequence, "if": _spox_if}


def _spox(name: str) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        x = argument(Tensor(np.float32, (4, 6)))
        results = SPOX[name](x)
        model = build({"x": x}, {f"y{k}": y for k, y in enumerate(results)})
        onnx.save(model, str(folder / "model.onnx"))
        return Made("model.onnx", {"x": random.normal(size=(4, 6)).astype(np.float32)})

    return Recipe(f"spox-{name}", make)


own = Opset("own.functions", 1)


@script(own, default_opset=opset18)
def Mish2(x: FLOAT[...], alpha: float = 1.5) -> FLOAT[...]:  # noqa: N802
    factor = opset18.Constant(value_float=alpha)
    return x * opset18.Tanh(opset18.Softplus(x * opset18.CastLike(factor, x)))


@script(own, default_opset=opset18)
def Norm2(x: FLOAT[...], scale: FLOAT[...]) -> FLOAT[...]:  # noqa: N802
    mean = opset18.ReduceMean(x, keepdims=1)
    y = Mish2(x - mean, alpha=0.75)
    return y * scale


@script(default_opset=opset18)
def functions(x: FLOAT["N", 6], scale: FLOAT[6]) -> FLOAT["N", 6]:  # noqa: F821
    return Norm2(x, scale) + Mish2(x)


@script(default_opset=opset18)
def control(x: FLOAT["N", 6], count: INT64) -> FLOAT["N", 6]:  # noqa: F821
    y = x * 1.0
    for i in range(count):
        y = y + opset18.Cast(i, to=1)
        if opset18.ReduceSum(y, keepdims=0) > 30.0:
            y = y * 0.5
        else:
            y = opset18.Identity(y)
    return y


def _script(name: str) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        program = {"functions": functions, "control": control}[name]
        onnx.save(program.to_model_proto(), str(folder / "model.onnx"))
        inputs = {"x": random.normal(size=(3, 6)).astype(np.float32)}
        if name == "functions":
            inputs["scale"] = random.normal(size=6).astype(np.float32)
        else:
            inputs["count"] = np.array(4, np.int64)
        return Made("model.onnx", inputs, ["dynamic"])

    return Recipe(f"script-{name}", make)


def _surgeon(name: str) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        graph = surgeon.Graph(opset=13, name="surgery")
        x = surgeon.Variable("x", np.float32, ("batch", 3, 8, 8))
        w = surgeon.Constant("w", random.normal(size=(4, 3, 3, 3)).astype(np.float32))
        a = surgeon.Variable("a", np.float32)
        b, y = surgeon.Variable("b"), surgeon.Variable("y", np.float32)
        nodes = [surgeon.Node("Conv", "c", {"pads": [1, 1, 1, 1]}, [x, w], [a])]
        nodes.append(surgeon.Node("LeakyRelu", "l", {"alpha": 0.125}, [a], [b]))
        if name == "cut":  # the output declares what another end of the graph had
            y.shape = ("batch", 4)
        nodes.append(surgeon.Node("ReduceMean", "m", {"axes": [2, 3], "keepdims": 1}, [b], [y]))
        graph.nodes, graph.inputs, graph.outputs = nodes, [x], [y]
        if name == "folded":
            graph.cleanup().toposort()
        onnx.save(surgeon.export_onnx(graph, do_type_check=False), str(folder / "model.onnx"))
        values = random.normal(size=(2, 3, 8, 8)).astype(np.float32)
        return Made("model.onnx", {"x": values}, ["dynamic"])

    return Recipe(f"surgeon-{name}", make)


def recipes() -> list[Recipe]:
    found = [_jax(name) for name in JAX] + [_flax(name) for name in FLAX]
    found += [_ndonnx(name) for name in NDONNX] + [_spox(name) for name in SPOX]
    found += [_script(name) for name in ("functions", "control")]
    return found + [_surgeon(name) for name in ("plain", "folded", "cut")]
