"""PyTorch modules with random weights by litert-torch."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import litert_torch  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
import torchvision.models as tv  # noqa: E402
from ai_edge_litert.interpreter import Interpreter  # noqa: E402
from litert_torch.generative.custom_ops.dynamic_update_slice import (  # noqa: E402
    dynamic_update_slice,
)
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from peers.samples import Made, Recipe  # noqa: E402
from peers.tolerances import HALF  # noqa: E402

Arguments = tuple[torch.Tensor, ...]
Network = tuple[Callable[[], nn.Module], Callable[[], Arguments], dict[str, Any]]


class _Of(nn.Module):
    """A module of a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.function(*tensors)


class _Norm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class _Block(nn.Module):
    """A layer of a decoder with rotary positions; keys and values come from a cache."""

    def __init__(self, width: int, heads: int, length: int) -> None:
        super().__init__()
        self.heads, self.each, self.length = heads, width // heads, length
        self.before, self.after = _Norm(width), _Norm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, 2 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(2 * width, width, bias=False)
        rates = 1.0 / 10000.0 ** (torch.arange(0, self.each, 2).float() / self.each)
        self.register_buffer("rates", rates)

    def _turned(self, x: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
        angles = where.float()[:, None] * self.rates
        cos, sin = angles.cos()[None, :, None], angles.sin()[None, :, None]
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def forward(
        self, x: torch.Tensor, where: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> Arguments:
        batch, count, width = x.shape
        parts = self.qkv(self.before(x)).view(batch, count, 3, self.heads, self.each).unbind(2)
        query, key = self._turned(parts[0], where), self._turned(parts[1], where)
        zero = torch.zeros([], dtype=torch.int32)
        start = [zero, where[0].to(torch.int32), zero, zero]
        keys = dynamic_update_slice(keys, key, start)
        values = dynamic_update_slice(values, parts[2], start)
        mask = torch.where(torch.arange(self.length)[None] <= where[:, None], 0.0, -1e9)
        found = F.scaled_dot_product_attention(
            query.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2), mask
        )
        x = x + self.out(found.transpose(1, 2).reshape(batch, count, width))
        inner = self.after(x)
        return x + self.down(F.silu(self.gate(inner)) * self.up(inner)), keys, values


class _Decoder(nn.Module):
    def __init__(self, layers: int = 2, width: int = 32, length: int = 16) -> None:
        super().__init__()
        self.embedding = nn.Embedding(64, width)
        self.blocks = nn.ModuleList(_Block(width, 4, length) for _ in range(layers))
        self.norm = _Norm(width)

    def forward(self, tokens: torch.Tensor, where: torch.Tensor, *cache: torch.Tensor) -> Any:
        x, states = self.embedding(tokens), []
        for k, block in enumerate(self.blocks):
            x, *state = block(x, where, cache[2 * k], cache[2 * k + 1])
            states += state
        return F.linear(self.norm(x), self.embedding.weight), *states


def _decoder(count: int) -> Callable[[], Arguments]:
    def arguments() -> Arguments:
        cache = [torch.zeros(1, 16, 4, 8) for _ in range(4)]
        return (torch.randint(0, 64, (1, count)), torch.arange(count) + 2, *cache)

    return arguments


class _Text(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 24)
        layer = nn.TransformerEncoderLayer(24, 4, 48, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(24, 3)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(self.embedding(tokens)).mean(1))


class _Recurrent(nn.Module):
    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.layer, self.head = kind(6, 8, batch_first=True, num_layers=2), nn.Linear(8, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layer(x)[0])


class _Counter(nn.Module):
    """A buffer that each call changes."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x.sum(0))
        return self.total * 2.0


def _normal(*shapes: tuple[int, ...]) -> Callable[[], Arguments]:
    return lambda: tuple(torch.randn(shape) for shape in shapes)


def _picture(size: int = 64) -> Callable[[], Arguments]:
    return _normal((1, 3, size, size))


def _layers(*modules: nn.Module) -> Callable[[], nn.Module]:
    return lambda: nn.Sequential(*modules)


def _functions() -> dict[str, Network]:
    """Functions of PyTorch that litert-torch lowers in ways of its own."""
    pictures: dict[str, Any] = {
        "bilinear": lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"),
        "bilinear_corners": lambda x: F.interpolate(
            x, (13, 9), mode="bilinear", align_corners=True
        ),
        "nearest": lambda x: F.interpolate(x, (12, 20), mode="nearest"),
        "bicubic": lambda x: F.interpolate(x, (12, 11), mode="bicubic"),
        "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2),
        "unfold": lambda x: F.unfold(x, 3, padding=1),
        "pads": lambda x: (F.pad(x, (1, 2, 2, 1), "reflect"), F.pad(x, (1, 1), value=3.0)),
        "average": lambda x: (F.avg_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 2, ceil_mode=True)),
        "largest": lambda x: F.max_pool2d(x, 3, 2, 1),
        "adaptive": lambda x: F.adaptive_avg_pool2d(x, (3, 2)),
        "group_norm": lambda x: F.group_norm(x, 2),
        "instance_norm": lambda x: F.instance_norm(x),
        "roll": lambda x: torch.roll(x, (1, 2), (2, 3)),
        "flip": lambda x: (x.flip(2, 3), x.transpose(2, 3)),
        "grid": lambda x: F.grid_sample(x, x[:, :2].permute(0, 2, 3, 1), align_corners=False),
    }
    matrices: dict[str, Any] = {
        "activations": lambda x: tuple(
            f(x)
            for f in (
                F.gelu, F.silu, F.mish, F.hardswish, F.hardsigmoid, F.elu, F.selu, F.celu,
                F.softplus, F.softsign, F.logsigmoid, F.leaky_relu, F.hardtanh, F.tanhshrink,
            )
        ),
        "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
        "order": lambda x: (x.sort(1).values, x.argsort(1), x.topk(3, 1).indices, x.argmin(0)),
        "sums": lambda x: (x.cumsum(1), x.prod(0), x.std(1), x.var(0), x.logsumexp(1), x.norm()),
        "means": lambda x: (x.mean(), x.amax(0), x.amin(1), x.any(1), (x > 0).all(0)),
        "roots": lambda x: (x.abs().sqrt(), x.abs().rsqrt(), x.exp(), x.abs().log1p(), x.expm1()),
        "angles": lambda x: (x.sin(), x.cos(), x.tanh().atan(), x.tanh().asin(), x.erf()),
        "rounded": lambda x: (x.round(), x.floor(), x.ceil(), x.trunc(), x.frac(), x.sign()),
        "remainders": lambda x: (x.fmod(0.7), x.remainder(-0.7), x.div(0.3, rounding_mode="floor")),
        "compared": lambda x: (x > 0, x.clamp(-0.5, 0.5), torch.where(x > 0, x, -x), x.isnan()),
        "triangles": lambda x: (x.tril(), x.triu(1), x.diagonal(), torch.eye(6) + x),
        "shapes": lambda x: (x[:, ::2], x[1:-1, None], x.expand(2, 6, 6), x.repeat(2, 1)),
        "pieces": lambda x: (*x.split([1, 5]), *x.chunk(3, 1), torch.stack([x, x], 1)),
        "filled": lambda x: (x.masked_fill(x > 0, -1.0), torch.full_like(x, 2.0) + x),
        "indexed": lambda x: (x[[0, 2, 5]], x.index_select(1, torch.tensor([3, 0])), x[..., -1]),
        "integers": lambda x: ((x * 9).int() // 4, (x * 9).int() % 4, (x * 9).long() << 2),
        "bits": lambda x: ((x * 9).int() & 5, (x * 9).int() | 2, (x * 9).int() ^ 3, ~(x > 0)),
        "distances": lambda x: (torch.cdist(x, x), F.cosine_similarity(x, x + 1.0)),
        "products": lambda x: (x @ x.T, torch.einsum("ij,kj->ik", x, x), torch.outer(x[0], x[1])),
        "normalized": lambda x: (F.normalize(x), F.layer_norm(x, (6,)), F.rms_norm(x, (6,))),
        "scattered": lambda x: torch.zeros(6, 6).scatter_add(0, (x > 0).long(), x),
        "gathered": lambda x: x.gather(1, (x > 0).long()),
        "nonzero_sum": lambda x: (x > 0).sum(1),
        "one_hot": lambda x: F.one_hot((x[0] > 0).long(), 4),
        "half": lambda x: (x.half() * 2).float(),
        "nan": lambda x: torch.nan_to_num(x / (x > 0).float()),
        "meshes": lambda x: torch.meshgrid(x[0], x[1], indexing="ij"),
        "pow": lambda x: (x**2, x**3, x.abs() ** 0.5, 2.0**x, x.abs().pow(x)),
        "logs": lambda x: (x.softmax(1), x.log_softmax(0), x.abs().log(), x.sigmoid()),
    }
    return {
        **{f"f_{n}": (lambda f=f: _Of(f), _normal((1, 4, 8, 10)), {}) for n, f in pictures.items()},
        **{f"f_{n}": (lambda f=f: _Of(f), _normal((6, 6)), {}) for n, f in matrices.items()},
    }


def _networks() -> dict[str, Network]:
    return {
        "resnet18": (lambda: tv.resnet18(num_classes=10), _picture(), {}),
        "mobilenet_v2": (lambda: tv.mobilenet_v2(num_classes=10), _picture(), {}),
        "mobilenet_v3": (lambda: tv.mobilenet_v3_small(num_classes=10), _picture(), {}),
        "shufflenet": (lambda: tv.shufflenet_v2_x0_5(num_classes=10), _picture(), {}),
        "squeezenet": (lambda: tv.squeezenet1_1(num_classes=10), _picture(), {}),
        "mnasnet": (lambda: tv.mnasnet0_5(num_classes=10), _picture(), {}),
        "efficientnet": (lambda: tv.efficientnet_b0(num_classes=10), _picture(), {}),
        "regnet": (lambda: tv.regnet_y_400mf(num_classes=10), _picture(), {}),
        "vit": (lambda: tv.VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=5), _picture(32), {}),
        "swin": (
            lambda: tv.SwinTransformer([4, 4], 16, [1, 1], [2, 4], [4, 4], num_classes=5),
            _picture(32),
            {},
        ),
        "text": (_Text, lambda: (torch.randint(0, 50, (1, 7)),), {}),
        "text_x64": (_Text, lambda: (torch.randint(0, 50, (1, 7)),), {"enable_x64": True}),
        "decode": (_Decoder, _decoder(1), {}),
        "prefill": (_Decoder, _decoder(5), {}),
        "lstm": (lambda: _Recurrent(nn.LSTM), _normal((1, 5, 6)), {}),
        "gru": (lambda: _Recurrent(nn.GRU), _normal((1, 5, 6)), {}),
        "rnn": (lambda: _Recurrent(nn.RNN), _normal((1, 5, 6)), {}),
        "counter": (_Counter, _normal((2, 3)), {}),
        "conv1d": (
            _layers(nn.Conv1d(4, 6, 3, 2, 1), nn.BatchNorm1d(6), nn.ReLU6(), nn.MaxPool1d(2)),
            _normal((1, 4, 24)),
            {},
        ),
        "conv3d": (
            _layers(nn.Conv3d(2, 4, 3, padding=1), nn.ReLU(), nn.AvgPool3d(2)),
            _normal((1, 2, 6, 8, 8)),
            {},
        ),
        "transposed": (
            _layers(nn.ConvTranspose2d(4, 6, 3, 2, 1), nn.PReLU(6), nn.ConvTranspose2d(6, 3, 4, 2)),
            _normal((1, 4, 6, 5)),
            {},
        ),
        "grouped": (
            _layers(nn.Conv2d(8, 8, 3, groups=4), nn.Conv2d(8, 16, 3, 2, groups=8, dilation=2)),
            _normal((1, 8, 15, 13)),
            {},
        ),
        "open_batch": (
            _layers(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 4)),
            _normal((2, 3, 8, 8)),
            {"dynamic_shapes": ({0: torch.export.Dim("batch", max=64)},)},
        ),
        "attention": (
            lambda: _Of(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)),
            _normal((1, 2, 5, 8), (1, 2, 5, 8), (1, 2, 5, 8)),
            {},
        ),
    }


def _inputs(data: bytes, arrays: list[np.ndarray]) -> dict[str, np.ndarray]:
    """The arguments for the file's inputs, which are numbered in their names."""
    ports = Interpreter(model_content=data).get_input_details()

    def position(port: Any) -> int:
        return int(port["name"].split(":")[0].rsplit("_", 1)[-1])

    return {p["name"]: arrays[position(p)].astype(p["dtype"], copy=False) for p in ports}


def _recipe(name: str, network: Network, last: bool = False) -> Recipe:
    build, arguments, settings = network

    def make(folder: Path, random: np.random.Generator) -> Made:
        torch.manual_seed(int(random.integers(1 << 30)))
        module, sample = build().eval(), arguments()
        if last:
            module = litert_torch.to_channel_last_io(module, args=[0])
            sample = tuple(x.permute(0, 2, 3, 1) for x in sample)
        litert_torch.convert(module, sample, **settings).export(str(folder / "model.tflite"))
        data = (folder / "model.tflite").read_bytes()
        traits = ["dynamic"] if "dynamic_shapes" in settings else []
        rtol = HALF.rtol if name == "f_half" else None
        return Made("model.tflite", _inputs(data, [x.numpy() for x in sample]), traits, rtol=rtol)

    return Recipe(name, make)


def recipes() -> list[Recipe]:
    networks = _networks()
    last = [_recipe(f"{n}-last", networks[n], True) for n in ("resnet18", "mobilenet_v3")]
    named = {**networks, **_functions()}
    return [*(_recipe(name, network) for name, network in named.items()), *last]
