"""Inspects, validates, converts and runs neural-network model files.

>>> import nnsuite
>>> model = nnsuite.open("golden/cnn.onnx")
>>> model.format
'onnx'
"""

from ._core import version as _version
from ._errors import CheckError, Error, InternalError, LimitError, UnsupportedError, UsageError
from ._model import (
    Constants,
    Finding,
    Findings,
    Model,
    Port,
    Program,
    convert_folder,
    open,
    simd_targets,
    use_simd_target,
)
from ._tensor import DTYPES, Tensor, bfloat16, dtype_name, int4

__version__: str = _version()
# Without `open`, which would hide the built-in function.
__all__ = [
    "CheckError",
    "Constants",
    "DTYPES",
    "Error",
    "Finding",
    "Findings",
    "InternalError",
    "LimitError",
    "Model",
    "Port",
    "Program",
    "Tensor",
    "UnsupportedError",
    "UsageError",
    "bfloat16",
    "convert_folder",
    "dtype_name",
    "int4",
    "simd_targets",
    "use_simd_target",
]
