"""Small PyTorch modules: layers and the idioms that exporters write for functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sets.torch_export import Architecture

PICTURE = (2, 3, 16, 16)


class _Call(nn.Module):
    """A function of up to three tensors as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function


class _Call1(_Call):
    def forward(self, a: Tensor) -> Any:
        return self.function(a)


class _Call2(_Call):
    def forward(self, a: Tensor, b: Tensor) -> Any:
        return self.function(a, b)


class _Recurrent(nn.Module):
    """A recurrent layer that returns its sequence and last states."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Any:
        sequence, states = self.layer(x)
        return (sequence, *states) if isinstance(states, tuple) else (sequence, states)


class _CellLoop(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(5, 6)

    def forward(self, x: Tensor) -> Tensor:
        state = torch.zeros(x.shape[0], 6)
        for step in range(4):
            state = self.cell(x[:, step], state)
        return state


class _UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.deep = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.SiLU())
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.head = nn.Conv2d(16, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        skip = self.down(x)
        return torch.sigmoid(self.head(torch.cat([skip, self.up(self.deep(skip))], dim=1)))


class _Wavenet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(4, 8, 2, dilation=2**k) for k in range(3))
        self.mix = nn.ModuleList(nn.Conv1d(4, 4, 1) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        for k, (layer, mix) in enumerate(zip(self.layers, self.mix, strict=False)):
            a, b = layer(F.pad(x, (2**k, 0))).chunk(2, dim=1)
            x = x + mix(torch.tanh(a) * torch.sigmoid(b))
        return x


class _Recommender(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.users, self.items = nn.Embedding(50, 8), nn.Embedding(70, 8)
        self.top = nn.Sequential(nn.Linear(17, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, user: Tensor, item: Tensor) -> Tensor:
        a, b = self.users(user), self.items(item)
        return self.top(torch.cat([a, b, (a * b).sum(-1, keepdim=True)], dim=-1)).squeeze(-1)


class _Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x: Tensor) -> Any:
        return self.attention(x, x, x, average_attn_weights=False)


class _Causal(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 48)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            t.reshape(x.shape[0], -1, 4, 4).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)
        )
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)


class _Norms(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            [
                nn.GroupNorm(2, 4),
                nn.InstanceNorm2d(4, affine=True),
                nn.BatchNorm2d(4),
                nn.LayerNorm([4, 6, 6]),
            ]
        )

    def forward(self, x: Tensor) -> Any:
        return tuple(layer(x) for layer in self.layers)


class _Activations(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        names = (
            "ELU",
            "GELU",
            "SELU",
            "CELU",
            "Mish",
            "SiLU",
            "Hardswish",
            "Hardsigmoid",
            "Softplus",
            "Softsign",
            "LeakyReLU",
            "PReLU",
            "ReLU6",
            "LogSigmoid",
            "Tanhshrink",
            "Softshrink",
            "Hardshrink",
            "Threshold",
            "Hardtanh",
        )
        arguments: dict[str, Sequence[Any]] = {"Threshold": (0.0, 0.0)}
        self.layers = nn.ModuleList(getattr(nn, n)(*arguments.get(n, ())) for n in names)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([layer(x) for layer in self.layers], dim=1)


def _interpolations(x: Tensor) -> Any:
    return (
        F.interpolate(x, scale_factor=2.0, mode="nearest"),
        F.interpolate(x, size=(11, 7), mode="bilinear", align_corners=False),
        F.interpolate(x, size=(20, 24), mode="bilinear", align_corners=True),
        F.interpolate(x, scale_factor=1.5, mode="bicubic"),
    )


def _pads(x: Tensor) -> Any:
    return (
        F.pad(x, (1, 2, 3, 0)),
        F.pad(x, (2, 2, 1, 1), mode="reflect"),
        F.pad(x, (1, 0, 0, 3), mode="replicate"),
        F.pad(x, (-1, 2), value=1.5),
    )


def _reductions(x: Tensor) -> Any:
    return (
        x.mean((2, 3)),
        x.amax(1),
        x.prod(2),
        x.norm(dim=1),
        torch.logsumexp(x, 3),
        x.std(1),
        x.argmax(1),
        x.cumsum(2),
        x.topk(3, dim=3)[0],
        x.var((2, 3), unbiased=False),
    )


def _indexing(x: Tensor) -> Any:
    filled = x.clone()
    filled[:, 1, ::2] = 0.5
    rows = torch.tensor([0, 2, 1])
    return filled, x[:, rows], x[..., -3:].flip(-1), torch.roll(x, 2, 3), x.unfold(2, 4, 3)


def _scatter(x: Tensor, index: Tensor) -> Any:
    base = torch.zeros_like(x)
    return (base.scatter(1, index, x), x.gather(1, index), base.scatter_add(1, index, x))


def _logic(a: Tensor, b: Tensor) -> Any:
    return (
        torch.where(a > b, a, b),
        (a > 0.5) & (b < 0.5),
        a.masked_fill(b > 0.3, -1e9).softmax(-1),
        torch.logical_xor(a > 0.2, b > 0.7),
        a.clamp(0.1, 0.6),
        torch.maximum(a, b),
    )


def _arithmetic(a: Tensor, b: Tensor) -> Any:
    return (
        a // (b + 0.5),
        torch.fmod(a, b + 0.1),
        torch.remainder(-a, b + 0.1),
        a.round(),
        a**2.5,
        torch.atan2(a, b),
        torch.erf(a),
        torch.exp(a) - 1,
        torch.log1p(b),
        torch.trunc(a * 3),
    )


def _integers(a: Tensor, b: Tensor) -> Any:
    return (
        a // b,
        a % b,
        a * b,
        torch.div(a, b, rounding_mode="trunc"),
        (a == b).to(torch.int32).sum(0),
        a.float() / b,
    )


def _einsums(a: Tensor, b: Tensor) -> Any:
    return (
        torch.einsum("bij,bkj->bik", a, b),
        torch.einsum("bij,bij->b", a, b),
        torch.baddbmm(a @ a.mT, b, b.mT),
        torch.cdist(a, b),
    )


def _window(x: Tensor) -> Any:
    columns = F.unfold(x, 3, padding=1, stride=2)
    return columns, F.fold(columns, (16, 16), 3, padding=1, stride=2)


def _grid(x: Tensor, theta: Tensor) -> Any:
    grid = F.affine_grid(theta, [2, 3, 8, 8], align_corners=False)
    return (
        F.grid_sample(x, grid, align_corners=False),
        F.grid_sample(x, grid, mode="nearest", padding_mode="border", align_corners=True),
    )


def _nms(boxes: Tensor, scores: Tensor) -> Tensor:
    import torchvision

    corners = torch.cat([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], dim=1)
    return torchvision.ops.nms(corners, scores, 0.4)


def _roi(x: Tensor, boxes: Tensor) -> Tensor:
    import torchvision

    return torchvision.ops.roi_align(x, [boxes[:2], boxes[2:]], 4, 0.5, 2, aligned=True)


def _spectrum(x: Tensor) -> Tensor:
    window = torch.hann_window(32)
    return torch.stft(x, 32, 16, window=window, return_complex=False, center=True)


def _layer(layer: nn.Module, *shape: int) -> Callable[[], tuple[nn.Module, dict[str, Tensor]]]:
    return lambda: (layer, {"x": torch.randn(*shape)})


def _function(function: Callable[..., Any], *tensors: Tensor) -> Any:
    names = ("a", "b", "c")[: len(tensors)]
    kind = _Call1 if len(tensors) == 1 else _Call2
    return lambda: (kind(function), dict(zip(names, tensors, strict=False)))


def _module(build: Callable[[], nn.Module], **tensors: Tensor) -> Any:
    return lambda: (build(), tensors)


def _whole(low: int, high: int, *shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
    return torch.randint(low, high, shape, dtype=dtype)


def _layers() -> list[Architecture]:
    encoder = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, dropout=0.0)
    first: list[tuple[str, Any]] = [
        ("mlp", _layer(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), 2, 8)),
        ("conv1d", _layer(nn.Conv1d(4, 6, 5, stride=2, padding=2, groups=2), 2, 4, 20)),
        ("conv3d", _layer(nn.Sequential(nn.Conv3d(2, 4, 3), nn.MaxPool3d(2)), 2, 2, 8, 8, 8)),
        ("depthwise", _layer(nn.Conv2d(3, 6, 3, dilation=2, groups=3, padding="same"), *PICTURE)),
        ("deconv", _layer(nn.ConvTranspose2d(3, 4, 3, 2, 1, output_padding=1), *PICTURE)),
        ("deconv_groups", _layer(nn.ConvTranspose2d(4, 6, 4, 2, 1, groups=2), 2, 4, 9, 9)),
        ("deconv1d", _layer(nn.ConvTranspose1d(3, 4, 5, 3), 2, 3, 10)),
        (
            "pools",
            _layer(
                nn.Sequential(
                    nn.MaxPool2d(3, 2, 1, ceil_mode=True),
                    nn.AvgPool2d(2, 2, count_include_pad=False),
                    nn.AdaptiveAvgPool2d(2),
                ),
                *PICTURE,
            ),
        ),
        (
            "pixel_shuffle",
            _layer(
                nn.Sequential(nn.Conv2d(3, 8, 3), nn.PixelShuffle(2), nn.PixelUnshuffle(7)),
                *PICTURE,
            ),
        ),
        ("norms", _module(_Norms, x=torch.randn(2, 4, 6, 6))),
        ("activations", _module(_Activations, x=torch.randn(2, 5))),
        ("unet", _module(_UNet, x=torch.rand(*PICTURE))),
        ("wavenet", _module(_Wavenet, x=torch.randn(2, 4, 24))),
        ("recommender", _module(_Recommender, user=_whole(0, 50, 3), item=_whole(0, 70, 3))),
        ("attention", _module(_Attention, x=torch.randn(2, 5, 16))),
        ("causal", _module(_Causal, x=torch.randn(2, 6, 16))),
        (
            "encoder",
            _layer(nn.TransformerEncoder(encoder, 2, enable_nested_tensor=False), 2, 5, 16),
        ),
        ("cell_loop", _module(_CellLoop, x=torch.randn(2, 4, 5))),
    ]
    found = [
        Architecture(name, build, (0,), ("batch",), 14 if name == "causal" else 0)
        for name, build in first
    ]
    layers = {
        "lstm": nn.LSTM(5, 6, batch_first=True),
        "bilstm": nn.LSTM(5, 6, 2, bidirectional=True),
        "gru": nn.GRU(5, 6, bidirectional=True),
        "rnn": nn.RNN(5, 6, nonlinearity="relu"),
    }
    for name, layer in layers.items():
        found.append(
            Architecture(
                name, _module(lambda layer=layer: _Recurrent(layer), x=torch.randn(4, 3, 5)), (0, 1)
            )
        )
    return found


def _functions() -> list[Architecture]:
    rows = torch.rand(4, 6), torch.rand(4, 6)
    whole = _whole(1, 9, 4, 3, dtype=torch.int32), _whole(1, 5, 4, 3, dtype=torch.int32)
    theta = torch.eye(2, 3).repeat(2, 1, 1) * 0.8
    least = {"einsum": 12, "unfold": 18, "grid_sample": 20, "stft": 17}
    pairs: list[tuple[str, Any, Sequence[int]]] = [
        ("interpolate", _function(_interpolations, torch.rand(1, 2, 8, 9)), (0,)),
        ("pad", _function(_pads, torch.rand(1, 2, 8, 9)), (0, 2)),
        ("reduce", _function(_reductions, torch.rand(2, 3, 4, 5)), (0,)),
        ("index", _function(_indexing, torch.rand(2, 3, 12, 8)), (0,)),
        ("scatter", _function(_scatter, torch.rand(3, 5), _whole(0, 5, 3, 5)), (0,)),
        ("logic", _function(_logic, *rows), (0,)),
        ("arithmetic", _function(_arithmetic, *rows), (0, 1)),
        ("integers", _function(_integers, *whole), (0,)),
        ("einsum", _function(_einsums, torch.rand(2, 3, 4), torch.rand(2, 3, 4)), (0,)),
        ("unfold", _function(_window, torch.rand(1, 2, 16, 16)), ()),
        ("grid_sample", _function(_grid, torch.rand(*PICTURE), theta), ()),
        ("nms", _function(_nms, torch.rand(20, 4), torch.rand(20)), (0,)),
        (
            "roi_align",
            _function(
                _roi,
                torch.rand(2, 3, 16, 16),
                torch.tensor([[1.0, 2, 9, 8], [0, 0, 15, 15], [4, 4, 20, 25], [3, 1, 5, 9]]),
            ),
            (),
        ),
        ("stft", _function(_spectrum, torch.rand(1, 128)), ()),
    ]
    return [
        Architecture(name, build, axes, least_opset=least.get(name, 0))
        for name, build, axes in pairs
    ]


def architectures() -> list[Architecture]:
    torch.manual_seed(3)
    return [*_layers(), *_functions()]
