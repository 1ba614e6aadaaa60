// The draft requirements of SONNX, the safety-related profile of ONNX, on what a file contains; the
// safety profile only. They are published in github.com/onnx/working-groups,
// safety-related-profile.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/text/text.h"
#include "formats/onnx/infer/infer.h"
#include "validators/onnx/constants.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

// REQ OP 000. Its names Dense, FullyConnected, Padding and ConvTransposeDeconvolution are not those
// of operators.
constexpr auto kProfileOperators = std::to_array<std::string_view>({
    "Abs",
    "Add",
    "Cast",
    "Clip",
    "Concat",
    "Constant",
    "ConstantOfShape",
    "Conv",
    "ConvTranspose",
    "Div",
    "Equal",
    "Erf",
    "Exp",
    "Expand",
    "Flatten",
    "GRU",
    "Gather",
    "Gemm",
    "GlobalAveragePool",
    "HardSwish",
    "Identity",
    "LSTM",
    "LeakyRelu",
    "Less",
    "Log",
    "MatMul",
    "Max",
    "MaxPool",
    "Min",
    "Mod",
    "Mul",
    "Neg",
    "Not",
    "Pad",
    "Pow",
    "Range",
    "ReduceMean",
    "ReduceSum",
    "Relu",
    "Reshape",
    "Resize",
    "ScatterND",
    "Shape",
    "Sigmoid",
    "Slice",
    "Softmax",
    "Softplus",
    "Split",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Tanh",
    "Transpose",
    "Unsqueeze",
    "Where",
});
static_assert(std::is_sorted(kProfileOperators.begin(), kProfileOperators.end()));

constexpr auto kRandomOperators = std::to_array<std::string_view>({
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
});

// Attributes without a default value: what they state is absent without them, or alternatives.
constexpr auto kOptionalAttributes = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"Constant", "sparse_value"},
    {"Constant", "value"},
    {"Constant", "value_float"},
    {"Constant", "value_floats"},
    {"Constant", "value_int"},
    {"Constant", "value_ints"},
    {"Constant", "value_string"},
    {"Constant", "value_strings"},
    {"ConvTranspose", "output_shape"},
    {"GRU", "activation_alpha"},
    {"GRU", "activation_beta"},
    {"GRU", "clip"},
    {"LSTM", "activation_alpha"},
    {"LSTM", "activation_beta"},
    {"LSTM", "clip"},
    {"Resize", "axes"},
    {"Shape", "end"},
    {"Split", "num_outputs"},
    {"Split", "split"},
});

bool IsProfileOperator(const NodeAt& node) {
  return PlainDomain(node.node->domain()).empty() &&
         std::binary_search(kProfileOperators.begin(), kProfileOperators.end(),
                            std::string_view(node.node->op_type()));
}

void OperatorsOfProfile(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (node.function == nullptr && !IsProfileOperator(node))
      f.Add(s.Where(node, "op_type"), "{} is not an operator of the profile", Title(node));
}

// Whether the attribute training_mode, or the input of Dropout, is other than the constant false.
bool IsTrainingMode(const NodeAt& node, const Constants& constants) {
  if (const auto* mode = FindAttribute(node, "training_mode")) return mode->i() != 0;
  constexpr int kModeInput = 2;  // of Dropout
  if (!IsOf(node, "Dropout") || node.node->input_size() <= kModeInput ||
      node.node->input(kModeInput).empty())
    return false;
  return constants.ValuesOf(node, kModeInput) != std::vector<double>{0};
}

bool DropsElements(const NodeAt& node, const Constants& constants) {
  return IsOf(node, "Dropout") && IsTrainingMode(node, constants) &&
         constants.ValuesOf(node, 1) != std::vector<double>{0};  // the ratio
}

void OperatorsDeterministic(const RuleContext& s, Findings& f) {
  const Constants constants(s);
  for (const NodeAt& node : s.nodes()) {
    const bool is_random = std::any_of(kRandomOperators.begin(), kRandomOperators.end(),
                                       [&](std::string_view op) { return IsOf(node, op); });
    if (is_random || DropsElements(node, constants))
      f.Add(s.Where(node), "the outputs of {} are random", Title(node));
  }
}

