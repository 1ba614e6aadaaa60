"""PyTorch modules and small torchvision networks with random weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torchvision
from torch import nn
from torchvision.models import (
    detection,
    optical_flow,
    segmentation,
    swin_transformer,
    vision_transformer,
)
from torchvision.models.resnet import BasicBlock, Bottleneck, ResNet

from peers.samples import Recipe
from sets import torch_idioms
from sets.torch_export import Architecture, recipes_of

Build = Callable[[], nn.Module]


def _picture(
    name: str, build: Build, size: int = 64, channels: int = 3, *, dynamic: bool = True
) -> Architecture:
    def make() -> tuple[nn.Module, dict[str, torch.Tensor]]:
        return build(), {"image": torch.rand(2, channels, size, size)}

    return Architecture(name, make, (0,) if dynamic else (), ("batch", "picture"))


def _resnet(block: Any, **settings: Any) -> Build:
    def build() -> nn.Module:
        net = ResNet(block, [1, 1, 1, 1], num_classes=10, **settings)
        return nn.Sequential(
            net.conv1,
            net.bn1,
            net.relu,
            net.maxpool,
            net.layer1,
            net.layer2,
            net.avgpool,
            nn.Flatten(),
        )

    return build


class _Tuple(nn.Module):
    """The tensors of a network that returns dictionaries or lists of them."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, image: torch.Tensor) -> Any:
        found = self.net(image)
        if isinstance(found, dict):
            return tuple(found.values())
        return found


class _Detector(nn.Module):
    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, image: torch.Tensor) -> Any:
        found = self.net([image[0]])[0]
        return found["boxes"], found["scores"], found["labels"]


def _detector(name: str, build: Build, size: int) -> Architecture:
    def make() -> tuple[nn.Module, dict[str, torch.Tensor]]:
        return _Detector(build()), {"image": torch.rand(1, 3, size, size)}

    return Architecture(name, make, ())


def _raft() -> tuple[nn.Module, dict[str, torch.Tensor]]:
    class Flow(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = optical_flow.raft_small(weights=None)

        def forward(self, first: torch.Tensor, second: torch.Tensor) -> Any:
            return self.net(first, second, num_flow_updates=2)[-1]

    shape = (1, 3, 128, 128)
    return Flow(), {"first": torch.rand(shape), "second": torch.rand(shape)}


def _clip(
    build: Build, frames: int = 4, size: int = 32
) -> Callable[[], tuple[nn.Module, dict[str, torch.Tensor]]]:
    return lambda: (build(), {"clip": torch.rand(1, 3, frames, size, size)})


def _vision_transformer() -> nn.Module:
    return vision_transformer.VisionTransformer(32, 8, 2, 2, 32, 64, num_classes=10)


def _swin(block: Any, merge: Any) -> Build:
    return lambda: swin_transformer.SwinTransformer(
        [4, 4], 24, [2, 2], [2, 4], [4, 4], num_classes=10, block=block, downsample_layer=merge
    )


def _convnext() -> nn.Module:
    setting = torchvision.models.convnext.CNBlockConfig
    return torchvision.models.ConvNeXt([setting(16, 32, 1), setting(32, None, 1)], num_classes=10)


def _densenet() -> nn.Module:
    return torchvision.models.DenseNet(8, (2, 2), 16, num_classes=10)


def _maxvit() -> nn.Module:
    return torchvision.models.MaxVit(
        (64, 64), 16, 2, 16, [16, 32], [1, 1], num_classes=10, stochastic_depth_prob=0.0
    )


def _mobilenet(version: int) -> Build:
    models = torchvision.models
    if version == 2:
        return lambda: models.mobilenet_v2(weights=None, num_classes=10, width_mult=0.35)
    return lambda: models.mobilenet_v3_small(weights=None, num_classes=10, width_mult=0.5)


def _video_resnet() -> nn.Module:
    net = torchvision.models.video.r3d_18(weights=None, num_classes=5)
    return nn.Sequential(net.stem, net.layer1, nn.AdaptiveAvgPool3d(1), nn.Flatten())


def _segmenter(build: Callable[..., nn.Module]) -> Build:
    return lambda: _Tuple(build(weights=None, weights_backbone=None, num_classes=4))


def _networks() -> list[Architecture]:
    models = torchvision.models
    swin = swin_transformer
    small: dict[str, Any] = {"weights": None, "num_classes": 10}
    return [
        _picture("resnet_basic", _resnet(BasicBlock)),
        _picture("resnet_bottleneck", _resnet(Bottleneck)),
        _picture("resnext", _resnet(Bottleneck, groups=4, width_per_group=16)),
        _picture("mobilenet_v2", _mobilenet(2)),
        _picture("mobilenet_v3", _mobilenet(3)),
        _picture("squeezenet", lambda: models.squeezenet1_1(**small)),
        _picture("shufflenet", lambda: models.shufflenet_v2_x0_5(**small)),
        _picture("mnasnet", lambda: models.mnasnet0_5(**small)),
        _picture("efficientnet", lambda: models.efficientnet_b0(**small)),
        _picture("regnet", lambda: models.regnet_y_400mf(**small)),
        _picture("densenet", _densenet),
        _picture(
            "googlenet", lambda: models.googlenet(init_weights=False, aux_logits=False, **small)
        ),
        _picture("vit", _vision_transformer, 32),
        _picture("swin", _swin(swin.SwinTransformerBlock, swin.PatchMerging), 32),
        _picture("swin_v2", _swin(swin.SwinTransformerBlockV2, swin.PatchMergingV2), 32),
        _picture("convnext", _convnext),
        _picture("maxvit", _maxvit, dynamic=False),
        _picture("lraspp", _segmenter(segmentation.lraspp_mobilenet_v3_large)),
        _picture("deeplab", _segmenter(segmentation.deeplabv3_mobilenet_v3_large)),
        Architecture("r3d", _clip(_video_resnet), (0,), ("batch",)),
        Architecture("raft", _raft, (), (), 16),
        _detector(
            "ssdlite",
            lambda: detection.ssdlite320_mobilenet_v3_large(
                weights=None, weights_backbone=None, num_classes=4, topk_candidates=20
            ),
            160,
        ),
        _detector(
            "fasterrcnn",
            lambda: detection.fasterrcnn_mobilenet_v3_large_320_fpn(
                weights=None, weights_backbone=None, num_classes=4, box_score_thresh=0.0
            ),
            96,
        ),
    ]


def recipes() -> list[Recipe]:
    return recipes_of([*_networks(), *torch_idioms.architectures()])
