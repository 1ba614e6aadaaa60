// Rules for tensor data in other files.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>

#include "base/checked_math.h"
#include "base/file/file.h"
#include "base/text/text.h"
#include "formats/onnx/file/tensor.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using T = pb::TensorProto;

const std::string* Entry(const T& tensor, std::string_view key) {
  for (const auto& entry : tensor.external_data())
    if (entry.key() == key) return &entry.value();
  return nullptr;
}

// Calls visit(location) for every location of a tensor; a valid tensor has one.
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

// True for a path inside the model's directory as onnx.checker defines it: relative, and without
// ".." anywhere, even within a name, after normalization.
bool StaysBeneath(const std::string& location) {
  const std::filesystem::path path(location);
  return !location.empty() && !path.is_absolute() &&
         path.lexically_normal().native().find("..") == std::string::npos;
}

// True for a relative path without ".." components and null characters.
bool IsBeneath(const std::string& location) {
  const std::filesystem::path path(location);
  if (location.empty() || location.find('\0') != std::string::npos || path.is_absolute())
    return false;
  for (const auto& part : path)
    if (part == "..") return false;
  return true;
}

// Writers that hold the data in memory use locations such as "#...".
bool IsMemory(const std::string& location) {
  return location.starts_with('#');
}

template <typename Visit>
void EachExternal(const RuleContext& s, const Visit& visit) {
  for (const TensorAt& t : s.tensors())
    if (t.tensor->data_location() == T::EXTERNAL) visit(t);
}

void LocationPresent(const RuleContext& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    bool found = false;
    EachLocation(*t.tensor, [&](const std::string&) { found = true; });
    if (!found)
      f.Add(s.Where(t, "external_data"), "tensor {} is external, but has no location",
            Quote(t.tensor->name()));
  });
}

void LocationBeneath(const RuleContext& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    EachLocation(*t.tensor, [&](const std::string& location) {
      if (!StaysBeneath(location))
        f.Add(s.Where(t, "external_data"),
              "tensor {} has location {}; must be a relative path inside the model's directory, "
              "without \"..\"",
              Quote(t.tensor->name()), Quote(location));
    });
  });
}

void LocationPlain(const RuleContext& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    EachLocation(*t.tensor, [&](const std::string& location) {
      if (StaysBeneath(location) && !IsBeneath(location))
        f.Add(s.Where(t, "external_data"),
              "tensor {} has location {}, which has a \"..\" component or a null character",
              Quote(t.tensor->name()), Quote(location));
    });
  });
}

constexpr std::string_view kKeys[] = {"location", "offset", "length", "checksum", "basepath"};

void KeysKnown(const RuleContext& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    for (const auto& entry : t.tensor->external_data())
      if (std::find(std::begin(kKeys), std::end(kKeys), entry.key()) == std::end(kKeys))
        f.Add(s.Where(t, "external_data"), "tensor {} has external_data with the unknown key {}",
              Quote(t.tensor->name()), Quote(entry.key()));
  });
}

void KeysUnique(const RuleContext& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    std::set<std::string_view> seen;
    for (const auto& entry : t.tensor->external_data())
      if (!seen.insert(entry.key()).second)
        f.Add(s.Where(t, "external_data"),
              "tensor {} has external_data with more than one entry for key {}",
              Quote(t.tensor->name()), Quote(entry.key()));
  });
}

void ChecksumsFormed(const RuleContext& s, Findings& f) {
  constexpr size_t kDigits = 40;
  EachExternal(s, [&](const TensorAt& t) {
    const std::string* sum = Entry(*t.tensor, "checksum");
    if (sum != nullptr && (sum->size() != kDigits ||
                           sum->find_first_not_of("0123456789abcdefABCDEF") != std::string::npos))
      f.Add(s.Where(t, "external_data"),
            "the checksum of tensor {} is {}; must be 40 hexadecimal digits",
            Quote(t.tensor->name()), Quote(*sum));
  });
}

void OnlyExternalHasEntries(const RuleContext& s, Findings& f) {
  for (const TensorAt& t : s.tensors())
    if (t.tensor->data_location() != T::EXTERNAL && t.tensor->external_data_size() > 0)
      f.Add(s.Where(t, "external_data"),
            "tensor {} has external_data, but its data_location is not EXTERNAL",
            Quote(t.tensor->name()));
}

// One finding per model: usually either all tensors are aligned or none is.
void OffsetsAligned(const RuleContext& s, Findings& f) {
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
          "{} external tensors have offsets that are not multiples of {}; the first is {}", count,
          kPage, Quote(first->tensor->name()));
}

