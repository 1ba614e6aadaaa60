"""Brevitas' QCDQ exports, and the dynamic quantization of recurrent layers by ONNX Runtime."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import brevitas.nn as qnn
import numpy as np
import torch
from brevitas.export import export_onnx_qcdq
from brevitas.quant import Int8ActPerTensorFloat, Int8WeightPerChannelFloat
from brevitas.quant import Int8WeightPerTensorFloat, ShiftedUint8ActPerTensorFloat
from onnxruntime import quantization
from torch import nn

from peers.samples import Made, Recipe, flatten

Build = Callable[[], tuple[nn.Module, tuple[int, ...]]]


def _stack(*layers: nn.Module) -> nn.Module:
    return nn.Sequential(*layers)


def _cnn(bits: int, **settings: Any) -> Build:
    def build() -> tuple[nn.Module, tuple[int, ...]]:
        weights = {"weight_bit_width": bits, **settings}
        net = _stack(
            qnn.QuantIdentity(act_quant=Int8ActPerTensorFloat),
            qnn.QuantConv2d(3, 8, 3, padding=1, bias=True, **weights),
            nn.BatchNorm2d(8),
            qnn.QuantReLU(bit_width=bits),
            qnn.QuantConv2d(8, 8, 3, padding=1, groups=8, bias=False, **weights),
            qnn.QuantReLU(bit_width=bits),
            nn.MaxPool2d(2),
            nn.Flatten(),
            qnn.QuantLinear(8 * 64, 10, bias=True, **weights),
        )
        return net, (2, 3, 16, 16)

    return build


def _mlp(**settings: Any) -> Build:
    def build() -> tuple[nn.Module, tuple[int, ...]]:
        net = _stack(
            qnn.QuantLinear(16, 32, bias=True, **settings),
            qnn.QuantSigmoid(),
            qnn.QuantLinear(32, 16, bias=False, **settings),
            qnn.QuantTanh(),
            qnn.QuantHardTanh(min_val=-0.5, max_val=0.5),
        )
        return net, (2, 16)

    return build


def _transposed() -> tuple[nn.Module, tuple[int, ...]]:
    net = _stack(
        qnn.QuantConvTranspose2d(3, 6, 3, stride=2, bias=True),
        qnn.QuantReLU(bit_width=6),
        qnn.QuantConv2d(6, 4, 1, bias=True),
    )
    return net, (1, 3, 8, 8)


BREVITAS: dict[str, Build] = {
    "cnn-8": _cnn(8),
    "cnn-4": _cnn(4),
    "cnn-channels": _cnn(8, weight_quant=Int8WeightPerChannelFloat),
    "cnn-channels-4": _cnn(4, weight_quant=Int8WeightPerChannelFloat),
    "mlp": _mlp(),
    "mlp-inputs": _mlp(
        input_quant=Int8ActPerTensorFloat,
        weight_quant=Int8WeightPerTensorFloat,
        output_quant=ShiftedUint8ActPerTensorFloat,
    ),
    "mlp-3": _mlp(weight_bit_width=3),
    "transposed": _transposed,
}


def _brevitas(name: str, opset: int) -> Recipe:
    def make(folder: Path, _random: np.random.Generator) -> Made:
        torch.manual_seed(3)
        net, shape = BREVITAS[name]()
        x = torch.randn(shape)
        for _ in range(3):  # statistics of the activations
            net(torch.randn(shape))
        net.eval()
        with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()):
            want = net(x)
            export_onnx_qcdq(
                net,
                args=x,
                export_path=str(folder / "model.onnx"),
                opset_version=opset,
                dynamo=False,
            )
        return Made("model.onnx", {"x": x.numpy()}, ["quantized"], flatten(want), 2e-2)

    return Recipe(f"brevitas-{name}-{opset}", make)


class _Recurrent(nn.Module):
    def __init__(self, layer: nn.Module, size: int) -> None:
        super().__init__()
        self.layer, self.head = layer, nn.Linear(size, 5)

    def forward(self, x: torch.Tensor) -> Any:
        return self.head(self.layer(x)[0])


def _recurrent(kind: str, **settings: Any) -> Build:
    def build() -> tuple[nn.Module, tuple[int, ...]]:
        layer = getattr(nn, kind)(12, 16, **settings)
        size = (settings.get("proj_size") or 16) * (2 if settings.get("bidirectional") else 1)
        return _Recurrent(layer, size), (9, 2, 12)

    return build


RECURRENT: dict[str, Build] = {
    "lstm": _recurrent("LSTM"),
    "lstm-two": _recurrent("LSTM", bidirectional=True),
    "lstm-deep": _recurrent("LSTM", num_layers=3),
    "lstm-bare": _recurrent("LSTM", bias=False),
    "gru": _recurrent("GRU", bidirectional=True),
    "rnn": _recurrent("RNN", nonlinearity="relu"),
}


def _dynamic(name: str, weights: str, *, channels: bool, open_length: bool) -> Recipe:
    def make(folder: Path, _random: np.random.Generator) -> Made:
        torch.manual_seed(4)
        net, shape = RECURRENT[name]()
        x = torch.randn(shape)
        axes = {"x": {0: "T", 1: "N"}} if open_length else None
        torch.onnx.export(
            net.eval(),
            (x,),
            str(folder / "float.onnx"),
            input_names=["x"],
            opset_version=17,
            dynamo=False,
            dynamic_axes=axes,
        )
        quantization.quantize_dynamic(
            str(folder / "float.onnx"),
            str(folder / "model.onnx"),
            per_channel=channels,
            weight_type=getattr(quantization.QuantType, weights),
        )
        (folder / "float.onnx").unlink()
        traits = ["contrib", "quantized", *(["dynamic"] if open_length else [])]
        return Made("model.onnx", {"x": x.numpy()}, traits)

    form = "channels" if channels else "tensor"
    return Recipe(f"ort-{name}-{weights}-{form}-{'open' if open_length else 'fixed'}", make)


def recipes() -> list[Recipe]:
    found = [_brevitas(name, 13 + k % 5) for k, name in enumerate(BREVITAS)]
    for k, name in enumerate(RECURRENT):
        weights = ("QInt8", "QUInt8")[k % 2]
        found.append(_dynamic(name, weights, channels=False, open_length=k % 3 == 0))
        found.append(_dynamic(name, "QInt8", channels=True, open_length=k % 3 != 0))
    return found