void OperatorsOfInference(const RuleContext& s, Findings& f) {
  for (int i = 0; i < s.proto().training_info_size(); ++i)
    f.Add(At(fmt::format("training_info[{}]", i)), "the model has training information");
  const Constants constants(s);
  for (const NodeAt& node : s.nodes())
    if (node.node->domain() == "ai.onnx.preview.training" ||
        (IsOf(node, "BatchNormalization") && IsTrainingMode(node, constants)))
      f.Add(s.Where(node), "{} is for training", Title(node));
}

// The attributes of a window that replace each other: auto_pad computes the pads.
bool IsReplaced(const NodeAt& node, std::string_view attribute) {
  const auto* auto_pad = FindAttribute(node, "auto_pad");
  return attribute == "pads" && auto_pad != nullptr && auto_pad->s() != "NOTSET";
}

void AttributesStated(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (node.schema == nullptr || !IsProfileOperator(node)) continue;
    std::set<std::string_view> stated;
    for (const auto& a : node.node->attribute()) stated.insert(a.name());
    for (const auto& [name, attribute] : node.schema->attributes) {
      const std::pair<std::string_view, std::string_view> key(node.schema->op, name);
      if (attribute.required || stated.contains(name) || IsReplaced(node, name) ||
          std::find(kOptionalAttributes.begin(), kOptionalAttributes.end(), key) !=
              kOptionalAttributes.end())
        continue;
      f.Add(s.Where(node, "attribute"), "{} does not state the attribute {}", Title(node),
            Quote(name));
    }
  }
}

bool HasElementType(const pb::TypeProto& type) {
  switch (type.value_case()) {
    case pb::TypeProto::kTensorType:
      return type.tensor_type().elem_type() != pb::TensorProto::UNDEFINED;
    case pb::TypeProto::kSparseTensorType:
      return type.sparse_tensor_type().elem_type() != pb::TensorProto::UNDEFINED;
    case pb::TypeProto::kSequenceType:
      return HasElementType(type.sequence_type().elem_type());
    case pb::TypeProto::kOptionalType:
      return HasElementType(type.optional_type().elem_type());
    case pb::TypeProto::kMapType:
      return HasElementType(type.map_type().value_type());
    default:
      return false;
  }
}

// Whether the type is a tensor whose dimensions are numbers.
bool HasNumbers(const pb::TypeProto& type) {
  const auto are_numbers = [](const pb::TensorShapeProto& shape) {
    return std::all_of(shape.dim().begin(), shape.dim().end(),
                       [](const auto& d) { return d.has_dim_value(); });
  };
  if (type.has_tensor_type())
    return type.tensor_type().has_shape() && are_numbers(type.tensor_type().shape());
  return type.has_sparse_tensor_type() && type.sparse_tensor_type().has_shape() &&
         are_numbers(type.sparse_tensor_type().shape());
}

using TypesByName = std::unordered_map<std::string_view, const pb::TypeProto*>;

// The types that the body declares.
TypesByName DeclaredTypes(const Body& body) {
  TypesByName types;
  const auto add = [&](const auto& infos) {
    for (const auto& info : infos)
      if (info.has_type()) types.try_emplace(info.name(), &info.type());
  };
  if (body.graph != nullptr) {
    add(body.graph->input());
    add(body.graph->output());
    add(body.graph->value_info());
  } else {
    add(body.function->value_info());
  }
  return types;
}

// Calls visit(location, name, type) for the inputs of graphs and the outputs of nodes; the type is
// null if none is declared.
template <typename Visit>
void EachDeclaration(const RuleContext& s, const Visit& visit) {
  for (const auto& body : s.bodies()) {
    const TypesByName types = DeclaredTypes(*body);
    const auto type_of = [&](const std::string& name) {
      const auto it = types.find(name);
      return it == types.end() ? nullptr : it->second;
    };
    for (int i = 0; body->graph != nullptr && i < body->graph->input_size(); ++i) {
      const std::string& name = body->graph->input(i).name();
      visit(At(fmt::format("{}.input[{}]", body->path, i)), name, type_of(name));
    }
    for (const NodeAt& node : s.NodesOf(*body))
      for (int i = 0; i < node.node->output_size(); ++i)
        if (const std::string& name = node.node->output(i); !name.empty())
          visit(s.Where(node, fmt::format("output[{}]", i)), name, type_of(name));
  }
}

