#include "apps/python/dlpack.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace nn::python {
namespace {

// The structures of DLPack before version 1, by which the capsule is named "dltensor".
struct DlDevice {
  int32_t type;  // 1: the processor
  int32_t id;
};
struct DlDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DlTensor {
  void* data;
  DlDevice device;
  int32_t rank;
  DlDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: contiguous
  uint64_t byte_offset;
};
struct DlManagedTensor {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManagedTensor*);
};

constexpr int32_t kProcessor = 1;
constexpr const char* kName = "dltensor";
constexpr const char* kUsedName = "used_dltensor";

struct TypeName {
  std::string_view name;
  DlDataType type;
};
constexpr TypeName kTypes[] = {
    {"bool", {6, 8, 1}},  {"i8", {0, 8, 1}},   {"i16", {0, 16, 1}},   {"i32", {0, 32, 1}},
    {"i64", {0, 64, 1}},  {"u8", {1, 8, 1}},   {"u16", {1, 16, 1}},   {"u32", {1, 32, 1}},
    {"u64", {1, 64, 1}},  {"f16", {2, 16, 1}}, {"f32", {2, 32, 1}},   {"f64", {2, 64, 1}},
    {"bf16", {4, 16, 1}}, {"c64", {5, 64, 1}}, {"c128", {5, 128, 1}},
};

// An exported tensor with what its DlTensor points to.
struct Exported {
  DlManagedTensor managed = {};
  nnsuite_tensor* tensor = nullptr;
  std::vector<int64_t> shape;

  ~Exported() { nnsuite_tensor_free(tensor); }
};

void DeleteExported(DlManagedTensor* managed) {
  delete static_cast<Exported*>(managed->context);
}

// A capsule that nobody used.
void DeleteCapsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kName) == 0) return;
  auto* const managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, kName));
  managed->deleter(managed);
}

void ReleaseImported(void* context) {
  auto* const managed = static_cast<DlManagedTensor*>(context);
  if (managed->deleter == nullptr || Py_IsInitialized() == 0) return;
  const PyGILState_STATE state = PyGILState_Ensure();  // deleters may use Python objects
  managed->deleter(managed);
  PyGILState_Release(state);
}

bool IsContiguous(const DlTensor& t) {
  if (t.strides == nullptr) return true;
  int64_t stride = 1;
  for (int32_t i = t.rank - 1; i >= 0; --i) {
    if (t.shape[i] == 0) return true;
    if (t.shape[i] != 1 && t.strides[i] != stride) return false;
    stride *= t.shape[i];
  }
  return true;
}

const TypeName* NameOf(const DlDataType& type) {
  for (const TypeName& t : kTypes)
    if (t.type.code == type.code && t.type.bits == type.bits && type.lanes == 1) return &t;
  return nullptr;
}

}  // namespace

PyObject* ExportDlpack(nnsuite_tensor* tensor) {
  auto out = std::make_unique<Exported>();
  out->tensor = tensor;
  const std::string_view name = nnsuite_tensor_dtype(tensor);
  const TypeName* found = nullptr;
  for (const TypeName& t : kTypes)
    if (t.name == name) found = &t;
  if (found == nullptr) {
    PyErr_Format(PyExc_BufferError, "DLPack has no elements of type %s", name.data());
    return nullptr;
  }
  const int64_t* const shape = nnsuite_tensor_shape(tensor);
  out->shape.assign(shape, shape + nnsuite_tensor_rank(tensor));
  out->managed = {{const_cast<void*>(nnsuite_tensor_bytes(tensor)),
                   {kProcessor, 0},
                   static_cast<int32_t>(out->shape.size()),
                   found->type,
                   out->shape.data(),
                   nullptr,
                   0},
                  out.get(),
                  DeleteExported};
  PyObject* const capsule = PyCapsule_New(&out->managed, kName, DeleteCapsule);
  if (capsule != nullptr) (void)out.release();  // owned by the capsule
  return capsule;
}

int ImportDlpack(PyObject* capsule, nnsuite_tensor** tensor, nnsuite_error** error) {
  *tensor = nullptr;
  auto* const managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, kName));
  if (managed == nullptr) return NNSUITE_OK;
  const DlTensor& t = managed->tensor;
  const TypeName* const type = NameOf(t.dtype);
  if (t.device.type != kProcessor || !IsContiguous(t) || type == nullptr) {
    PyErr_SetString(PyExc_BufferError,
                    t.device.type != kProcessor ? "the tensor is on another device; copy it to "
                                                  "the CPU"
                    : type == nullptr           ? "the type of the elements is not supported"
                                                : "the tensor is not contiguous");
    return NNSUITE_OK;
  }
  size_t size = t.dtype.bits / 8;
  for (int32_t i = 0; i < t.rank; ++i) size *= static_cast<size_t>(t.shape[i]);
  const int code = nnsuite_tensor_create(type->name.data(), t.shape, static_cast<size_t>(t.rank),
                                         static_cast<const char*>(t.data) + t.byte_offset, size,
                                         ReleaseImported, managed, tensor, error);
  if (code == NNSUITE_OK) PyCapsule_SetName(capsule, kUsedName);
  return code;
}

}  // namespace nn::python
