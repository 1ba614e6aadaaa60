"""Keras' own ONNX export, and TensorFlow functions by tf2onnx in operator sets 9 to 18."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tf2onnx  # noqa: E402
from keras import layers as L  # noqa: E402

from peers.samples import Made, Recipe, flatten  # noqa: E402

Shape = tuple[int | None, ...]


def _sequence(shape: Shape, *stack: keras.Layer) -> keras.Model:
    x = inlet = keras.Input(shape)
    for layer in stack:
        x = layer(x)
    return keras.Model(inlet, x)


def _attention() -> keras.Model:
    inlet = keras.Input((6, 16))
    x = L.MultiHeadAttention(2, 8)(inlet, inlet, use_causal_mask=True)
    x = L.LayerNormalization()(x + inlet)
    return keras.Model(inlet, L.Dense(4, "softmax")(L.GlobalAveragePooling1D()(x)))


def _masked() -> keras.Model:
    inlet = keras.Input((7,), dtype="int32")
    x = L.Embedding(20, 8, mask_zero=True)(inlet)
    return keras.Model(inlet, L.Dense(3)(L.LSTM(6)(x)))


def _states() -> keras.Model:
    x, h, c = (keras.Input(s) for s in ((5, 4), (6,), (6,)))
    y, state_h, state_c = L.LSTM(6, return_sequences=True, return_state=True)(
        x, initial_state=[h, c]
    )
    return keras.Model([x, h, c], [y, state_h, state_c])


def _separable() -> keras.Model:
    return _sequence(
        (16, 16, 3),
        L.SeparableConv2D(6, 3, padding="same", activation="swish"),
        L.DepthwiseConv2D(3, 2, padding="same", depth_multiplier=2),
        L.BatchNormalization(),
        L.Activation("hard_swish"),
        L.GlobalMaxPooling2D(keepdims=True),
        L.Flatten(),
        L.Dense(5, "selu"),
    )


MODELS: dict[str, Callable[[], keras.Model]] = {
    "attention": _attention,
    "masked-lstm": _masked,
    "states": _states,
    "separable": _separable,
    "lstm": lambda: _sequence((5, 4), L.LSTM(6, return_sequences=True), L.LSTM(3)),
    "gru": lambda: _sequence((5, 4), L.GRU(6, return_sequences=True), L.GRU(3, reset_after=False)),
    "bidirectional": lambda: _sequence(
        (5, 4), L.Bidirectional(L.LSTM(6, return_sequences=True)), L.Bidirectional(L.GRU(3))
    ),
    "simple-rnn": lambda: _sequence((5, 4), L.SimpleRNN(6, go_backwards=True)),
    "conv-lstm": lambda: _sequence((3, 8, 8, 2), L.ConvLSTM2D(4, 3, return_sequences=True)),
    "transposed": lambda: _sequence(
        (8, 8, 3),
        L.Conv2DTranspose(4, 3, 2, padding="same", activation="leaky_relu"),
        L.UpSampling2D(2, interpolation="bilinear"),
        L.ZeroPadding2D(((1, 2), (0, 1))),
        L.Cropping2D(((0, 1), (2, 1))),
        L.Conv2DTranspose(2, 4, 2, padding="valid"),
    ),
    "conv3d": lambda: _sequence(
        (6, 8, 8, 2), L.Conv3D(4, 3, padding="same"), L.MaxPooling3D(2), L.AveragePooling3D(2)
    ),
    "conv1d": lambda: _sequence(
        (None, 4), L.Conv1D(6, 3, padding="causal", dilation_rate=2), L.PReLU(shared_axes=[1])
    ),
    "norms": lambda: _sequence(
        (8, 8, 6), L.GroupNormalization(3), L.UnitNormalization(), L.LayerNormalization((1, 2, 3))
    ),
    "time-distributed": lambda: _sequence(
        (3, 8, 8, 2), L.TimeDistributed(L.Conv2D(4, 3)), L.TimeDistributed(L.GlobalMaxPool2D())
    ),
}


def _inputs(model: keras.Model, random: np.random.Generator) -> dict[str, np.ndarray]:
    found = {}
    for tensor in model.inputs:
        shape = [2, *(size or 9 for size in tensor.shape[1:])]
        whole = "int" in tensor.dtype
        array = random.integers(0, 20, shape) if whole else random.normal(size=shape)
        found[tensor.name] = array.astype(tensor.dtype)
    return found


def _own(name: str) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        keras.utils.set_random_seed(5)
        model = MODELS[name]()
        inputs = _inputs(model, random)
        want = flatten(model(list(inputs.values()) if len(inputs) > 1 else [*inputs.values()][0]))
        model.export(str(folder / "model.onnx"), format="onnx", verbose=False)
        return Made("model.onnx", inputs, ["dynamic"], want)

    return Recipe(f"keras-{name}", make)


Function = Callable[..., object]


def _while(x: tf.Tensor) -> tf.Tensor:
    def more(i: tf.Tensor, v: tf.Tensor) -> tf.Tensor:
        return tf.logical_and(i < 6, tf.reduce_sum(v) < 40.0)

    return tf.while_loop(more, lambda i, v: (i + 1, v * 1.5 + 0.1), (tf.constant(0), x))[1]


def _branch(x: tf.Tensor) -> tf.Tensor:
    return tf.cond(tf.reduce_mean(x) > 0, lambda: tf.sin(x) + 1, lambda: tf.reverse(x, [1]))


def _collect(x: tf.Tensor) -> tf.Tensor:
    array = tf.TensorArray(tf.float32, size=4, element_shape=[3])
    for i in range(4):
        array = array.write(i, x[0, i : i + 3] * float(i))
    return array.stack()


def _map(x: tf.Tensor) -> tf.Tensor:
    return tf.map_fn(lambda row: tf.math.cumsum(row) - row[0], x)


def _einsum(x: tf.Tensor) -> tf.Tensor:
    return tf.einsum("bi,bj->bij", x, x), tf.linalg.band_part(tf.matmul(x, x, False, True), 0, -1)


def _spaces(x: tf.Tensor) -> tf.Tensor:
    y = tf.reshape(x, [2, 2, 2, 2])
    return tf.nn.space_to_depth(y, 2), tf.space_to_batch(y, [2, 2], [[0, 0], [0, 0]])


def _picks(x: tf.Tensor) -> tf.Tensor:
    top = tf.math.top_k(x, 3)
    where = tf.where(x > 0)
    scattered = tf.scatter_nd([[1], [3]], x[:, :2], [5, 2])
    return top.values, top.indices, tf.gather_nd(x, where), scattered


def _segments(x: tf.Tensor) -> tf.Tensor:
    ids = tf.constant([0, 0, 1, 1, 2, 2, 2, 3])
    return tf.math.segment_sum(tf.transpose(x), ids), tf.one_hot(ids, 5, axis=0)


def _integers(x: tf.Tensor) -> tf.Tensor:
    y = tf.cast(tf.round(x * 4), tf.int32)
    return tf.bitwise.bitwise_and(y, 3), y // 3, y % 3, tf.unique(tf.reshape(y, [-1])).y


def _resize(x: tf.Tensor) -> tf.Tensor:
    y = tf.reshape(x, [1, 4, 4, 1])
    return [
        tf.image.resize(y, [7, 9], method) for method in ("bilinear", "nearest", "bicubic")
    ] + [tf.compat.v1.image.resize_bilinear(y, [7, 9], align_corners=True)]


FUNCTIONS: dict[str, tuple[Function, int]] = {
    "while": (_while, 11),
    "branch": (_branch, 9),
    "collect": (_collect, 13),
    "map": (_map, 11),
    "einsum": (_einsum, 14),
    "spaces": (_spaces, 10),
    "picks": (_picks, 11),
    "segments": (_segments, 16),
    "integers": (_integers, 18),
    "resize": (_resize, 11),
}


def _function(name: str) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        function, opset = FUNCTIONS[name]
        x = random.normal(size=(2, 8)).astype(np.float32)
        signature = [tf.TensorSpec([2, 8], tf.float32, "x")]
        whole = tf.function(function, input_signature=signature)
        tf2onnx.convert.from_function(
            whole, signature, opset=opset, output_path=str(folder / "model.onnx")
        )
        want = [np.asarray(y) for y in tf.nest.flatten(whole(x))]
        return Made("model.onnx", {"x": x}, [], want)

    return Recipe(f"function-{name}", make)


def _converted(name: str, opset: int) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        keras.utils.set_random_seed(5)
        model = MODELS[name]()
        inputs = _inputs(model, random)
        values = list(inputs.values())
        want = flatten(model(values if len(values) > 1 else values[0]))
        signature = [tf.TensorSpec(t.shape, t.dtype, t.name) for t in model.inputs]
        call = tf.function(lambda *x: model(list(x) if len(x) > 1 else x[0]))
        tf2onnx.convert.from_function(
            call, signature, opset=opset, output_path=str(folder / "model.onnx")
        )
        return Made("model.onnx", inputs, ["dynamic"], want)

    return Recipe(f"tf2onnx-{name}-{opset}", make)


def recipes() -> list[Recipe]:
    sets = (9, 10, 11, 12, 13, 14, 15, 16, 17, 18)
    return [
        *(_own(name) for name in MODELS),
        *(_function(name) for name in FUNCTIONS),
        *(_converted(name, sets[k % len(sets)]) for k, name in enumerate(MODELS)),
    ]
