#include "formats/onnx/edit/strip.h"

#include <google/protobuf/descriptor.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "formats/common/protobuf/pb_payload.h"
#include "formats/onnx/edit/value_names.h"

namespace nn::onnx {
namespace {

void ClearFields(std::string_view field, pb::ModelProto& model) {
  // Nothing here fails.
  (void)ForEachMessage(&model, [&](google::protobuf::Message* message) -> Status {
    if (const auto* f = message->GetDescriptor()->FindFieldByName(std::string(field)))
      message->GetReflection()->ClearField(message, f);
    return {};
  });
}

// Gives values names such as "v12", which are unique in the model.
class Shortener {
 public:
  void Run(pb::ModelProto& model) {
    pb::GraphProto& graph = *model.mutable_graph();
    Map ports;
    for (const auto& info : graph.input()) ports.emplace(info.name(), info.name());
    for (const auto& info : graph.output()) ports.emplace(info.name(), info.name());
    for (const auto& [name, same] : ports) taken_.insert(name);
    for (const pb::FunctionProto& f : model.functions()) {
      taken_.insert(f.input().begin(), f.input().end());
      taken_.insert(f.output().begin(), f.output().end());
    }
    ShortenGraph(graph, {}, ports);
    for (pb::FunctionProto& f : *model.mutable_functions()) ShortenFunction(f);
  }

 private:
  using Map = std::unordered_map<std::string, std::string>;

  std::string Next() {
    std::string name;
    do name = "v" + std::to_string(count_++);
    while (taken_.contains(name));
    return name;
  }

  // `names` has the names of the graphs around this one, `ports` those of its own that stay.
  void ShortenGraph(pb::GraphProto& graph, Map names, const Map& ports) {
    for (const auto& [name, same] : ports) names[name] = same;
    std::unordered_set<std::string> own;
    // Neither function fails.
    (void)EachName(
        graph, [&](const std::string& name, bool defines, const auto&, const auto&) -> Status {
          if (defines && !name.empty() && !ports.contains(name) && own.insert(name).second)
            names[name] = Next();
          return {};
        });
    (void)EachName(graph,
                   [&](const std::string& name, bool, const auto& set, const auto&) -> Status {
                     if (const auto it = names.find(name); it != names.end()) set(it->second);
                     return {};
                   });
    (void)EachSubgraph(graph, [&](pb::GraphProto& inner, const std::string&) -> Status {
      ShortenGraph(inner, names, {});
      return {};
    });
  }

  void ShortenFunction(pb::FunctionProto& f) {
    pb::GraphProto body;
    const auto swap = [&] {
      body.mutable_node()->Swap(f.mutable_node());
      body.mutable_value_info()->Swap(f.mutable_value_info());
    };
    swap();
    Map ports;
    for (const std::string& name : f.input()) ports.emplace(name, name);
    for (const std::string& name : f.output()) ports.emplace(name, name);
    ShortenGraph(body, {}, ports);
    swap();
  }

  std::unordered_set<std::string> taken_;
  uint64_t count_ = 0;
};

}  // namespace

void StripModel(const NativeEdit::Strip& strip, pb::ModelProto& model) {
  if (strip.docs) ClearFields("doc_string", model);
  if (strip.metadata) ClearFields("metadata_props", model);
  if (!strip.names) return;
  Shortener().Run(model);
  (void)ForEachMessage(&model, [](google::protobuf::Message* message) -> Status {
    if (auto* node = google::protobuf::DynamicCastToGenerated<pb::NodeProto>(message))
      node->clear_name();
    return {};
  });
}

}  // namespace nn::onnx
