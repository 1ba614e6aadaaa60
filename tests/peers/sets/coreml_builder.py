"""Core ML NeuralNetwork models that coremltools' builder writes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

for _framework in ("tensorflow", "torch", "sklearn", "xgboost"):
    sys.modules[_framework] = None  # type: ignore[assignment]

import coremltools  # noqa: E402
from coremltools.models import datatypes, neural_network  # noqa: E402

from peers.samples import Made, Recipe  # noqa: E402

Builder = neural_network.NeuralNetworkBuilder
Layers = Callable[[Builder, np.random.Generator], None]


def _recipe(name: str, shape: tuple[int, ...], add: Layers, rank5: bool = False) -> Recipe:
    def make(folder: Path, random: np.random.Generator) -> Made:
        builder = Builder(
            [("x", datatypes.Array(*shape))], [("y", None)], disable_rank5_shape_mapping=not rank5
        )
        add(builder, random)
        # The builder does not raise the version for the layers of later ones.
        builder.spec.specificationVersion = max(builder.spec.specificationVersion, 4)
        coremltools.utils.save_spec(builder.spec, str(folder / "model.mlmodel"))
        x = np.abs(random.normal(size=shape)).astype(np.float32) + np.float32(0.1)
        return Made("model.mlmodel", {"x": x})

    return Recipe(name, make)


def _convolution(builder: Builder, random: np.random.Generator) -> None:
    builder.add_convolution(
        "c",
        3,
        8,
        3,
        3,
        2,
        2,
        "same",
        1,
        random.normal(size=(3, 3, 3, 8)),
        random.normal(size=8),
        True,
        input_name="x",
        output_name="a",
    )
    builder.add_batchnorm(
        "n", 8, *np.abs(random.normal(size=(4, 8))), input_name="a", output_name="b"
    )
    builder.add_activation("r", "LEAKYRELU", "b", "d", 0.1)
    builder.add_pooling("p", 2, 2, 2, 2, "MAX", "VALID", "d", "y")


def _deconvolution(builder: Builder, random: np.random.Generator) -> None:
    builder.add_convolution(
        "c",
        3,
        4,
        3,
        3,
        2,
        2,
        "valid",
        1,
        random.normal(size=(3, 3, 3, 4)),
        None,
        False,
        is_deconv=True,
        input_name="x",
        output_name="y",
    )


def _recurrent(builder: Builder, random: np.random.Generator) -> None:
    gates = [random.normal(size=(4, 5)) for _ in range(4)]
    states = [random.normal(size=(4, 4)) for _ in range(4)]
    builder.add_unilstm(
        "l",
        states,
        gates,
        list(random.normal(size=(4, 4))),
        None,
        None,
        4,
        5,
        ["x"],
        ["y", "h", "c"],
        output_all=True,
    )


def _gru(builder: Builder, random: np.random.Generator) -> None:
    builder.add_gru(
        "g",
        list(random.normal(size=(3, 4, 4))),
        list(random.normal(size=(3, 4, 5))),
        None,
        4,
        5,
        ["x"],
        ["y", "h"],
        output_all=True,
    )


def _dense(builder: Builder, random: np.random.Generator) -> None:
    builder.add_inner_product(
        "d", random.normal(size=(7, 6)), random.normal(size=7), 6, 7, True, "x", "a"
    )
    builder.add_softmax_nd("s", "a", "y", axis=-1)


def _branch(builder: Builder, _random: np.random.Generator) -> None:
    builder.add_reduce_sum("r", "x", "t", axes=[0, 1], keepdims=False)
    builder.add_greater_than("g", ["t"], "c", alpha=1.0)
    layer = builder.add_branch("b", "c")
    positive = Builder(nn_spec=layer.branch.ifBranch, disable_rank5_shape_mapping=True)
    positive.add_activation("p", "RELU", "x", "y")
    negative = Builder(nn_spec=layer.branch.elseBranch, disable_rank5_shape_mapping=True)
    negative.add_activation("n", "TANH", "x", "y")


def _loop(builder: Builder, _random: np.random.Generator) -> None:
    builder.add_copy("i", "x", "y")
    layer = builder.add_loop("l", max_iterations=3)
    body = Builder(nn_spec=layer.loop.bodyNetwork, disable_rank5_shape_mapping=True)
    body.add_elementwise("a", ["y", "x"], "z", "ADD")
    body.add_copy("c", "z", "y")


def _unary(kind: str, **settings: float) -> Layers:
    return lambda builder, _random: builder.add_unary("u", "x", "y", kind, **settings)


def _activation(kind: str, *settings: float) -> Layers:
    parameters = settings[0] if len(settings) == 1 else list(settings) or None
    return lambda builder, _random: builder.add_activation("a", kind, "x", "y", parameters)


def _method(name: str, *positional: object, **settings: object) -> Layers:
    def add(builder: Builder, _random: np.random.Generator) -> None:
        getattr(builder, f"add_{name}")("layer", *positional, **settings)

    return add


PLAIN: dict[str, tuple[tuple[int, ...], Layers]] = {
    "dense": ((2, 6), _dense),
    "branch": ((2, 3), _branch),
    "loop": ((2, 3), _loop),
    "transpose": ((2, 3, 4), _method("transpose", [2, 0, 1], "x", "y")),
    "slice": (
        (4, 6),
        _method("slice_static", "x", "y", [0, 1], [4, 6], [2, 2], [True, False], [True, True]),
    ),
    "split": ((4, 6), _method("reduce_max", "x", "y", axes=[1])),
    "concat": ((2, 3), _method("concat_nd", ["x", "x"], "y", axis=1)),
    "stack": ((2, 3), _method("stack", ["x", "x"], "y", axis=1)),
    "tile": ((2, 3), _method("tile", "x", "y", [2, 1])),
    "topk": ((3, 8), _method("topk", ["x"], ["y", "i"], k=3, axis=1)),
    "argmax": ((3, 8), _method("argmax", "x", "y", axis=1, keepdims=False)),
    "cumsum": ((3, 4), _method("cumsum", ["x"], "y", axis=1, reverse=True, exclusive=True)),
    "where": ((3, 4), _method("clip", "x", "y", 0.3, 0.9)),
    "gather": ((5, 4), _method("reverse", "x", "y", reverse_dim=[True, False])),
    "pad": (
        (2, 3),
        _method(
            "constant_pad",
            "x",
            "y",
            value=2.0,
            pad_to_given_output_size_mode=False,
            pad_amounts=[0, 1, 2, 0],
        ),
    ),
    "reduce_mean": ((2, 3, 4), _method("reduce_mean", "x", "y", axes=[1], keepdims=True)),
    "reduce_prod": ((2, 3, 4), _method("reduce_prod", "x", "y", axes=[0, 2], keepdims=False)),
    "reduce_logsumexp": ((2, 3), _method("reduce_logsumexp", "x", "y", axes=[1])),
    "layer_norm": (
        (2, 3, 4),
        _method("layer_normalization", "x", "y", [4], np.ones(4), np.ones(4)),
    ),
    "batched_mat_mul": ((2, 3, 3), _method("batched_mat_mul", ["x", "x"], "y", transpose_b=True)),
    "gelu": ((2, 3), _method("gelu", "x", "y", "EXACT")),
    "erf": ((2, 3), _method("erf", "x", "y")),
    "squeeze": ((3, 1), _method("squeeze", "x", "y", axes=[1])),
    "expand": ((2, 3), _method("expand_dims", "x", "y", axes=[0, 3])),
    "fill_like": ((2, 3), _method("fill_like", "x", "y", value=3.0)),
    "band": ((4, 4), _method("matrix_band_part", "x", "y", num_lower=1, num_upper=0)),
    "upper": ((4, 4), _method("upper_triangular", "x", "y", k=1)),
    "sin": ((2, 3), _method("sin", "x", "y")),
    "round": ((2, 3), _method("round", "x", "y")),
    "shape": ((2, 3), _method("get_shape", "x", "y")),
    "flatten_to_2d": ((2, 3, 4), _method("flatten_to_2d", "x", "y", axis=2)),
    "sliding": ((2, 8), _method("sliding_windows", "x", "y", 1, 3, 2)),
}

PICTURES: dict[str, Layers] = {
    "convolution": _convolution,
    "deconvolution": _deconvolution,
    "lrn": _method("lrn", "x", "y", 0.1, 0.7, 3, 1.0),
    "mvn": _method("mvn", "x", "y", across_channels=False),
    "l2": _method("l2_normalize", "x", "y"),
    "softmax": _method("softmax", "x", "y"),
    "upsample": _method("upsample", 2, 2, "x", "y", "BILINEAR"),
    "resize": _method("resize_bilinear", "x", "y", 9, 7, "ALIGN_ENDPOINTS_MODE"),
    "crop": _method("crop", 1, 2, 0, 1, [0, 0], ["x"], "y"),
    "padding": _method(
        "padding", 1, 2, 0, 1, input_name="x", output_name="y", padding_type="reflection"
    ),
    "permute": _method("permute", (0, 2, 3, 1), "x", "y"),
    "flatten": _method("flatten", 0, "x", "y"),
    "average": _method("pooling", 3, 3, 2, 2, "AVERAGE", "SAME", "x", "y", exclude_pad_area=False),
    "global": _method("pooling", 1, 1, 1, 1, "L2", "VALID", "x", "y", is_global=True),
    "depth": _method("reorganize_data", "x", "y", "SPACE_TO_DEPTH", 2),
}

UNARY = {
    "sqrt": {},
    "rsqrt": {"epsilon": 0.01},
    "inverse": {"epsilon": 0.1},
    "power": {"alpha": 1.5},
    "exp": {},
    "log": {"epsilon": 0.01},
    "abs": {},
    "threshold": {"alpha": 0.5},
}
ACTIVATIONS = {
    "SIGMOID": (),
    "ELU": (0.7,),
    "LINEAR": (2.0, 0.5),
    "SCALED_TANH": (1.5, 0.6),
    "SIGMOID_HARD": (0.3, 0.4),
    "SOFTPLUS": (),
    "SOFTSIGN": (),
    "THRESHOLDEDRELU": (0.4,),
}


def recipes() -> list[Recipe]:
    found = [_recipe(name, shape, add) for name, (shape, add) in PLAIN.items()]
    found += [
        _recipe(f"picture_{name}", (3, 12, 12), add, rank5=True) for name, add in PICTURES.items()
    ]
    found += [
        _recipe(f"unary_{name}", (2, 3), _unary(name, **settings))
        for name, settings in UNARY.items()
    ]
    found += [
        _recipe(f"activation_{name.lower()}", (3, 4, 4), _activation(name, *settings), True)
        for name, settings in ACTIVATIONS.items()
    ]
    found += [_recipe("lstm", (5,), _recurrent, True), _recipe("gru", (5,), _gru, True)]
    return found
