#include <fmt/core.h>

#include <cstring>
#include <limits>
#include <unordered_map>

#include "base/checked_math.h"
#include "base/text/name_map.h"
#include "base/text/text.h"
#include "formats/onnx/file/native.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/roles.h"

namespace nn::onnx {
namespace {

// Attributes are truncated to these: elements of a list, bytes of a string.
struct Shown {
  int elements = 16;
  size_t bytes = 200;
};

uint64_t SaturatingAdd(uint64_t a, uint64_t b) {
  return CheckedAdd(a, b).value_or(std::numeric_limits<uint64_t>::max());
}

template <typename List, typename Fn>
std::string ListText(const List& list, Fn text, int shown_elements = Shown().elements) {
  std::string out = "[";
  int shown = 0;
  for (const auto& v : list) {
    if (shown == shown_elements) {
      out += fmt::format(", ... {} in all", list.size());
      break;
    }
    out += (shown++ == 0 ? "" : ", ") + text(v);
  }
  return out + "]";
}

std::string FloatNumber(float v) {
  return FloatText(v);
}
std::string Quoted(const std::string& s) {
  return Quote(s);
}
std::string IntNumber(int64_t v) {
  return std::to_string(v);
}

std::optional<std::vector<std::string>> ShapeOf(const pb::TensorShapeProto& shape) {
  std::vector<std::string> out;
  for (const auto& d : shape.dim()) {
    if (d.has_dim_value() && d.dim_value() >= 0)
      out.push_back(std::to_string(d.dim_value()));
    else
      out.push_back(d.has_dim_param() && !d.dim_param().empty() ? d.dim_param() : "?");
  }
  return out;
}

std::string TypeName(const pb::TypeProto& type) {
  switch (type.value_case()) {
    case pb::TypeProto::kTensorType:
      return DataTypeName(type.tensor_type().elem_type());
    case pb::TypeProto::kSparseTensorType:
      return fmt::format("sparse({})", DataTypeName(type.sparse_tensor_type().elem_type()));
    case pb::TypeProto::kSequenceType:
      return fmt::format("sequence({})", TypeName(type.sequence_type().elem_type()));
    case pb::TypeProto::kOptionalType:
      return fmt::format("optional({})", TypeName(type.optional_type().elem_type()));
    case pb::TypeProto::kMapType:
      return fmt::format("map({}, {})", DataTypeName(type.map_type().key_type()),
                         TypeName(type.map_type().value_type()));
    case pb::TypeProto::kOpaqueType:
      return fmt::format("opaque({}, {})", Quote(type.opaque_type().domain()),
                         Quote(type.opaque_type().name()));
    case pb::TypeProto::VALUE_NOT_SET:
      break;
  }
  return "";
}

// Type and shape.
std::string TensorText(const pb::TensorProto& t) {
  return DataTypeName(t.data_type()) + ListText(t.dims(), IntNumber);
}

class Summarizer {
 public:
  Summarizer(const Model& model, const Shown& shown) : model_(model), shown_(shown) {}

  ModelSummary Run() {
    const pb::ModelProto& m = model_.proto;
    out_.format = "ONNX";
    out_.version = Version();
    out_.producer = m.producer_name();
    if (!m.producer_version().empty())
      out_.producer += (out_.producer.empty() ? "" : " ") + m.producer_version();
    out_.name = m.graph().name();
    Metadata();
    Interface();
    out_.operators.reserve(static_cast<size_t>(m.graph().node_size()));
    AddGraph(m.graph(), "");
    for (const pb::FunctionProto& f : m.functions())
      AddNodes(f.node(), "function " + QualifiedName(f.domain(), f.name()));
    return std::move(out_);
  }

 private:
  static std::string QualifiedName(const std::string& domain, const std::string& name) {
    return domain.empty() || domain == "ai.onnx" ? name : domain + "." + name;
  }

  std::string Version() const {
    std::string text = fmt::format("IR version {}", model_.proto.ir_version());
    for (const auto& id : model_.proto.opset_import())
      text += id.domain().empty() || id.domain() == "ai.onnx"
                  ? fmt::format(", opset {}", id.version())
                  : fmt::format(", {} {}", id.domain(), id.version());
    return text;
  }

  void Metadata() {
    const pb::ModelProto& m = model_.proto;
    const auto add = [&](std::string key, std::string value) {
      if (!value.empty()) out_.metadata.emplace_back(std::move(key), std::move(value));
    };
    add("domain", m.domain());
    if (m.model_version() != 0) add("model_version", std::to_string(m.model_version()));
    add("doc_string", m.doc_string());
    add("graph.doc_string", m.graph().doc_string());
    for (const auto& p : m.metadata_props()) out_.metadata.emplace_back(p.key(), p.value());
    if (m.training_info_size() > 0) add("training_info", std::to_string(m.training_info_size()));
  }

