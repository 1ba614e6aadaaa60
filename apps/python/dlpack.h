// Tensors as DLPack capsules, the form in which Python's array libraries exchange them without a
// copy. Contents are in the memory of the processor, contiguous.
#pragma once

#include <Python.h>
#include <nnsuite/nnsuite.h>

namespace nn::python {

// A capsule named "dltensor" that owns the tensor. nullptr, with a BufferError set and the tensor
// freed, for strings and elements under 8 bits.
PyObject* ExportDlpack(nnsuite_tensor* tensor);

// The tensor of such a capsule, whose contents it borrows; the capsule is used up. A code of the
// library; NNSUITE_OK without a tensor if a Python exception is set: BufferError for other devices,
// strides and element types.
int ImportDlpack(PyObject* capsule, nnsuite_tensor** tensor, nnsuite_error** error);

}  // namespace nn::python
