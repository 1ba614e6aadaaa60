// The hash tables of a model, which Variables holds. Kernels keep the first contents of a table,
// and of equal keys the first.
//
// Source: LiteRT tflite/kernels/hashtable*.cc, tflite/experimental/resource/static_hashtable.cc.
#include <fmt/core.h>

#include <string_view>
#include <unordered_set>

#include "base/text/text.h"
#include "formats/tflite/import/variables.h"

namespace nn::tflite {
namespace {

// The positions of the first of each group of equal keys.
template <typename Key>
std::vector<size_t> FirstPositions(std::span<const Key> keys) {
  using View = std::conditional_t<std::is_same_v<Key, std::string>, std::string_view, Key>;
  std::unordered_set<View> seen;
  std::vector<size_t> positions;
  for (size_t i = 0; i < keys.size(); ++i)
    if (seen.insert(View(keys[i])).second) positions.push_back(i);
  return positions;
}

// The elements at these positions, as a vector.
Tensor ElementsAt(const Tensor& t, const std::vector<size_t>& positions) {
  std::vector<int64_t> dims = {static_cast<int64_t>(positions.size())};
  if (t.dtype() == DType::kString) {
    std::vector<std::string> strings;
    strings.reserve(positions.size());
    for (const size_t i : positions) strings.push_back(t.strings()[i]);
    return Tensor(std::move(dims), std::move(strings));
  }
  std::vector<int64_t> numbers;
  numbers.reserve(positions.size());
  for (const size_t i : positions) numbers.push_back(t.GetInt(static_cast<int64_t>(i)));
  return Tensor::Of(std::move(dims), numbers);
}

}  // namespace

Result<Value*> Variables::TableHandle(Graph& graph, int64_t id, DType key, DType value) {
  const bool is_supported = (key == DType::kI64 && value == DType::kString) ||
                            (key == DType::kString && value == DType::kI64);
  if (!is_supported)
    return ModelError("hash table {} maps {} to {}; must be i64 to str or str to i64", id,
                      DTypeName(key), DTypeName(value));
  const auto [it, is_new] = tables_.try_emplace(id, list_.size());
  if (is_new) {
    Add(fmt::format("hash table {}", id), false);
    list_.back().table = Table{key, value};
  }
  const Table& table = *list_[it->second].table;
  if (table.key != key || table.value != value)
    return ModelError("hash table {} maps {} to {} and {} to {}", id, DTypeName(table.key),
                      DTypeName(table.value), DTypeName(key), DTypeName(value));
  Value* const handle = graph.AddConstant(Tensor::Scalar(static_cast<int32_t>(it->second)));
  handles_[handle] = it->second;
  return handle;
}

Result<size_t> Variables::OfTableHandle(const Value* handle) const {
  const auto it = handles_.find(handle);
  if (it == handles_.end() || !IsTable(it->second))
    return UnsupportedError("a resource that is not the result of HASHTABLE is unsupported");
  return it->second;
}

Status Variables::Fill(size_t table, Value* keys, Value* values) {
  Variable& v = list_[table];
  if (keys->dtype() != v.table->key || values->dtype() != v.table->value)
    return ModelError("{} maps {} to {}, but is filled with {} and {}", v.name,
                      DTypeName(v.table->key), DTypeName(v.table->value), keys->type().ToString(),
                      values->type().ToString());
  if (v.value != nullptr) return {};
  v.value = keys;
  table_values_[{table, keys}] = values;
  return {};
}

Result<Variables::Contents> Variables::ContentsOf(Graph& graph, size_t table) {
  const Variable& v = list_[table];
  const Value* const keys = v.value;
  if (keys == nullptr) return UnsupportedError("{} is used before it is filled", v.name);
  const auto known = contents_.find({table, keys});
  if (known != contents_.end()) return known->second;
  const Value* const values = table_values_.at({table, keys});
  for (const Value* part : {keys, values})
    if (!part->is_constant())
      return UnsupportedError(
          "{} is filled with {} that the run computes, and keeps them in later runs", v.name,
          part == keys ? "keys" : "values");
  const Tensor& k = keys->constant();
  const Tensor& t = values->constant();
  if (k.dims() != t.dims())
    return ModelError("{} is filled with keys of shape {} and values of shape {}", v.name,
                      ToString(ToDims(k.dims())), ToString(ToDims(t.dims())));
  const std::vector<size_t> first = k.dtype() == DType::kString
                                        ? FirstPositions<std::string>(k.strings())
                                        : FirstPositions<int64_t>(k.As<int64_t>());
  const Contents contents = {graph.AddConstant(ElementsAt(k, first)),
                             graph.AddConstant(ElementsAt(t, first))};
  contents_[{table, keys}] = contents;
  return contents;
}

std::vector<Variables::FilledTable> Variables::Filled() const {
  std::vector<FilledTable> out;
  for (const auto& [id, i] : tables_) {
    const Variable& v = list_[i];
    if (v.value != nullptr)
      out.push_back({id, v.table->key, v.table->value, v.value, table_values_.at({i, v.value})});
  }
  return out;
}

}  // namespace nn::tflite
