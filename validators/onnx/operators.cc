// Rules of attribute values: what an operator's text requires beyond names and types.
#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "formats/onnx/tensor.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using A = pb::AttributeProto;

const A* Find(const NodeAt& node, std::string_view name) {
  for (const auto& a : node.node->attribute())
    if (a.name() == name && a.ref_attr_name().empty()) return &a;
  return nullptr;
}

const A* FindInts(const NodeAt& node, std::string_view name) {
  const A* a = Find(node, name);
  return a != nullptr && a->ints_size() > 0 ? a : nullptr;
}

// True for operators of the default domain in the list.
template <size_t N>
bool IsOneOf(const NodeAt& node, const std::array<std::string_view, N>& ops) {
  return node.schema != nullptr && PlainDomain(node.node->domain()).empty() &&
         std::find(ops.begin(), ops.end(), node.node->op_type()) != ops.end();
}

constexpr std::array<std::string_view, 10> kWindowed = {
    "Conv",        "ConvTranspose", "ConvInteger", "QLinearConv", "MaxPool",
    "AveragePool", "LpPool",        "MaxUnpool",   "DeformConv",  "Col2Im"};

struct Choice {
  std::string_view op;  // "" for any
  std::string_view attribute;
  std::string_view values;  // separated by blanks
};

constexpr Choice kChoices[] = {
    {"", "auto_pad", "NOTSET SAME_UPPER SAME_LOWER VALID"},
    {"Pad", "mode", "constant reflect edge wrap"},
    {"Resize", "mode", "nearest linear cubic"},
    {"Resize", "coordinate_transformation_mode",
     "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric "
     "tf_half_pixel_for_nn tf_crop_and_resize"},
    {"Resize", "nearest_mode", "round_prefer_floor round_prefer_ceil floor ceil"},
    {"Resize", "keep_aspect_ratio_policy", "stretch not_larger not_smaller"},
    {"Upsample", "mode", "nearest linear bilinear"},
    {"DepthToSpace", "mode", "DCR CRD"},
    {"GridSample", "mode", "linear bilinear nearest cubic bicubic"},
    {"GridSample", "padding_mode", "zeros border reflection"},
    {"RoiAlign", "mode", "avg max"},
    {"LSTM", "direction", "forward reverse bidirectional"},
    {"GRU", "direction", "forward reverse bidirectional"},
    {"RNN", "direction", "forward reverse bidirectional"},
    {"BitShift", "direction", "LEFT RIGHT"},
    {"Gelu", "approximate", "none tanh"},
    {"ScatterElements", "reduction", "none add mul min max"},
    {"ScatterND", "reduction", "none add mul min max"},
    {"SoftmaxCrossEntropyLoss", "reduction", "none sum mean"},
    {"NegativeLogLikelihoodLoss", "reduction", "none sum mean"},
};

bool HasWord(std::string_view words, std::string_view word) {
  for (size_t start = 0; start <= words.size();) {
    const size_t end = std::min(words.find(' ', start), words.size());
    if (words.substr(start, end - start) == word) return true;
    start = end + 1;
  }
  return false;
}

void StringsAllowed(const Subject& s, Findings& f) {
  for (const AttributeAt& a : s.attributes()) {
    const NodeAt& node = s.nodes()[static_cast<size_t>(a.node)];
    if (node.schema == nullptr || !a.attribute->has_s()) continue;
    for (const Choice& choice : kChoices)
      if (choice.attribute == a.attribute->name() &&
          (choice.op.empty() || choice.op == node.node->op_type()) &&
          !HasWord(choice.values, a.attribute->s()))
        f.Add(s.Where(a, "s"), "{} of {} is {}; allowed are {}", choice.attribute, Title(node),
              Quote(a.attribute->s()), choice.values);
  }
}

void WindowsPositive(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOneOf(node, kWindowed)) continue;
    for (const std::string_view name : {"kernel_shape", "strides", "dilations"})
      if (const A* a = FindInts(node, name))
        if (std::any_of(a->ints().begin(), a->ints().end(), [](int64_t v) { return v <= 0; }))
          f.Add(s.Where(node, name), "{} of {} has values that are not positive", name,
                Title(node));
  }
}