  void Interface() {
    const pb::GraphProto& g = model_.proto.graph();
    // An input with an initializer is a parameter that can be overridden by name.
    NameSet parameters;
    for (const auto& t : g.initializer()) parameters.insert(t.name());
    for (const auto& t : g.sparse_initializer()) parameters.insert(t.values().name());
    for (const auto& annotation : g.quantization_annotation()) {
      std::string& text = quantization_[annotation.tensor_name()];
      for (const auto& p : annotation.quant_parameter_tensor_names())
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", p.key(), p.value());
    }
    for (const auto& info : g.input())
      if (!parameters.contains(info.name())) out_.inputs.push_back(DescribeTensor(info));
    for (const auto& info : g.output()) out_.outputs.push_back(DescribeTensor(info));
  }

  TensorSummary DescribeTensor(const pb::ValueInfoProto& info) const {
    TensorSummary t;
    t.name = info.name();
    t.type = TypeName(info.type());
    if (info.type().has_tensor_type() && info.type().tensor_type().has_shape())
      t.shape = ShapeOf(info.type().tensor_type().shape());
    if (info.type().has_sparse_tensor_type() && info.type().sparse_tensor_type().has_shape())
      t.shape = ShapeOf(info.type().sparse_tensor_type().shape());
    const auto it = quantization_.find(info.name());
    if (it != quantization_.end()) t.quantization = it->second;
    return t;
  }

  // `scope` names the graph for its operators.
  void AddGraph(const pb::GraphProto& g, const std::string& scope) {
    for (const auto& t : g.initializer()) AddParameter(t);
    for (const auto& t : g.sparse_initializer()) AddParameter(t.values());
    AddNodes(g.node(), scope);
  }

  template <typename NodeList>
  void AddNodes(const NodeList& nodes, const std::string& scope) {
    int index = 0;
    for (const pb::NodeProto& node : nodes) AddNode(node, scope, index++);
  }

  void AddNode(const pb::NodeProto& node, const std::string& scope, int index) {
    OperatorSummary op;
    op.op = QualifiedName(node.domain(), node.op_type());
    if (!node.overload().empty()) op.op += ":" + node.overload();
    op.name = node.name();
    op.scope = scope;
    op.inputs.assign(node.input().begin(), node.input().end());
    op.outputs.assign(node.output().begin(), node.output().end());
    for (const auto& a : node.attribute()) op.attributes.emplace_back(a.name(), AttrText(a));
    out_.operators.push_back(std::move(op));
    if (node.attribute().empty()) return;

    for (const auto& a : node.attribute()) {
      if (node.op_type() == "Constant") AddConstant(a);
      const std::string inner = SubgraphName(scope, node, index, a.name());
      if (a.has_g()) AddGraph(a.g(), inner);
      for (int i = 0; i < a.graphs_size(); ++i)
        AddGraph(a.graphs(i), fmt::format("{}[{}]", inner, i));
    }
  }

  void Count(uint64_t elements, uint64_t bytes) {
    out_.parameter_count = SaturatingAdd(out_.parameter_count, elements);
    out_.parameter_bytes = SaturatingAdd(out_.parameter_bytes, bytes);
  }

  // Shapes that overflow count as 0, because the file may be invalid.
  void AddParameter(const pb::TensorProto& t) {
    const std::vector<int64_t> dims(t.dims().begin(), t.dims().end());
    const int64_t elements = CheckedElements(dims).value_or(0);
    const DType dtype = DTypeOf(t.data_type());
    uint64_t bytes = 0;
    if (dtype == DType::kString) {
      for (const std::string& s : t.string_data()) bytes += s.size();
    } else if (elements <= std::numeric_limits<int64_t>::max() / 128) {
      bytes = ByteSize(dtype, elements);
    }
    Count(static_cast<uint64_t>(elements), bytes);
  }

  // A Constant node's value is a parameter like an initializer.
  void AddConstant(const pb::AttributeProto& a) {
    if (a.has_t()) AddParameter(a.t());
    if (a.has_sparse_tensor()) AddParameter(a.sparse_tensor().values());
    const auto floats = FloatCount(a);
    const auto ints = static_cast<uint64_t>(a.ints_size());
    const auto strings = static_cast<uint64_t>(a.strings_size());
    uint64_t bytes = floats * sizeof(float) + ints * sizeof(int64_t);
    for (const std::string& s : a.strings()) bytes += s.size();
    Count(floats + ints + strings, bytes);
    if (a.name() == "value_float") Count(1, sizeof(float));
    if (a.name() == "value_int") Count(1, sizeof(int64_t));
    if (a.name() == "value_string") Count(1, a.s().size());
  }

  uint64_t FloatCount(const pb::AttributeProto& a) const {
    const auto payload = model_.payloads.Find(a, pb::AttributeProto::kFloatsFieldNumber);
    return payload ? payload->size() / sizeof(float) : static_cast<uint64_t>(a.floats_size());
  }

  std::string StringText(const pb::AttributeProto& a) const {
    std::string_view text = a.s();
    const auto blob = model_.payloads.Find(a, pb::AttributeProto::kSFieldNumber);
    if (blob) text = {reinterpret_cast<const char*>(blob->data()), blob->size()};
    return text.size() <= shown_.bytes ? Quote(text)
                                       : fmt::format("string of {} bytes", text.size());
  }

