// Rules of what a graph takes and gives: value types, and annotations of values.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "formats/onnx/tensor.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using Infos = google::protobuf::RepeatedPtrField<pb::ValueInfoProto>;

// Calls visit(body, info, path) for the inputs and outputs of a graph, and its value_info if asked.
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

void InterfaceNamed(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies())
    EachInfo(*body, false, [&](const pb::ValueInfoProto& info, const std::string& path) {
      if (info.name().empty()) f.Add(At(path + ".name"), "the value has no name");
    });
}

// What a type lacks; "" if it is complete.
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

void InterfaceTyped(const Subject& s, Findings& f) {
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

void DimensionsNatural(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies())
    EachInfo(*body, true, [&](const pb::ValueInfoProto& info, const std::string& path) {
      const auto* shape = ShapeOf(info.type());
      for (int i = 0; shape != nullptr && i < shape->dim_size(); ++i)
        if (shape->dim(i).has_dim_value() && shape->dim(i).dim_value() < 0)
          f.Add(At(fmt::format("{}.type.shape.dim[{}]", path, i)), "dimension {} of {} is {}", i,
                Quote(info.name()), shape->dim(i).dim_value());
    });
}

// The first element type in a type that no TensorProto.DataType has; nullopt if all are known.
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

void ElementTypesKnown(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies())
    EachInfo(*body, true, [&](const pb::ValueInfoProto& info, const std::string& path) {
      if (const auto type = UnknownElementType(info.type()))
        f.Add(At(path + ".type"), "{} has element type {}, which is no TensorProto.DataType",
              Quote(info.name()), *type);
    });
}

void InfosUnique(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    const Infos& infos =
        body->graph != nullptr ? body->graph->value_info() : body->function->value_info();
    std::unordered_set<std::string_view> seen;
    for (int i = 0; i < infos.size(); ++i)
      if (!seen.insert(infos[i].name()).second)
        f.Add(At(fmt::format("{}.value_info[{}]", body->path, i)), "{} is described again",
              Quote(infos[i].name()));
  }
}

// What a type inside a type lacks; "" if it is complete. A tensor in it may have no shape.
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

void InnerTypesComplete(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies())
    EachInfo(*body, true, [&](const pb::ValueInfoProto& info, const std::string& path) {
      if (const auto what = MissingInside(info.type()); !what.empty())
        f.Add(At(path + ".type"), "the type inside that of {} has no {}", Quote(info.name()), what);
    });
}

// The key type of a map in a type that is no integer and no string; nullopt if there is none.
std::optional<int> BadKeyType(const pb::TypeProto& type) {
  using T = pb::TensorProto;
  if (type.has_sequence_type()) return BadKeyType(type.sequence_type().elem_type());
  if (type.has_optional_type()) return BadKeyType(type.optional_type().elem_type());
  if (!type.has_map_type()) return std::nullopt;
  constexpr int kKeys[] = {T::INT8,   T::INT16,  T::INT32,  T::INT64, T::UINT8,
                           T::UINT16, T::UINT32, T::UINT64, T::STRING};
  const int key = type.map_type().key_type();
  if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys) &&
      pb::TensorProto::DataType_IsValid(key))
    return key;
  return BadKeyType(type.map_type().value_type());
}

void KeysAllowed(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies())
    EachInfo(*body, true, [&](const pb::ValueInfoProto& info, const std::string& path) {
      if (const auto key = BadKeyType(info.type()); key && *key != pb::TensorProto::UNDEFINED)
        f.Add(At(path + ".type"), "the keys of map {} are of type {}", Quote(info.name()),
              DataTypeName(*key));
    });
}

void SymbolsPlain(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies())
    EachInfo(*body, true, [&](const pb::ValueInfoProto& info, const std::string& path) {
      const auto* shape = ShapeOf(info.type());
      for (int i = 0; shape != nullptr && i < shape->dim_size(); ++i)
        if (shape->dim(i).dim_param() == "*")
          f.Add(At(fmt::format("{}.type.shape.dim[{}]", path, i)),
                "dimension {} of {} is \"*\", which stands for one dimension, not for several", i,
                Quote(info.name()));
    });
}

void AnnotationKeysKnown(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr) continue;
    for (int i = 0; i < body->graph->quantization_annotation_size(); ++i)
      for (const auto& entry :
           body->graph->quantization_annotation(i).quant_parameter_tensor_names())
        if (entry.key() != "SCALE_TENSOR" && entry.key() != "ZERO_POINT_TENSOR")
          f.Add(At(fmt::format("{}.quantization_annotation[{}]", body->path, i)),
                "{} is no parameter that the specification names", Quote(entry.key()));
  }
}

