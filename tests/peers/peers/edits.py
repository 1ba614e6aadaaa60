"""The edits: their options, and how the outputs of the edited model relate to the source's."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from peers.owners import OwnerError, Owners
from peers.programs import Programs
from peers.samples import Sample
from peers.tolerances import FLOAT, HALF, STEP, Tolerance

SAME, NEGATED, OTHER = "same", "negated", "other"
Options = Sequence[object] | None


@dataclass(frozen=True)
class Context:
    """What an edit may ask for to build its options."""

    sample: Sample
    programs: Programs
    owners: Owners
    scratch: Path


@dataclass(frozen=True)
class Edit:
    """`options` is None if the edit does not apply to a model.

    `relation`: the outputs are the source's (`same`), their negatives, or others, which are
    compared between nnrun and the owner only. `allowed` is for `same` and `negated`.
    """

    name: str
    formats: tuple[str, ...]
    options: Callable[[Context], Options]
    relation: str = SAME
    allowed: Tolerance = FLOAT
    between: Tolerance = FLOAT


def _fixed(*options: object) -> Callable[[Context], Options]:
    return lambda _context: options


def _set_batch(context: Context) -> Options:
    return ("--set-batch", "N") if "batch" in context.sample.traits else None


def _quantize(context: Context) -> Options:
    return ("--quantize", "int8", "--calibrate", context.sample.inputs)


def _preprocess(context: Context) -> Options:
    if "picture" not in context.sample.traits:
        return None
    name = context.sample.input_names[0]
    return ("--preprocess", f"{name}:mean=0.5,0.4,0.3,std=0.2,0.25,0.3")


def _middle(context: Context) -> Options:
    """--extract of what computes a value in the middle of the model."""
    found = context.programs("nninspect", "--values", "--format", "json", context.sample.model)
    if found.code != 0:
        return None
    report = json.loads(found.text[found.text.index("{") :])
    names = [
        value["name"]
        for value in report.get("values", [])
        if value["role"] == "result" and not value["scope"]
    ]
    names = [name for name in names if re.fullmatch(r"[\w/.:;-]+", name)]
    return ("--extract", f"..{names[len(names) // 2]}") if len(names) > 2 else None


def _merge(context: Context) -> Options:
    tail = context.scratch / "tail.onnx"
    try:
        connect = context.owners["onnx"].write_tail(context.sample.model, tail)
    except OwnerError:
        return None
    return ("--merge", tail, "--connect", connect)


ONNX, TFLITE, COREML = "onnx", "tflite", "coreml"
EDITS = (
    Edit("simplify", (ONNX, TFLITE, COREML), _fixed("--simplify")),
    Edit("simplify-rounding", (ONNX, TFLITE, COREML), _fixed("--simplify", "--allow-rounding")),
    *(Edit(f"opset-{n}", (ONNX,), _fixed("--opset", n)) for n in (9, 11, 13, 17, 21, 25)),
    Edit("set-batch", (ONNX, TFLITE), _set_batch),
    Edit("infer-shapes", (ONNX,), _fixed("--infer-shapes")),
    Edit("fp16", (ONNX,), _fixed("--fp16"), allowed=HALF, between=HALF),
    Edit(
        "fp16-interface", (ONNX,), _fixed("--fp16", "--half-interface"), allowed=HALF, between=HALF
    ),
    Edit("fp16-weights", (ONNX, TFLITE, COREML), _fixed("--fp16", "--weights-only"), allowed=HALF),
    Edit("bf16", (ONNX,), _fixed("--bf16"), OTHER, between=HALF),
    Edit("bf16-weights", (ONNX,), _fixed("--bf16", "--weights-only"), OTHER),
    Edit("quantize", (ONNX, TFLITE), _quantize, OTHER, between=STEP),
    Edit("quantize-weights-8", (ONNX, TFLITE, COREML), _fixed("--quantize", "weights-int8"), OTHER),
    Edit("quantize-weights-4", (ONNX, TFLITE, COREML), _fixed("--quantize", "weights-int4"), OTHER),
    Edit("extract", (ONNX, TFLITE), _middle, OTHER),
    Edit("merge", (ONNX,), _merge, NEGATED),
    Edit("preprocess", (ONNX, TFLITE), _preprocess, OTHER),
)


def edits_of(sample: Sample, count: int) -> list[Edit]:
    """The edits of a model's format, or `count` of them, which its name chooses."""
    own = [edit for edit in EDITS if sample.format in edit.formats]
    if count <= 0 or count >= len(own):
        return own
    start = sum(map(ord, sample.name))
    step = next(n for n in (7, 5, 3, 1) if math.gcd(n, len(own)) == 1)
    return [own[(start + k * step) % len(own)] for k in range(count)]
