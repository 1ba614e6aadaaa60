// Rules of tensor data in other files.
#include <charconv>
#include <filesystem>
#include <optional>

#include "base/checked_math.h"
#include "base/file.h"
#include "base/text.h"
#include "formats/onnx/tensor.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using T = pb::TensorProto;

const std::string* Entry(const T& tensor, std::string_view key) {
  for (const auto& entry : tensor.external_data())
    if (entry.key() == key) return &entry.value();
  return nullptr;
}

std::optional<uint64_t> Number(const std::string& text) {
  uint64_t value = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

// A relative path without "..".
bool IsBeneath(const std::string& location) {
  const std::filesystem::path path(location);
  if (location.empty() || location.find('\0') != std::string::npos || path.is_absolute())
    return false;
  for (const auto& part : path)
    if (part == "..") return false;
  return true;
}

// Model containers name data that they hold in memory "#...".
bool IsMemory(const std::string& location) {
  return location.starts_with('#');
}

template <typename Visit>
void EachExternal(const Subject& s, const Visit& visit) {
  for (const TensorAt& t : s.tensors())
    if (t.tensor->data_location() == T::EXTERNAL) visit(t);
}

void LocationPresent(const Subject& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    if (Entry(*t.tensor, "location") == nullptr)
      f.Add(s.Where(t, "external_data"), "tensor {} is external but has no location",
            Quote(t.tensor->name()));
  });
}

void LocationBeneath(const Subject& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    const std::string* location = Entry(*t.tensor, "location");
    if (location != nullptr && !IsBeneath(*location))
      f.Add(s.Where(t, "external_data"), "tensor {} lies in {}, which is not beneath the model",
            Quote(t.tensor->name()), Quote(*location));
  });
}

void NumbersParse(const Subject& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    for (const char* key : {"offset", "length"}) {
      const std::string* text = Entry(*t.tensor, key);
      if (text != nullptr && !Number(*text))
        f.Add(s.Where(t, "external_data"), "{} of tensor {} is {}, not a number", key,
              Quote(t.tensor->name()), Quote(*text));
    }
  });
}

void NoInlineData(const Subject& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    for (const int field :
         {T::kFloatDataFieldNumber, T::kInt32DataFieldNumber, T::kStringDataFieldNumber,
          T::kInt64DataFieldNumber, T::kRawDataFieldNumber, T::kDoubleDataFieldNumber,
          T::kUint64DataFieldNumber})
      if (s.Has(*t.tensor, field) && s.SizeOf(*t.tensor, field) > 0)
        f.Add(s.Where(t, T::descriptor()->FindFieldByNumber(field)->name()),
              "tensor {} is external and has data of its own", Quote(t.tensor->name()));
  });
}

// Bytes that a tensor's type and shape need; nullopt where they do not tell.
std::optional<uint64_t> BytesOf(const T& tensor) {
  const DType dtype = DTypeOf(tensor.data_type());
  const auto elements =
      CheckedElements(std::span(tensor.dims().data(), static_cast<size_t>(tensor.dims_size())));
  if (dtype == DType::kUnknown || dtype == DType::kString || !elements) return std::nullopt;
  const auto bits = CheckedMul<int64_t>(*elements, static_cast<int64_t>(DTypeBits(dtype)));
  if (!bits) return std::nullopt;
  return static_cast<uint64_t>(CeilDiv(*bits, int64_t{8}));
}

void LengthFits(const Subject& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    const std::string* text = Entry(*t.tensor, "length");
    const auto length = text != nullptr ? Number(*text) : std::nullopt;
    const auto need = BytesOf(*t.tensor);
    if (length && need && *length != *need)
      f.Add(s.Where(t, "external_data"), "tensor {} has length {}; its type and shape need {}",
            Quote(t.tensor->name()), *length, *need);
  });
}

void FileReadable(const Subject& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    const std::string* location = Entry(*t.tensor, "location");
    if (location == nullptr || !IsBeneath(*location) || IsMemory(*location)) return;
    if (const auto file = ReadFileBeneath(s.native().directory, *location); !file)
      f.Add(s.Where(t, "external_data"), "the data of tensor {}: {}", Quote(t.tensor->name()),
            file.error().message());
  });
}

void RangeInFile(const Subject& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    const std::string* location = Entry(*t.tensor, "location");
    const auto need = BytesOf(*t.tensor);
    if (location == nullptr || !need || !IsBeneath(*location)) return;
    const std::string* text = Entry(*t.tensor, "offset");
    const auto offset = text != nullptr ? Number(*text) : 0;
    const auto file = ReadFileBeneath(s.native().directory, *location);
    if (file && offset && !InRange(*offset, *need, file->size()))
      f.Add(s.Where(t, "external_data"), "tensor {} needs bytes {} to {} of {}, which has {}",
            Quote(t.tensor->name()), *offset, CheckedAdd(*offset, *need).value_or(UINT64_MAX),
            Quote(*location), file->size());
  });
}

void InFile(const Subject& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    const std::string* location = Entry(*t.tensor, "location");
    if (location != nullptr && IsMemory(*location))
      f.Add(s.Where(t, "external_data"), "tensor {} lies in {}, in the memory of its writer",
            Quote(t.tensor->name()), Quote(*location));
  });
}

constexpr std::string_view kClause = "ExternalData.md";

constexpr Rule kRules[] = {
    {{"ONNX-EXT-001", Severity::kError, "External data have a location.", kClause, true, ""},
     LocationPresent},
    {{"ONNX-EXT-002", Severity::kError,
      "The location of external data is a relative path beneath the model's folder.", kClause, true,
      "Move the data file beside the model."},
     LocationBeneath},
    {{"ONNX-EXT-003", Severity::kError, "Offset and length of external data are numbers.", kClause,
      false, ""},
     NumbersParse},
    {{"ONNX-EXT-004", Severity::kError, "A tensor with external data has no data of its own.",
      kClause, true, ""},
     NoInlineData},
    {{"ONNX-EXT-005", Severity::kError,
      "The stated length of external data is that of type and shape.", kClause, false, ""},
     LengthFits},
    {{"ONNX-EXT-006", Severity::kError, "The file with external data can be read.", kClause, true,
      "Fetch it too and keep it beside the model."},
     FileReadable},
    {{"ONNX-EXT-007", Severity::kError, "External data lie inside their file.", kClause, false,
      "The data file is cut short, or belongs to another model."},
     RangeInFile},
    {{"ONNX-EXT-008", Severity::kWarning, "External data lie in a file.", kClause, false,
      "Save the model with its weights."},
     InFile},
};

}  // namespace

std::span<const Rule> ExternalRules() {
  return kRules;
}

}  // namespace nn::onnx
