"""Exports PyTorch modules by both exporters, with fixed and with open sizes."""

from __future__ import annotations

import contextlib
import inspect
import io
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from peers.samples import Made, Recipe, flatten

TORCHSCRIPT_OPSETS = (11, 12, 13, 14, 15, 16, 17, 18, 20)
DYNAMO_OPSETS = (18, 19, 20, 21, 22, 23)
logging.disable(logging.WARNING)
torch.backends.mha.set_fastpath_enabled(False)  # no exporter knows the fused layers


@dataclass(frozen=True)
class Architecture:
    """A module with example inputs; `open_axes` are the axes that dynamic variants leave open."""

    name: str
    build: Callable[[], tuple[torch.nn.Module, dict[str, torch.Tensor]]]
    open_axes: Sequence[int] = (0,)
    traits: Sequence[str] = ()
    least_opset: int = 0
    """The first operator set for which the TorchScript exporter can express the module."""


def _axes_of(tensor: torch.Tensor, open_axes: Sequence[int]) -> dict[int, str]:
    return {axis: f"d{axis}" for axis in open_axes if axis < tensor.dim()}


def _export(
    module: torch.nn.Module,
    inputs: dict[str, torch.Tensor],
    path: Path,
    *,
    dynamo: bool,
    opset: int,
    open_axes: Sequence[int],
) -> None:
    settings: dict[str, Any] = {}
    if open_axes and dynamo:
        sizes: dict[int, Any] = {axis: torch.export.Dim.DYNAMIC for axis in open_axes}
        shapes = [{axis: sizes[axis] for axis in _axes_of(t, open_axes)} for t in inputs.values()]
        settings["dynamic_shapes"] = tuple(shapes) if _is_positional(module, inputs) else None
    elif open_axes:
        settings["dynamic_axes"] = {n: _axes_of(t, open_axes) for n, t in inputs.items()}
    if dynamo:
        settings["external_data"] = False
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        torch.onnx.export(
            module,
            tuple(inputs.values()),
            str(path),
            dynamo=dynamo,
            opset_version=opset,
            input_names=list(inputs),
            **settings,
        )


def _is_positional(module: torch.nn.Module, inputs: dict[str, torch.Tensor]) -> bool:
    parameters = inspect.signature(module.forward).parameters.values()
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        raise ValueError("dynamic sizes of variadic inputs")
    return len(parameters) >= len(inputs)


def _kept_inputs(path: Path, inputs: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """The inputs that the exported file has: exporters drop those that are not used."""
    import onnx  # after torch: both bring a protobuf runtime

    graph = onnx.load(str(path), load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    names = [value.name for value in graph.input if value.name not in constants]
    return {name: inputs[name].numpy() for name in names}


def _recipe(architecture: Architecture, *, dynamo: bool, opset: int, dynamic: bool) -> Recipe:
    def make(folder: Path, _random: np.random.Generator) -> Made:
        torch.manual_seed(7)
        module, inputs = architecture.build()
        module.eval()
        with torch.no_grad():
            want = flatten(module(*inputs.values()))
            _export(
                module,
                inputs,
                folder / "model.onnx",
                dynamo=dynamo,
                opset=opset,
                open_axes=architecture.open_axes if dynamic else (),
            )
        traits = [*architecture.traits, *(["dynamic"] if dynamic else [])]
        return Made("model.onnx", _kept_inputs(folder / "model.onnx", inputs), traits, want)

    exporter = "dynamo" if dynamo else "script"
    sizes = "open" if dynamic else "fixed"
    return Recipe(f"{architecture.name}-{exporter}-{opset}-{sizes}", make)


def recipes_of(architectures: Sequence[Architecture]) -> list[Recipe]:
    """Both exporters of each architecture; operator sets and open sizes take turns."""
    found = []
    for number, architecture in enumerate(architectures):
        script = max(TORCHSCRIPT_OPSETS[number % len(TORCHSCRIPT_OPSETS)], architecture.least_opset)
        dynamo = DYNAMO_OPSETS[number % len(DYNAMO_OPSETS)]
        dynamic = bool(architecture.open_axes)
        found.append(
            _recipe(architecture, dynamo=False, opset=script, dynamic=dynamic and number % 2 == 0)
        )
        found.append(
            _recipe(architecture, dynamo=True, opset=dynamo, dynamic=dynamic and number % 2 == 1)
        )
    return found