  // Small tensors are shown with their contents.
  std::string ValueText(const pb::TensorProto& t) const {
    const std::vector<int64_t> dims(t.dims().begin(), t.dims().end());
    const auto elements = CheckedElements(dims);
    const bool small =
        elements && *elements <= Shown().elements && t.data_location() != pb::TensorProto::EXTERNAL;
    const auto value = small ? ReadTensor(t, model_) : Result<Tensor>(Tensor());
    if (!value || value->dtype() == DType::kUnknown || IsComplex(value->dtype()))
      return TensorText(t);
    if (value->dtype() == DType::kString)
      return TensorText(t) + " " + ListText(value->strings(), Quoted);
    if (!IsFloat(value->dtype())) return TensorText(t) + " " + ListText(value->ToInts(), IntNumber);
    return TensorText(t) + " " +
           ListText(value->ToDoubles(), [](double v) { return FloatText(static_cast<float>(v)); });
  }

  std::string FloatsText(const pb::AttributeProto& a) const {
    const auto payload = model_.payloads.Find(a, pb::AttributeProto::kFloatsFieldNumber);
    if (!payload) return ListText(a.floats(), FloatNumber, shown_.elements);
    if (FloatCount(a) > static_cast<uint64_t>(shown_.elements))
      return fmt::format("{} floats", FloatCount(a));
    std::vector<float> values(FloatCount(a));
    std::memcpy(values.data(), payload->data(), values.size() * sizeof(float));
    return ListText(values, FloatNumber, shown_.elements);
  }

  static std::string GraphText(const pb::GraphProto& g) {
    return fmt::format("graph {} of {} operators", Quote(g.name()), g.node_size());
  }

  // Files of IR version 1 have no `type`; it follows from the field that is set.
  static pb::AttributeProto::AttributeType KindOf(const pb::AttributeProto& a) {
    if (a.has_type()) return a.type();
    if (a.has_f()) return pb::AttributeProto::FLOAT;
    if (a.has_i()) return pb::AttributeProto::INT;
    if (a.has_s()) return pb::AttributeProto::STRING;
    if (a.has_t()) return pb::AttributeProto::TENSOR;
    if (a.has_g()) return pb::AttributeProto::GRAPH;
    if (a.ints_size() > 0) return pb::AttributeProto::INTS;
    if (a.floats_size() > 0) return pb::AttributeProto::FLOATS;
    if (a.strings_size() > 0) return pb::AttributeProto::STRINGS;
    if (a.tensors_size() > 0) return pb::AttributeProto::TENSORS;
    if (a.graphs_size() > 0) return pb::AttributeProto::GRAPHS;
    return pb::AttributeProto::UNDEFINED;
  }

  std::string AttrText(const pb::AttributeProto& a) const {
    if (!a.ref_attr_name().empty()) return "@" + a.ref_attr_name();
    using A = pb::AttributeProto;
    switch (KindOf(a)) {
      case A::FLOAT:
        return FloatText(a.f());
      case A::INT:
        return std::to_string(a.i());
      case A::STRING:
        return StringText(a);
      case A::TENSOR:
        return ValueText(a.t());
      case A::GRAPH:
        return GraphText(a.g());
      case A::FLOATS:
        return FloatsText(a);
      case A::INTS:
        return ListText(a.ints(), IntNumber, shown_.elements);
      case A::STRINGS:
        return ListText(a.strings(), Quoted, shown_.elements);
      case A::TENSORS:
        return ListText(a.tensors(), TensorText, shown_.elements);
      case A::GRAPHS:
        return ListText(a.graphs(), GraphText, shown_.elements);
      case A::SPARSE_TENSOR:
        return fmt::format("sparse {} of {}", TensorText(a.sparse_tensor().values()),
                           ListText(a.sparse_tensor().dims(), IntNumber));
      case A::SPARSE_TENSORS:
        return fmt::format("{} sparse tensors", a.sparse_tensors_size());
      case A::TYPE_PROTO:
        return TypeName(a.tp());
      case A::TYPE_PROTOS:
        return ListText(a.type_protos(), TypeName, shown_.elements);
      case A::UNDEFINED:
        break;
    }
    return "";
  }

  const Model& model_;
  Shown shown_;
  std::unordered_map<std::string, std::string> quantization_;  // by tensor name
  ModelSummary out_;
};

}  // namespace

std::string SubgraphName(const std::string& scope, const pb::NodeProto& node, int64_t index,
                         std::string_view attribute) {
  return fmt::format(
      "{}{}{}.{}", scope, scope.empty() ? "" : "/",
      node.name().empty() ? fmt::format("{} {}", node.op_type(), index) : node.name(), attribute);
}

Result<ModelSummary> OnnxDescriber::Summarize(const NativeModel& native) const {
  return Summarizer(ModelOf(native), Shown()).Run();
}

Result<ModelSummary> OnnxDescriber::SummarizeInFull(const NativeModel& native) const {
  constexpr Shown kAll = {std::numeric_limits<int>::max(), std::numeric_limits<size_t>::max()};
  return Summarizer(ModelOf(native), kAll).Run();
}

}  // namespace nn::onnx
