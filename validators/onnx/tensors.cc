// Rules of constants and where their data stand.
#include <algorithm>

#include "base/checked_math.h"
#include "base/text.h"
#include "formats/onnx/tensor.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using T = pb::TensorProto;

constexpr int kDataFields[] = {T::kFloatDataFieldNumber,  T::kInt32DataFieldNumber,
                               T::kStringDataFieldNumber, T::kInt64DataFieldNumber,
                               T::kRawDataFieldNumber,    T::kDoubleDataFieldNumber,
                               T::kUint64DataFieldNumber};

// Where and how densely the elements of a type are stored.
struct Storage {
  int type;
  int field;          // typed list
  int raw_bits;       // bits of an element in raw_data; 0: not allowed there
  int per_entry = 1;  // elements in one entry of the list
  int entries = 1;    // entries of the list for one element
};

constexpr Storage kStorage[] = {
    {T::FLOAT, T::kFloatDataFieldNumber, 32},
    {T::UINT8, T::kInt32DataFieldNumber, 8},
    {T::INT8, T::kInt32DataFieldNumber, 8},
    {T::UINT16, T::kInt32DataFieldNumber, 16},
    {T::INT16, T::kInt32DataFieldNumber, 16},
    {T::INT32, T::kInt32DataFieldNumber, 32},
    {T::INT64, T::kInt64DataFieldNumber, 64},
    {T::STRING, T::kStringDataFieldNumber, 0},
    {T::BOOL, T::kInt32DataFieldNumber, 8},
    {T::FLOAT16, T::kInt32DataFieldNumber, 16},
    {T::DOUBLE, T::kDoubleDataFieldNumber, 64},
    {T::UINT32, T::kUint64DataFieldNumber, 32},
    {T::UINT64, T::kUint64DataFieldNumber, 64},
    {T::COMPLEX64, T::kFloatDataFieldNumber, 64, 1, 2},
    {T::COMPLEX128, T::kDoubleDataFieldNumber, 128, 1, 2},
    {T::BFLOAT16, T::kInt32DataFieldNumber, 16},
    {T::FLOAT8E4M3FN, T::kInt32DataFieldNumber, 8},
    {T::FLOAT8E4M3FNUZ, T::kInt32DataFieldNumber, 8},
    {T::FLOAT8E5M2, T::kInt32DataFieldNumber, 8},
    {T::FLOAT8E5M2FNUZ, T::kInt32DataFieldNumber, 8},
    {T::FLOAT8E8M0, T::kInt32DataFieldNumber, 8},
    {T::UINT4, T::kInt32DataFieldNumber, 4, 8},
    {T::INT4, T::kInt32DataFieldNumber, 4, 8},
    {T::FLOAT4E2M1, T::kInt32DataFieldNumber, 4, 8},
    {T::UINT2, T::kInt32DataFieldNumber, 2, 16},
    {T::INT2, T::kInt32DataFieldNumber, 2, 16},
};

const Storage* StorageOf(const T& tensor) {
  for (const Storage& s : kStorage)
    if (s.type == tensor.data_type()) return &s;
  return nullptr;
}

std::string FieldName(int number) {
  return T::descriptor()->FindFieldByNumber(number)->name();
}

std::string Name(const TensorAt& t) {
  return t.tensor->name().empty() ? "the tensor" : "tensor " + Quote(t.tensor->name());
}

bool IsExternal(const T& tensor) {
  return tensor.data_location() == T::EXTERNAL;
}

std::optional<int64_t> Elements(const T& tensor) {
  return CheckedElements(std::span(tensor.dims().data(), static_cast<size_t>(tensor.dims_size())));
}

// The data fields that are used.
std::vector<int> UsedFields(const Subject& s, const T& tensor) {
  std::vector<int> used;
  for (const int field : kDataFields)
    if (s.Has(tensor, field) && s.SizeOf(tensor, field) > 0) used.push_back(field);
  return used;
}

void TypeKnown(const Subject& s, Findings& f) {
  for (const TensorAt& t : s.tensors())
    if (StorageOf(*t.tensor) == nullptr)
      f.Add(s.Where(t, "data_type"), "{} has data_type {}", Name(t), t.tensor->data_type());
}

