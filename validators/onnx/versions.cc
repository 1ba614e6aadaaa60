// Rules for the features that each IR version supports, and for metadata.
#include <algorithm>
#include <set>

#include "base/text/text.h"
#include "formats/onnx/file/tensor.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using Metadata = google::protobuf::RepeatedPtrField<pb::StringStringEntryProto>;
using T = pb::TensorProto;

// Calls visit(place, info) for every ValueInfoProto; place() returns its path.
template <typename Visit>
void EachInfo(const RuleContext& s, const Visit& visit) {
  const auto each = [&](const Body& body, const auto& infos, std::string_view field) {
    for (int i = 0; i < infos.size(); ++i)
      visit([&] { return fmt::format("{}.{}[{}]", body.path, field, i); }, infos.Get(i));
  };
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr) {
      each(*body, body->function->value_info(), "value_info");
      continue;
    }
    each(*body, body->graph->input(), "input");
    each(*body, body->graph->output(), "output");
    each(*body, body->graph->value_info(), "value_info");
  }
}

// Calls visit(place, list) for all metadata except that of the model; place() returns the path.
template <typename Visit>
void EachMetadata(const RuleContext& s, const Visit& visit) {
  for (const auto& body : s.bodies())
    visit([&] { return body->path; }, body->graph != nullptr ? body->graph->metadata_props()
                                                             : body->function->metadata_props());
  for (const NodeAt& node : s.nodes())
    visit([&] { return s.Where(node).element; }, node.node->metadata_props());
  for (const TensorAt& t : s.tensors())
    visit([&] { return s.Where(t).element; }, t.tensor->metadata_props());
  EachInfo(s, [&](const auto& place, const pb::ValueInfoProto& info) {
    visit(place, info.metadata_props());
  });
}

void MetadataKeysUnique(const RuleContext& s, Findings& f) {
  EachMetadata(s, [&](const auto& place, const Metadata& list) {
    std::set<std::string_view> seen;
    for (int i = 0; i < list.size(); ++i)
      if (!seen.insert(list[i].key()).second)
        f.Add(At(fmt::format("{}.metadata_props[{}]", place(), i)),
              "metadata_props has key {} more than once", Quote(list[i].key()));
  });
}

// True if the type, or a type nested in it, is of the kind.
bool HasType(const pb::TypeProto& type, pb::TypeProto::ValueCase kind) {
  if (type.value_case() == kind) return true;
  if (type.has_sequence_type()) return HasType(type.sequence_type().elem_type(), kind);
  if (type.has_optional_type()) return HasType(type.optional_type().elem_type(), kind);
  return type.has_map_type() && HasType(type.map_type().value_type(), kind);
}

bool AnyType(const RuleContext& s, pb::TypeProto::ValueCase kind) {
  bool found = false;
  EachInfo(s, [&](const auto&, const pb::ValueInfoProto& info) {
    found = found || HasType(info.type(), kind);
  });
  return found;
}

bool AnyElementType(const RuleContext& s, std::initializer_list<int> types) {
  const auto is_one = [&](int type) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  bool found = std::any_of(s.tensors().begin(), s.tensors().end(),
                           [&](const TensorAt& t) { return is_one(t.tensor->data_type()); });
  EachInfo(s, [&](const auto&, const pb::ValueInfoProto& info) {
    found = found || is_one(info.type().tensor_type().elem_type());
  });
  return found;
}

template <typename Test>
bool AnyFunction(const RuleContext& s, const Test& test) {
  return std::any_of(s.proto().functions().begin(), s.proto().functions().end(), test);
}

bool AnyMetadata(const RuleContext& s) {
  bool found = false;
  EachMetadata(s, [&](const auto&, const Metadata& list) { found = found || !list.empty(); });
  return found;
}

// A feature that a version of the IR introduced.
struct Feature {
  int64_t since;
  std::string_view name;
  bool (*used)(const RuleContext& s);
};

constexpr Feature kFeatures[] = {
    {4, "element type BFLOAT16",
     [](const RuleContext& s) { return AnyElementType(s, {T::BFLOAT16}); }},
    {5, "quantization_annotation",
     [](const RuleContext& s) {
       return std::any_of(s.bodies().begin(), s.bodies().end(), [](const auto& body) {
         return body->graph != nullptr && body->graph->quantization_annotation_size() > 0;
       });
     }},
    {6, "sparse tensors", [](const RuleContext& s) { return !s.sparse_tensors().empty(); }},
    {6, "sequences", [](const RuleContext& s) { return AnyType(s, pb::TypeProto::kSequenceType); }},
    {6, "maps", [](const RuleContext& s) { return AnyType(s, pb::TypeProto::kMapType); }},
    {7, "training_info", [](const RuleContext& s) { return s.proto().training_info_size() > 0; }},
    {8, "optional values",
     [](const RuleContext& s) { return AnyType(s, pb::TypeProto::kOptionalType); }},
    {8, "values of sparse tensor type",
     [](const RuleContext& s) { return AnyType(s, pb::TypeProto::kSparseTensorType); }},
    {9, "default values of function attributes",
     [](const RuleContext& s) {
       return AnyFunction(s, [](const auto& f) { return f.attribute_proto_size() > 0; });
     }},
    {9, "8-bit floating-point types",
     [](const RuleContext& s) {
       return AnyElementType(
           s, {T::FLOAT8E4M3FN, T::FLOAT8E4M3FNUZ, T::FLOAT8E5M2, T::FLOAT8E5M2FNUZ});
     }},
    {10, "4-bit integers",
     [](const RuleContext& s) {
       return AnyElementType(s, {T::UINT4, T::INT4});
     }},
    {10, "function overloads",
     [](const RuleContext& s) {
       return AnyFunction(s, [](const auto& f) { return !f.overload().empty(); });
     }},
    {10, "value_info of functions",
     [](const RuleContext& s) {
       return AnyFunction(s, [](const auto& f) { return f.value_info_size() > 0; });
     }},
    {10, "metadata_props outside ModelProto", AnyMetadata},
    {11, "element type FLOAT4E2M1",
     [](const RuleContext& s) { return AnyElementType(s, {T::FLOAT4E2M1}); }},
    {11, "device configurations",
     [](const RuleContext& s) { return s.proto().configuration_size() > 0; }},
    {12, "element type FLOAT8E8M0",
     [](const RuleContext& s) { return AnyElementType(s, {T::FLOAT8E8M0}); }},
    {13, "2-bit integers",
     [](const RuleContext& s) {
       return AnyElementType(s, {T::UINT2, T::INT2});
     }},
};

void FeaturesInVersion(const RuleContext& s, Findings& f) {
  if (s.ir_version() <= 0) return;
  for (const Feature& feature : kFeatures)
    if (s.ir_version() < feature.since && feature.used(s))
      f.Add(At("ir_version"), "ir_version is {}; must be at least {} for {}", s.ir_version(),
            feature.since, feature.name);
}

constexpr Rule kVersionRules[] = {
    {.info = {.id = "ONNX-IR-001",
              .severity = Severity::kWarning,
              .statement = "The model uses only features of the IR version that it states.",
              .clause = "onnx.proto, Version",
              .hint = "Raise ir_version to the version that introduced the feature."},
     .check = FeaturesInVersion},
    {.info = {.id = "ONNX-IR-002",
              .statement = "The metadata_props of every graph, node, value, tensor and function "
                           "have unique keys.",
              .clause = "IR.md, Other Metadata",
              .hint = "Rename or remove the repeated key."},
     .check = MetadataKeysUnique},
};

}  // namespace

std::span<const Rule> VersionRules() {
  return kVersionRules;
}

}  // namespace nn::onnx
