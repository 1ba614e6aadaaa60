"""scikit-learn, XGBoost and LightGBM pipelines, converted by skl2onnx and onnxmltools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import xgboost
from onnxmltools import convert_lightgbm, convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType as ToolsFloat
from skl2onnx import to_onnx
from sklearn import (
    cluster,
    decomposition,
    discriminant_analysis,
    ensemble,
    gaussian_process,
    linear_model,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)

from peers.samples import Made, Recipe

COLUMNS = 6


def _data(random: np.random.Generator, classes: int) -> tuple[np.ndarray, np.ndarray]:
    x = random.normal(size=(120, COLUMNS)).astype(np.float32)
    scores = x @ random.normal(size=COLUMNS)
    if classes:
        return x, np.digitize(scores, np.quantile(scores, np.arange(1, classes) / classes))
    return x, scores.astype(np.float32)


def _write(path: Path, proto: Any) -> None:
    path.write_bytes(proto.SerializeToString())


def _sklearn(
    name: str, build: Callable[[], Any], *, classes: int, opset: int, zipmap: bool = False
) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        x, y = _data(random, classes)
        model = build().fit(x, y)
        options = {"zipmap": zipmap} if hasattr(model, "predict_proba") else None
        target = {"": opset, "ai.onnx.ml": 3}
        _write(
            folder / "model.onnx",
            to_onnx(
                model,
                x[:1],
                target_opset=target,
                options=({id(model): options} if options else None),
            ),
        )
        return Made("model.onnx", {"X": x[:9]}, ["dynamic"])

    return Recipe(name, make)


def _boosted(
    name: str,
    build: Callable[[], Any],
    convert: Callable[..., Any],
    *,
    classes: int,
    **settings: Any,
) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        x, y = _data(random, classes)
        types = [("X", ToolsFloat([None, COLUMNS]))]
        model = build().fit(x, y)
        _write(folder / "model.onnx", convert(model, initial_types=types, **settings))
        return Made("model.onnx", {"X": x[:9]}, ["dynamic"])

    return Recipe(name, make)


def _estimators() -> list[tuple[str, Callable[[], Any], int]]:
    return [
        ("logistic", linear_model.LogisticRegression, 3),
        ("logistic_binary", linear_model.LogisticRegression, 2),
        ("ridge", linear_model.Ridge, 0),
        ("lasso", linear_model.Lasso, 0),
        ("sgd", lambda: linear_model.SGDClassifier(loss="log_loss"), 3),
        ("perceptron", linear_model.Perceptron, 3),
        ("tree", lambda: tree.DecisionTreeClassifier(max_depth=4), 3),
        ("tree_regressor", lambda: tree.DecisionTreeRegressor(max_depth=4), 0),
        ("forest", lambda: ensemble.RandomForestClassifier(8, max_depth=4), 3),
        ("forest_regressor", lambda: ensemble.RandomForestRegressor(8, max_depth=4), 0),
        ("extra_trees", lambda: ensemble.ExtraTreesClassifier(8, max_depth=4), 2),
        ("boosting", lambda: ensemble.GradientBoostingClassifier(n_estimators=5), 3),
        ("boosting_regressor", lambda: ensemble.GradientBoostingRegressor(n_estimators=5), 0),
        ("ada", lambda: ensemble.AdaBoostClassifier(n_estimators=4), 3),
        ("isolation", lambda: ensemble.IsolationForest(n_estimators=8), 0),
        ("svc", lambda: svm.SVC(probability=True), 3),
        ("svc_linear", svm.LinearSVC, 3),
        ("svr", svm.SVR, 0),
        ("one_class", svm.OneClassSVM, 0),
        ("neighbors", lambda: neighbors.KNeighborsClassifier(3), 3),
        ("neighbors_regressor", lambda: neighbors.KNeighborsRegressor(3), 0),
        ("bayes", naive_bayes.GaussianNB, 3),
        ("bernoulli", naive_bayes.BernoulliNB, 3),
        ("network", lambda: neural_network.MLPClassifier((8,), max_iter=20), 3),
        (
            "network_regressor",
            lambda: neural_network.MLPRegressor(hidden_layer_sizes=(8,), max_iter=20),
            0,
        ),
        ("lda", discriminant_analysis.LinearDiscriminantAnalysis, 3),
        ("qda", discriminant_analysis.QuadraticDiscriminantAnalysis, 3),
        ("gaussian_process", gaussian_process.GaussianProcessRegressor, 0),
        ("kmeans", lambda: cluster.KMeans(3, n_init=1), 3),
        ("pca", lambda: decomposition.PCA(3), 0),
        (
            "voting",
            lambda: ensemble.VotingClassifier(
                [
                    ("a", linear_model.LogisticRegression()),
                    ("b", tree.DecisionTreeClassifier(max_depth=3)),
                ],
                voting="soft",
                flatten_transform=False,
            ),
            3,
        ),
    ]


def _scalers() -> list[tuple[str, Callable[[], Any], int]]:
    steps = {
        "standard": preprocessing.StandardScaler,
        "minmax": preprocessing.MinMaxScaler,
        "robust": preprocessing.RobustScaler,
        "normalizer": preprocessing.Normalizer,
        "binarizer": preprocessing.Binarizer,
        "maxabs": preprocessing.MaxAbsScaler,
        "polynomial": preprocessing.PolynomialFeatures,
        "discretizer": lambda: preprocessing.KBinsDiscretizer(4, encode="ordinal"),
        "power": preprocessing.PowerTransformer,
    }
    return [
        (
            f"pipe_{name}",
            lambda step=step: pipeline.make_pipeline(step(), linear_model.LogisticRegression()),
            3,
        )
        for name, step in steps.items()
    ]


def recipes() -> list[Recipe]:
    found = [
        _sklearn(name, build, classes=classes, opset=(13, 15, 17, 18, 21)[k % 5])
        for k, (name, build, classes) in enumerate([*_estimators(), *_scalers()])
    ]
    found.append(
        _sklearn("zipmap", linear_model.LogisticRegression, classes=3, opset=15, zipmap=True)
    )
    small = {"n_estimators": 5, "max_depth": 3}
    for classes, kind in ((3, "Classifier"), (2, "Classifier"), (0, "Regressor")):
        booster = getattr(xgboost, f"XGB{kind}")
        light = getattr(lightgbm, f"LGBM{kind}")
        found.append(
            _boosted(
                f"xgboost_{classes}",
                lambda b=booster: b(**small),
                convert_xgboost,
                classes=classes,
                target_opset=15,
            )
        )
        settings = {"zipmap": False} if classes else {}
        found.append(
            _boosted(
                f"lightgbm_{classes}",
                lambda b=light: b(**small, verbose=-1),
                convert_lightgbm,
                classes=classes,
                target_opset=15,
                **settings,
            )
        )
    return found
