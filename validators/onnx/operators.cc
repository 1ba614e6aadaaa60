// Rules for attribute values: what the documentation of an operator requires beyond names and
// types.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include <fmt/ranges.h>

#include "base/text/text.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/spec/recurrent_names.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using A = pb::AttributeProto;

const A* FindInts(const NodeAt& node, std::string_view name) {
  const A* a = FindAttribute(node, name);
  return a != nullptr && a->ints_size() > 0 ? a : nullptr;
}

// True if the node is of the default domain and its operator is in the list.
template <size_t N>
bool IsOneOf(const NodeAt& node, const std::array<std::string_view, N>& ops) {
  return node.schema != nullptr && PlainDomain(node.node->domain()).empty() &&
         std::find(ops.begin(), ops.end(), node.node->op_type()) != ops.end();
}

constexpr std::array<std::string_view, 10> kWindowed = {
    "Conv",        "ConvTranspose", "ConvInteger", "QLinearConv", "MaxPool",
    "AveragePool", "LpPool",        "MaxUnpool",   "DeformConv",  "Col2Im"};

void WindowsAgree(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOneOf(node, kWindowed)) continue;
    int axes = -1;
    std::string_view first;
    for (const std::string_view name : {"kernel_shape", "strides", "dilations", "pads"}) {
      const A* a = FindInts(node, name);
      if (a == nullptr) continue;
      const bool pads = name == "pads";
      if (pads && a->ints_size() % 2 != 0) {
        f.Add(s.Where(node, name),
              "pads of {} has an odd number of values ({}); must have two per axis", Title(node),
              a->ints_size());
        continue;
      }
      const int n = pads ? a->ints_size() / 2 : a->ints_size();
      if (axes < 0) {
        axes = n;
        first = name;
      } else if (n != axes) {
        f.Add(s.Where(node, name), "{} of {} has values for {} axes, but {} has values for {}",
              name, Title(node), n, first, axes);
      }
    }
  }
}

void PermutationValid(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOneOf(node, std::array<std::string_view, 1>{"Transpose"})) continue;
    const A* perm = FindInts(node, "perm");
    if (perm == nullptr) continue;
    std::vector<int64_t> sorted(perm->ints().begin(), perm->ints().end());
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i)
      if (sorted[i] != static_cast<int64_t>(i)) {
        f.Add(s.Where(node, "perm"), "perm of {} is not a permutation of 0 to {}", Title(node),
              sorted.size() - 1);
        break;
      }
  }
}

// Shapes of values, from their initializers or declared types.
class KnownShapes {
 public:
  explicit KnownShapes(const RuleContext& s)
      : s_(s), tensors_(s.values().size()), declared_(s.values().size()) {
    for (const TensorAt& t : s.tensors())
      if (t.value >= 0 && tensors_[static_cast<size_t>(t.value)] == nullptr)
        tensors_[static_cast<size_t>(t.value)] = t.tensor;
    for (const auto& body : s.bodies()) {
      if (body->graph == nullptr) continue;
      for (const auto* infos : {&body->graph->input(), &body->graph->value_info()})
        for (const auto& info : *infos)
          if (const int value = RuleContext::ValueOf(*body, info.name());
              value >= 0 && declared_[static_cast<size_t>(value)] == nullptr)
            declared_[static_cast<size_t>(value)] = &info.type().tensor_type().shape();
    }
  }

  // A dimension of an input of a node; nullopt if it is not known.
  std::optional<int64_t> DimensionOf(const NodeAt& node, int input, int axis) const {
    const int value = s_.InputOf(node, input);
    if (value < 0) return std::nullopt;
    if (const auto* tensor = tensors_[static_cast<size_t>(value)])
      return axis < tensor->dims_size() ? std::optional(tensor->dims(axis)) : std::nullopt;
    const auto* shape = declared_[static_cast<size_t>(value)];
    return shape != nullptr && axis < shape->dim_size() && shape->dim(axis).has_dim_value()
               ? std::optional(shape->dim(axis).dim_value())
               : std::nullopt;
  }