void TypesStated(const RuleContext& s, Findings& f) {
  EachDeclaration(s, [&](const Location& where, const std::string& name, const auto* type) {
    if (type == nullptr || !HasElementType(*type))
      f.Add(where, "the model does not state the type of {}", Quote(name));
  });
}

void ShapesStated(const RuleContext& s, Findings& f) {
  EachDeclaration(s, [&](const Location& where, const std::string& name, const auto* type) {
    if (type != nullptr && HasElementType(*type) && !HasNumbers(*type))
      f.Add(where, "the model does not state the shape of {} in numbers", Quote(name));
  });
}

// Why the size of a value is not known before a run; "" if it is.
std::string WhyUnsized(const ValueType& type, const std::set<std::string>& known) {
  if (type.kind != ValueType::Kind::kTensor && type.kind != ValueType::Kind::kSparse)
    return type.is_known() ? "it is not a tensor" : "its type does not follow from the inputs";
  if (!type.tensor.dims) return "its rank does not follow from the inputs";
  std::set<std::string> symbols;
  for (const Dim& d : *type.tensor.dims) {
    if (!d.is_valid()) return "a dimension exceeds all limits";
    d.CollectSymbols(symbols);
  }
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](const std::string& symbol) { return known.contains(symbol); })
             ? ""
             : "its shape does not follow from the shapes of the inputs";
}

void MemoryKnown(const RuleContext& s, Findings& f) {
  const ModelTypes types = InferUndeclaredTypes(s.native());
  std::set<std::string> known;  // the symbols of the inputs
  for (const GraphTypes& graph : types.graphs)
    for (const ValueEntry& v : graph.values)
      if (v.role != ValueEntry::Role::kResult && v.type.tensor.dims)
        for (const Dim& d : *v.type.tensor.dims)
          if (d.is_valid()) d.CollectSymbols(known);
  std::map<const pb::GraphProto*, std::map<std::string_view, std::string>> unsized;
  for (const GraphTypes& graph : types.graphs)
    for (const ValueEntry& v : graph.values)
      if (v.role == ValueEntry::Role::kResult)
        if (std::string why = WhyUnsized(v.type, known); !why.empty())
          unsized[graph.graph][v.name] = std::move(why);
  for (const auto& body : s.bodies()) {
    const auto names = unsized.find(body->graph);
    if (body->graph == nullptr || names == unsized.end()) continue;
    for (const NodeAt& node : s.NodesOf(*body))
      for (int i = 0; i < node.node->output_size(); ++i)
        if (const auto why = names->second.find(node.node->output(i)); why != names->second.end())
          f.Add(s.Where(node, fmt::format("output[{}]", i)),
                "the memory of {} is not known before a run: {}", Quote(why->first), why->second);
  }
}

void OutputsUsed(const RuleContext& s, Findings& f) {
  std::vector<bool> used(s.values().size());
  const auto use = [&](int value) {
    if (value >= 0) used[static_cast<size_t>(value)] = true;
  };
  for (const NodeAt& node : s.nodes())
    for (int i = 0; i < node.node->input_size(); ++i) use(s.InputOf(node, i));
  for (const auto& body : s.bodies()) {
    if (body->graph != nullptr)
      for (const auto& info : body->graph->output()) use(RuleContext::ValueOf(*body, info.name()));
    else
      for (const auto& name : body->function->output()) use(RuleContext::ValueOf(*body, name));
  }
  for (const NodeAt& node : s.nodes())
    for (int i = 0; i < node.node->output_size(); ++i)
      if (const int value = s.OutputOf(node, i); value >= 0 && !used[static_cast<size_t>(value)])
        f.Add(s.Where(node, fmt::format("output[{}]", i)),
              "no node reads {} of {}, and it is not an output", Quote(node.node->output(i)),
              Title(node));
}

