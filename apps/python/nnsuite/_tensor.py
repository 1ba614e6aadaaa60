"""Tensors and their element types in NumPy."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core


def _named(base: Any, name: str) -> np.dtype:
    """`base` with the name of a type that NumPy does not have, as its only field."""
    return np.dtype((base, {name: (base, 0)}))


#: The NumPy type of each element type. bfloat16 ("bf16") and floats of 8 bits are integers with the
#: bits of the number; types under 8 bits are bytes with two or four elements, the first one in the
#: lowest bits. The field of these types has the name of the element type.
DTYPES: Dict[str, np.dtype] = {
    "bool": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
    "bf16": _named(np.uint16, "bf16"),
}
for _name in ("f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0"):
    DTYPES[_name] = _named(np.uint8, _name)
for _name in ("i2", "i4", "u2", "u4", "f4e2m1"):
    DTYPES[_name] = _named(np.uint8, _name)

_BITS = {"i2": 2, "u2": 2, "i4": 4, "u4": 4, "f4e2m1": 4}
_NAMES = {t: n for n, t in DTYPES.items() if t.fields is None}

bfloat16 = DTYPES["bf16"]
int4 = DTYPES["i4"]


def dtype_name(dtype: Any) -> str:
    """The name of a NumPy type: "f32", "bf16". TypeError for types that no tensor has."""
    dtype = np.dtype(dtype)
    if dtype.fields is not None and len(dtype.fields) == 1:
        name = next(iter(dtype.fields))
        if name in DTYPES:
            return name
    name = _NAMES.get(dtype.newbyteorder("="))
    if name is None:
        raise TypeError(f"no tensor has elements of type {dtype}")
    return name


class Tensor:
    """An immutable tensor: an input or output of a run, or a constant of a model.

    NumPy arrays and DLPack tensors become tensors without a copy if they are contiguous and aligned
    to 16 bytes; they must not change as long as the tensor exists. A tensor becomes an array or a
    DLPack tensor without a copy; it must not be written.
    """

    __slots__ = ("_tensor",)

    def __init__(self, tensor: _core.Tensor) -> None:
        self._tensor = tensor

    @staticmethod
    def of(value: Any, dtype: Optional[str] = None, shape: Optional[Sequence[int]] = None) -> Tensor:
        """A tensor with the contents of an array, a DLPack tensor, or nested lists.

        dtype: the element type of lists, and of packed bytes ("i4"); arrays have their own.
        shape: that of packed elements, which the array of bytes does not have.
        """
        if isinstance(value, Tensor):
            return value
        if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__"):
            return Tensor.from_dlpack(value)
        if isinstance(value, np.ndarray):
            array = value
        elif dtype == "str":
            array = np.asarray(value, dtype=object)
        else:
            array = np.asarray(value, dtype=None if dtype is None else DTYPES[dtype])
        if array.dtype.kind in "OUS":
            return Tensor._of_strings(array)
        name = dtype_name(array.dtype) if dtype is None or shape is None else dtype
        if not array.flags.c_contiguous or array.dtype.byteorder == ">":
            array = np.array(array, array.dtype.newbyteorder("="), order="C")
        if name in _BITS and shape is None:
            raise TypeError(f"an array of packed {name} needs the shape of the tensor")
        dims = list(array.shape if shape is None else shape)
        return Tensor(_core.Tensor.from_array(array, name, dims))

    @staticmethod
    def _of_strings(array: np.ndarray) -> Tensor:
        strings: List[Union[str, bytes]] = [
            s if isinstance(s, bytes) else str(s) for s in array.ravel().tolist()
        ]
        return Tensor(_core.Tensor.from_strings(strings, list(array.shape)))

    @staticmethod
    def from_dlpack(value: Any) -> Tensor:
        """The tensor of an object with __dlpack__, in the memory of the processor."""
        return Tensor(_core.Tensor.from_dlpack(value.__dlpack__()))

    @property
    def dtype(self) -> str:
        """The element type: "f32", "bf16", "i4", "str"."""
        return self._tensor.dtype

    @property
    def shape(self) -> Tuple[int, ...]:
        return self._tensor.shape

    @property
    def nbytes(self) -> int:
        return self._tensor.nbytes

    def numpy(self) -> np.ndarray:
        """The elements as a read-only array without a copy, of the type DTYPES[dtype].

        Types under 8 bits are an array [bytes] of packed elements; see unpack(). Strings are copied
        to an array of Python strings, or of bytes where they are not UTF-8.
        """
        if self.dtype == "str":
            strings = self._tensor.strings()
            out = np.empty(len(strings), dtype=object)
            out[:] = [_text(s) for s in strings]
            return out.reshape(self.shape)
        array = self._tensor.bytes().view(DTYPES[self.dtype])
        return array if self.dtype in _BITS else array.reshape(self.shape)

    def unpack(self) -> np.ndarray:
        """The elements of a type under 8 bits, each as an int8 or uint8; a copy.

        Of "f4e2m1", the bits. Other types: numpy().
        """
        bits = _BITS.get(self.dtype)
        if bits is None:
            return self.numpy()
        packed = self._tensor.bytes()
        count = int(np.prod(self.shape, dtype=np.int64))
        shifts = np.arange(0, 8, bits, dtype=np.uint8)
        parts = (packed[:, None] >> shifts) & ((1 << bits) - 1)
        elements = parts.reshape(-1)[:count].astype(np.int8 if self.dtype[0] == "i" else np.uint8)
        if self.dtype[0] == "i":
            elements = np.where(elements >= 1 << (bits - 1), elements - (1 << bits), elements)
        return elements.astype(np.int8 if self.dtype[0] == "i" else np.uint8).reshape(self.shape)

    def float32(self) -> np.ndarray:
        """The elements as float32; of bfloat16 exactly."""
        if self.dtype == "bf16":
            bits = self._tensor.bytes().view(np.uint16).astype(np.uint32) << 16
            return bits.view(np.float32).reshape(self.shape)
        if self.dtype in _BITS:
            if self.dtype == "f4e2m1":
                raise TypeError("elements of type f4e2m1 have no NumPy type; see unpack()")
            return self.unpack().astype(np.float32)
        if DTYPES.get(self.dtype, bfloat16).fields is not None or self.dtype == "str":
            raise TypeError(f"elements of type {self.dtype} have no NumPy type")
        return self.numpy().astype(np.float32)

    def __array__(self, dtype: Any = None) -> np.ndarray:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def __dlpack__(self, stream: Any = None) -> Any:
        """A DLPack capsule without a copy; the consumer must not write."""
        if stream is not None:
            raise BufferError("tensors in the memory of the processor have no stream")
        return self._tensor.dlpack()

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (1, 0)

    def __repr__(self) -> str:
        return f"<nnsuite.Tensor {self.dtype}{list(self.shape)}>"


def _text(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def tensors_of(samples: Sequence[Sequence[Any]]) -> List[List[_core.Tensor]]:
    """Samples of all inputs, in their order."""
    return [[Tensor.of(value)._tensor for value in sample] for sample in samples]
