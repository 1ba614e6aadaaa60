"""Inspects, validates, converts and runs neural-network model files.

>>> import nnsuite
>>> model = nnsuite.open("golden/cnn.onnx")
>>> model.format
'onnx'
"""

from ._core import version as _version
from ._errors import CheckError, Error, LimitError, UnsupportedError, UsageError
from ._model import Constants, Finding, Findings, Model, Port, Program, open
from ._tensor import DTYPES, Tensor, bfloat16, dtype_name, int4

__version__: str = _version()
__all__ = [
    "CheckError",
    "Constants",
    "DTYPES",
    "Error",
    "Finding",
    "Findings",
    "LimitError",
    "Model",
    "Port",
    "Program",
    "Tensor",
    "UnsupportedError",
    "UsageError",
    "bfloat16",
    "dtype_name",
    "int4",
    "open",
]
