"""The families of keras.applications and backbones of keras-hub, with random weights."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras  # noqa: E402
import keras_hub  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import applications  # noqa: E402
from tensorflow.python.framework.convert_to_constants import (  # noqa: E402
    convert_variables_to_constants_v2,
)

from peers.samples import Made, Recipe  # noqa: E402

Build = Callable[[], keras.Model]


def _application(name: str, size: int, **settings: Any) -> Build:
    return lambda: getattr(applications, name)(
        weights=None, input_shape=(size, size, 3), classes=10, **settings
    )


APPLICATIONS: dict[str, Build] = {
    "mobilenet": _application("MobileNet", 64, alpha=0.25),
    "mobilenet_v2": _application("MobileNetV2", 64, alpha=0.35),
    "mobilenet_v3": _application("MobileNetV3Small", 64, alpha=0.75),
    "efficientnet_b0": _application("EfficientNetB0", 64),
    "efficientnet_v2": _application("EfficientNetV2B0", 64),
    "nasnet": _application("NASNetMobile", 64),
    "densenet": _application("DenseNet121", 64),
    "xception": _application("Xception", 80),
    "inception": _application("InceptionV3", 80),
    "resnet50": _application("ResNet50", 64),
    "resnet50_v2": _application("ResNet50V2", 64),
    "convnext": _application("ConvNeXtTiny", 64),
}
FORMS = ("float", "int8", "float16")


def _backbones() -> dict[str, Callable[[], Any]]:
    m = keras_hub.models
    small = {"vocabulary_size": 60, "num_layers": 2, "num_heads": 2, "hidden_dim": 16}
    encoder = {**small, "intermediate_dim": 32, "max_sequence_length": 12}
    image = (32, 32, 3)
    return {
        "bert": lambda: m.BertBackbone(**encoder),
        "roberta": lambda: m.RobertaBackbone(**encoder),
        "distilbert": lambda: m.DistilBertBackbone(**encoder),
        "albert": lambda: m.AlbertBackbone(**encoder, embedding_dim=8, num_groups=1),
        "deberta": lambda: m.DebertaV3Backbone(**encoder, bucket_size=8),
        "gpt2": lambda: m.GPT2Backbone(**encoder),
        "gpt_neox": lambda: m.GPTNeoXBackbone(**encoder),
        "opt": lambda: m.OPTBackbone(**encoder),
        "bloom": lambda: m.BloomBackbone(
            vocabulary_size=60, num_layers=2, num_heads=2, hidden_dim=16, intermediate_dim=32
        ),
        "gemma": lambda: m.GemmaBackbone(
            60, 2, 2, 1, hidden_dim=16, intermediate_dim=32, head_dim=8
        ),
        "llama": lambda: m.LlamaBackbone(60, 2, 2, 16, 32, 1),
        "mistral": lambda: m.MistralBackbone(60, 2, 2, 16, 32, 1),
        "phi3": lambda: m.Phi3Backbone(60, 2, 16, 32, 2, 1),
        "qwen": lambda: m.QwenBackbone(60, 2, 2, 1, 16, 32),
        "t5": lambda: m.T5Backbone(60, 2, 2, 16, 32),
        "bart": lambda: m.BartBackbone(60, 2, 2, 16, 32, max_sequence_length=12),
        "vit": lambda: m.ViTBackbone(image, 8, 2, 2, 16, 32),
        "sam_encoder": lambda: m.ViTDetBackbone(
            hidden_size=16, num_layers=2, intermediate_dim=32, num_heads=2,
            global_attention_layer_indices=[1], image_shape=image, patch_size=8,
            num_output_channels=8, window_size=2,
        ),
    }


def _spec(value: Any, length: int) -> tf.TensorSpec:
    """Batch 1, and this length for open sizes."""
    sizes = [1, *(length if n is None else n for n in value.shape[1:])]
    return tf.TensorSpec(sizes, value.dtype, name=value.name.replace(":", "_"))


def _arrays(data: bytes, random: np.random.Generator) -> dict[str, np.ndarray]:
    found = {}
    for port in tf.lite.Interpreter(model_content=data).get_input_details():
        kind = np.dtype(port["dtype"])
        if "mask" in port["name"]:
            array = np.ones(port["shape"], kind)
        elif kind.kind == "f":
            array = random.random(port["shape"]).astype(kind)
        elif kind == np.int8:
            array = random.integers(-128, 128, port["shape"]).astype(kind)
        else:
            array = random.integers(0, 2 if "segment" in port["name"] else 60, port["shape"])
        found[port["name"]] = array.astype(kind)
    return found


def _recipe(name: str, build: Callable[[], Any], form: str, length: int = 10) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        keras.utils.set_random_seed(4)
        model = build()
        inputs = model.input
        specs = tf.nest.map_structure(lambda v: _spec(v, length), inputs)
        called = tf.function(lambda x: model(x, training=False), input_signature=[specs])
        frozen = convert_variables_to_constants_v2(called.get_concrete_function())
        converter = tf.lite.TFLiteConverter.from_concrete_functions([frozen])
        if form != "float":
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        if form == "float16":
            converter.target_spec.supported_types = [tf.float16]
        if form == "int8":

            def samples() -> Any:
                for _ in range(2):
                    yield [
                        random.random(s.shape).astype(np.float32) for s in tf.nest.flatten(specs)
                    ]

            converter.representative_dataset = samples
        data = converter.convert()
        (folder / "model.tflite").write_bytes(data)
        return Made("model.tflite", _arrays(data, random), ["integer"] if form == "int8" else [])

    return Recipe(f"{name}-{form}", make)


def recipes() -> list[Recipe]:
    found = [_recipe(name, build, "float") for name, build in _backbones().items()]
    for k, (name, build) in enumerate(APPLICATIONS.items()):
        found.append(_recipe(name, build, FORMS[k % len(FORMS)]))
    return found
