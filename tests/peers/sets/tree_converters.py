"""Hummingbird's tensors of trees and other models, and float16 of onnxconverter-common."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hummingbird.ml
import numpy as np
import onnx
import torch
from onnxconverter_common import auto_mixed_precision, float16
from sklearn import ensemble, linear_model, naive_bayes, neural_network, pipeline, preprocessing
from sklearn import tree

from peers.samples import Made, Recipe

logging.disable(logging.ERROR)
# Hummingbird scripts its modules, and does not choose the exporter that takes them.
torch.onnx.export = functools.partial(torch.onnx.export, dynamo=False)
ROWS, COLUMNS = 120, 6


def _data(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, three classes, and numbers."""
    x = random.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    return x, (x[:, 0] > 0).astype(int) + (x[:, 1] > 0.3), x[:, 0] * 2 + np.sin(x[:, 2])


FOREST = {"n_estimators": 5, "max_depth": 4, "random_state": 3}
SKLEARN: dict[str, Callable[[], Any]] = {
    "forest": lambda: ensemble.RandomForestClassifier(**FOREST),
    "forest-numbers": lambda: ensemble.RandomForestRegressor(**FOREST),
    "extra": lambda: ensemble.ExtraTreesClassifier(n_estimators=4, max_depth=9, random_state=3),
    "boosting": lambda: ensemble.GradientBoostingClassifier(**FOREST),
    "isolation": lambda: ensemble.IsolationForest(n_estimators=5, random_state=3),
    "tree": lambda: tree.DecisionTreeClassifier(max_depth=3),
    "logistic": lambda: linear_model.LogisticRegression(),
    "bayes": lambda: naive_bayes.GaussianNB(),
    "mlp": lambda: neural_network.MLPClassifier((8,), max_iter=60),
    "pipeline": lambda: pipeline.make_pipeline(
        preprocessing.StandardScaler(), preprocessing.PolynomialFeatures(2), linear_model.Ridge()
    ),
    "binned": lambda: pipeline.make_pipeline(
        preprocessing.KBinsDiscretizer(4, encode="onehot-dense"), linear_model.Ridge()
    ),
}


def _hummingbird(name: str, strategy: str) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        x, classes, numbers = _data(random)
        net = SKLEARN[name]()
        is_number = name in ("forest-numbers", "pipeline", "binned")
        net.fit(x, numbers if is_number else classes)
        settings = {"tree_implementation": strategy} if strategy else {}
        made = hummingbird.ml.convert(net, "onnx", x[:7], extra_config=settings)
        onnx.save(made.model, str(folder / "model.onnx"))
        return Made("model.onnx", {"input_0": x[:7]}, ["dynamic"])

    return Recipe(f"hummingbird-{name}{'-' + strategy if strategy else ''}", make)


def _network(random: np.random.Generator) -> onnx.ModelProto:
    """A small network with a residual, a normalization and a softmax."""
    make, arrays = onnx.helper.make_node, onnx.numpy_helper.from_array

    def weight(name: str, *shape: int) -> onnx.TensorProto:
        return arrays((random.normal(size=shape) / 4).astype(np.float32), name)

    weights = [weight("w", 8, 3, 3, 3), weight("b", 8), weight("v", 8, 5), weight("s", 8)]
    nodes = [
        make("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1] * 4),
        make("Relu", ["c"], ["r"], name="relu"),
        make("Resize", ["r", "", "twice"], ["u"], name="resize", mode="linear"),
        make("GlobalAveragePool", ["u"], ["p"], name="pool"),
        make("Flatten", ["p"], ["f"], name="flatten"),
        make("LayerNormalization", ["f", "s", "b"], ["n"], name="norm"),
        make("MatMul", ["n", "v"], ["m"], name="matmul"),
        make("Softmax", ["m"], ["y"], name="softmax"),
    ]
    weights.append(arrays(np.array([1, 1, 2, 2], np.float32), "twice"))
    graph = onnx.helper.make_graph(
        nodes,
        "network",
        [onnx.helper.make_tensor_value_info("x", 1, ["N", 3, 8, 8])],
        [onnx.helper.make_tensor_value_info("y", 1, ["N", 5])],
        weights,
    )
    opset = onnx.helper.make_opsetid("", 17)
    return onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8)


HALVES: dict[str, dict[str, Any]] = {
    "plain": {},
    "io": {"keep_io_types": True},
    "blocked": {"keep_io_types": True, "op_block_list": ["Softmax", "Resize"]},
    "nodes": {"keep_io_types": ["x"], "node_block_list": ["conv"]},
}


def _half(name: str) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        x = random.normal(size=(2, 3, 8, 8)).astype(np.float32)
        source = onnx.shape_inference.infer_shapes(_network(random))
        if name == "mixed":
            made = auto_mixed_precision.auto_convert_mixed_precision(
                source, {"x": x}, rtol=0.001, atol=0.001, keep_io_types=True
            )
        else:
            made = float16.convert_float_to_float16(source, **HALVES[name])
        onnx.save(made, str(folder / "model.onnx"))
        if name == "plain":  # without keep_io_types
            x = x.astype(np.float16)
        return Made("model.onnx", {"x": x}, ["dynamic"], None, 1e-2)

    return Recipe(f"float16-{name}", make)


def recipes() -> list[Recipe]:
    found = [_hummingbird(name, "") for name in SKLEARN]
    found += [_hummingbird("forest", s) for s in ("gemm", "tree_trav", "perf_tree_trav")]
    return found + [_half(name) for name in (*HALVES, "mixed")]
