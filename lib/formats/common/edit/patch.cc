#include <algorithm>
#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json_parse.h"
#include "base/text/text.h"
#include "formats/common/describe/dump.h"
#include "formats/common/describe/dump_writer.h"

namespace nn {
namespace {

using nlohmann::json;

// A JSON pointer (RFC 6901), taken apart.
using Tokens = std::vector<std::string>;

std::string PlaceText(const Tokens& tokens, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += "/" + JsonPointerToken(tokens[i]);
  return Quote(out);
}

Result<Tokens> TokensOf(const std::string& pointer) {
  Tokens tokens;
  if (pointer.empty()) return tokens;
  if (pointer[0] != '/') return UsageError("{} does not begin with /", Quote(pointer));
  for (size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      tokens.emplace_back();
    } else if (pointer[i] == '~') {
      ++i;
      if (i == pointer.size() || (pointer[i] != '0' && pointer[i] != '1'))
        return UsageError("{} has ~ without 0 or 1 after it", Quote(pointer));
      tokens.back() += pointer[i] == '0' ? '~' : '/';
    } else {
      tokens.back() += pointer[i];
    }
  }
  return tokens;
}

// The element of a list that a token names: digits without leading zeros.
std::optional<size_t> IndexOf(const std::string& token) {
  size_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  const bool whole = error == std::errc() && end == token.data() + token.size();
  if (!whole || (token.size() > 1 && token[0] == '0')) return std::nullopt;
  return index;
}

// The value at the first `count` tokens.
Result<json*> Find(json& document, const Tokens& tokens, size_t count) {
  json* at = &document;
  for (size_t i = 0; i < count; ++i) {
    json* next = nullptr;
    if (at->is_object()) {
      const auto it = at->find(tokens[i]);
      if (it != at->end()) next = &*it;
    } else if (at->is_array()) {
      const auto index = IndexOf(tokens[i]);
      if (index && *index < at->size()) next = &(*at)[*index];
    }
    if (next == nullptr) return UsageError("there is no {}", PlaceText(tokens, i + 1));
    at = next;
  }
  return at;
}

// Applies operations in place. What a document needs is counted before it grows, because each copy
// may double it.
class Patcher {
 public:
  Patcher(json& document, const ReadLimits& limits)
      : document_(document), limits_(limits), deepest_(2 * limits.max_depth + 2) {}

  Status Apply(const json& patch) {
    if (!patch.is_array()) return UsageError("it is not a list of operations");
    NN_RETURN_IF_ERROR(Count(document_, 0));
    for (size_t i = 0; i < patch.size(); ++i)
      if (const Status done = ApplyOne(patch[i]); !done)
        return tl::unexpected(done.error().In(fmt::format("operation {}", i)));
    return {};
  }

 private:
  // Adds what the value takes at most, roughly: in the document, as text, and read again.
  Status Count(const json& value, int depth) {
    constexpr uint64_t kValueBytes = 256;
    if (depth > deepest_)
      return LimitError("JSON values are nested deeper than {} (max-depth)", deepest_);
    bytes_ += kValueBytes;
    if (value.is_string()) bytes_ += value.get_ref<const std::string&>().size();
    if (bytes_ > limits_.max_unpacked_bytes)
      return LimitError("the patched dump exceeds the limit of {} (max-unpacked-bytes)",
                        HumanBytes(limits_.max_unpacked_bytes));
    if (value.is_array())
      for (const json& element : value) NN_RETURN_IF_ERROR(Count(element, depth + 1));
    if (value.is_object())
      for (const auto& [name, member] : value.items()) {
        bytes_ += name.size();
        NN_RETURN_IF_ERROR(Count(member, depth + 1));
      }
    return {};
  }

  static Result<const json*> Member(const json& operation, const char* name) {
    const auto it = operation.is_object() ? operation.find(name) : operation.end();
    if (!operation.is_object() || it == operation.end())
      return UsageError("it has no \"{}\"", name);
    return &*it;
  }
  static Result<std::string> TextMember(const json& operation, const char* name) {
    NN_ASSIGN(const json* const member, Member(operation, name));
    if (!member->is_string()) return UsageError("\"{}\" is not a text", name);
    return member->get<std::string>();
  }
  static Result<Tokens> PlaceMember(const json& operation, const char* name) {
    NN_ASSIGN(const std::string pointer, TextMember(operation, name));
    return TokensOf(pointer);
  }

  Status ApplyOne(const json& operation) {
    NN_ASSIGN(const std::string op, TextMember(operation, "op"));
    NN_ASSIGN(const Tokens path, PlaceMember(operation, "path"));
    using Row = std::pair<std::string_view, Status (Patcher::*)(const json&, const Tokens&)>;
    static constexpr Row kOperations[] = {
        {"add", &Patcher::AddValue}, {"remove", &Patcher::RemoveAt}, {"replace", &Patcher::Replace},
        {"move", &Patcher::Move},    {"copy", &Patcher::AddCopy},    {"test", &Patcher::Test},
    };
    const auto* const row = std::ranges::find(kOperations, std::string_view(op), &Row::first);
    if (row == std::end(kOperations))
      return UsageError("{} is not add, remove, replace, move, copy or test", Quote(op));
    return (this->*row->second)(operation, path);
  }

