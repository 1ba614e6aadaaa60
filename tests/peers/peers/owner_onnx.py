"""ONNX models: onnx.checker with full_check, and ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from peers.samples import Arrays

onnxruntime.set_default_logger_severity(4)
TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(uint8)": np.uint8,
    "tensor(int8)": np.int8,
    "tensor(bool)": np.bool_,
}


def _settings(optimized: bool) -> onnxruntime.SessionOptions:
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.log_severity_level = 4
    levels = onnxruntime.GraphOptimizationLevel
    settings.graph_optimization_level = (
        levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    )
    return settings


def check(model: Path, contrib: bool = False) -> None:
    """Raises if onnx.checker rejects the model; it does not know operators of com.microsoft."""
    if not contrib:
        onnx.checker.check_model(str(model), full_check=True)


def run(model: Path, arrays: Arrays, variant: str) -> Arrays:
    """The outputs; the variant "plain" is without graph optimizations.

    A number stands for all elements of a state, an input after all others; the output that has it
    after the run comes after all others, too, and is not among the results.
    """
    session = onnxruntime.InferenceSession(
        str(model), _settings(variant != "plain"), providers=["CPUExecutionProvider"]
    )
    ports = session.get_inputs()
    if len(ports) != len(arrays):
        raise ValueError(f"{len(ports)} inputs, not {len(arrays)}")
    states = 0
    for k, port in enumerate(ports):
        if port.shape and not arrays[k].shape:
            arrays[k] = np.broadcast_to(arrays[k], port.shape)
            states += 1
    feeds = {
        port.name: array.astype(TYPES.get(port.type, array.dtype), copy=False)
        for port, array in zip(ports, arrays, strict=False)
    }
    outputs: Arrays = []
    for value in session.run(None, feeds)[: len(session.get_outputs()) - states]:
        if isinstance(value, list):  # ZipMap: rows of scores
            value = np.array([list(row.values()) for row in value], np.float32)
        outputs.append(value)
    return outputs


def write_tail(model: Path, tail: Path) -> str:
    """Writes a model y = -x for the first output of a model; the text of --connect."""
    source = onnx.load(str(model), load_external_data=False)
    port = source.graph.output[0]
    if port.type.tensor_type.elem_type != onnx.TensorProto.FLOAT:
        raise ValueError("the first output is not float")
    inlet, outlet = onnx.ValueInfoProto(), onnx.ValueInfoProto()
    inlet.CopyFrom(port)
    outlet.CopyFrom(port)
    inlet.name, outlet.name = "tail_x", "tail_y"
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Neg", ["tail_x"], ["tail_y"])], "tail", [inlet], [outlet]
    )
    opsets = [o for o in source.opset_import if o.domain in ("", "ai.onnx")]
    opsets = opsets or [onnx.helper.make_opsetid("", 13)]
    onnx.save(
        onnx.helper.make_model(graph, opset_imports=opsets, ir_version=source.ir_version), str(tail)
    )
    return f"{port.name}=tail_x"