void NumbersParse(const RuleContext& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    for (const char* key : {"offset", "length"}) {
      const std::string* text = Entry(*t.tensor, key);
      if (text != nullptr && !Number(*text))
        f.Add(s.Where(t, "external_data"),
              "{} of tensor {} is {}; must be an unsigned 64-bit number", key,
              Quote(t.tensor->name()), Quote(*text));
    }
  });
}

void NoInlineData(const RuleContext& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    for (const int field :
         {T::kFloatDataFieldNumber, T::kInt32DataFieldNumber, T::kStringDataFieldNumber,
          T::kInt64DataFieldNumber, T::kRawDataFieldNumber, T::kDoubleDataFieldNumber,
          T::kUint64DataFieldNumber})
      if (s.Has(*t.tensor, field) && s.SizeOf(*t.tensor, field) > 0)
        f.Add(s.Where(t, T::descriptor()->FindFieldByNumber(field)->name()),
              "tensor {} is external, but also has data in the model", Quote(t.tensor->name()));
  });
}

// The number of bytes that the type and shape of a tensor require; nullopt if they do not determine
// it.
std::optional<uint64_t> BytesOf(const T& tensor) {
  const DType dtype = DTypeOf(tensor.data_type());
  const auto elements =
      CheckedElements(std::span(tensor.dims().data(), static_cast<size_t>(tensor.dims_size())));
  if (dtype == DType::kUnknown || dtype == DType::kString || !elements) return std::nullopt;
  const auto bits = CheckedMul<int64_t>(*elements, static_cast<int64_t>(DTypeBits(dtype)));
  if (!bits) return std::nullopt;
  return static_cast<uint64_t>(CeilDiv(*bits, int64_t{8}));
}

void LengthFits(const RuleContext& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    const std::string* text = Entry(*t.tensor, "length");
    const auto length = text != nullptr ? Number(*text) : std::nullopt;
    const auto need = BytesOf(*t.tensor);
    if (length && need && *length != *need)
      f.Add(s.Where(t, "external_data"), "tensor {} has length {}; its type and shape require {}",
            Quote(t.tensor->name()), *length, *need);
  });
}

void FileReadable(const RuleContext& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    EachLocation(*t.tensor, [&](const std::string& location) {
      if (!StaysBeneath(location) || IsMemory(location)) return;
      const std::string plain = std::filesystem::path(location).lexically_normal();
      if (const auto file = s.native().files.Read(plain); !file)
        f.Add(s.Where(t, "external_data"), "cannot read the data of tensor {}: {}",
              Quote(t.tensor->name()), file.error().message());
    });
  });
}

void FileNoLink(const RuleContext& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    EachLocation(*t.tensor, [&](const std::string& location) {
      std::error_code error;
      if (StaysBeneath(location) && !IsMemory(location) &&
          std::filesystem::is_symlink(s.native().directory / location, error))
        f.Add(s.Where(t, "external_data"), "the data file {} of tensor {} is a symbolic link",
              Quote(location), Quote(t.tensor->name()));
    });
  });
}

void RangeInFile(const RuleContext& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    const std::string* location = Entry(*t.tensor, "location");
    const auto need = BytesOf(*t.tensor);
    if (location == nullptr || !need || !IsBeneath(*location)) return;
    const std::string* text = Entry(*t.tensor, "offset");
    const auto offset = text != nullptr ? Number(*text) : 0;
    const auto file = s.native().files.Read(*location);
    if (file && offset && !InRange(*offset, *need, file->size()))
      f.Add(s.Where(t, "external_data"),
            "tensor {} requires bytes {} to {} of {}, which has {} bytes", Quote(t.tensor->name()),
            *offset, CheckedAdd(*offset, *need).value_or(UINT64_MAX), Quote(*location),
            file->size());
  });
}

void InFile(const RuleContext& s, Findings& f) {
  EachExternal(s, [&](const TensorAt& t) {
    const std::string* location = Entry(*t.tensor, "location");
    if (location != nullptr && IsMemory(*location))
      f.Add(s.Where(t, "external_data"),
            "tensor {} has location {}, which is memory of the process that wrote the model",
            Quote(t.tensor->name()), Quote(*location));
  });
}

constexpr std::string_view kExternalClause = "ExternalData.md";

