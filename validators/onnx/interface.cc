// Rules for the inputs and outputs of graphs, the declared types of values, and annotations.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/text/name_map.h"
#include "base/text/text.h"
#include "formats/onnx/file/tensor.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using Infos = google::protobuf::RepeatedPtrField<pb::ValueInfoProto>;

// Calls visit(info, path) for the inputs and outputs of a graph, and for its value_info if `inner`.
template <typename Visit>
void EachInfo(const Body& body, bool inner, const Visit& visit) {
  const auto each = [&](const Infos& infos, std::string_view field) {
    for (int i = 0; i < infos.size(); ++i)
      visit(infos.Get(i), fmt::format("{}.{}[{}]", body.path, field, i));
  };
  if (body.graph == nullptr) return;
  each(body.graph->input(), "input");
  each(body.graph->output(), "output");
  if (inner) each(body.graph->value_info(), "value_info");
}

void InterfaceNamed(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies())
    EachInfo(*body, false, [&](const pb::ValueInfoProto& info, const std::string& path) {
      if (info.name().empty()) f.Add(At(path + ".name"), "the input or output has no name");
    });
}

// The field that a type lacks; "" if it is complete.
std::string_view Missing(const pb::TypeProto& type) {
  switch (type.value_case()) {
    case pb::TypeProto::kTensorType:
      if (!type.tensor_type().has_elem_type()) return "tensor_type.elem_type";
      return type.tensor_type().has_shape() ? "" : "tensor_type.shape";
    case pb::TypeProto::kSparseTensorType:
      if (!type.sparse_tensor_type().has_elem_type()) return "sparse_tensor_type.elem_type";
      return type.sparse_tensor_type().has_shape() ? "" : "sparse_tensor_type.shape";
    case pb::TypeProto::kSequenceType:
      return type.sequence_type().has_elem_type() ? "" : "sequence_type.elem_type";
    case pb::TypeProto::kOptionalType:
      return type.optional_type().has_elem_type() ? "" : "optional_type.elem_type";
    case pb::TypeProto::kMapType:
      if (!type.map_type().has_key_type()) return "map_type.key_type";
      return type.map_type().has_value_type() ? "" : "map_type.value_type";
    case pb::TypeProto::kOpaqueType:
      return type.opaque_type().name().empty() ? "opaque_type.name" : "";
    case pb::TypeProto::VALUE_NOT_SET:
      break;
  }
  return "value";
}

void InterfaceTyped(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->kind != Body::Kind::kMain) continue;
    EachInfo(*body, false, [&](const pb::ValueInfoProto& info, const std::string& path) {
      if (!info.has_type())
        f.Add(At(path + ".type"), "{} has no type", Quote(info.name()));
      else if (const auto what = Missing(info.type()); !what.empty())
        f.Add(At(path + ".type"), "the type of {} has no {}", Quote(info.name()), what);
    });
  }
}

const pb::TensorShapeProto* ShapeOf(const pb::TypeProto& type) {
  if (type.has_tensor_type() && type.tensor_type().has_shape()) return &type.tensor_type().shape();
  if (type.has_sparse_tensor_type() && type.sparse_tensor_type().has_shape())
    return &type.sparse_tensor_type().shape();
  return nullptr;
}

void DimensionsNatural(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies())
    EachInfo(*body, true, [&](const pb::ValueInfoProto& info, const std::string& path) {
      const auto* shape = ShapeOf(info.type());
      for (int i = 0; shape != nullptr && i < shape->dim_size(); ++i)
        if (shape->dim(i).has_dim_value() && shape->dim(i).dim_value() < 0)
          f.Add(At(fmt::format("{}.type.shape.dim[{}]", path, i)),
                "dimension {} of {} is {}; must not be negative", i, Quote(info.name()),
                shape->dim(i).dim_value());
    });
}