 private:
  const RuleContext& s_;
  // By index in RuleContext::values.
  std::vector<const pb::TensorProto*> tensors_;
  std::vector<const pb::TensorShapeProto*> declared_;
};

void GroupsDivide(const RuleContext& s, Findings& f) {
  std::optional<KnownShapes> shapes;
  for (const NodeAt& node : s.nodes()) {
    const bool transposed = IsOneOf(node, std::array<std::string_view, 1>{"ConvTranspose"});
    if (!transposed && !IsOneOf(node, std::array<std::string_view, 1>{"Conv"})) continue;
    const A* a = FindAttribute(node, "group");
    const int64_t group = a != nullptr && a->has_i() ? a->i() : 1;
    if (group <= 0) {
      f.Add(s.Where(node, "group"), "group of {} is {}; must be positive", Title(node), group);
      continue;
    }
    if (node.node->input_size() < 2 || group == 1) continue;
    if (!shapes) shapes.emplace(s);
    const auto in = shapes->DimensionOf(node, 0, 1);
    const auto filters = shapes->DimensionOf(node, 1, 0);
    if (in && *in % group != 0)
      f.Add(s.Where(node, "group"), "group {} of {} does not divide its {} input channels", group,
            Title(node), *in);
    else if (!transposed && filters && *filters % group != 0)
      f.Add(s.Where(node, "group"), "group {} of {} does not divide its {} output channels", group,
            Title(node), *filters);
  }
}

// An attribute that selects an element type.
struct TypeAttribute {
  std::string_view name;
  bool of_output;        // the type of the first output
  bool or_none = false;  // 0 stands for a default
};

constexpr TypeAttribute kTypeAttributes[] = {
    {"to", true},
    {"dtype", true},
    {"output_dtype", true, true},
    {"output_datatype", true},
    {"stash_type", false},
    {"softmax_precision", false, true},
    {"precision", false, true},
};

// Types for intermediate computations.
constexpr int64_t kPrecisions[] = {pb::TensorProto::FLOAT, pb::TensorProto::FLOAT16,
                                   pb::TensorProto::DOUBLE, pb::TensorProto::BFLOAT16};

bool IsAllowedType(const NodeAt& node, const TypeAttribute& attribute, int64_t type) {
  if (type == 0 && attribute.or_none) return true;
  if (type <= 0 || type > INT32_MAX || !pb::TensorProto::DataType_IsValid(static_cast<int>(type)))
    return false;
  if (!attribute.of_output)
    return std::find(std::begin(kPrecisions), std::end(kPrecisions), type) != std::end(kPrecisions);
  if (node.schema->outputs.empty()) return true;
  const auto allowed = node.schema->types.find(node.schema->outputs.front().type);
  const std::string text(DTypeName(DTypeOf(static_cast<int>(type))));
  return allowed == node.schema->types.end() || allowed->second.contains(text) ||
         allowed->second.contains("seq(" + text + ")");
}

void AttributeTypesKnown(const RuleContext& s, Findings& f) {
  for (const AttributeAt& a : s.attributes()) {
    const NodeAt& node = s.nodes()[static_cast<size_t>(a.node)];
    if (node.schema == nullptr || !a.attribute->has_i()) continue;
    for (const TypeAttribute& t : kTypeAttributes)
      if (t.name == a.attribute->name() && !IsAllowedType(node, t, a.attribute->i()))
        f.Add(s.Where(a, "i"),
              "{} of {} is {}, which is not an element type that {} of opset {} supports", t.name,
              Title(node), a.attribute->i(), node.schema->op, node.schema->since);
  }
}

void PadsOnce(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOneOf(node, kWindowed)) continue;
    const A* auto_pad = FindAttribute(node, "auto_pad");
    const A* pads = FindInts(node, "pads");
    if (auto_pad == nullptr || auto_pad->s() == "NOTSET" || pads == nullptr) continue;
    // Exporters also write pads that are all zero.
    if (std::any_of(pads->ints().begin(), pads->ints().end(), [](int64_t p) { return p != 0; }))
      f.Add(s.Where(node, "pads"), "{} has both nonzero pads and auto_pad {}", Title(node),
            Quote(auto_pad->s()));
  }
}

