"""The smallest network of each family of timm, with random weights, by one of PyTorch's exporters."""

from __future__ import annotations

import timm
import torch
from torch import nn

from peers.samples import Recipe
from sets.torch_export import Architecture, recipes_of

# Sizes of pictures below the usual ones make the files and runs no different, only faster.
SMALL = 96
OPEN = """test_convnext test_efficientnet test_nfnet test_mambaout test_byobnet test_resnet
starnet_s050 dla46x_c mobilevit_xxs edgenext_xx_small mobilenetv3_small_050 ese_vovnet19b_slim_dw
repghostnet_050 ghostnet_050 regnetx_002 cspnext_tiny iformer_t cs3darknet_focus_s
efficientvit_b0 pvt_v2_b0 fasternet_t0 fastvit_t8 lcnetv2_small inception_next_atto rexnet_100
hardcorenas_b repvit_m1 hgnetv2_b0 shvit_s1 cpubone_nano efficientvim_m1 densenet121 halonet_h1
dpn48b resnest14d resnetv2_18 legacy_seresnet18 poolformerv2_s12 skresnet18 tiny_vit_5m_224
hrnet_w18_small lowformer_b0 csatv2 davit_tiny focalnet_tiny_srf""".split()
FIXED = """test_vit test_coatnet test_vit_relpos efficientvit_m0 xcit_nano_12_p8_224 swiftformer_xs
efficientformerv2_s0 pit_ti_224 vit_tiny_patch16_dinov3_qkvb coat_tiny convit_tiny
deit_tiny_patch16_224 gmlp_ti16_224 vit_tiny_r_s16_p8_224 crossvit_tiny_240 levit_128s
visformer_tiny cait_xxs24_224 gcvit_xxtiny efficientformer_l1 nest_tiny vitamin_small_224
tnt_s_legacy_patch16_224 twins_svt_small mvitv2_tiny volo_d1_224 sequencer2d_s hiera_tiny_224
swin_tiny_patch4_window7_224 swinv2_tiny_window8_256 swinv2_cr_tiny_224""".split()


def _architecture(name: str, *, fixed: bool) -> Architecture:
    def make() -> tuple[nn.Module, dict[str, torch.Tensor]]:
        net = timm.create_model(name, pretrained=False, num_classes=10, exportable=True)
        size = net.default_cfg["input_size"][-1] if fixed else SMALL
        return net, {"image": torch.rand(1 if fixed else 2, 3, size, size)}

    return Architecture(name, make, () if fixed else (0,), ("picture",))


def recipes() -> list[Recipe]:
    """One exporter for each network, in turns; that of open networks leaves the batch open."""
    networks = [_architecture(name, fixed=False) for name in OPEN]
    networks += [_architecture(name, fixed=True) for name in FIXED]
    both = recipes_of(networks)
    return [both[2 * number + (number // 2 + number) % 2] for number in range(len(networks))]
