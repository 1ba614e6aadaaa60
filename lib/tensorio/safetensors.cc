#include "tensorio/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "base/file/file.h"
#include "base/json/json.h"
#include "base/json/json_parse.h"
#include "base/text/text.h"

namespace nn {
namespace {

constexpr std::string_view kMetadata = "__metadata__";
constexpr size_t kSizeBytes = sizeof(uint64_t);
constexpr int kMaxHeaderDepth = 3;  // header, tensor, list

struct TypeName {
  std::string_view name;
  DType type;
};
constexpr TypeName kTypeNames[] = {
    {"BOOL", DType::kBool},
    {"I8", DType::kI8},
    {"I16", DType::kI16},
    {"I32", DType::kI32},
    {"I64", DType::kI64},
    {"U8", DType::kU8},
    {"U16", DType::kU16},
    {"U32", DType::kU32},
    {"U64", DType::kU64},
    {"F16", DType::kF16},
    {"BF16", DType::kBF16},
    {"F32", DType::kF32},
    {"F64", DType::kF64},
    {"F8_E4M3", DType::kF8E4M3FN},
    {"F8_E4M3FNUZ", DType::kF8E4M3FNUZ},
    {"F8_E5M2", DType::kF8E5M2},
    {"F8_E5M2FNUZ", DType::kF8E5M2FNUZ},
    {"F8_E8M0", DType::kF8E8M0},
    {"C64", DType::kC64},
};

std::string_view NameOf(DType type) {
  for (const TypeName& t : kTypeNames)
    if (t.type == type) return t.name;
  return {};
}

// ---- Reading ------------------------------------------------------------------------------------

Result<nlohmann::json> ParseHeader(std::string_view text) {
  JsonHooks hooks;
  hooks.open = [](int depth) -> Status {
    if (depth >= kMaxHeaderDepth) return ParseError("nested too deeply");
    return {};
  };
  hooks.repeated = [](const std::string& name) {
    return ParseError("duplicate member {}", Quote(name)).value();
  };
  auto header = ParseJson(text, hooks);
  if (!header) return tl::unexpected(header.error().In("the header"));
  if (!header->is_object()) return ParseError("the header is not a JSON object");
  return header;
}

// A list of non-negative integers; nullopt for anything else.
std::optional<std::vector<int64_t>> Numbers(const nlohmann::json& info, const char* key) {
  const auto list = info.find(key);
  if (list == info.end() || !list->is_array()) return std::nullopt;
  std::vector<int64_t> out;
  out.reserve(list->size());
  for (const nlohmann::json& v : *list) {
    if (!v.is_number_unsigned() || v.get<uint64_t>() > uint64_t{INT64_MAX}) return std::nullopt;
    out.push_back(v.get<int64_t>());
  }
  return out;
}

struct HeaderEntry {
  int64_t begin, end;
  NamedTensor named;
};

Result<HeaderEntry> ReadEntry(const std::string& name, const nlohmann::json& info,
                              const Blob& data) {
  if (!info.is_object()) return ParseError("its header entry is not a JSON object");
  const auto type_name = info.find("dtype");
  if (type_name == info.end() || !type_name->is_string())
    return ParseError("\"dtype\" is missing or not a string");
  const auto text = type_name->get<std::string>();
  const auto* const type = std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                                        [&](const TypeName& t) { return t.name == text; });
  if (type == std::end(kTypeNames))
    return UnsupportedError("unsupported element type {}", Quote(text));
  auto shape = Numbers(info, "shape");
  if (!shape) return ParseError("\"shape\" must be a list of non-negative integers");
  const auto offsets = Numbers(info, "data_offsets");
  if (!offsets || offsets->size() != 2)
    return ParseError("\"data_offsets\" must be two non-negative integers");
  const int64_t begin = (*offsets)[0], end = (*offsets)[1];
  if (begin > end || static_cast<uint64_t>(end) > data.size())
    return ParseError("\"data_offsets\" [{}, {}] are outside the {} bytes of data", begin, end,
                      data.size());
  Blob bytes = data.Slice(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  auto tensor = Tensor::Make(type->type, *std::move(shape), std::move(bytes));
  if (!tensor) return ParseError("{}", tensor.error().message());
  return HeaderEntry{begin, end, {name, *std::move(tensor)}};
}

}  // namespace

Result<std::vector<NamedTensor>> ReadSafetensors(const Blob& file) {
  if (file.size() < kSizeBytes)
    return ParseError("not a safetensors file: only {} bytes", file.size());
  uint64_t size = 0;
  std::memcpy(&size, file.data(), kSizeBytes);
  if (size > kMaxSafetensorsHeader)
    return LimitError("the header's {} bytes exceed the limit of {}", size, kMaxSafetensorsHeader);
  if (size > file.size() - kSizeBytes)
    return ParseError("truncated header: {} bytes declared, the file has {}", size, file.size());
  NN_ASSIGN(const nlohmann::json header,
            ParseHeader({reinterpret_cast<const char*>(file.data()) + kSizeBytes,
                         static_cast<size_t>(size)}));
  const Blob data = file.Slice(kSizeBytes + size, file.size() - kSizeBytes - size);
  std::vector<HeaderEntry> entries;
  for (const auto& [name, info] : header.items()) {
    if (name == kMetadata) continue;
    auto entry = ReadEntry(name, info, data);
    if (!entry) return tl::unexpected(entry.error().In("tensor " + Quote(name)));
    entries.push_back(*std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const HeaderEntry& a, const HeaderEntry& b) {
    return std::tie(a.begin, a.end, a.named.name) < std::tie(b.begin, b.end, b.named.name);
  });
  std::vector<NamedTensor> tensors;
  tensors.reserve(entries.size());
  int64_t at = 0;
  for (HeaderEntry& e : entries) {
    if (e.begin != at)
      return ParseError("tensor {} begins at byte {}; the previous tensor ends at {}",
                        Quote(e.named.name), e.begin, at);
    at = e.end;
    tensors.push_back(std::move(e.named));
  }
  if (static_cast<uint64_t>(at) != data.size())
    return ParseError("{} bytes at the end belong to no tensor",
                      data.size() - static_cast<uint64_t>(at));
  return tensors;
}

// ---- Writing ------------------------------------------------------------------------------------

Status WriteSafetensors(const std::string& path, std::span<const NamedTensor> tensors,
                        std::string shown) {
  if (shown.empty()) shown = path;
  std::vector<const NamedTensor*> order;
  order.reserve(tensors.size());
  for (const NamedTensor& t : tensors) order.push_back(&t);
  std::stable_sort(order.begin(), order.end(), [](const NamedTensor* a, const NamedTensor* b) {
    return DTypeBits(a->tensor.dtype()) > DTypeBits(b->tensor.dtype());
  });
  Json header = Json::object();
  auto& members = header.get_ref<Json::object_t&>();
  members.reserve(order.size());
  std::set<std::string_view> names;
  std::vector<Blob> parts(1);
  uint64_t at = 0;
  for (const NamedTensor* t : order) {
    if (t->name.empty() || t->name == kMetadata || !IsUtf8(t->name))
      return UsageError("{}: {} is not a valid tensor name", shown, Quote(t->name));
    if (!names.insert(t->name).second)
      return UsageError("{}: two tensors are named {}", shown, Quote(t->name));
    const std::string_view type = NameOf(t->tensor.dtype());
    if (type.empty())
      return UnsupportedError("{}: safetensors has no element type {}; write an .npz file instead",
                              Quote(t->name), DTypeName(t->tensor.dtype()));
    // Names are unique: append without lookup.
    members.emplace_back(t->name, Json{{"dtype", type},
                                       {"shape", t->tensor.dims()},
                                       {"data_offsets", {at, at + t->tensor.byte_size()}}});
    at += t->tensor.byte_size();
    parts.push_back(t->tensor.blob());
  }
  std::string text = header.dump();
  text.resize((text.size() + kSizeBytes - 1) / kSizeBytes * kSizeBytes, ' ');
  if (text.size() > kMaxSafetensorsHeader)
    return LimitError("{}: the header's {} bytes exceed the limit of {}", shown, text.size(),
                      kMaxSafetensorsHeader);
  const uint64_t size = text.size();
  std::string start(reinterpret_cast<const char*>(&size), sizeof(size));
  start += text;
  parts.front() = Blob::CopyOf(std::span<const char>(start));
  return WriteFile(path, parts, shown);
}

}  // namespace nn