  Status AddValue(const json& operation, const Tokens& path) {
    NN_ASSIGN(const json* const value, Member(operation, "value"));
    NN_RETURN_IF_ERROR(Count(*value, static_cast<int>(path.size())));
    return Add(path, *value);
  }

  Status AddCopy(const json& operation, const Tokens& path) {
    NN_ASSIGN(const Tokens from, PlaceMember(operation, "from"));
    NN_ASSIGN(const json* const value, Find(document_, from, from.size()));
    NN_RETURN_IF_ERROR(Count(*value, static_cast<int>(path.size())));
    return Add(path, *value);
  }

  Status Replace(const json& operation, const Tokens& path) {
    NN_ASSIGN(const json* const value, Member(operation, "value"));
    NN_RETURN_IF_ERROR(Count(*value, static_cast<int>(path.size())));
    NN_ASSIGN(json* const there, Find(document_, path, path.size()));
    *there = *value;
    return {};
  }

  Status Test(const json& operation, const Tokens& path) {
    NN_ASSIGN(const json* const value, Member(operation, "value"));
    NN_ASSIGN(const json* const there, Find(document_, path, path.size()));
    if (*there == *value) return {};
    return UsageError("the value at {} is another one", PlaceText(path, path.size()));
  }

  Status RemoveAt(const json& /*operation*/, const Tokens& path) { return Remove(path); }

  Status Add(const Tokens& path, json value) {
    if (path.empty()) {
      document_ = std::move(value);
      return {};
    }
    NN_ASSIGN(json* const parent, Find(document_, path, path.size() - 1));
    const std::string& last = path.back();
    if (parent->is_object()) {
      (*parent)[last] = std::move(value);
      return {};
    }
    const auto index = last == "-" ? std::optional(parent->size()) : IndexOf(last);
    if (!parent->is_array() || !index || *index > parent->size())
      return UsageError("a value cannot be added at {}", PlaceText(path, path.size()));
    parent->insert(parent->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
    return {};
  }

  Status Remove(const Tokens& path) {
    if (path.empty()) return UsageError("the whole document cannot be removed");
    NN_RETURN_IF_ERROR(Find(document_, path, path.size()));
    NN_ASSIGN(json* const parent, Find(document_, path, path.size() - 1));
    if (parent->is_object())
      parent->erase(path.back());
    else
      parent->erase(*IndexOf(path.back()));
    return {};
  }

  Status Move(const json& operation, const Tokens& path) {
    NN_ASSIGN(const Tokens from, PlaceMember(operation, "from"));
    if (from == path) {
      NN_RETURN_IF_ERROR(Find(document_, path, path.size()));
      return {};
    }
    if (from.size() < path.size() && std::equal(from.begin(), from.end(), path.begin()))
      return UsageError("{} is in what it moves", PlaceText(path, path.size()));
    NN_ASSIGN(json* const there, Find(document_, from, from.size()));
    const uint64_t before = bytes_;  // for its depth: a move takes nothing
    NN_RETURN_IF_ERROR(Count(*there, static_cast<int>(path.size())));
    bytes_ = before;
    json value = std::move(*there);
    NN_RETURN_IF_ERROR(Remove(from));
    return Add(path, std::move(value));
  }

  json& document_;
  const ReadLimits& limits_;
  int deepest_;
  uint64_t bytes_ = 0;
};

// The text of the document after the patch.
Result<std::string> PatchText(std::string text, std::string_view patch, const ReadLimits& limits) {
  NN_ASSIGN(json document, ParseJson(text, {}));
  text = {};
  JsonHooks hooks;
  hooks.open = [&](int depth) -> Status {
    if (depth > 2 * limits.max_depth + 4)
      return LimitError("JSON values are nested too deep (max-depth)");
    return {};
  };
  const auto operations = ParseJson(patch, hooks);
  const Status applied = operations ? Patcher(document, limits).Apply(*operations)
                                    : tl::unexpected(operations.error());
  if (applied) return document.dump();
  const Error error = applied.error().In("the patch does not apply");
  return tl::unexpected(
      error.code() == ErrorCode::kParse ? Error(ErrorCode::kUsage, error.message()) : error);
}

}  // namespace

Result<ReadModel> PatchModel(const ReadModel& model, std::string_view patch,
                             const std::string& path, const ReadLimits& limits) {
  std::string text;
  DumpWriter writer([&](std::string_view part) { text += part; }, {DumpWeights::kFile, ""});
  NN_RETURN_IF_ERROR(WriteDump(model, writer));
  NN_ASSIGN(const std::string patched, PatchText(std::move(text), patch, limits));
  NN_ASSIGN(DumpDocument document, DumpDocument::Parse(patched, limits));
  document.set_stored({writer.stored().begin(), writer.stored().end()});
  auto read = RestoreDump(document, path, limits);
  if (!read) return tl::unexpected(read.error().In("the patched dump"));
  read->from_dump = model.from_dump;
  return read;
}

}  // namespace nn
