"""tf_keras networks that tensorflow-model-optimization trains for 8 bits, prunes and clusters."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tensorflow_model_optimization as tfmot  # noqa: E402
import tf_keras  # noqa: E402
from tf_keras import layers  # noqa: E402

from peers.samples import Made, Recipe  # noqa: E402

Layers = list[Any]


def _convolutions() -> Layers:
    return [
        layers.Conv2D(8, 3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(6.0),
        layers.DepthwiseConv2D(3, strides=2, padding="same"),
        layers.ReLU(),
        layers.Conv2D(16, 1),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(10, "softmax"),
    ]


def _separable() -> Layers:
    return [
        layers.SeparableConv2D(8, 3, activation="relu"),
        layers.AveragePooling2D(),
        layers.ZeroPadding2D(1),
        layers.Conv2DTranspose(6, 3, strides=2),
        layers.GlobalAveragePooling2D(),
        layers.Dense(6),
    ]


def _dense() -> Layers:
    return [
        layers.Flatten(),
        layers.Dense(64, "relu"),
        layers.Dropout(0.2),
        layers.Dense(32, "tanh"),
        layers.Dense(5, "sigmoid"),
    ]


def _upsampled() -> Layers:
    return [
        layers.Conv2D(6, 3, activation="relu"),
        layers.UpSampling2D(interpolation="bilinear"),
        layers.Conv2D(4, 3, padding="same", dilation_rate=2),
        layers.UpSampling2D(),
        layers.Conv2D(2, 1, activation="sigmoid"),
    ]


def _residual() -> Layers:
    def block(x: Any) -> Any:
        y = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(4, 3, padding="same")(x)))
        return layers.Concatenate()([layers.Add()([x, y]), y])

    return [layers.Conv2D(4, 3, padding="same", activation="relu"), block, layers.Conv2D(3, 1)]


NETWORKS: dict[str, Callable[[], Layers]] = {
    "convolutions": _convolutions,
    "separable": _separable,
    "dense": _dense,
    "upsampled": _upsampled,
    "residual": _residual,
}
SHAPE = (12, 12, 4)


def _model(name: str) -> Any:
    tf_keras.utils.set_random_seed(3)
    value = inlet = tf_keras.Input(SHAPE, batch_size=1)
    for layer in NETWORKS[name]():
        value = layer(value)
    return tf_keras.Model(inlet, value)


def _trained(model: Any, callbacks: Any = ()) -> Any:
    model.compile("sgd", "mse")
    random = np.random.default_rng(1)
    x = random.normal(size=(8, *SHAPE)).astype(np.float32)
    y = random.random((8, *model.output_shape[1:])).astype(np.float32)
    model.fit(x, y, batch_size=1, epochs=1, verbose=0, callbacks=list(callbacks))
    return model


def _aware(model: Any) -> Any:
    return _trained(tfmot.quantization.keras.quantize_model(model))


def _pruned(model: Any, blocks: bool = False, two_of_four: bool = False) -> Any:
    schedule = tfmot.sparsity.keras.ConstantSparsity(0.8, 0, frequency=1)
    settings: dict[str, Any] = {"pruning_schedule": schedule}
    if two_of_four:
        settings["sparsity_m_by_n"] = (2, 4)
    if blocks:
        settings["block_size"] = (1, 1)
    pruned = tfmot.sparsity.keras.prune_low_magnitude(model, **settings)
    _trained(pruned, [tfmot.sparsity.keras.UpdatePruningStep()])
    return tfmot.sparsity.keras.strip_pruning(pruned)


def _clustered(model: Any) -> Any:
    start = tfmot.clustering.keras.CentroidInitialization.KMEANS_PLUS_PLUS
    found = tfmot.clustering.keras.cluster_weights(
        model, number_of_clusters=8, cluster_centroids_init=start
    )
    return tfmot.clustering.keras.strip_clustering(found)


Converter = Any
SPARSE = tf.lite.Optimize.EXPERIMENTAL_SPARSITY


def _optimize(*kinds: Any) -> Callable[[Converter], None]:
    return lambda converter: setattr(converter, "optimizations", list(kinds))


def _half(converter: Converter) -> None:
    converter.optimizations = [SPARSE, tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_types = [tf.float16]


def _whole(converter: Converter) -> None:
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.inference_input_type = converter.inference_output_type = tf.int8


def _unsigned(converter: Converter) -> None:
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.inference_input_type = converter.inference_output_type = tf.uint8


FORMS: dict[str, tuple[Callable[[Any], Any], Callable[[Converter], None]]] = {
    "aware": (_aware, _optimize(tf.lite.Optimize.DEFAULT)),
    "aware_int8": (_aware, _whole),
    "aware_uint8": (_aware, _unsigned),
    "aware_unoptimized": (_aware, _optimize()),
    "pruned": (_pruned, _optimize(SPARSE)),
    "pruned_dynamic": (_pruned, _optimize(SPARSE, tf.lite.Optimize.DEFAULT)),
    "pruned_half": (_pruned, _half),
    "two_of_four": (lambda m: _pruned(m, two_of_four=True), _optimize(SPARSE)),
    "clustered": (_clustered, _optimize(tf.lite.Optimize.DEFAULT)),
}


def _recipe(name: str, form: str) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        change, options = FORMS[form]
        model = change(_model(name))
        converter = tf.lite.TFLiteConverter.from_keras_model(model)
        options(converter)
        data = converter.convert()
        (folder / "model.tflite").write_bytes(data)
        (port,) = tf.lite.Interpreter(model_content=data).get_input_details()
        if port["dtype"] == np.float32:
            array = random.normal(size=port["shape"]).astype(np.float32)
        else:
            limits = np.iinfo(port["dtype"])
            array = random.integers(limits.min, limits.max, port["shape"]).astype(port["dtype"])
        whole = "aware" in form or form in ("pruned_dynamic", "clustered")
        return Made("model.tflite", {port["name"]: array}, ["integer"] if whole else [])

    return Recipe(f"{name}-{form}", make)


def recipes() -> list[Recipe]:
    return [_recipe(name, form) for name in NETWORKS for form in FORMS]
