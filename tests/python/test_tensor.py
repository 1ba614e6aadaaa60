import gc
import weakref

import numpy as np
import pytest

import nnsuite

# The numbers of ONNX's element types.
ONNX_TYPES = {
    "f32": 1, "u8": 2, "i8": 3, "u16": 4, "i16": 5, "i32": 6, "i64": 7, "bool": 9, "f16": 10,
    "f64": 11, "u32": 12, "u64": 13, "bf16": 16,
}  # fmt: skip


@pytest.mark.parametrize("name", ONNX_TYPES)
def test_every_type_goes_through_a_run(identity, name):
    dtype = nnsuite.DTYPES[name]
    bits = np.arange(6, dtype=np.uint8).repeat(dtype.itemsize) % (2 if name == "bool" else 60)
    x = bits.view(dtype).reshape(3, 2)
    y = identity(ONNX_TYPES[name]).run(x)["y"]
    assert y.dtype == dtype
    assert nnsuite.dtype_name(y.dtype) == name
    assert y.tobytes() == x.tobytes()
    assert not y.flags.writeable


def test_strings(identity):
    x = np.array([["a", "bc"], ["", "ü"], ["d", "e"]])
    y = identity(8).run(x)["y"]
    assert y.tolist() == x.tolist()


def test_packed_types():
    packed = np.array([0x21, 0x8F], np.uint8)
    tensor = nnsuite.Tensor.of(packed, "i4", [3])
    assert tensor.shape == (3,)
    assert tensor.unpack().tolist() == [1, 2, -1]
    assert tensor.numpy().tolist() == packed.tolist()
    assert nnsuite.dtype_name(tensor.numpy().dtype) == "i4"
    assert nnsuite.Tensor.of(packed, "u4", [2, 2]).unpack().tolist() == [[1, 2], [15, 8]]
    assert nnsuite.Tensor.of(packed, "i2", [5]).unpack().tolist() == [1, 0, -2, 0, -1]
    with pytest.raises(TypeError, match="needs the shape"):
        nnsuite.Tensor.of(packed.view(nnsuite.int4))


def test_bfloat16():
    bits = np.array([0x3F80, 0xC020], np.uint16)
    tensor = nnsuite.Tensor.of(bits.view(nnsuite.bfloat16))
    assert tensor.dtype == "bf16"
    assert tensor.float32().tolist() == [1, -2.5]
    assert tensor.numpy().view(np.uint16).tolist() == bits.tolist()


def test_arrays_are_not_copied():
    x = np.empty((8, 8), np.float32)
    x[:] = np.arange(64).reshape(8, 8)
    address = x.__array_interface__["data"][0]
    tensor = nnsuite.Tensor.of(x)
    view = tensor.numpy()
    assert view.__array_interface__["data"][0] == address
    watched = weakref.ref(x)
    del x
    gc.collect()
    assert watched() is not None  # the tensor keeps it
    del tensor
    gc.collect()
    assert view[7, 7] == 63  # and the view keeps the tensor
    del view
    gc.collect()
    assert watched() is None


def test_arrays_of_other_layouts_are_copied():
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    assert nnsuite.Tensor.of(x.T).numpy().tolist() == x.T.tolist()
    assert nnsuite.Tensor.of(x[:, 1:3]).numpy().tolist() == x[:, 1:3].tolist()
    assert nnsuite.Tensor.of(x.astype(">i4")).numpy().tolist() == x.tolist()
    assert nnsuite.Tensor.of(np.float32(3)).shape == ()
    empty = nnsuite.Tensor.of(np.zeros((0, 3), np.float32))
    assert empty.shape == (0, 3)
    assert empty.numpy().shape == (0, 3)
    with pytest.raises(TypeError, match="no tensor has elements"):
        nnsuite.Tensor.of(np.zeros(3, "datetime64[s]"))


def test_dlpack():
    x = np.arange(6, dtype=np.int64).reshape(2, 3)

    class Other:
        """A library whose arrays are only known by the protocol."""

        def __dlpack__(self, stream=None):
            return x.__dlpack__()

    tensor = nnsuite.Tensor.of(Other())
    assert tensor.numpy().__array_interface__["data"][0] == x.__array_interface__["data"][0]
    assert tensor.__dlpack_device__() == (1, 0)
    back = np.from_dlpack(tensor)
    assert back.__array_interface__["data"][0] == x.__array_interface__["data"][0]
    del tensor
    gc.collect()
    assert back.tolist() == x.tolist()
    unused = nnsuite.Tensor.of(x).__dlpack__()
    del unused
    with pytest.raises(BufferError):
        nnsuite.Tensor.of(np.array(["a"])).__dlpack__()
    with pytest.raises(BufferError):
        nnsuite.Tensor.of(x).__dlpack__(stream=1)
    capsule = x.__dlpack__()

    class Used:
        def __dlpack__(self, stream=None):
            return capsule

    nnsuite.Tensor.from_dlpack(Used())
    with pytest.raises(ValueError):
        nnsuite.Tensor.from_dlpack(Used())

    class Strided:
        def __dlpack__(self, stream=None):
            return x.T.__dlpack__()

    with pytest.raises(BufferError, match="contiguous"):
        nnsuite.Tensor.from_dlpack(Strided())


def test_inputs_of_runs(identity):
    model = identity(1)
    lists = [[1, 2], [3, 4], [5, 6]]
    for inputs in (
        {"x": lists},
        [lists],
        {"x": np.array(lists, np.float32)},
        np.array(lists, np.float32),
        nnsuite.Tensor.of(lists, "f32"),
    ):
        assert model.run(inputs)["y"].tolist() == lists
    compiled = model.compile()
    assert compiled.run_tensors([lists])["y"].dtype == "f32"
    assert compiled.inputs[0].shape == (3, 2)
    assert compiled.inputs[0].type == "f32[3, 2]"
    with pytest.raises(nnsuite.UsageError):
        model.run(np.array(lists, np.float64))  # values are never converted silently
    with pytest.raises(nnsuite.UsageError, match="no input is named"):
        model.run({"z": lists})
    with pytest.raises(nnsuite.UsageError, match="1 inputs; 2 are given"):
        model.run([lists, lists])
    with pytest.raises(nnsuite.UsageError):
        model.run(np.zeros((2, 2), np.float32))