void InputsUsed(const RuleContext& s, Findings& f) {
  std::unordered_set<std::string_view> read;
  for (const NodeAt& node : s.nodes())
    for (const std::string& name : node.node->input()) read.insert(name);
  const pb::GraphProto& graph = s.proto().graph();
  for (int i = 0; i < graph.input_size(); ++i)
    if (!read.contains(graph.input(i).name()))
      f.Add(At(fmt::format("graph.input[{}]", i)), "no node reads input {}",
            Quote(graph.input(i).name()));
}

bool HasSparse(const pb::TypeProto& type) {
  if (type.has_sequence_type()) return HasSparse(type.sequence_type().elem_type());
  if (type.has_optional_type()) return HasSparse(type.optional_type().elem_type());
  return type.has_sparse_tensor_type();
}

void NoSparseTensors(const RuleContext& s, Findings& f) {
  for (const SparseAt& t : s.sparse_tensors())
    f.Add(s.Where(t.place), "{} is a sparse tensor", Quote(t.tensor->values().name()));
  EachDeclaration(s, [&](const Location& where, const std::string& name, const auto* type) {
    if (type != nullptr && HasSparse(*type)) f.Add(where, "{} is a sparse tensor", Quote(name));
  });
}

constexpr Rule kSafetyRules[] = {
    {{.id = "ONNX-SAFETY-001",
      .statement = "All operators are in the operator set of the safety-related profile.",
      .clause = "SONNX reqs.md, REQ OP 000: Operator set",
      .hint = "Replace the operator with operators of the profile.",
      .safety = true},
     OperatorsOfProfile},
    {{.id = "ONNX-SAFETY-002",
      .statement = "All operators are deterministic.",
      .clause = "SONNX reqs.md, REQ-OP-010: Deterministic operators",
      .hint = "Remove the random operator, or make its result an input.",
      .safety = true},
     OperatorsDeterministic},
    {{.id = "ONNX-SAFETY-003",
      .statement = "The model has only operators of inference and no training information.",
      .clause = "SONNX reqs.md, REQ-OP-020: Inference operators",
      .hint = "Export the model in inference mode.",
      .safety = true},
     OperatorsOfInference},
    {{.id = "ONNX-SAFETY-004",
      .statement = "Nodes state all attributes instead of using default values.",
      .clause = "SONNX reqs.md, REQ-OP-070: No default value",
      .hint = "Write the attribute with its value, even if that is the default.",
      .safety = true},
     AttributesStated},
    {{.id = "ONNX-SAFETY-005",
      .statement = "The type of each input and of each output of a node is stated.",
      .clause =
          "SONNX general_restrictions.md, GR2; reqs.md, REQ-GR-000: Explicit types and shapes",
      .hint = "Run shape inference, and save the model with the result.",
      .safety = true},
     TypesStated},
    {{.id = "ONNX-SAFETY-006",
      .statement = "Each stated type of a value is a tensor whose dimensions are numbers.",
      .clause = "SONNX reqs.md, REQ-GR-000: Explicit types and shapes",
      .hint = "Export the model with a fixed size for every dimension of its inputs.",
      .safety = true},
     ShapesStated},
    {{.id = "ONNX-SAFETY-007",
      .statement = "The memory of each value follows from the shapes of the inputs, not from data.",
      .clause = "SONNX reqs.md, need-ai-009: Resource usage determinism and predictability",
      .hint = "Replace what computes a shape from data by constants.",
      .safety = true},
     MemoryKnown},
    {{.id = "ONNX-SAFETY-008",
      .statement = "Each output of a node is read by another node or is an output of its graph.",
      .clause = "SONNX graph.md, R1",
      .hint = "Remove the node, or leave out the unused optional output.",
      .safety = true},
     OutputsUsed},
    {{.id = "ONNX-SAFETY-009",
      .statement = "Each input of the model is read by a node.",
      .clause = "SONNX graph.md, C2: Input Usage",
      .hint = "Remove the input.",
      .safety = true},
     InputsUsed},
    {{.id = "ONNX-SAFETY-010",
      .statement = "The model has no sparse tensors.",
      .clause = "SONNX general_restrictions.md, GR1",
      .hint = "Store the tensor densely.",
      .safety = true},
     NoSparseTensors},
};

}  // namespace

std::span<const Rule> SafetyRules() {
  return kSafetyRules;
}

}  // namespace nn::onnx