void InitialisersFitInputs(const Subject& s, Findings& f) {
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
        f.Add(where, "initialiser {} is of type {}, the input of that name of type {}",
              Quote(tensor.name()), DataTypeName(tensor.data_type()),
              DataTypeName(type.elem_type()));
      if (!type.has_shape()) continue;
      bool fits = type.shape().dim_size() == tensor.dims_size();
      for (int d = 0; fits && d < tensor.dims_size(); ++d)
        fits = !type.shape().dim(d).has_dim_value() ||
               type.shape().dim(d).dim_value() == tensor.dims(d);
      if (!fits)
        f.Add(where, "the shape of initialiser {} is not that of the input of that name",
              Quote(tensor.name()));
    }
  }
}

void AnnotationsOfValues(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr) continue;
    for (int i = 0; i < body->graph->quantization_annotation_size(); ++i) {
      const auto& a = body->graph->quantization_annotation(i);
      if (!body->defined.contains(a.tensor_name()))
        f.Add(At(fmt::format("{}.quantization_annotation[{}]", body->path, i)),
              "the graph has no value {}", Quote(a.tensor_name()));
    }
  }
}

void AnnotationParameters(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr || body->graph->quantization_annotation_size() == 0) continue;
    std::unordered_set<std::string_view> initialisers;
    for (const auto& tensor : body->graph->initializer()) initialisers.insert(tensor.name());
    for (int i = 0; i < body->graph->quantization_annotation_size(); ++i)
      for (const auto& entry :
           body->graph->quantization_annotation(i).quant_parameter_tensor_names())
        if (!initialisers.contains(entry.value()))
          f.Add(At(fmt::format("{}.quantization_annotation[{}]", body->path, i)),
                "{} is {}, which is no initialiser", Quote(entry.key()), Quote(entry.value()));
  }
}

constexpr Rule kRules[] = {
    {{"ONNX-VALUE-001", Severity::kError, "Inputs and outputs of a graph have names.",
      "IR.md, Graphs", true, ""},
     InterfaceNamed},
    {{"ONNX-VALUE-002", Severity::kError,
      "Inputs and outputs of the main graph have a type with element type and shape.",
      "IR.md, Graphs", true, "A dimension may be a symbol or empty, the shape may not be absent."},
     InterfaceTyped},
    {{"ONNX-VALUE-003", Severity::kError, "Stated dimensions are not negative.",
      "IR.md, Static tensor shapes", false, "Use dim_param for a size that is not known."},
     DimensionsNatural},
    {{"ONNX-VALUE-004", Severity::kError, "Element types are those of TensorProto.DataType.",
      "onnx.proto, TensorProto.DataType", false, ""},
     ElementTypesKnown},
    {{"ONNX-VALUE-005", Severity::kError,
      "An initialiser fits the type of the input that it is the default of.", "IR.md, Graphs",
      false, ""},
     InitialisersFitInputs},
    {{"ONNX-VALUE-006", Severity::kError, "A quantisation annotation names a value of its graph.",
      "onnx.proto, TensorAnnotation.tensor_name", false, ""},
     AnnotationsOfValues},
    {{"ONNX-VALUE-007", Severity::kError,
      "The parameters of a quantisation annotation are initialisers of its graph.",
      "onnx.proto, TensorAnnotation.quant_parameter_tensor_names", false, ""},
     AnnotationParameters},
    {{"ONNX-VALUE-008", Severity::kError, "value_info describes a value once.",
      "onnx.proto, GraphProto.value_info", false, "Remove the second entry."},
     InfosUnique},
    {{"ONNX-VALUE-009", Severity::kError,
      "Types inside sequences, optionals and maps state what they consist of.",
      "onnx.proto, TypeProto", false, ""},
     InnerTypesComplete},
    {{"ONNX-VALUE-010", Severity::kError, "Keys of maps are integers or strings.",
      "onnx.proto, TypeProto.Map.key_type", false, ""},
     KeysAllowed},
    {{"ONNX-VALUE-011", Severity::kWarning, "No dimension is named \"*\".",
      "IR.md, Static tensor shapes", false, "Leave the shape out where the rank is not known."},
     SymbolsPlain},
    {{"ONNX-VALUE-012", Severity::kWarning,
      "A quantisation annotation has parameters SCALE_TENSOR and ZERO_POINT_TENSOR only.",
      "onnx.proto, TensorAnnotation.quant_parameter_tensor_names", false, ""},
     AnnotationKeysKnown},
};

}  // namespace

std::span<const Rule> InterfaceRules() {
  return kRules;
}

}  // namespace nn::onnx
