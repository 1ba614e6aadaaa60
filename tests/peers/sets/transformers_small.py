"""Architectures of transformers with small configurations and random weights."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import torch  # noqa: E402
import transformers  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from peers.samples import Recipe  # noqa: E402
from sets.torch_export import Architecture, recipes_of  # noqa: E402

transformers.logging.set_verbosity_error()
BODY = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "vocab_size": 64,
    "max_position_embeddings": 64,
}
DECODER = {
    **BODY,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
PATCHES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "image_size": 32,
    "patch_size": 8,
}


class _Text(nn.Module):
    """Token indices and a mask to the first result."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return self.net(input_ids=input_ids, attention_mask=attention_mask, return_dict=True)[0]


class _Causal(nn.Module):
    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return self.net(input_ids=input_ids, attention_mask=attention_mask, use_cache=False).logits


class _Cached(nn.Module):
    """One step with the keys and values of earlier tokens as inputs and outputs (two layers)."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        key_0: Tensor,
        value_0: Tensor,
        key_1: Tensor,
        value_1: Tensor,
    ) -> Any:
        cache = transformers.DynamicCache()
        cache.update(key_0, value_0, 0)
        cache.update(key_1, value_1, 1)
        found = self.net(
            input_ids=input_ids,
            attention_mask=attention_mask,
            past_key_values=cache,
            use_cache=True,
        )
        layers = found.past_key_values.layers
        return (found.logits, layers[0].keys, layers[0].values, layers[1].keys, layers[1].values)


class _EncoderDecoder(nn.Module):
    def __init__(self, net: nn.Module, feature: str) -> None:
        super().__init__()
        self.net, self.feature = net, feature

    def forward(self, source: Tensor, decoder_input_ids: Tensor) -> Tensor:
        return self.net(
            **{self.feature: source}, decoder_input_ids=decoder_input_ids, use_cache=False
        )[0]


class _Single(nn.Module):
    """One input to the tensors of the named results."""

    def __init__(self, net: nn.Module, feature: str, results: Sequence[str]) -> None:
        super().__init__()
        self.net, self.feature, self.results = net, feature, results

    def forward(self, x: Tensor) -> Any:
        found = self.net(**{self.feature: x})
        return tuple(getattr(found, name) for name in self.results)


class _Clip(nn.Module):
    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, input_ids: Tensor, pixel_values: Tensor, attention_mask: Tensor) -> Any:
        found = self.net(
            input_ids=input_ids, pixel_values=pixel_values, attention_mask=attention_mask
        )
        return found.logits_per_image, found.text_embeds, found.image_embeds


class _Segmenter(nn.Module):
    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, pixel_values: Tensor, input_points: Tensor) -> Any:
        found = self.net(pixel_values=pixel_values, input_points=input_points)
        return found.pred_masks, found.iou_scores


def _made(name: str, settings: dict[str, Any], suffix: str) -> nn.Module:
    config = getattr(transformers, name + "Config")(**settings)
    return getattr(transformers, name + suffix)(config).float()


def _tokens() -> dict[str, Tensor]:
    mask = torch.ones(2, 7, dtype=torch.int64)
    mask[1, 5:] = 0
    return {"input_ids": torch.randint(3, 64, (2, 7)), "attention_mask": mask}


def _encoder(name: str, suffix: str = "Model", **settings: Any) -> Architecture:
    def build() -> tuple[nn.Module, dict[str, Tensor]]:
        return (_Text(_made(name, {**BODY, **settings}, suffix)), _tokens())

    return Architecture(name.lower(), build, (0, 1), ("batch",))


def _decoder(name: str, suffix: str = "ForCausalLM", **settings: Any) -> Architecture:
    def build() -> tuple[nn.Module, dict[str, Tensor]]:
        return (_Causal(_made(name, {**DECODER, **settings}, suffix)), _tokens())

    return Architecture(name.lower(), build, (0, 1), ("batch",))


def _with_cache(
    name: str, suffix: str = "ForCausalLM", heads: int = 2, **settings: Any
) -> Architecture:
    def build() -> tuple[nn.Module, dict[str, Tensor]]:
        inputs = {
            "input_ids": torch.randint(3, 64, (2, 1)),
            "attention_mask": torch.ones(2, 6, dtype=torch.int64),
        }
        for layer in range(2):
            inputs[f"key_{layer}"] = torch.randn(2, heads, 5, 8)
            inputs[f"value_{layer}"] = torch.randn(2, heads, 5, 8)
        return _Cached(_made(name, {**DECODER, **settings}, suffix)), inputs

    return Architecture(name.lower() + "_cache", build, (0,), ("batch",))


def _vision(
    name: str,
    results: Sequence[str] = ("last_hidden_state",),
    suffix: str = "Model",
    size: int = 32,
    **settings: Any,
) -> Architecture:
    def build() -> tuple[nn.Module, dict[str, Tensor]]:
        net = _Single(_made(name, settings, suffix), "pixel_values", results)
        return net, {"x": torch.rand(2, 3, size, size)}

    return Architecture(name.lower(), build, (0,), ("batch", "picture"))


def _audio(name: str, **settings: Any) -> Architecture:
    small = {
        **BODY,
        "conv_dim": (16, 16),
        "conv_stride": (5, 2),
        "conv_kernel": (10, 3),
        "num_feat_extract_layers": 2,
        "num_conv_pos_embeddings": 8,
        "num_conv_pos_embedding_groups": 2,
        **settings,
    }

    def build() -> tuple[nn.Module, dict[str, Tensor]]:
        net = _Single(_made(name, small, "Model"), "input_values", ["last_hidden_state"])
        return net, {"x": torch.randn(2, 400)}

    return Architecture(name.lower(), build, (0,), ("batch",))


def _t5(name: str) -> list[Architecture]:
    settings = {
        "vocab_size": 64,
        "d_model": 32,
        "d_kv": 8,
        "d_ff": 48,
        "num_layers": 2,
        "num_heads": 4,
        "decoder_start_token_id": 0,
    }

    def whole() -> tuple[nn.Module, dict[str, Tensor]]:
        return (
            _EncoderDecoder(
                _made(name, settings, "ForConditionalGeneration"),
                "input_ids",
            ),
            {
                "source": torch.randint(3, 64, (2, 6)),
                "decoder_input_ids": torch.randint(3, 64, (2, 4)),
            },
        )

    def encoder() -> tuple[nn.Module, dict[str, Tensor]]:
        return (_Text(_made(name, settings, "EncoderModel")), _tokens())

    return [
        Architecture(name.lower(), whole, (0, 1), ("batch",)),
        Architecture(name.lower() + "_encoder", encoder, (0, 1), ("batch",)),
    ]


def _sequence(
    name: str, feature: str, source: Callable[[], Tensor], **settings: Any
) -> Architecture:
    small = {
        "vocab_size": 64,
        "d_model": 32,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 48,
        "decoder_ffn_dim": 48,
        "max_position_embeddings": 32,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 1,
        **settings,
    }

    def build() -> tuple[nn.Module, dict[str, Tensor]]:
        return (
            _EncoderDecoder(
                _made(name, small, "ForConditionalGeneration"),
                feature,
            ),
            {"source": source(), "decoder_input_ids": torch.randint(3, 64, (2, 4))},
        )

    return Architecture(name.lower(), build, (0,), ("batch",))


def _clip(name: str, **text: Any) -> Architecture:
    settings = {
        "text_config": {**BODY, "eos_token_id": 2, "bos_token_id": 1, **text},
        "vision_config": PATCHES,
        "projection_dim": 16,
    }

    def build() -> tuple[nn.Module, dict[str, Tensor]]:
        return _Clip(_made(name, settings, "Model")), {
            "input_ids": _tokens()["input_ids"],
            "pixel_values": torch.rand(2, 3, 32, 32),
            "attention_mask": _tokens()["attention_mask"],
        }

    return Architecture(name.lower(), build, ())


def _sam() -> Architecture:
    settings = {
        "vision_config": {
            **PATCHES,
            "image_size": 64,
            "output_channels": 16,
            "window_size": 4,
            "global_attn_indexes": [1],
            "num_pos_feats": 8,
            "mlp_dim": 48,
        },
        "prompt_encoder_config": {
            "hidden_size": 16,
            "image_size": 64,
            "patch_size": 8,
            "mask_input_channels": 4,
        },
        "mask_decoder_config": {
            "hidden_size": 16,
            "mlp_dim": 32,
            "num_attention_heads": 2,
            "num_hidden_layers": 1,
            "iou_head_hidden_dim": 16,
        },
    }

    def build() -> tuple[nn.Module, dict[str, Tensor]]:
        return _Segmenter(_made("Sam", settings, "Model")), {
            "pixel_values": torch.rand(1, 3, 64, 64),
            "input_points": torch.rand(1, 1, 2, 2) * 64,
        }

    return Architecture("sam", build, ())


def _detr(name: str) -> Architecture:
    backbone = transformers.ResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 16],
        depths=[1, 1],
        layer_type="basic",
        out_features=["stage2"],
    )
    settings = {
        "backbone_config": backbone,
        "d_model": 32,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 48,
        "decoder_ffn_dim": 48,
        "num_queries": 5,
        "num_labels": 3,
        "use_timm_backbone": False,
        "use_pretrained_backbone": False,
    }
    return _vision(name, ("logits", "pred_boxes"), "ForObjectDetection", 64, **settings)


def _vision_models() -> list[Architecture]:
    stages = {
        "embed_dim": 16,
        "depths": [2, 2],
        "num_heads": [2, 4],
        "window_size": 4,
        "image_size": 32,
        "patch_size": 2,
    }
    return [
        _vision("ViT", **PATCHES),
        _vision("DeiT", **PATCHES),
        _vision("Dinov2", **PATCHES),
        _vision("Beit", **PATCHES),
        _vision("Swin", **stages),
        _vision("Swinv2", **stages),
        _vision("ConvNext", hidden_sizes=[8, 16], depths=[1, 1], num_stages=2),
        _vision("ConvNextV2", hidden_sizes=[8, 16], depths=[1, 1], num_stages=2),
        _vision("ResNet", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1]),
        _vision("RegNet", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], groups_width=4),
        _vision(
            "MobileViT",
            size=64,
            hidden_sizes=[16, 16, 16],
            image_size=64,
            num_attention_heads=2,
            neck_hidden_sizes=[8, 8, 16, 16, 16, 16, 32],
        ),
        _vision(
            "Segformer",
            ("logits",),
            "ForSemanticSegmentation",
            64,
            hidden_sizes=[8, 16],
            num_encoder_blocks=2,
            depths=[1, 1],
            sr_ratios=[2, 1],
            num_attention_heads=[1, 2],
            patch_sizes=[7, 3],
            strides=[4, 2],
            mlp_ratios=[2, 2],
            decoder_hidden_size=16,
        ),
        _vision(
            "PoolFormer",
            hidden_sizes=[8, 16],
            depths=[1, 1],
            num_encoder_blocks=2,
            patch_sizes=[7, 3],
            strides=[4, 2],
            padding=[2, 1],
            mlp_ratios=[2, 2],
        ),
        _vision(
            "Levit",
            hidden_sizes=[16, 24, 32],
            num_attention_heads=[2, 3, 4],
            depths=[1, 1, 1],
            key_dim=[8, 8, 8],
            image_size=64,
            size=64,
        ),
        _detr("Detr"),
        _detr("ConditionalDetr"),
        _sam(),
    ]


def _text_models() -> list[Architecture]:
    distil = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48}
    gpt = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
    return [
        _encoder("Bert"),
        _encoder("DistilBert", **distil),
        _encoder("Roberta"),
        _encoder("Electra", embedding_size=16),
        _encoder("Albert", embedding_size=16),
        _encoder("MobileBert", intra_bottleneck_size=16, embedding_size=16),
        _encoder("SqueezeBert", embedding_size=32),
        _encoder("MPNet"),
        _encoder(
            "DebertaV2", relative_attention=True, pos_att_type=["c2p", "p2c"], position_buckets=8
        ),
        _encoder("ModernBert", pad_token_id=0, local_attention=4, global_attn_every_n_layers=2),
        _encoder("FNet"),
        _encoder("RoFormer", embedding_size=32),
        _encoder("ConvBert", embedding_size=16),
        _decoder("GPT2", "LMHeadModel", **gpt),
        _decoder("GPTNeoX"),
        _decoder("OPT", ffn_dim=48, word_embed_proj_dim=32),
        _decoder("Bloom", n_head=4, n_layer=2),
        _decoder("Llama"),
        _decoder("Mistral", sliding_window=4),
        _decoder("Qwen2"),
        _decoder("Qwen3"),
        _decoder("Phi", partial_rotary_factor=0.5),
        _decoder("Phi3"),
        _decoder("Gemma"),
        _decoder("Gemma2", sliding_window=4),
        _decoder("Olmo2"),
        _decoder("StableLm"),
        _decoder("Falcon"),
        _decoder("Granite"),
        _decoder("SmolLM3"),
        _decoder("Cohere"),
        _decoder("Mixtral", num_local_experts=2),
        _decoder("Mamba", state_size=4),
        _with_cache("Llama"),
        _with_cache("Qwen2"),
        _with_cache("Gemma"),
        _with_cache("Phi3"),
        _with_cache("GPT2", "LMHeadModel", 4, **gpt),
        _with_cache("GPTNeoX", heads=4),
        *_t5("T5"),
        *_t5("MT5"),
        _sequence("Bart", "input_ids", lambda: torch.randint(3, 64, (2, 6))),
        _sequence("Pegasus", "input_ids", lambda: torch.randint(3, 64, (2, 6))),
    ]


def _other_models() -> list[Architecture]:
    return [
        _sequence(
            "Whisper",
            "input_features",
            lambda: torch.randn(2, 8, 32),
            num_mel_bins=8,
            max_source_positions=16,
            max_target_positions=16,
        ),
        _clip("CLIP"),
        _clip("ChineseCLIP"),
        _audio("Wav2Vec2"),
        _audio("Hubert"),
        _audio("WavLM"),
        _audio("SEW", squeeze_factor=2),
    ]


def recipes() -> list[Recipe]:
    return recipes_of([*_text_models(), *_vision_models(), *_other_models()])