// The first element type in a type that is not a TensorProto.DataType; nullopt if all are.
std::optional<int> UnknownElementType(const pb::TypeProto& type) {
  const auto known = [](int t) {
    return t > pb::TensorProto::UNDEFINED && pb::TensorProto::DataType_IsValid(t);
  };
  if (type.has_tensor_type() && type.tensor_type().has_elem_type() &&
      !known(type.tensor_type().elem_type()))
    return type.tensor_type().elem_type();
  if (type.has_sparse_tensor_type() && !known(type.sparse_tensor_type().elem_type()))
    return type.sparse_tensor_type().elem_type();
  if (type.has_sequence_type()) return UnknownElementType(type.sequence_type().elem_type());
  if (type.has_optional_type()) return UnknownElementType(type.optional_type().elem_type());
  if (type.has_map_type()) {
    if (!known(type.map_type().key_type())) return type.map_type().key_type();
    return UnknownElementType(type.map_type().value_type());
  }
  return std::nullopt;
}

void ElementTypesKnown(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies())
    EachInfo(*body, true, [&](const pb::ValueInfoProto& info, const std::string& path) {
      if (const auto type = UnknownElementType(info.type()))
        f.Add(At(path + ".type"),
              "{} has element type {}, which is not a defined TensorProto.DataType",
              Quote(info.name()), *type);
    });
}

void InfosUnique(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    const Infos& infos =
        body->graph != nullptr ? body->graph->value_info() : body->function->value_info();
    NameSet seen;
    std::vector<int> repeated;
    for (int i = 0; i < infos.size(); ++i)
      if (!seen.insert(infos[i].name())) repeated.push_back(i);
    if (repeated.empty()) continue;
    // Optimizers repeat the entries of all values, which are hundreds.
    const std::string others =
        repeated.size() == 1 ? "" : fmt::format(", and {} more entries", repeated.size() - 1);
    f.Add(At(fmt::format("{}.value_info[{}]", body->path, repeated.front())),
          "value_info describes {} more than once{}", Quote(infos[repeated.front()].name()),
          others);
  }
}

// The field that a nested type lacks; "" if it is complete. The shape of a nested tensor is
// optional.
std::string_view MissingInside(const pb::TypeProto& type) {
  const auto inner = [](const pb::TypeProto& t) {
    const std::string_view what = Missing(t);
    return what.ends_with(".shape") ? std::string_view() : (what.empty() ? MissingInside(t) : what);
  };
  if (type.has_sequence_type() && type.sequence_type().has_elem_type())
    return inner(type.sequence_type().elem_type());
  if (type.has_optional_type() && type.optional_type().has_elem_type())
    return inner(type.optional_type().elem_type());
  if (type.has_map_type() && type.map_type().has_value_type())
    return inner(type.map_type().value_type());
  return "";
}

void InnerTypesComplete(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies())
    EachInfo(*body, true, [&](const pb::ValueInfoProto& info, const std::string& path) {
      if (const auto what = MissingInside(info.type()); !what.empty())
        f.Add(At(path + ".type"), "a type nested in the type of {} has no {}", Quote(info.name()),
              what);
    });
}

// The first key type in a type that is neither an integer nor a string; nullopt if there is none.
std::optional<int> BadKeyType(const pb::TypeProto& type) {
  using Proto = pb::TensorProto;
  if (type.has_sequence_type()) return BadKeyType(type.sequence_type().elem_type());
  if (type.has_optional_type()) return BadKeyType(type.optional_type().elem_type());
  if (!type.has_map_type()) return std::nullopt;
  constexpr int kKeyTypes[] = {Proto::INT8,   Proto::INT16,  Proto::INT32,
                               Proto::INT64,  Proto::UINT8,  Proto::UINT16,
                               Proto::UINT32, Proto::UINT64, Proto::STRING};
  const int key = type.map_type().key_type();
  if (std::find(std::begin(kKeyTypes), std::end(kKeyTypes), key) == std::end(kKeyTypes) &&
      pb::TensorProto::DataType_IsValid(key))
    return key;
  return BadKeyType(type.map_type().value_type());
}

