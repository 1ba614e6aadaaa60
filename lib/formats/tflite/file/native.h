// A TensorFlow Lite model: a verified flatbuffer, read in place. Verified means that every table,
// vector and string is inside the file; values are not checked. The functions below check indices
// and return null for invalid ones.
#pragma once

#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/file/blob.h"
#include "formats/common/edit/native_edit.h"
#include "formats/common/flatbuffers/fb_stable.h"
#include "formats/format.h"

#undef ARG_MAX  // of <limits.h>; the schema has an operator of this name
#include "tflite/tflite_generated.h"

namespace nn::tflite {

struct Model : NativeModel {
  StableFlatbuffer flatbuffer;      // begins at a multiple of 16 bytes
  const fb::Model* root = nullptr;  // in flatbuffer.structure()
};

// A model that the format's reader made, as the roles of the format get it.
inline const Model& ModelOf(const NativeModel& model) {
  return static_cast<const Model&>(model);
}

// A model whose files are those of `files`, from a file in memory.
Result<std::unique_ptr<Model>> Verified(StableFlatbuffer flatbuffer, const SideFiles& files,
                                        const ReadLimits& limits);

bool HasIdentifier(std::span<const std::byte> bytes);

// The name of a subgraph in OperatorSummary::scope.
std::string ScopeOf(const fb::SubGraph& graph, int64_t index);

// "tensor_5" if the tensor at that index has no name.
std::string NameOfTensor(const fb::Tensor& tensor, int64_t index);
// The name of a tensor as an input or output: with "_1", "_2", ... if `used` contains it. Adds it
// to `used`.
std::string PortName(const fb::Tensor& tensor, int64_t index, std::set<std::string>& used);

// Element i of a vector that may be absent; null if out of range.
template <typename T>
const T* At(const flatbuffers::Vector<flatbuffers::Offset<T>>* list, int64_t i) {
  if (list == nullptr || i < 0 || i >= static_cast<int64_t>(list->size())) return nullptr;
  return list->Get(static_cast<flatbuffers::uoffset_t>(i));
}

template <typename List>
int64_t SizeOf(const List* list) {
  return list == nullptr ? 0 : static_cast<int64_t>(list->size());
}

// The numbers of a vector; empty if it is absent. Elements of 8 bytes may be unaligned, because the
// verifier does not check their alignment.
template <typename To, typename T>
std::vector<To> ListOf(const flatbuffers::Vector<T>* list) {
  std::vector<To> out;
  out.reserve(list == nullptr ? 0 : list->size());
  for (int64_t i = 0; i < SizeOf(list); ++i) {
    T value;
    std::memcpy(&value, list->Data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    out.push_back(static_cast<To>(value));
  }
  return out;
}

// The text; "" if it is absent.
std::string_view Text(const flatbuffers::String* text);

// The operator of a code: the larger of its two numbers.
fb::BuiltinOperator OperatorOf(const fb::OperatorCode& code);

// "CONV_2D", "CUSTOM Name", or "operator 999" for values not in the schema.
std::string OperatorName(const fb::OperatorCode* code);

// The bytes of a buffer in the model or in a side file, if it has any. kModel for an invalid index
// or a range outside the file; kUnsupported for packed external data.
Result<Blob> BufferBytes(const Model& model, uint32_t buffer);
Result<Blob> ExternalBytes(const Model& model, uint32_t id);

// The options of a custom operator, which has no options table.
Result<Blob> CustomOptions(const Model& model, const fb::Operator& op);

}  // namespace nn::tflite
