"""Keras 3 and TensorFlow models in the forms of TensorFlow Lite's converter."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import layers  # noqa: E402

from peers.samples import Made, Recipe  # noqa: E402

Layers = list[Any]
FORMS = ("float", "dynamic", "int8", "int8_float_ports", "int16x8", "float16")


def _convert(converter: Any, form: str, samples: Callable[[], Iterator[list[np.ndarray]]]) -> bytes:
    if form != "float":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if form == "float16":
        converter.target_spec.supported_types = [tf.float16]
    if form.startswith("int"):
        converter.representative_dataset = samples
        kind = (
            tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
            if form == "int16x8"
            else tf.lite.OpsSet.TFLITE_BUILTINS_INT8
        )
        converter.target_spec.supported_ops = [kind, tf.lite.OpsSet.TFLITE_BUILTINS]
    if form == "int8":
        converter.inference_input_type = converter.inference_output_type = tf.int8
    return bytes(converter.convert())


def _inputs(model: bytes, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Random arrays for the file's inputs; open sizes are those of `shape`."""
    found = {}
    for port in tf.lite.Interpreter(model_content=model).get_input_details():
        kind = np.dtype(port["dtype"])
        if kind.kind == "f":
            array = random.normal(size=port["shape"]).astype(kind)
        else:
            low, high = (0, 9) if kind.itemsize > 2 else (-100, 100)
            array = random.integers(low, high, port["shape"]).astype(kind)
        found[port["name"]] = array
    return found


def _network(
    name: str,
    shape: tuple[int, ...],
    build: Callable[[], Layers],
    form: str,
    dtype: str = "float32",
) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        keras.utils.set_random_seed(11)
        inlet = keras.Input(shape, batch_size=1, dtype=dtype)
        value = inlet
        for layer in build():
            value = layer(value)
        model = keras.Model(inlet, value)

        def samples() -> Iterator[list[np.ndarray]]:
            for _ in range(8):
                yield [random.normal(size=(1, *shape)).astype(np.float32)]

        converter = tf.lite.TFLiteConverter.from_keras_model(model)
        data = _convert(converter, form, samples)
        (folder / "model.tflite").write_bytes(data)
        traits = ["integer"] if form not in ("float", "float16", "hybrid") else []
        return Made("model.tflite", _inputs(data, random), traits)

    return Recipe(f"{name}-{form}", make)


def _residual() -> Layers:
    def add(value: Any) -> Any:
        return layers.ReLU(6.0)(layers.Add()([value, layers.Conv2D(8, 3, padding="same")(value)]))

    return [
        layers.Conv2D(8, 3, strides=2, padding="same"),
        layers.BatchNormalization(),
        layers.ReLU(),
        add,
        layers.GlobalAveragePooling2D(),
        layers.Dense(5, "softmax"),
    ]