void KeysAllowed(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies())
    EachInfo(*body, true, [&](const pb::ValueInfoProto& info, const std::string& path) {
      if (const auto key = BadKeyType(info.type()); key && *key != pb::TensorProto::UNDEFINED)
        f.Add(At(path + ".type"),
              "the type of {} has map keys of type {}; must be integers or strings",
              Quote(info.name()), DataTypeName(*key));
    });
}

void SymbolsPlain(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies())
    EachInfo(*body, true, [&](const pb::ValueInfoProto& info, const std::string& path) {
      const auto* shape = ShapeOf(info.type());
      for (int i = 0; shape != nullptr && i < shape->dim_size(); ++i)
        if (shape->dim(i).dim_param() == "*")
          f.Add(At(fmt::format("{}.type.shape.dim[{}]", path, i)),
                "dimension {} of {} is named \"*\", which is a single dimension, not a wildcard", i,
                Quote(info.name()));
    });
}

void AnnotationKeysKnown(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr) continue;
    for (int i = 0; i < body->graph->quantization_annotation_size(); ++i)
      for (const auto& entry :
           body->graph->quantization_annotation(i).quant_parameter_tensor_names())
        if (entry.key() != "SCALE_TENSOR" && entry.key() != "ZERO_POINT_TENSOR")
          f.Add(At(fmt::format("{}.quantization_annotation[{}]", body->path, i)),
                "parameter {} is neither SCALE_TENSOR nor ZERO_POINT_TENSOR", Quote(entry.key()));
  }
}

void InitializersFitInputs(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr) continue;
    std::unordered_map<std::string_view, const pb::TypeProto*> inputs;
    for (const auto& info : body->graph->input()) inputs.emplace(info.name(), &info.type());
    for (int i = 0; i < body->graph->initializer_size(); ++i) {
      const auto& tensor = body->graph->initializer(i);
      const auto input = inputs.find(tensor.name());
      if (input == inputs.end() || !input->second->has_tensor_type()) continue;
      const auto& type = input->second->tensor_type();
      const Location where = At(fmt::format("{}.initializer[{}]", body->path, i));
      if (type.has_elem_type() && type.elem_type() != tensor.data_type())
        f.Add(where, "initializer {} has type {}, but the input of that name has type {}",
              Quote(tensor.name()), DataTypeName(tensor.data_type()),
              DataTypeName(type.elem_type()));
      if (!type.has_shape()) continue;
      bool fits = type.shape().dim_size() == tensor.dims_size();
      for (int d = 0; fits && d < tensor.dims_size(); ++d)
        fits = !type.shape().dim(d).has_dim_value() ||
               type.shape().dim(d).dim_value() == tensor.dims(d);
      if (!fits)
        f.Add(where, "the shape of initializer {} differs from that of the input of that name",
              Quote(tensor.name()));
    }
  }
}

void AnnotationsOfValues(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr) continue;
    for (int i = 0; i < body->graph->quantization_annotation_size(); ++i) {
      const auto& a = body->graph->quantization_annotation(i);
      if (!body->defined.contains(a.tensor_name()))
        f.Add(At(fmt::format("{}.quantization_annotation[{}]", body->path, i)),
              "tensor_name is {}, which is not a value of the graph", Quote(a.tensor_name()));
    }
  }
}

void AnnotationParameters(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr || body->graph->quantization_annotation_size() == 0) continue;
    NameSet initializers;
    if (body->graph->quantization_annotation_size() > 0)
      for (const auto& tensor : body->graph->initializer()) initializers.insert(tensor.name());
    for (int i = 0; i < body->graph->quantization_annotation_size(); ++i)
      for (const auto& entry :
           body->graph->quantization_annotation(i).quant_parameter_tensor_names())
        if (!initializers.contains(entry.value()))
          f.Add(At(fmt::format("{}.quantization_annotation[{}]", body->path, i)),
                "parameter {} is {}, which is not an initializer of the graph", Quote(entry.key()),
                Quote(entry.value()));
  }
}

