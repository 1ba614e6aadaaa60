"""The options of each method, written by scripts/update-options."""

from typing import Any, Literal, Mapping, Optional, Sequence, TypedDict, Union


class OpenOptions(TypedDict, total=False):
    max_file_bytes: Optional[int]
    max_piped_bytes: Optional[int]
    max_unpacked_bytes: Optional[int]
    max_depth: Optional[int]
    max_items: Optional[int]


class InspectOptions(TypedDict, total=False):
    input_shape: Optional[Mapping[str, Sequence[Union[int, str]]]]
    nodes: Optional[bool]
    op: Optional[str]
    node: Optional[str]
    tensors: Optional[bool]
    stats: Optional[bool]
    histogram: Optional[bool]
    values: Optional[bool]
    tree: Optional[bool]
    cost: Optional[bool]
    hash: Optional[bool]
    batch: Optional[int]


class DrawOptions(TypedDict, total=False):
    expand: Optional[bool]


class ValidateOptions(TypedDict, total=False):
    profile: Optional[Literal["spec", "vendor", "strict", "safety"]]
    fail_on: Optional[Literal["note", "warning", "error"]]
    enable: Optional[Union[str, Sequence[str]]]
    disable: Optional[Union[str, Sequence[str]]]
    fingerprints: Optional[bool]


class DumpOptions(TypedDict, total=False):
    weights: Optional[Literal["base64", "inline", "stats", "digest", "none"]]


class WriteOptions(TypedDict, total=False):
    external_data: Optional[str]
    external_threshold: Optional[int]
    embed_data: Optional[bool]


class ConvertOptions(TypedDict, total=False):
    input_shape: Optional[Mapping[str, Sequence[Union[int, str]]]]
    fix_input: Optional[Mapping[str, Any]]
    verify_inputs: Optional[Sequence[Sequence[Any]]]
    to: Optional[str]
    batch: Optional[int]
    length: Optional[Union[str, Sequence[str]]]
    clip_input: Optional[Union[str, Sequence[str]]]
    rename_input: Optional[Union[str, Sequence[str]]]
    rename_output: Optional[Union[str, Sequence[str]]]
    merge: Optional[str]
    connect: Optional[Union[str, Sequence[str]]]
    set_batch: Optional[str]
    preprocess: Optional[Union[str, Sequence[str]]]
    layout: Optional[Union[str, Sequence[str]]]
    opset: Optional[int]
    fold_batch_norm: Optional[bool]
    fuse: Optional[bool]
    simplify: Optional[bool]
    allow_rounding: Optional[bool]
    unroll: Optional[int]
    states: Optional[bool]
    rewrite: Optional[bool]
    dequantize: Optional[bool]
    float32: Optional[bool]
    fp16: Optional[bool]
    bf16: Optional[bool]
    weights_only: Optional[bool]
    half_interface: Optional[bool]
    keep_float32: Optional[Union[str, Sequence[str]]]
    quantize: Optional[str]
    calibrate_seeded: Optional[int]
    calibrate_method: Optional[str]
    symmetric: Optional[bool]
    per_tensor: Optional[bool]
    bias_correction: Optional[bool]
    equalize: Optional[bool]
    integer_interface: Optional[bool]
    external_data: Optional[str]
    external_threshold: Optional[int]
    embed_data: Optional[bool]
    infer_shapes: Optional[bool]
    dry_run: Optional[bool]
    no_verify: Optional[bool]
    seed: Optional[int]
    verify_runs: Optional[int]
    threads: Optional[int]
    verify_shape: Optional[Union[str, Sequence[str]]]
    atol: Optional[float]
    rtol: Optional[float]
    max_memory: Optional[int]
    max_work: Optional[int]
    max_steps: Optional[int]


class EditOptions(TypedDict, total=False):
    extract: Optional[str]
    cut_before: Optional[Union[str, Sequence[str]]]
    cut_after: Optional[Union[str, Sequence[str]]]
    remove_output: Optional[Union[str, Sequence[str]]]
    add_output: Optional[Union[str, Sequence[str]]]
    rename: Optional[Union[str, Sequence[str]]]
    set_metadata: Optional[Union[str, Sequence[str]]]
    strip: Optional[str]
    no_verify: Optional[bool]
    seed: Optional[int]
    verify_runs: Optional[int]
    threads: Optional[int]
    verify_shape: Optional[Union[str, Sequence[str]]]
    atol: Optional[float]
    rtol: Optional[float]
    max_memory: Optional[int]
    max_work: Optional[int]
    max_steps: Optional[int]


class CompileOptions(TypedDict, total=False):
    input_shape: Optional[Mapping[str, Sequence[Union[int, str]]]]
    backend: Optional[Literal["simd", "reference"]]
    threads: Optional[int]
    no_fuse: Optional[bool]
    batch: Optional[int]
    max_memory: Optional[int]
    max_work: Optional[int]
    max_steps: Optional[int]
