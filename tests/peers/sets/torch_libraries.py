"""Networks of diffusers, PyTorch Geometric and Stable-Baselines3, small and with random weights."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import diffusers  # noqa: E402
import gymnasium  # noqa: E402
import numpy as np  # noqa: E402
import stable_baselines3 as sb3  # noqa: E402
import torch  # noqa: E402
import torch_geometric.nn as geometric  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from peers.samples import Recipe  # noqa: E402
from sets.torch_export import Architecture, recipes_of  # noqa: E402


class _Call(nn.Module):
    """A network whose inputs have other names or further arguments."""

    def __init__(self, net: nn.Module, call: Callable[..., Any]) -> None:
        super().__init__()
        self.net, self.call = net, call


class _One(_Call):
    def forward(self, x: Tensor) -> Any:
        return self.call(self.net, x)


class _Two(_Call):
    def forward(self, x: Tensor, y: Tensor) -> Any:
        return self.call(self.net, x, y)


class _Three(_Call):
    def forward(self, x: Tensor, y: Tensor, z: Tensor) -> Any:
        return self.call(self.net, x, y, z)


Made = tuple[nn.Module, dict[str, Tensor]]
SMALL = {"norm_num_groups": 4, "block_out_channels": (8, 16), "layers_per_block": 1}


def _noisy(net: nn.Module, *shape: int) -> Made:
    """A sample and the step of its noise."""

    def call(net: nn.Module, x: Tensor, t: Tensor) -> Tensor:
        return net(x, t, return_dict=False)[0]

    return _Two(net, call), {"x": torch.randn(shape), "y": torch.tensor([7])}


def _led(net: nn.Module, states: Sequence[int], *shape: int) -> Made:
    """Also the states that lead the generation."""

    def call(net: nn.Module, x: Tensor, t: Tensor, h: Tensor) -> Tensor:
        return net(x, timestep=t, encoder_hidden_states=h, return_dict=False)[0]

    inputs = {"x": torch.randn(shape), "y": torch.tensor([7]), "z": torch.randn(*states)}
    return _Three(net, call), inputs


def _unet() -> Made:
    blocks = {"down_block_types": ("DownBlock2D", "AttnDownBlock2D")}
    blocks |= {"up_block_types": ("AttnUpBlock2D", "UpBlock2D")}
    net = diffusers.UNet2DModel(sample_size=16, attention_head_dim=4, **SMALL, **blocks)
    return _noisy(net, 1, 3, 16, 16)


def _unet_condition() -> Made:
    blocks = {"down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D")}
    blocks |= {"up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D")}
    net = diffusers.UNet2DConditionModel(
        sample_size=16, cross_attention_dim=12, attention_head_dim=4, **SMALL, **blocks
    )
    return _led(net, (1, 5, 12), 1, 4, 16, 16)


def _unet_motion() -> Made:
    net = diffusers.UNet3DConditionModel(
        sample_size=16,
        down_block_types=("CrossAttnDownBlock3D", "DownBlock3D"),
        up_block_types=("UpBlock3D", "CrossAttnUpBlock3D"),
        cross_attention_dim=12,
        attention_head_dim=4,
        **SMALL,
    )
    return _led(net, (1, 5, 12), 1, 4, 3, 16, 16)


def _coder(net: nn.Module, encodes: bool, *shape: int) -> Made:
    def encode(net: Any, x: Tensor) -> Tensor:
        found = net.encode(x, return_dict=False)[0]
        return found if isinstance(found, Tensor) else found.mode()

    def decode(net: Any, x: Tensor) -> Tensor:
        return net.decode(x, return_dict=False)[0]

    return _One(net, encode if encodes else decode), {"x": torch.randn(shape)}


def _vae() -> nn.Module:
    blocks = {"down_block_types": ("DownEncoderBlock2D",) * 2}
    blocks |= {"up_block_types": ("UpDecoderBlock2D",) * 2}
    return diffusers.AutoencoderKL(latent_channels=4, **SMALL, **blocks)


def _vq() -> nn.Module:
    blocks = {"down_block_types": ("DownEncoderBlock2D",) * 2}
    blocks |= {"up_block_types": ("UpDecoderBlock2D",) * 2}
    return diffusers.VQModel(latent_channels=3, num_vq_embeddings=24, **SMALL, **blocks)


def _tiny() -> nn.Module:
    return diffusers.AutoencoderTiny(
        encoder_block_out_channels=(8, 8),
        decoder_block_out_channels=(8, 8),
        num_encoder_blocks=(1, 1),
        num_decoder_blocks=(1, 1),
    )


def _dc() -> nn.Module:
    return diffusers.AutoencoderDC(
        in_channels=3,
        latent_channels=4,
        attention_head_dim=4,
        encoder_block_out_channels=(8, 8, 16),
        decoder_block_out_channels=(8, 8, 16),
        encoder_layers_per_block=(1, 1, 1),
        decoder_layers_per_block=(1, 1, 1),
        encoder_block_types=("ResBlock", "ResBlock", "EfficientViTBlock"),
        decoder_block_types=("ResBlock", "ResBlock", "EfficientViTBlock"),
        encoder_qkv_multiscales=((), (), (5,)),
        decoder_qkv_multiscales=((), (), (5,)),
    )


def _dit() -> Made:
    net = diffusers.DiTTransformer2DModel(
        num_attention_heads=2, attention_head_dim=8, in_channels=4, num_layers=2, sample_size=8
    )

    def call(net: nn.Module, x: Tensor, t: Tensor, c: Tensor) -> Tensor:
        return net(x, timestep=t, class_labels=c, return_dict=False)[0]

    inputs = {"x": torch.randn(1, 4, 8, 8), "y": torch.tensor([7]), "z": torch.tensor([3])}
    return _Three(net, call), inputs


def _pixart() -> Made:
    net = diffusers.PixArtTransformer2DModel(
        num_attention_heads=2,
        attention_head_dim=8,
        in_channels=4,
        num_layers=2,
        sample_size=8,
        cross_attention_dim=16,
        caption_channels=12,
        use_additional_conditions=False,
    )
    return _led(net, (1, 5, 12), 1, 4, 8, 8)


def _sana() -> Made:
    net = diffusers.SanaTransformer2DModel(
        patch_size=1,
        in_channels=4,
        out_channels=4,
        num_layers=2,
        num_attention_heads=2,
        attention_head_dim=8,
        num_cross_attention_heads=2,
        cross_attention_head_dim=8,
        cross_attention_dim=16,
        caption_channels=12,
        sample_size=8,
    )
    return _led(net, (1, 5, 12), 1, 4, 8, 8)


def _audio_dit() -> Made:
    net = diffusers.StableAudioDiTModel(
        sample_size=16,
        in_channels=4,
        out_channels=4,
        num_layers=2,
        attention_head_dim=8,
        num_attention_heads=2,
        num_key_value_attention_heads=1,
        cross_attention_dim=12,
        time_proj_dim=8,
        global_states_input_dim=12,
        cross_attention_input_dim=12,
    )

    def call(net: Any, x: Tensor, t: Tensor, h: Tensor) -> Tensor:
        return net(
            x,
            timestep=t,
            encoder_hidden_states=h,
            global_hidden_states=h[:, :1],
            rotary_embedding=None,
            return_dict=False,
        )[0]

    inputs = {"x": torch.randn(1, 4, 16), "y": torch.tensor([7.0]), "z": torch.randn(1, 5, 12)}
    return _Three(net, call), inputs


EDGES = [[0, 1, 2, 3, 4, 0, 2, 5, 1, 3], [1, 2, 3, 4, 5, 2, 0, 3, 4, 0]]


def _graph(net: nn.Module, pools: Callable[..., Tensor] | None = None) -> Made:
    """Features of atoms, and the edges between them."""

    def call(net: nn.Module, x: Tensor, edges: Tensor) -> Tensor:
        found = net(x, edges)
        return found if pools is None else pools(found, x.new_zeros(len(x), dtype=torch.int64), 1)

    return _Two(net, call), {"x": torch.randn(6, 8), "y": torch.tensor(EDGES)}


def _policy(algorithm: type, policy: str, env: str, **settings: Any) -> Made:
    model = algorithm(policy, env, device="cpu", seed=3, **settings)
    space = model.observation_space

    def call(net: Any, x: Tensor) -> Any:
        if hasattr(net, "actor"):
            options = inspect.signature(net.actor.forward).parameters
            return net.actor(x, **({"deterministic": True} if "deterministic" in options else {}))
        return net(x, deterministic=True)

    low = torch.as_tensor(np.stack([space.sample() for _ in range(2)]))
    return _One(model.policy, call), {"x": low}


class _Picture(gymnasium.Env[Any, Any]):
    """A picture of 36 x 36 as an observation."""

    observation_space = gymnasium.spaces.Box(0, 255, (3, 36, 36), np.uint8)
    action_space = gymnasium.spaces.MultiDiscrete([3, 2])

    def reset(self, **_settings: Any) -> Any:
        return self.observation_space.sample(), {}

    def step(self, _action: Any) -> Any:
        return self.observation_space.sample(), 0.0, True, False, {}


def _architectures() -> list[Architecture]:
    def fixed(name: str, build: Callable[[], Made]) -> Architecture:
        return Architecture(name, build, ())

    def nodes(name: str, build: Callable[[], Made]) -> Architecture:
        return Architecture(name, build, (), (), 16)

    gat = {"heads": 2, "edge_dim": None}
    return [
        fixed("unet", _unet),
        fixed("unet_condition", _unet_condition),
        fixed("unet_motion", _unet_motion),
        fixed("vae-encoder", lambda: _coder(_vae(), True, 1, 3, 16, 16)),
        Architecture("vae-decoder", lambda: _coder(_vae(), False, 2, 4, 8, 8)),
        fixed("vq-encoder", lambda: _coder(_vq(), True, 1, 3, 16, 16)),
        fixed("vq-decoder", lambda: _coder(_vq(), False, 1, 3, 8, 8)),
        Architecture("tiny-encoder", lambda: _coder(_tiny(), True, 2, 3, 16, 16)),
        Architecture("tiny-decoder", lambda: _coder(_tiny(), False, 2, 4, 8, 8)),
        fixed("dc-encoder", lambda: _coder(_dc(), True, 1, 3, 32, 32)),
        fixed("dc-decoder", lambda: _coder(_dc(), False, 1, 4, 8, 8)),
        fixed("dit", _dit),
        fixed("pixart", _pixart),
        fixed("sana", _sana),
        fixed("audio_dit", _audio_dit),
        nodes("gcn", lambda: _graph(geometric.GCN(8, 16, 2, 4))),
        fixed("gat", lambda: _graph(geometric.GAT(8, 16, 2, 4, **gat))),
        fixed("gat-v2", lambda: _graph(geometric.GAT(8, 16, 2, 4, v2=True, **gat))),
        nodes("sage", lambda: _graph(geometric.GraphSAGE(8, 16, 2, 4, jk="cat"))),
        nodes("gin", lambda: _graph(geometric.GIN(8, 16, 2, 4), geometric.global_add_pool)),
        fixed("pna", lambda: _graph(geometric.SAGEConv(8, 6, aggr=["mean", "max", "min"]))),
        fixed("transformer_conv", lambda: _graph(geometric.TransformerConv(8, 6, heads=2))),
        fixed("cheb", lambda: _graph(geometric.ChebConv(8, 6, K=3))),
        fixed("tag", lambda: _graph(geometric.TAGConv(8, 6), geometric.global_max_pool)),
        fixed("gated", lambda: _graph(geometric.GatedGraphConv(8, 2))),
        Architecture("ppo-mlp", lambda: _policy(sb3.PPO, "MlpPolicy", "CartPole-v1")),
        Architecture("a2c-box", lambda: _policy(sb3.A2C, "MlpPolicy", "Pendulum-v1")),
        Architecture("sac", lambda: _policy(sb3.SAC, "MlpPolicy", "Pendulum-v1", buffer_size=9)),
        Architecture("td3", lambda: _policy(sb3.TD3, "MlpPolicy", "Pendulum-v1", buffer_size=9)),
        Architecture("dqn", lambda: _policy(sb3.DQN, "MlpPolicy", "CartPole-v1", buffer_size=9)),
        Architecture("ppo-cnn", lambda: _policy(sb3.PPO, "CnnPolicy", _Picture())),
    ]


def recipes() -> list[Recipe]:
    return recipes_of(_architectures())
