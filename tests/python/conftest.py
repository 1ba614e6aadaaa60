"""Models that several tests use."""

import os
import pathlib

import pytest

import nnsuite

SOURCE = pathlib.Path(os.environ.get("NN_SOURCE_DIR", pathlib.Path(__file__).parents[2]))


@pytest.fixture
def golden():
    return SOURCE / "golden"


@pytest.fixture
def cnn(golden):
    return nnsuite.open(golden / "cnn.onnx")


@pytest.fixture
def identity():
    """A model that returns its input, of any type, as TYPE[3, 2]."""

    def make(elem_type, shape=(3, 2), name="identity"):
        dims = " ".join(f"dim {{ dim_value: {d} }}" for d in shape)
        tensor = f"type {{ tensor_type {{ elem_type: {elem_type} shape {{ {dims} }} }} }}"
        text = (
            f'ir_version: 10 opset_import {{ version: 23 }} graph {{ name: "{name}"'
            f' node {{ input: "x" output: "y" op_type: "Identity" }}'
            f' input {{ name: "x" {tensor} }} output {{ name: "y" {tensor} }} }}'
        )
        return nnsuite.Model.from_bytes(text.encode(), "identity.textproto")

    return make
