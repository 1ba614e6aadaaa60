"""The onnx.backend, and ONNX's own tests of backends if the package onnx has them."""

import builtins
import re
import warnings

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")

import nnsuite  # noqa: E402
from nnsuite import backend  # noqa: E402


def test_a_model_runs(golden):
    model = onnx.load(golden / "cnn.onnx")
    assert backend.supports_device("CPU")
    assert not backend.supports_device("CUDA:0")
    assert backend.is_compatible(model)
    x = np.ones((2, 3, 32, 32), np.float32)
    prepared = backend.prepare(model)
    (y,) = prepared.run([x])
    assert y.shape == (2, 10)
    (one,) = prepared.run(x[:1])
    assert np.array_equal(one[0], y[0])
    (again,) = backend.run_model(model, {"image": x})
    assert np.array_equal(again, y)
    with pytest.raises(nnsuite.UnsupportedError):
        backend.prepare(model, "CUDA")


def test_a_node_runs():
    node = onnx.helper.make_node("Concat", ["a", "b"], ["c"], axis=0)
    a, b = np.zeros((1, 2), np.float32), np.ones((2, 2), np.float32)
    (c,) = backend.run_node(node, [a, b])
    assert np.array_equal(c, np.concatenate([a, b]))


def test_unsupported_models_are_not_compatible():
    node = onnx.helper.make_node("Foo", ["x"], ["y"], domain="com.example")
    x = onnx.helper.make_tensor_value_info("x", 1, [1])
    y = onnx.helper.make_tensor_value_info("y", 1, [1])
    graph = onnx.helper.make_graph([node], "g", [x], [y])
    opsets = [onnx.helper.make_opsetid("", 15), onnx.helper.make_opsetid("com.example", 1)]
    model = onnx.helper.make_model(graph, opset_imports=opsets)
    assert not backend.is_compatible(model)


def test_the_tests_of_onnx(monkeypatch):
    """Those of operators and small models; the others need files from the network."""
    import unittest

    from onnx.backend.test import BackendTest

    # Versions of onnx before 1.13 use names that NumPy 1.24 does not have any more.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("bool", "object"):
            if name not in vars(np):
                monkeypatch.setattr(np, name, getattr(builtins, name), raising=False)
        tests = BackendTest(backend.Backend, __name__)
        tests.include("_cpu$")
        suite = unittest.TestSuite()
        for name, case in tests.test_cases.items():
            if name != "OnnxBackendRealModelTest":
                suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
        result = unittest.TestResult()
        suite.run(result)
    bad = {
        test.id().rsplit(".", 1)[-1]: text.strip().splitlines()[-1]
        for test, text in result.failures + result.errors
    }
    skipped = len(result.skipped)
    passed = result.testsRun - skipped - len(bad)
    for name, text in bad.items():
        print(name, "|", text)
    print(f"onnx {onnx.__version__}: {passed} passed, {len(bad)} failed, {skipped} skipped")
    if result.testsRun == skipped:
        pytest.skip("the package onnx has no test data")
    unexpected = {n: t for n, t in bad.items() if not any(re.search(p, n) for p in UNSUPPORTED)}
    assert unexpected == {}


# By name, why a test of onnx 1.12 fails.
UNSUPPORTED = (
    # Inputs and outputs that are sequences or optionals: the backend takes and returns arrays.
    "sequence",
    "_seq_",
    "_opt_",
    "optional_has_element_empty",
    # Random numbers, which differ between implementations.
    "bernoulli",
    "training_dropout",
    # The package has bfloat16 numbers as integers, and tensors of another shape than the model's.
    "BFLOAT16",
    # The third digit of the updated tensors differs from the test's.
    "adam_multiple",
)
