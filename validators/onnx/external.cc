// Rules of tensor data in other files.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>

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

// Calls visit(location) for every location of a tensor: there should be one.
template <typename Visit>
void EachLocation(const T& tensor, const Visit& visit) {
  for (const auto& entry : tensor.external_data())
    if (entry.key() == "location" && entry.has_value()) visit(entry.value());
}

std::optional<uint64_t> Number(const std::string& text) {
  uint64_t value = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

// A relative path that leads out of no folder, as onnx.checker sees it: when it is made plain
// there are no two dots anywhere in it.
bool StaysBeneath(const std::string& location) {
  const std::filesystem::path path(location);
  return !location.empty() && !path.is_absolute() &&
         path.lexically_normal().native().find("..") == std::string::npos;
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
    bool found = false;
    EachLocation(*t.tensor, [&](const std::string&) { found = true; });
    if (!found)
      f.Add(s.Where(t, "external_data"), "tensor {} is external but has no location",
            Quote(t.tensor->name()));
  });
}

void LocationBeneath(const Subject& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    EachLocation(*t.tensor, [&](const std::string& location) {
      if (!StaysBeneath(location))
        f.Add(s.Where(t, "external_data"), "tensor {} lies in {}, which is not beneath the model",
              Quote(t.tensor->name()), Quote(location));
    });
  });
}

void LocationPlain(const Subject& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    EachLocation(*t.tensor, [&](const std::string& location) {
      if (StaysBeneath(location) && !IsBeneath(location))
        f.Add(s.Where(t, "external_data"), "tensor {} lies in {}, which has \"..\" in it",
              Quote(t.tensor->name()), Quote(location));
    });
  });
}

constexpr std::string_view kKeys[] = {"location", "offset", "length", "checksum", "basepath"};

void KeysKnown(const Subject& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    for (const auto& entry : t.tensor->external_data())
      if (std::find(std::begin(kKeys), std::end(kKeys), entry.key()) == std::end(kKeys))
        f.Add(s.Where(t, "external_data"), "tensor {} has an entry {}, which has no meaning",
              Quote(t.tensor->name()), Quote(entry.key()));
  });
}

void KeysUnique(const Subject& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    std::set<std::string_view> seen;
    for (const auto& entry : t.tensor->external_data())
      if (!seen.insert(entry.key()).second)
        f.Add(s.Where(t, "external_data"), "tensor {} has two entries {}", Quote(t.tensor->name()),
              Quote(entry.key()));
  });
}

void ChecksumsFormed(const Subject& s, Findings& f) {
  constexpr size_t kDigits = 40;
  EachExternal(s, [&](const TensorAt& t) {
    const std::string* sum = Entry(*t.tensor, "checksum");
    if (sum != nullptr && (sum->size() != kDigits ||
                           sum->find_first_not_of("0123456789abcdefABCDEF") != std::string::npos))
      f.Add(s.Where(t, "external_data"), "the checksum of tensor {} is {}", Quote(t.tensor->name()),
            Quote(*sum));
  });
}

void OnlyExternalHasEntries(const Subject& s, Findings& f) {
  for (const TensorAt& t : s.tensors())
    if (t.tensor->data_location() != T::EXTERNAL && t.tensor->external_data_size() > 0)
      f.Add(s.Where(t, "external_data"), "tensor {} has external_data but is not external",
            Quote(t.tensor->name()));
}

// One finding a model: where one tensor is not aligned none is.
void OffsetsAligned(const Subject& s, Findings& f) {
  constexpr uint64_t kPage = 4096;
  size_t count = 0;
  const TensorAt* first = nullptr;
  EachExternal(s, [&](const TensorAt& t) {
    const std::string* text = Entry(*t.tensor, "offset");
    const auto offset = text != nullptr ? Number(*text) : std::nullopt;
    if (!offset || *offset % kPage == 0) return;
    ++count;
    if (first == nullptr) first = &t;
  });
  if (first != nullptr)
    f.Add(s.Where(*first, "external_data"),
          "{} tensors begin at offsets that are no multiples of {}, the first is {}", count, kPage,
          Quote(first->tensor->name()));
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
    EachLocation(*t.tensor, [&](const std::string& location) {
      if (!StaysBeneath(location) || IsMemory(location)) return;
      const std::string plain = std::filesystem::path(location).lexically_normal();
      if (const auto file = s.native().files.Read(plain); !file)
        f.Add(s.Where(t, "external_data"), "the data of tensor {}: {}", Quote(t.tensor->name()),
              file.error().message());
    });
  });
}

void FileNoLink(const Subject& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    EachLocation(*t.tensor, [&](const std::string& location) {
      std::error_code error;
      if (StaysBeneath(location) && !IsMemory(location) &&
          std::filesystem::is_symlink(s.native().directory / location, error))
        f.Add(s.Where(t, "external_data"), "the data of tensor {}: {} is a symbolic link",
              Quote(t.tensor->name()), Quote(location));
    });
  });
}

void RangeInFile(const Subject& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    const std::string* location = Entry(*t.tensor, "location");
    const auto need = BytesOf(*t.tensor);
    if (location == nullptr || !need || !IsBeneath(*location)) return;
    const std::string* text = Entry(*t.tensor, "offset");
    const auto offset = text != nullptr ? Number(*text) : 0;
    const auto file = s.native().files.Read(*location);
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
    {{"ONNX-EXT-009", Severity::kError, "The file with external data is no symbolic link.",
      "ExternalDataSecurity.md", true, "Put the file itself there."},
     FileNoLink},
    {{"ONNX-EXT-010", Severity::kError, "The location of external data has no \"..\" in it.",
      kClause, false, "Write the path without detours."},
     LocationPlain},
    {{"ONNX-EXT-011", Severity::kWarning, "Entries of external data are ones that have a meaning.",
      kClause, false, "The keys are location, offset, length, checksum and basepath."},
     KeysKnown},
    {{"ONNX-EXT-012", Severity::kError, "Entries of external data have different keys.", kClause,
      false, ""},
     KeysUnique},
    {{"ONNX-EXT-013", Severity::kWarning,
      "Only tensors whose data_location is EXTERNAL have external_data.",
      "onnx.proto, TensorProto.external_data", false, "Set data_location."},
     OnlyExternalHasEntries},
    {{"ONNX-EXT-014", Severity::kNote,
      "External data begin at multiples of 4096, so that they can be mapped.", kClause, false,
      "Save the data with an alignment.", true},
     OffsetsAligned},
    {{"ONNX-EXT-015", Severity::kWarning,
      "A checksum of external data is a SHA-1 digest of 40 hexadecimal digits.", kClause, false,
      ""},
     ChecksumsFormed},
};

}  // namespace

std::span<const Rule> ExternalRules() {
  return kRules;
}

}  // namespace nn::onnx
