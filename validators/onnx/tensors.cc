// Rules for constants and their data.
#include <algorithm>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "formats/onnx/file/tensor.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using T = pb::TensorProto;

constexpr int kDataFields[] = {T::kFloatDataFieldNumber,  T::kInt32DataFieldNumber,
                               T::kStringDataFieldNumber, T::kInt64DataFieldNumber,
                               T::kRawDataFieldNumber,    T::kDoubleDataFieldNumber,
                               T::kUint64DataFieldNumber};

// How the elements of a type are stored.
struct Storage {
  int type;
  int field;          // typed list
  int raw_bits;       // bits of an element in raw_data; 0: not allowed there
  int per_entry = 1;  // elements in one entry of the list
  int entries = 1;    // entries of the list for one element
  // Like per_entry, for types of which onnx.proto packs fewer elements into an entry than
  // onnx.checker expects.
  int per_entry_in_text = 1;
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
    {T::UINT4, T::kInt32DataFieldNumber, 4, 8, 1, 2},
    {T::INT4, T::kInt32DataFieldNumber, 4, 8, 1, 2},
    {T::FLOAT4E2M1, T::kInt32DataFieldNumber, 4, 8, 1, 2},
    {T::UINT2, T::kInt32DataFieldNumber, 2, 16, 1, 4},
    {T::INT2, T::kInt32DataFieldNumber, 2, 16, 1, 4},
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

// The product of the dimensions, multiplied in order as onnx.checker does; nullopt if one is
// negative or an intermediate product does not fit into 63 bits.
std::optional<int64_t> Elements(const T& tensor) {
  int64_t product = 1;
  for (const int64_t d : tensor.dims()) {
    const auto next = CheckedMul<int64_t>(product, d);
    if (d < 0 || !next) return std::nullopt;
    product = *next;
  }
  return product;
}

// Entries of a data field in the message, without reflection: there can be millions of tensors.
int64_t InlineEntries(const T& tensor, int field) {
  switch (field) {
    case T::kFloatDataFieldNumber:
      return tensor.float_data_size();
    case T::kInt32DataFieldNumber:
      return tensor.int32_data_size();
    case T::kStringDataFieldNumber:
      return tensor.string_data_size();
    case T::kInt64DataFieldNumber:
      return tensor.int64_data_size();
    case T::kRawDataFieldNumber:
      return static_cast<int64_t>(tensor.raw_data().size());
    case T::kDoubleDataFieldNumber:
      return tensor.double_data_size();
    default:
      return tensor.uint64_data_size();
  }
}

bool IsUsed(const RuleContext& s, const T& tensor, int field) {
  if (InlineEntries(tensor, field) > 0) return true;
  const auto payload = s.native().payloads.Find(tensor, field);
  return payload && payload->size() > 0;
}

// The data fields that are not empty.
std::vector<int> UsedFields(const RuleContext& s, const T& tensor) {
  std::vector<int> used;
  for (const int field : kDataFields)
    if (IsUsed(s, tensor, field)) used.push_back(field);
  return used;
}

// True if onnx.checker accepts the data without knowing its type.
bool IsOpaque(const RuleContext& s, const T& tensor) {
  return IsExternal(tensor) || IsUsed(s, tensor, T::kRawDataFieldNumber);
}

void FindUnknownTypes(const RuleContext& s, Findings& f, bool opaque) {
  for (const TensorAt& t : s.tensors()) {
    if (StorageOf(*t.tensor) != nullptr) continue;
    if (opaque == (t.tensor->data_type() != T::UNDEFINED && IsOpaque(s, *t.tensor)))
      f.Add(s.Where(t, "data_type"), "{} has data_type {}, which is not a known type", Name(t),
            t.tensor->data_type());
  }
}

void TypeKnown(const RuleContext& s, Findings& f) {
  FindUnknownTypes(s, f, false);
}

void OpaqueTypeKnown(const RuleContext& s, Findings& f) {
  FindUnknownTypes(s, f, true);
}

void FindBadDimensions(const RuleContext& s, Findings& f, bool external) {
  for (const TensorAt& t : s.tensors())
    if (IsExternal(*t.tensor) == external && !Elements(*t.tensor))
      f.Add(s.Where(t, "dims"), "{} has a negative dimension, or 2^63 elements or more", Name(t));
}

void TensorDimensionsNatural(const RuleContext& s, Findings& f) {
  FindBadDimensions(s, f, false);
}

void ExternalDimensionsNatural(const RuleContext& s, Findings& f) {
  FindBadDimensions(s, f, true);
}

void OneDataField(const RuleContext& s, Findings& f) {
  for (const TensorAt& t : s.tensors()) {
    const auto elements = Elements(*t.tensor);
    if (!elements || IsExternal(*t.tensor)) continue;
    const size_t used = UsedFields(s, *t.tensor).size();
    if (*elements == 0 && used > 0)
      f.Add(s.Where(t), "{} has no elements, but has data", Name(t));
    else if (*elements > 0 && used == 0)
      f.Add(s.Where(t), "{} has elements, but no data", Name(t));
    else if (*elements > 0 && used > 1)
      f.Add(s.Where(t), "{} has data in {} fields; must be in one", Name(t), used);
  }
}

void FieldFitsType(const RuleContext& s, Findings& f) {
  for (const TensorAt& t : s.tensors()) {
    const Storage* storage = StorageOf(*t.tensor);
    if (storage == nullptr || IsExternal(*t.tensor)) continue;
    for (const int field : UsedFields(s, *t.tensor)) {
      const bool raw = field == T::kRawDataFieldNumber;
      if (raw ? storage->raw_bits == 0 : field != storage->field)
        f.Add(s.Where(t, FieldName(field)), "{} has type {}, but its data is in {} instead of {}",
              Name(t), DataTypeName(t.tensor->data_type()), FieldName(field),
              FieldName(storage->field));
    }
  }
}

// What may be wrong with the size of data. onnx.checker accepts kTooShortForText.
enum class SizeDefect : uint8_t { kTooShort, kTooShortForText, kTooLong };

void FindWrongSizes(const RuleContext& s, Findings& f, SizeDefect defect) {
  for (const TensorAt& t : s.tensors()) {
    const Storage* storage = StorageOf(*t.tensor);
    const auto elements = Elements(*t.tensor);
    if (storage == nullptr || !elements || IsExternal(*t.tensor)) continue;
    const auto used = UsedFields(s, *t.tensor);
    if (used.size() != 1 || *elements == 0) continue;
    const bool raw = used[0] == T::kRawDataFieldNumber;
    if (raw ? storage->raw_bits == 0 : used[0] != storage->field) continue;
    const auto total = CheckedMul<int64_t>(*elements, raw ? storage->raw_bits : storage->entries);
    const uint64_t have = s.SizeOf(*t.tensor, used[0]);
    if (!total) {
      if (defect == SizeDefect::kTooShort)
        f.Add(s.Where(t), "{} requires 2^63 bits or more", Name(t));
      continue;
    }
    const auto least =
        static_cast<uint64_t>(CeilDiv(*total, int64_t{raw ? 8 : storage->per_entry}));
    const uint64_t in_text =
        raw ? least : static_cast<uint64_t>(CeilDiv(*total, int64_t{storage->per_entry_in_text}));
    const uint64_t need = defect == SizeDefect::kTooShort ? least : in_text;
    if (defect == SizeDefect::kTooShort          ? have < least
        : defect == SizeDefect::kTooShortForText ? have >= least && have < in_text
                                                 : have > in_text)
      f.Add(s.Where(t, FieldName(used[0])), "{} has {} {} in {}; its type and shape require {}",
            Name(t), have, raw ? "bytes" : "entries", FieldName(used[0]), need);
  }
}

void DataComplete(const RuleContext& s, Findings& f) {
  FindWrongSizes(s, f, SizeDefect::kTooShort);
}

void PackedDataComplete(const RuleContext& s, Findings& f) {
  FindWrongSizes(s, f, SizeDefect::kTooShortForText);
}

void NoDataLeft(const RuleContext& s, Findings& f) {
  FindWrongSizes(s, f, SizeDefect::kTooLong);
}

// The values that an entry of int32_data may have.
struct EntryRange {
  int type;
  int32_t least;
  int32_t most;
};

constexpr EntryRange kEntryRanges[] = {
    {T::UINT8, 0, 255},
    {T::INT8, -128, 127},
    {T::UINT16, 0, 65535},
    {T::INT16, -32768, 32767},
    {T::BOOL, 0, 1},
    {T::FLOAT16, 0, 65535},
    {T::BFLOAT16, 0, 65535},
    {T::FLOAT8E4M3FN, 0, 255},
    {T::FLOAT8E4M3FNUZ, 0, 255},
    {T::FLOAT8E5M2, 0, 255},
    {T::FLOAT8E5M2FNUZ, 0, 255},
    {T::FLOAT8E8M0, 0, 255},
};

void EntriesInRange(const RuleContext& s, Findings& f) {
  for (const TensorAt& t : s.tensors())
    for (const EntryRange& range : kEntryRanges) {
      if (range.type != t.tensor->data_type()) continue;
      const auto& data = t.tensor->int32_data();
      const auto bad = std::find_if(data.begin(), data.end(),
                                    [&](int32_t v) { return v < range.least || v > range.most; });
      if (bad != data.end())
        f.Add(s.Where(t, "int32_data"), "entry {} of {} is {}; must be {} to {} for {}",
              bad - data.begin(), Name(t), *bad, range.least, range.most, DataTypeName(range.type));
    }
}

void RawBooleans(const RuleContext& s, Findings& f) {
  for (const TensorAt& t : s.tensors()) {
    if (t.tensor->data_type() != T::BOOL || IsExternal(*t.tensor)) continue;
    const auto blob = s.native().payloads.Find(*t.tensor, T::kRawDataFieldNumber);
    const std::span<const std::byte> raw =
        blob ? blob->bytes() : std::as_bytes(std::span(t.tensor->raw_data()));
    const auto bad =
        std::find_if(raw.begin(), raw.end(), [](std::byte b) { return b > std::byte{1}; });
    if (bad != raw.end())
      f.Add(s.Where(t, "raw_data"), "byte {} of {} is {}; must be 0 or 1", bad - raw.begin(),
            Name(t), std::to_integer<int>(*bad));
  }
}

void StringsWellFormed(const RuleContext& s, Findings& f) {
  for (const TensorAt& t : s.tensors())
    for (int i = 0; i < t.tensor->string_data_size(); ++i) {
      const std::string& text = t.tensor->string_data(i);
      if (!IsUtf8(text) || text.starts_with("\xEF\xBB\xBF") || text.ends_with('\0')) {
        f.Add(s.Where(t, fmt::format("string_data[{}]", i)),
              "element {} of {} is {}, which is not UTF-8 or has a byte order mark or a trailing "
              "null "
              "character",
              i, Name(t), Quote(text));
        break;
      }
    }
}

void NotSegmented(const RuleContext& s, Findings& f) {
  for (const TensorAt& t : s.tensors()) {
    if (!t.tensor->has_segment()) continue;
    const auto& segment = t.tensor->segment();
    if (segment.begin() < 0 || segment.end() < segment.begin())
      f.Add(s.Where(t, "segment"), "the segment of {} is {} to {}, which is not a valid range",
            Name(t), segment.begin(), segment.end());
  }
}

constexpr Rule kTensorRules[] = {
    {.info = {.id = "ONNX-TENSOR-001",
              .statement = "Every tensor has a data_type, which is a known TensorProto.DataType "
                           "unless the data is raw or external.",
              .clause = "onnx.proto, TensorProto.DataType",
              .vendor = true,
              .hint = "Set data_type to a TensorProto.DataType other than UNDEFINED."},
     .check = TypeKnown},
    {.info = {.id = "ONNX-TENSOR-002",
              .statement = "The dimensions of a tensor that is not external are not negative, and "
                           "their product fits into 63 bits.",
              .clause = "onnx.proto, TensorProto.dims",
              .vendor = true,
              .hint = "Set dims to the shape of the stored data."},
     .check = TensorDimensionsNatural},
    {.info = {.id = "ONNX-TENSOR-003",
              .statement = "A tensor that is not external has its data in exactly one field, or in "
                           "none if it has no elements.",
              .clause = "onnx.proto, TensorProto",
              .vendor = true,
              .hint = "Keep the data in one field, and store none for a tensor without elements."},
     .check = OneDataField},
    {.info = {.id = "ONNX-TENSOR-004",
              .statement = "The data of a tensor is in the field for its data_type or in raw_data, "
                           "and strings are in string_data only.",
              .clause = "onnx.proto, TensorProto",
              .vendor = true,
              .hint =
                  "Move the data to the field for its type or, unless it is strings, to raw_data."},
     .check = FieldFitsType},
    {.info = {.id = "ONNX-TENSOR-005",
              .statement = "A tensor has at least as much data as its type and shape require.",
              .clause = "onnx.proto, TensorProto",
              .vendor = true,
              .hint = "Correct dims, or store the missing data."},
     .check = DataComplete},
    {.info = {.id = "ONNX-TENSOR-006",
              .statement = "The segment of a tensor has a begin that is not negative and an end "
                           "that is not less than begin.",
              .clause = "onnx.proto, TensorProto.Segment",
              .hint = "Set begin and end to the range that the segment holds."},
     .check = NotSegmented},
    {.info = {.id = "ONNX-TENSOR-007",
              .statement = "A tensor has no more data than its type and shape require.",
              .clause = "onnx.proto, TensorProto",
              .hint = "Correct dims, or remove the extra data."},
     .check = NoDataLeft},
    {.info = {.id = "ONNX-TENSOR-008",
              .statement = "A tensor with raw or external data has a known data_type.",
              .clause = "onnx.proto, TensorProto.DataType",
              .hint = "Set data_type to a TensorProto.DataType."},
     .check = OpaqueTypeKnown},
    {.info = {.id = "ONNX-TENSOR-009",
              .statement = "The dimensions of an external tensor are not negative, and their "
                           "product fits into 63 bits.",
              .clause = "onnx.proto, TensorProto.dims",
              .hint = "Set dims to the shape of the external data."},
     .check = ExternalDimensionsNatural},
    {.info = {.id = "ONNX-TENSOR-010",
              .statement = "Every entry of int32_data is in the range of the tensor's data_type.",
              .clause = "onnx.proto, TensorProto.int32_data",
              .hint =
                  "Store only values of the type; floating-point values are stored as their bits."},
     .check = EntriesInRange},
    {.info = {.id = "ONNX-TENSOR-011",
              .statement = "Every byte in raw_data of a BOOL tensor is 0 or 1.",
              .clause = "onnx.proto, TensorProto.raw_data",
              .hint = "Store each boolean as the byte 0 or 1."},
     .check = RawBooleans},
    {.info = {.id = "ONNX-TENSOR-012",
              .statement = "The strings of a tensor are UTF-8, without a byte order mark or a "
                           "trailing null character.",
              .clause = "onnx.proto, TensorProto.string_data",
              .hint = "Encode the strings as UTF-8, without a byte order mark or a trailing null "
                      "character."},
     .check = StringsWellFormed},
    {.info = {.id = "ONNX-TENSOR-013",
              .statement =
                  "An entry of int32_data holds two elements of 4 bits, or four of 2 bits, "
                  "so there are as many entries as these require.",
              .clause = "onnx.proto, TensorProto.int32_data",
              .hint = "Store one byte of packed elements in each entry, or the bytes in raw_data."},
     .check = PackedDataComplete},
};

}  // namespace

std::span<const Rule> TensorRules() {
  return kTensorRules;
}

}  // namespace nn::onnx
