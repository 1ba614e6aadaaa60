"""ML Programs of one operation or a few: coremltools' own tests of its operations.

The wheel of coremltools contains these tests. They build a program and compare what it computes on
macOS with the results of NumPy, torch or TensorFlow. Here, the comparison is replaced: the program,
the inputs and the results become a sample.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import random as sampling
import re
import shutil
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

os.environ["PYMIL_TEST_TARGETS"] = "mlprogram"
os.environ["INCLUDE_MIL_FP32_UNIT_TESTS"] = "1"

import coremltools  # noqa: E402
from coremltools.converters.mil import testing_utils  # noqa: E402

from peers.samples import Made, Recipe  # noqa: E402

CASES_PER_TEST = 24
"""Most tests have hundreds of parameters; a seeded choice of them is enough."""

FOLDERS = ("iOS14", "iOS15", "iOS16", "iOS17", "iOS18")


def _array(value: Any) -> np.ndarray:
    """What Core ML's multi-arrays can hold."""
    array = np.asarray(value)
    if array.dtype == np.float64:
        return array.astype(np.float32)
    return array.astype(np.int32) if array.dtype in (np.int64, np.bool_) else array


class Capture:
    """A plugin of pytest that keeps what the tests would run."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._test = folder, ""
        self._counter = itertools.count()
        self.cases: dict[str, Made] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        tests: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            tests[item.nodeid.split("[")[0]].append(item)
        choice = sampling.Random(1)
        items[:] = [
            item
            for group in tests.values()
            for item in choice.sample(group, min(len(group), CASES_PER_TEST))
        ]

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self._test = item.nodeid

    def compare(
        self,
        mlmodel: coremltools.models.MLModel,
        input_key_values: dict[str, Any],
        expected_outputs: dict[str, Any],
        dtype: str = "fp32",
        **_: Any,
    ) -> None:
        """Takes the place of coremltools' comparison."""
        spec = mlmodel.get_spec().description
        images = [f for f in spec.input if f.type.WhichOneof("Type") != "multiArrayType"]
        if not expected_outputs or images or spec.state:
            return
        name = f"{next(self._counter):05}"
        mlmodel.save(str(self._folder / name / "model.mlpackage"))
        inputs = {f.name: _array(input_key_values[f.name]) for f in spec.input}
        want = [_array(expected_outputs[f.name]) for f in spec.output]
        test = re.sub(r".*/tests/|\[.*", "", self._test).replace("/", "-").replace("::", "-")
        digest = hashlib.sha256(self._test.encode()).hexdigest()[:8]
        rtol = 3e-2 if dtype == "fp16" else 1e-4
        made = Made("model.mlpackage", inputs, ("random",), want, rtol)
        self.cases[f"{test}-{digest}-{name}"] = made

    def recipe(self, name: str, made: Made) -> Recipe:
        def make(folder: Path, _random: np.random.Generator) -> Made:
            source = self._folder / name.rsplit("-", 1)[1] / made.file
            shutil.copytree(source, folder / made.file)
            return made

        return Recipe(name, make)


def recipes() -> list[Recipe]:
    capture = Capture(Path(tempfile.mkdtemp(prefix="mil_operations")))
    testing_utils.compare_backend = capture.compare
    testing_utils.macos_compatible_with_deployment_target = lambda _target: True
    tests = Path(coremltools.__file__).parent / "converters/mil/mil/ops/tests"
    pytest.main(["-q", "--no-header", *(str(tests / folder) for folder in FOLDERS)], [capture])
    return [capture.recipe(name, made) for name, made in capture.cases.items()]
