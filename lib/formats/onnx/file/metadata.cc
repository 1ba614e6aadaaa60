#include "formats/onnx/file/metadata.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/text.h"
#include "formats/onnx/edit/subgraphs.h"

namespace nn::onnx {
namespace {

// The keys that entries of one list share.
class RepeatedKeys {
 public:
  void Add(const pb::GraphProto& graph) {
    Add(graph.metadata_props());
    for (const pb::NodeProto& node : graph.node()) {
      Add(node.metadata_props());
      EachGraphOf(node, [&](const pb::GraphProto& g) { Add(g); });
    }
    for (const pb::TensorProto& tensor : graph.initializer()) Add(tensor.metadata_props());
    for (const auto* const values : {&graph.input(), &graph.output(), &graph.value_info()})
      for (const pb::ValueInfoProto& value : *values) Add(value.metadata_props());
  }
  void Add(const MetadataEntries& entries) {
    if (entries.size() < 2) return;
    std::set<std::string_view> seen;
    for (const auto& entry : entries)
      if (!seen.insert(entry.key()).second) keys_.insert(Quote(entry.key()));
  }

  const std::set<std::string>& keys() const { return keys_; }

 private:
  std::set<std::string> keys_;
};

}  // namespace

MetadataEntries LastEntries(const MetadataEntries& entries) {
  MetadataEntries last;
  std::set<std::string_view> seen;
  std::vector<const pb::StringStringEntryProto*> kept;
  for (auto it = entries.rbegin(); it != entries.rend(); ++it)
    if (seen.insert(it->key()).second) kept.push_back(&*it);
  for (auto it = kept.rbegin(); it != kept.rend(); ++it) *last.Add() = **it;
  return last;
}

void NoteRepeatedKeys(const pb::ModelProto& model, std::vector<std::string>& notes) {
  RepeatedKeys repeated;
  repeated.Add(model.metadata_props());
  repeated.Add(model.graph());
  if (repeated.keys().empty()) return;
  notes.push_back(fmt::format("metadata_props has {} {} more than once; the last value counts",
                              repeated.keys().size() == 1 ? "the key" : "the keys",
                              fmt::join(repeated.keys(), ", ")));
}

}  // namespace nn::onnx