void DimensionsNatural(const Subject& s, Findings& f) {
  for (const TensorAt& t : s.tensors())
    if (!Elements(*t.tensor))
      f.Add(s.Where(t, "dims"), "{} has a negative dimension or more than 2^63 elements", Name(t));
}

void OneDataField(const Subject& s, Findings& f) {
  for (const TensorAt& t : s.tensors()) {
    const auto elements = Elements(*t.tensor);
    if (!elements || IsExternal(*t.tensor)) continue;
    const size_t used = UsedFields(s, *t.tensor).size();
    if (*elements == 0 ? used > 0 : used != 1)
      f.Add(s.Where(t), "{} has {} elements and {} data fields", Name(t), *elements, used);
  }
}

void FieldFitsType(const Subject& s, Findings& f) {
  for (const TensorAt& t : s.tensors()) {
    const Storage* storage = StorageOf(*t.tensor);
    if (storage == nullptr || IsExternal(*t.tensor)) continue;
    for (const int field : UsedFields(s, *t.tensor)) {
      const bool raw = field == T::kRawDataFieldNumber;
      if (raw ? storage->raw_bits == 0 : field != storage->field)
        f.Add(s.Where(t, FieldName(field)), "{} is of type {} and has its data in {} instead of {}",
              Name(t), DataTypeName(t.tensor->data_type()), FieldName(field),
              FieldName(storage->field));
    }
  }
}

void SizeFitsShape(const Subject& s, Findings& f) {
  for (const TensorAt& t : s.tensors()) {
    const Storage* storage = StorageOf(*t.tensor);
    const auto elements = Elements(*t.tensor);
    if (storage == nullptr || !elements || IsExternal(*t.tensor)) continue;
    const auto used = UsedFields(s, *t.tensor);
    if (used.size() != 1 || *elements == 0) continue;
    const bool raw = used[0] == T::kRawDataFieldNumber;
    if (raw ? storage->raw_bits == 0 : used[0] != storage->field) continue;
    const auto total = CheckedMul<int64_t>(*elements, raw ? storage->raw_bits : storage->entries);
    const int64_t unit = raw ? 8 : storage->per_entry;
    const uint64_t have = s.SizeOf(*t.tensor, used[0]);
    if (!total)
      f.Add(s.Where(t), "{} needs more than 2^63 bits", Name(t));
    else if (const auto need = static_cast<uint64_t>(CeilDiv(*total, unit)); have != need)
      f.Add(s.Where(t, FieldName(used[0])), "{} has {} {} in {}; its type and shape need {}",
            Name(t), have, raw ? "bytes" : "entries", FieldName(used[0]), need);
  }
}

void NotSegmented(const Subject& s, Findings& f) {
  for (const TensorAt& t : s.tensors()) {
    if (!t.tensor->has_segment()) continue;
    const auto& segment = t.tensor->segment();
    if (segment.begin() < 0 || segment.end() < segment.begin())
      f.Add(s.Where(t, "segment"), "the segment of {} is {} to {}", Name(t), segment.begin(),
            segment.end());
  }
}

constexpr Rule kRules[] = {
    {{"ONNX-TENSOR-001", Severity::kError, "A tensor has a known data_type.",
      "onnx.proto, TensorProto.DataType", true, ""},
     TypeKnown},
    {{"ONNX-TENSOR-002", Severity::kError,
      "Dimensions are not negative and their product fits into 63 bits.",
      "onnx.proto, TensorProto.dims", true, ""},
     DimensionsNatural},
    {{"ONNX-TENSOR-003", Severity::kError,
      "A tensor has its data in exactly one field; one without elements in none.",
      "onnx.proto, TensorProto", true, ""},
     OneDataField},
    {{"ONNX-TENSOR-004", Severity::kError, "Data stand in raw_data or the field of their type.",
      "onnx.proto, TensorProto", true, "Strings stand in string_data only."},
     FieldFitsType},
    {{"ONNX-TENSOR-005", Severity::kError, "The data have the size that type and shape give.",
      "onnx.proto, TensorProto", true, "Correct dims, or store the data again."},
     SizeFitsShape},
    {{"ONNX-TENSOR-006", Severity::kError, "A segment is a range.",
      "onnx.proto, TensorProto.Segment", false, ""},
     NotSegmented},
};

}  // namespace

std::span<const Rule> TensorRules() {
  return kRules;
}

}  // namespace nn::onnx