constexpr Rule kExternalRules[] = {
    {.info = {.id = "ONNX-EXT-001",
              .statement = "Every external tensor has a location.",
              .clause = kExternalClause,
              .vendor = true,
              .hint = "Add the path of the data file to external_data, with the key location."},
     .check = LocationPresent},
    {.info = {.id = "ONNX-EXT-002",
              .statement = "The location of external data is a relative path inside the model's "
                           "directory, without \"..\" after normalization.",
              .clause = kExternalClause,
              .vendor = true,
              .hint = "Move the data file into the model's directory, and set location to its "
                      "relative path."},
     .check = LocationBeneath},
    {.info = {.id = "ONNX-EXT-003",
              .statement = "The offset and length of external data are unsigned decimal numbers.",
              .clause = kExternalClause,
              .hint = "Write offset and length as decimal digits only."},
     .check = NumbersParse},
    {.info = {.id = "ONNX-EXT-004",
              .statement = "A tensor with external data has no data in the model.",
              .clause = kExternalClause,
              .vendor = true,
              .hint = "Remove the data from the tensor, or set data_location to DEFAULT and remove "
                      "external_data."},
     .check = NoInlineData},
    {.info = {.id = "ONNX-EXT-005",
              .statement = "The length of external data is the number of bytes that the type and "
                           "shape of the tensor require.",
              .clause = kExternalClause,
              .hint = "Correct length, or the data_type and dims of the tensor."},
     .check = LengthFits},
    {.info = {.id = "ONNX-EXT-006",
              .statement = "The file with external data exists and can be read.",
              .clause = kExternalClause,
              .vendor = true,
              .hint = "Copy the data file to the path in location, relative to the model."},
     .check = FileReadable},
    {.info = {.id = "ONNX-EXT-007",
              .statement = "The data of an external tensor is inside its file.",
              .clause = kExternalClause,
              .hint = "Correct offset and dims; if the data file is truncated or belongs to "
                      "another model, export or download it again."},
     .check = RangeInFile},
    {.info = {.id = "ONNX-EXT-008",
              .severity = Severity::kWarning,
              .statement = "The location of external data is a file, not memory of the process "
                           "that wrote the model.",
              .clause = kExternalClause,
              .hint = "Save the model again, with its weights in a file."},
     .check = InFile},
    {.info = {.id = "ONNX-EXT-009",
              .statement = "The file with external data is not a symbolic link.",
              .clause = "ExternalDataSecurity.md",
              .vendor = true,
              .hint = "Replace the link with the data file itself."},
     .check = FileNoLink},
    {.info = {.id = "ONNX-EXT-010",
              .statement =
                  "The location of external data has no \"..\" component and no null character.",
              .clause = kExternalClause,
              .hint = "Write the path without \"..\" and null characters."},
     .check = LocationPlain},
    {.info = {.id = "ONNX-EXT-011",
              .severity = Severity::kWarning,
              .statement =
                  "Every key in external_data is location, offset, length, checksum or basepath.",
              .clause = kExternalClause,
              .hint = "Correct the key, or remove the entry."},
     .check = KeysKnown},
    {.info = {.id = "ONNX-EXT-012",
              .statement = "The keys in the external_data of a tensor are unique.",
              .clause = kExternalClause,
              .hint = "Keep one entry per key."},
     .check = KeysUnique},
    {.info = {.id = "ONNX-EXT-013",
              .severity = Severity::kWarning,
              .statement = "Only tensors whose data_location is EXTERNAL have external_data.",
              .clause = "onnx.proto, TensorProto.external_data",
              .hint = "Set data_location to EXTERNAL, or remove external_data."},
     .check = OnlyExternalHasEntries},
    {.info = {.id = "ONNX-EXT-014",
              .severity = Severity::kNote,
              .statement = "The offsets of external data are multiples of 4096, so that the data "
                           "can be memory-mapped.",
              .clause = kExternalClause,
              .hint = "Save the external data with an alignment of 4096 bytes.",
              .lint = true},
     .check = OffsetsAligned},
    {.info = {.id = "ONNX-EXT-015",
              .severity = Severity::kWarning,
              .statement =
                  "The checksum of external data is a SHA-1 digest of 40 hexadecimal digits.",
              .clause = kExternalClause,
              .hint = "Write the SHA-1 digest of the data file as 40 hexadecimal digits, or remove "
                      "the entry."},
     .check = ChecksumsFormed},
};

}  // namespace

std::span<const Rule> ExternalRules() {
  return kExternalRules;
}

}  // namespace nn::onnx
