"""Options of TensorFlow's converter, and functions of tf.signal, tf.image, tf.math and the like."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

from peers.samples import Made, Recipe  # noqa: E402

F32, I32, BOOL = tf.float32, tf.int32, tf.bool
Ports = list[tuple[list[Any], Any]]
Call = Callable[..., Any]


FUNCTIONS: dict[str, tuple[Call, Ports]] = {
    "stft": (lambda x: tf.abs(tf.signal.stft(x, 32, 16, 32)), [([2, 128], F32)]),
    "stft_parts": (
        lambda x: (tf.math.real(y := tf.signal.stft(x, 32, 16)), tf.math.imag(y)),
        [([128], F32)],
    ),
    "rfft": (lambda x: tf.math.imag(tf.signal.rfft(x)), [([3, 16], F32)]),
    "rfft_padded": (lambda x: tf.math.real(tf.signal.rfft(x, [32])), [([3, 20], F32)]),
    "rfft_cast": (lambda x: tf.cast(tf.signal.rfft(x), F32), [([2, 64], F32)]),
    "rfft2d": (lambda x: tf.abs(tf.signal.rfft2d(x)), [([2, 8, 16], F32)]),
    "frames": (lambda x: tf.signal.frame(x, 10, 4), [([2, 50], F32)]),
    "overlapped": (lambda x: tf.signal.overlap_and_add(x, 4), [([2, 6, 8], F32)]),
    "set_diag": (lambda x, y: tf.linalg.set_diag(x, y), [([4, 4], F32), ([4], F32)]),
    "norms": (lambda x: (tf.norm(x, axis=1), tf.linalg.normalize(x)[0]), [([3, 4], F32)]),
    "segments": (
        lambda x: (
            tf.math.segment_sum(x, [0, 0, 1, 2]),
            tf.math.unsorted_segment_max(x, [1, 0, 1, 2], 3),
            tf.math.unsorted_segment_prod(x, [1, 0, 1, 2], 3),
        ),
        [([4, 3], F32)],
    ),
    "scatter": (
        lambda x, i: tf.tensor_scatter_nd_update(x, tf.minimum(i, 5)[:, None], x[:2]),
        [([6, 3], F32), ([2], I32)],
    ),
    "scatter_add": (lambda x: tf.scatter_nd([[1], [3], [1]], x, [5, 2]), [([3, 2], F32)]),
    "where": (lambda x: tf.where(x > 0.0), [([3, 4], F32)]),
    "masked": (lambda x: tf.boolean_mask(x, x > 0.0), [([12], F32)]),
    "unique": (lambda x: tf.unique(x), [([8], I32)]),
    "one_hot": (lambda x: tf.one_hot(x, 5, 2.0, -1.0, axis=0), [([4], I32)]),
    "top": (lambda x: tf.math.top_k(x, 3), [([2, 8], F32)]),
    "in_order": (lambda x: (tf.sort(x), tf.argsort(x, direction="DESCENDING")), [([2, 8], F32)]),
    "cumulative": (
        lambda x: (tf.cumsum(x, exclusive=True), tf.cumsum(x, 1, reverse=True)),
        [([3, 4], F32)],
    ),
    "boxes": (
        lambda b, s: tf.image.non_max_suppression(b, s, 4, 0.5),
        [([8, 4], F32), ([8], F32)],
    ),
    "crops": (
        lambda x: tf.image.crop_and_resize(x, [[0.1, 0.1, 0.8, 0.9]], [0], [4, 4]),
        [([1, 8, 8, 2], F32)],
    ),
    "resized": (
        lambda x: (
            tf.image.resize(x, [7, 9], antialias=False),
            tf.compat.v1.image.resize_bilinear(x, [7, 9], align_corners=True),
            tf.compat.v1.image.resize_nearest_neighbor(x, [7, 9], half_pixel_centers=True),
            tf.image.resize_with_pad(x, 12, 10),
        ),
        [([1, 5, 6, 2], F32)],
    ),
    "dilated": (
        lambda x: tf.nn.conv2d(x, tf.ones([3, 3, 2, 4]) * 0.1, 1, "SAME", dilations=2),
        [([1, 9, 9, 2], F32)],
    ),
    "atrous": (
        lambda x: tf.nn.atrous_conv2d(x, tf.ones([3, 3, 2, 4]) * 0.1, 2, "VALID"),
        [([1, 11, 11, 2], F32)],
    ),
    "batches": (
        lambda x: tf.batch_to_space(
            tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]), [2, 2], [[0, 1], [0, 0]]
        ),
        [([1, 6, 6, 2], F32)],
    ),
    "rounding": (
        lambda x: (
            tf.math.rint(x),
            tf.math.ceil(x),
            tf.floor(x),
            tf.cast(x, I32),
            tf.cast(x, BOOL),
        ),
        [([3, 4], F32)],
    ),
    "cond": (
        lambda x: tf.cond(
            tf.reduce_max(x) > 1.0,
            lambda: tf.cond(x[0, 0] > 0, lambda: x, lambda: -x),
            lambda: x * 2.0,
        ),
        [([2, 3], F32)],
    ),
    "collatz": (
        lambda n: tf.while_loop(
            lambda k, _: k > 1,
            lambda k, c: (tf.where(k % 2 == 0, k // 2, 3 * k + 1), c + 1),
            (n + 1, 0),
        )[1],
        [([], I32)],
    ),
    "scan": (lambda x: tf.scan(lambda a, b: a * 0.5 + b, x), [([5, 3], F32)]),
    "map": (lambda x: tf.map_fn(lambda r: tf.nn.softmax(r), x), [([4, 3], F32)]),
    "fold": (lambda x: tf.foldl(lambda a, b: a + tf.tanh(b), x), [([4, 3], F32)]),
    "open": (lambda x: tf.nn.softmax(tf.reshape(x, [tf.shape(x)[0], -1])), [([None, 3, 2], F32)]),
    "open_both": (
        lambda x: tf.reduce_mean(x, 1) + tf.cast(tf.shape(x)[1], F32),
        [([None, None, 4], F32)],
    ),
    "products": (
        lambda a, b: (tf.matmul(a, b, transpose_b=True), tf.einsum("bij,bkj->bki", a, b)),
        [([2, 3, 4], F32), ([2, 5, 4], F32)],
    ),
    "broadcast_products": (
        lambda a, b: tf.matmul(a, b),
        [([2, 1, 3, 4], F32), ([5, 4, 2], F32)],
    ),
    "ragged": (
        lambda x: tf.RaggedTensor.from_row_lengths(x, [2, 1, 3]).to_tensor(),
        [([6], F32)],
    ),
    "ctc": (
        lambda x: tf.nn.ctc_greedy_decoder(x, [6])[0][0].values,
        [([6, 1, 4], F32)],
    ),
    "determinant": (lambda x: tf.linalg.det(x), [([2, 3, 3], F32)]),
    "bincount": (lambda x: tf.math.bincount(x, minlength=10, maxlength=10), [([9], I32)]),
}


class _States(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.counts = tf.Variable(tf.zeros([3]))
        self.last = tf.Variable(tf.zeros([2]))

    @tf.function(input_signature=[tf.TensorSpec([3], F32)])
    def count(self, x: Any) -> Any:
        self.counts.assign_add(x)
        return self.counts.read_value() + 1.0

    @tf.function(input_signature=[tf.TensorSpec([2], F32)])
    def previous(self, x: Any) -> Any:
        before = self.last.read_value() * 1.0
        self.last.assign(x)
        return before + tf.reduce_sum(self.counts)

    @tf.function(input_signature=[tf.TensorSpec([3], F32)])
    def reset(self, x: Any) -> Any:
        self.counts.assign(x * 0.0)
        return self.counts.read_value()


def _arrays(data: bytes, ports: Ports, random: np.random.Generator) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    details = tf.lite.Interpreter(model_content=data).get_input_details()
    for port, (shape, kind) in zip(details, ports, strict=False):
        sizes = [3 if n is None else n for n in shape]
        if kind == F32:
            found[port["name"]] = random.normal(size=sizes).astype(np.float32)
        else:
            high = 3 if not shape else 9
            found[port["name"]] = random.integers(0, high, sizes).astype(kind.as_numpy_dtype)
    return found


def _function(name: str, flex: bool = False) -> Recipe:
    call, ports = FUNCTIONS[name]

    def make(folder: Path, random: np.random.Generator) -> Made:
        signature = [tf.TensorSpec(shape, kind) for shape, kind in ports]
        function = tf.function(call, input_signature=signature)
        converter = tf.lite.TFLiteConverter.from_concrete_functions(
            [function.get_concrete_function()], function
        )
        if flex:
            ops = tf.lite.OpsSet
            converter.target_spec.supported_ops = [ops.TFLITE_BUILTINS, ops.SELECT_TF_OPS]
        data = converter.convert()
        (folder / "model.tflite").write_bytes(data)
        dynamic = ["dynamic"] if any(n is None for shape, _ in ports for n in shape) else []
        return Made("model.tflite", _arrays(data, ports, random), dynamic)

    return Recipe(name, make)


def _states(names: tuple[str, ...]) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        module = _States()
        functions = {n: getattr(module, n) for n in names}
        saved = str(folder / "saved")
        tf.saved_model.save(module, saved, functions)
        converter = tf.lite.TFLiteConverter.from_saved_model(saved, signature_keys=list(names))
        converter.experimental_enable_resource_variables = True
        data = converter.convert()
        (folder / "model.tflite").write_bytes(data)
        shape, kind = {"previous": ([2], F32)}.get(names[0], ([3], F32))
        return Made("model.tflite", _arrays(data, [(shape, kind)], random))

    return Recipe("states-" + "-".join(names), make)


def _network() -> Any:
    weights = np.random.default_rng(1).normal(size=(3, 3, 4, 8)).astype(np.float32) * 0.2

    def call(x: Any) -> Any:
        y = tf.nn.relu6(tf.nn.conv2d(x, weights, 1, "SAME"))
        y = tf.nn.depthwise_conv2d(y, np.ones((3, 3, 8, 1), np.float32) * 0.1, [1, 2, 2, 1], "SAME")
        y = tf.nn.leaky_relu(tf.nn.conv2d(y, weights[:1, :1, :, :].repeat(2, 2), 1, "VALID"))
        pooled = tf.reduce_mean(y, [1, 2])
        return tf.nn.softmax(tf.matmul(pooled, weights[0, :, 0, :].T.repeat(2, 1)[:, :5]))

    return tf.function(call, input_signature=[tf.TensorSpec([1, 12, 12, 4], F32)])


def _sample() -> Any:
    random = np.random.default_rng(2)
    for _ in range(4):
        yield [random.normal(size=(1, 12, 12, 4)).astype(np.float32)]


def _quantized(converter: Any, *ops: Any) -> None:
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = _sample
    if ops:
        converter.target_spec.supported_ops = list(ops)


def _ports(kind: Any) -> Callable[[Any], None]:
    def change(converter: Any) -> None:
        if kind == tf.int16:
            sets = tf.lite.OpsSet
            _quantized(
                converter, sets.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
            )
        else:
            _quantized(converter, tf.lite.OpsSet.TFLITE_BUILTINS_INT8)
        converter.inference_input_type = converter.inference_output_type = kind

    return change


def _set(quantize: bool, **settings: Any) -> Callable[[Any], None]:
    def change(converter: Any) -> None:
        if quantize:
            _quantized(converter)
        for name, value in settings.items():
            setattr(converter, name, value)

    return change


def _wide_bias(converter: Any) -> None:
    _ports(tf.int16)(converter)
    converter._experimental_full_integer_quantization_bias_type = tf.int32  # noqa: SLF001


OPTIONS: dict[str, Callable[[Any], None]] = {
    "ports_int8": _ports(tf.int8),
    "ports_uint8": _ports(tf.uint8),
    "ports_int16": _ports(tf.int16),
    "bias_int32": _wide_bias,
    "old_quantizer": _set(True, experimental_new_quantizer=False),
    "per_tensor": _set(True, _experimental_disable_per_channel=True),
    "per_tensor_dense": _set(
        True, _experimental_disable_per_channel_quantization_for_dense_layers=True
    ),
    "batch_matmul": _set(False, unfold_batchmatmul=True),
    "single_batch": _set(False, _experimental_default_to_single_batch_in_tensor_list_ops=True),
    "composite": _set(False, exclude_conversion_metadata=True),
    "unfused": _set(False, _experimental_allow_all_select_tf_ops=True),
    "variable": _set(True, _experimental_variable_quantization=True),
    "strict_qdq": _set(True, _experimental_strict_qdq=True),
    "low_bit": _set(True, _experimental_low_bit_qat=True),
    "legacy": _set(False, experimental_new_converter=False),
}


def _option(name: str) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        function = _network()
        converter = tf.lite.TFLiteConverter.from_concrete_functions(
            [function.get_concrete_function()], function
        )
        OPTIONS[name](converter)
        data = converter.convert()
        (folder / "model.tflite").write_bytes(data)
        (port,) = tf.lite.Interpreter(model_content=data).get_input_details()
        kind = np.dtype(port["dtype"])
        array = random.normal(size=port["shape"]).astype(kind)
        if kind.kind != "f":
            limits = np.iinfo(kind)
            array = random.integers(limits.min, limits.max, port["shape"]).astype(kind)
        floats = name in ("batch_matmul", "single_batch", "composite", "unfused", "legacy")
        return Made("model.tflite", {port["name"]: array}, [] if floats else ["integer"])

    return Recipe(f"option_{name}", make)


# Operators that only TensorFlow itself has.
FLEX = ("ctc", "determinant", "crops", "bincount", "ragged")


def recipes() -> list[Recipe]:
    states = [("count",), ("previous", "count"), ("count", "previous", "reset")]
    return [
        *(_function(name, name in FLEX) for name in FUNCTIONS),
        *map(_states, states),
        *map(_option, OPTIONS),
    ]