def _separable() -> Layers:
    return [
        layers.SeparableConv2D(8, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.DepthwiseConv2D(3, depth_multiplier=2),
        layers.AveragePooling2D(2, padding="same"),
        layers.Flatten(),
        layers.Dense(4),
    ]


def _decoder() -> Layers:
    return [
        layers.Conv2DTranspose(6, 3, strides=2, padding="same"),
        layers.LeakyReLU(),
        layers.UpSampling2D(2, interpolation="bilinear"),
        layers.ZeroPadding2D(1),
        layers.Conv2D(3, 3, dilation_rate=2, activation="tanh"),
    ]


def _gates() -> Layers:
    return [
        layers.Dense(8, "gelu"),
        layers.LayerNormalization(),
        layers.Dense(8, "silu"),
        layers.PReLU(),
        layers.Dense(8, "elu"),
        layers.Dense(4, "sigmoid"),
    ]


def _mixer(value: Any) -> Any:
    mixed = layers.MultiHeadAttention(2, 4)(value, value)
    return layers.LayerNormalization()(layers.Add()([value, mixed]))


NETWORKS: dict[str, tuple[tuple[int, ...], Callable[[], Layers]]] = {
    "residual": ((16, 16, 3), _residual),
    "separable": ((16, 16, 3), _separable),
    "decoder": ((6, 6, 4), _decoder),
    "gates": ((12,), _gates),
    "attention": ((5, 8), lambda: [_mixer, layers.GlobalMaxPooling1D()]),
    "conv1d": (
        (20, 4),
        lambda: [
            layers.Conv1D(6, 3, padding="causal", activation="relu"),
            layers.MaxPooling1D(),
            layers.Dense(3),
        ],
    ),
    "conv3d": (
        (6, 8, 8, 2),
        lambda: [layers.Conv3D(4, 3, activation="relu"), layers.GlobalAveragePooling3D()],
    ),
    "lstm": ((6, 4), lambda: [layers.LSTM(5, return_sequences=True), layers.Dense(2)]),
    "lstm_unrolled": ((4, 3), lambda: [layers.LSTM(4, unroll=True)]),
    "gru": ((6, 4), lambda: [layers.GRU(5), layers.Dense(2)]),
    "bidirectional": ((6, 4), lambda: [layers.Bidirectional(layers.LSTM(3))]),
    "rnn": ((6, 4), lambda: [layers.SimpleRNN(5)]),
}


# Weights of at least 1024 numbers, which the converter stores in 8 bits without samples.
HYBRID: dict[str, tuple[tuple[int, ...], Callable[[], Layers]]] = {
    "wide_dense": ((48,), lambda: [layers.Dense(64, "tanh"), layers.Dense(64, "sigmoid")]),
    "wide_rows": ((4, 48), lambda: [layers.Dense(64, "relu"), layers.Dense(32)]),
    "wide_windows": (
        (12, 12, 16),
        lambda: [
            layers.Conv2D(64, 3, activation="relu6"),
            layers.DepthwiseConv2D(3, depth_multiplier=2),
            layers.Conv2DTranspose(32, 3, strides=2),
            layers.SeparableConv2D(64, 3),
            layers.Conv2D(64, 3, groups=4, dilation_rate=2, padding="same"),
            layers.Flatten(),
            layers.Dense(10, "softmax"),
        ],
    ),
    "wide_lstm": ((9, 48), lambda: [layers.LSTM(64, return_sequences=True), layers.Dense(32)]),
    "wide_bidirectional": ((7, 48), lambda: [layers.Bidirectional(layers.LSTM(64))]),
    "wide_gru": ((7, 48), lambda: [layers.GRU(64)]),
    "wide_rnn": ((7, 48), lambda: [layers.SimpleRNN(64)]),
}


class _Functions(tf.Module):
    """Functions with control flow, states and several signatures."""

    def __init__(self) -> None:
        super().__init__()
        self.total = tf.Variable(tf.zeros([2, 3]), name="total")

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32)])
    def branch(self, x: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: tf.nn.relu(x) - 1.0)

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32)])
    def loop(self, x: Any) -> Any:
        return tf.while_loop(lambda k, _: k < 4, lambda k, y: (k + 1, y * 0.5 + x), (0, x))[1]

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([2, 3], tf.float32)])
    def counted(self, n: Any, x: Any) -> Any:
        return tf.while_loop(lambda k, _: k < n, lambda k, y: (k + 1, tf.tanh(y + x)), (0, x))[1]

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32)])
    def state(self, x: Any) -> Any:
        self.total.assign_add(x)
        return self.total.read_value() * 2.0

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def open_batch(self, x: Any) -> Any:
        return tf.nn.softmax(tf.matmul(x, tf.ones([3, 4])))

    @tf.function(input_signature=[tf.TensorSpec([4, 6], tf.float32), tf.TensorSpec([3], tf.int32)])
    def lookups(self, x: Any, rows: Any) -> Any:
        taken = tf.gather(x, tf.minimum(rows, 3))
        return taken, tf.one_hot(rows, 10), tf.math.top_k(taken, 2).values, tf.reverse(x, [1])

    @tf.function(input_signature=[tf.TensorSpec([2, 8, 8, 3], tf.float32)])
    def pictures(self, x: Any) -> Any:
        return (
            tf.image.resize(x, [5, 7]),
            tf.image.resize(x, [16, 16], "nearest"),
            tf.nn.space_to_depth(x, 2),
            tf.pad(x, [[0, 0], [1, 2], [2, 1], [0, 0]], "REFLECT"),
            tf.nn.local_response_normalization(x),
            tf.nn.max_pool2d(x, 3, 2, "SAME"),
        )

    @tf.function(
        input_signature=[tf.TensorSpec([3, 4], tf.float32), tf.TensorSpec([3, 4], tf.float32)]
    )
    def arithmetic(self, a: Any, b: Any) -> Any:
        return (
            tf.math.floordiv(a, b),
            tf.math.floormod(a, b),
            tf.pow(tf.abs(a), b),
            tf.math.squared_difference(a, b),
            tf.atan2(a, b),
            tf.round(a),
            tf.sign(b),
            tf.where(a > b, a, b),
            tf.cumsum(a, 1),
            tf.reduce_prod(b, 0),
            tf.argmax(a, 1),
        )

    @tf.function(input_signature=[tf.TensorSpec([3, 4], tf.int32), tf.TensorSpec([3, 4], tf.int32)])
    def integers(self, a: Any, b: Any) -> Any:
        return (
            a // (b + 1),
            a % (b + 1),
            a * b - a,
            tf.bitwise.bitwise_xor(a, b),
            tf.maximum(a, b),
            tf.cast(a, tf.float32) / 3.0,
            tf.cast(a > b, tf.uint8),
            tf.reduce_max(a, 1),
        )

    @tf.function(input_signature=[tf.TensorSpec([2, 3, 4], tf.float32)])
    def strided(self, x: Any) -> Any:
        return (
            x[:, ::2, 1:],
            x[0, :, ::-1],
            x[..., tf.newaxis, 2],
            tf.transpose(x, [2, 0, 1]),
            tf.split(x, 2, 2)[1],
            tf.stack([x, x], 1),
            tf.tile(x, [1, 2, 1]),
            tf.broadcast_to(x[:, :1], [2, 5, 4]),
            tf.einsum("bij,bkj->bik", x, x),
        )


