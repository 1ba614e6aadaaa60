// Dumps: the JSON text of a native model, {"nn_dump": 1, "format": "onnx", "model": {...}}, and the
// parts that all formats share.
//
// formats/common/describe/dump_writer.h has the forms of text, bytes and lists.
//
// Design: docs/design/039-copies-and-dumps.md.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"
#include "base/text/text.h"
#include "formats/format.h"
#include "tensorio/named_tensor.h"

namespace nn {

class DumpDocument;
class DumpWriter;

// A value of a parsed document with its place. Readers return kParse with the place if the value
// has a different type. Valid as long as the document and the parent node.
class DumpNode {
 public:
  // "/model/graph/node/3": a JSON pointer.
  std::string Place() const;
  // "/model/graph/node/3: " and the message.
  template <typename... A>
  tl::unexpected<Error> Bad(fmt::format_string<A...> f, A&&... a) const {
    return ParseError("{}: {}", Place(), fmt::format(f, std::forward<A>(a)...));
  }
  // A description for messages: "the string \"x\"".
  std::string Describe() const;

  bool IsBool() const { return value_->is_boolean(); }
  bool IsString() const { return value_->is_string() || value_->is_binary(); }
  bool IsArray() const { return value_->is_array(); }
  // Whether it is {"base64": ...} or {"stored": ...}.
  bool IsBytesObject() const;
  // Whether it is {"stored": ...}: data in another file.
  bool IsStored() const;
  // Whether it is {"omitted": ...}: data omitted from the dump.
  bool IsOmitted() const;
  // Elements or members.
  size_t size() const { return value_->size(); }

  // In the order of their names.
  Status ForEachMember(
      const std::function<Status(const std::string& name, const DumpNode& member)>& fn) const;
  Status ForEachElement(const std::function<Status(const DumpNode& element)>& fn) const;
  // The member, or none.
  std::optional<DumpNode> Find(const std::string& name) const;

  // Also kParse for values out of the range of T.
  template <typename T>
  Result<T> Integer() const;
  Result<float> Float() const;
  Result<double> Double() const;
  Result<bool> Bool() const;
  Result<std::string> Text() const;
  // From a Base64 string, {"f32": [...]} or {"stored": ...}.
  Result<Blob> Bytes() const;
  // The bytes of an IsBytesObject() with elements of this size.
  Result<Blob> ArrayBytes(size_t element_size) const;
  // The string itself.
  Result<std::string> String() const;

 private:
  friend class DumpDocument;
  DumpNode(const DumpDocument& document, const nlohmann::json& value, const DumpNode* parent,
           std::string key)
      : document_(&document), value_(&value), parent_(parent), key_(std::move(key)) {}
  template <typename T>
  Result<T> Real() const;
  // An integer or real.
  template <typename T>
  Result<T> Number() const;
  Result<int64_t> Signed() const;
  Result<uint64_t> Unsigned() const;
  Result<Blob> NumberBytes() const;
  Result<Blob> StoredBytes() const;
  tl::unexpected<Error> Omitted() const;

  const DumpDocument* document_;
  const nlohmann::json* value_;
  const DumpNode* parent_;
  std::string key_;
};

// Parsed JSON text. Long Base64 strings are decoded during parsing, so that a document takes little
// more memory than the bytes it represents.
class DumpDocument {
 public:
  // kParse for invalid JSON or duplicate members, kLimit beyond the limits.
  static Result<DumpDocument> Parse(std::string_view text, const ReadLimits& limits);

  DumpNode root() const { return {*this, json_, nullptr, {}}; }

  // The tensors for its {"stored": ...} values.
  void set_stored(std::vector<NamedTensor> tensors);

 private:
  friend class DumpNode;
  class Builder;
  // Decoded strings are binary values with an index into `blobs_`.
  nlohmann::json json_;
  std::vector<Blob> blobs_;
  std::unordered_map<std::string, Tensor> stored_;
};

// The whole text of a dump.
Status WriteDump(const ReadModel& model, DumpWriter& out);

// WriteDump() of format.h; returns the name of the tensor file, "" if there is none. If a different
// file of the requested name exists, the name is derived from the contents.
Result<std::string> WriteDumpFiles(const ReadModel& model, const std::string& path,
                                   const DumpOptions& options);

// Whether the text begins like a dump.
bool IsDump(std::span<const std::byte> bytes);

// The model in a document, whose tensors are set.
Result<ReadModel> RestoreDump(const DumpDocument& document, const std::string& path,
                              const ReadLimits& limits);

// The model in a dump.
Result<ReadModel> ReadDump(const Blob& text, const std::string& path, const ReadLimits& limits);

template <typename T>
Result<T> DumpNode::Number() const {
  if constexpr (std::is_same_v<T, float>)
    return Float();
  else if constexpr (std::is_same_v<T, double>)
    return Double();
  else
    return Integer<T>();
}

template <typename T>
Result<T> DumpNode::Integer() const {
  if constexpr (std::is_signed_v<T>) {
    NN_ASSIGN(const int64_t v, Signed());
    if (v < std::numeric_limits<T>::min() || v > std::numeric_limits<T>::max())
      return Bad("{} does not fit in {} bits", v, sizeof(T) * 8);
    return static_cast<T>(v);
  } else {
    NN_ASSIGN(const uint64_t v, Unsigned());
    if (v > std::numeric_limits<T>::max())
      return Bad("{} does not fit in {} bits", v, sizeof(T) * 8);
    return static_cast<T>(v);
  }
}

}  // namespace nn