struct Recurrent {
  std::string_view op;
  int activations;  // in one direction
};

constexpr Recurrent kRecurrent[] = {{"RNN", 1}, {"GRU", 2}, {"LSTM", 3}};

void ActivationsFit(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    for (const Recurrent& r : kRecurrent) {
      const A* a = FindAttribute(node, "activations");
      if (a == nullptr || !IsOneOf(node, std::array{r.op})) continue;
      const A* direction = FindAttribute(node, "direction");
      const bool both = direction != nullptr && direction->s() == "bidirectional";
      const int need = r.activations * (both ? 2 : 1);
      if (a->strings_size() != need && a->strings_size() > 0)
        f.Add(s.Where(node, "activations"), "{} has {} activations; must have {}", Title(node),
              a->strings_size(), need);
      for (const auto& name : a->strings())
        if (FindRecurrentActivation(name) == nullptr)
          f.Add(s.Where(node, "activations"), "{} has activation {}, which is not a known function",
                Title(node), Quote(name));
    }
}

// What is wrong with an equation for that number of inputs; "" if nothing is.
std::string EquationFault(std::string equation, int inputs) {
  std::erase(equation, ' ');
  std::string left = equation;
  std::optional<std::string> right;
  if (const size_t arrow = equation.find("->"); arrow != std::string::npos) {
    left = equation.substr(0, arrow);
    right = equation.substr(arrow + 2);
  }
  const auto terms = std::count(left.begin(), left.end(), ',') + 1;
  if (terms != inputs)
    return fmt::format("has {} terms, but the node has {} inputs", terms, inputs);
  // A term has letters and at most one ellipsis.
  const auto malformed = [](std::string term) {
    if (const size_t dots = term.find("..."); dots != std::string::npos) term.erase(dots, 3);
    return std::any_of(term.begin(), term.end(),
                       [](char c) { return std::isalpha(static_cast<unsigned char>(c)) == 0; });
  };
  for (size_t start = 0; start <= left.size();) {
    const size_t end = std::min(left.find(',', start), left.size());
    const std::string term = left.substr(start, end - start);
    if (malformed(term)) return fmt::format("has the invalid term {}", Quote(term));
    start = end + 1;
  }
  if (!right) return {};
  if (malformed(*right)) return fmt::format("has the invalid result {}", Quote(*right));
  for (size_t i = 0; i < right->size(); ++i) {
    const char c = (*right)[i];
    if (left.find(c) == std::string::npos)
      return fmt::format("has '{}' in its result, but in no term", c);
    if (c != '.' && right->find(c, i + 1) != std::string::npos)
      return fmt::format("has '{}' more than once in its result", c);
  }
  return {};
}

void EquationsParse(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    const A* a = FindAttribute(node, "equation");
    if (a == nullptr || !IsOneOf(node, std::array<std::string_view, 1>{"Einsum"})) continue;
    if (const std::string fault = EquationFault(a->s(), node.node->input_size()); !fault.empty())
      f.Add(s.Where(node, "equation"), "equation {} of {} {}", Quote(a->s()), Title(node), fault);
  }
}

void SplitsFit(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOneOf(node, std::array<std::string_view, 1>{"Split"})) continue;
    const A* split = FindInts(node, "split");
    if (split != nullptr && split->ints_size() != node.node->output_size())
      f.Add(s.Where(node, "split"), "{} has {} outputs, but split has {} sizes", Title(node),
            node.node->output_size(), split->ints_size());
    constexpr int64_t kFirstWithCount = 18;
    if (node.schema->since < kFirstWithCount) continue;
    const A* count = FindAttribute(node, "num_outputs");
    const bool sizes = node.node->input_size() > 1 && !node.node->input(1).empty();
    if (sizes == (count != nullptr))
      f.Add(s.Where(node), "{} has {} the split input; must have exactly one", Title(node),
            sizes ? "both num_outputs and" : "neither num_outputs nor");
    else if (count != nullptr && count->i() != node.node->output_size())
      f.Add(s.Where(node, "num_outputs"), "{} has {} outputs, but num_outputs is {}", Title(node),
            node.node->output_size(), count->i());
  }
}