void WindowsAgree(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOneOf(node, kWindowed)) continue;
    int axes = -1;
    std::string_view first;
    for (const std::string_view name : {"kernel_shape", "strides", "dilations", "pads"}) {
      const A* a = FindInts(node, name);
      if (a == nullptr) continue;
      const bool pads = name == "pads";
      if (pads && a->ints_size() % 2 != 0) {
        f.Add(s.Where(node, name), "pads of {} has {} values, an odd number", Title(node),
              a->ints_size());
        continue;
      }
      const int n = pads ? a->ints_size() / 2 : a->ints_size();
      if (axes < 0) {
        axes = n;
        first = name;
      } else if (n != axes) {
        f.Add(s.Where(node, name), "{} of {} is for {} axes, {} for {}", name, Title(node), n,
              first, axes);
      }
    }
  }
}

void PermutationValid(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOneOf(node, std::array<std::string_view, 1>{"Transpose"})) continue;
    const A* perm = FindInts(node, "perm");
    if (perm == nullptr) continue;
    std::vector<int64_t> sorted(perm->ints().begin(), perm->ints().end());
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i)
      if (sorted[i] != static_cast<int64_t>(i)) {
        f.Add(s.Where(node, "perm"), "perm of {} is no permutation of 0 to {}", Title(node),
              sorted.size() - 1);
        break;
      }
  }
}

// A dimension of a value as its initialiser or its declared type states it.
std::optional<int64_t> DimensionOf(const Body& body, const std::string& name, int axis) {
  const Body* b = &body;
  while (b != nullptr && !b->defined.contains(name)) b = b->outer;
  if (b == nullptr || b->graph == nullptr) return std::nullopt;
  for (const auto& tensor : b->graph->initializer())
    if (tensor.name() == name)
      return axis < tensor.dims_size() ? std::optional(tensor.dims(axis)) : std::nullopt;
  for (const auto* infos : {&b->graph->input(), &b->graph->value_info()})
    for (const auto& info : *infos) {
      const auto& shape = info.type().tensor_type().shape();
      if (info.name() == name && axis < shape.dim_size() && shape.dim(axis).has_dim_value())
        return shape.dim(axis).dim_value();
    }
  return std::nullopt;
}

void GroupsDivide(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    const bool transposed = IsOneOf(node, std::array<std::string_view, 1>{"ConvTranspose"});
    if (!transposed && !IsOneOf(node, std::array<std::string_view, 1>{"Conv"})) continue;
    const A* a = Find(node, "group");
    const int64_t group = a != nullptr && a->has_i() ? a->i() : 1;
    if (group <= 0) {
      f.Add(s.Where(node, "group"), "group of {} is {}", Title(node), group);
      continue;
    }
    if (node.node->input_size() < 2 || group == 1) continue;
    const auto in = DimensionOf(*node.body, node.node->input(0), 1);
    const auto filters = DimensionOf(*node.body, node.node->input(1), 0);
    if (in && *in % group != 0)
      f.Add(s.Where(node, "group"), "group {} of {} does not divide its {} input channels", group,
            Title(node), *in);
    else if (!transposed && filters && *filters % group != 0)
      f.Add(s.Where(node, "group"), "group {} of {} does not divide its {} output channels", group,
            Title(node), *filters);
  }
}

void ElementTypesKnown(const Subject& s, Findings& f) {
  for (const AttributeAt& a : s.attributes()) {
    const NodeAt& node = s.nodes()[static_cast<size_t>(a.node)];
    const std::string& name = a.attribute->name();
    if (node.schema == nullptr || !a.attribute->has_i() || (name != "to" && name != "dtype"))
      continue;
    const int64_t type = a.attribute->i();
    if (type <= 0 || type > INT32_MAX || !pb::TensorProto::DataType_IsValid(static_cast<int>(type)))
      f.Add(s.Where(a, "i"), "{} of {} is {}, which is no element type", name, Title(node), type);
  }
}

void ConstantHasOneValue(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOneOf(node, std::array<std::string_view, 1>{"Constant"})) continue;
    const auto& list = node.node->attribute();
    const auto n = std::count_if(list.begin(), list.end(), [](const A& a) {
      return a.name() == "value" || a.name().starts_with("value_") || a.name() == "sparse_value";
    });
    if (n != 1) f.Add(s.Where(node), "{} has {} values", Title(node), n);
  }
}