constexpr Rule kInterfaceRules[] = {
    {.info = {.id = "ONNX-VALUE-001",
              .statement = "Every input and output of a graph has a name.",
              .clause = "IR.md, Graphs",
              .vendor = true,
              .hint = "Set the name of the input or output."},
     .check = InterfaceNamed},
    {.info = {.id = "ONNX-VALUE-002",
              .statement = "Every input and output of the main graph has a complete type, which "
                           "for tensors includes element type and shape.",
              .clause = "IR.md, Graphs",
              .vendor = true,
              .hint = "Add the missing part of the type; a dimension may be symbolic or empty, but "
                      "the shape must be present."},
     .check = InterfaceTyped},
    {.info = {.id = "ONNX-VALUE-003",
              .statement = "The declared shapes of values have no negative dimensions.",
              .clause = "IR.md, Static tensor shapes",
              .hint = "Use dim_param, or leave the dimension empty, if the size is unknown."},
     .check = DimensionsNatural},
    {.info = {.id = "ONNX-VALUE-004",
              .statement = "Every declared element type, and every key type of a map, is a defined "
                           "TensorProto.DataType.",
              .clause = "onnx.proto, TensorProto.DataType",
              .hint = "Set the type to a TensorProto.DataType other than UNDEFINED."},
     .check = ElementTypesKnown},
    {.info = {.id = "ONNX-VALUE-005",
              .statement = "An initializer with the name of a graph input has the element type and "
                           "shape of that input.",
              .clause = "IR.md, Graphs",
              .hint = "Correct the declared type of the input, or store the initializer with that "
                      "type and shape."},
     .check = InitializersFitInputs},
    {.info = {.id = "ONNX-VALUE-006",
              .statement = "Every quantization annotation names a value of its graph.",
              .clause = "onnx.proto, TensorAnnotation.tensor_name",
              .hint = "Correct tensor_name, or remove the annotation."},
     .check = AnnotationsOfValues},
    {.info = {.id = "ONNX-VALUE-007",
              .statement =
                  "The parameters of a quantization annotation are initializers of the same graph.",
              .clause = "onnx.proto, TensorAnnotation.quant_parameter_tensor_names",
              .hint = "Add the initializer, or correct its name in quant_parameter_tensor_names."},
     .check = AnnotationParameters},
    {.info = {.id = "ONNX-VALUE-008",
              .statement =
                  "The value_info of a graph or function has at most one entry for each value.",
              .clause = "onnx.proto, GraphProto.value_info",
              .hint =
                  "Remove the repeated entries; nnconvert --rewrite writes one for each value."},
     .check = InfosUnique},
    {.info = {.id = "ONNX-VALUE-009",
              .statement = "Types nested in sequence, optional and map types are complete, apart "
                           "from tensor shapes.",
              .clause = "onnx.proto, TypeProto",
              .hint = "Set the missing field of the nested type."},
     .check = InnerTypesComplete},
    {.info = {.id = "ONNX-VALUE-010",
              .statement = "The keys of map types are integers or strings.",
              .clause = "onnx.proto, TypeProto.Map.key_type",
              .hint = "Set key_type to an integer type or STRING."},
     .check = KeysAllowed},
    {.info = {.id = "ONNX-VALUE-011",
              .severity = Severity::kWarning,
              .statement = "No dimension has the dim_param \"*\".",
              .clause = "IR.md, Static tensor shapes",
              .hint = "Give the dimension a name of its own; \"*\" does not stand for any number "
                      "of dimensions."},
     .check = SymbolsPlain},
    {.info = {.id = "ONNX-VALUE-012",
              .severity = Severity::kWarning,
              .statement = "A quantization annotation has no parameters other than SCALE_TENSOR "
                           "and ZERO_POINT_TENSOR.",
              .clause = "onnx.proto, TensorAnnotation.quant_parameter_tensor_names",
              .hint = "Remove the entry, or change its key to SCALE_TENSOR or ZERO_POINT_TENSOR."},
     .check = AnnotationKeysKnown},
};

}  // namespace

std::span<const Rule> InterfaceRules() {
  return kInterfaceRules;
}

}  // namespace nn::onnx