def _functions() -> list[Recipe]:
    names = (
        "branch",
        "loop",
        "counted",
        "state",
        "open_batch",
        "lookups",
        "pictures",
        "arithmetic",
        "integers",
        "strided",
    )

    def recipe(name: str) -> Recipe:
        def make(folder: Path, random: np.random.Generator) -> Made:
            module = _Functions()
            concrete = getattr(module, name).get_concrete_function()
            converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], module)
            converter.experimental_enable_resource_variables = True
            data = _convert(converter, "float", lambda: iter(()))
            (folder / "model.tflite").write_bytes(data)
            return Made("model.tflite", _inputs(data, random))

        return Recipe(f"function_{name}", make)

    def signatures(folder: Path, random: np.random.Generator) -> Made:
        module = _Functions()
        saved = str(folder / "saved")
        tf.saved_model.save(module, saved, {"branch": module.branch, "loop": module.loop})
        data = _convert(tf.lite.TFLiteConverter.from_saved_model(saved), "float", lambda: iter(()))
        (folder / "model.tflite").write_bytes(data)
        return Made("model.tflite", _inputs(data, random))

    return [*map(recipe, names), Recipe("signatures", signatures)]


def recipes() -> list[Recipe]:
    found = [
        _network(name, shape, build, form)
        for name, (shape, build) in NETWORKS.items()
        for form in FORMS
    ]
    hybrid = [
        _network(name, shape, build, "hybrid") for name, (shape, build) in HYBRID.items()
    ]
    return [*_functions(), *found, *hybrid]
