// Inputs and outputs of models that are sequences, optionals or maps. The graph has an input or
// output for each element of a sequence, and two for a map, of its keys and of its values.
#include "formats/common/unique_names.h"
#include "formats/onnx/edit/output_names.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/import/importer.h"
#include "formats/onnx/roles.h"
#include "ir/op_def.h"
#include "ops/array/sequence.h"

namespace nn::onnx {
namespace {

// Limit of ONNX: elements of an input that is a list, as --length states them.
constexpr int64_t kMaxListInput = 65536;

// What follows the name of a map.
constexpr const char kMapKeys[] = ".keys", kMapValues[] = ".values";

}  // namespace

const char* KindOf(const pb::TypeProto& type) {
  switch (type.value_case()) {
    case pb::TypeProto::kSequenceType:
      return "a sequence";
    case pb::TypeProto::kMapType:
      return "a map";
    case pb::TypeProto::kOptionalType:
      return "an optional";
    case pb::TypeProto::kSparseTensorType:
      return "a sparse tensor";
    default:
      return nullptr;
  }
}

PortKind PortKindOf(const pb::TypeProto& type) {
  const pb::TypeProto* inner = &type;
  const bool optional = type.has_optional_type();
  if (optional) inner = &type.optional_type().elem_type();
  const bool sequence = inner->has_sequence_type();
  if (sequence) inner = &inner->sequence_type().elem_type();
  // Some files declare no type of an output.
  const bool tensor = inner->has_tensor_type() ||
                      (inner->value_case() == pb::TypeProto::VALUE_NOT_SET && inner == &type);
  if (!tensor) return PortKind::kOther;
  if (optional) return sequence ? PortKind::kOptionalSequence : PortKind::kOptional;
  return sequence ? PortKind::kSequence : PortKind::kTensor;
}

std::vector<std::string> OutputNames(const pb::GraphProto& g) {
  UniqueNames unique;
  std::set<std::string_view> stated, seen;
  for (const auto& info : g.output())
    if (stated.insert(info.name()).second) unique.Add(info.name());
  std::vector<std::string> names;
  for (const auto& info : g.output())
    names.push_back(seen.insert(info.name()).second ? info.name() : unique.Add(info.name()));
  return names;
}

PortKinds OnnxDescriber::PortKindsOf(const NativeModel& native) const {
  const pb::GraphProto& g = ModelOf(native).proto.graph();
  std::map<std::string_view, const pb::TypeProto*> types;
  for (const auto& info : g.input()) types.emplace(info.name(), &info.type());
  PortKinds kinds;
  if (const auto names = PortNamesOf(native))
    for (const std::string& name : names->inputs)
      kinds.inputs.emplace_back(name, PortKindOf(*types[name]));
  const std::vector<std::string> names = OutputNames(g);
  for (size_t i = 0; i < names.size(); ++i)
    kinds.outputs.emplace_back(names[i], PortKindOf(g.output(static_cast<int>(i)).type()));
  return kinds;
}

Result<Value*> Importer::ReadMapInput(const pb::ValueInfoProto& info, size_t& position) {
  const pb::TypeProto::Map& map = info.type().map_type();
  const DType key = DTypeOf(map.key_type());
  const DType value = DTypeOf(map.value_type().tensor_type().elem_type());
  if (!map.value_type().has_tensor_type() || key == DType::kUnknown || value == DType::kUnknown)
    return UnsupportedError("graph input {} is a map whose values are not numbers or strings",
                            Quote(info.name()));
  const Dim size = Dim::Symbol(info.name() + ".size");
  std::vector<Value*> parts;
  for (const auto& [name, dtype] : {std::pair(kMapKeys, key), std::pair(kMapValues, value)}) {
    const Type vector = known_inputs_.WithSizes(Type(dtype, {size}));
    NN_ASSIGN(parts.emplace_back(),
              known_inputs_.AddInput(graph_, position++, info.name() + name, vector));
  }
  Node* const node = graph_.AddNode(*Ops().Find("sequence"), std::move(parts),
                                    Attrs(SequenceAttrs{.is_map = true}), 1);
  NN_RETURN_IF_ERROR(InferNode(*node));
  return node->output();
}

Result<Value*> Importer::ReadListInput(const pb::ValueInfoProto& info, size_t& position) {
  if (info.type().has_map_type()) return ReadMapInput(info, position);
  const PortKind kind = PortKindOf(info.type());
  if (kind == PortKind::kOther)
    return UnsupportedError("graph input {} is {}, which is unsupported", Quote(info.name()),
                            KindOf(info.type()));
  const pb::TypeProto* type = &info.type();
  if (type->has_optional_type()) type = &type->optional_type().elem_type();
  pb::TypeProto element = *type;
  if (type->has_sequence_type()) {
    // A symbol in the type of a sequence may be a different size in each element.
    element = type->sequence_type().elem_type();
    for (auto& d : *element.mutable_tensor_type()->mutable_shape()->mutable_dim())
      d.clear_dim_param();
    if (!type->sequence_type().elem_type().tensor_type().has_shape())
      element.mutable_tensor_type()->clear_shape();
  }
  const auto given = known_inputs_.lengths.find(info.name());
  const bool is_known = given != known_inputs_.lengths.end();
  const int64_t length = is_known ? given->second : 1;
  const bool takes_absent = kind != PortKind::kSequence;
  const bool takes_any = kind != PortKind::kOptional;
  if (!is_known && takes_any)
    return UnsupportedError(
        "graph input {} is a sequence: state its number of elements with --length {}=N, which "
        "become the inputs {}, {} and so on",
        Quote(info.name()), info.name(), ElementName(info.name(), 0), ElementName(info.name(), 1));
  const bool is_possible = length == kAbsent ? takes_absent : takes_any || length == 1;
  if (!is_possible || length < kAbsent || length > kMaxListInput)
    return UsageError("graph input {} is {}, which cannot have {} elements", Quote(info.name()),
                      KindOf(info.type()), length);
  const auto add = [&](const std::string& name) -> Result<Value*> {
    const Type tensor = known_inputs_.WithSizes(ReadType(element, name));
    if (tensor.dtype == DType::kUnknown)
      return ModelError("graph input {} has an unknown element type", Quote(info.name()));
    return known_inputs_.AddInput(graph_, position++, name, tensor);
  };
  if (!takes_any && length == 1) return add(info.name());
  std::vector<Value*> elements;
  for (int64_t i = 0; i < length; ++i) {
    NN_ASSIGN(Value* const v, add(ElementName(info.name(), static_cast<size_t>(i))));
    elements.push_back(v);
  }
  Node* const node = graph_.AddNode(*Ops().Find("sequence"), std::move(elements),
                                    Attrs(SequenceAttrs{length == kAbsent}), 1);
  NN_RETURN_IF_ERROR(InferNode(*node));
  return node->output();
}

// An output for each element of a sequence; none for an optional without a value.
void Importer::AddOutput(const std::string& name, Value* value) {
  if (IsEmptyOptional(value)) return;
  if (IsMap(value)) {
    graph_.AddOutput(name + kMapKeys, value->def()->input(0));
    graph_.AddOutput(name + kMapValues, value->def()->input(1));
    return;
  }
  if (!IsSequence(value)) {
    graph_.AddOutput(name, value);
    return;
  }
  size_t index = 0;
  for (Value* element : value->def()->inputs())
    graph_.AddOutput(ElementName(name, index++), element);
}

}  // namespace nn::onnx