void FillHasOneElement(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    const A* a = FindAttribute(node, "value");
    if (a == nullptr || !a->has_t() ||
        !IsOneOf(node, std::array<std::string_view, 1>{"ConstantOfShape"}))
      continue;
    const auto& dims = a->t().dims();
    if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d != 1; }))
      f.Add(s.Where(node, "value"), "value of {} has shape [{}]; must have one element",
            Title(node), fmt::join(dims.begin(), dims.end(), ", "));
  }
}

void SequenceAxesDiffer(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOneOf(node, std::array<std::string_view, 1>{"ReverseSequence"})) continue;
    const A* batch = FindAttribute(node, "batch_axis");
    const A* time = FindAttribute(node, "time_axis");
    const int64_t batch_axis = batch != nullptr ? batch->i() : 1;
    if (batch_axis == (time != nullptr ? time->i() : 0))
      f.Add(s.Where(node), "batch_axis and time_axis of {} are both {}; must be different",
            Title(node), batch_axis);
  }
}

void OutputPaddingSmall(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOneOf(node, std::array<std::string_view, 1>{"ConvTranspose"})) continue;
    const A* padding = FindInts(node, "output_padding");
    const A* strides = FindInts(node, "strides");
    const A* dilations = FindInts(node, "dilations");
    for (int i = 0; padding != nullptr && i < padding->ints_size(); ++i) {
      const auto at = [&](const A* a) {
        return a != nullptr && i < a->ints_size() ? a->ints(i) : 1;
      };
      const int64_t bound = std::max(at(strides), at(dilations));
      if (padding->ints(i) > 0 && padding->ints(i) >= bound)
        f.Add(s.Where(node, "output_padding"),
              "output_padding of {} is {} for axis {}; must be less than {}, the larger of stride "
              "and dilation",
              Title(node), padding->ints(i), i, bound);
    }
  }
}

void TreesRefer(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (node.schema == nullptr || node.node->domain() != "ai.onnx.ml" ||
        node.schema->op != "TreeEnsemble")
      continue;
    const auto size = [&](std::string_view name) {
      const A* a = FindAttribute(node, name);
      return a != nullptr ? a->ints_size() : 0;
    };
    const auto check = [&](std::string_view name, std::string_view leafs) {
      const A* ids = FindAttribute(node, name);
      const A* is_leaf = leafs.empty() ? nullptr : FindAttribute(node, leafs);
      for (int i = 0; ids != nullptr && i < ids->ints_size(); ++i) {
        const bool leaf = is_leaf != nullptr && i < is_leaf->ints_size() && is_leaf->ints(i) != 0;
        const int count = size(leaf ? "leaf_targetids" : "nodes_featureids");
        if (ids->ints(i) < 0 || ids->ints(i) >= count)
          f.Add(s.Where(node, name), "{} of {} refers to {} {}, but the number of {} is {}", name,
                Title(node), leaf ? "leaf" : "node", ids->ints(i), leaf ? "leaves" : "nodes",
                count);
      }
    };
    check("nodes_truenodeids", "nodes_trueleafs");
    check("nodes_falsenodeids", "nodes_falseleafs");
    check("tree_roots", "");
  }
}

void ConstantHasOneValue(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOneOf(node, std::array<std::string_view, 1>{"Constant"})) continue;
    const auto& list = node.node->attribute();
    const auto n = std::count_if(list.begin(), list.end(), [](const A& a) {
      return a.name() == "value" || a.name().starts_with("value_") || a.name() == "sparse_value";
    });
    if (n != 1)
      f.Add(s.Where(node), "{} has {} value attributes; must have exactly one", Title(node), n);
  }
}