// The inputs of a sub-graph that have no initialiser: before IR version 4 every initialiser was an
// input too.
int FreeInputs(const pb::GraphProto& graph) {
  int n = 0;
  for (const auto& info : graph.input())
    n += std::none_of(graph.initializer().begin(), graph.initializer().end(),
                      [&](const auto& tensor) { return tensor.name() == info.name(); });
  return n;
}

// Checks the number of a sub-graph's inputs or outputs.
void CheckArity(const Subject& s, Findings& f, const NodeAt& node, std::string_view field, int have,
                int need) {
  if (have != need)
    f.Add(s.Where(node, field), "{} of {} has {}, but the node needs {}", field, Title(node), have,
          need);
}

void BranchesFit(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOneOf(node, std::array<std::string_view, 1>{"If"})) continue;
    for (const char* name : {"then_branch", "else_branch"}) {
      const A* a = Find(node, name);
      if (a == nullptr || !a->has_g()) continue;
      CheckArity(s, f, node, fmt::format("{}.input", name), FreeInputs(a->g()), 0);
      CheckArity(s, f, node, fmt::format("{}.output", name), a->g().output_size(),
                 node.node->output_size());
    }
  }
}

void LoopsFit(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOneOf(node, std::array<std::string_view, 1>{"Loop"})) continue;
    const A* a = Find(node, "body");
    if (a == nullptr || !a->has_g()) continue;
    // The node: trip count, condition, state. The body: iteration, condition, state, and gives
    // condition, state, scan outputs.
    const int state = std::max(0, node.node->input_size() - 2);
    CheckArity(s, f, node, "body.input", FreeInputs(a->g()), state + 2);
    CheckArity(s, f, node, "body.output", a->g().output_size(), node.node->output_size() + 1);
  }
}

void ScansFit(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOneOf(node, std::array<std::string_view, 1>{"Scan"})) continue;
    const A* a = Find(node, "body");
    const A* count = Find(node, "num_scan_inputs");
    if (a == nullptr || !a->has_g() || count == nullptr) continue;
    // Version 8 had sequence lengths as its first input.
    const int inputs = node.node->input_size() - (node.schema->since < 9 ? 1 : 0);
    if (count->i() < 1 || count->i() > inputs)
      f.Add(s.Where(node, "num_scan_inputs"), "num_scan_inputs of {} is {}; it has {} inputs",
            Title(node), count->i(), inputs);
    CheckArity(s, f, node, "body.input", FreeInputs(a->g()), inputs);
    CheckArity(s, f, node, "body.output", a->g().output_size(), node.node->output_size());
  }
}

constexpr Rule kRules[] = {
    {{"ONNX-OP-001", Severity::kError, "Attributes that choose by name have a name that exists.",
      "Operators.md", false, ""},
     StringsAllowed},
    {{"ONNX-OP-002", Severity::kError, "Kernel sizes, strides and dilations are positive.",
      "Operators.md, Conv", false, ""},
     WindowsPositive},
    {{"ONNX-OP-003", Severity::kError,
      "Kernel sizes, strides, dilations and pads are for the same number of axes.",
      "Operators.md, Conv", false, "Pads are two values an axis: begins, then ends."},
     WindowsAgree},
    {{"ONNX-OP-004", Severity::kError, "perm of Transpose is a permutation.",
      "Operators.md, Transpose", false, ""},
     PermutationValid},
    {{"ONNX-OP-005", Severity::kError, "group of a convolution divides its channels.",
      "Operators.md, Conv", false, ""},
     GroupsDivide},
    {{"ONNX-OP-006", Severity::kError, "Attributes that name an element type name a known one.",
      "onnx.proto, TensorProto.DataType", false, ""},
     ElementTypesKnown},
    {{"ONNX-OP-007", Severity::kError, "Constant has exactly one value.", "Operators.md, Constant",
      false, ""},
     ConstantHasOneValue},
    {{"ONNX-OP-008", Severity::kError,
      "Branches of If take no inputs and give as many outputs as the node.", "Operators.md, If",
      false, ""},
     BranchesFit},
    {{"ONNX-OP-009", Severity::kError, "The body of Loop fits the node's inputs and outputs.",
      "Operators.md, Loop", false, ""},
     LoopsFit},
    {{"ONNX-OP-010", Severity::kError, "The body of Scan fits the node's inputs and outputs.",
      "Operators.md, Scan", false, ""},
     ScansFit},
};

}  // namespace

std::span<const Rule> OperatorRules() {
  return kRules;
}

}  // namespace nn::onnx
