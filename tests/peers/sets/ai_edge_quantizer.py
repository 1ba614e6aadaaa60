"""TensorFlow Lite files that ai-edge-quantizer quantizes, by its recipes and mixtures of them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from ai_edge_quantizer import qtyping, quantizer, recipe  # noqa: E402
from ai_edge_quantizer.algorithm_manager import AlgorithmName  # noqa: E402
from keras import layers  # noqa: E402

from peers.samples import Made, Recipe  # noqa: E402

Every = qtyping.TFLOperationName
Grain = qtyping.QuantGranularity


def _picture() -> keras.Model:
    x = inlet = keras.Input((16, 16, 8), batch_size=1)
    x = layers.Conv2D(16, 3, padding="same", activation="relu")(x)
    y = layers.DepthwiseConv2D(3, padding="same")(x)
    x = layers.Add()([x, y])
    x = layers.MaxPooling2D()(x)
    x = layers.Conv2DTranspose(12, 3, strides=2, padding="same")(x)
    x = layers.Concatenate()([x, inlet])
    x = layers.Conv2D(32, 1, activation="hard_swish")(x)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inlet, layers.Dense(10, "softmax")(x))


def _wide() -> keras.Model:
    x = inlet = keras.Input((256,), batch_size=2)
    x = layers.Dense(128, "relu")(x)
    x = layers.Dense(256, "gelu")(x)
    return keras.Model(inlet, layers.Dense(64)(x))


def _text() -> keras.Model:
    inlet = keras.Input((6,), batch_size=1, dtype="int32")
    x = layers.Embedding(40, 64)(inlet)
    mixed = layers.MultiHeadAttention(2, 32)(x, x)
    x = layers.LayerNormalization()(layers.Add()([x, mixed]))
    x = layers.Dense(64, "silu")(x)
    return keras.Model(inlet, layers.Dense(5)(layers.GlobalAveragePooling1D()(x)))


def _shapes() -> keras.Model:
    x = inlet = keras.Input((8, 8, 4), batch_size=1)
    a = layers.UpSampling2D(2, interpolation="bilinear")(x)
    a = layers.AveragePooling2D()(layers.ZeroPadding2D(1)(a)[:, :16, :16])
    b = layers.Permute((2, 1, 3))(layers.Activation("tanh")(x))
    x = layers.Multiply()([layers.Subtract()([a, b]), layers.Activation("sigmoid")(a)])
    x = layers.Reshape((64, 4))(x)
    return keras.Model(inlet, layers.Dense(6)(x))


NETWORKS: dict[str, Callable[[], keras.Model]] = {
    "picture": _picture,
    "wide": _wide,
    "text": _text,
    "shapes": _shapes,
}


def _dynamic(bits: int, **settings: Any) -> Callable[[Any], Any]:
    return lambda q: q.add_dynamic_config(".*", Every.ALL_SUPPORTED, bits, **settings)


def _weights(bits: int, **settings: Any) -> Callable[[Any], Any]:
    return lambda q: q.add_weight_only_config(".*", Every.ALL_SUPPORTED, bits, **settings)


def _static(activations: int, weights: int, **settings: Any) -> Callable[[Any], Any]:
    return lambda q: q.add_static_config(
        ".*",
        Every.ALL_SUPPORTED,
        activation_num_bits=activations,
        weight_num_bits=weights,
        **settings,
    )


def _mixed(q: Any) -> None:
    q.load_quantization_recipe(recipe.dynamic_wi8_afp32())
    q.add_weight_only_config(".*", Every.FULLY_CONNECTED, 4)


def _half(q: Any) -> None:
    q.update_quantization_recipe(
        ".*",
        Every.ALL_SUPPORTED,
        qtyping.OpQuantizationConfig(
            weight_tensor_config=qtyping.TensorQuantizationConfig(
                num_bits=16, dtype=qtyping.TensorDataType.FLOAT
            ),
            compute_precision=qtyping.ComputePrecision.FLOAT,
            explicit_dequantize=True,
        ),
        algorithm_key=AlgorithmName.FLOAT_CASTING,
    )


FORMS: dict[str, Callable[[Any], Any]] = {
    "dynamic8": _dynamic(8),
    "dynamic8_tensor": _dynamic(8, granularity=Grain.TENSORWISE),
    "dynamic4": _dynamic(4),
    "dynamic4_blocks": _dynamic(4, granularity=Grain.BLOCKWISE_32),
    "dynamic4_blocks64": _dynamic(4, granularity=Grain.BLOCKWISE_64),
    "dynamic8_blocks": _dynamic(8, granularity=Grain.BLOCKWISE_32),
    "dynamic2": _dynamic(2),
    "weights8": _weights(8),
    "weights4": _weights(4),
    "weights4_blocks": _weights(4, granularity=Grain.BLOCKWISE_32),
    "weights2": _weights(2),
    "static88": _static(8, 8),
    "static84": _static(8, 4),
    "static168": _static(16, 8),
    "static164": _static(16, 4),
    "octav": _dynamic(4, algorithm_key=AlgorithmName.OCTAV),
    "mse": _dynamic(4, algorithm_key=AlgorithmName.MSE),
    "hadamard": _dynamic(4, algorithm_key=AlgorithmName.HADAMARD_ROTATION),
    "mixed": _mixed,
    "half": _half,
}


def _arrays(data: bytes, random: np.random.Generator) -> dict[str, np.ndarray]:
    found = {}
    for port in tf.lite.Interpreter(model_content=data).get_input_details():
        if port["dtype"] == np.int32:
            found[port["name"]] = random.integers(0, 40, port["shape"]).astype(np.int32)
        else:
            found[port["name"]] = random.normal(size=port["shape"]).astype(port["dtype"])
    return found


@functools.cache
def _float(name: str) -> bytes:
    keras.utils.set_random_seed(5)
    return bytes(tf.lite.TFLiteConverter.from_keras_model(NETWORKS[name]()).convert())


def _recipe(name: str, form: str) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        source = folder / "source.tflite"
        data = _float(name)
        source.write_bytes(data)
        q = quantizer.Quantizer(str(source))
        FORMS[form](q)
        calibration = None
        if q.need_calibration:
            signature = tf.lite.Interpreter(model_content=data).get_signature_runner()
            ports = signature.get_input_details()

            def batch() -> dict[str, np.ndarray]:
                return {
                    key: random.integers(0, 40, p["shape"]).astype(np.int32)
                    if p["dtype"] == np.int32
                    else random.normal(size=p["shape"]).astype(np.float32)
                    for key, p in ports.items()
                }

            calibration = q.calibrate({"serving_default": [batch() for _ in range(8)]})
        q.quantize(calibration).export_model(str(folder / "model.tflite"))
        source.unlink()
        data = (folder / "model.tflite").read_bytes()
        # Of LiteRT, only XNNPACK reads blocks, and it rounds the input to 8 bits.
        traits = ["integer"] if form.startswith("static") else []
        if "blocks" in form:
            traits.append("xnnpack")
        rtol = 0.05 if "blocks" in form else None
        return Made("model.tflite", _arrays(data, random), traits, rtol=rtol)

    return Recipe(f"{name}-{form}", make)


# LiteRT computes convolutions of these from memory that does not belong to the weights
# (DISAGREEMENTS.md).
UNREADABLE = {("picture", "dynamic2"), ("picture", "dynamic8_tensor")}


def recipes() -> list[Recipe]:
    pairs = [(name, form) for name in NETWORKS for form in FORMS]
    return [_recipe(*pair) for pair in pairs if pair not in UNREADABLE]