constexpr Rule kOperatorRules[] = {
    {.info = {.id = "ONNX-OP-003",
              .statement = "The kernel_shape, strides, dilations and pads of a convolution, "
                           "pooling operator or Col2Im are for the same number of axes.",
              .clause = "Operators.md, Conv",
              .hint = "Give one value per spatial axis, and two per axis for pads: all begins, "
                      "then all ends."},
     .check = WindowsAgree},
    {.info = {.id = "ONNX-OP-004",
              .statement = "The perm attribute of Transpose is a permutation of 0 to n - 1, where "
                           "n is its length.",
              .clause = "Operators.md, Transpose",
              .hint = "List each axis of the input exactly once."},
     .check = PermutationValid},
    {.info = {.id = "ONNX-OP-005",
              .statement = "The group attribute of Conv and ConvTranspose is positive and divides "
                           "the input channels; for Conv it also divides the output channels.",
              .clause = "Operators.md, Conv",
              .hint = "Set group to a positive divisor of the channel count."},
     .check = GroupsDivide},
    {.info = {.id = "ONNX-OP-006",
              .statement = "An attribute that selects an element type, such as to of Cast, names a "
                           "type that the operator supports.",
              .clause = "onnx.proto, TensorProto.DataType",
              .hint = "Use an element type that the operator supports, or import an opset version "
                      "that supports it."},
     .check = AttributeTypesKnown},
    {.info = {.id = "ONNX-OP-007",
              .statement = "A Constant node has exactly one value attribute.",
              .clause = "Operators.md, Constant",
              .hint = "Keep exactly one of value, sparse_value and the value_* attributes."},
     .check = ConstantHasOneValue},
    {.info = {.id = "ONNX-OP-016",
              .statement = "A convolution, pooling operator or Col2Im with an auto_pad other than "
                           "NOTSET has no nonzero pads.",
              .clause = "Operators.md, Conv",
              .hint = "Remove pads, or set auto_pad to NOTSET."},
     .check = PadsOnce},
    {.info = {.id = "ONNX-OP-017",
              .statement = "The activations of RNN, GRU and LSTM are known functions, and there "
                           "are 1, 2 or 3 of them per direction, respectively.",
              .clause = "Operators.md, LSTM",
              .hint =
                  "List 1 (RNN), 2 (GRU) or 3 (LSTM) activation functions of ONNX per direction."},
     .check = ActivationsFit},
    {.info = {.id = "ONNX-OP-018",
              .statement = "The equation of Einsum is well formed and has one term per input.",
              .clause = "Operators.md, Einsum",
              .hint = "Write one term of letters per input, separated by commas; the result has "
                      "only letters of the terms, each once."},
     .check = EquationsParse},
    {.info = {.id = "ONNX-OP-019",
              .statement = "Split has as many outputs as its split or num_outputs attribute "
                           "states, and from opset 18 on either num_outputs or the split input.",
              .clause = "Operators.md, Split",
              .hint = "Match split or num_outputs to the outputs of the node, and give only one of "
                      "num_outputs and the split input."},
     .check = SplitsFit},
    {.info = {.id = "ONNX-OP-020",
              .statement = "The value of ConstantOfShape has exactly one element.",
              .clause = "Operators.md, ConstantOfShape",
              .hint = "Store a tensor of shape [1] in value."},
     .check = FillHasOneElement},
    {.info = {.id = "ONNX-OP-021",
              .statement = "The batch_axis and time_axis of ReverseSequence are different axes.",
              .clause = "Operators.md, ReverseSequence",
              .hint = "Set one of batch_axis and time_axis to 0 and the other to 1."},
     .check = SequenceAxesDiffer},
    {.info = {.id = "ONNX-OP-022",
              .statement = "The output_padding of ConvTranspose is less than the stride or the "
                           "dilation of the same axis.",
              .clause = "Operators.md, ConvTranspose",
              .hint = "Reduce output_padding below the stride or dilation of the axis."},
     .check = OutputPaddingSmall},
    {.info = {.id = "ONNX-OP-023",
              .statement =
                  "The node and leaf indices of TreeEnsemble refer to existing nodes and leaves.",
              .clause = "Operators-ml.md, TreeEnsemble",
              .hint = "Correct the index, or add the missing nodes or leaves to their lists."},
     .check = TreesRefer},
};

}  // namespace

std::span<const Rule> OperatorRules() {
  return kOperatorRules;
}

}  // namespace nn::onnx
