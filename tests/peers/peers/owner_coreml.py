"""Core ML models: coremltools' loader. It runs models on macOS only, so values are not compared."""

from __future__ import annotations

import sys
from pathlib import Path

# coremltools opens every framework that is installed, which takes a minute and ends the process
# if two of them bring the same libraries; the loader needs none.
for framework in ("tensorflow", "torch", "sklearn", "xgboost"):
    sys.modules[framework] = None  # type: ignore[assignment]

import coremltools  # noqa: E402
from coremltools.converters.mil.frontend.milproto import load as milproto  # noqa: E402
from coremltools.converters.mil.frontend.milproto.helper import proto_to_types  # noqa: E402
from coremltools.converters.mil.mil import types  # noqa: E402
from coremltools.models.neural_network.builder import NeuralNetworkBuilder  # noqa: E402

from peers.samples import Arrays  # noqa: E402


def check(model: Path, contrib: bool = False) -> None:
    """Raises if coremltools cannot load the model, or if its graph is not well formed.

    NeuralNetwork.proto: layers are in topological order, and no blob is written twice.
    """
    del contrib
    spec = coremltools.utils.load_spec(str(model))
    source = str(model) if model.is_dir() else spec  # the weights are in the folder
    loaded = coremltools.models.MLModel(source, skip_model_load=True)
    kind = spec.WhichOneof("Type")
    if kind.startswith("neuralNetwork"):
        NeuralNetworkBuilder(spec=spec).inspect_layers(last=1)
        _check_blobs(spec, getattr(spec, kind))
    if kind == "mlProgram":
        _check_program(spec, loaded.weights_dir or "")
    if [port.name for port in loaded.output_description._fd_spec] != [
        port.name for port in spec.description.output
    ]:
        raise ValueError("outputs differ after loading")


def _written(layer: coremltools.proto.NeuralNetwork_pb2.NeuralNetworkLayer) -> set[str]:
    """The blobs of a layer; those of branches and loops are visible outside of them."""
    found = set(layer.output)
    kind = layer.WhichOneof("layer")
    if kind in ("branch", "loop"):
        for _, network in getattr(layer, kind).ListFields():
            for inner in getattr(network, "layers", ()):
                found |= _written(inner)
    return found


def _check_blobs(
    spec: coremltools.proto.Model_pb2.Model,
    network: coremltools.proto.NeuralNetwork_pb2.NeuralNetwork,
) -> None:
    known = {port.name for port in spec.description.input}
    for layer in network.layers:
        missing = [name for name in layer.input if name not in known]
        if missing:
            raise ValueError(f"layer {layer.name} reads {missing[0]} before it is written")
        if len(layer.inputTensor) not in (0, len(layer.input)):
            raise ValueError(f"layer {layer.name} has ranks for some inputs only")
        known.update(_written(layer))
    lost = [port.name for port in spec.description.output if port.name not in known]
    if lost:
        raise ValueError(f"nothing writes output {lost[0]}")


def _shape(kind: type) -> tuple[object, ...]:
    """The element type and the sizes of a tensor, None for those that are not known."""
    if not types.is_tensor(kind):
        return (kind,)
    known = (int(d) if str(d).isdigit() else None for d in kind.get_shape())
    return (kind.get_primitive(), *known)


def _check_program(spec: coremltools.proto.Model_pb2.Model, weights: str) -> None:
    """coremltools' type inference accepts each operation, and gives the types of the file."""
    differences: list[str] = []
    add = milproto._load_operation

    def add_and_compare(context: object, operation: object) -> None:
        add(context, operation)
        for output in operation.outputs:
            inferred = _shape(context.get_var_from_name(output.name).sym_type)
            declared = _shape(proto_to_types(output.type))
            if inferred != declared:
                differences.append(f"{operation.type} {output.name}: {inferred}, not {declared}")

    milproto._load_operation = add_and_compare
    try:
        milproto.load(spec, spec.specificationVersion, weights)
    finally:
        milproto._load_operation = add
    if differences:
        raise ValueError("; ".join(differences[:3]))


def run(model: Path, arrays: Arrays, variant: str) -> Arrays:
    raise NotImplementedError("coremltools runs models on macOS only")
